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
        raise malformed(f"<{element.tag}>{_of(owner)} {state} attribute '{attribute}'", element.source, owner)
    return value


def number(element: Element, attribute: str, owner: Owner, default: float | None = None) -> float:
    """Return a number, or the default of an attribute that may be missing.

    Raises:
        ReadError: it is missing without a default, is no number, or is not finite.
    """
    return float(numbers(element, attribute, owner, 1, None if default is None else (default,))[0])


def numbers(
    element: Element, attribute: str, owner: Owner, count: int, default: tuple[float, ...] | None = None
) -> Floats:
    """Return an attribute of `count` numbers separated by white space.

    Returns:
        (count,) the numbers, or the default of an attribute that may be missing.

    Raises:
        ReadError: it is missing without a default, has another count, or holds something else than finite numbers.
    """
    value = element.get(attribute)
    if value is None and default is not None:
        return np.array(default)
    words = text(element, attribute, owner).split()
    if len(words) != count:
        message = _message(element, attribute, owner, f"{value!r} has {len(words)} numbers; expected {count}")
        raise malformed(message, element.source, owner)
    return np.array([_number(word, element, attribute, owner) for word in words])


def _number(word: str, element: Element, attribute: str, owner: Owner) -> float:
    if not _NUMBER.fullmatch(word):
        wrong = "is not finite" if word.lower().lstrip("+-") in ("nan", "inf", "infinity") else "is no number"
        hint = "; the decimal sign is a point" if "," in word else ""
        raise malformed(_message(element, attribute, owner, f"{word!r} {wrong}{hint}"), element.source, owner)
    value = float(word)
    if not math.isfinite(value):
        raise malformed(
            _message(element, attribute, owner, f"{word!r} is too large for a double"), element.source, owner
        )
    return value


def _message(element: Element, attribute: str, owner: Owner, fault: str) -> str:
    return f"<{element.tag} {attribute}=...>{_of(owner)}: {fault}"


def _of(owner: Owner | None) -> str:
    return f" of {owner}" if owner else ""
