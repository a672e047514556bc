"""In which answers a residual shows: a term may be in one call of an engine and not in another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from .evidence import BIAS, GRAVITY, QUANTITIES, TAU

if TYPE_CHECKING:
    from .evidence import Mask
    from .hypotheses import Problem

HEAVY: Final = (TAU, BIAS, GRAVITY)


@dataclass(frozen=True, eq=False)
class Booking:
    """In which answers the residual shows.

    Attributes:
        rows: (E,) questions of these quantities.
        quantities: indices in `QUANTITIES`.
        everywhere: whether all answers that could show it do.
    """

    rows: Mask
    quantities: tuple[int, ...]
    everywhere: bool

    @property
    def note(self) -> str:
        """For the reader."""
        return "" if self.everywhere else "in " + " and ".join(QUANTITIES[k] for k in self.quantities) + " alone"


def booking(problem: Problem, could: tuple[int, ...]) -> Booking | None:
    """Return where the residual shows; None when it shows in an answer that could not have it."""
    quantity = problem.evidence.questions.quantity
    size = np.abs(problem.residual).max(1, initial=0)
    shows = tuple(k for k in range(len(QUANTITIES)) if size[quantity == k].max(initial=0) > problem.accept)
    if not shows or not set(shows) <= set(could):
        return None
    present = {int(k) for k in np.unique(quantity)} & set(could)
    return Booking(np.isin(quantity, shows), shows, set(shows) >= present)


def only_in(problem: Problem, kind: int) -> bool:
    """Return whether the residual shows in one quantity alone, though all four were answered."""
    where = booking(problem, (kind,))
    return where is not None and len(np.unique(problem.evidence.questions.quantity)) == len(QUANTITIES)
