"""Displacements on the configuration manifold and the derivatives taken along them."""

import numpy as np
import pytest
from random_trees import random_tree

from tautology.adapters.reference import Reference
from tautology.harness.checks.derivatives import along, displaced, rate, shifted, steps
from tautology.harness.spatial import skew
from tautology.harness.states import sample
from tautology.harness.tree import JointKind

KINDS = [kind for kind in JointKind if kind is not JointKind.FIXED]


def tree_and_states(seed, kinds=None, count=6):
    """Return a random tree with random states."""
    tree = random_tree(np.random.default_rng(seed), 6, kinds=kinds or KINDS, massless=0)
    return tree, sample(tree, count, seed)


def exponential(A):
    """Return exp(A) by its series, for small stacks of small matrices."""
    result = term = np.broadcast_to(np.eye(A.shape[-1]), A.shape)
    for k in range(1, 40):
        term = term @ A / k
        result = result + term
    return result


def distance(tree, q, r):
    """Return how far two configurations are apart, whatever the sign of their quaternions."""
    reference = Reference(tree)
    return np.abs(reference.poses(q) - reference.poses(r)).max()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1e-9, 1e-3, 0.0099, 0.0101, 2.0])
def test_displacement_is_the_exponential_of_the_twist(kind, size):
    """A joint moved by dq turns and shifts its body by exp of the twist that dq gives, in body axes."""
    tree, states = tree_and_states(1, [kind])
    rng = np.random.default_rng(2)
    dq = np.zeros_like(states.v)
    dq[:, tree.v_slices[1]] = rng.uniform(-size, size, (len(states), tree.joints[1].nv))
    reference = Reference(tree)
    twist = reference.velocities(states.q, dq)[:, 0]
    hat = np.zeros((len(states), 4, 4))
    hat[:, :3, :3], hat[:, :3, 3] = skew(twist[:, :3]), twist[:, 3:]
    expected = reference.poses(states.q)[:, 0] @ exponential(hat)
    np.testing.assert_allclose(reference.poses(displaced(tree, states.q, dq))[:, 0], expected, atol=2e-14)


@pytest.mark.parametrize("seed", range(4))
def test_displacements_along_one_tangent_add_up(seed):
    """exp(s v) exp(t v) = exp((s + t) v), and back again."""
    tree, states = tree_and_states(seed)
    v = np.random.default_rng(seed).uniform(-1, 1, states.v.shape)
    twice = displaced(tree, displaced(tree, states.q, 0.3 * v), 0.5 * v)
    assert distance(tree, twice, displaced(tree, states.q, 0.8 * v)) < 1e-13
    assert distance(tree, displaced(tree, displaced(tree, states.q, v), -v), states.q) < 1e-13


@pytest.mark.parametrize("seed", range(4))
def test_poses_move_with_the_velocity_coordinates(seed):
    """The derivative of R along the curve is R [omega]x and that of p is R v, for every body and joint kind."""
    tree, states = tree_and_states(seed)
    reference, h = Reference(tree), steps(states.v)
    found = rate(reference.poses(along(tree, states.q, states.v, h)), h)
    T, V = reference.poses(states.q), reference.velocities(states.q, states.v)
    scale = np.abs(V).max((1, 2), initial=1)
    turned = T[..., :3, :3] @ skew(V[..., :3])
    moved = (T[..., :3, :3] @ V[..., 3:, None])[..., 0]
    assert (np.abs(found[..., :3, :3] - turned).max((1, 2, 3)) < 1e-10 * scale).all()
    assert (np.abs(found[..., :3, 3] - moved).max((1, 2)) < 1e-10 * scale).all()


def test_differences_are_of_fourth_order():
    """Halving the step divides the error by sixteen; polynomials up to the fourth degree have none."""
    x = np.array([-2.0, -1, 1, 2])[:, None]
    coarse, fine = (abs(rate(np.exp(x * h).reshape(-1), np.array([h]))[0] - 1) for h in (0.1, 0.05))
    assert coarse / fine == pytest.approx(16, rel=0.02)
    cubic = 3 * x + 5 * x**2 - 7 * x**3 + 2 * x**4
    np.testing.assert_allclose(rate(cubic.reshape(-1), np.ones(1)), [3], rtol=1e-14)


def test_even_functions_have_no_slope():
    """Samples that are the same to either side give exactly zero, whatever their size."""
    h = np.array([1e-3, 2e-4])
    v = shifted(np.zeros((2, 3)), np.array([[1.7, -0.3, 0.9], [0.1, 0.2, 0.3]]), h)
    assert (rate(1e6 / 3 + (v * v).sum(-1), h) == 0).all()


def test_steps_shrink_with_speed():
    """1e-3 at rest, and 1e-3 of a turn per unit of half the speed when fast."""
    assert steps(np.array([[0.0, 0.0], [1.0, 1.0], [6.0, 8.0]])).tolist() == [1e-3, 1e-3, 1e-3 / 5]
