"""Newton, in single precision: every answer on random trees, what it makes of files, what it refuses."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from against_reference import answers, drawn, expected
from engines_at_hand import needs
from example_robots import EXAMPLE_ROBOTS

from tautology.harness import registry
from tautology.harness.bench import Bench
from tautology.harness.checks.tolerances import alike
from tautology.harness.engine import Given
from tautology.harness.errors import EngineRefused, EngineUnsupported
from tautology.harness.load import open_model
from tautology.harness.request import Request
from tautology.harness.run import check_files
from tautology.harness.states import sample
from tautology.harness.tree import Tree, world

if TYPE_CHECKING:
    from tautology.harness.results import EngineResult

pytestmark = needs("newton")
EPS = float(np.finfo(np.float32).eps)
MODELS = Path(__file__).resolve().parents[1] / "models"
MASS = '<inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.03 0.04 0.05"/>'
TENSOR = '<inertia ixx="0.03" iyy="0.04" izz="0.05" ixy="0" ixz="0" iyz="0"/>'
PART = f'<inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>{TENSOR}</inertial>'
LIMIT = '<limit lower="-1" upper="1" effort="9" velocity="5"/>'
BOX = '<collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision>'


@pytest.fixture(scope="module")
def engine() -> Any:
    """Return Newton."""
    return registry.adapter("newton")


def mjcf(folder: Path, bodies: str, before: str = "") -> Path:
    """Write an MJCF, whose bodies stand on line 3."""
    file = folder / "robot.xml"
    file.write_text(f"<mujoco>\n{before}<worldbody>\n{bodies}\n</worldbody></mujoco>\n", encoding="utf-8")
    return file


def urdf(folder: Path, *links: str, kind: str = "revolute", inside: str = "") -> Path:
    """Write a URDF of links in a row, named a, b, c, with joints ab, bc."""
    names = "abc"[: len(links)]
    parts = [f'<link name="{n}">{own}</link>' for n, own in zip(names, links, strict=True)]
    for p, c in pairwise(names):
        ends = f'<parent link="{p}"/><child link="{c}"/><origin xyz="0.1 0.2 0.3" rpy="0.1 0 0"/><axis xyz="0 0 1"/>'
        parts.append(f'<joint name="{p}{c}" type="{kind}">{ends}{LIMIT}{inside if c == names[-1] else ""}</joint>')
    file = folder / "robot.urdf"
    file.write_text('<robot name="made">\n' + "\n".join(parts) + "\n</robot>\n", encoding="utf-8")
    return file


def found(file: Path, tolerance: float = 1e-9, states: int = 4) -> EngineResult:
    """Return what a check says of Newton's own reading."""
    asked = Request(["newton"], "native", states=states, tolerance=tolerance, in_process=True)
    (model,) = check_files([str(file)], asked).models
    return next(row for row in model.engines if row.engine == "newton")


def wrong(row: EngineResult) -> dict[str, str | None]:
    """Return kind to place of all that makes another robot of it."""
    return {f.kind: f.where for f in row.findings if f.severity == "model"}


def assert_close(session: Any, tree: Tree) -> None:
    """Hold every answer against the reference, to rounding of single precision."""
    states = sample(tree, 6, seed=1)
    states = replace(states, wrenches=tree.fusion.fold(states.wrenches))
    asked, wanted = answers(session, states), expected(tree, session, states)
    for name, value in asked.items():
        bound = 100 * EPS * max(1.0, float(np.abs(wanted[name]).max(initial=0)))
        np.testing.assert_allclose(value, wanted[name], rtol=0, atol=bound, err_msg=name)


@pytest.mark.parametrize("seed", range(8))
def test_neutral_path_agrees_with_the_reference_on_random_trees(engine: Any, seed: int) -> None:
    """Every joint kind anywhere, free roots, armature, tendons: to rounding of single precision."""
    tree = drawn(seed, 12)
    session = engine.neutral(tree)
    assert session.dofs == tree.dofs
    assert_close(session, tree)


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("name", ["ur_description/ur5_robot", "solo_description/solo12"])
def test_real_robots_are_read_as_the_tree_has_them(engine: Any, name: str, base: str) -> None:
    """URDFs of an arm and a quadruped, on their base and free."""
    model = open_model(EXAMPLE_ROBOTS[name], base)
    session = engine.native(model.given, model.tree)
    assert (session.dofs, session.extra_dofs) == (model.tree.dofs, ())
    assert_close(session, model.tree)


@pytest.mark.parametrize("name", ["branched_tree.xml", "tau_walker.xml"])
def test_bundled_mjcf_models_are_read_as_the_tree_has_them(engine: Any, name: str) -> None:
    """A branched robot, and a walker on a free joint."""
    model = open_model(MODELS / name)
    session = engine.native(model.given, model.tree)
    assert session.dofs == model.tree.dofs
    assert_close(session, model.tree)


def test_joints_on_one_body_all_stand_where_the_first_stands(tmp_path: Path) -> None:
    """One D6 joint has one place: `pos` of the second is lost."""
    joints = '<joint name="one" axis="0 0 1" pos="0.3 0 0"/><joint name="two" axis="0 1 0" pos="0 0.4 0"/>'
    row = found(mjcf(tmp_path, f'<body name="arm" pos="0.1 0.2 0.3">{MASS}{joints}</body>'))
    assert row.status == "differs"
    assert wrong(row) == {"joint.placement": "two"}


def test_a_planar_joint_of_a_urdf_loses_its_rotation(tmp_path: Path) -> None:
    """Two dofs of the plane are left of three."""
    row = found(urdf(tmp_path, PART, PART, kind="planar"))
    assert row.status == "differs"
    assert wrong(row) == {"joint.type": "ab", "joint.missing": "ab", "joint.extra": "ab.1"}


def test_a_link_without_inertial_gets_the_mass_of_its_shapes(tmp_path: Path) -> None:
    """A collision box of 0.006 m^3 weighs 6 kg."""
    row = found(urdf(tmp_path, PART, BOX))
    assert row.status == "differs"
    (mass,) = [f for f in row.findings if f.severity == "model"]
    assert (mass.kind, mass.where) == ("mass.default", "b")
    assert mass.found == pytest.approx(6, rel=1e-6)


@pytest.mark.parametrize(
    "tensor", ['mass="1e-9" diaginertia="3.3e-13 3.3e-13 6.1e-13"', 'mass="1e-6" diaginertia="1e-12 1e-12 1e-12"']
)
def test_a_tensor_next_to_nothing_is_raised_and_no_other_unit(tmp_path: Path, tensor: str) -> None:
    """Eigenvalues become 1e-6 kg m^2 at least: nothing is left unexplained, and nobody is told of millimetres."""
    tip = f'<body name="tip"><inertial pos="0 0 0" {tensor}/><joint/></body>'
    row = found(mjcf(tmp_path, f'<body name="arm">{MASS}<joint axis="0 1 0"/>{tip}</body>'))
    assert wrong(row) == {"inertia.value": "tip"}
    assert "Newton says of 64 copies of the robot: Inertia validation corrected 64 bodies" in row.message


def test_gravity_is_that_of_the_earth_unless_a_flag_disables_it(tmp_path: Path) -> None:
    """`gravity` of `<option>` is not read, `<flag gravity>` is."""
    arm = f'<body name="arm">{MASS}<joint/></body>'
    assert wrong(found(mjcf(tmp_path, arm, '<option gravity="0 0 -2"/>'))) == {"gravity.value": None}
    assert found(mjcf(tmp_path, arm, '<option><flag gravity="disable"/></option>')).status == "agree"


def test_a_hinge_before_a_slide_comes_after_it(tmp_path: Path) -> None:
    """Newton has the slides of a body first: that is another robot, and it is told to rounding."""
    joints = '<joint name="turn" axis="0 1 0"/><joint name="slide" type="slide" axis="1 0 0"/>'
    row = found(
        mjcf(tmp_path, f'<body name="arm" pos="0 0 0.1">{MASS}{joints}</body>'), states=8
    )  # some under wrenches
    told = {(f.kind, f.where) for f in row.findings if f.severity == "model"}
    assert {("joint.placement", "turn"), ("joint.placement", "slide")} < told
    assert "unexplained" not in {kind for kind, _ in told}


def test_bodies_without_names_are_matched_by_their_place(tmp_path: Path) -> None:
    """Two trees, one of two bodies, one with two joints in a row: every dof has its joint."""
    first = f'<body pos="0.1 0 0">{MASS}<joint/><body pos="0 0 0.4">{MASS}<joint axis="0 1 0"/></body></body>'
    second = f'<body pos="1 0 0">{MASS}<joint type="slide"/><joint axis="0 1 0"/></body>'
    row = found(mjcf(tmp_path, first + second))
    assert (row.status, len(row.dofs)) == ("agree", 4)
    assert row.bodies[-1] == "body3"


@pytest.mark.parametrize("missing", [True, False])
def test_meshes_of_an_mjcf_that_are_not_there_are_said(engine: Any, tmp_path: Path, missing: bool) -> None:
    """Masses may come of them: what is left out is in the notes, where there is something to leave out."""
    asset, shape = '<asset><mesh name="m" file="gone.stl"/></asset>', '<geom type="mesh" mesh="m"/>'
    arm = f'<body name="arm">{MASS}<joint name="j"/>{shape if missing else ""}</body>'
    tree = open_model(mjcf(tmp_path, arm.replace(shape, ""))).tree
    file = mjcf(tmp_path, arm, asset if missing else "")
    session = engine.native(Given("mjcf", str(file)), tree)
    assert any("gone.stl`; meshes, and the masses" in note for note in session.notes) == missing
    assert_close(session, tree)


def test_refusals_are_in_its_words(tmp_path: Path) -> None:
    """An upper-case solver of MuJoCo, and a joint that mimics a fixed one."""
    row = found(mjcf(tmp_path, f'<body name="arm">{MASS}<joint/></body>', '<option solver="PGS"/>'))
    assert (row.status, row.message) == ("refused", "invalid literal for int() with base 10: 'pgs'")
    file = urdf(tmp_path, PART, PART, PART, inside='<mimic joint="ab"/>')
    file.write_text(file.read_text().replace('name="ab" type="revolute"', 'name="ab" type="fixed"'))
    row = found(file)
    assert row.status == "refused"
    assert "Mimic followers and references only support" in row.message


def test_hostile_inputs_are_told_apart(engine: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """No file, no XML, another format, nothing that moves: results, and no noise."""
    bare = Tree("none", (world(),))
    broken = tmp_path / "broken.xml"
    broken.write_text("<mujoco")
    for given in (Given("mjcf", str(tmp_path / "nowhere.xml")), Given("mjcf", str(broken))):
        with pytest.raises(EngineRefused):
            engine.native(given, bare)
    with pytest.raises(EngineUnsupported, match="no importer for pinocchio"):
        engine.native(Given("pinocchio", live=object()), bare)
    with pytest.raises(EngineUnsupported, match="no joint that moves"):
        engine.neutral(bare)
    file = urdf(tmp_path, PART, PART, kind="fixed")
    with pytest.raises(EngineUnsupported, match="no joint of 'made' that moves"):
        engine.native(Given("urdf", str(file)), open_model(file).tree)
    assert capfd.readouterr() == ("", "")


def test_its_answers_are_judged_to_single_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answers are right to 100 times 1.2e-7 of their scales, and wrong to 1e-9 or 100 times 2.2e-16."""
    file = EXAMPLE_ROBOTS["ur_description/ur5_robot"]
    tree = open_model(file).tree
    assert registry.card_of("newton").eps == EPS
    assert found(file).status == "agree"
    monkeypatch.setattr(Bench, "eps", 2.0**-52)
    assert found(file).status == "differs"
    assert alike(1e-9, tree, EPS) == 100 * EPS
    assert alike(1e-2, tree, EPS) == 1e-2
    assert alike(1e-9, tree, 2.0**-52) == 1e-9


def test_progress_says_that_it_compiles(tmp_path: Path) -> None:
    """The first model waits for the kernels: the line says so."""
    said: list[str] = []
    file = mjcf(tmp_path, f'<body name="arm">{MASS}<joint/></body>')
    check_files(
        [str(file)], Request(["newton"], "native", states=1, in_process=True, progress=lambda w, _: said.append(w))
    )
    assert "newton compiles its kernels once, 20 s" in said
