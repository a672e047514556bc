"""Read names and numbers from the attributes of XML elements, strictly, and point at the line of what is wrong."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..errors import ReadError, Source

if TYPE_CHECKING:
    from ..tree import Floats
    from .xml import Element

# What C and C++ read alike in every locale; float() would also take 1_000, nan and the digits of other scripts.
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_NOT_FINITE: Final = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Owner:
    """The named thing that an element belongs to: `link 'forearm'`; its name is the `where` of an error."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r}"


def malformed(message: str, source: Source, owner: Owner | None = None) -> ReadError:
    """Return the error that what stands here breaks the rules of its format."""
    return ReadError(message, source, where=owner.name if owner else None)


def text(element: Element, attribute: str, owner: Owner | None = None) -> str:
    """Return an attribute that must be there and must not be empty.

    Raises:
        ReadError: it is missing or empty.
    """
    value = element.get(attribute)
    if not value:
        state = "has no" if value is None else "has an empty"
        of = f" of {owner}" if owner else ""
        raise malformed(f"<{element.tag}>{of} {state} attribute '{attribute}'", element.source, owner)
    return value


def number(element: Element, attribute: str, owner: Owner, default: float | None = None) -> float:
    """Return a number, or the default of an attribute that may be missing.

    Raises:
        ReadError: it is missing without a default, is no number, or is not finite.
    """
    if default is not None and element.get(attribute) is None:
        return default
    return _numbers(element, attribute, owner, 1)[0]


def numbers(
    element: Element, attribute: str, owner: Owner, count: int, default: tuple[float, ...] | None = None
) -> Floats:
    """Return an attribute of `count` numbers separated by white space.

    Returns:
        (count,) the numbers, or the default of an attribute that may be missing.

    Raises:
        ReadError: it is missing without a default, has another count, or holds something else than finite numbers.
    """
    if default is not None and element.get(attribute) is None:
        return np.array(default)
    return np.array(_numbers(element, attribute, owner, count))


def _numbers(element: Element, attribute: str, owner: Owner, count: int) -> list[float]:
    value = text(element, attribute, owner)
    words = value.split()
    fault = "" if len(words) == count else f"{value!r} has {len(words)} numbers; expected {count}"
    result: list[float] = []
    for word in words:
        if not _NUMBER.fullmatch(word):
            fault = f"{word!r} is {'not finite' if _NOT_FINITE.fullmatch(word) else 'no number'}"
            fault += "; the decimal sign is a point" if "," in word else ""
            break
        result.append(float(word))
    if not fault and not all(map(math.isfinite, result)):
        fault = f"{value!r} is too large for a double"
    if fault:
        raise malformed(f"<{element.tag} {attribute}=...> of {owner}: {fault}", element.source, owner)
    return result
