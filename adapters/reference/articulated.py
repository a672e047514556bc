"""Forward dynamics by the articulated-body algorithm, O(bodies), over all states at once.

Source: Featherstone 2008, Table 7.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...harness.linear import ldl
from ...harness.spatial import motion_cross
from .composite import motion_transforms

if TYPE_CHECKING:
    from ...harness.spatial import Array
    from .model import Model

Mask: TypeAlias = NDArray[np.bool_]

SINGULAR = 64  # in eps: a joint that moves no more inertia than this, of what it carries, has no acceleration


def articulated_body(
    model: Model, q: Array, v: Array, tau: Array, gravity: Array, external: dict[int, Array], reflected: Array
) -> Array:
    """Return the acceleration (nv, N); inf in every dof of a state in which some joint moves no inertia.

    Args:
        model: compiled tree.
        q: (nq, N).
        v: (nv, N).
        tau: (nv, N).
        gravity: (3,) in world axes.
        external: segment index to wrench (6, N) in segment coordinates, acting on the segment.
        reflected: (nv,) diagonal inertia of the joints.
    """
    count, segments = q.shape[1], model.segments
    Xs = motion_transforms(model, q)
    V = [np.zeros((count, 6), model.dtype)]
    c: list[Array] = [np.zeros((count, 6), model.dtype)]
    for X, s in zip(Xs[1:], segments[1:], strict=True):
        J = v[s.v].T @ s.S.T
        V.append(_apply(X, V[s.parent]) + J)
        c.append(_apply(motion_cross(V[-1]), J))
    IA: list[Array] = [np.broadcast_to(s.I, (count, 6, 6)) for s in segments]
    carried = list(IA)
    pA = [-_apply(motion_cross(Vi).swapaxes(-1, -2), Vi @ s.I) for Vi, s in zip(V, segments, strict=True)]
    for k, f in external.items():
        pA[k] = pA[k] - f.T
    U: list[Array] = [np.zeros(0)] * len(segments)
    D_inverse, u = list(U), list(U)
    regular = np.ones(count, bool)
    for k in range(len(segments) - 1, 0, -1):
        s, Xt = segments[k], Xs[k].swapaxes(-1, -2)
        U[k] = IA[k] @ s.S
        D = s.S.T @ U[k] + np.diag(reflected[s.v])
        regular &= _is_regular(D, s.S.T @ carried[k] @ s.S + np.diag(reflected[s.v]))
        D_inverse[k] = _inverse(D)
        u[k] = tau[s.v].T - pA[k] @ s.S
        if s.parent:
            gain = U[k] @ D_inverse[k]
            Ia = IA[k] - gain @ U[k].swapaxes(-1, -2)
            pa = pA[k] + _apply(Ia, c[k]) + _apply(gain, u[k])
            IA[s.parent] = IA[s.parent] + Xt @ Ia @ Xs[k]
            carried[s.parent] = carried[s.parent] + Xt @ carried[k] @ Xs[k]
            pA[s.parent] = pA[s.parent] + _apply(Xt, pa)
    return _accelerations(model, Xs, c, (U, D_inverse, u), gravity, regular)


def _accelerations(
    model: Model,
    Xs: list[Array],
    c: list[Array],
    articulated: tuple[list[Array], list[Array], list[Array]],
    gravity: Array,
    regular: Mask,
) -> Array:
    """Return the joint accelerations (nv, N) in a last outward pass."""
    U, D_inverse, u = articulated
    count = len(c[0])
    a = np.zeros((model.tree.nv, count), model.dtype)
    A = [np.concatenate([np.zeros((count, 3), model.dtype), np.tile(-gravity, (count, 1))], axis=1)]
    for k, s in enumerate(model.segments[1:], 1):
        inherited = _apply(Xs[k], A[s.parent]) + c[k]
        joint = _apply(D_inverse[k], u[k] - _apply(U[k].swapaxes(-1, -2), inherited))
        a[s.v] = joint.T
        A.append(inherited + joint @ s.S.T)
    a[:, ~regular] = np.inf
    return a


def _is_regular(D: Array, carried: Array) -> Mask:
    """Return (N,) whether every pivot of D stands above rounding of the inertia that the joint carries."""
    pivots = ldl(D)[1]
    scale = np.abs(np.diagonal(carried, axis1=-2, axis2=-1))
    # Arrays of objects hold numbers that count what is done with them, as exact as float64.
    eps = np.finfo(D.dtype if D.dtype.kind == "f" else np.float64).eps
    return np.asarray((np.abs(pivots) > SINGULAR * eps * scale).all(-1))


def _inverse(D: Array) -> Array:
    """Return the inverse of small symmetric matrices (N, k, k); 1 where it does not exist, since `regular` knows."""
    k = D.shape[-1]
    L, d = ldl(D)
    finite = (np.abs(L) < np.inf).all((-1, -2)) & (np.abs(d) < np.inf).all(-1)  # isfinite knows no arrays of objects
    safe = finite & (d != 0).all(-1)
    L, d = np.where(safe[:, None, None], L, np.eye(k, dtype=D.dtype)), np.where(safe[:, None], d, 1)
    inverse_L = np.broadcast_to(np.eye(k, dtype=D.dtype), D.shape).copy()
    for i in range(k):
        inverse_L[:, i] -= (L[:, i, :i, None] * inverse_L[:, :i]).sum(1)
    return inverse_L.swapaxes(-1, -2) @ (inverse_L / d[:, :, None])


def _apply(A: Array, x: Array) -> Array:
    """Return A x, state by state: (N, m, k), (N, k)."""
    return (A @ x[..., None])[..., 0]
