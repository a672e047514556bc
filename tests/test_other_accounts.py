"""Two files of one robot: accounts in the members of either, files in another unit, choices that are no difference."""

from __future__ import annotations

import numpy as np
import pytest

import tautology
from tautology import Tree
from tautology.harness.diagnosis.difference import with_inertia
from tautology.harness.diagnosis.inertias import in_frame
from tautology.harness.diff import diff
from tautology.harness.fusion import compose
from tautology.harness.spatial import rotation_from_rpy
from tautology.harness.tree import Inertia

PART = '<body name="{b}_part" pos="0.1 0 0"><inertial mass="{m}" pos="{x} 0 0" diaginertia="{i} {i} {i}"/></body>'
ARM = """<mujoco><compiler angle="radian"/><worldbody>
<body name="arm" pos="0 0 1" euler="0.3 0.5 -0.4"><joint name="hinge" axis="0 1 0"/>
<inertial mass="{m}" pos="0.2 0.1 0" fullinertia="0.02 0.03 0.04 0.001 {xz} 0.003"/>{more}
<body name="tip" pos="0.5 0 0" euler="-0.7 0.2 0.6"><joint name="wrist" axis="1 0 0"/>
<inertial mass="1" pos="0 0 0.1" diaginertia="0.01 0.02 0.025"/></body></body></worldbody></mujoco>"""


@pytest.fixture
def compare(tmp_path):
    """Return the difference of two texts."""

    def run(a: str, b: str):
        for name, text in (("a.xml", a), ("b.xml", b)):
            (tmp_path / name).write_text(text)
        return diff(str(tmp_path / "a.xml"), str(tmp_path / "b.xml"))

    return run


@pytest.fixture
def tree(tmp_path):
    """Return the tree of a text."""

    def run(text: str) -> Tree:
        (tmp_path / "one.xml").write_text(text)
        return tautology.load(str(tmp_path / "one.xml"))

    return run


def arm(mass: float = 2.0, xz: float = 0.002, part: float = 0.0, inertia: float = 0.0) -> str:
    """Return an arm, with a part of its own where that has a mass."""
    more = PART.format(b="arm", m=part, x=0.05, i=inertia) if part else ""
    return ARM.format(m=mass, xz=xz, more=more)


def told(result) -> list[tuple[str, str | None]]:
    """Return kinds and places of what counts."""
    return [(f.kind, f.where) for f in result.reasons if f.severity == "model"]


def test_a_file_in_the_other_unit_of_angle_is_one_difference(compare):
    """Every turn departs, and all for one reason."""
    result = compare(arm(), arm().replace('angle="radian"', 'angle="degree"'))
    assert told(result) == [("units.angle", None)]
    assert result.reasons[0].explains == pytest.approx(1)
    assert (result.reasons[0].expected, result.reasons[0].found) == ("radian", "degree")


@pytest.mark.parametrize(("kind", "change"), [("mass", {"mass": 2.5}), ("inertia.sign", {"xz": -0.002})])
def test_one_value_is_one_difference_where_ours_has_merged_the_rest(tree, kind, change):
    """Our sum has another mass, centre and tensor; what the other file's members leave of it departs in one alone."""
    ours, theirs = tree(arm(part=0.4, inertia=0.001)), tree(arm(part=0.4, inertia=0.001, **change))
    assert told(diff(ours.fusion.tree, theirs)) == [(kind, "arm")]


def test_a_centre_at_the_origin_that_was_rounded_is_no_difference(tree):
    """A point of mass without size has no length of its own to be rounded against."""
    ours = with_inertia(tree(arm(part=1.0, inertia=0.001)), "arm_part", Inertia(1e-6))
    theirs = with_inertia(ours, "arm_part", Inertia(1e-6, np.array([2e-17, 0, 1e-17])))
    assert diff(ours, theirs).status == "agree"
    assert diff(ours, with_inertia(ours, "arm_part", Inertia(1e-6, np.array([1e-9, 0, 0])))).status == "differs"


def test_how_a_file_splits_an_inertia_is_a_choice(tree):
    """What one member has less another has more, and the sum is what moves."""
    whole = tree(arm(part=1.0, inertia=0.001))
    body, T = whole.bodies[whole.index["arm"]], whole.joints[whole.index["arm_part"]].T_parent_joint

    def split(share: float) -> Tree:
        x = body.inertia
        there = in_frame(Inertia(x.mass * share, x.com, x.I_com * share), np.linalg.inv(T))
        kept = Inertia(x.mass * (1 - share), x.com, x.I_com * (1 - share))
        return with_inertia(with_inertia(whole, "arm", kept), "arm_part", there)

    assert diff(split(0.2), split(0.6)).status == "agree"
    assert diff(split(0.2), with_inertia(split(0.6), "arm", body.inertia)).status == "differs"


# Name to the turns A of the inertial frame and E of the moments of the six numbers in it, as rpy.
TURNS = {"arm": ((0.3, 0.4, 0.5), (0.2, -0.1, 0.3)), "arm_part": ((-0.6, 0.2, 0.9), (-0.4, 0.3, 0.1))}


def merged(tree: Tree, act: str, pushed: float = 0.0) -> tuple[Tree, Tree]:
    """Return the tree with turned inertial frames, and it merged by a reader that makes one mistake with all of them.

    `pushed` [kg m^2] is added to every tensor that was read.
    """
    stated, read = tree, []
    for name, turns in TURNS.items():
        mass, c = tree.bodies[tree.index[name]].inertia.mass, tree.bodies[tree.index[name]].inertia.com
        A, E = (rotation_from_rpy(np.array(turn)) for turn in turns)
        D = mass * np.diag([0.03, 0.024, 0.01])
        W = E @ D @ E.T
        stated = with_inertia(stated, name, Inertia(mass, c, A @ W @ A.T, A))
        T = np.eye(4) if name == "arm" else tree.joints[tree.index[name]].T_parent_joint
        R, p = T[:3, :3], T[:3, 3]
        com = R @ c + p if act == "as written" else c + E @ p
        turned = {"as written": R @ W @ R.T, "other order": E @ R @ D @ R.T @ E.T, "other centre": W}[act]
        read.append((Inertia(mass, com, turned + pushed * np.diag([1, 1, 1.5])), np.eye(4)))
    return stated, with_inertia(stated.fusion.tree, "arm", compose(read))


@pytest.fixture
def bolted(tree):
    """Return an arm with a part that is bolted on in a turn."""
    return tree(arm(part=0.4, inertia=0.001).replace('name="arm_part"', 'name="arm_part" euler="0.5 -0.8 0.3"'))


@pytest.mark.parametrize("act", ["as written", "other order", "other centre"])
def test_one_mistake_with_all_members_is_told_at_each(bolted, act):
    """Their sum has another tensor, and another centre where the placement was taken in the axes of the inertia."""
    ours, theirs = merged(bolted, act)
    result = diff(ours, theirs)
    places = [("inertia.rotation", "arm"), ("inertia.rotation", "arm_part")]
    assert sorted(told(result)) == sorted([*places, *([] if act == "as written" else [("com", "arm_part")])])
    assert not [f for f in result.reasons if f.kind == "unexplained"]


@pytest.mark.parametrize("act", ["as written", "other order", "other centre"])
def test_a_mistake_that_leaves_something_is_not_told(bolted, act):
    """A hundred thousandth of the tensors beside it: then it is a value."""
    kinds = {kind for kind, _ in told(diff(*merged(bolted, act, pushed=1e-6)))}
    assert "inertia.value" in kinds


def test_frames_of_two_bodies_whose_names_are_alike_are_two(tree):
    """`frame1_tool` on one body, `link1_tool` on the next: words that say what a thing is do not tell it."""
    on_arm, on_tip = (f'<body name="{word}1_tool" pos="0 0.1 0.2"/>' for word in ("frame", "link"))
    ours = tree(ARM.format(m=2.0, xz=0.002, more=on_arm))
    theirs = tree(ARM.format(m=2.0, xz=0.002, more="").replace("</body></body>", f"{on_tip}</body></body>"))
    assert diff(ours, theirs).status == "agree"
