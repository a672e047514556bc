"""A `dartpy` skeleton as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..harness.errors import EngineUnsupported
from ..harness.spatial import inverse
from ..harness.tree import Body, Closure, Inertia, Joint, JointKind, Tree, world
from .dart_joints import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .dart_build import Skeleton
    from .dart_joints import BodyNode, DartJoint


def tree_of(skeleton: Skeleton) -> Tree:
    """Return the tree that a skeleton holds: its inertias, placements, passive forces, limits, gravity.

    Raises:
        EngineUnsupported: a joint that no tree can hold: a screw, a universal or an Euler joint.
        TreeError: numbers that are not finite, or an axis that is no unit vector.
    """
    nodes = [skeleton.getBodyNode(k) for k in range(skeleton.getNumBodyNodes())]
    # The joint's own name is not always unique among joints, the body's among bodies is.
    index = {node.getName(): i for i, node in enumerate(nodes, 1)}
    bodies = [world()]
    for node in nodes:
        above = node.getParentBodyNode()
        name = "world body" if node.getName() == "world" else node.getName()
        bodies.append(Body(name, 0 if above is None else index[above.getName()], _joint(node), _inertia(node)))
    gravity = np.asarray(skeleton.getGravity())
    return Tree(skeleton.getName(), tuple(bodies), gravity=gravity, closures=tuple(_couplings(nodes)))


def _joint(node: BodyNode) -> Joint:
    held = node.getParentJoint()
    kind = kind_of(held)
    if kind is None:
        raise EngineUnsupported(f"joint {held.getName()!r} is a {held.getType()}, which no tree can hold")
    A = held.getTransformFromParentBodyNode().matrix()
    C = held.getTransformFromChildBodyNode().matrix()
    axis, dofs = np.array([0.0, 0.0, 1.0]), range(held.getNumDofs())
    if kind.nv == 1:
        axis = held.getAxis()
    elif kind is JointKind.PLANAR:
        axis = held.getRotationalAxis()  # in which axes of the plane it counts is of its coordinates
    limits: dict[str, Any] = {}
    if kind.nv == 1:
        limits = {
            "lower": held.getPositionLowerLimit(0),
            "upper": held.getPositionUpperLimit(0),
            "speed": held.getVelocityUpperLimit(0),
            "effort": held.getForceUpperLimit(0),
            "stiffness": held.getSpringStiffness(0),
            "rest": np.array([held.getRestPosition(0)]),
        }
    return Joint(
        held.getName(),
        kind,
        axis=axis,
        T_parent_joint=A,
        T_joint_body=np.asarray(inverse(C), np.float64),
        damping=np.array([held.getDampingCoefficient(k) for k in dofs]),
        friction=np.array([held.getCoulombFriction(k) for k in dofs]),
        **limits,
    )


def _inertia(node: BodyNode) -> Inertia:
    held = node.getInertia()
    return Inertia(held.getMass(), held.getLocalCOM(), held.getMoment())


def _couplings(nodes: list[BodyNode]) -> Iterator[Closure]:
    """Yield the joints that follow another one: DART leaves both their dofs open, and drives the one by the other."""
    for node in nodes:
        joint = node.getParentJoint()
        if joint.getNumDofs() != 1 or joint.getActuatorType().name != "MIMIC":
            continue
        for mimic in mimicked(joint):
            between = (joint.getName(), mimic.mReferenceJoint.getName())
            yield Closure("mimic", joint.getName(), between, (mimic.mOffset, mimic.mMultiplier))


def mimicked(joint: DartJoint) -> list[Any]:
    """Return what a joint with one dof follows, one entry or none."""
    properties = getattr(joint, f"get{joint.getType()}Properties", None)
    found = properties().mMimicDofProps if properties else []
    return [mimic for mimic in found if mimic.mReferenceJoint is not None]
