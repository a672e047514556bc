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
from .accounts import accounts, left_out, without
from .alignment import ends_of, home_placement, moved
from .difference import Difference, with_inertia
from .inertias import Reason, grain, in_frame, reasons
from .other_members import Remainder, remainders
from .tensor_patterns import SIX
from .turns import in_degrees, rpy_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..tree import Floats, Tree
    from .alignment import Node, Side
    from .matching import Matching

UNITS: Final = {"mass": "kg", "com": "m", "inertia": "kg m^2", "placing": "rad", "inertial": "kg"}
FIELDS: Final = {
    "mass": ("mass",),
    "com": ("com",),
    "inertia": ("I_com",),
    "placing": ("com", "I_com"),
    "inertial": ("mass", "com", "I_com"),
}
MADE: Final = Reason("mass.default", "inertial")  # one file states an inertia, the other makes it of shapes
# What of `<compiler>` lets MuJoCo replace an inertia that the file states.
REPAIRS: Final = ("compiler@balanceinertia", "compiler@boundinertia", "compiler@boundmass")


@dataclass(frozen=True, eq=False)
class Fault:
    """One reason of one member.

    Attributes:
        member: index in our tree.
        other: index in the other tree of the body that says so.
        theirs: inertia of the member as found, in its own axes.
        reason: how it departs.
        remainder: where the member is one of the other tree; then `member` is ours that it was matched with, or else
            our holder.
    """

    member: int
    other: int
    theirs: Inertia
    reason: Reason
    remainder: Remainder | None = None


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
        return {(fault.reason.kind, -fault.other if fault.remainder else fault.member) for fault in self.faults}


def inertia_differences(
    ours: Side, theirs: Side, node: Node, matching: Matching, tolerance: float, reach: float
) -> Iterator[Difference]:
    """Yield what departs in one piece, with everything that explains it as well as rivals.

    Args:
        ours: the expected tree, its members where the other tree has them.
        theirs: the other tree.
        node: the holder of the piece in our frames.
        matching: of the bodies.
        tolerance: relative.
        reach: [m] size of the robot.
    """
    tellings = _tellings(ours, theirs, node, matching, tolerance, reach)
    if not tellings:
        return
    best, *others = sorted(tellings, key=lambda telling: telling.cost)
    equal = [telling for telling in others if telling.cost <= best.cost and telling.places != best.places]
    rivals = [_difference(ours, theirs, node, f, f.reason.kind) for telling in equal for f in telling.faults]
    for fault in best.faults:
        yield _told(ours, theirs, node, fault, rivals)
    # After the faults, which replace what a member has: these add to the holder.
    for j in best.beyond:
        yield _added(ours.tree, theirs, node, j)


def _tellings(
    ours: Side, theirs: Side, node: Node, matching: Matching, tolerance: float, reach: float
) -> list[Telling]:
    """Return every account of one piece; none when nothing departs."""
    if _kept_apart(ours, theirs, node, matching):
        faults = _own_faults(ours, theirs, node, matching, tolerance, reach)
        if not faults:
            return []
        own = Telling(sum(fault.reason.cost for fault in faults), tuple(faults))
        # A body that states nothing, and that the other file does not have, may have been given an inertia there.
        empty = [x for x in _accounts(ours, theirs, node, matching, tolerance) if _of_frames(ours.tree, x)]
        return [own, *empty]
    alone = _accounts(ours, theirs, node, matching, tolerance)
    if not alone:
        return []
    tellings = [*_apart(ours, theirs, node, matching, tolerance, reach), *alone]
    mine = {matching.bodies.get(i): i for i in ours.members(node.a)}
    for x in remainders(ours, theirs, node, matching, tolerance):
        at = mine.get(x.other, node.a)
        tellings.append(Telling(x.cost, tuple(Fault(at, x.other, x.theirs, reason, x) for reason in x.reasons)))
    return tellings + _beyond(ours, theirs, node, matching, tolerance)


def _of_frames(tree: Tree, telling: Telling) -> bool:
    """Return whether only bodies without inertia are at fault."""
    return bool(telling.faults) and all(tree.bodies[fault.member].inertia.is_zero for fault in telling.faults)


def _told(ours: Side, theirs: Side, node: Node, fault: Fault, rivals: list[Difference]) -> Difference:
    """Return a fault as a difference, with everything that explains the same."""
    if fault.reason.kind == "inertia.repaired" and not _repairs(theirs.tree):
        fault = replace(fault, reason=replace(fault.reason, kind="inertia.value"))
    kinds = dict.fromkeys((fault.reason.kind, *fault.reason.rivals))
    told = [_difference(ours, theirs, node, fault, kind) for kind in kinds] + rivals
    distinct = {(d.kind, d.where): d for d in reversed(told)}
    return replace(told[0], rivals=tuple(d for d in distinct.values() if d is not told[0])[::-1])


def _repairs(tree: Tree) -> bool:
    """Return whether whoever read a tree may have replaced its tensors: an engine may, a file asks for it."""
    return not tree.origin.path or any(name in tree.sources for name in REPAIRS)


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


def _own_faults(
    ours: Side, theirs: Side, node: Node, matching: Matching, tolerance: float, reach: float
) -> list[Fault]:
    """Return the faults of every member of ours against its own match, each by its own grain.

    None where they add up to nothing: what one member has less another has more, which is a choice of the file.
    """
    faults: list[Fault] = []
    for i in ours.members(node.a):
        j = matching.bodies.get(i)
        if j not in theirs.members(node.b):
            continue
        body, other = ours.tree.bodies[i], theirs.tree.bodies[j]
        G = np.asarray(inverse(ours.Ts_holder_body[i]) @ node.G @ theirs.Ts_holder_body[j], np.float64)
        alone = moved(other.inertia, G)
        stated = "inertial" in body.sources or not body.inertia.is_zero
        g = grain([body.inertia, alone], tolerance, reach)
        found = reasons(body.inertia, alone, g, stated=stated, frames=(G[:3, :3],))
        if found and _by_shapes(ours.tree, theirs.tree, matching, i):
            found = (MADE,)
        faults += [Fault(i, j, alone, reason) for reason in found]
    return [] if _cancel(ours, faults, tolerance) else faults


def _cancel(ours: Side, faults: list[Fault], tolerance: float) -> bool:
    """Return whether the members at fault have the same sum in both trees."""
    found = {fault.member: (fault.theirs, ours.Ts_holder_body[fault.member]) for fault in faults}
    if len(found) < 2:
        return False
    mine = [(ours.tree.bodies[i].inertia, ours.Ts_holder_body[i]) for i in found]
    parts = [in_frame(*part) for part in mine]
    return not reasons(compose(mine), compose([*found.values()]), grain(parts, tolerance))


def _accounts(
    ours: Side, theirs: Side, node: Node, matching: Matching, tolerance: float, total: Inertia | None = None
) -> list[Telling]:
    """Return the accounts that keep to our members; empty when the composite, `total` or the other's, is ours."""
    at = ours.members(node.a)
    bodies = ours.tree.bodies
    members = [(bodies[i].inertia, ours.Ts_holder_body[i]) for i in at]
    stated = ["inertial" in bodies[i].sources or not bodies[i].inertia.is_zero for i in at]
    shapes, ends = _shaped(ours.tree), ends_of(ours.tree)
    shaped = [bodies[i].name in shapes for i in at]
    frames = [_axes_there(ours, theirs, node, matching, i) for i in at]
    total, tellings = total or node.inertia_found, list[Telling]()
    for x in accounts(members, stated, shaped, total, tolerance, frames, [i in ends for i in at]):
        faults = tuple(Fault(at[p.member], node.b, p.theirs, r) for p in x.parts for r in p.reasons)
        if len(x.parts) == 1 and _by_shapes(ours.tree, theirs.tree, matching, at[x.parts[0].member]):
            faults = (Fault(at[x.parts[0].member], node.b, x.parts[0].theirs, MADE),)
        tellings.append(Telling(MADE.cost if faults and faults[0].reason is MADE else x.cost, faults))
    return tellings


def _by_shapes(ours: Tree, theirs: Tree, matching: Matching, i: int) -> bool:
    """Return whether one file leaves the inertia of a body to shapes; an engine does not say what its was made of."""
    j = matching.bodies.get(i)
    if j is None or not theirs.origin.path:
        return False
    return ("shapes" in ours.bodies[i].sources) != ("shapes" in theirs.bodies[j].sources)


def _axes_there(ours: Side, theirs: Side, node: Node, matching: Matching, i: int) -> list[Floats]:
    """Return the axes, in those of our member, in which the other file writes the tensor of its match."""
    j = matching.bodies.get(i)
    if j not in theirs.members(node.b):
        return []
    R = ours.Ts_holder_body[i][:3, :3].T @ node.G[:3, :3] @ theirs.Ts_holder_body[j][:3, :3]
    return [np.asarray(R, np.float64), np.asarray(R @ theirs.tree.bodies[j].inertia.axes, np.float64)]


def _unmatched(theirs: Side, ours: Side, node: Node, matching: Matching) -> list[int]:
    """Return the members of the other piece that have inertia and no counterpart in ours."""
    found = {matching.bodies.get(i) for i in ours.members(node.a)}
    return [j for j in theirs.members(node.b) if j not in found and not theirs.tree.bodies[j].inertia.is_zero]


def _apart(ours: Side, theirs: Side, node: Node, matching: Matching, tolerance: float, reach: float) -> list[Telling]:
    """Return the account of every member against its own match; empty when it does not hold."""
    beyond = _unmatched(theirs, ours, node, matching)
    there = theirs.members(node.b)
    faults = _own_faults(ours, theirs, node, matching, tolerance, reach)
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
    rest = _accounts(ours, theirs, node, matching, tolerance, reduced) or [Telling(0.0, ())]
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


def _difference(ours: Side, theirs: Side, node: Node, fault: Fault, kind: str) -> Difference:
    """Return one fault as a difference of its member."""
    body, other, field = ours.tree.bodies[fault.member], theirs.tree.bodies[fault.other], fault.reason.field
    rest, mine = fault.remainder, body.inertia
    if kind == "body.missing" and not mine.mass:
        kind, field = "inertia.value", "inertia"  # no body with mass is missing: its tensor is
    tree, k, apply = ours.tree, fault.member, _replaced(body.name, fault.theirs, FIELDS[field])
    if rest is not None:
        members = [(ours.tree.bodies[i].name, ours.Ts_holder_body[i]) for i in ours.members(node.a)]
        mine, apply = rest.ours, rest.patch(ours.tree.bodies[node.a].name, members, FIELDS[field])
        # Ours has its own name for it, unless it was merged into the holder.
        if fault.member == node.a and fault.other != node.b:
            tree, k = theirs.tree, fault.other
    sources = body.source(field), other.source(field)
    if fault.reason.turn is None:
        expected, found = _value(mine, field), _value(fault.theirs, field)
        return Difference(kind, tree.bodies[k].name, expected, found, UNITS[field], apply, *sources)
    R = home_placement(tree.joints[k])[:3, :3]
    # The turn is in the axes of the member: ours is turned to what was found, or theirs back to what was expected.
    turns = (R, R @ fault.reason.turn) if rest is None else (R @ fault.reason.turn.T, R)
    named = (tree.bodies[k].name, "units.angle"), (tree.joints[k].name, "joint.orientation")
    where, kind = named[0] if in_degrees(*turns) else named[1]
    return Difference(kind, where, rpy_of(turns[0]), rpy_of(turns[1]), UNITS[field], apply, *sources)


def _replaced(name: str, inertia: Inertia, fields: tuple[str, ...]) -> Callable[[Tree], Tree]:
    """Return the patch that puts fields of an inertia into a body."""
    values = {field: getattr(inertia, field) for field in fields}

    def apply(tree: Tree) -> Tree:
        return with_inertia(tree, name, replace(tree.bodies[tree.index[name]].inertia, **values))

    return apply


def _value(inertia: Inertia, field: str) -> Any:
    """Return mass, centre of mass, or tensor as xx yy zz xy xz yz."""
    if field in ("mass", "inertial"):
        return inertia.mass
    return inertia.com.tolist() if field == "com" else [float(inertia.I_com[at]) for at in SIX]
