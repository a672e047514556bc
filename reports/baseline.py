"""What changed since a baseline, and what a new one holds, on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .text import counted, listed, pair, sentence, shown, small
from .verdict import model_line, path_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, RenderableType

    from ..harness.comparison import Change, Comparison
    from ..harness.results import ModelResult

STYLES: Final = {"unchanged": "bold green", "changed": "bold red", "renewed": "bold yellow", "known": "bold yellow"}
WORDLESS: Final = ("there", "answered")  # what stands for the presence of a thing
UNCAUSED: Final = (
    "neither the file, nor the version of an engine, nor this program has changed: look at meshes and included files, "
    "and at what else the engine loads"
)


def frozen_report(model: ModelResult, file: str, size: int, console: Console) -> None:
    """Print what a new baseline holds.

    Args:
        model: as it was answered for.
        file: the baseline.
        size: of it, in bytes.
        console: where to print.
    """
    console.print(model_line(model))
    states = counted(model.states["count"], "state")
    console.print(Padding(Text(f"frozen at {states} in {shown(file)}, {size / 1000:.0f} kB"), (0, 0, 0, 2)))


def comparison_report(comparison: Comparison, console: Console, *, quiet: bool = False) -> None:
    """Print what changed since the baseline, what may be the cause, and how to accept it; quiet, in one line."""
    if quiet:
        console.print(comparison_line(comparison), soft_wrap=True)
        return
    for line in _lines(comparison):
        console.print(line)


def comparison_line(comparison: Comparison) -> Text:
    """Return the verdict in one sentence."""
    file, known = shown(comparison.file), len(comparison.changes) - len(comparison.counted)
    if not comparison.changes:
        return _tagged("unchanged").append(f"all is as frozen in {file}.")
    if not comparison.counted:
        return _tagged("known").append(f"since {file} was frozen, {counted(known, 'known difference')} came in.")
    word = "renewed" if comparison.accepted else "changed"
    parts = [_count(comparison.counted, *names) for names in GROUPS]
    said = listed([part for part in parts if part])
    line = _tagged(word).append(f"since {file} was frozen: {said}" + (f", and {known} known" if known else ""))
    return line.append("; accepted, the file is renewed." if comparison.accepted else ".")


GROUPS: Final = (
    ("robot", "dof or body", "dofs or bodies"),
    ("lint", "fault of the file", "faults of the file"),
    ("status", "status", "statuses"),
    ("refusal", "refusal", "refusals"),
    ("finding", "finding", "findings"),
    ("verdict", "verdict", "verdicts"),
    ("answer", "answer", "answers"),
)


def _count(changes: Sequence[Change], kind: str, noun: str, plural: str) -> str:
    """Return how many changes there are of a kind; the same in several engines is one."""
    found = {(c.what, c.where if kind != "answer" else None) for c in changes if c.kind == kind}
    return counted(len(found), noun, plural) if found else ""


def _tagged(word: str) -> Text:
    return Text().append(word.upper(), STYLES[word]).append("  ")


def _lines(comparison: Comparison) -> Iterator[RenderableType]:
    yield comparison_line(comparison)
    causes = [sentence(cause) for cause in comparison.causes] or [UNCAUSED] * bool(comparison.changes)
    if causes:
        yield Padding(Text(f"{'; '.join(causes)}."), (0, 0, 0, 2))
    for who, changes in _alike(comparison.changes):
        yield Text(f"\n{who}:", "bold")
        yield from _block(changes)
    if comparison.exit == 1:
        yield Text("\nIf this is right, renew the baseline with --accept.", "dim")
    if comparison.changes:
        yield Text()


def _alike(changes: Sequence[Change]) -> Iterator[tuple[str, list[Change]]]:
    """Give changes by whom they are in; engines and paths that changed alike at once."""
    groups: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        groups.setdefault((change.engine, change.path), []).append(change)
    told: dict[tuple[object, ...], list[tuple[str, str]]] = {}
    for who, some in groups.items():
        told.setdefault(tuple(_shown(change) for change in some), []).append(who)
    for names in told.values():
        paths: dict[str, list[str]] = {}
        for engine, path in names:
            paths.setdefault(engine, []).append(path)
        who = [f"{shown(engine)} ({path_words(some, '')})" if engine else "the file" for engine, some in paths.items()]
        yield listed(who), groups[names[0]]


def _shown(change: Change) -> tuple[object, ...]:
    """Return what is shown of a change, whoever it is in."""
    times = None if change.times is None else small(change.times)
    return change.kind, change.what, change.where, *_values(change), change.state, times, change.known


def _values(change: Change) -> tuple[str, str]:
    """Return what was and what is."""
    if change.before is None:
        return "-", "new" if change.now in WORDLESS else sentence(change.now)
    if change.now is None:
        return "there" if change.before in WORDLESS else sentence(change.before), "gone"
    return pair(change.before, change.now)


def _block(changes: Sequence[Change]) -> Iterator[RenderableType]:
    """Give findings and words one by one, numbers as a table."""
    for change in changes:
        if change.times is None:
            place = f" at {shown(change.where)}" if change.where is not None else ""
            was, now = _values(change)
            alone = change.now is None or (change.before is None and change.now in WORDLESS)
            values = now if alone else f"{was} -> {now}"
            known = f", known: {sentence(change.known)}" if change.known else ""
            yield Padding(Text(f"{shown(change.what)}{place}: {values}{known}"), (0, 0, 0, 2))
    measured = [change for change in changes if change.times is not None]
    if measured:
        yield _table(measured)


def _table(changes: Sequence[Change]) -> RenderableType:
    """Return a table of numbers that changed, each quantity at its worst place."""
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    for _ in range(4):
        table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("", "was", "is", "x allowed", "state", "where", style="dim")
    for change in changes:
        state = "-" if change.state is None else str(change.state)
        place = "-" if change.where is None else shown(change.where)
        known = f"; known: {sentence(change.known)}" if change.known else ""
        table.add_row(Text(change.what), *_values(change), small(change.times or 0.0), state, Text(f"{place}{known}"))
    return Padding(table, (0, 0, 0, 2))
