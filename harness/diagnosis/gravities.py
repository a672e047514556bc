"""Gravity of another size, sign or direction: three columns, in some of the answers or in all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import Source
from ..spatial import exp_so3, rotation_from_quaternion
from .booking import HEAVY, booking
from .difference import Difference, unchanged
from .fitting import descend, shown, solve, subspace
from .hypotheses import Candidate, Change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tree import Floats, Tree
    from .booking import Booking
    from .evidence import Questions
    from .hypotheses import Problem


def gravity_candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield gravities that leave rounding alone: the sign, one of another size, one of another direction."""
    where = booking(problem, HEAVY)
    if where is None:
        return
    tree, asked = problem.tree, problem.asked
    at_rest = np.zeros_like(asked.v)
    units = [problem.reference.inverse_dynamics(asked.q, at_rest, at_rest, None, e) for e in np.eye(3)]
    here = (asked.heavy & where.rows)[:, None, None]
    A = problem.rows(np.where(here, np.stack(units, axis=-1), 0))
    space, r = subspace(A), problem.residual.ravel()
    outside = float(((r - space.Q @ (space.Q.T @ r)) ** 2).sum())
    if np.sqrt(outside / r.size) > problem.accept:
        return
    M, z, g = space.R, space.Q.T @ r, tree.gravity
    tries: list[tuple[str, Floats, Floats]] = []
    column = M @ g
    if column.any():
        k = float(column @ z / (column @ column))
        tries = [("gravity.sign", -2 * g, np.zeros((3, 0))), ("gravity.value", k * g, k * g[:, None])]
        tries.append(("gravity.direction", *_turned(M, z, g)))
    free = solve(M, z)
    tries.append(("gravity.direction" if g.any() else "gravity.value", free, np.linalg.norm(free) * np.eye(3)))
    told: set[str] = set()
    for kind, change, basis in tries:
        left = float(np.sqrt((((M @ change - z) ** 2).sum() + outside) / r.size))
        if left <= problem.accept and kind not in told:
            told.add(kind)
            yield Candidate((_gravity(problem, kind, change, where),), left, shown(M @ basis, r.size))


def _turned(M: Floats, z: Floats, g: Floats) -> tuple[Floats, Floats]:
    """Return the change that turns g as fits best, and the directions (3, 2) of its size."""
    starts = np.array([[0.0, 0, 0], [2.2, 0, 0], [0, 2.2, 0], [0, 0, 2.2], [-2.2, 0, 0], [0, -2.2, 0], [0, 0, -2.2]])

    def f(x: Floats) -> Floats:
        return (rotation_from_quaternion(exp_so3(x)) @ g - g) @ M.T - z

    x, left = descend(f, starts, steps=30)
    change = np.asarray(rotation_from_quaternion(exp_so3(x[left.argmin()])) @ g - g, np.float64)
    _, _, Vt = np.linalg.svd((g + change)[None])
    return change, Vt[1:].T * float(np.linalg.norm(change))


def _gravity(problem: Problem, kind: str, change: Floats, where: Booking) -> Change:
    tree, reference = problem.tree, problem.reference
    g, h = tree.gravity, tree.gravity + change
    h = np.where(np.abs(h).max() <= 1e-12 * np.abs(g).max(initial=0), 0, h)

    def apply(tree: Tree) -> Tree:
        return replace(tree, gravity=h)

    source = tree.sources.get("gravity") or Source(tree.origin.path)
    told = Difference(
        kind, None, g.tolist(), h.tolist(), "m/s^2", apply if where.everywhere else unchanged, source, note=where.note
    )
    if where.everywhere:
        return Change(told)

    def tell(questions: Questions, efforts: Floats) -> Floats:
        at_rest = np.zeros_like(questions.v)
        pull = reference.inverse_dynamics(questions.q, at_rest, at_rest, None, change)
        here = questions.heavy & np.isin(questions.quantity, where.quantities)
        return efforts + np.where(here[:, None], pull, 0)

    return Change(told, tell=tell)
