"""Symmetric systems in any float type: numpy's solvers take float64 alone, and pivots are wanted for themselves."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .spatial import Array


def ldl(M: Array) -> tuple[Array, Array]:
    """Factor M = L diag(d) L^T without pivoting, which a positive definite M does not need.

    Args:
        M: (..., n, n) symmetric; only its lower triangle is read.

    Returns:
        L (..., n, n) unit lower triangular, and d (..., n); a zero pivot leaves infinities or NaN behind it.
    """
    n = M.shape[-1]
    A, L, d = M.copy(), np.zeros_like(M), np.zeros(M.shape[:-1], M.dtype)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for k in range(n):
            d[..., k] = A[..., k, k]
            L[..., k:, k] = A[..., k:, k] / d[..., k, None]
            column = L[..., k + 1 :, k]
            A[..., k + 1 :, k + 1 :] -= column[..., :, None] * (column * d[..., k, None])[..., None, :]
    return L, d


def solve(M: Array, b: Array) -> Array:
    """Return x with M x = b, by `ldl`; infinities or NaN where M is singular.

    Args:
        M: (..., n, n) symmetric.
        b: (..., n).
    """
    L, d = ldl(M)
    x = b.astype(M.dtype, copy=True)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for k in range(x.shape[-1]):
            x[..., k] -= (L[..., k, :k] * x[..., :k]).sum(-1)
        x = x / d
        for k in reversed(range(x.shape[-1])):
            x[..., k] -= (L[..., k + 1 :, k] * x[..., k + 1 :]).sum(-1)
    return x


def scaled_pivots(M: Array) -> Array:
    """Return the pivots of M scaled to unit diagonal, (..., n): how far M is from singular, whatever the units.

    A dof whose diagonal entry is not positive has pivot 0.
    """
    diagonal = np.diagonal(M, axis1=-2, axis2=-1)
    root = np.sqrt(np.where(diagonal > 0, diagonal, np.inf))
    return ldl(M / root[..., :, None] / root[..., None, :])[1]


def solve_general(M: Array, b: Array) -> Array:
    """Return x with M x = b by elimination with pivots, for M of no known sign; NaN where M is singular.

    Args:
        M: (N, n, n).
        b: (N, n).
    """
    x = np.full_like(b, np.nan)
    for k, (matrix, right) in enumerate(zip(M, b, strict=True)):
        with suppress(np.linalg.LinAlgError):
            x[k] = np.linalg.solve(matrix, right)
    return x
