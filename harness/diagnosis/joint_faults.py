"""Which fault in the geometry of one joint explains a residual: reversed, shifted, turned, moved."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..spatial import quaternion_from_rotation, rotation_from_rpy, rotation_z_to
from ..states import interval
from ..tree import Joint, JointKind, Tree
from .difference import Difference, with_joint
from .fitting import descend, shown
from .geometry import TURNING, Jig, placed
from .hypotheses import Candidate, Change, rms
from .joints import DEGREE, in_degrees, rpy_of
from .maps import tried

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..tree import Floats
    from .evidence import Indices, Questions
    from .hypotheses import Problem

ONE_DOF: Final = (*TURNING, JointKind.PRISMATIC)
SHIFTS: Final = 16  # zeros of a hinge that are looked at before the best are fitted
NEAR: Final = 8  # steps from the file's own geometry
BEST: Final = 6  # far starts that are followed
DIRECTIONS: Final = 30  # in which an axis is looked for
STEP: Final = 1e-5  # [rad | m] of the differences that tell which directions show
BLIND: Final = 1e-7  # share of the largest below which a direction does not
NAMES: Final = {
    "axis": "joint.axis",
    "orientation": "joint.orientation",
    "turn": "joint.orientation",
    "placement": "joint.placement",
    "anchor": "joint.placement",
}


def suspects(problem: Problem, *, fixed: bool) -> list[int]:
    """Return the bodies whose joint could be at fault: not floating, with something below, within reach."""
    tree = problem.tree
    heavy = [not body.inertia.is_zero for body in tree.bodies]
    moving = [joint.nv > 0 for joint in tree.joints]
    for i in range(len(tree.bodies) - 1, 0, -1):
        heavy[tree.parents[i]] = heavy[tree.parents[i]] or heavy[i]
        moving[tree.parents[i]] = moving[tree.parents[i]] or moving[i]
    found: list[int] = []
    for i in range(1, len(tree.bodies)):
        joint = tree.joints[i]
        kind = joint.nv > 0 or (fixed and tree.moving[i]) or (fixed and moving[i])
        if kind and heavy[i] and joint.kind is not JointKind.FLOATING and problem.reach.joint(i):
            found.append(i)
    return found


def reversed_candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield joints whose axis is reversed."""
    tree = problem.tree
    bodies = [i for i in suspects(problem, fixed=False) if tree.joints[i].kind in ONE_DOF]
    maps = [(_reversal(tree, i),) for i in bodies]
    for i, left in zip(bodies, tried(problem.light, maps), strict=True):
        if left <= problem.accept:
            change = Change(_axis(tree, i, "joint.axis_sign", -tree.joints[i].axis))
            rest = rms(problem.left([change]))
            if rest <= problem.accept:
                yield Candidate((change,), rest)


def _reversal(tree: Tree, i: int) -> Change:
    """Return a reversed axis as a map of questions and answers, which many can be tried by at once."""
    joint, q_at, v_at = tree.joints[i], tree.q_slices[i].start, tree.v_slices[i].start

    def ask(questions: Questions) -> Questions:
        q, v, a = questions.q.copy(), questions.v.copy(), questions.a.copy()
        q[:, q_at] = 2 * joint.ref - q[:, q_at]
        v[:, v_at] *= -1
        a[:, v_at] *= -1
        return replace(questions, q=q, v=v, a=a)

    def tell(questions: Questions, efforts: Floats) -> Floats:
        del questions
        efforts = efforts.copy()
        efforts[:, v_at] *= -1
        return efforts

    return Change(_axis(tree, i, "joint.axis_sign", -joint.axis), ask, tell)


def _axis(tree: Tree, i: int, kind: str, axis: Floats) -> Difference:
    joint = tree.joints[i]

    def apply(tree: Tree) -> Tree:
        return with_joint(tree, joint.name, axis=axis)

    return Difference(kind, joint.name, joint.axis.tolist(), axis.tolist(), "1", apply, joint.source("axis"))


def zero_candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield joints whose coordinate is shifted; a shift is a turn about the axis, or a move along it, under both names."""
    tree, light = problem.tree, problem.light
    bodies = [i for i in suspects(problem, fixed=False) if tree.joints[i].kind in ONE_DOF]
    if not bodies:
        return
    grid = [(i, s) for i in bodies for s in _shifts(tree.joints[i])]
    owner, start = np.array([i for i, _ in grid]), np.array([s for _, s in grid])
    first = _shifted(light, owner, start)
    sizes = np.sqrt((first**2).mean(1))
    kept: list[int] = []
    for i in bodies:
        mine = np.flatnonzero(owner == i)
        best = mine[np.argsort(sizes[mine], kind="stable")[:2]]
        kept += [int(k) for k in dict.fromkeys([*mine[:1], *best])]
    owner, start = owner[kept], start[kept]
    x, left = descend(lambda x: _shifted(light, np.tile(owner, len(x) // len(owner)), x[:, 0]), start[:, None], steps=15)
    for i in bodies:
        mine = np.flatnonzero(owner == i)
        k = mine[left[mine].argmin()]
        if left[k] <= problem.accept:
            yield from _zeros(problem, i, float(x[k, 0]))


def _shifts(joint: Joint) -> Floats:
    """Return shifts to start from, none first."""
    if joint.kind is JointKind.PRISMATIC:
        lower, upper = interval(joint)
        return np.array([0.0, 1.0, -1.0]) * max(upper - lower, 0.1)
    return np.arange(SHIFTS) * (2 * np.pi / SHIFTS)


def _shifted(problem: Problem, owner: Indices, shift: Floats) -> Floats:
    """Return the scaled residual (H, E n) with the joint of body owner[h] read shift[h] further."""
    at = np.array([problem.tree.q_slices[i].start for i in owner], np.intp)

    def move(questions: Questions, rounds: Indices) -> Questions:
        q = questions.q.copy()
        q[np.arange(len(q)), at[rounds]] += shift[rounds]
        return replace(questions, q=q)

    return problem.lanes(len(owner), move).reshape(len(owner), -1)


def _zeros(problem: Problem, i: int, shift: float) -> Iterator[Candidate]:
    """Yield one shift under its names, when it leaves rounding on all of the evidence."""
    joint = problem.tree.joints[i]
    slides = joint.kind is JointKind.PRISMATIC
    turned = shift if slides else float(np.remainder(shift + np.pi, 2 * np.pi) - np.pi)
    ref = joint.ref - turned

    def apply(tree: Tree) -> Tree:
        return with_joint(tree, joint.name, ref=ref)

    if not slides and joint.ref and any(np.isclose(joint.ref * k, joint.ref - shift, rtol=1e-6) for k in (DEGREE, 1 / DEGREE)):
        kinds = ["units.angle"]
    else:
        kinds = ["joint.zero", "joint.placement" if slides else "joint.orientation"]
    changes = [
        Change(Difference(kind, joint.name, joint.ref, ref, "m" if slides else "rad", apply, joint.source("ref")))
        for kind in kinds
    ]
    left = problem.left(changes[:1])
    if rms(left) <= problem.accept:
        step = _shifted(problem, np.array([i, i]), np.array([shift, shift + 1e-6]))
        size = float(np.sqrt(((step[1] - step[0]) ** 2).mean())) * 1e6 * min(1.0, abs(turned))
        for change in changes:
            yield Candidate((change,), rms(left), (size,))


def displaced_candidates(problem: Problem, bodies: Sequence[int], *, far: bool) -> Iterator[Candidate]:
    """Yield faults in axis, placement, orientation and anchor of the joints of some bodies.

    Args:
        problem: to be explained.
        bodies: whose joints are tried.
        far: whether starts far from the file's geometry are followed too.
    """
    for i in bodies:
        jig = Jig(problem.light, i)
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
    return np.array([quaternion_from_rotation(rotation_z_to(d) @ basis.T) for d in np.concatenate(spread)])


def _turns_of(joint: Joint) -> Floats:
    """Return the turns D with R D what a reader makes of the orientation R by a usual mistake."""
    R = joint.T_parent_joint[:3, :3]
    angles = np.array(rpy_of(R))
    x, y, z = (rotation_from_rpy(np.where(np.arange(3) == k, angles, 0)) for k in range(3))
    mistakes = [np.eye(3), R.T, R @ R, x @ y @ z, y @ x @ z, z @ x @ y, x @ z @ y, y @ z @ x]
    mistakes += [rotation_from_rpy(angles[[2, 1, 0]]), rotation_from_rpy(angles * DEGREE), rotation_from_rpy(angles / DEGREE)]
    turns = [R.T @ other for other in mistakes if np.abs(R - other).max() > 1e-9]
    return np.array([quaternion_from_rotation(D) for D in turns]).reshape(-1, 4)


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


def _found(
    problem: Problem, jig: Jig, kind: str, x: Floats, start: Floats, *, fitted: bool
) -> Iterator[Candidate]:
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
    sizes = shown(columns, len(columns))
    # Directions that do not show at all come out at the error of the differences.
    yield Candidate((change,), left, tuple(s for s in sizes if s > BLIND * max(sizes)))


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
    if kind in ("orientation", "turn") and in_degrees(T[:3, :3], U[:3, :3]):
        return "units.angle"
    p, r = T[:3, 3], U[:3, 3]
    if kind == "placement" and p.any() and any(np.allclose(p * k, r, rtol=1e-7, atol=1e-9 * k) for k in (1e3, 1e-3)):
        return "units.length"
    return NAMES[kind]
