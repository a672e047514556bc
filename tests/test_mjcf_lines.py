"""Where things of an MJCF stand, across includes, attached models, replicas and default classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from mjcf_texts import INERTIAL, refusal, written

from tautology.harness.importers import mjcf_spec
from tautology.harness.importers.mjcf import read_mjcf

if TYPE_CHECKING:
    from pathlib import Path

    from tautology.harness.tree import Tree


def places(tree: Tree, folder: Path) -> dict[str, str]:
    """Return the file and line of every body, joint and joint field, relative to a folder."""
    found: dict[str, str] = {}
    for body in tree.bodies[1:]:
        found |= {f"{body.name}:{key}": str(source) for key, source in body.sources.items()}
        found |= {f"{body.joint.name}.{key}": str(source) for key, source in body.joint.sources.items()}
    return {key: value.removeprefix(f"{folder}/") for key, value in found.items()}


MAIN = f"""<mujoco>
  <compiler angle="radian"/>
  <include file="parts/defaults.xml"/>
  <default>
    <default class="soft">
      <joint stiffness="3"/>
    </default>
  </default>
  <worldbody>
    <frame childclass="soft">
      <body
          name="arm"
          pos="0 0 1">
        <joint name="lift" damping="0.5"
            axis="1 0 0"/>
        {INERTIAL}
        <include file="parts/hand.xml"/>
      </body>
    </frame>
    <replicate count="2" offset="1 0 0">
      <body name="twin">
        <joint name="twist" class="stiff"/>
        <geom size="0.1"/>
      </body>
    </replicate>
  </worldbody>
  <include file="parts/motors.xml"/>
</mujoco>
"""
DEFAULTS = """<mujocoinclude>
  <default>
    <joint armature="0.2"/>
    <default class="stiff">
      <joint stiffness="9"/>
    </default>
  </default>
</mujocoinclude>
"""
HAND = f"""<mujocoinclude>
  <body name="hand"> <joint/> {INERTIAL}
    <include file="finger.xml"/>
  </body>
</mujocoinclude>
"""
FINGER = f"""<mujocoinclude>

  <body>
    <freejoint/>
    {INERTIAL}
  </body>
</mujocoinclude>
"""
MOTORS = """<mujocoinclude>
  <actuator>
    <motor joint="lift"/>
    <motor joint="lift" gear="3" armature="0.1"/>
  </actuator>
</mujocoinclude>
"""


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    """Write a robot of several files and return the main one."""
    written(tmp_path, DEFAULTS, "parts/defaults.xml")
    written(tmp_path, HAND, "parts/hand.xml")
    # A file included by an included file may be named from either.
    written(tmp_path, FINGER.replace("<freejoint/>", "<joint/>"), "parts/finger.xml")
    written(tmp_path, MOTORS, "parts/motors.xml")
    return written(tmp_path, MAIN)


def test_every_element_knows_its_file_and_line(robot: Path) -> None:
    """Tags of several lines, includes of includes, frames, replicas, unnamed things, default classes."""
    tree = read_mjcf(robot)
    found = places(tree, robot.parent)
    expected = {
        "arm:element": "robot.xml:11",
        "arm:mass": "robot.xml:16",
        "arm:inertia": "robot.xml:16",
        "lift.element": "robot.xml:14",
        "lift.T_parent_joint": "robot.xml:11",
        "lift.axis": "robot.xml:14",
        "lift.damping": "robot.xml:14",
        "lift.stiffness": "robot.xml:14",
        "lift.stiffness.default": "robot.xml:6",
        "lift.armature": "parts/defaults.xml:3",
        "lift.rotor": "parts/motors.xml:4",
        "lift.actuated": "parts/motors.xml:4",
        "hand:element": "parts/hand.xml:2",
        "hand_hinge.element": "parts/hand.xml:2",
        "hand_hinge.stiffness": "robot.xml:6",
        "body3:element": "parts/finger.xml:3",
        "body3_hinge.element": "parts/finger.xml:4",
        "twin0:element": "robot.xml:21",
        "twin0:mass": "robot.xml:23",
        "twist1.element": "robot.xml:22",
        "twist1.stiffness": "parts/defaults.xml:5",
        "twist1.armature": "parts/defaults.xml:3",
    }
    assert {key: found.get(key) for key in expected} == expected
    assert "hand_hinge.rotor" not in found
    assert "twist0.damping" not in found
    values = {j.name: (float(np.asarray(j.armature)[0]), j.stiffness) for j in tree.joints if j.nv}
    assert values == {
        "lift": (0.2, 3),
        "hand_hinge": (0.2, 3),
        "body3_hinge": (0.2, 3),
        "twist0": (0.2, 9),
        "twist1": (0.2, 9),
    }
    assert tree.sources["compiler@angle"].line == 2


def test_attached_models_stand_in_their_own_files(tmp_path: Path) -> None:
    """With their own includes, defaults and prefixes; twice, without a mix-up of lines."""
    written(tmp_path, DEFAULTS, "grippers/more.xml")
    gripper = f"""<mujoco model="gripper">
  <include file="more.xml"/> <option gravity="0 0 -1"/>
  <worldbody>
    <body name="palm">
      <joint name="wrist"/>{INERTIAL}
    </body>
  </worldbody>
</mujoco>"""
    written(tmp_path, gripper, "grippers/gripper.xml")
    main = f"""<mujoco>
  <asset>
    <model file="grippers/gripper.xml"/>
  </asset>
  <worldbody>
    <body name="arm"><joint name="lift"/>{INERTIAL}
      <attach model="gripper" prefix="left/"/>
      <frame pos="1 0 0">
        <attach model="gripper" body="palm" prefix="right/"/>
      </frame>
    </body>
  </worldbody>
</mujoco>"""
    found = places(read_mjcf(written(tmp_path, main)), tmp_path)
    for side in ("left", "right"):
        assert found[f"{side}/palm:element"] == "grippers/gripper.xml:4"
        assert found[f"{side}/wrist.element"] == "grippers/gripper.xml:5"
        assert found[f"{side}/wrist.armature"] == "grippers/more.xml:3"
    assert found["lift.element"] == "robot.xml:6"
    assert "lift.armature" not in found
    # The options of what is attached do not count.
    assert "gravity" not in read_mjcf(tmp_path / "robot.xml").sources


def test_the_last_word_of_a_class_and_of_gravity_counts(tmp_path: Path) -> None:
    """A class may be written in pieces, and gravity that is switched off has no other value."""
    text = f"""<mujoco>
  <option gravity="0 0 -1"/>
  <option> <flag gravity="{{}}"/> </option>
  <default> <joint armature="0.1"/> </default>
  <default>
    <joint armature="0.3"/>
  </default>
  <worldbody>
    <body> <joint name="lift"/> {INERTIAL} </body>
  </worldbody>
</mujoco>"""
    tree = read_mjcf(written(tmp_path, text.format("disable")))
    assert (tree.joints[1].armature, tree.joints[1].sources["armature.default"].line) == (0.3, 6)
    assert (tree.gravity.tolist(), tree.sources["gravity"].line) == ([0, 0, 0], 3)
    tree = read_mjcf(written(tmp_path, text.format("enable")))
    assert (tree.gravity.tolist(), tree.sources["gravity"].line) == ([0, 0, -1], 2)


def test_one_line_files_are_told_apart_by_their_elements(tmp_path: Path) -> None:
    """Everything on line 1 still belongs to the right file."""
    written(tmp_path, f"<mujocoinclude><body name='b'><joint/>{INERTIAL}</body></mujocoinclude>", "b.xml")
    main = f"<mujoco><worldbody><body name='a'><joint/>{INERTIAL}<include file='b.xml'/></body></worldbody></mujoco>"
    found = places(read_mjcf(written(tmp_path, main)), tmp_path)
    assert [found[f"{name}:element"] for name in "ab"] == ["robot.xml:1", "b.xml:1"]


def test_a_refusal_points_into_the_included_file(robot: Path) -> None:
    """MuJoCo itself says line 0 there, whether it stumbles when it parses or when it compiles."""
    finger = robot.parent / "parts" / "finger.xml"
    finger.write_text(FINGER)
    assert (refusal(robot).source.file, refusal(robot).source.line) == (str(finger), 3)
    finger.write_text(FINGER.replace("<freejoint/>", '<joint range="a b"/>'))
    assert (refusal(robot).source.file, refusal(robot).source.line) == (str(finger), 4)


def test_a_line_that_is_not_known_is_not_guessed(robot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If MuJoCo did not take the merged text, the file alone would be said, and the numbers would be the same."""
    known = read_mjcf(robot)
    monkeypatch.setattr(mjcf_spec, "_twin", lambda *_: (None, "no"))
    tree = read_mjcf(robot)
    assert {str(body.source()) for body in tree.bodies[1:]} == {str(robot)}
    assert tree.total_mass == known.total_mass
