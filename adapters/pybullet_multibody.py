"""Multibodies of PyBullet: what they hold, and what they are asked.

A multibody has a base link, number -1, and links that each hang on a joint; fixed joints stay joints and their links
stay links. Every link has an inertial frame at its centre of mass, on its principal axes, and PyBullet tells axes of
joints, poses and velocities of links in these frames, not in those of the file. Joints with a dof stand in the order of
the links; the six velocities of a floating base come first.

Source: PyBullet Quickstart Guide; bullet3, examples/SharedMemory/PhysicsServerCommandProcessor.cpp.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..harness.spatial import rotation_from_quaternion, transform
from ..harness.streams import caught
from ..harness.tree import JointKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..harness.tree import Floats

with caught([]):  # it greets on import
    import pybullet

KINDS: Final = {
    pybullet.JOINT_REVOLUTE: JointKind.REVOLUTE,
    pybullet.JOINT_PRISMATIC: JointKind.PRISMATIC,
    pybullet.JOINT_SPHERICAL: JointKind.BALL,
    pybullet.JOINT_PLANAR: JointKind.PLANAR,
    pybullet.JOINT_FIXED: JointKind.FIXED,
}
# `getLinkStates` and `calculateJacobian` fail for more links: MAX_DEGREE_OF_FREEDOM of its shared memory.
MOST_LINKS: Final = 127
# `getBasePositionAndOrientation` hands the base's 7 coordinates and those of all joints over in one row of 128 numbers:
# what is beyond runs over into the velocities.
MOST_POSITIONS: Final = 121
_NOTHING: Final = (range(0), range(0))


@dataclass(frozen=True, eq=False)
class Link:
    """One link, with the joint that it hangs on.

    Attributes:
        name: of the link.
        parent: number of the link that carries it; -1 for the base, -2 for the base itself.
        joint: name of its joint; "" for the base.
        kind: of the joint.
        axis: (3,) of the joint in the axes of the file, as long as it is written; zero for a fixed joint.
        q: columns among the joint positions of the multibody; of a ball a quaternion xyzw.
        v: columns among its joint velocities.
        mass: [kg].
        moments: (3,) [kg m^2] principal moments about the centre of mass.
        T_link_inertial: (4, 4) the frame at the centre of mass on the principal axes.
        T_parent_link: (4, 4) where the link stands in its parent while its joint is undisplaced.
        lower, upper, effort, speed: limits as PyBullet holds them.
        damping, friction: of the joint, as PyBullet holds them.
    """

    name: str
    parent: int
    joint: str
    kind: JointKind
    axis: Floats
    q: range
    v: range
    mass: float
    moments: Floats
    T_link_inertial: Floats
    T_parent_link: Floats = field(default_factory=lambda: np.eye(4))
    lower: float = 0.0
    upper: float = -1.0
    effort: float = 0.0
    speed: float = 0.0
    damping: float = 0.0
    friction: float = 0.0

    @cached_property
    def I_com(self) -> Floats:
        """(3, 3) [kg m^2] tensor about the centre of mass in the axes of the link."""
        R = self.T_link_inertial[:3, :3]
        return np.asarray(R * self.moments @ R.T, np.float64)


@dataclass(frozen=True, eq=False)
class LinkStates:
    """Of all links, the base first, at N states in world axes.

    Attributes:
        T_world_inertial: (N, L, 4, 4).
        linear: (N, L, 3) [m/s] of the centres of mass.
        angular: (N, L, 3) [rad/s].
    """

    T_world_inertial: Floats
    linear: Floats
    angular: Floats


def _link(info: Sequence[Any], dynamics: Sequence[Sequence[Any]]) -> Link:
    """Return a link of `getJointInfo`, and of `getDynamicsInfo` of all links, the base first."""
    number, parent = info[0] + 1, info[16] + 1
    T, T_parent_inertial = (_frame(dynamics[k][3:5]) for k in (number, parent))
    kind = KINDS[info[2]]
    q, v = info[3] - 7, info[4] - 6
    # Between the inertial frames of both links: the place of the joint, and the turn of parent axes into its own.
    place = T_parent_inertial @ _frame(info[14:16])
    R = T_parent_inertial[:3, :3] @ _frame(info[14:16])[:3, :3].T @ T[:3, :3].T
    return Link(
        info[12].decode(),
        info[16],
        info[1].decode(),
        kind,
        T[:3, :3] @ info[13] if kind is not JointKind.FIXED else np.zeros(3),
        *((range(q, q + kind.nq), range(v, v + kind.nv)) if kind.nv else _NOTHING),
        dynamics[number][0],
        np.array(dynamics[number][2]),
        T,
        np.asarray(transform(R, place[:3, 3]), np.float64),
        *(info[k] for k in (8, 9, 10, 11, 6, 7)),
    )


class Multibody:
    """One multibody of a client.

    Attributes:
        links: the base first, then the links in PyBullet's numbers.
        floating: whether its base moves: PyBullet floats only a base with mass.
        nq, n: number of joint positions and velocities.
        nv: number of velocities, six of a floating base included.
    """

    def __init__(self, client: int, uid: int) -> None:
        self.client, self.uid = client, uid
        name = pybullet.getBodyInfo(uid, physicsClientId=client)[0].decode()
        base = pybullet.getDynamicsInfo(uid, -1, physicsClientId=client)
        self.floating = base[0] > 0
        none = Link(
            name, -2, "", JointKind.FIXED, np.zeros(3), *_NOTHING, base[0], np.array(base[2]), _frame(base[3:5])
        )
        count = pybullet.getNumJoints(uid, physicsClientId=client)
        infos = [pybullet.getJointInfo(uid, j, physicsClientId=client) for j in range(count)]
        dynamics = [pybullet.getDynamicsInfo(uid, j, physicsClientId=client) for j in range(-1, count)]
        self.links = (none, *(_link(info, dynamics) for info in infos))
        self.nq, self.n = (sum(map(len, columns)) for columns in zip(*((x.q, x.v) for x in self.links), strict=True))
        self.nv = self.n + 6 * self.floating
        moving = [self.floating]
        for link in self.links[1:]:
            moving.append(moving[link.parent + 1] or bool(link.v))
        self.moving = np.array(moving)
        # Of a URDF the base stands at the origin; a larger multibody does not tell.
        told = count <= MOST_LINKS
        self.home = pybullet.getBasePositionAndOrientation(uid, physicsClientId=client) if told else base[3:5]
        self._joints = [j for j, link in enumerate(self.links[1:]) if link.v]

    @property
    def neutral(self) -> Floats:
        """(nq,) every joint undisplaced."""
        q = np.zeros(self.nq)
        q[[link.q[3] for link in self.links if link.kind is JointKind.BALL]] = 1
        return q

    @cached_property
    def T_world_inertial(self) -> Floats:
        """(4, 4) pose of the inertial frame of the base where it was loaded."""
        return _frame(self.home)

    @property
    def R_world_inertial(self) -> Floats:
        """(3, 3) its axes: of a fixed base, those in which inverse dynamics is computed."""
        return self.T_world_inertial[:3, :3]

    @property
    def at_home(self) -> list[tuple[Any, ...]]:
        """Pose and velocity of a floating base where it was loaded, at rest, as `states` takes them."""
        return [(*self.home, [0.0] * 3, [0.0] * 3)] if self.floating else []

    @property
    def moving_links(self) -> list[Link]:
        """The links that can move."""
        return [link for link, moves in zip(self.links, self.moving, strict=True) if moves]

    def rename(self, names: Mapping[int, tuple[str, str]]) -> None:
        """Call links and their joints otherwise than the file that was written for PyBullet."""
        named = {k: replace(self.links[k], name=name, joint=joint if k else "") for k, (name, joint) in names.items()}
        self.links = tuple(named.get(k, link) for k, link in enumerate(self.links))

    def hold(self, link: int, moments: Floats) -> None:
        """Write the principal moments (3,), in ascending order, of a link where its reader has put others.

        It puts none where rounding breaks the triangle inequality of a rod or a plate.
        """
        held = self.links[link]
        if link and not held.moments.any() and moments.any():
            order = np.argsort(np.argsort(held.moments, kind="stable"))
            diagonal = np.maximum(moments, 0)[order].tolist()
            pybullet.changeDynamics(self.uid, link - 1, localInertiaDiagonal=diagonal, physicsClientId=self.client)

    def inverse_dynamics(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """`calculateInverseDynamics` of N states under the gravity of the client, (N, n); of a fixed base."""
        if not self.n:
            return np.zeros((len(q), 0))
        call, uid, client = pybullet.calculateInverseDynamics, self.uid, self.client
        states = zip(q.tolist(), v.tolist(), a.tolist(), strict=True)
        return np.array([call(uid, x, y, z, physicsClientId=client) for x, y, z in states]).reshape(-1, self.n)

    def mass_matrix(self, q: Floats) -> Floats:
        """`calculateMassMatrix`, flags=0, (N, nv, nv): a base that floats in the axes of its inertial frame."""
        call, uid, client, size = pybullet.calculateMassMatrix, self.uid, self.client, self.nv * self.nv
        flat = np.empty((len(q), size))
        chain = itertools.chain.from_iterable
        if size:
            for i, x in enumerate(q.tolist()):
                flat[i] = np.fromiter(chain(call(uid, x, physicsClientId=client)), np.float64, size)
        return flat.reshape(len(q), self.nv, self.nv)

    def jacobians(self, q: Floats, link: int, point: Floats) -> tuple[Floats, Floats]:
        """`calculateJacobian` (N, 3, n) of a point and of the turn of a link, in the axes of the base inertial frame.

        Its local position counts from the origin of the link frame, in the axes of the inertial frame.

        Args:
            q: (N, n) joint positions.
            link: position among `links`, not the base.
            point: (3,) [m] in the axes of the link from its origin.
        """
        place = (self.links[link].T_link_inertial[:3, :3].T @ point).tolist()
        rest, out = [0.0] * self.n, np.empty((len(q), 2, 3, self.n))
        for i, x in enumerate(q.tolist()):
            out[i] = pybullet.calculateJacobian(self.uid, link - 1, place, x, rest, rest, physicsClientId=self.client)
        return out[:, 0], out[:, 1]

    def states(self, q: Floats, v: Floats, bases: Sequence[tuple[Any, ...]] = ()) -> LinkStates:
        """Return poses and velocities of all links; the client is left in the last state.

        Args:
            q: (N, nq) joint positions.
            v: (N, n) joint velocities.
            bases: per state position and quaternion xyzw of the inertial frame of a floating base in the world, and
                velocity of its origin and angular velocity in world axes; none for a fixed base.
        """
        uid, client, joints = self.uid, self.client, self._joints
        numbers = list(range(len(self.links) - 1))
        rows = np.zeros((len(q), len(self.links), 13))
        xs, ys = self._grouped(q, "q"), self._grouped(v, "v")
        for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
            if bases:
                position, quat, linear, angular = bases[i]
                pybullet.resetBasePositionAndOrientation(uid, position, quat, physicsClientId=client)
                pybullet.resetBaseVelocity(uid, linear, angular, physicsClientId=client)
            if joints:
                pybullet.resetJointStatesMultiDof(uid, joints, x, y, physicsClientId=client)
            at = pybullet.getBasePositionAndOrientation(uid, physicsClientId=client)
            moves = pybullet.getBaseVelocity(uid, physicsClientId=client)
            rows[i, 0] = [*at[0], *at[1], *moves[0], *moves[1]]
            if numbers:
                found = pybullet.getLinkStates(uid, numbers, 1, 1, physicsClientId=client)
                rows[i, 1:] = [s[0] + s[1] + s[6] + s[7] for s in found]
        R = rotation_from_quaternion(rows[..., [6, 3, 4, 5]])
        T = np.asarray(transform(R, rows[..., :3]), np.float64)
        return LinkStates(T, rows[..., 7:10], rows[..., 10:])

    def _grouped(self, x: Floats, columns: str) -> list[list[list[float]]]:
        """Return the numbers of every joint with a dof as a list, state by state."""
        parts = [x[:, getattr(self.links[j + 1], columns)].tolist() for j in self._joints]
        return [list(row) for row in zip(*parts, strict=True)] if parts else [[] for _ in x]


def _frame(pose: Sequence[Any]) -> Floats:
    """Return position and quaternion xyzw as T (4, 4)."""
    position, (x, y, z, w) = pose
    return np.asarray(transform(rotation_from_quaternion(np.array([w, x, y, z])), np.array(position)), np.float64)
