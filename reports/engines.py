"""The engines that exist, and the table of tolerances, as a person reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .text import sentence, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import Console


def engine_list(cards: Iterable[tuple[Any, str | None]], console: Console, faults: Iterable[str] = ()) -> None:
    """Print each engine: version or install line, licence, formats, answers, limits, conventions, ledger.

    Args:
        cards: an `EngineCard` and the installed version, None when it is not installed.
        console: where to print.
        faults: why packages that should bring an engine bring none, a sentence each.
    """
    for n, (card, version) in enumerate(cards):
        title = Text("\n" if n else "").append(shown(card.name), "bold")
        if version:
            console.print(title.append(f" {shown(version)}"))
        else:
            console.print(title.append(": not installed; ", "yellow").append(f"install it with: {shown(card.install)}"))
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row("licence", Text(shown(card.licence)))
        grid.add_row(
            "reads itself", Text(", ".join(map(shown, card.formats)) or "nothing: it is given the neutral tree")
        )
        grid.add_row("answers", Text(sentence(card.answers)))
        lists = {"cannot": card.limits, "conventions": card.conventions, "a call holds": _ledger(card.ledger)}
        for label, lines in lists.items():
            for k, line in enumerate(lines):
                grid.add_row("" if k else label, Text(sentence(line)))
        console.print(Padding(grid, (0, 0, 0, 2)))
    for fault in faults:
        console.print(Text("\n").append("no engine", "bold red").append(f": {sentence(fault)}"))


def _ledger(ledger: Mapping[str, str]) -> list[str]:
    return [f"{call}: {terms}" for call, terms in ledger.items()]


def tolerance_table(table: Iterable[Any], console: Console) -> None:
    """Print each tolerance: its rule, what it judges, and the reason for its number.

    Args:
        table: rows with `name`, `rule`, `rows` and `reason`.
        console: where to print.
    """
    for n, row in enumerate(table):
        console.print(Text("\n" if n else "").append(row.name, "bold").append(f": {row.rule}"))
        if row.rows:
            console.print(Padding(Text("judges " + ", ".join(row.rows)), (0, 0, 0, 2)))
        console.print(Padding(Text(f"since {row.reason}", "dim"), (0, 0, 0, 2)))
