"""The loop: one model, its frozen states, the truth about it, and every engine on every path."""

from __future__ import annotations

import platform
import sys
import time
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from . import registry
from .callables import CallableEngine
from .checks import agreement, identities
from .checks.truth import Truth
from .diagnosis.diagnose import Diagnosis, diagnose
from .diagnosis.lint import lint
from .errors import (
    EngineAbsent,
    EngineRefused,
    EngineUnsupported,
    HarnessError,
    ReadError,
    RequestError,
    Source,
    internal,
)
from .findings import Finding, finding
from .load import open_model
from .results import EngineResult, ModelResult, Result, Status, Unusable, off_by
from .states import States, require_memory, sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from .diagnosis.closure import Left
    from .engine import Engine, Given, Session
    from .load import Loaded
    from .results import IdentityRow, QuantityRow
    from .tree import Tree

PATHS: Final = ("native", "neutral")
EXITS: Final = {"agree": 0, "unsupported": 0, "absent": 0, "differs": 1, "refused": 1, "crashed": 3, "timeout": 3}


@dataclass(frozen=True)
class Request:
    """What is asked of every model.

    Attributes:
        engines: names and callables, or one of them; None for every installed engine. The reference always answers too.
        path: "native", "neutral" or "both".
        base: "auto", "fixed" or "free".
        states: how many to draw, or states drawn before.
        seed: of the draw.
        tolerance: relative; below it two robots are the same.
        progress: called with what is being done and the share that is done, or None.
    """

    engines: Sequence[str | Callable[..., Any]] | Callable[..., Any] | str | None = None
    path: str = "both"
    base: str = "auto"
    states: int | States = 64
    seed: int = 0
    tolerance: float = 1e-9
    progress: Callable[[str, float], None] | None = None

    def __post_init__(self) -> None:
        asked: tuple[tuple[str, object, tuple[type, ...], str], ...] = (
            ("states", self.states, (Integral, States), "a number of states, or States"),
            ("seed", self.seed, (Integral,), "a whole number"),
            ("tolerance", self.tolerance, (Real,), "a number"),
        )
        for what, value, kinds, allowed in asked:
            if isinstance(value, bool) or not isinstance(value, kinds):
                raise RequestError(f"{what} is {value!r}; give {allowed}")
        for what, value, allowed in (
            ("path", self.path, (*PATHS, "both")),
            ("base", self.base, ("auto", "fixed", "free")),
        ):
            if value not in allowed:
                raise RequestError(f"{what} {value!r} is not one of {', '.join(allowed)}")
        if not 0 < self.tolerance < 1:
            raise RequestError(f"tolerance {self.tolerance} is not between 0 and 1")


@dataclass(frozen=True)
class Bench:
    """An engine that takes part."""

    name: str
    version: str
    engine: Engine


def check(model: Any, **request: Any) -> Result:
    """Ask every engine whether it reads and computes this robot as the reference does.

    Args:
        model: path of a URDF or MJCF file, a `Tree`, a `pinocchio.Model`, `mujoco.MjModel` or `mujoco.MjSpec`.
        **request: the fields of `Request`: engines, path, base, states, seed, tolerance, progress.

    Returns:
        The result; its `exit` and `verdict` say how it ended.

    Raises:
        ReadError: the file cannot be used.
        RequestError: the request cannot be met.
        EngineAbsent: a named engine is not installed.
    """
    wanted = Request(**request)
    bench = gather(wanted.engines)
    return Result("check", versions(bench), (check_model(model, wanted, bench),))


def check_files(files: Iterable[str | Path], request: Request) -> Result:
    """Check several files; one that cannot be used becomes a row of `unusable` and does not stop the rest."""
    bench = gather(request.engines)
    models: list[ModelResult] = []
    unusable: list[Unusable] = []
    for file in files:
        try:
            models.append(check_model(str(file), request, bench))
        except HarnessError as error:
            unusable.append(_unusable(str(file), error))
        except Exception as error:  # a fault of our own costs one file, not the verdicts on the others
            if sys.flags.dev_mode:
                raise
            unusable.append(Unusable(str(file), f"{file}: {internal(error)}", "internal", None, None))
    return Result("check", versions(bench), tuple(models), tuple(unusable))


def _unusable(file: str, error: HarnessError) -> Unusable:
    """Return the row of a file that cannot be used; its message names the file whoever raised it."""
    message = str(error) if file in str(error) else f"{file}: {error}"
    if not isinstance(error, ReadError):
        return Unusable(file, message, "request", None, None)
    return Unusable(file, message, error.kind, error.where, error.source.line or None)


def gather(engines: Sequence[str | Callable[..., Any]] | Callable[..., Any] | str | None) -> list[Bench]:
    """Return the engines that take part, the reference first.

    Raises:
        RequestError: an unknown engine, or none beside the reference.
        EngineAbsent: a named engine is not installed.
    """
    cards = registry.cards()
    if isinstance(engines, str) or callable(engines):
        engines = [engines]
    if engines is None:
        engines = [name for name, card in cards.items() if registry.version(card) is not None]
    bench = [Bench("reference", registry.version(cards["reference"]) or "0", registry.adapter("reference"))]
    for engine in engines:
        if isinstance(engine, str):
            if engine not in {b.name for b in bench}:
                bench.append(Bench(engine, _version(engine), registry.adapter(engine)))
        elif not isinstance(engine, CallableEngine) and not callable(engine):
            raise RequestError(f"{engine!r} is no engine; give the name of one, or a callable (q, v, a) -> tau")
        else:
            name = getattr(engine, "__name__", "callable")
            own = engine if isinstance(engine, CallableEngine) else CallableEngine(engine, name=name)
            bench.append(Bench(own.name, "", own))
    if len(bench) == 1:
        lines = [f"{card.name}: {card.install}" for card in cards.values() if card.name != "reference"]
        raise RequestError("no engine beside the reference takes part; install one: " + "; ".join(lines))
    return bench


def _version(name: str) -> str:
    card = registry.card_of(name)
    installed = registry.version(card)
    if installed is None:
        raise EngineAbsent(f"engine {name!r} is not installed; install it with: {card.install}")
    return installed


def versions(bench: Sequence[Bench]) -> dict[str, str]:
    """Return the versions that a result depends on."""
    own = {"tautology": bench[0].version, "python": platform.python_version(), "numpy": np.__version__}
    return own | {b.name: b.version for b in bench[1:] if b.version}


def _silent(what: str, share: float) -> None:
    """Report to nobody."""


def check_model(model: Any, request: Request, bench: Sequence[Bench]) -> ModelResult:
    """Return what all engines say of one model; see `check` for what is raised."""
    # Numbers at the ends of the range of doubles overflow here and there: rows judge what comes of it, and say so.
    with np.errstate(all="ignore"):
        return _check_opened(open_model(model, request.base), request, bench)


def _states(tree: Tree, request: Request) -> States:
    """Return the states to ask.

    Raises:
        RequestError: they would fill the memory, or they are no states at all.
        ShapeError: they are of another robot.
    """
    require_memory(tree, len(request.states) if isinstance(request.states, States) else request.states)
    if not isinstance(request.states, States):
        return sample(tree, request.states, request.seed)
    request.states.require(tree)
    return request.states


def _check_opened(opened: Loaded, request: Request, bench: Sequence[Bench]) -> ModelResult:
    from ..adapters.reference import Reference  # noqa: PLC0415  harness modules load no adapter on import

    tree, given = opened.tree, opened.given
    states = _states(tree, request)
    report = request.progress or _silent
    report(f"{tree.name}: reference", 0.0)
    # Engines that merge fixed bodies have no frame for a wrench on one: every engine gets it on the holder.
    asked = replace(states, wrenches=tree.fusion.fold(states.wrenches))
    truth = Truth(tree, asked, Reference(tree, np.longdouble), Reference(tree))
    paths = PATHS if request.path == "both" else (request.path,)
    jobs = [(b, path) for b in bench for path in paths if b.name != "reference" or path == "neutral"]
    if not any(b.name == "reference" for b, _ in jobs):
        jobs.insert(0, (bench[0], "neutral"))
    results: list[EngineResult] = []
    for done, (b, path) in enumerate(jobs, 1):
        report(f"{tree.name}: {b.name}, {path} path", done / (len(jobs) + 1))
        results.append(_ask(b, path, given, tree, asked, truth, request.tolerance))
    return _model_result(tree, given, states, tuple(results))


def _ask(b: Bench, path: str, given: Given, tree: Tree, states: States, truth: Truth, tolerance: float) -> EngineResult:
    """Return the result of one engine on one path; whatever it raises becomes a status."""
    start = time.perf_counter()
    try:
        session = b.engine.native(given, tree) if path == "native" else b.engine.neutral(tree)
    except EngineRefused as refusal:
        reason = finding(refusal.kind, refusal.source, where=refusal.where, found=str(refusal), fix=_fix(refusal))
        return EngineResult(b.name, b.version, path, "refused", str(refusal), _seconds(start), findings=(reason,))
    except EngineUnsupported as limit:
        return EngineResult(b.name, b.version, path, "unsupported", str(limit), _seconds(start))
    except RequestError:
        raise  # of a callable with dofs of another robot
    except UnicodeDecodeError:
        words = f"a name in the file is not in UTF-8, the one encoding that {b.name} reads"
        reason = finding("refused.malformed", Source(given.path), found=words, fix="save the file as UTF-8")
        return EngineResult(b.name, b.version, path, "refused", words, _seconds(start), findings=(reason,))
    except (Exception, SystemExit) as error:  # noqa: BLE001  an engine may raise anything: it becomes a result
        message = f"while loading: {type(error).__name__}: {error}"
        return EngineResult(b.name, b.version, path, "crashed", message, _seconds(start))
    loaded = time.perf_counter()
    quantities = agreement.agreement(session, truth, states, path, tolerance)
    rows = identities.identities(session, tree, states, truth, path)
    failed = not all(row.passed for row in quantities)
    findings, left = (*session.findings, *_dof_findings(session, tree)), None
    if (path == "native" or failed) and b.name != "reference":
        # The neutral path holds our own numbers: there is something to read back when an answer fails.
        found = _diagnosed(b, session, tree, states, truth, tolerance, failed=failed)
        findings, left = merged(merged(found.findings, findings), found.booked), found.left
    findings += _unexplained(quantities, rows, findings, left, tolerance, tree)
    seconds = {"load": loaded - start, "compute": time.perf_counter() - loaded}
    bad = any(f.severity == "model" for f in findings)
    status: Status = "differs" if bad or not all(r.passed for r in (*quantities, *rows)) else "agree"
    conventions = tuple(dict.fromkeys(f.kind for f in findings if f.severity == "convention"))
    message = "; ".join(session.notes)
    return EngineResult(b.name, b.version, path, status, message, seconds, conventions, quantities, rows, findings)


def _diagnosed(
    b: Bench, session: Session, tree: Tree, states: States, truth: Truth, tolerance: float, *, failed: bool
) -> Diagnosis:
    """Return why the answers depart from those of the tree; that it cannot be told is a reason, too."""
    from ..adapters.reference import Reference  # noqa: PLC0415  harness modules load no adapter on import

    try:
        return diagnose(session, b.name, tree, states, truth.scale_of, Reference, tolerance, failed=failed)
    except HarnessError as error:  # a patched tree may hold what no tree can, such as an inertia that is not finite
        words = f"what {b.name} holds could not be compared with the file: {error}"
        return Diagnosis((finding("unexplained", fix=words),), (), None)


def merged(first: Sequence[Finding], then: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return all findings, the same kind at the same place once: what diagnosis measured before what loading showed."""
    known = {(f.kind, f.where) for f in first}
    return (*first, *(f for f in then if (f.kind, f.where) not in known))


def _seconds(start: float) -> dict[str, float]:
    return {"load": time.perf_counter() - start, "compute": 0.0}


def _fix(refusal: EngineRefused) -> str:
    """Return what to change so that the engine loads the model."""
    place = f" of {refusal.where!r}" if refusal.where else ""
    body = repr(refusal.where) if refusal.where else "every moving body"
    return {
        "refused.nonphysical": f"give {body} a mass above 0 and a tensor that a body can have",
        "refused.mesh": f"make the mesh file{place} readable, or take the geometry out",
        "refused.unsupported": f"replace the element{place} by one that this engine has, or use the neutral path",
        "refused.malformed": f"correct the element{place}",
    }[refusal.kind]


def _dof_findings(session: Session, tree: Tree) -> tuple[Finding, ...]:
    """Return a finding for every joint that the engine lost, and for every dof that it has beyond the tree's."""
    known = {f.where for f in session.findings if f.kind in ("joint.missing", "joint.extra", "body.missing")}
    held = set(session.dofs)
    lost = [joint for joint in tree.joints if joint.nv and not held.issuperset(joint.dofs) and joint.name not in known]
    missing = [
        finding(
            "joint.missing",
            joint.source(),
            where=joint.name,
            expected=joint.nv,
            found=sum(dof in held for dof in joint.dofs),
            unit="dof",
            fix=f"this engine has no joint {joint.name!r}: build its model from the neutral tree, or add the joint",
        )
        for joint in lost
    ]
    extra = [
        finding(
            "joint.extra",
            where=name,
            expected=0,
            found=1,
            unit="dof",
            fix=f"the file has no dof {name!r}: lock it in this engine",
        )
        for name in session.extra_dofs
        if name not in known
    ]
    return (*missing, *extra)


def _unexplained(
    quantities: Sequence[QuantityRow],
    rows: Sequence[IdentityRow],
    findings: Sequence[Finding],
    left: Left | None,
    tolerance: float,
    tree: Tree,
) -> tuple[Finding, ...]:
    """Return what stays without a reason: a residual that closure leaves, or failed rows when nothing was found."""
    # A convention that the adapter does not map explains what departs as another robot does.
    reasons = any(f.severity == "model" or f.explains for f in findings)
    if reasons and (left is None or left.ratio <= tolerance):
        return ()
    if reasons and left is not None:
        joint = tree.joint_index.get((left.where or "").partition(",")[0].partition(".")[0])
        return (
            finding(
                "unexplained",
                tree.joints[joint].source() if joint else None,
                where=left.where,
                expected=tolerance,
                found=left.ratio,
                unit="1",
                explains=0.0,
                fix=f"{left.quantity} {off_by(left.error, left.state, still=True)} after everything found was put"
                " in: look at what this place has and the findings do not name",
            ),
        )
    failed = [(r.quantity, r.error, r.tolerance, r.state, r.where, r.unit) for r in quantities if not r.passed]
    failed += [(r.identity, r.residual, r.tolerance, r.state, r.where, "") for r in rows if not r.passed]
    if not failed:
        return ()
    name, error, tolerance, state, where, unit = max(
        failed, key=lambda row: row[1] / row[2] if 0 < row[2] < np.inf else np.inf
    )
    joint = tree.joint_index.get((where or "").split(".")[0])
    return (
        finding(
            "unexplained",
            tree.joints[joint].source() if joint else None,
            where=where,
            expected=tolerance,
            found=error,
            unit=unit,
            explains=0.0,
            fix=f"{name} {off_by(error, state, tolerance)}: compare what this place has",
        ),
    )


def _model_result(tree: Tree, given: Given, states: States, results: tuple[EngineResult, ...]) -> ModelResult:
    others = [r.status for r in results if r.engine != "reference"]
    # When nobody beside the reference could answer, nothing was compared: that is no agreement.
    silent = all(status in ("unsupported", "absent") for status in others)
    closures = tuple(f"{c.kind} {c.name}" for c in tree.closures if c.active)
    return ModelResult(
        file=given.path,
        format=given.format,
        sha256=tree.origin.sha256,
        name=tree.name,
        base=tree.base,
        bodies=len(tree.bodies) - 1,
        nq=tree.nq,
        nv=tree.nv,
        dofs=tree.dofs,
        total_mass=tree.total_mass,
        moving_mass=tree.moving_mass,
        lint=lint(tree),
        closures=closures,
        losses=tree.losses,
        states={"count": len(states), "seed": states.seed, "sha256": states.sha256, "strata": dict(states.counts)},
        engines=results,
        exit=2 if silent else max(EXITS[r.status] for r in results),
    )
