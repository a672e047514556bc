"""MJX: every answer on random trees, what it makes of files, what it refuses, what it does to jax."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from against_reference import assert_agrees, drawn
from engines_at_hand import needs
from example_robots import EXAMPLE_ROBOTS

from tautology.harness import registry
from tautology.harness.engine import Given
from tautology.harness.errors import EngineRefused, EngineUnsupported
from tautology.harness.load import open_model
from tautology.harness.request import Request
from tautology.harness.run import check_files
from tautology.harness.states import sample
from tautology.harness.tree import Tree, world

if TYPE_CHECKING:
    from tautology.harness.results import EngineResult

pytestmark = needs("mjx")
MODELS = Path(__file__).resolve().parents[1] / "models"
MASS = '<inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.03 0.04 0.05"/>'
ARM = f'<body name="arm">{MASS}<joint name="one" axis="0 1 0" armature="0.3"/></body>'
LEG = f'<body name="leg" pos="1 0 0">{MASS}<joint name="two" axis="1 0 0"/></body>'
ENDS = '<joint joint="one" coef="1"/><joint joint="two" coef="-2"/>'
TENDON = f'<tendon><fixed name="cord" armature="0.4">{ENDS}</fixed></tendon>'


@pytest.fixture(scope="module")
def engine() -> Any:
    """Return MJX."""
    return registry.adapter("mjx")


def written(folder: Path, bodies: str, before: str = "", after: str = "") -> Path:
    """Write an MJCF, whose bodies stand on line 3."""
    file = folder / "robot.xml"
    file.write_text(f"<mujoco>\n{before}<worldbody>\n{bodies}\n</worldbody>{after}</mujoco>\n", encoding="utf-8")
    return file


def found(file: Path) -> EngineResult:
    """Return what a check says of MJX's own reading."""
    (model,) = check_files([str(file)], Request(["mjx"], "native", states=4, in_process=True)).models
    return next(row for row in model.engines if row.engine == "mjx")


@pytest.mark.parametrize("seed", range(6))
def test_neutral_path_agrees_with_the_reference_on_random_trees(engine: Any, seed: int) -> None:
    """Every joint kind anywhere, free roots, armature, tendons."""
    tree = drawn(seed, 8)
    session = engine.neutral(tree)
    assert session.dofs == tree.dofs
    assert_agrees(session, tree)


@pytest.mark.parametrize("file", [EXAMPLE_ROBOTS["ur_description/ur5_robot"], MODELS / "tau_walker.xml"], ids=str)
def test_robots_are_read_as_the_tree_has_them(engine: Any, file: Path) -> None:
    """A URDF and an MJCF of a walker: MuJoCo reads them, MJX answers."""
    model = open_model(file)
    session = engine.native(model.given, model.tree)
    assert session.dofs == model.tree.dofs
    assert_agrees(session, model.tree, 3)


def test_the_settings_of_jax_stay_as_they_are(engine: Any) -> None:
    """Double precision holds within the calls alone: an array of the user is single afterwards, as it was."""
    import jax  # noqa: PLC0415  no engine is needed to collect the tests

    assert not jax.config.jax_enable_x64
    tree = drawn(1, 2)
    M = engine.neutral(tree).mass_matrix(sample(tree, 2).q)
    assert M.dtype == np.float64
    assert not jax.config.jax_enable_x64
    assert jax.numpy.ones(1).dtype == np.float32


def test_stages_are_compiled_once_for_any_number_of_states(engine: Any) -> None:
    """One state and a hundred use the same compiled stages, and give the same bits."""
    tree = drawn(2, 3)
    session, states = engine.neutral(tree), sample(tree, 100)
    all_at_once = session.mass_matrix(states.q)
    stages = {name: stage._cache_size() for name, stage in session._calls._compiled.items()}
    np.testing.assert_array_equal(session.mass_matrix(states.q[70:71]), all_at_once[70:71])
    assert {name: stage._cache_size() for name, stage in session._calls._compiled.items()} == stages
    assert set(stages.values()) == {1}


def test_armature_of_an_actuator_is_in_no_call_and_found(tmp_path: Path) -> None:
    """MuJoCo adds it at the joint times gear^2; MJX leaves it out, without a word."""
    motor = '<actuator><motor joint="one" armature="0.5" gear="2"/></actuator>'
    row = found(written(tmp_path, ARM, after=motor))
    assert row.status == "differs"
    (wrong,) = [f for f in row.findings if f.severity == "model"]
    assert (wrong.kind, wrong.where, wrong.line) == ("rotor", "one", 4)
    assert wrong.expected == pytest.approx(2.3)
    assert wrong.found == pytest.approx(0.3)


def test_a_tendon_couples_joints_on_different_branches(tmp_path: Path) -> None:
    """M is dense here: MuJoCo's own has no place for that entry."""
    row = found(written(tmp_path, ARM + LEG, after=TENDON))
    assert row.status == "agree"
    (cord,) = [f for f in row.findings if f.kind == "armature.tendon"]
    assert (cord.where, cord.severity) == ("cord", "convention")


def test_advice_names_the_calls_of_mjx(tmp_path: Path) -> None:
    """Whoever uses MJX calls `mjx.rne`, no function of MuJoCo."""
    row = found(written(tmp_path, ARM + LEG, after=TENDON))
    advice = [f.fix for f in row.findings if f.kind.startswith("armature")]
    assert advice
    assert all("mj_rne" not in words for words in advice)
    assert any("mjx.rne" in words for words in advice)


@pytest.mark.parametrize("option", ['solver="PGS"', 'integrator="implicit"', 'cone="elliptic"'])
def test_what_mjx_does_not_implement_is_a_refusal(tmp_path: Path, option: str) -> None:
    """Options that MuJoCo has and MJX has not, in its words; the last only with contacts."""
    ground = '<geom type="plane" size="1 1 1" condim="1"/>'
    ball = ARM.replace("</body>", '<geom size="0.1" condim="1"/></body>')
    row = found(written(tmp_path, ground + ball, before=f"<option {option}/>"))
    assert row.status == "refused"
    assert row.message.startswith("MJX does not implement: ")
    assert [f.kind for f in row.findings] == ["refused.unsupported"]


def test_hostile_inputs_are_told_apart(engine: Any, tmp_path: Path) -> None:
    """No file, another format, nothing that moves, bodies without names."""
    with pytest.raises(EngineRefused):
        engine.native(Given("mjcf", str(tmp_path / "nowhere.xml")), Tree("none", (world(),)))
    with pytest.raises(EngineUnsupported):
        engine.native(Given("pinocchio", live=object()), Tree("none", (world(),)))
    assert found(written(tmp_path, f"<body>{MASS}</body>")).status == "unsupported"
    assert found(written(tmp_path, f"<body>{MASS}<joint/><body>{MASS}<joint/></body></body>")).status == "agree"
