"""Which fault in the geometry of one joint explains a residual: axis, placement, orientation, anchor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ..spatial import quaternion_from_rotation, rotation_from_rpy, rotation_z_to
from ..tree import Joint, JointKind, Tree
from .difference import Difference, with_joint
from .fitting import descend, shown
from .geometry import TURNING, Jig, placed
from .held_joints import Held
from .hypotheses import Candidate, Change, rms
from .inertial import pieces
from .joint_zeros import ONE_DOF, moves_below
from .turns import DEGREE, in_degrees, rpy_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..tree import Floats
    from .hypotheses import Problem

NEAR: Final = 8  # steps from the file's own geometry
BEST: Final = 6  # far starts that are followed
DIRECTIONS: Final = 30  # in which an axis is looked for
STEP: Final = 1e-5  # [rad | m] of the differences that tell which directions show
Bench: TypeAlias = "Jig | Held"

NAMES: Final = {
    "axis": "joint.axis",
    "orientation": "joint.orientation",
    "turn": "joint.orientation",
    "placement": "joint.placement",
    "anchor": "joint.placement",
}


def displaced_candidates(problem: Problem, bodies: Sequence[int], *, far: bool) -> Iterator[Candidate]:
    """Yield faults in axis, placement, orientation and anchor of the joints of some bodies.

    Args:
        problem: to be explained.
        bodies: whose joints are tried.
        far: whether starts far from the file's geometry are followed too.
    """
    yield from _displaced(problem, [Jig(problem.light, i) for i in bodies], far=far)


def held_candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield faults in placement and orientation of fixed joints that hold inertia and nothing that moves."""
    tree = problem.tree
    for piece in pieces(problem):
        if piece.left <= piece.bar:
            held = [Held(tree, piece, i) for i, _ in piece.members if i != piece.holder and not moves_below(tree, i)]
            yield from _displaced(problem, [joint for joint in held if joint.weighs], far=True)


def _displaced(problem: Problem, jigs: Sequence[Bench], *, far: bool) -> Iterator[Candidate]:
    """Yield what is wrong with each of some joints; see `displaced_candidates`."""
    for jig in jigs:
        for kind in _kinds(jig.joint):
            usual, others = _starts(jig.joint, kind)
            starts, x = (np.concatenate(pair) for pair in zip(usual, others, strict=True)) if far else usual
            left = np.sqrt((jig.function(kind, starts)(x) ** 2).mean(1))
            left = np.where(np.isfinite(left), left, np.inf)
            exact = [k for k in range(1, len(usual[0])) if left[k] <= problem.accept]
            for k in exact[:1]:
                yield from _found(problem, jig, kind, x[k], starts[k], fitted=False)
            best = np.unique([0, *np.argsort(left, kind="stable")[:BEST]]) if far else np.array([0])
            starts = starts[best]
            x, left = descend(jig.function(kind, starts), x[best], steps=15 if far else NEAR, done=1e-16)
            k = int(left.argmin())
            if left[k] <= problem.accept:
                yield from _found(problem, jig, kind, x[k], starts[k], fitted=True)


def askew_candidates(problem: Problem, bodies: Sequence[int], gravity: Floats) -> Iterator[Candidate]:
    """Yield bases that stand askew, such that gravity is seen where `gravity` (3,) would be by an upright one."""
    tree = problem.tree
    turn = turn_between(gravity, tree.gravity)
    Ts = np.asarray(problem.reference.poses(problem.asked.q[:1])[0], np.float64)
    for i in bodies:
        parent = tree.parents[i]
        if not tree.moving[parent]:
            jig = Jig(problem.light, i)
            R = (Ts[parent - 1][:3, :3] if parent else np.eye(3)) @ jig.joint.T_parent_joint[:3, :3]
            start = np.asarray(quaternion_from_rotation(R.T @ turn @ R), np.float64)[None]
            for kind in ("orientation", "turn") if jig.joint.T_joint_body[:3, 3].any() else ("orientation",):
                x, left = descend(jig.function(kind, start), np.zeros((1, 3)), steps=NEAR, done=1e-16)
                if left[0] <= problem.accept:
                    yield from _found(problem, jig, kind, x[0], start[0], fitted=True)


def turn_between(a: Floats, b: Floats) -> Floats:
    """Return the shortest turn R (3, 3) that brings the direction of a onto that of b."""
    u, v = a / np.linalg.norm(a), b / np.linalg.norm(b)
    basis = np.asarray(rotation_z_to(u), np.float64)
    return basis @ np.asarray(rotation_z_to(basis.T @ v), np.float64) @ basis.T


def _kinds(joint: Joint) -> list[str]:
    """Return the faults that a joint can have."""
    kinds = ["placement", "orientation"]
    if joint.T_joint_body[:3, 3].any():
        kinds.append("turn")
    if joint.kind in ONE_DOF or joint.kind is JointKind.PLANAR:
        kinds.append("axis")
    if joint.kind in TURNING or joint.kind is JointKind.BALL:
        kinds.append("anchor")
    return kinds


def _starts(joint: Joint, kind: str) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Return turns (S, 4) and parameters (S, p): the file's own and what usual mistakes make of it, then far ones."""
    p = 2 if kind == "axis" else 3
    own = np.array([[1.0, 0, 0, 0]])
    if kind in ("placement", "anchor"):
        shift = joint.T_parent_joint[:3, :3].T @ joint.T_parent_joint[:3, 3]
        mistakes = [k * shift for k in (1e3 - 1, 1e-3 - 1, -1, -2)] if shift.any() and kind == "placement" else []
        x = np.array([np.zeros(3), *mistakes])
        return (np.tile(own, (len(x), 1)), x), (own, np.ones((1, 3)))
    turns = np.zeros((0, 4)) if kind == "axis" else _turns_of(joint)
    usual = np.concatenate([own, turns])
    far = _directions(joint.axis) if kind == "axis" else CUBE
    return (usual, np.zeros((len(usual), p))), (far, np.zeros((len(far), p)))


def _directions(n: Floats) -> Floats:
    """Return the turns (S, 4) that bring n onto directions spread over the sphere."""
    k = np.arange(DIRECTIONS)
    z, angle = 1 - (2 * k + 1) / DIRECTIONS, k * np.pi * (3 - np.sqrt(5))
    ring = np.sqrt(1 - z**2)
    spread = [np.stack([ring * np.cos(angle), ring * np.sin(angle), z], axis=1), np.eye(3), -np.eye(3)]
    basis = rotation_z_to(n)
    turns = [quaternion_from_rotation(rotation_z_to(d) @ basis.T) for d in np.concatenate(spread)]
    return np.asarray(turns, np.float64)


def _turns_of(joint: Joint) -> Floats:
    """Return the turns D with R D what a reader makes of the orientation R by a usual mistake."""
    R = joint.T_parent_joint[:3, :3]
    angles = np.array(rpy_of(R))
    x, y, z = (rotation_from_rpy(np.where(np.arange(3) == k, angles, 0)) for k in range(3))
    mistakes = [np.eye(3), R.T, R @ R, x @ y @ z, y @ x @ z, z @ x @ y, x @ z @ y, y @ z @ x]
    mistakes += [
        rotation_from_rpy(angles[[2, 1, 0]]),
        rotation_from_rpy(angles * DEGREE),
        rotation_from_rpy(angles / DEGREE),
    ]
    turns = [R.T @ other for other in mistakes if np.abs(R - other).max() > 1e-9]
    return np.asarray([quaternion_from_rotation(D) for D in turns], np.float64).reshape(-1, 4)


def _cube() -> Floats:
    """Return the 24 turns of a cube as quaternions."""
    turns: list[Floats] = []
    for axes in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (1, 0, 2), (0, 2, 1), (2, 1, 0)):
        for signs in np.array(np.meshgrid([1, -1], [1, -1], [1, -1])).reshape(3, -1).T:
            R = np.eye(3)[list(axes)] * signs
            if np.linalg.det(R) > 0:
                turns.append(np.asarray(quaternion_from_rotation(R), np.float64))
    return np.array(turns)


CUBE: Final = _cube()


def _found(problem: Problem, jig: Bench, kind: str, x: Floats, start: Floats, *, fitted: bool) -> Iterator[Candidate]:
    """Yield one fault, when it leaves rounding on all of the evidence."""
    joint = jig.joint
    other = placed(joint, kind, x, start)
    change = Change(_difference(joint, other, kind))
    left = rms(problem.left([change]))
    if left > problem.accept:
        return
    size = float(np.abs(other.axis - joint.axis).max()) if kind == "axis" else _moved(joint, other, kind)
    if not fitted:
        yield Candidate((change,), left)
        return
    f = jig.function(kind, np.tile(start, (2 * len(x), 1)))
    moved = f(np.concatenate([x + STEP * np.eye(len(x)), x - STEP * np.eye(len(x))]))
    columns = (moved[: len(x)] - moved[len(x) :]).T / (2 * STEP) * min(1.0, size)
    yield Candidate((change,), left, shown(columns, len(columns)))


def _moved(joint: Joint, other: Joint, kind: str) -> float:
    T, U = joint.T_parent_joint, other.T_parent_joint
    return float(np.abs(T - U)[:3, :3].max() if kind in ("orientation", "turn") else np.abs(T - U)[:3, 3].max())


def _difference(joint: Joint, other: Joint, kind: str) -> Difference:
    """Return a displaced joint as a difference, in the terms of the file."""
    if kind == "axis":
        fields: dict[str, Any] = {"axis": other.axis}
        values, unit, source = (joint.axis.tolist(), other.axis.tolist()), "1", "axis"
    else:
        fields = {"T_parent_joint": other.T_parent_joint, "T_joint_body": other.T_joint_body}
        source = "T_joint_body" if kind == "anchor" else "T_parent_joint"
        T, U = joint.T_parent_joint, other.T_parent_joint
        turns = kind in ("orientation", "turn")
        values = (rpy_of(T[:3, :3]), rpy_of(U[:3, :3])) if turns else (T[:3, 3].tolist(), U[:3, 3].tolist())
        unit = "rad" if turns else "m"

    def apply(tree: Tree) -> Tree:
        return with_joint(tree, joint.name, **fields)

    return Difference(_named(joint, other, kind), joint.name, *values, unit, apply, joint.source(source))


def _named(joint: Joint, other: Joint, kind: str) -> str:
    """Return the finding kind: a unit where the numbers say so."""
    T, U = joint.T_parent_joint, other.T_parent_joint
    if kind == "axis" and np.abs(joint.axis + other.axis).max() <= 1e-7:
        return "joint.axis_sign"
    if kind in ("orientation", "turn") and in_degrees(T[:3, :3], U[:3, :3]):
        return "units.angle"
    p, r = T[:3, 3], U[:3, 3]
    if kind == "placement" and p.any() and any(np.allclose(p * k, r, rtol=1e-7, atol=1e-9 * k) for k in (1e3, 1e-3)):
        return "units.length"
    return NAMES[kind]
