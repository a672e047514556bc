"""Small URDF texts, and the trees that they become."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tautology.harness.errors import ReadError
from tautology.harness.importers.urdf import parse_urdf

if TYPE_CHECKING:
    from tautology.harness.tree import Tree

INERTIAL = """<inertial>
      <origin xyz="0.1 -0.2 0.3" rpy="0.3 -0.5 0.7"/>
      <mass value="1.5"/>
      <inertia ixx="0.03" ixy="0.002" ixz="-0.003" iyy="0.04" iyz="0.001" izz="0.05"/>
    </inertial>"""

ARM = f"""<?xml version="1.0"?>
<!-- a comment -->
<robot name="arm" xmlns:drake="http://drake.mit.edu">
  <link name="base"/>
  <link name="part">
    {INERTIAL}
  </link>
  <joint name="turn" type="revolute">
    <parent link="base"/>
    <child link="part"/>
    <origin
        xyz="1 2 3"
        rpy="0.1 0.2 0.3"/>
    <axis xyz="0 0.6 0.8"/>
    <limit lower="-1" upper="2" effort="3" velocity="4"/>
    <dynamics damping="0.5" friction="0.25"/>
  </joint>
</robot>
"""

GOOD = """<robot name="good">
  <link name="base"/>
  <link name="part">
    <inertial>
      <origin xyz="0.02 0.03 0.05" rpy="0.1 0.2 0.3"/>
      <mass value="0.7"/>
      <inertia ixx="0.002" ixy="0.0001" ixz="-0.0002" iyy="0.0026" iyz="0.0001" izz="0.0033"/>
    </inertial>
  </link>
  <link name="piece"/>
  <joint name="turn" type="revolute">
    <parent link="base"/>
    <child link="part"/>
    <origin xyz="0.02 0.03 0.1" rpy="-0.4 0.1 0.2"/>
    <axis xyz="0.8 0 0.6"/>
    <limit lower="-2.5" upper="2.5" effort="40" velocity="6"/>
    <dynamics damping="1" friction="2"/>
  </joint>
  <joint name="fold" type="continuous">
    <parent link="part"/>
    <child link="piece"/>
  </joint>
</robot>
"""


def parse(text: str) -> Tree:
    """Return the tree of a URDF text."""
    return parse_urdf(text.encode(), "arm.urdf")


def joint_of(kind: str, inside: str = "") -> Tree:
    """Return a robot with one joint of this kind."""
    ends = '<parent link="a"/><child link="b"/>'
    return parse(
        f'<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="{kind}">{ends}{inside}</joint></robot>'
    )


def mimicking(relation: str, kind: str = "continuous") -> Tree:
    """Return a robot whose second joint has this `<mimic>`."""
    links = '<link name="a"/><link name="b"/><link name="c"/>'
    first = f'<joint name="lead" type="{kind}"><parent link="a"/><child link="b"/></joint>'
    second = f'<joint name="follow" type="continuous"><parent link="b"/><child link="c"/>{relation}</joint>'
    return parse(f'<robot name="m">{links}{first}{second}</robot>')


def refusal(data: bytes) -> ReadError:
    """Return the error that these bytes raise."""
    with pytest.raises(ReadError) as caught:
        parse_urdf(data, "bad file.urdf")
    return caught.value
