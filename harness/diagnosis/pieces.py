"""Differences in the inertia of a rigid piece, told member by member.

A piece is a moving body with all that is fixed to it. How its inertia is spread over its members is a choice of the
file or of the engine, so only the sum is compared. Where the sum departs, the account that asks for the least wins: the
other tree's own members, member by member, those that only one tree has counted as missing in the other; or one member
at fault while all others are as the file says; or a few members of the other tree that it has beyond ours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..fusion import compose
from ..spatial import inverse
from ..tree import Inertia
from .alignment import moved
from .difference import Difference, with_inertia
from .inertias import SIX, Reason, accounts, grain, in_frame, left_out, reasons, without

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tree import Floats, Tree
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


@dataclass(frozen=True, eq=False)
class Telling:
    """One account of a piece.

    Attributes:
        cost: of everything in it; the least wins, the earlier one where two cost the same.
        faults: of our members.
        beyond: indices in the other tree of members with inertia that ours does not have.
    """

    cost: float
    faults: tuple[Fault, ...]
    beyond: tuple[int, ...] = ()

    @property
    def places(self) -> set[tuple[str, int]]:
        """Kinds with their members."""
        return {(fault.reason.kind, fault.member) for fault in self.faults}


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
    if _kept_apart(ours, theirs, node, matching):
        faults = _own_faults(ours, theirs, node, matching, tolerance)
        yield from (_told(ours.tree, theirs.tree, fault, []) for fault in faults)
        return
    alone = _accounts(ours, node, node.inertia_found, tolerance)
    if not alone:
        return
    tellings = [*_apart(ours, theirs, node, matching, tolerance), *alone]
    tellings += _beyond(ours, theirs, node, matching, tolerance)
    best, *others = sorted(tellings, key=lambda telling: telling.cost)
    equal = [telling for telling in others if telling.cost <= best.cost and telling.places != best.places]
    rivals = [_difference(ours.tree, theirs.tree, f, f.reason.kind) for telling in equal for f in telling.faults]
    for fault in best.faults:
        yield _told(ours.tree, theirs.tree, fault, rivals)
    # After the faults, which replace what a member has: these add to the holder.
    for j in best.beyond:
        yield _added(ours.tree, theirs, node, j)


def _told(ours: Tree, theirs: Tree, fault: Fault, rivals: list[Difference]) -> Difference:
    """Return a fault as a difference, with everything that explains the same."""
    kinds = dict.fromkeys((fault.reason.kind, *fault.reason.rivals))
    told = [_difference(ours, theirs, fault, kind) for kind in kinds] + rivals
    distinct = {(d.kind, d.where): d for d in reversed(told)}
    return replace(told[0], rivals=tuple(d for d in distinct.values() if d is not told[0])[::-1])


def _kept_apart(ours: Side, theirs: Side, node: Node, matching: Matching) -> bool:
    """Return whether both trees keep the same members apart: each that has inertia has a match there that has some.

    A member without inertia counts when it has shapes: a reader that merges it may have made an inertia of them.
    """
    back = {j: i for i, j in matching.bodies.items()}
    mine, there = ours.members(node.a), theirs.members(node.b)
    shaped = _shaped(ours.tree)
    for i in mine:
        body, j = ours.tree.bodies[i], matching.bodies.get(i)
        if body.inertia.is_zero and (body.name not in shaped or j in there):
            continue
        if j not in there or theirs.tree.bodies[j].inertia.is_zero:
            return False
    return all(back.get(j) in mine for j in there if not theirs.tree.bodies[j].inertia.is_zero)


def _shaped(tree: Tree) -> set[str | None]:
    """Return the names of links without inertia whose shapes a reader may make an inertia of."""
    return {loss.where for loss in tree.losses if loss.element == "collision"}


def _own_faults(ours: Side, theirs: Side, node: Node, matching: Matching, tolerance: float) -> list[Fault]:
    """Return the faults of every member of ours against its own match, each by its own grain."""
    faults: list[Fault] = []
    for i in ours.members(node.a):
        j = matching.bodies.get(i)
        if j not in theirs.members(node.b):
            continue
        body, other = ours.tree.bodies[i], theirs.tree.bodies[j]
        G = np.asarray(inverse(ours.Ts_holder_body[i]) @ node.G @ theirs.Ts_holder_body[j], np.float64)
        alone = moved(other.inertia, G)
        stated = "inertial" in body.sources or not body.inertia.is_zero
        g = grain([body.inertia, alone], tolerance)
        found = reasons(body.inertia, alone, g, stated=stated, frames=(G[:3, :3],))
        # What an engine holds does not say what it was made of; another file does.
        if found and theirs.tree.origin.path and ("shapes" in body.sources) != ("shapes" in other.sources):
            found = (Reason("mass.default", "inertial"),)
        faults += [Fault(i, j, alone, reason) for reason in found]
    return faults


def _accounts(ours: Side, node: Node, theirs: Inertia, tolerance: float) -> list[Telling]:
    """Return the accounts that keep to our members; empty when the composite `theirs` is ours."""
    at = ours.members(node.a)
    bodies = ours.tree.bodies
    members = [(bodies[i].inertia, ours.Ts_holder_body[i]) for i in at]
    stated = ["inertial" in bodies[i].sources or not bodies[i].inertia.is_zero for i in at]
    shapes = _shaped(ours.tree)
    shaped = [bodies[i].name in shapes for i in at]
    return [
        Telling(x.cost, tuple(Fault(at[p.member], node.b, p.theirs, r) for p in x.parts for r in p.reasons))
        for x in accounts(members, stated, shaped, theirs, tolerance)
    ]


def _unmatched(theirs: Side, ours: Side, node: Node, matching: Matching) -> list[int]:
    """Return the members of the other piece that have inertia and no counterpart in ours."""
    found = {matching.bodies.get(i) for i in ours.members(node.a)}
    return [j for j in theirs.members(node.b) if j not in found and not theirs.tree.bodies[j].inertia.is_zero]


def _apart(ours: Side, theirs: Side, node: Node, matching: Matching, tolerance: float) -> list[Telling]:
    """Return the account of every member against its own match; empty when it does not hold."""
    beyond = _unmatched(theirs, ours, node, matching)
    there = theirs.members(node.b)
    faults = _own_faults(ours, theirs, node, matching, tolerance)
    found = [_in_holder(theirs, node, j) for j in beyond]
    missing = 0
    for i in ours.members(node.a):
        body, T = ours.tree.bodies[i], ours.Ts_holder_body[i]
        j = matching.bodies.get(i)
        if j in there:
            found.append((moved(theirs.tree.bodies[j].inertia, inverse(T) @ node.G @ theirs.Ts_holder_body[j]), T))
        elif not body.inertia.is_zero:
            faults.append(Fault(i, node.b, Inertia(), Reason("body.missing", "inertial")))
            missing += 1
    if reasons(compose(found), node.inertia_found, grain([in_frame(*f) for f in found], tolerance)):
        return []
    cost = sum(fault.reason.cost for fault in faults) - missing + _left(missing) + _left(len(beyond))
    return [Telling(cost, tuple(faults), tuple(beyond))]


def _left(count: int) -> float:
    """Return what it costs that one tree has members which the other has not: one decision leaves out many."""
    return 0.5 + 0.1 * count if count else 0.0


def _beyond(ours: Side, theirs: Side, node: Node, matching: Matching, tolerance: float) -> list[Telling]:
    """Return the accounts in which the other tree has a few members more, and the rest is told of our members."""
    there = theirs.members(node.b)
    members = [_in_holder(theirs, node, j) for j in there]
    unmatched = _unmatched(theirs, ours, node, matching)
    gone = [there[k] for k in left_out(members, node.inertia) if there[k] in unmatched]
    if not gone:
        return []
    reduced = without(node.inertia_found, [members[there.index(j)] for j in gone], np.eye(4))
    rest = _accounts(ours, node, reduced, tolerance) or [Telling(0.0, ())]
    return [Telling(_left(len(gone)) + x.cost, x.faults, tuple(gone)) for x in rest]


def _in_holder(theirs: Side, node: Node, j: int) -> tuple[Inertia, Floats]:
    """Return the inertia of a body of the other tree and its placement (4, 4) in our holder."""
    return theirs.tree.bodies[j].inertia, np.asarray(node.G @ theirs.Ts_holder_body[j], np.float64)


def _added(ours: Tree, theirs: Side, node: Node, j: int) -> Difference:
    """Return a body with inertia that only the other tree has, fixed to our holder."""
    holder, body = ours.bodies[node.a].name, theirs.tree.bodies[j]
    added = in_frame(*_in_holder(theirs, node, j))

    def apply(tree: Tree) -> Tree:
        now = tree.bodies[tree.index[holder]].inertia
        return with_inertia(tree, holder, compose([(now, np.eye(4)), (added, np.eye(4))]))

    return Difference("body.missing", body.name, 0.0, body.inertia.mass, "kg", apply, other=body.source("mass"))


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
