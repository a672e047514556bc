"""iDynTree against the reference: random trees in three representations, real files, and what its importer does."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from against_reference import answers, assert_agrees, expected
from engines_at_hand import needs
from example_robots import EXAMPLE_ROBOTS
from random_trees import random_inertia, random_joint, random_rotation, random_transform, random_tree

from tautology.adapters.reference import Reference
from tautology.harness import registry
from tautology.harness.bases import BODY, INERTIAL, MIXED
from tautology.harness.engine import Given
from tautology.harness.errors import EngineRefused, EngineUnsupported
from tautology.harness.load import open_model
from tautology.harness.request import Request
from tautology.harness.run import check_files
from tautology.harness.spatial import transform
from tautology.harness.states import sample
from tautology.harness.tree import Body, JointKind, Tree, world

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs("idyntree")
HELD = [JointKind.FIXED, JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.BALL]
REPRESENTATIONS = {"mixed": MIXED, "body": BODY, "inertial": INERTIAL}
PART = """<inertial><origin xyz="0.04 0.02 0.09" rpy="0.3 -0.4 0.2"/><mass value="1.3"/>
<inertia ixx="0.0072" ixy="0.0004" ixz="-0.0007" iyy="0.0094" iyz="0.0005" izz="0.0113"/></inertial>"""
TURN = '<origin xyz="0.1 -0.2 0.3" rpy="0.4 0.5 -0.6"/><axis xyz="0 0.6 0.8"/>'
LIMIT = '<limit lower="-1" upper="1" effort="9" velocity="5"/>'


@pytest.fixture(scope="module")
def engine() -> Any:
    """Return the adapter."""
    return registry.adapter("idyntree")


def one_tree(seed: int, *, floating: bool, armature: bool = True) -> Tree:
    """Return a random tree that hangs on one body, of joints that iDynTree has."""
    rng = np.random.default_rng(seed)
    while True:
        tree = random_tree(rng, 9, kinds=HELD, floating_root=floating, armature=armature, tendons=armature)
        if not floating or tree.parents.count(0) == 1:
            return tree


def link(name: str, inside: str = PART) -> str:
    """Return a link of a URDF."""
    return f'<link name="{name}">{inside}</link>\n'


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = TURN + LIMIT) -> str:
    """Return a joint of a URDF."""
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>\n'


def written(folder: Path, *parts: str) -> Path:
    """Write a URDF, whose parts begin on line 2."""
    file = folder / "robot.urdf"
    file.write_text('<robot name="made">\n' + "".join(parts) + "</robot>\n", encoding="utf-8")
    return file


def opened(engine: Any, file: Path, base: str = "auto", **options: Any) -> tuple[Any, Tree]:
    """Return the native session of a file, and its tree."""
    model = open_model(file, base)
    return engine.native(model.given, model.tree, **options), model.tree


def found(file: Path, base: str = "auto") -> Any:
    """Return what a check says of iDynTree's own reading."""
    (model,) = check_files([str(file)], Request(["idyntree"], "native", base, 8, in_process=True)).models
    return next(result for result in model.engines if result.engine == "idyntree")


@pytest.mark.parametrize("name", REPRESENTATIONS)
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("seed", range(6))
def test_random_trees_agree_in_every_representation(engine: Any, seed: int, floating: bool, name: str) -> None:
    """Every answer is that of the reference, whatever twists and wrenches are written in."""
    tree = one_tree(seed, floating=floating, armature=seed % 2 == 0)
    assert_agrees(engine.neutral(tree, REPRESENTATIONS[name]), tree)


@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_turned_sides_of_joints_agree(engine: Any, name: str) -> None:
    """A ball and a floating joint whose moving side is turned and displaced against the body."""
    rng = np.random.default_rng(4)
    float_ = replace(random_joint(rng, "float", JointKind.FLOATING), T_joint_body=random_transform(rng))
    ball = replace(
        random_joint(rng, "ball", JointKind.BALL),
        T_joint_body=transform(random_rotation(rng), rng.uniform(-0.3, 0.3, 3)),
    )
    bodies = (world(), Body("trunk", 0, float_, random_inertia(rng)), Body("head", 1, ball, random_inertia(rng)))
    tree = Tree("turned", bodies)
    assert_agrees(engine.neutral(tree, REPRESENTATIONS[name]), tree)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_what_is_read_back_computes_the_same(engine: Any, floating: bool) -> None:
    """`describe` of a model that was built from a tree has the dynamics of that tree."""
    tree = replace(one_tree(3, floating=floating, armature=False), tendons=())
    held = engine.neutral(tree).describe()
    states = sample(tree, 5)
    # Coordinates begin at the model's own zero.
    assert [joint.name for joint in held.joints if joint.nv] == [joint.name for joint in tree.joints if joint.nv]
    q = states.q.copy()
    for i, own in enumerate(tree.joints):
        if own.nq == 1:
            q[:, tree.q_slices[i]] -= own.ref
    one, two = Reference(tree), Reference(held)
    np.testing.assert_allclose(two.mass_matrix(q), one.mass_matrix(states.q), rtol=0, atol=1e-12)
    wanted = one.inverse_dynamics(states.q, states.v, states.a)
    np.testing.assert_allclose(two.inverse_dynamics(q, states.v, states.a), wanted, rtol=0, atol=1e-10)


@pytest.mark.parametrize("base", ["auto", "free"])
@pytest.mark.parametrize("name", ["solo_description/solo12", "ur_description/ur5_robot", "talos_data/talos_reduced"])
def test_real_robots_agree(engine: Any, name: str, base: str) -> None:
    """Files of real robots, on their base and free; UR5 has a root without mass, which becomes a frame."""
    session, tree = opened(engine, EXAMPLE_ROBOTS[name], base)
    assert session.dofs == tree.dofs
    assert not session.extra_dofs
    assert_agrees(session, tree, 4)


@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_native_answers_are_the_same_in_every_representation(engine: Any, tmp_path: Path, name: str) -> None:
    """A free root without mass on which the first link with one is welded: base point and base body differ."""
    mount = joint("mount", "empty", "trunk", "fixed", TURN)
    file = written(tmp_path, link("empty", ""), link("trunk"), mount, link("leg"), joint("hip", "trunk", "leg"))
    session, tree = opened(engine, file, "free", representation=REPRESENTATIONS[name])
    assert session.model.getLinkName(session.model.getDefaultBaseLink()) == "trunk"
    assert_agrees(session, tree, 4)


def test_a_root_that_became_a_frame_is_read_back(tmp_path: Path) -> None:
    """It carries the base link as in the file, so that nothing differs."""
    mount = joint("mount", "empty", "trunk", "fixed", TURN)
    file = written(tmp_path, link("empty", ""), link("trunk"), mount, link("leg"), joint("hip", "trunk", "leg"))
    for base in ("auto", "free"):
        assert found(file, base).status == "agree"


def test_a_welded_root_is_six_rows_that_are_left_out(engine: Any, tmp_path: Path) -> None:
    """The model floats all the same, and the finding says so at the root."""
    file = written(tmp_path, link("trunk"), link("leg"), joint("hip", "trunk", "leg"))
    session, tree = opened(engine, file)
    assert session.mass_matrix(sample(tree, 2).q).shape == (2, 1, 1)
    (base,) = [f for f in session.findings if f.kind == "base.fixed_or_free"]
    assert (base.where, base.line, base.severity) == ("trunk", 2, "convention")
    free, _ = opened(engine, file, "free")
    assert {f.kind for f in free.findings} >= {"base.velocity_frame", "base.acceleration"}


def test_gravity_is_that_of_the_tree(engine: Any) -> None:
    """The session sets the tree's, which need not be along z: what iDynTree has before is whatever the memory held."""
    tree = one_tree(1, floating=False)
    session = engine.neutral(tree)
    q = sample(tree, 3).q
    np.testing.assert_allclose(session.gravity_forces(q), Reference(tree).gravity_forces(q), rtol=0, atol=1e-11)
    assert np.abs(session.gravity_forces(q)).max() > 1


def test_base_rows_of_gravity_lag_behind_in_the_engine_alone(engine: Any) -> None:
    """`generalizedGravityForces` of 15.1 turns its base rows by the pose of an earlier state; the session does not."""
    import idyntree.bindings as idt  # noqa: PLC0415  as above

    tree = one_tree(2, floating=True, armature=False)
    session, q = engine.neutral(tree), sample(tree, 4).q
    session.poses(q[:1])
    frame = session._map.at(q[-1:])
    next(session._states(frame))
    efforts = idt.FreeFloatingGeneralizedTorques(session.model)
    session._engine.generalizedGravityForces(efforts)
    lagging = efforts.baseWrench().toNumPy().copy()
    session._engine.getWorldTransform(0)
    session._engine.generalizedGravityForces(efforts)
    assert np.abs(efforts.baseWrench().toNumPy() - lagging).max() > 1
    np.testing.assert_allclose(session.gravity_forces(q), Reference(tree).gravity_forces(q), rtol=0, atol=1e-10)
    assert any("generalizedGravityForces" in str(f.expected) for f in session.findings)


def test_forward_dynamics_is_the_engines_own_where_it_has_one(engine: Any) -> None:
    """The articulated body algorithm answers a free base of hinges and slides; of a ball it returns False."""
    import idyntree.bindings as idt  # noqa: PLC0415  as above

    rng = np.random.default_rng(7)
    for kinds, own in ((HELD[:4], True), (HELD[4:], False)):
        bodies = [world(), Body("b1", 0, random_joint(rng, "j1", JointKind.FLOATING), random_inertia(rng))]
        bodies += [
            Body(f"b{i}", i - 1, random_joint(rng, f"j{i}", kinds[i % len(kinds)]), random_inertia(rng)) for i in (2, 3)
        ]
        session = engine.neutral(Tree("free", tuple(bodies)))
        assert (session._forward is not None) is own
        assert_agrees(session, session.tree)
        model, traversal = session.model, idt.Traversal()
        model.computeFullTreeTraversal(traversal)
        loads = idt.LinkWrenches(model)
        loads.zero()
        position = idt.FreeFloatingPos(model)
        position.worldBasePos = idt.Transform.Identity()
        for k in range(model.getNrOfPosCoords()):
            position.jointPos.setVal(k, 0.5)
        velocity, acceleration = idt.FreeFloatingVel(model), idt.FreeFloatingAcc(model)
        buffers, torques = idt.ArticulatedBodyAlgorithmInternalBuffers(model), idt.JointDOFsDoubleArray(model)
        ran = idt.ArticulatedBodyAlgorithm(model, traversal, position, velocity, loads, torques, buffers, acceleration)
        assert ran is own


def test_a_link_without_tensor_has_that_of_the_link_before(tmp_path: Path) -> None:
    """Found where it is, with both numbers; the file says none."""
    bare = '<inertial><origin xyz="0 0 0.1"/><mass value="0.6"/></inertial>'
    parts = [link("plinth", ""), link("first"), "\n", link("second", bare)]
    file = written(tmp_path, *parts, joint("lift", "plinth", "first"), joint("turn", "first", "second"))
    result = found(file)
    (wrong,) = [f for f in result.findings if f.severity == "model"]
    assert (wrong.kind, wrong.where, wrong.line) == ("inertia.value", "second", 6)
    assert not np.any(wrong.expected)
    # The moments of the link before, in axes of its own: their sum stays.
    np.testing.assert_allclose(sum(wrong.found[:3]), 0.0072 + 0.0094 + 0.0113, atol=1e-12)


def test_a_tensor_without_mass_is_dropped(tmp_path: Path) -> None:
    """The link moves, its tensor counts in the file."""
    foot = '<inertial><mass value="0"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/></inertial>'
    parts = [link("plinth", ""), link("leg"), link("foot", foot)]
    file = written(tmp_path, *parts, joint("hip", "plinth", "leg"), joint("sole", "leg", "foot", "fixed", TURN))
    (wrong,) = [f for f in found(file).findings if f.severity == "model"]
    assert (wrong.kind, wrong.where) == ("inertia.value", "foot")
    assert not np.any(wrong.found)


TWO = [link("plinth", ""), link("part"), link("piece")]
REFUSED = {
    "unsupported": (
        [*TWO[:2], joint("glide", "plinth", "part", "planar")],
        "refused.unsupported",
        "not currently supported",
    ),
    "two roots": ([*TWO, joint("turn", "plinth", "part")], "refused.malformed", "Multiple (2) root links"),
    "cycle": (
        [*TWO, joint("turn", "plinth", "part"), joint("there", "part", "piece"), joint("back", "piece", "plinth")],
        "refused.malformed",
        "No root link",
    ),
    "two parents": (
        [*TWO, joint("turn", "plinth", "part"), joint("one", "plinth", "piece"), joint("other", "part", "piece")],
        "refused.malformed",
        "it is not called",
    ),
    "no links": ([], "refused.malformed", "No root link"),
    "no XML": (["<robot"], "refused.malformed", "Error in parsing model from URDF"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_are_in_its_words_and_silent(
    engine: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str], case: str
) -> None:
    """The loader says True of most, and leaves no links behind: that would end the process at the next call."""
    parts, kind, words = REFUSED[case]
    file = written(tmp_path, *parts)
    with pytest.raises(EngineRefused) as caught:
        engine.native(Given("urdf", str(file)), Tree("bare", (world(),)))
    assert caught.value.kind == kind
    assert words in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_refusal_names_its_joint(engine: Any, tmp_path: Path) -> None:
    """The joint that the engine's words name, on its line."""
    file = written(tmp_path, *TWO[:2], joint("glide", "plinth", "part", "planar"))
    with pytest.raises(EngineRefused) as caught:
        opened(engine, file)
    assert (caught.value.where, caught.value.source.line) == ("glide", 5)


def test_what_a_model_without_links_does_is_no_crash_of_ours(tmp_path: Path) -> None:
    """The same call without the adapter ends the process."""
    file = written(tmp_path, *TWO, joint("turn", "plinth", "part"))
    script = f"""
import idyntree.bindings as idt
loader = idt.ModelLoader()
assert loader.loadModelFromFile({str(file)!r}, "urdf")
engine = idt.KinDynComputations()
engine.loadRobotModel(loader.model())
engine.getFreeFloatingMassMatrix(idt.MatrixDynSize(6, 6))
"""
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=False).returncode < 0


def test_warnings_that_are_errors_do_not_end_the_process() -> None:
    """The import of the bindings crashes then, unless it is told to ignore its own."""
    for module, code in (("idyntree.bindings", False), ("tautology.adapters.idyntree_", True)):
        command = [sys.executable, "-W", "error::DeprecationWarning", "-c", f"import {module}"]
        assert (subprocess.run(command, capture_output=True, check=False).returncode == 0) is code


def test_unknown_links_are_left_out_and_said(engine: Any, tmp_path: Path) -> None:
    """The importer goes on after it has complained: its words are notes."""
    file = written(tmp_path, *TWO[:2], joint("turn", "plinth", "part"), joint("fold", "part", "nobody"))
    session = engine.native(Given("urdf", str(file)), Tree("bare", (world(),)))
    assert session.extra_dofs == ("turn",)
    assert any("attached to a link that does not exist" in note for note in session.notes)


def test_what_it_cannot_hold_is_said_before_it_is_called(engine: Any) -> None:
    """Planar joints, floating joints elsewhere, a robot beside the floating one, other formats, endless chains."""
    rng = np.random.default_rng(0)
    hinge = random_joint(rng, "hinge", JointKind.REVOLUTE)
    planar = Body("puck", 0, random_joint(rng, "glide", JointKind.PLANAR), random_inertia(rng))
    drifting = Body("drifting", 1, random_joint(rng, "drift", JointKind.FLOATING), random_inertia(rng))
    floating = Body("floating", 0, random_joint(rng, "float", JointKind.FLOATING), random_inertia(rng))
    first, beside = Body("first", 0, hinge, random_inertia(rng)), Body("other", 0, replace(hinge, name="elbow"))
    for bodies, words in (
        ((planar,), "'glide' is planar"),
        ((first, drifting), "'drift' is floating"),
        ((floating, beside), "beside the floating root 'floating'"),
    ):
        with pytest.raises(EngineUnsupported, match=words):
            engine.neutral(Tree("none", (world(), *bodies)))
    with pytest.raises(EngineUnsupported, match="no importer for mjcf"):
        engine.native(Given("mjcf", "robot.xml"), Tree("none", (world(),)))
    chain = [Body(f"b{i}", i, replace(hinge, name=f"j{i}"), random_inertia(rng)) for i in range(1001)]
    with pytest.raises(EngineUnsupported, match="1001 links in a row"):
        engine.neutral(Tree("long", (world(), *chain)))


def test_a_chain_of_the_longest_kind_answers(engine: Any) -> None:
    """At the limit that is named, M and tau are still those of the reference."""
    rng = np.random.default_rng(5)
    bodies = [Body(f"b{i}", i, random_joint(rng, f"j{i}", HELD[1 + i % 2]), random_inertia(rng)) for i in range(60)]
    weld = [Body(f"w{i}", 60 + i, random_joint(rng, f"f{i}", JointKind.FIXED)) for i in range(940)]
    tree = Tree("long", (world(), *bodies, *weld))
    states = sample(tree, 2)
    found = engine.neutral(tree).inverse_dynamics(states.q, states.v, states.a)
    wanted = Reference(tree).inverse_dynamics(states.q, states.v, states.a)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())


def test_a_wrench_on_a_missing_body_is_no_answer(engine: Any, tmp_path: Path) -> None:
    """The tree has a body that the file of the model has not."""
    file = written(tmp_path, *TWO[:2], joint("turn", "plinth", "part"))
    model = open_model(file)
    more = Body("more", 1, random_joint(np.random.default_rng(0), "more", JointKind.REVOLUTE))
    tree = replace(model.tree, bodies=(*model.tree.bodies, more), home=None)
    session = engine.native(model.given, tree)
    states = sample(tree, 2)
    assert session.dofs == ("turn",)
    with pytest.raises(EngineUnsupported, match="'more', which this model does not have"):
        session.inverse_dynamics(states.q, states.v, states.a, np.ones_like(states.wrenches))
    quiet = answers(session, states, loaded=False)
    wanted = expected(tree, session, states, loaded=False)
    np.testing.assert_allclose(quiet["mass_matrix"], wanted["mass_matrix"], rtol=0, atol=1e-12)
