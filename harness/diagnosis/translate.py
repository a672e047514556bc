"""The dynamics of another tree in the coordinates of ours: what makes two files comparable at the same states.

Matched joints have the same coordinates by name; only where the frames of a free or ball joint are chosen otherwise are
they turned. Joints of the other tree that ours does not have stay at home, at rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import EngineUnsupported
from ..spatial import (
    inverse,
    motion_transform,
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
    transform,
)
from ..tree import JointKind
from .alignment import home_coordinates

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..spatial import Array
    from ..tree import Floats, Joint, Tree
    from .alignment import Node

TURNING = (JointKind.REVOLUTE, JointKind.CONTINUOUS)


class Translated:
    """A session on our coordinates that answers with the dynamics of the other tree.

    Args:
        ours: the tree whose coordinates the states are in.
        theirs: the other tree.
        nodes: matched bodies, from `align`.
        make: returns the reference of a tree.
    """

    findings = ()
    notes = ()
    extra_dofs = ()

    def __init__(self, ours: Tree, theirs: Tree, nodes: Sequence[Node], make: Callable[[Tree], Any]) -> None:
        self.ours, self.theirs, self.reference = ours, theirs, make(theirs)
        self.lacks: dict[str, str] = {}
        self.total_mass = theirs.total_mass
        self._nodes = [node for node in nodes if node.a]
        self._pairs = [n for n in self._nodes if _same(ours.joints[n.a], theirs.joints[n.b])]
        self._at = np.concatenate([np.arange(0), *(np.r_[ours.v_slices[n.a]] for n in self._pairs)]).astype(int)
        self.dofs = tuple(ours.dofs[k] for k in self._at)
        self.bodies = tuple(ours.bodies[n.a].name for n in self._nodes)
        # v_theirs = L v_ours, with constant L; efforts come back by its transpose.
        self._L = np.zeros((theirs.nv, len(self._at)))
        column = 0
        for n in self._pairs:
            block = _velocity_map(ours.joints[n.a], theirs.joints[n.b], n.G)
            self._L[theirs.v_slices[n.b], column : column + len(block)] = block
            column += len(block)
        if len(self.dofs) < theirs.nv:
            self.lacks["acceleration"] = "the other robot has dofs that this one does not have"

    def _q(self, q: Floats) -> Floats:
        out = np.tile(home_coordinates(self.theirs), (len(q), 1))
        for n in self._pairs:
            mine, other = self.ours.joints[n.a], self.theirs.joints[n.b]
            out[:, self.theirs.q_slices[n.b]] = _position(mine, other, n.G, q[:, self.ours.q_slices[n.a]])
        return out

    def _v(self, v: Floats) -> Floats:
        return np.asarray(v[:, self._at] @ self._L.T, np.float64)

    def _wrenches(self, wrenches: Floats | None) -> Floats | None:
        if wrenches is None:
            return None
        out = np.zeros((len(wrenches), len(self.theirs.bodies), 6))
        for n in self._nodes:
            out[:, n.b] += wrenches[:, n.a] @ motion_transform(n.G)  # rows: f_theirs = X^T f_ours
        return out

    def inverse_dynamics(
        self, q: Floats, v: Floats, a: Floats, wrenches: Floats | None = None, gravity: Floats | None = None
    ) -> Floats:
        """See `harness.engine.Session`."""
        tau = self.reference.inverse_dynamics(self._q(q), self._v(v), self._v(a), self._wrenches(wrenches), gravity)
        return np.asarray(tau @ self._L, np.float64)

    def bias(self, q: Floats, v: Floats, gravity: Floats | None = None) -> Floats:
        """See `harness.engine.Session`."""
        return np.asarray(self.reference.bias(self._q(q), self._v(v), gravity) @ self._L, np.float64)

    def gravity_forces(self, q: Floats) -> Floats:
        """See `harness.engine.Session`."""
        return np.asarray(self.reference.gravity_forces(self._q(q)) @ self._L, np.float64)

    def mass_matrix(self, q: Floats) -> Floats:
        """See `harness.engine.Session`."""
        return np.asarray(self._L.T @ self.reference.mass_matrix(self._q(q)) @ self._L, np.float64)

    def forward_dynamics(self, q: Floats, v: Floats, tau: Floats, wrenches: Floats | None = None) -> Floats:
        """See `harness.engine.Session`; L is square here."""
        theirs = np.linalg.solve(self._L.T, tau[:, self._at].T).T
        a = self.reference.forward_dynamics(self._q(q), self._v(v), theirs, self._wrenches(wrenches))
        finite = np.isfinite(a).all(-1)
        out = np.full((len(a), len(self.dofs)), np.inf)
        out[finite] = np.linalg.solve(self._L, a[finite].T).T
        return out

    def poses(self, q: Floats) -> Floats:
        """See `harness.engine.Session`."""
        Ts = self.reference.poses(self._q(q))
        return np.stack([np.asarray(Ts[:, n.b - 1] @ inverse(n.G), np.float64) for n in self._nodes], axis=1)

    def velocities(self, q: Floats, v: Floats) -> Floats:
        """See `harness.engine.Session`."""
        V = self.reference.velocities(self._q(q), self._v(v))
        return np.stack([np.asarray(V[:, n.b - 1] @ motion_transform(n.G).T, np.float64) for n in self._nodes], axis=1)

    def kinetic_energy(self, q: Floats, v: Floats) -> Floats:
        """See `harness.engine.Session`."""
        return np.asarray(self.reference.kinetic_energy(self._q(q), self._v(v)), np.float64)

    def potential_energy(self, q: Floats) -> Floats:
        """See `harness.engine.Session`."""
        return np.asarray(self.reference.potential_energy(self._q(q)), np.float64)

    def center_of_mass(self, q: Floats) -> Floats:
        """See `harness.engine.Session`."""
        return np.asarray(self.reference.center_of_mass(self._q(q)), np.float64)

    def describe(self) -> Tree:
        """Return the other tree."""
        return self.theirs

    def momentum(self, q: Floats, v: Floats) -> Floats:  # noqa: ARG002  as the contract has it
        """Refuse: identities are not asked of a pair of files."""
        raise EngineUnsupported("a pair of files is asked for quantities, not for identities")

    def generalized_forces(self, q: Floats, wrenches: Floats) -> Floats:  # noqa: ARG002  as the contract has it
        """Refuse: identities are not asked of a pair of files."""
        raise EngineUnsupported("a pair of files is asked for quantities, not for identities")


def _same(mine: Joint, other: Joint) -> bool:
    """Return whether two joints have the same coordinates."""
    return mine.nv > 0 and (mine.kind is other.kind or (mine.kind in TURNING and other.kind in TURNING))


def _turn(mine: Joint, other: Joint, G: Floats) -> Floats:
    """Return the transform from our child side of a joint to theirs: (4, 4)."""
    return np.asarray(other.T_joint_body @ inverse(G) @ inverse(mine.T_joint_body), np.float64)


def _velocity_map(mine: Joint, other: Joint, G: Floats) -> Floats:
    """Return the block of L of one joint."""
    T = _turn(mine, other, G)
    if mine.kind is JointKind.BALL:
        return T[:3, :3]
    if mine.kind is not JointKind.FLOATING:
        return np.eye(mine.nv)
    swap = [3, 4, 5, 0, 1, 2]  # coordinates are linear first, twists angular first
    return np.asarray(motion_transform(T)[np.ix_(swap, swap)], np.float64)


def _position(mine: Joint, other: Joint, G: Floats, q: Array) -> Floats:
    """Return the coordinates of their joint at ours, (N, nq)."""
    T = _turn(mine, other, G)
    if mine.kind is JointKind.BALL:
        turn = quaternion_from_rotation(T[:3, :3])
        back = turn * np.array([1, -1, -1, -1])
        return np.asarray(quaternion_product(quaternion_product(turn, q), back), np.float64)
    if mine.kind is not JointKind.FLOATING:
        return np.asarray(q, np.float64)
    # A floating joint reaches every pose: the body is where ours is, whatever frames the joint is written in.
    M = inverse(other.T_parent_joint) @ mine.T_parent_joint @ transform(rotation_from_quaternion(q[:, 3:]), q[:, :3])
    moved = M @ inverse(T)
    quats = [quaternion_from_rotation(R) for R in moved[:, :3, :3]]
    return np.asarray(np.concatenate([moved[:, :3, 3], np.stack(quats)], axis=1), np.float64)
