"""Kinds of finding as a person reads them: one in full, or all of them a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .reasons import LINT_TITLE, OTHER_CALLS, TERMS, TITLES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

SPELLED: Final = {
    "mujoco": "MuJoCo",
    "pinocchio": "Pinocchio",
    "drake": "Drake",
    "dart": "DART",
    "pybullet": "PyBullet",
    "idyntree": "iDynTree",
}


def kind_text(text: Any, console: Console) -> None:
    """Print what a kind means, how it looks in numbers, its usual cause per engine, and the fix.

    Args:
        text: with `kind`, `severity`, `means`, `numbers`, `causes` and `fix`.
        console: where to print.
    """
    console.print(Text(text.kind, "bold").append(f"  {_weight(text)}", "not bold dim"))
    for title, words in (("What it means", text.means), ("In numbers", text.numbers)):
        console.print(Text(f"\n{title}", "bold"))
        console.print(Padding(Text(words), (0, 0, 0, 2)))
    console.print(Text("\nUsual cause", "bold"))
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for engine, words in text.causes.items():
        grid.add_row(SPELLED.get(engine, engine), Text(words))
    console.print(Padding(grid, (0, 0, 0, 2)))
    console.print(Text("\nFix", "bold"))
    console.print(Padding(Text(text.fix), (0, 0, 0, 2)))


def _weight(text: Any) -> str:
    """Return how much a kind counts; a fault of the file itself changes no verdict."""
    if text.kind.startswith("lint."):
        return f"lint: {LINT_TITLE}; changes no verdict"
    elsewhere = f"; convention: {OTHER_CALLS}" if text.kind in TERMS else ""
    return f"{text.severity}: {TITLES[text.severity]}{elsewhere}"


def kind_list(texts: Iterable[Any], console: Console) -> None:
    """Print every kind with its severity and the first sentence of what it means.

    Args:
        texts: each with `kind`, `severity` and `means`.
        console: where to print.
    """
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for text in texts:
        weight, first = _weight(text).partition(":")[0], text.means.split(". ")[0].removesuffix(".")
        grid.add_row(Text(text.kind, "bold"), weight, Text(first))
    console.print(grid)
