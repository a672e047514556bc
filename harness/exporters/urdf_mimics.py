"""Which closures of a tree a URDF holds: one linear relation per joint, `<mimic>`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..tree import Closure, Tree
    from .document import Losses


@dataclass(frozen=True, slots=True)
class Mimic:
    """q = offset + multiplier * q of the joint `other`."""

    other: str
    offset: float
    multiplier: float


def mimics_of(tree: Tree, losses: Losses) -> dict[str, Mimic]:
    """Return the mimics by the joint that follows, and name every other closure as a loss."""
    mimics: dict[str, Mimic] = {}
    for closure in tree.closures:
        mimic = _mimic(tree, closure)
        if mimic and closure.between[0] not in mimics:
            mimics[closure.between[0]] = mimic
            continue
        more = "a second relation of one joint" if mimic else f"a closure of kind {closure.kind}"
        note = f"{more} between {' and '.join(map(repr, closure.between))}: the format has <mimic> alone"
        note += "" if closure.active else "; it is switched off"
        losses.add("equality", closure.name, closure.source, note, touches=closure.active)
    return mimics


def _mimic(tree: Tree, closure: Closure) -> Mimic | None:
    """Return the relation if it is one of two scalar joints, linear and switched on.

    An MJCF equality of joints counts from the reference positions: q1 - ref1 = c0 + c1 (q2 - ref2) + ...
    """
    if not closure.active or closure.kind not in ("mimic", "joint") or len(closure.numbers) < 2:
        return None
    if any(closure.numbers[2:]) or len(closure.between) != 2 or closure.between[0] == closure.between[1]:
        return None
    found = [tree.joint_index.get(name) for name in closure.between]
    joints = [tree.joints[i] for i in found if i is not None]
    if len(joints) != 2 or any(joint.nv != 1 for joint in joints):
        return None
    offset, multiplier = closure.numbers[:2]
    if closure.kind == "joint":
        offset += joints[0].ref - multiplier * joints[1].ref
    return Mimic(joints[1].name, offset, multiplier)
