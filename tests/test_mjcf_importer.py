"""What the tree of an MJCF holds: names, joints, springs, closures, tendons, home."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np
import pytest
from mjcf_texts import GOOD, INERTIAL, ZOO, written

from tautology.harness.importers.mjcf import load_spec, read_mjcf
from tautology.harness.tree import Closure, Medium

if TYPE_CHECKING:
    from pathlib import Path

    from tautology.harness.tree import Joint, Tree


@pytest.fixture
def zoo(tmp_path: Path) -> Tree:
    """Return the tree with everything in it."""
    return read_mjcf(written(tmp_path, ZOO))


def joint(tree: Tree, name: str) -> Joint:
    """Return a joint by name."""
    return tree.joints[tree.joint_index[name]]


def test_unnamed_things_get_stable_names_and_joints_of_one_body_stand_in_series(zoo: Tree) -> None:
    """`body5` by its depth-first number, `gimbal_hinge` by body and kind, `gimbal/outer` for what is between."""
    named = [(body.name, zoo.bodies[body.parent].name, body.joint.name, body.joint.kind) for body in zoo.bodies[1:]]
    assert [(body, parent, name, str(kind)) for body, parent, name, kind in named] == [
        ("target", "world", "target_fixed", "fixed"),
        ("stand", "world", "stand_fixed", "fixed"),
        ("gimbal/outer", "stand", "outer", "revolute"),
        ("gimbal/gimbal_hinge", "gimbal/outer", "gimbal_hinge", "continuous"),
        ("gimbal", "gimbal/gimbal_hinge", "reach", "prismatic"),
        ("body4", "gimbal", "socket", "ball"),
        ("fixed", "body4", "fixed_fixed", "fixed"),
        ("drone", "world", "drone_free", "floating"),
        ("leg0", "drone", "hip0", "continuous"),
        ("leg1", "drone", "hip1", "continuous"),
    ]
    assert [b.inertia.is_zero for b in zoo.bodies] == [
        b.name in ("world", "gimbal/outer", "gimbal/gimbal_hinge") for b in zoo.bodies
    ]
    assert (zoo.base, zoo.name, zoo.origin.format) == ("free", "zoo", "mjcf")


def test_invented_names_avoid_given_ones(tmp_path: Path) -> None:
    """Whatever a file calls its things, no two have one name."""
    text = f"""<mujoco><worldbody>
      <body name="body2"><joint name="body2_hinge"/>{INERTIAL}</body>
      <body><joint/>{INERTIAL}<joint/><joint name="post_fixed"/></body>
      <body name="body2_2/body2_2_hinge"/>
      <body name="post"/>
      <body name="&lt;ü &quot;/'&gt;"><joint/>{INERTIAL}</body>
    </worldbody></mujoco>"""
    tree = read_mjcf(written(tmp_path, text))
    assert [body.name for body in tree.bodies] == [
        "world",
        "body2",
        "body2_2/body2_2_hinge_2",
        "body2_2/body2_2_hinge_2_2",
        "body2_2",
        "body2_2/body2_2_hinge",
        "post",
        "<ü \"/'>",
    ]
    assert tree.joints[tree.index["post"]].name == "post_fixed_2"
    assert len(set(tree.joint_index)) == 7


def test_joints_hold_what_the_file_says_in_radians(zoo: Tree) -> None:
    """Degrees, `ref`, springs, limits, effort, friction, defaults and rotors."""
    outer, hinge, reach = (joint(zoo, name) for name in ("outer", "gimbal_hinge", "reach"))
    degree = np.pi / 180
    np.testing.assert_allclose([outer.ref, outer.lower, outer.upper], np.array([15, -30, 60]) * degree, rtol=1e-15)
    np.testing.assert_allclose([hinge.ref, *np.asarray(hinge.rest)], np.array([-28, -25]) * degree, rtol=1e-15)
    assert (hinge.stiffness, hinge.lower, hinge.upper, hinge.effort) == (4, -np.inf, np.inf, np.inf)
    assert (reach.ref, reach.effort, reach.friction, reach.speed) == (0.07, 7, 0.4, np.inf)
    np.testing.assert_allclose(outer.axis, [0, 0.6, 0.8], rtol=0, atol=1e-16)
    armature = {
        name: float(np.asarray(joint(zoo, name).armature)[0]) for name in ("outer", "gimbal_hinge", "socket", "hip1")
    }
    assert armature == {"outer": 0.07, "gimbal_hinge": 0.25, "socket": 0.25, "hip1": 0.07}
    np.testing.assert_allclose(outer.rotor, 60**2 * 0.0002 + 4 * 0.1, rtol=1e-15)
    np.testing.assert_allclose(joint(zoo, "socket").rotor, np.full(3, 9 * 0.01), rtol=1e-15)
    assert [j.name for j in zoo.joints if j.actuated] == ["outer", "reach", "socket"]


def test_the_tree_holds_what_concerns_the_whole(zoo: Tree) -> None:
    """Gravity, medium, gravity compensation, tendon inertia with the actuator that pulls it, home."""
    assert zoo.gravity.tolist() == [1.5, -2.2, -9.1]
    assert zoo.medium == Medium(1.2, 0.1, (1, 2, 3))
    assert zoo.bodies[zoo.index["gimbal"]].gravcomp == 0.5
    assert zoo.sources["gravity"].line == zoo.sources["medium"].line == 3
    (belt,) = zoo.tendons
    np.testing.assert_allclose(belt.armature, 0.2 + 25 * 0.03, rtol=1e-15)
    assert dict(belt.coefficients) == {"reach": 1.5, "outer": -0.5}
    start = zoo.q_slices[zoo.joint_index["drone_free"]]
    assert zoo.home is not None
    np.testing.assert_allclose(zoo.home[start][:3], [0.5, -0.3, 1.2], rtol=0, atol=1e-15)
    assert joint(zoo, "drone_free").T_parent_joint.tolist() == np.eye(4).tolist()


@pytest.mark.parametrize(("names", "angle"), [(("a", "home"), 0.2), (("a", "b"), 0.1), ((), 0.3)])
def test_home_is_the_keyframe_of_that_name_or_the_first_or_qpos0(
    tmp_path: Path, names: tuple[str, ...], angle: float
) -> None:
    """The second of two keyframes only when it is called so."""
    keys = "".join(f'<key name="{name}" qpos="{0.1 * i} 0"/>' for i, name in enumerate(names, 1))
    text = GOOD.replace('axis="0 0.6 0.8"', 'ref="0.3"').replace("</mujoco>", f"<keyframe>{keys}</keyframe></mujoco>")
    home = read_mjcf(written(tmp_path, text)).home
    assert home is not None
    assert home.tolist() == pytest.approx([angle, 0])


def test_authored_tensors_keep_every_digit(tmp_path: Path) -> None:
    """`fullinertia` as written, not through MuJoCo's principal axes; a switch that changes it is seen."""
    tree = read_mjcf(written(tmp_path, GOOD))
    tensor = [[0.002, 0.0001, -0.0002], [0.0001, 0.0026, 0.0001], [-0.0002, 0.0001, 0.0033]]
    assert tree.bodies[2].inertia.I_com.tolist() == tensor
    bound = GOOD.replace('angle="radian"', 'angle="radian" boundinertia="0.003"')
    moments = np.linalg.eigvalsh(read_mjcf(written(tmp_path, bound)).bodies[2].inertia.I_com)
    np.testing.assert_allclose(moments[:2], 0.003, rtol=1e-12)


def test_fused_bodies_stay_bodies(tmp_path: Path) -> None:
    """`fusestatic` is an economy of the engine; MuJoCo itself would have two bodies less."""
    text = ZOO.replace('eulerseq="zYx"', 'eulerseq="zYx" fusestatic="true"')
    tree, plain = read_mjcf(written(tmp_path, text)), read_mjcf(written(tmp_path, ZOO))
    assert [body.name for body in tree.bodies] == [body.name for body in plain.bodies]
    assert tree.total_mass == plain.total_mass
    spec, _ = load_spec(written(tmp_path, text))
    assert (spec.compiler.fusestatic, spec.body("stand").name) == (True, "stand")


CLOSURES = """<equality>
  <connect name="pin" body1="part" body2="piece" anchor="1 2 3"/>
  <weld body1="piece" relpose="1 2 3 0 1 0 0" torquescale="2"/>
  <joint joint1="fold" joint2="turn" polycoef="0.1 -2 0 0 0" active="false"/>
  <joint joint1="fold" polycoef="0.5 0 0 0 0"/>
  <connect site1="s" site2="t"/>
  <weld site1="s" site2="t"/>
</equality>"""


def test_equalities_are_closures(tmp_path: Path) -> None:
    """Names or invented ones, both ends, numbers, whether they are active, and their lines."""
    sites = '<body name="piece"><site name="t" pos="0 0.1 0" euler="0.2 0 0"/>'
    text = GOOD.replace('<body name="piece">', '<site name="s" pos="0.3 0 0" euler="0 0 0.4"/>' + sites)
    path = written(tmp_path, text.replace("</worldbody>", f"</worldbody>\n{CLOSURES}"))
    closures = {closure.name: closure for closure in read_mjcf(path).closures}
    line = text.splitlines().index("  </worldbody>") + 2
    assert [(c.kind, c.between, c.active, c.source.line - line) for c in closures.values()] == [
        ("connect", ("part", "piece"), True, 1),
        ("weld", ("piece", ""), True, 2),
        ("joint", ("fold", "turn"), False, 3),
        ("joint", ("fold", ""), True, 4),
        ("connect", ("part", "piece"), True, 5),
        ("weld", ("part", "piece"), True, 6),
    ]
    assert list(closures) == ["pin", "weld1", "joint2", "joint3", "connect4", "weld5"]
    assert closures["pin"].numbers == (1, 2, 3, 1, 2, 3)
    assert closures["weld1"].numbers == pytest.approx((0, 0, 0, 1, 2, 3, 0, 1, 0, 0, 2))
    assert closures["joint2"].numbers == (0.1, -2, 0, 0, 0)
    assert closures["connect4"].numbers == (0.3, 0, 0, 0, 0.1, 0)
    assert weld_error(closures["weld5"]) < 1e-15


def weld_error(weld: Closure) -> float:
    """Return how far the sites of the test above are apart when the bodies stand as the weld says."""
    numbers = np.array(weld.numbers)
    c, s = np.cos(0.2), np.sin(0.2)
    one = np.array([[np.cos(0.4), -np.sin(0.4), 0], [np.sin(0.4), np.cos(0.4), 0], [0, 0, 1]])
    two = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, numbers[6:10])
    R = R.reshape(3, 3)
    apart = numbers[3:6] - [0.3, 0, 0]  # MuJoCo brings this point of the first body onto the anchor of the second
    return max(
        float(np.abs(R @ two - one).max()), float(np.abs(apart).max()), float(np.abs(numbers[:3] - [0, 0.1, 0]).max())
    )
