"""What was written in another format, and what was lost on the way: in reading, and in writing."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Exported:
    """What there is to say of a robot that was written.

    Attributes:
        source: path of the file that was read.
        written: path of the file that was written.
        robot: what is in it, in a few words.
        base: that was asked for: "auto", "fixed" or "free".
        read: losses of the importer.
        lost: losses of the exporter.
        unread: why the file that was written cannot be read back, or "".
    """

    source: str
    written: str
    robot: str
    base: str
    read: Sequence[Loss]
    lost: Sequence[Loss]
    unread: str


def export_report(report: Exported, console: Console, *, verbose: bool = False) -> None:
    """Print what was written and what is not in it.

    Args:
        report: what there is to say.
        console: where to print.
        verbose: every loss, one by one.
    """
    head = Text("WROTE", "bold green").append(f"  {shown(report.written)}: {shown(report.robot)}", "default")
    console.print(head, soft_wrap=True)
    for title, losses in (("not read from the file", report.read), ("not written", report.lost)):
        for line in _lines(title, losses, verbose=verbose):
            console.print(line)
    if report.unread:
        console.print(
            Text("\nWhat was written cannot be read back: ", "bold").append(sentence(report.unread), "not bold")
        )
        return
    base = "" if report.base == "auto" else f" --base {report.base}"
    again = f"tautology diff{base} {shlex.quote(report.source)} {shlex.quote(report.written)}"
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
