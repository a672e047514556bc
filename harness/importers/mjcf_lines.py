"""Where every element of an MJCF stands, across includes, attached models, replicas and default classes.

MuJoCo reports one line number per element, 0 for elements of included files, and no file. So the document is written
once more as MuJoCo sees it, includes merged, with every start tag on a line of its own. Whatever MuJoCo makes of that
text, replicated, attached or renamed, then carries the number of the element that it came from.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias
from xml.sax.saxutils import quoteattr

from ..errors import ReadError, Source
from .xml import Document, read_xml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .xml import Element

# Numbers that reach the tree. MuJoCo lets nan and inf pass in most of them.
_NUMBERS: Final = frozenset(
    [
        "anchor",
        "armature",
        "axis",
        "axisangle",
        "boundinertia",
        "boundmass",
        "coef",
        "damping",
        "density",
        "diaginertia",
        "euler",
        "frictionloss",
        "fromto",
        "fullinertia",
        "gear",
        "gravcomp",
        "gravity",
        "mass",
        "polycoef",
        "pos",
        "quat",
        "ref",
        "relpose",
        "settotalmass",
        "size",
        "springref",
        "stiffness",
        "viscosity",
        "wind",
        "xyaxes",
        "zaxis",
    ],
)
_NOT_FINITE: Final = re.compile(r"[+-]?(nan(\(.*\))?|inf|infinity)", re.IGNORECASE)


@dataclass(slots=True, eq=False)
class Place:
    """One element in the merged document.

    Attributes:
        element: with file and line.
        parent: the element around it once includes are merged; None for a root.
        children: elements inside, likewise.
    """

    element: Element
    parent: Place | None
    children: list[Place] = field(default_factory=list["Place"])

    @property
    def source(self) -> Source:
        """File and line."""
        return self.element.source

    def around(self) -> Iterator[Place]:
        """Yield the element and every one around it, innermost first."""
        place: Place | None = self
        while place is not None:
            yield place
            place = place.parent

    def first(self, tag: str) -> Place | None:
        """Return the first child of that tag, or None."""
        return next((child for child in self.children if child.element.tag == tag), None)

    def named(self) -> str | None:
        """Return its own name or class, else that of the nearest element around it that has one."""
        names = (p.element.get(key) for p in self.around() for key in ("name", "class") if p.parent)
        return next((name for name in names if name), None)


Classes: TypeAlias = dict[str, tuple[str | None, list[Place]]]


@dataclass(slots=True, eq=False)
class Flat:
    """A document as MuJoCo sees it.

    Attributes:
        document: the main file.
        text: the merged document; the start tag of `places[i]` is on line i + 1.
        models: further MJCF models that `<attach>` uses, by the name that `text` gives to their files; their lines
            continue those of `text`.
        places: every element.
        classes: per root, the default classes: name to name of the class around it and its defaults.
    """

    document: Document
    text: str = ""
    models: dict[str, bytes] = field(default_factory=dict[str, bytes])
    places: list[Place] = field(default_factory=list[Place])
    classes: dict[Place, Classes] = field(default_factory=dict[Place, Classes])

    def at(self, number: int) -> Place | None:
        """Return the element on a line of `text`, or None."""
        return self.places[number - 1] if 0 < number <= len(self.places) else None

    def attribute(self, place: Place, name: str) -> Source | None:
        """Return where an attribute of a joint or tendon is written, or None.

        A default class of the same file is reached from the element, whose line is the one that the eye looks for; a
        default in another file is not, so then its own line is returned.
        """
        if name in place.element.attributes:
            return place.source
        default = self.default(place, name)
        if default is None:
            return None
        return place.source if default.source.file == place.source.file else default.source

    def default(self, place: Place, name: str) -> Place | None:
        """Return the element of a default class from which an element has an attribute, or None."""
        around = list(place.around())
        classes = self.classes.get(around[-1], {})
        chosen = place.element.get("class") or next((c for p in around if (c := p.element.get("childclass"))), "main")
        name_of_class: str | None = chosen
        tag = "tendon" if place.element.tag in ("fixed", "spatial") else place.element.tag
        while name_of_class in classes:
            outer, defaults = classes[name_of_class]
            found = next((d for d in defaults if d.element.tag == tag and name in d.element.attributes), None)
            if found:
                return found
            name_of_class = outer
        return None


def flatten(document: Document) -> Flat:
    """Return the merged document.

    Raises:
        ReadError: a file that is included cannot be read, or is included twice; a number is not finite.
    """
    flat = Flat(document)
    queue: list[tuple[Document, str | None]] = [(document, None)]
    while queue:
        model, name = queue.pop(0)
        merging = _Merging(flat, model)
        text = "\n" * len(flat.places) + merging.write()
        if name is None:
            flat.text = text
        else:
            flat.models[name] = text.encode()
        queue += merging.attached
    for place in flat.places:
        _check_finite(place)
        _note_default(flat, place)
    return flat


class _Merging:
    """Writes one model with its includes merged; `attached` are the models that it names, with their new names."""

    def __init__(self, flat: Flat, document: Document) -> None:
        self.flat, self.document = flat, document
        self.folder = os.path.dirname(document.file)  # noqa: PTH120  Path would change the spelling of the path
        self.attached: list[tuple[Document, str]] = []
        self.included = {os.path.realpath(document.file)}

    def write(self) -> str:
        """Return the text; a stack instead of recursion, since files can be deep."""
        lines: list[str] = []
        stack: list[tuple[Element, Place | None] | str] = [(self.document.root, None)]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                lines[-1] += item
                continue
            element, parent = item
            if element.tag == "include" and parent:
                stack += [(child, parent) for child in reversed(self.include(element).root.children)]
                continue
            place = Place(element, parent)
            self.flat.places.append(place)
            if parent:
                parent.children.append(place)
            written = " ".join(f"{k}={quoteattr(v)}" for k, v in self.attributes(element).items())
            lines.append(f"<{element.tag} {written}>")
            stack.append(f"</{element.tag}>")
            stack += [(child, place) for child in reversed(element.children)]
        return "\n".join(lines)

    def include(self, element: Element) -> Document:
        """Return the document that `<include file=...>` names: beside the main file, else beside the including one."""
        name = element.get("file") or ""
        path = self.find(name, element)
        if path is None:
            raise ReadError(f"the included file {name!r} is not there", element.source, where="include")
        if os.path.realpath(path) in self.included:
            message = f"the file {name!r} is included already; MuJoCo takes a file once"
            raise ReadError(message, element.source, where="include")
        self.included.add(os.path.realpath(path))
        return read_xml(path)

    def find(self, name: str, element: Element) -> str | None:
        """Return the path of a file that an element names, or None when there is none."""
        folders = (self.folder, os.path.dirname(element.source.file))  # noqa: PTH120  as above
        paths = (os.path.join(folder, name) for folder in folders)  # noqa: PTH118  as above
        return next((path for path in paths if os.path.isfile(path)), None)  # noqa: PTH113  as above

    def attributes(self, element: Element) -> dict[str, str]:
        """Return the attributes, those that name a file which MuJoCo opens at once made independent of the folder."""
        attributes = {key: " ".join(value.splitlines()) for key, value in element.attributes.items()}
        name = attributes.get("file")
        path = self.find(name, element) if name and element.tag in ("model", "flexcomp") else None
        if path and element.tag == "model" and (document := read_xml(path)).root.tag == "mujoco":
            attributes["file"] = f"attached-{len(self.flat.places)}.xml"
            self.attached.append((document, attributes["file"]))
        elif path:
            attributes["file"] = os.path.abspath(path)  # noqa: PTH100  as above
        return attributes


def _check_finite(place: Place) -> None:
    for name, value in place.element.attributes.items():
        if name in _NUMBERS:
            word = next((word for word in value.split() if _NOT_FINITE.fullmatch(word)), None)
            if word:
                message = f"<{place.element.tag} {name}={value!r}>: {word!r} is not finite"
                raise ReadError(message, place.source, where=place.named())


def _note_default(flat: Flat, place: Place) -> None:
    if place.element.tag != "default" or not place.parent:
        return
    *_, root = place.around()
    nested = place.parent.element.tag == "default"
    outer = (place.parent.element.get("class") or "main") if nested else None
    classes = flat.classes.setdefault(root, {})
    name = place.element.get("class") or "main"
    defaults = [child for child in place.children if child.element.tag != "default"]
    classes[name] = (outer, [*classes.get(name, (None, []))[1], *defaults])
