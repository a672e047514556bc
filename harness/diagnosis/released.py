"""Bodies that move in one tree and are merged in the other: a joint that is missing, and no inertia that departs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..fusion import compose
from .alignment import home_placement, moved
from .inertias import grain, in_frame, reasons

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..tree import Floats, Inertia
    from .alignment import Node, Side
    from .matching import Matching


@dataclass(frozen=True)
class Released:
    """What moves in one tree alone and is part of a rigid piece of the other.

    Attributes:
        holders: bodies of ours whose piece is the same once what moves is at home.
        ours, theirs: bodies of each tree that move there alone.
    """

    holders: frozenset[int]
    ours: frozenset[int]
    theirs: frozenset[int]


def released(ours: Side, theirs: Side, nodes: Sequence[Node], matching: Matching, tolerance: float) -> Released:
    """Return what moves in one tree alone while the other has merged it, with everything at home.

    Args:
        ours: the expected tree.
        theirs: the other tree.
        nodes: the matched bodies in our frames.
        matching: of the bodies.
        tolerance: relative.
    """
    more_a = dict(_alone(ours, {node.a for node in nodes}, set(matching.bodies)))
    more_b = dict(_alone(theirs, {node.b for node in nodes}, set(matching.bodies.values())))
    holders: set[int] = set()
    found: tuple[set[int], set[int]] = (set(), set())
    for node in nodes:
        mine, other = more_a.get(node.a, []), more_b.get(node.b, [])
        if not (mine or other) or node.a not in ours.pieces:
            continue
        x = [(ours.pieces[node.a], np.eye(4)), *((p, T) for _, p, T in mine)]
        y = [(node.inertia_found, np.eye(4)), *((moved(p, node.G @ T), np.eye(4)) for _, p, T in other)]
        if not reasons(compose(x), compose(y), grain([in_frame(*part) for part in x], tolerance)):
            holders.add(node.a)
            found[0].update(i for i, *_ in mine)
            found[1].update(j for j, *_ in other)
    return Released(frozenset(holders), frozenset(found[0]), frozenset(found[1]))


def _alone(one: Side, known: set[int], matched: set[int]) -> Iterator[tuple[int, list[tuple[int, Inertia, Floats]]]]:
    """Yield matched holders with all that moves on them in this tree alone: body, its piece, its placement at home."""
    found: dict[int, list[tuple[int, Inertia, Floats]]] = {}
    for j, joint in enumerate(one.tree.joints):
        if not joint.nv or j in matched:
            continue
        k, T = one.tree.parents[j], home_placement(joint)
        while k and not (k in known and one.holder[k] == k):
            T, k = home_placement(one.tree.joints[k]) @ T, one.tree.parents[k]
        found.setdefault(k, []).append((j, one.pieces[j], np.asarray(T, np.float64)))
    yield from found.items()
