"""Nonadhesive compliant contact of points with a plane, and the account of its work.

The gap of a point is phi = n . (x - o), its depth d = max(0, -phi). The plane pushes, and never pulls, with

    lambda = max(0, k d^p + c d^r d'),    elastic energy k d^(p + 1) / (p + 1)

p = 1, r = 0: spring and damper, cut off where they would pull; p = 3/2, r = 3/2: Hunt and Crossley. What the contact
takes out of the motion is in the elastic energy or lost: W = -(stored + lost), and lost never falls.

The spring sets a time of about sqrt(m_eff / k), m_eff = 1 / (J M^-1 J^T): a force law says nothing about whether a step
resolves it. Halve the step, and look at the balance, the largest force, and what the motion delivers.

Source: Hunt and Crossley 1975, Coefficient of restitution interpreted as damping in vibroimpact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...harness.errors import RequestError
from ...harness.spatial import unit
from ...harness.tree import Closure
from ..reference import Reference
from .constraints import rows_of
from .inputs import agree, finite, moving
from .simulate import of_tree, require_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...harness.spatial import Array
    from ...harness.tree import Tree


@dataclass(frozen=True, slots=True)
class Law:
    """Normal force of a contact.

    Attributes:
        stiffness: [N/m^p] k.
        damping: [N s/m^(r + 1)] c.
        power: p, positive.
        damping_power: r, not negative.

    Raises:
        RequestError: a number is out of its range.
    """

    stiffness: float
    damping: float = 0.0
    power: float = 1.0
    damping_power: float = 0.0

    def __post_init__(self) -> None:
        least = (self.stiffness > 0, self.damping >= 0, self.power > 0, self.damping_power >= 0)
        most = max(self.stiffness, self.damping, self.power, self.damping_power)
        if not all(least) or most == np.inf:
            raise RequestError(
                f"{self}: stiffness and power must be positive, damping and its power not negative, all of them finite"
            )

    def force(self, gap: Array, rate: Array) -> Array:
        """Return lambda [N], not negative, for gaps [m] and their rates [m/s]."""
        depth = np.maximum(-gap, 0)
        push = self.stiffness * depth**self.power - self.damping * depth**self.damping_power * rate
        return np.where(gap >= 0, 0, np.maximum(push, 0))  # a gap that is no number has no force

    def stored(self, gap: Array) -> Array:
        """Return the elastic energy [J] for gaps [m]."""
        return self.stiffness * np.maximum(-gap, 0) ** (self.power + 1) / (self.power + 1)


@dataclass(frozen=True, eq=False)
class Contact:
    """A point of a body that may touch a plane of the world.

    Attributes:
        body: its name.
        point: (3,) [m] in body axes, from its origin.
        normal: (3,) of the plane, towards the free side; made a unit vector.
        origin: (3,) [m] a point of the plane.

    Raises:
        ShapeError: one of them is no vector of space.
        RequestError: the normal is zero, or a number is none.
    """

    body: str
    point: Array
    normal: Array
    origin: Array

    def __post_init__(self) -> None:
        told = f"the contact of {self.body!r}"
        agree(told, point=(self.point, 3), normal=(self.normal, 3), origin=(self.origin, 3))
        finite(told, point=self.point, normal=self.normal, origin=self.origin)
        if not np.any(self.normal):
            raise RequestError(f"{told} has a normal of length zero")

    def geometry(self, tree: Tree, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Return gap (N,) [m], its rate (N,) [m/s], and J (N, nv) with rate = J v.

        Raises:
            RequestError: the tree has no such body.
        """
        pin = Closure("connect", f"contact of {self.body}", (self.body, ""), (*map(float, self.point), 0.0, 0.0, 0.0))
        rows, n = rows_of(tree, q, v, [pin]), unit(np.asarray(self.normal, np.float64))
        J = n @ rows.J
        return rows.position @ n - n @ np.asarray(self.origin), (J * v).sum(-1), J


@dataclass(frozen=True, eq=False)
class Landing:
    """A motion with contacts at K + 1 instants, of one mechanism.

    Attributes:
        t: (K + 1,) [s].
        q: (K + 1, nq).
        v: (K + 1, nv).
        gaps: (K + 1, C) [m].
        forces: (K + 1, C) [N] normal forces, not negative.
        energy: (K + 1,) [J] kinetic and potential energy of the mechanism.
        stored: (K + 1,) [J] in the contacts.
        work: (K + 1,) [J] of the contacts on the mechanism since the start.
        supplied: (K + 1,) [J] work of the joint efforts since the start.
    """

    t: Array
    q: Array
    v: Array
    gaps: Array
    forces: Array
    energy: Array
    stored: Array
    work: Array
    supplied: Array

    @property
    def lost(self) -> Array:
        """Return what the contacts have dissipated since the start (K + 1,) [J]."""
        return -self.work - (self.stored - self.stored[0])

    @property
    def unbalanced(self) -> Array:
        """Return the energy that came from nowhere (K + 1,) [J]: E - E_0 - work - supplied, the integrator's error."""
        return self.energy - self.energy[0] - self.work - self.supplied


def land(
    tree: Tree,
    contacts: Sequence[Contact],
    law: Law,
    q: Array,
    v: Array,
    step: float,
    count: int,
    drive: Callable[[float, Array, Array], Array] | None = None,
) -> Landing:
    """Return the motion from q (nq,), v (nv,) on, by the Runge-Kutta method of fourth order.

    Across the edges of contact the force has kinks or jumps: there the order of the method is lost.

    Args:
        tree: that moves; closures hold nothing here.
        contacts: points that may touch.
        law: of all of them.
        q: (nq,).
        v: (nv,).
        step: [s].
        count: of steps.
        drive: (t, q, v) of one state to joint efforts (nv,); none by default.

    Raises:
        ShapeError: an array, also one of the drive, has another number of joints.
        RequestError: an acceleration is not finite: the step is too long by far, or a joint moves no inertia; the start
            is no number, or the steps are none.
    """
    mechanism, nq, nv = of_tree(tree), tree.nq, tree.nv
    agree(repr(tree.name), q=(q, nq), v=(v, nv))
    finite(repr(tree.name), q=q, v=v)
    require_steps(step, count)

    def at(q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Return gaps, forces (C,) and the generalized force (nv,)."""
        nothing = (np.zeros(0), np.zeros(0), np.zeros((0, nv)))
        found = [nothing, *(contact.geometry(tree, q, v) for contact in contacts)]
        gaps, rates, J = (np.concatenate(parts) for parts in zip(*found, strict=True))
        forces = law.force(gaps, rates)
        return gaps, forces, forces @ J

    def slope(t: float, y: Array) -> Array:
        q, v = y[None, :nq], y[None, nq : nq + nv]
        pushed = at(q, v)[2]
        given = np.zeros(nv) if drive is None else drive(t, q[0], v[0])
        agree("the drive of a landing", efforts=(given, nv))
        a = mechanism.acceleration(q, v, (given + pushed)[None])[0]
        if not np.isfinite(a).all():
            raise RequestError(
                f"no motion at t = {t:g} s: the step {step:g} s is too long, or a joint moves no inertia"
            )
        return np.concatenate([mechanism.rate(q, v)[0], a, [pushed @ v[0], given @ v[0]]])

    y = np.concatenate([q, v, [0.0, 0.0]])
    path = [y]
    for k in range(count):
        t = k * step
        k1 = slope(t, y)
        k2 = slope(t + step / 2, y + step / 2 * k1)
        k3 = slope(t + step / 2, y + step / 2 * k2)
        k4 = slope(t + step, y + step * k3)
        y = y + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        y[:nq] = mechanism.normalised(y[None, :nq])[0]
        path.append(y)
    whole = np.stack(path)
    qs, vs = whole[:, :nq], whole[:, nq : nq + nv]
    told = [at(a[None], b[None]) for a, b in zip(qs, vs, strict=True)]
    gaps, forces = np.stack([gap for gap, _, _ in told]), np.stack([force for _, force, _ in told])
    energy, stored = mechanism.energy(qs, vs), law.stored(gaps).sum(-1)
    return Landing(step * np.arange(count + 1), qs, vs, gaps, forces, energy, stored, whole[:, -2], whole[:, -1])


def effective_mass(tree: Tree, contact: Contact, q: Array) -> Array:
    """Return 1 / (J M^-1 J^T) (N,) [kg], what the plane feels of the mechanism along its normal; q is (N, nq).

    Where no joint moves the point along the normal, it is infinite.

    Raises:
        RequestError: some joint moves no inertia, or a number is none.
    """
    finite(repr(tree.name), q=q)
    J = contact.geometry(tree, q, np.zeros((len(q), tree.nv)))[2]
    M = moving(repr(tree.name), Reference(tree).mass_matrix(q))
    given = (J * np.linalg.solve(M, J[..., None])[..., 0]).sum(-1)
    return np.divide(1, given, out=np.full_like(given, np.inf), where=given > 0)
