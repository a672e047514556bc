"""Two causes at once: which pair of places explains the residual, then which pair of differences at these places.

Where answers are linear in both causes all pairs are tried, by the angles between their columns. Else one is looked for
where the other does not show (`isolated`). A convention that was swapped is put right first when that helps much.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from .base_maps import base_guesses
from .evidence import BIAS, GRAVITY, MASS, TAU
from .fitting import Subspace, subspace
from .hypotheses import Candidate, rms
from .inertial import of_member, piece_of
from .isolated import isolated_candidates, together
from .joint_zeros import reversals
from .maps import tried, unit_guesses
from .single import single_causes
from .terms import columns, term_candidates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..tree import Floats
    from .hypotheses import Change, Problem

CLOSE: Final = 1e-5  # share of the residual that a pair may leave by angles, which know half of the digits
TRIED: Final = 8  # pairs that are looked at, best first, and candidates of a first cause that are followed
FOLLOWED: Final = 4  # conventions that are followed, best first
HELPS: Final = 0.7  # share of the residual that a convention put right must leave at most to be followed


def pair_candidates(problem: Problem, limit: int) -> Iterator[Candidate]:
    """Yield two causes that leave rounding alone, or up to `limit` of which all but two are conventions."""
    for source in (_linear(problem), isolated_candidates(problem), _conventions(problem, limit)):
        found = list(source)
        yield from found
        if found:
            return


@dataclass(frozen=True, eq=False)
class Group:
    """Columns of one place.

    Attributes:
        holder: of a rigid piece, or None.
        dof: whose terms these are, or None; gravity has neither.
        space: of the columns.
    """

    holder: int | None
    dof: int | None
    space: Subspace


def _groups(problem: Problem) -> list[Group]:
    """Return the places in which the answers are linear."""
    found = [Group(h, None, subspace(problem.rows(problem.regressor.columns(h)))) for h in problem.regressor.holders]
    tree, asked, evidence = problem.tree, problem.evidence.questions, problem.evidence
    for at, dof in enumerate(evidence.kept):
        blocks = [columns(asked, tree, int(dof), "armature", (k,)) for k in (TAU, MASS)]
        blocks += [
            columns(asked, tree, int(dof), name, (k,)) for name in ("damping", "frictionloss") for k in (TAU, BIAS)
        ]
        if tree.joints[tree.joint_of_dof[dof]].nq == 1:
            blocks += [columns(asked, tree, int(dof), "spring", (k,)) for k in (TAU, BIAS, GRAVITY)]
        local = np.concatenate(blocks, axis=1)
        A = np.zeros((len(asked), len(evidence.kept), local.shape[1]))
        A[:, at] = local * evidence.weight[:, [at]]
        if A.any():
            found.append(Group(None, int(dof), subspace(A.reshape(-1, local.shape[1]))))
    return found


def _linear(problem: Problem) -> Iterator[Candidate]:
    """Yield pairs of a rigid piece with another one, or with terms of one dof."""
    groups = _groups(problem)
    r = problem.residual.ravel()
    for one, other in _closest(groups, r)[:TRIED]:
        both = subspace(np.concatenate([one.space.Q, other.space.Q], axis=1))
        if rms(r - both.Q @ (both.Q.T @ r)) > problem.accept:
            continue
        for first, second in ((one, other), (other, one)):
            if first.holder is not None:
                yield from _at_places(problem, first, second)


def _closest(groups: Sequence[Group], r: Floats) -> list[tuple[Group, Group]]:
    """Return the pairs with a rigid piece whose columns hold the residual, as far as angles can tell, best first."""
    width = max(group.space.rank for group in groups)
    Q = np.concatenate([np.pad(g.space.Q, ((0, 0), (0, width - g.space.rank))) for g in groups], axis=1)
    gram = (Q.T @ Q).reshape(len(groups), width, len(groups), width)
    z = (Q.T @ r).reshape(len(groups), width)
    pairs = [(i, j) for i, j in combinations(range(len(groups)), 2) if groups[i].holder is not None]
    if not pairs:
        return []
    i, j = np.array(pairs).T
    G = np.block([[gram[i, :, i], gram[i, :, j]], [np.swapaxes(gram[i, :, j], 1, 2), gram[j, :, j]]])
    both = np.concatenate([z[i], z[j]], axis=1)
    explained = np.einsum("ki,kij,kj->k", both, np.linalg.pinv(G, rcond=1e-9, hermitian=True), both)
    left = np.sqrt(np.maximum(1 - explained / float(r @ r), 0))
    order = np.argsort(left, kind="stable")
    return [(groups[pairs[k][0]], groups[pairs[k][1]]) for k in order if left[k] <= CLOSE]


def _at_places(problem: Problem, first: Group, second: Group) -> Iterator[Candidate]:
    """Yield changes in one piece that are right up to what the second place can do, with what then is wrong there."""
    assert first.holder is not None  # noqa: S101  the caller has looked
    piece = piece_of(problem, first.holder, second.space.Q)
    options = [candidate for i, T in piece.members for candidate in of_member(problem.tree, piece, i, T)]
    options.sort(key=lambda c: (c.causes, len(c.sizes)))
    for option in options[:TRIED]:
        rest = problem.retold(option.changes)
        if second.holder is None:
            yield from (together(option, term) for term in term_candidates(rest))
            continue
        other = piece_of(rest, second.holder)
        if other.left <= other.bar:
            for i, T in other.members:
                yield from (together(option, candidate) for candidate in of_member(rest.tree, other, i, T))


def _conventions(problem: Problem, limit: int) -> Iterator[Candidate]:
    """Yield a convention or a reversed axis, beside a cause of any kind."""
    guesses: list[tuple[Change, ...]] = [*base_guesses(problem.tree), *unit_guesses(problem.tree)]
    lefts = tried(problem.light, guesses)
    others = reversals(problem.light)
    guesses += [(change,) for change, _ in others]
    lefts += [left for _, left in others]
    for k in np.argsort(lefts, kind="stable")[:FOLLOWED]:
        if lefts[k] <= HELPS * problem.light.size:
            rest = problem.retold(guesses[k])
            first = Candidate(guesses[k], lefts[k], (), len(guesses[k]))
            more = list(single_causes(rest, far=False))
            if not more and limit > 2:
                more += pair_candidates(rest, limit - 1)
            yield from (together(first, candidate) for candidate in more)
