"""How much processor time a call takes: that of this process alone, so that others on the machine do not count."""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

BRIEF: Final = 0.2  # s: a first call that takes longer is no rehearsal, and the only one
WHOLE: Final = 0.03  # s in all, after which the best call is known
REPEATS: Final = (4, 200)  # the fewest and the most


def least_seconds(call: Callable[[], Any]) -> float:
    """Return the least processor time of a call, over all threads of this process [s].

    The best of several, since the first finds cold caches; a clock on the wall would count whoever else computes, and
    long calls, which cannot slip in between, more than short ones.
    """
    start = process_time()
    call()
    best = process_time() - start
    if best > BRIEF:
        return best
    fewest, most = REPEATS
    spent, count = 0.0, 0
    while count < fewest or (spent < WHOLE and count < most):
        start = process_time()
        call()
        taken = process_time() - start
        best, spent, count = min(best, taken), spent + taken, count + 1
    return best
