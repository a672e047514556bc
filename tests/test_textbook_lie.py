"""Rigid transforms as a group: the adjoint and its dual, brackets, exponentials and their differential."""

from __future__ import annotations

import closed_forms as cf
import numpy as np
import pytest
from numpy.testing import assert_allclose
from random_trees import random_inertia, random_transform

from tautology.adapters.textbook import lie
from tautology.harness.spatial import (
    inverse,
    motion_cross,
    motion_transform,
    skew,
    spatial_inertia,
    transform,
)

RNG = np.random.default_rng(0)
T1, T2 = random_transform(RNG), random_transform(RNG)
TWISTS = [pytest.param(RNG.uniform(-2, 2, 6), RNG.uniform(-2, 2, 6), id=f"draw {k}") for k in range(4)]


def difference(function, h: float = 1e-3) -> np.ndarray:
    """Return the derivative at zero by fourth-order central differences."""
    return (function(-2 * h) - 8 * function(-h) + 8 * function(h) - function(2 * h)) / (12 * h)


# --- The adjoint and its dual -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(("xi", "eta"), TWISTS)
def test_the_adjoint_is_conjugation(xi, eta) -> None:
    """Ad_T xi = (T hat(xi) T^-1) vee, and T e^{hat(xi)} T^-1 = e^{hat(Ad_T xi)}."""
    moved = T1 @ lie.hat(xi) @ inverse(T1)
    assert_allclose(lie.vee(moved), motion_transform(T1) @ xi, atol=1e-14)
    group = T1 @ lie.exponential(lie.hat(eta)) @ inverse(T1)
    assert_allclose(group, lie.exponential(lie.hat(motion_transform(T1) @ eta)), atol=1e-13)


def test_the_adjoint_keeps_composition_and_inverse() -> None:
    """Ad_{T1 T2} = Ad_T1 Ad_T2, not the other order; the same of wrench transforms; the inverse in its blocks."""
    for Ad in (motion_transform, lie.wrench_transform):
        assert_allclose(Ad(T1 @ T2), Ad(T1) @ Ad(T2), atol=1e-15)
        assert np.abs(Ad(T1 @ T2) - Ad(T2) @ Ad(T1)).max() > 0.1
        assert_allclose(Ad(inverse(T1)) @ Ad(T1), np.eye(6), atol=1e-15)
    R, p = T1[:3, :3], T1[:3, 3]
    blocks = np.block([[R.T, np.zeros((3, 3))], [-R.T @ skew(p), R.T]])
    assert_allclose(motion_transform(inverse(T1)), blocks, atol=1e-15)


def test_a_translation_has_a_regular_adjoint_that_is_not_orthogonal() -> None:
    """Determinant 1 at any distance, condition growing with it."""
    conditions = []
    for distance in (0.0, 1.0, 10.0):
        X = motion_transform(transform(np.eye(3), np.array([0, distance, 0])))
        assert_allclose(np.linalg.det(X), 1, rtol=1e-12)
        conditions.append(np.linalg.cond(X))
    assert conditions[0] == 1
    assert conditions[2] > 10 * conditions[1] > 10


@pytest.mark.parametrize(("V", "f"), TWISTS)
def test_power_is_the_same_in_every_frame(V, f) -> None:
    """f_A.V_A = f_B.V_B with X^-T, and f_B = X^T f_A leads back; the other transpose gives another moment."""
    X = motion_transform(T1)
    f_A = lie.wrench_transform(T1) @ f
    assert_allclose(f_A @ (X @ V), f @ V, rtol=1e-12)
    assert_allclose(lie.wrench_transform(T1), np.linalg.inv(X).T, atol=1e-14)
    assert_allclose(X.T @ f_A, f, atol=1e-14)
    R, p = T1[:3, :3], T1[:3, 3]
    assert_allclose(f_A, np.concatenate([R @ f[:3] + np.cross(p, R @ f[3:]), R @ f[3:]]), atol=1e-14)


def test_the_wrong_transpose_turns_the_lever_arm_round() -> None:
    """From a child at p = (0, 1, 0) of its parent, a force along x has the moment -z; X^-T of the child gives +z."""
    T_parent_child = transform(np.eye(3), np.array([0.0, 1.0, 0.0]))
    X_child_parent = motion_transform(inverse(T_parent_child))
    f = np.array([0.0, 0, 0, 1, 0, 0])
    assert_allclose(X_child_parent.T @ f, [0, 0, -1, 1, 0, 0])
    assert_allclose(np.linalg.inv(X_child_parent).T @ f, [0, 0, 1, 1, 0, 0])


@pytest.mark.parametrize(("V", "f"), TWISTS)
def test_a_velocity_field_and_a_force_at_a_point(V, f) -> None:
    """u_A(x_A) = R u_B(x_B) at every point, and F at r has the wrench (n + r x F, F)."""
    r = np.array([0.3, -0.2, 0.7])
    V_A = motion_transform(T1) @ V
    x = T1[:3, :3] @ r + T1[:3, 3]
    field = T1[:3, :3] @ (V[3:] + np.cross(V[:3], r))
    assert_allclose(V_A[3:] + np.cross(V_A[:3], x), field, atol=1e-13)
    n, F = f[:3], f[3:]
    power = F @ (V[3:] + np.cross(V[:3], r)) + n @ V[:3]
    at_point = lie.wrench_transform(transform(np.eye(3), r)) @ f
    assert_allclose(at_point, np.concatenate([n + np.cross(r, F), F]), atol=1e-15)
    assert_allclose(at_point @ V, power, rtol=1e-12)


# --- Brackets ---------------------------------------------------------------------------------------------------------
def test_the_printed_bracket() -> None:
    """(0, 0, 0.5, 0.4, 0, 0) with a rate of 0.2: -0.08 m/s^2 along y, though both axes are z."""
    joint = np.array([0, 0, cf.BRACKET_RATE, 0, 0, 0])
    bracket = motion_cross(cf.BRACKET_V) @ joint
    assert_allclose(bracket, cf.BRACKET_RESULT, atol=1e-17)
    assert_allclose(np.cross(cf.BRACKET_V[:3], joint[:3]), 0)
    assert_allclose(motion_cross(joint) @ joint, 0)


@pytest.mark.parametrize(("V", "W"), TWISTS)
def test_brackets_change_sign_with_their_order_and_have_a_dual(V, W) -> None:
    """ad_V W = -ad_W V = ([hat V, hat W]) vee, and V x* = -ad_V^T written out in blocks."""
    assert_allclose(motion_cross(V) @ W, -motion_cross(W) @ V, atol=1e-15)
    matrices = lie.hat(V) @ lie.hat(W) - lie.hat(W) @ lie.hat(V)
    assert_allclose(lie.vee(matrices), motion_cross(V) @ W, atol=1e-14)
    assert np.array_equal(lie.force_cross(V), -motion_cross(V).T)


@pytest.mark.parametrize(("A", "V"), TWISTS)
def test_the_adjoint_changes_by_the_bracket(A, V) -> None:
    """d/dt Ad_T = -rate ad_A Ad_T for T = e^{-[A] angle} M, so ad_V (A rate) is what the recursion adds."""
    rate = 0.7

    def X(t: float) -> np.ndarray:
        return motion_transform(lie.exponential(-lie.hat(A) * (0.4 + rate * t)) @ T1)

    assert_allclose(difference(X), -rate * motion_cross(A) @ X(0), atol=1e-10)
    inherited = X(0) @ V
    total = inherited + A * rate
    assert_allclose(difference(lambda t: X(t) @ V), motion_cross(total) @ (A * rate), atol=1e-9)


@pytest.mark.parametrize(("V", "A"), TWISTS)
def test_spatial_acceleration_is_not_that_of_the_origin(V, A) -> None:
    """The origin accelerates with v' + omega x v in body axes; a fixed point r with two terms more."""
    r, h = np.array([0.2, -0.5, 0.3, 1.0]), 1e-3

    def places(t: float) -> np.ndarray:
        T = T1 @ lie.exponential(lie.hat(V * t + A * t**2 / 2))
        return np.stack([T[:3, 3], (T @ r)[:3]])

    weights = np.array([-1, 16, -30, 16, -1]) / (12 * h**2)
    origin, point = sum(w * places(t) for w, t in zip(weights, h * np.arange(-2, 3), strict=True))
    omega, alpha, ordinary = V[:3], A[:3], A[3:] + np.cross(V[:3], V[3:])
    assert_allclose(T1[:3, :3].T @ origin, ordinary, atol=1e-6)
    arm = np.cross(alpha, r[:3]) + np.cross(omega, np.cross(omega, r[:3]))
    assert_allclose(T1[:3, :3].T @ point, ordinary + arm, atol=1e-6)
    assert np.abs(np.cross(omega, V[3:])).max() > 0.1


@pytest.mark.parametrize(("V", "A"), TWISTS)
def test_newton_and_euler_stand_in_the_spatial_balance(V, A) -> None:
    """I a + V x* I V is (I w' + w x I w, m (v' + w x v)) at the centre of mass, and the same moved off it; K too."""
    held = random_inertia(np.random.default_rng(7))
    I_C, m, c = held.I_com, held.mass, held.com
    I = spatial_inertia(np.array(m), c, I_C)
    omega, v = V[:3], V[3:]
    at_centre = v + np.cross(omega, c)
    assert_allclose(V @ I @ V, omega @ I_C @ omega + m * at_centre @ at_centre, rtol=1e-12)
    X = motion_transform(transform(np.eye(3), -c))  # from the body origin to the centre of mass
    V_C, A_C = X @ V, X @ A
    n = I_C @ A_C[:3] + np.cross(omega, I_C @ omega)
    F = m * (A_C[3:] + np.cross(omega, V_C[3:]))
    net = I @ A + lie.force_cross(V) @ (I @ V)
    assert_allclose(net, X.T @ np.concatenate([n, F]), atol=1e-12)
    assert np.abs(np.cross(omega, I_C @ omega)).max() > 1e-3


# --- Exponentials -----------------------------------------------------------------------------------------------------
def test_a_translation_is_a_regular_screw() -> None:
    """hat(xi)^2 = 0 and e^{q hat(xi)} = 1 + q hat(xi); no rank to test, no pseudoinverse."""
    xi = np.array([0, 0, 0, 0.6, 0.0, 0.8])
    assert not (lie.hat(xi) @ lie.hat(xi)).any()
    for q in (0.0, -1.7, 40.0):
        assert_allclose(lie.exponential(q * lie.hat(xi)), np.eye(4) + q * lie.hat(xi), atol=1e-13)
        assert_allclose(lie.screw_motion(xi, np.array(q)), np.eye(4) + q * lie.hat(xi), atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float64, np.longdouble])
@pytest.mark.parametrize("q", [0.0, 1e-9, 0.3, -2.0, 9.0])
def test_the_closed_form_of_a_screw_is_the_series(q: float, dtype: type) -> None:
    """Rotation with a pitch and off the origin, small angles and several turns."""
    screw = np.array([0.6, 0, 0.8, 0.3, -1.2, 0.5]).astype(dtype)
    screw[:3] /= np.sqrt((screw[:3] ** 2).sum())
    found = lie.screw_motion(screw, np.array(q, dtype))
    expected = lie.exponential(dtype(q) * lie.hat(screw))
    assert found.dtype == expected.dtype == dtype
    assert np.abs(found - expected).max() < 64 * np.finfo(dtype).eps * (1 + abs(q))


@pytest.mark.parametrize(("xi", "eta"), TWISTS)
def test_the_differential_of_the_exponential(xi, eta) -> None:
    """The block exponential, the integral and centred differences agree; e^A H does not."""
    A, H = lie.hat(xi), lie.hat(eta)
    assert np.abs(A @ H - H @ A).max() > 0.1
    found = lie.differential(A, H)
    assert_allclose(lie.differential_by_integral(A, H), found, atol=1e-12)
    assert_allclose(difference(lambda t: lie.exponential(A + t * H)), found, atol=1e-9)
    for naive in (lie.exponential(A) @ H, H @ lie.exponential(A)):
        assert np.abs(naive - found).max() > 0.05
    # It is enough where both commute.
    assert_allclose(lie.differential(A, 0.3 * A), lie.exponential(A) @ (0.3 * A), atol=1e-12)


def test_centred_differences_come_nearer_with_the_square_of_the_step() -> None:
    """Halving the step of the plain centred difference divides its distance from the formula by four."""
    A, H = lie.hat(np.array([0.9, -0.4, 1.3, 0.2, 0.8, -0.5])), lie.hat(np.array([-0.7, 1.1, 0.2, 0.4, -0.3, 0.9]))
    exact = lie.differential(A, H)
    errors = [
        np.abs((lie.exponential(A + h * H) - lie.exponential(A - h * H)) / (2 * h) - exact).max()
        for h in (0.02, 0.01, 0.005)
    ]
    assert_allclose([errors[0] / errors[1], errors[1] / errors[2]], 4, rtol=2e-3)


@pytest.mark.parametrize(("xi", "eta"), TWISTS)
def test_both_trivialisations_of_the_differential(xi, eta) -> None:
    """(dT T^-1) vee and (T^-1 dT) vee by differences; the adjoint of T leads from the left one to the right one."""
    T = lie.exponential(lie.hat(xi))
    dT = difference(lambda t: lie.exponential(lie.hat(xi + t * eta)))
    right, left = lie.right_trivialised(xi) @ eta, lie.left_trivialised(xi) @ eta
    assert_allclose(lie.vee(dT @ inverse(T)), right, atol=1e-9)
    assert_allclose(lie.vee(inverse(T) @ dT), left, atol=1e-9)
    assert_allclose(motion_transform(T) @ left, right, atol=1e-12)
    assert np.abs(right - left).max() > 0.05
    places, weights = np.polynomial.legendre.leggauss(16)
    Ads = [motion_transform(lie.exponential((s + 1) / 2 * lie.hat(xi))) for s in places]
    assert_allclose(sum(w / 2 * Ad @ eta for w, Ad in zip(weights, Ads, strict=True)), right, atol=1e-12)


def test_trivialisations_at_zero_and_at_a_whole_turn() -> None:
    """The identity at zero; at a whole turn the differential loses rank though T and Ad_T stay regular."""
    assert_allclose(lie.right_trivialised(np.zeros(6)), np.eye(6))
    # Along the axis the pitch still tells neighbours apart: with one, four directions are left, without, two.
    for pitch, rank in ((0.5, 4), (0.0, 2)):
        turn = np.array([0, 0, 2 * np.pi, 0.3, -0.2, pitch])
        T = lie.exponential(lie.hat(turn))
        for trivialised in (lie.right_trivialised, lie.left_trivialised):
            assert np.linalg.matrix_rank(trivialised(turn), tol=1e-9) == rank
            assert np.linalg.matrix_rank(trivialised(turn * 0.9), tol=1e-9) == 6
        assert_allclose(np.linalg.det(T), 1, rtol=1e-10)
        assert np.linalg.matrix_rank(motion_transform(T)) == 6


# --- Inertias ---------------------------------------------------------------------------------------------------------
def test_spatial_inertia_is_diagonal_blocks_at_the_centre_and_positive_definite_for_bodies() -> None:
    """diag(I_C, m 1) where c = 0, the printed blocks elsewhere; symmetric positive definite; thin rods have rank 5."""
    held = random_inertia(np.random.default_rng(3))
    m, c, I_C = held.mass, held.com, held.I_com
    centred, zero = spatial_inertia(np.array(m), np.zeros(3), I_C), np.zeros((3, 3))
    assert_allclose(centred, np.block([[I_C, zero], [zero, m * np.eye(3)]]))
    I = spatial_inertia(np.array(m), c, I_C)
    cx = skew(c)
    assert_allclose(I, np.block([[I_C - m * cx @ cx, m * cx], [-m * cx, m * np.eye(3)]]), atol=1e-15)
    assert_allclose(I, I.T)
    assert np.linalg.eigvalsh(I).min() > 0
    rod = spatial_inertia(np.array(2.0), np.array([0.5, 0, 0]), np.diag([0, 1 / 6, 1 / 6]))
    assert np.linalg.matrix_rank(rod) == 5
    assert np.linalg.eigvalsh(rod).min() > -1e-15
