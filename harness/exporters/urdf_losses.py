"""What a tree says and a URDF does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..tree import STANDARD_GRAVITY, JointKind, Medium

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tree import Body, Floats, Joint, Tree
    from .document import Losses

_ROOT_JOINT: Final = "root_joint"


def common(values: Floats | float) -> float | None:
    """Return the number that all dofs of a joint share; None when they differ, or when there is none."""
    array = np.atleast_1d(values)
    return float(array[0]) if array.size and (array == array[0]).all() else None


def lose_tree(
    tree: Tree, root: int, links: Mapping[str, str], joints: Mapping[str, str], losses: Losses
) -> None:
    """Name what is lost of the tree as a whole, and of its bodies."""
    if tuple(tree.gravity) != STANDARD_GRAVITY:
        note = f"gravity is {tree.gravity.tolist()}; the format has none, and readers take {list(STANDARD_GRAVITY)}"
        losses.add("option@gravity", None, tree.bodies[0].source(), note, touches=True)
    if tree.medium != Medium():
        note = f"{tree.medium}: the format has no fluid"
        losses.add("option@density", None, tree.bodies[0].source(), note, touches=True)
    if tree.home is not None and tree.home.tolist() != _taken_for_home(tree).tolist():
        note = "the home configuration; the format has none"
        losses.add("key", None, tree.bodies[0].source(), note, touches=False)
    for tendon in tree.tendons:
        note = f"reflected inertia {tendon.armature:g} of a tendon over {', '.join(map(repr, tendon.coefficients))}"
        losses.add("fixed@armature", tendon.name, tendon.source, note, touches=True)
    if not tree.bodies[0].inertia.is_zero:
        note = "inertia of the world, which does not move"
        losses.add("inertial", tree.bodies[0].name, tree.bodies[0].source(), note, touches=False)
    for body in tree.bodies[1:]:
        _lose_body(body, losses)
        for element, name, spelled in (("link", body.name, links), ("joint", body.joint.name, joints)):
            if spelled[name] != name:
                note = f"{name!r} cannot stand in an XML attribute; the file has {spelled[name]!r}"
                losses.add(f"{element}@name", name, body.source(), note, touches=False)
    if root and tree.joints[root].name != _ROOT_JOINT:
        note = f"the root link has no joint in the format; readers call it {_ROOT_JOINT!r} or nothing"
        losses.add("joint@name", tree.joints[root].name, tree.joints[root].source(), note, touches=False)


def _taken_for_home(tree: Tree) -> Floats:
    """Return the configuration (nq,) at which a reader finds the robot undisplaced: zero, since `ref` is lost."""
    parts = [joint.neutral * (joint.nq > 1) for joint in tree.joints]
    return np.concatenate(parts)


def _lose_body(body: Body, losses: Losses) -> None:
    if body.gravcomp:
        note = f"gravity compensation of {body.gravcomp:g} times the weight"
        losses.add("body@gravcomp", body.name, body.source(), note, touches=True)
    if body.inertia.mass < 0:
        note = f"mass {body.inertia.mass:g} kg is negative: readers refuse it or make it positive"
        losses.add("mass", body.name, body.source("mass"), note, touches=True)
    if body.name == "world" and body.parent >= 0 and body.joint.nv:
        note = "MuJoCo takes a link named 'world' for the ground, and refuses it on a joint"
        losses.add("link@name", body.name, body.source(), note, touches=False)


def lose_joint(joint: Joint, losses: Losses) -> None:
    """Name what is lost of a joint."""
    _lose_kind(joint, losses)
    _lose_limits(joint, losses)
    if joint.ref:
        note = f"zero stands at {joint.ref:g}: the file has the same coordinates, placed so that none is needed"
        losses.add("joint@ref", joint.name, joint.source("ref"), note, touches=False)
    for name, values in (("armature", joint.armature), ("rotor", joint.rotor)):
        if np.any(values):
            note = f"reflected inertia {np.asarray(values).tolist()}; the format has none"
            losses.add(f"joint@{name}", joint.name, joint.source(name), note, touches=True)
    for name, values in (("damping", joint.damping), ("friction", joint.friction)):
        if joint.nv and common(values) is None:
            note = f"{name} {np.asarray(values).tolist()} differs between the dofs; the format has one number per joint"
            losses.add(f"dynamics@{name}", joint.name, joint.source(name), note, touches=True)
    if joint.stiffness:
        note = f"a spring of {joint.stiffness:g}; the format has none"
        losses.add("joint@stiffness", joint.name, joint.source("stiffness"), note, touches=True)


def _lose_kind(joint: Joint, losses: Losses) -> None:
    notes = {
        JointKind.BALL: "a ball joint is written as 'spherical': MuJoCo reads it, Pinocchio and urdfdom refuse it",
    }
    if joint.kind is JointKind.PLANAR and joint.axis.tolist() != [0, 0, 1]:
        notes[JointKind.PLANAR] = f"the normal {joint.axis.tolist()} is ignored by Pinocchio, whose plane is always XY"
    if joint.kind in notes:
        losses.add("joint@type", joint.name, joint.source(), notes[joint.kind], touches=True)


def _lose_limits(joint: Joint, losses: Losses) -> None:
    finite = np.isfinite([joint.lower, joint.upper])
    demanded = joint.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC)
    if joint.kind is JointKind.REVOLUTE and not finite.any():
        note = "a revolute joint without limits is 'continuous' in this format"
        losses.add("joint@type", joint.name, joint.source(), note, touches=False)
        demanded = False
    elif finite.any() and joint.nv and not demanded:
        note = f"a {joint.kind} joint has no range in this format: {joint.lower:g} to {joint.upper:g} is left out"
        losses.add("limit@lower", joint.name, joint.source("lower"), note, touches=False)
    bounds = {"lower": joint.lower, "upper": joint.upper} if demanded else {}
    if joint.nv and (demanded or np.isfinite([joint.effort, joint.speed]).any()):
        bounds |= {"effort": joint.effort, "velocity": joint.speed}
    missing = [name for name, bound in bounds.items() if np.isinf(bound)]
    if missing:
        note = f"no limit of {', '.join(missing)}, which the format demands: 1e9 stands for it"
        losses.add("limit", joint.name, joint.source("limit"), note, touches=False)
