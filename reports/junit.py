"""The report as JUnit XML, which CI systems show as tests: a suite per model, a case per engine, path and check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]  it ships no types

from .cases import Case, engine_cases, finding_line, first, place_of, row_case, same_robot, skipped
from .pair_findings import both_values
from .pair_names import Names
from .revived import check_result, diff_result
from .text import pair, sentence, shown
from .verdict import standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..harness.diff_result import DiffResult
    from ..harness.results import Finding, ModelResult, Unusable
    from ..harness.saved import Saved


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
        if "baseline" in saved.document:
            _baseline(root, saved.document["baseline"])
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(str(suite.get(count))) for suite in root)))
    return etree.tostring(root, encoding="unicode", pretty_print=True)


def _unusable(root: Any, row: Unusable) -> None:
    name = shown(row.file)
    text = "" if row.where is None else f"at {shown(row.where)}"
    _suite(root, name, {name: [Case("read", "error", row.kind, sentence(row.message), text)]}, {})


def _baseline(root: Any, baseline: Mapping[str, Any]) -> None:
    """Add the suite of a baseline: one case, which fails when something changed that is not known."""
    counted = [change for change in baseline["changes"] if not change["known"]]
    lines = [_change(change) for change in counted]
    case = Case("unchanged")
    if baseline["status"] == "changed":
        more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
        causes = [sentence(cause) for cause in baseline["causes"]]
        case = Case("unchanged", "failure", "baseline", lines[0] + more, "\n".join([*causes, *first(lines)]))
    name = shown(baseline["file"])
    _suite(root, name, {name: [case]}, {"status": baseline["status"]})


def _change(change: Mapping[str, Any]) -> str:
    """Return a change on one line: what, where, in which engine, from what to what."""
    place = f" at {shown(change['where'])}" if change["where"] is not None else ""
    who = f" ({shown(change['engine'])}, {shown(change['path'])} path)" if change["engine"] else ""
    before, now = pair(change["before"], change["now"])
    return f"{shown(change['what'])}{place}{who}: was {before}, is {now}"


def _model(root: Any, model: ModelResult) -> None:
    """Add the suite of one model."""
    label = shown(model.label)
    cases: dict[str, list[Case]] = {}
    if standing(model) == "not compared":
        cases[label] = [Case("compare", "error", "not compared", "no engine could answer for this model")]
    for result in model.engines:
        cases.setdefault(_group(label, model.called(result), result.path), []).extend(engine_cases(result, model))
    about = {
        "format": model.format,
        "base": model.base,
        "dofs": str(model.nv),
        "states": str(model.states["count"]),
        "seed": str(model.states["seed"]),
        "states_sha256": str(model.states["sha256"]),
        "sha256": model.sha256,
    }
    lint = [finding_line(f, model) for f in model.lint]
    said = ["Wrong in the file itself, whatever engine reads it:", *first(lint)] if lint else []
    _suite(root, label, cases, about, "\n".join(said))


def _group(label: str, *parts: str) -> str:
    """Return the class of a case; CI systems take what stands before the last dot for a package."""
    return ".".join([label, *(shown(part) for part in parts)])


def _pair(root: Any, result: DiffResult) -> None:
    """Add the suite of two files."""
    names = Names.of(result)
    said = [_difference(f, names) for f in result.counted]
    label = f"{names.a} against {names.b}"
    rows = [row_case(row) for row in result.rows]
    if result.status == "agree":  # what was to be ignored may show in the answers, and fails nothing
        words = "by what was to be ignored"
        rows = [skipped(case, "ignored", words) if case.outcome == "failure" else case for case in rows]
    about = {"a": shown(result.files[0]), "b": shown(result.files[1]), "ignored": ", ".join(result.ignored)}
    _suite(root, label, {label: [same_robot(said), *rows]}, about)


def _difference(f: Finding, names: Names) -> str:
    """Return a finding between two files on one line: kind, place, what each says in which line, fix."""
    ours, theirs = both_values(f)
    says = f"A says {ours}{names.place(f.file, f.line)}, B says {theirs}{names.place(f.other_file, f.other_line)}"
    parts = [f"{shown(f.kind)}{place_of(f)}", "" if f.kind == "unexplained" else says, sentence(f.note)]
    return "; ".join(part for part in (*parts, f.fix and f"fix: {sentence(f.fix)}") if part)


def _suite(
    root: Any,
    name: str,
    cases: Mapping[str, Sequence[Case]],
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


def _count(cases: Iterable[Case], outcome: str) -> int:
    return sum(case.outcome == outcome for case in cases)


def _write(suite: Any, group: str, case: Case) -> None:
    element = etree.SubElement(suite, "testcase", classname=group, name=case.name)
    if case.seconds is not None:
        element.set("time", f"{case.seconds:.3f}")
    if case.outcome:
        outcome = etree.SubElement(element, case.outcome, type=shown(case.type), message=case.message)
        outcome.text = case.text or None
