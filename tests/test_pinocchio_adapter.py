"""Pinocchio behind the contract of an engine: neutral and native path, live models, limits, refusals."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_trees import random_inertia, random_joint, random_transform, random_tree

from tautology.adapters.pinocchio_ import ENGINE, tree_of
from tautology.adapters.reference import Reference
from tautology.harness.engine import Given
from tautology.harness.errors import EngineRefused, EngineUnsupported, ReadError
from tautology.harness.load import open_model
from tautology.harness.spatial import rotation_about, rotation_from_quaternion, rotation_z_to
from tautology.harness.states import sample
from tautology.harness.tree import Body, Inertia, Joint, JointKind, TendonInertia, Tree, world

CASES = Path(__file__).resolve().parents[1].parent / "shared" / "cases"
SEEDS = st.integers(0, 2**32 - 1)
SOME = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MOVING = [kind for kind in JointKind if kind is not JointKind.FIXED]
PER_DOF = ("inverse_dynamics", "bias", "gravity_forces", "mass_matrix", "forward_dynamics", "generalized_forces")


def answers(session, states, *, loaded: bool = True, forward: bool = False) -> dict[str, np.ndarray]:
    """Return what a session says of these states, by method; the tree's wrenches are on moving bodies alone."""
    q, v, a, tau, wrenches = states.q, states.v, states.a, states.tau, states.wrenches
    wrenches = wrenches if loaded else None
    result = {
        "inverse_dynamics": session.inverse_dynamics(q, v, a, wrenches),
        "bias": session.bias(q, v),
        "gravity_forces": session.gravity_forces(q),
        "mass_matrix": session.mass_matrix(q),
        "poses": session.poses(q),
        "velocities": session.velocities(q, v),
        "kinetic_energy": session.kinetic_energy(q, v),
        "potential_energy": session.potential_energy(q),
        "momentum": session.momentum(q, v),
    }
    if forward:
        result["forward_dynamics"] = session.forward_dynamics(q, v, tau, wrenches)
    if "center_of_mass" not in session.lacks:
        result["center_of_mass"] = session.center_of_mass(q)
    if loaded:
        result["generalized_forces"] = session.generalized_forces(q, wrenches)
    return result


def expected(tree: Tree, session, states, **asked: bool) -> dict[str, np.ndarray]:
    """Return what the reference says in longdouble, at the dofs and bodies that the session has."""
    result = answers(Reference(tree, np.longdouble), states, **asked)
    dofs = [tree.dofs.index(dof) for dof in session.dofs]
    bodies = [tree.index[body] - 1 for body in session.bodies]
    for name in PER_DOF:
        if name in result:
            result[name] = result[name][:, dofs]
    result["mass_matrix"] = result["mass_matrix"][:, :, dofs]
    result["poses"], result["velocities"] = result["poses"][:, bodies], result["velocities"][:, bodies]
    return {name: value.astype(float) for name, value in result.items()}


def condition(M: np.ndarray) -> float:
    """Return the largest condition number of the matrices of M (N, n, n), inf without dofs."""
    return float(np.linalg.cond(M).max()) if M.size else np.inf


def assert_agrees(session, tree: Tree, count: int = 6, *, loaded: bool = True) -> None:
    """Hold every answer of a session against the reference; forward dynamics where M can be inverted."""
    states = sample(tree, count, seed=1)
    states = replace(states, wrenches=tree.fusion.fold(states.wrenches))
    worst = condition(session.mass_matrix(states.q))
    asked = {"loaded": loaded, "forward": worst < 1e8}
    found, wanted = answers(session, states, **asked), expected(tree, session, states, **asked)
    for name, value in found.items():
        bound = 1e-13 * max(1.0, float(np.abs(wanted[name]).max(initial=0)))
        bound *= max(worst, 1) if name == "forward_dynamics" else 1
        np.testing.assert_allclose(value, wanted[name], rtol=0, atol=bound, err_msg=name)


def drawn(seed: int, most: int = 25) -> Tree:
    """Return a random tree of at most 150 dofs, with armature and now and then a free root and a tendon."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, most + 1))
    tree = random_tree(rng, count, floating_root=seed % 3 == 0, armature=True, tendons=seed % 2 == 0)
    return tree if tree.nv <= 150 else drawn(seed + 1, most // 2)


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
    joint = replace(random_joint(rng, "joint", kind), T_joint_body=random_transform(rng), armature=0.2)
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
    assert np.abs(direct - session.inverse_dynamics(states.q, states.v, states.a)).max() > 0.1


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


@pytest.mark.parametrize(
    ("tree", "words"),
    [(chain(251, JointKind.REVOLUTE), "251 dofs"), (chain(1001, JointKind.FIXED), "1001 links in a row")],
    ids=["dofs", "depth"],
)
def test_too_large_a_robot_is_unsupported_before_the_engine_is_called(tree: Tree, words: str) -> None:
    """The sentence says what was asked and what is allowed, on both paths."""
    with pytest.raises(EngineUnsupported, match=f"'chain' has {words}.* allowed here"):
        ENGINE.neutral(tree)
    with pytest.raises(EngineUnsupported, match=words):
        ENGINE.native(Given("urdf", "never_opened.urdf"), tree)


def test_a_thousand_fixed_links_in_a_row_are_held() -> None:
    """The bound itself is within reach of both paths' machinery."""
    tree = chain(1000, JointKind.FIXED)
    assert len(ENGINE.neutral(tree).bodies) == 1000


def robots() -> list[Path]:
    """Return URDF files of example-robot-data: arms, wheels, legs, singular M, indefinite tensors, massless links."""
    wanted = ("ur5_robot", "panda", "anymal", "talos_reduced", "tiago", "romeo", "bolt")
    files = metadata.files("example-robot-data") or []
    return [Path(str(file.locate())) for file in files if file.suffix == ".urdf" and file.stem in wanted]


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("path", robots(), ids=lambda path: path.stem)
def test_real_robots_agree_on_both_paths(path: Path, base: str) -> None:
    """What Pinocchio reads from the file, and what is built from the tree, are the robot of the reference."""
    opened = open_model(path, base)
    for session in (ENGINE.native(opened.given, opened.tree), ENGINE.neutral(opened.tree)):
        assert set(session.dofs) == set(opened.tree.dofs)
        assert session.extra_dofs == ()
        assert len(session.bodies) == len(opened.tree.bodies) - 1
        assert session.total_mass == pytest.approx(opened.tree.total_mass)
        assert_agrees(session, opened.tree, 3)
    assert robots()


LINK = (
    '<link name="{}"><inertial><mass value="{}"/><origin xyz=".1 -.2 .3" rpy=".1 .2 .3"/>'
    '<inertia ixx="1" iyy="2" izz="2.5" ixy=".1" ixz="0" iyz="0"/></inertial></link>\n'
)
JOINT = (
    '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>'
    '<origin xyz=".1 .2 .3" rpy=".3 .2 .1"/>{}</joint>\n'
)
LIMITS = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def written(folder: Path, *elements: str) -> Path:
    """Write a URDF, an element a line behind the first, into a path with a blank and a letter beyond ASCII."""
    path = folder / "ein bär.urdf"
    path.write_text('<robot name="bear">\n' + "".join(elements) + "</robot>\n", encoding="utf-8")
    return path


def test_native_order_and_coordinates_are_mapped_by_name_and_told(tmp_path: Path) -> None:
    """Siblings sorted by Pinocchio, a wheel as cosine and sine, a welded hand and a base in the ground are findings."""
    path = written(
        tmp_path,
        LINK.format("base", 3),
        LINK.format("left", 1),
        LINK.format("wheel", 2),
        LINK.format("hand", 0.5),
        JOINT.format("zz", "revolute", "base", "left", LIMITS),
        JOINT.format("aa", "continuous", "base", "wheel", '<axis xyz="1 2 3"/>'),
        JOINT.format("weld", "fixed", "left", "hand", ""),
    )
    opened = open_model(path)
    session = ENGINE.native(opened.given, opened.tree)
    assert session.dofs == opened.tree.dofs == ("zz", "aa")
    assert_agrees(session, opened.tree)
    told = {f.kind: f for f in session.findings}
    assert {kind: (f.where, f.line) for kind, f in told.items()} == {
        "joint.order": ("base", 2),
        "joint.coordinates": ("aa", 7),
        "body.root_fused": ("base", 2),
        "body.fused": ("hand", 8),
    }
    assert {f.severity for f in session.findings} == {"convention"}
    assert (told["joint.order"].expected, told["joint.order"].found) == (["zz", "aa"], ["aa", "zz"])
    assert {f.file for f in session.findings} == {str(path)}


@pytest.mark.parametrize("name", ["turn", "root_joint"])
def test_a_freed_base_is_found_by_its_link(tmp_path: Path, name: str) -> None:
    """Pinocchio calls its own joint `root_joint`; beside a second one of that name it reads another robot."""
    joint = JOINT.format(name, "continuous", "base", "arm", "")
    opened = open_model(written(tmp_path, LINK.format("base", 3), LINK.format("arm", 1), joint), "free")
    session = ENGINE.native(opened.given, opened.tree)
    assert session.dofs == opened.tree.dofs
    assert "base.quaternion_order" in {f.kind for f in session.findings}
    if name == "turn":
        assert_agrees(session, opened.tree)
    else:
        q = opened.tree.neutral[None]
        assert np.abs(session.mass_matrix(q) - Reference(opened.tree).mass_matrix(q)).max() > 0.1


def test_what_pinocchio_says_goes_into_the_notes_not_to_the_console(tmp_path: Path, capfd) -> None:
    """An odd inertial is reported on the C++ error stream, which is caught and put back."""
    odd = '<link name="arm"><inertial><mass value="1"/></inertial></link>\n'
    joint = JOINT.format("j", "continuous", "base", "arm", "")
    opened = open_model(written(tmp_path, LINK.format("base", 3), odd, joint))
    session = ENGINE.native(opened.given, opened.tree)
    assert capfd.readouterr() == ("", "")
    assert "Pinocchio said: Could not parse inertial element for Link [arm]" in session.notes
    print("still open", file=sys.stderr)  # noqa: T201
    assert capfd.readouterr().err == "still open\n"


@pytest.mark.parametrize(
    ("kind", "finding", "words"),
    [
        ("revolute", "refused.malformed", "it does not specify limits"),
        ("spherical", "refused.unsupported", r"no known type \[spherical\]"),
    ],
    ids=["no limit", "spherical"],
)
def test_refusal_has_the_engines_reason_and_place(tmp_path: Path, capfd, kind: str, finding: str, words: str) -> None:
    """The reason that Pinocchio leaves on the error stream is in the message, with the joint that it names."""
    joint = JOINT.format("j", kind, "base", "arm", "")
    opened = open_model(written(tmp_path, LINK.format("base", 3), LINK.format("arm", 1), joint))
    with pytest.raises(EngineRefused, match=words) as refusal:
        ENGINE.native(opened.given, opened.tree)
    assert (refusal.value.kind, refusal.value.where, refusal.value.source.line) == (finding, "j", 4)
    assert capfd.readouterr() == ("", "")
    assert_agrees(ENGINE.neutral(opened.tree), opened.tree)


def test_other_formats_have_no_native_path() -> None:
    """A tree or a MuJoCo model is nothing that Pinocchio reads."""
    with pytest.raises(EngineUnsupported, match="no importer for tree"):
        ENGINE.native(Given("tree"), drawn(0))


def test_dofs_that_only_the_engine_has_are_held_at_rest(tmp_path: Path) -> None:
    """Against a tree in which the second joint is welded, the engine's second dof rests at zero and stays out of M."""
    path = written(
        tmp_path,
        *(LINK.format(name, 2) for name in ("base", "arm", "hand")),
        JOINT.format("a", "continuous", "base", "arm", ""),
        JOINT.format("b", "prismatic", "arm", "hand", LIMITS),
    )
    opened = open_model(path)
    bodies = list(opened.tree.bodies)
    welded = replace(bodies[3].joint, kind=JointKind.FIXED, damping=(), friction=(), armature=(), rotor=(), rest=None)
    bodies[3] = replace(bodies[3], joint=welded)
    tree = replace(opened.tree, bodies=tuple(bodies))
    session = ENGINE.native(opened.given, tree)
    assert (session.dofs, session.extra_dofs) == (("a",), ("b",))
    assert_agrees(session, tree)


def test_a_wrench_on_a_body_that_the_engine_lacks_is_unsupported() -> None:
    """It is refused with the name of the body, never left out."""
    session, tree = ENGINE.neutral(chain(2, JointKind.REVOLUTE)), chain(3, JointKind.REVOLUTE)
    model = session.model
    lacking = type(session)(model, tree, list(zip((1, 2), _slots(model), strict=True)), shifted=True)
    assert lacking.dofs == ("joint0", "joint1")
    states, wrenches = np.zeros((1, 3)), np.zeros((1, 4, 6))
    wrenches[0, 3] = 1
    with pytest.raises(EngineUnsupported, match="body 'body2'"):
        lacking.inverse_dynamics(states, states, states, wrenches)


def _slots(model):
    from tautology.adapters.pinocchio_joints import slots  # noqa: PLC0415

    return slots(model)


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
    """Bodies, dofs, armature and every number that a state can show survive the round trip."""
    tree = replace(drawn(seed, 12), tendons=())
    back = tree_of(ENGINE.neutral(tree).model)
    assert {body.name for body in back.bodies[1:]} >= {body.name for body in tree.bodies[1:] if body.joint.nv}
    assert back.dofs == tree.dofs
    assert back.total_mass == pytest.approx(tree.total_mass)
    if any(joint.ref or joint.kind is JointKind.PLANAR for joint in tree.joints):
        return
    assert_agrees(Reference(back), back)
    states = sample(tree, 4, 0)
    M, bias = Reference(tree).mass_matrix(states.q), Reference(tree).bias(states.q, states.v)
    scale = max(1.0, np.abs(M).max(initial=0), np.abs(bias).max(initial=0))
    np.testing.assert_allclose(Reference(back).mass_matrix(states.q), M, rtol=0, atol=1e-13 * scale)
    np.testing.assert_allclose(Reference(back).bias(states.q, states.v), bias, rtol=0, atol=1e-13 * scale)


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


def test_a_mimicking_joint_of_a_live_model_is_refused_with_the_way_out(tmp_path: Path) -> None:
    """Pinocchio removes its dof, so that it is no joint of an open tree; `mimic=False` keeps it."""
    mimic = LIMITS + '<mimic joint="first" multiplier="-2" offset="0.1"/>'
    path = written(
        tmp_path,
        *(LINK.format(name, 2) for name in ("base", "arm", "hand")),
        JOINT.format("first", "revolute", "base", "arm", LIMITS),
        JOINT.format("second", "revolute", "arm", "hand", mimic),
    )
    with pytest.raises(ReadError, match=r"joint 'second' is a Mimic.*mimic=False"):
        tree_of(pin.buildModelFromUrdf(str(path), mimic=True))
    assert tree_of(pin.buildModelFromUrdf(str(path))).dofs == ("first", "second")


def test_the_base_of_a_live_model_cannot_be_freed() -> None:
    """A model cannot be given a root joint afterwards: the sentence says what to do."""
    with pytest.raises(EngineUnsupported, match="JointModelFreeFlyer"):
        ENGINE.native(Given("pinocchio", live=zoo(), freed=True), tree_of(zoo()))


def test_the_adapter_needs_numpy_and_pinocchio_alone() -> None:
    """An old engine version runs in an environment that has nothing else."""
    code = (
        "import sys, tautology.adapters.pinocchio_; "
        "print(sorted({'lxml', 'pandas', 'mujoco', 'rich', 'typer'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
