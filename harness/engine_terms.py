"""What stands after `--engine`: NAME, NAME==VERSION or NAME@PYTHON."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from .errors import RequestError

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_VERSION: Final = re.compile(r"[0-9][A-Za-z0-9.+!]*")


@dataclass(frozen=True, slots=True)
class EngineTerm:
    """An engine, perhaps of a certain version or of a certain interpreter.

    Attributes:
        name: of the engine.
        version: of its distribution, in an environment of its own; "" for whatever is installed.
        python: the interpreter that has it; "" for our own, or that of the environment.
    """

    name: str
    version: str = ""
    python: str = ""

    def __str__(self) -> str:
        if self.version:
            return f"{self.name}=={self.version}"
        return f"{self.name}@{self.python}" if self.python else self.name

    @property
    def elsewhere(self) -> bool:
        """Whether the engine is not the one of our own interpreter."""
        return bool(self.version or self.python)


def engine_term(text: str) -> EngineTerm:
    """Return what an engine term asks for.

    Raises:
        RequestError: it is none.
    """
    name, at, python = text.partition("@")
    name, equal, version = name.partition("==")
    wrong = RequestError(f"{text!r} names no engine; give NAME, NAME==VERSION or NAME@PYTHON, such as mujoco==3.3.7")
    if not _NAME.fullmatch(name) or (at and (equal or not python)) or (equal and not _VERSION.fullmatch(version)):
        raise wrong
    return EngineTerm(name, version, python)
