"""Joints of a tree as joints of a URDF: type, placement, axis, limits, dynamics, and what is lost of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..spatial import rotation_from_rpy
from ..tree import JointKind
from .document import BEYOND, both_ends, common
from .frames import ONE_DOF, is_identity, misses, placed_at_zero, rpy_from_rotation

if TYPE_CHECKING:
    from ..tree import Joint
    from .document import Losses, Writer

_WITH_AXIS: Final = (*ONE_DOF, JointKind.PLANAR)


def joint_type(joint: Joint) -> str:
    """Return the type of a joint in the format: without limits, a revolute joint is continuous."""
    if joint.kind is JointKind.BALL:
        return "spherical"
    unlimited = joint.lower == -np.inf and joint.upper == np.inf
    return "continuous" if joint.kind is JointKind.REVOLUTE and unlimited else joint.kind.value


def write_joint(writer: Writer, joint: Joint, losses: Losses) -> None:
    """Write what stands in a `<joint>` beside its links and `<mimic>`, and name what does not.

    Raises:
        TreeError: a number that has to be written is not finite.
    """
    _write_origin(writer, joint, losses)
    if joint.kind in _WITH_AXIS:
        writer.leaf("axis", xyz=joint.axis)
    _write_limit(writer, joint, losses)
    damping, friction = common(joint.damping), common(joint.friction)
    if damping or friction:
        writer.leaf("dynamics", damping=damping, friction=friction)
    _lose_type(joint, losses)
    _lose_terms(joint, losses)


def _write_origin(writer: Writer, joint: Joint, losses: Losses) -> None:
    T = placed_at_zero(joint)
    if joint.kind in ONE_DOF and joint.ref:
        note = f"zero stands at {joint.ref:g}: the file has the same coordinates, placed so that none is needed"
        losses.add("joint@ref", joint.name, joint.source("ref"), note, touches=False)
    if is_identity(T):
        return
    rpy = rpy_from_rotation(T[:3, :3])
    if misses(T[:3, :3], rotation_from_rpy(rpy)):
        note = "its placement holds no rotation; the nearest turns by rpy stand in the file"
        losses.add("origin@rpy", joint.name, joint.source("T_parent_joint"), note, touches=True)
    writer.leaf("origin", xyz=T[:3, 3], rpy=rpy)


def _write_limit(writer: Writer, joint: Joint, losses: Losses) -> None:
    """Write the limits that there are, and those that the format demands beside them."""
    demanded = joint_type(joint) in ("revolute", "prismatic")
    if np.isfinite([joint.lower, joint.upper]).any() and joint.nv and not demanded:
        note = f"a {joint.kind} joint has no range in this format: {joint.lower:g} to {joint.upper:g} is left out"
        losses.add("limit@lower", joint.name, joint.source("lower"), note, touches=False)
    if not joint.nv or not (demanded or np.isfinite([joint.effort, joint.speed]).any()):
        return
    bounds = {"effort": joint.effort, "velocity": joint.speed}
    bounds = {"lower": joint.lower, "upper": joint.upper, **bounds} if demanded else bounds
    open_ends = [name for name, bound in bounds.items() if np.isinf(bound)]
    if open_ends:
        note = f"no limit of {', '.join(open_ends)}, which the format demands: {BEYOND:g} stands for it"
        losses.add("limit", joint.name, joint.source("limit"), note, touches=False)
    lower, upper = both_ends(joint.lower, joint.upper) if demanded else (None, None)
    effort, velocity = (BEYOND if np.isinf(bound) else bound for bound in (joint.effort, joint.speed))
    writer.leaf("limit", lower=lower, upper=upper, effort=effort, velocity=velocity)


def _lose_type(joint: Joint, losses: Losses) -> None:
    if joint.kind is JointKind.BALL:
        note = "a ball joint is written as 'spherical': MuJoCo reads it, Pinocchio and urdfdom refuse it"
    elif joint.kind is JointKind.PLANAR and joint.axis.tolist() != [0, 0, 1]:
        note = f"the normal {joint.axis.tolist()} is ignored by Pinocchio, whose plane is always XY"
    elif joint.kind.value != joint_type(joint):
        note = f"a {joint.kind} joint without limits is {joint_type(joint)} in this format"
    else:
        return
    touches = joint.kind in (JointKind.BALL, JointKind.PLANAR)
    losses.add("joint@type", joint.name, joint.source(), note, touches=touches)


def _lose_terms(joint: Joint, losses: Losses) -> None:
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
