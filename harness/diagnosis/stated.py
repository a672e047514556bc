"""What two files state beside bodies and joints, statement by statement in the names and frames of the expected one.

A statement is found again by its name or, where names tell nothing, by its content: a tendon may be called otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ..tree import Floats, Said, Tree
    from .alignment import Node
    from .matching import Matching

OFF = "switched off"
ABSENT = "absent"
FLOOR = 1e-6  # a number is compared relative to its size, or to this where it is smaller
METRE = 1.0  # [m] to which points are compared
MOST = 4  # values that are told of a statement that the other file does not make


@dataclass(frozen=True)
class Statement:
    """One statement.

    Attributes:
        element: what it is; only statements of the same element are compared.
        where: name of what it is about, in our names as far as matched.
        says: its values, likewise, points in our frames.
        source: file and line.
        on: whether the file switches it on.
    """

    element: str
    where: str | None
    says: tuple[Said, ...]
    source: Source = field(default_factory=Source)
    on: bool = True


@dataclass(frozen=True, eq=False)
class Names:
    """The names and frames of the other file in ours.

    Attributes:
        joints, bodies: its names to ours, of what was matched.
        frames: its body names to (4, 4) T_ours_theirs, of what was matched.
    """

    joints: Mapping[str, str]
    bodies: Mapping[str, str]
    frames: Mapping[str, Floats]

    @classmethod
    def of(cls, ours: Tree, theirs: Tree, matching: Matching, nodes: Iterable[Node] = ()) -> Names:
        """Return the names and frames of two matched trees."""
        joints = {theirs.joints[j].name: ours.joints[i].name for i, j in matching.joints.items()}
        bodies = {theirs.bodies[j].name: ours.bodies[i].name for i, j in matching.bodies.items()}
        return cls(joints, bodies, {theirs.bodies[node.b].name: node.G for node in nodes})

    def named(self, name: str | None) -> str | None:
        """Return our name of a joint or body, else the name as it is."""
        return None if name is None else self.joints.get(name) or self.bodies.get(name) or name

    def said(self, said: Said) -> Said:
        """Return a value in our names and frames."""
        joint = self.joints.get(said.joint)
        place = joint or self.bodies.get(said.body) or said.joint or said.body
        value = said.value
        if said.point and said.body in self.frames:
            G = self.frames[said.body]
            value = tuple(float(x) for x in G[:3, :3] @ np.array(value) + G[:3, 3])
        return replace(said, value=value, joint=place if said.joint else "", body="" if said.joint else place)


def departing(
    mine: Sequence[Statement], other: Sequence[Statement], tolerance: float
) -> Iterator[tuple[Statement, Statement | None, Statement | None]]:
    """Yield the statements that the other file makes otherwise or not at all, in our order, then those beyond ours.

    Each comes as itself, as ours and as theirs. What is switched off is no statement; it stands beside one that is on.
    """
    left, there = [x for x in mine if x.on], [y for y in other if y.on]

    def take(fits: Callable[[Statement, Statement], bool]) -> None:
        for x in list(left):
            y = next((y for y in there if x.element == y.element and fits(x, y)), None)
            if y is not None:
                left.remove(x)
                there.remove(y)

    take(lambda x, y: x.where == y.where and alike(x, y, tolerance))
    take(lambda x, y: alike(x, y, tolerance))
    idle = [x for x in mine if not x.on], [y for y in other if not y.on]
    for x in left:
        y = _namesake(x, there) or _namesake(x, idle[1])
        if y in there:
            there.remove(y)
        yield x, x, y
    for y in there:
        yield y, _namesake(y, idle[0]), y


def _namesake(x: Statement, others: Iterable[Statement]) -> Statement | None:
    return next((y for y in others if (x.element, x.where) == (y.element, y.where)), None)


def alike(x: Statement, y: Statement, tolerance: float) -> bool:
    """Return whether two statements say the same."""
    return len(x.says) == len(y.says) and all(_same(a, b, tolerance) for a, b in zip(x.says, y.says, strict=True))


def _same(a: Said, b: Said, tolerance: float) -> bool:
    if (a.name, _place(a)) != (b.name, _place(b)):
        return False
    if isinstance(a.value, str) or isinstance(b.value, str) or a.value == b.value:
        return a.value == b.value
    size = max(METRE if a.point else FLOOR, *(abs(x) for x in (*a.value, *b.value)))
    # A polynomial of lower degree has no coefficients beyond.
    return all(abs(x - y) <= tolerance * size for x, y in zip_longest(a.value, b.value, fillvalue=0.0))


def values(x: Statement | None, y: Statement | None, tolerance: float) -> tuple[Any, Any]:
    """Return what the two say in as few numbers or words as tell them apart."""
    both = [z.says if z is not None and z.on else None for z in (x, y)]
    if both[0] is not None and both[1] is not None and [a.name for a in both[0]] == [b.name for b in both[1]]:
        pairs = [(a, b) for a, b in zip(both[0], both[1], strict=True) if not _same(a, b, tolerance)]
        # The first value is what the statement is about; any other needs its name.
        if len(pairs) == 1 and pairs[0][0] is both[0][0] and _place(pairs[0][0]) == _place(pairs[0][1]):
            return _plain(pairs[0][0]), _plain(pairs[0][1])
        both = [tuple(pair[k] for pair in pairs) for k in range(2)]
    words = [None if said is None else _listed(said) for said in both]
    states = [ABSENT if z is None else OFF for z in (x, y)]
    return words[0] or states[0], words[1] or states[1]


def _place(said: Said) -> str:
    return said.joint or said.body


def _listed(said: Sequence[Said]) -> str:
    words = [word for word in map(_words, said) if word]
    return ", ".join([*words[:MOST], *["..."] * (len(words) > MOST)]) or "present"


def _plain(said: Said) -> Any:
    if isinstance(said.value, str):
        return said.value or "none"
    return said.value[0] if len(said.value) == 1 else list(said.value)


def _words(said: Said) -> str:
    if not said.value and not _place(said):
        return ""
    value = said.value if isinstance(said.value, str) else " ".join(f"{x:.9g}" for x in said.value)
    return " ".join(filter(None, (said.name, _place(said), value)))
