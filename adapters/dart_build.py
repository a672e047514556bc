"""A `dartpy` skeleton built from a tree: one body node per body, each with the joint that carries it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dartpy as dart
import numpy as np

from ..harness.depth import links_in_a_row
from ..harness.errors import EngineUnsupported
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
MOST_DOFS = 500
# The URDF parser calls itself once per link: 5,000 links in a row pass, 20,000 end the process (8 MB of stack). A
# skeleton that is built from a tree answers with 20,000.
MOST_LINKS_IN_A_ROW = 2500


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


def require_dofs(tree: Tree) -> None:
    """Raise before calls that would take minutes.

    Raises:
        EngineUnsupported: too many dofs.
    """
    if tree.nv > MOST_DOFS:
        raise EngineUnsupported(
            f"{tree.name!r} has {tree.nv} dofs; DART is asked for up to {MOST_DOFS} (a skeleton of 1,000 takes 25 s)"
        )


def require_depth(tree: Tree) -> None:
    """Raise before a parser is called that would end the process.

    Raises:
        EngineUnsupported: too many links in a row.
    """
    links = links_in_a_row(tree)
    if links > MOST_LINKS_IN_A_ROW:
        raise EngineUnsupported(
            f"{tree.name!r} has {links} links in a row; DART's parser is asked for up to {MOST_LINKS_IN_A_ROW} (it "
            "crashes below 20,000)"
        )
