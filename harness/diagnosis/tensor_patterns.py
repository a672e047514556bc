"""Patterns between two tensors about the centre of mass: which known mistake makes one of the other.

A mistake is made in the axes in which somebody writes the tensor: those of the body, or of either file. Where a tensor
is known only as what is left of a sum, the axes are lost with the file that had it; a pattern that singles out axes by
itself is then looked for in those.
"""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING, Final

import numpy as np

from ..spatial import skew

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..tree import Floats, Inertia

SIX: Final = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # xx yy zz xy xz yz
ORDERS: Final = np.array(list(permutations(range(6))))  # (720, 6) every order of six components
FLIPS: Final = np.array([s for s in product((1, -1), repeat=3) if s != (1, 1, 1)])
CLOSER: Final = 1e2  # how many times less a pattern must leave than another to come before it
EXACT: Final = 1e-14  # of a tensor: less than that is rounding, and tells nothing
SEEN: Final = 1e-5  # of a tensor: what departs by less may be axes in single precision, which single themselves out
SAME: Final = 1e-5  # of a tensor: what single precision leaves of one that was only multiplied
TELLING: Final = 0.1  # of what departs: a pattern that leaves more explains nothing


def patterns(
    ours: Inertia, theirs: Inertia, grain: float, frames: Sequence[Floats], *, free: bool = True
) -> dict[str, bool]:
    """Return the kinds that fit, the most telling first, with whether it is in axes or about a point that is known.

    A small turn leaves the diagonal as it was but for its square, and small products that are dropped leave the
    principal moments so: of two that fit, the one that fits by far better comes first.

    Args:
        ours: as the file says.
        theirs: another tensor of the same body, in the same body axes.
        grain: [kg m^2] what counts as equal.
        frames: (3, 3) other axes in which a mistake may have been made.
        free: whether axes and points that no file names are tried too.
    """
    departs, size = (float(np.abs(I).max()) for I in (ours.I_com - theirs.I_com, ours.I_com))
    most, seen = min(grain, TELLING * departs), departs > SEEN * size
    tried = [(kind, left, True) for kind, left in _left(ours, theirs, frames if seen else None)]
    tried += [(kind, left, False) for kind, left in _free_left(ours.I_com, theirs.I_com)] if free and seen else []
    found = [row for row in tried if row[1] <= most]
    if not found:
        return {}
    bar = CLOSER * max(min(row[1] for row in found), EXACT * size)
    order = sorted(found, key=lambda row: row[1] > bar)
    kinds: dict[str, bool] = {}
    for kind, _, known in order:
        kinds.setdefault(kind, known)
    return kinds


def _left(ours: Inertia, theirs: Inertia, frames: Sequence[Floats] | None) -> Iterator[tuple[str, float]]:
    """Yield every pattern in known axes with what it leaves [kg m^2], the most telling first.

    Without `frames` the axes are those of the body and of the file alone.
    """
    I, K = ours.I_com, theirs.I_com
    R = ours.axes
    axes = (np.eye(3), R, *([] if frames is None else (theirs.axes, *frames)))
    yield "inertia.rotation", float(np.abs(R.T @ I @ R - K).max()) / 4  # never turned into the body axes
    known = [_in_axes(R.T @ I @ R, R.T @ K @ R) for R in axes]
    yield from (min(rows, key=lambda row: row[1]) for rows in zip(*(k[:2] for k in known), strict=True))
    yield "inertia.reference_point", _shift_left(ours, theirs) / 4
    yield min((k[2] for k in known), key=lambda row: row[1])
    yield "inertia.rotation", float(np.abs(np.linalg.eigvalsh(I) - np.linalg.eigvalsh(K)).max()) / 4
    for k in (1e6, 1e-6) if I.any() else ():
        left = float(np.abs(I * k - K).max())
        # In the file's units next to nothing may be left, and still a share of the other tensor that is no rounding.
        yield "units.length", left / max(k, 1) if left <= SAME * float(np.abs(K).max()) else np.inf


def _free_left(I: Floats, K: Floats) -> Iterator[tuple[str, float]]:
    """Yield the patterns that single out axes or a point by themselves, with what they leave [kg m^2]."""
    own = [_in_axes(R.T @ I @ R, R.T @ K @ R) for R in _own_axes(I, K)]
    yield from (min(rows, key=lambda row: row[1]) for rows in zip(*(k[:2] for k in own), strict=True))
    yield "inertia.reference_point", _any_shift_left(I, K)


def _in_axes(I: Floats, K: Floats) -> tuple[tuple[str, float], tuple[str, float], tuple[str, float]]:
    """Return what dropped products, flipped signs and another order leave of two tensors in one set of axes."""
    six, other = np.array([I[at] for at in SIX]), np.array([K[at] for at in SIX])
    diagonal = float(np.abs(six[:3] - other[:3]).max())
    dropped = max(diagonal, float(min(np.abs(six[3:]).max(), np.abs(other[3:]).max())))
    flipped = max(diagonal, float(np.abs(six[3:] * FLIPS - other[3:]).max(1).min()))
    ordered = float(np.abs(six[ORDERS] - other).max(1).min())
    return ("inertia.off_diagonal", dropped), ("inertia.sign", flipped), ("inertia.order", ordered)


def _own_axes(I: Floats, K: Floats) -> list[Floats]:
    """Return the axes that a pattern would single out.

    Products were dropped in the principal axes of what is left. Where all three changed sign, I + K is diagonal. Where
    one did, I - K has that product alone: its principal axes are halfway between two of those looked for.
    """
    axes = [np.linalg.eigh(X)[1] for X in (K, I, I + K)]
    halfway = np.linalg.eigh(I - K)[1]  # moments -p, 0, p
    low, null, high = halfway.T
    axes.append(np.column_stack([(low + high) / np.sqrt(2), (high - low) / np.sqrt(2), null]))
    return [np.asarray(R, np.float64) for R in axes]


def _shift_left(ours: Inertia, theirs: Inertia) -> float:
    """Return what a shift to or from the body origin leaves; inf where there is none."""
    shifts = [k * ours.mass * -(skew(c) @ skew(c)) for k in (1, -1) for c in (ours.com, theirs.com)]
    size = 1e-12 * float(np.abs(ours.I_com).max())
    lefts = [float(np.abs(ours.I_com + s - theirs.I_com).max()) for s in shifts if np.abs(s).max() > size]
    return min(lefts, default=np.inf)


def _any_shift_left(I: Floats, K: Floats) -> float:
    """Return what a shift to or from any point c leaves: m (c.c 1 - c c^T) has moments 0, m c.c, m c.c."""
    moments = np.linalg.eigvalsh(K - I)
    return min(max(abs(x[0]), abs(x[1] - x[2])) for x in (moments, -moments[::-1]))
