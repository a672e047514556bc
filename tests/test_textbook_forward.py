"""Columns of M from any inverse dynamics, and forward dynamics three ways."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import closed_forms as cf
import numpy as np
import pytest
from numpy.testing import assert_allclose
from random_trees import random_tree

from tautology import load, models
from tautology.adapters.reference import Reference
from tautology.adapters.textbook import forward, planar, planar_lagrange
from tautology.adapters.textbook.planar import PlanarChain
from tautology.harness.states import sample

if TYPE_CHECKING:
    from tautology.harness.tree import Tree

ARM = PlanarChain(*cf.PLANAR_ARM)


class Counted:
    """An inverse dynamics that counts how often it is asked."""

    def __init__(self, function) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *state: np.ndarray) -> np.ndarray:
        """Ask and count."""
        self.calls += 1
        return self.function(*state)


def arm(*state: np.ndarray) -> np.ndarray:
    """Inverse dynamics of the planar arm."""
    return planar.inverse_dynamics(ARM, *state)


def branched() -> Tree:
    """Return the tree with parents (0, 1, 1, 3)."""
    return load(models.path("branched_tree.urdf"))


# --- Columns ----------------------------------------------------------------------------------------------------------
def test_the_column_test() -> None:
    """ID = (3, 4) at zero and (8, 6) at unit acceleration: the column (5, 2); with the bias left in, none is right."""
    reference = Reference(load(models.path("column_test.urdf")))
    q, v = cf.COLUMN_Q[None], cf.COLUMN_QD[None]
    M, bias = forward.columns(reference.inverse_dynamics, q, v)
    assert_allclose(bias[0], cf.COLUMN_BIAS, atol=1e-12)
    assert_allclose(M[0], cf.COLUMN_M, atol=1e-12)
    assert_allclose(M[0][:, 0], [5, 2], atol=1e-12)
    assert_allclose(M[0][:, 0] + bias[0], cf.COLUMN_UNIT_1, atol=1e-12)
    corrupted = [reference.inverse_dynamics(q, v, e[None])[0] for e in np.eye(2)]
    assert_allclose(corrupted, cf.COLUMN_M + cf.COLUMN_BIAS, atol=1e-12)


def test_columns_of_the_plane() -> None:
    """nv + 1 calls with gravity on, nv without; both give the M of Lagrange."""
    q, v = np.random.default_rng(0).uniform(-2, 2, (2, 20, 3))
    M = planar_lagrange.by_christoffel(ARM, q, v).M
    heavy = Counted(arm)
    assert_allclose(forward.columns(heavy, q, v)[0], M, atol=1e-13)
    assert heavy.calls == 4
    weightless = Counted(lambda *state: planar.inverse_dynamics(replace(ARM, gravity=np.zeros(2)), *state))
    assert_allclose(forward.columns_without_bias(weightless, q, 3), M, atol=1e-14)
    assert weightless.calls == 3
    # With gravity on, n calls at rest give M + G 1^T.
    excess = forward.columns_without_bias(arm, q, 3) - M
    assert_allclose(excess, np.tile(arm(q, 0 * v, 0 * v)[..., None], 3), atol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_columns_do_not_depend_on_velocity_gravity_or_loads(seed: int) -> None:
    """Composite bodies, kinetic energy, and columns at other v, g and wrenches, on any tree."""
    tree = random_tree(np.random.default_rng(seed), 8, floating_root=bool(seed % 2), armature=True, tendons=True)
    s = sample(tree, 5, seed)
    reference = Reference(tree)
    M = reference.mass_matrix(s.q)
    rng = np.random.default_rng(seed)

    def loaded(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return reference.inverse_dynamics(q, v, a, s.wrenches, np.array([3.0, -1, 2]))

    for function in (reference.inverse_dynamics, loaded):
        found, _ = forward.columns(function, s.q, rng.normal(size=s.v.shape))
        assert np.abs(found - M).max() < 1e-12 * np.abs(M).max()
    assert np.abs(reference.mass_matrix_from_energy(s.q) - M).max() < 1e-13 * np.abs(M).max()


def test_columns_at_different_configurations_are_no_mass_matrix() -> None:
    """The exercise: with another q in each call, the result is neither symmetric nor the M of any of them."""
    q = np.random.default_rng(1).uniform(-2, 2, (1, 3))
    moved = iter(q + 0.2 * k for k in range(4))
    unfrozen, _ = forward.columns(lambda _, v, a: arm(next(moved), v, a), q, np.zeros((1, 3)))
    assert np.abs(unfrozen - unfrozen.swapaxes(1, 2)).max() > 0.05
    for k in range(4):
        M = forward.columns(arm, q + 0.2 * k, np.zeros((1, 3)))[0]
        assert np.abs(unfrozen - M).max() > 0.05


def test_branches_do_not_couple() -> None:
    """Parents (0, 1, 1, 3): bodies 2 and 3, 2 and 4 share no inertia, exactly zero by composites; all others couple."""
    reference = Reference(branched())
    q = np.random.default_rng(2).uniform(-1, 1, (10, 4))
    M = reference.mass_matrix(q)
    coupled = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 1, 1], [1, 0, 1, 1]], bool)
    assert not M[:, ~coupled].any()
    assert (np.abs(M[:, coupled]) > 0).all()
    assert np.abs(M[:, coupled]).max(0).min() > 1e-3
    by_columns, _ = forward.columns(reference.inverse_dynamics, q, np.ones_like(q))
    assert_allclose(by_columns, M, atol=1e-13)
    assert_allclose(reference.mass_matrix_from_energy(q), M, atol=1e-14)


def test_a_massless_end_leaves_m_positive_semidefinite() -> None:
    """M is positive definite when every motion has energy, and is not when a link has neither mass nor moment."""
    q = np.full((1, 3), 0.3)
    assert np.linalg.eigvalsh(forward.columns(arm, q, q)[0]).min() > 1e-3
    empty = replace(ARM, masses=np.array([1.0, 1.0, 0.0]), moments=np.array([0.1, 0.1, 0.0]))
    M = forward.columns(lambda *state: planar.inverse_dynamics(empty, *state), q, q)[0]
    assert abs(np.linalg.eigvalsh(M).min()) < 1e-14


# --- Forward dynamics -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(4))
def test_three_roads_lead_to_one_acceleration(seed: int) -> None:
    """Columns and a solve, composites and a solve, articulated bodies: with loads, on any tree, and back again."""
    tree = random_tree(np.random.default_rng(seed), 7, floating_root=bool(seed % 2), armature=True, massless=0)
    s = sample(tree, 6, seed)
    reference = Reference(tree, np.longdouble)
    a = s.a.astype(np.longdouble)
    tau = reference.inverse_dynamics(s.q, s.v, a, s.wrenches)

    def inverse(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return reference.inverse_dynamics(q, v, a, s.wrenches)

    q, v = s.q.astype(np.longdouble), s.v.astype(np.longdouble)
    found = [
        forward.walker_orin(inverse, q, v, tau),
        forward.composite_solve(reference.mass_matrix, inverse, q, v, tau),
        reference.forward_dynamics(q, v, tau, s.wrenches),
    ]
    for road in found:
        assert np.abs(road - a).max() < 1e-13 * np.abs(a).max()


def test_the_plane_comes_back_from_its_efforts() -> None:
    """Walker and Orin on the planar recursion, tip force included: nv + 1 calls."""
    rng = np.random.default_rng(4)
    q, v, a = rng.uniform(-2, 2, (3, 20, 3))
    force = rng.uniform(-5, 5, (20, 2))
    pushed = Counted(lambda *state: planar.inverse_dynamics(ARM, *state, force))
    tau = pushed(q, v, a)
    pushed.calls = 0
    assert_allclose(forward.walker_orin(pushed, q, v, tau), a, atol=1e-11)
    assert pushed.calls == 4


def test_one_torque_accelerates_every_joint() -> None:
    """A torque at the wrist alone, at rest without gravity: all three joints accelerate, two of them against it."""
    chain = replace(ARM, gravity=np.zeros(2))
    q, still = cf.PLANAR_ARM_Q[None], np.zeros((1, 3))

    def inverse_dynamics(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return planar.inverse_dynamics(chain, q, v, a)

    a = forward.walker_orin(inverse_dynamics, q, still, np.array([[0, 0, 1.0]]))[0]
    assert (np.abs(a) > 0.1).all()
    assert a[2] > 0 > a[:2].max()


# --- Columns from an engine -------------------------------------------------------------------------------------------
def test_columns_of_mj_inverse_on_an_arm_without_contact() -> None:
    """M by differences of mj_inverse at a frozen state is mj_fullM: springs and dampers cancel, the bias as well."""
    mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo: pip install 'tautology[mujoco]'")
    from tautology.adapters.mujoco_versions import full_inertia  # noqa: PLC0415  MuJoCo may be absent

    model = mujoco.MjModel.from_xml_path(str(models.path("tau_arm.xml")))
    model.jnt_stiffness[:], model.dof_damping[:] = 3.0, 0.7
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    data.qpos[:], data.qvel[:] = rng.uniform(-0.5, 0.5, (2, model.nv))
    state = data.qpos.copy(), data.qvel.copy()

    def mj_inverse(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        data.qpos[:], data.qvel[:], data.qacc[:] = q[0], v[0], a[0]
        mujoco.mj_inverse(model, data)
        assert data.ncon == data.nefc == 0
        return data.qfrc_inverse[None].copy()

    q, v = (x[None] for x in state)
    found, constant = forward.columns(mj_inverse, q, v)
    dense = np.zeros((model.nv, model.nv))
    full_inertia(model, data, dense)
    assert_allclose(found[0], dense, atol=1e-12)
    passive = data.qfrc_passive.copy()
    assert np.abs(passive).max() > 1
    assert_allclose(constant[0], data.qfrc_bias - passive, atol=1e-12)
    # The whole balance, and what is left of it when the call is taken for the bare recursion.
    a = rng.normal(size=(1, model.nv))
    force, bare = mj_inverse(q, v, a)[0], np.zeros(model.nv)
    assert_allclose(force, dense @ a[0] + data.qfrc_bias - passive - data.qfrc_constraint, atol=1e-12)
    mujoco.mj_rne(model, data, 1, bare)
    assert_allclose(force - bare, model.dof_armature * a[0] - passive, atol=1e-12)


@pytest.mark.parametrize("thawed", ["v", "masses"])
def test_everything_must_be_frozen_between_the_calls(thawed: str) -> None:
    """Another rate or another payload in each call: the columns are those of no robot, and not symmetric."""
    q, v = np.random.default_rng(6).uniform(-1, 1, (2, 1, 3))
    M, calls = forward.columns(arm, q, v)[0], iter(range(4))

    def drifting(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        k = next(calls)
        if thawed == "v":
            return arm(q, v + 0.1 * k, a)
        return planar.inverse_dynamics(replace(ARM, tip_mass=0.1 * k), q, v, a)

    found = forward.columns(drifting, q, v)[0]
    assert np.abs(found - M).max() > 0.05
    assert np.abs(found - found.swapaxes(1, 2)).max() > 0.05
