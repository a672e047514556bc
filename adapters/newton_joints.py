"""Newton's joints: their coordinates, and how those of a tree become them.

X_wc = X_wp X_p motion(q) X_c^-1, where X_p and X_c stand in the parent and in the child: X_p is the tree's
T_parent_joint, X_c the inverse of its T_joint_body. Velocities are along the axes of X_p, the fixed side, of a ball
too. A free joint has the velocity of the centre of mass of the body, and ordinary accelerations. Quaternions are
x, y, z, w. D6 is up to three slides, then up to three hinges; its coordinates have no `ref`.
Source: newton/_src/sim/articulation.py, `eval_joint_motion`, `eval_joint_child_state`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import newton as _newton
import numpy as np

from ..harness.bases import NEWTON
from ..harness.seats import Seat, ball_of_fixed_axes, planar_of_fixed_axes
from ..harness.spatial import (
    inverse,
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
    transform,
)
from ..harness.tree import JointKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..harness.spatial import Array
    from ..harness.tree import Floats, Tree

newton: Any = _newton  # most of its members are unknown to a type checker

TYPE: Final = newton.JointType
SUFFIXES: Final[Mapping[int, tuple[str, ...]]] = {
    int(TYPE.FREE): JointKind.FLOATING.dof_suffixes,
    int(TYPE.BALL): JointKind.BALL.dof_suffixes,
}
XYZW: Final = [1, 2, 3, 0]
WXYZ: Final = [3, 0, 1, 2]


def placed(X: Floats) -> Floats:
    """Return the matrices (..., 4, 4) of Newton's transforms (..., 7): position, then quaternion x, y, z, w."""
    X = np.asarray(X, np.float64)
    quat_wxyz = X[..., 3:][..., WXYZ]
    norm = np.linalg.norm(quat_wxyz, axis=-1, keepdims=True)
    R = rotation_from_quaternion(quat_wxyz / np.where(norm > 0, norm, 1))
    return np.asarray(transform(R, X[..., :3]), np.float64)


def written(T: Array) -> Any:
    """Return the arguments of Newton's transform of a matrix (4, 4)."""
    x, y, z, w = quaternion_from_rotation(T[:3, :3])[XYZW].tolist()
    return ([float(p) for p in T[:3, 3]], [x, y, z, w])


def seats(tree: Tree, row: Sequence[int], q: int, v: int, floating: Floating | None) -> list[Seat]:
    """Return where Newton has the joints of tree bodies in a row, all of which are one joint of Newton.

    Args:
        tree: the robot.
        row: the bodies, from the top down.
        q: first position of Newton's joint.
        v: its first velocity.
        floating: the map of a free joint.
    """
    first = tree.joints[row[0]]
    if first.kind is JointKind.FLOATING and floating is not None:
        columns = tuple(range(q, q + 7)), tuple(range(v, v + 6))
        return [Seat(row[0], *columns, positions=floating.positions, turn=floating.turn)]
    if first.kind is JointKind.BALL:
        columns = tuple(range(q, q + 4)), tuple(range(v, v + 3))
        return [Seat(row[0], *columns, positions=_ball_positions, turn=ball_of_fixed_axes)]
    if first.kind is JointKind.PLANAR:
        columns = tuple(range(q, q + 3)), tuple(range(v, v + 3))
        return [Seat(row[0], *columns, turn=planar_of_fixed_axes)]
    slides = [i for i in row if tree.joints[i].kind is JointKind.PRISMATIC]
    ordered = [*slides, *(i for i in row if i not in slides)]
    return [Seat(i, (q + k,), (v + k,), shift=tree.joints[i].ref) for k, i in enumerate(ordered)]


def _ball_positions(q: Floats) -> Floats:
    return q[:, XYZW]


class Floating:
    """A free joint: Newton's X_j is A motion(q) B of the tree's.

    Args:
        A: (4, 4) the tree's fixed side in Newton's X_p.
        B: (4, 4) Newton's X_c in the tree's moving side.
        com: (3,) [m] the centre of mass of the body in the tree's moving side.
    """

    def __init__(self, A: Array, B: Array, com: Array) -> None:
        self.A, self.B = A, B
        self.point = np.asarray(transform(np.eye(3), np.asarray(com)), np.float64)

    def positions(self, q: Floats) -> Floats:
        """Return position and quaternion x, y, z, w (N, 7) of the tree's pose."""
        before, after = (quaternion_from_rotation(T[:3, :3]) for T in (self.A, self.B))
        turned = quaternion_product(quaternion_product(before, q[:, 3:]), after)
        return np.concatenate([(self._pose(q) @ self.B)[:, :3, 3], turned[:, XYZW]], axis=1, dtype=np.float64)

    def turn(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Return T (N, 6, 6) and beta (N, 6), see `harness.bases`."""
        return NEWTON.matrices(self._pose(q), v, self.point)

    def _pose(self, q: Floats) -> Floats:
        return np.asarray(self.A @ transform(rotation_from_quaternion(q[:, 3:]), q[:, :3]), np.float64)


def floating_of(tree: Tree, i: int, parent: Array, X_p: Floats, X_c: Floats, com: Floats) -> Floating:
    """Return the map of the free joint of body i.

    Args:
        tree: the robot.
        i: the body.
        parent: (4, 4) where the tree's joint stands in Newton's parent body.
        X_p: (4, 4) of Newton's joint in its parent.
        X_c: (4, 4) of it in the child.
        com: (3,) centre of mass in the child, as Newton has it.
    """
    B = tree.joints[i].T_joint_body
    center = B[:3, :3] @ com + B[:3, 3]
    return Floating(inverse(X_p) @ parent, B @ X_c, center)


def tail(label: str) -> str:
    """Return the name at the end of one of Newton's labels, which are paths."""
    return label.rpartition("/")[2]
