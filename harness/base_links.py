"""Engines whose models always float: the base link of a model in the tree, its pose and velocity as coordinates.

The state of such an engine begins with the pose of its base link and its velocity. Here the pose is sixteen positions
in front of those of the joints, row by row, and the velocity six in front of theirs. Where the tree welds the base,
both are constant, and the six rows are left out of every answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from .seats import Seat
from .spatial import rotation_from_quaternion, transform

if TYPE_CHECKING:
    from .bases import BaseConvention
    from .tree import Floats, Tree

POSE: Final = 16
TWIST: Final = 6


@dataclass(frozen=True, eq=False)
class BaseLink:
    """Where the base link of a model is in the tree.

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

    def seat(self, tree: Tree, convention: BaseConvention) -> Seat:
        """Return the seat of the floating joint, in front of the others."""
        joint = tree.joints[self.body]
        T_world_joint = static_pose(tree, tree.parents[self.body]) @ joint.T_parent_joint
        T_side_link = joint.T_joint_body @ self.T_body_link

        def side(q: Floats) -> Floats:
            return np.asarray(T_world_joint @ transform(rotation_from_quaternion(q[:, 3:]), q[:, :3]), np.float64)

        def positions(q: Floats) -> Floats:
            return (side(q) @ T_side_link).reshape(-1, POSE)

        def turn(q: Floats, v: Floats) -> tuple[Floats, Floats]:
            return convention.matrices(side(q), v, T_side_link)

        return Seat(self.body, tuple(range(POSE)), tuple(range(TWIST)), positions=positions, turn=turn)


def static_pose(tree: Tree, body: int) -> Floats:
    """Return T_world_body (4, 4) with every joint on the way undisplaced."""
    T = np.eye(4)
    while body > 0:
        joint = tree.joints[body]
        T = joint.T_parent_joint @ joint.T_joint_body @ T
        body = tree.parents[body]
    return T


def turns_of(convention: BaseConvention, Ts: Floats) -> Floats:
    """Return T (..., 6, 6) from twists in the axes of frames at Ts (..., 4, 4), linear first, to those of a convention.

    Wrenches in the axes of the frames are its transpose times those of the convention.
    """
    flat = Ts.reshape(-1, 4, 4)
    return convention.matrices(flat, np.zeros((len(flat), 6)))[0].reshape(*Ts.shape[:-2], 6, 6)
