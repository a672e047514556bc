"""A `dartpy` skeleton built from a tree: one body node per body, each with the joint that carries it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import dartpy as dart
import numpy as np

from ..harness.spatial import inverse, rotation_z_to
from ..harness.streams import caught
from ..harness.tree import JointKind
from .dart_joints import seats

if TYPE_CHECKING:
    from ..harness.seats import Seat
    from ..harness.spatial import Array
    from ..harness.tree import Inertia, Joint, Tree
    from .dart_joints import BodyNode, DartJoint

    Skeleton = Any

# What makes the joint and the body of each kind.
CREATE = {
    JointKind.FIXED: "createWeldJointAndBodyNodePair",
    JointKind.REVOLUTE: "createRevoluteJointAndBodyNodePair",
    JointKind.CONTINUOUS: "createRevoluteJointAndBodyNodePair",
    JointKind.PRISMATIC: "createPrismaticJointAndBodyNodePair",
    JointKind.BALL: "createBallJointAndBodyNodePair",
    JointKind.PLANAR: "createPlanarJointAndBodyNodePair",
    JointKind.FLOATING: "createFreeJointAndBodyNodePair",
}


# Adding a body makes the matrices of the skeleton anew: 0.2 s in all for 300 dofs in a row, 25 s for 1,000.
DOFS: Final = (500, "DART", "a skeleton of 1,000 takes 25 s")
# The URDF parser calls itself once per link: 5,000 links in a row pass, 20,000 end the process (8 MB of stack). A
# skeleton that is built from a tree answers with 20,000.
DEPTH: Final = (2500, "DART's parser", "it crashes below 20,000")


def build(tree: Tree) -> tuple[Skeleton, dict[int, BodyNode], list[Seat]]:
    """Return the skeleton, the node of every tree body without the world, and the seats of its joints."""
    skeleton = dart.dynamics.Skeleton(tree.name or "robot")
    skeleton.setGravity(tree.gravity)
    nodes: dict[int, BodyNode] = {}
    found: list[Seat] = []
    # DART warns of every mass and tensor that no body can have, and takes it.
    with caught([]):
        for i, body in enumerate(tree.bodies[1:], 1):
            below = (nodes[body.parent],) if body.parent else ()
            joint, node = getattr(skeleton, CREATE[body.joint.kind])(*below)
            joint.setName(body.joint.name)
            node.setName(body.name)
            _place(joint, body.joint)
            node.setInertia(inertia_of(body.inertia))
            nodes[i] = node
        # Indices of coordinates shift while bodies are added.
        for i, node in nodes.items():
            if tree.joints[i].nv:
                found += seats([i], [tree.joints[i]], node.getParentJoint(), shifted=True)
    return skeleton, nodes, found


def _place(joint: DartJoint, of: Joint) -> None:
    joint.setTransformFromParentBodyNode(isometry(of.T_parent_joint))
    joint.setTransformFromChildBodyNode(isometry(inverse(of.T_joint_body)))
    if of.kind is JointKind.PLANAR:
        axes = rotation_z_to(of.axis)
        joint.setArbitraryPlane(axes[:, 0], axes[:, 1])
    elif of.kind.nv == 1:
        joint.setAxis(of.axis)


def isometry(T: Array) -> Any:
    """Return a transform as DART has it."""
    return dart.math.Isometry3(np.array(T))


def inertia_of(inertia: Inertia) -> Any:
    """Return an inertia as DART has it: the tensor about the centre of mass, in body axes, as the tree says it."""
    return dart.dynamics.Inertia(inertia.mass, np.array(inertia.com), np.array(inertia.I_com))
