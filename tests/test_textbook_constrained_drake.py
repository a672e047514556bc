"""Drake's constraints: none in continuous time, and in discrete time nearly rigid, whatever the step."""

from __future__ import annotations

import numpy as np
import pytest
from engines_at_hand import needs
from numpy.testing import assert_allclose

from tautology.adapters.textbook.constrained import constrained_dynamics
from tautology.harness.joint import JointKind
from tautology.harness.tree import Body, Closure, Inertia, Joint, Tree, world

pytestmark = needs("drake")
INERTIA = 0.004  # of a solid sphere of 1 kg and 0.1 m


def coupled(step: float):
    """Return a plant of two spheres on axes, j1 = 2 j2, its simulator and its context, 1 N m on the first."""
    from pydrake.multibody.plant import DiscreteContactApproximation, MultibodyPlant  # noqa: PLC0415
    from pydrake.multibody.tree import RevoluteJoint, SpatialInertia  # noqa: PLC0415
    from pydrake.systems.analysis import Simulator  # noqa: PLC0415

    plant = MultibodyPlant(step)
    if step:
        plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    for name in ("j1", "j2"):
        body = plant.AddRigidBody(name, SpatialInertia.SolidSphereWithMass(1.0, 0.1))
        plant.AddJoint(RevoluteJoint(name, plant.world_frame(), body.body_frame(), [0, 1, 0]))
    plant.AddCouplerConstraint(plant.GetJointByName("j1"), plant.GetJointByName("j2"), 2.0, 0.0)
    plant.Finalize()
    simulator = Simulator(plant)
    context = simulator.get_mutable_context()
    plant.get_applied_generalized_force_input_port().FixValue(context, np.array([1.0, 0.0]))
    return plant, simulator, context


def test_continuous_drake_has_no_constraints() -> None:
    """It takes them, and refuses when the acceleration is asked for."""
    plant, _, context = coupled(0.0)
    with pytest.raises(RuntimeError, match="Continuous time does not support constraints"):
        plant.EvalTimeDerivatives(context)


def test_discrete_drake_is_nearly_rigid_at_any_step() -> None:
    """Its first step from rest differs from the constrained acceleration by 2.5e-4 of it, for every length of step."""
    joints = [Joint(name, JointKind.REVOLUTE, axis=np.array([0, 1.0, 0])) for name in ("j1", "j2")]
    sphere = Inertia(1.0, np.zeros(3), INERTIA * np.eye(3))
    bodies = (world(), *(Body(joint.name, 0, joint, sphere) for joint in joints))
    tree = Tree("coupled", bodies, closures=(Closure("mimic", "j1", ("j1", "j2"), (0.0, 2.0)),))
    zero = np.zeros((1, 2))
    rigid = constrained_dynamics(tree, zero, zero, np.array([[1.0, 0]])).a[0]
    assert_allclose(rigid, [200, 100])
    found = []
    for step in (1e-2, 1e-3, 1e-4):
        plant, simulator, context = coupled(step)
        simulator.Initialize()
        simulator.AdvanceTo(step)
        found.append(plant.GetVelocities(context) / step)
    assert_allclose(found[1:], [found[0]] * 2, rtol=1e-9)
    assert 1e-5 < np.abs(found[0] / rigid - 1).max() < 3e-4
