"""Which joint and body of one tree is which of the other: by the user's map, by name, by likeness, by structure.

Joints are matched first, since they carry the coordinates; the bodies that they carry follow, then fixed bodies by
name, and by their inertia where names tell nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import RequestError
from .likeness import Likeness, by_inertia

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..tree import Tree

# Words that say what a thing is and not which one it is.
FILLING = frozenset({"joint", "link", "body", "jnt", "frame"})


@dataclass(frozen=True, eq=False)
class Matching:
    """Pairs of body indices, each in its own tree; a joint goes by the body that it carries.

    Attributes:
        joints: A to B, joints with a dof.
        bodies: A to B, every body, the world included.
        doubtful: indices in A whose match is by structure and could be another.
    """

    joints: Mapping[int, int]
    bodies: Mapping[int, int]
    doubtful: frozenset[int]


def match(a: Tree, b: Tree, names: Mapping[str, str] | None = None) -> Matching:
    """Match the joints and bodies of two trees.

    Args:
        a: the expected tree.
        b: the other tree.
        names: joint or body names of `a` to those of `b`, which win over everything else.

    Raises:
        RequestError: `names` names what is not there.
    """
    names = names or {}
    _require(names, a, b)
    moving_a = [i for i, joint in enumerate(a.joints) if joint.nv]
    moving_b = [i for i, joint in enumerate(b.joints) if joint.nv]
    pairs = {
        i: b.joint_index[names[a.joints[i].name]]
        for i in moving_a
        if names.get(a.joints[i].name) in b.joint_index and b.joints[b.joint_index[names[a.joints[i].name]]].nv
    }
    named = {a.index[x]: b.index[y] for x, y in names.items() if x in a.index and y in b.index}
    pairs |= {i: j for i, j in named.items() if i not in pairs and a.joints[i].nv and b.joints[j].nv}
    _by_name(pairs, [(i, a.joints[i].name) for i in moving_a], [(j, b.joints[j].name) for j in moving_b])
    doubtful = Likeness(a, b).complete(pairs)
    bodies = {0: 0} | named | {i: j for i, j in pairs.items() if i not in named}
    # A body that moves here and is welded there keeps its name: what differs then is its joint.
    _by_name(
        bodies, [(i, x.name) for i, x in enumerate(a.bodies) if i], [(j, y.name) for j, y in enumerate(b.bodies) if j]
    )
    bodies = {i: j for i, j in bodies.items() if i in named or not _another_frame(a, b, bodies, i)}
    by_inertia(bodies, a, b)
    return Matching(pairs, bodies, frozenset(doubtful))


def _require(names: Mapping[str, str], a: Tree, b: Tree) -> None:
    """Check that every name of the map exists."""
    for name, tree in [(x, a) for x in names] + [(y, b) for y in names.values()]:
        if name not in tree.index and name not in tree.joint_index:
            known = ", ".join([*tree.joint_index][:8])
            raise RequestError(f"{tree.origin.path or tree.name}: no joint or body {name!r}; joints are {known}, ...")


def _by_name(pairs: dict[int, int], of_a: Iterable[tuple[int, str]], of_b: Iterable[tuple[int, str]]) -> None:
    """Add pairs of equal names, then of names that are alike in one way only."""
    for key in (str, _stem):
        taken = set(pairs.values())
        left_a = _unique([(i, key(name)) for i, name in of_a if i not in pairs])
        left_b = _unique([(j, key(name)) for j, name in of_b if j not in taken])
        pairs |= {left_a[name]: left_b[name] for name in left_a.keys() & left_b.keys() if name}


def _another_frame(a: Tree, b: Tree, bodies: Mapping[int, int], i: int) -> bool:
    """Return whether an empty frame of A has a name like one of B only, and stands on another rigid piece.

    It has nothing that moves beside its name: `link1_tool` of one body and `frame1_tool` of another are two.
    """
    j = bodies[i]
    if a.bodies[i].name == b.bodies[j].name or not all(t.bodies[k].inertia.is_zero for t, k in ((a, i), (b, j))):
        return False
    if not i or a.joints[i].nv or b.joints[j].nv:
        return False
    there = bodies.get(a.fusion.holder[i])
    return there is None or b.fusion.holder[there] != b.fusion.holder[j]


def _unique(named: Sequence[tuple[int, str]]) -> dict[str, int]:
    """Return name to index for the names that stand once."""
    times = Counter(name for _, name in named)
    return {name: i for i, name in named if times[name] == 1}


def _stem(name: str) -> str:
    """Return the telling words of a name: `shoulder_pan_joint`, `ShoulderPan` and `shoulder-pan` are one."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return " ".join(word.lower() for word in words if word.lower() not in FILLING)
