"""Which candidates are equally good: what they leave is rounding, and they take as few causes and free values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from .hypotheses import rms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .hypotheses import Candidate, Problem

FLOOR: Final = 9e-16  # root mean square below which nothing but rounding tells two candidates apart
BLIND: Final = 1e-7  # share of the largest direction below which another one counts as not shown
ALIKE: Final = 8.0  # ratio of what two candidates leave, up to which rounding alone may make it


def rank(problem: Problem, found: Sequence[Candidate]) -> tuple[list[Candidate], int]:
    """Return the candidates that leave no more than the best does, up to rounding, and how many are equally good.

    Fewest causes come first, then fewest values that were fitted and show. What a candidate leaves is computed anew
    from the tree that it makes, since projections round in their own way.
    """
    measured = [replace(c, left=rms(problem.left(c.changes))) for c in found]
    bar = max(FLOOR, ALIKE * min((candidate.left for candidate in measured), default=0.0))
    distinct: dict[tuple[tuple[str, str | None], ...], Candidate] = {}
    for candidate in sorted(measured, key=lambda c: place(c, bar)):
        if candidate.left <= bar:
            distinct.setdefault(tuple((d.kind, d.where) for d in candidate.differences), candidate)
    ranked = list(distinct.values())
    return ranked, sum(place(candidate, bar) == place(ranked[0], bar) for candidate in ranked)


def place(candidate: Candidate, bar: float) -> tuple[int, int]:
    """Return the number of causes, and of fitted directions that show above `bar`."""
    bar = max(bar, BLIND * max(candidate.sizes, default=0.0))
    return candidate.causes, sum(size > bar for size in candidate.sizes)
