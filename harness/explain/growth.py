"""How counted operations grow with the size of a chain, and exactly so beyond the longest chain that was counted."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

OF_SLOPE: Final = 3  # sizes, the largest: slopes are those of long chains


@dataclass(frozen=True, slots=True)
class Known:
    """Where counting stops, and what is known beyond.

    Attributes:
        nodes: sizes that are counted, one more than the degree: one polynomial goes through them.
        check: a longer chain, counted too, on which the polynomial must hold to the last operation.
    """

    nodes: tuple[int, ...]
    check: int


@dataclass(frozen=True, slots=True)
class Growth:
    """Totals of an algorithm by size.

    Attributes:
        totals: size to operations.
        counted: the longest chain that was counted; what is beyond is the polynomial.
    """

    totals: dict[int, int]
    counted: int


def through(points: Mapping[int, int], n: int) -> Fraction:
    """Return the value at n of the polynomial of least degree through the points, exactly (Lagrange)."""
    value = Fraction(0)
    for k, y in points.items():
        term = Fraction(y)
        for j in points:
            if j != k:
                term *= Fraction(n - j, k - j)
        value += term
    return value


def grown(count: Callable[[Sequence[int]], list[int]], sizes: Sequence[int], known: Known | None) -> Growth:
    """Return the totals at all sizes: counted, and beyond `known.check` those of the polynomial if it holds there.

    Straight-line code that has loops over bodies, nested d times at most, carries out a polynomial of degree d in n.
    Where the polynomial misses the count at the check, what is beyond stays unknown.

    Args:
        count: sizes to totals.
        sizes: of the chains.
        known: where counting stops; None to count all.
    """
    beyond = [n for n in sizes if known is not None and n > known.check]
    if known is None or not beyond:
        return Growth(dict(zip(sizes, count(sizes), strict=True)), max(sizes))
    wanted = sorted({*known.nodes, known.check, *(n for n in sizes if n not in beyond)})
    found = dict(zip(wanted, count(wanted), strict=True))
    totals = {n: found[n] for n in sizes if n in found}
    nodes = {n: found[n] for n in known.nodes}
    if through(nodes, known.check) == found[known.check]:
        totals |= {n: int(through(nodes, n)) for n in beyond}
    return Growth(totals, known.check)


def slope(found: Mapping[int, float]) -> float | None:
    """Return d log / d log n by least squares over the largest sizes; None where there are fewer than two."""
    sizes = sorted(found)[-OF_SLOPE:]
    if len(sizes) < 2:
        return None
    return float(np.polyfit(np.log(sizes), np.log([found[n] for n in sizes]), 1)[0])
