"""Faults of the file itself: every planted one is found where it is, and what is sound is left in peace."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_trees import random_inertia, random_rotation, random_tree
from urdf_texts import GOOD, mimicking, parse

from tautology.harness.diagnosis.lint import lint
from tautology.harness.findings import KINDS
from tautology.harness.importers.mjcf import read_mjcf
from tautology.harness.spatial import rotation_from_rpy, transform
from tautology.harness.tree import Body, Inertia, Joint, JointKind, Origin, TendonInertia, Tree, world

SIX = ((0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2))
LINTS = {kind for kind in KINDS if kind.startswith("lint.")}
TENSOR = '<inertia ixx="0.002" ixy="0.0001" ixz="-0.0002" iyy="0.0026" iyz="0.0001" izz="0.0033"/>'
GOOD_TENSOR = 'ixx="0.002" ixy="0.0001" ixz="-0.0002" iyy="0.0026" iyz="0.0001" izz="0.0033"'
BARE = '<joint name="fold" type="continuous">'


def sound() -> str:
    """Return a small robot without a fault: the third link of the sample stands on a fixed joint."""
    return GOOD.replace(BARE, '<joint name="fold" type="fixed">')


def told(tree: Tree) -> list[tuple[str, str | None, int | None]]:
    """Return kind, place and line of every fault."""
    return [(f.kind, f.where, f.line) for f in lint(tree)]


def pair_of(left: Inertia, right: Inertia, R: np.ndarray | None = None) -> Tree:
    """Return a trunk with a left and a right arm half a metre apart, the right one in axes turned by R."""
    R = np.eye(3) if R is None else R
    trunk = Body("trunk", 0, Joint("weld", JointKind.FIXED), Inertia(5.0, np.zeros(3), np.eye(3) * 0.1))
    arms = [
        Body(f"{side}_arm", 1, Joint(f"{side}_joint", JointKind.REVOLUTE, T_parent_joint=T, lower=-1, upper=1), inertia)
        for side, T, inertia in (
            ("left", transform(np.eye(3), np.array([0, 0.25, 0])), left),
            ("right", transform(R, np.array([0, -0.25, 0])), right),
        )
    ]
    return Tree("pair", (world(), trunk, *arms))


@pytest.mark.parametrize("seed", range(40))
def test_a_random_robot_has_no_fault(seed):
    """Physical inertias, unit axes and limits with room, in any axes and with any joints, give no word."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 12, armature=True, tendons=True, floating_root=bool(seed % 2))
    assert told(tree) == []


def test_a_sound_file_has_no_fault():
    """The sample of the tests below is quiet before something is planted in it."""
    assert told(parse(sound())) == []


@pytest.mark.parametrize(
    ("kind", "before", "after", "where", "line"),
    [
        ("lint.mass", '<mass value="0.7"/>', '<mass value="1e-13"/>', "part", 6),
        ("lint.massless_tensor", '<mass value="0.7"/>', '<mass value="0"/>', "part", 6),
        ("lint.not_definite", 'ixy="0.0001"', 'ixy="0.01"', "part", 7),
        ("lint.triangle", 'izz="0.0033"', 'izz="0.0053"', "part", 7),
        ("lint.not_definite", TENSOR, "", "part", 4),
        ("lint.range", 'upper="2.5"', 'upper="-2.5"', "turn", 16),
        ("lint.range", 'lower="-2.5" upper="2.5" ', "", "turn", 16),
        ("lint.axis", 'axis xyz="0.8 0 0.6"', 'axis xyz="1 0 1"', "turn", 15),
        ("lint.massless", '<joint name="fold" type="fixed">', BARE, "piece", 10),
    ],
)
def test_a_planted_fault_is_found_where_it_is(kind, before, after, where, line):
    """One change of the file, one fault, with the line of the element that was changed."""
    text = sound()
    assert before in text
    assert (kind, where, line) in told(parse(text.replace(before, after)))
    expected = {kind} | ({"lint.tensor_size"} if kind == "lint.mass" else set())
    assert {found for found, _, _ in told(parse(text.replace(before, after)))} == expected


def test_a_fault_says_what_was_expected_and_what_to_do():
    """A finding has values with their unit, and a sentence for the format of the file."""
    (fault,) = lint(parse(sound().replace('izz="0.0033"', 'izz="0.0053"')))
    assert fault.expected == "principal moments A, B, C with A + B >= C"
    assert fault.unit == "kg m^2"
    assert fault.found == pytest.approx(
        np.linalg.eigvalsh([[2e-3, 1e-4, -2e-4], [1e-4, 2.6e-3, 1e-4], [-2e-4, 1e-4, 5.3e-3]])
    )
    assert "<inertia> of 'part' at line 7 of arm.urdf" in fault.fix
    (axis,) = lint(parse(sound().replace('axis xyz="0.8 0 0.6"', 'axis xyz="0 3 4"')))
    assert (axis.found, axis.severity) == (5.0, "convention")


def test_faults_come_by_kind_then_by_line():
    """The order is that of the kinds, whatever the order of the checks."""
    text = sound().replace('upper="2.5"', 'upper="-2.5"').replace('izz="0.0033"', 'izz="0.0053"')
    assert [kind for kind, _, _ in told(parse(text.replace('"0.8 0 0.6"', '"2 0 0"')))] == [
        "lint.triangle",
        "lint.range",
        "lint.axis",
    ]


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_no_distribution_of_mass_has_a_tensor_that_is_faulted(seed, count):
    """Moments of points of mass anywhere keep the triangle inequality, to equality when they lie in a plane."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count + 2, 3)) * 0.1
    if count % 2:
        points[:, 2] = 0
    points = (points - points.mean(0)) @ random_rotation(rng).T
    I = sum(np.eye(3) * (p @ p) - np.outer(p, p) for p in points) * 0.3
    inertia = Inertia(0.3 * len(points), np.zeros(3), (I + I.T) / 2)
    assert told(pair_of(inertia, replace(inertia, mass=inertia.mass * 1.5))) == []


@pytest.mark.parametrize("kind", ["lint.triangle", "lint.not_definite"])
def test_a_tensor_is_judged_in_any_axes(kind):
    """Principal moments do not hang on the axes in which they are written."""
    rng = np.random.default_rng(5)
    moments = {"lint.triangle": [0.01, 0.02, 0.030001], "lint.not_definite": [-1e-6, 0.02, 0.03]}[kind]
    good = random_inertia(rng)
    for _ in range(20):
        R = random_rotation(rng)
        I = R @ np.diag(moments) @ R.T
        tree = pair_of(good, Inertia(2.0, np.zeros(3), (I + I.T) / 2))
        assert told(tree) == [(kind, "right_arm", None)]


def test_a_point_of_mass_may_be_fixed_to_a_link_and_may_not_move_by_itself():
    """No tensor at all is a fair way to add a weight; a moving link, and a root that may float, need one."""
    weight, good = Inertia(1.0), random_inertia(np.random.default_rng(1))
    tree = pair_of(good, good)
    fixed = Body("weight", 2, Joint("bolt", JointKind.FIXED), weight)
    assert told(replace(tree, bodies=(*tree.bodies, fixed))) == []
    assert told(pair_of(good, weight)) == [("lint.not_definite", "right_arm", None)]
    root = Tree("point", (world(), Body("weight", 0, Joint("weld", JointKind.FIXED), weight)))
    assert told(root) == [("lint.not_definite", "weight", None)]


@pytest.mark.parametrize(("density", "kinds"), [(19_300, []), (22_000, []), (24_000, ["lint.tensor_size"])])
def test_nothing_is_denser_than_osmium(density, kinds):
    """A ball of tungsten is sound; whatever would be heavier than osmium is not."""
    r, good = 0.03, random_inertia(np.random.default_rng(2))
    mass = density * 4 / 3 * np.pi * r**3
    ball = Inertia(mass, np.zeros(3), np.eye(3) * 0.4 * mass * r**2)
    assert [kind for kind, _, _ in told(pair_of(good, ball))] == kinds


@pytest.mark.parametrize(("factor", "faulty"), [(1e6, True), (1e4, True), (3, False), (0.5, False), (1e-4, True)])
def test_a_tensor_in_other_units_is_out_of_proportion(factor, faulty):
    """A tensor in kg mm^2 or kg cm^2 is told from kg m^2 by mass and reach; a factor of three is no slip."""
    text = sound()
    scaled = " ".join(
        f'{name}="{float(number) * factor!r}"'
        for name, number in (x.split("=") for x in GOOD_TENSOR.replace('"', "").split())
    )
    found = told(parse(text.replace(GOOD_TENSOR, scaled)))
    assert found == ([("lint.tensor_size", "part", 7)] if faulty else [])


def test_a_trunk_may_be_larger_than_the_joints_it_carries():
    """Joints near the middle of a drone say nothing about its arms: it is as dense as drones are."""
    base = Body("base", 0, Joint("free", JointKind.FLOATING), Inertia(1.5, np.zeros(3), np.diag([0.03, 0.03, 0.06])))
    T = transform(np.eye(3), np.array([0, 0, -0.02]))
    small = Inertia(0.05, np.zeros(3), np.eye(3) * 1e-5)
    camera = Body("camera", 1, Joint("tilt", JointKind.CONTINUOUS, T_parent_joint=T), small)
    assert told(Tree("drone", (world(), base, camera))) == []


@pytest.mark.parametrize(("mass", "kinds"), [(9e4, []), (2e5, ["lint.mass"])])
def test_no_link_weighs_more_than_a_hundred_tonnes(mass, kinds):
    """A mass in grams, or with an exponent that slipped, whose tensor slipped with it."""
    good = random_inertia(np.random.default_rng(3))
    assert [kind for kind, _, _ in told(pair_of(good, Inertia(mass, np.zeros(3), np.eye(3) * mass)))] == kinds


@pytest.mark.parametrize("plane", range(3))
@pytest.mark.parametrize("signs", range(8))
def test_a_mirror_flips_two_products_or_none(plane, signs):
    """Of the eight ways to sign three products, the one that belongs to the mirrored centre of mass is sound."""
    left = Inertia(1.3, [0.05, 0.04, 0.06], [[0.011, 0.002, -0.003], [0.002, 0.013, 0.0015], [-0.003, 0.0015, 0.016]])
    g = np.eye(3)
    g[plane, plane] = -1
    flip = [1 - 2 * (signs >> k & 1) for k in range(3)]
    I = left.I_com.copy()
    for k, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        I[i, j] = I[j, i] = left.I_com[i, j] * flip[k]
    mirrored = np.array_equal(I, g @ left.I_com @ g)
    found = lint(pair_of(left, Inertia(1.3, g @ left.com, I)))
    assert [f.kind for f in found if f.kind == "lint.mirror"] == ([] if mirrored else ["lint.mirror"])
    if found and found[0].kind == "lint.mirror":
        assert np.allclose(found[0].expected, (g @ left.I_com @ g)[SIX])
        assert "left_arm" in found[0].note


def test_a_mirror_is_seen_through_turned_frames():
    """Left and right frames may be turned against each other: the mirror plane is that of the robot at rest."""
    rng = np.random.default_rng(7)
    S = np.diag([1.0, -1, 1])
    for _ in range(20):
        left, R = random_inertia(rng), random_rotation(rng)
        right = Inertia(left.mass, R.T @ S @ left.com, _symmetric(R.T @ S @ left.I_com @ S @ R))
        assert told(pair_of(left, right, R)) == []


def test_signs_are_judged_in_turned_frames_too():
    """Two products flipped in the axes of the right link, which are turned against those of the left one."""
    left = Inertia(1.3, [0.05, 0.04, 0.06], [[0.011, 0.002, -0.003], [0.002, 0.013, 0.0015], [-0.003, 0.0015, 0.016]])
    R, S, G = rotation_from_rpy(np.array([0.4, -0.3, 0.8])), np.diag([1.0, -1, 1]), np.diag([-1.0, 1, 1])
    right = Inertia(left.mass, R.T @ S @ left.com, _symmetric(R.T @ S @ left.I_com @ S @ R))
    assert told(pair_of(left, right, R)) == []
    (fault,) = lint(pair_of(left, replace(right, I_com=G @ right.I_com @ G), R))
    assert (fault.kind, fault.where) == ("lint.mirror", "right_arm")
    assert np.allclose(fault.expected, right.I_com[SIX])


def test_the_tensor_of_a_fault_is_told_in_the_axes_of_the_file():
    """A URDF writes it in its inertial frame, whose turn is no part of the fault."""
    rng = np.random.default_rng(8)
    left, R = random_inertia(rng), random_rotation(rng)
    tree = pair_of(left, replace(left, com=left.com * [1, -1, 1], axes=R))
    (fault,) = lint(replace(tree, origin=Origin("arm.urdf", "urdf")))
    S = np.diag([1.0, -1, 1])
    assert np.allclose(fault.found, (R.T @ left.I_com @ R)[SIX])
    assert np.allclose(fault.expected, (R.T @ S @ left.I_com @ S @ R)[SIX])
    (fault,) = lint(tree)
    assert np.allclose(fault.found, left.I_com[SIX])


def test_other_parts_on_the_two_sides_are_no_fault():
    """Links that differ in more than signs, or whose products are too small to mean anything, are left in peace."""
    left = Inertia(1.3, [0.05, 0.04, 0.06], [[0.011, 0.002, -0.003], [0.002, 0.013, 0.0015], [-0.003, 0.0015, 0.016]])
    com = left.com * [1, -1, 1]
    moments = np.diag(np.diag(left.I_com))
    assert told(pair_of(left, Inertia(1.3, com, left.I_com + 0.05 * moments))) == []
    assert told(pair_of(left, Inertia(1.3, com, left.I_com + 0.2 * (left.I_com - moments)))) == []
    assert told(pair_of(left, Inertia(1.3, com, left.I_com))) == [("lint.mirror", "right_arm", None)]
    assert told(pair_of(left, Inertia(1.5, com, left.I_com))) == []
    assert told(pair_of(left, left)) == []
    small = Inertia(1.3, left.com, np.diag([0.011, 0.013, 0.016]) + (np.ones((3, 3)) - np.eye(3)) * 1e-7)
    assert told(pair_of(small, replace(small, com=com))) == []


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("left_arm", "right_arm"),
        ("arm_l", "arm_r"),
        ("L_Arm", "R_Arm"),
        ("FL_thigh", "FR_thigh"),
        ("RL_hip", "RR_hip"),
        ("LF_HAA", "RF_HAA"),
        ("lh_foot", "rh_foot"),
        ("LARM_LINK3", "RARM_LINK3"),
        ("LeftWristRoll", "RightWristRoll"),
        ("motor_leftL_link", "motor_rightR_link"),
        ("larm2", "rarm2"),
    ],
)
def test_sides_are_known_by_their_names(left, right):
    """The spellings that robots use for their two sides."""
    inertia = Inertia(1.3, [0.05, 0.04, 0.06], [[0.011, 0.002, 0.003], [0.002, 0.013, 0.0015], [0.003, 0.0015, 0.016]])
    tree = pair_of(inertia, replace(inertia, com=inertia.com * [1, -1, 1]))
    bodies = (*tree.bodies[:2], replace(tree.bodies[2], name=left), replace(tree.bodies[3], name=right))
    assert told(replace(tree, bodies=bodies)) == [("lint.mirror", right, None)]
    bodies = (*tree.bodies[:2], replace(tree.bodies[2], name="upper"), replace(tree.bodies[3], name="lower"))
    assert told(replace(tree, bodies=bodies)) == []


def test_a_joint_with_nothing_to_move_is_told_once():
    """The upmost of a chain without inertia; a motor's or a tendon's inertia is something to move."""
    good = random_inertia(np.random.default_rng(4))

    def chain(**joint: object) -> Tree:
        finger = Body("finger", 3, Joint("knuckle", JointKind.CONTINUOUS, **joint))
        tip = Body("tip", 4, Joint("bend", JointKind.CONTINUOUS))
        return replace(pair_of(good, good), bodies=(*pair_of(good, good).bodies, finger, tip))

    assert told(chain()) == [("lint.massless", "finger", None)]
    assert told(chain(armature=0.1)) == [("lint.massless", "tip", None)]
    belted = replace(chain(armature=0.1), tendons=(TendonInertia("belt", 0.1, {"bend": 1.0}),))
    assert told(belted) == []


def test_a_link_that_moves_without_inertial_is_told():
    """Between two joints of one hip; a fixed child with inertia makes up for it, and it is no matter of an MJCF."""
    heavy = GOOD.replace(
        '<link name="piece"/>', GOOD[GOOD.index('<link name="part">') : GOOD.index('  <link name="piece"/>')]
    )
    heavy = heavy.replace('<link name="part">', '<link name="piece">')
    text = heavy.replace(heavy[heavy.index("    <inertial>") : heavy.index("</inertial>") + 12], "", 1)
    text = text.replace('<link name="piece">', '<link name="part"/>\n  <link name="piece">', 1)
    text = text.replace(text[text.index('<link name="piece">\n') : text.index("</link>") + 7], "", 1)
    tree = parse(text)
    assert [b.inertia.is_zero for b in tree.bodies] == [True, True, True, False]
    assert [(kind, where) for kind, where, _ in told(tree)] == [("lint.no_inertial", "part")]
    assert told(parse(text.replace(BARE, '<joint name="fold" type="fixed">'))) == []
    assert told(replace(tree, origin=replace(tree.origin, format="mjcf"))) == []


@pytest.mark.parametrize("leader", ["lead", "nobody", "follow"])
def test_a_mimic_of_nobody_is_told(leader):
    """A joint that follows one that is not there, or itself."""
    tree = mimicking(f'<mimic joint="{leader}" multiplier="2"/>')
    found = [f for f in lint(tree) if f.kind == "lint.mimic"]
    assert [f.where for f in found] == ([] if leader == "lead" else ["follow"])
    assert all("follow" in f.found for f in found)


def test_an_mjcf_is_told_in_its_own_words(tmp_path):
    """The line is that of <inertial>, the sentence speaks of fullinertia."""
    file = tmp_path / "two.xml"
    file.write_text(
        """<mujoco>
  <worldbody>
    <body name="upper">
      <joint name="swing"/>
      <inertial pos="0.1 0 0" mass="0.5" fullinertia="300 400 500 10 20 30"/>
      <body name="lower" pos="0 0 0.3">
        <joint name="bend"/>
        <inertial pos="0.1 0 0" mass="0.5" diaginertia="0.001 0.001 0.001"/>
      </body>
    </body>
  </worldbody>
</mujoco>""",
        encoding="utf-8",
    )
    (fault,) = lint(read_mjcf(file))
    assert (fault.kind, fault.where, fault.line, fault.file) == ("lint.tensor_size", "upper", 5, str(file))
    assert fault.fix.startswith("write the inertia of 'upper' at line 5 of two.xml in kg m^2")


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e150, 1e300])
def test_numbers_of_any_size_are_a_fault_and_no_error(size):
    """What a double holds can stand in a file; warnings are errors here."""
    tree = pair_of(Inertia(size, np.full(3, size), np.eye(3) * size), Inertia(1.0, np.full(3, size), np.eye(3) * size))
    assert {kind for kind, _, _ in told(tree)} <= LINTS
    assert told(tree)


def _symmetric(I: np.ndarray) -> np.ndarray:
    return (I + I.T) / 2
