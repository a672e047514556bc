"""What adam's model holds, as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..harness.tree import Body, Inertia, Joint, JointKind, Tree, world

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..harness.base_links import BaseLink
    from ..harness.tree import Floats

KINDS = {kind.value: kind for kind in (JointKind.FIXED, JointKind.REVOLUTE, JointKind.CONTINUOUS)}


def tree_of(engine: Any, tree: Tree, base: BaseLink, names: Mapping[str, tuple[str, str, Floats]]) -> Tree:
    """Return links and frames with their joints.

    Args:
        engine: adam's computations.
        tree: the robot that was asked for, for its gravity and its root.
        base: where the root link is.
        names: link to the names of body and joint, and T_link_body, of a model that was written for adam.
    """
    model = engine.rbdalgos.model
    ground = tree.bodies[0].name
    bodies = [Body(ground, -1, world().joint)]
    parents: dict[str, Any] = {joint.child: joint for joint in model.joints.values()}
    at: dict[str, int] = {}

    def named(link: str) -> tuple[str, str, Floats]:
        own = parents.get(link)
        return names.get(link, (link, own.name if own is not None else "base", np.eye(4)))

    for link in (*(node.link for node in model.tree), *model.frames.values()):
        name, joint_name, T_link_body = named(link.name)
        inertia = _inertia(link, T_link_body)
        if link.name == engine.rbdalgos.root_link:
            at[link.name] = len(bodies) if name != ground else 0
            if name == ground:
                bodies[0] = Body(ground, -1, bodies[0].joint, inertia)
            else:
                bodies.append(Body(name, 0, _root(tree, base), inertia))
            continue
        joint = parents[link.name]
        _, _, T_parent_body = named(joint.parent)
        placement = np.linalg.inv(T_parent_body) @ joint.math.H_from_Pos_RPY(joint.origin.xyz, joint.origin.rpy).array
        at[link.name] = len(bodies)
        bodies.append(Body(name, at[joint.parent], _joint(joint, joint_name, placement, T_link_body), inertia))
    return Tree(tree.name, tuple(bodies), gravity=engine.g[:3])


def _root(tree: Tree, base: BaseLink) -> Joint:
    joint = tree.joints[base.body] if base.body else None
    if joint is not None and base.floats:
        return Joint(joint.name, joint.kind, T_parent_joint=joint.T_parent_joint, T_joint_body=joint.T_joint_body)
    return Joint(joint.name if joint is not None else "base", JointKind.FIXED, T_parent_joint=base.T_world_link)


def _joint(joint: Any, name: str, placement: Floats, T_link_body: Floats) -> Joint:
    kind = KINDS[joint.type]
    if kind is JointKind.FIXED:
        return Joint(name, kind, T_parent_joint=placement @ T_link_body)
    axis, limits = unit_axis(joint), (-np.inf, np.inf)
    if kind is JointKind.REVOLUTE and joint.limit.lower < joint.limit.upper:
        limits = float(joint.limit.lower), float(joint.limit.upper)
    lower, upper = limits
    return Joint(name, kind, axis=axis, T_parent_joint=placement, T_joint_body=T_link_body, lower=lower, upper=upper)


def unit_axis(joint: Any) -> Floats:
    """Return the axis of a joint as a unit vector, which adam does not make of it; z for one of length zero."""
    axis = np.asarray(joint.axis.array, np.float64).ravel()
    length = float(np.linalg.norm(axis))
    return axis / length if length else np.array([0.0, 0.0, 1.0])


def _inertia(link: Any, T_link_body: Floats) -> Inertia:
    """Return the inertia of a link in the axes of the body."""
    held, math = link.inertial, link.math
    R, p = T_link_body[:3, :3], T_link_body[:3, 3]
    R_body_inertial = R.T @ math.R_from_RPY(held.origin.rpy).array
    I = R_body_inertial @ held.inertia.get_matrix().array @ R_body_inertial.T
    return Inertia(float(held.mass.array), R.T @ (held.origin.xyz.array - p), I)
