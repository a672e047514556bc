"""MuJoCo on the neutral path: every answer of a model built from the tree, its limits, what it declares."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from against_reference import answers, assert_agrees, condition, drawn
from example_robots import EXAMPLE_ROBOTS, NAMELESS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_trees import random_inertia, random_joint, random_transform, random_tree

from tautology.adapters.mujoco_ import ENGINE
from tautology.adapters.mujoco_build import principal
from tautology.adapters.reference import Reference
from tautology.harness.engine import Given
from tautology.harness.errors import EngineUnsupported
from tautology.harness.load import open_model
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
    assert session.bodies == tuple(b.name for b in tree.bodies[1:] if b.joint.nv)
    assert session.total_mass == pytest.approx(tree.total_mass, rel=1e-14)
    assert_agrees(session, tree)


@pytest.mark.parametrize("below", [False, True], ids=["top level", "below a hinge"])
@pytest.mark.parametrize("kind", MOVING)
def test_each_joint_kind_agrees_alone_and_further_down(kind: JointKind, *, below: bool) -> None:
    """Turned and shifted on both sides, with `ref`; MuJoCo has its free joint at the top level only.

    A childless body is what MuJoCo would call simple, and keep the diagonal of M alone.
    """
    rng = np.random.default_rng(8)
    joint = replace(random_joint(rng, "joint", kind), T_joint_body=random_transform(rng), armature=0.2)
    joint = replace(joint, ref=0.4 if kind.nv == 1 else 0.0, rest=None)
    hinge = Body("holder", 0, random_joint(rng, "hinge", JointKind.REVOLUTE), random_inertia(rng))
    bodies = (world(), hinge, Body("body", 1, joint, random_inertia(rng)))
    tree = Tree("one", bodies if below else (world(), replace(bodies[2], parent=0)))
    assert_agrees(ENGINE.neutral(tree), tree)


@pytest.mark.parametrize("kind", [JointKind.FLOATING, JointKind.PLANAR])
def test_armature_of_a_moving_frame_multiplies_the_acceleration_of_the_tree(kind: JointKind) -> None:
    """Equal or different along the axes, at the top or below: MuJoCo's own axes are those of the fixed side."""
    rng = np.random.default_rng(9)
    for armature in (0.7, rng.uniform(0.1, 2, kind.nv)):
        top = replace(random_joint(rng, "top", kind), armature=armature)
        deep = replace(random_joint(rng, "deep", kind), armature=armature)
        tree = Tree("two", (world(), Body("a", 0, top, random_inertia(rng)), Body("b", 1, deep, random_inertia(rng))))
        session = ENGINE.neutral(tree)
        assert_agrees(session, tree)
        told = {(f.where, f.severity, tuple(f.expected)) for f in session.findings if f.kind == "armature"}
        wanted = tuple(np.broadcast_to(armature, kind.nv))
        assert told == {("top", "convention", wanted), ("deep", "convention", wanted)}


@SOME
@given(SEEDS)
def test_identities_inside_the_engine_hold(seed: int) -> None:
    """Columns are M, mj_applyFT is mj_jacBody, mj_solveM undoes mj_rne, the energy of the bodies is v.Mv/2."""
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


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("name", sorted(set(EXAMPLE_ROBOTS) - NAMELESS))
def test_every_real_robot_agrees(name: str, base: str) -> None:
    """Tensors that MuJoCo refuses, massless leaves, singular M, no dof at all: built from the tree, all are held."""
    tree = open_model(EXAMPLE_ROBOTS[name], base).tree
    assert_agrees(ENGINE.neutral(tree), tree, 3)


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
    """No stage is carried over from call to call, whatever was asked between, and read-only inputs are enough."""
    tree = drawn(6)
    session, states = ENGINE.neutral(tree), sample(tree, 5, 0)
    states = replace(states, wrenches=tree.fusion.fold(states.wrenches))
    first, digest = answers(session, states, forward=True), states.sha256
    for name in reversed(first):
        again = answers(session, states, forward=True)[name]
        np.testing.assert_array_equal(again, first[name], err_msg=name)
    assert states.sha256 == digest


def test_tendon_inertia_couples_joints_on_different_branches() -> None:
    """M grows by armature c c^T, forward dynamics knows it; MuJoCo's sparse M has no place for the coupling."""
    rng = np.random.default_rng(2)
    plain = random_tree(rng, 6, kinds=[JointKind.REVOLUTE, JointKind.PRISMATIC], massless=0)
    bodies = [
        plain.bodies[0],
        *(replace(body, parent=0 if i == 4 else body.parent) for i, body in enumerate(plain.bodies) if i),
    ]
    plain = replace(plain, bodies=tuple(bodies))
    c = np.zeros(plain.nv)
    c[0], c[-1] = 1.5, -0.5
    belt = TendonInertia("belt", 0.3, {plain.dofs[0]: 1.5, plain.dofs[-1]: -0.5})
    tree = replace(plain, tendons=(belt,))
    session, states = ENGINE.neutral(tree), sample(tree, 4, 0)
    gain = session.mass_matrix(states.q) - ENGINE.neutral(plain).mass_matrix(states.q)
    np.testing.assert_allclose(gain, np.tile(0.3 * np.outer(c, c), (4, 1, 1)), rtol=0, atol=1e-13)
    assert_agrees(session, tree)
    (booked,) = [f for f in session.findings if f.kind == "armature.tendon"]
    assert (booked.severity, booked.where) == ("convention", "belt")


@pytest.mark.parametrize(
    "inertia",
    [
        Inertia(1.3, np.array([0.1, -0.2, 0.3]), np.diag([1.0, 1, -0.1])),
        Inertia(1.3, np.array([0.1, -0.2, 0.3]), np.array([[2, 0.9, 0.1], [0.9, -3, 0], [0.1, 0, 4.0]])),
        Inertia(0.0, np.array([0.1, -0.2, 0.3]), np.array([[2, 0.1, 0], [0.1, 3, 0], [0, 0, 4.0]])),
        Inertia(2.0, np.array([0.1, -0.2, 0.3])),
        Inertia(1e-16, np.array([0.1, -0.2, 0.3])),
        Inertia(-1.0, np.array([0.1, -0.2, 0.3]), np.eye(3)),
        Inertia(),
    ],
    ids=["indefinite", "indefinite, turned", "massless tensor", "point mass", "1e-16 kg", "negative mass", "nothing"],
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


@pytest.mark.parametrize("spread", [1.0, 1e-6, 1e-12])
def test_principal_axes_give_the_tensor_back(spread: float) -> None:
    """The tensor is axes diag(moments) axes^T to rounding, for moments of any sign and close to each other."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        I = rng.normal(size=(3, 3)) * spread + np.eye(3)
        I = (I + I.T) / 2
        moments, axes = principal(Inertia(1.0, np.zeros(3), I))
        np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, I, rtol=0, atol=2e-15 * np.abs(I).max())
        np.testing.assert_allclose(np.linalg.det(axes), 1, rtol=1e-14)


def test_momentum_is_not_asked_of_a_negative_mass() -> None:
    """MuJoCo divides by the mass of each subtree, and takes a negative one for none: it is said, not answered."""
    joint = random_joint(np.random.default_rng(0), "free", JointKind.FLOATING)
    tree = Tree("hole", (world(), Body("hole", 0, joint, Inertia(-1.0, I_com=np.eye(3)))))
    assert "negative mass" in ENGINE.neutral(tree).lacks["momentum"]
    assert "momentum" not in ENGINE.neutral(drawn(0)).lacks


def test_a_singular_mass_matrix_is_no_exception_and_leaves_no_log(tmp_path, monkeypatch, capfd) -> None:
    """MuJoCo warns of a massless leaf: in the notes, not on the console and not in MUJOCO_LOG.TXT."""
    monkeypatch.chdir(tmp_path)
    weightless = Body("ghost", 0, Joint("slide", JointKind.PRISMATIC))
    session = ENGINE.neutral(Tree("ghost", (world(), weightless)))
    handler = mujoco.get_mju_user_warning()
    session.forward_dynamics(np.zeros((1, 1)), np.zeros((1, 1)), np.ones((1, 1)))
    assert mujoco.get_mju_user_warning() is handler
    assert os.listdir(tmp_path) == []  # noqa: PTH208
    assert capfd.readouterr() == ("", "")
    (note,) = session.notes
    assert re.search(r"singular.* at DOF 0\.$", note)


def test_what_cannot_fail_or_be_asked_is_said() -> None:
    """M is mirrored by the engine, wrenches are added outside of it, and the mean of no mass is no place."""
    tree = Tree("empty", (world(), Body("a", 0, Joint("j", JointKind.REVOLUTE))))
    lacks = ENGINE.neutral(tree).lacks
    assert "mirrors" in lacks["symmetry"]
    assert "no wrenches" in lacks["load_invariance"]
    assert "no mass" in lacks["center_of_mass"]
    assert "center_of_mass" not in ENGINE.neutral(drawn(0)).lacks


def test_a_robot_without_dofs_has_empty_answers() -> None:
    """Static robots, and no states at all, give arrays of the promised shapes."""
    rng = np.random.default_rng(0)
    tree = Tree("static", (world(), Body("base", 0, random_joint(rng, "weld", JointKind.FIXED), random_inertia(rng))))
    session = ENGINE.neutral(tree)
    empty = np.zeros((3, 0))
    assert session.inverse_dynamics(empty, empty, empty, np.zeros((3, 2, 6))).shape == (3, 0)
    assert session.mass_matrix(empty).shape == (3, 0, 0)
    assert session.momentum(empty, empty).shape == (3, 0, 6)
    assert session.poses(empty).shape == (3, 0, 4, 4)
    assert session.total_mass == tree.total_mass
    moving = ENGINE.neutral(drawn(0))
    assert moving.bias(np.zeros((0, drawn(0).nq)), np.zeros((0, drawn(0).nv))).shape == (0, drawn(0).nv)


def test_a_wrench_on_a_merged_body_is_unsupported_and_the_ground_bears_its_own() -> None:
    """A body that MuJoCo does not hold has no frame for a wrench: it is refused with its name, never left out."""
    rng = np.random.default_rng(5)
    hinge, weld = random_joint(rng, "hinge", JointKind.REVOLUTE), random_joint(rng, "weld", JointKind.FIXED)
    tree = Tree("tooled", (world(), Body("arm", 0, hinge, random_inertia(rng)), Body("tool", 1, weld)))
    session, s = ENGINE.neutral(tree), sample(tree, 2, 0)
    wrenches = np.zeros((2, 3, 6))
    wrenches[:, 0] = 1
    still = session.inverse_dynamics(s.q, s.v, s.a, wrenches)
    np.testing.assert_array_equal(still, session.inverse_dynamics(s.q, s.v, s.a))
    wrenches[:, 2] = 1
    for call in (
        lambda: session.inverse_dynamics(s.q, s.v, s.a, wrenches),
        lambda: session.generalized_forces(s.q, wrenches),
    ):
        with pytest.raises(EngineUnsupported, match="body 'tool'"):
            call()


def chain(count: int, kind: JointKind = JointKind.REVOLUTE, branches: int = 1) -> Tree:
    """Return bodies in rows of `count`."""
    rng = np.random.default_rng(0)
    bodies = [world()]
    for k in range(branches):
        for i in range(count):
            inertia = random_inertia(rng)
            bodies.append(Body(f"body{k}.{i}", len(bodies) - 1 if i else 0, Joint(f"joint{k}.{i}", kind), inertia))
    return Tree("chain", tuple(bodies))


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (chain(1024), "1024 moving bodies in a row; MuJoCo allows 1023 levels"),
        (
            chain(500, JointKind.FLOATING),
            r"500 moving bodies and 3000 dofs, up to 3000 in a row; .* would take about 34 s",
        ),
    ],
    ids=["depth", "work"],
)
def test_too_large_a_robot_is_unsupported_before_the_engine_is_called(tree: Tree, words: str) -> None:
    """The sentence says what was asked and what is allowed, on both paths."""
    with pytest.raises(EngineUnsupported, match=f"'chain' has {words}"):
        ENGINE.neutral(tree)
    with pytest.raises(EngineUnsupported, match=words):
        ENGINE.native(Given("urdf", "never_opened.urdf"), tree)


@pytest.mark.slow
def test_the_deepest_robot_is_held() -> None:
    """1,023 levels compile, in some three seconds, and answer."""
    tree = chain(1023)
    s = sample(tree, 1, 0)
    assert ENGINE.neutral(tree).bias(s.q, s.v).shape == (1, 1023)


def test_wide_and_fixed_trees_have_no_limit_of_depth() -> None:
    """A thousand branches, and two thousand links welded in a row, are as good as any others."""
    wide = chain(1, branches=1000)
    assert len(ENGINE.neutral(wide).dofs) == 1000
    assert ENGINE.neutral(chain(2000, JointKind.FIXED)).dofs == ()


def test_the_adapter_needs_numpy_and_mujoco_alone() -> None:
    """An old engine version runs in an environment that has nothing else."""
    code = (
        "import sys, tautology.adapters.mujoco_; "
        "print(sorted({'lxml', 'pandas', 'pinocchio', 'rich', 'typer'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
