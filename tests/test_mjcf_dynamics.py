"""The tree of an MJCF moves and weighs as MuJoCo's compiled model does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import pytest
from mjcf_texts import ZOO, written
from small_dynamics import mass_matrix_and_gravity, poses_and_jacobians

import tautology
from tautology.harness.importers.mjcf import load_spec, read_mjcf
from tautology.harness.importers.mjcf_bodies import names_of
from tautology.harness.importers.mjcf_spec import quiet
from tautology.harness.spatial import rotation_from_quaternion

if TYPE_CHECKING:
    from tautology.harness.tree import Tree

OWN = sorted((Path(tautology.__file__).parent / "models").glob("*.xml"))
SHARED = Path(__file__).parents[1].parent / "shared"
CORPUS = sorted(SHARED.glob("corpus/mjcf/*.xml"))
# Parts that are no models by themselves, and files that are refused.
NO_MODELS = {
    "arm.xml",
    "defaults.xml",
    "same_joint_twice.xml",
    "nan_mass.xml",
    "ball_then_hinge.xml",
    "missing_mesh.xml",
}
CASES = [path for path in sorted(SHARED.glob("cases/*/*.xml")) if path.name not in NO_MODELS]
needs_shared = pytest.mark.skipif(not CORPUS, reason="the case files do not lie beside this checkout")


def random_state(model: Any, rng: np.random.Generator) -> np.ndarray:
    """Return qpos a random step away from qpos0."""
    qpos = model.qpos0.copy()
    mujoco.mj_integratePos(model, qpos, rng.normal(size=model.nv), 1.0)
    return qpos


def base_map(tree: Tree, q: np.ndarray) -> np.ndarray:
    """Return T of v_mujoco = T v_tree: MuJoCo's linear velocity of a free joint is in world axes."""
    T = np.eye(tree.nv)
    for i, joint in enumerate(tree.joints):
        if joint.kind == "floating":
            v, pose = tree.v_slices[i], q[tree.q_slices[i]]
            T[v.start : v.start + 3, v.start : v.start + 3] = rotation_from_quaternion(pose[3:])
    return T


def compare(path: Path, states: int = 5) -> None:
    """Hold poses, mass matrix and gravity of the tree against MuJoCo's at random states."""
    tree = read_mjcf(path)
    with quiet(mujoco):
        model = load_spec(path)[0].compile()
    data, rng = mujoco.MjData(model), np.random.default_rng(7)
    assert (tree.nq, tree.nv) == (model.nq, model.nv)
    for _ in range(states):
        data.qpos[:] = q = random_state(model, rng)
        data.qvel[:] = 0
        for stage in ("kinematics", "comPos", "comVel", "tendon", "makeM"):
            getattr(mujoco, f"mj_{stage}")(model, data)
        poses, _ = poses_and_jacobians(tree, q)
        for name, p, quat in zip(names_of(model)[0], data.xpos, data.xquat, strict=True):
            T = poses[tree.index[name]]
            np.testing.assert_allclose(T[:3, 3], p, rtol=0, atol=1e-13)
            np.testing.assert_allclose(T[:3, :3], rotation_from_quaternion(quat), rtol=0, atol=1e-13)
        M, tau = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
        mujoco.mj_fullM(model, data, M)
        mujoco.mj_rne(model, data, 0, tau)
        T = base_map(tree, q)
        mine, g = mass_matrix_and_gravity(tree, q)
        # MuJoCo adds up moments about the centre of mass in world axes, whose rounding grows with the distance squared.
        reach = 1 + max(
            np.linalg.norm(T[:3, 3]) + np.linalg.norm(b.inertia.com) for b, T in zip(tree.bodies, poses, strict=True)
        )
        scale = np.sqrt(np.outer(np.diag(mine), np.diag(mine))) + tree.moving_mass * reach**2
        assert (np.abs(mine - T.T @ M @ T) <= 1e-13 * scale).all()
        weight = np.linalg.norm(tree.gravity) * np.sqrt(tree.total_mass * np.diag(mine))
        assert (np.abs(g - T.T @ tau) <= 1e-13 * weight).all()


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_models_of_the_package_move_as_in_mujoco(path: Path) -> None:
    """The bundled MJCF."""
    compare(path)


@needs_shared
@pytest.mark.parametrize("path", CORPUS + CASES, ids=lambda path: path.name)
def test_files_beside_the_checkout_move_as_in_mujoco(path: Path) -> None:
    """Real robots and the case files."""
    compare(path)


def test_everything_at_once_moves_as_in_mujoco(tmp_path: Path) -> None:
    """Frames, series of joints, references, anchors, geoms, gears, tendons, two roots, a mocap body, replicas."""
    compare(written(tmp_path, ZOO))


SWITCHES = {
    "balanceinertia": ('<compiler balanceinertia="true"/>', '"0.012 0.017 0.022"', '"0.01 0.02 0.06"'),
    "bounds": ('<compiler boundmass="1.3" boundinertia="0.013"/>', "", ""),
    "settotalmass": ('<compiler settotalmass="7"/>', "", ""),
    "settotalmass and fusestatic": ('<compiler settotalmass="7" fusestatic="true"/>', "", ""),
    "inertiafromgeom": (
        '<compiler inertiafromgeom="true" inertiagrouprange="1 2"/>',
        "<inertial",
        '<geom group="1" type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/><geom size="1"/><inertial',
    ),
    "alignfree": ('<compiler alignfree="true"/>', "", ""),
    "gravity off": ('<option><flag gravity="disable"/></option>', "", ""),
    "discardvisual": (
        '<compiler discardvisual="true"/>',
        'size="0.03 0.1"',
        'size="0.03 0.1" contype="0" conaffinity="0"',
    ),
}


@pytest.mark.parametrize(("switch", "old", "new"), SWITCHES.values(), ids=SWITCHES.keys())
def test_compiler_switches_are_mujocos(tmp_path: Path, switch: str, old: str, new: str) -> None:
    """Whatever a switch does to masses, tensors, frames and gravity, the tree has it."""
    text = ZOO.replace("<option gravity", f"{switch}\n<option gravity")
    compare(written(tmp_path, text.replace(old, new) if old else text), states=2)
