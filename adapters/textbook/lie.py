"""SE(3) as a Lie group: hat and vee, exponentials, the adjoint, and the differential of the exponential.

Twists are angular first. `Ad` is `harness.spatial.motion_transform`, `ad` is `motion_cross`. Any float type.

    Ad_T xi = (T hat(xi) T^-1) vee,  Ad_{T1 T2} = Ad_T1 Ad_T2,  d/dt Ad_T = -rate ad_A Ad_T for T = e^{-[A] angle} M
    D exp_A[H] = integral over s from 0 to 1 of e^{(1 - s) A} H e^{s A}, which is e^A H only where A and H commute

Source: Lynch and Park 2017, Modern Robotics, chapter 3; Najfeld and Havel 1995, Derivatives of the matrix exponential.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...harness.errors import RequestError, ShapeError
from ...harness.spatial import motion_cross, motion_transform, skew, transform
from .inputs import agree, end_in, finite

if TYPE_CHECKING:
    from ...harness.spatial import Array

UNIT = 1e-9  # of a squared length: screws of a model are units to rounding
TERMS = 28  # of the series of the exponential at norm 1: the next is below 1e-29


def hat(xi: Array) -> Array:
    """Return the twist matrix [[omega x, v], [0, 0]], (..., 4, 4) of (..., 6)."""
    end_in("a twist", xi=(xi, 6))
    matrix = np.zeros((*xi.shape[:-1], 4, 4), xi.dtype)
    matrix[..., :3, :3] = skew(xi[..., :3])
    matrix[..., :3, 3] = xi[..., 3:]
    return matrix


def vee(matrix: Array) -> Array:
    """Return the twist (..., 6) of a twist matrix (..., 4, 4); what is no twist in it is left out."""
    agree("a twist matrix", matrix=(matrix, *np.shape(matrix)[:-2], 4, 4))
    W, v = matrix[..., :3, :3], matrix[..., :3, 3]
    turning = (W - W.swapaxes(-1, -2)) / 2
    omega = np.stack([turning[..., 2, 1], turning[..., 0, 2], turning[..., 1, 0]], axis=-1)
    return np.concatenate([omega, v], axis=-1)


def wrench_transform(T_a_b: Array) -> Array:
    """Return X^-T = [[R, p x R], [0, R]], which maps wrenches of frame b to frame a, (..., 6, 6) of (..., 4, 4)."""
    agree("a wrench transform", T_a_b=(T_a_b, *np.shape(T_a_b)[:-2], 4, 4))
    X = motion_transform(T_a_b)
    dual = np.zeros_like(X)
    dual[..., :3, :3] = dual[..., 3:, 3:] = X[..., :3, :3]
    dual[..., :3, 3:] = X[..., 3:, :3]
    return dual


def force_cross(V: Array) -> Array:
    """Return V x* = [[omega x, v x], [0, omega x]], the dual -ad_V^T written out, (..., 6, 6) of (..., 6)."""
    end_in("a twist", V=(V, 6))
    dual = np.zeros((*V.shape[:-1], 6, 6), V.dtype)
    dual[..., :3, :3] = dual[..., 3:, 3:] = skew(V[..., :3])
    dual[..., :3, 3:] = skew(V[..., 3:])
    return dual


def screw_motion(screw: Array, q: Array) -> Array:
    """Return exp([screw] q) by the closed form of a unit screw.

    R = 1 + sin q W + (1 - cos q) W^2,  p = (1 q + (1 - cos q) W + (q - sin q) W^2) v; a pure translation is 1 + q [v].

    Args:
        screw: (6,) with |omega| = 1, or omega = 0.
        q: (...) [rad | m].

    Returns:
        (..., 4, 4).

    Raises:
        ShapeError: the screw has not six components.
        RequestError: it is no unit screw.
    """
    agree("a screw", screw=(screw, 6))
    length = float((screw[:3] ** 2).sum())
    if length and not abs(length - 1) < UNIT:
        raise RequestError(f"screw {screw} is no unit screw: its angular part has length {math.sqrt(length):g}")
    W, v = skew(screw[:3]), screw[3:]
    s, c = np.sin(q)[..., None, None], np.cos(q)[..., None, None]
    one, angle = np.eye(3, dtype=W.dtype), q[..., None, None]
    R = one + s * W + (1 - c) * (W @ W)
    p = ((one * angle + (1 - c) * W + (angle - s) * (W @ W)) @ v[:, None])[..., 0]
    return transform(R, p)


def exponential(A: Array) -> Array:
    """Return e^A of square matrices (..., k, k), by scaling, series and squaring.

    Raises:
        ShapeError: they are not square.
        RequestError: a number is none.
    """
    if np.ndim(A) < 2 or A.shape[-1] != A.shape[-2]:
        raise ShapeError(f"A has shape {np.shape(A)}; an exponential needs (..., k, k)")
    finite("an exponential", A=A)
    norm = float(np.abs(A).sum(-1).max(initial=0.0))
    halvings = max(0, math.ceil(math.log2(norm))) if norm > 1 else 0
    scaled = A / 2**halvings
    term = np.broadcast_to(np.eye(A.shape[-1], dtype=A.dtype), A.shape)
    total = term
    for k in range(1, TERMS):
        term = term @ scaled / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total


def differential(A: Array, H: Array) -> Array:
    """Return D exp_A[H], the change of e^A along H, exact to rounding.

    exp [[A, H], [0, A]] = [[e^A, D exp_A[H]], [0, e^A]]

    Args:
        A: (..., k, k).
        H: (..., k, k).

    Raises:
        ShapeError: they are not of one shape, or not square.
    """
    agree("a differential", A=(A, *np.shape(A)), H=(H, *np.shape(A)))
    k = A.shape[-1]
    zero = np.zeros_like(A)
    block = np.block([[A, H], [zero, A]])
    return exponential(block)[..., :k, k:]


def differential_by_integral(A: Array, H: Array, nodes: int = 16) -> Array:
    """Return D exp_A[H] as the integral of e^{(1 - s) A} H e^{s A}, by Gauss-Legendre quadrature.

    Args:
        A: (k, k).
        H: (k, k).
        nodes: of the quadrature; the integrand is entire, so that few suffice.

    Raises:
        ShapeError: they are no two square matrices of one size.
    """
    agree("a differential", A=(A, "k", "k"), H=(H, "k", "k"))
    places, weights = np.polynomial.legendre.leggauss(nodes)
    s = ((places + 1) / 2)[:, None, None]
    return (weights[:, None, None] / 2 * (exponential((1 - s) * A) @ H @ exponential(s * A))).sum(0)


def right_trivialised(xi: Array) -> Array:
    """Return the map eta -> (dT T^-1) vee for T = exp(hat(xi)), the integral of Ad_exp(s xi) over s from 0 to 1.

    Args:
        xi: (..., 6).

    Returns:
        (..., 6, 6); the identity at xi = 0, of lower rank where |omega| is a multiple of a whole turn.
    """
    end_in("a twist", xi=(xi, 6))
    ad = motion_cross(xi)
    block = np.zeros((*ad.shape[:-2], 12, 12), ad.dtype)
    block[..., :6, :6] = ad
    block[..., :6, 6:] = np.eye(6)
    return exponential(block)[..., :6, 6:]


def left_trivialised(xi: Array) -> Array:
    """Return the map eta -> (T^-1 dT) vee for T = exp(hat(xi)), the integral of Ad_exp(-s xi) over s; see the other."""
    return right_trivialised(-xi)
