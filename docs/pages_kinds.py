"""Pages on the kinds of findings: what each means, how it looks in numbers, whence it comes, what to do, and a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import examples
from words import prose

from tautology.harness.fixes import SPELLED, table
from tautology.harness.kinds import texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tautology.harness.kinds import KindText

DOCS = Path(__file__).resolve().parent
SEVERITIES = {
    "convention": "the same robot, told otherwise: harmless once mapped",
    "model": "not the same robot",
    "refusal": "the engine would not load it",
}
FORMATS = {"urdf": "xml", "xml": "xml", "py": "python"}


def pages() -> dict[str, str]:
    """Return a page per kind, and the table of all of them."""
    rows = "".join(f"| [{kind}]({kind}.md) | {one.severity} | {prose(one.means)} |\n" for kind, one in texts().items())
    index = (
        "# Kinds of findings\n\nA finding names one reason why two answers differ. Its kind never changes its name:"
        " reports, baselines and lists of known differences refer to it. `tautology explain KIND` prints these pages in"
        f" the console.\n\n| kind | severity | it means |\n|---|---|---|\n{rows}"
    )
    return {"findings/index.md": index, **{f"findings/{kind}.md": _page(one) for kind, one in texts().items()}}


def navigation() -> list[object]:
    """Return the kinds in their families."""
    families: dict[str, list[dict[str, str]]] = {}
    for kind in texts():
        families.setdefault(kind.partition(".")[0], []).append({kind: f"findings/{kind}.md"})
    alone = {name: kinds[0] for name, kinds in families.items() if len(kinds) == 1}
    return ["findings/index.md", *(alone.get(name) or {name: kinds} for name, kinds in families.items())]


def _page(one: KindText) -> str:
    causes = "".join(f"| {SPELLED.get(engine, engine)} | {prose(cause)} |\n" for engine, cause in one.causes.items())
    return (
        f"# {one.kind}\n\n*{one.severity}: {SEVERITIES[one.severity]}*\n\n{prose(one.means)}\n\n"
        f"## In numbers\n\n{prose(one.numbers)}\n\n## Usual cause\n\n| engine | |\n|---|---|\n{causes}\n"
        f"## Fix\n\n{prose(one.fix)}\n\n{''.join(_sentences(table()[one.kind]))}\n{''.join(_example(one.kind))}"
    )


def _sentences(rules: dict[str, Any]) -> Iterator[str]:
    """Write what a finding of this kind says, by engine and format; words in braces are those of the finding."""
    said = {key: rule for key, rule in rules.items() if isinstance(rule, str)}
    if said:
        yield "What a finding says, with the names, values and lines of the case at hand:\n\n| for | |\n|---|---|\n"
    for key, rule in said.items():
        engine, _, form = key.partition(".")
        where = {"any": "any engine", "diff": "two files"}.get(key) or " ".join(
            [SPELLED.get(engine, engine.upper()), *([form.upper()] if form else [])]
        )
        yield f"| {where} | {prose(rule)} |\n"


def _example(kind: str) -> Iterator[str]:
    """Show the files of the example, how it is asked, and in words what is found."""
    example = examples.of(kind)
    yield f"## A file that shows it\n\n```text\n$ {example.command}\n```\n\n"
    if example.note:
        yield f"{example.note}\n\n"
    for file in example.files:
        yield f'```{FORMATS[file.suffix[1:]]} title="{file.name}"\n{file.read_text(encoding="utf-8")}```\n\n'
