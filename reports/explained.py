"""A topic as a person reads it on a console: sentences and tables, never wider than the console."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .text import sentence, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

GAP: Final = 2  # blanks between columns
WORDS: Final = 34  # characters of a cell before it is broken into lines
MOST_ROWS: Final = 40


def explanation(found: Any, console: Console) -> None:
    """Print a topic.

    Args:
        found: `harness.explain.record.Explanation`.
        console: where to print.
    """
    console.print(Text(found.topic, "bold").append(f"  {sentence(found.question)}", "not bold"))
    console.print(Padding(Text(sentence(found.model), "dim"), (0, 0, 0, 2)))
    console.print(Text("\n" + sentence(found.answer), "bold green"))
    for section in found.sections:
        console.print(Text("\n" + sentence(section.title), "bold underline"))
        for words in section.sentences:
            console.print(Padding(Text(sentence(words)), (0, 0, 0, 2)))
        for picture in section.pictures:
            if picture.says:
                console.print(Padding(Text(sentence(picture.says)), (0, 0, 0, 2)))
        for table in section.tables:
            _table(table, console)


def topic_list(topics: Iterable[Any], console: Console) -> None:
    """Print every topic with its question; kinds of findings follow."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for topic in topics:
        grid.add_row(Text(topic.name, "bold"), Text(topic.question))
    console.print(Text("Topics, computed on a bundled robot or on MODEL", "bold"))
    console.print(Padding(grid, (0, 0, 0, 2)))
    console.print(Text("\nKinds of findings", "bold"))


def cell(value: Any, digits: int) -> str:
    """Return a cell as text; a number that is not there is "-", minus zero is zero."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value + 0.0:.{digits}g}" if math.isfinite(value) else "no answer"
    return shown(value)


def _table(table: Any, console: Console) -> None:
    """Print a table, in as many pieces side by side as the console is narrow."""
    console.print(Padding(Text(sentence(table.title), "bold"), (1, 0, 0, 2)))
    rows = [[cell(x, c.digits) for x, c in zip(row, table.columns, strict=True)] for row in table.rows[:MOST_ROWS]]
    names = [shown(c.name) for c in table.columns]
    numeric = [any(isinstance(row[k], int | float) for row in table.rows) for k in range(len(names))]
    for n, chosen in enumerate(_pieces(names, rows, table.keys, console.width - 4)):
        grid = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), show_header=True, header_style="dim")
        for k in chosen:
            grid.add_column(
                Text(names[k]), justify="right" if numeric[k] else "left", overflow="fold", no_wrap=numeric[k]
            )
        for row in rows:
            grid.add_row(*(Text(row[k]) for k in chosen))
        console.print(Padding(grid, (1 if n else 0, 0, 0, 4)))
    if len(table.rows) > MOST_ROWS:
        console.print(
            Padding(Text(f"and {len(table.rows) - MOST_ROWS} rows more: --html, --json", "dim"), (0, 0, 0, 4))
        )
    if table.note:
        console.print(Padding(Text(sentence(table.note), "dim"), (0, 0, 0, 4)))


def _pieces(names: Sequence[str], rows: Sequence[Sequence[str]], keys: int, width: int) -> Iterator[list[int]]:
    """Yield the columns of each piece; the keys stand in all of them."""
    widths = [min(WORDS, max([len(name), *(len(row[k]) for row in rows)])) + GAP for k, name in enumerate(names)]
    head = list(range(min(keys, len(names))))
    used = sum(widths[k] for k in head)
    piece, room = list(head), width - used
    for k in range(len(head), len(names)):
        if widths[k] - GAP > room and len(piece) > len(head):
            yield piece
            piece, room = list(head), width - used
        piece.append(k)
        room -= widths[k]
    yield piece
