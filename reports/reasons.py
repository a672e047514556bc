"""Why an engine does not agree, what was mapped, and what the file says that no engine was asked about."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..harness.results import QuantityRow
from .text import brief, counted, listed, pair, sentence, shown, small
from .verdict import STYLES, located, path_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from ..harness.results import EngineResult, Finding, IdentityRow, Loss, ModelResult

TITLES: Final = {
    "model": "not the same robot",
    "refusal": "would not load it",
    "convention": "same robot, told otherwise",
}
LINT_TITLE: Final = "wrong in the file itself, whatever engine reads it"
OTHER_CALLS: Final = "in other calls of this engine, not in the compared ones"
# Terms that an engine books in another call than the one that is compared.
TERMS: Final = frozenset(
    {
        *("armature", "armature.tendon", "rotor", "damping", "frictionloss", "spring", "gravcomp", "fluid"),
        *("constraint", "integrator"),
    },
)
QUOTED: Final = re.compile("'[^']*'")
MOST: Final = 6  # findings of one kind that are shown one by one


def engine_blocks(model: ModelResult, *, verbose: bool) -> Iterator[RenderableType]:
    """Give what there is to say of each engine: failed rows, findings, notes; both paths at once if alike."""
    for results in _alike(model.engines, verbose=verbose):
        lines = list(_block(results[0], model, verbose=verbose))
        if lines:
            first = results[0]
            title = Text("\n").append(f"{shown(first.engine)} {shown(first.version)}".rstrip(), "bold")
            title.append(f", {path_words([r.path for r in results], '')}: ").append(first.status, STYLES[first.status])
            yield title
            yield from lines


def _alike(engines: Sequence[EngineResult], *, verbose: bool) -> list[list[EngineResult]]:
    """Group the two paths of an engine when the same is to be said of both."""
    groups: list[list[EngineResult]] = []
    for result in engines:
        for group in groups:
            first = group[0]
            same = (first.engine, first.version, first.status, first.message, first.findings)
            if same == (result.engine, result.version, result.status, result.message, result.findings) and not (
                verbose or _failed(first) or _failed(result)
            ):
                group.append(result)
                break
        else:
            groups.append([result])
    return groups


def _failed(result: EngineResult) -> list[QuantityRow | IdentityRow]:
    return [row for row in (*result.quantities, *result.identities) if row.applies and not row.passed]


def _block(result: EngineResult, model: ModelResult, *, verbose: bool) -> Iterator[RenderableType]:
    """Give the lines on one engine and path."""
    rows = [*result.quantities, *result.identities] if verbose else _failed(result)
    if rows:
        yield row_table(rows)
    told = {sentence(f.found) for f in result.findings}
    if result.message and sentence(result.message) not in told:
        yield _line(f"note: {sentence(result.message) if verbose else brief(result.message)}", 2)
    for severity in ("model", "refusal"):
        found = [f for f in result.findings if f.severity == severity]
        if found:
            yield _line(f"{TITLES[severity]}:", 2)
            yield from _one_by_one(found, model, verbose=verbose)
    # Terms of other calls are no other telling of this robot.
    mapped = [f for f in result.findings if f.severity == "convention"]
    elsewhere = [f for f in mapped if f.kind in TERMS]
    for title, found in (
        (TITLES["convention"], [f for f in mapped if f.kind not in TERMS]),
        (OTHER_CALLS, elsewhere),
    ):
        if verbose and found:
            yield _line(f"{title}:", 2)
            yield from _one_by_one(found, model, verbose=True)
        elif kinds := Counter(f.kind for f in found if f.kind in TERMS or _mapped(f)):
            yield _line(f"{title}: {', '.join(k + (f' x{n}' if n > 1 else '') for k, n in kinds.items())}", 2)


def _mapped(f: Finding) -> bool:
    """Return whether there was anything to map: where both say the same there is not."""
    return f.expected is None or f.expected != f.found


def row_table(rows: Sequence[QuantityRow | IdentityRow]) -> RenderableType:
    """Return a table of rows at their worst state; the last column folds, so that no name is cut."""
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    for _ in range(3):
        table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("", "error", "allowed", "state", "where", style="dim")
    for row in rows:
        measured = isinstance(row, QuantityRow)
        name = Text(row.quantity if measured else f"identity {row.identity}")
        note = sentence(row.note)
        if not row.applies:
            table.add_row(name, "-", "-", "-", Text(f"does not apply: {note}"), style="dim")
            continue
        unit = f" [{row.unit}]" if measured else ""
        place = Text(f"{'-' if row.where is None else shown(row.where)}{unit}{f'; {note}' if note else ''}")
        state = "-" if row.state is None else str(row.state)
        error = row.error if measured else row.residual
        table.add_row(name, small(error), small(row.tolerance), state, place, style="" if row.passed else "red")
    return Padding(table, (0, 0, 0, 2))


def _one_by_one(findings: Sequence[Finding], model: ModelResult, *, verbose: bool) -> Iterator[RenderableType]:
    """Give each finding with place, values and fix; of many of one kind the first few, and the names of the rest."""
    kinds: dict[str, list[Finding]] = {}
    for f in findings:
        kinds.setdefault(f.kind, []).append(f)
    for kind, group in kinds.items():
        some = group if verbose or len(group) <= MOST else group[: MOST - 1]
        for n, f in enumerate(some):
            place = f" at {shown(f.where)}" if f.where else ""
            yield _line(Text(kind, "bold").append(f"{place}{located(f, model, ', ')}", "not bold"), 4)
            values = values_of(f)
            if values:
                yield _line(values, 6)
            if f.fix and (n == 0 or f.fix != some[n - 1].fix):
                yield _line(f"fix: {sentence(f.fix)}", 6)
        if len(some) < len(group):
            rest = [shown(f.where or "the file") for f in group[len(some) :]]
            yield _line(f"{kind} also at {listed(rest)} (one by one with --verbose)", 4)


def values_of(f: Finding) -> str:
    """Return what was expected and what was found; words have no unit, and the fix of `unexplained` says it all."""
    parts: list[str] = []
    if f.kind != "unexplained" and not (f.expected is None and f.found is None):
        expected, found = (
            text + (f" {f.unit}" if f.unit and isinstance(side, (int, float, list, tuple)) else "")
            for text, side in zip(pair(f.expected, f.found), (f.expected, f.found), strict=True)
        )
        both = f"the same in both: {found}" if f.expected == f.found else f"expected {expected}, found {found}"
        parts.append(found if f.expected is None else both)
    if f.explains is not None and f.kind != "unexplained":
        parts.append(f"explains {f.explains:.1%} of the difference")
    parts += [sentence(words) for words in (f.note, f.known and f"known: {f.known}") if words]
    return "; ".join(parts)


def lint_lines(model: ModelResult, *, verbose: bool) -> Iterator[RenderableType]:
    """Give what is wrong with the file itself: of each kind one fault with values and fix, and where the others are."""
    if not model.lint:
        return
    yield Text(f"\n{LINT_TITLE.capitalize()}:", "bold")
    if verbose:
        yield from _one_by_one(model.lint, model, verbose=True)
        return
    kinds: dict[str, list[Finding]] = {}
    for f in model.lint:
        kinds.setdefault(f.kind, []).append(f)
    for kind, (first, *others) in kinds.items():
        many = f" x{len(others) + 1}" if others else ""
        place = f" at {shown(first.where)}" if first.where else ""
        yield _line(Text(f"{kind}{many}", "bold").append(f"{place}{located(first, model, ', ')}", "not bold"), 2)
        yield _line(values_of(first), 4)
        if first.fix:
            yield _line(f"fix: {sentence(first.fix)}", 4)
        if others:
            more = " (one by one with --verbose)" if len(others) > MOST else ""
            yield _line(f"also at {listed([_lint_place(f, model) for f in others], MOST)}{more}", 4)


def _lint_place(f: Finding, model: ModelResult) -> str:
    where = shown(f.where or "the file")
    return f"{where} (line {f.line})" if f.line and f.file == model.file else f"{where}{located(f, model, ' (', ')')}"


def loss_lines(model: ModelResult, *, verbose: bool) -> Iterator[RenderableType]:
    """Give what the file says and the tree cannot hold: all that touches the dynamics, and the rest, or its count."""
    touching = [loss for loss in model.losses if loss.touches_dynamics]
    rest = [loss for loss in model.losses if not loss.touches_dynamics]
    if touching:
        yield Text("\nLeft out of every answer, though it touches the dynamics:", "bold")
        yield from _losses(touching, model, verbose=verbose)
    if rest and verbose:
        yield Text("\nLeft out of every answer, without effect on the smooth dynamics:", "bold")
        yield from _losses(rest, model, verbose=True)
    elif rest:
        yield Text(f"\n{counted(len(rest), 'other element')} of the file: without effect on the smooth dynamics.")


def _losses(some: Sequence[Loss], model: ModelResult, *, verbose: bool) -> Iterator[RenderableType]:
    """Give losses by element and note, each group with its places."""
    groups: dict[tuple[str, str], list[Loss]] = {}
    for loss in some:
        # Notes that differ only in a quoted name are one note; of several the first is shown.
        key = sentence(loss.note) if verbose else QUOTED.sub("", sentence(loss.note))
        groups.setdefault((sentence(loss.element), key), []).append(loss)
    for (element, _), losses in groups.items():
        many = f" x{len(losses)}" if len(losses) > 1 else ""
        such = ", such as" if len({loss.note for loss in losses}) > 1 else ""
        yield _line(f"{element}{many}{such}: {sentence(losses[0].note)}", 2)
        yield _line(listed([_loss_place(loss, model) for loss in losses]), 4)


def _loss_place(loss: Loss, model: ModelResult) -> str:
    where = shown(loss.where) if loss.where else "the file"
    if loss.source.line and loss.source.file == model.file:
        return f"{where} (line {loss.source.line})"
    return f"{where}{located(loss.source, model, ' (', ')')}"


def _line(text: str | Text, indent: int) -> RenderableType:
    return Padding(text if isinstance(text, Text) else Text(text), (0, 0, 0, indent))
