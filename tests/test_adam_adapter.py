"""adam against the reference: random trees, real files, and what its reader makes of what a URDF leaves out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from against_reference import assert_agrees
from engines_at_hand import needs
from example_robots import EXAMPLE_ROBOTS
from random_trees import random_inertia, random_joint, random_transform, random_tree

from tautology.adapters.reference import Reference
from tautology.harness import registry
from tautology.harness.engine import Given
from tautology.harness.errors import EngineRefused, EngineUnsupported
from tautology.harness.load import open_model
from tautology.harness.request import Request
from tautology.harness.run import check_files
from tautology.harness.states import sample
from tautology.harness.tree import Body, Joint, JointKind, Tree, world

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs("adam")
HELD = [JointKind.FIXED, JointKind.REVOLUTE, JointKind.CONTINUOUS]
TENSOR = '<inertia ixx="0.0072" ixy="0.0004" ixz="-0.0007" iyy="0.0094" iyz="0.0005" izz="0.0113"/>'
PLACE = '<origin xyz="0.04 0.02 0.09" rpy="0.3 -0.4 0.2"/>'
PART = f'<inertial>{PLACE}<mass value="1.3"/>{TENSOR}</inertial>'
ORIGIN = '<origin xyz="0.1 -0.2 0.3" rpy="0.4 0.5 -0.6"/>'
AXIS = '<axis xyz="0 0.6 0.8"/>'
LIMIT = '<limit lower="-1" upper="1" effort="9" velocity="5"/>'


@pytest.fixture(scope="module")
def engine() -> Any:
    """Return the adapter."""
    return registry.adapter("adam")


def one_tree(seed: int, *, floating: bool, armature: bool = True) -> Tree:
    """Return a random tree that hangs on one body, of joints that adam has."""
    rng = np.random.default_rng(seed)
    while True:
        tree = random_tree(rng, 8, kinds=HELD, floating_root=floating, armature=armature, tendons=armature)
        if tree.nv > 6 * floating and (not floating or tree.parents.count(0) == 1):
            return tree


def link(name: str, inside: str = PART) -> str:
    """Return a link of a URDF."""
    return f'<link name="{name}">{inside}</link>\n'


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = ORIGIN + AXIS + LIMIT) -> str:
    """Return a joint of a URDF."""
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>\n'


def written(folder: Path, *parts: str) -> Path:
    """Write a URDF, whose parts begin on line 2."""
    file = folder / "robot.urdf"
    file.write_text('<robot name="made">\n' + "".join(parts) + "</robot>\n", encoding="utf-8")
    return file


def opened(engine: Any, file: Path, base: str = "auto") -> tuple[Any, Tree]:
    """Return the native session of a file, and its tree."""
    model = open_model(file, base)
    return engine.native(model.given, model.tree), model.tree


def found(file: Path, base: str = "auto") -> Any:
    """Return what a check says of adam's own reading."""
    (model,) = check_files([str(file)], Request(["adam"], "native", base, 4, in_process=True)).models
    return next(result for result in model.engines if result.engine == "adam")


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("seed", range(6))
def test_random_trees_agree(engine: Any, seed: int, floating: bool) -> None:
    """Every answer is that of the reference, with and without reflected inertia."""
    tree = one_tree(seed, floating=floating, armature=seed % 2 == 0)
    assert_agrees(engine.neutral(tree), tree)


def test_turned_sides_of_joints_agree(engine: Any) -> None:
    """Floating and revolute joints whose moving side is turned and displaced against the body."""
    rng = np.random.default_rng(4)
    sides = [random_transform(rng) for _ in range(3)]
    kinds = (JointKind.FLOATING, JointKind.REVOLUTE, JointKind.CONTINUOUS)
    joints = [
        replace(random_joint(rng, f"j{k}", kind), T_joint_body=T)
        for k, (kind, T) in enumerate(zip(kinds, sides, strict=True))
    ]
    bodies = [Body(f"b{k}", min(k, 1), joint, random_inertia(rng)) for k, joint in enumerate(joints)]
    tree = Tree("turned", (world(), *bodies))
    assert_agrees(engine.neutral(tree), tree)


def test_joints_and_inertials_that_stand_at_the_origin_are_written_with_it(engine: Any) -> None:
    """A URDF may leave them out, and our writer does; adam's reader raises then."""
    rng = np.random.default_rng(1)
    still = replace(random_inertia(rng), com=np.zeros(3))
    kinds = (JointKind.FIXED, JointKind.REVOLUTE, JointKind.CONTINUOUS)
    bodies = [Body(f"b{k}", k, Joint(f"j{k}", kind), still) for k, kind in enumerate(kinds)]
    tree = Tree("straight", (world(), *bodies))
    assert_agrees(engine.neutral(tree), tree)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_what_is_read_back_computes_the_same(engine: Any, floating: bool) -> None:
    """`describe` of a model that was written from a tree has its names and its dynamics."""
    tree = replace(one_tree(3, floating=floating, armature=False), tendons=())
    held = engine.neutral(tree).describe()
    # The order of the joints is adam's, the zero of their coordinates the tree's.
    assert {body.name for body in held.bodies} == {body.name for body in tree.bodies}
    states = sample(tree, 5)
    at = [tree.v_slices[tree.joint_index[joint.name]] for joint in held.joints if joint.nv]
    columns = np.concatenate([np.arange(s.start, s.stop) for s in at])
    q = np.concatenate([states.q[:, tree.q_slices[tree.joint_index[j.name]]] for j in held.joints if j.nv], axis=1)
    M = Reference(tree).mass_matrix(states.q)[:, columns[:, None], columns]
    np.testing.assert_allclose(Reference(held).mass_matrix(q), M, rtol=0, atol=1e-12)


@pytest.mark.parametrize("base", ["auto", "free"])
@pytest.mark.parametrize("name", ["solo_description/solo12", "ur_description/ur5_robot"])
def test_real_robots_agree(engine: Any, name: str, base: str) -> None:
    """Files of real robots, on their base and free."""
    session, tree = opened(engine, EXAMPLE_ROBOTS[name], base)
    assert session.dofs == tree.dofs
    assert not session.extra_dofs
    assert_agrees(session, tree, 3)


def test_a_stack_of_states_is_what_one_state_after_the_other_gives(engine: Any) -> None:
    """adam's calls take stacks: the same bits as a loop over its calls."""
    session, tree = opened(engine, EXAMPLE_ROBOTS["solo_description/solo12"])
    states = sample(tree, 5)
    frame = session._map.at(states.q, states.v)
    one = [session.model.mass_matrix(np.eye(4), q)[6:, 6:] for q in frame.q[:, 16:]]
    by_name = [session.model.rbdalgos.model.actuated_joints.index(dof) for dof in tree.dofs]
    np.testing.assert_array_equal(session.mass_matrix(states.q), np.array(one)[:, by_name][:, :, by_name])


def test_gravity_is_handed_over_and_the_default_is_said(engine: Any, tmp_path: Path) -> None:
    """Its own is 9.80665 in single precision; a session has that of the tree, or of a call."""
    from adam.numpy import KinDynComputations  # noqa: PLC0415  no engine is needed to collect the tests

    file = written(tmp_path, link("trunk"), link("leg"), joint("hip", "trunk", "leg"))
    assert KinDynComputations(str(file), ["hip"]).g[2] == -float(np.float32(9.80665))
    session, tree = opened(engine, file)
    (own,) = [f for f in session.findings if f.kind == "gravity.value"]
    assert (own.expected, own.found, own.severity) == (9.81, float(np.float32(9.80665)), "convention")
    q = sample(tree, 3).q
    for gravity in (None, np.array([1.0, -2.0, 3.0])):
        wanted = Reference(tree).bias(q, q * 0, gravity)
        np.testing.assert_allclose(session.bias(q, q * 0, gravity), wanted, rtol=0, atol=1e-12)
    np.testing.assert_allclose(session.gravity_forces(q), Reference(tree).gravity_forces(q), rtol=0, atol=1e-12)


def test_an_axis_is_taken_at_its_length(tmp_path: Path) -> None:
    """A file with the axis 0 0 2 is another robot, and the finding is at its line."""
    doubled = ORIGIN + '\n<axis xyz="0 0 2"/>' + LIMIT
    file = written(tmp_path, link("trunk"), link("leg"), joint("hip", "trunk", "leg", inside=doubled))
    result = found(file)
    assert result.status == "differs"
    (wrong,) = [f for f in result.findings if f.kind == "joint.axis"]
    assert (wrong.severity, wrong.where, wrong.line) == ("model", "hip", 5)
    assert (wrong.expected, wrong.found) == ([0.0, 0.0, 1.0], [0.0, 0.0, 2.0])


def test_an_axis_that_is_rounded_coarsely_is_found(tmp_path: Path) -> None:
    """Seven digits of a slanted axis are a length of 1 - 7e-8: poses depart by as much, and by nothing else."""
    coarse = ORIGIN + '<axis xyz="0.707106 0 0.7071075"/>' + LIMIT
    result = found(written(tmp_path, link("trunk"), link("leg"), joint("hip", "trunk", "leg", inside=coarse)))
    assert "joint.axis" in [f.kind for f in result.findings if f.severity == "model"]


BARE = '<inertial><mass value="1"/>' + TENSOR + "</inertial>"
TWO = [link("trunk"), link("leg")]
REFUSED = {
    "prismatic": (
        [*TWO, joint("slide", "trunk", "leg", "prismatic")],
        "refused.unsupported",
        "slide",
        "all the input array",
    ),
    "joint without origin": (
        [*TWO, joint("hip", "trunk", "leg", inside=AXIS + LIMIT)],
        "refused.unsupported",
        "hip",
        "has no attribute 'xyz'",
    ),
    "inertial without origin": (
        [link("trunk"), link("leg", BARE), joint("hip", "trunk", "leg")],
        "refused.unsupported",
        "leg",
        "has no attribute 'xyz'",
    ),
    "joint without axis": (
        [*TWO, joint("hip", "trunk", "leg", inside=ORIGIN + LIMIT)],
        "refused.unsupported",
        "hip",
        "not subscriptable",
    ),
    "planar": ([*TWO, joint("glide", "trunk", "leg", "planar")], "refused.unsupported", "glide", "NoneType"),
    "two roots": ([*TWO, link("more"), joint("hip", "trunk", "leg")], "refused.malformed", None, "only one root"),
    "no XML": (["<robot"], "refused.malformed", None, "ParseError"),
    "nothing that moves": (
        [*TWO, joint("weld", "trunk", "leg", "fixed")],
        "refused.unsupported",
        None,
        "out of bounds",
    ),
    "one link": ([link("trunk")], "refused.unsupported", None, "index out of range"),
    "no number": (
        [link("trunk"), link("leg", PART.replace("1.3", "heavy")), joint("hip", "trunk", "leg")],
        "refused.malformed",
        None,
        "could not convert string to float",
    ),
    "unknown type": ([*TWO, joint("bend", "trunk", "leg", "screw")], "refused.malformed", "bend", "screw"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_are_in_its_words_and_silent(
    engine: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str], case: str
) -> None:
    """What raises inside of adam is a refusal at the element that it is about, no traceback."""
    parts, kind, where, words = REFUSED[case]
    file = written(tmp_path, *parts)
    with pytest.raises(EngineRefused) as caught:
        engine.native(Given("urdf", str(file)), Tree("bare", (world(),)))
    assert caught.value.kind == kind
    assert words in str(caught.value)
    if where is not None:
        line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if f'name="{where}"' in text)
        assert (caught.value.where, caught.value.source.line) == (where, line)
    assert capfd.readouterr() == ("", "")


def test_what_it_cannot_hold_is_said_before_it_is_called(engine: Any) -> None:
    """Joints that adam has not, a robot beside the floating one, other formats, endless chains."""
    rng = np.random.default_rng(0)
    hinge = random_joint(rng, "hinge", JointKind.REVOLUTE)
    for kind in (JointKind.PRISMATIC, JointKind.BALL, JointKind.PLANAR):
        body = Body("body", 0, random_joint(rng, "odd", kind), random_inertia(rng))
        with pytest.raises(EngineUnsupported, match=f"'odd' is {kind.value}"):
            engine.neutral(Tree("none", (world(), body)))
    floating = Body("floating", 0, random_joint(rng, "float", JointKind.FLOATING), random_inertia(rng))
    with pytest.raises(EngineUnsupported, match="beside the floating root 'floating'"):
        engine.neutral(Tree("none", (world(), floating, Body("other", 0, hinge))))
    with pytest.raises(EngineUnsupported, match="no joint that turns"):
        engine.neutral(Tree("none", (world(), floating)))
    with pytest.raises(EngineUnsupported, match="no importer for mjcf"):
        engine.native(Given("mjcf", "robot.xml"), Tree("none", (world(),)))
    chain = [Body(f"b{i}", i, replace(hinge, name=f"j{i}"), random_inertia(rng)) for i in range(301)]
    with pytest.raises(EngineUnsupported, match="301 links in a row"):
        engine.neutral(Tree("long", (world(), *chain)))


def test_a_chain_of_the_longest_kind_answers(engine: Any) -> None:
    """At the limit that is named, tau is still that of the reference."""
    rng = np.random.default_rng(5)
    bodies = [Body(f"b{i}", i, random_joint(rng, f"j{i}", HELD[1]), random_inertia(rng)) for i in range(20)]
    weld = [Body(f"w{i}", 20 + i, random_joint(rng, f"f{i}", JointKind.FIXED), random_inertia(rng)) for i in range(280)]
    tree = Tree("long", (world(), *bodies, *weld))
    states = sample(tree, 1)
    tau = engine.neutral(tree).inverse_dynamics(states.q, states.v, states.a)
    wanted = Reference(tree).inverse_dynamics(states.q, states.v, states.a)
    np.testing.assert_allclose(tau, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())


def test_unknown_elements_are_one_note(engine: Any, tmp_path: Path) -> None:
    """The reader complains of each; the session says once which tags they are."""
    contact = "<contact><lateral_friction value='1'/></contact>"
    parts = [link("trunk", PART + contact), link("leg", PART + contact), joint("hip", "trunk", "leg")]
    session, _ = opened(engine, written(tmp_path, *parts))
    assert session.notes == ("adam said that it does not know contact",)


def test_a_robot_without_mass_answers_without_warnings(engine: Any, tmp_path: Path) -> None:
    """`mass_matrix` divides by the total mass on its way; warnings are errors here."""
    session, tree = opened(engine, written(tmp_path, link("trunk", ""), link("leg", ""), joint("hip", "trunk", "leg")))
    q = sample(tree, 2).q
    assert not session.notes
    assert not session.mass_matrix(q).any()
    assert not session.potential_energy(q).any()
