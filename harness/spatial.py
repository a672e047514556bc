"""Rotations, rigid transforms, twists, wrenches and inertias in one notation, on stacks of any leading shape.

Conventions (CONVENTIONS.md): twists are angular first `(omega, v)`, wrenches moment first `(n, f)`, both in body axes
about the body origin. `T_a_b` maps points of frame b to frame a, `X_a_b = motion_transform(T_a_b)` maps twists the
same way, and its transpose brings wrenches back: `f_b = X_a_b.T @ f_a`. Every function keeps the float type that it is
given, so that float64 and longdouble run through the same lines.

Source: Featherstone 2008, Rigid Body Dynamics Algorithms, chapter 2; Lynch and Park 2017, Modern Robotics, chapter 3.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.floating[Any]]


def skew(p: Array) -> Array:
    """Return the matrix of the cross product, `skew(p) @ a = p x a`.

    Args:
        p: (..., 3).

    Returns:
        (..., 3, 3), antisymmetric.
    """
    S = np.zeros((*p.shape[:-1], 3, 3), p.dtype)
    x, y, z = p[..., 0], p[..., 1], p[..., 2]
    S[..., 0, 1], S[..., 0, 2], S[..., 1, 2] = -z, y, -x
    S[..., 1, 0], S[..., 2, 0], S[..., 2, 1] = z, -y, x
    return S


def transform(R: Array, p: Array) -> Array:
    """Return T = [[R, p], [0, 1]].

    Args:
        R: (..., 3, 3) rotation.
        p: (..., 3) [m] origin of the inner frame in the outer one.

    Returns:
        (..., 4, 4).
    """
    T = np.zeros((*R.shape[:-2], 4, 4), np.result_type(R, p))
    T[..., :3, :3] = R
    T[..., :3, 3] = p
    T[..., 3, 3] = 1
    return T


def inverse(T: Array) -> Array:
    """Return the inverse of a rigid transform, [[R', -R'p], [0, 1]], for T of (..., 4, 4)."""
    R_inverse = np.swapaxes(T[..., :3, :3], -1, -2)
    return transform(R_inverse, -(R_inverse @ T[..., :3, 3:])[..., 0])


def motion_transform(T_a_b: Array) -> Array:
    """Return the adjoint X_a_b = [[R, 0], [p x R, R]], which maps twists of frame b to frame a.

    Args:
        T_a_b: (..., 4, 4).

    Returns:
        (..., 6, 6).
    """
    R = T_a_b[..., :3, :3]
    X = np.zeros((*T_a_b.shape[:-2], 6, 6), T_a_b.dtype)
    X[..., :3, :3] = R
    X[..., 3:, 3:] = R
    X[..., 3:, :3] = skew(T_a_b[..., :3, 3]) @ R
    return X


def motion_cross(V: Array) -> Array:
    """Return ad_V = [[omega x, 0], [v x, omega x]]; the force dual is V x* = -ad_V^T.

    Args:
        V: (..., 6) twist.

    Returns:
        (..., 6, 6).
    """
    ad = np.zeros((*V.shape[:-1], 6, 6), V.dtype)
    ad[..., :3, :3] = ad[..., 3:, 3:] = skew(V[..., :3])
    ad[..., 3:, :3] = skew(V[..., 3:])
    return ad


def spatial_inertia(mass: Array, com: Array, I_com: Array) -> Array:
    """Return the spatial inertia about the body origin, [[I_c - m c x c x, m c x], [-m c x, m 1]].

    Args:
        mass: (...) [kg].
        com: (..., 3) [m] centre of mass in body axes.
        I_com: (..., 3, 3) [kg m^2] tensor about the centre of mass in body axes.

    Returns:
        (..., 6, 6), symmetric.
    """
    c, m = skew(com), mass[..., None, None]
    I = np.zeros((*com.shape[:-1], 6, 6), np.result_type(mass, com, I_com))
    I[..., :3, :3] = I_com - m * (c @ c)
    I[..., :3, 3:] = m * c
    I[..., 3:, :3] = -m * c
    I[..., 3:, 3:] = m * np.eye(3, dtype=I.dtype)
    return I


def rotation_about(axis: Array, angle: Array) -> Array:
    """Return exp(angle [axis]x) by Rodrigues' formula.

    Args:
        axis: (3,) unit vector.
        angle: (...) [rad].

    Returns:
        (..., 3, 3).
    """
    K = skew(axis)
    s, c = np.sin(angle)[..., None, None], np.cos(angle)[..., None, None]
    return np.eye(3, dtype=K.dtype) + s * K + (1 - c) * (K @ K)


def exp_so3(w: Array) -> Array:
    """Return exp([w]x) as a unit quaternion (w, x, y, z), regular at w = 0.

    Args:
        w: (..., 3) [rad] rotation vector.

    Returns:
        (..., 4) quat_wxyz.
    """
    half = np.sqrt((w * w).sum(-1)) / 2
    # sin(h)/h by its series where h^2 is below rounding, so that no state divides by zero.
    small = half < 1e-9
    ratio = np.where(small, 1 - half**2 / 6, np.sin(half) / np.where(small, 1, half)) / 2
    return np.concatenate([np.cos(half)[..., None], ratio[..., None] * w], axis=-1)


def quaternion_product(a_wxyz: Array, b_wxyz: Array) -> Array:
    """Return the Hamilton product, the quaternion of R(a) @ R(b); both (..., 4)."""
    aw, ax, ay, az = np.moveaxis(a_wxyz, -1, 0)
    bw, bx, by, bz = np.moveaxis(b_wxyz, -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def rotation_from_quaternion(quat_wxyz: Array) -> Array:
    """Return the rotation matrix of a quaternion, which is normalised first.

    Args:
        quat_wxyz: (..., 4), not zero.

    Returns:
        (..., 3, 3).
    """
    w, x, y, z = np.moveaxis(quat_wxyz / np.sqrt((quat_wxyz**2).sum(-1, keepdims=True)), -1, 0)
    R = np.empty((*quat_wxyz.shape[:-1], 3, 3), quat_wxyz.dtype)
    R[..., 0, 0], R[..., 0, 1], R[..., 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    R[..., 1, 0], R[..., 1, 1], R[..., 1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    R[..., 2, 0], R[..., 2, 1], R[..., 2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    return R


def quaternion_from_rotation(R: Array) -> Array:
    """Return the unit quaternion (w, x, y, z), w >= 0, of one rotation matrix (3, 3).

    The largest of the four components is computed first and divides the others (Shepperd 1978), so that half turns
    keep full precision.
    """
    squares = np.array(
        [
            1 + R[0, 0] + R[1, 1] + R[2, 2],
            1 + R[0, 0] - R[1, 1] - R[2, 2],
            1 - R[0, 0] + R[1, 1] - R[2, 2],
            1 - R[0, 0] - R[1, 1] + R[2, 2],
        ],
    )
    products = np.array(
        [
            [squares[0], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], squares[1], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], squares[2], R[1, 2] + R[2, 1]],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], squares[3]],
        ],
    )
    quat = products[np.argmax(squares)]
    quat = quat / np.sqrt((quat**2).sum())
    return -quat if quat[0] < 0 else quat


def rotation_from_rpy(rpy: Array) -> Array:
    """Return Rz(yaw) Ry(pitch) Rx(roll), the fixed-axis turns of URDF, for rpy of (3,) [rad].

    Angles whose cosine or sine is zero to rounding (multiples of a quarter turn written with many digits) stay as the
    file has them: 1.5707963 is not pi/2.
    """
    x, y, z = np.eye(3, dtype=rpy.dtype)
    return rotation_about(z, rpy[2]) @ rotation_about(y, rpy[1]) @ rotation_about(x, rpy[0])


def rotation_z_to(n: Array) -> Array:
    """Return the shortest turn that brings z onto the unit vector n, orthonormal; half a turn about x for n = -z.

    It is the basis of a planar joint with normal n, and the internal frame of a joint with axis n.

    Args:
        n: (3,) unit vector.

    Returns:
        (3, 3), third column n.
    """
    if n[2] < 0 and n[0] == 0 and n[1] == 0:
        return np.diag(np.array([1, -1, -1], n.dtype))
    v = np.array([-n[1], n[0], 0], n.dtype)  # z x n
    K = skew(v)
    # 1 / (1 + cos) cancels near n = -z: (1 - cos) / sin^2 is the same and does not.
    sine2 = (v * v).sum()
    factor = 1 / (1 + n[2]) if n[2] > 0 else (1 - n[2]) / sine2
    R = np.eye(3, dtype=n.dtype) + K + factor * (K @ K)
    x = R[:, 0] - n * (n @ R[:, 0])
    x = x / np.sqrt((x * x).sum())
    return np.stack([x, np.cross(n, x), n], axis=1)


def unit(n: Array) -> Array:
    """Return n / |n| for n of (3,), not zero; exact for axes along a coordinate."""
    return n / np.sqrt((n * n).sum())
