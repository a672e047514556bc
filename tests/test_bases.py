"""The conventions of floating bases: velocities are derivatives of poses, accelerations those of velocities."""

from __future__ import annotations

import numpy as np
import pytest
from random_trees import random_transform

from tautology.harness.bases import BODY, BULLET, DART, DRAKE, HYBRID, INERTIAL, MIXED, NEWTON, SWAPPED, BaseConvention
from tautology.harness.spatial import exp_so3, inverse, rotation_from_quaternion, transform

ALL = {"body": BODY, "hybrid": HYBRID, "mixed": MIXED, "inertial": INERTIAL, "drake": DRAKE, "dart": DART}
ALL |= {"newton": NEWTON, "bullet": BULLET}
h = 1e-4


def moved(T: np.ndarray, V: np.ndarray, a: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Return pose and velocity t later, in a motion of T' = T [V] and V' = a, to the fourth order (Magnus)."""
    v, omega = V[:3], V[3:]
    middle, commuted = V + a * t / 2, np.zeros(6)
    commuted[:3] = np.cross(omega, a[:3]) + np.cross(v, a[3:])
    commuted[3:] = np.cross(omega, a[3:])
    step = middle * t + commuted * t**3 / 12
    X = np.zeros((4, 4))
    X[:3, :3] = np.array([[0, -step[5], step[4]], [step[5], 0, -step[3]], [-step[4], step[3], 0]])
    X[:3, 3] = step[:3]
    E, term = np.eye(4), np.eye(4)
    for k in range(1, 12):
        term = term @ X / k
        E = E + term
    return T @ E, V + a * t


def central(f) -> np.ndarray:
    """Return the derivative at zero, of the fourth order."""
    return (f(-2 * h) - 8 * f(-h) + 8 * f(h) - f(2 * h)) / (12 * h)


@pytest.fixture
def motion() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return a pose, a velocity, an acceleration and the place of the engine's own frame."""
    rng = np.random.default_rng(5)
    return random_transform(rng), rng.normal(size=6), rng.normal(size=6), random_transform(rng)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("offset", [False, True])
def test_acceleration_is_the_derivative_of_the_velocity(name: str, motion: tuple, *, offset: bool) -> None:
    """u' = T V' + beta along a motion, for every convention, about the base frame and about another one in it."""
    T, V, a, point = motion
    point = point if offset and name != "inertial" else None

    def velocity(t: float) -> np.ndarray:
        pose, twist = moved(T, V, a, t)
        matrix, _ = ALL[name].matrices(pose[None], twist[None], point)
        return matrix[0] @ twist

    matrix, beta = ALL[name].matrices(T[None], V[None], point)
    np.testing.assert_allclose(matrix[0] @ a + beta[0], central(velocity), rtol=0, atol=1e-10)
    assert beta.any() == ALL[name].ordinary


@pytest.mark.parametrize("name", ALL)
def test_velocity_is_the_derivative_of_the_pose(name: str, motion: tuple) -> None:
    """The parts are those of a point that moves with the base, and of its rotation, in the axes that are named."""
    T, V, a, point = motion
    convention: BaseConvention = ALL[name]
    point = np.eye(4) if convention.linear == "inertial" else point
    (matrix,), _ = convention.matrices(T[None], V[None], point)
    u = matrix @ V
    u = u[SWAPPED] if convention.angular_first else u
    world = central(lambda t: (moved(T, V, a, t)[0] @ point)[:3, 3])
    spin = central(lambda t: moved(T, V, a, t)[0][:3, :3]) @ T[:3, :3].T
    omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    frame = (T @ point)[:3, :3]
    linear = {"body": frame.T @ world, "world": world, "inertial": world - np.cross(omega, T[:3, 3])}
    np.testing.assert_allclose(u[:3], linear[convention.linear], rtol=0, atol=1e-10)
    np.testing.assert_allclose(u[3:], frame.T @ omega if convention.angular == "body" else omega, rtol=0, atol=1e-10)


def test_a_motion_of_constant_velocity_is_a_screw() -> None:
    """The motion that the tests above differentiate is the exponential when nothing accelerates."""
    rng = np.random.default_rng(1)
    T, omega = random_transform(rng), rng.normal(size=3)
    found, _ = moved(T, np.r_[0, 0, 0, omega], np.zeros(6), 0.3)
    turned = transform(rotation_from_quaternion(exp_so3(0.3 * omega)), np.zeros(3))
    np.testing.assert_allclose(inverse(T) @ found, turned, rtol=0, atol=1e-14)
