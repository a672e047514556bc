"""Read an XML file safely, and know the line on which every element begins.

Expat, not lxml, although the design names lxml: lxml gives the line of the closing `>` of a tag, drifts beyond line
65,535, expands entities inside attributes whatever its options say, stops at a depth of 2,048, and refuses the
undeclared prefixes that every engine takes. Expat gives the line of each `<`, and can be stopped at a document type
declaration before a single entity of it exists.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Final
from xml.parsers import expat

from ..errors import ReadError, Source
from ..reading import LARGEST_MODEL, read_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FilePath = str | os.PathLike[str]

_EXPAT_WORDS: Final = {
    "no element found": "it ends before its elements are closed",
    "unclosed token": "it ends inside a tag or comment",
    "syntax error": "it does not begin with a tag",
    "not well-formed (invalid token)": "a character is not allowed here (for one, -- inside a comment)",
    "junk after document element": "something follows the root element",
}


@dataclass(slots=True, eq=False)
class Element:
    """One element of an XML file; not to be changed once it is read.

    Attributes:
        tag: as the file spells it, with its prefix: `mass`, `drake:rotor_inertia`.
        attributes: name to value, spelled likewise.
        source: file, and line of the `<`.
        children: elements inside, in document order.
        text: characters inside that belong to no child.
    """

    tag: str
    attributes: Mapping[str, str]
    source: Source
    children: list[Element] = field(default_factory=list["Element"])
    text: str = ""

    def get(self, attribute: str) -> str | None:
        """Return the value of an attribute, or None."""
        return self.attributes.get(attribute)

    def first(self, tag: str) -> Element | None:
        """Return the first child of that tag, or None."""
        return next((child for child in self.children if child.tag == tag), None)

    def all(self, tag: str) -> list[Element]:
        """Return all children of that tag."""
        return [child for child in self.children if child.tag == tag]

    def walk(self) -> Iterator[Element]:
        """Yield this element and everything inside it, in document order; by a stack, since files can be deep."""
        stack: list[Element] = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """One XML file: its root element, the path as the caller gave it, and the sha256 of its bytes."""

    root: Element
    file: str
    sha256: str


def read_xml(path: FilePath) -> Document:
    """Return the elements of an XML file.

    Raises:
        ReadError: see `read_bytes` and `parse_xml`.
    """
    return parse_xml(read_bytes(path), os.fspath(path))


def read_bytes(path: FilePath) -> bytes:
    """Return the bytes of a regular file.

    Raises:
        ReadError: it is not there, is a directory or another thing than a file, is too large, or cannot be read.
    """
    file = os.fspath(path)
    if not file:
        raise ReadError("the path of the file is empty", Source())
    try:
        mode = os.stat(file).st_mode  # noqa: PTH116  Path would change the spelling of the path
    except (OSError, ValueError) as error:
        raise _unreadable(error, file) from error
    if not stat.S_ISREG(mode):
        # A pipe or device could block, or never end; and the engines open the path a second time.
        what = "a directory" if stat.S_ISDIR(mode) else "no regular file"
        raise ReadError(f"this is {what}; a robot model is one file", Source(file))
    try:
        return read_whole(file, LARGEST_MODEL)
    except OSError as error:
        raise _unreadable(error, file) from error


def parse_xml(data: bytes, file: str) -> Document:
    """Return the elements of an XML document.

    Raises:
        ReadError: the document is empty, not well formed, in an encoding that is not read, or declares a document type.
    """
    if not data.strip():
        raise ReadError("the file is empty", Source(file))
    builder = _Builder(file)
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code) or "unknown error"
        message = f"this is not well-formed XML, column {error.offset + 1}: {_EXPAT_WORDS.get(reason, reason)}"
        raise ReadError(message, Source(file, error.lineno)) from error
    except (LookupError, ValueError) as error:
        raise ReadError(f"the encoding cannot be read ({error}); save the file as UTF-8", Source(file, 1)) from error
    return Document(builder.top.children[0], file, sha256(data).hexdigest())


def _unreadable(error: OSError | ValueError, file: str) -> ReadError:
    if isinstance(error, FileNotFoundError):
        return ReadError("there is no such file", Source(file))
    reason = error.strerror if isinstance(error, OSError) else error
    return ReadError(f"the file cannot be read: {reason}", Source(file))


class _Builder:
    """Builds elements from what expat reports; `top` is a parent for the root."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.top = Element("", {}, Source(file))
        self.open = [self.top]
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.begin
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.refuse

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, Source(self.file, self.parser.CurrentLineNumber))
        self.open[-1].children.append(element)
        self.open.append(element)

    def end(self, _tag: str) -> None:
        self.open.pop()

    def characters(self, text: str) -> None:
        if not text.isspace():
            self.open[-1].text += text

    def refuse(self, *_declaration: object) -> None:
        line = self.parser.CurrentLineNumber
        message = "a document type is declared; entities are never expanded nor fetched, so take <!DOCTYPE ...> out"
        raise ReadError(message, Source(self.file, line))
