"""What two files say beside the open tree: its closures, and what no tree holds. It touches no compared answer.

Couplings of two joints are in `whole`, since engines that are read back have them too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..errors import Source
from ..spatial import rotation_from_quaternion
from ..tree import Said
from .difference import Difference, unchanged
from .stated import Names, Statement, departing, values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..tree import Closure, Floats, Loss, Tree
    from .alignment import Node
    from .matching import Matching

COUPLINGS: Final = ("mimic", "joint")  # kinds of closure between two joints
# Element or attribute of a loss to the kind of finding that it makes; any other is `feature.ignored`.
KINDS: Final = {
    "stiffness": "spring",
    "damping": "damping",
    "frictionloss": "frictionloss",
    "spatial@armature": "armature.tendon",
    "fluidshape": "fluid",
    "actuatorgravcomp": "gravcomp",
    "mimic": "joint.mimic",
}


def beside(
    ours: Tree, theirs: Tree, matching: Matching, nodes: Iterable[Node], tolerance: float
) -> Iterator[Difference]:
    """Yield what one file says beside its tree and the other says otherwise or not at all.

    Args:
        ours: the expected tree.
        theirs: the other tree.
        matching: of their joints and bodies.
        nodes: the matched bodies in our frames.
        tolerance: relative.
    """
    names, same = Names.of(ours, theirs, matching, nodes), Names({}, {}, {})
    sides = ((ours, same), (theirs, names))
    loops = [[_closure(c, n) for c in tree.closures if c.kind not in COUPLINGS] for tree, n in sides]
    lost = [[_loss(x, n) for x in t.losses if x.says] for t, n in sides]
    places = [_place_in(tree, n) for tree, n in sides]
    for (mine, other), constraint in ((loops, True), (lost, False)):
        for told, x, y in departing(mine, other, tolerance):
            element = told.element
            kind = "constraint" if constraint else KINDS.get(element) or KINDS.get(element.rpartition("@")[2])
            expected, found = values(x, y, tolerance)
            # What a file does not say has no line; what it would be about may have one.
            sources = (x.source if x else places[0](told.where), y.source if y else places[1](told.where))
            note = element if kind is None or constraint else ""
            yield Difference(kind or "feature.ignored", told.where, expected, found, "", unchanged, *sources, note=note)


def _place_in(tree: Tree, names: Names) -> Callable[[str | None], Source]:
    """Return where a tree has an element, by its name in ours: file and line, else the file."""
    found = {names.named(body.name): body.source() for body in tree.bodies}
    found |= {names.named(joint.name): joint.source() for joint in tree.joints}
    found |= {names.named(loss.where): loss.source for loss in tree.losses if loss.where}
    return lambda name: found.get(name) or Source(tree.origin.path)


def _loss(loss: Loss, names: Names) -> Statement:
    return Statement(loss.element, names.named(loss.where), tuple(map(names.said, loss.says)), loss.source)


def _closure(closure: Closure, names: Names) -> Statement:
    """Return a closure in our names and frames."""
    ends = [name or "world" for name in closure.between] if closure.kind in ("connect", "weld") else []
    x = closure.numbers
    said: list[Said] = []
    if closure.kind == "connect":
        said = [Said("anchor", x[3 * k : 3 * k + 3], body=end, point=True) for k, end in enumerate(ends)]
    elif closure.kind == "weld":
        G, H = (names.frames.get(end, np.eye(4)) for end in ends)
        R = G[:3, :3] @ rotation_from_quaternion(np.array(x[6:10])) @ H[:3, :3].T
        # The position of `relpose` is where the anchor stands in the first body, not the origin of the second.
        said = [Said("anchor", x[:3], body=ends[1], point=True), Said("relpose", x[3:6], body=ends[0], point=True)]
        said += [Said("relpose", _flat(R)), Said("torquescale", x[10:])]
    else:
        said = [*([Said("polycoef", tuple(np.trim_zeros(x, "b")))] if x else []), *closure.says]
    return Statement(closure.kind, closure.name, tuple(map(names.said, said)), closure.source, closure.active)


def _flat(numbers: Floats) -> tuple[float, ...]:
    return tuple(float(x) for x in numbers.ravel())
