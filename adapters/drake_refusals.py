"""Why Drake would not load a file: its words, and the element that they are about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from ..harness.errors import EngineRefused, Source
from ..harness.tree import JointKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..harness.engine import Given
    from ..harness.tree import Joint, Tree

NONPHYSICAL: Final = re.compile(r"IsPhysicallyValid|triangle inequality|negative mass|CouldBePhysicallyValid")
MESH: Final = re.compile(r"mesh asset|only supports mesh files", re.IGNORECASE)
UNSUPPORTED: Final = re.compile("not (currently )?support|unsupported|unrecognized type|cannot mimic|Expected 3 values")
PLACE: Final = re.compile(r"^.*?:(\d+): (?:error|warning): ", re.MULTILINE)
QUOTED: Final = re.compile(r"'([^']+)'|\"([^\"]+)\"")
MASS: Final = re.compile(r"^\s*mass = (\S+)", re.MULTILINE)

# Words without a name, the field of a joint that they are about, and which joints have such a number.
NUMBERS: Final[Sequence[tuple[str, str, Callable[[Joint], bool]]]] = (
    ("damping must be nonnegative", "damping", lambda joint: bool(np.any(np.asarray(joint.damping) < 0))),
    ("pos_lower_limits", "lower", lambda joint: joint.lower > joint.upper),
)


def refusal(given: Given, tree: Tree, error: BaseException) -> EngineRefused:
    """Return the refusal in Drake's words, at the link, joint or element that they are about.

    Args:
        given: what was handed over.
        tree: of the same file.
        error: what was raised.
    """
    words = str(error).strip() or f"{type(error).__name__} without words"
    # What Drake's URDF parser will not have is against the format; of MJCF it knows a part.
    kind = "refused.malformed" if given.format == "urdf" else "refused.unsupported"
    if NONPHYSICAL.search(words):
        kind = "refused.nonphysical"
    elif MESH.search(words):
        kind = "refused.mesh"
    elif UNSUPPORTED.search(words):
        kind = "refused.unsupported"
    where, source = (
        _mesh(words, tree)
        or _plane(words, tree)
        or _number(words, tree)
        or _named(words, tree)
        or _at_line(words, given, tree)
        or (None, Source())
    )
    if kind == "refused.nonphysical" and where is None:
        where, source = _unphysical(words, tree)
    return EngineRefused(f"Drake would not load {given.path}: {' '.join(words.split())}", kind, where, source)


def _mesh(words: str, tree: Tree) -> tuple[str | None, Source] | None:
    """Return the mesh that the words name by its file."""
    for loss in tree.losses:
        file = QUOTED.search(loss.note) if loss.element == "mesh" else None
        if file and (file[1] or file[2]) in words:
            return loss.where, loss.source
    return None


def _plane(words: str, tree: Tree) -> tuple[str | None, Source] | None:
    """Return the planar joint whose damping is one number, as URDF has it: Drake wants one per direction."""
    damped = (j for j in tree.joints if j.kind is JointKind.PLANAR and np.any(j.damping))
    joint = next(damped, None) if "Expected 3 values for attribute damping" in words else None
    return (joint.name, joint.source("damping")) if joint else None


def _number(words: str, tree: Tree) -> tuple[str | None, Source] | None:
    """Return the joint with a number that Drake's joints will not have; it names none."""
    for said, field, wrong in NUMBERS:
        joint = next(filter(wrong, tree.joints), None) if said in words else None
        if joint is not None:
            return joint.name, joint.source(field)
    return None


def _named(words: str, tree: Tree) -> tuple[str, Source] | None:
    """Return the first link or joint that the words name."""
    for single, double in QUOTED.findall(words):
        name = single or double
        if name in tree.joint_index:
            return name, tree.joints[tree.joint_index[name]].source()
        if tree.index.get(name):
            return name, tree.bodies[tree.index[name]].source()
    return None


def _at_line(words: str, given: Given, tree: Tree) -> tuple[str | None, Source] | None:
    """Return the element on the line that the words begin with."""
    match = PLACE.match(words)
    if not match:
        return None
    source = Source(given.path, int(match[1]))
    for body in tree.bodies[1:]:
        for owner, sources in ((body.joint.name, body.joint.sources), (body.name, body.sources)):
            if any((s.file, s.line) == (source.file, source.line) for s in sources.values()):
                return owner, source
    return None, source


def _unphysical(words: str, tree: Tree) -> tuple[str | None, Source]:
    """Return the body whose tensor Drake will not have; it says the mass alone."""
    mass = MASS.search(words)
    for body in tree.bodies[1:]:
        I = body.inertia
        if mass and abs(I.mass - float(mass[1])) > 1e-5 * abs(I.mass):
            continue
        return body.name, body.source("inertia")
    return None, Source()
