"""One family of errors, a leaf per stage: read, tree, engine, check, request.

A message says what was asked, what was found, what is allowed and what to do, with file, line and name where there is
one: `robot.urdf:41: joint 'elbow' has type 'screw'; supported: revolute, ...`.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path


class HarnessError(Exception):
    """The request, the file or the engine cannot be used; the message is for the person who asked."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a thing stands in a model file: `file:line`; line 0 when it is the whole file or no file at all."""

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class ReadError(HarnessError):
    """A model file cannot be read: not there, not XML, or against the rules of its format.

    Attributes:
        kind: the finding kind that it amounts to, `refused.malformed`, `refused.unsupported` or `refused.nonphysical`.
        where: the element concerned, or None for the whole file.
        source: its file and line.
    """

    def __init__(self, message: str, source: Source, where: str | None = None, kind: str = "refused.malformed") -> None:
        super().__init__(f"{source}: {message}" if source.file else message)
        self.kind, self.where, self.source = kind, where, source


class TreeError(HarnessError):
    """What should be a tree of bodies is none: all faults are listed at once.

    Attributes:
        where: the body or joint of the first fault, or None.
        source: its file and line.
    """

    def __init__(self, message: str, where: str | None = None, source: Source | None = None) -> None:
        super().__init__(message)
        self.where, self.source = where, source or Source()


class ShapeError(HarnessError):
    """An array has another shape than the model asks for."""


class RequestError(HarnessError):
    """The request cannot be met: an unknown engine, no state, an option out of range."""


class EngineAbsent(HarnessError):
    """The engine is not installed; the message holds the install line."""


class EngineBroken(HarnessError):
    """The engine is installed, and its adapter does not load; the message says why."""


class EngineRefused(HarnessError):
    """The engine would not load the model, in its own words.

    Attributes:
        kind: `refused.nonphysical`, `refused.mesh`, `refused.unsupported` or `refused.malformed`.
        where: the body or joint concerned, when the engine's words or the tree tell.
        source: file and line of that element.
    """

    def __init__(self, message: str, kind: str, where: str | None = None, source: Source | None = None) -> None:
        super().__init__(message)
        self.kind, self.where, self.source = kind, where, source or Source()


class EngineUnsupported(HarnessError):
    """The engine has no such joint, element or size, and this is known before it is called."""


def told(error: BaseException, most: int = 300) -> str:
    """Return what somebody else's code raised, on one line of at most `most` characters, no control character in it."""
    try:
        words = str(error)
    except Exception as fault:  # noqa: BLE001  a `__str__` of somebody else's may raise anything
        words = f"(its words raise {type(fault).__name__})"
    name = type(error).__name__
    line = " ".join(words[:10_000].split())
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    line = f"{name}: {line}" if line else name
    return line if len(line) <= most else line[: most - 1] + "…"


def internal(error: Exception) -> str:
    """Return the sentence on an error that none of our own words foresaw: a fault of the harness, with its place."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(frame.filename).name}:{frame.lineno}"
    return f"internal error, please report it with the file: {type(error).__name__} at {place}: {error}"
