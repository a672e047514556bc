"""Where an engine has the joints of a tree, and the map between the coordinates of both.

Per joint u = T v and u' = T a + beta, with T the identity, a sign, or what the joint's own kind makes of its
coordinates; tau = T' tau_engine, M = T' M_engine T, and bias = T' (bias_engine + M_engine beta): where the tree's
acceleration is none, the engine is asked for the efforts at `beta`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .errors import ShapeError
from .spatial import rotation_about, rotation_from_quaternion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .tree import Floats, Tree

    Positions: TypeAlias = Callable[[Floats], Floats]
    Turn: TypeAlias = Callable[[Floats, Floats], tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False)
class Seat:
    """The engine's coordinates of one joint of the tree.

    Attributes:
        body: tree body that the joint carries.
        q: columns of the engine's positions, in the order in which `positions` returns them.
        v: columns of the engine's velocities, in the order of the rows of T.
        shift: engine coordinate = sign * (q - shift), without `positions`.
        sign: -1 where the engine counts the other way, for joints without `turn`.
        positions: the joint's coordinates in the tree (N, nq of the joint) to those of the engine (N, len(q)).
        turn: q (N, nq) and v (N, nv) of the joint in the tree to T (N, nv, nv) and beta (N, nv).
    """

    body: int
    q: tuple[int, ...]
    v: tuple[int, ...]
    shift: float = 0.0
    sign: float = 1.0
    positions: Positions | None = field(default=None, repr=False)
    turn: Turn | None = field(default=None, repr=False)


def require_columns(x: Floats, size: int, name: str) -> None:
    """Refuse coordinates of another robot; columns beyond the last one would else be left out without a word.

    Raises:
        ShapeError: `x` is not (N, size).
    """
    if x.ndim != 2 or x.shape[1] != size:
        raise ShapeError(f"{name} has shape {x.shape}; expected (N, {size})")


class CoordinateMap:
    """The map of all joints that both have; what has no seat is left out, what the engine has beyond rests.

    Args:
        tree: whose q and v go in; efforts come out in the order of its dofs.
        seats: of its joints.
        neutral: (nq,) positions of the engine where the tree says nothing.
        nv: number of the engine's velocities.

    Attributes:
        v_from: (n,) indices of the dofs that both have in the tree's v, ascending.
        dofs: their names.
    """

    def __init__(self, tree: Tree, seats: Sequence[Seat], neutral: Floats, nv: int) -> None:
        self.neutral, self.nv = np.asarray(neutral, np.float64), nv
        self._nq, self._nv = tree.nq, tree.nv
        seats = sorted(seats, key=lambda seat: seat.body)
        at = [(seat, tree.q_slices[seat.body], tree.v_slices[seat.body]) for seat in seats]
        columns = [(c, k, s) for s, _, v in at for k, c in zip(range(v.start, v.stop), s.v, strict=True)]
        self._v_to = np.array([c for c, _, _ in columns], np.intp)
        self.v_from = np.array([k for _, k, _ in columns], np.intp)
        self.dofs = tuple(tree.dofs[k] for k in self.v_from)
        self._signs = np.array([s.sign for _, _, s in columns])
        self._signed = bool((self._signs != 1).any())
        plain = [
            (c, k, s) for s, q, _ in at if s.positions is None for c, k in zip(s.q, range(q.start, q.stop), strict=True)
        ]
        self._q_to = np.array([c for c, _, _ in plain], np.intp)
        self._q_from = np.array([k for _, k, _ in plain], np.intp)
        self._shift, self._sign = np.array([s.shift for _, _, s in plain]), np.array([s.sign for _, _, s in plain])
        self._placed = [(list(s.q), q, s.positions) for s, q, _ in at if s.positions is not None]
        rows = {k: row for row, k in enumerate(self.v_from.tolist())}
        self._turned = [
            (slice(rows[v.start], rows[v.start] + v.stop - v.start), q, v, s.turn) for s, q, v in at if s.turn
        ]

    def positions(self, q: Floats) -> Floats:
        """Return the engine's positions (N, nq) of the tree's."""
        out = np.tile(self.neutral, (len(q), 1))
        out[:, self._q_to] = (q[:, self._q_from] - self._shift) * self._sign
        for columns, own, positions in self._placed:
            out[:, columns] = positions(q[:, own])
        return out

    def at(self, q: Floats, v: Floats | None = None) -> Frame:
        """Return the map at N states; without v they are at rest.

        Raises:
            ShapeError: q or v is of another robot.
        """
        require_columns(q, self._nq, "q")
        if v is not None:
            require_columns(v, self._nv, "v")
        rest = np.zeros((len(q), 6))
        turns = [
            (rows, *turn(q[:, own], rest[:, : s.stop - s.start] if v is None else v[:, s]))
            for rows, own, s, turn in self._turned
        ]
        return Frame(self, self.positions(q), None if v is None else v[:, self.v_from], turns)

    def seated(self, x: Floats) -> Floats:
        """Return x (N, n) of common dofs in the columns of the engine, (N, nv)."""
        out = np.zeros((len(x), self.nv))
        out[:, self._v_to] = x * self._signs if self._signed else x
        return out

    def unseated(self, x: Floats) -> Floats:
        """Return the engine's x (N, nv) at the common dofs, (N, n)."""
        return x[:, self._v_to] * self._signs if self._signed else x[:, self._v_to]

    def unseated_matrix(self, M: Floats) -> Floats:
        """Return the engine's M (N, nv, nv) at the common dofs, (N, n, n)."""
        M = M[:, self._v_to[:, None], self._v_to]
        return M * self._signs * self._signs[:, None] if self._signed else M


@dataclass(frozen=True, eq=False)
class Frame:
    """The map at N states.

    Attributes:
        map: of the coordinates.
        q: (N, nq) the engine's positions.
        own_v: (N, n) the tree's velocities at the common dofs; None at rest.
        turns: per turned joint its rows among the common dofs, T and beta.
    """

    map: CoordinateMap
    q: Floats
    own_v: Floats | None
    turns: Sequence[tuple[slice, Floats, Floats]]

    @property
    def v(self) -> Floats:
        """(N, nv) the engine's velocities."""
        return np.zeros((len(self.q), self.map.nv)) if self.own_v is None else self._turned(self.own_v)

    def acceleration(self, a: Floats | None = None) -> Floats:
        """Return the engine's accelerations (N, nv) of the tree's (N, nv of the tree), which are zero without."""
        n = len(self.map.v_from)
        return self._turned(np.zeros((len(self.q), n)) if a is None else a[:, self.map.v_from], beta=True)

    def _turned(self, x: Floats, *, beta: bool = False) -> Floats:
        out = x.copy() if self.turns else x
        for rows, T, more in self.turns:
            out[:, rows] = (T @ x[:, rows, None])[..., 0] + (more if beta else 0)
        return self.map.seated(out)

    def efforts(self, tau: Floats) -> Floats:
        """Return the tree's efforts (N, n) of the engine's (N, nv)."""
        out = self.map.unseated(tau)
        for rows, T, _ in self.turns:
            out[:, rows] = (out[:, None, rows] @ T)[:, 0]
        return out

    def mass_matrix(self, M: Floats) -> Floats:
        """Return the tree's M (N, n, n) of the engine's (N, nv, nv)."""
        out = self.map.unseated_matrix(M)
        for rows, T, _ in self.turns:
            out[:, rows] = T.swapaxes(1, 2) @ out[:, rows]
            out[:, :, rows] = out[:, :, rows] @ T
        return out

    def engine_efforts(self, tau: Floats) -> Floats:
        """Return the engine's efforts (N, nv) of the tree's (N, nv of the tree)."""
        out = tau[:, self.map.v_from]
        for rows, T, _ in self.turns:
            out[:, rows] = np.linalg.solve(T.swapaxes(1, 2), out[:, rows, None])[..., 0]
        return self.map.seated(out)

    def tree_acceleration(self, a: Floats) -> Floats:
        """Return the tree's accelerations (N, n) of the engine's (N, nv)."""
        out = self.map.unseated(a)
        for rows, T, beta in self.turns:
            out[:, rows] = np.linalg.solve(T, (out[:, rows] - beta)[..., None])[..., 0]
        return out


def ball_of_fixed_axes(q: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Be the `turn` of a ball whose angular velocity is along the axes of the side that stands.

    It is R omega_M, and omega x omega is nothing: the derivative of both is R times that of omega_M.
    """
    return np.asarray(rotation_from_quaternion(q), np.float64), np.zeros_like(v)


def planar_of_fixed_axes(q: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Be the `turn` of a planar joint whose velocities are along the axes of the side that stands, same basis."""
    T, beta = np.zeros((len(q), 3, 3)), np.zeros((len(q), 3))
    T[:, :2, :2] = rotation_about(np.array([0.0, 0, 1]), q[:, 2])[:, :2, :2]
    T[:, 2, 2] = 1
    swept = v[:, 2:] * np.stack([-v[:, 1], v[:, 0]], axis=1)
    beta[:, :2] = (T[:, :2, :2] @ swept[..., None])[..., 0]
    return T, beta
