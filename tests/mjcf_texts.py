"""MJCF texts with everything that a tree takes from MuJoCo, and the errors of those that it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tautology.harness.errors import ReadError
from tautology.harness.importers.mjcf import read_mjcf

if TYPE_CHECKING:
    from pathlib import Path

INERTIAL = '<inertial pos="0.04 -0.03 0.09" mass="1.1" fullinertia="0.007 0.0091 0.0118 0.0004 -0.0006 0.0005"/>'
TURNED = '<inertial pos="0.03 0.02 0.12" quat="0.7 0.3 -0.5 0.4" mass="1.8" diaginertia="0.012 0.017 0.022"/>'

ZOO = f"""<mujoco model="zoo">
  <compiler eulerseq="zYx"/>
  <option gravity="1.5 -2.2 -9.1" density="1.2" viscosity="0.1" wind="1 2 3"/>
  <default>
    <joint armature="0.07" damping="0.3"/>
    <default class="strong">
      <joint armature="0.25"/>
    </default>
  </default>
  <worldbody>
    <geom type="box" size="1 1 1" mass="1000"/>
    <body name="target" mocap="true" pos="0.5 0.2 0.7">
      <geom size="0.05"/>
    </body>
    <frame pos="0.2 0.1 -0.1" euler="20 -35 50">
      <body name="stand" pos="0.1 -0.2 0.3" euler="-10 15 40">
        {INERTIAL}
        <body name="gimbal" pos="0.2 0.1 0.5" euler="20 -15 40" gravcomp="0.5">
          <joint name="outer" axis="0 3 4" pos="0.03 -0.02 0.05" ref="15" range="-30 60"/>
          <joint axis="0.8 0.6 0" pos="-0.01 0.04 0.02" ref="-28" class="strong" stiffness="4" springref="-25"/>
          <joint name="reach" type="slide" axis="0.6 0 0.8" ref="0.07" frictionloss="0.4" actuatorfrcrange="-7 7"/>
          {TURNED}
          <body pos="0.04 -0.05 0.2" quat="0.8 -0.3 0.4 0.2" childclass="strong">
            <joint name="socket" type="ball" pos="0.02 -0.01 0.04"/>
            <geom type="capsule" size="0.03 0.1" pos="0.01 0.02 0.03" euler="10 20 30"/>
            <geom type="box" size="0.02 0.03 0.04" mass="0.3" pos="-0.05 0 0.1"/>
            <body name="fixed" pos="0.1 0 0" quat="0.5 0.5 0.1 0.2">
              {INERTIAL}
            </body>
          </body>
        </body>
      </body>
    </frame>
    <body name="drone" pos="0.5 -0.3 1.2" quat="0.6 0.4 -0.3 0.62">
      <joint type="free"/>
      {INERTIAL}
      <replicate count="2" offset="0.2 0 0" euler="0 0 30">
        <body name="leg">
          <joint name="hip" axis="0.6 0.8 0"/>
          {TURNED}
        </body>
      </replicate>
    </body>
  </worldbody>
  <tendon>
    <fixed name="belt" armature="0.2">
      <joint joint="reach" coef="1.5"/>
      <joint joint="outer" coef="-0.5"/>
    </fixed>
  </tendon>
  <actuator>
    <motor joint="outer" gear="60" armature="0.0002"/>
    <position joint="outer" kp="3" gear="-2" armature="0.1"/>
    <motor jointinparent="socket" gear="3 2 1" armature="0.01"/>
    <motor tendon="belt" gear="5" armature="0.03"/>
  </actuator>
</mujoco>
"""

# A link on line 4, its joint on line 5, its inertial on line 6.
GOOD = """<mujoco model="good">
  <compiler angle="radian"/>
  <worldbody>
    <body name="part" pos="0.1 0.2 0.3">
      <joint name="turn" axis="0 0.6 0.8"/>
      <inertial pos="0.02 0.03 0.05" mass="0.7" diaginertia="0.002 0.0026 0.0033"/>
      <body name="piece">
        <joint name="fold"/>
        <inertial pos="0 0 0.1" mass="0.7" fullinertia="0.002 0.0026 0.0033 0.0001 -0.0002 0.0001"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def written(folder: Path, text: str, name: str = "robot.xml") -> Path:
    """Write a text into a folder and return the file."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path: Path) -> ReadError:
    """Return the error with which a file is refused."""
    with pytest.raises(ReadError) as caught:
        read_mjcf(path)
    return caught.value
