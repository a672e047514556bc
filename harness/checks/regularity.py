"""Whether a mass matrix can be inverted, and what inverting it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..linear import scaled_pivots
from .tolerances import PIVOT

if TYPE_CHECKING:
    from ..spatial import Array
    from ..tree import Floats

Mask = NDArray[np.bool_]


def regular(M: Array) -> Mask:
    """Return where every pivot of M (N, n, n), scaled to unit diagonal, is at least `PIVOT` (N,).

    Float64 decides where its pivots are far above its own rounding, n eps; longdouble decides the rest.
    """
    found = least_pivots(M.astype(np.float64)) >= 1e3 * PIVOT
    doubtful = ~found
    if doubtful.any():
        with np.errstate(all="ignore"):
            found[doubtful] = scaled_pivots(M[doubtful]).min(-1, initial=np.inf) >= PIVOT
    return found


def least_pivots(M: Floats) -> Floats:
    """Return the least pivot of each M, scaled to unit diagonal (N,); 0 or less where M is not positive definite."""
    diagonal = np.diagonal(M, axis1=-2, axis2=-1)
    usable = np.isfinite(M).all((-2, -1)) & (diagonal > 0).all(-1)
    result = np.zeros(len(M))
    if usable.any():
        root = np.sqrt(diagonal[usable])
        scaled = M[usable] / root[:, :, None] / root[:, None, :]
        try:
            result[usable] = _pivots(scaled)
        except np.linalg.LinAlgError:  # one bad state ends the whole stack
            result[usable] = [_pivots_or_zero(one) for one in scaled]
    return result


def _pivots(M: Floats) -> Floats:
    factors = np.linalg.cholesky(M)
    return (np.diagonal(factors, axis1=-2, axis2=-1) ** 2).min(-1, initial=1)


def _pivots_or_zero(M: Floats) -> float:
    try:
        return float(_pivots(M))
    except np.linalg.LinAlgError:
        return 0.0


def condition(M: Floats) -> Floats:
    """Return the ratio of the extreme eigenvalues of each M (N, n, n), 1 without dofs."""
    values = np.abs(np.linalg.eigvalsh(M)) if M.size else np.ones((len(M), 1))
    return values.max(-1) / np.maximum(values.min(-1), np.finfo(np.float64).tiny)
