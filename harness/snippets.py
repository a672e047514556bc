"""The lines of the files that findings point at, kept in the document, so that reports made later can quote them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .plain import unicode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONGEST: Final = 200  # [characters] of a line
LARGEST: Final = 16 << 20  # [bytes] of a file that is quoted
PLACES: Final = (("file", "line", "snippet"), ("other_file", "other_line", "other_snippet"))


def quoted(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with the line of the file in every finding whose file can be read."""
    files: dict[str, list[str]] = {}
    for finding in _findings(document):
        for file, line, snippet in PLACES:
            text = _line(finding.get(file), finding.get(line), files)
            if text is not None:
                finding[snippet] = text
    return document


def _findings(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from document.get("findings", ())
    for model in document["models"]:
        yield from model.get("lint", ())
        for engine in model.get("engines", ()):
            yield from engine["findings"]


def _line(file: str | None, line: int | None, files: dict[str, list[str]]) -> str | None:
    """Return one line of a file without its end; None when there is none."""
    if not file or not line:
        return None
    if file not in files:
        files[file] = list(_lines(Path(file)))
    text = files[file][line - 1] if line <= len(files[file]) else None
    return None if text is None else unicode(text[:LONGEST])


def _lines(path: Path) -> Iterable[str]:
    """Return the lines of a file as parsers count them; none of what is no file, or is too large."""
    with suppress(OSError):
        if path.is_file() and path.stat().st_size <= LARGEST:
            text = path.read_bytes().decode("utf-8", "replace")
            return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return ()
