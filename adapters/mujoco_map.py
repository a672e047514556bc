"""Which MuJoCo joints stand for which joint of the tree, and the coordinates of both.

MuJoCo's free joint, and the three slides that stand for a floating joint further down, have the velocity of the body
origin in the axes of the fixed side, and ordinary accelerations; the tree has both in child axes. With R the rotation
of the moving side, v_engine = T v and a_engine = T a + beta, T = blkdiag(R, 1), beta = (R (omega x v), 0). Two slides
and a hinge that stand for a planar joint follow the same rule in their plane. T is orthogonal: efforts and inertia
turn as tau_engine = T tau, M = T' M_engine T. All other coordinates are the same on both sides.
Source: MuJoCo documentation, Computation, "Floating objects"; measured against Newton-Euler written by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import mujoco as _mujoco
import numpy as np

from ..harness.seats import require_columns
from ..harness.spatial import (
    quaternion_from_rotation,
    quaternion_product,
    rotation_about,
    rotation_from_quaternion,
)
from ..harness.tree import JointKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..harness.spatial import Array
    from ..harness.tree import Floats, Tree

MjModel: TypeAlias = Any

# Its members come from compiled modules, of which a type checker sees nothing.
mujoco: Any = _mujoco

FREE, BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
SLIDE, HINGE = int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE)

# MuJoCo's joints that can stand for one joint of the tree, in order. A URDF `planar` joint is read as the three too.
STANDS_FOR: Final[Mapping[JointKind, tuple[tuple[int, ...], ...]]] = {
    JointKind.REVOLUTE: ((HINGE,),),
    JointKind.CONTINUOUS: ((HINGE,),),
    JointKind.PRISMATIC: ((SLIDE,),),
    JointKind.BALL: ((BALL,),),
    JointKind.PLANAR: ((SLIDE, SLIDE, HINGE),),
    JointKind.FLOATING: ((FREE,), (SLIDE, SLIDE, SLIDE, BALL)),
}
SUFFIXES: Final[Mapping[int, tuple[str, ...]]] = {
    FREE: (".vx", ".vy", ".vz", ".wx", ".wy", ".wz"),
    BALL: (".wx", ".wy", ".wz"),
    SLIDE: ("",),
    HINGE: ("",),
}


@dataclass(frozen=True)
class Seat:
    """The MuJoCo joints that stand for one joint of the tree.

    Attributes:
        body: tree body that the joint carries.
        q: first address in `qpos`.
        v: first address in `qvel`.
        free: whether it is MuJoCo's own free joint, whose position is absolute.
    """

    body: int
    q: int
    v: int
    free: bool


def seats(m: MjModel, tree: Tree, groups: Iterable[tuple[Sequence[int], int]]) -> tuple[list[Seat], tuple[str, ...]]:
    """Return the seats of the tree's joints, and the names of the dofs that MuJoCo has beyond them.

    Args:
        m: the compiled model.
        tree: whose joints are looked for.
        groups: tree bodies in a row that are one MuJoCo body, and that body.
    """
    found: list[Seat] = []
    extra = set(range(m.njnt))
    for bodies, b in groups:
        first = int(m.body_jntadr[b])
        kinds = [int(m.jnt_type[j]) for j in range(first, first + int(m.body_jntnum[b]))]
        at = 0
        for i in bodies:
            for row in STANDS_FOR.get(tree.joints[i].kind, ()):
                if tuple(kinds[at : at + len(row)]) == row:
                    j = first + at
                    found.append(Seat(i, int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j]), row[0] == FREE))
                    extra -= set(range(j, j + len(row)))
                    at += len(row)
                    break
    names = tuple(m.joint(j).name + suffix for j in sorted(extra) for suffix in SUFFIXES[int(m.jnt_type[j])])
    return found, names


@dataclass(frozen=True, eq=False)
class _Block:
    """A joint whose linear velocities turn with it.

    Attributes:
        tree_q, tree_v: its coordinates in the tree.
        q, v: first address in MuJoCo.
        row: first of its dofs among those that are answered.
        T_fixed_joint: (4, 4) what MuJoCo's position is measured against: the world of a free joint, else the joint.
        planar: two linear velocities instead of three.
    """

    tree_q: slice
    tree_v: slice
    q: int
    v: int
    row: int
    T_fixed_joint: Floats
    planar: bool

    @property
    def width(self) -> int:
        """Number of linear velocities."""
        return 2 if self.planar else 3


class CoordinateMap:
    """The coordinates of a tree and of the MuJoCo joints that stand for its own.

    Args:
        m: the compiled model.
        tree: whose q and v go in; efforts come out in the order of its dofs.
        found: the seats of its joints; what has no seat is left out.
    """

    def __init__(self, m: MjModel, tree: Tree, found: Sequence[Seat]) -> None:
        self.qpos0, self.nv, self._nq = np.array(m.qpos0), int(m.nv), tree.nq
        self.blocks: list[_Block] = []
        q_from, q_to, v_from, v_to = [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros(0, int)]
        row = 0
        for seat in sorted(found, key=lambda seat: seat.body):
            joint, q, v = tree.joints[seat.body], tree.q_slices[seat.body], tree.v_slices[seat.body]
            if joint.kind in (JointKind.FLOATING, JointKind.PLANAR):
                fused = tree.fusion.tree.joints[tree.fusion.merged[seat.body]]
                T = fused.T_parent_joint if seat.free else np.eye(4)
                self.blocks.append(_Block(q, v, seat.q, seat.v, row, T, joint.kind is JointKind.PLANAR))
            q_from.append(np.arange(q.start, q.stop))
            q_to.append(np.arange(joint.nq) + seat.q)
            v_from.append(np.arange(v.start, v.stop))
            v_to.append(np.arange(joint.nv) + seat.v)
            row += joint.nv
        self._q_from, self._q_to = np.concatenate(q_from), np.concatenate(q_to)
        self.v_from, self.v_to = np.concatenate(v_from), np.concatenate(v_to)

    def at(self, q: Floats) -> Frame:
        """Return the map at the configurations q (N, nq).

        Raises:
            ShapeError: they are of another robot.
        """
        require_columns(q, self._nq, "q")
        qpos = np.tile(self.qpos0, (len(q), 1))
        qpos[:, self._q_to] = q[:, self._q_from]
        turns: list[Array] = []
        for block in self.blocks:
            own = q[:, block.tree_q]
            if block.planar:
                turns.append(rotation_about(np.array([0.0, 0, 1]), own[:, 2])[:, :2, :2])
                continue
            R_joint_body, R = rotation_from_quaternion(own[:, 3:]), block.T_fixed_joint[:3, :3]
            if not np.array_equal(block.T_fixed_joint, np.eye(4)):
                at = slice(block.q, block.q + 3)
                qpos[:, at] = own[:, :3] @ R.T + block.T_fixed_joint[:3, 3]
                qpos[:, at.stop : at.stop + 4] = quaternion_product(quaternion_from_rotation(R), own[:, 3:])
            turns.append(R @ R_joint_body)
        return Frame(self, qpos, turns)


@dataclass(frozen=True, eq=False)
class Frame:
    """The map at N configurations.

    Attributes:
        map: the layout.
        qpos: (N, nq) of MuJoCo.
        turns: R (N, k, k) of every block.
    """

    map: CoordinateMap
    qpos: Floats
    turns: list[Array]

    def to_engine(self, x: Floats) -> Floats:
        """Return T x: velocities, parts of accelerations or efforts of the tree (N, nv) in MuJoCo's (N, nv)."""
        result = np.zeros((len(x), self.map.nv))
        result[:, self.map.v_to] = x[:, self.map.v_from]
        for block, R in zip(self.map.blocks, self.turns, strict=True):
            linear = x[:, block.tree_v][:, : block.width]
            result[:, block.v : block.v + block.width] = (R @ linear[..., None])[..., 0]
        return result

    def to_tree(self, x: Floats) -> Floats:
        """Return T' x: the same quantities of MuJoCo (N, nv) in those of the tree, (N, n)."""
        result = x[:, self.map.v_to]
        for block, R in zip(self.map.blocks, self.turns, strict=True):
            part = slice(block.row, block.row + block.width)
            result[:, part] = (result[:, None, part] @ R)[:, 0]
        return result

    def matrix_to_tree(self, M: Floats) -> Floats:
        """Return T' M T: inertia of MuJoCo (N, nv, nv) in coordinates of the tree, (N, n, n)."""
        result = M[:, self.map.v_to[:, None], self.map.v_to]
        for block, R in zip(self.map.blocks, self.turns, strict=True):
            part = slice(block.row, block.row + block.width)
            result[:, part] = R.swapaxes(-1, -2) @ result[:, part]
            result[:, :, part] = result[:, :, part] @ R
        return result

    def beta(self, v: Floats) -> Floats:
        """Return a_engine - T a, (N, nv): what the axes turn away in the meantime."""
        result = np.zeros((len(v), self.map.nv))
        for block, R in zip(self.map.blocks, self.turns, strict=True):
            own = v[:, block.tree_v]
            if block.planar:
                swept = own[:, 2:] * np.stack([-own[:, 1], own[:, 0]], axis=1)
            else:
                swept = np.cross(own[:, 3:], own[:, :3])
            result[:, block.v : block.v + block.width] = (R @ swept[..., None])[..., 0]
        return result
