"""Numbers, rotations, names, roots, closures and files: each as the formats have it."""

from __future__ import annotations

import errno
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_trees import random_inertia, random_joint, random_rotation, random_transform, random_tree
from same_robot import (
    assert_same_dynamics,
    assert_same_fields,
    assert_same_in_other_coordinates,
    plain_tree,
    relations,
)

from tautology.harness.errors import RequestError, TreeError
from tautology.harness.exporters import export, write_mjcf, write_urdf
from tautology.harness.exporters.document import number
from tautology.harness.exporters.frames import rpy_from_rotation
from tautology.harness.load import load
from tautology.harness.spatial import rotation_from_quaternion, rotation_from_rpy, transform
from tautology.harness.tree import Body, Closure, Inertia, Joint, JointKind, Tree, world

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = (
    "a<b>&c",
    "\"double\" and 'single'",
    "tab\tline\nreturn\r",
    " spaces ",
    "arm/elbow",
    "&amp;",
    "Gelenk_ß",
    "関節🦾",
)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_reads_back_exactly(x: float) -> None:
    """The shortest decimal of a double is that double."""
    assert float(number(x)) == x
    assert number(x) != "-0"


@pytest.mark.parametrize("pitch", [0.0, 0.3, 1.0, np.pi / 2, -np.pi / 2])
@pytest.mark.parametrize("off", [0.0, 1e-16, 1e-12, 1e-8, 3e-8, 1e-5, 1e-3])
def test_roll_pitch_yaw_give_the_rotation_back(pitch: float, off: float) -> None:
    """To rounding, also at and near a pitch of a quarter turn, where roll and yaw have no value of their own."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        roll, yaw = rng.uniform(-np.pi, np.pi, 2)
        R = rotation_from_rpy(np.array([roll, pitch - off, yaw]))
        np.testing.assert_allclose(rotation_from_rpy(rpy_from_rotation(R)), R, rtol=0, atol=8e-16)


def test_roll_pitch_yaw_of_any_rotation() -> None:
    """Random rotations, and all that bring axes onto axes."""
    rng = np.random.default_rng(6)
    axes = [np.array([x, y, np.cross(x, y)]).T for x in [*np.eye(3), *-np.eye(3)] for y in np.eye(3) if not x @ y]
    for R in [*(random_rotation(rng) for _ in range(500)), *axes]:
        np.testing.assert_allclose(rotation_from_rpy(rpy_from_rotation(R)), R, rtol=0, atol=2e-15)


def hostile() -> Tree:
    """Return a chain whose links, joints, closure and robot have names that XML has to escape."""
    rng = np.random.default_rng(1)
    bodies = [world(), Body("base", 0, Joint("root_joint", JointKind.FIXED), random_inertia(rng))]
    for i, name in enumerate(HOSTILE, 1):
        joint = replace(random_joint(rng, name, JointKind.REVOLUTE), ref=0, rest=None, T_joint_body=np.eye(4))
        bodies.append(Body(name, i, replace(joint, actuated=True), random_inertia(rng)))
    relation = Closure("joint", "a<b", (HOSTILE[1], HOSTILE[0]), (0.0, 2.0, 0.0, 0.0, 0.0))
    return Tree('"robot" <&>', tuple(bodies), closures=(relation,))


def test_hostile_names_reach_every_reader(tmp_path: Path) -> None:
    """Angle brackets, quotes, white space, slashes and all scripts come back as they were."""
    tree = hostile()
    export(tree, tmp_path / "robot.urdf")
    export(tree, tmp_path / "robot.xml")
    read = load(tmp_path / "robot.urdf")
    assert_same_fields(tree, read, "closures", "effort", "speed")
    assert relations(read) == {HOSTILE[1]: ("mimic", (HOSTILE[1], HOSTILE[0]), (0.0, 2.0), True)}
    assert_same_fields(tree, load(tmp_path / "robot.xml"), "fixed", "home")
    model = pin.buildModelFromUrdf(str(tmp_path / "robot.urdf"))
    assert set(model.names[1:]) == set(HOSTILE)
    for file in ("robot.urdf", "robot.xml"):
        model = mujoco.MjModel.from_xml_path(str(tmp_path / file))
        assert [model.joint(j).name for j in range(model.njnt)] == list(HOSTILE)


def test_names_that_no_file_holds_get_the_nearest(tmp_path: Path) -> None:
    """Empty names, control characters, lone surrogates and MuJoCo's own "world": replaced, distinct, and named."""
    names = ("", "bell\x07", "bell_", "bell\x08", "half\ud800", "\ufffe", "unnamed")
    rng = np.random.default_rng(2)
    bodies = [world(), Body("base", 0, Joint("root_joint", JointKind.FIXED), random_inertia(rng))]
    for i, name in enumerate(names, 1):
        joint = replace(random_joint(rng, name, JointKind.REVOLUTE), ref=0, rest=None)
        bodies.append(Body(name, i, joint, random_inertia(rng)))
    tree = Tree("bad\x00name", tuple(bodies))
    wanted = ["unnamed_2", "bell__2", "bell_", "bell__3", "half_", "_", "unnamed"]
    for file, element in (("robot.urdf", "link"), ("robot.xml", "body")):
        exported = export(tree, tmp_path / file)
        read = load(tmp_path / file)
        assert read.name == "bad_name"
        assert [body.name for body in read.bodies[2:]] == wanted
        assert list(read.dofs) == wanted
        for kind in (element, "joint"):
            lost = [
                loss.where for loss in exported.losses if loss.element == f"{kind}@name" and loss.where != "root_joint"
            ]
            assert lost == ["", "bell\x07", "bell\x08", "half\ud800", "\ufffe"]
    grounded = replace(tree, bodies=(replace(world(), name="universe"), replace(bodies[1], name="world")))
    assert 'name="world_2"' in write_mjcf(grounded).text


@pytest.mark.parametrize("ending", ["urdf", "xml"])
def test_several_bodies_on_the_world_and_placed_roots(ending: str, tmp_path: Path) -> None:
    """Two mechanisms, a shelf, a root that is not at the origin, a root that moves: all where they were."""
    rng = np.random.default_rng(4)
    kinds = (JointKind.FIXED, JointKind.REVOLUTE, JointKind.PRISMATIC)
    roots = [Body(f"root{k}", 0, random_joint(rng, f"r{k}", kind), random_inertia(rng)) for k, kind in enumerate(kinds)]
    tips = [Body(f"tip{k}", k + 1, random_joint(rng, f"t{k}", kinds[1]), random_inertia(rng)) for k in range(3)]
    for bodies in ([world(), *roots, *tips], [world(), roots[0], tips[0]], [world(), roots[1]], [world()]):
        tree = Tree("roots", tuple(bodies))
        export(tree, tmp_path / f"robot.{ending}")
        assert_same_dynamics(tree, load(tmp_path / f"robot.{ending}"))


@pytest.mark.parametrize("inertial", [False, True], ids=["bare world link", "base on the ground"])
def test_a_floating_base_floats_in_both_formats(tmp_path: Path, *, inertial: bool) -> None:
    """It is a free joint of MuJoCo and a free-flyer of Pinocchio, whether or not the file has a link for the world."""
    rng = np.random.default_rng(7)
    ground = replace(world(), name="universe")
    link = Body("world", 0, Joint("root_joint", JointKind.FIXED), random_inertia(rng) if inertial else Inertia())
    trunk = Body("trunk", 1, Joint("float", JointKind.FLOATING), random_inertia(rng))
    leg = Body("leg", 2, random_joint(rng, "hip", JointKind.CONTINUOUS), random_inertia(rng))
    tree = Tree("walker", (ground, link, trunk, leg))
    tree = tree if inertial else replace(tree, bodies=(world(), replace(trunk, parent=0), replace(leg, parent=1)))
    export(tree, tmp_path / "walker.urdf")
    assert_same_dynamics(tree, load(tmp_path / "walker.urdf"))
    assert pin.buildModelFromUrdf(str(tmp_path / "walker.urdf")).joints[1].shortname() == "JointModelFreeFlyer"
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "walker.urdf")).jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
    export(tree, tmp_path / "walker.xml")
    read = load(tmp_path / "walker.xml")
    assert read.joints[-2].kind is (JointKind.BALL if inertial else JointKind.FLOATING)
    if not inertial:
        assert_same_dynamics(tree, read)


def test_a_placed_free_joint_counts_from_the_world(tmp_path: Path) -> None:
    """Its home and the rest of its spring stand where they stood; the body frame moves onto the joint."""
    rng = np.random.default_rng(10)
    shift = np.eye(4)
    shift[:3, 3] = 0.1, 0.2, -0.3
    pose = np.array([0.5, -0.6, 0.7, 0.6, 0, 0.8, 0])
    placed = Joint("float", JointKind.FLOATING, T_parent_joint=random_transform(rng), T_joint_body=shift, rest=pose)
    tree = Tree("buoy", (world(), Body("buoy", 0, placed, random_inertia(rng))), home=pose)
    exported = export(tree, tmp_path / "buoy.xml")
    assert [loss.element for loss in exported.losses] == ["body@pos", "joint@coordinates"]
    read = load(tmp_path / "buoy.xml")
    T_joint_home = transform(rotation_from_quaternion(pose[3:]), pose[:3])
    for found in (read.home, read.joints[1].rest):
        T_world_home = transform(rotation_from_quaternion(found[3:]), found[:3])
        np.testing.assert_allclose(T_world_home, placed.T_parent_joint @ T_joint_home, rtol=0, atol=1e-15)
    solid, moved = tree.bodies[1].inertia, read.bodies[1].inertia
    np.testing.assert_allclose(moved.com, solid.com + shift[:3, 3], rtol=0, atol=1e-15)
    assert_same_in_other_coordinates(tree, read)


def row(kinds: list[JointKind], **last: object) -> Tree:
    """Return massless bodies in a row on joints of these kinds, and a body with mass at the end."""
    rng = np.random.default_rng(8)
    joints = [replace(random_joint(rng, f"j{i}", kind), T_joint_body=np.eye(4), ref=0) for i, kind in enumerate(kinds)]
    joints[-1] = replace(joints[-1], **last)
    bodies = [Body(f"b{i}", i, joint) for i, joint in enumerate(joints)]
    return Tree("row", (world(), *bodies[:-1], replace(bodies[-1], inertia=random_inertia(rng))))


@pytest.mark.parametrize(
    ("kinds", "bodies"),
    [
        ([JointKind.REVOLUTE] * 6, 1),
        ([JointKind.REVOLUTE] * 7, 2),
        ([JointKind.PRISMATIC, JointKind.REVOLUTE, JointKind.BALL], 1),
        ([JointKind.BALL, JointKind.REVOLUTE], 2),
        ([JointKind.BALL, JointKind.BALL], 2),
        ([JointKind.BALL, JointKind.PRISMATIC], 2),  # turned against each other: the ball has the axes of its body
        ([JointKind.FLOATING, JointKind.PRISMATIC], 2),
        ([JointKind.PLANAR, JointKind.BALL], 1),
        ([JointKind.REVOLUTE, JointKind.FLOATING], 2),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else str(value),
)
def test_as_many_joints_share_a_body_as_mujoco_allows(kinds: list[JointKind], bodies: int, tmp_path: Path) -> None:
    """Six dofs, no turn after a ball, no turned ball, no free joint: what is left massless is named as refused."""
    tree = row(kinds)
    exported = export(tree, tmp_path / "row.xml")
    assert exported.text.count("<body ") == bodies
    refused = [loss.where for loss in exported.losses if loss.element == "inertial"]
    assert len(refused) == bodies - 1
    if not refused:
        assert_same_in_other_coordinates(tree, load(tmp_path / "row.xml"))


@pytest.mark.parametrize(("kind", "bodies"), [(JointKind.PRISMATIC, 1), (JointKind.REVOLUTE, 2), (JointKind.BALL, 2)])
def test_a_ball_may_be_followed_by_a_slide_in_its_own_axes(kind: JointKind, bodies: int, tmp_path: Path) -> None:
    """Nothing turns between them: a slide shares the body of the ball, what turns does not."""
    tree = row([JointKind.BALL, kind], T_parent_joint=np.eye(4))
    exported = export(tree, tmp_path / "row.xml")
    assert exported.text.count("<body ") == bodies
    if bodies == 1:
        assert_same_dynamics(tree, load(tmp_path / "row.xml"))


def test_bodies_that_a_closure_names_stay_bodies() -> None:
    """Neither a massless body in a row nor a bare link of the world goes when an equality needs it."""
    tree = row([JointKind.REVOLUTE, JointKind.REVOLUTE])
    ground = Body("ground", 0, Joint("ground_fixed", JointKind.FIXED))
    floating = Body("buoy", 1, Joint("float", JointKind.FLOATING), random_inertia(np.random.default_rng(0)))
    on_ground = Tree("two", (world(), ground, floating))
    for whole, name, free in ((tree, "b0", 1), (on_ground, "ground", 1)):
        weld = Closure("weld", "weld", (name, whole.bodies[-1].name), (0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1))
        assert write_mjcf(whole).text.count("<body ") == free
        exported = write_mjcf(replace(whole, closures=(weld,)))
        assert exported.text.count("<body ") == free + 1
        assert f'<weld name="weld" body1="{name}"' in exported.text


def test_a_massless_world_link_is_the_world_of_mjcf(tmp_path: Path) -> None:
    """The usual `<link name="world"/>` becomes no body, so that a floating base stays one."""
    export(plain_tree(3, kinds=[JointKind.REVOLUTE], floating_root=True), tmp_path / "robot.urdf")
    tree = load(tmp_path / "robot.urdf")
    exported = export(tree, tmp_path / "robot.xml")
    assert ("body", "world") in [(loss.element, loss.where) for loss in exported.losses]
    read = load(tmp_path / "robot.xml")
    assert [body.name for body in read.bodies] == [body.name for body in tree.bodies[1:]]
    assert read.base == "free"


def closed(tree: Tree) -> Tree:
    """Return the tree with one closure of every kind that MJCF has of bodies and joints."""
    one, two, three = (body.joint.name for body in tree.bodies[1:4])
    near, far = tree.bodies[2].name, tree.bodies[-1].name
    pose = (0.1, -0.2, 0.3, 0.6, 0.0, 0.8, 0.0)
    closures = (
        Closure("connect", "pin", (near, far), (0.1, 0.2, 0.3, -0.4, 0.5, 0.6)),
        Closure("connect", "nail", (near, ""), (0.1, 0.2, 0.3, -0.4, 0.5, 0.6), active=False),
        Closure("weld", "glue", (near, far), (0.3, 0.2, 0.1, *pose, 2.5)),
        Closure("weld", "wall", ("", far), (0.3, 0.2, 0.1, *pose, 1.0)),
        Closure("joint", "cam", (one, two), (0.1, -1.5, 0.2, 0.0, 0.3)),
        Closure("joint", "lock", (three, ""), (0.2, 0.0, 0.0, 0.0, 0.0), active=False),
    )
    return replace(tree, closures=closures)


def test_closures_come_back_from_mjcf(tmp_path: Path) -> None:
    """Anchors in both bodies, poses, polynomials, the world as an end, and whether they are switched on."""
    tree = closed(plain_tree(11, 6, kinds=[JointKind.REVOLUTE, JointKind.PRISMATIC], massless=0))
    exported = export(tree, tmp_path / "robot.xml")
    assert relations(load(tmp_path / "robot.xml")) == relations(tree)
    assert exported.losses == ()
    belt = replace(random_tree(np.random.default_rng(1), 5, kinds=[JointKind.REVOLUTE], massless=0, tendons=True))
    tight = replace(belt, closures=(Closure("tendon", "tight", ("belt", ""), (0.1, 0.0, 0.0, 0.0, 0.0)),))
    export(tight, tmp_path / "belt.xml")
    assert relations(load(tmp_path / "belt.xml")) == relations(tight)


def test_mimic_is_the_same_relation_in_both_formats(tmp_path: Path) -> None:
    """MuJoCo counts from the reference positions, and still finds q1 = offset + multiplier q2 satisfied."""
    rng = np.random.default_rng(9)
    joints = [replace(random_joint(rng, name, JointKind.REVOLUTE), ref=ref) for name, ref in (("a", 0.3), ("b", -0.4))]
    bodies = (world(), *(Body(j.name, i, j, random_inertia(rng)) for i, j in enumerate(joints)))
    tree = Tree("gears", bodies, closures=(Closure("mimic", "b", ("b", "a"), (0.25, -1.5)),))
    export(tree, tmp_path / "gears.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "gears.xml"))
    state = mujoco.MjData(model)
    state.qpos[:] = 0.7, 0.25 - 1.5 * 0.7
    mujoco.mj_forward(model, state)
    rows = state.efc_type[: state.nefc] == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    np.testing.assert_allclose(state.efc_pos[: state.nefc][rows], [0], rtol=0, atol=1e-15)
    as_equality = load(tmp_path / "gears.xml")
    for written in (tree, as_equality):
        export(written, tmp_path / "gears.urdf")
        kind, between, numbers, active = relations(load(tmp_path / "gears.urdf"))["b"]
        assert (kind, between, active) == ("mimic", ("b", "a"), True)
        np.testing.assert_allclose(numbers, [0.25, -1.5], rtol=0, atol=1e-15)


def test_tensors_at_the_edge_of_what_a_body_can_have_are_accepted(tmp_path: Path) -> None:
    """Rods, plates and specks in turned axes: MuJoCo refuses them for a rounding error unless it is taken out."""
    rng = np.random.default_rng(12)
    moments = ([0.0, 0.1, 0.1], [0.1, 0.2, 0.3], [1e-14, 1.2e-14, 1.3e-14], [1.0, 1.0, 2.0], [0.3, 0.3, 0.3])
    for trial in range(60):
        R = random_rotation(rng) if trial % 4 else np.eye(3)
        I = R @ np.diag(rng.permutation(moments[trial % 5])) @ R.T
        solid = Body("holder", 0, Joint("holder_fixed", JointKind.FIXED), random_inertia(rng))
        body = Body("body", 1, Joint("body_fixed", JointKind.FIXED), Inertia(1.0, rng.normal(size=3), (I + I.T) / 2))
        exported = export(Tree("edge", (world(), solid, body)), tmp_path / "edge.xml")
        assert exported.losses == ()
        found = load(tmp_path / "edge.xml").bodies[2].inertia
        np.testing.assert_allclose(found.I_com, I, rtol=0, atol=1e-14 * np.abs(I).max())


@pytest.mark.parametrize("count", [496, 497])
def test_deep_mjcf_is_named_where_mujoco_stops(count: int, tmp_path: Path) -> None:
    """MuJoCo reads no more than 500 nested elements; the writer itself does not care."""
    chain = [
        Body(f"b{i}", i, Joint(f"b{i}_fixed", JointKind.FIXED), Inertia(1.0, I_com=np.eye(3))) for i in range(count)
    ]
    exported = export(Tree("deep", (world(), *chain)), tmp_path / "deep.xml")
    assert bool(exported.losses) == (count == 497)
    if exported.losses:
        with pytest.raises(ValueError, match="DEPTH"):
            mujoco.MjModel.from_xml_path(str(tmp_path / "deep.xml"))
    else:
        assert mujoco.MjModel.from_xml_path(str(tmp_path / "deep.xml")).nbody == count + 1


def test_long_chains_are_written_without_recursion() -> None:
    """Five thousand links in a row, in both formats."""
    rng = np.random.default_rng(0)
    T, inertia = random_transform(rng), random_inertia(rng)
    joints = [Joint(f"j{i}", JointKind.CONTINUOUS, T_parent_joint=T) for i in range(5000)]
    tree = Tree("long", (world(), *(Body(f"b{i}", i, joint, inertia) for i, joint in enumerate(joints))))
    assert write_urdf(tree).text.count("<joint ") == 5000
    assert write_mjcf(tree).text.count("</body>") == 5000


def test_the_ending_decides_the_format_unless_it_is_given(tmp_path: Path) -> None:
    """`.urdf`, `.xml`, `.mjcf`, in any case; what is returned is what stands in the file."""
    tree = plain_tree(1, 3)
    for name, file_format, root in (
        ("a.urdf", None, "<robot"),
        ("a.XML", None, "<mujoco"),
        ("a.mjcf", None, "<mujoco"),
        ("a.txt", "urdf", "<robot"),
        ("a.urdf", "mjcf", "<mujoco"),
    ):
        exported = export(tree, tmp_path / name, file_format)
        assert exported.text.splitlines()[1].startswith(root)
        assert (tmp_path / name).read_text(encoding="utf-8") == exported.text
    with pytest.raises(RequestError, match=r"a\.sdf: the ending tells no format"):
        export(tree, tmp_path / "a.sdf")
    with pytest.raises(RequestError, match="format 'sdf' does not exist; choose one of urdf, mjcf"):
        export(tree, tmp_path / "a.urdf", "sdf")


def full(*_arguments: object) -> None:
    """Fail as a full disk does."""
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old file stays when writing fails, its mode when it succeeds; a link stays a link; no trace is left."""
    tree = plain_tree(1, 3)
    path, link = tmp_path / "robot.urdf", tmp_path / "link.urdf"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    link.symlink_to(path)
    bad = replace(tree, bodies=(tree.bodies[0], Body("x", 0, Joint("j", JointKind.REVOLUTE, damping=np.inf))))
    with pytest.raises(TreeError):
        export(bad, path)
    assert path.read_text(encoding="utf-8") == "old"
    exported = export(tree, link)
    assert link.is_symlink()
    assert path.read_text(encoding="utf-8") == exported.text
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(file.name for file in tmp_path.iterdir()) == ["link.urdf", "robot.urdf"]
    with monkeypatch.context() as broken:
        broken.setattr(type(path), "replace", full)
        with pytest.raises(OSError, match="No space left"):
            export(plain_tree(2, 3), path)
    assert path.read_text(encoding="utf-8") == exported.text
    for wrong in (tmp_path / "nowhere" / "robot.urdf", tmp_path / "folder.urdf"):
        (tmp_path / "folder.urdf").mkdir(exist_ok=True)
        with pytest.raises(OSError, match=wrong.name) as caught:
            export(tree, wrong)
        assert caught.value.filename == str(wrong)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["folder.urdf", "link.urdf", "robot.urdf"]
