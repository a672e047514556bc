"""The MJCF joints that stand for each joint of a tree, attribute by attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..spatial import rotation_z_to
from ..tree import JointKind
from .document import BEYOND, both_ends, common
from .frames import ONE_DOF

if TYPE_CHECKING:
    from ..tree import Floats, Joint
    from .document import Losses, Value

HINGE, SLIDE, BALL, FREE = "hinge", "slide", "ball", "free"
MOST_DOFS: Final = 6  # of one body
WORLD: Final = "world"  # a name that MuJoCo keeps for body 0


@dataclass(frozen=True, slots=True, eq=False)
class Primitive:
    """One MJCF joint that stands for a joint of the tree, or for a part of it.

    Attributes:
        type: "hinge", "slide", "ball" or "free".
        dofs: which dofs of the tree's joint it has.
        axis: (3,) in the axes of the tree's joint; None for ball and free.
        suffix: behind the name of the tree's joint.
    """

    type: str
    dofs: slice
    axis: Floats | None = None
    suffix: str = ""


def primitives(joint: Joint, *, top: bool) -> tuple[Primitive, ...]:
    """Return the MJCF joints that stand for a joint, none for a fixed one.

    MuJoCo has a free joint at the top level only: further down, three slides and a ball stand for it. Two slides and a
    hinge stand for a planar joint, with the names that MuJoCo's own URDF reader gives them.

    Args:
        joint: of a tree.
        top: whether its body hangs on the world.
    """
    if joint.kind is JointKind.FIXED:
        return ()
    if joint.kind is JointKind.FLOATING and top:
        return (Primitive(FREE, slice(6)),)
    if joint.kind is JointKind.FLOATING:
        slides = (Primitive(SLIDE, slice(k, k + 1), axis, f"_T{'XYZ'[k]}") for k, axis in enumerate(np.eye(3)))
        return (*slides, Primitive(BALL, slice(3, 6), suffix="_R"))
    if joint.kind is JointKind.PLANAR:
        x, y, normal = rotation_z_to(joint.axis).T
        return (
            Primitive(SLIDE, slice(1), x, "_TX"),
            Primitive(SLIDE, slice(1, 2), y, "_TY"),
            Primitive(HINGE, slice(2, 3), normal, "_RZ"),
        )
    if joint.kind is JointKind.BALL:
        return (Primitive(BALL, slice(3)),)
    return (Primitive(SLIDE if joint.kind is JointKind.PRISMATIC else HINGE, slice(1), joint.axis),)


def attributes(joint: Joint, primitive: Primitive, T_body_joint: Floats) -> dict[str, Value]:
    """Return the attributes of an MJCF joint, without its name; None for what is not written.

    Args:
        joint: of the tree.
        primitive: what stands for it.
        T_body_joint: (4, 4) placement of the joint in the MJCF body when every joint is undisplaced.
    """
    given: dict[str, Value] = {}
    if primitive.type != HINGE:
        given["type"] = primitive.type
    if primitive.axis is not None:
        given["axis"] = T_body_joint[:3, :3] @ primitive.axis
    if primitive.type != FREE and T_body_joint[:3, 3].any():
        given["pos"] = T_body_joint[:3, 3]
    if joint.kind in ONE_DOF:
        given |= {
            "ref": joint.ref or None,
            "range": mjcf_range(joint),
            "actuatorfrcrange": (-joint.effort, joint.effort) if 0 < joint.effort < np.inf else None,
            "springref": joint.rest[0] or None if joint.rest is not None else None,
        }
    if has_spring(joint, primitive):
        given["stiffness"] = joint.stiffness or None
    for name, values in (("damping", joint.damping), ("frictionloss", joint.friction), ("armature", joint.armature)):
        given[name] = common(np.asarray(values)[primitive.dofs]) or None
    return given


def mjcf_range(joint: Joint) -> tuple[float, float] | None:
    """Return the limits of a one-dof joint; None when there are none, or MuJoCo would not see any."""
    lower, upper = joint.lower, joint.upper
    if joint.kind is JointKind.CONTINUOUS or lower >= upper or (lower == -np.inf and upper == np.inf):
        return None
    return both_ends(lower, upper)


def has_spring(joint: Joint, primitive: Primitive) -> bool:
    """Return whether MuJoCo has the spring of this joint: on a ball only with its rest at the identity."""
    if primitive.type == FREE:
        return True
    at_rest = joint.rest is not None and abs(joint.rest[0]) == 1
    return joint.kind in ONE_DOF or (joint.kind is JointKind.BALL and at_rest)


def lose_joint(joint: Joint, parts: tuple[Primitive, ...], losses: Losses) -> None:
    """Name what these MJCF joints do not hold of a joint."""
    lost = _Lost(joint, losses)
    if len(parts) > 1:
        words = "two slides and a hinge" if joint.kind is JointKind.PLANAR else "three slides and a ball"
        lost.add("type", f"{words} stand for it: linear velocities are in joint axes, not in child axes", touches=False)
    _lose_limits(joint, lost)
    if joint.stiffness and not all(has_spring(joint, part) for part in parts):
        lost.add("stiffness", f"a spring of {joint.stiffness:g} with rest at {np.asarray(joint.rest).tolist()}")
    terms = {"damping": joint.damping, "friction": joint.friction, "armature": joint.armature, "rotor": joint.rotor}
    for name, values in terms.items():
        _lose_term(name, np.asarray(values), parts, lost)
    if np.any(joint.rotor) and not joint.actuated:
        lost.add("rotor", "a motor holds the reflected inertia, so that the joint counts as actuated", touches=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Lost:
    joint: Joint
    losses: Losses

    def add(self, field: str, note: str, *, touches: bool = True) -> None:
        joint = self.joint
        self.losses.add(f"joint@{field}", joint.name, joint.source(field), note, touches=touches)


def _lose_limits(joint: Joint, lost: _Lost) -> None:
    bounds = np.array([joint.lower, joint.upper])
    one_dof = joint.kind in ONE_DOF
    if joint.nv and np.isfinite(bounds).any() and (not one_dof or mjcf_range(joint) is None):
        why = "MuJoCo takes such a range for none" if one_dof and joint.kind is not JointKind.CONTINUOUS else "no range"
        lost.add("lower", f"limits {joint.lower:g} to {joint.upper:g} of a {joint.kind} joint: {why}", touches=False)
    elif one_dof and np.isinf(bounds).sum() == 1:
        lost.add("lower", f"a range needs both ends: {BEYOND:g} stands for the open one", touches=False)
    elif joint.kind is JointKind.REVOLUTE and np.isinf(bounds).all():
        lost.add("type", "a hinge without range: what is read back is continuous", touches=False)
    if joint.nv and joint.effort < np.inf and (not one_dof or joint.effort <= 0):
        lost.add("effort", f"an effort limit of {joint.effort:g} on a {joint.kind} joint", touches=False)
    if joint.nv and joint.speed < np.inf:
        lost.add("speed", f"a speed limit of {joint.speed:g}; the format has none", touches=False)


def _lose_term(name: str, values: Floats, parts: tuple[Primitive, ...], lost: _Lost) -> None:
    """Name a term of the dofs that differs where MuJoCo has one number, or that the other axes of slides change."""
    if any(common(values[part.dofs]) is None for part in parts):
        lost.add(name, f"{name} {values.tolist()} differs between the dofs; MuJoCo has one number per joint")
    if len(parts) > 1:
        linear: Any = values[:-1] if len(values) == 3 else values[:3]
        # Equal damping along all axes is a force against the velocity, whatever the axes; the others are not.
        if (common(linear) is None) if name == "damping" else linear.any():
            lost.add(name, f"{name} {values.tolist()} acts along joint axes, not along child axes")
