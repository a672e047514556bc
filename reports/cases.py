"""The tests that a result amounts to: a case per engine, path and check, for JUnit XML and for pytest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from ..harness.results import QuantityRow
from .reasons import values_of
from .text import sentence, shortened, shown, small
from .verdict import located

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..harness.results import EngineResult, Finding, IdentityRow, ModelResult

ANSWERED: Final = ("agree", "differs")
# What a status makes of the case `load`, where the engine gave no answers.
OUTCOMES: Final[Mapping[str, Outcome]] = {
    "crashed": "error",
    "timeout": "error",
    "refused": "failure",
    "unsupported": "skipped",
    "absent": "skipped",
}
MOST: Final = 50  # findings in one text
LONG: Final = 400  # characters of a message, which CI systems show on one line

Outcome = Literal["failure", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class Case:
    """One test.

    Attributes:
        name: of the check.
        outcome: None when it passed.
        type: word of ours for the outcome, such as a status or "quantity".
        message: one line.
        text: more of it, with line breaks.
        seconds: that it took, where it was measured.
    """

    name: str
    outcome: Outcome | None = None
    type: str = ""
    message: str = ""
    text: str = ""
    seconds: float | None = None


def engine_cases(result: EngineResult, model: ModelResult) -> Iterator[Case]:
    """Give the cases of one engine and path; what is known to differ is skipped with the reason."""
    for case in _cases(result, model):
        excused = case.outcome == "failure" and result.known
        yield skipped(case, "known", sentence(result.known)) if excused else case


def _cases(result: EngineResult, model: ModelResult) -> Iterator[Case]:
    """Give whether an engine loads the robot, whether it is the same robot, and every check."""
    yield _load(result, model)
    if result.status not in ANSWERED:
        return
    # Of an engine that is excused every finding is told; of another those that count.
    grave = [f for f in result.findings if f.severity != "convention" and (result.known or not f.known)]
    yield same_robot([finding_line(f, model) for f in grave])
    reason = f"; {grave[0].kind}{place_of(grave[0])}{located(grave[0], model, ', ')}" if grave else ""
    for row in (*result.quantities, *result.identities):
        yield row_case(row, reason)


def _load(result: EngineResult, model: ModelResult) -> Case:
    seconds = sum(result.seconds.values())
    if result.status in ANSWERED:
        return Case("load", seconds=seconds)
    text = "\n".join(finding_line(f, model) for f in result.findings if f.severity != "convention")
    message = shortened(sentence(result.message) or result.status, LONG)
    return Case("load", OUTCOMES[result.status], result.status, message, text, seconds)


def same_robot(found: Sequence[str]) -> Case:
    """Return the case that fails with the findings that count, a line each."""
    if not found:
        return Case("same robot")
    many = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return Case("same robot", "failure", "finding", shortened(found[0], LONG) + many, "\n".join(first(found)))


def first(lines: Sequence[str]) -> list[str]:
    """Return as many lines as one text takes, and how many more there are."""
    more = len(lines) - MOST
    return [*lines[:MOST], *([f"and {more} more"] if more > 0 else [])]


def row_case(row: QuantityRow | IdentityRow, reason: str = "") -> Case:
    """Return the case of one quantity or identity."""
    measured = isinstance(row, QuantityRow)
    name, what = (row.quantity, "quantity") if measured else (row.identity, "identity")
    error = row.error if measured else row.residual
    case = f"{what} {shown(name)}"
    note = sentence(row.note)
    if not row.applies:
        return Case(case, "skipped", "does not apply", note or "does not apply")
    if row.passed:
        return Case(case)
    unit = f" [{row.unit}]" if measured else ""
    place = f" at {shown(row.where)}" if row.where is not None else ""
    state = "" if row.state is None else f" in state {row.state}"
    said = f"{small(error)}{unit}{place}{state}, allowed {small(row.tolerance)}{f' ({note})' if note else ''}"
    return Case(case, "failure", what, said + reason)


def finding_line(f: Finding, model: ModelResult) -> str:
    """Return a finding on one line: kind, place, values, fix."""
    parts = [f"{shown(f.kind)}{place_of(f)}{located(f, model, ', ')}", values_of(f)]
    return "; ".join(part for part in (*parts, f.fix and f"fix: {sentence(f.fix)}") if part)


def place_of(f: Finding) -> str:
    """Return ` at` the body, joint or dof; nothing where the whole file is concerned."""
    return f" at {shown(f.where)}" if f.where else ""


def skipped(case: Case, kind: str, why: str) -> Case:
    """Return a case that failed as one that is skipped."""
    return replace(case, outcome="skipped", type=kind, message=f"{why}: {case.message}")
