"""A live `pinocchio.Model`: read back as a tree, and checked as it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from against_reference import assert_agrees
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_trees import random_tree

from tautology.adapters.pinocchio_ import ENGINE, tree_of
from tautology.adapters.reference import Reference
from tautology.harness.engine import Given
from tautology.harness.errors import EngineUnsupported, ReadError
from tautology.harness.states import sample
from tautology.harness.tree import Body, Joint, JointKind, Tree, world

SEEDS = st.integers(0, 2**32 - 1)
SOME = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def zoo(seed: int = 3) -> pin.Model:
    """Return a live model with every joint model that a tree can hold, with and without frames, branching."""
    pin.seed(seed)
    slanted = np.array([0.6, 0, 0.8])
    composite = pin.JointModelComposite(pin.JointModelRX(), pin.SE3.Random())
    composite.addJoint(pin.JointModelPrismaticUnaligned(slanted), pin.SE3.Random())
    composite.addJoint(pin.JointModelSpherical(), pin.SE3.Random())
    kinds = [
        *(pin.JointModelFreeFlyer(), pin.JointModelRX(), pin.JointModelRevoluteUnaligned(slanted), pin.JointModelPY()),
        *(pin.JointModelPrismaticUnaligned(slanted), pin.JointModelRUBY(), pin.JointModelSpherical()),
        *(pin.JointModelSphericalZYX(), pin.JointModelPlanar(), pin.JointModelTranslation()),
        *(pin.JointModelUniversal(np.array([1.0, 0, 0]), np.array([0, 0.6, 0.8])), composite),
    ]
    model = pin.Model()
    model.name = "zoo"
    for k, kind in enumerate(kinds):
        j = model.addJoint(max(0, k - k % 2), kind, pin.SE3.Random(), f"j{k}")
        model.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Random())
        if k % 3:
            model.addFrame(pin.Frame(f"link{k}", j, pin.SE3.Identity(), pin.FrameType.BODY))
        if k % 4 == 1:
            model.addFrame(pin.Frame(f"tool{k}", j, pin.SE3.Random(), pin.FrameType.BODY))
    model.armature[:] = np.random.default_rng(0).uniform(0, 0.3, model.nv)
    model.gravity.linear = np.array([1.0, 2, 3])
    return model


def test_a_live_model_of_all_joints_is_the_robot_of_its_tree() -> None:
    """The reference on the tree that was read back agrees with the model itself, in every answer."""
    model = zoo()
    tree = tree_of(model)
    session = ENGINE.native(Given("pinocchio", live=model), tree)
    assert session.dofs == tree.dofs
    assert session.extra_dofs == ()
    np.testing.assert_array_equal(tree.gravity, [1, 2, 3])
    assert_agrees(session, tree)
    assert_agrees(ENGINE.neutral(tree), tree)


@SOME
@given(SEEDS)
def test_a_tree_comes_back_from_the_model_that_was_built_from_it(seed: int) -> None:
    """Dofs, masses and all dynamics survive the round trip; planar normals and `ref` become part of the placements."""
    rng = np.random.default_rng(seed)
    drawn_tree = random_tree(rng, 10, kinds=[kind for kind in JointKind if kind is not JointKind.PLANAR], armature=True)
    joints = [replace(body.joint, ref=0.0, rest=None) for body in drawn_tree.bodies]
    bodies = [replace(body, joint=joint) for body, joint in zip(drawn_tree.bodies, joints, strict=True)]
    tree = replace(drawn_tree, bodies=tuple(bodies))
    back = tree_of(ENGINE.neutral(tree).model)
    assert back.dofs == tree.dofs
    assert back.total_mass == pytest.approx(tree.total_mass)
    np.testing.assert_array_equal(back.gravity, tree.gravity)
    states = sample(tree, 4, 0)
    M, bias = Reference(tree).mass_matrix(states.q), Reference(tree).bias(states.q, states.v)
    scale = max(1.0, np.abs(M).max(initial=0), np.abs(bias).max(initial=0))
    np.testing.assert_allclose(Reference(back).mass_matrix(states.q), M, rtol=0, atol=1e-13 * scale)
    np.testing.assert_allclose(Reference(back).bias(states.q, states.v), bias, rtol=0, atol=1e-13 * scale)


def test_a_joint_of_another_type_is_another_joint() -> None:
    """A ball is no planar joint, whatever its name and number of dofs: the one is missing, the other extra."""
    model = pin.Model()
    j = model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "joint")
    model.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Identity())
    tree = Tree("planar", (world(), Body("joint", 0, Joint("joint", JointKind.PLANAR))))
    session = ENGINE.native(Given("pinocchio", live=model), tree)
    assert (session.dofs, session.extra_dofs) == ((), ("joint.wx", "joint.wy", "joint.wz"))


def test_a_live_model_is_copied() -> None:
    """What a session does, and what is done to the user's model later, does not meet."""
    model = zoo()
    session, tree = ENGINE.native(Given("pinocchio", live=model), tree_of(model)), tree_of(model)
    s = sample(tree, 2, 0)
    before, frames = session.bias(s.q, s.v), model.nframes
    model.gravity.linear = np.zeros(3)
    session.bias(s.q, s.v, np.ones(3))
    np.testing.assert_array_equal(session.bias(s.q, s.v), before)
    assert model.nframes == frames
    assert not model.gravity.linear.any()


def test_joints_added_in_another_order_are_mapped() -> None:
    """A model that is not depth-first keeps its own (wrong) M; its torques are the robot's."""
    model = pin.Model()
    pin.seed(0)
    left = model.addJoint(0, pin.JointModelRX(), pin.SE3.Random(), "left")
    right = model.addJoint(0, pin.JointModelRY(), pin.SE3.Random(), "right")
    hand = model.addJoint(left, pin.JointModelRZ(), pin.SE3.Random(), "hand")
    for j in (left, right, hand):
        model.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Identity())
    tree = tree_of(model)
    session = ENGINE.native(Given("pinocchio", live=model), tree)
    assert tree.dofs == session.dofs == ("left", "hand", "right")
    assert [f.found for f in session.findings if f.kind == "joint.order"] == [["left", "right", "hand"]]
    assert any("crba is silently wrong" in note for note in session.notes)
    s, reference = sample(tree, 4, 0), Reference(tree)
    tau = session.inverse_dynamics(s.q, s.v, s.a)
    np.testing.assert_allclose(tau, reference.inverse_dynamics(s.q, s.v, s.a), rtol=0, atol=1e-12)


def test_static_mass_limits_and_rotors_of_a_live_model_are_read() -> None:
    """Mass on the ground is a fixed body, no limit is inf, and rotor inertia is a loss."""
    model = pin.Model()
    j = model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "j")
    model.appendBodyToJoint(j, pin.Inertia(2.0, np.ones(3), np.eye(3)), pin.SE3.Identity())
    model.appendBodyToJoint(0, pin.Inertia(5.0, np.ones(3), np.eye(3)), pin.SE3.Identity())
    model.rotorInertia[:], model.rotorGearRatio[:] = 1e-4, 100
    model.damping[:] = 0.3
    tree = tree_of(model)
    assert (tree.total_mass, tree.moving_mass) == (7, 2)
    assert (tree.joints[2].lower, tree.joints[2].upper, float(tree.joints[2].damping[0])) == (-np.inf, np.inf, 0.3)
    (loss,) = tree.losses
    assert (loss.element, loss.where, loss.touches_dynamics) == ("rotorInertia", "j", True)
    assert_agrees(ENGINE.native(Given("pinocchio", live=model), tree), tree)


@pytest.mark.parametrize("joint", [pin.JointModelHX(0.2), pin.JointModelEllipsoid(0.1, 0.2, 0.3)])
def test_joints_that_no_tree_can_hold_are_refused_by_name(joint) -> None:
    """The error names the joint, what it is and what is supported."""
    model = pin.Model()
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "first")
    model.addJoint(1, joint, pin.SE3.Identity(), "odd")
    with pytest.raises(ReadError, match=r"joint 'odd' is a .*supported: revolute") as refusal:
        tree_of(model)
    assert (refusal.value.kind, refusal.value.where) == ("refused.unsupported", "odd")


def test_the_base_of_a_live_model_cannot_be_freed() -> None:
    """A model cannot be given a root joint afterwards: the sentence says what to do."""
    with pytest.raises(EngineUnsupported, match="JointModelFreeFlyer"):
        ENGINE.native(Given("pinocchio", live=zoo(), freed=True), tree_of(zoo()))
