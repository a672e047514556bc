"""Pages on quantities and identities: formula, tolerance, what a failure means, and which wrong engines it catches."""

from __future__ import annotations

import inspect
import sys
import tomllib
from importlib import import_module
from pathlib import Path

from words import prose

from tautology.harness.checks.tolerances import TABLE
from tautology.harness.results import IDENTITIES, QUANTITIES

DOCS = Path(__file__).resolve().parent
TEXTS = tomllib.loads((DOCS / "checks.toml").read_text(encoding="utf-8"))
# The kinetic energy is both a quantity and one side of an identity.
IDENTITY_KEYS = {name: f"{name}_identity" if name in QUANTITIES else name for name in IDENTITIES}


def pages() -> dict[str, str]:
    """Return a page per quantity and per identity, and the table of all of them."""
    caught = _caught()
    written = {f"checks/{name}.md": _page(name, name, "Quantity", caught[0]) for name in QUANTITIES}
    written |= {f"checks/{key}.md": _page(name, key, "Identity", caught[1]) for name, key in IDENTITY_KEYS.items()}
    written["checks/index.md"] = (
        "# Checks\n\nQuantities are held against the reference in longdouble; identities must hold among the answers of"
        " one engine, whatever robot it holds.\n\n"
        + _table("quantity", {name: name for name in QUANTITIES})
        + _table("identity", IDENTITY_KEYS)
        + "## What is allowed\n\n"
        + "".join(f"- **{line.name}**: {prose(line.rule)}\n\n    since {prose(line.reason)}\n" for line in TABLE)
    )
    return written


def navigation() -> list[object]:
    """Return quantities, then identities."""
    return [
        "checks/index.md",
        {"Quantities": [{name: f"checks/{name}.md"} for name in QUANTITIES]},
        {"Identities": [{name: f"checks/{key}.md"} for name, key in IDENTITY_KEYS.items()]},
    ]


def _table(title: str, keys: dict[str, str]) -> str:
    rows = "".join(f"| [{name}]({key}.md) | `{TEXTS[key]['formula']}` |\n" for name, key in keys.items())
    return f"| {title} | |\n|---|---|\n{rows}\n"


def _page(name: str, key: str, sort: str, caught: dict[str, list[tuple[str, str]]]) -> str:
    text = f"# {name}\n\n{sort}" + (f", in {QUANTITIES[name]}.\n\n" if sort == "Quantity" else ".\n\n")
    text += f"```text\n{TEXTS[key]['formula']}\n```\n\n"
    if "of" in TEXTS[key]:
        module, function = TEXTS[key]["of"].split(".")
        check = getattr(import_module(f"tautology.harness.checks.{module}"), function)
        text += f"{prose(inspect.getdoc(check) or '')}\n\n"
    for line in TABLE:
        if name in line.rows and (sort == "Identity") == (line.name != "rounding" or name not in QUANTITIES):
            text += f"## What is allowed\n\n`{line.rule}`\n\nThis is *{line.name}*: {prose(line.reason)}.\n\n"
    text += f"## What a failure means\n\n{prose(TEXTS[key]['means'])}\n\n"
    rows = "".join(f"| {engine} | {prose(wrong)} |\n" for engine, wrong in caught.get(name, []))
    return text + (
        "## Wrong engines that it catches\n\nOf those that are wrong on purpose in the tests, each in one thing:\n\n"
        f"| engine | |\n|---|---|\n{rows}"
    )


def _caught() -> tuple[dict[str, list[tuple[str, str]]], dict[str, list[tuple[str, str]]]]:
    """Return the wrong engines by quantity and by identity that fails, with what is wrong in them."""
    sys.path.insert(0, str(DOCS.parent / "tests"))
    catches = import_module("miniatures").CATCHES
    sys.path.pop(0)
    found: tuple[dict[str, list[tuple[str, str]]], dict[str, list[tuple[str, str]]]] = ({}, {})
    for miniature, failing in catches.items():
        wrong = (inspect.getdoc(miniature) or "").splitlines()[0]
        for by_name, names in zip(found, failing, strict=True):
            for name in names:
                by_name.setdefault(name, []).append((miniature.__name__, wrong))
    return found
