"""Planar chains by Lagrange, twice: energies by finite differences, and Jacobians with Christoffel symbols.

Nothing here is shared with the recursion but the numbers of the links. Both routes give the parts of

    tau = M a + C v + G + J_tip^T F_tip

and cost far more than the recursion: the Christoffel symbols take n^4 operations.

Source: Lynch and Park 2017, Modern Robotics, chapter 8.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...harness.errors import RequestError
from .inputs import end_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...harness.spatial import Array
    from .planar import PlanarChain


@dataclass(frozen=True, eq=False)
class Lagrangian:
    """The terms of Lagrange's equations at given states.

    Attributes:
        M: (..., n, n) [kg m^2] mass matrix.
        velocity: (..., n) [N m] velocity products, C v.
        gravity: (..., n) [N m] gradient of the potential.
        J_tip: (..., 2, n) [m] Jacobian of the tip.
    """

    M: Array
    velocity: Array
    gravity: Array
    J_tip: Array

    def efforts(self, a: Array, tip_force: Array | None = None) -> Array:
        """Return tau (..., n) [N m].

        Args:
            a: (..., n) [rad/s^2].
            tip_force: (..., 2) [N] of the tip on its surroundings; none by default.

        Raises:
            ShapeError: an array has another number of joints, or the force is no vector of the plane.
        """
        n = self.M.shape[-1]
        end_in("Lagrange's equation", a=(a, n), tip_force=(tip_force, 2), gravity=(self.gravity, n))
        tau = (self.M @ a[..., None])[..., 0] + self.velocity + self.gravity
        return tau if tip_force is None else tau + (tip_force[..., None, :] @ self.J_tip)[..., 0, :]


def by_differences(chain: PlanarChain, q: Array, v: Array, step: float = 5e-3) -> Lagrangian:
    """Return the terms from positions and energies alone, by fourth-order central differences.

    J = dp/dq,  M = sum m J^T J + I J_w^T J_w,  C v = d(M v)/dt - dK/dq along q' = v,  G = dU/dq.

    The error falls with the fourth power of the step, until rounding, which grows with its inverse square, meets it.

    Args:
        chain: the links.
        q: (..., n) [rad].
        v: (..., n) [rad/s].
        step: [rad] of every difference.

    Raises:
        ShapeError: an array has another number of joints.
        RequestError: the step is not positive.
    """
    end_in(chain.told, q=(q, chain.n), v=(v, chain.n))
    if not 0 < step < np.inf:
        raise RequestError(f"step of the differences {step:g} rad; must be positive")
    masses = np.append(chain.masses, chain.tip_mass)
    spin = np.tril(np.ones((chain.n, chain.n)))
    turning = (spin.T * chain.moments) @ spin

    def mass_matrix(x: Array) -> Array:
        J = _gradient(lambda y: _points(chain, y), x, step)
        flat = J.reshape(*J.shape[:-3], 2 * len(masses), chain.n)
        return flat.swapaxes(-1, -2) @ (np.repeat(masses, 2)[:, None] * flat) + turning

    def momentum(x: Array, rate: Array) -> Array:
        return (mass_matrix(x) @ rate[..., None])[..., 0]

    def kinetic(x: Array) -> Array:
        rate = np.broadcast_to(v[..., None, :], x.shape)
        return (momentum(x, rate) * rate).sum(-1) / 2

    def potential(x: Array) -> Array:
        return -((masses[:, None] * _points(chain, x)).sum(-2) @ chain.gravity)

    change = _difference([momentum(q + k * step * v, v) for k in (-2, -1, 1, 2)], step)
    J_tip = _gradient(lambda y: _points(chain, y)[..., -1, :], q, step)
    return Lagrangian(
        mass_matrix(q),
        change - _gradient(kinetic, q, step),
        _gradient(potential, q, step),
        J_tip,
    )


def by_christoffel(chain: PlanarChain, q: Array, v: Array) -> Lagrangian:
    """Return the terms from Jacobians, the derivatives of M and Christoffel symbols, exact to rounding.

    Args:
        chain: the links.
        q: (..., n) [rad].
        v: (..., n) [rad/s].

    Raises:
        ShapeError: an array has another number of joints.
    """
    end_in(chain.told, q=(q, chain.n), v=(v, chain.n))
    J, dJ, masses = _jacobians(chain, q)
    dM = _mass_matrix_derivative(J, dJ, masses)
    C = coriolis_matrix(dM, v)
    weights = (masses[:, None, None] * J).sum(-3)
    return Lagrangian(
        _mass_matrix(chain, J, masses),
        (C @ v[..., None])[..., 0],
        -(chain.gravity @ weights),
        J[..., -1, :, :],
    )


def coriolis_matrix(dM: Array, v: Array) -> Array:
    """Return C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k / 2, (..., n, n).

    Args:
        dM: (..., n, n, n) derivative of M, its last axis that of the coordinate.
        v: (..., n).
    """
    end_in("a Coriolis matrix", v=(v, dM.shape[-1]))
    symbols = (dM + dM.swapaxes(-1, -2) - np.moveaxis(dM, -1, -3)) / 2
    return (symbols @ v[..., None, :, None])[..., 0]


def mass_matrix(chain: PlanarChain, q: Array) -> Array:
    """Return M from the Jacobians alone, (..., n, n) [kg m^2]."""
    end_in(chain.told, q=(q, chain.n))
    J, _, masses = _jacobians(chain, q)
    return _mass_matrix(chain, J, masses)


def mass_matrix_derivative(chain: PlanarChain, q: Array) -> Array:
    """Return dM_ij/dq_k, (..., n, n, n) [kg m^2/rad], the last axis that of the coordinate."""
    end_in(chain.told, q=(q, chain.n))
    return _mass_matrix_derivative(*_jacobians(chain, q))


def _points(chain: PlanarChain, q: Array) -> Array:
    """Return where the masses are, links first and the tip last, (..., n + 1, 2)."""
    theta = np.cumsum(q, axis=-1)
    e = np.stack([np.cos(theta), np.sin(theta)], axis=-1)
    ends = np.cumsum(chain.lengths[:, None] * e, axis=-2)
    return np.concatenate([ends + (chain.centres - chain.lengths)[:, None] * e, ends[..., -1:, :]], axis=-2)


def _jacobians(chain: PlanarChain, q: Array) -> tuple[Array, Array, Array]:
    """Return J (..., n + 1, 2, n) of every mass, its derivative (..., n + 1, 2, n, n), and the masses (n + 1,).

    Column j of J is the arm from joint j to the mass, turned by a right angle; turning joint k after it turns that
    column by another, so the derivative is minus the arm from the later of both joints.
    """
    n = chain.n
    points = _points(chain, q)
    theta = np.cumsum(q, axis=-1)
    e = np.stack([np.cos(theta), np.sin(theta)], axis=-1)
    ends = np.cumsum(chain.lengths[:, None] * e, axis=-2)
    joints = ends - chain.lengths[:, None] * e
    moves = np.vstack([np.tril(np.ones((n, n))), np.ones(n)])
    arms = (points[..., :, None, :] - joints[..., None, :, :]) * moves[:, :, None]
    J = np.stack([-arms[..., 1], arms[..., 0]], axis=-2)
    later = np.maximum.outer(np.arange(n), np.arange(n))
    dJ = -np.moveaxis(arms, -1, -2)[..., later]
    return J, dJ, np.append(chain.masses, chain.tip_mass)


def _mass_matrix(chain: PlanarChain, J: Array, masses: Array) -> Array:
    spin = np.tril(np.ones((chain.n, chain.n)))
    flat = J.reshape(*J.shape[:-3], 2 * len(masses), chain.n)
    weighted = (masses[:, None, None] * J).reshape(flat.shape)
    return flat.swapaxes(-1, -2) @ weighted + (spin.T * chain.moments) @ spin


def _mass_matrix_derivative(J: Array, dJ: Array, masses: Array) -> Array:
    """Return sum over the masses of m (dJ^T J + J^T dJ), (..., n, n, n)."""
    n = J.shape[-1]
    weighted = (masses[:, None, None] * J).reshape(*J.shape[:-3], 2 * len(masses), n)
    slopes = dJ.reshape(*dJ.shape[:-4], 2 * len(masses), n * n)
    half = (weighted.swapaxes(-1, -2) @ slopes).reshape(*J.shape[:-3], n, n, n)
    return half + half.swapaxes(-3, -2)


def _gradient(function: Callable[[Array], Array], q: Array, step: float) -> Array:
    """Return the derivative by every coordinate, along a new last axis."""
    unit = step * np.eye(q.shape[-1])
    samples = [function(q[..., None, :] + k * unit) for k in (-2, -1, 1, 2)]
    return np.moveaxis(_difference(samples, step), q.ndim - 1, -1)


def _difference(samples: list[Array], step: float) -> Array:
    """Return the fourth-order central difference of samples at -2, -1, 1 and 2 steps."""
    first, second, third, fourth = samples
    return (first - 8 * second + 8 * third - fourth) / (12 * step)
