# pyright: reportAttributeAccessIssue=false
"""The coordinates of an `iDynTree::Model`, as seats of the joints of a tree.

Its state is the pose of the base link, the positions of the joints, the velocity of the base link in the chosen
representation, linear first, and the velocities of the joints. Here the pose is sixteen positions in front of the
others, the velocity six in front of the others. A spherical joint is a quaternion w, x, y, z and the angular velocity
in the axes of its second link (the header of 15.1 says the first link; it answers in those of the second).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..harness.seats import CoordinateMap, Seat
from ..harness.spatial import rotation_from_quaternion, transform
from ..harness.tree import JointKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..harness.bases import BaseConvention
    from ..harness.tree import Floats, Joint, Tree

POSE, TWIST = 16, 6
BALL = (".wx", ".wy", ".wz")


@dataclass(frozen=True, eq=False)
class Base:
    """Where the base link of the model is in the tree.

    Attributes:
        body: of the tree, whose pose is known: the floating root, or a body that stands still.
        T_body_link: (4, 4) place of the base link in that body.
        floats: whether that body moves with a floating joint of the tree.
        T_world_body: (4, 4) its pose where it stands still.
    """

    body: int
    T_body_link: Floats
    floats: bool
    T_world_body: Floats

    @property
    def T_world_link(self) -> Floats:
        """Pose of the base link where it stands still."""
        return self.T_world_body @ self.T_body_link


def static_pose(tree: Tree, body: int) -> Floats:
    """Return T_world_body (4, 4) with every joint on the way undisplaced."""
    T = np.eye(4)
    while body > 0:
        joint = tree.joints[body]
        T = joint.T_parent_joint @ joint.T_joint_body @ T
        body = tree.parents[body]
    return T


def seats_of(model: Any, tree: Tree) -> tuple[dict[int, int], tuple[str, ...]]:
    """Return tree body to joint of the model for the joints that both have, and the dofs that only the model has."""
    pairs: dict[int, int] = {}
    extra: list[str] = []
    for j in range(model.getNrOfJoints()):
        joint, name = model.getJoint(j), model.getJointName(j)
        i, nv = tree.joint_index.get(name, 0), joint.getNrOfDOFs()
        if not nv:
            continue
        if i and tree.joints[i].nv == nv:
            pairs[i] = j
        else:
            extra += [name + end for end in (BALL if nv == 3 else ("",))]
    return pairs, tuple(extra)


def coordinate_map(
    model: Any, tree: Tree, base: Base, pairs: Mapping[int, int], convention: BaseConvention
) -> CoordinateMap:
    """Return the map between the tree's coordinates and those of the model."""
    seats = [_joint_seat(model, tree.joints[i], i, j) for i, j in pairs.items()]
    if base.floats:
        seats.append(_base_seat(tree, base, convention))
    neutral = np.zeros(POSE + model.getNrOfPosCoords())
    neutral[:POSE] = base.T_world_link.ravel()
    for j in range(model.getNrOfJoints()):
        joint = model.getJoint(j)
        if joint.getNrOfPosCoords() == len(BALL) + 1:
            neutral[POSE + joint.getPosCoordsOffset()] = 1
    return CoordinateMap(tree, seats, neutral, TWIST + model.getNrOfDOFs())


def _joint_seat(model: Any, joint: Joint, body: int, index: int) -> Seat:
    held = model.getJoint(index)
    q, v = POSE + held.getPosCoordsOffset(), TWIST + held.getDOFsOffset()
    columns = tuple(range(q, q + held.getNrOfPosCoords())), tuple(range(v, v + held.getNrOfDOFs()))
    if joint.kind is not JointKind.BALL:
        return Seat(body, *columns, shift=joint.ref)
    R_body_joint = joint.T_joint_body[:3, :3].T
    if np.array_equal(R_body_joint, np.eye(3)):
        return Seat(body, *columns)

    def positions(q: Floats) -> Floats:
        return np.concatenate([q[:, :1], q[:, 1:] @ R_body_joint.T], axis=1)

    def turn(q: Floats, v: Floats) -> tuple[Floats, Floats]:
        return np.broadcast_to(R_body_joint, (len(q), 3, 3)), np.zeros_like(v)

    return Seat(body, *columns, positions=positions, turn=turn)


def _base_seat(tree: Tree, base: Base, convention: BaseConvention) -> Seat:
    joint = tree.joints[base.body]
    T_world_joint = static_pose(tree, tree.parents[base.body]) @ joint.T_parent_joint
    T_side_link = joint.T_joint_body @ base.T_body_link

    def side(q: Floats) -> Floats:
        return T_world_joint @ transform(rotation_from_quaternion(q[:, 3:]), q[:, :3])

    def positions(q: Floats) -> Floats:
        return (side(q) @ T_side_link).reshape(-1, POSE)

    def turn(q: Floats, v: Floats) -> tuple[Floats, Floats]:
        return convention.matrices(side(q), v, T_side_link)

    return Seat(base.body, tuple(range(POSE)), tuple(range(TWIST)), positions=positions, turn=turn)
