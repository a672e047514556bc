"""Floating bases and allocation: the residual wrench as a rate of momentum, a humanoid in flight and on its feet."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from constrained_robots import closed_four_bar
from numpy.testing import assert_allclose
from random_trees import random_transform, random_tree

from tautology import load, models
from tautology.adapters.reference import Reference
from tautology.adapters.textbook import assembly, floating
from tautology.adapters.textbook.allocation import allocate
from tautology.adapters.textbook.constrained import Inconsistent, constrained_dynamics
from tautology.harness.checks.derivatives import along, rate, shifted, steps
from tautology.harness.errors import RequestError, ShapeError
from tautology.harness.spatial import inverse, motion_transform, transform
from tautology.harness.states import sample

HUMANOID = floating.humanoid()
B = floating.actuation(HUMANOID)
# Turned about x by what a file writes for a right angle: the row across the plane is rounding, and not zero.
UPRIGHT = transform(np.array([[1, 0, 0], [0, np.cos(np.pi / 2), -1], [0, 1, np.cos(np.pi / 2)]]), np.zeros(3))


def standing(feet: tuple[str, ...]):
    """Return the humanoid with these feet welded where they stand, and a consistent q, v, a of one state."""
    rng = np.random.default_rng(1)
    q = np.array(HUMANOID.neutral)[None]
    q[:, 7:] += rng.uniform(-0.3, 0.3, (1, 24))
    q[:, 2] = 0.9
    closures = [assembly.welded(HUMANOID, q[0], foot, foot, "") for foot in feet]
    tree = assembly.with_closures(HUMANOID, closures)
    v = assembly.consistent_velocity(tree, q, rng.normal(size=(1, 30)))
    return tree, q, v, assembly.consistent_acceleration(tree, q, v, rng.normal(size=(1, 30)))


@pytest.mark.parametrize("seed", range(4))
def test_the_residual_wrench_is_the_rate_of_momentum_less_gravity_and_loads(seed) -> None:
    """On random floating trees with wrenches on all bodies; the rate body by body, and by differences of momentum."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 8, floating_root=True)
    while 0 in tree.parents[2:]:  # one mechanism
        tree = random_tree(rng, 8, floating_root=True)
    pelvis = tree.bodies[1]  # placed somewhere on the moving side of its joint, turned
    pelvis = replace(pelvis, joint=replace(pelvis.joint, T_joint_body=random_transform(rng)))
    tree = replace(tree, bodies=(tree.bodies[0], pelvis, *tree.bodies[2:]))
    states = sample(tree, 12, seed)
    q, v, a, f = np.array(states.q), np.clip(states.v, -3, 3), np.array(states.a), np.array(states.wrenches)
    f[:, 0] = 0
    Xs = motion_transform(inverse(Reference(tree).all_poses(q)))
    loads = (Xs.swapaxes(-1, -2) @ f[..., None])[..., 0].sum(1)
    moved = floating.momentum_rate(tree, q, v, a)
    left = floating.in_world(tree, q, floating.residual_wrench(tree, q, v, a, f))
    balance = moved - floating.gravity_wrench(tree, q) - loads
    assert np.abs(left).max() > 1
    assert_allclose(left, balance, rtol=0, atol=1e-12 * np.abs(moved).max())
    h = steps(v)
    momenta = Reference(tree).momentum(along(tree, q, v, h), shifted(v, a, h))[:, 0]
    assert_allclose(rate(momenta, h), moved, rtol=0, atol=1e-8 * np.abs(moved).max())


def test_the_humanoid_has_thirty_dofs_and_six_equations_without_actuator() -> None:
    """24 hinges and six of the pelvis; B leaves the rows of the base empty; the tree is mirrored about its middle."""
    assert (HUMANOID.nv, B.shape, HUMANOID.base) == (30, (30, 24), "free")
    assert not B[:6].any()
    assert np.linalg.matrix_rank(B) == 24
    assert HUMANOID.dofs[:6] == ("base.vx", "base.vy", "base.vz", "base.wx", "base.wy", "base.wz")
    M = Reference(HUMANOID).mass_matrix(np.array(HUMANOID.neutral)[None])[0]
    assert np.linalg.eigvalsh(M).min() > 1e-4
    assert_allclose(Reference(HUMANOID).center_of_mass(np.array(HUMANOID.neutral)[None])[0, 1], 0, atol=1e-15)


def test_in_flight_joint_accelerations_may_be_prescribed_and_the_base_follows() -> None:
    """An arbitrary motion has no solution, and the residual is the wrench at the pelvis; a free base has one."""
    tree, q, v, a = standing(())
    (demanded,) = allocate(tree, q, v, a, B)
    assert demanded.solutions == "none"
    assert_allclose(demanded.residual[6:], 0, atol=1e-9)
    wrench = floating.residual_wrench(tree, q, v, a)[0]
    assert_allclose(demanded.residual[:6], np.concatenate([wrench[3:], wrench[:3]]), rtol=1e-9)
    free = floating.base_acceleration(tree, q, v, a)
    assert_allclose(free[:, 6:], a[:, 6:])
    assert np.abs(floating.residual_wrench(tree, q, v, free)).max() < 1e-10
    (flying,) = allocate(tree, q, v, free, B)
    assert flying.solutions == "one"
    assert_allclose(Reference(tree).forward_dynamics(q, v, (B @ flying.u)[None]), free, atol=1e-9)


@pytest.mark.parametrize(
    ("feet", "solutions", "null"), [(("left_foot",), "one", 0), (("left_foot", "right_foot"), "many", 6)]
)
def test_on_one_foot_there_is_one_allocation_and_on_two_many(feet, solutions, null) -> None:
    """24 + 6 unknowns for 30 equations, or six too many; what is found moves the robot as it was prescribed."""
    tree, q, v, a = standing(feet)
    (found,) = allocate(tree, q, v, a, B)
    assert (found.solutions, found.u_null.shape[1]) == (solutions, null)
    forward = constrained_dynamics(tree, q, v, (B @ found.u)[None])
    assert_allclose(forward.a, a, atol=1e-8)
    assert found.u_unique.all() == (null == 0)
    rng = np.random.default_rng(0)
    for _ in range(5 if null else 0):
        z = rng.normal(size=null) * 10
        other = found.u + found.u_null @ z
        assert other @ other >= found.u @ found.u
        assert_allclose(constrained_dynamics(tree, q, v, (B @ other)[None]).a, a, atol=1e-8)


def test_a_motion_that_tears_the_foot_off_is_refused() -> None:
    """Prescribed accelerations must satisfy the constraint before any effort is sought."""
    tree, q, v, a = standing(("left_foot",))
    with pytest.raises(Inconsistent, match="the acceleration of state 0"):
        allocate(tree, q, v, a + 0.1, B)
    with pytest.raises(ShapeError, match=r"B has shape \(6, 24\)"):
        allocate(tree, q, v, a, B[:6])
    with pytest.raises(RequestError, match="0 floating roots"):
        floating.residual_wrench(closed_four_bar()[0], *np.zeros((3, 1, 3)))


@pytest.mark.parametrize("turned", [None, UPRIGHT], ids=["in the xy-plane", "a row that is rounding"])
def test_a_redundantly_driven_loop_shares_its_load(turned) -> None:
    """A four-bar with one motor has one solution, with three many, of which the smallest efforts; limits are told."""
    tree, q = closed_four_bar("connect", turned)
    v = assembly.consistent_velocity(tree, q, np.ones((1, 3)))
    a = assembly.consistent_acceleration(tree, q, v, np.ones((1, 3)))
    (one,) = allocate(tree, q, v, a, np.eye(3)[:, :1], limits=1.0)
    (all_three,) = allocate(tree, q, v, a, np.eye(3))
    assert one.u_unique.tolist() == [True]
    assert one.reactions_unique.tolist() == ([True, True, False] if turned is None else [True, False, True])
    assert_allclose(one.outside, np.maximum(np.abs(one.u) - 1, 0))
    assert one.outside[0] > 0
    assert (all_three.solutions, one.solutions) == ("many", "many")
    assert np.linalg.norm(all_three.u) < np.linalg.norm(one.u)
    for found, drive in ((one, np.eye(3)[:, :1]), (all_three, np.eye(3))):
        assert_allclose(constrained_dynamics(tree, q, v, (drive @ found.u)[None]).a, a, atol=1e-9)


def test_a_net_torque_names_no_muscle() -> None:
    """One joint between two antagonists: many activations give one torque; a muscle over two joints couples both."""
    arm = load(models.path("two_rods.urdf"))
    q, v, a = np.random.default_rng(2).uniform(-1, 1, (3, 1, 2))
    # Moment arms [m]: flexor and extensor of joint 1, the same of joint 2, and one muscle over both.
    muscles = np.array([[0.04, -0.03, 0, 0, 0.02], [0, 0, 0.03, -0.02, 0.025]])
    (found,) = allocate(arm, q, v, a, muscles)
    assert (found.solutions, found.u_null.shape[1]) == ("many", 3)
    assert not found.u_unique.any()
    net = Reference(arm).inverse_dynamics(q, v, a)[0]
    for stronger in (0.0, 50.0):
        u = found.u + stronger * np.array([3.0, 4, 0, 0, 0])  # both of joint 1 at once
        assert_allclose(muscles @ u, net, atol=1e-12)
    assert_allclose(np.linalg.matrix_rank(muscles[:, [0, 4]]), 2)
