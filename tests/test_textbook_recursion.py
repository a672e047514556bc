"""What the chapter says of the recursion on trees: order, frames, gravity, bearings, interfaces, mistakes."""

from __future__ import annotations

from dataclasses import replace

import closed_forms as cf
import numpy as np
import pytest
from body_recursion import Recursion
from numpy.testing import assert_allclose
from random_trees import random_inertia, random_joint, random_tree
from scalar_trees import SCALAR, drawn, effort

from tautology import load, models
from tautology.adapters.reference import Reference
from tautology.adapters.textbook import forward, planar, planar_tree
from tautology.harness.checks.derivatives import along, rate, shifted, steps
from tautology.harness.joint import Joint, JointKind
from tautology.harness.spatial import inverse, motion_transform
from tautology.harness.states import sample
from tautology.harness.tree import Body, Inertia, Tree, world


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


@pytest.mark.parametrize("dtype", [np.float64, np.longdouble])
def test_known_loads_are_left_as_they_are(dtype: type) -> None:
    """What children add goes into the recursion's own wrenches: the caller's are unchanged, so are second calls."""
    tree, q, v, a, loads = drawn(4)
    given = loads.astype(dtype)[None]
    reference = Reference(tree, dtype)
    first, second = (reference.inverse_dynamics(q[None], v[None], a[None], given) for _ in range(2))
    assert np.array_equal(first, second)
    assert np.array_equal(given[0], loads)
    for i in range(1, len(tree.bodies)):  # one load alone asks -J^T f of the joints before it
        alone = np.zeros_like(given)
        alone[0, i] = given[0, i]
        J = np.stack([Recursion(tree, q, e, 0 * q).V[i] for e in np.eye(tree.nv)], axis=1)
        bare = reference.inverse_dynamics(q[None], v[None], a[None])
        change = reference.inverse_dynamics(q[None], v[None], a[None], alone) - bare
        assert_allclose(change[0].astype(float), -J.T @ loads[i], atol=1e-11)


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
