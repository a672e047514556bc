# pyright: reportAttributeAccessIssue=false
"""The coordinates of an `iDynTree::Model`, as seats of the joints of a tree.

Its state is the pose of the base link, the positions of the joints, the velocity of the base link in the chosen
representation, linear first, and the velocities of the joints. Here the pose is sixteen positions in front of the
others, the velocity six in front of the others. A spherical joint is a quaternion w, x, y, z and the angular velocity
in the axes of its second link (the header of 15.1 says the first link; it answers in those of the second).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..harness.base_links import POSE, TWIST
from ..harness.seats import CoordinateMap, Seat
from ..harness.tree import JointKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..harness.base_links import BaseLink
    from ..harness.bases import BaseConvention
    from ..harness.tree import Floats, Joint, Tree

BALL = (".wx", ".wy", ".wz")


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
    model: Any, tree: Tree, base: BaseLink, pairs: Mapping[int, int], convention: BaseConvention
) -> CoordinateMap:
    """Return the map between the tree's coordinates and those of the model."""
    seats = [_joint_seat(model, tree.joints[i], i, j) for i, j in pairs.items()]
    if base.floats:
        seats.append(base.seat(tree, convention))
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
