"""Forward dynamics of a tree under bilateral constraints, by two routes, with every reaction that is not unique named.

With r = tau + sum J_i^T f_i - bias and the acceleration gamma = -Jdot v that the rows ask for,

    KKT system          [M -J^T] [a     ]   [r    ]
                        [J   R ] [lambda] = [gamma]
    constraint space    (W + R) lambda = gamma - J M^-1 r,  W = J M^-1 J^T,   M a = r + J^T lambda

R = 0 for rigid constraints; soft ones, MuJoCo's, give way by R lambda. Redundant rows make W singular: the acceleration
is unique all the same, and so is J^T lambda, while single reactions are not. The smallest reactions are returned then,
in units of `Rows.magnitude`, with which of them others could replace.

A state must satisfy its constraints: positions and velocities that do not are refused with their residual, and so are
rows that ask for accelerations which nothing has. Baumgarte's stabilisation,

    gamma = -Jdot v - velocity_gain J v - position_gain phi,

holds the drift of an integrator down; it makes no state consistent, and its reactions are not those of the mechanism.

Source: Featherstone 2008, Rigid Body Dynamics Algorithms, chapter 8; Baumgarte 1972, Stabilization of constraints and
integrals of motion in dynamical systems.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from ...harness.errors import RequestError, ShapeError
from ..reference import Reference
from .constraints import rows_of
from .inputs import agree, finite, moving

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...harness.spatial import Array
    from ...harness.tree import Tree
    from .constraints import Rows

    _Solved: TypeAlias = tuple[Array, Array, NDArray[np.bool_], int]

# Of positions [m | rad], velocities and accelerations of the rows, over 1 and what they are the difference of.
CONSISTENT: Final = 1e-8
RANK: Final = 1e-9  # of the largest singular value of the scaled rows: what is smaller moves nothing
OPEN: Final = 1e-14  # inverse condition of the KKT system: what is below has no one solution


class Inconsistent(RequestError):
    """A state or motion that does not satisfy the constraints.

    Attributes:
        what: "position", "velocity" or "acceleration".
        residual: (N, m) of the rows.
        names: (m,) of the rows.
    """

    def __init__(self, what: str, residual: Array, names: tuple[str, ...], allowed: Array) -> None:
        state, row = np.unravel_index(np.argmax(np.abs(residual) / allowed), residual.shape)
        super().__init__(
            f"the {what} of state {state} does not satisfy the constraints: "
            f"{names[row]!r} is off by {residual[state, row]:.3g}, allowed is {allowed[state, row]:.3g}"
        )
        self.what, self.residual, self.names = what, residual, names


@dataclass(frozen=True, slots=True)
class Baumgarte:
    """Gains of the stabilisation.

    Attributes:
        position_gain: [1/s^2].
        velocity_gain: [1/s].

    Raises:
        RequestError: one of them is negative, or no number.
    """

    position_gain: float = 0.0
    velocity_gain: float = 0.0

    def __post_init__(self) -> None:
        if not (0 <= self.position_gain < np.inf and 0 <= self.velocity_gain < np.inf):
            raise RequestError(f"{self}: a gain that is negative or no number drives positions apart")

    @classmethod
    def of_time(cls, time_constant: float, damping_ratio: float = 1.0) -> Baumgarte:
        """Return the gains of e'' + 2 / T e' + e / (T z)^2 = 0, critically damped at z = 1.

        Args:
            time_constant: [s] T, positive.
            damping_ratio: z, positive.

        Raises:
            RequestError: one of them is not positive.
        """
        if not (time_constant > 0 and damping_ratio > 0):
            raise RequestError(f"time constant {time_constant:g} s, damping ratio {damping_ratio:g}: must be positive")
        return cls(1 / (time_constant * damping_ratio) ** 2, 2 / time_constant)


@dataclass(frozen=True, eq=False)
class Constrained:
    """Motion under constraints at N states.

    Attributes:
        a: (N, nv) accelerations.
        reactions: (N, m) lambda; where they are not unique, the smallest.
        unique: (N, m) whether each reaction has one value only.
        rank: (N,) of the rows; m - rank of them are redundant.
        residual: (N, m) J a + R lambda - gamma.
        rows: that hold.
    """

    a: Array
    reactions: Array
    unique: NDArray[np.bool_]
    rank: NDArray[np.int_]
    residual: Array
    rows: Rows

    def power(self, v: Array) -> Array:
        """Return lambda . J v (N,) [W], what the constraints give: nothing, unless their support moves."""
        return (self.reactions * self.rows.velocity(v)).sum(-1)


def constrained_dynamics(
    tree: Tree,
    q: Array,
    v: Array,
    tau: Array,
    wrenches: Array | None = None,
    *,
    route: str = "constraint space",
    support: tuple[Array, Array] | None = None,
    stabilisation: Baumgarte | None = None,
    compliance: Array | float = 0.0,
    tolerance: float = CONSISTENT,
) -> Constrained:
    """Return the acceleration and the reactions of the closures of `tree`.

    Args:
        tree: with closures; those that are switched off hold nothing.
        q: (N, nq).
        v: (N, nv).
        tau: (N, nv) [N m | N] applied joint efforts.
        wrenches: (N, nb, 6) on the bodies, moment first, in body axes.
        route: "constraint space" or "KKT".
        support: velocity and acceleration (N, m) that the rows shall have, of a support that moves; zero by default.
        stabilisation: of an integration; none by default.
        compliance: (m,) or (N, m) R, not negative; 0 by default.
        tolerance: of positions and velocities of the rows; inf where an integration has drifted.

    Raises:
        Inconsistent: positions, velocities or accelerations cannot satisfy the constraints.
        ShapeError: an array has another number of coordinates, rows or states.
        RequestError: an unknown route; a number that is none, a compliance below zero; or M, or the KKT system, leaves
            the acceleration open.
    """
    q, v, tau = (np.asarray(x, np.float64) for x in (q, v, tau))
    rows = rows_of(tree, q, v)
    none = np.zeros(rows.position.shape)
    speed, acceleration = (none, none) if support is None else support
    agree(repr(tree.name), v=(v, "N", "nv"), tau=(tau, "N", "nv"))
    agree("a moving support", velocity=(speed, *none.shape), acceleration=(acceleration, *none.shape))
    finite(repr(tree.name), q=q, v=v, tau=tau, support=support)
    R = _compliance(compliance, none.shape)
    require_state(rows, v, speed, tolerance)
    gamma = acceleration - rows.bias
    if stabilisation is not None:
        gamma = gamma - stabilisation.velocity_gain * (rows.velocity(v) - speed)
        gamma = gamma - stabilisation.position_gain * rows.position
    reference = Reference(tree)
    M, r = reference.mass_matrix(q), tau - reference.inverse_dynamics(q, v, np.zeros_like(v), wrenches)
    routes = {"constraint space": _by_constraint_space, "KKT": _by_kkt}
    if route not in routes:
        raise RequestError(f"route {route!r} is unknown; known are {', '.join(routes)}")
    scale = row_scale(rows, M)
    found = Constrained(np.zeros(v.shape), none.copy(), np.zeros(none.shape, bool), np.zeros(len(q), int), none, rows)
    for k, given in enumerate(zip(M, rows.J, r, gamma, R, scale, strict=True)):
        found.a[k], found.reactions[k], found.unique[k], found.rank[k] = routes[route](k, *given)
    residual = rows.velocity(found.a) + R * found.reactions - gamma
    size = np.abs(gamma) + (rows.magnitude * np.abs(found.a)[:, None]).sum(-1) + np.abs(R * found.reactions)
    _require("acceleration", residual, rows, CONSISTENT * (1 + size))
    return Constrained(found.a, found.reactions, found.unique, found.rank, residual, rows)


def _compliance(given: Array | float, shape: tuple[int, ...]) -> Array:
    """Return R (N, m)."""
    R = np.asarray(given, np.float64)
    if R.shape not in ((), shape[1:], shape):
        raise ShapeError(f"compliance has shape {R.shape}; needed: one number, {shape[1:]} or {shape}")
    if not ((R >= 0) & (np.inf > R)).all():
        raise RequestError("compliance is negative, infinite or no number")
    return np.broadcast_to(R, shape)


def require_state(rows: Rows, v: Array, speed: Array | float = 0.0, tolerance: float = CONSISTENT) -> None:
    """Pass when positions and velocities satisfy the rows.

    Args:
        rows: at the state.
        v: (N, nv).
        speed: (N, m) J v of a support that moves.
        tolerance: of positions [m | rad], and of velocities over 1 and what they are the difference of.

    Raises:
        Inconsistent: they do not.
    """
    _require("position", rows.position, rows, np.full_like(rows.position, tolerance))
    allowed = tolerance * (1 + (rows.magnitude * np.abs(v)[:, None]).sum(-1))
    _require("velocity", rows.velocity(v) - speed, rows, allowed)


def require_motion(rows: Rows, a: Array, acceleration: Array | float = 0.0, tolerance: float = CONSISTENT) -> None:
    """Pass when an acceleration a (N, nv) satisfies J a + Jdot v = `acceleration`, zero by default.

    Raises:
        Inconsistent: it does not.
    """
    size = np.abs(rows.bias) + (rows.magnitude * np.abs(a)[:, None]).sum(-1)
    _require("acceleration", rows.acceleration(a) - acceleration, rows, tolerance * (1 + size))


def _require(what: str, residual: Array, rows: Rows, allowed: Array) -> None:
    # Also what is no number at all is refused.
    if not (np.abs(residual) <= allowed).all():
        raise Inconsistent(what, residual, rows.names, allowed)


def row_scale(rows: Rows, M: Array) -> Array:
    """Return (N, m) the size that a row of J M^-1/2 would have without its cancellations; 1 where there is none."""
    diagonal = np.diagonal(M, axis1=-2, axis2=-1)
    inverse = 1 / np.where(diagonal > 0, diagonal, 1)
    scale = np.sqrt((rows.magnitude**2 * inverse[:, None]).sum(-1))
    return np.where(scale > 0, scale, 1)


def constraint_matrix(M: Array, J: Array) -> Array:
    """Return W = J M^-1 J^T (N, m, m), for M (N, nv, nv) positive definite and J (N, m, nv).

    Raises:
        RequestError: M is singular.
    """
    return J @ np.linalg.solve(moving("the mechanism", M), J.swapaxes(-1, -2))


def independent(A: Array) -> tuple[Array, Array, Array]:
    """Return the combinations of the rows of A (m, n) that are independent, their sizes, and those that are nothing.

    Returns:
        U (m, rank) orthonormal, s (rank,) singular values, and a basis (m, m - rank) of the rest.
    """
    U, s, _ = np.linalg.svd(A)
    rank = int((s > RANK * s.max(initial=0)).sum())
    return U[:, :rank], s[:rank], U[:, rank:]


def _by_constraint_space(k: int, M: Array, J: Array, r: Array, gamma: Array, R: Array, scale: Array) -> _Solved:
    """Return a, lambda, which of lambda are unique, and the rank of the rows, at one state."""
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        raise RequestError(
            f"the mass matrix of state {k} is not positive definite: some joint moves no inertia; "
            "the KKT route needs inertia only where the constraints let it move"
        ) from None
    # Rows over their scale: metres and radians are compared by what they move.
    A = np.linalg.solve(L, J.T).T / scale[:, None]
    free = np.linalg.solve(L, r)
    # W + R = B B^T: the singular values of B are twice as far above rounding as those of W.
    U, s, nothing = independent(np.concatenate([A, np.diag(np.sqrt(R) / scale)], axis=1))
    scaled = U @ (U.T @ (gamma / scale - A @ free) / s**2)
    a = np.linalg.solve(L.T, free + A.T @ scaled)
    return a, scaled / scale, _unique(nothing), len(independent(A)[1])


def _by_kkt(k: int, M: Array, J: Array, r: Array, gamma: Array, R: Array, scale: Array) -> _Solved:
    """Return the same from the whole system, which needs no inverse of M."""
    diagonal = np.diagonal(M)
    unit = np.sqrt(np.where(diagonal > 0, diagonal, 1))
    A = J / unit / scale[:, None]
    U, _, nothing = independent(np.concatenate([A, np.diag(np.sqrt(R) / scale)], axis=1))
    compliance = U.T @ np.diag(R / scale**2) @ U
    K = np.block([[M / unit / unit[:, None], -A.T @ U], [U.T @ A, compliance]])
    if np.linalg.cond(K) > 1 / OPEN:
        raise RequestError(f"the acceleration of state {k} is open: some joint moves no inertia, and nothing holds it")
    x = np.linalg.solve(K, np.concatenate([r / unit, U.T @ (gamma / scale)]))
    return x[: len(M)] / unit, U @ x[len(M) :] / scale, _unique(nothing), len(independent(A)[1])


def _unique(nothing: Array) -> NDArray[np.bool_]:
    """Return whether a row is in no combination of rows that is nothing."""
    return np.asarray(np.abs(nothing).max(axis=1, initial=0) < np.sqrt(RANK))
