"""What the chapter says of the recursion on trees: order, frames, gravity, bearings, interfaces, mistakes."""

from __future__ import annotations

from dataclasses import replace

import closed_forms as cf
import numpy as np
import pytest
from body_recursion import Recursion
from numpy.testing import assert_allclose
from random_trees import ONE_DOF, random_inertia, random_joint, random_transform, random_tree

from tautology import load, models
from tautology.adapters.reference import Reference
from tautology.adapters.textbook import forward, lie, planar, planar_tree
from tautology.harness.checks.derivatives import along, rate, shifted, steps
from tautology.harness.joint import Joint, JointKind
from tautology.harness.spatial import inverse, motion_cross, motion_transform, transform
from tautology.harness.states import sample
from tautology.harness.tree import Body, Inertia, Tree, world

SCALAR = [*ONE_DOF, JointKind.FIXED]


def drawn(seed: int, count: int = 8) -> tuple[Tree, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return a random tree of scalar joints, and q, v, a and wrenches of one state."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, count, kinds=SCALAR)
    q, v, a = rng.uniform(-1.5, 1.5, (3, tree.nv))
    loads = rng.uniform(-5, 5, (len(tree.bodies), 6))
    loads[0] = 0
    return tree, q, v, a, loads


def effort(tree: Tree, *state: np.ndarray, gravity: np.ndarray | None = None) -> np.ndarray:
    """Return the reference's efforts at one state, wrenches last."""
    return Reference(tree).inverse_dynamics(*(x[None] for x in state), gravity=gravity)[0]


# --- The recursion, and how it is spoilt ------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(6))
def test_body_axes_and_parent_to_child_transforms_give_the_efforts(seed: int) -> None:
    """Twists of every body, V_i = X V_p + S v, and efforts with loads on all bodies, against the reference."""
    tree, q, v, a, loads = drawn(seed)
    own = Recursion(tree, q, v, a, loads)
    assert_allclose(own.V[1:], Reference(tree).velocities(q[None], v[None])[0], atol=1e-12)
    assert_allclose(own.tau, effort(tree, q, v, a, loads), atol=1e-11)
    for i in range(1, len(tree.bodies)):
        relative = own.V[i] - own.X[i] @ own.V[tree.parents[i]]
        rate = v[tree.v_slices[i]]
        assert_allclose(relative, own.S[i] * (rate[0] if len(rate) else 0), atol=1e-13)


@pytest.mark.parametrize(
    "spoilt",
    ["velocities added in other axes", "no velocity product", "no dual", "moments not shifted", "inverse transpose"],
)
def test_each_mistake_gives_other_efforts_though_they_stay_affine_in_the_acceleration(spoilt: str) -> None:
    """ID(a) - ID(0) adds up and scales for wrong recursions as well: being affine proves nothing."""
    tree, q, v, a, _ = drawn(1)
    b = np.random.default_rng(2).normal(size=tree.nv)
    wrong = {k: Recursion(tree, q, v, x, spoilt=spoilt).tau for k, x in (("a", a), ("b", b), ("0", 0 * a))}
    assert np.abs(wrong["a"] - effort(tree, q, v, a)).max() > 1e-2
    both = Recursion(tree, q, v, 2 * a + 3 * b, spoilt=spoilt).tau
    assert_allclose(both - wrong["0"], 2 * (wrong["a"] - wrong["0"]) + 3 * (wrong["b"] - wrong["0"]), atol=1e-10)


def test_one_pose_hides_what_another_shows() -> None:
    """Two rods, straight: without velocity products the printed efforts still come out; at an angle they do not."""
    tree = load(models.path("two_rods.urdf"))
    at = (cf.TWO_RODS_Q, cf.TWO_RODS_QD, cf.TWO_RODS_QDD)
    turned = (np.array([0.3, -0.8]), *at[1:])
    for state, hidden in ((at, True), (turned, False)):
        wrong = Recursion(tree, *state, spoilt="no velocity product")
        # The product of the twists is there at the straight pose too; its force goes through both axes.
        right = Recursion(tree, *state)
        assert np.abs(right.c[-1]).max() > 0.1
        assert (np.abs(wrong.tau - right.tau).max() < 1e-12) == hidden
    assert_allclose(Recursion(tree, *at).tau, cf.TWO_RODS_TAU, rtol=0, atol=cf.PRINTED)


def test_poses_need_the_inverse_of_the_transform_that_carries_motion() -> None:
    """T_Wi = T_Wp T_ip^-1; the same matrix without the inverse is another place."""
    tree, q, v, a, _ = drawn(3)
    own, truth = Recursion(tree, q, v, a), Reference(tree).all_poses(q[None])[0]
    for i in range(1, len(tree.bodies)):
        T_child_parent = inverse(own.T[i])
        parent = truth[tree.parents[i]]
        assert_allclose(parent @ inverse(T_child_parent), truth[i], atol=1e-13)
        assert np.abs(parent @ T_child_parent - truth[i]).max() > 1e-2


# --- Order, branches, indices -----------------------------------------------------------------------------------------
def test_brothers_may_change_places() -> None:
    """Parents (0, 1, 1, 3) renumbered to (0, 1, 2, 1): any order with parents first gives the same efforts."""
    tree = load(models.path("branched_tree.urdf")).fused()
    assert [p for p in tree.parents if p >= 0] == [0, 1, 1, 3]
    one, two, three, four = tree.bodies[1:]
    swapped = replace(tree, bodies=(tree.bodies[0], one, three, replace(four, parent=2), two))
    assert [p for p in swapped.parents if p >= 0] == [0, 1, 2, 1]
    order = [0, 2, 3, 1]
    q, v, a = cf.BRANCHED_Q, cf.BRANCHED_QD, cf.BRANCHED_QDD
    assert_allclose(effort(swapped, q[order], v[order], a[order]), effort(tree, q, v, a)[order], atol=1e-13)


def test_a_gripper_in_series_is_no_branch_and_two_fingers_are() -> None:
    """A chain of three has parents (0, 1, 2); columns of M tell chain and branch apart by their zeros."""
    chain = planar_tree.embedded(planar.PlanarChain(*cf.THREE_LINKS)).fused()
    assert [p for p in chain.parents if p >= 0] == [0, 1, 2]
    rng = np.random.default_rng(0)
    finger = [
        Body(f"finger{i}", 3 + k, random_joint(rng, f"finger_joint{i}", JointKind.PRISMATIC), random_inertia(rng))
        for i, k in ((0, 0), (1, 1), (2, 0))
    ]
    serial = replace(chain, bodies=(*chain.bodies, finger[0], finger[1]))
    branched = replace(chain, bodies=(*chain.bodies, finger[0], finger[2]))
    q = rng.uniform(-1, 1, (1, 5))
    assert Reference(serial).mass_matrix(q)[0].all()
    M = Reference(branched).mass_matrix(q)[0]
    assert np.argwhere(M == 0).tolist() == [[3, 4], [4, 3]]


def test_children_add_up_to_the_bodies_and_looking_for_them_in_the_whole_list_squares_the_work() -> None:
    """One parent edge a body: n accumulations; a search of all bodies for each one's children makes n (n + 1)."""
    for n in (5, 10, 40):
        tree = random_tree(np.random.default_rng(n), n, kinds=SCALAR)
        children = [sum(p == i for p in tree.parents[1:]) for i in range(n + 1)]
        assert sum(children) == n
        looks = {"into the parent": 0, "search": 0}
        sums = {key: [float(i) for i in range(n + 1)] for key in looks}
        for i in range(n, 0, -1):
            sums["into the parent"][tree.parents[i]] += sums["into the parent"][i]
            looks["into the parent"] += 1
        for i in range(n, -1, -1):
            for j in range(1, n + 1):
                looks["search"] += 1
                if tree.parents[j] == i:
                    sums["search"][i] += sums["search"][j]
        assert sums["search"] == sums["into the parent"]
        assert looks == {"into the parent": n, "search": n * (n + 1)}


def test_two_links_written_out_from_the_conventions() -> None:
    """Parents (0, 1), from nought (-1, 0); S = (0, 0, 1, 0, 0, 0) twice; X_2 holds the lever arm of link 1."""
    tree = load(models.path("two_rods.urdf")).fused()
    moving = tree.bodies[-2:]
    one_based = [tree.parents[-2], tree.parents[-1]]
    assert one_based == [0, 1]
    assert [p - 1 for p in one_based] == [-1, 0]
    assert [b.joint.kind for b in moving] == [JointKind.REVOLUTE] * 2
    q, v, a = cf.TWO_RODS_STATES[0]
    flat = planar_tree.embedded(planar.uniform_rods(np.ones(2), np.ones(2)))
    own = Recursion(flat, q, v, a)
    for i in (1, 2):
        assert_allclose(own.S[i], [0, 0, 1, 0, 0, 0])
        c, s = np.cos(q[i - 1]), np.sin(q[i - 1])
        turned = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1.0]])
        # From parent to child: the origin of the child is one metre along x of link 1, so (0, omega, 0) there.
        arm = np.array([[0, 0, 0], [0, 0, i - 1.0], [0, 1.0 - i, 0]])
        assert_allclose(own.X[i], np.block([[turned, np.zeros((3, 3))], [turned @ arm, turned]]), atol=1e-15)
    assert_allclose(own.tau, cf.two_rods_effort(q, v, a), atol=1e-14)


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


# --- Gravity, bearings, supports --------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(3))
def test_gravity_is_a_base_acceleration_or_a_load_and_not_both(seed: int) -> None:
    """Weights at the centres of mass in zero gravity give the same efforts; both together count gravity twice."""
    tree, q, v, a, _ = drawn(seed)
    poses = Reference(tree).all_poses(q[None])[0]
    weights = np.zeros((len(tree.bodies), 6))
    for i, body in enumerate(tree.bodies):
        force = poses[i, :3, :3].T @ (body.inertia.mass * tree.gravity)
        weights[i] = np.concatenate([np.cross(body.inertia.com, force), force])
    weights[0] = 0
    expected = effort(tree, q, v, a)
    assert_allclose(effort(tree, q, v, a, weights, gravity=np.zeros(3)), expected, atol=1e-11)
    gravity = Reference(tree).gravity_forces(q[None])[0]
    assert_allclose(effort(tree, q, v, a, weights), expected + gravity, atol=1e-11)
    # Gravity is no velocity either: a base that moves steadily changes nothing but the axes it is seen from.
    assert np.abs(gravity).max() > 1


@pytest.mark.parametrize("seed", range(3))
def test_in_a_lift_that_starts_upward_gravity_cannot_be_told(seed: int) -> None:
    """The tree on a slide that accelerates with -g, in zero gravity, needs the efforts of the tree at rest in g."""
    tree, q, v, a, _ = drawn(seed)
    size = np.linalg.norm(tree.gravity)
    lift = Body("lift", 0, Joint("lift", JointKind.PRISMATIC, axis=-tree.gravity / size))
    raised = [replace(b, parent=b.parent + 1) for b in tree.bodies[1:]]
    lifted = replace(tree, bodies=(tree.bodies[0], lift, *raised), gravity=np.zeros(3))
    found = effort(lifted, np.r_[0.3, q], np.r_[0.8, v], np.r_[size, a])
    assert_allclose(found[1:], effort(tree, q, v, a), atol=1e-11)


def test_what_no_effort_shows_goes_through_the_bearing() -> None:
    """A level rod on an upright axis: no torque, and yet weight and m g L / 2 in the bearing; they do no work."""
    m, L = 2.0, 1.5
    rod = Inertia(m, np.array([L / 2, 0, 0]), np.diag([1e-3, m * L**2 / 12, m * L**2 / 12]))
    tree = Tree("rod", (world(), Body("rod", 0, Joint("joint", JointKind.REVOLUTE), rod)))
    q, rest = np.array([0.6]), np.zeros(1)
    own = Recursion(tree, q, rest, rest)
    assert_allclose(own.tau, 0, atol=1e-15)
    assert_allclose(own.f[1], [0, -m * cf.G * L / 2, 0, 0, 0, m * cf.G], atol=1e-13)
    # Turning, the bearing pulls towards the axis as well, at any rate with no torque.
    turning = Recursion(tree, q, np.array([3.0]), rest)
    assert_allclose(turning.f[1], [0, -m * cf.G * L / 2, 0, -m * 9 * L / 2, 0, m * cf.G], atol=1e-12)
    assert_allclose(turning.tau, 0, atol=1e-13)
    constrained = turning.f[1] - turning.S[1] * (turning.S[1] @ turning.f[1])
    assert_allclose(constrained @ (turning.S[1] * 3.0), 0, atol=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_the_base_carries_six_components(seed: int) -> None:
    """Support = rate of the whole momentum - weight - loads, about the world's origin; six numbers, no actuator."""
    tree, q, v, a, loads = drawn(seed)
    own = Recursion(tree, q, v, a, loads)
    reference, h = Reference(tree), 1e-4

    def momentum(t: float) -> np.ndarray:
        at = q + v * t + a * t * t / 2
        moved, places = Recursion(tree, at, v + a * t, a), reference.all_poses(at[None])[0]
        total = np.zeros(6)
        for T, I, V in zip(places, moved.I, moved.V, strict=True):
            total += motion_transform(inverse(T)).T @ (I @ V)
        return total

    rate = (momentum(h) - momentum(-h)) / (2 * h)
    poses = reference.all_poses(q[None])[0]
    total = rate
    for i, body in enumerate(tree.bodies[1:], 1):
        c = poses[i, :3, :3] @ body.inertia.com + poses[i, :3, 3]
        weight = body.inertia.mass * tree.gravity
        total = total - np.concatenate([np.cross(c, weight), weight])
        total = total - motion_transform(inverse(poses[i])).T @ loads[i]
    assert_allclose(own.f[0], total, rtol=1e-6, atol=1e-5)
    assert (np.abs(own.f[0]) > 1e-3).all()


# --- Power at interfaces ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(3))
def test_power_through_an_interface_is_that_of_the_joint_and_changes_the_energy_beyond(seed: int) -> None:
    """f.V of the child less what the parent gives is tau v; to the outermost body alone, f.V is its energy rate."""
    tree, q, v, a, _ = drawn(seed)
    own = Recursion(tree, q, v, a)
    for i in range(1, len(tree.bodies)):
        given = own.f[i] @ own.V[i]
        taken = (own.X[i].T @ own.f[i]) @ own.V[tree.parents[i]]
        effort_here = own.tau[tree.v_slices[i]] @ v[tree.v_slices[i]]
        assert_allclose(given - taken, effort_here, atol=1e-11)
    # The last body as a system of its own: interface power is all that its mechanical energy gets.
    last, h = len(tree.bodies) - 1, 1e-4
    held = tree.bodies[last].inertia

    def energy(t: float) -> float:
        at, rate = q + v * t + a * t * t / 2, v + a * t
        V = Recursion(tree, at, rate, a).V[last]
        T = Reference(tree).all_poses(at[None])[0, last]
        return V @ own.I[last] @ V / 2 - held.mass * tree.gravity @ (T[:3, :3] @ held.com + T[:3, 3])

    change = (energy(-2 * h) - 8 * energy(-h) + 8 * energy(h) - energy(2 * h)) / (12 * h)
    assert_allclose(own.f[last] @ own.V[last], change, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_energy_changes_by_efforts_and_wrenches_and_friction(seed: int) -> None:
    """dE/dt = tau.v + sum f.V - v.D v, on trees of every joint kind, the base free or fixed, by differences."""
    tree = random_tree(np.random.default_rng(seed), 7, floating_root=bool(seed % 2), armature=True)
    s = sample(tree, 12, seed)
    reference = Reference(tree)
    q, v, a = np.array(s.q), np.clip(s.v, -2, 2), np.clip(s.a, -3, 3)
    f = np.array(s.wrenches)
    f[:, 0] = 0
    damping = np.random.default_rng(seed).uniform(0, 2, tree.nv)
    tau = reference.inverse_dynamics(q, v, a, f) + damping * v  # what a motor gives that has friction to overcome
    V = reference.velocities(q, v)
    power = (tau * v).sum(-1) + (f[:, 1:] * V).sum((-1, -2)) - (damping * v * v).sum(-1)
    h = steps(v)
    at, moving = along(tree, q, v, h), shifted(v, a, h)
    change = rate((reference.kinetic_energy(at, moving) + reference.potential_energy(at))[:, None], h)[:, 0]
    assert_allclose(power, change, rtol=1e-6, atol=1e-5)
    assert np.abs((f[:, 1:] * V).sum((-1, -2))).max() > 1


# --- Columns, composites, couplings -----------------------------------------------------------------------------------
def test_a_load_that_depends_on_the_acceleration_is_taken_for_inertia() -> None:
    """ID with a load -k a has columns M + k J^T J: loads must be held fixed in the differences."""
    tree, q, v, _, _ = drawn(1)
    reference, last, k = Reference(tree), len(tree.bodies) - 1, 0.7
    M = reference.mass_matrix(q[None])
    J = np.stack([Recursion(tree, q, e, 0 * q).V[last] for e in np.eye(tree.nv)], axis=1)

    def dragged(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        loads = np.zeros((1, len(tree.bodies), 6))
        loads[0, last] = -k * (J @ a[0])
        return reference.inverse_dynamics(q, v, a, loads)

    found, _ = forward.columns(dragged, q[None], v[None])
    assert_allclose(found, M + k * (J.T @ J), atol=1e-11)
    assert np.abs(found - M).max() > 0.1


@pytest.mark.parametrize("seed", range(4))
def test_composites_and_projection_onto_ancestors_make_m(seed: int) -> None:
    """I^C += X^T I^C X once an edge; then one projection a body and one step an ancestor: 0 where none is common."""
    tree, q, v, a, _ = drawn(seed, 9)
    own = Recursion(tree, q, v, a)
    composite, passed = [x.copy() for x in own.I], 0
    for i in range(len(tree.bodies) - 1, 0, -1):
        composite[tree.parents[i]] = composite[tree.parents[i]] + own.X[i].T @ composite[i] @ own.X[i]
        passed += 1
    M, related = np.zeros((tree.nv, tree.nv)), np.zeros((tree.nv, tree.nv), bool)
    for i in range(1, len(tree.bodies)):
        if not tree.joints[i].nv:
            continue
        k, F, j = tree.v_slices[i].start, composite[i] @ own.S[i], i
        while j:
            if tree.joints[j].nv:
                m = tree.v_slices[j].start
                M[k, m] = M[m, k] = own.S[j] @ F
                related[k, m] = related[m, k] = True
            F, j = own.X[j].T @ F, tree.parents[j]
    reference = Reference(tree)
    assert passed == len(tree.bodies) - 1
    assert_allclose(M, reference.mass_matrix(q[None])[0], atol=1e-12)
    assert_allclose(M, reference.mass_matrix_from_energy(q[None])[0], atol=1e-12)
    assert_allclose(M, forward.columns(reference.inverse_dynamics, q[None], v[None])[0][0], atol=1e-11)
    assert not M[~related].any()
    assert related.sum() <= tree.nv**2


def test_one_torque_accelerates_every_joint() -> None:
    """A torque at the wrist alone, at rest without gravity: all three joints accelerate, two of them against it."""
    chain = replace(planar.PlanarChain(*cf.PLANAR_ARM), gravity=np.zeros(2))
    q, still = cf.PLANAR_ARM_Q[None], np.zeros((1, 3))

    def inverse_dynamics(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return planar.inverse_dynamics(chain, q, v, a)

    a = forward.walker_orin(inverse_dynamics, q, still, np.array([[0, 0, 1.0]]))[0]
    assert (np.abs(a) > 0.1).all()
    assert a[2] > 0 > a[:2].max()


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
