"""Fourth-order central differences along curves on the configuration manifold.

The curve through (q, v) with acceleration a is q(t) = q exp(t v), v(t) = v + t a: q' = v and v' = a at t = 0, which is
all that a first derivative sees. exp is the exponential of SO(3) on ball joints, of SE(3) on floating and of SE(2) on
planar ones.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..spatial import exp_so3, quaternion_product, rotation_from_quaternion
from ..tree import Floats, JointKind, Tree
from .tolerances import STEP

OFFSETS: Final = np.array([-2.0, -1.0, 1.0, 2.0])
GAIN: Final = 1.5  # sum of the weights by size, (1 + 8 + 8 + 1) / 12: what errors of the samples can grow to, over h


def steps(v: Floats, step: float = STEP) -> Floats:
    """Return the step in t at each state, step / max(1, |v| / 2), for v of (N, nv): (N,)."""
    return step / np.maximum(1, np.sqrt((v * v).sum(-1)) / 2)


def along(tree: Tree, q: Floats, v: Floats, h: Floats) -> Floats:
    """Return q exp(k h v) for k = -2, -1, 1, 2: (N, nq), (N, nv), (N,) to (4 N, nq), the offsets outermost."""
    moved = [displaced(tree, q, k * h[:, None] * v) for k in OFFSETS]
    return np.concatenate(moved)


def shifted(v: Floats, a: Floats, h: Floats) -> Floats:
    """Return v + k h a for k = -2, -1, 1, 2: (4 N, nv), the offsets outermost."""
    return np.concatenate([v + k * h[:, None] * a for k in OFFSETS])


def rate(samples: Floats, h: Floats) -> Floats:
    """Return the derivative from samples (4 N, ...) at the offsets of `along`, (N, ...).

    The differences are taken first: a function that is even in t has the derivative 0 exactly.
    """
    far_back, back, ahead, far_ahead = samples.reshape(4, len(h), *samples.shape[1:])
    return (8 * (ahead - back) - (far_ahead - far_back)) / (12 * h.reshape(-1, *[1] * (samples.ndim - 1)))


def displaced(tree: Tree, q: Floats, dq: Floats) -> Floats:
    """Return q exp(dq), for q (N, nq) and a tangent dq (N, nv) in the velocity coordinates of `tree`."""
    result = q.copy()
    scalar = [(s.start, d.start) for s, d in zip(tree.q_slices, tree.v_slices, strict=True) if s.stop - s.start == 1]
    if scalar:
        at, of = np.array(scalar).T
        result[:, at] += dq[:, of]
    for joint, s, d in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
        if joint.kind is JointKind.BALL:
            result[:, s] = quaternion_product(q[:, s], exp_so3(dq[:, d]))
        elif joint.kind is JointKind.FLOATING:
            result[:, s] = _rigid(q[:, s], dq[:, d])
        elif joint.kind is JointKind.PLANAR:
            result[:, s] = _planar(q[:, s], dq[:, d])
    return result


def _rigid(q: Floats, dq: Floats) -> Floats:
    """Return (p + R V(w) u, R exp(w)) on SE(3), for q = (p, quat_wxyz) and dq = (u, w)."""
    u, w = dq[:, :3], dq[:, 3:]
    first, second = _coefficients(np.sqrt((w * w).sum(-1)))
    turn = np.cross(w, u)
    local = u + first[:, None] * turn + second[:, None] * np.cross(w, turn)
    p = q[:, :3] + (rotation_from_quaternion(q[:, 3:]) @ local[..., None])[..., 0]
    return np.concatenate([p, quaternion_product(q[:, 3:], exp_so3(w))], axis=1).astype(np.float64)


def _planar(q: Floats, dq: Floats) -> Floats:
    """Return (p + R V(w) u, theta + w) on SE(2), for q = (x, y, theta) and dq = (u, w)."""
    u, w = dq[:, :2], dq[:, 2]
    first, second = _coefficients(np.abs(w))
    turned = np.stack([-u[:, 1], u[:, 0]], axis=1)
    local = (1 - second * w**2)[:, None] * u + (first * w)[:, None] * turned
    c, s = np.cos(q[:, 2]), np.sin(q[:, 2])
    p = q[:, :2] + np.stack([c * local[:, 0] - s * local[:, 1], s * local[:, 0] + c * local[:, 1]], axis=1)
    return np.concatenate([p, q[:, 2:] + dq[:, 2:]], axis=1)


def _coefficients(angle: Floats) -> tuple[Floats, Floats]:
    """Return (1 - cos x) / x^2 and (x - sin x) / x^3, by series where the direct forms cancel."""
    small = angle < 1e-2
    x = np.where(small, 1, angle)
    square = angle**2
    first = np.where(small, 1 / 2 - square / 24 + square**2 / 720, 2 * (np.sin(x / 2) / x) ** 2)
    second = np.where(small, 1 / 6 - square / 120 + square**2 / 5040, (x - np.sin(x)) / x**3)
    return first, second
