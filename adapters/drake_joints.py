# pyright: reportAttributeAccessIssue=false
"""Drake's joints in the coordinates of the tree.

F is the frame on the parent, M the one on the child. Revolute and prismatic coordinates are the tree's own. A ball is
three angles, R_FM = Rz(yaw) Ry(pitch) Rx(roll), and its velocity is that of M in F, in axes of F; a planar joint is
x, y, theta with velocities along the axes of F; a floating joint is a quaternion w, x, y, z, then a position, its
velocity angular first, both parts in axes of F, of the origin of M. All accelerations are the derivatives of those.
Source: Drake, documentation of `BallRpyJoint`, `PlanarJoint` and `QuaternionFloatingJoint`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ..harness.bases import DRAKE
from ..harness.seats import Seat, ball_of_fixed_axes, planar_of_fixed_axes
from ..harness.spatial import (
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
    transform,
)
from ..harness.tree import JointKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..harness.spatial import Array
    from ..harness.tree import Floats, Joint, Tree

DrakeJoint: TypeAlias = Any

# Drake's type names and the joints of a tree that they stand for.
KIND: Final[Mapping[str, JointKind]] = {
    "weld": JointKind.FIXED,
    "revolute": JointKind.REVOLUTE,
    "prismatic": JointKind.PRISMATIC,
    "ball_rpy": JointKind.BALL,
    "planar": JointKind.PLANAR,
    "quaternion_floating": JointKind.FLOATING,
}


def kind_of(joint: DrakeJoint) -> JointKind | None:
    """Return the kind of a joint, None for one that no tree has."""
    return KIND.get(joint.type_name())


def fits(joint: Joint, theirs: DrakeJoint) -> bool:
    """Return whether Drake's joint can stand for this one."""
    kind = kind_of(theirs)
    return kind is joint.kind or (kind is JointKind.REVOLUTE and joint.kind is JointKind.CONTINUOUS)


def seat(tree: Tree, i: int, theirs: DrakeJoint, *, shifted: bool) -> Seat:
    """Return where Drake has the joint of body i.

    Args:
        tree: the robot.
        i: body that the joint carries.
        theirs: Drake's joint, of a finalized plant.
        shifted: whether `ref` is subtracted here (Drake's MJCF parser turns the frame on the child instead).
    """
    joint = tree.joints[i]
    q0, v0 = theirs.position_start(), theirs.velocity_start()
    q = tuple(range(q0, q0 + theirs.num_positions()))
    v = tuple(range(v0, v0 + theirs.num_velocities()))
    if joint.kind is JointKind.BALL:
        return Seat(i, q, v, positions=_ball_positions, turn=ball_of_fixed_axes)
    if joint.kind is JointKind.PLANAR:
        return Seat(i, q, v, turn=planar_of_fixed_axes)
    if joint.kind is JointKind.FLOATING:
        # A joint that Drake adds by itself, since nothing carries the body, measures against the world.
        absolute = theirs.is_ephemeral()
        fused = tree.fusion.tree.joints[tree.fusion.merged[i]]
        A = fused.T_parent_joint if absolute else np.eye(4)
        B = joint.T_joint_body if absolute else np.eye(4)
        floating = _Floating(A, B)
        return Seat(i, q, v, positions=floating.positions, turn=floating.turn)
    return Seat(i, q, v, shift=joint.ref if shifted else 0.0)


def rpy(R: Array) -> Floats:
    """Return roll, pitch, yaw (N, 3) of rotations (N, 3, 3), exact also where roll and yaw turn about one axis."""
    roll = np.arctan2(R[:, 2, 1], R[:, 2, 2])
    s, c = np.sin(roll), np.cos(roll)
    pitch = np.arctan2(-R[:, 2, 0], s * R[:, 2, 1] + c * R[:, 2, 2])
    yaw = np.arctan2(s * R[:, 0, 2] - c * R[:, 0, 1], c * R[:, 1, 1] - s * R[:, 1, 2])
    return np.stack([roll, pitch, yaw], axis=1)


def _ball_positions(q: Floats) -> Floats:
    return rpy(rotation_from_quaternion(q))


class _Floating:
    """The pose of M in F, A motion(q) B: quaternion first; velocities angular first in axes of F."""

    def __init__(self, A: Floats, B: Floats) -> None:
        self.A, self.B = A, B
        self.plain = np.array_equal(A, np.eye(4)) and np.array_equal(B, np.eye(4))

    def positions(self, q: Floats) -> Floats:
        if self.plain:
            return q[:, [3, 4, 5, 6, 0, 1, 2]]
        before, after = (quaternion_from_rotation(T[:3, :3]) for T in (self.A, self.B))
        turned = quaternion_product(quaternion_product(before, q[:, 3:]), after)
        return np.concatenate([turned, (self._pose(q) @ self.B)[:, :3, 3]], axis=1, dtype=np.float64)

    def turn(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        return DRAKE.matrices(self._pose(q), v, None if self.plain else self.B)

    def _pose(self, q: Floats) -> Floats:
        return np.asarray(self.A @ transform(rotation_from_quaternion(q[:, 3:]), q[:, :3]), np.float64)
