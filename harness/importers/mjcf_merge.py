"""Merge an MJCF with the files that it includes and attaches into one text, every start tag on a line of its own."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import quoteattr

from ..errors import ReadError
from .mjcf_lines import Flat, Place
from .xml import Document, read_xml

if TYPE_CHECKING:
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
        "qpos",
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


def flatten(document: Document) -> Flat:
    """Return the merged document.

    Raises:
        ReadError: a file that is included or attached cannot be read, or takes itself in; a number is not finite.
    """
    flat = Flat(document)
    queue: list[tuple[Document, str | None, tuple[str, ...]]] = [(document, None, ())]
    while queue:
        model, name, inside = queue.pop(0)
        merging = _Merging(flat, model, inside)
        text = "\n" * len(flat.places) + merging.write()
        if name is None:
            flat.text = text
        else:
            flat.models[name] = text.encode()
        queue += [(attached, its_name, merging.inside) for attached, its_name in merging.attached]
    for place in flat.places:
        _check_finite(place)
        _note_default(flat, place)
    return flat


class _Merging:
    """Writes one model with its includes merged.

    `attached` are the models that it names, with their new names; `inside` the files it is attached to, and itself.
    """

    def __init__(self, flat: Flat, document: Document, inside: tuple[str, ...]) -> None:
        self.flat, self.document = flat, document
        self.inside = (*inside, os.path.realpath(document.file))
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
                self.flat.includes.append(element.source)
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
        if path and os.path.realpath(path) in self.inside:
            raise ReadError(f"the model {name!r} is attached to itself", element.source, where=element.get("name"))
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
