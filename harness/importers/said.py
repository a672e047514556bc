"""The values by which two files are compared in what no tree holds: elements as they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..tree import Said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .xml import Element

# Attributes that change no dynamics: names, and in MuJoCo's elements where meshes are and how it simulates.
_HARMLESS: Final = {
    *("name", "class", "file", "meshdir", "texturedir", "assetdir", "discardvisual", "strippath", "fusestatic"),
    *("convexhull", "usethread", "timestep", "integrator", "solver", "iterations", "tolerance", "cone", "jacobian"),
}
# What is no more than the default, by tag in lower case.
_DEFAULTS: Final = {"gravity": ("true", (1.0,)), "turngravityoff": ("false", (0.0,))}


def word(text: str) -> tuple[float, ...] | str:
    """Return a text as numbers where it is nothing else."""
    try:
        return tuple(float(x) for x in text.split())
    except ValueError:
        return " ".join(text.split())


def said_by(element: Element) -> tuple[Said, ...]:
    """Return the text and the attributes of an element with everything inside; empty when that is a default."""
    said = tuple(_said_by(element, ""))
    values = {one.value if isinstance(one.value, tuple) else one.value.lower() for one in said}
    return () if values <= set(_DEFAULTS.get(element.tag.lower(), ())) else said


def _said_by(element: Element, above: str) -> Iterator[Said]:
    if element.text.strip():
        yield Said(above + element.tag, word(element.text))
    for name, value in sorted(element.attributes.items()):
        if name not in _HARMLESS:
            yield Said(f"{above}{element.tag}@{name}", word(value))
    for child in element.children:
        yield from _said_by(child, f"{above}{element.tag} ")
