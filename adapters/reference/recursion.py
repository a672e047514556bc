"""Recursive Newton-Euler inverse dynamics, O(bodies), over all states at once.

Outward: V = X V_parent + S v, A = X A_parent + S a + ad_V (S v), with A_world = (0, -g). Wrench of each segment:
f = I A + V x* (I V) - f_external. Inward: tau = S^T f, f_parent += X^T f.

Source: Luh, Walker and Paul 1980, On-line computational scheme for mechanical manipulators; Featherstone 2008, Table
5.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...harness.tree import JointKind
from .joints import Displacement, cross, displacement
from .model import TURNING, Model, Segment

if TYPE_CHECKING:
    from ...harness.spatial import Array


@dataclass(frozen=True, eq=False)
class Outward:
    """Result of the outward pass, one entry per segment.

    Attributes:
        joints: displacement of every joint; None for the world.
        VA: (6, 2, N) twist and spatial acceleration in segment coordinates, gravity as -g of the base.
    """

    joints: tuple[Displacement | None, ...]
    VA: tuple[Array, ...]


def outward(model: Model, q: Array, v: Array, a: Array, gravity: Array) -> Outward:
    """Propagate twists and spatial accelerations from the world to the leaves.

    Args:
        model: compiled tree.
        q: (nq, N).
        v: (nv, N).
        a: (nv, N).
        gravity: (3,) in world axes.
    """
    count = q.shape[1]
    base = np.zeros((6, 2, count), model.dtype)
    base[3:, 1] = -gravity[:, None]
    joints: list[Displacement | None] = [None]
    motions: list[Array] = [base]
    for segment in model.segments[1:]:
        joint = displacement(segment, q[segment.q])
        inherited = segment.X @ motions[segment.parent].reshape(6, -1)
        motion = joint.to_child(inherited.reshape(6, 2, count))
        _add_joint_motion(segment, motion, v[segment.v], a[segment.v])
        joints.append(joint)
        motions.append(motion)
    return Outward(tuple(joints), tuple(motions))


def _add_joint_motion(segment: Segment, motion: Array, v: Array, a: Array) -> None:
    """Add S v to the twist, and S a + ad_V (S v) to the acceleration, in place."""
    V, A = motion[:, 0], motion[:, 1]
    if segment.kind in TURNING:
        rate = v[0]
        V[2] += rate
        A[2] += a[0]
        A[0] += V[1] * rate
        A[1] -= V[0] * rate
        A[3] += V[4] * rate
        A[4] -= V[3] * rate
        return
    if segment.kind is JointKind.PRISMATIC:
        rate = v[0]
        V[5] += rate
        A[5] += a[0]
        A[3] += V[1] * rate
        A[4] -= V[0] * rate
        return
    J = segment.S @ v
    V += J
    A += segment.S @ a
    A[:3] += cross(V[:3], J[:3])
    A[3:] += cross(V[3:], J[:3]) + cross(V[:3], J[3:])


def inward(model: Model, passed: Outward, external: dict[int, Array]) -> Array:
    """Return S^T f for every dof, (nv, N), after collecting the wrenches from the leaves to the world.

    Args:
        model: compiled tree.
        passed: what `outward` returned.
        external: segment index to wrench (6, N) in segment coordinates, acting on the segment.
    """
    count = passed.VA[0].shape[-1]
    tau = np.zeros((model.tree.nv, count), model.dtype)
    forces: list[Array | None] = [None] * len(model.segments)
    for k in range(len(model.segments) - 1, 0, -1):
        segment, joint = model.segments[k], passed.joints[k]
        f = body_wrench(segment.I, passed.VA[k])
        if k in external:
            f -= external[k]
        collected = forces[k]
        if collected is not None:
            f += collected
        forces[k] = None  # a parent has taken it: long chains keep no wrench twice
        tau[segment.v] = f[_row(segment)] if segment.S.shape[1] == 1 else segment.S.T @ f
        if segment.parent:
            assert joint is not None  # noqa: S101  only the world has none
            g = segment.X.T @ joint.to_parent(f)
            held = forces[segment.parent]
            forces[segment.parent] = g if held is None else held + g
    return tau


def _row(segment: Segment) -> slice:
    """Return the component that a one-dof joint feels."""
    return slice(2, 3) if segment.kind in TURNING else slice(5, 6)


def body_wrench(I: Array, motion: Array) -> Array:
    """Return I A + V x* (I V), the net wrench that moves one body: (6, N), from motion (6, 2, N)."""
    h = (I @ motion.reshape(6, -1)).reshape(motion.shape)
    V, (n, F), f = motion[:, 0], (h[:3, 0], h[3:, 0]), h[:, 1]
    w, u = V[:3], V[3:]
    f[0] += w[1] * n[2] - w[2] * n[1] + (u[1] * F[2] - u[2] * F[1])
    f[1] += w[2] * n[0] - w[0] * n[2] + (u[2] * F[0] - u[0] * F[2])
    f[2] += w[0] * n[1] - w[1] * n[0] + (u[0] * F[1] - u[1] * F[0])
    f[3] += w[1] * F[2] - w[2] * F[1]
    f[4] += w[2] * F[0] - w[0] * F[2]
    f[5] += w[0] * F[1] - w[1] * F[0]
    return f
