"""Differences between two joints in one set of frames: type, axis, placement, orientation, zero, and joint terms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..spatial import inverse, rotation_about
from ..tree import Joint, JointKind
from .alignment import home_placement, placement, same_pose
from .difference import Difference, unchanged, with_joint
from .turns import DEGREE, in_degrees, rpy_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..errors import Source
    from ..tree import Floats, Tree
    from .alignment import Node, Side

TURNING: Final = (JointKind.REVOLUTE, JointKind.CONTINUOUS)


def joint_differences(
    ours: Side, theirs: Side, node: Node, tolerance: float, reach: float, *, placed: bool = True
) -> Iterator[Difference]:
    """Yield how the joint of one matched body departs, each with the patch that puts it into our tree.

    Args:
        ours: the expected tree.
        theirs: the other tree.
        node: the body in our frames.
        tolerance: relative.
        reach: [m] size of the robot, the scale of lengths.
        placed: whether where it stands is compared: both trees hang it on the same parent.
    """
    mine, other = ours.tree.joints[node.a], theirs.tree.joints[node.b]
    if _family(mine) is not _family(other):
        yield _retyped(node, mine, other)
        return
    if mine.kind is not JointKind.FLOATING:
        yield from _screw(node, mine, other, tolerance, reach)
        if placed:
            yield from _placement(ours, theirs, node, tolerance, reach)
    if mine.nv:
        yield from _terms(mine, other, tolerance)


def _family(joint: Joint) -> JointKind:
    """Return the kind, revolute and continuous as one: limits are no dynamics."""
    return JointKind.REVOLUTE if joint.kind in TURNING else joint.kind


def _retyped(node: Node, mine: Joint, other: Joint) -> Difference:
    """Return a joint of another type; base joints are said as such."""
    free = JointKind.FLOATING in (mine.kind, other.kind) and JointKind.FIXED in (mine.kind, other.kind)
    at_root = node.parent == 0
    kind = "base.fixed_or_free" if free and at_root else "joint.type"

    def apply(tree: Tree) -> Tree:
        changed = replace(
            other, name=mine.name, sources=mine.sources, T_joint_body=other.T_joint_body @ inverse(node.G)
        )
        return with_home(tree, mine.name, node.parent, node.P_found, node.at, **_written(changed))

    return Difference(
        kind, mine.name, mine.kind.value, other.kind.value, "", apply, mine.source("type"), other.source("type")
    )


def _written(joint: Joint) -> dict[str, Any]:
    """Return the fields that make the motion and the terms of a joint."""
    names = ("kind", "axis", "T_joint_body", "ref", "damping", "friction", "armature", "rotor", "stiffness", "rest")
    return {name: getattr(joint, name) for name in names}


def with_home(tree: Tree, name: str, above: int, P: Floats, at: float, **fields: Any) -> Tree:
    """Return the tree with one joint changed and its body at home placement P in body `above`.

    Args:
        tree: whose joint is changed.
        name: of the joint.
        above: index of a body above it, such as its parent.
        P: (4, 4) wanted pose of the body in that body at home.
        at: coordinate of a one-dof joint at home.
        **fields: other fields of the joint.
    """
    i = tree.joint_index[name]
    joint: Joint = replace(tree.joints[i], **fields)
    H, k = np.eye(4), tree.parents[i]
    while k not in (above, -1):
        H = home_placement(tree.joints[k]) @ H
        k = tree.parents[k]
    motion = home_placement(replace(joint, T_parent_joint=np.eye(4)), at)
    return with_joint(tree, name, **fields, T_parent_joint=inverse(H) @ P @ inverse(motion))


def _screw(node: Node, mine: Joint, other: Joint, tolerance: float, reach: float) -> Iterator[Difference]:
    """Yield a reversed or turned axis, or an anchor elsewhere."""
    S, Z = node.S, node.S_found
    if S.shape != Z.shape or S.size == 0:
        return
    rows = slice(3, 6) if mine.kind is JointKind.PRISMATIC else slice(0, 3)
    n, m = S[rows], Z[rows]
    length = max(reach, 1.0)

    def apply(tree: Tree) -> Tree:
        now = tree.joints[tree.joint_index[mine.name]]
        P = _home_in(tree, mine.name, node)
        return with_home(tree, mine.name, node.parent, P, node.at, **_motion_of(now, other, Z, node))

    def found(kind: str, field: str, expected: Any, value: Any, unit: str) -> Difference:
        return Difference(
            kind, mine.name, expected, value, unit, apply, source=mine.source(field), other=other.source(field)
        )

    if np.abs(n + m).max() <= tolerance and np.abs(n - m).max() > tolerance:
        yield found("joint.axis_sign", "axis", n[:, 0].tolist(), m[:, 0].tolist(), "1")
    elif np.abs(n - m).max() > tolerance and _written_alike(mine, other, tolerance):
        expected, value = (joint.T_parent_joint[:3, 3].tolist() for joint in (mine, other))
        yield found("joint.placement", "T_parent_joint", expected, value, "m")
    elif np.abs(n - m).max() > tolerance:
        yield found("joint.axis", "axis", _axis(mine, n), _axis(mine, m), "1")
    elif np.abs(S[3:] - Z[3:]).max() > tolerance * length:
        expected, value = (_anchor(T).tolist() for T in (S, Z))
        yield found("joint.placement", "T_joint_body", expected, value, "m")


def _written_alike(mine: Joint, other: Joint, tolerance: float) -> bool:
    """Return whether two joints have one axis in their own frames, and the frames stand elsewhere."""
    same_axis = mine.nv == 1 and float(np.abs(mine.axis - other.axis).max()) <= tolerance
    return same_axis and bool(np.abs(mine.T_parent_joint[:3, 3] - other.T_parent_joint[:3, 3]).max() > tolerance)


def _axis(joint: Joint, columns: Floats) -> list[Any]:
    return columns[:, 0].tolist() if joint.nv == 1 else columns.T.tolist()


def _anchor(S: Floats) -> Floats:
    """Return the point of the axis closest to the body origin, in body axes; for a ball its centre."""
    if S.shape[1] == 1:
        return np.cross(S[:3, 0], S[3:, 0])
    # A ball about c has v = -omega x c: the linear part is the matrix of c x, so c is its axial vector.
    B = S[3:] @ np.linalg.pinv(S[:3])
    return np.array([B[2, 1] - B[1, 2], B[0, 2] - B[2, 0], B[1, 0] - B[0, 1]]) / 2


def _motion_of(now: Joint, other: Joint, S: Floats, node: Node) -> dict[str, Any]:
    """Return axis, placement of the body and ref of a joint whose screws in body axes are S."""
    if now.kind in TURNING:
        shift = placement(np.eye(3), -_anchor(S))
        return {"axis": S[:3, 0] / np.linalg.norm(S[:3, 0]), "T_joint_body": shift}
    if now.kind is JointKind.PRISMATIC:
        return {"axis": S[3:, 0] / np.linalg.norm(S[3:, 0]), "T_joint_body": np.eye(4)}
    if now.kind is JointKind.BALL:
        R = now.T_joint_body[:3, :3]
        return {"T_joint_body": placement(R, -R @ _anchor(S))}
    return {"axis": other.axis, "T_joint_body": other.T_joint_body @ inverse(node.G)}


def _home_in(tree: Tree, name: str, node: Node) -> Floats:
    """Return the home placement of a joint's body in the parent of its node."""
    k = tree.joint_index[name]
    P, k = home_placement(tree.joints[k], node.at), tree.parents[k]
    while k not in (node.parent, -1):
        P = home_placement(tree.joints[k]) @ P
        k = tree.parents[k]
    return P


def _placement(ours: Side, theirs: Side, node: Node, tolerance: float, reach: float) -> Iterator[Difference]:
    """Yield a shifted zero, another orientation, another origin."""
    P, Q = node.P, node.P_found
    if same_pose(P, Q, tolerance, reach):
        return
    mine, other = ours.tree.joints[node.a], theirs.tree.joints[node.b]
    fields = (_placing(ours, theirs, node).source("T_parent_joint"), other.source("T_parent_joint"))
    shift = _shift_of_zero(node, mine, tolerance, reach)
    degrees = in_degrees(P[:3, :3], Q[:3, :3]) and bool(np.abs(P[:3, :3] - Q[:3, :3]).max() > tolerance)
    if shift is not None and not (degrees and mine.ref == other.ref):
        turning = mine.kind in TURNING and not _carried(ours, theirs, node, tolerance, reach)
        named = turning or mine.ref != other.ref
        unit = "m" if mine.kind is JointKind.PRISMATIC else "rad"
        rival = _placed(node, mine, "joint.placement" if unit == "m" else "joint.orientation", P, Q, fields)
        ratio = any(other.ref and np.isclose(mine.ref * k, other.ref, rtol=1e-6) for k in (DEGREE, 1 / DEGREE))
        kind = "units.angle" if ratio and unit == "rad" else "joint.zero"
        zero = Difference(
            kind,
            mine.name,
            0.0,
            shift,
            unit,
            rival.apply,
            source=mine.source("ref"),
            other=other.source("ref"),
            rivals=(rival,),
        )
        yield zero if named else replace(rival, rivals=(zero,))
        return
    if np.abs(P[:3, :3] - Q[:3, :3]).max() > tolerance:
        R = placement(Q[:3, :3], P[:3, 3])
        if degrees:
            at = (ours.tree.sources.get("angle") or fields[0], theirs.tree.sources.get("angle") or fields[1])
            turned = _placed(node, mine, "units.angle", P, R, at)
            yield replace(turned, where=ours.tree.bodies[node.a].name)
        else:
            yield _placed(node, mine, "joint.orientation", P, R, fields)
    if np.abs(P[:3, 3] - Q[:3, 3]).max() > tolerance * reach:
        size = float(np.linalg.norm(Q[:3, 3]))
        # A pedestal below is part of the placement: what the joints themselves write tells the unit as well.
        pairs = ((P[:3, 3], Q[:3, 3], size), _written_places(mine, other))
        kind = "units.length" if any(_scaled(*pair) for pair in pairs) else "joint.placement"
        yield _placed(node, mine, kind, P, placement(P[:3, :3], Q[:3, 3]), fields)


def _written_places(mine: Joint, other: Joint) -> tuple[Floats, Floats, float]:
    p, q = mine.T_parent_joint[:3, 3], other.T_parent_joint[:3, 3]
    return p, q, float(np.linalg.norm(q))


def _scaled(p: Floats, q: Floats, size: float) -> bool:
    """Return whether q is p in millimetres, or the reverse."""
    return bool(p.any()) and any(float(np.linalg.norm(p * k - q)) <= 1e-6 * size for k in (1e3, 1e-3))


def _placing(ours: Side, theirs: Side, node: Node) -> Joint:
    """Return the joint whose line places the body: its own, or that of a pedestal that the other tree has elsewhere."""
    i = node.a
    while (k := ours.tree.parents[i]) > 0 and not ours.tree.joints[k].nv:
        there = theirs.tree.index.get(ours.tree.bodies[k].name)
        if there is None or not same_pose(ours.home[k], theirs.home[there], 1e-9, 1.0):
            i = k
            continue
        break
    return ours.tree.joints[i]


def _carried(ours: Side, theirs: Side, node: Node, tolerance: float, reach: float) -> bool:
    """Return whether a joint stands right on a fixed body, and that body is what the other tree has elsewhere."""
    k = ours.tree.parents[node.a]
    there = theirs.tree.index.get(ours.tree.bodies[k].name)
    if k <= 0 or ours.tree.joints[k].nv or there is None:
        return False
    mine, other = inverse(ours.home[k]) @ ours.home[node.a], inverse(theirs.home[there]) @ theirs.home[node.b]
    return same_pose(mine, other @ inverse(node.G), tolerance, reach)


def _placed(node: Node, mine: Joint, kind: str, P: Floats, Q: Floats, sources: tuple[Source, Source]) -> Difference:
    """Return a difference in the origin or in the turn of a joint: only what differs between P and Q is patched."""
    turn = bool(np.any(P[:3, :3] != Q[:3, :3]))
    shift = bool(np.any(P[:3, 3] != Q[:3, 3]))

    def apply(tree: Tree) -> Tree:
        H = _home_in(tree, mine.name, node)
        R, p = (Q if turn else H)[:3, :3], (Q if shift else H)[:3, 3]
        return with_home(tree, mine.name, node.parent, placement(R, p), node.at)

    if turn and not shift:
        return Difference(
            kind, mine.name, rpy_of(P[:3, :3]), rpy_of(Q[:3, :3]), "rad", apply, source=sources[0], other=sources[1]
        )
    return Difference(
        kind, mine.name, P[:3, 3].tolist(), Q[:3, 3].tolist(), "m", apply, source=sources[0], other=sources[1]
    )


def _shift_of_zero(node: Node, mine: Joint, tolerance: float, reach: float) -> float | None:
    """Return d when the found home placement is ours moved by d along the joint's own motion, else None."""
    if mine.nv != 1:
        return None
    D = inverse(node.P) @ node.P_found
    S, least = node.S[:, 0], tolerance
    if mine.kind is JointKind.PRISMATIC:
        d, least = float(S[3:] @ D[:3, 3]), tolerance * reach
        moved = placement(np.eye(3), S[3:] * d)
    else:
        vee = np.array([D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]]) / 2
        d = float(np.arctan2(S[:3] @ vee, (np.trace(D[:3, :3]) - 1) / 2))
        R, c = rotation_about(S[:3], np.asarray(d)), _anchor(node.S)
        moved = placement(R, c - R @ c)
    return d if abs(d) > least and same_pose(moved, D, 4 * tolerance, reach) else None


def _terms(mine: Joint, other: Joint, tolerance: float) -> Iterator[Difference]:
    """Yield reflected inertia, damping, dry friction and springs that differ."""

    def differs(x: Any, y: Any) -> bool:
        size = max(float(np.abs(x).max(initial=0)), float(np.abs(y).max(initial=0)))
        return float(np.abs(np.asarray(x) - np.asarray(y)).max(initial=0)) > tolerance * size

    def found(kind: str, field: str, x: Any, y: Any, unit: str, apply: Callable[[Tree], Tree]) -> Difference:
        expected, value = (float(np.ravel(z)[0]) if mine.nv == 1 else np.asarray(z).tolist() for z in (x, y))
        return Difference(
            kind, mine.name, expected, value, unit, apply, source=mine.source(field), other=other.source(field)
        )

    if differs(mine.reflected, other.reflected):
        field = "armature" if differs(mine.armature, other.armature) else "rotor"
        unit = "kg" if mine.kind is JointKind.PRISMATIC else "kg m^2"
        values = {"armature": other.armature, "rotor": other.rotor}

        def reflected(tree: Tree) -> Tree:
            return with_joint(tree, mine.name, **values)

        yield found(field, field, mine.reflected, other.reflected, unit, reflected)
    for kind, field, unit in (
        ("damping", "damping", "N m s/rad"),
        ("frictionloss", "friction", "N m"),
        ("spring", "stiffness", "N m/rad"),
    ):
        x, y = getattr(mine, field), getattr(other, field)
        if differs(x, y):
            yield found(kind, field, x, y, unit, unchanged)
    if mine.stiffness and other.stiffness and differs(mine.rest, other.rest):
        yield found("spring", "rest", mine.rest, other.rest, "rad", unchanged)
