"""Engines that answer in another convention and do not say what they hold: the reference behind a wrong adapter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tautology.adapters.reference import Reference
from tautology.harness.errors import EngineUnsupported
from tautology.harness.tree import JointKind

if TYPE_CHECKING:
    from tautology.harness.engine import Given
    from tautology.harness.tree import Tree


class Silent:
    """The reference, which cannot be read back."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.right = Reference(tree)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.right, name)

    def describe(self) -> Tree:
        """Tell nothing.

        Raises:
            EngineUnsupported: always.
        """
        raise EngineUnsupported("this engine does not tell what it holds")

    def roots(self) -> list[tuple[slice, slice]]:
        """Return where floating joints have their positions and velocities."""
        t = self.tree
        floats = [i for i, joint in enumerate(t.joints) if joint.kind is JointKind.FLOATING]
        return [(t.q_slices[i], t.v_slices[i]) for i in floats]

    def bias(self, q: Any, v: Any, gravity: Any = None) -> Any:
        """Return the efforts at zero acceleration."""
        return self.inverse_dynamics(q, v, np.zeros_like(v), gravity=gravity)

    def gravity_forces(self, q: Any) -> Any:
        """Return the efforts at rest."""
        rest = np.zeros((len(q), self.tree.nv))
        return self.inverse_dynamics(q, rest, rest)

    def inverse_dynamics(self, q: Any, v: Any, a: Any, wrenches: Any = None, gravity: Any = None) -> Any:
        """Return tau."""
        return self.right.inverse_dynamics(q, v, a, wrenches, gravity)


class OtherVelocity(Silent):
    """Base velocity x = T(q) v of another kind, taken for v; efforts are dual to x."""

    def maps(self, q: Any, at: slice, v: Any) -> tuple[Any, Any]:
        """Return T (N, 6, 6) and what is to be taken from T a for x' (N, 6)."""
        raise NotImplementedError

    def inverse_dynamics(self, q: Any, v: Any, a: Any, wrenches: Any = None, gravity: Any = None) -> Any:
        """Take v and a for x and x', and return T^-T tau."""
        v, a = np.array(v), np.array(a)
        Ts = []
        for at_q, at in self.roots():
            T, _ = self.maps(q, at_q, v[:, at])
            v[:, at] = np.linalg.solve(T, v[:, at, None])[..., 0]
            _, rate = self.maps(q, at_q, v[:, at])
            a[:, at] = np.linalg.solve(T, (a[:, at] - rate)[..., None])[..., 0]
            Ts.append((at, T))
        tau = np.array(self.right.inverse_dynamics(q, v, a, wrenches, gravity))
        for at, T in Ts:
            tau[:, at] = np.linalg.solve(np.swapaxes(T, 1, 2), tau[:, at, None])[..., 0]
        return tau

    def mass_matrix(self, q: Any) -> Any:
        """Return T^-T M T^-1."""
        M = np.array(self.right.mass_matrix(q))
        for at_q, at in self.roots():
            T, _ = self.maps(q, at_q, np.zeros((len(q), 6)))
            whole = np.broadcast_to(np.eye(M.shape[-1]), M.shape).copy()
            whole[:, at, at] = np.linalg.inv(T)
            M = np.swapaxes(whole, 1, 2) @ M @ whole
        return M

    def forward_dynamics(self, q: Any, v: Any, tau: Any, wrenches: Any = None) -> Any:
        """Return M^-1 (tau - bias)."""
        bias = self.inverse_dynamics(q, v, np.zeros_like(v), wrenches)
        return np.linalg.solve(self.mass_matrix(q), (tau - bias)[..., None])[..., 0]


def _rotation(quat_wxyz: Any) -> Any:
    from tautology.harness.spatial import rotation_from_quaternion  # noqa: PLC0415

    return rotation_from_quaternion(quat_wxyz)


class WorldVelocity(OtherVelocity):
    """Linear base velocity in world axes."""

    def maps(self, q: Any, at: slice, v: Any) -> tuple[Any, Any]:
        """Return T = diag(R, 1), and R (w x v) for its rate."""
        R = _rotation(q[:, at][:, 3:7])
        T = np.broadcast_to(np.eye(6), (len(q), 6, 6)).copy()
        T[:, :3, :3] = R
        rate = np.zeros_like(v)
        rate[:, :3] = (R @ np.cross(v[:, 3:], v[:, :3])[..., None])[..., 0]
        return T, rate


class AngularFirst(OtherVelocity):
    """Angular part of the base velocity first."""

    def maps(self, q: Any, at: slice, v: Any) -> tuple[Any, Any]:
        """Return the swap of both halves."""
        del at
        return np.broadcast_to(np.roll(np.eye(6), 3, axis=0), (len(q), 6, 6)), np.zeros_like(v)


class OrdinaryAcceleration(OtherVelocity):
    """The base acceleration taken as ordinary."""

    def maps(self, q: Any, at: slice, v: Any) -> tuple[Any, Any]:
        """Return the identity, and w x v."""
        del at
        rate = np.zeros_like(v)
        rate[:, :3] = np.cross(v[:, 3:], v[:, :3])
        return np.broadcast_to(np.eye(6), (len(q), 6, 6)), rate


class ScalarLast(Silent):
    """Quaternions taken as x, y, z, w."""

    def _other(self, q: Any) -> Any:
        q = np.array(q)
        for at, _ in self.roots():
            q[:, at] = q[:, at][:, [0, 1, 2, 6, 3, 4, 5]]
        return q

    def inverse_dynamics(self, q: Any, v: Any, a: Any, wrenches: Any = None, gravity: Any = None) -> Any:
        """Return tau elsewhere."""
        return self.right.inverse_dynamics(self._other(q), v, a, wrenches, gravity)

    def mass_matrix(self, q: Any) -> Any:
        """Return M elsewhere."""
        return self.right.mass_matrix(self._other(q))

    def poses(self, q: Any) -> Any:
        """Return the poses elsewhere."""
        return self.right.poses(self._other(q))


class WrenchReversed(Silent):
    """Wrenches by the body on the environment."""

    def inverse_dynamics(self, q: Any, v: Any, a: Any, wrenches: Any = None, gravity: Any = None) -> Any:
        """Reverse them."""
        return self.right.inverse_dynamics(q, v, a, None if wrenches is None else -wrenches, gravity)


class WorldWrench(Silent):
    """Wrenches in world axes, at the body origin."""

    def inverse_dynamics(self, q: Any, v: Any, a: Any, wrenches: Any = None, gravity: Any = None) -> Any:
        """Turn them into body axes."""
        if wrenches is not None:
            R = np.zeros((len(q), len(self.tree.bodies), 3, 3)) + np.eye(3)
            R[:, 1:] = np.swapaxes(self.right.poses(q)[..., :3, :3], -1, -2)
            halves = wrenches.reshape(len(q), -1, 2, 3, 1)
            wrenches = (R[:, :, None] @ halves).reshape(wrenches.shape)
        return self.right.inverse_dynamics(q, v, a, wrenches, gravity)


class ForceFirst(Silent):
    """Wrenches with the force first."""

    def inverse_dynamics(self, q: Any, v: Any, a: Any, wrenches: Any = None, gravity: Any = None) -> Any:
        """Swap both halves."""
        swapped = None if wrenches is None else np.roll(wrenches, 3, axis=-1)
        return self.right.inverse_dynamics(q, v, a, swapped, gravity)


class Triangle(Silent):
    """One triangle of M."""

    def mass_matrix(self, q: Any) -> Any:
        """Return zeros below the diagonal."""
        return np.triu(self.right.mass_matrix(q))


class OtherOrder(Silent):
    """Two joints of one dof in each other's place."""

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        self.order = np.arange(tree.nv)
        ones = [i for i, joint in enumerate(tree.joints) if joint.nv == 1 and joint.nq == 1]
        first, last = ones[0], ones[-1]
        at = [tree.v_slices[first].start, tree.v_slices[last].start]
        self.at_q = np.arange(tree.nq)
        at_q = [tree.q_slices[first].start, tree.q_slices[last].start]
        self.order[at], self.at_q[at_q] = at[::-1], at_q[::-1]

    def inverse_dynamics(self, q: Any, v: Any, a: Any, wrenches: Any = None, gravity: Any = None) -> Any:
        """Ask with the columns exchanged, answer so too."""
        o = self.order
        return self.right.inverse_dynamics(q[:, self.at_q], v[:, o], a[:, o], wrenches, gravity)[:, o]

    def mass_matrix(self, q: Any) -> Any:
        """Return rows and columns exchanged."""
        return self.right.mass_matrix(q[:, self.at_q])[:, self.order][:, :, self.order]

    def poses(self, q: Any) -> Any:
        """Return the poses of those coordinates."""
        return self.right.poses(q[:, self.at_q])


WRONG: dict[str, type[Silent]] = {
    "base.velocity_frame": WorldVelocity,
    "base.component_order": AngularFirst,
    "base.quaternion_order": ScalarLast,
    "base.acceleration": OrdinaryAcceleration,
    "wrench.frame": WorldWrench,
    "wrench.frame order": ForceFirst,
    "wrench.sign": WrenchReversed,
    "mass_matrix.triangle": Triangle,
    "joint.order": OtherOrder,
}


@dataclass(frozen=True)
class WrongEngine:
    """An engine whose sessions are of one class."""

    session: type[Silent]

    def native(self, given: Given, tree: Tree) -> Silent:
        """Open the tree of the file."""
        del given
        return self.session(tree)

    def neutral(self, tree: Tree) -> Silent:
        """Open the tree."""
        return self.session(tree)
