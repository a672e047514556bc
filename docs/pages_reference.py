"""Pages on the modules that users and adapters of other packages need, from their docstrings."""

from __future__ import annotations

import inspect
from pathlib import Path

import tautology

ROOT = Path(tautology.__file__).resolve().parent
# The algorithms, besides, are listed by what lies in their folder.
GROUPS = {
    "For users": (
        *("run", "diff", "load", "results", "diff_result", "findings", "errors", "states", "tree", "registry"),
    ),
    "For adapters": (
        *("engine", "lacking", "seats", "bases", "revealed", "meshless", "body", "joint", "spatial", "callables"),
    ),
}
FOLDERS = {"Reference algorithms": "adapters/reference", "Textbook algorithms": "adapters/textbook"}


def pages() -> dict[str, str]:
    """Return one page of the public names, and one per module."""
    written = {"reference/index.md": _public()}
    for module in _modules():
        written[_page(module)] = f"# {module}\n\n::: tautology.{module}\n    options:\n      show_root_heading: false\n"
    return written


def navigation() -> list[object]:
    """Return the modules by what they are for."""
    groups = {name: [f"harness.{module}" for module in modules] for name, modules in GROUPS.items()}
    groups |= {name: _in(folder) for name, folder in FOLDERS.items()}
    listed = [{name: [{module: _page(module)} for module in modules]} for name, modules in groups.items()]
    return ["reference/index.md", *listed]


def _public() -> str:
    """Return the page of what `import tautology` has to offer."""
    homes = vars(tautology)["_HOMES"]
    text = "# Public names\n\nWhat `import tautology` has to offer, each loaded when it is first used.\n\n"
    text += "| name | |\n|---|---|\n"
    for name in tautology.__all__:
        first = (inspect.getdoc(getattr(tautology, name)) or "").splitlines()[0]
        text += f"| [`tautology.{name}`][tautology{homes[name]}.{name}] | {first} |\n"
    return text


def _modules() -> list[str]:
    named = [f"harness.{module}" for modules in GROUPS.values() for module in modules]
    return [*named, *(module for folder in FOLDERS.values() for module in _in(folder))]


def _in(folder: str) -> list[str]:
    """Return the modules of a folder, the package itself first."""
    package = folder.replace("/", ".")
    return [
        package if file.stem == "__init__" else f"{package}.{file.stem}"
        for file in sorted((ROOT / folder).glob("*.py"))
    ]


def _page(module: str) -> str:
    return f"reference/{module}.md"
