"""Gravity compensation that an engine adds to some of its answers: one column per body."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import Source
from .booking import HEAVY, booking
from .difference import Difference, unchanged
from .hypotheses import Candidate, Change, rms
from .parameters import transport, vector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tree import Floats, Tree
    from .booking import Booking
    from .evidence import Questions, ReferenceLike
    from .hypotheses import Problem


def gravcomp_candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield gravity compensation booked in the answers: of the file as a whole, or of one body."""
    where = booking(problem, HEAVY)
    if where is None:
        return
    tree, r = problem.tree, problem.residual.ravel()
    heavy = [i for i, body in enumerate(tree.bodies) if tree.moving[i] and body.inertia.mass]
    stated = np.array([tree.bodies[i].gravcomp for i in heavy])
    columns = {i: -_weight(problem, i, where) for i in heavy if problem.reach.inertia(i)}
    if stated.any() and np.count_nonzero(stated) > 1 and all(i in columns for i in np.array(heavy)[stated != 0]):
        total = sum(x * columns[i] for i, x in zip(heavy, stated, strict=True) if x)
        left = rms(r - problem.rows(np.asarray(total)[..., None])[:, 0])
        if left <= problem.accept:
            yield Candidate((_gravcomp(problem, None, stated.tolist(), where),), left)
    for i, column in columns.items():
        A = problem.rows(column[..., None])[:, 0]
        size = float(A @ A)
        share = float(A @ r) / size if size else 0.0
        left = rms(r - share * A)
        if size and left <= problem.accept:
            told = _gravcomp(problem, i, share, where)
            yield Candidate((told,), left, (abs(share) * float(np.sqrt(size / r.size)),))


def _weight(problem: Problem, i: int, where: Booking) -> Floats:
    """Return the effort (E, nv) that carries the weight of body i, where it is booked."""
    tree, holder = problem.tree, problem.tree.fusion.holder[i]
    parameters = transport(tree.fusion.Ts_holder_body[i]) @ vector(tree.bodies[i].inertia)
    pull = problem.regressor.weight_columns(holder, tree.gravity) @ parameters
    return np.where(where.rows[:, None], pull, 0)


def _gravcomp(problem: Problem, i: int | None, share: float | list[float], where: Booking) -> Change:
    """Return gravity compensation as an addition to some answers of the same questions."""
    tree, reference = problem.tree, problem.reference
    body = None if i is None else tree.bodies[i]
    expected = [b.gravcomp for b in tree.bodies] if body is None else body.gravcomp
    source = Source(tree.origin.path) if body is None else body.source("gravcomp")
    name = None if body is None else body.name
    told = Difference("gravcomp", name, expected, share, "1", unchanged, source, note=where.note or "in all answers")
    shares = (
        {b.name: b.gravcomp for b in tree.bodies} if i is None else {tree.bodies[i].name: float(np.ravel(share)[0])}
    )

    def tell(questions: Questions, efforts: Floats) -> Floats:
        pull = _lighter(tree, shares, reference, questions.q)
        here = questions.heavy & np.isin(questions.quantity, where.quantities)
        return efforts + np.where(here[:, None], pull, 0)

    return Change(told, tell=tell)


def _lighter(tree: Tree, shares: dict[str, float], reference: ReferenceLike, q: Floats) -> Floats:
    """Return what carries a share of the weight of some bodies: wrenches on them, at rest and without gravity."""
    T = np.asarray(reference.poses(q), np.float64)
    wrenches = np.zeros((len(q), len(tree.bodies), 6))
    for name, share in shares.items():
        i, inertia = tree.index[name], tree.bodies[tree.index[name]].inertia
        if i:
            force = -share * inertia.mass * np.einsum("eji,j->ei", T[:, i - 1, :3, :3], tree.gravity)
            wrenches[:, i] = np.concatenate([np.cross(inertia.com, force), force], axis=1)
    at_rest = np.zeros((len(q), tree.nv))
    return np.asarray(reference.inverse_dynamics(q, at_rest, at_rest, wrenches, np.zeros(3)), np.float64)
