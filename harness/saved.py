"""A result as reports read it: the JSON document, and the side file of arrays; in memory or from files, alike.

Every report is a function of this alone, so that one made later from files has the same bytes as one made at once.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from .errors import ReadError, Source
from .plain import to_text
from .reading import LARGEST_RESULT, read_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .joint import Floats

SCHEMA: Final = "tautology/1"
COMMANDS: Final = ("check", "diff")


class Answer(Protocol):
    """A result of any command."""

    @property
    def arrays(self) -> Mapping[str, Floats]:
        """What was found of every state, by key."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the JSON document as plain Python."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Saved:
    """One result.

    Attributes:
        document: of the schema tautology/1, in the types of JSON.
        arrays: key, such as `m0/e1/error/tau`, to an array; None where none were kept.
    """

    document: Mapping[str, Any]
    arrays: Mapping[str, Floats] | None

    def __repr__(self) -> str:
        """Return what the document is."""
        arrays = "no arrays" if self.arrays is None else f"{len(self.arrays)} arrays"
        return f"<Saved {self.document['command']}: exit {self.document['exit']}, {arrays}>"

    @classmethod
    def of(cls, result: Answer) -> Saved:
        """Return a result as its files would say it."""
        return cls(json.loads(to_text(result.to_json())), dict(result.arrays) or None)

    @classmethod
    def read(cls, path: str | Path) -> Saved:
        """Read a document, and the arrays that it names from the folder it is in; without them the rest is read.

        Raises:
            ReadError: `path` holds no result of this program, or the arrays beside it are of another result.
        """
        path = Path(path)
        document = _document(path)
        named = document.pop("arrays", None)
        file = path.parent / Path(str(named["file"])).name if isinstance(named, dict) and "file" in named else None
        if file is None or not file.is_file():
            return cls(document, None)
        try:
            content = read_whole(file, LARGEST_RESULT)
        except OSError as error:
            raise _refused(file, f"cannot be read: {error.strerror or error}") from error
        if hashlib.sha256(content).hexdigest() != named.get("sha256"):
            raise _refused(file, f"holds the arrays of another result than {path.name}; remove it or save both anew")
        return cls(document, _arrays(content, file))


def files_of(result: Answer, name: str) -> tuple[str, bytes]:
    """Return the text of the document and the bytes of the side file, empty when nothing was kept.

    Args:
        result: to be written.
        name: of the side file, as the document names it; "" where there can be none.
    """
    document, arrays = result.to_json(), result.arrays
    if not arrays or not name:
        return to_text(document), b""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **dict(arrays))
    content = buffer.getvalue()
    document["arrays"] = {"file": name, "sha256": hashlib.sha256(content).hexdigest()}
    return to_text(document), content


def _document(path: Path) -> dict[str, Any]:
    """Return the document of a file."""
    try:
        document = json.loads(read_whole(path, LARGEST_RESULT).decode())
    except OSError as error:
        raise _refused(path, f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError:
        raise _refused(path, "is no JSON: it is not in UTF-8") from None
    except json.JSONDecodeError as error:
        raise _refused(path, f"is no JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise _refused(path, "is no result: it is nested too deep") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise _refused(path, f"is no result of tautology: it does not say schema {SCHEMA!r}")
    if document.get("command") not in COMMANDS:
        raise _refused(
            path, f"is a result of {document.get('command')!r}; reports are made of {' and '.join(COMMANDS)}"
        )
    return document


def _arrays(content: bytes, file: Path) -> dict[str, Floats]:
    """Return the arrays of a side file; nothing in it is executed."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return {key: np.asarray(archive[key], np.float64) for key in archive.files}
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        raise _refused(file, f"holds no arrays: {error}") from error


def _refused(path: Path, words: str, line: int = 0) -> ReadError:
    return ReadError(words, Source(str(path), line))
