"""The native reference against its own laws: three roads to M, energies, duality, round trips, singular bodies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_trees import ONE_DOF, random_inertia, random_joint, random_tree

from tautology.adapters.reference import ENGINE, Reference
from tautology.harness.engine import Given
from tautology.harness.errors import EngineUnsupported, ShapeError
from tautology.harness.linear import ldl, scaled_pivots, solve
from tautology.harness.spatial import exp_so3, inverse, motion_transform, quaternion_product, rotation_from_quaternion
from tautology.harness.states import sample
from tautology.harness.tree import Body, Inertia, Joint, JointKind, Tree, world

TYPES = [np.float64, np.longdouble]
SEEDS = st.integers(0, 2**32 - 1)
SOME = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def drawn(seed: int, most: int = 40) -> Tree:
    """Return a random tree of 1 to `most` bodies and at most 150 dofs."""
    rng = np.random.default_rng(seed)
    tree = random_tree(
        rng, int(rng.integers(1, most + 1)), floating_root=bool(seed % 2), armature=True, tendons=bool(seed % 3)
    )
    return tree if tree.nv <= 150 else drawn(seed + 1, most // 2)


def largest(x: np.ndarray) -> float:
    """Return the largest absolute entry, at least 1."""
    return max(1.0, float(np.abs(x).max(initial=0)))


@SOME
@given(SEEDS)
def test_three_roads_lead_to_one_mass_matrix(seed: int) -> None:
    """Composite bodies, kinetic energy and columns of inverse dynamics give the same symmetric matrix."""
    tree = drawn(seed)
    q = sample(tree, 6, seed).q
    reference = Reference(tree)
    M = reference.mass_matrix(q)
    for other in (reference.mass_matrix_from_energy(q), reference.mass_matrix_by_columns(q), M.swapaxes(-1, -2)):
        np.testing.assert_allclose(other, M, rtol=0, atol=1e-13 * largest(M))


@SOME
@given(SEEDS)
def test_inverse_dynamics_is_affine_and_wrenches_enter_by_jacobians(seed: int) -> None:
    """tau = M a + bias - sum J^T f."""
    tree = drawn(seed)
    s = sample(tree, 6, seed)
    reference = Reference(tree)
    tau = reference.inverse_dynamics(s.q, s.v, s.a, s.wrenches)
    inertial = (reference.mass_matrix(s.q) @ s.a[..., None])[..., 0]
    built = inertial + reference.bias(s.q, s.v) - reference.generalized_forces(s.q, s.wrenches)
    np.testing.assert_allclose(tau, built, rtol=0, atol=1e-12 * largest(inertial))


@SOME
@given(SEEDS)
def test_articulated_bodies_undo_inverse_dynamics(seed: int) -> None:
    """Forward dynamics after inverse dynamics returns the acceleration, with armature, tendons and wrenches."""
    tree = drawn(seed, 20)
    s = sample(tree, 6, seed)
    truth = Reference(tree, np.longdouble)
    M = truth.mass_matrix(s.q)
    regular = (scaled_pivots(M) > 1e-12).all(-1)
    tau = truth.inverse_dynamics(s.q, s.v, s.a, s.wrenches)
    a = truth.forward_dynamics(s.q, s.v, tau, s.wrenches)
    condition = float(1 / scaled_pivots(M)[regular].min(initial=1))
    np.testing.assert_allclose(a[regular].astype(float), s.a[regular], atol=1e-15 * condition * largest(s.a), rtol=0)


@SOME
@given(SEEDS)
def test_longdouble_is_the_same_algorithm_with_more_digits(seed: int) -> None:
    """float64 answers lie within rounding of the longdouble ones, and keep their type."""
    tree = drawn(seed)
    s = sample(tree, 4, seed)
    near, far = Reference(tree), Reference(tree, np.longdouble)
    for name, arguments in {
        "inverse_dynamics": (s.q, s.v, s.a, s.wrenches),
        "mass_matrix": (s.q,),
        "velocities": (s.q, s.v),
        "poses": (s.q,),
        "kinetic_energy": (s.q, s.v),
        "potential_energy": (s.q,),
        "momentum": (s.q, s.v),
    }.items():
        x, y = getattr(near, name)(*arguments), getattr(far, name)(*arguments)
        assert (x.dtype, y.dtype) == (np.float64, np.longdouble), name
        np.testing.assert_allclose(x, y.astype(float), rtol=0, atol=2e-13 * largest(y), err_msg=name)


def moved(tree: Tree, q: np.ndarray, v: np.ndarray, h: float) -> np.ndarray:
    """Return q moved along the constant canonical velocity v for time h, on the manifold."""
    out = q.copy()
    for joint, at_q, at_v in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
        x, u = q[:, at_q], v[:, at_v] * h
        if joint.kind in ONE_DOF:
            out[:, at_q] = x + u
        elif joint.kind is JointKind.BALL:
            out[:, at_q] = quaternion_product(x, exp_so3(u))
        elif joint.kind is JointKind.PLANAR:
            c, s = np.cos(x[:, 2] + u[:, 2] / 2), np.sin(x[:, 2] + u[:, 2] / 2)
            out[:, at_q] = x + np.stack([c * u[:, 0] - s * u[:, 1], s * u[:, 0] + c * u[:, 1], u[:, 2]], 1)
        elif joint.kind is JointKind.FLOATING:
            middle = rotation_from_quaternion(quaternion_product(x[:, 3:], exp_so3(u[:, 3:] / 2)))
            position = x[:, :3] + (middle @ u[:, :3, None])[..., 0]
            out[:, at_q] = np.concatenate([position, quaternion_product(x[:, 3:], exp_so3(u[:, 3:]))], 1)
    return out


@SOME
@given(SEEDS)
def test_velocities_are_derivatives_of_poses(seed: int) -> None:
    """The body twist is T^-1 dT/dt, by second-order differences on the manifold, for every joint kind."""
    tree = drawn(seed, 12)
    s = sample(tree, 6, seed)
    v, h = np.clip(s.v, -1, 1), 1e-5
    reference = Reference(tree)
    Ts = reference.poses(s.q)
    rates = (reference.poses(moved(tree, s.q, v, h)) - reference.poses(moved(tree, s.q, v, -h))) / (2 * h)
    found = inverse(Ts) @ rates
    V = reference.velocities(s.q, v)
    omega = np.stack([found[..., 2, 1], found[..., 0, 2], found[..., 1, 0]], -1)
    np.testing.assert_allclose(np.concatenate([omega, found[..., :3, 3]], -1), V, atol=2e-7 * largest(V) ** 3)


@SOME
@given(SEEDS)
def test_gravity_is_the_gradient_of_the_potential(seed: int) -> None:
    """dU/dt = v . gravity along any motion."""
    tree = drawn(seed, 12)
    s = sample(tree, 6, seed)
    v, h = np.clip(s.v, -1, 1), 1e-5
    reference = Reference(tree)
    U = reference.potential_energy
    rate = (U(moved(tree, s.q, v, h)) - U(moved(tree, s.q, v, -h))) / (2 * h)
    power = (v * reference.gravity_forces(s.q)).sum(1)
    np.testing.assert_allclose(rate, power, atol=1e-6 * largest(power) + 1e-9 * largest(U(s.q)) / h * 1e-2)


@SOME
@given(SEEDS)
def test_energy_and_momentum_are_sums_over_bodies(seed: int) -> None:
    """K = sum V.I V / 2 + reflected part; momentum and COM from poses and twists, body by body."""
    tree = drawn(seed, 15)
    s = sample(tree, 5, seed)
    reference = Reference(tree)
    V, Ts = reference.velocities(s.q, s.v), reference.poses(s.q)
    K = (s.v * (reference.mass_matrix(s.q) @ s.v[..., None])[..., 0]).sum(1) / 2
    np.testing.assert_allclose(reference.kinetic_energy(s.q, s.v), K, rtol=1e-11, atol=1e-12)
    masses = np.array([b.inertia.mass * m for b, m in zip(tree.bodies[1:], tree.moving[1:], strict=True)])
    coms = np.stack([(Ts[:, i] @ [*b.inertia.com, 1])[:, :3] for i, b in enumerate(tree.bodies[1:])], 1)
    com = (masses[:, None] * coms).sum(1) / masses.sum() if masses.sum() else np.full((5, 3), np.inf)
    np.testing.assert_allclose(reference.center_of_mass(s.q), com, rtol=1e-11, atol=1e-11)
    if seed % 2:  # drawn with one floating root, which carries everything
        X = motion_transform(inverse(Ts))
        linear = np.zeros((5, 3))
        for i, b in enumerate(tree.bodies[1:]):
            u = V[:, i, 3:] + np.cross(V[:, i, :3], b.inertia.com)
            linear += b.inertia.mass * (Ts[:, i, :3, :3] @ u[..., None])[..., 0]
        assert X.shape[1] == len(tree.bodies) - 1
        total = reference.momentum(s.q, s.v).sum(1)[:, 3:]
        others = [i for i, r in enumerate(tree.roots) if r and tree.joints[r].kind is not JointKind.FLOATING]
        if not others:
            np.testing.assert_allclose(total, linear, rtol=1e-10, atol=1e-10 * largest(linear))


@pytest.mark.parametrize("kind", [k for k in JointKind if k is not JointKind.FIXED])
def test_point_mass_on_any_joint(kind: JointKind) -> None:
    """A singular spatial inertia is fine for inverse dynamics: weight and m a of a point mass appear in tau."""
    joint = Joint("j", kind, axis=np.array([0, 1.0, 0]))
    tree = Tree("point", (world(), Body("b", 0, joint, Inertia(2.0, np.array([0.5, 0, 0]), np.zeros((3, 3))))))
    q = tree.neutral[None]
    rest = np.zeros((1, tree.nv))
    gravity = Reference(tree).gravity_forces(q)[0]
    weight, arm = 2 * 9.81, 0.5
    expected = {
        "revolute": [-weight * arm],
        "continuous": [-weight * arm],
        "prismatic": [0.0],
        "ball": [0, -weight * arm, 0],
        # The planar basis for n = y: z turned onto y about -x, so that its y axis is -z.
        "planar": [0, -weight, -weight * arm],
        "floating": [0, 0, weight, 0, -weight * arm, 0],
    }[kind.value]
    np.testing.assert_allclose(gravity, expected, atol=1e-14)
    assert np.isfinite(Reference(tree).inverse_dynamics(q, rest, rest)).all()


def test_missing_acceleration_is_said() -> None:
    """A joint that moves no inertia has no acceleration: the state's row is inf, and other states are untouched."""
    rng = np.random.default_rng(0)
    leaf = Body("leaf", 1, Joint("free", JointKind.REVOLUTE))
    solid = Body("solid", 0, random_joint(rng, "driven", JointKind.REVOLUTE), random_inertia(rng))
    tree = Tree("ghost", (world(), solid, leaf))
    zero = np.zeros((2, 2))
    assert np.isposinf(Reference(tree).forward_dynamics(zero, zero, zero)).all()
    assert np.isfinite(Reference(tree).inverse_dynamics(zero, zero, zero)).all()
    # A thin rod about its own axis, in one pose only: q2 = 0 lines the rod up with the axis.
    rod = Inertia(1.0, np.array([0, 0, 0.5]), np.diag([1 / 12, 1 / 12, 0]))
    tilt = Joint("tilt", JointKind.REVOLUTE, axis=np.array([1.0, 0, 0]))
    arm = Tree("rod", (world(), Body("mast", 0, Joint("spin", JointKind.REVOLUTE)), Body("rod", 1, tilt, rod)))
    q = np.array([[0.3, 0.0], [0.3, 0.7]])
    a = Reference(arm).forward_dynamics(q, zero, np.ones((2, 2)))
    assert np.isposinf(a[0]).all()
    assert np.isfinite(a[1]).all()


def test_damping_and_armature_are_optional() -> None:
    """Damping adds d v when asked for, armature is left out when asked for."""
    joint = Joint("j", JointKind.REVOLUTE, damping=0.7, armature=0.2, rotor=0.1)
    tree = Tree("t", (world(), Body("b", 0, joint, Inertia(1.0, np.zeros(3), np.eye(3)))))
    q, v, a = np.zeros((1, 1)), np.full((1, 1), 2.0), np.full((1, 1), 3.0)
    reference = Reference(tree)
    assert reference.inverse_dynamics(q, v, a)[0, 0] == pytest.approx(3 * 1.3)
    assert reference.inverse_dynamics(q, v, a, damping=True)[0, 0] == pytest.approx(3 * 1.3 + 1.4)
    assert reference.inverse_dynamics(q, v, a, armature=False)[0, 0] == pytest.approx(3.0)


def test_wrong_shapes_are_named() -> None:
    """Arrays of another robot are refused with what is needed."""
    reference = Reference(drawn(3))
    with pytest.raises(ShapeError, match="needs"):
        reference.mass_matrix(np.zeros((2, 1)))
    states = sample(reference.tree, 2)
    with pytest.raises(ShapeError, match="wrenches are"):
        reference.inverse_dynamics(states.q, states.v, states.a, np.zeros((2, 1, 6)))


def test_the_reference_reads_no_file() -> None:
    """Its native path says that the importer reads, and its neutral path opens any tree."""
    tree = drawn(4)
    with pytest.raises(EngineUnsupported, match="no importer of its own"):
        ENGINE.native(Given("urdf", "robot.urdf"), tree)
    assert ENGINE.neutral(tree).dofs == tree.dofs


@pytest.mark.parametrize("dtype", TYPES)
def test_ldl_factors_and_solves(dtype: type) -> None:
    """L diag(d) L^T is M, solve inverts it, pivots of a singular matrix vanish."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 6, 6)).astype(dtype)
    M = A @ A.swapaxes(-1, -2) + np.eye(6, dtype=dtype)
    L, d = ldl(M)
    np.testing.assert_allclose((L * d[:, None, :] @ L.swapaxes(-1, -2)).astype(float), M.astype(float), atol=1e-13)
    x = rng.normal(size=(4, 6)).astype(dtype)
    np.testing.assert_allclose(solve(M, (M @ x[..., None])[..., 0]).astype(float), x.astype(float), atol=1e-12)
    assert scaled_pivots(np.ones((1, 2, 2), dtype))[0].tolist() == [1.0, 0.0]
