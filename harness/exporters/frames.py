"""Frames as the formats need them: on the joints, and turned by three angles."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ..spatial import Array, rotation_about, transform
from ..tree import Body, Floats, Inertia, JointKind

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ..tree import Joint

ONE_DOF: Final = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC)

# A product of a few hundred placements in doubles stays below.
_ROUNDING: Final = 1e-12


def is_identity(T: Floats) -> bool:
    """Return whether a placement is exactly the identity."""
    return np.array_equal(T, np.eye(len(T)))


def misses(T: Floats, written: Array) -> bool:
    """Return whether a placement or rotation that a file will give is another one, beyond rounding."""
    return bool(np.abs(T - written).max() > _ROUNDING)


def seated(bodies: Sequence[Body], moved: Collection[int]) -> tuple[Body, ...]:
    """Return the bodies with the frames of those in `moved` put onto the moving side of their joints.

    With J the moving side of the joint, T_joint_body becomes the identity, the inertia is expressed in J, and joints on
    the body are placed in J. Nothing else changes: motion, coordinates and dynamics are the same.
    """
    result: list[Body] = []
    for i, body in enumerate(bodies):
        joint, inertia = body.joint, body.inertia
        if body.parent in moved:
            T_joint_parent = bodies[body.parent].joint.T_joint_body
            joint = replace(joint, T_parent_joint=T_joint_parent @ joint.T_parent_joint)
        if i in moved:
            inertia = _in_frame(inertia, joint.T_joint_body)
            joint = replace(joint, T_joint_body=np.eye(4))
        result.append(replace(body, joint=joint, inertia=inertia))
    return tuple(result)


def _in_frame(inertia: Inertia, T_frame_body: Floats) -> Inertia:
    R, p = T_frame_body[:3, :3], T_frame_body[:3, 3]
    I_com = inertia.I_com if is_identity(R) else R @ inertia.I_com @ R.T
    return Inertia(inertia.mass, R @ inertia.com + p, (I_com + I_com.T) / 2)


def placed_at_zero(joint: Joint) -> Floats:
    """Return T_parent_joint motion(-ref), (4, 4): a joint placed there without `ref` moves as this one does.

    motion(q - ref) = motion(-ref) motion(q) for one dof, about or along an axis that the motion leaves alone.
    """
    if joint.kind not in ONE_DOF or not joint.ref:
        return joint.T_parent_joint
    axis, back = joint.axis, -joint.ref
    slides = joint.kind is JointKind.PRISMATIC
    motion = (
        transform(np.eye(3), back * axis) if slides else transform(rotation_about(axis, np.array(back)), np.zeros(3))
    )
    return np.asarray(joint.T_parent_joint @ motion, np.float64)


def rpy_from_rotation(R: Floats) -> Floats:
    """Return roll, pitch and yaw (3,) [rad] with Rz(yaw) Ry(pitch) Rx(roll) = R, also at a pitch of a quarter turn.

    There the yaw is lost in rounding, whatever it is: turning R back by that very yaw leaves Ry(pitch) Rx(roll), from
    which pitch and roll follow to full precision, so that the product is right although the angles are arbitrary.
    """
    yaw = np.arctan2(R[1, 0], R[0, 0])
    s, c = np.sin(yaw), np.cos(yaw)
    x, y = c * R[0] + s * R[1], c * R[1] - s * R[0]  # rows of Rz(-yaw) R
    return np.array([np.arctan2(-y[2], y[1]), np.arctan2(-R[2, 0], x[0]), yaw])
