"""PyBullet: the neutral path against the reference, what its importers make of files, what it cannot do."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from against_reference import assert_agrees
from engines_at_hand import needs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_trees import random_inertia, random_joint, random_tree

from tautology.adapters.reference import Reference
from tautology.harness import registry
from tautology.harness.checks.agreement import agreement
from tautology.harness.checks.truth import Truth
from tautology.harness.engine import Given
from tautology.harness.errors import EngineRefused, EngineUnsupported
from tautology.harness.load import open_model
from tautology.harness.request import Request
from tautology.harness.run import check_files
from tautology.harness.states import sample
from tautology.harness.tree import Body, Inertia, Joint, JointKind, Tree, world

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tautology.harness.engine import Engine, Session

pytestmark = needs("pybullet")

SEEDS = st.integers(0, 2**32 - 1)
SOME = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
KINDS = [JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.FIXED]
INERTIAL = (
    '<inertial><origin xyz="0.1 0.02 0.03" rpy="0.3 0.2 0.1"/><mass value="1.5"/>'
    '<inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.025" iyz="0.003" izz="0.03"/></inertial>'
)
HINGE = (
    '<joint name="hinge" type="{type}"><parent link="base"/><child link="arm"/>'
    '<origin xyz="0 0.1 0.2" rpy="0.1 0.2 0"/><axis xyz="{axis}"/>'
    '<limit lower="-1" upper="1" effort="9" velocity="9"/></joint>'
)


def engine() -> Engine:
    """Return the engine; the module can be read without it."""
    return registry.adapter("pybullet")


def arm(base: str = "", link: str = INERTIAL, kind: str = "revolute", axis: str = "0 0.6 0.8", more: str = "") -> str:
    """Return a URDF of two links, by lines."""
    joint = HINGE.format(type=kind, axis=axis)
    links = f'<link name="base">{base}</link>\n<link name="arm">{link}</link>'
    return f'<robot name="two">\n{links}\n{joint}\n{more}</robot>\n'


def written(folder: Path, text: str) -> Path:
    """Return a file of that text."""
    path = folder / "robot.urdf"
    path.write_text(text, encoding="utf-8")
    return path


def native(path: Path, base: str = "auto") -> tuple[Session, Tree]:
    """Return the session of a file on the native path, and our tree of it."""
    model = open_model(path, base)
    return engine().native(model.given, model.tree), model.tree


def findings_of(path: Path) -> Mapping[str, Any]:
    """Return the findings of `check` on the native path by kind."""
    (model,) = check_files([str(path)], Request(["pybullet"], "native", "auto", 12, in_process=True)).to_json()[
        "models"
    ]
    (row,) = (row for row in model["engines"] if row["engine"] == "pybullet")
    return {f["kind"]: f for f in row["findings"]}


@SOME
@given(SEEDS)
def test_neutral_path_agrees_with_the_reference_on_random_trees(seed: int) -> None:
    """Every answer of a fixed base is that of the reference, with armature, tendons, anchors and any gravity."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, int(rng.integers(1, 20)), kinds=KINDS, armature=True, tendons=seed % 2 == 0)
    session = engine().neutral(tree)
    assert session.dofs == tree.dofs
    assert session.bodies == tuple(body.name for body in tree.bodies[1:])
    assert_agrees(session, tree)


@SOME
@given(SEEDS)
def test_floating_mechanisms_answer_all_but_efforts(seed: int) -> None:
    """M, motion, energies and momentum of floating roots beside a fixed one; efforts are declared, and refused."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, int(rng.integers(1, 12)), kinds=KINDS, floating_root=True, armature=True)
    second = replace(random_joint(rng, "second", JointKind.FLOATING), T_parent_joint=np.eye(4))
    tree = replace(tree, bodies=(*tree.bodies, Body("second", 0, second, random_inertia(rng))))
    session, states, reference = engine().neutral(tree), sample(tree, 5, seed=1), Reference(tree, np.longdouble)
    q, v = states.q, states.v
    for name, arguments in {
        **dict.fromkeys(("mass_matrix", "poses", "center_of_mass", "potential_energy"), (q,)),
        **dict.fromkeys(("velocities", "kinetic_energy", "momentum"), (q, v)),
    }.items():
        found, wanted = (np.asarray(getattr(x, name)(*arguments), float) for x in (session, reference))
        bound = 1e-13 * max(1.0, float(np.abs(wanted).max()))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=bound, err_msg=name)
    with pytest.raises(EngineUnsupported, match="acceleration of a floating base"):
        session.inverse_dynamics(q, v, states.a)
    assert {"tau", "bias", "gravity", "acceleration"} <= set(session.lacks)


@pytest.mark.parametrize(
    ("kind", "words"),
    [(JointKind.BALL, "is a ball"), (JointKind.PLANAR, "is planar"), (JointKind.FLOATING, "floats below")],
)
def test_kinds_that_it_has_not_are_unsupported(kind: JointKind, words: str) -> None:
    """The sentence names the joint, before PyBullet is called."""
    rng = np.random.default_rng(1)
    hinge = Body("first", 0, random_joint(rng, "hinge", JointKind.REVOLUTE), random_inertia(rng))
    tree = Tree("odd", (world(), hinge, Body("second", 1, random_joint(rng, "odd", kind), random_inertia(rng))))
    with pytest.raises(EngineUnsupported, match=f"joint 'odd' {words}"):
        engine().neutral(tree)


def test_a_part_that_is_no_body_is_merged_into_a_whole_that_is_one() -> None:
    """A tensor without mass on a fixed link goes into its holder; where the whole is none either, it is unsupported."""
    rng = np.random.default_rng(3)
    hinge = Body("arm", 0, random_joint(rng, "hinge", JointKind.REVOLUTE), random_inertia(rng))
    weld = Joint("weld", JointKind.FIXED, T_parent_joint=random_joint(rng, "x", JointKind.FIXED).T_parent_joint)
    odd = Inertia(0.1, np.zeros(3), np.diag([1e-3, 1e-3, 3e-3]))
    tree = Tree("foot", (world(), hinge, Body("foot", 1, weld, odd)))
    assert_agrees(engine().neutral(tree), tree)
    worse = replace(odd, I_com=np.diag([1.0, 1.0, 30.0]))
    with pytest.raises(EngineUnsupported, match="'foot' are those of no body"):
        engine().neutral(replace(tree, bodies=(world(), hinge, Body("foot", 1, weld, worse))))


def test_a_base_without_mass_does_not_float() -> None:
    """PyBullet holds it fixed; that is said before."""
    root = Body("root", 0, Joint("root", JointKind.FLOATING))
    arm_ = Body("arm", 1, Joint("hinge", JointKind.REVOLUTE), random_inertia(np.random.default_rng(0)))
    with pytest.raises(EngineUnsupported, match="'root' floats and has no mass"):
        engine().neutral(Tree("ghost", (world(), root, arm_)))


@pytest.mark.parametrize("hinges", [100, 128])
def test_more_links_than_its_memory_holds_answer_efforts_alone(hinges: int) -> None:
    """`getLinkStates` fails beyond 127 links; M and tau do not, and the links are told all the same."""
    tree = long_chain(hinges, 140)
    session, states, reference = engine().neutral(tree), sample(tree, 3, seed=0), Reference(tree)
    assert "127 links" in session.lacks["poses"]
    for name in ("mass_matrix", "gravity_forces"):
        found, wanted = getattr(session, name)(states.q), getattr(reference, name)(states.q)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max(), err_msg=name)
    held = session.describe()
    for body in tree.bodies[1:]:
        there = held.bodies[held.index[body.name]]
        np.testing.assert_allclose(there.joint.T_parent_joint, body.joint.T_parent_joint, rtol=0, atol=1e-13)
        np.testing.assert_allclose(there.inertia.I_com, body.inertia.I_com, rtol=0, atol=1e-13)


@pytest.mark.parametrize("hinges", [121, 122])
def test_more_positions_than_a_state_holds_leave_no_poses(hinges: int) -> None:
    """A state has 128 numbers, seven of them of the base: the last position runs over into the velocity of the base."""
    tree = long_chain(hinges, hinges)
    session, states = engine().neutral(tree), sample(tree, 3, seed=0)
    if hinges > 121:
        assert "121 joint positions" in session.lacks["velocities"]
    else:
        wanted = Reference(tree).velocities(states.q, states.v)
        found = session.velocities(states.q, states.v)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


def test_placements_that_are_alike_round_alike() -> None:
    """Sixty-four hinges with one placement: what its quaternions round adds up link by link, and is rounding."""
    rng = np.random.default_rng(10)
    inertia = random_inertia(rng)
    hinge = replace(random_joint(rng, "x", JointKind.REVOLUTE), T_joint_body=np.eye(4), ref=0.0)
    chain = [Body(f"link{k}", k, replace(hinge, name=f"joint{k}"), inertia) for k in range(64)]
    tree = Tree("chain", (world(), *chain))
    states = sample(tree, 8, seed=0)
    truth = Truth(tree, states, Reference(tree, np.longdouble), Reference(tree))
    rows = agreement(engine().neutral(tree), truth, states, "neutral", 1e-9)
    assert [row.quantity for row in rows if not row.passed] == []


def test_more_dofs_than_its_calls_take_are_unsupported() -> None:
    """Positions beyond the 128th are lost on their way, and M is wrong without a word."""
    with pytest.raises(EngineUnsupported, match="129 dofs"):
        engine().neutral(long_chain(129, 129))


def long_chain(hinges: int, links: int) -> Tree:
    """Return links in a row, the last ones fixed."""
    rng = np.random.default_rng(0)
    bodies = [world()]
    for i in range(links):
        joint = random_joint(rng, f"joint{i}", JointKind.REVOLUTE if i < hinges else JointKind.FIXED)
        joint = replace(joint, T_joint_body=np.eye(4), ref=0.0)
        bodies.append(Body(f"link{i}", i, joint, random_inertia(rng)))
    return Tree("long", tuple(bodies))


def test_gravity_of_a_fixed_base_is_turned_by_its_inertial_frame(tmp_path: Path) -> None:
    """Natively another robot, told at the origin of the root's `<inertial>`; on the neutral path set right."""
    path = written(tmp_path, arm(base="\n" + INERTIAL))
    session, tree = native(path)
    states = sample(tree, 6, seed=2)
    assert np.abs(session.gravity_forces(states.q) - Reference(tree).gravity_forces(states.q)).max() > 0.1
    assert_agrees(engine().neutral(tree), tree)
    found = findings_of(path)["gravity.direction"]
    assert (found["where"], found["line"], found["severity"]) == ("base", 3, "model")
    assert found["explains"] == pytest.approx(1)
    assert "unexplained" not in findings_of(path)


@pytest.mark.parametrize(
    ("link", "kind", "line"),
    [
        ("", "mass.default", 3),
        (INERTIAL.replace('ixx="0.02"', 'ixx="0.2"'), "inertia.repaired", 3),
    ],
)
def test_inertias_that_it_makes_up_are_found(tmp_path: Path, link: str, kind: str, line: int) -> None:
    """1 kg without `<inertial>`, no tensor for one that no body can have."""
    found = findings_of(written(tmp_path, arm(link=link)))
    assert (found[kind]["where"], found[kind]["line"], found[kind]["severity"]) == ("arm", line, "model")
    assert "unexplained" not in found


def test_an_axis_of_another_length_moves_links_elsewhere(tmp_path: Path) -> None:
    """Inverse dynamics normalises it, `getLinkStates` does not: dynamics agree, poses do not."""
    path = written(tmp_path, arm(axis="0 1.2 1.6", kind="prismatic"))
    session, tree = native(path)
    states = sample(tree, 6, seed=2)
    reference = Reference(tree)
    np.testing.assert_allclose(session.mass_matrix(states.q), reference.mass_matrix(states.q), rtol=1e-9)
    assert np.abs(session.poses(states.q) - reference.poses(states.q)).max() > 0.1
    found = findings_of(path)["joint.axis"]
    assert (found["where"], found["line"], found["severity"]) == ("hinge", 4, "model")


def test_a_free_base_has_its_mass_matrix_in_the_inertial_frame(tmp_path: Path) -> None:
    """`--base free`: M agrees, and the findings say how the base is written."""
    session, tree = native(written(tmp_path, arm(base=INERTIAL)), "free")
    states = sample(tree, 6, seed=2)
    np.testing.assert_allclose(session.mass_matrix(states.q), Reference(tree).mass_matrix(states.q), rtol=0, atol=1e-9)
    kinds = {f.kind for f in session.findings}
    assert {"base.velocity_frame", "base.component_order", "base.quaternion_order"} <= kinds


def test_a_root_that_it_cannot_float_stays_fixed(tmp_path: Path) -> None:
    """A massless root link, written so: the dofs of the base are not there, and that is another robot."""
    ghost = '<inertial><mass value="0"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'
    session, _ = native(written(tmp_path, arm(base=ghost)), "free")
    assert session.dofs == ("hinge",)


@pytest.mark.parametrize(
    ("text", "kind", "where", "words"),
    [
        (arm(kind="planar"), "refused.unsupported", "hinge", "planar joints not implemented"),
        (arm(link="<inertial><mass value='1'/></inertial>"), "refused.malformed", "arm", "Cannot load URDF file"),
    ],
)
def test_refusals_are_in_its_words(tmp_path: Path, text: str, kind: str, where: str, words: str) -> None:
    """What it writes to its own streams stands in the message, with the element."""
    path = written(tmp_path, text)
    with pytest.raises(EngineRefused, match=words) as refusal:
        native(path)
    assert (refusal.value.kind, refusal.value.where) == (kind, where)
    assert refusal.value.source.line


def test_a_file_that_is_no_robot_is_refused(tmp_path: Path) -> None:
    """The tree is the bare world then."""
    bare = Tree("bare", (world(),))
    for name, text in {"cut": "<robot name='a'><link name='b'>", "empty": "", "none": "<robot name='a'/>"}.items():
        path = tmp_path / f"{name}.urdf"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(EngineRefused, match="Cannot load URDF file"):
            engine().native(Given("urdf", str(path)), bare)
    with pytest.raises(EngineRefused):
        engine().native(Given("urdf", str(tmp_path / "absent.urdf")), bare)


def test_meshes_that_it_does_not_find_are_taken_out(tmp_path: Path) -> None:
    """The robot is the same without; the finding names link and line."""
    shape = '<visual><geometry><mesh filename="package://no/where.stl"/></geometry></visual>'
    path = written(tmp_path, arm(link=f"{INERTIAL}\n{shape}"))
    session, tree = native(path)
    states = sample(tree, 4, seed=0)
    np.testing.assert_allclose(session.bias(states.q, states.v), Reference(tree).bias(states.q, states.v), atol=1e-9)
    (found,) = (f for f in session.findings if f.kind == "refused.mesh")
    assert (found.where, found.line, found.severity) == ("arm", 4, "convention")
    assert "1 shape was taken out" in session.notes[0]


@pytest.mark.parametrize(
    "more",
    [
        HINGE.format(type="revolute", axis="1 0 0"),  # a joint name twice, and two parents
        '<link name="alone"/>',  # a second root
    ],
)
def test_what_ends_its_process_is_a_result(tmp_path: Path, more: str) -> None:
    """A worker process dies of it, and this one does not."""
    path = written(tmp_path, arm(more=more))
    code = (
        "import sys; from tautology.harness import registry; from tautology.harness.engine import Given\n"
        "from tautology.harness.tree import Tree, world\n"
        "registry.adapter('pybullet').native(Given('urdf', sys.argv[1]), Tree('bare', (world(),)))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, check=False, timeout=60)
    assert done.returncode < 0


def test_nothing_is_written_to_the_terminal(tmp_path: Path) -> None:
    """Neither the greeting nor warnings nor errors, by C's streams at the descriptors, buffered or not."""
    path, empty = written(tmp_path, arm(kind="floating")), tmp_path / "empty.urdf"
    empty.touch()
    code = (
        "import sys; from tautology.harness import registry; from tautology.harness.load import open_model\n"
        "from tautology.harness.states import sample\n"
        "model = open_model(sys.argv[1], 'auto'); engine = registry.adapter('pybullet')\n"
        "for session in (engine.native(model.given, model.tree), engine.neutral(model.tree)):\n"
        "    q = sample(model.tree, 3).q; session.mass_matrix(q); session.poses(q)\n"
        "from tautology.harness.engine import Given; from tautology.harness.errors import EngineRefused\n"
        "try: engine.native(Given('urdf', sys.argv[2]), model.tree)\n"
        "except EngineRefused: pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), str(empty)], capture_output=True, check=True, timeout=60
    )
    assert (done.stdout, done.stderr) == (b"", b"")


MJCF = """<mujoco model="old">
<compiler angle="radian"/>
<worldbody>
<body name="arm" pos="0 0 1">
<inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.1 0.2 0.25"/>
<joint name="swing" {type} axis="0 1 0" limited="true" range="-1 1"/>
<geom type="sphere" size="0.1"/>
</body>
</worldbody>
</mujoco>
"""


def test_limits_and_passive_terms_are_read_back(tmp_path: Path) -> None:
    """As the file has them, though no answer holds one."""
    text = arm().replace("<limit", '<dynamics damping="0.4" friction="0.2"/><limit')
    session, _ = native(written(tmp_path, text))
    held = session.describe()
    joint = held.joints[held.joint_index["hinge"]]
    assert (joint.lower, joint.upper, joint.effort, joint.speed) == (-1, 1, 9, 9)
    assert (joint.damping.tolist(), joint.friction.tolist()) == ([0.4], [0.2])


def test_what_it_says_is_a_note(tmp_path: Path) -> None:
    """A floating joint inside of a robot is fixed, with words on its output alone."""
    session, _ = native(written(tmp_path, arm(base=INERTIAL, kind="floating")))
    assert "PyBullet says: Warning: joint unsupported, creating a fixed joint instead." in session.notes
    assert session.dofs == ()


@pytest.mark.parametrize(("type_", "dofs"), [('type="hinge"', ("swing",)), ("", ())])
def test_mjcf_is_read_as_it_reads_it(tmp_path: Path, type_: str, dofs: tuple[str, ...]) -> None:
    """A joint without `type` is dropped without a word of the loader's result: found, and nothing stays unexplained."""
    path = tmp_path / "old.xml"
    path.write_text(MJCF.format(type=type_), encoding="utf-8")
    session, _ = native(path)
    assert session.dofs == dofs
    # PyBullet has the joint on a link of its own above; a body without one is called otherwise.
    assert [b.name for b in session.describe().bodies if b.joint.name == "swing"] == ["arm"] * len(dofs)
    found = findings_of(path)
    assert "unexplained" not in found
    assert ("joint.missing" in found) == (not dofs)


def test_wrenches_on_a_body_that_it_dropped_are_unsupported(tmp_path: Path) -> None:
    """A geom without `type` takes its body with it: what acts there is not left out without a word."""
    path = tmp_path / "old.xml"
    tip = '<body name="tip" pos="0.3 0 0"><joint name="bend" axis="1 0 0"/><geom size="0.1"/></body>'
    path.write_text(MJCF.format(type='type="hinge"').replace("</body>", f"{tip}</body>"), encoding="utf-8")
    session, tree = native(path)
    assert session.bodies == ("arm",)
    states = sample(tree, 4, seed=0)
    with pytest.raises(EngineUnsupported, match="body 'tip', which PyBullet does not have"):
        session.inverse_dynamics(states.q, states.v, states.a, np.ones_like(states.wrenches))
    assert "unexplained" not in findings_of(path)


def test_the_base_of_an_mjcf_is_not_freed(tmp_path: Path) -> None:
    """There is no such argument of `loadMJCF`."""
    with pytest.raises(EngineUnsupported, match="free joint"):
        engine().native(Given("mjcf", str(tmp_path / "x.xml"), freed=True), Tree("bare", (world(),)))
    with pytest.raises(EngineUnsupported, match="no importer for mujoco"):
        engine().native(Given("mujoco"), Tree("bare", (world(),)))


def test_spherical_joints_of_a_file_move_and_have_no_dynamics(tmp_path: Path) -> None:
    """Poses are those of the quaternion; efforts are declared lacking."""
    session, tree = native(written(tmp_path, arm(kind="spherical")))
    states = sample(tree, 5, seed=3)
    for name, asked in (("poses", (states.q,)), ("velocities", (states.q, states.v))):
        found, wanted = (getattr(x, name)(*asked) for x in (session, Reference(tree)))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12, err_msg=name)
    assert "spherical" in session.lacks["tau"]
    assert "joint.coordinates" in {f.kind for f in session.findings}
