"""A baseline: states, what every engine answered there, versions and hashes, in one file of JSON made for git.

One line holds one thing, in an order that stays: a state, the efforts of one dof over all states, one finding. Answers
that agree with the reference a thousand times better than the tolerance asks are told by that word alone.
"""

from __future__ import annotations

import json
import platform
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from .checks.agreement import PER_BODY, PER_DOF
from .errors import RequestError
from .plain import plain
from .states import ARRAYS, States

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .findings import Finding
    from .joint import Floats
    from .request import Request
    from .results import EngineResult, ModelResult, Result
    from .tree import Tree

SCHEMA: Final = "tautology-baseline/1"
SAME: Final = "as the reference"
SHARE: Final = 1e-3  # of the tolerance, up to which an answer is the same as that of the reference
DIGITS: Final = (
    6  # of drawn velocities, accelerations, efforts and wrenches: any value will do, and short ones read well
)
AXES: Final = ("x", "y", "z")

Lines: TypeAlias = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class FrozenEngine:
    """What one engine said on one path.

    Attributes:
        version: of the engine.
        status: as in `EngineResult`.
        failed: quantities and identities that did not hold.
        conventions: kind to the places of findings that change no answer.
        findings: all others, as rows with kind, severity, where and, where numbers or words can be compared, values.
        dofs: that it has, by their names in the file.
        bodies: whose frames it holds.
        answers: quantity to its lines, or to `SAME`.
    """

    version: str
    status: str
    failed: tuple[str, ...]
    conventions: Mapping[str, Sequence[str | None]]
    findings: tuple[Mapping[str, Any], ...]
    dofs: tuple[str, ...]
    bodies: tuple[str, ...]
    answers: Mapping[str, Lines | str]


@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """A model as it was answered for once.

    Attributes:
        file: the model file, as it was named.
        sha256: of it.
        name: of the robot.
        versions: of everything that answers depend on.
        request: engines (terms), path, base and tolerance that were asked.
        joints: name and number of coordinates of every joint that moves.
        dofs: of the tree.
        bodies: of the tree, the world first.
        states: that were asked.
        lint: findings of the file itself.
        engines: term and path, `mujoco==3.3.7 native`, to what it said; `reference neutral` first.
    """

    file: str
    sha256: str
    name: str
    versions: Mapping[str, str]
    request: Mapping[str, Any]
    joints: tuple[tuple[str, int], ...]
    dofs: tuple[str, ...]
    bodies: tuple[str, ...]
    states: States
    lint: tuple[Mapping[str, Any], ...]
    engines: Mapping[str, FrozenEngine]

    @classmethod
    def of(cls, result: Result, states: States, request: Request) -> Baseline:
        """Return the baseline of a result of one model.

        Args:
            result: of a request whose `answers` are kept.
            states: that were asked.
            request: its engines are a list of terms.
        """
        model = result.models[0]
        tree, reference = tree_of(model), model.engines[0]
        at = whole_state(states)
        engines = {
            label: frozen_engine(engine, reference, request.tolerance, at)
            for label, engine in labelled(model, request).items()
        }
        return cls(
            file=model.file,
            sha256=model.sha256,
            name=model.name,
            versions=versions(result),
            request={
                "engines": list(terms(request)),
                "path": request.path,
                "base": request.base,
                "tolerance": request.tolerance,
            },
            joints=tuple((joint.name, joint.nq) for joint in tree.joints if joint.nq),
            dofs=tree.dofs,
            bodies=tuple(body.name for body in tree.bodies),
            states=states,
            lint=tuple(finding_row(f) for f in model.lint),
            engines=engines,
        )

    def counterpart(self, label: str) -> str | None:
        """Return the frozen engine that another is held against: the same term, else the one of that name; or None."""
        if label in self.engines:
            return label
        engine, path = engine_and_path(label)
        alike = [x for x in self.engines if engine_and_path(x) == (_name(engine), path)]
        alike = alike or [x for x in self.engines if (_name(x), engine_and_path(x)[1]) == (_name(engine), path)]
        return alike[0] if len(alike) == 1 else None

    def fitted(self, tree: Tree) -> States:
        """Return the states for a tree, by the names of joints, dofs and bodies; what is new is undisplaced, at rest.

        Of the tree that was frozen they are the same bits.
        """
        old, count = self.states, len(self.states)
        q = np.tile(tree.neutral, (count, 1))
        offsets = dict(zip((n for n, _ in self.joints), np.cumsum([0, *(nq for _, nq in self.joints)]), strict=False))
        sizes = dict(self.joints)
        for joint, place in zip(tree.joints, tree.q_slices, strict=True):
            if joint.nq and sizes.get(joint.name) == joint.nq:
                q[:, place] = old.q[:, offsets[joint.name] : offsets[joint.name] + joint.nq]
        columns = {dof: i for i, dof in enumerate(self.dofs)}
        v, a, tau = (np.zeros((count, tree.nv)) for _ in range(3))
        for i, dof in enumerate(tree.dofs):
            if dof in columns:
                for new, given in ((v, old.v), (a, old.a), (tau, old.tau)):
                    new[:, i] = given[:, columns[dof]]
        wrenches, rows = np.zeros((count, len(tree.bodies), 6)), {body: i for i, body in enumerate(self.bodies)}
        for i, body in enumerate(tree.bodies):
            if body.name in rows:
                wrenches[:, i] = old.wrenches[:, rows[body.name]]
        return States(q, v, a, tau, wrenches, old.strata, old.seed)


def tree_of(model: ModelResult) -> Tree:
    """Return the tree of a result that has just been computed."""
    if model.tree is None:
        raise RequestError("a saved result holds no tree; a baseline is made of a check that has just run")
    return model.tree


def terms(request: Request) -> list[str]:
    """Return the terms of the engines beside the reference, each once."""
    engines = request.engines if isinstance(request.engines, (list, tuple)) else ()
    return [str(name) for name in dict.fromkeys(engines) if name != "reference"]


def labelled(model: ModelResult, request: Request) -> dict[str, EngineResult]:
    """Return the engines of a result by term and path: the same engine may stand there in several versions."""
    from .request import PATHS  # noqa: PLC0415  which imports what starts processes

    paths = PATHS if request.path == "both" else (request.path,)
    names = ["reference neutral", *(f"{term} {path}" for term in terms(request) for path in paths)]
    return dict(zip(names, model.engines, strict=True))


def engine_and_path(label: str) -> tuple[str, str]:
    """Return what a label of `labelled` is made of; a term may hold blanks, a path does not."""
    engine, _, path = label.rpartition(" ")
    return engine, path


def _name(term: str) -> str:
    """Return the name of the engine of a term, or of a label."""
    return re.split("==|@| ", term, maxsplit=1)[0]


def versions(result: Result) -> dict[str, str]:
    """Return the versions that answers depend on, and the machine; those of engines stand with their answers."""
    own = {name: version for name, version in result.versions.items() if name in ("tautology", "python", "numpy")}
    return own | {"machine": f"{platform.system()} {platform.machine()}"}


def rounded(states: States) -> States:
    """Return drawn states with short numbers; positions keep all digits, since some lie a hair beside a special one."""
    shorter = {name: _short(getattr(states, name)) for name in ARRAYS if name != "q"}
    return replace(states, **shorter)


def _short(x: Floats) -> Floats:
    return np.array([float(f"{number:.{DIGITS}g}") for number in x.ravel()]).reshape(x.shape)


def whole_state(states: States) -> int:
    """Return the state at which M, poses and velocities are kept: the first random one, else the last."""
    return states.strata.index("random") if "random" in states.strata else len(states) - 1


def lines(quantity: str, x: Floats, dofs: Sequence[str], bodies: Sequence[str], at: int) -> dict[str, Floats]:
    """Return an answer (N, ...) as named lines: a dof over all states, a row of M or a body at one state."""
    if quantity == "mass_matrix":
        return {dof: x[at, i, : i + 1] for i, dof in enumerate(dofs)}
    if quantity in PER_DOF:
        return {dof: x[:, i] for i, dof in enumerate(dofs)}
    if quantity in PER_BODY:
        rows = x[at, :, :3] if quantity == "poses" else x[at]
        return {body: rows[i].ravel() for i, body in enumerate(bodies)}
    return {axis: x[:, i] for i, axis in enumerate(AXES)} if x.ndim == 2 else {"robot": x}


def answered(engine: EngineResult, at: int) -> dict[str, tuple[dict[str, Floats], dict[str, Floats]]]:
    """Return the lines of every quantity that an engine answered, and those of their scales."""
    return {
        quantity: (
            lines(quantity, answer, engine.dofs, engine.bodies, at),
            lines(quantity, scale, engine.dofs, engine.bodies, at),
        )
        for quantity, (answer, scale) in engine.answers.items()
    }


def off(now: Floats, then: Floats, scale: Floats) -> Floats:
    """Return how far two lines are apart, in scales; what is missing in one of them alone is infinitely far."""
    with np.errstate(all="ignore"):
        apart = np.abs(now - then)
        ratio = np.where(apart > 0, apart / scale, 0.0)
    alike = (now == then) | (np.isnan(now) & np.isnan(then))
    return np.where(alike, 0.0, np.where(np.isfinite(apart), ratio, np.inf))


def frozen_engine(engine: EngineResult, reference: EngineResult | None, tolerance: float, at: int) -> FrozenEngine:
    """Return what is kept of an engine; answers in full without a reference."""
    rows = [(f"{r.quantity}", r) for r in engine.quantities] + [
        (f"identity {r.identity}", r) for r in engine.identities
    ]
    truth = {} if reference is None or engine is reference else answered(reference, at)
    answers: dict[str, Lines | str] = {}
    for quantity, (mine, scales) in answered(engine, at).items():
        theirs = truth[quantity][0] if quantity in truth else {}
        same = bool(mine) and all(
            label in theirs
            and theirs[label].shape == line.shape
            and (off(line, theirs[label], scales[label]) <= SHARE * tolerance).all()
            for label, line in mine.items()
        )
        answers[quantity] = SAME if same else {label: (line + 0.0).tolist() for label, line in mine.items()}
    kinds: dict[str, list[str | None]] = {}
    for f in engine.findings:
        if f.severity == "convention":
            kinds.setdefault(f.kind, []).append(f.where)
    return FrozenEngine(
        engine.version,
        engine.status,
        tuple(name for name, row in rows if row.applies and not row.passed),
        {kind: sorted(places, key=str) for kind, places in sorted(kinds.items())},
        tuple(finding_row(f) for f in sorted(engine.findings, key=_order) if f.severity != "convention"),
        engine.dofs,
        engine.bodies,
        answers,
    )


def _order(f: Finding) -> tuple[str, str]:
    return f.kind, f.where or ""


def finding_row(f: Finding) -> dict[str, Any]:
    """Return what of a finding can change: no words of engines, which name paths, and no residuals."""
    row: dict[str, Any] = {"kind": f.kind, "severity": f.severity, "where": f.where}
    if f.severity == "model" and f.kind != "unexplained":
        row |= {"expected": plain(f.expected), "found": plain(f.found), "unit": f.unit}
    return row


def written(baseline: Baseline) -> str:
    """Return the text of the file."""
    states, bodies = baseline.states, baseline.bodies
    rows = {name: dict(enumerate((getattr(states, name) + 0.0).tolist())) for name in ARRAYS}
    loads = {n: {bodies[b]: x for b, x in enumerate(some) if any(x)} for n, some in rows.pop("wrenches").items()}
    document = {
        "schema": SCHEMA,
        "file": baseline.file,
        "sha256": baseline.sha256,
        "robot": baseline.name,
        "versions": dict(baseline.versions),
        "request": dict(baseline.request),
        "joints": dict(baseline.joints),
        "dofs": list(baseline.dofs),
        "bodies": list(bodies),
        "states": {
            "seed": states.seed,
            "strata": list(states.strata),
            **rows,
            "wrenches": {n: some for n, some in loads.items() if some},
        },
        "lint": list(baseline.lint),
        "engines": {label: _engine_document(e, baseline) for label, e in baseline.engines.items()},
    }
    return _text(plain(document), "") + "\n"


def _engine_document(engine: FrozenEngine, baseline: Baseline) -> dict[str, Any]:
    every = {"dofs": baseline.dofs, "bodies": baseline.bodies[1:]}
    has = {name: "all" if getattr(engine, name) == x else list(getattr(engine, name)) for name, x in every.items()}
    return {
        "version": engine.version,
        "status": engine.status,
        "failed": list(engine.failed),
        "conventions": dict(engine.conventions),
        "findings": list(engine.findings),
        **(has if engine.answers else {}),
        "answers": dict(engine.answers),
    }


def _text(value: Any, indent: str) -> str:
    """Return JSON in which a list of plain values, and a table inside a list, take one line."""
    deeper = indent + " "
    if isinstance(value, dict) and value:
        rows = [f"{deeper}{_one_line(key)}: {_text(item, deeper)}" for key, item in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        return "[\n" + ",\n".join(deeper + _one_line(item) for item in value) + f"\n{indent}]"
    return _one_line(value)


_one_line: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
