"""Real URDFs, read by us and by two others: urchin (the urdfpy API) and Pinocchio's own importer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from example_robots import EXAMPLE_ROBOTS, NAMELESS

from tautology.harness.errors import ReadError
from tautology.harness.importers.urdf import read_urdf
from tautology.harness.spatial import rotation_about, spatial_inertia, transform
from tautology.harness.tree import Inertia, Joint, JointKind, Tree

if TYPE_CHECKING:
    from pathlib import Path

LOADABLE = [name for name in EXAMPLE_ROBOTS if name not in NAMELESS]


def test_example_robots_are_all_there() -> None:
    """The collection that the claims are about."""
    assert len(EXAMPLE_ROBOTS) == 69
    assert len(LOADABLE) == 68


@pytest.mark.parametrize("name", sorted(NAMELESS))
def test_robot_without_a_name_is_refused(name: str) -> None:
    """The format demands it, and urdfdom refuses it too."""
    with pytest.raises(ReadError, match=r"ur3\.urdf:6: <robot> has no attribute 'name'"):
        read_urdf(EXAMPLE_ROBOTS[name])


def displacement(joint: Joint, q: float) -> np.ndarray:
    """Return the motion of a joint with at most one dof."""
    if joint.kind is JointKind.PRISMATIC:
        return transform(np.eye(3), q * joint.axis)
    return transform(rotation_about(joint.axis, np.array(q)), np.zeros(3))


def poses(tree: Tree, q: dict[str, float]) -> dict[str, np.ndarray]:
    """Return T_root_body of every link, by the definition."""
    Ts = [np.eye(4)]
    for body in tree.bodies[1:]:
        joint = body.joint
        Ts.append(Ts[body.parent] @ joint.T_parent_joint @ displacement(joint, q.get(joint.name, 0.0)))
    return {body.name: T for body, T in zip(tree.bodies[1:], Ts[1:], strict=True)}


def urchin_robot(path: Path, folder: Path) -> Any:
    """Return the robot as urchin reads it: without the shapes, whose meshes it would open, and as an open tree."""
    urchin = pytest.importorskip("urchin", reason="urchin, the maintained urdfpy, is not installed")
    document = ET.parse(path)  # noqa: S314  a file of an installed package
    for parent in document.getroot().iter():
        for child in [
            c for c in parent if c.tag in ("visual", "collision", "material", "mimic", "transmission", "gazebo")
        ]:
            parent.remove(child)
    document.write(folder / "bare.urdf")
    return urchin.URDF.load(str(folder / "bare.urdf"))


@pytest.mark.parametrize("name", LOADABLE)
def test_kinematics_and_inertias_are_those_of_urdfpy(name: str, tmp_path: Path) -> None:
    """Link poses at random configurations, and every mass, COM, tensor, axis and limit."""
    theirs, ours = urchin_robot(EXAMPLE_ROBOTS[name], tmp_path), read_urdf(EXAMPLE_ROBOTS[name])
    joints = {joint.name: joint for joint in ours.joints[2:]}
    assert set(joints) == {joint.name for joint in theirs.joints}
    for joint in theirs.joints:
        assert joints[joint.name].kind == joint.joint_type
        if joint.joint_type != "fixed":
            np.testing.assert_allclose(joints[joint.name].axis, joint.axis, rtol=0, atol=1e-15)
        if joint.joint_type in ("revolute", "prismatic"):
            assert (joints[joint.name].speed, joints[joint.name].effort) == (joint.limit.velocity, joint.limit.effort)
            assert (joints[joint.name].lower, joints[joint.name].upper) == (
                joint.limit.lower or 0,
                joint.limit.upper or 0,
            )
    rng = np.random.default_rng(7)
    for _ in range(5):
        q = {joint.name: rng.uniform(-2, 2) for joint in ours.joints if joint.nv}
        Ts = poses(ours, q)
        for link, T in theirs.link_fk(q, use_names=True).items():
            np.testing.assert_allclose(Ts[link], T, rtol=0, atol=1e-13)
    for link in theirs.links:
        body = ours.bodies[ours.index[link.name]]
        if "inertial" in body.sources:  # urchin gives the others 1 kg
            R = link.inertial.origin[:3, :3]
            I_com = R @ link.inertial.inertia @ R.T
            assert body.inertia.mass == link.inertial.mass
            np.testing.assert_array_equal(body.inertia.com, link.inertial.origin[:3, 3])
            np.testing.assert_allclose(body.inertia.I_com, I_com, rtol=0, atol=1e-15 * np.abs(I_com).max())


def inertia_matrix(theirs: Any) -> np.ndarray:
    """Return a Pinocchio inertia about the joint origin, angular first."""
    order = [3, 4, 5, 0, 1, 2]
    return theirs.matrix()[np.ix_(order, order)]


def assert_same_inertia(ours: Inertia, theirs: Any) -> None:
    """Compare mass, first moment and tensor about the origin, which mean something for a massless body too."""
    mine, other = spatial_inertia(np.array(ours.mass), ours.com, ours.I_com), inertia_matrix(theirs)
    np.testing.assert_allclose(mine, other, rtol=0, atol=1e-14 * max(np.abs(mine).max(), 1e-300))


@pytest.mark.parametrize("name", LOADABLE)
def test_merged_bodies_are_those_of_pinocchio(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Placements, parents, axes, limits, damping and composite inertias of every moving joint, and of the base."""
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    tree, model = read_urdf(EXAMPLE_ROBOTS[name]).fused(), pin.buildModelFromUrdf(str(EXAMPLE_ROBOTS[name]))
    capfd.readouterr()  # urdfdom complains on the error stream
    assert {joint.name for joint in tree.joints[1:]} == set(model.names) - {"universe"}
    assert_same_inertia(tree.bodies[0].inertia, model.inertias[0])
    for body in tree.bodies[1:]:
        j, joint = model.getJointId(body.joint.name), body.joint
        parent = model.names[model.parents[j]]
        assert parent == (tree.joints[body.parent].name if body.parent else "universe")
        np.testing.assert_allclose(joint.T_parent_joint, model.jointPlacements[j].homogeneous, rtol=0, atol=1e-14)
        assert_same_inertia(body.inertia, model.inertias[j])
        column = model.joints[j].idx_v
        assert model.damping[column] == joint.damping[0]
        assert model.upperEffortLimit[column] == joint.effort
        S = model.createData().joints[j].S  # linear first
        expected = np.r_[joint.axis, 0, 0, 0] if joint.kind is JointKind.PRISMATIC else np.r_[0, 0, 0, joint.axis]
        np.testing.assert_allclose(S, expected, rtol=0, atol=1e-15)
