"""What changed since a baseline was frozen, and what may have changed it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .baseline import (
    SAME,
    Baseline,
    answered,
    engine_and_path,
    finding_row,
    frozen_engine,
    labelled,
    off,
    tree_of,
    versions,
    whole_state,
)
from .comparison import Change, Comparison
from .known import COUNTED, excused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .baseline import FrozenEngine
    from .joint import Floats
    from .request import Request
    from .results import EngineResult, ModelResult, Result
    from .tree import Tree

ANSWERING: Final = ("agree", "differs")
WHOLE: Final = ("mass_matrix", "poses", "velocities")  # which are kept at one state


def against(result: Result, baseline: Baseline, file: str, request: Request) -> Result:
    """Return a result of one model with what changed; engines that differ as they did before are excused.

    Args:
        result: of the states of the baseline, its answers kept.
        baseline: what was frozen.
        file: of the baseline.
        request: that was asked.
    """
    model = result.models[0]
    engines, changes = [], list(_of_the_file(baseline, tree_of(model), model))
    told, of_file = labelled(model, request), {(change.what, change.where) for change in changes}
    for label, engine in told.items():
        frozen = baseline.counterpart(label)
        if frozen is None:
            changes.append(Change("status", *engine_and_path(label), "status", None, None, engine.status))
            engines.append(engine)
            continue
        own = _with_known(list(_of_engine(label, engine, baseline, frozen, request.tolerance, of_file)), engine)
        changes += own
        same = not any(not change.known for change in own)
        engines.append(as_frozen(engine, file) if same else engine)
    comparison = Comparison(file, tuple(changes), tuple(_causes(baseline, result, told)))
    return replace(result, models=(excused(model, engines),), baseline=comparison)


def as_frozen(engine: EngineResult, file: str) -> EngineResult:
    """Return an engine whose differences and refusals, if it has any, are those of a baseline, and do not count."""
    if engine.status not in COUNTED:
        return engine
    why = f"as frozen in {file}"
    findings = [f if f.severity == "convention" or f.known else replace(f, known=why) for f in engine.findings]
    return replace(engine, findings=tuple(findings), known=engine.known or why)


def renewed(baseline: Baseline, new: Baseline, comparison: Comparison) -> Baseline:
    """Return the new baseline with the old numbers wherever they still hold: what did not change leaves no diff."""
    changed = {(f"{c.engine} {c.path}", c.what) for c in comparison.changes if c.kind == "answer"}
    engines: dict[str, FrozenEngine] = {}
    for label, engine in new.engines.items():
        old = baseline.engines.get(label)
        kept = (
            {q: old.answers[q] for q in engine.answers if q in old.answers and (label, q) not in changed} if old else {}
        )
        engines[label] = replace(engine, answers={**engine.answers, **kept})
    return replace(new, engines=engines)


def _of_the_file(baseline: Baseline, tree: Tree, model: ModelResult) -> Iterator[Change]:
    """Give what changed in the file whatever engine reads it."""
    bodies = tuple(body.name for body in tree.bodies)
    yield from _sets("robot", ("", ""), "dof", baseline.dofs, tree.dofs)
    yield from _sets("robot", ("", ""), "body", baseline.bodies, bodies)
    rows = [finding_row(f) for f in model.lint]
    yield from _findings("lint", ("", ""), baseline.lint, rows, 1e-9)


def _sets(
    kind: str, who: tuple[str, str], what: str, before: Sequence[str | None], now: Sequence[str | None]
) -> Iterator[Change]:
    """Give what came and what went."""
    yield from (Change(kind, *who, what, x, "there", None) for x in dict.fromkeys(before) if x not in now)
    yield from (Change(kind, *who, what, x, None, "there") for x in dict.fromkeys(now) if x not in before)


def _of_engine(
    label: str,
    engine: EngineResult,
    baseline: Baseline,
    frozen: str,
    tolerance: float,
    told: set[tuple[str, str | None]],
) -> Iterator[Change]:
    """Give what changed in one engine on one path, without what is `told` of the file."""
    who, then = engine_and_path(label), baseline.engines[frozen]
    at = whole_state(baseline.states)
    now = frozen_engine(engine, None, tolerance, at)
    if then.status != now.status:
        yield Change("status", *who, "status", None, then.status, now.status)
    if then.status not in ANSWERING or now.status not in ANSWERING:  # what else there is to say hangs on the answers
        before, after = ([f for f in x.findings if f["severity"] == "refusal"] for x in (then, now))
        yield from _findings("refusal", who, before, after, tolerance)
        return
    for kind in dict.fromkeys([*then.conventions, *now.conventions]):
        yield from _sets("finding", who, kind, then.conventions.get(kind, ()), now.conventions.get(kind, ()))
    yield from _findings("finding", who, then.findings, now.findings, tolerance)
    answers = list(_answers(who, then, baseline, engine, tolerance))
    moved = {change.what for change in answers}
    for name in dict.fromkeys([*then.failed, *now.failed]):
        held = {True: "failed", False: "held"}
        before, after = name in then.failed, name in now.failed
        if before != after and name not in moved:  # of a number that moved the verdict is no news
            yield Change("verdict", *who, name, None, held[before], held[after])
    for what, mine, theirs in (("dof", then.dofs, engine.dofs), ("body", then.bodies, engine.bodies)):
        yield from (c for c in _sets("robot", who, what, mine, theirs) if (c.what, c.where) not in told)
    yield from answers


def _findings(
    kind: str,
    who: tuple[str, str],
    before: Sequence[Mapping[str, Any]],
    now: Sequence[Mapping[str, Any]],
    tolerance: float,
) -> Iterator[Change]:
    """Give findings that came, went, or hold other values."""
    old, new = ({(f["kind"], f["where"], f["severity"]): f for f in some} for some in (before, now))
    for key in dict.fromkeys([*old, *new]):
        what, where, severity = key
        group = "refusal" if severity == "refusal" else kind
        if key not in new:
            yield Change(group, *who, what, where, "there", None)
        elif key not in old:
            yield Change(group, *who, what, where, None, "there")
        else:
            for side in ("expected", "found"):
                then, value = old[key].get(side), new[key].get(side)
                if not _alike(then, value, tolerance):
                    yield Change(group, *who, what, where, then, value)
                    break


def _alike(a: Any, b: Any, tolerance: float) -> bool:
    """Return whether two values of a finding are the same: words alike, numbers to the tolerance of the largest."""
    try:
        x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    except (TypeError, ValueError):
        return a == b
    if x.shape != y.shape or a is None or b is None:
        return a == b
    largest = max(float(np.abs(x).max(initial=0)), float(np.abs(y).max(initial=0)))
    return bool((off(x, y, np.full(x.shape, largest or 1.0)) <= tolerance).all())


def _answers(
    who: tuple[str, str], then: FrozenEngine, baseline: Baseline, engine: EngineResult, tolerance: float
) -> Iterator[Change]:
    """Give the worst change of every quantity."""
    at = whole_state(baseline.states)
    now = answered(engine, at)
    for quantity in dict.fromkeys([*then.answers, *now]):
        if quantity not in now or quantity not in then.answers:
            given = ("answered", None) if quantity not in now else (None, "answered")
            yield Change("answer", *who, quantity, None, *given)
            continue
        old, (new, scales) = frozen_lines(baseline, then, quantity), now[quantity]
        worst: tuple[float, Change] | None = None
        for label in old.keys() & new.keys():
            if old[label].shape != new[label].shape:
                continue  # a row of M, of an engine that has other dofs than before: told already
            ratio = off(new[label], old[label], scales[label]) / tolerance
            n = int(ratio.argmax()) if ratio.size else 0
            if ratio.size and ratio[n] > 1 and (worst is None or ratio[n] > worst[0]):
                state = at if len(new[label]) != len(baseline.states) or quantity in WHOLE else n
                where = None if label == "robot" else _place(quantity, label, n, engine)
                before, value = float(old[label][n]), float(new[label][n])
                change = Change("answer", *who, quantity, where, before, value, state, float(ratio[n]))
                worst = float(ratio[n]), change
        if worst:
            yield worst[1]


def _place(quantity: str, label: str, n: int, engine: EngineResult) -> str:
    if quantity == "mass_matrix":
        return f"{label}, {engine.dofs[n]}"
    if quantity == "poses":
        return f"{label}, {'xyz'[n // 4]} of {('x axis', 'y axis', 'z axis', 'position')[n % 4]}"
    return f"{label}, {('wx', 'wy', 'wz', 'vx', 'vy', 'vz')[n]}" if quantity == "velocities" else label


def frozen_lines(baseline: Baseline, engine: FrozenEngine, quantity: str) -> dict[str, Floats]:
    """Return what an engine answered, also where that was the answer of the reference."""
    given = engine.answers[quantity]
    if isinstance(given, str):
        reference = baseline.engines["reference neutral"].answers[quantity]
        theirs = {} if isinstance(reference, str) else reference
        if given != SAME:
            return {}
        has = set(engine.dofs) | set(engine.bodies) | {"robot", "x", "y", "z"}
        given = {label: line for label, line in theirs.items() if label in has}
    return {label: np.asarray(line, np.float64) for label, line in given.items()}


def _with_known(changes: list[Change], engine: EngineResult) -> list[Change]:
    """Return changes with those marked that are known differences; where all grave findings are, so is their effect."""
    reasons = {(f.kind, f.where): f.known for f in engine.findings if f.known}
    marked = [
        replace(change, known=reasons.get((change.what, change.where), ""))
        if change.kind in ("finding", "refusal") and change.now is not None
        else change
        for change in changes
    ]
    if not engine.known or not any(change.known for change in marked):
        return marked
    effects = ("answer", "verdict", "status")
    return [replace(c, known=c.known or engine.known) if c.kind in effects else c for c in marked]


def _causes(baseline: Baseline, result: Result, told: Mapping[str, EngineResult]) -> Iterator[str]:
    """Give what is not as it was when the baseline was frozen."""
    model = result.models[0]
    if model.sha256 != baseline.sha256:
        hashes = f"sha256 {baseline.sha256[:12]}, now {model.sha256[:12]}"
        yield f"the file has changed ({hashes}): `tautology diff OLD NEW` says where"
    before = dict(baseline.versions)
    now = versions(result)
    for label, engine in told.items():
        frozen = baseline.counterpart(label)
        if frozen is not None and engine.engine != "reference" and engine.version:
            before[engine.engine], now[engine.engine] = baseline.engines[frozen].version, engine.version
    for name in dict.fromkeys([*before, *now]):
        if name in before and name in now and before[name] != now[name]:
            yield f"{name} was {before[name]}, now {now[name]}"
