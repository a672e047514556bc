"""Differences in the inertia of a rigid piece, told member by member.

A piece is a moving body with all that is fixed to it. How its inertia is spread over its members is a choice of the
file or of the engine, so only the sum is compared. Where the sum departs, the account that asks for the least wins: the
other tree's own members, where it keeps them apart, or one member at fault while all others are as the file says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ..fusion import compose
from ..spatial import inverse
from .alignment import moved
from .difference import Difference, with_inertia
from .inertias import SIX, Reason, accounts, grain, in_frame, reasons

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from ..tree import Inertia, Tree
    from .alignment import Node, Side
    from .matching import Matching

UNITS: Final = {"mass": "kg", "com": "m", "inertia": "kg m^2", "inertial": "kg"}
FIELDS: Final = {"mass": ("mass",), "com": ("com",), "inertia": ("I_com",), "inertial": ("mass", "com", "I_com")}


@dataclass(frozen=True, eq=False)
class Fault:
    """One reason of one member.

    Attributes:
        member: index in our tree.
        other: index in the other tree of the body that says so.
        theirs: inertia of the member as found, in its own axes.
        reason: how it departs.
    """

    member: int
    other: int
    theirs: Inertia
    reason: Reason


def inertia_differences(
    ours: Side, theirs: Side, node: Node, matching: Matching, tolerance: float
) -> Iterator[Difference]:
    """Yield what departs in one piece, with everything that explains it as well as rivals.

    Args:
        ours: the expected tree.
        theirs: the other tree.
        node: the holder of the piece in our frames.
        matching: of the bodies.
        tolerance: relative.
    """
    at = ours.members(node.a)
    bodies = ours.tree.bodies
    members = [(bodies[i].inertia, ours.Ts_holder_body[i]) for i in at]
    stated = ["inertial" in bodies[i].sources or not bodies[i].inertia.is_zero for i in at]
    shapes = {loss.where for loss in ours.tree.losses if loss.element == "collision"}
    shaped = [bodies[i].name in shapes for i in at]
    possible = accounts(members, stated, shaped, node.inertia_found, tolerance)
    if not possible:
        return
    ranked = [
        (x.cost, [Fault(at[p.member], node.b, p.theirs, reason) for p in x.parts for reason in p.reasons])
        for x in possible
    ]
    if apart := _apart(ours, theirs, node, matching, tolerance):
        ranked = sorted([(sum(fault.reason.cost for fault in apart), apart), *ranked], key=lambda pair: pair[0])
    least, best = ranked[0]
    equal = [faults for cost, faults in ranked[1:] if cost <= least and _places(faults) != _places(best)]
    for fault in best:
        kinds = dict.fromkeys((fault.reason.kind, *fault.reason.rivals))
        told = [_difference(ours.tree, theirs.tree, fault, kind) for kind in kinds]
        told += [_difference(ours.tree, theirs.tree, f, f.reason.kind) for faults in equal for f in faults]
        distinct = {(d.kind, d.where): d for d in reversed(told)}
        yield replace(told[0], rivals=tuple(d for d in distinct.values() if d is not told[0])[::-1])


def _places(faults: list[Fault]) -> set[tuple[str, int]]:
    return {(fault.reason.kind, fault.member) for fault in faults}


def _apart(ours: Side, theirs: Side, node: Node, matching: Matching, tolerance: float) -> list[Fault]:
    """Return the faults of every member against its own match; empty when the other tree does not keep them apart."""
    there = theirs.members(node.b)
    to_ours = {matching.bodies[i]: i for i in ours.members(node.a) if matching.bodies.get(i) in there}
    if any(j not in to_ours and not theirs.tree.bodies[j].inertia.is_zero for j in there):
        return []
    faults: list[Fault] = []
    found: list[tuple[Inertia, np.ndarray[Any, np.dtype[np.float64]]]] = []
    for i in ours.members(node.a):
        inertia, T = ours.tree.bodies[i].inertia, ours.Ts_holder_body[i]
        j = matching.bodies.get(i)
        alone = inertia
        if j in to_ours:
            alone = moved(theirs.tree.bodies[j].inertia, inverse(T) @ node.G @ theirs.Ts_holder_body[j])
        elif not inertia.is_zero:
            return []
        stated = "inertial" in ours.tree.bodies[i].sources or not inertia.is_zero
        g = grain([inertia, alone], tolerance)
        faults += [Fault(i, node.b if j is None else j, alone, r) for r in reasons(inertia, alone, g, stated=stated)]
        found.append((alone, T))
    closes = not reasons(compose(found), node.inertia_found, grain([in_frame(*f) for f in found], tolerance))
    return faults if closes else []


def _difference(ours: Tree, theirs: Tree, fault: Fault, kind: str) -> Difference:
    """Return one fault as a difference of its member."""
    body, other, field = ours.bodies[fault.member], theirs.bodies[fault.other], fault.reason.field

    def apply(tree: Tree) -> Tree:
        now = tree.bodies[tree.index[body.name]].inertia
        values = {name: getattr(fault.theirs, name) for name in FIELDS[field]}
        return with_inertia(tree, body.name, replace(now, **values))

    expected, found = (_value(inertia, field) for inertia in (body.inertia, fault.theirs))
    return Difference(kind, body.name, expected, found, UNITS[field], apply, body.source(field), other.source(field))


def _value(inertia: Inertia, field: str) -> Any:
    """Return mass, centre of mass, or tensor as xx yy zz xy xz yz."""
    if field in ("mass", "inertial"):
        return inertia.mass
    return inertia.com.tolist() if field == "com" else [float(inertia.I_com[at]) for at in SIX]
