"""The cause of a residual, from the answers alone: the smallest set of differences that brings it down to rounding.

Causes in which the answers are linear are read off the residual; conventions are tried as maps; what a joint may have
done is fitted. Everything that explains as much with as little is named: no motion can tell these apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final


from .closing import remaining
from .evidence import gather
from .gravities import gravcomp_candidates, gravity_candidates, tendon_candidates
from .hypotheses import Candidate, Problem, rms
from .inertial import inertial_candidates
from .joint_faults import displaced_candidates, reversed_candidates, suspects, zero_candidates
from .losses import mirrored, missing, numbers
from .maps import base_guesses, fitting, unit_guesses, wrench_guesses
from .orders import order_candidates
from .terms import term_candidates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..tree import Tree
    from .closure import Observed
    from .difference import Difference
    from .hypotheses import Change, Make

ROUNDING: Final = 2.2e-14  # 100 eps: what right engines leave of a scale, with room
FLOOR: Final = 9e-16  # root mean square below which two candidates are told apart by nothing but rounding
ALIKE: Final = 8.0  # ratio of what two candidates leave, up to which rounding alone may make it


@dataclass(frozen=True, eq=False)
class Explanation:
    """One account of all that was observed.

    Attributes:
        differences: what departs, `given` ones (dofs that are not there, half a mass matrix) first.
        changes: the same with what they do to questions and answers.
        residual: largest error over scale that is left when they are put in, over all states and quantities.
        free: how many values were fitted that show in the answers.
        causes: how many separate reasons this takes.
    """

    differences: tuple[Difference, ...]
    changes: tuple[Change, ...]
    residual: float
    free: int
    causes: int


@dataclass(frozen=True, eq=False)
class Inference:
    """What the answers alone tell.

    Attributes:
        explanations: best first; empty when nothing departs, or when nothing explains it.
        equal: how many of them, from the first, are equally good.
        residual: largest error over scale before anything is put in.
        notes: for the reader.
    """

    explanations: tuple[Explanation, ...]
    equal: int
    residual: float
    notes: tuple[str, ...]

    @property
    def best(self) -> tuple[Explanation, ...]:
        """The explanations that are equally good."""
        return self.explanations[: self.equal]

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Of the first explanation, with the others that are equally good as rivals."""
        if not self.explanations:
            return ()
        first, *others = self.best
        rivals = {(d.kind, d.where): d for e in others for d in e.differences}
        told = {(d.kind, d.where) for d in first.differences}
        equal = tuple(d for key, d in rivals.items() if key not in told)
        return tuple(replace(d, rivals=(*d.rivals, *equal)) for d in first.differences)


def infer(expected: Tree, observed: Observed, make: Make, tolerance: float = 1e-9, *, limit: int = 2) -> Inference:
    """Name the cause of what was observed.

    Args:
        expected: the robot of the file.
        observed: states, answers, scales.
        make: returns the native reference of a tree.
        tolerance: relative, of scale; what an engine may leave beyond rounding before it counts as unexplained.
        limit: at most so many separate causes.
    """
    observed, notes = numbers(observed)
    observed, halves = mirrored(observed, expected, make)
    if not observed.values or not observed.dofs:
        return Inference((), 0, 0.0, (*notes, "nothing was answered"))
    evidence = gather(expected, observed)
    problem = Problem(expected, make, evidence, ROUNDING)
    given = missing(problem, observed.dofs)
    problem = problem.retold(given)
    residual = remaining(problem, observed)
    seen = (*halves, *given)
    if residual <= ROUNDING:
        found = [Candidate((), problem.size)] if seen else []
    else:
        found = list(search(problem, limit))
        loose = max(ROUNDING, min(tolerance, 1e-3 * residual))
        if not found and loose > ROUNDING:
            problem = replace(problem, accept=loose)
            found = list(search(problem, limit))
    ranked = rank(problem, found)
    best = ranked[: sum(_place(c, ranked) == _place(ranked[0], ranked) for c in ranked)]
    explanations = tuple(_explained(problem, observed, seen, c, ranked) for c in ranked)
    return Inference(explanations, len(best), residual, notes)


def search(problem: Problem, limit: int) -> Iterator[Candidate]:
    """Yield what explains the residual: single causes, and more only when there is none."""
    singles = list(single_causes(problem))
    yield from singles
    del limit


def single_causes(problem: Problem) -> Iterator[Candidate]:
    """Yield candidates of one cause, and those of several that come with one place; far geometry only when needed."""
    tree = problem.tree
    sources: list[Callable[[], Iterable[Candidate]]] = [
        lambda: inertial_candidates(problem),
        lambda: term_candidates(problem),
        lambda: gravity_candidates(problem),
        lambda: gravcomp_candidates(problem),
        lambda: tendon_candidates(problem),
        lambda: fitting(problem, base_guesses(tree)),
        lambda: fitting(problem, wrench_guesses(tree, problem)),
        lambda: fitting(problem, list(unit_guesses(tree))),
        lambda: order_candidates(problem),
        lambda: reversed_candidates(problem),
        lambda: zero_candidates(problem),
    ]
    found = [candidate for source in sources for candidate in source()]
    bodies = suspects(problem, fixed=True)
    found += displaced_candidates(problem, bodies, far=False)
    single = [candidate for candidate in found if candidate.causes == 1]
    if not single:
        found += displaced_candidates(problem, bodies, far=True)
    elif any(candidate.differences[0].kind.startswith("gravity") for candidate in single):
        roots = [i for i in bodies if tree.roots[i] == i]
        found += displaced_candidates(problem, roots, far=True)
    yield from found


def rank(problem: Problem, found: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that leave no more than rounding beyond the best, fewest causes and values first.

    What a candidate leaves is computed anew from the tree that it makes, since projections round in their own way.
    """
    distinct: dict[tuple[tuple[str, str | None], ...], Candidate] = {}
    for candidate in sorted(found, key=lambda c: (c.causes, len(c.sizes))):
        distinct.setdefault(tuple((d.kind, d.where) for d in candidate.differences), candidate)
    measured = [replace(c, left=rms(problem.left(c.changes))) for c in distinct.values()]
    bar = _bar(measured)
    fitting = [candidate for candidate in measured if candidate.left <= bar]
    return sorted(fitting, key=lambda c: (c.causes, _free(c, bar)))


def _bar(found: Sequence[Candidate]) -> float:
    """Return the root mean square up to which candidates leave the same."""
    return max(FLOOR, ALIKE * min((candidate.left for candidate in found), default=0.0))


def _free(candidate: Candidate, bar: float) -> int:
    return sum(size > bar for size in candidate.sizes)


def _place(candidate: Candidate, ranked: Sequence[Candidate]) -> tuple[int, int]:
    return candidate.causes, _free(candidate, _bar(ranked))


def _explained(
    problem: Problem, observed: Observed, seen: tuple[Change, ...], candidate: Candidate, ranked: Sequence[Candidate]
) -> Explanation:
    changes = (*seen, *candidate.changes)
    left = remaining(problem.retold(candidate.changes), observed)
    free = _place(candidate, ranked)[1]
    return Explanation(tuple(change.difference for change in changes), changes, left, free, candidate.causes)


