"""The engines in tables, from their cards: docs/engine_table.md, and the table of the README.

Usage: python benchmarks/engine_table.py

Run it where every engine is installed: a version that is not here stays as the page has it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tautology.adapters import CARDS
from tautology.harness import registry

if TYPE_CHECKING:
    from tautology.harness.engine import EngineCard

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "engine_table.md"
README = ROOT / "README.md"
UNKNOWN = "not measured"
NAMES = {
    "reference": "reference",
    "pinocchio": "Pinocchio",
    "mujoco": "MuJoCo",
    "dart": "DART",
    "idyntree": "iDynTree",
    "drake": "Drake",
    "mjx": "MJX",
    "pybullet": "PyBullet",
    "newton": "Newton",
    "urdfpy": "urdfpy (urchin)",
}
FORMATS = {"urdf": "URDF", "mjcf": "MJCF", "sdf": "SDF", "pinocchio": "live model", "mujoco": "live model or spec"}
HEAD = """# Engines

What each engine is, what it answers and what it cannot, as its card says; `tautology selftest NAME` holds the limits to
the truth. Made by

    python benchmarks/engine_table.py

"""
TOP = "| engine | `--engine` | install | reads natively | cannot, on the neutral path |\n|---|---|---|---|---|\n"
# The table of the README, with whatever stood in it.
OLD = re.compile(r"^\| engine \|[^\n]*\n\|[-|]+\n(?:\|[^\n]*\n)+", re.MULTILINE)


def main() -> None:
    """Write the page, and the table into the README."""
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    PAGE.write_text(page(versions(before)), encoding="utf-8")
    text = README.read_text(encoding="utf-8")
    README.write_text(OLD.sub(lambda _: table(), text, count=1), encoding="utf-8")


def versions(text: str) -> dict[str, str]:
    """Return the version of every engine: the installed one, else what a page said of it."""
    said = dict(re.findall(r"^## .*\(`(\w+)`\)\n\n\| version \| ([^|]+) \|$", text, re.MULTILINE))
    return {card.name: registry.version(card) or said.get(card.name, UNKNOWN) for card in CARDS}


def page(known: dict[str, str]) -> str:
    """Return the whole page.

    Args:
        known: name of an engine to its version.
    """
    return HEAD + table() + "".join(section(card, known[card.name]) for card in CARDS)


def table() -> str:
    """Return the table of all engines, a row each."""
    rows = (
        (name(card), f"`{card.name}`", install(card), formats(card), cells(limits(card)) or "nothing found")
        for card in CARDS
    )
    return TOP + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def section(card: EngineCard, version: str) -> str:
    """Return what is known of one engine."""
    rows = [
        ("version", version),
        ("licence", card.licence),
        ("install", install(card)),
        ("reads natively", formats(card)),
        ("arithmetic", f"{'double' if card.eps < 1e-15 else 'single'} precision"),
        ("answers", card.answers),
    ]
    first, *others = rows
    text = f"\n## {name(card)} (`{card.name}`)\n\n| {first[0]} | {cells(first[1])} |\n|---|---|\n"
    text += "".join(f"| {label} | {cells(value)} |\n" for label, value in others)
    ledger = [f"`{call}`: {terms}" for call, terms in card.ledger.items()]
    for title, lines in (("Cannot", card.limits), ("Conventions", card.conventions), ("A call holds", ledger)):
        if lines:
            text += f"\n{title}:\n\n" + "".join(f"- {line}\n" for line in lines)
    return text


def name(card: EngineCard) -> str:
    """Return what people call an engine."""
    return NAMES.get(card.name, card.name)


def install(card: EngineCard) -> str:
    """Return the line that installs it."""
    return "comes with it" if card.name == "reference" else f"`{card.install}`"


def formats(card: EngineCard) -> str:
    """Return what it reads by itself."""
    return ", ".join(FORMATS[one] for one in card.formats) or "nothing"


def limits(card: EngineCard) -> str:
    """Return its limits without their reasons."""
    return "; ".join(line.partition(":")[0] for line in card.limits)


def cells(text: str) -> str:
    """Return text as it can stand in a cell of a table."""
    return text.replace("|", "\\|")


if __name__ == "__main__":
    main()
