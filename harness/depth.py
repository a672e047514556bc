"""How deep a tree is: what recursion, stacks and rounding grow with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .tree import Tree


def links_in_a_row(tree: Tree) -> int:
    """Return how many links stand in a row at most, from the world to a leaf."""
    return _deepest(tree, [1] * len(tree.bodies))


def joints_in_a_row(tree: Tree) -> int:
    """Return how many joints that can move stand in a row at most."""
    return _deepest(tree, [int(body.joint.nv > 0) for body in tree.bodies])


def _deepest(tree: Tree, steps: list[int]) -> int:
    depths = [0]
    for body, step in zip(tree.bodies[1:], steps[1:], strict=True):
        depths.append(depths[body.parent] + step)
    return max(depths)
