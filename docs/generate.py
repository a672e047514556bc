"""Make the pages of the documentation site: `python docs/generate.py build/docs`, then `mkdocs build` on what it wrote.

What stands in docs/ is copied; pages on kinds of findings, engines, checks and modules are written from the tables and
docstrings of the package, so that none of them can say something else than the code.
"""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pages_checks
import pages_engines
import pages_kinds
import pages_reference
import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
COPIED = ("screenshots", "figures", "javascripts", "stylesheets", "lessons")
FROM_ROOT = ("README.md", "CONVENTIONS.md", "CONTRIBUTING.md", "CHANGELOG.md")
GUIDES = ("tutorial", "ci", "pytest", "baselines", "versions", "frames", "adapters")
ELEMENT = re.compile(r"<((?!/?(?:a|br|details|div|figcaption|figure|img|kbd|p|span|sub|summary|sup)\b)/?[a-z]\w*)>")
LINKED = re.compile(r"(?<![\w/(\[`])(?:docs/(\w+)\.md|(CONVENTIONS|CONTRIBUTING|CHANGELOG)\.md)(?![\w)\]`])")


def main(folder: Path) -> None:
    """Write pages and configuration into a folder; what an earlier run left there goes."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    pages.mkdir(parents=True)
    for name in COPIED:
        if (DOCS / name).is_dir():
            shutil.copytree(DOCS / name, pages / name)
    written = {**_static(), **pages_kinds.pages(), **pages_engines.pages(), **pages_checks.pages()}
    written |= pages_reference.pages()
    for name, text in written.items():
        file = pages / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    python = {"handlers": {"python": {"paths": [str(_source(folder / "source"))]}}}
    settings = {
        "INHERIT": str(DOCS / "mkdocs.yml"),
        "docs_dir": str(pages),
        "site_dir": str(folder.parent / "site"),
        "plugins": {"mkdocstrings": python},
        "nav": _navigation(),
    }
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(settings, allow_unicode=True, sort_keys=False), encoding="utf-8")


def _source(folder: Path) -> Path:
    """Return a folder in which the package has its own name, whatever the checkout is called."""
    package = folder / "tautology"
    package.mkdir(parents=True)
    for name in ("__init__.py", "adapters", "harness", "models", "reports"):
        (package / name).symlink_to(ROOT / name)
    return folder


def _static() -> dict[str, str]:
    """Return the pages that are written by hand, by their place in the site."""
    found = {file.name: file.read_text(encoding="utf-8") for file in DOCS.glob("*.md")}
    for name in FROM_ROOT:
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
        found["index.md" if name == "README.md" else name] = text
    return {name: "".join(_linked(text, found)) for name, text in found.items()}


def _linked(text: str, found: dict[str, str]) -> Iterator[str]:
    """Make links of the pages that a text names, but not in code."""
    fenced = False
    for line in text.splitlines(keepends=True):
        fenced ^= line.lstrip().startswith("```")
        indented = line.startswith("    ")
        yield line if fenced or indented else _elements(LINKED.sub(lambda match: _link(match, found), line))


def _elements(line: str) -> str:
    """Show elements of XML that a text names outside code; a browser would take them for unknown HTML."""
    parts = line.split("`")
    parts[::2] = [ELEMENT.sub(r"&lt;\1>", part) for part in parts[::2]]
    return "`".join(parts)


def _link(match: re.Match[str], found: dict[str, str]) -> str:
    name = f"{match[1] or match[2]}.md"
    return f"[{match[0]}]({name})" if name in found else match[0]


def _navigation() -> list[dict[str, object]]:
    """Return what the site lists; pages that nobody sorted yet stand under More."""
    own = {file.stem for file in DOCS.glob("*.md")}
    lessons = sorted(f"lessons/{file.name}" for file in (DOCS / "lessons").glob("*.md"))
    more = [f"{name}.md" for name in sorted(own - set(GUIDES)) if not name.startswith("engine")]
    guides: list[object] = [f"{name}.md" for name in GUIDES if name in own]
    nav: list[dict[str, object]] = [
        {"Start": "index.md"},
        {"Guides": [*guides, "CONVENTIONS.md", "CONTRIBUTING.md"]},
        *([{"Lessons": list[object](lessons)}] if lessons else []),
        {"Findings": pages_kinds.navigation()},
        {"Checks": pages_checks.navigation()},
        {"Engines": pages_engines.navigation()},
        {"Reference": pages_reference.navigation()},
        {"More": [*more, "CHANGELOG.md"]},
    ]
    return nav


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="made anew: what is in it goes")
    main(parser.parse_args().folder.resolve())
