"""Drake as an engine: random trees of every joint kind, coordinates, hostile inputs, and what it says on the way."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest
from against_reference import assert_agrees, drawn
from engines_at_hand import needs
from example_robots import EXAMPLE_ROBOTS
from random_trees import random_inertia, random_joint, random_tree

from tautology.adapters.reference import Reference
from tautology.harness import registry
from tautology.harness.errors import EngineUnsupported, ShapeError
from tautology.harness.load import open_model
from tautology.harness.spatial import quaternion_product, rotation_from_rpy, transform
from tautology.harness.states import sample
from tautology.harness.tree import Body, Inertia, Joint, JointKind, Tree, world

pytestmark = needs("drake")


def neutral(tree: Tree):
    """Return a session on a plant that is built from a tree."""
    return registry.adapter("drake").neutral(tree)


@pytest.mark.parametrize("seed", range(24))
def test_random_trees_agree_with_the_reference(seed: int) -> None:
    """Every joint kind anywhere, free roots, armature and tendons, massless bodies."""
    tree = drawn(seed)
    session = neutral(tree)
    assert session.dofs == tree.dofs
    assert_agrees(session, tree)


def test_articulated_bodies_answer_without_outside_inertia() -> None:
    """One-dof armature is a rotor of Drake: forward dynamics is its own algorithm, and right."""
    tree = random_tree(
        np.random.default_rng(2), 8, kinds=[JointKind.REVOLUTE, JointKind.PRISMATIC], floating_root=True, armature=True
    )
    one_dof = [replace(b, joint=replace(b.joint, armature=0.0)) if b.joint.nv > 1 else b for b in tree.bodies]
    tree = replace(tree, bodies=tuple(one_dof))
    assert any(joint.reflected.any() for joint in tree.joints)
    session = neutral(tree)
    assert session._outside is None
    session.mass_matrix = None  # it must not be asked for
    states = sample(tree, 5)
    found = session.forward_dynamics(states.q, states.v, states.tau)
    wanted = Reference(tree, np.longdouble).forward_dynamics(states.q, states.v, states.tau)
    np.testing.assert_allclose(found, wanted.astype(float), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, 0.3])
def test_a_ball_is_right_where_roll_and_yaw_are_one(pitch: float) -> None:
    """Roll, pitch and yaw of a ball name its orientation exactly at the poles, too."""
    rng = np.random.default_rng(5)
    tree = Tree("ball", (world(), Body("b", 0, random_joint(rng, "j", JointKind.BALL), random_inertia(rng))))
    half = [
        np.array([np.cos(x / 2), *(np.sin(x / 2) * axis)])
        for x, axis in zip((0.7, pitch, -0.4), np.eye(3), strict=True)
    ]
    q = quaternion_product(half[2], quaternion_product(half[1], half[0]))[None]
    session, v = neutral(tree), rng.normal(size=(1, 3))
    np.testing.assert_allclose(session.poses(q), Reference(tree).poses(q), rtol=0, atol=1e-15)
    np.testing.assert_allclose(session.bias(q, v), Reference(tree).bias(q, v), rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    "inertia",
    [
        Inertia(0.0, np.zeros(3), np.diag([0.005, 0.007, 0.009])),
        Inertia(1.3, [0.1, 0, 0.2], np.diag([-0.1, 0.2, 0.3])),
        Inertia(-0.4, [0.1, 0, 0.2], np.diag([0.1, 0.2, 0.3])),
    ],
    ids=["tensor without mass", "indefinite", "negative mass"],
)
def test_unphysical_inertias_are_held_as_they_are(inertia: Inertia) -> None:
    """The neutral path takes what no body can have, and forms M, tau and energies of it."""
    rng = np.random.default_rng(1)
    bodies = [world(), Body("a", 0, random_joint(rng, "j", JointKind.REVOLUTE), random_inertia(rng))]
    bodies.append(Body("b", 1, random_joint(rng, "k", JointKind.REVOLUTE), inertia))
    tree = Tree("odd", tuple(bodies))
    session, states = neutral(tree), sample(tree, 4)
    truth = Reference(tree)
    for name, asked in (("mass_matrix", "q"), ("bias", "qv"), ("kinetic_energy", "qv"), ("potential_energy", "q")):
        arguments = [getattr(states, x) for x in asked]
        wanted = getattr(truth, name)(*arguments)
        np.testing.assert_allclose(getattr(session, name)(*arguments), wanted, rtol=0, atol=1e-13, err_msg=name)


def test_momenta_of_two_mechanisms_are_told_apart() -> None:
    """Each floating root has the momentum of what hangs on it."""
    rng = np.random.default_rng(3)
    parents = (0, 1, 0, 3)
    kinds = (JointKind.FLOATING, JointKind.REVOLUTE, JointKind.FLOATING, JointKind.BALL)
    bodies = [
        Body(f"b{k}", p, random_joint(rng, f"j{k}", kind), random_inertia(rng))
        for k, (p, kind) in enumerate(zip(parents, kinds, strict=True))
    ]
    tree = Tree("two", (world(), *bodies))
    states = sample(tree, 3)
    found = neutral(tree).momentum(states.q, states.v)
    assert found.shape == (3, 2, 6)
    np.testing.assert_allclose(found, Reference(tree).momentum(states.q, states.v), rtol=0, atol=1e-12)


def test_another_gravity_is_for_one_call_alone() -> None:
    """`gravity` stands in for the model's own, which is back afterwards."""
    tree = drawn(4)
    session, states, g = neutral(tree), sample(tree, 3), np.array([1.0, -2.0, 3.0])
    before = session.bias(states.q, states.v)
    found = session.bias(states.q, states.v, gravity=g)
    np.testing.assert_allclose(found, Reference(tree).bias(states.q, states.v, gravity=g), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(session.bias(states.q, states.v), before)


def test_names_that_drake_keeps_for_itself_do_no_harm() -> None:
    """Bodies and joints may be called as Drake's world, frames or instances are, or carry its separator."""
    names = ["world_2", "WorldModelInstance", "a::b", "joint 1 F", ""]
    rng, bodies = np.random.default_rng(0), [world()]
    for k, name in enumerate(names):
        bodies.append(Body(name or "x", k, random_joint(rng, name or "x", JointKind.REVOLUTE), random_inertia(rng)))
    tree = Tree("names", tuple(bodies))
    session = neutral(tree)
    assert session.dofs == tree.dofs
    assert [b.name for b in session.describe().bodies] == [b.name for b in tree.bodies]
    assert_agrees(session, tree, 3)


def test_turns_that_are_alike_do_not_add_up_their_rounding() -> None:
    """A hundred hinges with one placement: a turn that is rounded on its way to Drake is wrong a hundred times."""
    inertia = random_inertia(np.random.default_rng(5))
    placement = np.asarray(transform(rotation_from_rpy(np.array([0.1, 0.2, 0.3])), np.array([0, 0, 0.1])), np.float64)
    hinge = Joint("x", JointKind.REVOLUTE, axis=np.array([0.0, 1, 0]), T_parent_joint=placement)
    chain = [Body(f"link{k}", k, replace(hinge, name=f"joint{k}"), inertia) for k in range(100)]
    tree = Tree("chain", (world(), *chain))
    q = sample(tree, 3, seed=0).q
    np.testing.assert_allclose(neutral(tree).poses(q), Reference(tree, np.longdouble).poses(q), rtol=0, atol=1e-14)


@pytest.mark.parametrize("links", [3000])
def test_long_chains_are_built_and_read(links: int, tmp_path) -> None:
    """Neither path calls itself once per link."""
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    lines = [f'<link name="l{k}">{inertial}</link>' for k in range(links)]
    for k in range(1, links):
        kind = "continuous" if k % 500 == 0 else "fixed"
        ends = f'<parent link="l{k - 1}"/><child link="l{k}"/>'
        lines.append(f'<joint name="j{k}" type="{kind}">{ends}<axis xyz="0 1 0"/></joint>')
    file = tmp_path / "chain.urdf"
    file.write_text(f'<robot name="chain">{"".join(lines)}</robot>')
    model = open_model(str(file))
    for session in (neutral(model.tree), registry.adapter("drake").native(model.given, model.tree)):
        assert session.dofs == model.tree.dofs
    assert session.total_mass == pytest.approx(links)  # on the neutral path what is fixed to the world is left out


def test_states_that_are_not_finite_or_of_another_robot_are_errors() -> None:
    """Drake ends the interpreter on them; here they are errors, or no numbers."""
    tree = drawn(1)
    session, states = neutral(tree), sample(tree, 2)
    nan = np.full_like(states.q, np.nan)
    with pytest.raises(RuntimeError, match="Failure at"):
        session.bias(nan, states.v)
    with pytest.raises(RuntimeError, match="Failure at"):
        session.forward_dynamics(nan, states.v, states.tau)
    wide = np.zeros((2, tree.nv + 1))
    for call in (
        lambda: session.mass_matrix(np.zeros((2, tree.nq + 1))),
        lambda: session.inverse_dynamics(states.q, states.v, wide),
        lambda: session.forward_dynamics(states.q, states.v, wide),
    ):
        with pytest.raises(ShapeError, match="expected"):
            call()
    assert session.bias(states.q[:0], states.v[:0]).shape == (0, tree.nv)


def test_a_wrench_on_a_body_that_is_not_there_is_unsupported(tmp_path) -> None:
    """A massless link between two joints of an MJCF body has another frame in Drake."""
    file = tmp_path / "pair.xml"
    file.write_text(
        '<mujoco model="pair"><worldbody><body name="b"><joint name="j"/><joint name="k" axis="0 1 0"/>'
        '<inertial pos="0 0 .1" mass="1" diaginertia=".1 .1 .1"/></body></worldbody></mujoco>'
    )
    model = open_model(str(file))
    session, states = registry.adapter("drake").native(model.given, model.tree), sample(model.tree, 1)
    (missing,) = set(model.tree.index) - {"world", *session.bodies}
    wrenches = np.zeros((1, len(model.tree.bodies), 6))
    wrenches[:, model.tree.index[missing]] = 1
    with pytest.raises(EngineUnsupported, match=missing):
        session.generalized_forces(states.q, wrenches)


def test_the_log_of_drake_is_a_note_and_nothing_on_the_terminal(tmp_path, capfd) -> None:
    """What the parser says is told by the session; the logger is as it was."""
    logger = logging.getLogger("drake")
    kept = logger.handlers[:], logger.propagate, logger.level
    file = tmp_path / "rough.urdf"
    file.write_text(ROUGH)
    model = open_model(str(file))
    session = registry.adapter("drake").native(model.given, model.tree)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")
    assert (logger.handlers[:], logger.propagate, logger.level) == kept
    assert any("non-zero value for the 'friction'" in note for note in session.notes)
    assert any(note.startswith("with SetStrictParsing Drake refuses the file") for note in session.notes)
    (ignored,) = (f for f in session.findings if f.kind == "feature.ignored")
    assert (ignored.where, ignored.line, ignored.severity) == ("turn", 8, "convention")


ROUGH = """<robot name="rough">
  <link name="base"/>
  <link name="arm">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="turn" type="continuous">
    <parent link="base"/><child link="arm"/>
    <dynamics friction="0.2" damping="0.7"/>
  </joint>
</robot>
"""


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("name", ["ur_description/ur5_robot", "g1_description/g1_29dof_rev_1_0", "hyq_description/hyq"])
def test_real_robots_agree_on_the_neutral_path(name: str, base: str) -> None:
    """Fixed and freed."""
    files = {key: file for key, file in EXAMPLE_ROBOTS.items() if key.startswith(name)}
    tree = open_model(str(next(iter(files.values()))), base).tree
    assert_agrees(neutral(tree), tree, 3)


def test_a_joint_of_a_tree_without_name_clash_is_described_in_its_own_place() -> None:
    """The description of a neutral plant is the tree: kinds, axes, placements, inertias, armature."""
    tree = random_tree(np.random.default_rng(9), 12, armature=True, massless=0).fused()
    held = neutral(tree).describe()
    for one, two in zip(tree.bodies[1:], held.bodies[1:], strict=True):
        assert (one.name, one.joint.name, one.parent) == (two.name, two.joint.name, two.parent)
        np.testing.assert_allclose(two.inertia.I_com, one.inertia.I_com, rtol=0, atol=1e-13)
        np.testing.assert_allclose(two.inertia.com, one.inertia.com, rtol=0, atol=1e-15)
        if one.joint.nv == 1:
            np.testing.assert_allclose(two.joint.reflected, one.joint.reflected, rtol=0, atol=0)
            np.testing.assert_allclose(two.joint.axis, one.joint.axis, rtol=0, atol=1e-15)
            np.testing.assert_allclose(two.joint.T_parent_joint, one.joint.T_parent_joint, rtol=0, atol=1e-15)


def test_joint_kinds_of_a_tree_are_named_as_drake_holds_them() -> None:
    """A continuous joint stays one, since Drake has no other word for it."""
    rng = np.random.default_rng(0)
    for kind in JointKind:
        if kind is JointKind.FIXED:
            continue
        tree = Tree("one", (world(), Body("b", 0, Joint("j", kind), random_inertia(rng))))
        assert neutral(tree).describe().joints[1].kind is kind
