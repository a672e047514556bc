"""What an MJCF says and its tree cannot hold: never dropped in silence, always with a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from mjcf_texts import GOOD, written

from tautology.harness.importers.mjcf import read_mjcf

if TYPE_CHECKING:
    from pathlib import Path

JOINT = '<joint name="turn"'
END = "</mujoco>"
BODIES_END = "</worldbody>"
CLOTH = '<body name="c"><flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" mass="1"/></body>'
BELT = '<tendon><fixed name="belt"{}><joint joint="turn" coef="1"/></fixed></tendon></mujoco>'
SITES = '<site name="a"/><site name="b" pos="1 0 0"/></worldbody>'
ROPE = '<tendon><spatial name="rope" armature="1"><site site="a"/><site site="b"/></spatial></tendon>'

# Element: name, whether it touches the dynamics, and what replaces what.
LOSSES = {
    "joint@stiffness": ("turn", True, JOINT, f'{JOINT} stiffness="1 2"'),
    "joint@damping": ("turn", True, JOINT, f'{JOINT} damping="1 2"'),
    "joint@range": ("turn", False, 'axis="0 0.6 0.8"', 'type="ball" range="0 1"'),
    "joint@actuatorfrcrange": ("turn", False, JOINT, f'{JOINT} actuatorfrcrange="-1 2"'),
    "joint@actuatorgravcomp": ("turn", False, JOINT, f'{JOINT} actuatorgravcomp="true"'),
    "geom@fluidshape": ("piece", True, '<joint name="fold"/>', '<joint/><geom size="1" fluidshape="ellipsoid"/>'),
    "body@mocap": ("box", False, BODIES_END, f'<body name="box" mocap="true"/>{BODIES_END}'),
    "flex": ("cloth", True, BODIES_END, f"{CLOTH}{BODIES_END}"),
    "motor": ("push", False, END, f'<actuator><motor name="push" joint="turn"/></actuator>{END}'),
    "position": ("turn", True, END, f'<actuator><position joint="turn"/></actuator>{END}'),
    "damper": ("turn", True, END, f'<actuator><damper joint="turn" kv="1" ctrlrange="0 1"/></actuator>{END}'),
    "fixed": ("belt", False, END, BELT.format("")),
    "fixed@stiffness": ("belt", True, END, BELT.format(' stiffness="2"')),
    "spatial@armature": ("rope", True, BODIES_END, SITES + ROPE),
    "sensor": (None, False, END, f"<sensor><clock/></sensor>{END}"),
    "option": (None, False, "<worldbody>", '<option timestep="0.1"/><worldbody>'),
}


@pytest.mark.parametrize("element", LOSSES)
def test_what_the_tree_cannot_hold_is_a_loss_with_a_line(tmp_path: Path, element: str) -> None:
    """Element, name, line, and whether some engine's smooth dynamics would feel it."""
    where, touches, old, new = LOSSES[element]
    assert old in GOOD
    text = GOOD.replace(old, new)
    path = written(tmp_path, text)
    losses = [loss for loss in read_mjcf(path).losses if loss.element == element]
    assert [(loss.where, loss.touches_dynamics) for loss in losses] == [(where, touches)]
    at = next(i for i, line in enumerate(text.splitlines(), 1) if line not in GOOD.splitlines())
    assert (losses[0].source.file, losses[0].source.line) == (str(path), at)
    assert not any(loss.element == element for loss in read_mjcf(written(tmp_path, GOOD)).losses)


def test_a_spatial_tendon_has_no_place_among_the_tendons(tmp_path: Path) -> None:
    """Only fixed tendons have a constant inertia."""
    _, _, old, new = LOSSES["spatial@armature"]
    assert read_mjcf(written(tmp_path, GOOD.replace(old, new))).tendons == ()


def test_a_geom_outside_the_group_range_weighs_nothing_and_says_so(tmp_path: Path) -> None:
    """The inertia stands on the line of the geom that counts."""
    text = GOOD.replace('angle="radian"', 'angle="radian" inertiagrouprange="0 1"')
    geoms = '<geom size="0.1" group="2"/>\n<geom size="0.1" group="2" mass="0"/>\n<geom size="0.1" density="500"/>'
    tree = read_mjcf(written(tmp_path, text.replace(GOOD.splitlines()[8], geoms)))
    assert tree.bodies[2].inertia.mass == pytest.approx(500 * 4 / 3 * np.pi * 0.001)
    assert tree.bodies[2].source("mass").line == 11
    lost = [(loss.where, loss.source.line) for loss in tree.losses if loss.element == "geom@group"]
    assert lost == [("piece", 9)]
