"""Least squares: linear with a rank, and nonlinear by Levenberg and Marquardt from many starts at once.

Source: Marquardt 1963, An algorithm for least-squares estimation of nonlinear parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..tree import Floats

STEP: Final = 1e-7  # of the numeric derivative; the iteration then gains seven digits per step near a solution
CUT: Final = 1e-12  # share of the largest singular value below which a direction does not show


@dataclass(frozen=True, eq=False)
class Subspace:
    """Columns A (m, p), as far as they show: A = Q R with Q (m, r) orthonormal, R (r, p), r the rank.

    Attributes:
        Q, R: see above.
    """

    Q: Floats
    R: Floats

    @property
    def rank(self) -> int:
        """Number of directions that show."""
        return self.Q.shape[1]


def subspace(A: Floats) -> Subspace:
    """Return the subspace of columns A (m, p), whose units may differ: they are scaled before the rank is judged."""
    size = _sizes(A)
    scaled = A / np.where(size > 0, size, np.inf)
    # The columns of a tall matrix are first turned into a small square: m is a thousand, p ten.
    Q, small = np.linalg.qr(scaled)
    U, s, Vt = np.linalg.svd(small)
    rank = int((s > CUT * max(float(s.max(initial=0)), 1e-300)).sum())
    return Subspace(Q @ U[:, :rank], s[:rank, None] * Vt[:rank] * size)


def _sizes(A: Floats) -> Floats:
    """Return the norms of columns, zero for those that are rounding beside the others."""
    size = np.linalg.norm(A, axis=0)
    return np.where(size > max(CUT * float(size.max(initial=0)), 1e-150), size, 0)


def solve(A: Floats, r: Floats) -> Floats:
    """Return the x (p,) of least norm, column by column in its own unit, with the least |A x - r|."""
    size = _sizes(A)
    inverse = np.divide(1, size, out=np.zeros_like(size), where=size > 0)
    return np.asarray(np.linalg.lstsq(A * inverse, r, rcond=CUT)[0] * inverse, np.float64)


def shown(columns: Floats, count: int) -> tuple[float, ...]:
    """Return the root mean square over `count` answers of each independent direction of columns (m, p)."""
    return tuple(np.linalg.svd(columns, compute_uv=False) / np.sqrt(count)) if columns.size else ()


def descend(
    f: Callable[[Floats], Floats], starts: Floats, *, steps: int = 20, done: float = 0.0
) -> tuple[Floats, Floats]:
    """Minimise |f(x)|^2 from every start.

    Args:
        f: from x (S, p) to residuals (S, m).
        starts: (S, p), of order one in every component.
        steps: at most so many.
        done: root mean square residual at which a start has arrived.

    Returns:
        x (S, p), and the root mean square residual at each (S,).
    """
    with np.errstate(all="ignore"):  # a start that runs away is given up, by its cost
        return _descend(f, starts.copy(), steps, done)


def _descend(f: Callable[[Floats], Floats], X: Floats, steps: int, done: float) -> tuple[Floats, Floats]:
    """See `descend`; X may be overwritten."""
    F, J = _with_derivative(f, X)
    cost, damping = np.nan_to_num((F**2).mean(1), nan=np.inf), np.full(len(X), 1e-3)
    for _ in range(steps):
        A, g = np.swapaxes(J, 1, 2) @ J, (np.swapaxes(J, 1, 2) @ F[..., None])[..., 0]
        diagonal = np.einsum("sii->si", A)
        largest = diagonal.max(1, keepdims=True, initial=0)
        # A direction that hardly shows is held back too: its own curvature would let it run anywhere.
        hold = damping[:, None] * (diagonal + 1e-3 * largest) + 1e-15 * largest + 1e-300
        damped = A + np.einsum("si,ij->sij", hold, np.eye(X.shape[1]))
        trial = X - np.linalg.solve(damped, g[..., None])[..., 0]
        F_trial, J_trial = _with_derivative(f, trial)
        cost_trial = np.nan_to_num((F_trial**2).mean(1), nan=np.inf)
        better = cost_trial < cost
        stuck = ~better & (damping < 1e-10)
        gain = float(np.max(np.where(better, 1 - cost_trial / np.where(cost > 0, cost, 1), 0), initial=0))
        X, F, J = (
            np.where(better[:, None], trial, X),
            np.where(better[:, None], F_trial, F),
            np.where(better[:, None, None], J_trial, J),
        )
        cost = np.where(better, cost_trial, cost)
        damping = np.where(better, damping / 30, damping * 8)
        if (np.sqrt(cost) <= done).all() or stuck.all() or (gain < 1e-3 and not (~better & (damping < 1e3)).any()):
            break
    return X, np.sqrt(cost)


def _with_derivative(f: Callable[[Floats], Floats], X: Floats) -> tuple[Floats, Floats]:
    """Return f (S, m) and its forward differences (S, m, p), from one call."""
    count, p = X.shape
    moved = X[None] + STEP * np.eye(p)[:, None, :]
    values = f(np.concatenate([X[None], moved]).reshape(-1, p)).reshape(p + 1, count, -1)
    return values[0], np.moveaxis((values[1:] - values[0]) / STEP, 0, -1)
