"""Joints that are reversed, or whose coordinate is shifted: maps of the coordinates, so that all are tried at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ..states import interval
from ..tree import JointKind
from .difference import Difference, with_joint
from .fitting import descend
from .geometry import TURNING
from .hypotheses import Candidate, Change, rms
from .maps import tried
from .turns import DEGREE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tree import Floats, Joint, Tree
    from .evidence import Indices, Questions
    from .hypotheses import Problem

ONE_DOF: Final = (*TURNING, JointKind.PRISMATIC)
SHIFTS: Final = 16  # zeros of a hinge that are looked at before the best are fitted


def suspects(problem: Problem, *, fixed: bool) -> list[int]:
    """Return the bodies whose joint could be at fault: not floating, with inertia that it moves, within reach.

    Args:
        problem: whose residual shows where it shows.
        fixed: whether fixed joints below which something moves are suspected too.
    """
    tree = problem.tree
    heavy = [not body.inertia.is_zero for body in tree.bodies]
    for i in range(len(tree.bodies) - 1, 0, -1):
        heavy[tree.parents[i]] = heavy[tree.parents[i]] or heavy[i]
    found: list[int] = []
    for i in range(1, len(tree.bodies)):
        joint = tree.joints[i]
        kind = joint.nv > 0 or (fixed and moves_below(tree, i))
        if kind and heavy[i] and joint.kind is not JointKind.FLOATING and problem.reach.joint(i):
            found.append(i)
    return found


def moves_below(tree: Tree, i: int) -> bool:
    """Return whether a joint with a dof is in the subtree of body i."""
    inside = {i}
    for k in range(i, len(tree.bodies)):
        if k in inside or tree.parents[k] in inside:
            inside.add(k)
            if tree.joints[k].nv:
                return True
    return False


def reversals(problem: Problem) -> list[tuple[Change, float]]:
    """Return every joint whose axis may be reversed, with the root mean square that this leaves."""
    tree = problem.tree
    bodies = [i for i, joint in enumerate(tree.joints) if joint.kind in ONE_DOF]
    lefts = tried(problem, [(_reversal(tree, i),) for i in bodies])
    return [(Change(_reversed(tree, i)), left) for i, left in zip(bodies, lefts, strict=True)]


def reversed_candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield joints whose axis is reversed."""
    for change, left in reversals(problem.light):
        if left <= problem.accept:
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

    return Change(_reversed(tree, i), ask, tell)


def _reversed(tree: Tree, i: int) -> Difference:
    joint = tree.joints[i]
    axis = -joint.axis

    def apply(tree: Tree) -> Tree:
        return with_joint(tree, joint.name, axis=axis)

    values = (joint.axis.tolist(), axis.tolist(), "1")
    return Difference("joint.axis_sign", joint.name, *values, apply, joint.source("axis"))


def zero_candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield joints whose coordinate is shifted, also under the name of a turn about the axis or a move along it."""
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
    x, left = descend(
        lambda x: _shifted(light, np.tile(owner, len(x) // len(owner)), x[:, 0]), start[:, None], steps=15
    )
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
    return np.arange(SHIFTS, dtype=np.float64) * (2 * np.pi / SHIFTS)


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

    if (
        not slides
        and joint.ref
        and any(np.isclose(joint.ref * k, joint.ref - shift, rtol=1e-6) for k in (DEGREE, 1 / DEGREE))
    ):
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
