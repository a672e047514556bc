"""Where every element of an MJCF stands, across includes, attached models, replicas and default classes.

MuJoCo reports one line number per element, 0 for elements of included files, and no file. So the document is written
once more as MuJoCo sees it, includes merged, with every start tag on a line of its own. Whatever MuJoCo makes of that
text, replicated, attached or renamed, then carries the number of the element that it came from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..errors import Source
    from .xml import Document, Element


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
        """Return its own name, or that of a default class, else that of the nearest element around it that has one."""
        names = (p.element.get("class" if p.element.tag == "default" else "name") for p in self.around())
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
        includes: every `<include>`, which is no element of the merged document.
        classes: per root, the default classes: name to name of the class around it and its defaults.
    """

    document: Document
    text: str = ""
    models: dict[str, bytes] = field(default_factory=dict[str, bytes])
    places: list[Place] = field(default_factory=list[Place])
    includes: list[Source] = field(default_factory=list["Source"])
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
            found = next((d for d in reversed(defaults) if d.element.tag == tag and name in d.element.attributes), None)
            if found:
                return found
            name_of_class = outer
        return None

    def whole(self) -> dict[str, Source]:
        """Return the places of the attributes of `<compiler>` and `<option>`, of gravity, the medium, the includes."""
        sources: dict[str, Source] = {"include": self.includes[0]} if self.includes else {}
        gravity: list[Source] = []
        for place in self.places:
            *_, root = place.around()
            if root.element is not self.document.root:
                continue  # an attached model, whose options do not count
            element = {"flag": "option/flag"}.get(place.element.tag, place.element.tag)
            if element not in ("compiler", "option", "option/flag"):
                continue
            sources |= {f"{element}@{name}": place.source for name in place.element.attributes}
            if "gravity" in place.element.attributes and place.element.get("gravity") != "enable":
                # Gravity that is switched off has no other value.
                gravity = [place.source, *gravity] if element == "option/flag" else [*gravity, place.source]
            if element == "option" and {"density", "viscosity", "wind"} & place.element.attributes.keys():
                sources["medium"] = place.source
        if "compiler@angle" in sources:
            sources["angle"] = sources["compiler@angle"]
        return sources | ({"gravity": gravity[0]} if gravity else {})
