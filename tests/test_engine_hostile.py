"""Hostile files through the optional engines: each verdict is right and has a reason, and nothing crashes unsaid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from engines_at_hand import needs

from tautology.harness.request import Request
from tautology.harness.run import check_files

if TYPE_CHECKING:
    from pathlib import Path

INERTIAL = (
    '<inertial><origin xyz="0.1 -0.2 0.3" rpy="0.3 -0.5 0.7"/><mass value="1.5"/>'
    '<inertia ixx="0.03" ixy="0.002" ixz="-0.003" iyy="0.04" iyz="0.001" izz="0.05"/></inertial>'
)
LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="2"/>'
ORIGIN = '<origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/>'
BOX = '<geom type="box" size="0.1 0.2 0.3" pos="0.1 0.05 0.02" euler="10 20 30"/>'


def link(name: str, inside: str = INERTIAL) -> str:
    """Return a link on a line of its own."""
    return f'<link name="{name}">{inside}</link>\n'


def joint(name: str, above: str, below: str, *, kind: str = "revolute", axis: str = "0 0.6 0.8") -> str:
    """Return a joint on a line of its own; one that is revolute has limits."""
    limit = LIMIT if kind == "revolute" else ""
    ends = f'<parent link="{above}"/><child link="{below}"/>{ORIGIN}<axis xyz="{axis}"/>{limit}'
    return f'<joint name="{name}" type="{kind}">{ends}</joint>\n'


def arm(first: str = "j1", base: str = "base", last: str = INERTIAL, axis: str = "0 0.6 0.8") -> str:
    """Return three links in a row, links on lines 2 to 4, joints on lines 5 and 6."""
    links = link(base) + link("one") + link("two", last)
    joints = joint(first, base, "one", axis=axis) + joint("j2", "one", "two", axis="0.6 0.8 0")
    return f'<robot name="arm">\n{links}{joints}</robot>\n'


def mjcf(inside: str, after: str = "", before: str = "") -> str:
    """Return an MJCF with two bodies in a row beside what is asked for."""
    lower = f'<body name="b" pos="0.1 0.2 0.3"><joint name="j2" axis="0.6 0.8 0"/>{BOX}</body>'
    upper = f'<body name="a" pos="0.1 0.2 0.3"><joint name="j1" type="hinge" axis="0 0.6 0.8"/>{BOX}{lower}</body>'
    return f'<mujoco model="m">{before}<worldbody>\n{inside}\n{upper}\n</worldbody>{after}</mujoco>\n'


def rows(
    folder: Path, text: str | bytes, engine: str, *, base: str = "auto", in_process: bool = True
) -> dict[str, dict[str, Any]]:
    """Return what `check` says of a file, by path."""
    content = text.encode() if isinstance(text, str) else text
    file = folder / ("robot.xml" if b"<mujoco" in content else "robot.urdf")
    file.write_bytes(content)
    result = check_files([str(file)], Request([engine], base=base, states=6, in_process=in_process))
    (model,) = result.to_json()["models"]
    return {row["path"]: row for row in model["engines"] if row["engine"] == engine}


def statuses(told: dict[str, dict[str, Any]]) -> tuple[str, str]:
    """Return the verdicts of both paths."""
    return told["native"]["status"], told["neutral"]["status"]


def reasons(row: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Return kind and place of what makes it another robot."""
    return [(f["kind"], f["where"]) for f in row["findings"] if f["severity"] != "convention"]


@needs("adam")
@pytest.mark.parametrize("axis", ["0 0 2", "0.5774 0.5774 0.5774", "0.3 -1.2 2", "0 0 1e-9"])
@pytest.mark.parametrize("base", ["auto", "free"])
def test_an_axis_that_is_no_unit_vector_explains_all_that_adam_makes_of_it(
    axis: str, base: str, tmp_path: Path
) -> None:
    """It turns by no rotation, which no description holds: the ledger tells it apart."""
    told = rows(tmp_path, arm(axis=axis), "adam", base=base)
    assert statuses(told) == ("differs", "agree")
    assert reasons(told["native"]) == [("joint.axis", "j1")]
    (found,) = [f for f in told["native"]["findings"] if f["kind"] == "joint.axis"]
    assert found["explains"] == pytest.approx(1)
    assert found["line"] == 5


@needs("adam")
def test_adam_has_no_momentum_of_a_robot_without_mass(tmp_path: Path) -> None:
    """It divides by the total mass on the way."""
    told = rows(tmp_path, arm().replace(INERTIAL, ""), "adam", base="free")
    assert statuses(told) == ("agree", "agree")


@pytest.mark.parametrize("engine", [pytest.param(name, marks=needs(name)) for name in ("adam", "pybullet")])
def test_what_is_computed_in_the_world_is_measured_by_its_distance(engine: str, tmp_path: Path) -> None:
    """A turning body a thousand kilometres away has a velocity that is a small difference of large numbers."""
    text = arm().replace('<origin xyz="0.1 0.2 0.3" rpy="0.1', '<origin xyz="1e6 -2e6 3e6" rpy="0.1', 1)
    assert rows(tmp_path, text, engine)["neutral"]["status"] == "agree"


@pytest.mark.parametrize("engine", [pytest.param(name, marks=needs(name)) for name in ("drake", "dart", "pybullet")])
def test_names_in_another_encoding_are_refused_by_the_process_of_an_engine_too(engine: str, tmp_path: Path) -> None:
    """What it raises there arrives as an error of another class."""
    text = '<?xml version="1.0" encoding="iso-8859-1"?>\n' + arm(base="bäse")
    told = rows(tmp_path, text.encode("latin-1"), engine, in_process=False)
    assert statuses(told) == ("refused", "agree")
    assert told["native"]["message"].startswith("a name in the file is not in UTF-8")
    assert reasons(told["native"]) == [("refused.malformed", None)]


PLACERS = pytest.mark.parametrize(
    "engine", [pytest.param("urdfpy", marks=needs("urdfpy")), pytest.param("yourdfpy", marks=needs("yourdfpy"))]
)


@PLACERS
def test_a_joint_may_be_called_as_the_readers_root_is_here(engine: str, tmp_path: Path) -> None:
    """The joint above the base link has no name in a URDF."""
    assert statuses(rows(tmp_path, arm(first="root_joint"), engine)) == ("agree", "agree")


@needs("urdfpy")
@pytest.mark.parametrize("base", ["base", "world", "universe"])
def test_urchin_places_a_base_that_was_freed(base: str, tmp_path: Path) -> None:
    """The file that is written for it has a floating joint of its own, and the world as a link."""
    assert statuses(rows(tmp_path, arm(base=base), "urdfpy", base="free")) == ("unsupported", "agree")


@PLACERS
def test_a_revolute_joint_without_limits_is_placed(engine: str, tmp_path: Path) -> None:
    """It is written as a continuous one."""
    assert rows(tmp_path, arm().replace(LIMIT, ""), engine)["neutral"]["status"] == "agree"


@PLACERS
def test_refusals_of_readers_name_the_error_once(engine: str, tmp_path: Path) -> None:
    """In their words, after its class."""
    row = rows(tmp_path, arm(last=INERTIAL + "<visual><geometry/></visual>"), engine)["native"]
    assert row["status"] == "refused"
    assert row["message"].count("Error:") == 1


@needs("drake")
def test_nothing_that_moves_has_no_energy_in_drake(tmp_path: Path) -> None:
    """What is welded is left out, and two roundings of it are no energy."""
    one = f'<robot name="one">\n{link("base")}</robot>'
    assert statuses(rows(tmp_path, one, "drake")) == ("agree", "agree")
    still = (
        f'<mujoco model="m"><worldbody><body name="a" pos="0.1 0.2 0.3" euler="1 2 3">{BOX}</body></worldbody></mujoco>'
    )
    assert statuses(rows(tmp_path, still, "drake")) == ("agree", "agree")


@needs("drake")
def test_a_tensor_without_mass_at_the_end_weighs_nothing_in_drake(tmp_path: Path) -> None:
    """The mass that stands in for none has no lever arm."""
    told = rows(tmp_path, arm(last=INERTIAL.replace('"1.5"', '"0"')), "drake")
    assert statuses(told) == ("differs", "agree")
    assert ("mass.default", "two") in reasons(told["native"])


@needs("drake")
def test_a_link_called_world_in_the_middle_is_no_crash_of_drake(tmp_path: Path) -> None:
    """It is Drake's world, and the base hangs on it."""
    told = rows(tmp_path, arm().replace('"one"', '"world"'), "drake")
    assert statuses(told) == ("differs", "agree")


@needs("pybullet")
def test_names_of_the_file_may_be_those_that_a_description_gives_pybullet(tmp_path: Path) -> None:
    """The joint above the base and the ground have none of their own."""
    text = arm(first="root_joint").replace('"one"', '"world"').replace('"two"', '"universe"')
    assert rows(tmp_path, text, "pybullet", base="free")["native"]["status"] == "agree"


NUMBERS = {"damping": "<dynamics damping='-1.5'/>", "limits": LIMIT.replace('"-1"', '"3"')}


@needs("drake")
@pytest.mark.parametrize("inside", NUMBERS.values(), ids=NUMBERS)
def test_numbers_that_drake_will_not_have_are_placed(inside: str, tmp_path: Path) -> None:
    """It says what is wrong, and not where."""
    first, last = arm().rsplit(LIMIT, 1)
    told = rows(tmp_path, first + (inside if "limit" in inside else LIMIT + inside) + last, "drake")
    (found,) = told["native"]["findings"]
    assert (found["kind"], found["where"], found["line"]) == ("refused.malformed", "j2", 6)


SHAPELESS = {
    "no geometry": "<collision/>",
    "no shape": "<visual><geometry/></visual>",
    "a capsule": '<collision><geometry><capsule radius="0.1" length="1"/></geometry></collision>',
    "no size": "<collision><geometry><box/></geometry></collision>",
    "no number": '<collision><geometry><box size="1 nan 1"/></geometry></collision>',
    "no length": '<visual><geometry><cylinder radius="1"/></geometry></visual>',
}


@needs("idyntree")
@pytest.mark.parametrize("shape", SHAPELESS.values(), ids=SHAPELESS)
def test_what_idyntree_makes_no_shape_of_is_refused_before_it_ends_the_process(shape: str, tmp_path: Path) -> None:
    """It follows a pointer to nothing."""
    told = rows(tmp_path, arm(last=INERTIAL + shape), "idyntree", in_process=False)
    assert statuses(told) == ("refused", "agree")
    assert reasons(told["native"]) == [("refused.unsupported", "two")]
    assert "it is not called" in told["native"]["message"]


@needs("idyntree")
def test_shapes_that_idyntree_knows_are_read(tmp_path: Path) -> None:
    """However odd their numbers are."""
    shapes = ('<box size="-1 0 1e-3"/>', '<sphere radius="0"/>', '<cylinder radius=" .5 " length="+2."/>')
    last = INERTIAL + "".join(f"<collision><geometry>{shape}</geometry></collision>" for shape in shapes)
    told = rows(tmp_path, arm(last=last + '<visual><geometry><mesh filename=""/></geometry></visual>'), "idyntree")
    assert statuses(told) == ("agree", "agree")


FATAL = {
    "height field": (
        '<geom type="hfield" hfield="x"/>',
        '<asset><hfield name="x" nrow="2" ncol="2" size="1 1 1 1"/></asset>',
    ),
    "mesh": ('<geom type="mesh" mesh="x"/>', '<asset><mesh name="x" file="nowhere.stl"/></asset>'),
}


@needs("dart")
@pytest.mark.parametrize(("geom", "asset"), FATAL.values(), ids=FATAL)
def test_shapes_of_the_world_that_end_the_process_of_dart_are_refused(geom: str, asset: str, tmp_path: Path) -> None:
    """Its parser makes none of a height field, finds no mesh, and goes on."""
    told = rows(tmp_path, mjcf(geom, before=asset), "dart", in_process=False)
    assert statuses(told) == ("refused", "agree")
    (found,) = told["native"]["findings"]
    assert (found["kind"], found["where"], found["line"]) == ("refused.unsupported", "geom", 2)


LOOPS = {
    "weld": '<equality><weld body1="a" body2="world"/></equality>',
    "connect": '<equality><connect body1="b" anchor="0 0 0"/></equality>',
}


@needs("newton")
@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_joints_that_close_loops_carry_nothing_in_newton(loop: str, tmp_path: Path) -> None:
    """Newton makes joints of equalities, beside those that carry the bodies; all engines leave them open."""
    assert statuses(rows(tmp_path, mjcf("", loop), "newton")) == ("agree", "agree")


@needs("pybullet")
def test_places_beyond_single_precision_are_no_words_of_pybullet(tmp_path: Path) -> None:
    """What the adapter computes of them warns nobody."""
    row = rows(tmp_path, mjcf("").replace('pos="0.1 0.2 0.3"', 'pos="1e150 0 0"', 1), "pybullet", in_process=False)
    assert "Warning" not in row["native"]["message"]
