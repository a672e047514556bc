"""What a set of changes leaves of everything that was observed, not only of the evidence that was searched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .evidence import BIAS, GRAVITY, QUANTITIES, TAU, Questions, answer, weights
from .hypotheses import as_answered, as_asked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..states import States
    from ..tree import Floats
    from .closure import Observed
    from .hypotheses import Problem


def remaining(problem: Problem, observed: Observed) -> float:
    """Return the largest error over scale that the given changes leave, of all that was observed.

    M is compared entry by entry where no change is a map; else its products, which are evidence, stand for it.
    """
    worst = float(np.abs(problem.residual).max(initial=0))
    kept = problem.evidence.kept
    for kind in (TAU, BIAS, GRAVITY):
        name = QUANTITIES[kind]
        if name in observed.values:
            questions = _questions(observed, kind)
            efforts = problem.told(questions, answer(problem.reference, problem.taken(questions)))[:, kept]
            value = observed.values[name]
            weight = weights(value, observed.scales[name])
            worst = max(worst, float(np.abs((value - efforts) * weight).max(initial=0)))
    plain = all(change.ask is as_asked and change.tell is as_answered for change in problem.given)
    if "mass_matrix" in observed.values and plain:
        value = observed.values["mass_matrix"]
        M = problem.reference.mass_matrix(observed.states.q)[:, kept[:, None], kept]
        scale = observed.scales["mass_matrix"]
        weight = weights(value.reshape(len(value), -1), scale.reshape(len(value), -1)).reshape(value.shape)
        worst = max(worst, float(np.abs((value - M) * weight).max(initial=0)))
    return worst


def pose_error(problem: Problem, states: States, poses: Mapping[str, Floats]) -> float:
    """Return the largest error of T_world_body over max(1, largest component), over the bodies that were told."""
    rest = np.zeros_like(states.v)
    kinds = np.full(len(states.q), GRAVITY, np.intp)
    asked = problem.taken(Questions(states.q, rest, rest, None, np.full(len(states.q), True), kinds))
    expected = np.asarray(problem.reference.poses(asked.q), np.float64)
    tree = problem.tree
    errors = [np.abs(expected[:, tree.index[name] - 1] - T) / max(1.0, np.abs(T).max()) for name, T in poses.items()]
    return float(max((error.max(initial=0) for error in errors), default=0.0))


def _questions(observed: Observed, kind: int) -> Questions:
    s = observed.states
    rest = np.zeros_like(s.v)
    v, a = rest if kind == GRAVITY else s.v, s.a if kind == TAU else rest
    wrenches = s.wrenches if kind == TAU and s.wrenches.any() else None
    full = np.full(len(s.q), True)
    return Questions(s.q, v, a, wrenches, full, np.full(len(s.q), kind, np.intp))
