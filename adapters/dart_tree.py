"""A `dartpy` skeleton as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..harness.errors import EngineUnsupported
from ..harness.spatial import inverse
from ..harness.tree import Body, Closure, Inertia, Joint, JointKind, Tree, world
from .dart_joints import kind_of, slides

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..harness.tree import Floats
    from .dart_build import Skeleton
    from .dart_joints import BodyNode, DartJoint


def tree_of(skeleton: Skeleton) -> Tree:
    """Return the tree that a skeleton holds: its inertias, placements, passive forces, limits, gravity.

    Raises:
        EngineUnsupported: a joint that no tree can hold: a screw, a universal or an Euler joint.
        TreeError: numbers that are not finite, or an axis that is no unit vector.
    """
    nodes = [skeleton.getBodyNode(k) for k in range(skeleton.getNumBodyNodes())]
    bodies, index = [world()], {"": 0}
    for node in nodes:
        above, joints = node.getParentBodyNode(), _joints(node.getParentJoint())
        parent = index[above.getName() if above else ""]
        for joint in joints[:-1]:
            # Several slides in one joint are joints in series through massless bodies, as in a tree.
            bodies.append(Body(f"{node.getName()}/{joint.name}", parent, joint, Inertia()))
            parent = len(bodies) - 1
        name = "world body" if node.getName() == "world" else node.getName()
        index[node.getName()] = len(bodies)
        bodies.append(Body(name, parent, joints[-1], _inertia(node)))
    gravity = np.asarray(skeleton.getGravity())
    return Tree(skeleton.getName(), tuple(bodies), gravity=gravity, closures=tuple(_couplings(nodes)))


def _joints(held: DartJoint) -> list[Joint]:
    """Return the joints in series that a joint of DART is, one unless it has several slides."""
    kind, axes = kind_of(held), slides(held)
    A = held.getTransformFromParentBodyNode().matrix()
    T_joint_body = np.asarray(inverse(held.getTransformFromChildBodyNode().matrix()), np.float64)
    if len(axes):
        last = len(axes) - 1
        return [
            _joint(
                held,
                held.getDofName(k),
                JointKind.PRISMATIC,
                axis,
                (k,),
                T_joint_body=T_joint_body if k == last else np.eye(4),
                T_parent_joint=np.eye(4) if k else A,
            )
            for k, axis in enumerate(axes)
        ]
    if kind is None:
        raise EngineUnsupported(f"joint {held.getName()!r} is a {held.getType()}, which no tree can hold")
    axis = np.array([0.0, 0.0, 1.0])
    if kind.nv == 1:
        axis = held.getAxis()
    elif kind is JointKind.PLANAR:
        axis = held.getRotationalAxis()  # in which axes of the plane it counts is of its coordinates
    dofs = tuple(range(held.getNumDofs()))
    return [_joint(held, held.getName(), kind, axis, dofs, T_parent_joint=A, T_joint_body=T_joint_body)]


def _joint(held: DartJoint, name: str, kind: JointKind, axis: Floats, dofs: Sequence[int], **placed: Floats) -> Joint:
    """Return the joint that some dofs of a joint of DART are."""
    fields: dict[str, Any] = dict(placed)
    if kind.nv == 1:
        (k,) = dofs
        fields |= {
            "lower": held.getPositionLowerLimit(k),
            "upper": held.getPositionUpperLimit(k),
            "speed": held.getVelocityUpperLimit(k),
            "effort": held.getForceUpperLimit(k),
            "stiffness": held.getSpringStiffness(k),
            "rest": np.array([held.getRestPosition(k)]),
        }
    damping = np.array([held.getDampingCoefficient(k) for k in dofs])
    friction = np.array([held.getCoulombFriction(k) for k in dofs])
    return Joint(name, kind, axis=axis, damping=damping, friction=friction, **fields)


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
