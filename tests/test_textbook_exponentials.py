"""Serial chains by products of exponentials, against the reference and the plane."""

from __future__ import annotations

from dataclasses import replace

import closed_forms as cf
import numpy as np
import pytest
from numpy.testing import assert_allclose
from random_trees import random_inertia, random_joint, random_transform

from tautology import load, models
from tautology.adapters.reference import Reference
from tautology.adapters.textbook import exponentials, lie, planar, planar_tree
from tautology.adapters.textbook.planar import PlanarChain
from tautology.harness.errors import ShapeError, TreeError
from tautology.harness.joint import Joint, JointKind
from tautology.harness.spatial import inverse, motion_transform
from tautology.harness.tree import Body, Tree, world

ARM = PlanarChain(*cf.PLANAR_ARM)


def serial(seed: int, n: int) -> Tree:
    """Return a chain of turned and offset revolute and prismatic joints, bodies fixed between and after them."""
    rng = np.random.default_rng(seed)
    bodies = [world()]
    for i in range(n):
        kind = (JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.CONTINUOUS)[i % 3]
        joint = random_joint(rng, f"joint{i}", kind, armature=True)
        bodies.append(Body(f"body{i}", len(bodies) - 1, joint, random_inertia(rng)))
        if i % 2:
            held = Joint(f"weld{i}", JointKind.FIXED, T_parent_joint=random_transform(rng))
            bodies.append(Body(f"fixed{i}", len(bodies) - 1, held, random_inertia(rng)))
    tool = Joint("flange", JointKind.FIXED, T_parent_joint=random_transform(rng))
    bodies.append(Body("tool", len(bodies) - 1, tool))
    return Tree("serial", tuple(bodies), gravity=rng.uniform(-10, 10, 3))


def states(seed: int, tree: Tree, count: int = 30) -> tuple[np.ndarray, ...]:
    """Return q, v, a and wrenches of the tip on its surroundings."""
    rng = np.random.default_rng(seed)
    q, v, a = rng.uniform(-2, 2, (3, count, tree.nv))
    return q, v, a, rng.uniform(-5, 5, (count, 6))


@pytest.mark.parametrize("seed", range(4))
def test_exponentials_agree_with_the_reference(seed: int) -> None:
    """Any serial chain, fixed bodies among its links, with a wrench at the tip and armature."""
    tree = serial(seed, 6)
    q, v, a, tip = states(seed, tree)
    wrenches = np.zeros((len(q), len(tree.bodies), 6))
    wrenches[:, tree.index["tool"]] = -tip
    expected = Reference(tree).inverse_dynamics(q, v, a, wrenches)
    found = exponentials.inverse_dynamics(exponentials.screws_of(tree), q, v, a, tip)
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()


def test_exponentials_embed_the_plane() -> None:
    """300 random states and tip forces of the planar arm, to 3e-14; A_i = (0, 0, 1, 0, L_i / 2, 0)."""
    rng = np.random.default_rng(0)
    q, v, a = rng.uniform(-1, 1, (3, 300, 3))
    q, v, force = np.pi * q, 2 * v, rng.uniform(-5, 5, (300, 2))
    screws = exponentials.screws_of(planar_tree.embedded(ARM), "tip")
    assert_allclose(screws.A, [[0, 0, 1, 0, length / 2, 0] for length in ARM.lengths], atol=1e-15)
    # Of the tip on its surroundings, in the axes of the tip.
    tip = -planar_tree.tip_wrenches(ARM, q, force)[:, -1]
    found = exponentials.inverse_dynamics(screws, q, v, a, tip)
    assert np.abs(found - planar.inverse_dynamics(ARM, q, v, a, force)).max() <= 3e-14


@pytest.mark.parametrize("file", ["three_planar_links.urdf", "three_cylinders.urdf"])
def test_the_printed_efforts_come_out_of_exponentials(file: str) -> None:
    """The bundled files of both worked chains."""
    printed = {"three_planar_links.urdf": cf.THREE_LINKS_TAU, "three_cylinders.urdf": cf.CYLINDERS_TAU}[file]
    screws = exponentials.screws_of(load(models.path(file)))
    state = (x[None] for x in (cf.THREE_LINKS_Q, cf.THREE_LINKS_QD, cf.THREE_LINKS_QDD))
    assert_allclose(exponentials.inverse_dynamics(screws, *state)[0], printed, rtol=0, atol=cf.PRINTED)


def test_poses_are_products_of_exponentials_and_home_poses() -> None:
    """Link poses at random states; without the home poses the partial products are other frames."""
    tree = serial(5, 5)
    q = states(5, tree)[0]
    screws, truth = exponentials.screws_of(tree), Reference(tree).poses(q)
    found = exponentials.poses(screws, q)
    assert_allclose(found[:, -1], truth[:, tree.index["tool"] - 1], atol=1e-13)
    fused = tree.fused()
    for i in range(screws.n):
        body = tree.index[fused.bodies[i + 1].name] - 1
        assert_allclose(found[:, i, :3, :3], truth[:, body, :3, :3], atol=1e-13)
        com = truth[:, body, :3, :3] @ fused.bodies[i + 1].inertia.com + truth[:, body, :3, 3]
        assert_allclose(found[:, i, :3, 3], com, atol=1e-13)
    first = np.stack([lie.screw_motion(screws.space_screws()[0], angle) for angle in q[:, 0]])
    assert np.abs(first - found[:, 0]).max() > 0.1


def test_what_is_no_serial_chain_is_refused() -> None:
    """A branch, a ball, an unknown tip, a tip in the middle, a shape."""
    tree = serial(6, 4)
    with pytest.raises(TreeError, match="no serial chain"):
        exponentials.screws_of(load(models.path("branched_tree.urdf")))
    ball = Body("ball", 0, Joint("ball_joint", JointKind.BALL), random_inertia(np.random.default_rng(0)))
    with pytest.raises(TreeError, match="no serial chain"):
        exponentials.screws_of(Tree("ball", (world(), ball)))
    with pytest.raises(TreeError, match="no body 'hand' to be its tip; there are: world, body0"):
        exponentials.screws_of(tree, "hand")
    with pytest.raises(TreeError, match="not on its last link"):
        exponentials.screws_of(tree, "body1")
    with pytest.raises(ShapeError, match=r"v has shape \(4,\); a chain of 4 joints needs \(1, 4\)"):
        exponentials.inverse_dynamics(exponentials.screws_of(tree), np.zeros((1, 4)), np.zeros(4), np.zeros((1, 4)))


def test_the_tip_may_be_any_body_of_the_last_link() -> None:
    """A wrench about the last link's own origin, where nothing is fixed to it."""
    tree = serial(7, 3)
    bare = replace(tree, bodies=tree.bodies[:-1])
    q, v, a, tip = states(7, tree)
    wrenches = np.zeros((len(q), len(tree.bodies), 6))
    wrenches[:, tree.index["body2"]] = -tip
    expected = Reference(tree).inverse_dynamics(q, v, a, wrenches)
    for chain in (exponentials.screws_of(tree, "body2"), exponentials.screws_of(bare)):
        assert_allclose(exponentials.inverse_dynamics(chain, q, v, a, tip), expected, rtol=1e-11, atol=1e-11)


def test_screws_of_the_home_pose_are_carried_into_the_links() -> None:
    """A_i = Ad of M_{0,i}^-1 on S_i; S_i is the axis where the joint stands at q = 0, in world axes."""
    tree = serial(8, 4)
    screws, home = exponentials.screws_of(tree), np.eye(4)
    placed = Reference(tree).all_poses(np.zeros((1, tree.nv)))[0]
    for i, S in enumerate(screws.space_screws()):
        home = home @ screws.M[i]
        assert_allclose(motion_transform(inverse(home)) @ S, screws.A[i], atol=1e-13)
        b = tree.joint_of_dof[i]
        joint = tree.joints[b]
        T = placed[tree.parents[b]] @ joint.T_parent_joint
        axis, p = T[:3, :3] @ joint.axis, T[:3, 3]
        sliding = joint.kind is JointKind.PRISMATIC
        expected = np.concatenate([np.zeros(3), axis] if sliding else [axis, np.cross(p, axis)])
        assert_allclose(S, expected, atol=1e-13)
