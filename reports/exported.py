"""What was written in another format, and what was lost on the way: in reading, and in writing."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from typing import TYPE_CHECKING, Final

from rich.padding import Padding
from rich.text import Text

from .text import counted, listed, sentence, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, RenderableType

    from ..harness.results import Loss

QUOTED: Final = re.compile("'[^']*'")
NAMES: Final = 8  # of places in a line


def export_report(
    source: str,
    written: str,
    robot: str,
    read: Sequence[Loss],
    lost: Sequence[Loss],
    console: Console,
    *,
    verbose: bool = False,
) -> None:
    """Print what was written and what is not in it.

    Args:
        source: path of the file that was read.
        written: path of the file that was written.
        robot: what is in it, in a few words.
        read: losses of the importer.
        lost: losses of the exporter.
        console: where to print.
        verbose: every loss, one by one.
    """
    console.print(Text("WROTE", "bold green").append(f"  {shown(written)}: {shown(robot)}", "default"), soft_wrap=True)
    for title, losses in (("not read from the file", read), ("not written", lost)):
        for line in _lines(title, losses, verbose=verbose):
            console.print(line)
    again = f"tautology diff {shlex.quote(source)} {shlex.quote(written)}"
    console.print(Text(f"\nWhat is the same and what is not: {shown(again)}", "dim"), soft_wrap=True)


def _lines(title: str, losses: Sequence[Loss], *, verbose: bool) -> Iterator[RenderableType]:
    """Give losses by element and note: what touches the dynamics with its note, the rest by count unless asked."""
    told = [loss for loss in losses if loss.touches_dynamics]
    rest = [loss for loss in losses if not loss.touches_dynamics]
    for words, some, full in (("though it touches the dynamics", told, True), ("harmless", rest, verbose)):
        if not some:
            continue
        if not full:
            counts = Counter(sentence(loss.element) for loss in some)
            named = listed([f"{element}{f' x{count}' if count > 1 else ''}" for element, count in counts.items()])
            yield Text(f"\n{title.capitalize()}, without effect on the smooth dynamics: {named}")
            continue
        yield Text(f"\n{title.capitalize()}, {words}:", "bold")
        for element, group in _groups(some, one_by_one=verbose):
            first = group[0]
            where = f" at {shown(first.where)}" if first.where and len(group) == 1 else ""
            line = f" (line {first.source.line})" if first.source.line and len(group) == 1 else ""
            many = f" x{len(group)}" if len(group) > 1 else ""
            such = ", such as" if len({loss.note for loss in group}) > 1 else ""
            yield Padding(Text(f"{element}{many}{where}{line}{such}: {sentence(first.note)}"), (0, 0, 0, 2))
            if len(group) > 1:
                yield Padding(Text(listed([shown(x.where or "the file") for x in group], NAMES)), (0, 0, 0, 4))


def _groups(losses: Sequence[Loss], *, one_by_one: bool) -> list[tuple[str, list[Loss]]]:
    """Return losses by element; notes that differ only in a quoted name are one note."""
    found: dict[tuple[object, ...], list[Loss]] = {}
    for n, loss in enumerate(losses):
        key = (n,) if one_by_one else (loss.element, QUOTED.sub("", sentence(loss.note)))
        found.setdefault(key, []).append(loss)
    return [(sentence(group[0].element), group) for group in found.values()]


def size(bodies: int, dofs: int, mass: float) -> str:
    """Return the size of a robot in words."""
    return f"{counted(bodies, 'body', 'bodies')}, {counted(dofs, 'dof')}, {mass:.6g} kg"
