"""Every single cause that is known, tried on one residual."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .base_maps import base_guesses
from .booking import only_in
from .evidence import TAU
from .gravcomp import gravcomp_candidates
from .gravities import gravity_candidates
from .inertial import inertial_candidates
from .joint_faults import askew_candidates, displaced_candidates, held_candidates
from .joint_zeros import reversed_candidates, suspects, zero_candidates
from .maps import fitting, unit_guesses, wrench_guesses
from .orders import order_candidates
from .readings import read_candidates
from .tendons import tendon_candidates
from .terms import TERMS, term_candidates
from .whole_inertia import scaled_candidates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..tree import Floats
    from .hypotheses import Candidate, Problem


def single_causes(problem: Problem, *, far: bool = True) -> Iterator[Candidate]:
    """Yield candidates of one cause, and those of several that come with one place.

    Args:
        problem: to be explained.
        far: whether joints are looked for far from where the file has them, when nothing else explains the residual.
    """
    tree = problem.tree
    booked = [candidate for source in _booked(problem) for candidate in source()]
    # Another robot shows in M or in the bias too.
    if only_in(problem, TAU):
        yield from booked
        return
    sources: list[Callable[[], Iterable[Candidate]]] = [
        lambda: inertial_candidates(problem),
        lambda: scaled_candidates(problem),
        lambda: booked,
        lambda: tendon_candidates(problem),
        lambda: fitting(problem, base_guesses(tree)),
        lambda: fitting(problem, list(unit_guesses(tree))),
        lambda: order_candidates(problem),
        lambda: reversed_candidates(problem),
        lambda: zero_candidates(problem),
    ]
    found = [candidate for source in sources for candidate in source()]
    found += held_candidates(problem)
    bodies = suspects(problem, fixed=True)
    likely = [i for i in bodies if problem.reach.shows_below(i)]
    found += displaced_candidates(problem, likely, far=False)
    if not _explained(found):
        found += displaced_candidates(problem, [i for i in bodies if i not in likely], far=False)
    for candidate in booked:
        g = _gravity_of(candidate)
        # A base that stands askew sees the gravity of an upright one turned, however far.
        if g is not None and abs(np.linalg.norm(g) - np.linalg.norm(tree.gravity)) <= 1e-9 * np.linalg.norm(g):
            found += askew_candidates(problem, bodies, g)
    if not found:
        found += read_candidates(problem)
    if far and not (_explained(found) or any(map(of_one_place, found))):
        found += displaced_candidates(problem, bodies, far=True)
    yield from found


def _explained(found: list[Candidate]) -> bool:
    """Return whether one cause explains the residual, or terms of single dofs, so that nothing more need be tried."""
    return any(candidate.causes == 1 or of_terms(candidate) for candidate in found)


def _gravity_of(candidate: Candidate) -> Floats | None:
    """Return the gravity that a candidate found, when it is one that all answers have."""
    (first, *others) = candidate.differences
    everywhere = first.kind.startswith("gravity.") and not others and not first.note
    return np.array(first.found) if everywhere else None


def _booked(problem: Problem) -> list[Callable[[], Iterable[Candidate]]]:
    """Return the sources of causes that may show in tau alone."""
    return [
        lambda: term_candidates(problem),
        lambda: gravity_candidates(problem),
        lambda: gravcomp_candidates(problem),
        lambda: fitting(problem, wrench_guesses(problem.tree, problem)),
    ]


def of_terms(candidate: Candidate) -> bool:
    """Return whether a candidate is made of terms of single dofs, which nothing else imitates."""
    return all(difference.kind in (*TERMS, "rotor") for difference in candidate.differences)


def of_one_place(candidate: Candidate) -> bool:
    """Return whether all differences of a candidate are of one body or joint."""
    return len({difference.where for difference in candidate.differences}) == 1
