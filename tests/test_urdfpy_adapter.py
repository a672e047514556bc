"""urchin, the maintained urdfpy, and yourdfpy: where links are, what was read, what is lacking and refused."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from engines_at_hand import needs
from example_robots import EXAMPLE_ROBOTS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_trees import random_inertia, random_joint, random_tree

from tautology.adapters.reference import Reference
from tautology.harness import registry
from tautology.harness.engine import Given
from tautology.harness.errors import EngineRefused, EngineUnsupported, ShapeError
from tautology.harness.load import open_model
from tautology.harness.request import Request
from tautology.harness.run import check_files
from tautology.harness.states import sample
from tautology.harness.tree import Body, JointKind, Tree, world

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BOTH = pytest.mark.parametrize(
    "name", [pytest.param("urdfpy", marks=needs("urdfpy")), pytest.param("yourdfpy", marks=needs("yourdfpy"))]
)
SEEDS = st.integers(0, 2**32 - 1)
SOME = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
KINDS = [JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.FIXED]
ORIGIN = '<origin xyz="0.1 0.02 0.03" rpy="0.3 0.2 0.1"/>'
INERTIAL = (
    f'<inertial>{ORIGIN}<mass value="1.5"/>'
    '<inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.025" iyz="0.003" izz="0.03"/></inertial>'
)
LIMIT = '<limit lower="-1" upper="1" effort="9" velocity="9"/>'


def link(name: str, inside: str = INERTIAL) -> str:
    """Return a link on a line of its own."""
    return f'<link name="{name}">{inside}</link>\n'


def joint(name: str, above: str, below: str, kind: str = "revolute", inside: str = "", axis: str = "0 0.6 0.8") -> str:
    """Return a joint on a line of its own."""
    ends = f'<parent link="{above}"/><child link="{below}"/>{ORIGIN}<axis xyz="{axis}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{LIMIT}{inside}</joint>\n'


def robot(folder: Path, *elements: str) -> Path:
    """Return a file of these elements, the first one on line 2."""
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="small">\n{"".join(elements)}</robot>\n', encoding="utf-8")
    return path


def native(name: str, path: Path) -> tuple[Any, Tree]:
    """Return the session of a file, and our tree of it."""
    model = open_model(path, "auto")
    return registry.adapter(name).native(model.given, model.tree), model.tree


def row_of(name: str, path: Path) -> Mapping[str, Any]:
    """Return what `check` says of the native path."""
    (model,) = check_files([str(path)], Request([name], "native", "auto", 12, in_process=True)).to_json()["models"]
    return next(row for row in model["engines"] if row["engine"] == name)


def assert_placed(session: Any, tree: Tree) -> None:
    """Hold all poses against the reference."""
    q = sample(tree, 6, seed=1).q
    found, wanted = session.poses(q), Reference(tree, np.longdouble).poses(q).astype(float)
    at = [tree.index[body] - 1 for body in session.bodies]
    bound = 1e-13 * max(1.0, float(np.abs(wanted).max(initial=0)))
    np.testing.assert_allclose(found, wanted[:, at], rtol=0, atol=bound)


@BOTH
@SOME
@given(seed=SEEDS)
def test_neutral_path_places_the_links_of_random_trees(name: str, seed: int) -> None:
    """Anchors, reference positions and several mechanisms are where the reference has them."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, int(rng.integers(1, 15)), kinds=KINDS, armature=True, tendons=True)
    session = registry.adapter(name).neutral(tree)
    assert session.dofs == tree.dofs
    assert session.bodies == tuple(body.name for body in tree.bodies[1:])
    assert_placed(session, tree)


@needs("urdfpy")
def test_floating_joints_take_a_pose_in_urchin() -> None:
    """At the root and below it."""
    rng = np.random.default_rng(4)
    tree = random_tree(rng, 6, kinds=[*KINDS, JointKind.FLOATING], floating_root=True)
    assert_placed(registry.adapter("urdfpy").neutral(tree), tree)


@needs("yourdfpy")
def test_what_yourdfpy_answers_does_not_depend_on_the_state_before(tmp_path: Path) -> None:
    """trimesh keeps the pose of a joint that moves by less than 1e-8: half turns to either side are 2e-9 apart here."""
    session, _ = native("yourdfpy", robot(tmp_path, link("base"), link("arm"), joint("turn", "base", "arm")))
    nothing, one, other = [0.0], [np.pi - 1e-9], [1e-9 - np.pi]
    alone = session.poses(np.array([nothing, other]))[1]
    np.testing.assert_array_equal(session.poses(np.array([nothing, one, other]))[2], alone)


@BOTH
@pytest.mark.parametrize("kind", [JointKind.BALL, JointKind.PLANAR])
def test_joints_without_a_place_are_unsupported(name: str, kind: JointKind) -> None:
    """The sentence names the joint."""
    rng = np.random.default_rng(2)
    tree = Tree("odd", (world(), Body("link", 0, random_joint(rng, "odd", kind), random_inertia(rng))))
    with pytest.raises(EngineUnsupported, match="joint 'odd' is"):
        registry.adapter(name).neutral(tree)


@needs("yourdfpy")
def test_yourdfpy_floats_nothing() -> None:
    """Neither a base nor a link below one."""
    rng = np.random.default_rng(2)
    floating = random_joint(rng, "free", JointKind.FLOATING)
    with pytest.raises(EngineUnsupported, match="the base of 'drone' floats"):
        registry.adapter("yourdfpy").neutral(Tree("drone", (world(), Body("link", 0, floating, random_inertia(rng)))))


@BOTH
def test_all_dynamics_is_lacking_with_one_reason(name: str, tmp_path: Path) -> None:
    """A call says so, too; a state of another robot is an error."""
    session, tree = native(name, robot(tmp_path, link("base"), link("arm"), joint("turn", "base", "arm")))
    states = sample(tree, 3)
    assert len(set(session.lacks.values())) == 1
    for call in ("mass_matrix", "gravity_forces", "center_of_mass"):
        with pytest.raises(EngineUnsupported, match="computes no dynamics"):
            getattr(session, call)(states.q)
    with pytest.raises(ShapeError, match="expected"):
        session.poses(np.zeros((2, 5)))
    assert session.poses(np.zeros((0, 1))).shape == (0, 2, 4, 4)


@BOTH
@pytest.mark.parametrize("model", ["ur_description/ur5_robot", "panda_description/panda", "talos_data/talos_reduced"])
def test_real_robots_are_read_as_we_read_them(name: str, model: str) -> None:
    """Numbers and poses; no mesh is opened."""
    session, tree = native(name, EXAMPLE_ROBOTS[model])
    assert_placed(session, tree)
    held = session.describe()
    for body in tree.bodies[1:]:
        there = held.bodies[held.index[body.name]]
        assert there.joint.kind is body.joint.kind
        if "inertial" in body.sources:
            assert there.inertia.mass == body.inertia.mass
            np.testing.assert_allclose(there.inertia.I_com, body.inertia.I_com, rtol=1e-12, atol=1e-14)


@needs("urdfpy")
def test_urchin_gives_a_link_without_inertial_one_kilogram(tmp_path: Path) -> None:
    """Found at the link; yourdfpy gives none."""
    path = robot(tmp_path, link("base"), link("arm", ""), joint("turn", "base", "arm"))
    found = {f["kind"]: f for f in row_of("urdfpy", path)["findings"]}
    assert (found["mass.default"]["where"], found["mass.default"]["line"]) == ("arm", 3)
    assert row_of("urdfpy", path)["status"] == "differs"
    assert "unexplained" not in found


@needs("yourdfpy")
def test_yourdfpy_gives_a_link_without_inertial_none(tmp_path: Path) -> None:
    """The file agrees."""
    row = row_of("yourdfpy", robot(tmp_path, link("base"), link("arm", ""), joint("turn", "base", "arm")))
    assert row["status"] == "agree"


@needs("yourdfpy")
def test_yourdfpy_slides_as_far_as_the_axis_is_long(tmp_path: Path) -> None:
    """A turn is normalised, a slide is not: found at the axis."""
    path = robot(tmp_path, link("base"), link("arm"), joint("slide", "base", "arm", "prismatic", axis="0 0 2"))
    session, tree = native("yourdfpy", path)
    q = np.array([[0.5]])
    shift = session.poses(q)[0, 1, :3, 3] - session.poses(q * 0)[0, 1, :3, 3]
    assert np.linalg.norm(shift) == pytest.approx(1.0)
    found = {f["kind"]: f for f in row_of("yourdfpy", path)["findings"]}
    assert (found["joint.axis"]["where"], found["joint.axis"]["line"]) == ("slide", 4)
    assert "unexplained" not in found
    turned = robot(tmp_path, link("base"), link("arm"), joint("turn", "base", "arm", axis="0 0 2"))
    assert_placed(*native("yourdfpy", turned))
    assert tree.nv == 1


@needs("urdfpy")
def test_urchin_normalises_axes(tmp_path: Path) -> None:
    """A slide goes as far as its coordinate says."""
    path = robot(tmp_path, link("base"), link("arm"), joint("slide", "base", "arm", "prismatic", axis="0 0 2"))
    assert_placed(*native("urdfpy", path))


@BOTH
def test_a_follower_moves_by_itself(name: str, tmp_path: Path) -> None:
    """Both place it by its leader; the adapter takes that out, says so, and reads the relation back."""
    follower = joint("follow", "arm", "tip", inside='<mimic joint="turn" multiplier="-2" offset="0.1"/>')
    path = robot(tmp_path, link("base"), link("arm"), link("tip"), joint("turn", "base", "arm"), follower)
    session, tree = native(name, path)
    assert session.dofs == ("turn", "follow")
    assert_placed(session, tree)
    (closure,) = session.describe().closures
    assert (closure.between, closure.numbers) == (("follow", "turn"), (0.1, -2.0))
    (found,) = (f for f in row_of(name, path)["findings"] if f["kind"] == "joint.mimic")
    assert (found["where"], found["severity"]) == ("follow", "convention")
    assert row_of(name, path)["status"] == "agree"


@needs("yourdfpy")
def test_floating_joints_of_a_file_are_fixed_in_yourdfpy(tmp_path: Path) -> None:
    """Found as another joint, and nothing stays unexplained."""
    path = robot(
        tmp_path,
        link("base"),
        link("arm"),
        link("tip"),
        joint("turn", "base", "arm"),
        joint("drift", "arm", "tip", "floating"),
    )
    session, _ = native("yourdfpy", path)
    assert session.dofs == ("turn",)
    found = {f["kind"]: f for f in row_of("yourdfpy", path)["findings"]}
    assert found["joint.type"]["where"] == "drift"
    assert "unexplained" not in found


@BOTH
def test_meshes_are_not_needed(name: str, tmp_path: Path) -> None:
    """Neither reader opens one that is nowhere."""
    shape = '<visual><geometry><mesh filename="package://no/where.stl"/></geometry></visual>'
    path = robot(tmp_path, link("base"), link("arm", INERTIAL + shape), joint("turn", "base", "arm"))
    session, tree = native(name, path)
    assert_placed(session, tree)
    assert session.notes == ()


@BOTH
def test_textures_that_are_nowhere_go_with_their_meshes(name: str, tmp_path: Path) -> None:
    """urchin opens them: the shape is taken out, and a note says why."""
    mesh = '<geometry><mesh filename="where.stl"/></geometry>'
    shape = f'<visual>{mesh}<material name="skin"><texture filename="no/where.png"/></material></visual>'
    path = robot(tmp_path, link("base"), link("arm", INERTIAL + shape), joint("turn", "base", "arm"))
    session, tree = native(name, path)
    assert_placed(session, tree)
    assert any("1 shape was taken out" in note for note in session.notes) == (name == "urdfpy")


@BOTH
def test_other_formats_and_a_free_base_are_unsupported(name: str, tmp_path: Path) -> None:
    """Links are placed in their base link."""
    path, bare = robot(tmp_path, link("base")), Tree("bare", (world(),))
    with pytest.raises(EngineUnsupported, match="no importer for mjcf"):
        registry.adapter(name).native(Given("mjcf", str(path)), bare)
    with pytest.raises(EngineUnsupported, match="the base cannot float"):
        registry.adapter(name).native(Given("urdf", str(path), freed=True), bare)


@needs("urdfpy")
def test_a_joint_that_urchin_does_not_know_is_refused_in_its_words(tmp_path: Path) -> None:
    """The finding names the kind."""
    path = robot(tmp_path, link("base"), link("arm"), joint("turn", "base", "arm", "spherical"))
    with pytest.raises(EngineRefused, match="Unsupported joint type spherical") as refusal:
        native("urdfpy", path)
    assert refusal.value.kind == "refused.unsupported"


@BOTH
@pytest.mark.parametrize("text", ["", "<robot", "no robot", "<robot name='a'><link/></robot>"])
def test_what_is_no_robot_ends_in_an_error_of_ours(name: str, text: str, tmp_path: Path) -> None:
    """Whatever the reader raises."""
    path = tmp_path / "odd.urdf"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(EngineRefused, match=re.escape(str(path))):
        registry.adapter(name).native(Given("urdf", str(path)), Tree("bare", (world(),)))


@BOTH
def test_nothing_is_written_to_the_terminal(name: str, tmp_path: Path) -> None:
    """Neither logging nor warnings, also of a file that is cut off."""
    path = robot(tmp_path, link("base"), link("arm"), joint("turn", "base", "arm"))
    cut = tmp_path / "cut.urdf"
    cut.write_text(path.read_text(encoding="utf-8")[:-60], encoding="utf-8")
    code = (
        "import sys; from tautology.harness import registry; from tautology.harness.load import open_model\n"
        "from tautology.harness.engine import Given; from tautology.harness.errors import EngineRefused\n"
        "model = open_model(sys.argv[1], 'auto')\n"
        "engine = registry.adapter(sys.argv[2])\n"
        "engine.native(model.given, model.tree).poses(model.tree.neutral[None])\n"
        "try: engine.native(Given('urdf', sys.argv[3]), model.tree)\n"
        "except EngineRefused: pass\n"
    )
    command = [sys.executable, "-c", code, str(path), name, str(cut)]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120)
    assert (done.stdout, done.stderr) == (b"", b"")
