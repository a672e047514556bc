"""Write XML line by line, every number exact, every name escaped, and keep account of what a format cannot hold.

A streaming writer, not lxml or xml.etree: both write nested elements by recursion, and a chain of a thousand bodies is
nested a thousand deep in MJCF.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from ..errors import Source, TreeError
from ..tree import Loss

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from ..tree import Floats

Value: TypeAlias = "str | float | Iterable[float] | Floats | None"

# Where a format demands a limit and there is none: further [rad, m] and more [N m, N, rad/s] than any robot can, and
# far enough from overflow for whoever subtracts two limits.
BEYOND: Final = 1e9
_DEEPEST_INDENT: Final = 40


@dataclass(frozen=True, slots=True)
class Exported:
    """A tree as the text of a file.

    Attributes:
        text: the file, to be written as UTF-8.
        losses: what the tree says and the file does not, or what a common reader of the format will not take. What the
            tree itself had lost of an earlier file, `tree.losses`, is not repeated.
    """

    text: str
    losses: tuple[Loss, ...]


class Losses:
    """What is lost, named where it is left out."""

    def __init__(self) -> None:
        self._found: list[Loss] = []

    def add(self, element: str, where: str | None, source: Source, note: str, *, touches: bool) -> None:
        """Name a loss; arguments as the fields of `Loss`."""
        self._found.append(Loss(element, where, source, touches, note))

    def all(self) -> tuple[Loss, ...]:
        """Return all of them in the order in which they were named."""
        return tuple(self._found)


class Writer:
    """An XML document that grows line by line."""

    def __init__(self) -> None:
        self._lines = ['<?xml version="1.0" encoding="utf-8"?>']
        self._open: list[str] = []

    @property
    def text(self) -> str:
        """The document so far."""
        return "\n".join(self._lines) + "\n"

    def leaf(self, tag: str, text: str = "", /, **attributes: Value) -> None:
        """Write an element without children; an attribute that is None is left out.

        Raises:
            TreeError: a number is not finite.
        """
        start = self._start(tag, attributes)
        self._line(f"{start}>{escape(text)}</{tag}>" if text else f"{start}/>")

    def begin(self, tag: str, /, **attributes: Value) -> None:
        """Write a start tag; `end` closes it.

        Raises:
            TreeError: a number is not finite.
        """
        self._line(f"{self._start(tag, attributes)}>")
        self._open.append(tag)

    def end(self) -> None:
        """Close the innermost element that is open."""
        tag = self._open.pop()
        self._line(f"</{tag}>")

    @contextmanager
    def inside(self, tag: str, /, **attributes: Value) -> Generator[None]:
        """Write an element around what the block writes.

        Raises:
            TreeError: a number is not finite.
        """
        self.begin(tag, **attributes)
        yield
        self.end()

    def _line(self, line: str) -> None:
        self._lines.append("  " * min(len(self._open), _DEEPEST_INDENT) + line)

    @staticmethod
    def _start(tag: str, attributes: dict[str, Value]) -> str:
        words = [f"<{tag}"]
        for name, value in attributes.items():
            if value is None:
                continue
            numbers = [] if isinstance(value, str) else np.atleast_1d(np.asarray(value, float)).tolist()
            if not all(map(math.isfinite, numbers)):
                owner = f" of {attributes['name']!r}" if attributes.get("name") else ""
                raise TreeError(f"<{tag} {name}=...>{owner} would be {value}; a file holds finite numbers only")
            words.append(f"{name}={quoteattr(value if isinstance(value, str) else ' '.join(map(number, numbers)))}")
        return " ".join(words)


def both_ends(lower: float, upper: float) -> tuple[float, float]:
    """Return a range with a finite number for an end that is open."""
    low = min(-BEYOND, upper - BEYOND) if np.isinf(lower) else lower
    return low, max(BEYOND, lower + BEYOND) if np.isinf(upper) else upper


def common(values: Floats | float) -> float | None:
    """Return the number that all dofs of a joint share; None when they differ, or when there is none."""
    array = np.atleast_1d(values)
    same = array.size > 0 and np.array_equal(array, np.full_like(array, array[0]), equal_nan=True)
    return float(array[0]) if same else None


def number(x: float) -> str:
    """Return the shortest decimal that reads back as x exactly; zero without its sign, whole numbers without point."""
    return repr(x + 0.0).removesuffix(".0")
