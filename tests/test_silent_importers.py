"""What importers pass over without a word, place elsewhere or refuse without naming it: said, with place and line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tautology.harness.engine import Given
from tautology.harness.errors import EngineRefused
from tautology.harness.load import open_model
from tautology.harness.registry import adapter
from tautology.harness.run import check
from tautology.harness.tree import Tree, world

if TYPE_CHECKING:
    from pathlib import Path

ARM = """<mujoco>
  <compiler angle="radian" {compiler}/>
  {option}
  <worldbody>
    <body name="arm" pos=".1 -.1 .4" quat=".8 .3 -.1 .5">
      <joint name="lift" axis="0 .6 .8"/>
      {inertial}
    </body>
  </worldbody>
</mujoco>"""
INERTIAL = '<inertial pos=".04 .03 .09" mass="1.3" fullinertia=".0073 .0095 .0116 .0005 -.0006 .0004"/>'
SHAPES = """<geom size=".05" pos=".03 -.02 .06" density="700"/>
      <geom type="box" size=".06 .04 .02" pos="-.05 .08 .1" group="2"/>"""
URDF = """<robot name="geared" xmlns:drake="http://drake.mit.edu">
  <link name="plinth"/>
  <link name="drum">
    <inertial><origin xyz=".02 -.05 .06"/><mass value="1.9"/>
      <inertia ixx=".012" ixy=".0011" ixz="-.0009" iyy=".0165" iyz=".0007" izz=".0208"/></inertial>
    {shape}
  </link>
  <joint name="winch" type="continuous"><parent link="plinth"/><child link="drum"/><axis xyz="0 .6 .8"/></joint>
  {transmission}
</robot>"""
GEARBOX = """<transmission name="box"><actuator name="motor"><mechanicalReduction>60</mechanicalReduction>{}
  </actuator></transmission>"""
ROTOR = "\n    <drake:rotor_inertia value='.0002'/>"


def findings(folder: Path, text: str, engine: str, suffix: str = "xml") -> list:
    """Return what the native path of one engine says of a file."""
    path = folder / f"model.{suffix}"
    path.write_text(text, encoding="utf-8")
    return list(check(path, engines=[engine], path="native", states=12).models[0].engines[-1].findings)


def arm(compiler: str = "", option: str = "", inertial: str = INERTIAL) -> str:
    """Return an MJCF of one hinge."""
    return ARM.format(compiler=compiler, option=option, inertial=inertial)


@pytest.mark.parametrize(
    ("text", "where", "line", "beside"),
    [
        (arm(option='<option gravity="0 0 -1.62"/>'), "option@gravity", 3, "gravity.value"),
        (arm(option='<option><flag gravity="disable"/></option>'), "option/flag@gravity", 3, "gravity.value"),
        (arm('settotalmass="7"'), "compiler@settotalmass", 2, "mass"),
        (arm('inertiagrouprange="0 1"', inertial=SHAPES), "compiler@inertiagrouprange", 2, "com"),
        (
            arm('balanceinertia="true"', inertial=INERTIAL.replace(".0116", ".0316")),
            "compiler@balanceinertia",
            2,
            "inertia.value",
        ),
    ],
    ids=["gravity", "no-gravity", "total", "groups", "balance"],
)
def test_what_pinocchio_passes_over_is_said_beside_its_effect(
    tmp_path: Path, text: str, where: str, line: int, beside: str
) -> None:
    """The element with its line, and the difference that it makes."""
    told = {(f.kind, f.where): f for f in findings(tmp_path, text, "pinocchio")}
    ignored = told["feature.ignored", where]
    assert (ignored.line, ignored.severity) == (line, "model")
    assert beside in {kind for kind, _ in told}


@pytest.mark.parametrize(
    "text",
    [
        arm(option='<option gravity="0 0 -9.81"/>'),
        arm('balanceinertia="true"'),
        arm('settotalmass="1.3"'),
        arm('inertiagrouprange="0 1"'),
    ],
    ids=["gravity", "balance", "total", "groups"],
)
def test_what_is_passed_over_without_effect_is_no_finding(tmp_path: Path, text: str) -> None:
    """A switch that changes nothing here is nobody's fault."""
    assert "feature.ignored" not in {f.kind for f in findings(tmp_path, text, "pinocchio")}


def test_an_element_answers_for_no_difference_but_its_own(tmp_path: Path) -> None:
    """Gravity is ignored with effect here, balanceinertia without any: one of them is said."""
    found = findings(tmp_path, arm('balanceinertia="true"', '<option gravity="0 0 -1.62"/>'), "pinocchio")
    assert [f.where for f in found if f.kind == "feature.ignored"] == ["option@gravity"]


def test_mass_from_a_shape_that_the_file_leaves_out_has_the_line_of_the_shape(tmp_path: Path) -> None:
    """The geom of group 2 is what Pinocchio counts and MuJoCo does not."""
    found = findings(tmp_path, arm('inertiagrouprange="0 1"', inertial=SHAPES), "pinocchio")
    assert {f.line for f in found if f.kind in ("mass", "com")} == {8}


def test_an_include_is_ignored_where_it_says_what_pinocchio_then_lacks(tmp_path: Path) -> None:
    """Defaults of another file are lost; the armature that came from there is the difference."""
    (tmp_path / "defaults.xml").write_text("<mujocoinclude><default><joint armature='.3'/></default></mujocoinclude>")
    found = findings(tmp_path, arm(option='<include file="defaults.xml"/>'), "pinocchio")
    assert {("feature.ignored", "include", 3), ("armature", "lift", 1)} <= {(f.kind, f.where, f.line) for f in found}


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_a_rotor_that_nobody_reads_is_said_and_is_no_other_robot(tmp_path: Path, engine: str) -> None:
    """The tree leaves vendor tags out as the engine does; a gear without a rotor is not worth a word."""
    geared = URDF.format(shape="", transmission=GEARBOX.format(ROTOR))
    told = [f for f in findings(tmp_path, geared, engine, "urdf") if f.kind == "feature.ignored"]
    assert [(f.where, f.line, f.severity) for f in told] == [("motor", 10, "convention")]
    plain = URDF.format(shape="", transmission=GEARBOX.format(""))
    assert "feature.ignored" not in {f.kind for f in findings(tmp_path, plain, engine, "urdf")}


def test_a_floating_root_that_pinocchio_puts_elsewhere_is_displaced(tmp_path: Path) -> None:
    """The pose of a body with a free joint becomes a placement in front of it: all poses are moved, M is not."""
    text = arm().replace('<joint name="lift" axis="0 .6 .8"/>', '<freejoint name="root"/>')
    told = {f.kind: f for f in findings(tmp_path, text, "pinocchio") if f.severity == "model"}
    assert set(told) == {"joint.placement"}
    found = told["joint.placement"]
    assert (found.where, found.line) == ("root", 5)
    assert np.linalg.norm(found.found) > 0.1
    straight = text.replace('pos=".1 -.1 .4" quat=".8 .3 -.1 .5"', "")
    assert not [f for f in findings(tmp_path, straight, "pinocchio") if f.severity == "model"]


@pytest.mark.parametrize(
    ("text", "where", "line"),
    [
        (
            arm().replace("<worldbody>", "<worldbody><frame>").replace("</worldbody>", "</frame></worldbody>"),
            "frame",
            4,
        ),
        (arm().replace('name="lift"', 'name="lift" class="main"'), "lift", 6),
    ],
    ids=["frame", "class-main"],
)
def test_a_refusal_that_names_nothing_has_the_place_all_the_same(
    tmp_path: Path, text: str, where: str, line: int
) -> None:
    """Pinocchio's words are those of a container; the element is found in the file."""
    path = tmp_path / "model.xml"
    path.write_text(text, encoding="utf-8")
    model = open_model(path)
    with pytest.raises(EngineRefused) as refusal:
        adapter("pinocchio").native(model.given, model.tree)
    told = (refusal.value.kind, refusal.value.where, refusal.value.source.line)
    assert told == ("refused.unsupported", where, line)


def test_a_mesh_that_mujoco_cannot_read_is_taken_out_and_said_to_be(tmp_path: Path) -> None:
    """The robot agrees without it; the finding has MuJoCo's words, the link and the line of the mesh."""
    shape = '<collision><geometry>\n      <mesh filename="nowhere/shell.stl"/></geometry></collision>'
    found = findings(tmp_path, URDF.format(shape=shape, transmission=""), "mujoco", "urdf")
    (told,) = [f for f in found if f.kind == "refused.mesh"]
    assert (told.where, told.line, told.severity) == ("drum", 7, "convention")
    assert "nowhere/shell.stl" in told.found


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_an_adapter_takes_the_bare_world_where_we_have_no_tree(tmp_path: Path, engine: str) -> None:
    """Whatever the engine holds is then beyond the tree."""
    path = tmp_path / "model.urdf"
    path.write_text(URDF.format(shape="", transmission=""), encoding="utf-8")
    session = adapter(engine).native(Given("urdf", str(path)), Tree("bare", (world(),)))
    assert (session.dofs, session.extra_dofs, session.total_mass) == ((), ("winch",), 1.9)


def test_pinocchio_holds_a_joint_that_moves_nothing(tmp_path: Path) -> None:
    """Its URDF parser takes an axis of length zero, which is no direction."""
    path = tmp_path / "model.urdf"
    path.write_text(URDF.format(shape="", transmission="").replace("0 .6 .8", "0 0 0"), encoding="utf-8")
    session = adapter("pinocchio").native(Given("urdf", str(path)), Tree("bare", (world(),)))
    assert session.extra_dofs == ("winch",)


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_every_engine_says_its_conventions_of_base_and_wrench(tmp_path: Path, engine: str) -> None:
    """At the base, and at the body whose centre of mass lies farthest from its origin; none is another robot."""
    text = (
        arm().replace('<joint name="lift" axis="0 .6 .8"/>', '<freejoint name="root"/>').replace(".1 -.1 .4", "0 0 0")
    )
    told = {f.kind: f for f in findings(tmp_path, text.replace(".8 .3 -.1 .5", "1 0 0 0"), engine)}
    wanted = {"base.quaternion_order", "base.acceleration", "wrench.frame"}
    assert wanted <= set(told)
    assert {(told[kind].where, told[kind].line, told[kind].severity) for kind in wanted} == {("arm", 5, "convention")}
