"""The report of a bisection: in which versions the answer changed, and why either side differs from the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.padding import Padding
from rich.text import Text

from .reasons import values_of
from .text import counted, listed, path_tail, sentence, shown, small
from .verdict import LABEL_WIDTH, SAYS, STYLES, located

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, RenderableType

    from ..harness.bisection import Bisection, Change
    from ..harness.findings import Finding
    from ..harness.results import EngineResult

MOST: Final = 6  # findings of one side that are shown


def bisection_report(result: Bisection, console: Console, *, quiet: bool = False) -> None:
    """Print the verdict, then the versions with equal answers and every change; the verdict alone, on one line."""
    console.print(bisection_line(result), soft_wrap=quiet)
    for path in () if quiet else _paths(result):
        console.print()
        for line in _spans(result, path):
            console.print(line)
        for change in (c for c in result.changes if c.path == path):
            for line in _change(change, result):
                console.print(line)


def bisection_line(result: Bisection) -> Text:
    """Return the verdict in a sentence."""
    paths = _paths(result)
    had = [row for row in result.rows if row.status != "absent"]
    if not had:
        return Text().append("ABSENT", STYLES["absent"]).append(f"  no version of {shown(result.engine)} could be had.")
    count = counted(len(had) // len(paths), "version")
    asked = f"{count} from {had[0].version} to {had[-1].version}, {_states(result)}, tolerance {result.tolerance:g}"
    name = f"{path_tail(result.file, LABEL_WIDTH)}: the answer of {shown(result.engine)}"
    if not result.changes:
        return Text().append("SAME", STYLES["agree"]).append(f"  {name} is the same in {asked}.")
    parts: list[str] = []
    for path in paths:
        changed = [c.after for c in result.changes if c.path == path]
        if changed:
            parts.append(f"in {listed(changed)} ({path} path)")
    return Text().append("CHANGES", STYLES["differs"]).append(f"  {name} changes {', '.join(parts)}; {asked}.")


def _paths(result: Bisection) -> list[str]:
    return list(dict.fromkeys(row.path for row in result.rows))


def _states(result: Bisection) -> str:
    return f"{counted(result.states['count'], 'frozen state')}, seed {result.states['seed']}"


def _spans(result: Bisection, path: str) -> Iterator[Text]:
    """Give the versions whose answers are the same, with what they are against the file."""
    yield Text(f"{path} path", "bold")
    starts = {c.after for c in result.changes if c.path == path}
    spans: list[list[EngineResult]] = []
    for row in (row for row in result.rows if row.path == path):
        alike = bool(spans) and (spans[-1][0].status == "absent") == (row.status == "absent")
        if alike and row.version not in starts:
            spans[-1].append(row)
        else:
            spans.append([row])
    names = [_span([row.version for row in span]) for span in spans]
    for name, span in zip(names, spans, strict=True):
        line = Text(f"  {name:<{max(map(len, names))}}  ")
        for n, status in enumerate(dict.fromkeys(row.status for row in span)):
            line.append(", " if n else "").append(status, STYLES[status])
        if span[0].status not in ("agree", "differs"):
            line.append(f": {sentence(span[0].message)}")
        yield line


def _span(versions: Sequence[str]) -> str:
    return versions[0] if len(versions) == 1 else f"{versions[0]} to {versions[-1]}"


def _change(change: Change, result: Bisection) -> Iterator[RenderableType]:
    yield Text("\n").append(f"{change.after}", "bold").append(f", after {change.before}")
    if change.words:
        yield _line(sentence(change.words), 2)
    if change.moved:
        first, *rest = change.moved
        also = f"; also {listed([m.quantity for m in rest])}" if rest else ""
        size = f"{small(first.size)} [{first.unit}], {small(first.relative)} of its scale, in state {first.state}"
        yield _line(f"{first.quantity} moves by {size}{also}", 2)
    for version, findings in ((change.before, change.findings_before), (change.after, change.findings_after)):
        row = next(r for r in result.rows if (r.version, r.path) == (version, change.path))
        yield _line(Text(f"{version} {SAYS[row.status][0]}{':' if findings else ''}"), 2)
        for f in findings[:MOST]:
            yield _line(_finding(f, result), 4)
        if len(findings) > MOST:
            yield _line(f"and {len(findings) - MOST} more", 4)


def _finding(f: Finding, result: Bisection) -> Text:
    place = f" at {shown(f.where)}" if f.where else ""
    text = Text(f.kind, "bold").append(f"{place}{located(f, result, ', ')}", "not bold")
    values = values_of(f)
    return text.append(f": {values}", "not bold") if values else text


def _line(text: str | Text, indent: int) -> RenderableType:
    return Padding(text if isinstance(text, Text) else Text(text), (0, 0, 0, indent))
