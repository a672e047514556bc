"""A URDF without its meshes, for engines that would need the files: their bytes are blanked out, every line stays."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING
from xml.parsers import expat

from .errors import ReadError, Source
from .importers.xml import read_bytes

if TYPE_CHECKING:
    from .importers.xml import FilePath

SHAPES = ("visual", "collision")


def without_meshes(path: FilePath) -> tuple[str, int]:
    """Return the text of a URDF without the visuals and collisions that are meshes, and how many those were.

    Primitive shapes stay: engines that have no `<inertial>` to read make one of them. Links, joints and inertias stay
    where they are, line by line, so that what an engine says of a line is true of the file.

    Raises:
        ReadError: the file cannot be read, is not XML, or is in an encoding that is not told by its declaration.
    """
    data = read_bytes(path)
    text = _decoded(data, str(path))
    if "<mesh" not in text:
        return text, 0
    raw = text.encode()
    spans = _spans(raw, str(path))
    blanked = bytearray(raw)
    for begin, end in spans:
        blanked[begin:end] = bytes(c if c in b"\r\n" else 0x20 for c in raw[begin:end])
    return blanked.decode(), len(spans)


def _decoded(data: bytes, file: str) -> str:
    """Return the characters of a document, its declaration of another encoding than UTF-8 taken out."""
    encodings = ["utf-8-sig"]
    parser = expat.ParserCreate()
    parser.XmlDeclHandler = lambda _version, encoding, _standalone: encodings.append(encoding or "utf-8-sig")
    with suppress(expat.ExpatError):  # what is no XML, the engine says in its own words
        parser.Parse(data[:200], False)
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else encodings[-1]
    if encoding.lower() in ("utf-8", "us-ascii"):
        encoding = "utf-8-sig"
    try:
        text = data.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise ReadError(f"it is not in {encoding}", Source(file)) from error
    if encoding != "utf-8-sig" and text.startswith("<?xml"):
        end = text.find("?>") + 2
        text = "".join(c if c in "\r\n" else " " for c in text[:end]) + text[end:]
        text = text.lstrip(" ") if "\n" not in text[:end] else text
    return text


def _spans(raw: bytes, file: str) -> list[tuple[int, int]]:
    """Return first and last byte of every visual and collision with a mesh in it."""
    parser = expat.ParserCreate("utf-8")
    found: list[tuple[int, int]] = []
    open_at: list[tuple[int, list[bool]]] = []

    def begin(tag: str, _: dict[str, str]) -> None:
        if tag in SHAPES:
            open_at.append((parser.CurrentByteIndex, [False]))
        elif tag == "mesh" and open_at:
            open_at[-1][1][0] = True

    def end(tag: str) -> None:
        if tag in SHAPES:
            start, (mesh,) = open_at.pop()
            if mesh:
                # The index is that of the closing tag: an element with something in it has one.
                found.append((start, raw.index(b">", parser.CurrentByteIndex) + 1))

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        raise ReadError(f"it is not XML: {error}", Source(file)) from error
    return found
