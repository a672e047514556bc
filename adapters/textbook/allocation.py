"""Inverse dynamics with an actuation map: which efforts u and reactions lambda can make a prescribed motion.

    M a + bias - sum J_i^T f_i = B u + J^T lambda

The motion must satisfy the constraints first. Then there is no solution (equations that no actuator and no reaction
reaches: the wrench at a floating base), one, or many (grips and feet that share a load). Of many, the one with the
smallest efforts is returned, then the smallest reactions, with a basis of all that may be added.

Source: Featherstone 2008, Rigid Body Dynamics Algorithms, chapter 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ...harness.errors import RequestError, ShapeError
from ..reference import Reference
from .constrained import CONSISTENT, require_motion, require_state, row_scale
from .constraints import rows_of
from .inputs import agree, finite

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...harness.spatial import Array
    from ...harness.tree import Tree

RANK: Final = 1e-9  # of the largest singular value
SOLVED: Final = 1e-9  # of the largest term of the equations: a residual above it means that there is no solution


@dataclass(frozen=True, eq=False)
class Allocation:
    """Efforts and reactions at one state.

    Attributes:
        solutions: "none", "one" or "many".
        u: (nu,) efforts, the smallest; those that leave the smallest residual when there is no solution.
        reactions: (m,) lambda.
        residual: (nv,) [N m | N] what neither efforts nor reactions make.
        u_unique: (nu,) whether each effort has one value only.
        reactions_unique: (m,) the same of each reaction.
        u_null: (nu, k) what may be added to u, together with
        reactions_null: (m, k) to the reactions.
        outside: (nu,) by how much u leaves its limits, 0 inside.
    """

    solutions: str
    u: Array
    reactions: Array
    residual: Array
    u_unique: NDArray[np.bool_]
    reactions_unique: NDArray[np.bool_]
    u_null: Array
    reactions_null: Array
    outside: Array


def allocate(
    tree: Tree,
    q: Array,
    v: Array,
    a: Array,
    B: Array,
    wrenches: Array | None = None,
    limits: Array | float = np.inf,
    tolerance: float = CONSISTENT,
) -> list[Allocation]:
    """Return the allocation at each of N states.

    Args:
        tree: with its closures.
        q: (N, nq).
        v: (N, nv).
        a: (N, nv) prescribed acceleration.
        B: (nv, nu) or (N, nv, nu) joint efforts of unit actuator efforts.
        wrenches: (N, nb, 6) of the surroundings on the bodies.
        limits: (nu,) or one number, most that |u| may be; none by default.
        tolerance: of the constraints, as in `constrained_dynamics`.

    Raises:
        Inconsistent: the state or the motion does not satisfy the constraints.
        ShapeError: B has another number of rows than the tree has dofs, or an array of coordinates or states.
        RequestError: a number is none, or a limit negative.
    """
    B, limits = np.asarray(B, np.float64), np.asarray(limits, np.float64)
    if np.shape(B)[-2:-1] != (tree.nv,):
        raise ShapeError(f"B has shape {np.shape(B)}; {tree.name!r} needs ({tree.nv}, nu)")
    agree(repr(tree.name), q=(q, "N", tree.nq), v=(v, "N", tree.nv), a=(a, "N", tree.nv))
    agree(repr(tree.name), B=(B, *([len(q)] * (B.ndim == 3)), tree.nv, "nu"))
    if limits.ndim:
        agree("the limits of the efforts", limits=(limits, B.shape[-1]))
    finite(repr(tree.name), q=q, v=v, a=a, B=B, wrenches=wrenches)
    if not (limits >= 0).all():
        raise RequestError("limits of the efforts are negative, or no numbers")
    rows = rows_of(tree, q, v)
    require_state(rows, v, tolerance=tolerance)
    require_motion(rows, a, tolerance=tolerance)
    reference = Reference(tree)
    needed = reference.inverse_dynamics(q, v, a, wrenches)
    M = reference.mass_matrix(q)
    diagonal = np.diagonal(M, axis1=-2, axis2=-1)
    weight = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1))  # a joint that moves no inertia is statics alone
    maps = np.broadcast_to(B, (len(q), *B.shape[-2:]))
    states = zip(needed, maps, rows.J, weight, row_scale(rows, M), strict=True)
    return [_solved(*one, limits) for one in states]


def _solved(needed: Array, B: Array, J: Array, weight: Array, scale: Array, limits: Array | float) -> Allocation:
    """Return the allocation at one state; equations over the root of their inertia, so that units do not matter."""
    nu = B.shape[1]
    A = np.concatenate([B, J.T], axis=1)
    scaled = weight[:, None] * A
    own = np.sqrt((scaled[:, :nu] ** 2).sum(0))
    # Rows over what they are the difference of: one that is rounding must not be blown up to a direction.
    size = np.concatenate([np.where(own > 0, own, 1), scale])
    U, s, Vt = np.linalg.svd(scaled / size)
    rank = int((s > RANK * s.max(initial=0)).sum())
    x = Vt[:rank].T @ ((U.T @ (weight * needed))[:rank] / s[:rank]) / size
    null = np.linalg.qr(Vt[rank:].T / size[:, None])[0]
    # The smallest efforts first, then the smallest reactions with those efforts.
    x = x - null @ np.linalg.pinv(null[:nu], rcond=RANK) @ x[:nu]
    inner = null @ _kernel(null[:nu])
    x = x - inner @ np.linalg.pinv(inner[nu:], rcond=RANK) @ x[nu:]
    residual = needed - A @ x
    terms = weight * (np.abs(needed) + np.abs(A) @ np.abs(x))
    solvable = (np.abs(weight * residual) <= SOLVED * terms.max(initial=0)).all()
    unique = np.abs(null).max(axis=1, initial=0) < np.sqrt(RANK)
    solutions = "none" if not solvable else "many" if null.shape[1] else "one"
    outside = np.maximum(np.abs(x[:nu]) - limits, 0)
    return Allocation(solutions, x[:nu], x[nu:], residual, unique[:nu], unique[nu:], null[:nu], null[nu:], outside)


def _kernel(A: Array) -> Array:
    """Return an orthonormal basis (n, n - rank) of what A (m, n) makes nothing of, for A of size 1 at most."""
    _, s, Vt = np.linalg.svd(A)
    return Vt[int((s > RANK).sum()) :].T
