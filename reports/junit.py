"""The report as JUnit XML, which CI systems show as tests: a suite per model, a case per engine, path and check."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]  it ships no types

from ..harness.results import QuantityRow
from .pair_findings import both_values
from .pair_names import Names
from .reasons import values_of
from .revived import check_result, diff_result
from .text import sentence, shortened, shown, small
from .verdict import located, standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..harness.diff_result import DiffResult
    from ..harness.results import EngineResult, Finding, IdentityRow, ModelResult, Unusable
    from ..harness.saved import Saved

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
class _Case:
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


def junit(saved: Saved) -> str:
    """Return the XML text: it holds a failure or an error exactly when the exit code is not 0."""
    root = etree.Element("testsuites", name=f"tautology {saved.document['command']}")
    if saved.document["command"] == "diff":
        _pair(root, diff_result(saved.document))
    else:
        result = check_result(saved.document)
        for row in result.unusable:
            _unusable(root, row)
        for model in result.models:
            _model(root, model)
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(str(suite.get(count))) for suite in root)))
    return etree.tostring(root, encoding="unicode", pretty_print=True)


def _unusable(root: Any, row: Unusable) -> None:
    name = shown(row.file)
    text = "" if row.where is None else f"at {shown(row.where)}"
    _suite(root, name, {name: [_Case("read", "error", row.kind, sentence(row.message), text)]}, {})


def _model(root: Any, model: ModelResult) -> None:
    """Add the suite of one model."""
    label = shown(model.label)
    cases: dict[str, list[_Case]] = {}
    if standing(model) == "not compared":
        cases[label] = [_Case("compare", "error", "not compared", "no engine could answer for this model")]
    for result in model.engines:
        cases.setdefault(_group(label, result.engine, result.path), []).extend(_engine(result, model))
    about = {
        "format": model.format,
        "base": model.base,
        "dofs": str(model.nv),
        "states": str(model.states["count"]),
        "seed": str(model.states["seed"]),
        "states_sha256": str(model.states["sha256"]),
        "sha256": model.sha256,
    }
    lint = [_finding(f, model) for f in model.lint]
    said = ["Wrong in the file itself, whatever engine reads it:", *_first(lint)] if lint else []
    _suite(root, label, cases, about, "\n".join(said))


def _group(label: str, *parts: str) -> str:
    """Return the class of a case; CI systems take what stands before the last dot for a package."""
    return ".".join([label, *(shown(part) for part in parts)])


def _engine(result: EngineResult, model: ModelResult) -> Iterator[_Case]:
    """Give the cases of one engine and path; what is known to differ is skipped with the reason."""
    for case in _cases(result, model):
        excused = case.outcome == "failure" and result.known
        yield _skipped(case, "known", sentence(result.known)) if excused else case


def _cases(result: EngineResult, model: ModelResult) -> Iterator[_Case]:
    """Give whether an engine loads the robot, whether it is the same robot, and every check."""
    yield _load(result, model)
    if result.status not in ANSWERED:
        return
    # Of an engine that is excused every finding is told; of another those that count.
    grave = [f for f in result.findings if f.severity != "convention" and (result.known or not f.known)]
    yield _same_robot([_finding(f, model) for f in grave])
    reason = f"; {grave[0].kind}{_at(grave[0])}{located(grave[0], model, ', ')}" if grave else ""
    for row in (*result.quantities, *result.identities):
        yield _check(row, reason)


def _load(result: EngineResult, model: ModelResult) -> _Case:
    seconds = sum(result.seconds.values())
    if result.status in ANSWERED:
        return _Case("load", seconds=seconds)
    text = "\n".join(_finding(f, model) for f in result.findings if f.severity != "convention")
    message = shortened(sentence(result.message) or result.status, LONG)
    return _Case("load", OUTCOMES[result.status], result.status, message, text, seconds)


def _same_robot(found: Sequence[str]) -> _Case:
    if not found:
        return _Case("same robot")
    many = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return _Case("same robot", "failure", "finding", shortened(found[0], LONG) + many, "\n".join(_first(found)))


def _first(lines: Sequence[str]) -> list[str]:
    more = len(lines) - MOST
    return [*lines[:MOST], *([f"and {more} more"] if more > 0 else [])]


def _check(row: QuantityRow | IdentityRow, reason: str = "") -> _Case:
    """Return the case of one quantity or identity."""
    measured = isinstance(row, QuantityRow)
    name, what = (row.quantity, "quantity") if measured else (row.identity, "identity")
    error = row.error if measured else row.residual
    case = f"{what} {shown(name)}"
    note = sentence(row.note)
    if not row.applies:
        return _Case(case, "skipped", "does not apply", note or "does not apply")
    if row.passed:
        return _Case(case)
    unit = f" [{row.unit}]" if measured else ""
    place = f" at {shown(row.where)}" if row.where is not None else ""
    state = "" if row.state is None else f" in state {row.state}"
    said = f"{small(error)}{unit}{place}{state}, allowed {small(row.tolerance)}{f' ({note})' if note else ''}"
    return _Case(case, "failure", what, said + reason)


def _finding(f: Finding, model: ModelResult) -> str:
    """Return a finding on one line: kind, place, values, fix."""
    parts = [f"{shown(f.kind)}{_at(f)}{located(f, model, ', ')}", values_of(f)]
    return "; ".join(part for part in (*parts, f.fix and f"fix: {sentence(f.fix)}") if part)


def _at(f: Finding) -> str:
    return f" at {shown(f.where)}" if f.where else ""


def _pair(root: Any, result: DiffResult) -> None:
    """Add the suite of two files."""
    names = Names.of(result)
    said = [_difference(f, names) for f in result.counted]
    label = f"{names.a} against {names.b}"
    rows = [_check(row) for row in result.rows]
    if result.status == "agree":  # what was to be ignored may show in the answers, and fails nothing
        words = "by what was to be ignored"
        rows = [_skipped(case, "ignored", words) if case.outcome == "failure" else case for case in rows]
    about = {"a": shown(result.files[0]), "b": shown(result.files[1]), "ignored": ", ".join(result.ignored)}
    _suite(root, label, {label: [_same_robot(said), *rows]}, about)


def _skipped(case: _Case, kind: str, why: str) -> _Case:
    """Return a case that failed as one that is skipped."""
    return replace(case, outcome="skipped", type=kind, message=f"{why}: {case.message}")


def _difference(f: Finding, names: Names) -> str:
    """Return a finding between two files on one line: kind, place, what each says in which line, fix."""
    ours, theirs = both_values(f)
    says = f"A says {ours}{names.place(f.file, f.line)}, B says {theirs}{names.place(f.other_file, f.other_line)}"
    parts = [f"{shown(f.kind)}{_at(f)}", "" if f.kind == "unexplained" else says, sentence(f.note)]
    return "; ".join(part for part in (*parts, f.fix and f"fix: {sentence(f.fix)}") if part)


def _suite(
    root: Any,
    name: str,
    cases: Mapping[str, Sequence[_Case]],
    about: Mapping[str, str],
    said: str = "",
) -> None:
    """Add a suite with its counts, its properties, its cases by class and what else is to be said."""
    every = [case for some in cases.values() for case in some]
    suite = etree.SubElement(root, "testsuite", name=name, tests=str(len(every)))
    for count, outcome in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(count, str(_count(every, outcome)))
    suite.set("time", f"{sum(case.seconds or 0.0 for case in every):.3f}")
    if about:
        properties = etree.SubElement(suite, "properties")
        for key, value in about.items():
            etree.SubElement(properties, "property", name=key, value=shown(value))
    for group, some in cases.items():
        for case in some:
            _write(suite, group, case)
    if said:
        etree.SubElement(suite, "system-out").text = said


def _count(cases: Iterable[_Case], outcome: str) -> int:
    return sum(case.outcome == outcome for case in cases)


def _write(suite: Any, group: str, case: _Case) -> None:
    element = etree.SubElement(suite, "testcase", classname=group, name=case.name)
    if case.seconds is not None:
        element.set("time", f"{case.seconds:.3f}")
    if case.outcome:
        outcome = etree.SubElement(element, case.outcome, type=shown(case.type), message=case.message)
        outcome.text = case.text or None
