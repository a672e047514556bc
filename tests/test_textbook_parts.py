"""Joint efforts by cause and by body, and the wrenches of a branched tree written out."""

from __future__ import annotations

import closed_forms as cf
import numpy as np
import pytest
from numpy.testing import assert_allclose
from random_trees import random_tree

from tautology import load, models
from tautology.adapters.reference import Reference
from tautology.adapters.textbook.parts import parts
from tautology.harness.spatial import inverse, motion_cross, motion_transform, spatial_inertia
from tautology.harness.states import sample


@pytest.mark.parametrize("dtype", [np.float64, np.longdouble])
@pytest.mark.parametrize("seed", range(4))
def test_the_parts_add_up(seed: int, dtype: type) -> None:
    """Causes and bodies to inverse dynamics, on any tree, with loads, armature and a tendon, to rounding."""
    tree = random_tree(np.random.default_rng(seed), 9, floating_root=bool(seed % 2), armature=True, tendons=True)
    s = sample(tree, 6, seed)
    reference = Reference(tree, dtype)
    found = parts(reference, s.q, s.v, s.a, s.wrenches)
    tau = reference.inverse_dynamics(s.q, s.v, s.a, s.wrenches)
    causes = found.by_cause()
    size = sum(np.abs(part).max() for part in causes.values())
    for total in (found.total(), sum(causes.values()), found.by_body().sum(1) + causes["reflected"]):
        assert total.dtype == dtype
        assert np.abs(total - tau).max() < 16 * np.finfo(dtype).eps * size


@pytest.mark.parametrize("seed", range(4))
def test_every_cause_is_what_inverse_dynamics_says_alone(seed: int) -> None:
    """Gravity at rest, bias without gravity, M a, reflected inertia, loads: each asked for by itself."""
    tree = random_tree(np.random.default_rng(seed), 7, floating_root=bool(seed % 2), armature=True)
    s = sample(tree, 6, seed)
    reference = Reference(tree)
    rest, weightless = np.zeros_like(s.v), np.zeros(3)
    found = parts(reference, s.q, s.v, s.a, s.wrenches).by_cause()
    rigid = reference.inverse_dynamics(s.q, rest, s.a, gravity=weightless, armature=False)
    expected = {
        "gravity": reference.gravity_forces(s.q),
        "velocity": reference.bias(s.q, s.v, gravity=weightless),
        "acceleration": rigid,
        "load": -reference.generalized_forces(s.q, s.wrenches),
        "reflected": reference.inverse_dynamics(s.q, rest, s.a, gravity=weightless) - rigid,
    }
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert np.abs(found[name] - value).max() < 1e-13 * (1 + np.abs(value).max()), name


def test_the_parts_of_the_three_links() -> None:
    """The printed parts from the file, and every link's own share: link 3 asks nothing else of joint 3."""
    tree = load(models.path("three_planar_links.urdf"))
    state = (x[None] for x in (cf.THREE_LINKS_Q, cf.THREE_LINKS_QD, cf.THREE_LINKS_QDD))
    found = parts(Reference(tree), *state)
    causes = found.by_cause()
    assert_allclose(causes["gravity"][0], cf.THREE_LINKS_GRAVITY, rtol=0, atol=cf.PRINTED)
    assert_allclose(causes["velocity"][0], cf.THREE_LINKS_VELOCITY_PRODUCT, rtol=0, atol=cf.PRINTED)
    assert_allclose(causes["acceleration"][0], cf.THREE_LINKS_INERTIAL, rtol=0, atol=cf.PRINTED)
    assert_allclose(found.total()[0], cf.THREE_LINKS_TAU, rtol=0, atol=cf.PRINTED)
    shares = found.by_body()[0]
    link = [tree.index[f"link_{i}"] for i in (1, 2, 3)]
    # A body asks efforts of the joints above it alone.
    assert not np.triu(shares[link], 1).any()
    assert_allclose(shares[link[2], 2], cf.THREE_LINKS_TAU[2], rtol=0, atol=cf.PRINTED)
    # Its share of gravity is its weight times the level distance to each joint.
    theta = np.cumsum(cf.THREE_LINKS_Q)
    x = np.cumsum(cf.THREE_LINKS.lengths * np.cos(theta))
    joints = np.array([0, x[0], x[1]])
    assert_allclose(found.gravity[0, link[2]], 0.2 * cf.G * (x[2] - joints), atol=1e-13)


def test_a_load_is_felt_by_the_joints_between_it_and_the_ground() -> None:
    """Parents (0, 1, 1, 3): a load on body 1 reaches effort 1, on leaf 2 efforts 1 and 2, on leaf 4 efforts 1, 3, 4."""
    tree = load(models.path("branched_tree.urdf"))
    body = [tree.index[f"body_{i}"] for i in (1, 2, 3, 4)]
    wrenches = np.zeros((1, len(tree.bodies), 6))
    for i, wrench in cf.BRANCHED_WRENCHES.items():
        wrenches[0, body[i]] = wrench
    state = (x[None] for x in (cf.BRANCHED_Q, cf.BRANCHED_QD, cf.BRANCHED_QDD))
    load_of = parts(Reference(tree), *state, wrenches).load[0]
    reached = {0: [True, False, False, False], 1: [True, True, False, False], 3: [True, False, True, True]}
    for i, joints in reached.items():
        assert (load_of[body[i]] != 0).tolist() == joints
    assert not load_of[body[2]].any()


def test_the_inward_pass_of_the_branched_tree_written_out() -> None:
    """f_4, f_3 += X_4^T f_4, f_2, f_1 += X_2^T f_2 + X_3^T f_3, tau_i = S_i^T f_i: with a load on 1, 2 and 4."""
    tree = load(models.path("branched_tree.urdf"))
    reference = Reference(tree)
    q, v, a = (x[None] for x in (cf.BRANCHED_Q, cf.BRANCHED_QD, cf.BRANCHED_QDD))
    body = [tree.index[f"body_{i}"] for i in (1, 2, 3, 4)]
    wrenches = np.zeros((1, len(tree.bodies), 6))
    for i, wrench in cf.BRANCHED_WRENCHES.items():
        wrenches[0, body[i]] = wrench
    motion = reference.motion(q, v, a)
    R = motion.R_world_body[0]
    own, placed = [], [np.eye(4)]
    for i in body:
        held = tree.bodies[i].inertia
        turned = R[i].T
        V = np.concatenate([turned @ motion.omega[0, i], turned @ motion.v_origin[0, i]])
        # Gravity as -g of the base.
        A = np.concatenate([turned @ motion.alpha[0, i], turned @ (motion.a_origin[0, i] - tree.gravity)])
        I = spatial_inertia(np.array(held.mass), held.com, held.I_com)
        own.append(I @ A - motion_cross(V).T @ (I @ V) - wrenches[0, i])
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = R[i], motion.p_world_body[0, i]
        placed.append(T)
    X = {k: motion_transform(inverse(placed[k]) @ placed[p]) for k, p in ((2, 1), (3, 1), (4, 3))}
    f_4 = own[3]
    f_3 = own[2] + X[4].T @ f_4
    f_2 = own[1]
    f_1 = own[0] + X[2].T @ f_2 + X[3].T @ f_3
    tau = []
    for i, f in zip(body, (f_1, f_2, f_3, f_4), strict=True):
        axis = tree.joints[i].axis
        tau.append(f[3:] @ axis if tree.joints[i].kind == "prismatic" else f[:3] @ axis)
    assert_allclose(tau, reference.inverse_dynamics(q, v, a, wrenches)[0], atol=1e-12)
