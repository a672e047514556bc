"""Two causes of which one leaves some answers alone: there the other is found by itself, then what is left explained.

Gravity is in no product M w. The inertia and the terms of a body show at the dofs that carry it and nowhere below. What
a joint does to the placement of its subtree shows in no entry of M between two dofs strictly below it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from .evidence import MASS, PRODUCTS, Evidence, Masses, Questions
from .hypotheses import Candidate, as_answered, as_asked
from .ranking import rank
from .single import single_causes
from .terms import term_candidates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .evidence import Mask
    from .hypotheses import Problem

MASKED: Final = 12  # dofs at most whose answers are left out one by one
PLACES: Final = 8  # subtrees at most that are looked at by themselves
FOLLOWED: Final = 3  # equally good first causes that are followed


def isolated_candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield two causes that leave rounding alone, found one after the other."""
    for evidence in _parts(problem):
        part = replace(problem, evidence=evidence)
        if np.abs(part.residual).max(initial=0) <= problem.accept:
            continue
        first = [candidate for candidate in single_causes(part, far=False) if candidate.causes == 1]
        ranked, equal = rank(part, first)
        found = False
        for one in ranked[: min(equal, FOLLOWED)]:
            rest = problem.retold(one.changes)
            for other in single_causes(rest, far=False):
                found = True
                yield together(one, other)
        if found:
            return
    yield from _beside_terms(problem)


def together(one: Candidate, other: Candidate) -> Candidate:
    """Return two candidates as one, the second found with the first given."""
    changes = (*one.changes, *other.changes)
    return Candidate(changes, other.left, (*one.sizes, *other.sizes), one.causes + other.causes)


def _parts(problem: Problem) -> Iterator[Evidence]:
    """Yield parts of the evidence in which one of two causes may not show, those that say most first."""
    evidence, tree = problem.evidence, problem.tree
    weightless = np.flatnonzero(evidence.questions.quantity == MASS)
    if 0 < len(weightless) < len(evidence.questions):
        yield evidence.at(weightless)
    touched = problem.reach.touched
    subtrees: dict[bytes, Mask] = {}
    for i in range(1, len(tree.bodies)):
        if tree.joints[i].nv:
            under = problem.reach.below(i)
            under[tree.v_slices[i]] = False
            if (under & touched).any():
                subtrees[under.tobytes()] = under
    largest = sorted(subtrees.values(), key=lambda under: -int(under.sum()))[:PLACES]
    plain = all(change.ask is as_asked and change.tell is as_answered for change in problem.given)
    for under in largest:
        if (touched & ~under).any():
            yield _of_dofs(evidence, under[evidence.kept])
        if plain and evidence.masses is not None:
            yield _block(evidence, evidence.masses, under[evidence.kept], tree.nv)


def _of_dofs(evidence: Evidence, some: Mask) -> Evidence:
    """Return the evidence with weight on the answers of some of the dofs alone."""
    masses = evidence.masses
    if masses is not None:
        either = some[:, None] | some[None, :]
        masses = Masses(masses.q, masses.M, np.where(either, masses.weight, 0))
    return replace(evidence, weight=np.where(some, evidence.weight, 0), masses=masses)


def _block(evidence: Evidence, masses: Masses, some: Mask, nv: int) -> Evidence:
    """Return the products of M between some of the dofs as evidence: unit vectors for few, random signs for many."""
    at = np.flatnonzero(some)
    scale = np.divide(1, masses.weight, out=np.zeros_like(masses.M), where=masses.weight > 0)
    count = len(masses.q)
    w = np.zeros((count, min(len(at), PRODUCTS), len(some)))
    if len(at) <= PRODUCTS:
        w[:, np.arange(len(at)), at] = 1
    else:
        root = np.sqrt(np.diagonal(scale, axis1=1, axis2=2))[:, at]
        signs = np.random.default_rng(1).choice([-1.0, 1.0], (count, PRODUCTS, len(at)))
        w[:, :, at] = signs / np.where(root > 0, root, 1)[:, None]
    answers = np.einsum("kij,kwj->kwi", masses.M, w).reshape(-1, len(some))
    sizes = np.sqrt(np.einsum("kij,kwj->kwi", scale**2, w**2)).reshape(-1, len(some))
    weight = np.where(some, np.divide(1, sizes, out=np.zeros_like(sizes), where=sizes > 0), 0)
    state = np.repeat(np.arange(count), w.shape[1])
    a = np.zeros((len(state), nv))
    a[:, evidence.kept] = w.reshape(-1, len(some))
    rest, none, kind = np.zeros_like(a), np.zeros(len(state), bool), np.full(len(state), MASS, np.intp)
    entries = np.where(some[:, None] & some[None, :], masses.weight, 0)
    questions = Questions(masses.q[state], rest, a, None, none, kind)
    inside = Masses(masses.q, masses.M, entries)
    return Evidence(questions, answers, weight, evidence.kept, state, np.arange(count), inside)


def _beside_terms(problem: Problem) -> Iterator[Candidate]:
    """Yield terms of one dof beside a cause of any other kind, found without the answers of that dof."""
    touched = np.flatnonzero(problem.reach.touched)
    for dof in touched if len(touched) <= MASKED else []:
        part = replace(problem, evidence=_of_dofs(problem.evidence, problem.evidence.kept != dof))
        for candidate in single_causes(part, far=False):
            for term in term_candidates(problem.retold(candidate.changes)):
                yield together(candidate, term)
