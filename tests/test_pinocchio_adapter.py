"""Pinocchio on the neutral path: every answer of a model built from the tree, its limits, what it declares."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from against_reference import answers, assert_agrees, condition, drawn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_trees import random_inertia, random_joint, random_transform, random_tree

from tautology.adapters.pinocchio_ import ENGINE
from tautology.adapters.reference import Reference
from tautology.harness.engine import Given
from tautology.harness.errors import EngineUnsupported
from tautology.harness.spatial import rotation_about, rotation_from_quaternion, rotation_z_to
from tautology.harness.states import sample
from tautology.harness.tree import Body, Inertia, Joint, JointKind, TendonInertia, Tree, world

SEEDS = st.integers(0, 2**32 - 1)
SOME = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MOVING = [kind for kind in JointKind if kind is not JointKind.FIXED]


@SOME
@given(SEEDS)
def test_neutral_path_agrees_with_the_reference_on_random_trees(seed: int) -> None:
    """Every answer of a model that was built from the tree is that of the reference, for all joint kinds anywhere."""
    tree = drawn(seed)
    session = ENGINE.neutral(tree)
    assert session.dofs == tree.dofs
    assert session.extra_dofs == ()
    assert session.bodies == tuple(body.name for body in tree.bodies[1:])
    assert session.total_mass == pytest.approx(tree.total_mass, rel=1e-14)
    assert_agrees(session, tree)


@pytest.mark.parametrize("kind", MOVING)
def test_body_poses_follow_the_equation_of_the_joint(kind: JointKind) -> None:
    """T_parent_body(q) = T_parent_joint @ motion(q - ref) @ T_joint_body, written out here for every kind."""
    rng = np.random.default_rng(7)
    joint = replace(random_joint(rng, "joint", kind), T_joint_body=random_transform(rng), armature=0.2, rotor=0.3)
    if kind.nv == 1:
        joint = replace(joint, ref=0.4)
    tree = Tree("one", (world(), Body("body", 0, joint, random_inertia(rng))))
    states = sample(tree, 8, seed=3)
    motions = np.tile(np.eye(4), (8, 1, 1))
    for motion, q in zip(motions, states.q, strict=True):
        if kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS):
            motion[:3, :3] = rotation_about(joint.axis, q[0] - 0.4)
        elif kind is JointKind.PRISMATIC:
            motion[:3, 3] = joint.axis * (q[0] - 0.4)
        elif kind is JointKind.PLANAR:
            R = rotation_z_to(joint.axis)
            motion[:3, :3], motion[:3, 3] = rotation_about(joint.axis, q[2]), R[:, 0] * q[0] + R[:, 1] * q[1]
        else:
            motion[:3, :3] = rotation_from_quaternion(q[-4:])
            motion[:3, 3] = q[:3] if kind is JointKind.FLOATING else 0
    session = ENGINE.neutral(tree)
    found = session.poses(states.q)[:, 0]
    np.testing.assert_allclose(found, joint.T_parent_joint @ motions @ joint.T_joint_body, rtol=0, atol=1e-14)
    assert_agrees(session, tree)


@SOME
@given(SEEDS)
def test_identities_inside_the_engine_hold(seed: int) -> None:
    """Columns are M, wrenches enter by Jacobians, forward dynamics undoes inverse dynamics, energy is v.Mv/2."""
    tree = drawn(seed, 12)
    session, states = ENGINE.neutral(tree), sample(tree, 4, seed)
    q, v, a, f = states.q, states.v, states.a, tree.fusion.fold(states.wrenches)
    M, bias = session.mass_matrix(q), session.bias(q, v)
    tau = session.inverse_dynamics(q, v, a, f)
    scale = max(1.0, np.abs(M @ a[..., None]).max(initial=0), np.abs(bias).max(initial=0), np.abs(tau).max(initial=0))
    inertial = (M @ a[..., None])[..., 0]
    np.testing.assert_allclose(tau, inertial + bias - session.generalized_forces(q, f), rtol=0, atol=1e-13 * scale)
    np.testing.assert_allclose(session.kinetic_energy(q, v), np.einsum("ni,nij,nj->n", v, M, v) / 2, rtol=1e-12)
    worst = condition(M)
    if worst < 1e8:
        back = session.forward_dynamics(q, v, tau, f)
        np.testing.assert_allclose(back, a, rtol=0, atol=1e-14 * worst * scale)


def test_energy_decreases_with_the_gravity_forces() -> None:
    """Gravity is dU/dq, by fourth-order differences over joints whose coordinates are their velocities' integrals."""
    rng = np.random.default_rng(11)
    tree = random_tree(rng, 8, kinds=[JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.CONTINUOUS, JointKind.FIXED])
    session, q, h = ENGINE.neutral(tree), sample(tree, 5, 2).q, 1e-3
    for i in range(tree.nv):
        steps = {k: session.potential_energy(q + k * h * np.eye(tree.nv)[i]) for k in (-2, -1, 1, 2)}
        slope = (steps[-2] - 8 * steps[-1] + 8 * steps[1] - steps[2]) / (12 * h)
        np.testing.assert_allclose(session.gravity_forces(q)[:, i], slope, rtol=0, atol=1e-9)


def test_gravity_of_a_call_is_used_and_then_put_back() -> None:
    """Another gravity changes one answer; the next one is that of the model again, to the bit."""
    tree = drawn(3)
    session, states, reference = ENGINE.neutral(tree), sample(tree, 4, 5), Reference(tree)
    before, other = session.bias(states.q, states.v), np.array([3.0, -4.0, 5.0])
    found = session.bias(states.q, states.v, other)
    np.testing.assert_allclose(found, reference.bias(states.q, states.v, other), rtol=0, atol=1e-11)
    tau = session.inverse_dynamics(states.q, states.v, states.a, None, other)
    wanted = reference.inverse_dynamics(states.q, states.v, states.a, None, other)
    np.testing.assert_allclose(tau, wanted, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(session.bias(states.q, states.v), before)


def test_asking_twice_gives_the_same_bits_and_leaves_the_inputs() -> None:
    """No state is carried over from call to call, and read-only inputs are enough."""
    tree = drawn(6)
    session, states = ENGINE.neutral(tree), sample(tree, 5, 0)
    states = replace(states, wrenches=tree.fusion.fold(states.wrenches))
    first, digest = answers(session, states), states.sha256
    for name, value in answers(session, states).items():
        np.testing.assert_array_equal(value, first[name], err_msg=name)
    assert states.sha256 == digest


def test_wrench_on_a_fixed_body_is_that_of_its_holder() -> None:
    """A wrench on a welded link acts as the same wrench on the link that carries it; the ground bears its own."""
    rng = np.random.default_rng(5)
    hinge, weld = random_joint(rng, "hinge", JointKind.REVOLUTE), random_joint(rng, "weld", JointKind.FIXED)
    anchor = random_joint(rng, "anchor", JointKind.FIXED)
    bodies = (world(), Body("base", 0, anchor), Body("arm", 1, hinge, random_inertia(rng)), Body("tool", 2, weld))
    tree = Tree("tooled", bodies)
    session, states = ENGINE.neutral(tree), sample(tree, 4, 0)
    wrenches = rng.normal(size=(4, 4, 6))
    direct = session.inverse_dynamics(states.q, states.v, states.a, wrenches)
    folded = session.inverse_dynamics(states.q, states.v, states.a, tree.fusion.fold(wrenches))
    np.testing.assert_allclose(direct, folded, rtol=0, atol=1e-14)
    free = session.inverse_dynamics(states.q, states.v, states.a)
    np.testing.assert_allclose(free - session.generalized_forces(states.q, wrenches), direct, rtol=0, atol=1e-13)
    assert np.abs(direct - free).max() > 0.1


def test_tendon_inertia_is_added_outside_and_declared() -> None:
    """M grows by armature c c^T, forward dynamics knows it, and the finding says that Pinocchio does not."""
    rng = np.random.default_rng(2)
    plain = random_tree(rng, 6, kinds=[JointKind.REVOLUTE, JointKind.PRISMATIC], massless=0)
    c = np.zeros(plain.nv)
    c[1], c[4] = 1.5, -0.5
    belt = TendonInertia("belt", 0.3, {plain.dofs[1]: 1.5, plain.dofs[4]: -0.5})
    tree = replace(plain, tendons=(belt,))
    session, states = ENGINE.neutral(tree), sample(tree, 4, 0)
    gain = session.mass_matrix(states.q) - ENGINE.neutral(plain).mass_matrix(states.q)
    np.testing.assert_allclose(gain, np.tile(0.3 * np.outer(c, c), (4, 1, 1)), rtol=0, atol=1e-13)
    assert_agrees(session, tree)
    (booked,) = session.findings
    assert (booked.kind, booked.severity, booked.where) == ("armature.tendon", "convention", "belt")


def test_forward_dynamics_of_a_singular_mass_matrix_has_no_number() -> None:
    """A massless leaf on a tendon-coupled tree gives NaN, not an exception."""
    weightless = Body("ghost", 0, Joint("slide", JointKind.PRISMATIC))
    arm = Body("arm", 0, Joint("hinge", JointKind.REVOLUTE), random_inertia(np.random.default_rng(0)))
    tree = Tree("ghost", (world(), weightless, arm), tendons=(TendonInertia("belt", 0.1, {"hinge": 1.0}),))
    acceleration = ENGINE.neutral(tree).forward_dynamics(np.zeros((1, 2)), np.zeros((1, 2)), np.ones((1, 2)))
    assert np.isnan(acceleration).all()


@pytest.mark.parametrize(
    "inertia",
    [
        Inertia(1.3, np.array([0.1, -0.2, 0.3]), np.diag([1.0, 1, -0.1])),
        Inertia(0.0, np.array([0.1, -0.2, 0.3]), np.array([[2, 0.1, 0], [0.1, 3, 0], [0, 0, 4.0]])),
        Inertia(2.0, np.array([0.1, -0.2, 0.3])),
        Inertia(1e-16, np.array([0.1, -0.2, 0.3])),
        Inertia(-1.0, np.array([0.1, -0.2, 0.3]), np.eye(3)),
        Inertia(),
    ],
    ids=["indefinite", "massless tensor", "point mass", "1e-16 kg", "negative mass", "nothing"],
)
def test_unphysical_inertias_are_taken_as_they_are(inertia: Inertia) -> None:
    """Bias and M are linear in the inertia, so that every inertia has them, physical or not."""
    rng = np.random.default_rng(4)
    first = Body("first", 0, random_joint(rng, "a", JointKind.REVOLUTE), inertia)
    second = Body("second", 1, random_joint(rng, "b", JointKind.BALL), random_inertia(rng))
    tree = Tree("odd", (world(), first, second))
    session, reference, s = ENGINE.neutral(tree), Reference(tree), sample(tree, 5, 0)
    assert session.total_mass == tree.total_mass
    np.testing.assert_allclose(session.bias(s.q, s.v), reference.bias(s.q, s.v), rtol=0, atol=1e-11)
    np.testing.assert_allclose(session.mass_matrix(s.q), reference.mass_matrix(s.q), rtol=0, atol=1e-13)
    alone = Tree("alone", (world(), first))
    M = ENGINE.neutral(alone).mass_matrix(np.zeros((1, 1)))
    np.testing.assert_allclose(M, Reference(alone).mass_matrix(np.zeros((1, 1))), rtol=1e-13, atol=1e-30)


def test_kinetic_energy_holds_the_armature_that_pinocchio_leaves_out() -> None:
    """On a slanted axis `computeKineticEnergy` forgets the armature: it is added, and said to be."""
    rng = np.random.default_rng(1)
    slanted = Joint("slanted", JointKind.REVOLUTE, axis=np.array([0.6, 0, 0.8]), armature=0.5)
    straight = Joint("straight", JointKind.REVOLUTE, axis=np.array([1.0, 0, 0]), armature=0.5)
    tree = Tree(
        "two", (world(), Body("a", 0, slanted, random_inertia(rng)), Body("b", 1, straight, random_inertia(rng)))
    )
    session, s = ENGINE.neutral(tree), sample(tree, 4, 0)
    M = session.mass_matrix(s.q)
    np.testing.assert_allclose(session.kinetic_energy(s.q, s.v), np.einsum("ni,nij,nj->n", s.v, M, s.v) / 2, rtol=1e-13)
    (booked,) = session.findings
    assert (booked.kind, booked.severity, booked.where, booked.expected) == ("armature", "convention", "slanted", 0.5)


def test_what_cannot_fail_or_be_asked_is_said() -> None:
    """Symmetry is mirrored by the engine, and the mean of no mass is no place."""
    tree = Tree("empty", (world(), Body("a", 0, Joint("j", JointKind.REVOLUTE))))
    assert "mirrors" in ENGINE.neutral(tree).lacks["symmetry"]
    assert "no mass" in ENGINE.neutral(tree).lacks["center_of_mass"]
    assert "center_of_mass" not in ENGINE.neutral(drawn(0)).lacks


def test_a_robot_without_dofs_has_empty_answers() -> None:
    """Static robots, and no states at all, give arrays of the promised shapes."""
    rng = np.random.default_rng(0)
    tree = Tree("static", (world(), Body("base", 0, random_joint(rng, "weld", JointKind.FIXED), random_inertia(rng))))
    session = ENGINE.neutral(tree)
    empty = np.zeros((3, 0))
    assert session.inverse_dynamics(empty, empty, empty, np.ones((3, 2, 6))).shape == (3, 0)
    assert session.mass_matrix(empty).shape == (3, 0, 0)
    assert session.momentum(empty, empty).shape == (3, 0, 6)
    assert session.total_mass == tree.total_mass
    np.testing.assert_allclose(session.poses(empty)[:, 0], [tree.joints[1].T_parent_joint] * 3)
    moving = ENGINE.neutral(drawn(0))
    assert moving.bias(np.zeros((0, drawn(0).nq)), np.zeros((0, drawn(0).nv))).shape == (0, drawn(0).nv)


def chain(count: int, kind: JointKind) -> Tree:
    """Return `count` bodies in a row."""
    bodies = [Body(f"body{i}", i, Joint(f"joint{i}", kind)) for i in range(count)]
    return Tree("chain", (world(), *bodies))


def test_too_many_dofs_are_unsupported_before_the_engine_is_called() -> None:
    """The sentence says what was asked and what is allowed, on both paths."""
    tree, words = chain(251, JointKind.REVOLUTE), "'chain' has 251 dofs; Pinocchio is asked for up to 250"
    with pytest.raises(EngineUnsupported, match=words):
        ENGINE.neutral(tree)
    with pytest.raises(EngineUnsupported, match=words):
        ENGINE.native(Given("urdf", "never_opened.urdf"), tree)


def test_the_parser_is_not_asked_for_too_many_links_in_a_row() -> None:
    """It calls itself once per link and would end the process; a model that is built from the tree answers."""
    tree = chain(5000, JointKind.FIXED)
    with pytest.raises(EngineUnsupported, match=r"'chain' has 5000 links in a row; Pinocchio's parser.* 1000 "):
        ENGINE.native(Given("urdf", "never_opened.urdf"), tree)
    session = ENGINE.neutral(tree)
    q = np.zeros((1, 0))
    assert session.poses(q).shape == (1, 5000, 4, 4)
    np.testing.assert_allclose(session.poses(q), Reference(tree).poses(q), rtol=0, atol=1e-12)


def test_the_adapter_needs_numpy_and_pinocchio_alone() -> None:
    """An old engine version runs in an environment that has nothing else."""
    code = (
        "import sys, tautology.adapters.pinocchio_; "
        "print(sorted({'lxml', 'pandas', 'mujoco', 'rich', 'typer'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
