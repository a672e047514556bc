# pyright: reportAttributeAccessIssue=false
"""What loading alone reveals: order, coordinates, fused bodies, terms that a call leaves out."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from ..harness.findings import finding
from ..harness.revealed import order, wrenches
from ..harness.tree import JointKind
from .pinocchio_joints import CoordinateMap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..harness.engine import Given
    from ..harness.findings import Finding
    from ..harness.tree import Floats, Joint, Tree
    from .pinocchio_joints import PinModel, Slot

# What the MJCF parser passes over without a word, with the kinds of difference that this makes.
IGNORED = {
    "option@gravity": ("gravity.",),
    "option/flag@gravity": ("gravity.",),
    "compiler@settotalmass": ("mass", "inertia."),
    "compiler@inertiagrouprange": ("mass", "com", "inertia."),
    "compiler@balanceinertia": ("inertia.",),
    "include": ("",),
}
SORTED = "map dofs by joint name: Pinocchio sorts the children of a URDF link by joint name"
FEXT = "fext: force, then moment, in joint axes at the joint origin"
MAPPED = "nothing: the harness maps it; in your own calls, use Pinocchio's coordinates"


def revealed(given: Given, model: PinModel, tree: Tree, pairs: Sequence[tuple[int, Slot]]) -> tuple[Finding, ...]:
    """Return what was found when joints and links were matched by name."""
    by_velocity = [i for i, _ in sorted(pairs, key=lambda pair: pair[1].v)]
    found = [*order(tree, by_velocity, SORTED), *_coordinates(tree, pairs), *_composites(model, tree, pairs)]
    found += [*_keyframes(model, tree, pairs), *wrenches(tree, FEXT, MAPPED, "what the surroundings do to the body")]
    if given.format == "urdf":
        found += [_normal(tree.joints[i]) for i, _ in pairs if _is_turned_planar(tree.joints[i])]
    return (*found, *_fusions(model, tree))


def _coordinates(tree: Tree, pairs: Sequence[tuple[int, Slot]]) -> list[Finding]:
    """Return the joints whose configuration Pinocchio writes in other numbers."""
    results: list[Finding] = []
    for i, slot in pairs:
        joint, body = tree.joints[i], tree.bodies[i]
        kind, where, source = "joint.coordinates", joint.name, joint.source()
        expected, found = "quaternion w, x, y, z", "quaternion x, y, z, w"
        if slot.kind is JointKind.PLANAR:
            expected, found = "x, y, theta", "x, y, cos theta, sin theta"
        elif slot.unbounded:
            expected, found = "q", "cos q, sin q"
        elif slot.kind is JointKind.FLOATING and not tree.moving[body.parent]:
            kind, where, source = "base.quaternion_order", body.name, body.source()
            same: dict[str, Any] = {
                "expected": "spatial",
                "found": "spatial",
                "fix": "nothing: rnea takes the spatial acceleration",
            }
            results.append(finding("base.acceleration", source, where=where, **same))
        elif slot.kind not in (JointKind.BALL, JointKind.FLOATING):
            continue
        results.append(finding(kind, source, where=where, expected=expected, found=found, fix=MAPPED))
    return results


def _keyframes(model: PinModel, tree: Tree, pairs: Sequence[tuple[int, Slot]]) -> list[Finding]:
    """Return the keyframe that the tree has too, when Pinocchio keeps its quaternions in its own order."""
    turned = any(slot.kind in (JointKind.FLOATING, JointKind.BALL) for _, slot in pairs)
    source = tree.sources.get("home")
    if tree.home is None or source is None or not turned:
        return []
    home = CoordinateMap(model, tree, pairs, shifted=False).q(tree.home[None])[0]
    kept = [item.key() for item in model.referenceConfigurations if np.allclose(item.data(), home, rtol=0, atol=1e-12)]
    values: dict[str, Any] = {"expected": "quaternion w, x, y, z", "found": "quaternion x, y, z, w", "fix": MAPPED}
    return [finding("base.quaternion_order", source, where=name, **values) for name in kept[:1]]


def _composites(model: PinModel, tree: Tree, pairs: Sequence[tuple[int, Slot]]) -> list[Finding]:
    """Return the joints that Pinocchio holds as one."""
    results: list[Finding] = []
    for j, group in groupby(pairs, key=lambda pair: pair[1].joint):
        joints = [tree.joints[i] for i, _ in group]
        if len(joints) > 1:
            where, source = joints[0].name, joints[0].source()
            names, one = [joint.name for joint in joints], [model.names[j]]
            results.append(finding("joint.coordinates", source, where=where, expected=names, found=one, fix=MAPPED))
    return results


def _is_turned_planar(joint: Joint) -> bool:
    return joint.kind is JointKind.PLANAR and not np.array_equal(joint.axis, [0, 0, 1])


def _normal(joint: Joint) -> Finding:
    return finding(
        "joint.axis",
        joint.source("axis"),
        where=joint.name,
        expected=joint.axis.tolist(),
        found=[0.0, 0.0, 1.0],
        fix="turn the joint origin so that the normal is z: Pinocchio's parser ignores the axis of a planar joint",
    )


def _fusions(model: PinModel, tree: Tree) -> list[Finding]:
    """Return what was merged: fixed links with inertia into their holder, or into the ground."""
    results: list[Finding] = []
    for i, (body, holder) in enumerate(zip(tree.bodies, tree.fusion.holder, strict=True)):
        if holder == i or body.inertia.is_zero or not model.existFrame(body.name, pin.FrameType.BODY):
            continue
        into = tree.bodies[holder].name
        kind, fix = "body.fused", f"nothing: its inertia is part of {into!r}, its frame is kept"
        if not holder:
            kind, fix = (
                "body.root_fused",
                "give it a floating joint, or --base free, if it should move: the world does not",
            )
        results.append(finding(kind, body.joint.source(), where=body.name, expected=body.name, found=into, fix=fix))
    return results


def armature_outside_energy(tree: Tree, dofs: NDArray[np.intp], armature: Floats) -> tuple[Finding, ...]:
    """Return a finding when `computeKineticEnergy` leaves armature out.

    Args:
        tree: the robot.
        dofs: (n,) indices of the common dofs.
        armature: (n,) what is left out of each.
    """
    names = [tree.dofs[k] for k in dofs[armature != 0]]
    if not names:
        return ()
    joint = tree.joints[tree.joint_of_dof[tree.dofs.index(names[0])]]
    expected: Any = float(armature[armature != 0][0])
    fix = f"add half of armature v^2 to computeKineticEnergy for {', '.join(names)}, as the harness does"
    source = joint.source("armature")
    severity, unit = "convention", "kg m^2"
    return (
        finding(
            "armature", source, where=joint.name, expected=expected, found=0.0, unit=unit, severity=severity, fix=fix
        ),
    )
