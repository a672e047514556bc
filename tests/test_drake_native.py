"""What Drake's parsers make of files: repairs, defects of its own, refusals in its words, and its call for springs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from engines_at_hand import needs
from example_robots import EXAMPLE_ROBOTS

from tautology.adapters.reference import Reference
from tautology.harness import registry
from tautology.harness.engine import Given
from tautology.harness.errors import EngineRefused, EngineUnsupported
from tautology.harness.load import load, open_model
from tautology.harness.request import Request
from tautology.harness.run import check_files
from tautology.harness.states import sample
from tautology.harness.tree import Tree, world

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = needs("drake")

URDF = """<robot name="r" xmlns:drake="http://drake.mit.edu">
  <link name="base"/>
  <link name="arm">
    {inertial}
  </link>
  <joint name="turn" type="{kind}">
    <parent link="base"/>
    <child link="arm"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.4 0.2 -0.3"/>
    <axis xyz="{axis}"/>
    <limit lower="-1" upper="2" effort="3" velocity="4"/>
    {dynamics}
  </joint>
  {more}
</robot>
"""
GOOD = (
    '<inertial><origin xyz="0.1 0 0.2" rpy="0.3 0.1 0"/><mass value="{mass}"/>'
    '<inertia ixx="{ixx}" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.03"/></inertial>'
)
MJCF = """<mujoco {name}>
  <compiler angle="radian"/>
  {more}
  <worldbody>
    <body name="arm" pos="0.1 0.2 0.3" quat="0.9 0.1 0.2 0.3">
      {joints}
      {inertial}
      {geom}
    </body>
  </worldbody>
  {last}
</mujoco>
"""
HINGE = '<joint name="turn" axis="0 0.6 0.8"/>'
SOLID = '<inertial pos="0.1 0 0.2" mass="1.5" fullinertia="0.03 0.04 0.05 0.001 0.002 -0.001"/>'


def urdf(folder: Path, *, mass: float = 1.5, ixx: float = 0.02, **parts: str) -> Path:
    """Write a robot with one joint."""
    usual = {"kind": "revolute", "axis": "0 0 1", "more": "", "dynamics": ""}
    file = folder / "robot.urdf"
    file.write_text(URDF.format(inertial=GOOD.format(mass=mass, ixx=ixx), **{**usual, **parts}))
    return file


def mjcf(folder: Path, **parts: str) -> Path:
    """Write an MJCF file with one body."""
    file = folder / "robot.xml"
    usual = {"name": 'model="m"', "more": "", "joints": HINGE, "inertial": SOLID, "geom": "", "last": ""}
    file.write_text(MJCF.format(**{**usual, **parts}))
    return file


def native(file: Path, base: str = "auto") -> Any:
    """Return a session on a file that Drake reads."""
    model = open_model(str(file), base)
    return registry.adapter("drake").native(model.given, model.tree)


def checked(file: Path, base: str = "auto") -> Mapping[str, Any]:
    """Return what the check says of Drake's own reading."""
    (model,) = check_files([str(file)], Request(["drake"], "native", base, 12, in_process=True)).to_json()["models"]
    return next(row for row in model["engines"] if row["engine"] == "drake")


def grave(row: Mapping[str, Any]) -> list[tuple[str, str | None, int | None]]:
    """Return the findings that make another robot."""
    return [(f["kind"], f["where"], f["line"]) for f in row["findings"] if f["severity"] == "model"]


@pytest.mark.parametrize(
    ("mass", "ixx", "wanted"),
    [
        (1.5, 0.9, [("inertia.repaired", "arm", 4)]),
        (1.5, -0.02, [("inertia.repaired", "arm", 4)]),
        (0.0, 0.02, [("mass.default", "arm", 4), ("inertia.repaired", "arm", 4)]),
    ],
    ids=["triangle", "indefinite", "tensor without mass"],
)
def test_what_no_body_has_becomes_a_ball_of_water(mass: float, ixx: float, wanted: list[Any], tmp_path: Path) -> None:
    """The default parser repairs; each repair is found, and strict parsing would have refused."""
    row = checked(urdf(tmp_path, mass=mass, ixx=ixx))
    assert row["status"] == "differs"
    assert grave(row) == wanted
    assert "with SetStrictParsing Drake refuses the file" in row["message"]


def test_a_tensor_that_drake_repairs_is_that_of_water(tmp_path: Path) -> None:
    """2/5 m r^2 with the radius of a ball of 1000 kg/m^3."""
    held = native(urdf(tmp_path, ixx=0.9)).describe()
    radius = (3 * 1.5 / (4 * np.pi * 1000)) ** (1 / 3)
    np.testing.assert_allclose(held.bodies[2].inertia.I_com, np.eye(3) * 0.4 * 1.5 * radius**2, rtol=1e-12, atol=0)


@pytest.mark.parametrize("kind", ["planar", "floating", "prismatic", "continuous", "revolute"])
def test_joints_of_a_urdf_agree(kind: str, tmp_path: Path) -> None:
    """Planes of any normal; a floating joint on what stands still is the base itself."""
    row = checked(urdf(tmp_path, kind=kind, axis="0.48 0.6 0.64"))
    assert (row["status"], grave(row)) == ("agree", [])


@pytest.mark.parametrize("axis", ["0 0 -1", "0 -1 0", "1 0 0"])
def test_planes_agree_whatever_basis_drake_takes(axis: str, tmp_path: Path) -> None:
    """The tree and Drake choose other x and y in the plane."""
    assert checked(urdf(tmp_path, kind="planar", axis=axis))["status"] == "agree"


def test_damping_is_in_the_force_elements_alone(tmp_path: Path) -> None:
    """tau and accelerations are without it, the ledger has it, and the finding is a convention."""
    file = urdf(tmp_path, dynamics='<dynamics damping="0.7"/>')
    session, tree = native(file), load(str(file))
    states = sample(tree, 4)
    found = session.forward_dynamics(states.q, states.v, states.tau)
    wanted = Reference(tree).forward_dynamics(states.q, states.v, states.tau)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)
    terms = session.ledger(states.q, states.v, states.a)["CalcForceElementsContribution"]
    np.testing.assert_allclose(terms["damping"], 0.7 * states.v, rtol=1e-12, atol=1e-12)
    assert set(terms) == {"damping"}
    (damping,) = (f for f in checked(file)["findings"] if f["kind"] == "damping")
    assert (damping["where"], damping["severity"]) == ("turn", "convention")


def test_springs_of_drake_are_in_no_answer(tmp_path: Path) -> None:
    """A `drake:linear_spring_damper` is in the force elements: energies and accelerations are those of the tree."""
    tag = "drake:linear_spring_damper"
    ends = f'<{tag}_body_A name="base"/><{tag}_p_AP value="0 0 1"/>'
    ends += f'<{tag}_body_B name="arm"/><{tag}_p_BQ value="0.3 0 0"/>'
    numbers = f'<{tag}_free_length value="0.2"/><{tag}_stiffness value="40"/><{tag}_damping value="0"/>'
    file = urdf(tmp_path, more=f"<{tag}>{ends}{numbers}</{tag}>")
    session, tree = native(file), load(str(file))
    assert session.model.num_force_elements() == 2  # it is there
    states = sample(tree, 4)
    truth = Reference(tree)
    for name, asked in (("forward_dynamics", ("q", "v", "tau")), ("potential_energy", ("q",)), ("bias", ("q", "v"))):
        arguments = [getattr(states, x) for x in asked]
        wanted = getattr(truth, name)(*arguments)
        np.testing.assert_allclose(getattr(session, name)(*arguments), wanted, rtol=1e-9, atol=1e-9, err_msg=name)
    assert np.abs(session.ledger(states.q, states.v, states.a)["CalcForceElementsContribution"]["spring"]).max() > 0.1


def test_rotors_of_drakes_own_tags_are_read(tmp_path: Path) -> None:
    """Gear squared times rotor inertia, at the line of the tag; nothing is said to be ignored."""
    tags = '<drake:gear_ratio value="60"/>\n<drake:rotor_inertia value="0.0002"/>'
    motor = f'<actuator name="motor">{tags}</actuator>'
    more = f'<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="turn"/>{motor}'
    row = checked(urdf(tmp_path, more=more + "</transmission>"))
    assert grave(row) == [("rotor", "turn", 15)]
    (rotor,) = (f for f in row["findings"] if f["kind"] == "rotor")
    assert (rotor["expected"], rotor["found"]) == (0.0, pytest.approx(0.72))
    assert rotor["explains"] == pytest.approx(1, abs=1e-6)
    assert not any(f["kind"] == "feature.ignored" for f in row["findings"])


def test_armature_counts_only_with_an_actuator(tmp_path: Path) -> None:
    """The MJCF parser puts it on an actuator, and on nothing where there is none."""
    joints = '<joint name="turn" axis="0 0.6 0.8" armature="0.3"/>'
    alone = checked(mjcf(tmp_path, joints=joints))
    assert grave(alone) == [("armature", "turn", 6)]
    driven = mjcf(tmp_path, joints=joints, last='<actuator><motor name="m" joint="turn"/></actuator>')
    assert (checked(driven)["status"], grave(checked(driven))) == ("agree", [])


def test_a_reference_position_is_part_of_drakes_frames(tmp_path: Path) -> None:
    """Coordinates are those of the file, and so is what is read back."""
    file = mjcf(tmp_path, joints='<joint name="turn" axis="0 0.6 0.8" ref="0.4" pos="0.1 0 0"/>')
    row = checked(file)
    assert (row["status"], grave(row)) == ("agree", [])
    assert native(file).describe().joints[1].ref == pytest.approx(0.4)


def test_a_body_without_joints_is_read_back_where_it_stands(tmp_path: Path) -> None:
    """The MJCF parser keeps the placement in the weld itself."""
    inner = f'<body name="tip" pos="0.1 0 0.4" quat="0.9 0.3 0 0.1">{SOLID}</body>'
    file = mjcf(tmp_path, geom=inner)
    assert (checked(file)["status"], grave(checked(file))) == ("agree", [])
    held, tree = native(file).describe(), load(str(file))
    found, wanted = (x.joints[x.index["tip"]].T_parent_joint for x in (held, tree))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-15)


def test_a_floating_body_is_not_moved_to_explain_its_limbs(tmp_path: Path) -> None:
    """Each limb with two joints stands elsewhere in Drake; the base is where it is, and all is explained."""
    limbs = "".join(
        f'<body name="limb{k}" pos="0 {y} 0.06"><joint name="a{k}" axis="2 {a} 1"/><joint name="b{k}" axis="0 {b} 1"/>'
        f"{SOLID}</body>"
        for k, (y, a, b) in enumerate(((-0.17, 1, -1), (0.17, -1, 1)))
    )
    row = checked(mjcf(tmp_path, joints="<freejoint/>", geom=limbs))
    assert grave(row) == [("joint.placement", f"a{k}", 8) for k in range(2)]


def test_several_joints_of_a_body_stand_at_the_wrong_place(tmp_path: Path) -> None:
    """Drake places the body at its last joint; the first one then turns about another line."""
    row = checked(mjcf(tmp_path, joints=f'{HINGE}<joint name="tilt" axis="1 0 0"/>'))
    assert grave(row) == [("joint.placement", "turn", 5)]


@pytest.mark.parametrize(
    ("parts", "kind", "where", "words"),
    [
        ({"name": ""}, "refused.unsupported", None, "must have a name attribute"),
        (
            {"joints": f'{HINGE}<joint name="tilt" axis="1 0 0"/>', "geom": '<body name="arm0"/>'},
            "refused.unsupported",
            "arm0",
            "already contains a body named 'arm0'",
        ),
        (
            {
                "more": '<compiler balanceinertia="true"/>',
                "inertial": '<inertial pos="0 0 .1" mass="2" diaginertia=".01 .02 .06"/>',
            },
            "refused.nonphysical",
            "arm",
            "IsPhysicallyValid",
        ),
    ],
    ids=["no name", "name taken by Drake", "tensor that MuJoCo balances"],
)
def test_refusals_of_mjcf_are_in_drakes_words(
    parts: dict[str, str], kind: str, where: str | None, words: str, tmp_path: Path
) -> None:
    """MuJoCo compiles these; Drake does not, and says why."""
    with pytest.raises(EngineRefused, match=words) as refusal:
        native(mjcf(tmp_path, **parts))
    assert (refusal.value.kind, refusal.value.where) == (kind, where)


def test_meshes_of_an_mjcf_are_taken_out_where_nothing_hangs_on_them(tmp_path: Path) -> None:
    """A format that Drake cannot read is said, at the mesh; an inertia that would come from it is a refusal."""
    (tmp_path / "part.stl").write_bytes(TETRAHEDRON)
    parts = {"more": '<asset><mesh name="part" file="part.stl"/></asset>', "geom": '<geom type="mesh" mesh="part"/>'}
    row = checked(mjcf(tmp_path, **parts))
    assert row["status"] == "agree"
    assert "refused.mesh" in {f["kind"] for f in row["findings"]}
    assert "the meshes were taken out" in row["message"]
    with pytest.raises(EngineRefused, match="only supports mesh files") as refusal:
        native(mjcf(tmp_path, **parts, inertial=""))
    assert refusal.value.kind == "refused.mesh"


def test_a_fixed_joint_that_should_follow_another_is_refused() -> None:
    """Drake will not have it, at its line."""
    with pytest.raises(EngineRefused, match="0 DOF cannot mimic") as refusal:
        native(EXAMPLE_ROBOTS["talos_data/talos_left_arm"])
    assert refusal.value.kind == "refused.unsupported"
    assert (refusal.value.where, refusal.value.source.line) == ("gripper_left_inner_double_joint", 533)


def test_a_zero_axis_is_refused_where_it_stands(tmp_path: Path) -> None:
    """Malformed, in Drake's words."""
    file = urdf(tmp_path, axis="0 0 0")
    with pytest.raises(EngineRefused, match="axis is zero") as refusal:  # our importer refuses it, too
        registry.adapter("drake").native(Given("urdf", str(file)), Tree("bare", (world(),)))
    assert refusal.value.kind == "refused.malformed"
    assert str(refusal.value.source) == f"{file}:10"


def test_one_damping_of_a_plane_is_refused(tmp_path: Path) -> None:
    """Drake wants three values where URDF has one, and does not say which joint it is about."""
    with pytest.raises(EngineRefused, match="Expected 3 values for attribute damping") as refusal:
        native(urdf(tmp_path, kind="planar", dynamics='<dynamics damping="0.7"/>'))
    found = refusal.value.kind, refusal.value.where, refusal.value.source.line
    assert found == ("refused.unsupported", "turn", 12)


def test_a_file_of_another_ending_is_read_as_what_it_holds(tmp_path: Path) -> None:
    """Drake goes by the ending; what it then says of lines names the file all the same."""
    file = urdf(tmp_path, ixx=0.9).rename(tmp_path / "robot.model")
    session = native(file)
    assert session.dofs == ("turn",)
    assert any(note.startswith(f"Drake said: {file}:4: warning") for note in session.notes)


def test_formats_that_drake_has_no_parser_for_are_unsupported() -> None:
    """A tree is no file."""
    tree = load(str(EXAMPLE_ROBOTS["ur_description/ur5_robot"]))
    model = open_model(tree)
    with pytest.raises(EngineUnsupported, match="URDF and MJCF"):
        registry.adapter("drake").native(model.given, model.tree)


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize(
    "name",
    [
        "a1_description/a1",
        "g1_description/g1_29dof_rev_1_0",
        "panda_description/panda",
        "solo_description/solo12",
    ],
)
def test_real_robots_agree_on_the_native_path(name: str, base: str) -> None:
    """Every quantity and identity, welded and freed; what Drake would have left free is said."""
    row = checked(EXAMPLE_ROBOTS[name], base)
    assert (row["status"], grave(row)) == ("agree", [])
    assert ("base.fixed_or_free" in {f["kind"] for f in row["findings"]}) == (base == "fixed")


def test_a_link_called_world_is_the_world() -> None:
    """It is welded without asking, and cannot be freed."""
    file = EXAMPLE_ROBOTS["ur_description/ur5_robot"]
    fixed, free = checked(file), checked(file, "free")
    assert fixed["status"] == "agree"
    assert not any(f["kind"] == "base.fixed_or_free" for f in fixed["findings"])
    assert grave(free) == [("base.fixed_or_free", "root_joint", 331)]


def test_a_link_called_world_in_mid_tree_has_the_root_hang_on_it(tmp_path: Path) -> None:
    """Drake holds the root by the joint that carries that link, and what hangs on the link stands still."""
    hinge = '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><axis xyz="0 0.6 0.8"/>'
    hinge += '<origin xyz="0.1 0.2 0.3" rpy="0.4 0 0.2"/></joint>'
    links = [f'<link name="{name}">{GOOD.format(mass=1.5, ixx=0.02)}</link>' for name in ("root", "world", "tip")]
    file = tmp_path / "robot.urdf"
    lines = [*links, hinge.format("low", "root", "world"), hinge.format("high", "world", "tip")]
    file.write_text("\n".join(['<robot name="r">', *lines, "</robot>"]))
    told = {(kind, where) for kind, where, _ in grave(checked(file))}
    assert {("joint.orientation", "low"), ("joint.placement", "high")} < told
    assert "unexplained" not in {kind for kind, _ in told}


def test_a_massless_foot_of_a_real_robot_becomes_one_kilogram() -> None:
    """Bolt's feet have a tensor and no mass."""
    row = checked(EXAMPLE_ROBOTS["bolt_description/bolt"])
    assert {kind for kind, _, _ in grave(row)} == {"mass.default", "inertia.repaired"}
    assert {where for _, where, _ in grave(row)} == {"FL_FOOT", "FR_FOOT"}


def _triangle(*points: tuple[float, float, float]) -> bytes:
    return np.array([(0, 0, 0), *points], "<f4").tobytes() + b"\0\0"


CORNERS = ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
TETRAHEDRON = b"\0" * 80 + np.uint32(4).tobytes() + b"".join(_triangle(*(CORNERS[k] for k in face)) for face in FACES)
