"""DART on the neutral path: every answer of a skeleton built from the tree, its limits; and native on real robots."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from against_reference import answers, assert_agrees, condition, drawn
from engines_at_hand import needs
from example_robots import EXAMPLE_ROBOTS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_trees import random_inertia, random_joint, random_transform, random_tree

from tautology.adapters.reference import Reference
from tautology.harness import registry
from tautology.harness.engine import Given
from tautology.harness.errors import EngineUnsupported, ShapeError
from tautology.harness.load import open_model
from tautology.harness.request import Request
from tautology.harness.run import check_files
from tautology.harness.spatial import exp_so3, rotation_about, rotation_from_quaternion, rotation_z_to
from tautology.harness.states import sample
from tautology.harness.tree import Body, Inertia, Joint, JointKind, TendonInertia, Tree, world

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = needs("dart")

SEEDS = st.integers(0, 2**32 - 1)
SOME = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MOVING = [kind for kind in JointKind if kind is not JointKind.FIXED]
BARE = Tree("bare", (world(),))


def engine() -> Any:
    """Return the adapter."""
    return registry.adapter("dart")


def neutral(tree: Tree) -> Any:
    """Return the session of a tree."""
    return engine().neutral(tree)


def native(file: Path | str, base: str = "auto") -> Any:
    """Return the session of a file."""
    model = open_model(file, base)
    return engine().native(model.given, model.tree)


def checked(file: Path, base: str = "auto") -> Mapping[str, Any]:
    """Return what `tautology check` says of the native path."""
    request = Request(["dart"], "native", base, 16, in_process=True)
    (model,) = check_files([str(file)], request).to_json()["models"]
    return next(row for row in model["engines"] if row["engine"] == "dart")


def kinds(row: Mapping[str, Any], severity: str = "model") -> dict[str, str]:
    """Return place by kind of the findings of one severity."""
    return {f["kind"]: f["where"] for f in row["findings"] if f["severity"] == severity}


@SOME
@given(SEEDS)
def test_neutral_path_agrees_with_the_reference_on_random_trees(seed: int) -> None:
    """Every answer of a skeleton built from the tree is that of the reference, for all joint kinds anywhere."""
    tree = drawn(seed)
    session = neutral(tree)
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
    session = neutral(tree)
    found = session.poses(states.q)[:, 0]
    np.testing.assert_allclose(found, joint.T_parent_joint @ motions @ joint.T_joint_body, rtol=0, atol=1e-14)
    assert_agrees(session, tree)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-6, 3e-6, 1e-4, 1e-3, 1.9e-3, 2.1e-3, 3.14159, np.pi])
def test_turns_of_any_size_keep_their_digits(angle: float) -> None:
    """DART drops terms of third order below 1e-3 rad, where the adapter goes the other way round."""
    rng = np.random.default_rng(3)
    tree = Tree("ball", (world(), Body("body", 0, Joint("joint", JointKind.BALL), random_inertia(rng))))
    axes = rng.normal(size=(12, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    q = exp_so3(axes * angle) * rng.choice([-1.0, 1.0], (12, 1))
    found = neutral(tree).poses(q)[:, 0, :3, :3]
    np.testing.assert_allclose(found, rotation_from_quaternion(q), rtol=0, atol=5e-15)


@SOME
@given(SEEDS)
def test_identities_inside_the_engine_hold(seed: int) -> None:
    """Columns are M, wrenches enter by Jacobians, forward dynamics undoes inverse dynamics, energy is v.Mv/2."""
    tree = drawn(seed, 12)
    session, states = neutral(tree), sample(tree, 4, seed)
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


def test_gravity_of_a_call_is_used_and_then_put_back() -> None:
    """Another gravity changes one answer; the next one is that of the model again, to the bit."""
    tree = drawn(3)
    session, states, reference = neutral(tree), sample(tree, 4, 5), Reference(tree)
    before, other = session.bias(states.q, states.v), np.array([3.0, -4.0, 5.0])
    found = session.bias(states.q, states.v, other)
    np.testing.assert_allclose(found, reference.bias(states.q, states.v, other), rtol=0, atol=1e-11)
    np.testing.assert_array_equal(session.bias(states.q, states.v), before)


def test_asking_twice_gives_the_same_bits_and_leaves_the_inputs() -> None:
    """No state, and no external force, is carried over from call to call; read-only inputs are enough."""
    tree = drawn(6)
    session, states = neutral(tree), sample(tree, 5, 0)
    states = replace(states, wrenches=tree.fusion.fold(states.wrenches))
    first, digest = answers(session, states), states.sha256
    for name, value in answers(session, states).items():
        np.testing.assert_array_equal(value, first[name], err_msg=name)
    free = session.inverse_dynamics(states.q, states.v, states.a)
    assert np.abs(free - first["inverse_dynamics"]).max() > 0.1
    assert states.sha256 == digest


def test_wrench_on_a_fixed_body_is_that_of_its_holder() -> None:
    """A wrench on a welded link acts as the same wrench on the link that carries it; the ground bears its own."""
    rng = np.random.default_rng(5)
    hinge, weld = random_joint(rng, "hinge", JointKind.REVOLUTE), random_joint(rng, "weld", JointKind.FIXED)
    anchor = random_joint(rng, "anchor", JointKind.FIXED)
    bodies = (world(), Body("base", 0, anchor), Body("arm", 1, hinge, random_inertia(rng)), Body("tool", 2, weld))
    tree = Tree("tooled", bodies)
    session, states = neutral(tree), sample(tree, 4, 0)
    wrenches = rng.normal(size=(4, 4, 6))
    direct = session.inverse_dynamics(states.q, states.v, states.a, wrenches)
    folded = session.inverse_dynamics(states.q, states.v, states.a, tree.fusion.fold(wrenches))
    np.testing.assert_allclose(direct, folded, rtol=0, atol=1e-14)
    free = session.inverse_dynamics(states.q, states.v, states.a)
    np.testing.assert_allclose(free - session.generalized_forces(states.q, wrenches), direct, rtol=0, atol=1e-13)
    assert np.abs(direct - free).max() > 0.1


def test_reflected_inertia_is_added_outside() -> None:
    """M grows by armature on the diagonal and by armature c c^T of a tendon; forward dynamics knows both."""
    rng = np.random.default_rng(2)
    plain = random_tree(rng, 6, kinds=[JointKind.REVOLUTE, JointKind.PRISMATIC], massless=0)
    c = np.eye(1, plain.nv, 1)[0] * 1.5 - np.eye(1, plain.nv, 4)[0] * 0.5
    belt = TendonInertia("belt", 0.3, {plain.dofs[1]: 1.5, plain.dofs[4]: -0.5})
    geared = replace(plain.bodies[3], joint=replace(plain.bodies[3].joint, armature=0.2, rotor=0.5))
    tree = replace(plain, bodies=(*plain.bodies[:3], geared, *plain.bodies[4:]), tendons=(belt,))
    session, states = neutral(tree), sample(tree, 4, 0)
    gain = session.mass_matrix(states.q) - neutral(plain).mass_matrix(states.q)
    wanted = 0.3 * np.outer(c, c) + np.diag(0.7 * np.eye(1, plain.nv, 2)[0])
    np.testing.assert_allclose(gain, np.tile(wanted, (4, 1, 1)), rtol=0, atol=1e-13)
    assert_agrees(session, tree)


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
def test_unphysical_inertias_are_taken_as_they_are_without_a_word(
    inertia: Inertia, capfd: pytest.CaptureFixture[str]
) -> None:
    """DART warns on the streams of the process, which stay silent; a body without inertia has none, not 1 kg."""
    rng = np.random.default_rng(4)
    first = Body("first", 0, random_joint(rng, "a", JointKind.REVOLUTE), inertia)
    second = Body("second", 1, random_joint(rng, "b", JointKind.BALL), random_inertia(rng))
    tree = Tree("odd", (world(), first, second))
    session, reference, s = neutral(tree), Reference(tree), sample(tree, 5, 0)
    assert session.total_mass == tree.total_mass
    np.testing.assert_allclose(session.bias(s.q, s.v), reference.bias(s.q, s.v), rtol=0, atol=1e-11)
    np.testing.assert_allclose(session.mass_matrix(s.q), reference.mass_matrix(s.q), rtol=0, atol=1e-13)
    assert session.describe().bodies[1].inertia.mass == inertia.mass
    assert capfd.readouterr() == ("", "")


def test_arrays_of_another_size_are_not_handed_to_dart() -> None:
    """DART takes them without a word, and answers for other states."""
    session = neutral(drawn(1))
    q, v = sample(session.tree, 2, 0).q, sample(session.tree, 2, 0).v
    for wrong in (q[:, :-1], np.concatenate([q, q], axis=1)):
        with pytest.raises(ShapeError, match="q has"):
            session.bias(wrong, v)
    with pytest.raises(ShapeError, match="v has"):
        session.bias(q, v[:, :-1])


def test_what_cannot_fail_or_be_asked_is_said() -> None:
    """Symmetry is mirrored by the engine, the mean of no mass is no place."""
    tree = Tree("empty", (world(), Body("a", 0, Joint("j", JointKind.REVOLUTE))))
    assert "mirrors" in neutral(tree).lacks["symmetry"]
    assert "no mass" in neutral(tree).lacks["center_of_mass"]
    assert "center_of_mass" not in neutral(drawn(0)).lacks


def test_a_robot_without_dofs_has_empty_answers() -> None:
    """Static robots, and no states at all, give arrays of the promised shapes."""
    rng = np.random.default_rng(0)
    tree = Tree("static", (world(), Body("base", 0, random_joint(rng, "weld", JointKind.FIXED), random_inertia(rng))))
    session = neutral(tree)
    empty = np.zeros((3, 0))
    assert session.inverse_dynamics(empty, empty, empty, np.ones((3, 2, 6))).shape == (3, 0)
    assert session.mass_matrix(empty).shape == (3, 0, 0)
    assert session.forward_dynamics(empty, empty, empty).shape == (3, 0)
    assert session.momentum(empty, empty).shape == (3, 0, 6)
    np.testing.assert_allclose(session.poses(empty)[:, 0], [tree.joints[1].T_parent_joint] * 3)


def test_forward_dynamics_of_a_singular_mass_matrix_has_no_number() -> None:
    """A massless leaf gives no finite number, and no exception."""
    weightless = Body("ghost", 0, Joint("slide", JointKind.PRISMATIC))
    arm = Body("arm", 0, Joint("hinge", JointKind.REVOLUTE, armature=0.1), random_inertia(np.random.default_rng(0)))
    tree, zero = Tree("ghost", (world(), weightless, arm)), np.zeros((1, 2))
    assert not np.isfinite(neutral(tree).forward_dynamics(zero, zero, zero + 1)).all()


def chain(count: int, kind: JointKind) -> Tree:
    """Return `count` bodies in a row."""
    bodies = [Body(f"body{i}", i, Joint(f"joint{i}", kind)) for i in range(count)]
    return Tree("chain", (world(), *bodies))


def test_too_large_trees_are_unsupported_before_dart_is_called() -> None:
    """The sentence says what was asked and what is allowed."""
    words = "'chain' has 501 dofs; DART is asked for up to 500"
    with pytest.raises(EngineUnsupported, match=words):
        neutral(chain(501, JointKind.REVOLUTE))
    with pytest.raises(EngineUnsupported, match=words):
        engine().native(Given("urdf", "never_opened.urdf"), chain(501, JointKind.REVOLUTE))
    with pytest.raises(EngineUnsupported, match=r"3000 links in a row; DART's parser .* 2500"):
        engine().native(Given("urdf", "never_opened.urdf"), chain(3000, JointKind.FIXED))


@pytest.mark.parametrize("name", ["ur_description/ur5_robot", "solo_description/solo12", "talos_data/talos_reduced"])
@pytest.mark.parametrize("base", ["auto", "free"])
def test_native_path_agrees_on_real_robots(name: str, base: str) -> None:
    """The importer's skeleton, without meshes, answers as the reference does; no link called world can be freed."""
    if (name, base) == ("ur_description/ur5_robot", "free"):
        assert kinds(checked(EXAMPLE_ROBOTS[name], base)) == {"base.fixed_or_free": "root_joint"}
        return
    model = open_model(EXAMPLE_ROBOTS[name], base)
    session = engine().native(model.given, model.tree)
    assert session.dofs == model.tree.dofs
    assert session.extra_dofs == ()
    assert_agrees(session, model.tree)
