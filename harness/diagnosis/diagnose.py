"""Diagnosis of one engine: read back what it holds, compare, close, and say what stays unexplained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks.tolerances import LARGEST
from ..checks.truth import Truth
from ..fixes import fix
from . import ledger
from .closure import NOTHING_LEFT, Left, Observed, close, finding_of, in_coordinates
from .compare import compare
from .difference import patched
from .displaced import displaced_roots
from .ignored import ignored, with_lines_of_counted
from .matching import match

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..engine import Session
    from ..findings import Finding
    from ..states import States
    from ..tree import Floats, Tree
    from .difference import Difference
    from .hypotheses import Make

CALLS = {
    "tau": ("inverse_dynamics", ("q", "v", "a", "wrenches")),
    "bias": ("bias", ("q", "v")),
    "gravity": ("gravity_forces", ("q",)),
    "mass_matrix": ("mass_matrix", ("q",)),
}

# Kinds whose values are terms of the sums in an answer, and leave the coordinates as they are.
WEIGHTS = ("gravity.", "mass", "com", "inertia.", "armature", "rotor")


@dataclass(frozen=True)
class Diagnosis:
    """What was found.

    Attributes:
        findings: with the share that each explains.
        booked: terms that other calls of this engine hold, as conventions.
        left: what the findings leave; None when nothing was wrong.
        held: the robot as the engine reads it; None when the engine does not tell.
    """

    findings: tuple[Finding, ...]
    booked: tuple[Finding, ...]
    left: Left | None
    held: Tree | None = None


def diagnose(
    session: Session,
    engine: str,
    tree: Tree,
    states: States,
    scales: Callable[[str], Floats],
    make: Make,
    tolerance: float,
    *,
    failed: bool,
) -> Diagnosis:
    """Return why this session's answers depart from those of the tree.

    Args:
        session: the opened engine, on the native path.
        engine: its name.
        tree: the robot of the file.
        states: that were asked.
        scales: quantity to the scales of the truth, over all dofs of the tree.
        make: returns the reference of a tree.
        tolerance: relative, below which two parameters or answers are the same.
        failed: whether an answer departs: then what is left is measured although nothing was found.
    """
    held = _described(session)
    differences = (
        () if held is None else tuple(_placed(d, tree, held) for d in read_back(session, tree, held, tolerance))
    )
    if failed and held is not None and not differences:
        # Where it stands is all that a body that cannot move shows.
        still = read_back(session, tree, held, tolerance, static=True)
        differences = tuple(d for d in still if d.kind in ("joint.placement", "joint.orientation"))
    differences = with_lines_of_counted(session, differences, tree)
    differences += tuple(displaced_roots(session, tree, states, make, tolerance))
    calls = ledger.entries(session, states)
    terms = ledger.compared_terms(calls)
    findings = tuple(ignored(session, differences, engine, tree))
    booked = tuple(ledger.conventions(calls, session.dofs, engine, tree))
    if not (differences or terms or failed):
        return Diagnosis(findings, booked, None, held)
    if len(terms) > 1:  # what is in more than tau changes what wrenches do, too, and is told without them
        states = replace(states, wrenches=np.zeros_like(states.wrenches))
    asked = observe(session, tree, states, _weighed(scales, differences, tree, states, make))
    observed = replace(asked, still=max(asked.still, tolerance))
    shares, rest = ledger.taken_out(terms, observed, tree, make)
    closed = close(tree, differences, rest, make)
    shares_of, left = list(closed.shares), closed.left
    if left.ratio > tolerance:
        # What cannot be read back, or is left when everything read back was put in, is told from the answers alone.
        more, more_shares, left = _inferred(tree, differences, rest, make, tolerance, left)
        differences, shares_of = (*differences, *more), [*shares_of, *more_shares]
    told = tuple(
        finding_of(d, share, _fix(d, engine, tree), engine=True)
        for d, share in zip(differences, shares_of, strict=True)
    )
    # A term that is in the compared answer itself is another robot, and the adapter says at which joint.
    counted = tuple(
        replace(f, explains=shares[f.kind]) for f in session.findings if f.severity == "model" and f.kind in shares
    )
    return Diagnosis((*told, *counted, *findings), booked, left, held)


def _weighed(
    scales: Callable[[str], Floats], differences: Sequence[Difference], tree: Tree, states: States, make: Make
) -> Callable[[str], Floats]:
    """Return the scales of answers under whichever gravity and inertia is larger, of the file or of the engine.

    Where the file has none, the weights that an engine adds up are in no scale of the file's robot.
    """
    told = [d for d in differences if d.kind.startswith(WEIGHTS)]
    if not told:
        return scales
    changed = patched(tree, told)
    reference: Any = make(changed)
    theirs = Truth(changed, states, reference, reference).scale_of
    return lambda quantity: np.maximum(scales(quantity), theirs(quantity))


def _inferred(
    ours: Tree, put_in: Sequence[Difference], observed: Observed, make: Make, tolerance: float, left: Left
) -> tuple[tuple[Difference, ...], list[float], Left]:
    """Return what the answers alone tell beside differences that are put in, the share of each, and what is left."""
    # Loaded here: most runs agree, and this is the larger half of the diagnosis.
    from .infer import infer  # noqa: PLC0415

    tree = patched(ours, put_in)
    # A joint that is gone, or is another one, has left the coordinates of the states.
    observed = in_coordinates(ours, tree, observed)
    inference = infer(tree, observed, make, tolerance)
    found = inference.differences
    if not found:
        return (), [], left
    after = inference.best[0].residual
    together = float(np.clip(1 - (after / inference.residual) ** 2, 0, 1)) if inference.residual else 0.0
    alone = close(tree, found, observed, make).shares if len(found) > 1 else (together,)
    shares = [share or together for share in alone]
    return found, shares, replace(left, ratio=after) if after > tolerance else NOTHING_LEFT


def _fix(difference: Difference, engine: str | None, tree: Tree) -> str:
    """Return what to change, in the words of this format and this engine."""
    return fix(
        difference.kind,
        where=difference.where,
        format=tree.origin.format,
        engine=engine,
        expected=difference.expected,
        found=difference.found,
        unit=difference.unit,
        source=difference.source,
    )


def _placed(difference: Difference, tree: Tree, held: Tree) -> Difference:
    """Return a centre of mass that departs at the joint that moved it, when the engine merged its body.

    The numbers of such a body are read right, and moved by its fixed joint: that is where they went wrong. Where an
    adapter knows what element of the file turned gravity, it is told there.
    """
    cause = held.sources.get("gravity")
    if difference.kind.startswith("gravity.") and cause is not None:
        where = next((body.name for body in tree.bodies if cause in body.sources.values()), None)
        return replace(difference, where=where, source=cause)
    at = tree.index.get(difference.where or "")
    if at is None or difference.kind != "com" or tree.bodies[at].name in held.index:
        return difference
    joint = tree.joints[at]
    return difference if joint.nv else replace(difference, source=joint.source())


def _described(session: Session) -> Tree | None:
    """Return the robot that the engine holds; None when it does not tell."""
    try:
        return session.describe()
    except (Exception, SystemExit):  # noqa: BLE001  engines raise anything, and may hold what no tree can
        return None


def read_back(
    session: Session, tree: Tree, held: Tree, tolerance: float, *, static: bool = False
) -> tuple[Difference, ...]:
    """Return how the robot that the engine holds departs from ours; of bodies that cannot move only when asked."""
    matching = match(tree, held)
    merged = {tree.bodies[i].name for i in range(1, len(tree.bodies)) if i not in matching.bodies}
    found = [
        d
        for d in compare(tree, held, matching, tolerance, static=static, same=session.bodies).differences
        if (d.kind == "body.missing" and d.where not in merged) or not _answered(d, session, tree)
    ]
    # One joint may be several in the engine. Where the adapter maps them all, only the answers can tell them apart.
    several = {d.where for d in found if d.kind == "joint.type" and _all_dofs(d.where or "", session, tree)}
    return tuple(d for d in found if d.where not in several or not d.kind.startswith("joint."))


def _answered(difference: Difference, session: Session, tree: Tree) -> bool:
    """Return whether a joint that is not in the description is answered for all the same.

    An engine may hold one joint of the file as several of its own; the adapter then maps their coordinates.
    """
    if difference.kind == "joint.extra":
        extra = {dof.partition(".")[0] for dof in session.extra_dofs}
        return difference.where not in extra
    name = difference.where or ""
    if difference.kind == "body.missing" and name in tree.index:
        name = tree.joints[tree.index[name]].name
    elif difference.kind not in ("joint.missing", "base.fixed_or_free"):
        return False
    return _all_dofs(name, session, tree)


def _all_dofs(joint: str, session: Session, tree: Tree) -> bool:
    """Return whether the session answers for all dofs of a joint."""
    at = tree.joint_index.get(joint)
    return at is not None and tree.joints[at].nv > 0 and set(tree.joints[at].dofs) <= set(session.dofs)


def observe(session: Session, tree: Tree, states: States, scales: Callable[[str], Floats]) -> Observed:
    """Ask the session for efforts and M once more, and keep what it answers in the right shape."""
    if getattr(session, "loads_added", False) is True:
        states = replace(states, wrenches=np.zeros_like(states.wrenches))
    at = [tree.dofs.index(name) for name in session.dofs]
    values: dict[str, Floats] = {}
    kept: dict[str, Floats] = {}
    for name, (method, arguments) in CALLS.items():
        if name in session.lacks or (name == "mass_matrix" and tree.nv > LARGEST):
            continue
        answer = _answer(session, method, [getattr(states, x).copy() for x in arguments])
        if answer is None:
            continue
        scale = scales(name)
        shape = (len(states), *[len(at)] * (2 if name == "mass_matrix" else 1))
        if answer.shape == shape:
            values[name] = answer
            kept[name] = scale[:, at][:, :, at] if name == "mass_matrix" else scale[:, at]
    poses = None if "poses" in session.lacks else _answer(session, "poses", [states.q.copy()])
    told = poses is not None and poses.shape == (len(states), len(session.bodies), 4, 4)
    placed = {name: poses[:, k] for k, name in enumerate(session.bodies)} if poses is not None and told else {}
    return Observed(states, session.dofs, values, kept, placed)


def _answer(session: Session, method: str, arguments: list[Floats]) -> Floats | None:
    """Return an answer; None when there is none, which the row of its quantity tells."""
    try:
        return np.asarray(getattr(session, method)(*arguments), float)
    except (Exception, SystemExit):  # noqa: BLE001  engines raise anything
        return None
