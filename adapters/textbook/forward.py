"""Forward dynamics from inverse dynamics: columns of M by unit accelerations, then a solve.

    M e_j = ID(q, v, e_j) - ID(q, v, 0),    M a = tau - ID(q, v, 0)

Beside it stand composite rigid bodies with the same solve; the articulated bodies of the reference need no M at all.
Inverse dynamics is any function of (q, v, a): a planar recursion, a session of any engine, code of one's own. Loads
that it holds must be the same in every call, and so must q and v.

Source: Walker and Orin 1982, Efficient dynamic computer simulation of robotic mechanisms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...harness.linear import solve
from .inputs import agree

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...harness.spatial import Array

    InverseDynamics: TypeAlias = Callable[[Array, Array, Array], Array]


def columns(inverse_dynamics: InverseDynamics, q: Array, v: Array) -> tuple[Array, Array]:
    """Return M (N, nv, nv) and the bias (N, nv) from nv + 1 calls of inverse dynamics at one frozen state.

    Args:
        inverse_dynamics: (q, v, a) to tau (N, nv).
        q: (N, nq).
        v: (N, nv); M does not depend on it.
    """
    bias = inverse_dynamics(q, v, np.zeros_like(v))
    agree("inverse dynamics", v=(v, "N", "nv"), tau=(bias, "N", "nv"))
    units = np.eye(v.shape[-1], dtype=v.dtype)
    responses = [inverse_dynamics(q, v, np.broadcast_to(unit, v.shape)) - bias for unit in units]
    return np.stack(responses, axis=-1), bias


def columns_without_bias(inverse_dynamics: InverseDynamics, q: Array, nv: int) -> Array:
    """Return M (N, nv, nv) from nv calls at rest, of inverse dynamics without gravity and loads, whose bias is zero.

    Args:
        inverse_dynamics: (q, v, a) to tau (N, nv), with nothing that acts at rest.
        q: (N, nq).
        nv: number of degrees of freedom.
    """
    rest = np.zeros((len(q), nv), q.dtype)
    units = np.eye(nv, dtype=q.dtype)
    return np.stack([inverse_dynamics(q, rest, np.broadcast_to(unit, rest.shape)) for unit in units], axis=-1)


def walker_orin(inverse_dynamics: InverseDynamics, q: Array, v: Array, tau: Array) -> Array:
    """Return the acceleration (N, nv) from nv + 1 calls of inverse dynamics and one solve.

    Where M is singular, there are infinities or NaN.

    Args:
        inverse_dynamics: (q, v, a) to tau (N, nv), with everything that acts on the bodies.
        q: (N, nq).
        v: (N, nv).
        tau: (N, nv) applied joint efforts.
    """
    agree("forward dynamics", v=(v, "N", "nv"), tau=(tau, "N", "nv"))
    M, bias = columns(inverse_dynamics, q, v)
    return solve(M, tau - bias)


def composite_solve(
    mass_matrix: Callable[[Array], Array], inverse_dynamics: InverseDynamics, q: Array, v: Array, tau: Array
) -> Array:
    """Return the acceleration (N, nv) from M, one call of inverse dynamics and one solve.

    Where M is singular, there are infinities or NaN.

    Args:
        mass_matrix: q to M (N, nv, nv), by composite rigid bodies or otherwise.
        inverse_dynamics: (q, v, a) to tau (N, nv), with everything that acts on the bodies.
        q: (N, nq).
        v: (N, nv).
        tau: (N, nv) applied joint efforts.
    """
    agree("forward dynamics", v=(v, "N", "nv"), tau=(tau, "N", "nv"))
    return solve(mass_matrix(q), tau - inverse_dynamics(q, v, np.zeros_like(v)))
