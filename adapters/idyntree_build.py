# pyright: reportAttributeAccessIssue=false
"""An `iDynTree::Model` built from a tree through `addLink` and `addJoint`.

Every body is a link, fixed ones too. A revolute or prismatic joint keeps the rest transform of its two links and an
axis, which its constructor takes in the axes of the first link, through a point of it; a spherical joint keeps the
place of its centre in the first link. There is no ground: a model hangs on its base link, whose pose and velocity are
part of the state. What is fixed to the world is a base link that is held at rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ..harness.errors import EngineUnsupported
from ..harness.limits import require_depth
from ..harness.tree import Inertia, JointKind
from .idyntree_bindings import idt

if TYPE_CHECKING:
    from ..harness.tree import Floats, Joint, Tree

Model: TypeAlias = Any
# Entries of a tensor as `SpatialInertia::fromVector` takes them.
ORDER: Final = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
DEPTH: Final = (1000, "iDynTree")
HELD: Final = (JointKind.FIXED, JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.BALL)


def build(tree: Tree) -> Model:
    """Return the model of `tree`; its base link is the floating root, or the world.

    Raises:
        EngineUnsupported: a joint that iDynTree has not, or a robot beside the floating one.
    """
    base = base_of(tree)
    members = members_of(tree, base)
    require(tree, base, members)
    model = idt.Model()
    for i in members:
        link = idt.Link()
        link.setInertia(spatial_inertia(tree.bodies[i].inertia))
        model.addLink(tree.bodies[i].name, link)
    for i in members:
        if i != base:
            body = tree.bodies[i]
            parent, child = (model.getLinkIndex(tree.bodies[k].name) for k in (body.parent, i))
            model.addJoint(body.joint.name, _joint(body.joint, parent, child))
    model.setDefaultBaseLink(model.getLinkIndex(tree.bodies[base].name))
    return model


def base_of(tree: Tree) -> int:
    """Return the body that the model hangs on: the floating root, or the world."""
    return tree.floating_roots[0] if tree.floating_roots else 0


def members_of(tree: Tree, base: int) -> list[int]:
    """Return the bodies that hang on the base, itself first."""
    within = {base}
    for i, parent in enumerate(tree.parents[1:], 1):
        if parent in within:
            within.add(i)
    return sorted(within)


def require(tree: Tree, base: int, members: list[int]) -> None:
    """Raise for what no model of iDynTree holds.

    Raises:
        EngineUnsupported: there is such a thing.
    """
    for i in members:
        joint = tree.joints[i]
        if i != base and joint.kind not in HELD:
            raise EngineUnsupported(
                f"joint {joint.name!r} is {joint.kind.value}; iDynTree has {', '.join(kind.value for kind in HELD)}, "
                "and one floating joint, at the root"
            )
    beside = sorted(set(range(len(tree.bodies))) - set(members))
    for body in (tree.bodies[i] for i in beside):
        if body.joint.nv or not body.inertia.is_zero:
            raise EngineUnsupported(
                f"{body.name!r} stands beside the floating root {tree.bodies[base].name!r}; a model of iDynTree is one "
                "tree of links, and has no ground"
            )
    require_depth(tree, *DEPTH)


def spatial_inertia(inertia: Inertia) -> Any:
    """Return the inertia as the tree says it, physical or not, also a tensor without mass."""
    c = inertia.com
    I = inertia.I_com + inertia.mass * (c @ c * np.eye(3) - np.outer(c, c))
    numbers = np.array([inertia.mass, *(inertia.mass * c), *(I[at] for at in ORDER)])
    result = idt.SpatialInertia()
    result.fromVector(idt.Vector10.FromPython(numbers))
    return result


def inertia_of(link: Any) -> Inertia:
    """Return the inertia of a link in the words of the tree."""
    held = link.getInertia()
    vector = held.asVector()
    numbers = vector.toNumPy()
    mass, first = float(numbers[0]), numbers[1:4]
    com = first / mass if mass else np.zeros(3)
    I = np.zeros((3, 3))
    for at, value in zip(ORDER, numbers[4:], strict=True):
        I[at] = I[at[::-1]] = value
    return Inertia(mass, com, I - mass * (com @ com * np.eye(3) - np.outer(com, com)))


def transform_of(T: Floats) -> Any:
    """Return an `iDynTree::Transform` of T (4, 4)."""
    return idt.Transform(idt.Matrix4x4.FromPython(np.ascontiguousarray(T, np.float64)))


def matrix_of(held: Any) -> Floats:
    """Return T (4, 4) of an `iDynTree::Transform`, which must be alive as long as its matrix is read."""
    matrix = held.asHomogeneousTransform()
    return np.asarray(matrix.toNumPy(), np.float64)


def _joint(joint: Joint, parent: int, child: int) -> Any:
    """Return iDynTree's joint of the same kind between two links, given by their indices."""
    rest = transform_of(joint.T_parent_joint @ joint.T_joint_body)
    if joint.kind is JointKind.FIXED:
        return idt.FixedJoint(parent, child, rest)
    center = idt.Position(*joint.T_parent_joint[:3, 3].tolist())
    if joint.kind is JointKind.BALL:
        ball = idt.SphericalJoint(rest)
        ball.setAttachedLinks(parent, child)
        ball.setJointCenter(parent, center)
        return ball
    axis = idt.Axis(idt.Direction(*(joint.T_parent_joint[:3, :3] @ joint.axis).tolist()), center)
    return (idt.PrismaticJoint if joint.kind is JointKind.PRISMATIC else idt.RevoluteJoint)(parent, child, rest, axis)
