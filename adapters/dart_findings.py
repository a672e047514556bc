"""What loading alone reveals: the default base, order, coordinates, the convention of free joints."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..harness.bases import DART
from ..harness.findings import finding
from ..harness.revealed import order, wrenches
from ..harness.tree import JointKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..harness.engine import Given
    from ..harness.findings import Finding
    from ..harness.seats import Seat
    from ..harness.tree import Tree
    from .dart_joints import BodyNode

SORTED = "map dofs by joint name: DART's URDF parser sorts the children of a link by joint name"
MAPPED = "nothing: the harness maps it; in your own calls, use DART's coordinates"
EXTERNAL = "setExtForce and setExtTorque: in world axes, at the body origin, unless told to be local"
COORDINATES = {
    JointKind.BALL: ("quaternion w, x, y, z", "rotation vector"),
    JointKind.PLANAR: ("x, y, theta; velocity in child axes", "x, y, theta; velocity in joint axes"),
    JointKind.FLOATING: ("position, quaternion w, x, y, z", "rotation vector, position"),
}


def revealed(given: Given, tree: Tree, nodes: Mapping[int, BodyNode], seats: Sequence[Seat]) -> tuple[Finding, ...]:
    """Return what was found when joints and links were matched by name."""
    found = [*order(tree, [seat.body for seat in sorted(seats, key=lambda seat: seat.v)], SORTED)]
    if given.format == "urdf":
        found += _default_base(given, tree, nodes)
    for seat in seats:
        found += _coordinates(given, tree, seat.body)
    return (*found, *wrenches(tree, EXTERNAL, MAPPED, "what the surroundings do to the body"))


def _default_base(given: Given, tree: Tree, nodes: Mapping[int, BodyNode]) -> Iterator[Finding]:
    """Yield that `DartLoader` was told to weld a root that it lets float by default."""
    for i, node in nodes.items():
        if not given.freed and node.getParentJoint().getName() == "rootJoint" and tree.bodies[i].parent == 0:
            yield finding(
                "base.fixed_or_free",
                tree.bodies[i].source(),
                where=tree.bodies[i].name,
                expected="fixed",
                found="floating by default",
                severity="convention",
                fix="set DartLoaderOptions.mDefaultRootJointType to FIXED, as the harness does",
            )


def _coordinates(given: Given, tree: Tree, i: int) -> Iterator[Finding]:
    """Yield how DART writes a joint with several dofs: at the joint of the file, or at the body that was freed."""
    joint, body = tree.joints[i], tree.bodies[i]
    if joint.kind not in COORDINATES:
        return
    expected, found = COORDINATES[joint.kind]
    freed = given.freed and body.parent == 0
    where, source = (body.name, body.source()) if freed else (joint.name, joint.source())
    yield finding("joint.coordinates", source, where=where, expected=expected, found=found, fix=MAPPED)
    if joint.kind is JointKind.FLOATING:
        for told in DART.findings(body, "DART"):
            yield replace(told, where=where, file=source.file or None, line=source.line or None)
