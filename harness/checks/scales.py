"""How large the terms are that an engine adds up: the scale of every quantity.

Terms are bounded one by one, never by their sum: net moments cancel on quadrotors, and an engine that works in world
coordinates pays eps times the distance from the origin. A right answer is wrong by some eps of its scale.

Below the smallest normal number doubles have fewer digits, and products vanish: what is rounded there is wrong by a
share of that number, times what it is multiplied with. So each mass, tensor, length and speed counts with at least that
number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..tree import Floats, JointKind, Tree
from .tolerances import LEAST

if TYPE_CHECKING:
    from ..spatial import Array

SLIDES = {
    JointKind.PRISMATIC: (True,),
    JointKind.PLANAR: (True, True, False),
    JointKind.FLOATING: (True,) * 3 + (False,) * 3,
}


class Motion(Protocol):
    """Motion of every tree body against the world, the world's row included; (N, nb, 3) in world axes.

    `a_origin` is the linear part of the spatial acceleration at the body origin, gravity left out.
    """

    @property
    def R_world_body(self) -> Array: ...  # noqa: D102
    @property
    def p_world_body(self) -> Array: ...  # noqa: D102
    @property
    def c_world(self) -> Array: ...  # noqa: D102
    @property
    def omega(self) -> Array: ...  # noqa: D102
    @property
    def v_origin(self) -> Array: ...  # noqa: D102
    @property
    def alpha(self) -> Array: ...  # noqa: D102
    @property
    def a_origin(self) -> Array: ...  # noqa: D102


class Ruler:
    """Scales of one tree at N configurations.

    Arrays inside are (nb, N) or (nv, N); what is returned is (N, ...).
    """

    def __init__(self, tree: Tree, motion: Motion) -> None:
        self.tree = tree
        inertias = [body.inertia for body in tree.bodies]
        self._weight = np.array([I.mass for I in inertias])[:, None]
        self._mass = _least(self._weight)
        self._tensor = _least(np.linalg.norm(np.array([I.I_com for I in inertias]), 2, axis=(1, 2)))[:, None]
        self._offset = _norm(np.array([[I.com for I in inertias]]))
        self._slides = np.array([s for j in tree.joints for s in SLIDES.get(j.kind, (False,) * j.nv)], bool)[:, None]
        self._owner = np.array(tree.joint_of_dof, int)
        self._place(motion)

    def _place(self, motion: Motion) -> None:
        """Measure lever arms [m]: of bodies `|x - C| + |C|`, of dofs `|p_i - C|`, C the COM of the mechanism."""
        roots, label = np.unique(self.tree.roots, return_inverse=True)
        weight, moment = np.zeros(len(roots)), np.zeros((len(roots), *motion.c_world[:, 0].shape))
        np.add.at(weight, label, self._weight[:, 0])
        np.add.at(moment, label, np.swapaxes(motion.c_world * self._weight, 0, 1))
        moment = np.swapaxes(moment, 0, 1)
        first = motion.p_world_body[:, roots]  # a mechanism without mass is measured from its root
        heavy = weight > 0
        C = np.where(heavy[:, None], moment / np.where(heavy, weight, 1)[:, None], first)[:, label]
        anchors = np.stack([-j.T_joint_body[:3, :3].T @ j.T_joint_body[:3, 3] for j in self.tree.joints])
        p_joint = motion.p_world_body + (motion.R_world_body @ anchors[..., None])[..., 0]
        self._far = _norm(C)
        self._arm = _norm(motion.c_world - C) + self._far
        self._origin_arm = _norm(motion.p_world_body - C) + self._far
        self._reach = _norm(p_joint - C)[self._owner]
        self._height = np.maximum(_norm(motion.c_world), self._way(motion))
        self.length = float(self._reach.max(initial=0.1))

    def _way(self, motion: Motion) -> Floats:
        """Return how far it is to every centre of mass along the chain, (nb, N) [m]: where positions cancel."""
        p, parents = motion.p_world_body, self.tree.parents
        ends = [(j.T_parent_joint[:3, 3], j.T_joint_body[:3, 3]) for j in self.tree.joints]
        placed = [np.linalg.norm(a) + np.linalg.norm(b) for a, b in ends]
        way = np.zeros((len(parents), len(p)))
        for i in range(1, len(parents)):
            way[i] = way[parents[i]] + np.maximum(placed[i], np.linalg.norm(p[:, i] - p[:, parents[i]], axis=-1))
        return way + self._offset

    def efforts(self, motion: Motion, a: Floats, gravity: Floats, wrenches: Floats | None = None) -> Floats:
        """Return the scale of a generalized force, (N, nv) [N m | N].

        With f_b = m_b (|a_o - g| + |omega||v_o| + |alpha||c| + |omega|^2 |c|) and external wrenches by their norms,
        over the bodies b that dof i carries: translation, sum of f_b; rotation, sum of
        |I_b| (|alpha_b| + |omega_b|^2) + (|c_b - C| + |C| + |p_i - C|) f_b + m_b |v_o| (|v_o| + |omega||c|); plus
        reflected inertia times |a|. The last term of a rotation is v x (m v) of spatial algebra, zero up to rounding.
        """
        w, alpha, c, v = _norm(motion.omega), _norm(motion.alpha), self._offset, _norm(motion.v_origin)
        f = self._mass * (_norm(motion.a_origin - gravity) + w * v + (alpha + w**2) * c)
        n = self._tensor * (alpha + w**2) + self._arm * f + self._mass * v * (v + w * c)
        if wrenches is not None:
            push = _norm(wrenches[..., 3:])
            n += _norm(wrenches[..., :3]) + self._origin_arm * push
            f += push
        F, N = self._carried(f), self._carried(n)
        return _least(np.where(self._slides, F, N + self._reach * F) + self._reflected(np.abs(a.T))).T

    def masses(self) -> Floats:
        """Return s with M_ij measured by sqrt(s_i s_j), (N, nv) [kg m^2 | kg].

        Translation: the carried mass; rotation: sum of |I_b| + m_b (|c_b - C| + |C| + |p_i - C|)^2; plus reflected
        inertia.
        """
        m = self._carried(np.broadcast_to(self._mass, self._arm.shape))
        first, second = self._carried(self._mass * self._arm), self._carried(self._tensor + self._mass * self._arm**2)
        turning = second + self._reach * (2 * first + self._reach * m)
        tendons = sum((np.abs(c) ** 2 for c in self._tendons()), np.zeros(self.tree.nv))
        return (np.where(self._slides, m, turning) + (self._armature() + tendons)[:, None]).T

    def kinetic(self, motion: Motion, v: Floats) -> Floats:
        """Return the sum of (|I_b||omega|^2 + m_b (|v_o| + |omega||c| + |omega| r_b)^2) / 2, and of reflected inertia.

        (N,) [J]. The arm r_b = |c_b - C| + |C| is paid by an engine that takes velocities at the COM of the mechanism,
        or at the world origin.
        """
        w = _norm(motion.omega)
        fast = _norm(motion.v_origin) + w * (self._offset + self._arm)
        bodies = self._tensor * _least(w**2) + self._mass * _least(fast**2)
        speed = np.abs(v.T)
        moving = np.array(self.tree.moving)
        return _least(((bodies[moving]).sum(0) + (speed * self._reflected(speed)).sum(0)) / 2)

    def momentum(self, motion: Motion) -> Floats:
        """Return the larger of the sums of m_b (|v_o| + |omega||c|) and of |I_b||omega| + |c_b| times that, (N,)."""
        w = _norm(motion.omega)
        linear = self._mass * (_norm(motion.v_origin) + w * self._offset)
        return _least(np.maximum(linear.sum(0), (self._tensor * w + self._height * linear).sum(0)))

    def potential(self, gravity: Floats) -> Floats:
        """Return the sum of m |g||c_b| over the moving bodies, (N,) [J]."""
        moving = np.array(self.tree.moving)
        return _least((self._mass * self._height)[moving].sum(0) * float(np.linalg.norm(gravity)))

    def _carried(self, x: Floats) -> Floats:
        """Return the sum of x (nb, N) over the bodies that each dof carries, (nv, N)."""
        total = np.array(x)
        parents = self.tree.parents
        for i in range(len(total) - 1, 0, -1):
            total[parents[i]] += total[i]
        return total[self._owner]

    def _armature(self) -> Floats:
        return np.abs(np.concatenate([joint.reflected for joint in self.tree.joints]))

    def _tendons(self) -> list[Floats]:
        """Return sqrt(armature) times the coefficients of each fixed tendon, (nv,) each."""
        rows: list[Floats] = []
        for tendon in self.tree.tendons:
            row = np.zeros(self.tree.nv)
            for name, coefficient in tendon.coefficients.items():
                row[self.tree.v_slices[self.tree.joint_index[name]]] = coefficient * np.sqrt(abs(tendon.armature))
            rows.append(row)
        return rows

    def _reflected(self, x: Floats) -> Floats:
        """Return reflected inertia times x, every term by its size; x (nv, N) is not negative."""
        total = self._armature()[:, None] * x
        for row in self._tendons():
            total += np.abs(row)[:, None] * (np.abs(row) @ x)
        return total


def _norm(x: Array) -> Floats:
    """Return |x| of vectors (N, nb, 3), as (nb, N); small components are not lost in their squares."""
    return _least(np.hypot(np.hypot(x[..., 0], x[..., 1]), x[..., 2]).T.astype(np.float64))


def _least(x: Floats) -> Floats:
    """Return x, at least the smallest normal number."""
    return np.maximum(x, LEAST)
