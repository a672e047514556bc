# pyright: reportAttributeAccessIssue=false
"""A finalized plant as a tree: bodies, inertias, joints, damping, rotors, limits and gravity as Drake holds them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..harness.errors import EngineUnsupported
from ..harness.exporters.names import distinct
from ..harness.spatial import inverse, rotation_about, transform
from ..harness.tree import Body, Inertia, Joint, JointKind, Tree, world
from .drake_joints import KIND, DrakeJoint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..harness.tree import Floats
    from .drake_build import DrakeBody, Opened


def tree_of(opened: Opened, tree: Tree) -> Tree:
    """Return the robot that a plant holds, its bodies and joints called as in the tree where both have them.

    Raises:
        EngineUnsupported: a joint that no tree can hold.
    """
    plant = opened.plant
    names: dict[Any, str] = {body.index(): tree.bodies[i].name for i, (body, T) in opened.held.items() if T is None}
    at = {joint.index(): i for i, joint in opened.joints.items()}
    names |= {joint.child_body().index(): tree.bodies[i].name for i, joint in opened.joints.items()}
    reflected = _reflected(plant)
    bodies, number, taken = [world()], {plant.world_body().index(): 0}, ({"world"}, {"world"})
    for theirs, parent, body in _from_the_world(plant):
        i = at.get(theirs.index())
        joint_name = tree.joints[i].name if i is not None else theirs.name()
        name = distinct(names.get(body.index(), str(body.name())), taken[0])
        joint_name = distinct(str(joint_name), taken[1])
        taken[0].add(name)
        taken[1].add(joint_name)
        own = tree.fusion.tree.joints[tree.fusion.merged[i]] if i is not None else None
        armature = reflected.get(theirs.index(), 0.0)
        joint = _joint(theirs, joint_name, armature, own, rotors=tree.origin.format == "urdf")
        if body.index() == theirs.parent_body().index():
            joint = _turned_over(joint)
        number[body.index()] = len(bodies)
        bodies.append(Body(name, number[parent.index()], joint, _inertia(body)))
    return Tree(tree.name, tuple(bodies), gravity=np.array(plant.gravity_field().gravity_vector()))


def _from_the_world(plant: Any) -> Iterator[tuple[DrakeJoint, DrakeBody, DrakeBody]]:
    """Yield the joints with the body that carries and the one that hangs, parents first whatever the order of the file.

    A link that is called as the world is Drake's world: what the file hangs it on hangs on it then, by the same joints.

    Raises:
        EngineUnsupported: a body that no joint carries.
    """
    waiting = [plant.get_joint(k) for k in plant.GetJointIndices()]
    reached = {plant.world_body().index()}
    while waiting:
        ready: list[tuple[DrakeJoint, DrakeBody, DrakeBody]] = []
        for joint in waiting:
            parent, child = joint.parent_body(), joint.child_body()
            if parent.index() in reached:
                ready.append((joint, parent, child))
            elif child.index() in reached:
                ready.append((joint, child, parent))
        if not ready:
            raise EngineUnsupported(f"no joint carries body {waiting[0].parent_body().name()!r} of this plant")
        yield from sorted(ready, key=lambda ends: int(ends[2].index()))
        reached |= {body.index() for _, _, body in ready}
        done = {joint.index() for joint, _, _ in ready}
        waiting = [joint for joint in waiting if joint.index() not in done]


def _turned_over(joint: Joint) -> Joint:
    """Return a joint that hangs its parent on its child: (F motion_n(q) M)^-1 = M^-1 motion_-n(q) F^-1.

    Raises:
        EngineUnsupported: of several dofs, the motion back is none of the same coordinates.
    """
    if joint.nv > 1:
        raise EngineUnsupported(
            f"{joint.kind.value} joint {joint.name!r} hangs its parent on its child, as no tree can"
        )
    ends = {"T_parent_joint": inverse(joint.T_joint_body), "T_joint_body": inverse(joint.T_parent_joint)}
    return replace(joint, axis=-joint.axis, **ends)


def _reflected(plant: Any) -> dict[Any, float]:
    """Return the reflected inertia of the actuators by index of their joint."""
    found: dict[Any, float] = {}
    for k in plant.GetJointActuatorIndices():
        motor = plant.get_joint_actuator(k)
        index = motor.joint().index()
        found[index] = found.get(index, 0.0) + motor.default_reflected_inertia()
    return found


def _joint(theirs: DrakeJoint, name: str, reflected: float, own: Joint | None, *, rotors: bool) -> Joint:
    """Return a joint as Drake has it.

    T_FM(q) = motion(q), T_parent_body = X_PF T_FM X_BM^-1. Drake's default position is that of the file's `ref`, and
    X_BM is turned back by it: both say the same as a `ref` here.

    Args:
        theirs: Drake's joint.
        name: to give it.
        reflected: inertia of its actuators.
        own: the joint of the tree that it stands for, None for none.
        rotors: whether that comes from rotors, and not from armature.
    """
    kind = KIND.get(theirs.type_name())
    if kind is None:
        raise EngineUnsupported(f"joint {theirs.name()!r} is of type {theirs.type_name()!r}, which no tree holds")
    F: Any = _pose(theirs.frame_on_parent())
    M: Any = inverse(_pose(theirs.frame_on_child()))
    axis: Any = np.array([0.0, 0, 1])
    ref, single = 0.0, kind in (JointKind.REVOLUTE, JointKind.PRISMATIC)
    more: dict[str, Any] = {}
    if kind is JointKind.FIXED:
        F = F @ np.array(theirs.X_FM().GetAsMatrix4())
    elif single:
        axis = np.array(theirs.revolute_axis() if kind is JointKind.REVOLUTE else theirs.translation_axis())
        ref = float(theirs.default_positions()[0])
        M = _motion(kind, axis, ref) @ M
        more = {
            "lower": theirs.position_lower_limits()[0],
            "upper": theirs.position_upper_limits()[0],
            "speed": theirs.velocity_upper_limits()[0],
            "rotor" if rotors else "armature": reflected,
        }
        if kind is JointKind.REVOLUTE and own is not None and own.kind is JointKind.CONTINUOUS:
            kind = JointKind.CONTINUOUS
    elif kind is JointKind.PLANAR:
        # Frames whose z is the normal: told in axes of the child body, with the normal as axis.
        C = transform(M[:3, :3].T, np.zeros(3))
        axis, F, M = C[:3, 2], F @ inverse(C), C @ M
    elif kind is JointKind.FLOATING and theirs.is_ephemeral() and own is not None:
        F, M = own.T_parent_joint, own.T_joint_body  # measured against the world, and mapped
    if kind.nv:
        more["damping"] = _damping(kind, theirs.default_damping_vector())
    return Joint(name, kind, axis=axis, T_parent_joint=F, T_joint_body=M, ref=ref, **more)


def _damping(kind: JointKind, damping: Floats) -> Floats:
    """Return damping in the order of the tree's velocities; that of a floating joint is angular first in Drake."""
    return damping[[3, 4, 5, 0, 1, 2]] if kind is JointKind.FLOATING else damping


def _motion(kind: JointKind, axis: Floats, q: float) -> Any:
    if kind is JointKind.PRISMATIC:
        return transform(np.eye(3), axis * q)
    return transform(rotation_about(axis, np.asarray(q)), np.zeros(3))


def _pose(frame: Any) -> Any:
    return np.array(frame.GetFixedPoseInBodyFrame().GetAsMatrix4())


def _inertia(body: DrakeBody) -> Inertia:
    """Return mass, centre and the tensor about it; Drake holds that about the body origin, over the mass."""
    M = body.default_spatial_inertia()
    mass, com = M.get_mass(), np.array(M.get_com())
    G = M.get_unit_inertia().ShiftToCenterOfMass(com).CopyToFullMatrix3()
    return Inertia(mass, com, mass * np.array(G))
