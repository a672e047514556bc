"""The Coriolis matrix on trees of every joint kind: its product with v, and Mdot - 2C."""

from __future__ import annotations

import closed_forms as cf
import numpy as np
import pytest
from numpy.testing import assert_allclose
from random_trees import ONE_DOF, random_inertia, random_joint, random_tree

from tautology.adapters.reference import Reference
from tautology.adapters.textbook import coriolis, planar_lagrange, planar_tree
from tautology.adapters.textbook.planar import PlanarChain
from tautology.harness.checks.derivatives import along, rate, steps
from tautology.harness.spatial import motion_cross
from tautology.harness.states import sample
from tautology.harness.tree import Body, JointKind, Tree, world

CHOICES = ("christoffel", "body")


def one_joint(kind: JointKind) -> Tree:
    """Return two bodies on joints of one kind: the smallest tree in which that kind carries and is carried."""
    rng = np.random.default_rng(3)
    bodies = (Body(f"body{i}", i, random_joint(rng, f"joint{i}", kind), random_inertia(rng)) for i in range(2))
    return Tree(str(kind), (world(), *bodies))


def random(seed: int) -> Tree:
    """Return a branched tree of any joints, with armature and a tendon."""
    rng = np.random.default_rng(seed)
    return random_tree(rng, 9, floating_root=bool(seed % 2), armature=True, tendons=True)


MOVING = [kind for kind in JointKind if kind is not JointKind.FIXED]
TREES = [pytest.param(one_joint(kind), id=kind) for kind in MOVING]
TREES += [pytest.param(random(seed), id=f"random {seed}") for seed in range(4)]


def moving(tree: Tree, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return eight configurations and rates about 1."""
    q = sample(tree, 8, seed).q
    return q, np.random.default_rng(seed).normal(size=(8, tree.nv))


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("tree", TREES)
def test_c_v_is_the_velocity_product_and_mdot_minus_2c_is_skew(tree: Tree, choice: coriolis.Choice) -> None:
    """Both to rounding, for every joint kind, armature and tendons aside, which are constant."""
    reference, (q, v) = Reference(tree), moving(tree)
    C, M = coriolis.coriolis_matrix(reference, q, v, choice), coriolis.mass_matrix_rate(reference, q, v)
    expected = reference.bias(q, v) - reference.gravity_forces(q)
    size = 1 + np.abs(expected).max()
    assert np.abs((C @ v[..., None])[..., 0] - expected).max() < 1e-14 * size
    N = M - 2 * C
    assert np.abs(N + N.swapaxes(-1, -2)).max() < 1e-14 * (1 + np.abs(N).max())
    assert np.abs(v[:, None] @ N @ v[..., None]).max() < 1e-13 * size
    if tree.nv > 2 or tree.joints[1].kind not in ONE_DOF:
        assert np.abs(N).max() > 1e-2


@pytest.mark.parametrize("tree", TREES)
def test_the_rate_of_m_is_its_derivative_along_the_motion(tree: Tree) -> None:
    """Against fourth-order differences on the manifold q exp(t v)."""
    reference, (q, v) = Reference(tree), moving(tree)
    h = steps(v)
    by_differences = rate(reference.mass_matrix(along(tree, q, v, h)), h)
    assert_allclose(coriolis.mass_matrix_rate(reference, q, v), by_differences, atol=1e-9)


def test_on_scalar_joints_it_is_the_matrix_of_the_christoffel_symbols() -> None:
    """For the planar arm from its Lagrangian, for a random tree by differences of M; the other choice is another."""
    chain = PlanarChain(*cf.PLANAR_ARM)
    reference = Reference(planar_tree.embedded(chain))
    q, v = np.random.default_rng(0).uniform(-2, 2, (2, 20, 3))
    symbols = planar_lagrange.coriolis_matrix(planar_lagrange.mass_matrix_derivative(chain, q), v)
    assert_allclose(coriolis.coriolis_matrix(reference, q, v), symbols, atol=1e-14)
    assert np.abs(coriolis.coriolis_matrix(reference, q, v, "body") - symbols).max() > 0.1

    tree = random_tree(np.random.default_rng(5), 6, kinds=list(ONE_DOF))
    reference, (q, v) = Reference(tree), moving(tree)
    ones = np.ones(len(q))
    dM = np.stack(
        [
            rate(reference.mass_matrix(along(tree, q, np.tile(e, (len(q), 1)), 1e-3 * ones)), 1e-3 * ones)
            for e in np.eye(tree.nv)
        ],
        axis=-1,
    )
    assert_allclose(coriolis.coriolis_matrix(reference, q, v), planar_lagrange.coriolis_matrix(dM, v), atol=1e-9)


def test_the_momentum_matrix_is_skew_and_is_the_dual_bracket() -> None:
    """(h x) V = V x* h = -ad_V^T h."""
    V, h = np.random.default_rng(1).normal(size=(2, 6))
    matrix = coriolis.momentum_cross(h)
    assert_allclose(matrix @ V, -motion_cross(V).T @ h, atol=1e-15)
    assert np.array_equal(matrix, -matrix.T)


def test_longdouble_is_kept() -> None:
    """The float type of the session is that of the answer, and its accuracy."""
    tree = random(0)
    q, v = moving(tree)
    exact = Reference(tree, np.longdouble)
    C = coriolis.coriolis_matrix(exact, q, v)
    assert C.dtype == np.longdouble
    error = np.abs((C @ v[..., None])[..., 0] - (exact.bias(q, v) - exact.gravity_forces(q))).max()
    assert error < 256 * np.finfo(np.longdouble).eps * np.abs(exact.bias(q, v)).max()
