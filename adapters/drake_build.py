# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false
"""A `MultibodyPlant` built from a tree: one rigid body per moving body, one joint with two frames of its own for each.

Names are numbers: Drake wants those of bodies, joints and frames to differ within a model instance, and reserves
"world". Inertias are handed over unchecked, as the tree says them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    BallRpyJoint,
    FixedOffsetFrame,
    PlanarJoint,
    PrismaticJoint,
    QuaternionFloatingJoint,
    RevoluteJoint,
    SpatialInertia,
    UnitInertia,
)

from ..harness.reflected import reflected_beyond_one_dof, tendons_outside
from ..harness.spatial import inverse, rotation_z_to, skew, transform
from ..harness.tree import Inertia, JointKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..harness.errors import Source
    from ..harness.findings import Finding
    from ..harness.tree import Floats, Joint, Tree
    from .drake_joints import DrakeJoint

UNSEEN: Final = 2.0**-60  # [kg / (kg m^2)] of a tensor without mass: the mass that stands in, exact in its powers

Plant: TypeAlias = Any
DrakeBody: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class Opened:
    """A finalized plant and how it relates to a tree.

    Attributes:
        plant: owned by the session.
        joints: tree body to Drake's joint that carries it, of the joints with dofs that both have.
        held: tree body to Drake's body and the placement of the tree's body in it, None for the same frame.
        native: whether Drake's importer made it: `ref` is then part of Drake's frames.
        reads: kind and joint of what Drake reads beyond the tree, to the element that says so.
        extra_dofs, findings, notes: see `harness.engine.Session`.
        outside: (nv, nv) reflected inertia that the plant cannot hold, or None.
    """

    plant: Plant
    joints: Mapping[int, DrakeJoint]
    held: Mapping[int, tuple[DrakeBody, Floats | None]]
    native: bool = False
    extra_dofs: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    outside: Floats | None = None
    reads: Mapping[tuple[str, str], Source] = field(default_factory=dict)


def build(tree: Tree) -> Opened:
    """Return the plant of a tree."""
    plant, fusion = MultibodyPlant(0.0), tree.fusion
    instance = plant.AddModelInstance("robot")
    plant.mutable_gravity_field().set_gravity_vector(tree.gravity)
    fused = fusion.tree
    bodies: list[DrakeBody] = [plant.world_body()]
    joints: list[Any] = [None]
    for k, body in enumerate(fused.bodies[1:], 1):
        bodies.append(plant.AddRigidBody(f"body {k}", instance, _spatial_inertia(body.inertia)))
        joints.append(_add_joint(plant, instance, k, body.joint, bodies[body.parent], bodies[k]))
    plant.Finalize()
    moving = [i for i, h in enumerate(fusion.holder) if h == i]
    carried = {i: joints[k] for k, i in enumerate(moving) if i}
    held: dict[int, tuple[DrakeBody, Floats | None]] = {}
    for i in range(1, len(tree.bodies)):
        T = None if fusion.holder[i] == i else fusion.Ts_holder_body[i]
        held[i] = bodies[fusion.merged[i]], T
    return Opened(plant, carried, held, findings=tendons_outside(tree, "Drake"), outside=reflected_beyond_one_dof(tree))


def _add_joint(plant: Plant, instance: Any, k: int, joint: Joint, parent: DrakeBody, child: DrakeBody) -> Any:
    """Add the joint that carries body k, and the inertia that its rotor reflects where Drake has a place for it."""
    B = transform(rotation_z_to(joint.axis) if joint.kind is JointKind.PLANAR else np.eye(3), np.zeros(3))
    F = _frame(plant, instance, f"joint {k} F", parent, joint.T_parent_joint @ B)
    M = _frame(plant, instance, f"joint {k} M", child, inverse(joint.T_joint_body) @ B)
    name = f"joint {k}"
    if joint.kind is JointKind.BALL:
        return plant.AddJoint(BallRpyJoint(name, F, M))
    if joint.kind is JointKind.PLANAR:
        return plant.AddJoint(PlanarJoint(name, F, M))
    if joint.kind is JointKind.FLOATING:
        return plant.AddJoint(QuaternionFloatingJoint(name, F, M))
    cls = PrismaticJoint if joint.kind is JointKind.PRISMATIC else RevoluteJoint
    added = plant.AddJoint(cls(name, F, M, joint.axis, 0.0))
    if joint.reflected[0]:
        motor = plant.AddJointActuator(f"motor {k}", added)
        motor.set_default_rotor_inertia(joint.reflected[0])
        motor.set_default_gear_ratio(1.0)
    return added


def _frame(plant: Plant, instance: Any, name: str, body: DrakeBody, T: Floats) -> Any:
    if np.array_equal(T, np.eye(4)):
        return body.body_frame()
    X = RigidTransform(_rotation(T[:3, :3]), T[:3, 3])
    return plant.AddFrame(FixedOffsetFrame(name, body.body_frame(), X, instance))


def _rotation(R: Floats) -> Any:
    """Return a rotation as it is, where Drake takes it: it is as orthogonal as the file has it.

    The projection rounds by some eps, alike at joints that are alike: along a chain that adds up link by link.
    """
    as_is = RotationMatrix(R)
    return as_is if as_is.IsValid() else RotationMatrix.ProjectToRotationMatrix(R)


def _spatial_inertia(inertia: Inertia) -> Any:
    """Return the inertia about the body origin, as Drake holds it: mass, centre, and the tensor over the mass.

    Without a mass there is no tensor either, also where two masses cancel: one that no sum shows stands in for none.
    """
    com, I, mass = inertia.com, inertia.I_com, inertia.mass
    if not mass and I.any():
        # At the origin: on its own joint it weighs nothing, where no other mass hides what it weighs.
        com, mass = np.zeros(3), UNSEEN * float(np.abs(I).max())
    S = skew(com)
    G = (I / mass if mass else np.zeros((3, 3))) - S @ S
    unit = UnitInertia(*(float(G[at]) for at in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))
    return SpatialInertia(mass, com, unit, skip_validity_check=True)
