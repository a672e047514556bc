"""A tree written to a file is read back as the same robot, by the importers, by Pinocchio and by MuJoCo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from against_reference import assert_agrees
from example_robots import EXAMPLE_ROBOTS, NAMELESS
from random_trees import ONE_DOF, random_inertia, random_joint, random_transform, random_tree
from same_robot import (
    assert_close,
    assert_same_dynamics,
    assert_same_fields,
    assert_same_in_other_coordinates,
    dressed,
    plain_tree,
)

from tautology import models
from tautology.adapters import mujoco_, pinocchio_
from tautology.adapters.reference import Reference
from tautology.harness.engine import Given
from tautology.harness.errors import ReadError
from tautology.harness.exporters import Exported, export
from tautology.harness.load import load
from tautology.harness.states import sample
from tautology.harness.tree import Body, Closure, Inertia, Joint, JointKind, Medium, Tree, world

SEEDS = range(8)
CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "mjcf"
MODELS = sorted(path.name for path in models.path("tau_arm.urdf").parent.iterdir() if path.suffix in (".urdf", ".xml"))
SINGLE = [JointKind.FIXED, *ONE_DOF]


def there_and_back(tree: Tree, path: Path) -> tuple[Tree, Exported]:
    """Return the tree that is read from the file, and what was said while it was written."""
    exported = export(tree, path)
    return load(path), exported


def touching(exported: Exported) -> list[str]:
    """Return the elements of the losses that touch the dynamics."""
    return [loss.element for loss in exported.losses if loss.touches_dynamics]


@pytest.mark.parametrize("seed", SEEDS)
def test_any_tree_is_the_same_robot_after_urdf(seed: int, tmp_path: Path) -> None:
    """All kinds anywhere, turned, anchored and with shifted zeros, massless bodies: same dofs, same answers."""
    tree = plain_tree(seed)
    read, exported = there_and_back(tree, tmp_path / "robot.urdf")
    assert_same_dynamics(tree, read)
    assert set(touching(exported)) <= {"joint@type"}  # ball, planar and floating joints are no joints of every reader


@pytest.mark.parametrize("seed", SEEDS)
def test_urdf_holds_every_field_that_it_has(seed: int, tmp_path: Path) -> None:
    """Without anchors and shifted zeros nothing moves: every number is read back, and nothing is lost of it."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 12, kinds=SINGLE)
    bodies = list(tree.bodies)
    for i, body in enumerate(bodies[1:], 1):
        joint = dressed(rng, body.joint.name, body.joint.kind, ref=False)
        joint = replace(joint, armature=0, rotor=0, stiffness=0, speed=rng.uniform(1, 9) if joint.nv else np.inf)
        if i == 1:
            joint = Joint("root_joint", JointKind.FIXED)
        bodies[i] = replace(body, joint=joint, parent=max(body.parent, min(i - 1, 1)))
    one, two = [body.joint.name for body in bodies[1:] if body.joint.nv][:2]
    relation = Closure("mimic", two, (two, one), (0.25, -1.5))
    tree = Tree("robot", tuple(bodies), closures=(relation,))
    read, exported = there_and_back(tree, tmp_path / "robot.urdf")
    assert_same_fields(tree, read)
    assert exported.losses == ()


@pytest.mark.parametrize("seed", SEEDS)
def test_mjcf_holds_every_field_that_it_has(seed: int, tmp_path: Path) -> None:
    """Anchors, zeros, springs, rotors, tendons, gravity, medium, compensation: read back, and nothing lost of it."""
    rng = np.random.default_rng(seed)
    kinds = [*SINGLE, JointKind.BALL]
    tree = random_tree(rng, 12, kinds=kinds, massless=0, tendons=True, floating_root=bool(seed % 2))
    bodies = list(tree.bodies)
    for i, body in enumerate(bodies[1:], 1):
        joint = dressed(rng, body.joint.name, body.joint.kind)
        if joint.kind is JointKind.FIXED:
            joint = replace(joint, name=f"{body.name}_fixed")
        elif joint.kind is JointKind.FLOATING:
            joint = replace(joint, T_parent_joint=np.eye(4), rest=[0.1, 0.2, 0.3, 0.6, 0, 0.8, 0])
        elif joint.kind in ONE_DOF:
            anchor = np.eye(4)
            anchor[:3, 3] = rng.uniform(-0.1, 0.1, 3)
            joint = replace(joint, T_joint_body=anchor)
        bodies[i] = replace(body, joint=joint, gravcomp=rng.uniform(0, 1))
    tree = replace(tree, bodies=tuple(bodies), medium=Medium(1.2, 2e-5, (0.1, 0.2, -0.3)))
    tree = replace(tree, home=sample(tree, 4).q[3])
    read, exported = there_and_back(tree, tmp_path / "robot.xml")
    assert_same_fields(tree, read)
    assert_same_dynamics(tree, read)
    assert exported.losses == ()


@pytest.mark.parametrize("seed", SEEDS)
def test_any_tree_is_the_same_robot_after_mjcf(seed: int, tmp_path: Path) -> None:
    """Planar joints, floating joints anywhere, frames turned on both sides: the same motion in MuJoCo's coordinates."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 10, massless=0, floating_root=bool(seed % 2))
    turned = [replace(b, joint=replace(b.joint, T_joint_body=random_transform(rng))) for b in tree.bodies[1:]]
    tree = replace(tree, bodies=(tree.bodies[0], *turned))
    read, exported = there_and_back(tree, tmp_path / "robot.xml")
    assert_same_in_other_coordinates(tree, read)
    assert touching(exported) == []


@pytest.mark.parametrize("name", MODELS)
def test_bundled_models_survive_their_own_format(name: str, tmp_path: Path) -> None:
    """Every number of the bundled models comes back from the format that it was read from."""
    tree = load(models.path(name))
    read, _ = there_and_back(tree, tmp_path / f"again{Path(name).suffix}")
    assert_same_fields(tree, read)
    assert_same_dynamics(tree, read)


@pytest.mark.parametrize("name", sorted(set(EXAMPLE_ROBOTS) - NAMELESS))
def test_real_urdfs_survive_urdf(name: str, tmp_path: Path) -> None:
    """Every number of a real robot comes back, and nothing that a tree holds is lost."""
    tree = load(EXAMPLE_ROBOTS[name])
    read, exported = there_and_back(tree, tmp_path / "again.urdf")
    assert_same_fields(tree, read, "effort", "speed")
    for ours, theirs in zip(tree.joints, read.joints, strict=True):
        assert not ours.nv or (ours.effort, ours.speed) == (theirs.effort, theirs.speed)
    assert_same_dynamics(tree, read)
    assert exported.losses == ()


@pytest.mark.parametrize("name", sorted(set(EXAMPLE_ROBOTS) - NAMELESS))
def test_real_urdfs_become_mjcf_or_are_said_to_be_refused(name: str, tmp_path: Path) -> None:
    """MuJoCo reads the same robot exactly when no inertia of a body that moves is named.

    Massless links in a row are joints of one body; what stands still and is no inertia of a body is left out.
    """
    tree = load(EXAMPLE_ROBOTS[name])
    exported = export(tree, tmp_path / "robot.xml")
    left_out = [loss for loss in exported.losses if loss.note.startswith("left out, since the body stands still")]
    assert not any(tree.moving[tree.index[loss.where]] for loss in left_out)
    exported = replace(exported, losses=tuple(loss for loss in exported.losses if loss not in left_out))
    if "inertial" in touching(exported):
        with pytest.raises(ReadError, match="inertia"):
            load(tmp_path / "robot.xml")
        return
    assert_same_dynamics(tree, load(tmp_path / "robot.xml"))
    assert touching(exported) == []


@pytest.mark.parametrize(
    "name",
    [
        "g1__g1_29dof",
        "kuka_iiwa_14__iiwa14",
        "ufactory_xarm7__xarm7_nohand",
        "unitree_go1__go1",
        "universal_robots_ur5e__ur5e",
    ],
)
def test_real_mjcfs_survive_mjcf_and_urdf(name: str, tmp_path: Path) -> None:
    """MJCF gives back every number; URDF the same robot without the armature that it names."""
    path = CORPUS / f"{name}.xml"
    if not path.exists():
        pytest.skip("the corpus lies beside the repository, not in it")
    tree = load(path)
    read, exported = there_and_back(tree, tmp_path / "again.xml")
    assert_same_fields(tree, read)
    assert exported.losses == ()
    bare = replace(tree, bodies=tuple(replace(b, joint=replace(b.joint, armature=0, rotor=0)) for b in tree.bodies))
    read, exported = there_and_back(tree, tmp_path / "again.urdf")
    assert_same_dynamics(replace(bare, home=None), read)
    assert set(touching(exported)) == ({"joint@armature"} if any(j.reflected.any() for j in tree.joints) else set())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_engines_themselves_read_the_same_numbers(seed: int, tmp_path: Path) -> None:
    """Pinocchio and MuJoCo, asked directly: M and gravity of a tree of joints with one dof, from both formats."""
    tree = plain_tree(seed, kinds=[JointKind.FIXED, JointKind.REVOLUTE, JointKind.PRISMATIC], massless=0)
    tree = replace(tree, bodies=tuple(replace(b, joint=replace(b.joint, ref=0)) for b in tree.bodies))
    export(tree, tmp_path / "robot.urdf")
    export(tree, tmp_path / "robot.xml")
    q = sample(tree, 8).q
    M, g = Reference(tree).mass_matrix(q), Reference(tree).gravity_forces(q)
    pinocchio = pin.buildModelFromUrdf(str(tmp_path / "robot.urdf"))
    order = [pinocchio.names[1:].tolist().index(dof) for dof in tree.dofs]
    back = np.argsort(order)
    data = pinocchio.createData()
    for n in range(len(q)):
        assert_close(M[n], pin.crba(pinocchio, data, q[n][back])[np.ix_(order, order)], "M of Pinocchio")
        gravity = pin.computeGeneralizedGravity(pinocchio, data, q[n][back])
        assert_close(g[n], gravity[order], "gravity of Pinocchio")
    for file in ("robot.urdf", "robot.xml"):
        model = mujoco.MjModel.from_xml_path(str(tmp_path / file))
        assert [model.joint(j).name for j in range(model.njnt)] == list(tree.dofs)
        state = mujoco.MjData(model)
        for n in range(len(q)):
            found, held = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
            state.qpos[:] = q[n]
            mujoco.mj_forward(model, state)
            mujoco.mj_fullM(model, state, found)
            mujoco.mj_rne(model, state, 0, held)
            assert_close(M[n], found, f"M of MuJoCo from {file}")
            assert_close(g[n], held, f"gravity of MuJoCo from {file}")


@pytest.mark.parametrize("seed", SEEDS)
def test_the_engines_agree_with_the_tree_that_was_written(seed: int, tmp_path: Path) -> None:
    """Every answer of the native paths, with floating bases and balls, is that of the reference on the tree."""
    kinds = [JointKind.FIXED, *ONE_DOF]
    tree = plain_tree(seed, kinds=kinds, massless=0, floating_root=True)
    tree = replace(tree, bodies=tuple(replace(b, joint=replace(b.joint, armature=0)) for b in tree.bodies))
    path = tmp_path / "robot.urdf"
    read, _ = there_and_back(tree, path)
    for engine in (pinocchio_.ENGINE, mujoco_.ENGINE):
        assert_agrees(engine.native(Given("urdf", str(path)), read), read)
    assert_same_dynamics(tree, read)
    with_balls = plain_tree(seed, kinds=[*kinds, JointKind.BALL], massless=0)
    for path in (tmp_path / "balls.urdf", tmp_path / "balls.xml"):
        read, _ = there_and_back(with_balls, path)
        assert_agrees(mujoco_.ENGINE.native(Given(path.suffix[1:].replace("xml", "mjcf"), str(path)), read), read)


def test_massless_links_in_a_row_become_joints_of_one_body(tmp_path: Path) -> None:
    """A shoulder of three hinges between massless links: MuJoCo takes it, and finds the same robot."""
    rng = np.random.default_rng(3)
    joints = [random_joint(rng, f"turn{k}", JointKind.REVOLUTE) for k in range(3)]
    inertias = [Inertia(), Inertia(), random_inertia(rng)]
    links = [
        Body(f"link{k}", k, joint, inertia) for k, (joint, inertia) in enumerate(zip(joints, inertias, strict=True))
    ]
    tree = Tree("shoulder", (world(), *links))
    read, exported = there_and_back(tree, tmp_path / "shoulder.xml")
    assert exported.text.count("<body ") == 1
    assert [body.name for body in read.bodies[1:]] == ["link2/turn0", "link2/turn1", "link2"]
    assert [loss.where for loss in exported.losses if loss.element == "body"] == ["link0", "link1"]
    assert_same_dynamics(tree, read)
    again, _ = there_and_back(read, tmp_path / "again.xml")
    assert_same_fields(read, again)
