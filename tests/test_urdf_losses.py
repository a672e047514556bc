"""What a URDF says and the tree cannot hold: each thing a loss, with its name, its line and what it touches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from urdf_texts import ARM, INERTIAL, mimicking, parse

if TYPE_CHECKING:
    from tautology.harness.tree import Loss


@pytest.mark.parametrize(("other", "kind"), [("nobody", "continuous"), ("follow", "continuous"), ("lead", "planar")])
def test_mimic_that_cannot_hold_is_a_loss(other: str, kind: str) -> None:
    """A joint that is not there, the joint itself, a joint without a single coordinate."""
    tree = mimicking(f'<mimic joint="{other}"/>', kind)
    assert tree.closures == ()
    assert [(loss.element, loss.where, loss.touches_dynamics) for loss in tree.losses] == [("mimic", "follow", True)]


def losses(extra: str, where: str = "</robot>") -> list[Loss]:
    """Return the losses of the arm with something written before the last `where`."""
    head, tail = ARM.rsplit(where, 1)
    return list(parse(head + extra + where + tail).losses)


def test_transmissions_and_rotors_touch_the_dynamics() -> None:
    """Each tag that some engine reads is a loss of its own, under the name that is nearest to it."""
    found = losses(
        """<transmission name="gearbox">
  <type>SimpleTransmission</type>
  <joint name="turn"><hardwareInterface>effort</hardwareInterface></joint>
  <actuator name="motor">
    <mechanicalReduction>60</mechanicalReduction>
    <drake:gear_ratio value="60"/>
    <drake:rotor_inertia value="0.0002"/>
  </actuator>
</transmission>
"""
    )
    assert [(loss.element, loss.where, loss.source.line) for loss in found] == [
        ("transmission", "gearbox", 22),
        ("mechanicalReduction", "motor", 26),
        ("drake:gear_ratio", "motor", 27),
        ("drake:rotor_inertia", "motor", 28),
    ]
    assert all(loss.touches_dynamics for loss in found)
    assert "'turn'" in found[0].note
    assert "0.0002" in found[3].note


def test_transmissions_and_command_interfaces_actuate_their_joints() -> None:
    """Only the joints that they name."""
    head = ARM.removesuffix("</robot>\n")
    simple = '<transmission name="t"><joint name="turn"/></transmission>'
    control = '<ros2_control name="c"><joint name="turn"><{}_interface name="effort"/></joint></ros2_control>'
    for extra, actuated in [
        ("", False),
        (simple, True),
        (control.format("command"), True),
        (control.format("state"), False),
    ]:
        assert [joint.actuated for joint in parse(f"{head}{extra}</robot>").joints] == [False, False, actuated]


@pytest.mark.parametrize(
    ("extra", "before", "element", "where", "touches"),
    [
        ('<gazebo reference="part"><mu1>1</mu1></gazebo>', "</robot>", "gazebo", "part", False),
        ("<mujoco><size/></mujoco>", "</robot>", "mujoco", "arm", False),
        ('<safety_controller k_velocity="1"/>', "</joint>", "safety_controller", "turn", False),
        ("<rotorInertia>0.1</rotorInertia>", "</joint>", "rotorInertia", "turn", True),
        ("<axis xyz='1 0 0'/>", "</joint>", "axis", "turn", True),
        ('<joint_properties armature="1"/>', "</joint>", "joint_properties", "turn", True),
        ("<gravity>0</gravity>", "</link>", "gravity", "part", True),
        (INERTIAL, "</link>", "inertial", "part", True),
        ("<undeclared:tag/>", "</inertial>", "undeclared:tag", "part", False),
    ],
)
def test_what_is_not_read_is_a_loss(extra: str, before: str, element: str, where: str, touches: bool) -> None:
    """Vendor tags, controllers, second elements: with a name, a line, and whether they touch the dynamics."""
    (loss,) = losses(extra, before)
    assert (loss.element, loss.where, loss.touches_dynamics) == (element, where, touches)
    assert loss.source.line == ARM[: ARM.rindex(before)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "element", "touches"),
    [
        ('friction="0.25"', 'friction="0.25" armature="1"', "dynamics@armature", True),
        ('velocity="4"', 'velocity="4" current="1"', "limit@current", False),
        ('type="revolute"', 'type="revolute" dont_collapse="true"', "joint@dont_collapse", False),
        ('<mass value="1.5"', '<mass value="1.5" unit="lb"', "mass@unit", True),
    ],
)
def test_attributes_that_are_not_read_are_losses(old: str, new: str, element: str, touches: bool) -> None:
    """Such as units, currents and flags."""
    (loss,) = parse(ARM.replace(old, new)).losses
    assert (loss.element, loss.touches_dynamics) == (element, touches)


def test_settings_inside_vendor_tags_that_touch_the_dynamics_are_losses_too() -> None:
    """A gravity switch of Gazebo, a spring, a compiler switch of MuJoCo."""
    inside = "<turnGravityOff>true</turnGravityOff><springStiffness>3</springStiffness>"
    found = losses(f'<gazebo reference="part">{inside}</gazebo><mujoco><compiler balanceinertia="true"/></mujoco>')
    assert [(loss.element, loss.where, loss.touches_dynamics) for loss in found] == [
        ("gazebo", "part", False),
        ("turnGravityOff", "part", True),
        ("springStiffness", "part", True),
        ("mujoco", "arm", False),
        ("compiler", "arm", True),
    ]
    assert "true" in found[1].note


def test_shapes_matter_only_where_an_engine_takes_inertia_from_them() -> None:
    """Meshes are never opened; a link without `<inertial>` but with a collision shape is a loss."""
    mesh = '<geometry><mesh filename="gone.stl"/></geometry>'
    shape = f"<visual>{mesh}</visual><collision>{mesh}</collision>"
    tree = parse(ARM.replace("</inertial>", f"</inertial>{shape}"))
    assert tree.losses == ()
    assert tree.bodies[2].source("collision_mesh").line == tree.bodies[2].source("visual_mesh").line == 10
    (loss,) = parse(ARM.replace('<link name="base"/>', f'<link name="base">{shape}</link>')).losses
    assert (loss.element, loss.where, loss.source.line, loss.touches_dynamics) == ("collision", "base", 4, True)
