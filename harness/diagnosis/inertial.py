"""Which change in the inertia of one body explains a residual, tested in the few directions that show.

The residual is projected once on the ten columns of a rigid piece (a moving body with all that is fixed to it); every
hypothesis about one of its members is then a vector of ten numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from ..spatial import exp_so3, rotation_from_quaternion, skew
from ..tree import Inertia
from .difference import Difference, with_inertia
from .fitting import Subspace, descend, shown, solve, subspace
from .hypotheses import Candidate, Change
from .inertias import grain, is_physical, reasons
from .parameters import TENSOR, about_origin, inertia_of, six, tensor, transport, vector
from .patterns import guesses, orders

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tree import Floats, Tree
    from .hypotheses import Problem

UNITS: Final = {"mass": "kg", "com": "m", "both": "m", "inertia": "kg m^2", "inertial": "kg"}
FIELDS: Final = {
    "mass": ("mass",),
    "com": ("com",),
    "inertia": ("I_com",),
    "both": ("com", "I_com"),
    "inertial": ("mass", "com", "I_com"),
}


@dataclass(frozen=True, eq=False)
class Piece:
    """A moving body with all that is fixed to it, and the residual in its ten parameters.

    Attributes:
        holder: index of the moving body.
        members: (index, T_holder_body) of every body in it.
        space: of its ten columns.
        z: (r,) the residual in the directions that show.
        outside: sum of squares of the residual in all others.
        count: number of answers.
        bar: root mean square that counts as rounding.
    """

    holder: int
    members: tuple[tuple[int, Floats], ...]
    space: Subspace
    z: Floats
    outside: float
    count: int
    bar: float

    @property
    def left(self) -> float:
        """Root mean square that ten free parameters leave."""
        return float(np.sqrt(self.outside / self.count))

    def misfit(self, M: Floats, deltas: Floats) -> Floats:
        """Return the root mean square that changes (K, p) leave, whose columns in the directions that show are M."""
        return np.sqrt((((deltas @ M.T - self.z) ** 2).sum(-1) + self.outside) / self.count)


def pieces(problem: Problem) -> list[Piece]:
    """Return every rigid piece of the tree whose fault could touch what shows a residual."""
    tree, regressor = problem.tree, problem.regressor
    members: dict[int, list[tuple[int, Floats]]] = {}
    for i, holder in enumerate(tree.fusion.holder):
        members.setdefault(holder, []).append((i, tree.fusion.Ts_holder_body[i]))
    found: list[Piece] = []
    for holder in regressor.holders:
        if not problem.reach.inertia(holder):
            continue
        space = subspace(problem.rows(regressor.columns(holder)))
        found.append(_piece(problem, holder, tuple(members[holder]), space))
    return found


def _piece(problem: Problem, holder: int, members: tuple[tuple[int, Floats], ...], space: Subspace) -> Piece:
    r = problem.residual.ravel()
    z = space.Q.T @ r
    outside = float(((r - space.Q @ z) ** 2).sum())
    return Piece(holder, members, space, z, outside, r.size, problem.accept)


def inertial_candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield every change in the inertia of one body that leaves rounding alone."""
    for piece in pieces(problem):
        if piece.left <= piece.bar:
            for i, T in piece.members:
                yield from of_member(problem.tree, piece, i, T)


def of_member(tree: Tree, piece: Piece, i: int, T: Floats) -> Iterator[Candidate]:
    """Yield the changes in the inertia of body i that account for all of the residual of its piece."""
    ours, M = tree.bodies[i].inertia, piece.space.R @ transport(T)
    found = [*_closed(tree, piece, i, M), *_fitted(tree, piece, i, M)]
    yield from found
    if not found and not ours.is_zero:
        yield from _combined(tree, piece, i, M)


def _closed(tree: Tree, piece: Piece, i: int, M: Floats) -> Iterator[Candidate]:
    """Yield the guesses of the closed list that fit."""
    ours = tree.bodies[i].inertia
    base = vector(ours)
    every = list(guesses(ours))
    left = piece.misfit(M, np.array([vector(guess.theirs) for guess in every]) - base)
    for guess, rest in zip(every, left, strict=True):
        if rest <= piece.bar:
            yield _candidate(tree, i, [(guess.kind, guess.field)], guess.theirs, float(rest))
    others = orders(ours) if not ours.is_zero else np.zeros((0, 6))
    if len(others):
        left = piece.misfit(M[:, TENSOR], others - six(ours.I_com))
        best = int(left.argmin())
        if left[best] <= piece.bar:
            theirs = replace(ours, I_com=tensor(others[best]))
            yield _candidate(tree, i, [("inertia.order", "inertia")], theirs, float(left[best]))


def _fitted(tree: Tree, piece: Piece, i: int, M: Floats) -> Iterator[Candidate]:
    """Yield one free mass, centre, turn or tensor that fits."""
    ours = tree.bodies[i].inertia
    if ours.is_zero:
        theirs = inertia_of(solve(M, piece.z), ours.com)
        rest = float(piece.misfit(M, vector(theirs)[None])[0])
        if rest <= piece.bar and is_solid(theirs):
            sizes = shown(M * _magnitudes(theirs), piece.count)
            stated = "inertial" in tree.bodies[i].sources
            told = reasons(ours, theirs, grain([theirs], 1e-7), stated=stated)
            yield _candidate(tree, i, [(r.kind, r.field) for r in told], theirs, rest, sizes)
        return
    for kind, field, fit in (
        ("mass", "mass", fit_mass),
        ("com", "com", fit_com),
        ("inertia.rotation", "inertia", fit_rotation),
        ("inertia.value", "inertia", fit_tensor),
    ):
        fitted = fit(ours, M, piece)
        if fitted is None:
            continue
        theirs, basis = fitted
        rest = float(piece.misfit(M, (vector(theirs) - vector(ours))[None])[0])
        if rest <= piece.bar:
            repaired = kind == "inertia.value" and not is_physical(ours) and is_physical(theirs)
            name = "inertia.repaired" if repaired else kind
            yield _candidate(tree, i, [(name, field)], theirs, rest, shown(M @ basis, piece.count))


def is_solid(inertia: Inertia) -> bool:
    """Return whether an engine could have invented this inertia: a body with extent, no point and no mere tensor."""
    moments = np.linalg.eigvalsh(inertia.I_com)
    return inertia.mass > 0 and is_physical(inertia) and bool(moments[0] > 1e-6 * moments[2])


def _magnitudes(inertia: Inertia) -> Floats:
    """Return how large each of the ten parameters could be in a body like this."""
    I = float(np.abs(inertia.I_com).max())
    return np.array([inertia.mass, *[np.sqrt(inertia.mass * I)] * 3, *[I] * 6])


Fitted: TypeAlias = "tuple[Inertia, Floats] | None"


def fit_mass(ours: Inertia, M: Floats, piece: Piece) -> Fitted:
    """Return the inertia with the mass that fits best, and the ten parameters of the change (10, 1)."""
    along = about_origin(1.0, ours.com, np.zeros((3, 3)))
    column = M @ along
    size = float(column @ column)
    if not size:
        return None
    change = float(column @ piece.z) / size
    return replace(ours, mass=ours.mass + change), along[:, None] * change


def fit_tensor(ours: Inertia, M: Floats, piece: Piece) -> Fitted:
    """Return the inertia with the tensor that fits best, and directions (10, 6) of its size."""
    change = solve(M[:, TENSOR], piece.z)
    return replace(ours, I_com=ours.I_com + tensor(change)), np.eye(10)[:, TENSOR] * float(np.abs(change).max())


def fit_com(ours: Inertia, M: Floats, piece: Piece) -> Fitted:
    """Return the inertia with the centre of mass that fits best, and directions (10, 3) of the size of the shift."""
    if not ours.mass:
        return None
    reach = max(float(np.linalg.norm(ours.com)), float(np.sqrt(np.abs(ours.I_com).max() / abs(ours.mass))), 1e-6)
    base = vector(ours)

    def parameters(c: Floats) -> Floats:
        outer = c[:, :, None] * c[:, None, :]
        tensors = six(ours.I_com + ours.mass * (np.einsum("kii->k", outer)[:, None, None] * np.eye(3) - outer))
        return np.concatenate([np.full((len(c), 1), ours.mass), ours.mass * c, tensors], axis=1)

    def f(x: Floats) -> Floats:
        return (parameters(ours.com + reach * x) - base) @ M.T - piece.z

    free = solve(M, piece.z)[1:4] / ours.mass / reach
    starts = np.array([np.zeros(3), free, -ours.com / reach, -2 * ours.com / reach])
    x, left = descend(f, starts, steps=30)
    com = ours.com + reach * x[left.argmin()]
    size = float(np.linalg.norm(com - ours.com))
    basis = (parameters(com + size * np.eye(3)) - parameters(com[None])).T
    return replace(ours, com=com), basis


def fit_rotation(ours: Inertia, M: Floats, piece: Piece) -> Fitted:
    """Return the inertia turned in the way that fits best, and directions (10, 3); None for one that no turn changes."""
    moments = np.linalg.eigvalsh(ours.I_com)
    if moments[2] - moments[0] <= 1e-12 * np.abs(moments).max():
        return None
    tensors = CUBE @ ours.I_com @ np.swapaxes(CUBE, 1, 2)

    def f(x: Floats) -> Floats:
        R = rotation_from_quaternion(exp_so3(x))
        I = R @ np.tile(tensors, (len(x) // len(CUBE), 1, 1)) @ np.swapaxes(R, 1, 2)
        return six(I - ours.I_com) @ M[:, TENSOR].T - piece.z

    x, left = descend(f, np.zeros((len(CUBE), 3)), steps=30)
    best = int(left.argmin())
    R = rotation_from_quaternion(exp_so3(x[best])) @ CUBE[best]
    I = R @ ours.I_com @ R.T
    turn = min(1.0, float(np.abs(R - np.eye(3)).max()))
    basis = np.zeros((10, 3))
    for k in range(3):
        K = skew(np.eye(3)[k])
        basis[TENSOR, k] = six(K @ I - I @ K) * turn
    return replace(ours, I_com=(I + I.T) / 2), basis


def _cube() -> Floats:
    """Return the turns of a cube up to half turns about its axes, which leave a tensor near itself: (8, 3, 3)."""
    turns = [np.eye(3)[list(p)] for p in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (1, 0, 2), (0, 2, 1), (2, 1, 0))]
    turns = [R * np.sign(np.linalg.det(R)) for R in turns]
    tilt = rotation_from_quaternion(np.array([[1.0, 0.5, 0.5, 0.5], [1.0, -0.5, 0.5, -0.5]]))
    return np.concatenate([np.array(turns), tilt])


CUBE: Final = _cube()


def _combined(tree: Tree, piece: Piece, i: int, M: Floats) -> Iterator[Candidate]:
    """Yield several fields of one body that depart together, fewest first."""
    ours = tree.bodies[i].inertia
    base = vector(ours)
    along = about_origin(1.0, ours.com, np.zeros((3, 3)))
    spans = {
        "mass and tensor": np.column_stack([along, np.eye(10)[:, TENSOR]]),
        "centre and tensor": np.eye(10)[:, 1:],
        "all": np.eye(10),
    }
    for span in spans.values():
        delta = span @ solve(M @ span, piece.z)
        rest = float(piece.misfit(M, delta[None])[0])
        if rest > piece.bar:
            continue
        theirs = inertia_of(base + delta, ours.com)
        told = reasons(ours, theirs, grain([ours, theirs], 1e-7))
        if told:
            kinds = [(reason.kind, reason.field) for reason in told]
            yield _candidate(tree, i, kinds, theirs, rest, shown(M @ span * np.abs(delta).max(), piece.count))
            return


def _candidate(
    tree: Tree, i: int, kinds: list[tuple[str, str]], theirs: Inertia, left: float, sizes: tuple[float, ...] = ()
) -> Candidate:
    changes = tuple(Change(inertial_difference(tree, i, kind, field, theirs)) for kind, field in kinds)
    return Candidate(changes, left, sizes, len(changes))


def inertial_difference(tree: Tree, i: int, kind: str, field: str, theirs: Inertia) -> Difference:
    """Return the difference of one field of the inertia of body i."""
    body = tree.bodies[i]

    def apply(tree: Tree) -> Tree:
        now = tree.bodies[tree.index[body.name]].inertia
        values = {name: getattr(theirs, name) for name in FIELDS[field]}
        return with_inertia(tree, body.name, replace(now, **values))

    expected, found = (_value(inertia, field) for inertia in (body.inertia, theirs))
    source = body.source("com" if field == "both" else field)
    return Difference(kind, body.name, expected, found, UNITS[field], apply, source)


def _value(inertia: Inertia, field: str) -> float | list[float]:
    if field in ("mass", "inertial"):
        return inertia.mass
    return six(inertia.I_com).tolist() if field == "inertia" else inertia.com.tolist()
