"""What the chapter says of frames: anywhere on a body, units, points and their speeds, subspaces that vary."""

from __future__ import annotations

from dataclasses import replace

import closed_forms as cf
import numpy as np
import pytest
from body_recursion import Recursion
from numpy.testing import assert_allclose
from random_trees import random_inertia, random_transform
from scalar_trees import drawn, effort

from tautology.adapters.reference import Reference
from tautology.adapters.textbook import lie, planar, planar_tree
from tautology.harness.joint import Joint, JointKind
from tautology.harness.spatial import inverse, motion_cross, motion_transform, transform
from tautology.harness.tree import Body, Inertia, Tree, world


# --- Frames and units -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(3))
def test_body_frames_may_stand_anywhere(seed: int) -> None:
    """Every frame moved and turned, with inertias, placements and wrenches moved along: the same efforts."""
    tree, q, v, a, loads = drawn(seed)
    rng = np.random.default_rng(seed)
    T = [np.eye(4), *(random_transform(rng) for _ in tree.bodies[1:])]  # the new frame in the old one
    bodies = [tree.bodies[0]]
    for i, body in enumerate(tree.bodies[1:], 1):
        R, back = T[i][:3, :3], inverse(T[i])
        joint = replace(
            body.joint,
            T_parent_joint=inverse(T[body.parent]) @ body.joint.T_parent_joint,
            T_joint_body=body.joint.T_joint_body @ T[i],
        )
        held = body.inertia
        I_com = R.T @ held.I_com @ R
        moved = Inertia(held.mass, back[:3, :3] @ held.com + back[:3, 3], (I_com + I_com.T) / 2)
        bodies.append(replace(body, joint=joint, inertia=moved))
    other = replace(tree, bodies=tuple(bodies))
    carried = np.stack([motion_transform(t).T @ f for t, f in zip(T, loads, strict=True)])
    assert_allclose(effort(other, q, v, a, carried), effort(tree, q, v, a, loads), atol=1e-11)
    # What is forgotten shows: wrenches left about the old origins.
    assert np.abs(effort(other, q, v, a, loads) - effort(tree, q, v, a, loads)).max() > 0.1


def test_efforts_of_prismatic_joints_are_forces() -> None:
    """In millimetres, forces are 1e3 and torques 1e6 times as large; the adjoint's condition depends on the unit."""
    tree, q, v, a, _ = drawn(1)
    s = 1e3
    sliding = np.array([tree.joints[i].kind is JointKind.PRISMATIC for i in tree.joint_of_dof])
    assert 0 < sliding.sum() < tree.nv

    def scaled(T: np.ndarray) -> np.ndarray:
        return transform(T[:3, :3], s * T[:3, 3])

    bodies = [
        replace(
            b,
            joint=replace(
                b.joint,
                T_parent_joint=scaled(b.joint.T_parent_joint),
                T_joint_body=scaled(b.joint.T_joint_body),
                ref=b.joint.ref * (s if b.joint.kind is JointKind.PRISMATIC else 1),
            ),
            inertia=Inertia(b.inertia.mass, s * b.inertia.com, s * s * b.inertia.I_com),
        )
        for b in tree.bodies
    ]
    millimetres = replace(tree, bodies=tuple(bodies), gravity=s * tree.gravity)
    unit = np.where(sliding, s, 1.0)
    found = effort(millimetres, unit * q, unit * v, unit * a)
    assert_allclose(found, np.where(sliding, s, s * s) * effort(tree, q, v, a), rtol=1e-9)
    X = motion_transform(transform(np.eye(3), np.array([0, 0.5, 0])))
    assert np.linalg.cond(motion_transform(transform(np.eye(3), np.array([0, 500.0, 0])))) > 1e4 * np.linalg.cond(X)


def test_a_task_may_lose_rank_where_no_frame_does() -> None:
    """The stretched planar arm cannot move its tip along itself; all its transforms are regular there."""
    chain = planar.PlanarChain(*cf.PLANAR_ARM)
    tree = planar_tree.embedded(chain)
    for q, rank in ((np.array([0.4, 0.0, 0.0]), 1), (np.array([0.4, 0.7, -0.3]), 2)):
        own = [Recursion(tree, q, unit, 0 * q) for unit in np.eye(3)]
        J = np.stack([x.V[-1][3:5] for x in own], axis=1)
        assert np.linalg.matrix_rank(J, tol=1e-12) == rank
        assert all(np.linalg.matrix_rank(X) == 6 for X in own[0].X)


def test_an_axis_beside_the_origin_has_a_linear_part() -> None:
    """S = (axis, p x axis) for an axis through p; the point of the body on the axis does not move."""
    p, axis = np.array([0.2, -0.4, 0.1]), np.array([0, 0.6, 0.8])
    joint = Joint("joint", JointKind.REVOLUTE, axis=axis, T_joint_body=transform(np.eye(3), -p))
    tree = Tree("offset", (world(), Body("body", 0, joint, random_inertia(np.random.default_rng(0)))))
    own = Recursion(tree, np.array([0.7]), np.array([1.3]), np.array([0.4]))
    assert_allclose(own.S[1], np.concatenate([axis, np.cross(p, axis)]), atol=1e-15)
    assert_allclose(own.V[1][3:] + np.cross(own.V[1][:3], p), 0, atol=1e-15)


def test_the_speed_of_a_point_needs_origin_motion_lever_arm_and_directions() -> None:
    """The tip's velocity by twist is the derivative of its place; sums of speeds exceed it, even where it stands."""
    chain = planar.PlanarChain(*cf.PLANAR_ARM)
    tree = planar_tree.embedded(chain).fused()
    q, v = cf.PLANAR_ARM_Q, cf.PLANAR_ARM_QD
    end = np.array([chain.lengths[2], 0, 0])

    def speeds(v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        V, R = Recursion(tree, q, v, 0 * q).V[3], Reference(tree).all_poses(q[None])[0, 3, :3, :3]
        own = np.cumsum(v) * chain.lengths  # what each link adds, as a number
        return (R @ (V[3:] + np.cross(V[:3], end)))[:2], np.abs(own)

    h = 1e-4
    places = [planar.positions(chain, q + v * t)[0][-1] for t in (-h, h)]
    velocity, own = speeds(v)
    assert_allclose(velocity, (places[1] - places[0]) / (2 * h), atol=1e-8)
    assert np.linalg.norm(velocity) < own.sum() - 0.1
    # Without the lever arm, or without the motion of the origin, it is another speed.
    omega = v.sum()
    assert abs(omega * chain.lengths[2]) != pytest.approx(np.linalg.norm(velocity), rel=0.05)
    # A motion in which the tip stands still, all links turning.
    J = np.stack([speeds(e)[0] for e in np.eye(3)], axis=1)
    still = np.linalg.svd(J)[2][-1]
    velocity, own = speeds(still)
    assert_allclose(velocity, 0, atol=1e-13)
    assert own.sum() > 0.3


@pytest.mark.parametrize("seed", range(3))
def test_accelerations_are_derivatives_of_the_components_of_twists(seed: int) -> None:
    """Without gravity, a_i is d/dt of the six numbers of V_i in the body's own axes, by differences along a motion."""
    tree, q, v, a, _ = drawn(seed)
    h = 1e-3

    def twists(t: float) -> np.ndarray:
        return np.stack(Recursion(tree, q + v * t + a * t * t / 2, v + a * t, a).V)

    change = (twists(-2 * h) - 8 * twists(-h) + 8 * twists(h) - twists(2 * h)) / (12 * h)
    assert_allclose(np.stack(Recursion(tree, q, v, a, gravity=np.zeros(3)).a), change, atol=1e-7)


# --- Joints whose subspace varies -------------------------------------------------------------------------------------
def test_a_subspace_that_varies_has_a_bias_of_its_own() -> None:
    """A universal joint as one joint of two dofs: a = S(q) q'' + c_J + V x V_J with c_J = S' q', against two hinges."""
    crossed = Body("crossed", 0, Joint("one", JointKind.REVOLUTE))
    held = random_inertia(np.random.default_rng(4))
    body = Body("body", 1, Joint("two", JointKind.REVOLUTE, axis=np.array([1.0, 0, 0])), held)
    tree = Tree("universal", (world(), crossed, body))
    q, v, a = np.array([0.4, 0.9]), np.array([1.1, -0.7]), np.array([0.5, 0.8])
    own = Recursion(tree, q, v, a)

    def S(q: np.ndarray) -> np.ndarray:
        c, s = np.cos(q[1]), np.sin(q[1])
        return np.array([[0, s, c, 0, 0, 0], [1.0, 0, 0, 0, 0, 0]]).T

    h = 1e-6
    rate = (S(q + h * v) - S(q - h * v)) / (2 * h)
    assert_allclose(S(q) @ v, own.V[2], atol=1e-14)
    base = motion_transform(inverse(own.T[1] @ own.T[2])) @ own.a[0]
    assert_allclose(base + S(q) @ a + rate @ v + motion_cross(own.V[2]) @ (S(q) @ v), own.a[2], atol=1e-9)
    # On a fixed base V = V_J, their bracket is nothing, and all of the velocity product is c_J.
    assert_allclose(motion_cross(own.V[2]) @ (S(q) @ v), 0, atol=1e-15)
    assert np.abs(rate @ v).max() > 0.1
    assert_allclose(S(q).T @ own.f[2], own.tau, atol=1e-13)


# --- Infinitesimal and finite -----------------------------------------------------------------------------------------
def test_the_dual_cross_is_the_derivative_of_the_inverse_transpose() -> None:
    """d/dt X^-T = (V x*) X^-T along T(t) = exp(t V) T: negative transpose and inverse transpose are one relation."""
    rng = np.random.default_rng(3)
    V, T, h = rng.normal(size=6), random_transform(rng), 1e-3

    def dual(t: float) -> np.ndarray:
        return np.linalg.inv(motion_transform(lie.exponential(t * lie.hat(V)) @ T)).T

    change = (dual(-2 * h) - 8 * dual(-h) + 8 * dual(h) - dual(2 * h)) / (12 * h)
    assert_allclose(change, lie.force_cross(V) @ dual(0.0), atol=1e-9)
    assert np.abs(change - motion_cross(V) @ dual(0.0)).max() > 0.1
