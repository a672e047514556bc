"""Parameter by parameter: how another tree departs from ours, after both stand in one set of frames."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ..tree import Body, Inertia, Joint, JointKind
from .alignment import Node, common_zeros, found_placements, home_placement, moving_elsewhere, side
from .difference import Difference, patched, unchanged, with_body, with_inertia
from .frame_choice import align
from .joints import joint_differences
from .matching import match
from .pieces import inertia_differences
from .rehung import rehung
from .released import released
from .tensor_patterns import SIX
from .units import readings
from .whole import whole_differences

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from ..tree import Floats, Tree
    from .alignment import Side
    from .matching import Matching

UNIT: Final = 0.5  # what one unit of a whole file costs beside differences of single elements


@dataclass(frozen=True, eq=False)
class Comparison:
    """What `compare` found.

    Attributes:
        differences: parents before children, joints before bodies.
        nodes: the matched bodies in our frames.
    """

    differences: tuple[Difference, ...]
    nodes: tuple[Node, ...]


def compare(
    ours: Tree, theirs: Tree, matching: Matching, tolerance: float, *, static: bool = False, same: Collection[str] = ()
) -> Comparison:
    """Compare two trees after matching.

    Args:
        ours: the expected tree.
        theirs: the other tree.
        matching: of their joints and bodies.
        tolerance: relative; parameters closer than that times their own size are equal.
        static: whether bodies that cannot move are compared too: they change nothing while the base is fixed.
        same: names of our bodies whose frame is the same in both: an engine that answers their pose has it, where it
            describes a body of that name and not only a frame on another one.

    Where the other file, or ours, agrees better when all its lengths or angles are read in another unit, that unit is
    one of the differences.
    """
    frames = {i: np.eye(4) for i, name in _by_name(ours, same) if matching.bodies.get(i) == theirs.index.get(name)}
    plain = best = _compare(ours, theirs, matching, tolerance, static=static, chosen=frames)
    cost = float(len(plain.differences))
    for reading in readings(ours, theirs, matching, plain.differences):
        # Names still tell what they told; what was matched by structure is matched anew.
        loose = matching.doubtful or _renamed(ours, theirs, matching)
        again = match(reading.ours, reading.theirs) if loose else matching
        tried = _compare(reading.ours, reading.theirs, again, tolerance, static=static)
        if len(tried.differences) + UNIT < cost:
            cost = len(tried.differences) + UNIT
            Gs = {node.a: reading.frame(node.G) for node in tried.nodes}
            # In the frames that fit, everything departs that the unit touches: together this is the unit.
            literal = _compare(ours, theirs, again, tolerance, static=static, chosen=Gs)
            where = _only_body(literal.differences, ours)
            unit = reading.difference(where, lambda _, all_of=literal.differences: patched(ours, all_of))
            best = Comparison((*tried.differences, unit), literal.nodes)
    return best


def _by_name(tree: Tree, names: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield the bodies of these names, those that the tree has."""
    return ((tree.index[name], name) for name in names if name in tree.index)


def _only_body(differences: Sequence[Difference], tree: Tree) -> str | None:
    """Return the one body that differs, in itself or by its joint; None when several do."""
    joints = {name: tree.bodies[i].name for name, i in tree.joint_index.items()}
    touched = {d.where if d.where in tree.index else joints.get(d.where or "") for d in differences}
    return next(iter(touched)) if len(touched) == 1 else None


def _renamed(ours: Tree, theirs: Tree, matching: Matching) -> bool:
    return any(ours.joints[i].name != theirs.joints[j].name for i, j in matching.joints.items())


def _compare(
    ours: Tree,
    theirs: Tree,
    matching: Matching,
    tolerance: float,
    *,
    static: bool,
    chosen: Mapping[int, Floats] | None = None,
) -> Comparison:
    """Compare two trees as they were read, in the frames that are `chosen` or in those that fit best."""
    zeros, kept = common_zeros(ours, theirs, matching), moving_elsewhere(ours, theirs, matching)
    sides = side(ours, zeros[0], kept[0]), side(theirs, zeros[1], kept[1])
    nodes = align(*sides, matching, tolerance, chosen)
    reach = max(1e-3, *(float(np.linalg.norm(node.P[:3, 3])) for node in nodes))
    # A member that stands elsewhere is a difference of its joint: its inertia is compared where it stands.
    standing = replace(sides[0], Ts_holder_body=found_placements(*sides, nodes))
    loose = released(*sides, nodes, matching, tolerance)
    found: list[Difference] = []
    elsewhere = rehung(*sides, nodes, matching)
    hung = {d.where for d in elsewhere}
    for node in nodes:
        moves = sides[0].moves(node.a)
        if moves or (static and node.a):
            found += joint_differences(*sides, node, tolerance, reach, placed=ours.joints[node.a].name not in hung)
        if node.a in sides[0].pieces and (static or moves) and node.a not in loose.holders:
            found += inertia_differences(standing, sides[1], node, matching, tolerance, reach)
        if node.a and ours.bodies[node.a].gravcomp != theirs.bodies[node.b].gravcomp:
            found.append(_gravcomp(ours, theirs, node))
    found += _missing(ours, theirs, matching, loose.ours)
    found += _extra(ours, sides[1], matching, nodes, loose.theirs)
    found += whole_differences(ours, theirs, matching, tolerance)
    doubtful = {ours.joints[i].name for i in matching.doubtful} | {ours.bodies[i].name for i in matching.doubtful}
    # Patches name bodies by their place in our tree: those that hang a body elsewhere come last.
    found += elsewhere
    noted = [replace(d, note="matched by structure, could be another") if d.where in doubtful else d for d in found]
    return Comparison(tuple(noted), nodes)


def _gravcomp(ours: Tree, theirs: Tree, node: Node) -> Difference:
    body, other = ours.bodies[node.a], theirs.bodies[node.b]
    sources = (body.source("gravcomp"), other.source("gravcomp"))
    return Difference("gravcomp", body.name, body.gravcomp, other.gravcomp, "1", unchanged, *sources)


def _missing(ours: Tree, theirs: Tree, matching: Matching, merged: frozenset[int]) -> Iterator[Difference]:
    """Yield joints with a dof and bodies with inertia that the other tree does not have, those `merged` there apart."""
    for i, joint in enumerate(ours.joints):
        body = ours.bodies[i]
        if not i or i in matching.bodies or not joint.nv:
            continue
        welded = theirs.joint_index.get(joint.name)
        if welded is not None and not theirs.joints[welded].nv:
            source = theirs.joints[welded].source()
            yield Difference(
                "joint.type", joint.name, joint.kind.value, "fixed", "", _weld(joint), joint.source("type"), source
            )
            continue
        at_root = joint.kind is JointKind.FLOATING and not ours.moving[body.parent]
        kind = "base.fixed_or_free" if at_root else "joint.missing"
        values = ("free", "fixed", "") if at_root else (joint.nv, 0, "dof")
        yield Difference(kind, joint.name, *values, _weld(joint), joint.source())
        for k, member in enumerate(ours.bodies if i not in merged else ()):
            if ours.fusion.holder[k] == i and k not in matching.bodies and not member.inertia.is_zero:
                yield _lacking(member)


def _lacking(body: Body) -> Difference:
    """Return a body that is gone with its inertia; of one without mass it is the tensor."""
    mass, gone = body.inertia.mass, _dropped(body)
    if mass:
        return Difference("body.missing", body.name, mass, 0.0, "kg", gone, body.source())
    tensor = [float(body.inertia.I_com[at]) for at in SIX]
    return Difference("inertia.value", body.name, tensor, [0.0] * 6, "kg m^2", gone, body.source("inertia"))


def _weld(joint: Joint) -> Callable[[Tree], Tree]:
    """Return the patch that locks a joint at its home."""

    def apply(tree: Tree) -> Tree:
        at = tree.joints[tree.joint_index[joint.name]]
        fixed = Joint(at.name, JointKind.FIXED, T_parent_joint=home_placement(at), sources=at.sources)
        body = tree.bodies[tree.joint_index[joint.name]].name
        return with_body(tree, body, lambda b: replace(b, joint=fixed))

    return apply


def _dropped(body: Body) -> Callable[[Tree], Tree]:
    """Return the patch that takes the inertia of a body away."""
    return lambda tree: with_inertia(tree, body.name, Inertia())


def _extra(
    ours: Tree, other: Side, matching: Matching, nodes: tuple[Node, ...], merged: frozenset[int]
) -> Iterator[Difference]:
    """Yield joints with a dof that our tree does not have; the body comes along with its piece, at rest at home.

    A body that ours has `merged` into what holds it is there already.
    """
    theirs = other.tree
    frames = {node.b: node for node in nodes}
    taken = set(matching.bodies.values())
    for j, joint in enumerate(theirs.joints):
        if not joint.nv or j in taken:
            continue
        k, P = theirs.parents[j], home_placement(joint)
        while k not in frames:
            P, k = home_placement(theirs.joints[k]) @ P, theirs.parents[k]
        holder, body = frames[k], theirs.bodies[j]
        placement = holder.G @ P
        name = ours.bodies[holder.a].name
        piece = other.pieces[j]

        def apply(
            tree: Tree, body: Body = body, placement: Floats = placement, name: str = name, piece: Inertia = piece
        ) -> Tree:
            joint = Joint(f"{body.joint.name} at rest", JointKind.FIXED, T_parent_joint=placement)
            added = Body(f"{body.name} of the other", tree.index[name], joint, piece)
            return replace(tree, bodies=(*tree.bodies, added), home=None)

        at_root = joint.kind is JointKind.FLOATING and not theirs.moving[body.parent]
        kind = "base.fixed_or_free" if at_root else "joint.extra"
        values = ("fixed", "free", "") if at_root else (0, joint.nv, "dof")
        yield Difference(kind, joint.name, *values, unchanged if j in merged else apply, other=joint.source())
