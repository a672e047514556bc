"""Which change in the inertia of one body explains a residual, tested in the few directions that show.

The residual is projected once on the ten columns of a rigid piece (a moving body with all that is fixed to it); every
hypothesis about one of its members is then a vector of ten numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from .difference import Difference, with_inertia
from .fitting import Subspace, shown, solve, subspace
from .hypotheses import Candidate, Change
from .inertia_fits import fit_com, fit_mass, fit_products, fit_rotation, fit_tensor, invented, is_solid
from .inertias import grain, is_physical, reasons
from .parameters import TENSOR, about_origin, inertia_of, six, tensor, transport, vector
from .patterns import guesses, orders

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tree import Floats, Inertia, Tree
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


def members_of(tree: Tree, holder: int) -> tuple[tuple[int, Floats], ...]:
    """Return (index, T_holder_body) of a moving body and of everything that is fixed to it."""
    fusion = tree.fusion
    return tuple((i, fusion.Ts_holder_body[i]) for i, h in enumerate(fusion.holder) if h == holder)


def pieces(problem: Problem) -> list[Piece]:
    """Return every rigid piece of the tree whose fault could touch what shows a residual."""
    holders = [h for h in problem.regressor.holders if problem.reach.inertia(h)]
    return [piece_of(problem, h) for h in holders]


def piece_of(problem: Problem, holder: int, beside: Floats | None = None) -> Piece:
    """Return one rigid piece.

    Args:
        problem: whose residual is projected.
        holder: the moving body.
        beside: (E n, k) orthonormal directions that something else accounts for.
    """
    A, r = problem.rows(problem.regressor.columns(holder)), problem.residual.ravel()
    if beside is not None:
        A, r = A - beside @ (beside.T @ A), r - beside @ (beside.T @ r)
    space = subspace(A)
    z = space.Q.T @ r
    outside = float(((r - space.Q @ z) ** 2).sum())
    return Piece(holder, members_of(problem.tree, holder), space, z, outside, r.size, problem.accept)


def inertial_candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield every change in the inertia of one body that leaves rounding alone."""
    for piece in pieces(problem):
        if piece.left <= piece.bar:
            for i, T in piece.members:
                yield from of_member(problem.tree, piece, i, T)


def of_member(tree: Tree, piece: Piece, i: int, T: Floats) -> Iterator[Candidate]:
    """Yield the changes in the inertia of body i that account for all of the residual of its piece."""
    if not piece.space.rank:
        return  # no motion shows anything of it
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
        theirs = invented(M, piece.z, piece.bar * np.sqrt(piece.count / max(len(piece.z), 1)))
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
        ("inertia.off_diagonal", "inertia", fit_products),
        ("inertia.rotation", "inertia", fit_rotation),
        ("inertia.value", "inertia", fit_tensor),
    ):
        fitted = fit(ours, M, piece.z)
        if fitted is None:
            continue
        theirs, basis = fitted
        rest = float(piece.misfit(M, (vector(theirs) - vector(ours))[None])[0])
        if rest <= piece.bar:
            for name in _called(ours, theirs, M) if kind == "inertia.value" else [kind]:
                yield _candidate(tree, i, [(name, field)], theirs, rest, shown(M @ basis, piece.count))


def _called(ours: Inertia, theirs: Inertia, M: Floats) -> list[str]:
    """Return the kinds of a free tensor that fits."""
    if not is_physical(ours) and is_physical(theirs):
        return ["inertia.repaired", "inertia.value"]
    # Products that were dropped in axes which our file does not have: the moments that are left tell these axes.
    moments, E = np.linalg.eigh(theirs.I_com)
    change = float(np.abs(theirs.I_com - ours.I_com).max())
    kept = np.abs(np.diag(E.T @ ours.I_com @ E) - moments).max() <= 1e-6 * change
    return ["inertia.off_diagonal" if kept and subspace(M[:, TENSOR]).rank == 6 else "inertia.value"]


def _magnitudes(inertia: Inertia) -> Floats:
    """Return how large each of the ten parameters could be in a body like this."""
    I = float(np.abs(inertia.I_com).max())
    return np.array([inertia.mass, *[np.sqrt(inertia.mass * I)] * 3, *[I] * 6])


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
        if len(told) == 3 and is_solid(theirs):
            # Nothing of it stayed: somebody made an inertia of his own.
            sizes = shown(M * _magnitudes(theirs), piece.count)
            made = _candidate(tree, i, [("mass.default", "inertial")], theirs, rest, sizes)
            yield replace(made, causes=2)
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
