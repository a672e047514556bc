"""The cause of a residual, from the answers alone: the smallest set of differences that brings it down to rounding.

Causes in which the answers are linear are read off the residual; conventions are tried as maps; what a joint may have
done is fitted. Everything that explains as much with as little is named: no motion can tell these apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from .base_parameters import base_parameters, parameters_of, shown
from .closing import pose_error, remaining
from .difference import patched
from .evidence import gather
from .hypotheses import Candidate, Problem
from .losses import mirrored, missing, numbers, other_types
from .ranking import rank
from .single import of_one_place, of_terms, single_causes
from .sparse import pair_candidates
from .whole_inertia import all_inertial

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tree import Floats, Tree
    from .base_parameters import Shown
    from .closure import Observed
    from .difference import Difference
    from .hypotheses import Change, Make

ROUNDING: Final = 2.2e-14  # 100 eps: what right engines leave of a scale, with room
LARGEST: Final = 120  # dofs; guesses are tried in thousands, and each costs a recursion over all bodies
COARSE: Final = 1e-8  # tolerance above which an engine is not held to rounding in double precision
POSE: Final = 1e-9  # of max(1, largest component), up to which two poses are the same
INERTIAL: Final = ("mass", "com", "inertia", "body")


@dataclass(frozen=True, eq=False)
class Explanation:
    """One account of all that was observed.

    Attributes:
        differences: what departs, `given` ones (dofs that are not there, half a mass matrix) first.
        changes: the same with what they do to questions and answers.
        residual: largest error over scale that is left when they are put in, over all states and quantities.
        causes: how many separate reasons this takes.
    """

    differences: tuple[Difference, ...]
    changes: tuple[Change, ...]
    residual: float
    causes: int


@dataclass(frozen=True, eq=False)
class Inference:
    """What the answers alone tell.

    Attributes:
        explanations: best first; empty when nothing departs, or when nothing explains it.
        equal: how many of them, from the first, are equally good.
        residual: largest error over scale before anything is put in.
        notes: for the reader.
        shown: where inertial parameters depart that motion cannot tell one by one, what it does tell of them.
    """

    explanations: tuple[Explanation, ...]
    equal: int
    residual: float
    notes: tuple[str, ...] = ()
    shown: tuple[Shown, ...] = ()

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


def infer(
    expected: Tree,
    observed: Observed,
    make: Make,
    tolerance: float = 1e-9,
    *,
    limit: int = 2,
    poses: Mapping[str, Floats] | None = None,
) -> Inference:
    """Name the cause of what was observed.

    Args:
        expected: the robot of the file.
        observed: states, answers, scales.
        make: returns the native reference of a tree.
        tolerance: relative, of scale; what an engine may leave beyond rounding before it counts as unexplained.
        limit: at most so many separate causes; one place where several values depart together may go beyond it.
        poses: body name to T_world_body (N, 4, 4) at the states, where the engine tells: they part what efforts cannot.
    """
    observed, notes = numbers(observed)
    observed, halves = mirrored(observed, expected, make)
    if not observed.values or not observed.dofs:
        return Inference((), 0, 0.0, (*notes, "nothing was answered"))
    if expected.nv > LARGEST:
        return Inference((), 0, 0.0, (*notes, f"not looked at: more than {LARGEST} dofs"))
    problem = Problem(expected, make, gather(expected, observed), ROUNDING)
    given = missing(problem, observed.dofs)
    problem = problem.retold(given)
    residual = remaining(problem, observed)
    seen = (*halves, *given)
    if residual <= ROUNDING:
        found = [Candidate((), problem.size)] if seen else []
    else:
        problem, found = search(problem, tolerance, residual, limit)
        found = found or ([Candidate((), problem.size)] if seen else [])
    ranked, equal = rank(problem, found)
    if poses:
        ranked, equal, notes = _by_poses(problem, ranked, equal, notes, observed, poses)
    names = (seen, *other_types(seen, expected))
    best = tuple(_explained(problem, observed, one, candidate) for candidate in ranked[:equal] for one in names)
    others = tuple(_explained(problem, observed, seen, candidate) for candidate in ranked[equal:])
    return Inference((*best, *others), len(best), residual, notes, _shown(problem, ranked[:equal], residual))


def search(problem: Problem, tolerance: float, residual: float, limit: int) -> tuple[Problem, list[Candidate]]:
    """Return what explains the residual, and the problem with the rounding that had to be allowed for it.

    Rounding as small as the reference's own is tried first, then what `tolerance` allows, and joints far from where the
    file has them; one cause before several.
    """
    loose = replace(problem, accept=max(ROUNDING, min(tolerance, 1e-3 * residual)))
    for one, far in ((problem, False), (loose, True)):
        found = list(single_causes(one, far=far))
        if any(c.causes == 1 or of_terms(c) or (far and of_one_place(c)) for c in found):
            return one, found
    if limit > 1 and residual > tolerance:
        # Many pairs are tried: an engine that rounds coarsely is told by the tolerance that it is given.
        one = loose if tolerance > COARSE else problem
        pairs = list(pair_candidates(one, limit))
        if pairs:
            return one, pairs
    return loose, found


def _by_poses(
    problem: Problem,
    ranked: list[Candidate],
    equal: int,
    notes: tuple[str, ...],
    observed: Observed,
    poses: Mapping[str, Floats],
) -> tuple[list[Candidate], int, tuple[str, ...]]:
    """Return the candidates whose poses are those of the engine, all of them when there is none, and what to note."""
    states = observed.states
    errors = [pose_error(problem.retold(candidate.changes), states, poses) for candidate in ranked]
    right = [error <= POSE for error in errors]
    if any(right):
        best = sum(right[:equal])
        kept = [candidate for candidate, fits in zip(ranked, right, strict=True) if fits]
        # With all that were equally good out, those that come next are looked at anew.
        return (kept, best, notes) if best else (*rank(problem, kept), notes)
    error = min(errors, default=pose_error(problem, states, poses))
    if error > POSE:
        notes = (*notes, f"poses depart by {error:.2g}, which nothing that was found explains")
    return ranked, equal, notes


def _explained(problem: Problem, observed: Observed, seen: tuple[Change, ...], candidate: Candidate) -> Explanation:
    """Return a candidate with what it leaves of everything that was observed."""
    changes = (*seen, *candidate.changes)
    left = remaining(problem.retold(candidate.changes), observed)
    return Explanation(tuple(change.difference for change in changes), changes, left, candidate.causes)


def _shown(problem: Problem, best: list[Candidate], residual: float) -> tuple[Shown, ...]:
    """Return the base parameters that depart, where single values cannot be told or where no explanation was found."""
    told = [candidate for candidate in best if candidate.changes]
    inertial = [c for c in told if all(d.kind.partition(".")[0] in INERTIAL and d.where for d in c.differences)]
    if residual <= ROUNDING or (told and not (inertial and len(best) > 1)):
        return ()
    tree = problem.tree
    base = base_parameters(tree, problem.reference)
    ours = parameters_of(tree, base.bodies)
    if inertial:
        return shown(base, ours, parameters_of(patched(tree, inertial[0].differences), base.bodies))
    change = all_inertial(problem)
    return () if change is None else shown(base, ours, ours + change)
