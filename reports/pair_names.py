"""What the two files of a comparison are called, and the places in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .text import path_tail, shown

if TYPE_CHECKING:
    from ..harness.diff_result import DiffResult

NAME_WIDTH: Final = 48


@dataclass(frozen=True)
class Names:
    """What the two files are called in a report: their bare names where these tell them apart.

    Attributes:
        a: of A.
        b: of B.
        files: path to name.
    """

    a: str
    b: str
    files: dict[str, str]

    @classmethod
    def of(cls, result: DiffResult) -> Names:
        """Return the names of a result."""
        bare = [_tail(label) for label in result.files]
        if bare[0] == bare[1]:
            bare = [path_tail(label, NAME_WIDTH) for label in result.files]
        if bare[0] == bare[1]:
            bare = [f"A ({bare[0]})", f"B ({bare[1]})"]
        texts = [shown(name) for name in bare]
        return cls(texts[0], texts[1], dict(zip(result.files, texts, strict=True)))

    def place(self, file: str | None, line: int | None) -> str:
        """Return ` (file:line)`, or an empty string for what is in no file."""
        if not file:
            return ""
        return f" ({self.files.get(file) or shown(_tail(file))}{f':{line}' if line else ''})"


def _tail(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
