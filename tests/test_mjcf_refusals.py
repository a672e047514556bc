"""MJCF that are refused, with MuJoCo's words and the line; meshes that cannot be read are no reason to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mjcf_texts import GOOD, INERTIAL, refusal, written

from tautology.harness.importers.mjcf import load_spec, read_mjcf

if TYPE_CHECKING:
    from pathlib import Path

# What is wrong: the line and name of the error, words of its message, its kind, and what replaces what.
REFUSED = {
    "duplicate body": (7, "part", "repeated name", "malformed", 'name="piece"', 'name="part"'),
    "duplicate joint": (8, "turn", "repeated name", "malformed", 'name="fold"', 'name="turn"'),
    "unknown element": (8, "piece", "unrecognized element", "malformed", '<joint name="fold"/>', "<thing/>"),
    "unknown attribute": (8, "fold", "unrecognized attribute", "malformed", '"fold"', '"fold" speed="1"'),
    "unknown joint type": (8, "fold", "screw", "malformed", '"fold"', '"fold" type="screw"'),
    "unknown class": (8, "fold", "class", "malformed", '"fold"', '"fold" class="who"'),
    "zero axis": (5, "turn", "axis", "malformed", "0 0.6 0.8", "0 0 0"),
    "words for numbers": (6, "part", "bad format", "malformed", 'mass="0.7"', 'mass="heavy"'),
    "nan": (6, "part", "'nan' is not finite", "malformed", '"0.002 0.0026', '"nan 0.0026'),
    "infinite": (5, "turn", "'-Inf' is not finite", "malformed", "0 0.6 0.8", "0 0 -Inf"),
    "too large": (8, "fold", "too large", "malformed", '"fold"', '"fold" armature="1e999"'),
    "free joint inside": (7, "piece", "top level", "malformed", '<joint name="fold"/>', "<freejoint/>"),
    "massless": (6, "part", "mjMINVAL", "nonphysical", 'mass="0.7"', 'mass="0"'),
    "no inertia": (7, "piece", "mjMINVAL", "nonphysical", GOOD.splitlines()[8], ""),
    "negative mass": (6, "part", "mjMINVAL", "nonphysical", 'mass="0.7"', 'mass="-1"'),
    "triangle": (6, "part", "A + B >= C", "nonphysical", "0.0026 0.0033", "0.0026 0.1"),
    "indefinite": (9, "piece", "eigenvalues", "nonphysical", "0.0026 0.0033 0.0001", "0.0026 -0.1 0.0001"),
    "unknown target": (
        14,
        None,
        "unknown",
        "malformed",
        "</mujoco>",
        '<actuator>\n<motor joint="who"/></actuator></mujoco>',
    ),
}


TENDON = """<tendon>
<fixed name="belt" armature="1">
<joint joint="turn" coef="1"/>
<joint joint="{}" coef="1"/></fixed></tendon>"""
PULL = '<actuator><motor tendon="belt" gear="1e200" armature="1"/></actuator></mujoco>'
PUSH = '<actuator>\n<motor joint="turn" gear="1e200" armature="1"/></actuator></mujoco>'
KEY = '<keyframe>\n<key name="bent" qpos="0 nan"/></keyframe></mujoco>'
DENSE = '<geom size="1" density="1e308"/>'
FIXED_PIECE = "\n".join(GOOD.splitlines()[7:9])
REFUSED |= {
    "tendon of nothing": (16, "belt", "'who' not found", "malformed", "</mujoco>", TENDON.format("who") + "</mujoco>"),
    "tendon overflows": (14, "belt", "not finite", "malformed", "</mujoco>", TENDON.format("fold") + PULL),
    "rotor overflows": (14, "turn", "not finite", "malformed", "</mujoco>", PUSH),
    "keyframe nan": (14, "bent", "'nan' is not finite", "malformed", "</mujoco>", KEY),
    "mass overflows": (7, "piece", "not finite", "malformed", FIXED_PIECE, DENSE),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_refusal_has_mujocos_words_and_the_line(tmp_path: Path, fault: str) -> None:
    """Kind, name, file and line of each fault, the message with them."""
    line, where, words, kind, old, new = REFUSED[fault]
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new, 1))
    error = refusal(path)
    assert (error.source.file, error.source.line, error.where) == (str(path), line, where)
    assert error.kind == f"refused.{kind}"
    assert str(error).startswith(f"{path}:{line}: ")
    assert words in str(error)
    assert "\n" not in str(error)


FILES = {
    "not there": (None, "no such file"),
    "not XML": ("hello", "well-formed"),
    "empty": ("", "empty"),
    "truncated": ("<mujoco><worldbody>", "well-formed"),
    "two roots": ("<mujoco/><mujoco/>", "root"),
    "another root": ("<mujocoinclude/>", "<mujocoinclude>"),
    "entities": ('<!DOCTYPE m [<!ENTITY a "1">]><mujoco model="&a;"/>', "document type"),
    "includes nothing": ('<mujoco><include file="gone.xml"/></mujoco>', "'gone.xml' is not there"),
    "includes itself": ('<mujoco><include file="./robot.xml"/></mujoco>', "included already"),
    "attaches itself": ('<mujoco><asset><model file="robot.xml"/></asset></mujoco>', "attached to itself"),
    "too deep": ("<mujoco><worldbody>" + 3000 * "<body>" + 3000 * "</body>" + "</worldbody></mujoco>", "nesting"),
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    """One message, with the file."""
    text, words = FILES[name]
    path = tmp_path / "robot.xml" if text is None else written(tmp_path, text)
    error = refusal(path)
    assert words in str(error)
    assert error.source.file == str(path)


def test_an_included_file_with_entities_is_refused(tmp_path: Path) -> None:
    """Whichever file declares them."""
    written(tmp_path, "<!DOCTYPE m><mujocoinclude/>", "part.xml")
    error = refusal(written(tmp_path, '<mujoco><include file="part.xml"/></mujoco>'))
    assert error.source.file == str(tmp_path / "part.xml")


TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
MESHES = f"""<mujoco>
  <compiler meshdir="meshes"/>
  <asset>
    <mesh name="there" file="sub/solid.obj"/>
    <mesh name="gone" file="sub/gone.stl"/>
    <mesh file="broken.stl"/>
    <texture name="image" type="2d" file="image.png"/>
    <material name="painted" texture="image"/>
    <hfield name="hills" file="hills.png" size="1 1 1 1"/>
  </asset>
  <worldbody>
    <geom type="hfield" hfield="hills"/>
    <body name="solid"><joint/><geom type="mesh" mesh="there"/></body>
    <body name="drawn"><joint/>{INERTIAL}<geom name="hull" type="mesh" mesh="gone" material="painted"/></body>
    <body name="mixed"><joint/>
      <geom type="box" mesh="broken"/>
      <geom type="mesh" mesh="broken" density="0"/>
      <geom name="ball" size="0.1" mass="0.4"/>
      <site type="mesh" mesh="broken"/>
    </body>
  </worldbody>
  <contact>
    <pair geom1="hull" geom2="ball"/>
  </contact>
</mujoco>
"""


@pytest.fixture
def meshes(tmp_path: Path) -> Path:
    """Write a robot with a mesh that can be read, two that cannot, no texture and no height field."""
    written(tmp_path, TETRAHEDRON, "meshes/sub/solid.obj")
    written(tmp_path, "solid of nothing", "meshes/broken.stl")
    return written(tmp_path, MESHES)


def test_only_what_cannot_be_read_is_taken_out(meshes: Path) -> None:
    """A mesh that is there still gives its body mass; one that is not is a loss, and one more if it would have."""
    tree = read_mjcf(meshes)
    masses = {body.name: body.inertia.mass for body in tree.bodies[1:]}
    assert masses == pytest.approx({"solid": 1000 / 6, "drawn": 1.1, "mixed": 0.4})
    lost = [(loss.element, loss.where, loss.source.line) for loss in tree.losses if "cannot be read" in loss.note]
    assert sorted(lost) == [
        ("geom@mesh", "mixed", 16),
        ("hfield", "hills", 9),
        ("mesh", "broken", 6),
        ("mesh", "gone", 5),
        ("texture", "image", 7),
    ]
    assert [loss.where for loss in tree.losses if loss.touches_dynamics] == ["mixed"]


@pytest.mark.parametrize("name", ["gone/solid.obj", "package://gone//solid.obj"])
def test_files_of_one_name_in_two_folders_are_told_apart(meshes: Path, name: str) -> None:
    """The one that is there stays, however MuJoCo spells the path of the other."""
    meshes.write_text(MESHES.replace("sub/gone.stl", name))
    tree = read_mjcf(meshes)
    assert tree.bodies[1].inertia.mass == pytest.approx(1000 / 6)
    assert [loss.where for loss in tree.losses if loss.element == "mesh" and loss.where] == ["gone", "broken"]


def test_a_stripped_path_is_found_by_its_file_name(meshes: Path) -> None:
    """With `strippath` MuJoCo asks for the bare name."""
    text = MESHES.replace('meshdir="meshes"', 'meshdir="meshes" strippath="true"').replace("sub/solid.obj", "solid.obj")
    written(meshes.parent, TETRAHEDRON, "meshes/solid.obj")
    meshes.write_text(text)
    assert [loss.where for loss in read_mjcf(meshes).losses if loss.element == "mesh" and loss.where] == [
        "gone",
        "broken",
    ]


def test_the_spec_for_the_native_path_lost_the_same(meshes: Path) -> None:
    """It compiles, keeps what can be read, and carries the names and lines of the tree."""
    spec, losses = load_spec(meshes)
    model = spec.compile()
    assert (model.nmesh, model.nhfield, model.ntex, model.ngeom) == (1, 0, 0, 6)
    assert losses == [loss for loss in read_mjcf(meshes).losses if "cannot be read" in loss.note]
    assert [joint.name for joint in spec.joints] == ["solid_hinge", "drawn_hinge", "mixed_hinge"]
    assert spec.body("drawn").info == f"{meshes}:14"


def test_a_body_that_only_its_missing_mesh_would_weigh_is_refused_with_that_reason(meshes: Path) -> None:
    """MuJoCo's words about the body, and the mesh that is the cause."""
    meshes.write_text(
        MESHES.replace('<geom name="ball" size="0.1" mass="0.4"/>', '<geom name="ball" size="0.1" mass="0"/>')
    )
    error = refusal(meshes)
    assert (error.kind, error.where, error.source.line) == ("refused.nonphysical", "mixed", 15)
    for words in ("mjMINVAL", "mesh 'broken'", "STL"):
        assert words in str(error)
