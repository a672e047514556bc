# pyright: reportAttributeAccessIssue=false
"""An `iDynTree::Model` as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..harness.base_links import static_pose
from ..harness.tree import Body, Inertia, Joint, JointKind, Tree, world
from .idyntree_bindings import idt
from .idyntree_build import inertia_of, matrix_of

if TYPE_CHECKING:
    from ..harness.base_links import BaseLink
    from ..harness.tree import Floats
    from .idyntree_build import Model


def tree_of(model: Model, tree: Tree, base: BaseLink) -> Tree:
    """Return what a model holds: links, joints, additional frames as massless fixed bodies.

    Args:
        model: of the session.
        tree: the robot that was asked for, whose gravity is set and whose name for the world is kept.
        base: where the base link is.
    """
    ground = tree.bodies[0].name
    bodies = [world()]
    bodies[0] = Body(ground, -1, bodies[0].joint)
    taken = {ground} | {model.getLinkName(k) for k in range(model.getNrOfLinks())}
    at: dict[int, int] = {}
    traversal = idt.Traversal()
    model.computeFullTreeTraversal(traversal)
    for k in range(traversal.getNrOfVisitedLinks()):
        link = traversal.getLink(k)
        index = link.getIndex()
        name, inertia = model.getLinkName(index), inertia_of(link)
        if k:
            parent = traversal.getParentLink(k).getIndex()
            joint = _joint(model, traversal.getParentJoint(k).getIndex(), parent, index)
            at[index] = len(bodies)
            bodies.append(Body(name, at[parent], joint, inertia))
        elif name == ground:  # a model that was built on the world
            at[index] = 0
            bodies[0] = Body(ground, -1, bodies[0].joint, inertia)
        else:
            bodies += _above(tree, base, name)
            joint = _weld(tree, base, name) if len(bodies) > 1 else _root(tree, base)
            at[index] = len(bodies)
            bodies.append(Body(name, at[index] - 1, joint, inertia))
            taken |= {body.name for body in bodies}
    for index in range(model.getNrOfLinks(), model.getNrOfFrames()):
        name, link = model.getFrameName(index), model.getFrameLink(index)
        if name not in taken:
            held = model.getFrameTransform(index)
            weld = Joint(f"{name} frame", JointKind.FIXED, T_parent_joint=matrix_of(held))
            bodies.append(Body(name, at[link], weld, Inertia()))
    return Tree(tree.name, tuple(bodies), gravity=tree.gravity)


def _above(tree: Tree, base: BaseLink, name: str) -> list[Body]:
    """Return the root that has become a frame of the base link: it carries the link, as in the file."""
    root = tree.bodies[base.body]
    return [Body(root.name, 0, _root(tree, base), Inertia())] if base.body and root.name != name else []


def _root(tree: Tree, base: BaseLink) -> Joint:
    """Return the joint between the world and the body whose pose is known."""
    if not base.body:
        return Joint("base", JointKind.FIXED, T_parent_joint=base.T_world_link)
    joint = tree.joints[base.body]
    if not base.floats:
        return Joint(joint.name, JointKind.FIXED, T_parent_joint=base.T_world_body)
    T_world_joint = static_pose(tree, tree.parents[base.body]) @ joint.T_parent_joint
    return Joint(joint.name, JointKind.FLOATING, T_parent_joint=T_world_joint, T_joint_body=joint.T_joint_body)


def _weld(tree: Tree, base: BaseLink, name: str) -> Joint:
    """Return the joint between that body and the base link."""
    own = tree.joints[tree.index[name]].name if name in tree.index else f"{name} weld"
    return Joint(own, JointKind.FIXED, T_parent_joint=base.T_body_link)


def _joint(model: Model, index: int, parent: int, child: int) -> Joint:
    """Return a joint as its child sees it."""
    joint, name = model.getJoint(index), model.getJointName(index)
    held = joint.getRestTransform(parent, child)
    T_parent_child = matrix_of(held)
    if joint.isFixedJoint():
        return Joint(name, JointKind.FIXED, T_parent_joint=T_parent_child)
    if joint.isSphericalJoint():
        center = joint.asSphericalJoint().getJointCenter(child)
        T_child_joint = _moved(center.toNumPy())
        return Joint(
            name,
            JointKind.BALL,
            T_parent_joint=T_parent_child @ T_child_joint,
            T_joint_body=2 * np.eye(4) - T_child_joint,
        )
    turns = joint.isRevoluteJoint()
    axis = (joint.asRevoluteJoint() if turns else joint.asPrismaticJoint()).getAxis(child, parent)
    direction, origin = axis.getDirection(), axis.getOrigin()
    through = origin.toNumPy()
    # The axis of a translation has no place, that of a turn has one.
    T_child_joint = _moved(through if turns else np.zeros(3))
    kind = JointKind.REVOLUTE if turns else JointKind.PRISMATIC
    limits: dict[str, Any] = {}
    if joint.hasPosLimits():
        limits = {"lower": joint.getMinPosLimit(0), "upper": joint.getMaxPosLimit(0)}
    elif turns:
        kind = JointKind.CONTINUOUS
    if joint.hasVelocityLimits():
        limits["speed"] = joint.getVelocityLimit(0)
    if joint.hasEffortLimits():
        limits["effort"] = joint.getEffortLimit(0)
    return Joint(
        name,
        kind,
        axis=_unit(direction.toNumPy()),
        T_parent_joint=T_parent_child @ T_child_joint,
        T_joint_body=2 * np.eye(4) - T_child_joint,
        damping=joint.getDamping(0),
        friction=joint.getStaticFriction(0),
        **limits,
    )


def _unit(direction: Floats) -> Floats:
    """Return the direction, of which rounding may have left a last bit."""
    length = float(np.linalg.norm(direction))
    return direction / length if length else direction


def _moved(p: Floats) -> Floats:
    """Return T (4, 4) of a displacement alone; its inverse is 2 - T."""
    T = np.eye(4)
    T[:3, 3] = p
    return T
