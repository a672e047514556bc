"""Laws of twists, wrenches and transforms, in both float types."""

from __future__ import annotations

import numpy as np
import pytest
from closed_forms import BRACKET_RATE, BRACKET_RESULT, BRACKET_V
from random_trees import random_rotation, random_transform

from tautology.harness import spatial

SEEDS = range(5)
TYPES = [np.float64, np.longdouble]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_adjoint_is_a_homomorphism(seed: int, dtype: type) -> None:
    """X of a product is the product of the X, and X of the inverse the inverse of X."""
    rng = np.random.default_rng(seed)
    T_a_b, T_b_c = random_transform(rng).astype(dtype), random_transform(rng).astype(dtype)
    X = spatial.motion_transform
    assert X(T_a_b).dtype == dtype
    np.testing.assert_allclose(X(T_a_b @ T_b_c), X(T_a_b) @ X(T_b_c), atol=1e-15)
    np.testing.assert_allclose(X(spatial.inverse(T_a_b)) @ X(T_a_b), np.eye(6), atol=1e-15)


@pytest.mark.parametrize("seed", SEEDS)
def test_power_is_the_same_in_every_frame(seed: int) -> None:
    """f_b = X_a_b^T f_a does the work that f_a does."""
    rng = np.random.default_rng(seed)
    X = spatial.motion_transform(random_transform(rng))
    V_b, f_a = rng.normal(size=6), rng.normal(size=6)
    assert f_a @ (X @ V_b) == pytest.approx((X.T @ f_a) @ V_b, rel=1e-14)


@pytest.mark.parametrize("seed", SEEDS)
def test_twist_moves_points_as_the_velocity_field_says(seed: int) -> None:
    """X maps the field v + omega x r to the same field written in the other frame."""
    rng = np.random.default_rng(seed)
    T = random_transform(rng)
    V_b, x_b = rng.normal(size=6), rng.normal(size=3)
    V_a, x_a = spatial.motion_transform(T) @ V_b, T[:3, :3] @ x_b + T[:3, 3]
    u_b = V_b[3:] + np.cross(V_b[:3], x_b)
    np.testing.assert_allclose(V_a[3:] + np.cross(V_a[:3], x_a), T[:3, :3] @ u_b, atol=1e-14)


def test_bracket_of_parallel_axes_has_a_linear_part() -> None:
    """The exercise: omega = (0, 0, 0.5), v = (0.4, 0, 0), a joint about z at 0.2 rad/s."""
    joint = BRACKET_RATE * np.array([0, 0, 1.0, 0, 0, 0])
    np.testing.assert_allclose(spatial.motion_cross(BRACKET_V) @ joint, BRACKET_RESULT, atol=1e-16)


@pytest.mark.parametrize("seed", SEEDS)
def test_motion_cross_is_the_derivative_of_the_adjoint(seed: int) -> None:
    """d/dt X = ad_V X for T(t) = exp(t V) T, by central differences on a turn about an offset axis."""
    rng = np.random.default_rng(seed)
    axis, T, h = spatial.unit(rng.normal(size=3)), random_transform(rng), 1e-5
    V = np.concatenate([axis, np.zeros(3)])

    def X(t: float) -> np.ndarray:
        turned = spatial.transform(spatial.rotation_about(axis, np.asarray(t)), np.zeros(3))
        return spatial.motion_transform(turned @ T)

    np.testing.assert_allclose((X(h) - X(-h)) / (2 * h), spatial.motion_cross(V) @ X(0.0), atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_spatial_inertia_is_the_kinetic_energy_of_its_points(seed: int) -> None:
    """V.I V / 2 of three point masses about any origin is the sum of their m u^2 / 2."""
    rng = np.random.default_rng(seed)
    points, masses, V = rng.normal(size=(3, 3)), rng.uniform(0.5, 2, 3), rng.normal(size=6)
    mass, com = masses.sum(), masses @ points / masses.sum()
    r = points - com
    I_com = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, r, strict=True))
    I = spatial.spatial_inertia(mass, com, np.asarray(I_com))
    speeds = V[3:] + np.cross(V[:3], points)
    assert pytest.approx((masses * (speeds**2).sum(1)).sum() / 2, rel=1e-13) == V @ I @ V / 2


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-7, 1.0, np.pi - 1e-7, np.pi])
@pytest.mark.parametrize("seed", SEEDS)
def test_quaternion_and_rotation_are_one_group(seed: int, angle: float) -> None:
    """exp, quaternion and matrix agree, near the identity and near half a turn too."""
    rng = np.random.default_rng(seed)
    axis = spatial.unit(rng.normal(size=3))
    quat = spatial.exp_so3(axis * angle)
    R = spatial.rotation_about(axis, np.asarray(angle))
    np.testing.assert_allclose(spatial.rotation_from_quaternion(quat), R, atol=1e-15)
    back = spatial.quaternion_from_rotation(R)
    np.testing.assert_allclose(np.abs(back @ quat), 1, atol=1e-15)
    other = rng.normal(size=4)
    np.testing.assert_allclose(
        spatial.rotation_from_quaternion(spatial.quaternion_product(quat, other)),
        R @ spatial.rotation_from_quaternion(other),
        atol=1e-14,
    )


def test_rpy_turns_about_fixed_axes() -> None:
    """Roll is applied first, about the fixed x; yaw last, about the fixed z."""
    R = spatial.rotation_from_rpy(np.array([np.pi / 2, 0, np.pi / 2]))
    np.testing.assert_allclose(R @ [0, 1, 0], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(R @ [0, 0, 1], [1, 0, 0], atol=1e-15)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "normal",
    [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0), (1, 2, 3), (1, -2, -3), (1e-9, 0, -1), (3e-5, -2e-5, -1)],
)
def test_planar_basis_is_the_shortest_turn(normal: tuple[float, ...], dtype: type) -> None:
    """The basis is a rotation with the normal as third column, about an axis across z, also close to -z."""
    n = spatial.unit(np.array(normal, dtype))
    R = spatial.rotation_z_to(n)
    eps = 8 * np.finfo(dtype).eps
    np.testing.assert_allclose((R.T @ R).astype(float), np.eye(3), atol=eps)
    np.testing.assert_allclose(R[:, 2].astype(float), n.astype(float), atol=eps)
    assert np.linalg.det(R.astype(float)) == pytest.approx(1)
    if normal != (0, 0, -1):
        assert abs(R[1, 0] - R[0, 1]) <= eps  # no turn about z: the rotation axis lies across z
    else:
        np.testing.assert_array_equal(R, np.diag([1, -1, -1]))


@pytest.mark.parametrize("seed", SEEDS)
def test_skew_is_the_cross_product(seed: int) -> None:
    """skew(p) a = p x a on stacks."""
    rng = np.random.default_rng(seed)
    p, a = rng.normal(size=(2, 4, 3)), rng.normal(size=(2, 4, 3))
    np.testing.assert_allclose((spatial.skew(p) @ a[..., None])[..., 0], np.cross(p, a), atol=1e-15)
    assert random_rotation(rng).shape == (3, 3)
