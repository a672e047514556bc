"""The joints of a `dartpy` skeleton in the words of the tree, and the map between the coordinates of both.

A joint of DART stands T_parent_body = A motion(q) C^-1, with A = `getTransformFromParentBodyNode` and
C = `getTransformFromChildBodyNode`. Measured in 6.20, with R the turn of the motion and V = (v, omega) in the axes of
the moving side:

- revolute, prismatic: q is the angle or distance about `getAxis`, at zero undisplaced.
- ball: q is the rotation vector of R, its velocity is omega: not the derivative of q.
- planar: q is x, y along two axes of the joint, then theta; the velocities are in these fixed axes.
- free: q is the rotation vector, then the shift; the velocity is angular first, both parts turned by K R, with
  K = C^T A: the axes of the parent for C = 1, of the world where the parent is the world. Where C has a shift, with
  c = C^T p_C, the linear part is K R (v + c x omega) - c x (K R omega): the velocity of no point.
Source: measured with `getRelativeJacobian`, turned and offset joints; dart/dynamics of DART 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ..harness.bases import DART
from ..harness.seats import Seat
from ..harness.spatial import (
    inverse,
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
    rotation_z_to,
    skew,
    transform,
)
from ..harness.tree import JointKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..harness.tree import Floats, Joint

BodyNode: TypeAlias = Any
DartJoint: TypeAlias = Any

KINDS: Final[Mapping[str, JointKind]] = {
    "WeldJoint": JointKind.FIXED,
    "RevoluteJoint": JointKind.REVOLUTE,
    "PrismaticJoint": JointKind.PRISMATIC,
    "BallJoint": JointKind.BALL,
    "PlanarJoint": JointKind.PLANAR,
    "FreeJoint": JointKind.FLOATING,
}


# Sines of half a turn between which DART's rounding shows: (2e-6)^3 / 6 is below that of a number.
LEAST: Final = 1e-6
ROUGH: Final = 1e-3


def kind_of(joint: DartJoint) -> JointKind | None:
    """Return the kind of a joint in the words of the tree, or None where no tree has one."""
    return KINDS.get(joint.getType())


def slides(joint: DartJoint) -> Floats:
    """Return the axes (n, 3) of a joint that is several slides in series; none of another joint."""
    if joint.getType() == "TranslationalJoint2D":
        return np.stack([joint.getTranslationalAxis1(), joint.getTranslationalAxis2()])
    return np.eye(3 if joint.getType() == "TranslationalJoint" else 0, 3)


def fits(joints: Sequence[Joint], held: DartJoint) -> bool:
    """Return whether a joint of DART has the coordinates of joints of the tree that follow each other."""
    kind = kind_of(held)
    if len(joints) > 1 or kind is None:
        return len(joints) == len(slides(held)) and all(joint.nv == 1 for joint in joints)
    if joints[0].nv == 1:
        return kind in (JointKind.REVOLUTE, JointKind.PRISMATIC)
    return joints[0].kind is kind


def columns(joint: DartJoint) -> tuple[int, ...]:
    """Return where the coordinates of a joint stand, in q as in v."""
    return tuple(joint.getIndexInSkeleton(k) for k in range(joint.getNumDofs()))


def seats(bodies: Sequence[int], joints: Sequence[Joint], held: DartJoint, *, shifted: bool) -> list[Seat]:
    """Return the coordinates of joints of the tree in the skeleton.

    Args:
        bodies: of the tree, which the joints carry.
        joints: of the tree, one, or several that follow each other.
        held: the joint of the skeleton, which `fits`.
        shifted: whether `ref` is subtracted here; DART's importer does not know it.
    """
    at = columns(held)
    if len(joints) > 1:
        return [
            _single(i, joint, at[k : k + 1], shifted=shifted)
            for k, (i, joint) in enumerate(zip(bodies, joints, strict=True))
        ]
    if joints[0].nv == 1:
        return [_single(bodies[0], joints[0], at, shifted=shifted)]
    return [_seat(bodies[0], joints[0], held, at)]


def _single(body: int, joint: Joint, at: tuple[int, ...], *, shifted: bool) -> Seat:
    return Seat(body, at, at, shift=joint.ref if shifted else 0.0)


def _seat(body: int, joint: Joint, held: DartJoint, at: tuple[int, ...]) -> Seat:
    if joint.kind is JointKind.BALL:
        return Seat(body, at, at, positions=rotation_vector)
    if joint.kind is JointKind.PLANAR:
        return _planar(body, joint, held, at)
    return _floating(body, joint, held, at)


def rotation_vector(quat_wxyz: Floats) -> Floats:
    """Return log(R) (N, 3) [rad] of quaternions (N, 4) of any length, up to half a turn.

    DART leaves out terms of third order below 1e-3 rad, which is 1.7e-10 of R there: such small turns, where it shows,
    are said the other way round, as a whole turn less.
    """
    quat = np.where(quat_wxyz[:, :1] < 0, -quat_wxyz, quat_wxyz)
    half = np.linalg.norm(quat[:, 1:], axis=1, keepdims=True) / np.linalg.norm(quat, axis=1, keepdims=True)
    quat = np.where((half > LEAST) & (half < ROUGH), -quat, quat)
    size = np.linalg.norm(quat[:, 1:], axis=1, keepdims=True)
    # 2 atan2(s, w) / s, which is 2 / w where s vanishes.
    small = size < 1e-12 * np.abs(quat[:, :1])
    ratio = np.where(small, 2 / np.where(small, quat[:, :1], 1), 2 * np.arctan2(size, quat[:, :1]))
    return quat[:, 1:] * ratio / np.where(small, 1, size)


def _planar(body: int, joint: Joint, held: DartJoint, at: tuple[int, ...]) -> Seat:
    """Return the seat of a planar joint: DART's axes in the plane are not ours, and its velocities do not turn."""
    own = rotation_z_to(joint.axis)[:, :2]
    theirs = np.stack([held.getTranslationalAxis1(), held.getTranslationalAxis2()])
    P = theirs @ own  # our two axes in theirs

    def positions(q: Floats) -> Floats:
        return np.concatenate([q[:, :2] @ P.T, q[:, 2:]], axis=1)

    def turn(q: Floats, v: Floats) -> tuple[Floats, Floats]:
        c, s, zero = np.cos(q[:, 2]), np.sin(q[:, 2]), np.zeros(len(q))
        T, beta = np.zeros((len(q), 3, 3)), np.zeros((len(q), 3))
        T[:, :2, :2] = P @ np.moveaxis(np.array([[c, -s], [s, c]]), 2, 0)
        T[:, 2, 2] = 1
        across = np.stack([-v[:, 2] * v[:, 1], v[:, 2] * v[:, 0], zero], axis=1)
        beta[:, :2] = (T[:, :2, :2] @ across[:, :2, None])[..., 0]
        return T, beta

    return Seat(body, at, at, positions=positions, turn=turn)


def _floating(body: int, joint: Joint, held: DartJoint, at: tuple[int, ...]) -> Seat:
    """Return the seat of a floating joint: `harness.bases.DART`, with K R for the turn of the base.

    What the joint of the tree is at is no matter: DART's is at the pose of an MJCF body, ours is in the world.
    """
    A, C = held.getTransformFromParentBodyNode().matrix(), held.getTransformFromChildBodyNode().matrix()
    T_theirs_ours = np.asarray(inverse(A) @ joint.T_parent_joint, np.float64)
    same = np.array_equal(A, joint.T_parent_joint)
    quat = quaternion_from_rotation(T_theirs_ours[:3, :3])
    K, c = C[:3, :3].T @ A[:3, :3], C[:3, :3].T @ C[:3, 3]
    point = np.asarray(transform(np.eye(3), -c), np.float64)

    def positions(q: Floats) -> Floats:
        p, turned = q[:, :3], q[:, 3:]
        if not same:
            p = p @ T_theirs_ours[:3, :3].T + T_theirs_ours[:3, 3]
            turned = np.asarray(quaternion_product(np.broadcast_to(quat, turned.shape), turned), np.float64)
        return np.concatenate([rotation_vector(turned), p], axis=1)

    def turn(q: Floats, v: Floats) -> tuple[Floats, Floats]:
        turned = np.tile(np.eye(4), (len(q), 1, 1))
        turned[:, :3, :3] = K @ T_theirs_ours[:3, :3] @ rotation_from_quaternion(q[:, 3:])
        T, beta = DART.matrices(turned, v, point)
        T[:, 3:, 3:] -= skew(c) @ turned[:, :3, :3]
        return T, beta

    return Seat(body, at, at, positions=positions, turn=turn)
