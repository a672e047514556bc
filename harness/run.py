"""The loop: one model, its frozen states, the truth about it, and every engine on every path."""

from __future__ import annotations

import datetime as dt
import sys
import time
from dataclasses import asdict, dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .arrays import Recorder, terms
from .bench import gather, mjcf_reader, versions
from .checks import agreement
from .checks.identities import identities as checked_identities
from .checks.tolerances import TABLE, alike
from .checks.truth import Truth
from .departures import dof_findings, merged, refusal_fix, unexplained
from .diagnosis.diagnose import Diagnosis, diagnose
from .diagnosis.lint import lint
from .errors import (
    EngineAbsent,
    EngineBroken,
    EngineRefused,
    EngineUnsupported,
    HarnessError,
    ReadError,
    RequestError,
    Source,
    internal,
)
from .findings import finding
from .known import with_known
from .lanes import asked_all
from .load import open_model
from .remote import RemoteSession
from .request import PATHS, Request
from .results import EngineResult, ModelResult, Result, Status, Unusable
from .states import States, require_memory, sample
from .workers import EngineDied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from .bench import Bench
    from .engine import Given, Session
    from .findings import Finding
    from .known import Known
    from .load import Loaded
    from .tree import Floats, Tree

EXITS: Final = {"agree": 0, "unsupported": 0, "absent": 0, "differs": 1, "refused": 1, "crashed": 3, "timeout": 3}

WITHOUT_SESSION: Final[Mapping[type[HarnessError], Status]] = {
    EngineUnsupported: "unsupported",
    EngineAbsent: "absent",
    EngineBroken: "crashed",
}


def check(
    model: Any,
    *,
    engines: Sequence[str | Callable[..., Any]] | Callable[..., Any] | str | None = None,
    path: str = "both",
    base: str = "auto",
    states: int | States = 64,
    seed: int = 0,
    tolerance: float = 1e-9,
    progress: Callable[[str, float], None] | None = None,
    identities: bool = True,
    arrays: bool = False,
    answers: bool = False,
    reasons: bool = True,
    known: tuple[Known, ...] = (),
    in_process: bool = True,
    timeout: float = 120.0,
    memory: int = 8192,
) -> Result:
    """Ask every engine whether it reads and computes this robot as the reference does.

    Args:
        model: path of a URDF or MJCF file, a `Tree`, a `pinocchio.Model`, `mujoco.MjModel` or `mujoco.MjSpec`.
        engines: names and your own `(q, v, a) -> tau`, or one of them; None for all. The reference answers, too.
        path: "native" (the engine reads the file itself), "neutral" (it is built from our tree) or "both".
        base: "auto" (as the file says), "fixed" or "free".
        states: how many to draw, or `States` drawn before.
        seed: of the draw.
        tolerance: relative; below it two robots are the same.
        progress: called with what is being done and the share that is done, or None.
        identities: whether the identities inside each engine are checked, which takes most of the time.
        arrays: whether the result keeps errors and efforts of every state, for reports that draw them.
        answers: whether the result keeps what every engine answered, for a baseline.
        reasons: whether it is looked for why answers depart, which can take longer than all answers.
        known: differences that do not count.
        in_process: whether engines are asked in this process, where one that crashes ends all; else each has its own.
        timeout: [s] for one call of an engine, or for loading one model, in a process of its own.
        memory: [MB] that the process of an engine may take; 0 for no limit.

    Returns:
        The result; its `exit` and `verdict` say how it ended.

    Raises:
        ReadError: the file cannot be used.
        RequestError: the request cannot be met.
        EngineAbsent: a named engine is not installed.
    """
    wanted = Request(
        engines=engines,
        path=path,
        base=base,
        states=states,
        seed=seed,
        tolerance=tolerance,
        progress=progress,
        identities=identities,
        arrays=arrays,
        answers=answers,
        reasons=reasons,
        known=known,
        in_process=in_process,
        timeout=timeout,
        memory=memory,
    )
    bench = gather(wanted.engines, wanted.limits)
    return _result(wanted, bench, (check_model(model, wanted, bench),))


def check_files(files: Iterable[str | Path], request: Request) -> Result:
    """Check several files; one that cannot be used becomes a row of `unusable` and does not stop the rest."""
    bench = gather(request.engines, request.limits)
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
    return _result(request, bench, tuple(models), tuple(unusable))


def _result(
    request: Request, bench: Sequence[Bench], models: tuple[ModelResult, ...], unusable: tuple[Unusable, ...] = ()
) -> Result:
    rules = tuple(asdict(line) for line in TABLE)
    result = Result("check", versions(bench), models, unusable, tolerance=request.tolerance, tolerances=rules)
    return with_known(result, request.known, dt.datetime.now(dt.UTC).date())


def _unusable(file: str, error: HarnessError) -> Unusable:
    """Return the row of a file that cannot be used; its message names the file whoever raised it."""
    message = str(error) if file in str(error) else f"{file}: {error}"
    if not isinstance(error, ReadError):
        return Unusable(file, message, "request", None, None)
    return Unusable(file, message, error.kind, error.where, error.source.line or None)


def _silent(what: str, share: float) -> None:
    """Report to nobody."""


def check_model(model: Any, request: Request, bench: Sequence[Bench]) -> ModelResult:
    """Return what all engines say of one model; see `check` for what is raised."""
    with np.errstate(all="ignore"):  # as below, for what is read
        loaded = open_model(model, request.base, mjcf_reader(request.limits))
    return check_loaded(loaded, request, bench)


def check_loaded(loaded: Loaded, request: Request, bench: Sequence[Bench]) -> ModelResult:
    """Return what all engines say of a model that is read already; see `check` for what is raised."""
    # Numbers at the ends of the range of doubles overflow here and there: rows judge what comes of it, and say so.
    with np.errstate(all="ignore"):
        return _check_opened(loaded, request, bench)


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


@dataclass(frozen=True, eq=False)
class _Asked:
    """One model, opened, with its states and the truth about it."""

    tree: Tree
    given: Given
    states: States
    truth: Truth
    request: Request


def _check_opened(opened: Loaded, request: Request, bench: Sequence[Bench]) -> ModelResult:
    from ..adapters.reference import Reference  # noqa: PLC0415  harness modules load no adapter on import

    tree = opened.tree
    states = _states(tree, request)
    report = request.progress or _silent
    report(f"{tree.name}: reference", 0.0)
    # Engines that merge fixed bodies have no frame for a wrench on one: every engine gets it on the holder.
    folded = replace(states, wrenches=tree.fusion.fold(states.wrenches))
    reference = Reference(tree)
    asked = _Asked(tree, opened.given, folded, Truth(tree, folded, Reference(tree, np.longdouble), reference), request)
    paths = PATHS if request.path == "both" else (request.path,)
    jobs = [(b, path) for b in bench for path in paths if b.name != "reference" or path == "neutral"]
    if not any(b.name == "reference" for b, _ in jobs):
        jobs.insert(0, (bench[0], "neutral"))
    results: list[EngineResult] = []
    arrays: dict[str, Floats] = {}
    begun = count(1)

    def one(b: Bench, path: str) -> tuple[EngineResult, Recorder]:
        report(b.doing(tree.name, path), next(begun) / (len(jobs) + 1))
        recorder = Recorder()
        with np.errstate(all="ignore"):  # as around the whole check: it holds for one thread
            return _ask(b, path, asked, recorder), recorder

    for k, (result, recorder) in enumerate(asked_all(jobs, one)):
        results.append(replace(result, answers=recorder.answers) if request.answers else result)
        arrays |= {f"e{k}/{name}": array for name, array in recorder.arrays.items()}
        if result.engine == "reference":
            arrays |= {f"scale/{name}": scale for name, scale in recorder.scales.items()}
    if request.arrays:
        arrays |= {f"terms/{name}": efforts for name, efforts in terms(reference, tree, folded).items()}
        arrays["tau"] = np.asarray(asked.truth.tau.value, np.float64)
    return _model_result(tree, opened.given, states, tuple(results), arrays if request.arrays else {})


def _ask(b: Bench, path: str, asked: _Asked, recorder: Recorder) -> EngineResult:
    """Return the result of one engine on one path; whatever it raises becomes a status."""
    given, tree, start = asked.given, asked.tree, time.perf_counter()

    def failed(status: Status, words: str, *reasons: Finding) -> EngineResult:
        seconds = {"load": time.perf_counter() - start, "compute": 0.0}
        return EngineResult(b.name, b.version, path, status, words, seconds, findings=reasons)

    try:
        engine = b.opener(given)
        session = engine.native(given, tree) if path == "native" else engine.neutral(tree)
    except EngineRefused as refusal:
        advice = refusal_fix(refusal)
        reason = finding(refusal.kind, refusal.source, where=refusal.where, found=str(refusal), fix=advice)
        return failed("refused", str(refusal), reason)
    except (EngineUnsupported, EngineAbsent, EngineBroken) as said:
        return failed(WITHOUT_SESSION[type(said)], str(said))
    except EngineDied as death:
        return failed(death.status, f"while loading: {death}")
    except RequestError:
        raise  # of a callable with dofs of another robot
    except (Exception, SystemExit) as error:  # noqa: BLE001  an engine may raise anything: it becomes a result
        if type(error).__name__ != "UnicodeDecodeError":  # what comes from another process is of another class
            return failed("crashed", f"while loading: {type(error).__name__}: {error}")
        words = f"a name in the file is not in UTF-8, the one encoding that {b.name} reads"
        reason = finding("refused.malformed", Source(given.path), found=words, fix="save the file as UTF-8")
        return failed("refused", words, reason)
    result = _answered(b, path, session, asked, recorder, time.perf_counter() - start)
    if isinstance(session, RemoteSession) and session.died is not None:
        return failed(session.died.status, str(session.died))
    return result


def _answered(b: Bench, path: str, session: Session, asked: _Asked, recorder: Recorder, load: float) -> EngineResult:
    """Return the result of an engine that holds the robot."""
    tree, states, truth = asked.tree, asked.states, asked.truth
    tolerance = alike(asked.request.tolerance, tree, b.eps)
    start = time.perf_counter()
    record = recorder.record if asked.request.arrays or asked.request.answers else None
    quantities = agreement.agreement(session, truth, states, path, tolerance, eps=b.eps, record=record)
    rows = checked_identities(session, tree, states, truth, path, b.eps) if asked.request.identities else ()
    failed = not all(row.passed for row in quantities)
    findings, left, held = (*session.findings, *dof_findings(session, tree)), None, None
    if (path == "native" or failed) and b.name != "reference" and asked.request.reasons:
        # The neutral path holds our own numbers: there is something to read back when an answer fails.
        found = _diagnosed(b, session, asked, failed=failed)
        findings, left, held = merged(merged(found.findings, findings), found.booked), found.left, found.held
    findings += unexplained(quantities, rows, findings, left, tolerance, tree)
    bad = any(f.severity == "model" for f in findings)
    return EngineResult(
        b.name,
        b.version,
        path,
        "differs" if bad or not all(r.passed for r in (*quantities, *rows)) else "agree",
        "; ".join(session.notes),
        {"load": load, "compute": time.perf_counter() - start},
        tuple(dict.fromkeys(f.kind for f in findings if f.severity == "convention")),
        quantities,
        rows,
        findings,
        tuple(session.dofs),
        tuple(session.bodies),
        held,
    )


def _diagnosed(b: Bench, session: Session, asked: _Asked, *, failed: bool) -> Diagnosis:
    """Return why the answers depart from those of the tree; that it cannot be told is a reason, too."""
    from ..adapters.reference import Reference  # noqa: PLC0415  harness modules load no adapter on import

    tree, scales = asked.tree, asked.truth.scale_of
    tolerance = alike(asked.request.tolerance, tree, b.eps)
    try:
        return diagnose(session, b.name, tree, asked.states, scales, Reference, tolerance, failed=failed)
    except HarnessError as error:  # a patched tree may hold what no tree can, such as an inertia that is not finite
        words = f"what {b.name} holds could not be compared with the file: {error}"
        return Diagnosis((finding("unexplained", fix=words),), (), None)


def _model_result(
    tree: Tree, given: Given, states: States, results: tuple[EngineResult, ...], arrays: Mapping[str, Floats]
) -> ModelResult:
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
        tree=tree,
        arrays=arrays,
        exit=2 if silent else max(EXITS[r.status] for r in results),
    )
