"""How two files tell one robot in two ways: merged bodies, another order of the joints. Harmless, and good to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..fusion import fuse
from .alignment import moving_elsewhere
from .difference import Difference, unchanged

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..tree import Tree
    from .matching import Matching

WITHOUT: Final = "body.missing"


@dataclass(frozen=True)
class Alone:
    """What one tree has and the other has not.

    Attributes:
        merged: bodies with inertia that the other tree holds in the body that they are fixed to, as body and the other
            tree's holder.
        lacking: joints with a dof, their bodies, and bodies with inertia that the other tree does not have.
        frames: fixed bodies without inertia.
    """

    merged: tuple[tuple[int, int], ...]
    lacking: tuple[str, ...]
    frames: tuple[str, ...]


def _alone(
    tree: Tree, other: Tree, to_other: dict[int, int], missing: frozenset[str], holders: Sequence[tuple[int, ...]]
) -> Alone:
    """Return what `tree` has alone.

    Args:
        tree: one of two.
        other: the other one.
        to_other: matched bodies.
        missing: names of bodies that a difference says to be missing in the other tree.
        holders: of the bodies of both trees.
    """
    merged: list[tuple[int, int]] = []
    lacking: list[str] = []
    frames: list[str] = []
    for i, body in enumerate(tree.bodies):
        if i in to_other:
            continue
        holder = to_other.get(holders[0][i])
        named = other.index.get(body.name)
        if body.joint.nv:
            lacking += [body.joint.name, body.name]
        elif holder is not None and named is not None and holders[1][named] == holders[1][holder]:
            continue  # it has the name there of a body that another one was matched with, in the same rigid piece
        elif body.inertia.is_zero:
            frames.append(body.name)
        elif holder is None or body.name in missing:
            lacking.append(body.name)
        else:
            merged.append((i, holder))
    return Alone(tuple(merged), tuple(lacking), tuple(frames))


def both_alone(ours: Tree, theirs: Tree, matching: Matching, found: Sequence[Difference]) -> tuple[Alone, Alone]:
    """Return what each of two trees has alone, given the differences between them."""
    missing = frozenset(d.where for d in found if d.kind == WITHOUT and d.where is not None)
    back = {j: i for i, j in matching.bodies.items()}
    kept = moving_elsewhere(ours, theirs, matching)
    holders = fuse(ours, kept[0]).holder, fuse(theirs, kept[1]).holder
    forth = _alone(ours, theirs, dict(matching.bodies), missing, holders)
    return forth, _alone(theirs, ours, back, missing, holders[::-1])


def representation(ours: Tree, theirs: Tree, matching: Matching, sides: tuple[Alone, Alone]) -> Iterator[Difference]:
    """Yield bodies that one tree has merged, and another order of the joints.

    Args:
        ours: the expected tree.
        theirs: the other tree.
        matching: of both.
        sides: from `both_alone`.
    """
    for i, j in sides[0].merged:
        body, into = ours.bodies[i], theirs.bodies[j].name
        yield Difference(
            "body.fused", body.name, body.inertia.mass, f"merged into {into}", "kg", unchanged, body.source()
        )
    for j, i in sides[1].merged:
        body, into = theirs.bodies[j], ours.bodies[i].name
        yield Difference(
            "body.fused", body.name, f"merged into {into}", body.inertia.mass, "kg", unchanged, other=body.source()
        )
    order = [i for _, i in sorted((j, i) for i, j in matching.joints.items())]
    if order != sorted(order):
        at_a, at_b = ([ours.joints[i].name for i in some] for some in (sorted(order), order))
        yield Difference("joint.order", None, at_a, at_b, "", unchanged)
