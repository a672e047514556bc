"""What Pinocchio makes of features of real MJCF files, in miniature: each difference is named and closes in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tautology.harness.run import check

if TYPE_CHECKING:
    from pathlib import Path

    from tautology.harness.results import EngineResult

ARM = """<mujoco><compiler angle="radian"/>{head}<worldbody>
<body name="arm" pos="0 0 .1">
  <joint name="yaw" axis="0 0 1"/><joint name="lift" axis="0 1 0"/>
  {arm}
  <body name="hand" pos=".3 0 0"><joint name="turn" axis="1 0 0"/>{hand}</body>
</body></worldbody></mujoco>
"""
BOX = '<inertial pos=".1 .02 .03" mass="2" diaginertia=".03 .02 .01"/>'


def read(folder: Path, head: str = "", arm: str = BOX, hand: str = BOX, text: str = ARM) -> EngineResult:
    """Return what Pinocchio, on its native path, makes of a file."""
    path = folder / "arm.xml"
    path.write_text(text.format(head=head, arm=arm, hand=hand), encoding="utf-8")
    (model,) = check(str(path), engines="pinocchio", path="native", states=12).models
    return next(row for row in model.engines if row.engine == "pinocchio")


def told(row: EngineResult) -> set[tuple[str, str | None]]:
    """Return the reasons of another robot, with their places."""
    return {(f.kind, f.where) for f in row.findings if f.severity == "model"}


def test_the_plain_arm_is_the_same(tmp_path: Path) -> None:
    """Without any of the features below nothing differs."""
    assert read(tmp_path).status == "agree"


def test_weights_that_the_file_does_not_have_close_at_their_own_scale(tmp_path: Path) -> None:
    """Where the file has no gravity, rounding of Pinocchio's weights is no residual."""
    row = read(tmp_path, '<option gravity="0 0 0"/>')
    assert told(row) == {("gravity.value", None), ("feature.ignored", "option@gravity")}
    assert row.status == "differs"


def test_a_body_that_lost_its_inertia_is_missing_though_its_joints_are_there(tmp_path: Path) -> None:
    """Shapes that touch nothing are no part of a body for Pinocchio: it holds the body, and none of its mass."""
    shapes = '<geom type="box" size=".1 .1 .1"/><geom type="box" size=".05 .1 .2" pos=".1 0 0"/>'
    row = read(tmp_path, arm=shapes, head='<default><geom contype="0" conaffinity="0"/></default>')
    assert told(row) == {("body.missing", "arm")}


@pytest.mark.parametrize("pos", ["0.012 0 0.01", "-0.3 0.2 0"])
def test_a_frame_that_stands_elsewhere_is_closed_under_wrenches_too(tmp_path: Path, pos: str) -> None:
    """Pinocchio ignores the joint position of a class: the body frame is elsewhere on its piece, wrenches with it."""
    row = read(tmp_path, f'<default><joint pos="{pos}"/></default>')
    assert row.status == "differs"
    kinds = {kind for kind, _ in told(row)}
    assert "joint.placement" in kinds
    assert "unexplained" not in kinds
    tau = next(q for q in row.quantities if q.quantity == "tau")
    assert not tau.passed


def test_what_stands_still_is_told_by_where_it_stands(tmp_path: Path) -> None:
    """A robot that cannot move shows its placement alone."""
    text = '<mujoco>{head}<worldbody><body name="block" pos="1 2 3">{arm}{hand}</body></worldbody></mujoco>'
    row = read(tmp_path, hand="", text=text)
    assert told(row) == {("joint.placement", "block_fixed")}


def test_joints_of_a_composite_are_matched_by_where_they_stand_in_it(tmp_path: Path) -> None:
    """Three joints of one body have no names in Pinocchio: the adapter knows which is which, also when all departs."""
    three = '<joint name="a" axis="0 0 1"/><joint name="b" axis="0 0 1"/><joint name="c" axis="0 0 1"/>' + BOX
    text = ARM.replace('<joint name="turn" axis="1 0 0"/>', "").replace("{arm}", BOX)
    row = read(tmp_path, '<default><joint axis="1 2 3" pos=".1 .2 .3"/></default>', arm="", hand=three, text=text)
    assert "unexplained" not in {kind for kind, _ in told(row)}
    names = {where for kind, where in told(row) if kind.startswith("joint.")}
    assert names <= {"a", "b", "c", "yaw", "lift"}


def test_an_anchor_away_from_the_body_frame_is_the_same_robot(tmp_path: Path) -> None:
    """Pinocchio's bodies stand at their joints and their frames beside them: that is representation."""
    text = ARM.replace('name="turn"', 'name="turn" pos=".1 .2 .3"').replace('name="yaw"', 'name="yaw" pos="0 .1 0"')
    row = read(tmp_path, text=text)
    assert (told(row), row.status) == (set(), "agree")
