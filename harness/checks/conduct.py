"""How an engine behaves when it is asked: the same question has the same answer, and no question is rewritten."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Final

import numpy as np

from .case import Case, NotApplicable, Residual

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tree import Floats


THIRD: Final = 16  # states that are asked a third time


def repeatability(case: Case) -> Residual:
    """Ask everything again, after all that was asked between, and a part of it once more, and compare bit by bit.

    What goes wrong at every p-th state goes wrong again where p divides the number of states asked in between. So a few
    states are asked before the third time, which make a prime number from the second to the third.

    Raises:
        NotApplicable: nothing was answered the first time.
    """
    methods = case.answered
    if not methods:
        raise NotApplicable("nothing was answered that could be asked again")
    value = np.zeros((len(case.states), len(methods)))
    for column, method in enumerate(methods):
        states = case.dense if method == "mass_matrix" else np.arange(len(case.states))
        question = case.question(method)
        again = case.asked(method, **question)
        case.asked(method, **_few(question, _prime(len(states)) - len(states)))
        third = case.asked(method, **{name: None if x is None else x[:THIRD] for name, x in question.items()})
        first = case.first(method)
        value[states, column] = _difference(first, again)
        some = states[: len(third)]
        value[some, column] = np.maximum(value[some, column], _difference(first[: len(third)], third))
    return Residual(value, np.zeros_like(value), np.arange(len(case.states)), methods)


def _few(question: Mapping[str, Floats | None], count: int) -> dict[str, Floats | None]:
    """Return a question about the first state, so many times."""
    return {name: None if x is None else np.repeat(x[:1], count, axis=0) for name, x in question.items()}


def _prime(count: int) -> int:
    """Return the least prime that is larger than `count`, and than the few calls after which somebody may err again."""
    return next(n for n in itertools.count(max(count + 1, 11)) if all(n % k for k in range(2, math.isqrt(n) + 1)))


def _difference(first: Floats, second: Floats) -> Floats:
    """Return the largest difference of each state (N,): 0 only for the same bits, inf where it is no number."""
    flat = [np.ascontiguousarray(x).reshape(len(x), -1) for x in (first, second)]
    same = np.array([a.tobytes() == b.tobytes() for a, b in zip(*flat, strict=True)])
    size = np.abs(flat[0] - flat[1]).max(-1, initial=0)
    size = np.where(np.isfinite(size), np.maximum(size, np.finfo(np.float64).tiny), np.inf)
    return np.where(same, 0.0, size)


def inputs_unchanged(case: Case) -> Residual:
    """Report the argument that came back most changed from any call of these identities."""
    if not case.asked.changes:
        return Residual(np.zeros(1), np.zeros(1), np.zeros(1, np.intp))
    worst = max(case.asked.changes, key=lambda change: change.size)
    place = f"{worst.method}({worst.argument})"
    return Residual(np.array([[worst.size]]), np.zeros((1, 1)), np.array([worst.state or 0]), (place,))
