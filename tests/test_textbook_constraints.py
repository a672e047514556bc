"""Rows of closures: against finite differences on the manifold, against MuJoCo's, and in what they refuse."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose
from random_trees import ONE_DOF, random_tree

import tautology
from tautology.adapters.reference import Reference
from tautology.adapters.textbook import assembly
from tautology.adapters.textbook.constraints import rows_of
from tautology.harness.checks.derivatives import along, displaced, rate, steps
from tautology.harness.errors import RequestError
from tautology.harness.spatial import rotation_from_quaternion
from tautology.harness.states import sample
from tautology.harness.tree import Closure

QUAT = (0.7, -0.1, 0.5, 0.3)
LOOPED = """<mujoco><compiler angle="radian"/><worldbody>
<body name="a" pos="0 0 1" quat="0.9 0.1 0.3 -0.2"><freejoint name="free"/><geom size=".1 .2 .3" type="box"/>
  <site name="s" pos=".1 .2 .3" quat=".5 .1 .2 .7"/>
  <body name="c" pos="0.3 -.1 .2"><joint name="c1" ref="0.2" axis="0 .6 .8"/><geom size=".1 .05 .1" type="box"/>
    <body name="d" pos="0.1 -.1 .2"><joint name="d1" type="slide" axis=".6 0 .8"/><geom size=".1 .05 .1" type="box"/>
    </body></body></body>
<body name="b" pos=".3 .2 1.4" quat="0.7 0.3 -0.2 0.4"><joint name="ball" type="ball" pos=".1 .1 0"/>
  <geom size=".1 .2 .25" type="box"/><site name="t" pos="-.1 .15 .2" quat=".2 .8 -.2 .7"/></body>
</worldbody><equality>{}</equality></mujoco>"""
EQUALITIES = {
    "connect": '<connect name="e" body1="a" body2="b" anchor=".1 .2 .3"/>',
    "connect to the world": '<connect name="e" body1="d" anchor=".1 .2 .3"/>',
    "connect of sites": '<connect name="e" site1="s" site2="t"/>',
    "weld": '<weld name="e" body1="a" body2="b" anchor=".1 .2 .3" torquescale="0.7"/>',
    "weld with a pose": '<weld name="e" body1="a" body2="b" anchor=".1 .2 .3" relpose=".2 .1 .4 .8 .2 .1 .3"/>',
    "weld to the world": '<weld name="e" body1="d"/>',
    "weld of sites": '<weld name="e" site1="s" site2="t" torquescale="0.4"/>',
    "joint": '<joint name="e" joint1="c1" joint2="d1" polycoef="0.1 -2 0.4 0.3 -0.5"/>',
    "joint held": '<joint name="e" joint1="c1" polycoef="0.3 0 0 0 0"/>',
}


def with_all_kinds(seed: int):
    """Return a tree of all kinds of joint with a closure of every kind, far from closed, and states of it."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 9, floating_root=True)
    while sum(joint.kind in ONE_DOF for joint in tree.joints) < 3:
        tree = random_tree(rng, 9, floating_root=True)
    one, two, three = [joint.name for joint in tree.joints if joint.kind in ONE_DOF][:3]
    closures = (
        Closure("mimic", "follower", (one, two), (0.3, -2.0)),
        Closure("mimic", "follower of it", (three, one), (-0.1, 0.5)),
        Closure("joint", "curve", (two, three), (0.1, -2.0, 0.4, 0.3, -0.5)),
        Closure("joint", "stop", (two, ""), (0.2, 0.0, 0.0, 0.0, 0.0)),
        Closure("connect", "pin", ("body4", "body9"), tuple(rng.uniform(-0.3, 0.3, 6))),
        Closure("connect", "anchor", ("body7", ""), tuple(rng.uniform(-0.3, 0.3, 6))),
        Closure("weld", "weld", ("body5", "body8"), (*rng.uniform(-0.3, 0.3, 6), *QUAT, 0.7)),
        Closure("weld", "ground", ("", "body6"), (*rng.uniform(-0.3, 0.3, 6), *QUAT, 1.0)),
    )
    return assembly.with_closures(tree, closures), sample(tree, 12, seed)


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_derivatives_of_the_positions(seed) -> None:
    """J v = phi' and Jdot v = d(J v)/dt at constant v, on every kind of closure, also where nothing is closed."""
    tree, states = with_all_kinds(seed)
    q, v = np.array(states.q), np.clip(states.v, -2, 2)
    rows, h = rows_of(tree, q, v), steps(v)
    near, four_times = along(tree, q, v, h), np.tile(v, (4, 1))
    moved = rows_of(tree, near, four_times)
    assert rows.J.shape == (len(q), 1 + 1 + 1 + 1 + 3 + 3 + 6 + 6, tree.nv)
    scale = (rows.magnitude * np.abs(v)[:, None]).sum(-1) + 1
    assert (np.abs(rate(moved.position, h) - rows.velocity(v)) / scale).max() < 1e-9
    assert (np.abs(rate(moved.velocity(four_times), h) - rows.bias) / scale**2).max() < 1e-9


def test_the_short_turn_is_told() -> None:
    """The residual of a weld points along the axis of what is left of the turn, R2^T R1 R, taken below half a turn."""
    tree, states = with_all_kinds(1)
    q = np.array(states.q)
    rows = rows_of(tree, q, np.zeros((len(q), tree.nv)))
    turns = rows.position[:, [i for i, unit in enumerate(rows.units) if unit == "rad/2"]].reshape(len(q), 2, 3)
    R = Reference(tree).all_poses(q)[..., :3, :3]
    for k, (one, two) in enumerate([("body5", "body8"), ("world", "body6")]):
        left = R[:, tree.index[two]].swapaxes(-1, -2) @ R[:, tree.index[one]] @ rotation_from_quaternion(np.array(QUAT))
        axes = np.stack(
            [left[:, 2, 1] - left[:, 1, 2], left[:, 0, 2] - left[:, 2, 0], left[:, 1, 0] - left[:, 0, 1]], 1
        )
        along_axis = (turns[:, k] * axes).sum(-1) / np.linalg.norm(axes, axis=1)
        assert_allclose(along_axis, np.linalg.norm(turns[:, k], axis=1), rtol=1e-9)


@pytest.mark.parametrize("kind", EQUALITIES)
def test_rows_are_those_of_mujoco(kind, tmp_path) -> None:
    """phi and J of every equality are efc_pos and efc_J of MuJoCo, in its velocity coordinates, at displaced states."""
    file = tmp_path / "looped.xml"
    file.write_text(LOOPED.format(EQUALITIES[kind]))
    tree, model = tautology.load(file), mujoco.MjModel.from_xml_path(str(file))
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(model)
    rng = np.random.default_rng(3)
    q = np.asarray(displaced(tree, np.tile(tree.neutral, (6, 1)), rng.normal(size=(6, tree.nv)) / 2))
    rows = rows_of(tree, q, np.zeros((6, tree.nv)))
    for k in range(6):
        data.qpos[:] = q[k]
        mujoco.mj_forward(model, data)
        count = len(rows.names)
        assert data.nefc == count
        J = data.efc_J.reshape(-1, model.nv)[:count].copy()
        # MuJoCo's velocity of the free body is in world axes.
        R = np.array(data.xmat[1]).reshape(3, 3)
        J[:, :3] = J[:, :3] @ R
        sign = np.ones(count)
        if kind == "weld of sites":  # told in the axes of the second site, of which the bodies know nothing
            turn = rotation_from_quaternion(np.array(model.site_quat[1]))
            data.efc_pos[3:6], J[3:] = turn @ data.efc_pos[3:6], turn @ J[3:]
        if "weld" in kind:  # h and -h are one orientation
            sign[3:] = np.sign(data.efc_pos[3] * rows.position[k, 3])
        assert_allclose(sign * data.efc_pos[:count], rows.position[k], atol=1e-14)
        assert_allclose(sign[:, None] * J, rows.J[k], atol=1e-14)


def test_what_is_switched_off_is_not_there(tmp_path) -> None:
    """An equality with active="false" has no rows; nor have all of them, when the file disables equalities."""
    file = tmp_path / "off.xml"
    both = '<connect name="off" body1="a" body2="b" anchor="0 0 0" active="false"/>' + EQUALITIES["joint"]
    file.write_text(LOOPED.format(both))
    tree = tautology.load(file)
    q, v = tree.neutral[None], np.zeros((1, tree.nv))
    assert rows_of(tree, q, v).names == ("e",)
    file.write_text(LOOPED.format(both).replace("<equality>", '<option><flag equality="disable"/></option><equality>'))
    none = rows_of(tautology.load(file), q, v)
    assert (none.names, none.J.shape) == ((), (1, 0, tree.nv))


BAD = {
    "no rows": (Closure("distance", "rod", ("body1", "body2")), r"'rod' \(distance\): its rows are not known"),
    "no such body": (Closure("connect", "pin", ("body1", "elsewhere"), (0.0,) * 6), "names the body 'elsewhere'"),
    "no such joint": (Closure("mimic", "m", ("elsewhere", "joint2"), (0.0, 1.0)), "names the joint 'elsewhere'"),
    "no first joint": (Closure("joint", "m", ("", "joint1"), (0.0, 1.0)), "names no first joint"),
    "no coordinate": (Closure("mimic", "m", ("joint1", "joint1"), (0.0, 1.0)), "'joint1' is floating"),
    "few numbers": (Closure("connect", "pin", ("body1", "body2"), (0.0,) * 3), "has 3 numbers; needed: 6"),
}


@pytest.mark.parametrize("case", BAD)
def test_closures_without_rows_are_refused(case) -> None:
    """One sentence names the closure, and what is missing."""
    closure, words = BAD[case]
    tree = assembly.with_closures(random_tree(np.random.default_rng(0), 4, floating_root=True), [closure])
    with pytest.raises(RequestError, match=words):
        rows_of(tree, tree.neutral[None], np.zeros((1, tree.nv)))


@pytest.mark.parametrize("seed", range(3))
def test_closures_made_of_a_configuration_hold_there_and_come_back(seed) -> None:
    """connected() and welded() are closed where they were made, and assembled() closes them again from beside it."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 8, floating_root=True)
    home = np.array(sample(tree, 12, seed).q[11])
    pin = assembly.connected(tree, home, "pin", "body4", "body8", rng.uniform(-0.3, 0.3, 3))
    weld = assembly.welded(tree, home, "weld", "body1", "", rng.uniform(-0.3, 0.3, 3))
    tree = assembly.with_closures(tree, [pin, weld])
    rest = np.zeros((1, tree.nv))
    assert np.abs(rows_of(tree, home[None], rest).position).max() < 1e-14
    beside = np.asarray(displaced(tree, home[None], rng.normal(size=(1, tree.nv)) / 50))
    assert np.abs(rows_of(tree, beside, rest).position).max() > 1e-3
    closed = assembly.assembled(tree, beside)
    assert np.abs(rows_of(tree, closed, rest).position).max() < 1e-12
    v = assembly.consistent_velocity(tree, closed, rng.normal(size=(1, tree.nv)))
    a = assembly.consistent_acceleration(tree, closed, v, rng.normal(size=(1, tree.nv)))
    rows = rows_of(tree, closed, v)
    assert np.abs(rows.velocity(v)).max() < 1e-12
    assert np.abs(rows.acceleration(a)).max() < 1e-11


def test_what_cannot_be_closed_is_refused() -> None:
    """Two points that no configuration brings together: the message names the row, and what is left open."""
    tree = random_tree(np.random.default_rng(5), 3, kinds=list(ONE_DOF)[:1], massless=0)
    far = Closure("connect", "pin", ("body3", ""), (0, 0, 0, 50.0, 0, 0))
    with pytest.raises(RequestError, match=r"'pin\.[xyz]' stays at"):
        assembly.assembled(assembly.with_closures(tree, [far]), tree.neutral[None])
