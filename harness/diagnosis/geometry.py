"""Joints that stand elsewhere: axis, zero, placement, orientation and anchor, fitted by turning and moving them.

A joint that can be displaced is a tree with two more joints, floating and massless, before and behind it. Every guess
about its geometry is then one configuration of that tree, so that many guesses are one batch of inverse dynamics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..fusion import fuse
from ..spatial import (
    exp_so3,
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
    rotation_z_to,
)
from ..tree import Body, Inertia, Joint, JointKind, Tree
from .evidence import Questions, answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..tree import Floats
    from .evidence import Indices
    from .hypotheses import Problem

TURNING: Final = (JointKind.REVOLUTE, JointKind.CONTINUOUS)
BEFORE, BEHIND = "displaced before", "displaced behind"


@dataclass(frozen=True, eq=False)
class Displacement:
    """How a joint is displaced: T_parent_joint D motion(q) E T_joint_body, D = (quat, p), E its counterpart.

    Attributes:
        quat: (H, 4) wxyz of D.
        p: (H, 3) of D.
        quat_behind: (H, 4) of E.
        p_behind: (H, 3) of E.
    """

    quat: Floats
    p: Floats
    quat_behind: Floats
    p_behind: Floats


def displaced(kind: str, x: Floats, joint: Joint, start: Floats) -> Displacement:
    """Return the displacement of parameters x (H, p) of one kind of fault.

    Args:
        kind: "axis", "orientation", "turn" (about the body origin), "placement" or "anchor" (the body stays).
        x: (H, p) [rad | m].
        joint: as the file has it.
        start: (H, 4) turns that x is added to.
    """
    count = len(x)
    one, still = np.tile([1.0, 0, 0, 0], (count, 1)), np.zeros((count, 3))
    if kind == "placement":
        return Displacement(one, x, one, still)
    if kind == "anchor":
        return Displacement(one, x, one, -x)
    if kind == "axis":
        tangent = np.linalg.svd(joint.axis[None])[2][1:]
        turn = np.asarray(quaternion_product(start, exp_so3(x @ tangent)), np.float64)
        turn = _of_basis(joint.axis, turn) if joint.kind is JointKind.PLANAR else turn
        return Displacement(turn, still, turn * np.array([1.0, -1, -1, -1]), still)
    turn = np.asarray(quaternion_product(exp_so3(x), start), np.float64)
    if kind == "turn":
        c = joint.T_joint_body[:3, 3]
        still = c - np.asarray(rotation_from_quaternion(turn), np.float64) @ c
    return Displacement(turn, still, one, np.zeros((count, 3)))


def _of_basis(n: Floats, turns: Floats) -> Floats:
    """Return the turn between the bases of a planar joint whose normal n is turned, (H, 4)."""
    basis = rotation_z_to(n)
    normals = np.asarray(rotation_from_quaternion(turns), np.float64) @ n
    found = [quaternion_from_rotation(rotation_z_to(m / np.linalg.norm(m)) @ basis.T) for m in normals]
    return np.asarray(found, np.float64)


@dataclass(frozen=True, eq=False)
class Jig:
    """One joint of a problem, made so that it can be displaced.

    Attributes:
        problem: with the residual that is to be explained.
        body: that the joint carries, in `problem.tree`.
    """

    problem: Problem
    body: int

    @cached_property
    def joint(self) -> Joint:
        """As the tree has it."""
        return self.problem.tree.joints[self.body]

    @cached_property
    def tree(self) -> Tree:
        """The merged tree with the two joints more."""
        fusion = fuse(self.problem.tree, {self.body})
        merged = fusion.tree
        at = fusion.merged[self.body]
        body, joint, eye = merged.bodies[at], merged.joints[at], np.eye(4)
        bodies = list(merged.bodies)
        first = len(bodies)
        before = Joint(BEFORE, JointKind.FLOATING, T_parent_joint=joint.T_parent_joint)
        behind = Joint(BEHIND, JointKind.FLOATING, T_joint_body=joint.T_joint_body)
        inner = replace(joint, T_parent_joint=eye, T_joint_body=eye)
        bodies.append(Body(BEFORE, body.parent, before, Inertia()))
        bodies.append(Body("displaced", first, inner, Inertia()))
        bodies[at] = replace(body, parent=first + 1, joint=behind)
        return Tree(merged.name, tuple(bodies), merged.gravity, tendons=merged.tendons)

    @cached_property
    def _reference(self) -> Any:
        return self.problem.make(self.tree)

    @cached_property
    def _columns(self) -> tuple[Indices, Indices]:
        """Where each coordinate of the problem's tree stands in q and in v of the larger tree."""
        ours, theirs = self.problem.tree, self.tree
        index = theirs.joint_index
        q, v = ([_range(s) for s in slices] for slices in (theirs.q_slices, theirs.v_slices))
        moving = [joint.name for joint in ours.joints if joint.nv]
        at_q = [k for name in moving for k in q[index[name]]]
        at_v = [k for name in moving for k in v[index[name]]]
        return np.array(at_q, np.intp), np.array(at_v, np.intp)

    @cached_property
    def _wrenches(self) -> Floats | None:
        """Wrenches of the questions on the bodies of the larger tree."""
        asked = self.problem.asked
        if asked.wrenches is None:
            return None
        ours, theirs = self.problem.tree, self.tree
        folded = fuse(ours, {self.body}).fold(asked.wrenches)
        moved = np.zeros((len(asked), len(theirs.bodies), 6))
        for i, body in enumerate(ours.bodies):
            if body.name in theirs.index:
                moved[:, theirs.index[body.name]] = folded[:, i]
        return moved

    def residuals(self, moved: Displacement) -> Floats:
        """Return the scaled residual (H, E n) of H displacements."""
        problem, theirs = self.problem, self.tree
        asked, rounds = problem.asked, len(moved.p)
        count = len(asked)
        at_q, at_v = self._columns
        q = np.zeros((rounds, count, theirs.nq))
        q[..., at_q] = asked.q
        for name, p, quat in ((BEFORE, moved.p, moved.quat), (BEHIND, moved.p_behind, moved.quat_behind)):
            at = theirs.q_slices[theirs.joint_index[name]].start
            q[..., at : at + 3] = p[:, None]
            q[..., at + 3 : at + 7] = quat[:, None]
        v, a = np.zeros((rounds, count, theirs.nv)), np.zeros((rounds, count, theirs.nv))
        v[..., at_v], a[..., at_v] = asked.v, asked.a
        wrenches = None if self._wrenches is None else np.tile(self._wrenches, (rounds, 1, 1))
        lanes = Questions(
            q.reshape(-1, theirs.nq),
            v.reshape(-1, theirs.nv),
            a.reshape(-1, theirs.nv),
            wrenches,
            np.tile(asked.heavy, rounds),
            np.tile(asked.quantity, rounds),
        )
        efforts = answer(self._reference, lanes)[:, at_v]
        meant = problem.evidence.questions
        told = problem.told(meant.repeated(rounds), efforts) if problem.given else efforts
        return problem.evidence.residual(told.reshape(rounds, count, -1)).reshape(rounds, -1)

    def function(self, kind: str, starts: Floats) -> Callable[[Floats], Floats]:
        """Return the residual as a function of x (H, p), start by start, for `fitting.descend`."""

        def f(x: Floats) -> Floats:
            start = np.tile(starts, (len(x) // len(starts), 1))
            return self.residuals(displaced(kind, x, self.joint, start))

        return f


def _range(s: slice) -> range:
    return range(s.start, s.stop)


def placed(joint: Joint, kind: str, x: Floats, start: Floats) -> Joint:
    """Return the joint with one displacement put in: x (p,), start (4,)."""
    moved = displaced(kind, x[None], joint, start[None])
    D, E = np.eye(4), np.eye(4)
    D[:3, :3], D[:3, 3] = rotation_from_quaternion(moved.quat[0]), moved.p[0]
    E[:3, :3], E[:3, 3] = rotation_from_quaternion(moved.quat_behind[0]), moved.p_behind[0]
    if kind == "axis":
        n = D[:3, :3] @ joint.axis
        return replace(joint, axis=n / np.linalg.norm(n))
    return replace(joint, T_parent_joint=joint.T_parent_joint @ D, T_joint_body=E @ joint.T_joint_body)
