"""The inertias that an importer or a typist makes of the one that the file states: a closed list, nothing fitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import TYPE_CHECKING, Final

import numpy as np

from ..spatial import skew
from ..tree import Inertia
from .parameters import six, tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tree import Floats

SIGNS: Final = tuple(s for s in product((1.0, -1.0), repeat=3) if s != (1.0, 1.0, 1.0))
ORDERS: Final = tuple(permutations(range(6)))[1:]


@dataclass(frozen=True, eq=False)
class Guess:
    """One inertia that may have been made of ours.

    Attributes:
        kind: a key of `harness.findings.KINDS`.
        field: "mass", "com", "inertia", "both" (centre and tensor) or "inertial" (everything).
        theirs: the inertia.
    """

    kind: str
    field: str
    theirs: Inertia


def guesses(ours: Inertia) -> Iterator[Guess]:
    """Yield what may have become of one inertia, each different from ours, in body axes."""
    if ours.is_zero:
        yield Guess("mass.default", "inertial", Inertia(1.0, np.zeros(3), np.eye(3)))
        return
    yield Guess("body.missing", "inertial", Inertia(0.0, ours.com))
    if ours.mass and ours.com.any():
        yield Guess("com", "com", replace(ours, com=np.zeros(3)))
        yield Guess("com", "com", replace(ours, com=-ours.com))
        for k in (1e3, 1e-3):
            yield Guess("units.length", "com", replace(ours, com=ours.com * k))
    if ours.I_com.any():
        for k in (1e6, 1e-6):
            yield Guess("units.length", "inertia", replace(ours, I_com=ours.I_com * k))
            if ours.com.any():
                com = ours.com * k ** (1 / 2)
                yield Guess("units.length", "both", replace(ours, com=com, I_com=ours.I_com * k))
        yield Guess("inertia.value", "inertia", replace(ours, I_com=np.zeros((3, 3))))
    yield from _tensors(ours)


def _tensors(ours: Inertia) -> Iterator[Guess]:
    """Yield the patterns that leave mass and centre alone; in the axes of the file as well as in those of the body."""
    I, R = ours.I_com, ours.axes
    shift = -ours.mass * (skew(ours.com) @ skew(ours.com))
    tensors = [("inertia.reference_point", I + k * shift) for k in (1.0, -1.0, 2.0)] if shift.any() else []
    if not np.array_equal(R, np.eye(3)):
        tensors += [("inertia.rotation", R.T @ I @ R), ("inertia.rotation", R @ I @ R.T)]
    for axes in _axes(ours):
        values = six(axes.T @ I @ axes)
        signs = [("inertia.sign", np.concatenate([values[:3], values[3:] * s])) for s in SIGNS]
        for kind, other in [("inertia.off_diagonal", np.concatenate([values[:3], np.zeros(3)])), *signs]:
            tensors.append((kind, axes @ tensor(other) @ axes.T))
    size, seen = float(np.abs(I).max()), [six(I)]
    for kind, K in tensors:
        if np.abs(np.array(seen) - six(K)).max(1).min() > 1e-13 * size:
            seen.append(six(K))
            yield Guess(kind, "inertia", replace(ours, I_com=(K + K.T) / 2))


def _axes(ours: Inertia) -> list[Floats]:
    """Return the axes in which a tensor may be written: those of the body, and those of the file."""
    return [np.eye(3)] if np.array_equal(ours.axes, np.eye(3)) else [np.eye(3), ours.axes]


def orders(ours: Inertia) -> Floats:
    """Return the distinct tensors (K, 6), as xx yy zz xy xz yz, that are ours with its numbers in another order."""
    found: list[Floats] = []
    for axes in _axes(ours):
        values = six(axes.T @ ours.I_com @ axes)
        every = np.unique(values[np.array(ORDERS)], axis=0)
        found.append(six(axes @ tensor(every) @ axes.T))
    every = np.concatenate(found)
    size = float(np.abs(ours.I_com).max())
    return every[np.abs(every - six(ours.I_com)).max(1) > 1e-13 * size]
