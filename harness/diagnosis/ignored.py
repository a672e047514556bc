"""Elements of the file that an engine's importer passes over in silence.

An adapter says which elements its importer does not read, and what kinds of difference each of them makes. One that
makes a difference in this file is a finding beside that difference; one without effect is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ..findings import finding
from ..fixes import fix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..errors import Source
    from ..findings import Finding
    from ..tree import Tree
    from .difference import Difference

# Vendor tags of URDF, in lower case without prefix and underscore, that state an inertia of their own. The tree leaves
# them out as most engines do: an engine that leaves them out too holds the same robot, and not all of the file.
ROTORS: Final = ("rotorinertia", "motorinertia", "reflectedinertia", "armature")

# What the tree leaves out because of an element, and what an engine that ignores the element counts all the same.
COUNTED: Final = {"compiler@inertiagrouprange": "geom@group"}
INERTIAL: Final = ("mass", "com", "inertia.")


def with_lines_of_counted(session: Any, differences: Iterable[Difference], tree: Tree) -> tuple[Difference, ...]:
    """Return the differences, those of bodies that got more than the file gives them with the line of the surplus."""
    elements = [COUNTED[element] for element in _ignores(session) if element in COUNTED]
    surplus = {loss.where: loss.source for loss in reversed(tree.losses) if loss.element in elements}
    read = _read(session)
    found = [replace(d, source=read.get((d.kind, d.where), d.source)) for d in differences]
    return tuple(
        replace(d, source=surplus[d.where]) if d.where in surplus and d.kind.startswith(INERTIAL) else d for d in found
    )


def ignored(session: Any, differences: Iterable[Difference], engine: str, tree: Tree) -> Iterator[Finding]:
    """Yield `feature.ignored` for every element that the engine does not read and that matters here.

    Args:
        session: whose `ignores` maps elements, as in `tree.sources`, to beginnings of kinds; without it none is known.
            Its `reads` maps kind and place of what it reads beyond the tree to the element that says so.
        differences: between the file and what the engine holds.
        engine: its name.
        tree: of the file.
    """
    found = tuple(differences)
    for element, kinds in _ignores(session).items():
        source = tree.sources.get(element)
        caused = [d for d in found if d.kind.startswith(kinds)]
        if element == "include":
            # An included file matters where it says what the engine then does not have.
            caused = [d for d in caused if source and d.source.line and d.source.file != source.file]
        if source and caused:
            yield _finding(element, source, engine, tree, severity="model")
    if tree.origin.format != "urdf":
        return
    read = _read(session).values()
    for loss in tree.losses:
        if loss.touches_dynamics and _plain(loss.element) in ROTORS and loss.source not in read:
            yield _finding(loss.where or loss.element, loss.source, engine, tree, severity="convention")


def _ignores(session: Any) -> Mapping[str, tuple[str, ...]]:
    """Return what the session says of itself; a user's function has every name, and nothing behind it."""
    said = getattr(session, "ignores", None)
    return said if isinstance(said, Mapping) else {}


def _read(session: Any) -> Mapping[tuple[str, str | None], Source]:
    """Return where elements stand that this engine reads and most do not, by kind and place of what they make."""
    said = getattr(session, "reads", None)
    return said if isinstance(said, Mapping) else {}


def _finding(where: str, source: Source, engine: str, tree: Tree, *, severity: Any) -> Finding:
    values: dict[str, Any] = {"expected": "read", "found": "ignored", "unit": ""}
    said = fix("feature.ignored", where=where, format=tree.origin.format, engine=engine, source=source, **values)
    return finding("feature.ignored", source, where=where, severity=severity, fix=said, **values)


def _plain(element: str) -> str:
    """Return the name of a tag or attribute without prefix and underscores."""
    return element.rpartition("@")[2].rpartition(":")[2].lower().replace("_", "").replace("-", "")
