"""The URDF importer: what each element becomes, and on which line it stands."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import pytest
from urdf_texts import ARM, joint_of, mimicking, parse

from tautology.harness.importers.urdf import parse_urdf, read_urdf
from tautology.harness.tree import JointKind

if TYPE_CHECKING:
    from pathlib import Path


def rotation(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Return the turns about the fixed axes x, y, z, one after the other, written out."""
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ],
    )


def test_every_number_of_the_file_reaches_the_tree() -> None:
    """Mass, COM, tensor R I R^T, placement, axis, limits, damping, friction."""
    tree = parse(ARM)
    assert tree.name == "arm"
    assert [body.name for body in tree.bodies] == ["world", "base", "part"]
    inertia, joint = tree.bodies[2].inertia, tree.bodies[2].joint
    R = rotation(0.3, -0.5, 0.7)
    I_file = np.array([[0.03, 0.002, -0.003], [0.002, 0.04, 0.001], [-0.003, 0.001, 0.05]])
    assert inertia.mass == 1.5
    assert inertia.com.tolist() == [0.1, -0.2, 0.3]
    np.testing.assert_allclose(inertia.I_com, R @ I_file @ R.T, rtol=0, atol=1e-17)
    np.testing.assert_allclose(joint.T_parent_joint[:3, :3], rotation(0.1, 0.2, 0.3), rtol=0, atol=3e-16)
    assert joint.T_parent_joint[:3, 3].tolist() == [1, 2, 3]
    np.testing.assert_array_equal(joint.T_joint_body, np.eye(4))
    np.testing.assert_allclose(joint.axis, [0, 0.6, 0.8], rtol=0, atol=1e-16)
    assert (joint.kind, joint.lower, joint.upper, joint.effort, joint.speed) == ("revolute", -1, 2, 3, 4)
    assert (joint.damping, joint.friction, joint.reflected) == (0.5, 0.25, 0)
    assert tree.losses == ()


def test_every_element_knows_its_line() -> None:
    """The line is that of the `<`, also for a tag over several lines; missing fields fall back on their element."""
    part, base = parse(ARM).bodies[2], parse(ARM).bodies[1]
    lines = {name: part.source(name).line for name in ("element", "inertial", "mass", "com", "inertia")}
    assert lines == {"element": 5, "inertial": 6, "com": 7, "mass": 8, "inertia": 9}
    names = ("element", "parent", "child", "T_parent_joint", "axis", "limit", "upper", "effort", "dynamics", "friction")
    assert [part.joint.source(name).line for name in names] == [12, 13, 14, 15, 18, 19, 19, 19, 20, 20]
    assert base.source("mass").line == base.joint.source().line == 4
    assert str(part.source()) == "arm.urdf:5"


def test_lines_stay_right_beyond_65535() -> None:
    """No line counter of two bytes is in the way."""
    text = ARM.replace("<!-- a comment -->", "\n" * 70_000)
    assert parse(text).bodies[2].joint.source("axis").line == 18 + 70_000


@pytest.mark.parametrize(
    ("written", "kind", "nq", "nv"),
    [
        ("fixed", JointKind.FIXED, 0, 0),
        ("revolute", JointKind.REVOLUTE, 1, 1),
        ("continuous", JointKind.CONTINUOUS, 1, 1),
        ("prismatic", JointKind.PRISMATIC, 1, 1),
        ("planar", JointKind.PLANAR, 3, 3),
        ("floating", JointKind.FLOATING, 7, 6),
        ("spherical", JointKind.BALL, 4, 3),
        ("ball", JointKind.BALL, 4, 3),
    ],
)
def test_every_joint_type_has_its_kind(written: str, kind: JointKind, nq: int, nv: int) -> None:
    """All types of the format, and the ball joint under both of its names; damping goes to every dof."""
    tree = joint_of(written, '<dynamics damping="0.5" friction="0.25"/>')
    assert (tree.joints[2].kind, tree.nq, tree.nv) == (kind, nq, nv)
    assert tree.joints[2].damping.tolist() == [0.5] * nv
    assert tree.joints[2].friction.tolist() == [0.25] * nv


@pytest.mark.parametrize(
    ("axis", "unit"),
    [
        ("", [1, 0, 0]),
        ("<axis/>", [1, 0, 0]),
        ('<axis xyz="0 3 4"/>', [0, 0.6, 0.8]),
        ('<axis xyz="0 -3e-200 4e-200"/>', [0, -0.6, 0.8]),
        ('<axis xyz="-3e300 0 4e300"/>', [-0.6, 0, 0.8]),
        ('<axis xyz="0 0 -1"/>', [0, 0, -1]),
    ],
)
@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "planar"])
def test_axes_are_normalised_and_x_by_default(kind: str, axis: str, unit: list[float]) -> None:
    """The direction counts, whatever the length; the length itself is kept as a loss."""
    tree = joint_of(kind, axis)
    np.testing.assert_allclose(tree.joints[2].axis, unit, rtol=0, atol=2e-16)
    lengths = [loss for loss in tree.losses if loss.element == "axis@xyz"]
    assert len(lengths) == (1 if "3" in axis else 0)


def test_zero_axis_of_a_fixed_joint_means_nothing() -> None:
    """Exporters write it on every fixed joint."""
    assert joint_of("fixed", '<axis xyz="0 0 0"/><limit lower="0" upper="0" effort="0" velocity="0"/>').losses == ()


def test_limits_are_optional() -> None:
    """Lower and upper default to zero; without `<limit>` there is none, and the loss says so."""
    bounded = joint_of("prismatic", '<limit effort="1" velocity="2"/>').joints[2]
    assert (bounded.lower, bounded.upper) == (0, 0)
    tree = joint_of("revolute")
    assert (tree.joints[2].lower, tree.joints[2].upper, tree.joints[2].speed) == (-np.inf, np.inf, np.inf)
    assert [(loss.element, loss.where) for loss in tree.losses] == [("limit", "j")]
    tree = joint_of("continuous", '<limit lower="-1" upper="1" effort="3" velocity="4"/>')
    assert (tree.joints[2].lower, tree.joints[2].upper, tree.joints[2].effort) == (-np.inf, np.inf, 3)
    assert [loss.element for loss in tree.losses] == ["limit@lower", "limit@upper"]


def test_incomplete_inertials_are_taken_as_written() -> None:
    """No `<inertial>`: no inertia; no `<origin>`: at the link frame; no `<inertia>`: a point mass."""
    tree = parse(ARM.replace('<origin xyz="0.1 -0.2 0.3" rpy="0.3 -0.5 0.7"/>', ""))
    assert tree.bodies[1].inertia.is_zero
    assert not tree.bodies[2].inertia.com.any()
    assert tree.bodies[2].inertia.I_com[0, 2] == -0.003
    assert tree.bodies[2].source("com").line == 6
    start, end = ARM.index("<inertia "), ARM.index("</inertial>")
    point = parse(ARM[:start] + ARM[end:]).bodies[2].inertia
    assert (point.mass, point.I_com.any()) == (1.5, False)


def test_tensors_need_not_be_physical() -> None:
    """An indefinite tensor and a massless one are the file's affair."""
    tree = parse(ARM.replace('ixx="0.03"', 'ixx="-7"').replace('<mass value="1.5"/>', '<mass value="0"/>'))
    assert np.linalg.eigvalsh(tree.bodies[2].inertia.I_com)[0] < -6.9
    assert tree.bodies[2].inertia.mass == 0


def test_quaternion_origins_of_version_1_1_are_read() -> None:
    """Scalar last, not normalised in the file; in a file of version 1.0 they are a loss."""
    text = ARM.replace('rpy="0.1 0.2 0.3"', 'quat_xyzw="2 -4 6 10"')
    new = parse(text.replace('name="arm"', 'name="arm" version="1.1"'))
    x, y, z, w = np.array([2, -4, 6, 10]) / np.sqrt(156)
    row = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]
    np.testing.assert_allclose(new.joints[2].T_parent_joint[0, :3], row, rtol=0, atol=3e-16)
    assert new.losses == ()
    old = parse(text)
    np.testing.assert_array_equal(old.joints[2].T_parent_joint[:3, :3], np.eye(3))
    assert [(loss.element, loss.source.line, loss.touches_dynamics) for loss in old.losses] == [
        ("origin@quat_xyzw", 15, True)
    ]


def test_siblings_stand_in_the_order_of_their_joints() -> None:
    """Neither the order of the links nor the alphabet counts."""
    links = "".join(f'<link name="{name}"/>' for name in "abcdr")
    pairs = [("z", "r", "c"), ("y", "c", "a"), ("x", "r", "b"), ("w", "c", "d")]
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/></joint>'
        for name, parent, child in pairs
    )
    tree = parse(f'<robot name="t">{links}{joints}</robot>')
    assert [body.name for body in tree.bodies] == ["world", "r", "c", "a", "d", "b"]
    assert tree.dofs == ("z", "y", "w", "x")


def test_invented_names_are_unique() -> None:
    """The world and the joint of the root give way to the names of the file."""
    text = ARM.replace('"base"', '"world"').replace('"part"', '"universe"').replace('"turn"', '"root_joint"')
    tree = parse(text)
    assert [body.name for body in tree.bodies] == ["universe_2", "world", "universe"]
    assert [joint.name for joint in tree.joints[1:]] == ["root_joint_2", "root_joint"]


def test_root_floats_only_where_the_file_says_so() -> None:
    """A floating joint on a bare root is a free base; the root link stays welded as body 1."""
    tree = joint_of("floating", '<origin xyz="1 2 3"/>')
    assert (tree.base, tree.joints[1].kind, tree.joints[2].kind) == ("free", "fixed", "floating")
    assert tree.with_base("free") is tree
    assert parse(ARM).base == "fixed"


def test_mimic_joints_are_closures() -> None:
    """Both joints stay in the tree; offset and multiplier have defaults."""
    tree = mimicking('<mimic joint="lead" multiplier="-2" offset="0.1"/>')
    (closure,) = tree.closures
    assert (closure.kind, closure.between, closure.numbers) == ("mimic", ("follow", "lead"), (0.1, -2.0))
    assert (tree.nv, tree.losses) == (2, ())
    assert mimicking('<mimic joint="lead"/>').closures[0].numbers == (0.0, 1.0)


def test_origin_of_the_tree_is_the_file(tmp_path: Path) -> None:
    """The path stays as it was given, spaces and letters of any language included; the hash is that of the bytes."""
    path = tmp_path / "mein Roboter ü 機械.urdf"
    path.write_text(ARM.replace('"part"', '"część & <1>"'.replace("&", "&amp;").replace("<", "&lt;")), encoding="utf-8")
    tree = read_urdf(path)
    assert (tree.origin.path, tree.origin.format) == (str(path), "urdf")
    assert tree.origin.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert tree.bodies[2].name == "część & <1>"
    assert tree.bodies[2].source().file == str(path)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "iso-8859-1"])
def test_declared_encodings_and_marks_are_understood(encoding: str) -> None:
    """A byte order mark, two bytes per character, a declared code page; and lines ended by two characters."""
    declared = encoding.removesuffix("-sig")
    text = (
        ARM.replace('"1.0"?', f'"1.0" encoding="{declared}"?').replace('"part"', '"Gelenk Öse"').replace("\n", "\r\n")
    )
    tree = parse_urdf(text.encode(encoding), "arm.urdf")
    assert tree.bodies[2].name == "Gelenk Öse"
    assert tree.bodies[2].joint.source("dynamics").line == 20


def test_chain_of_10_000_links_loads() -> None:
    """No recursion: any depth is as good as another."""
    count = 10_000
    links = "".join(f'<link name="l{i}"/>\n' for i in range(count + 1))
    joints = "".join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/></joint>\n'
        for i in range(count)
    )
    tree = parse(f'<robot name="deep">\n{links}{joints}</robot>')
    assert (tree.nv, tree.parents[-1]) == (count, count)
    assert tree.joints[-1].source().line == 2 * count + 2
