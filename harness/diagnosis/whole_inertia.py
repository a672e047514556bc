"""Changes in the inertia of the whole robot: all masses scaled alike, or any change of all bodies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .difference import Difference
from .fitting import solve
from .hypotheses import Candidate, Change, rms
from .parameters import vector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tree import Floats, Tree
    from .hypotheses import Problem


def scaled_candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield all masses and tensors scaled alike, when that leaves rounding alone."""
    tree, fused = problem.tree, problem.tree.fusion
    inertias = {h: fused.tree.bodies[fused.merged[h]].inertia for h in problem.regressor.holders}
    efforts = sum(problem.regressor.columns(h) @ vector(inertia) for h, inertia in inertias.items())
    column, r = problem.rows(np.asarray(efforts)[..., None])[:, 0], problem.residual.ravel()
    size = float(column @ column)
    share = float(column @ r) / size if size else 0.0
    left = rms(r - share * column)
    if len(inertias) < 2 or left > problem.accept:
        return

    def apply(tree: Tree) -> Tree:
        k = 1 + share
        heavier = [replace(b.inertia, mass=k * b.inertia.mass, I_com=k * b.inertia.I_com) for b in tree.bodies]
        return replace(tree, bodies=tuple(replace(b, inertia=I) for b, I in zip(tree.bodies, heavier, strict=True)))

    values = (tree.total_mass, tree.total_mass * (1 + share), "kg")
    told = Difference("mass", None, *values, apply, note="all masses and tensors are scaled alike")
    yield Candidate((Change(told),), left, (abs(share) * float(np.sqrt(size / r.size)),))


def all_inertial(problem: Problem) -> Floats | None:
    """Return a change (10 B,) of all moving bodies that leaves rounding alone, or None when there is none."""
    holders = problem.regressor.holders
    A = np.concatenate([problem.rows(problem.regressor.columns(h)) for h in holders], axis=1)
    r = problem.residual.ravel()
    change = solve(A, r)
    return change if rms(r - A @ change) <= problem.accept else None
