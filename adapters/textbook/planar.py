"""Planar chains by Newton and Euler in Cartesian vectors, with no six-vector anywhere.

Every axis is normal to the plane, joint angles turn counterclockwise and are relative; at zero all links lie along +x.
All vectors are in the axes of the plane. Massless rods, point masses and links without length are allowed.

Outward from A_1 = -g:    A_Ci = A_i + alpha_i c_i e_i' - omega_i^2 c_i e_i,   the same with L_i for A_{i+1}
inward from f_{n+1}:      f_i = f_{i+1} + m_i A_Ci
                          mu_i = mu_{i+1} + I_i alpha_i + c_i e_i x m_i A_Ci + L_i e_i x f_{i+1}

where f_{n+1} is the force of the tip on its surroundings, plus what a point mass at the tip asks for.

Source: Luh, Walker and Paul 1980, On-line computational scheme for mechanical manipulators; written for the plane.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...harness.errors import TreeError
from ...harness.joint import Floats, frozen
from .inputs import agree, end_in

if TYPE_CHECKING:
    from ...harness.spatial import Array


def _downward() -> Floats:
    return np.array([0.0, -9.81])


@dataclass(frozen=True, eq=False)
class PlanarChain:
    """Links in a row, n of them.

    Attributes:
        lengths: (n,) [m] from joint to joint.
        masses: (n,) [kg]; zero for a massless rod.
        centres: (n,) [m] from the joint to the centre of mass, along the link.
        moments: (n,) [kg m^2] about the centre of mass; zero for a point mass.
        tip_mass: [kg] a point mass at the end of the last link.
        gravity: (2,) [m/s^2] in the axes of the plane.

    Raises:
        TreeError: no link, a number that is not finite, a negative length, mass or moment; all faults at once.
        ShapeError: one array is as long as no other.
    """

    lengths: Floats
    masses: Floats
    centres: Floats
    moments: Floats
    tip_mass: float = 0.0
    gravity: Floats = field(default_factory=_downward)

    def __post_init__(self) -> None:
        n = np.size(self.lengths)
        for name in ("lengths", "masses", "centres", "moments"):
            object.__setattr__(self, name, frozen(getattr(self, name), (n,), f"{name} of a planar chain"))
        object.__setattr__(self, "gravity", frozen(self.gravity, (2,), "gravity of a planar chain"))
        object.__setattr__(self, "tip_mass", float(self.tip_mass))
        faults = [] if n else ["it has no link"]
        for name in ("lengths", "masses", "centres", "moments", "tip_mass", "gravity"):
            value = np.asarray(getattr(self, name))
            if not np.isfinite(value).all():
                faults.append(f"{name} are not finite: {value}")
            elif name not in ("centres", "gravity") and (value < 0).any():
                faults.append(f"{name} are negative: {value}")
        if faults:
            raise TreeError("planar chain: " + "; ".join(faults))

    @property
    def n(self) -> int:
        """Number of links, which is the number of joints."""
        return len(self.lengths)

    @property
    def told(self) -> str:
        """What messages call it."""
        return f"a planar chain of {self.n} links"


def uniform_rods(lengths: Floats, masses: Floats) -> PlanarChain:
    """Return slender uniform rods: centres halfway, moments m L^2 / 12.

    Args:
        lengths: (n,) [m].
        masses: (n,) [kg].

    Raises:
        ShapeError: they are not as many.
    """
    lengths, masses = np.asarray(lengths, float), np.asarray(masses, float)
    agree("a planar chain", lengths=(lengths, "n"), masses=(masses, "n"))
    return PlanarChain(lengths, masses, lengths / 2, masses * lengths**2 / 12)


@dataclass(frozen=True, eq=False)
class PlanarMotion:
    """What the outward pass finds; accelerations hold -g, as if the base were accelerated upward.

    Attributes:
        along: (..., n, 2) unit vector e_i of every link.
        omega: (..., n) [rad/s].
        alpha: (..., n) [rad/s^2].
        joints: (..., n + 1, 2) [m/s^2] acceleration A_i of every joint, the tip's last.
        euler: (..., n, 2) [m/s^2] tangential part at the centre of mass, alpha_i c_i e_i'.
        centripetal: (..., n, 2) [m/s^2] part towards the axis, -omega_i^2 c_i e_i.
        centres: (..., n, 2) [m/s^2] acceleration of the centres of mass, the sum of the three.
    """

    along: Array
    omega: Array
    alpha: Array
    joints: Array
    euler: Array
    centripetal: Array
    centres: Array


@dataclass(frozen=True, eq=False)
class PlanarForces:
    """What the inward pass finds.

    Attributes:
        tau: (..., n) [N m] joint efforts, which are the moments through the joints.
        forces: (..., n + 1, 2) [N] force of link i - 1 on link i through joint i, and last what the tip hands on.
    """

    tau: Array
    forces: Array


def outward(chain: PlanarChain, q: Array, v: Array, a: Array) -> PlanarMotion:
    """Propagate rates and accelerations from the base to the tip.

    Args:
        chain: the links.
        q: (..., n) [rad] relative joint angles.
        v: (..., n) [rad/s].
        a: (..., n) [rad/s^2].

    Raises:
        ShapeError: an array has another number of joints.
    """
    end_in(chain.told, q=(q, chain.n), v=(v, chain.n), a=(a, chain.n))
    theta, omega, alpha = q[..., 0], v[..., 0], a[..., 0]
    A = -chain.gravity + np.zeros_like(theta)[..., None]
    joints, omegas, alphas = [A], [omega], [alpha]
    along: list[Array] = []
    euler: list[Array] = []
    centripetal: list[Array] = []
    centres: list[Array] = []
    for i in range(chain.n):
        if i:
            theta, omega, alpha = theta + q[..., i], omega + v[..., i], alpha + a[..., i]
            omegas.append(omega)
            alphas.append(alpha)
        c, s = np.cos(theta), np.sin(theta)
        e, across = np.stack([c, s], axis=-1), np.stack([-s, c], axis=-1)
        tangential, inward_ = alpha[..., None] * across, -(omega * omega)[..., None] * e
        along.append(e)
        euler.append(chain.centres[i] * tangential)
        centripetal.append(chain.centres[i] * inward_)
        centres.append(joints[-1] + euler[-1] + centripetal[-1])
        joints.append(joints[-1] + chain.lengths[i] * (tangential + inward_))
    vectors = (np.stack(x, axis=-2) for x in (joints, euler, centripetal, centres))
    return PlanarMotion(np.stack(along, -2), np.stack(omegas, -1), np.stack(alphas, -1), *vectors)


def inward(chain: PlanarChain, motion: PlanarMotion, tip_force: Array | None = None) -> PlanarForces:
    """Collect forces and moments from the tip to the base.

    Args:
        chain: the links.
        motion: what `outward` returned.
        tip_force: (..., 2) [N] of the tip on its surroundings, in the axes of the plane; none by default.

    Raises:
        ShapeError: the force is no vector of the plane.
    """
    end_in("a planar force", tip_force=(tip_force, 2), tip=(motion.joints[..., -1, :], 2))
    f = chain.tip_mass * motion.joints[..., -1, :]
    if tip_force is not None:
        f = f + tip_force
    forces = [f]
    moments: list[Array] = []
    mu = None
    for i in reversed(range(chain.n)):
        e, own = motion.along[..., i, :], chain.masses[i] * motion.centres[..., i, :]
        turning = chain.moments[i] * motion.alpha[..., i]
        turning = turning + chain.centres[i] * cross(e, own) + chain.lengths[i] * cross(e, forces[-1])
        mu = turning if mu is None else mu + turning
        moments.append(mu)
        forces.append(forces[-1] + own)
    return PlanarForces(np.stack(moments[::-1], axis=-1), np.stack(forces[::-1], axis=-2))


def inverse_dynamics(chain: PlanarChain, q: Array, v: Array, a: Array, tip_force: Array | None = None) -> Array:
    """Return the joint efforts tau (..., n) [N m] by one outward and one inward pass; arguments as there."""
    return inward(chain, outward(chain, q, v, a), tip_force).tau


def positions(chain: PlanarChain, q: Array) -> tuple[Array, Array]:
    """Return where joints and tip (..., n + 1, 2) and the centres of mass (..., n, 2) are, in metres from joint 1."""
    end_in(chain.told, q=(q, chain.n))
    theta = np.cumsum(q, axis=-1)
    e = np.stack([np.cos(theta), np.sin(theta)], axis=-1)
    joints = np.cumsum(np.concatenate([0 * e[..., :1, :], chain.lengths[:, None] * e], axis=-2), axis=-2)
    return joints, joints[..., :-1, :] + chain.centres[:, None] * e


def kinetic_energy(chain: PlanarChain, q: Array, v: Array) -> Array:
    """Return sum m |v_c|^2 / 2 + I omega^2 / 2, tip mass included, (...) [J]."""
    end_in(chain.told, q=(q, chain.n), v=(v, chain.n))
    theta, omega = np.cumsum(q, axis=-1), np.cumsum(v, axis=-1)
    turning = omega[..., None] * np.stack([-np.sin(theta), np.cos(theta)], axis=-1)
    ends = np.cumsum(chain.lengths[:, None] * turning, axis=-2)
    centres = ends + (chain.centres - chain.lengths)[:, None] * turning
    links = (chain.masses * (centres**2).sum(-1) + chain.moments * omega**2).sum(-1)
    return (links + chain.tip_mass * (ends[..., -1, :] ** 2).sum(-1)) / 2


def potential_energy(chain: PlanarChain, q: Array) -> Array:
    """Return -sum m g.c, tip mass included, zero at the height of joint 1, (...) [J]."""
    joints, centres = positions(chain, q)
    moment = (chain.masses[:, None] * centres).sum(-2) + chain.tip_mass * joints[..., -1, :]
    return -(moment @ chain.gravity)


def cross(a: Array, b: Array) -> Array:
    """Return the planar cross product a_x b_y - a_y b_x, (...), of (..., 2)."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
