"""What one act of a reader makes of all members of a piece at once: no number of it is free.

A reader that merges a body moves its inertial frame into the axes of the holder. With T_holder_body = (R, p), the
centre of mass c, the tensor W = A^T I A as the file writes it, in its own axes A, and W = E D E^T by its moments D:

    right           c -> R c + p    I -> R I R^T
    as written      c -> R c + p    I -> R W R^T               the turn A of the inertial frame was never applied
    other order     c -> c + E p    I -> (E R) D (E R)^T       T_body_inertial T_holder_body, where E stands for A
    other centre    c -> c + E p    I -> W                     the same, and the tensor was not turned at all

The holder itself stands at R = 1, p = 0: all three leave it with W.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from ..spatial import inverse
from ..tree import Inertia
from .inertias import in_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..tree import Floats

MOST: Final = 64  # readings of one act that are tried: the signs of three bodies' principal axes
SIGNS: Final = ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))


def readings(members: Sequence[tuple[Inertia, Floats]]) -> Iterator[list[Inertia]]:
    """Yield what all members may have become by one act, each in its own axes; an act keeps every mass.

    Args:
        members: inertia of every member and its placement (4, 4) in the holder.
    """
    for act in (_as_written, _in_other_order, _about_other_centre):
        every = [act(inertia, T) for inertia, T in members]
        if prod(map(len, every)) <= MOST:
            yield from map(list, product(*every))


def _as_written(inertia: Inertia, _: Floats) -> list[Inertia]:
    W = inertia.axes.T @ inertia.I_com @ inertia.axes
    return [Inertia(inertia.mass, inertia.com, (W + W.T) / 2)]


def _in_other_order(inertia: Inertia, T: Floats) -> list[Inertia]:
    return _moved_along_axes(inertia, T, lambda E, D: E @ T[:3, :3] @ D @ T[:3, :3].T @ E.T)


def _about_other_centre(inertia: Inertia, T: Floats) -> list[Inertia]:
    return _moved_along_axes(inertia, T, lambda E, D: E @ D @ E.T)


def _moved_along_axes(inertia: Inertia, T: Floats, tensor: Callable[[Floats, Floats], Floats]) -> list[Inertia]:
    """Return a member whose placement was taken in its principal axes, once per choice of their signs.

    Args:
        inertia: of the member.
        T: (4, 4) placement in the holder.
        tensor: of E and D, in the axes of the holder.
    """
    (written,) = _as_written(inertia, T)
    if inertia.is_zero or np.array_equal(T, np.eye(4)):
        return [written]
    moments, axes = np.linalg.eigh(written.I_com)
    D, E = np.diag(moments[::-1]), axes[:, ::-1]  # the largest moment first, as MuJoCo sorts them
    E = E * np.sign(np.linalg.det(E))
    back = np.asarray(inverse(T), np.float64)
    turned = [E * np.array(signs) for signs in SIGNS]
    return [in_frame(Inertia(inertia.mass, inertia.com + X @ T[:3, 3], tensor(X, D)), back) for X in turned]
