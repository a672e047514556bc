"""A body that hangs on another parent than in the expected tree: it moves with another part of the robot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..spatial import inverse
from .alignment import home_placement
from .difference import Difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..tree import Floats, Tree
    from .alignment import Node, Side
    from .matching import Matching


def parent_found(ours: Side, theirs: Side, node: Node, matching: Matching) -> int | None:
    """Return the body of ours on which the other tree hangs a moving joint, when ours hangs it elsewhere, else None.

    What is fixed to a moving body is that body, and what one tree has in between and the other has not is no parent.
    """
    if not ours.tree.joints[node.a].nv or not theirs.tree.joints[node.b].nv:
        return None
    back = {j: i for i, j in matching.bodies.items()}
    k = theirs.tree.parents[node.b]
    while k and (k not in back or not theirs.moves(k)):
        k = theirs.tree.parents[k]
    mine, other = _carriers(ours, node.a), _carriers(theirs, node.b)
    stays = ours.holder[back[k]] in mine and theirs.holder[matching.bodies[node.parent]] in other
    return None if stays else back[k]


def _carriers(side: Side, i: int) -> set[int]:
    """Return the moving bodies that carry body i, and the world."""
    found = {0}
    while i:
        i = side.tree.parents[i]
        found.add(side.holder[i])
    return found


@dataclass(frozen=True, eq=False)
class Hanging:
    """Where the other tree hangs a body.

    Attributes:
        joint: name of its joint in ours.
        parent: name of a body of ours.
        Q: (4, 4) home placement in that parent.
        at: coordinate of a one-dof joint at home.
    """

    joint: str
    parent: str
    Q: Floats
    at: float


def rehung(ours: Side, theirs: Side, nodes: Sequence[Node], matching: Matching) -> list[Difference]:
    """Return the bodies with another parent, each with the patch that hangs it there as the other tree does.

    Args:
        ours: the expected tree.
        theirs: the other tree.
        nodes: the matched bodies in our frames.
        matching: of both.
    """
    frames = {node.a: node for node in nodes}
    hangings: dict[str, Hanging] = {}
    found: list[Difference] = []
    for node in nodes:
        above = parent_found(ours, theirs, node, matching)
        if above is None:
            continue
        mine, other, upper = ours.tree.joints[node.a], theirs.tree.joints[node.b], frames[above]
        Q = upper.G @ inverse(theirs.home[upper.b]) @ theirs.home[node.b] @ inverse(node.G)
        names = [ours.tree.bodies[node.parent].name, ours.tree.bodies[above].name]
        hangings[mine.name] = Hanging(mine.name, names[1], np.asarray(Q, np.float64), node.at)
        expected, there = (f"on {name}" for name in names)
        sources = mine.source("parent"), other.source("parent")
        apply = partial(_hung, joint=mine.name, hangings=hangings)
        found.append(
            Difference("joint.placement", mine.name, expected, there, "", apply, *sources, note="on another parent")
        )
    return found


def _hung(tree: Tree, joint: str, hangings: Mapping[str, Hanging]) -> Tree:
    """Return the tree with a body on its other parent; when it carries that one, what is between goes elsewhere first.

    The parents of the other tree close no loop: there is always a body to begin with.
    """
    hanging, i = hangings[joint], tree.joint_index[joint]
    above = k = tree.index[hanging.parent]
    path: list[str] = []
    while k not in (0, i):
        path.append(tree.joints[k].name)
        k = tree.parents[k]
    if k == i:
        between = next((name for name in path if name in hangings), None)
        others = {name: h for name, h in hangings.items() if name != joint}
        return tree if between is None else _hung(_hung(tree, between, others), joint, hangings)
    body = tree.bodies[i]
    motion = home_placement(replace(body.joint, T_parent_joint=np.eye(4)), hanging.at)
    placed = replace(body, parent=above, joint=replace(body.joint, T_parent_joint=hanging.Q @ inverse(motion)))
    return replace(tree, bodies=(*tree.bodies[:i], placed, *tree.bodies[i + 1 :]), home=None)
