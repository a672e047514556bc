"""What the textbook algorithms ask of their inputs, held before a number is computed.

numpy stretches an axis that is one long, and a slice takes the front of one that is too long: both would answer another
question. A matrix without an inverse, or a number that is none, ends in words of a library that tell no one what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...harness.errors import RequestError, ShapeError
from ...harness.linear import scaled_pivots

if TYPE_CHECKING:
    from ...harness.spatial import Array

SINGULAR = 64  # in eps: the smallest pivot of a mass matrix, scaled to unit diagonal, that is told from nothing


def agree(owner: str, **given: tuple[Any, *tuple[int | str, ...]]) -> None:
    """Pass when arrays have the shapes that are named, a letter standing for the same size in all of them.

    Args:
        owner: whose they are, for the message.
        given: by name, the array and its sizes: `q=(q, "N", 7), v=(v, "N", 6)`; arrays that are None are passed over.

    Raises:
        ShapeError: one has another shape.
    """
    sizes: dict[str, int] = {}
    for name, (array, *asked) in given.items():
        if array is None:
            continue
        shape, wanted = np.shape(array), [sizes.get(size, size) if isinstance(size, str) else size for size in asked]
        if len(shape) != len(wanted) or any(
            not isinstance(want, str) and want != size for want, size in zip(wanted, shape, strict=True)
        ):
            text = f"({', '.join(map(str, wanted))}{',' if len(wanted) == 1 else ''})"
            raise ShapeError(f"{name} has shape {shape}; {owner} needs {text}")
        sizes |= {letter: size for letter, size in zip(asked, shape, strict=True) if isinstance(letter, str)}


def end_in(owner: str, **given: tuple[Any, int]) -> None:
    """Pass when the last axes have the sizes that are named, and the axes before them go together.

    Raises:
        ShapeError: they do not.
    """
    fronts: list[tuple[int, ...]] = []
    for name, (array, size) in given.items():
        if array is None:
            continue
        shape = np.shape(array)
        if not shape or shape[-1] != size:
            raise ShapeError(f"{name} has shape {shape}; {owner} needs (..., {size})")
        fronts.append(shape[:-1])
    try:
        np.broadcast_shapes(*fronts)
    except ValueError:
        told = ", ".join(f"{name} {np.shape(array)}" for name, (array, _) in given.items() if array is not None)
        raise ShapeError(f"{owner} is given other numbers of states at once: {told}") from None


def finite(owner: str, **given: Any) -> None:
    """Pass when all numbers are.

    Raises:
        RequestError: one is infinite, or none.
    """
    for name, array in given.items():
        if array is not None and not np.isfinite(array).all():
            raise RequestError(f"{name} is not finite: {owner} has no answer there")


def moving(owner: str, M: Array) -> Array:
    """Return mass matrices (..., nv, nv) that have an inverse.

    Raises:
        RequestError: some joint moves no inertia.
    """
    pivots = np.abs(scaled_pivots(M))
    if not (pivots > SINGULAR * np.finfo(M.dtype).eps).all():
        raise RequestError(f"the mass matrix of {owner} is singular: some joint moves no inertia")
    return M
