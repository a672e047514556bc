"""Simulated motion: the account of the energy, the order of the integrator, friction, every joint kind."""

from __future__ import annotations

from dataclasses import replace

import closed_forms as cf
import numpy as np
import pytest
from numpy.testing import assert_allclose
from random_trees import random_inertia, random_joint

from tautology.adapters.reference import Reference
from tautology.adapters.textbook import planar, planar_tree, simulate
from tautology.adapters.textbook.planar import PlanarChain
from tautology.harness.errors import RequestError
from tautology.harness.spatial import quaternion_product, rotation_from_quaternion
from tautology.harness.states import sample
from tautology.harness.tree import Body, Inertia, Joint, JointKind, Tree, world

ARM = PlanarChain(*cf.PLANAR_ARM)
START = (np.array([[0.4, -0.9, 1.3], [1.2, 0.5, -0.4]]), np.array([[0.7, -0.5, 1.1], [0.0, 0.0, 0.0]]))


def every_joint() -> Tree:
    """Return a branched tree with one joint of every kind that moves."""
    rng = np.random.default_rng(11)
    kinds = [kind for kind in JointKind if kind is not JointKind.FIXED]
    bodies = [
        Body(f"body{i}", max(0, i - 2), random_joint(rng, f"joint{i}", kind, armature=True), random_inertia(rng))
        for i, kind in enumerate(kinds)
    ]
    return Tree("every joint", (world(), *bodies), gravity=np.array([1.0, -3, -9]))


def drifts(mechanism: simulate.Mechanism, q, v, duration: float, counts: list[int], **more) -> np.ndarray:
    """Return the largest energy that came from nowhere, one per number of steps."""
    paths = [simulate.simulate(mechanism, q, v, duration / n, n, **more) for n in counts]
    return np.array([np.abs(path.drift()).max() for path in paths])


def test_the_drift_of_the_planar_arm_falls_with_the_fourth_power_of_the_step() -> None:
    """Free swing of half a second, no friction: halving the step divides the drift by about 16."""
    found = drifts(simulate.of_chain(ARM), *START, 0.5, [50, 100, 200])
    assert found[0] > 1e-7
    assert_allclose(np.log2(found[:-1] / found[1:]), 4, atol=0.3)


def test_the_drift_of_every_joint_kind_falls_with_the_fourth_power_of_the_step() -> None:
    """Ball, planar and floating joints, whose rates are no derivatives of coordinates, lose nothing of the order."""
    tree = every_joint()
    rng = np.random.default_rng(0)
    q, v = sample(tree, 3, 1).q, rng.normal(size=(3, tree.nv))
    found = drifts(simulate.of_tree(tree), q, v, 0.3, [20, 40, 80])
    assert found[-1] > 1e-10
    assert_allclose(np.log2(found[:-1] / found[1:]), 4, atol=0.35)


def test_the_path_is_that_of_the_exact_motion() -> None:
    """A free body spins about a principal axis and falls: position and turn after 0.4 s in closed form."""
    held = Inertia(2.0, np.zeros(3), np.diag([0.2, 0.3, 0.4]))
    tree = Tree("free", (world(), Body("body", 0, Joint("joint", JointKind.FLOATING), held)))
    turned = np.array([0.5, 0.5, -0.5, 0.5])
    q = np.array([[0.1, 0.2, 0.3, *turned]])
    R, u, w, t = rotation_from_quaternion(turned), np.array([0.4, -0.3, 0.2]), 1.7, 0.4
    v = np.array([[*(R.T @ u), 0, 0, w]])
    path = simulate.simulate(simulate.of_tree(tree), q, v, t / 200, 200)
    assert_allclose(path.t[-1], t)
    assert_allclose(path.q[-1, 0, :3], q[0, :3] + u * t + tree.gravity * t**2 / 2, atol=1e-9)
    about_z = np.array([[np.cos(w * t), -np.sin(w * t), 0], [np.sin(w * t), np.cos(w * t), 0], [0, 0, 1]])
    assert_allclose(rotation_from_quaternion(path.q[-1, 0, 3:]), R @ about_z, atol=1e-9)
    coarse = simulate.simulate(simulate.of_tree(tree), q, v, t / 3, 3)
    assert_allclose(np.linalg.norm(coarse.q[:, 0, 3:], axis=-1), 1, rtol=1e-15)


def test_a_drive_is_asked_at_its_time() -> None:
    """A rod without gravity under k t about its end: v = k t^2 / (2 I), q = k t^3 / (6 I), which RK4 has exactly."""
    rod = replace(planar.uniform_rods(np.array([1.5]), np.array([2.0])), gravity=np.zeros(2))
    at = np.zeros((1, 1))
    path = simulate.simulate(simulate.of_chain(rod), at, at, 0.25, 4, drive=lambda t, *_: np.full((1, 1), 0.9 * t))
    assert_allclose(path.v[:, 0, 0], 0.9 * path.t**2 / 2 / 1.5, atol=1e-15)
    assert_allclose(path.q[:, 0, 0], 0.9 * path.t**3 / 6 / 1.5, atol=1e-15)


def test_a_planar_joint_moves_along_its_own_axes() -> None:
    """Without gravity, a plate about its centre goes straight on while it turns."""
    held = Inertia(1.5, np.zeros(3), np.diag([0.1, 0.1, 0.2]))
    tree = Tree("plate", (world(), Body("body", 0, Joint("joint", JointKind.PLANAR), held)), gravity=np.zeros(3))
    theta, u, w, t = 0.6, np.array([0.5, -0.2]), 2.1, 0.5
    c, s = np.cos(theta), np.sin(theta)
    v = np.array([[c * u[0] + s * u[1], -s * u[0] + c * u[1], w]])
    path = simulate.simulate(simulate.of_tree(tree), np.array([[0.3, 0.1, theta]]), v, t / 100, 100)
    assert_allclose(path.q[-1, 0], [0.3 + u[0] * t, 0.1 + u[1] * t, theta + w * t], atol=1e-9)


@pytest.mark.parametrize("viscous", [0.3, np.array([0.5, 0.0, 0.1])], ids=["one number", "per joint"])
def test_friction_only_takes_energy(viscous) -> None:
    """The energy never rises, and what is missing is the work of friction, to the fourth power of the step."""
    chain = simulate.of_chain(ARM)
    path = simulate.simulate(chain, *START, 0.005, 100, viscous)
    assert (np.diff(path.energy, axis=0) <= 0).all()
    assert (np.diff(path.dissipated, axis=0) >= 0).all()
    assert (path.dissipated[-1] > 0.1).all()
    assert not path.supplied.any()
    found = drifts(chain, *START, 0.5, [50, 100, 200], viscous=viscous)
    assert_allclose(np.log2(found[:-1] / found[1:]), 4, atol=0.3)


def test_with_friction_the_arm_comes_to_rest_below() -> None:
    """Strong friction, 12 s: hanging straight down, its energy that of the lowest pose."""
    q, v = np.array([[0.3, 0.2, -0.1]]), np.zeros((1, 3))
    path = simulate.simulate(simulate.of_chain(ARM), q, v, 0.02, 600, np.array([8.0, 2.0, 0.5]))
    lowest = np.array([[-np.pi / 2, 0, 0]])
    assert_allclose(path.q[-1], lowest, atol=1e-4)
    assert_allclose(path.energy[-1], planar.potential_energy(ARM, lowest), atol=1e-7)


def test_a_drive_supplies_what_it_does() -> None:
    """Torques of time and rate: E - E_0 is their work, to the fourth power of the step."""
    chain = simulate.of_chain(ARM)

    def drive(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.sin(3 * t) * np.array([4.0, -2, 1]) - 0.1 * q - 0.2 * v

    path = simulate.simulate(chain, *START, 0.005, 100, drive=drive)
    assert np.abs(path.energy - path.energy[0]).max() > 1
    found = drifts(chain, *START, 0.5, [50, 100, 200], drive=drive)
    assert_allclose(np.log2(found[:-1] / found[1:]), 4, atol=0.3)


def test_the_plane_and_space_move_alike() -> None:
    """Columns of the planar recursion and articulated bodies of its embedding give the same path."""
    thick = planar_tree.embedded(ARM, other_moments=np.full((3, 2), 0.05))
    paths = [simulate.simulate(m, *START, 0.01, 50) for m in (simulate.of_chain(ARM), simulate.of_tree(thick))]
    assert_allclose(paths[0].q, paths[1].q, atol=1e-11)
    assert_allclose(paths[0].energy, paths[1].energy, atol=1e-11)


def test_the_energy_changes_as_the_efforts_work() -> None:
    """dE/dt = tau.v for the planar chain with its tip mass, by differences along a motion."""
    chain = replace(ARM, tip_mass=0.4)
    q, v, a = np.random.default_rng(2).uniform(-1, 1, (3, 10, 3))
    h = 1e-3

    def energy(t: float) -> np.ndarray:
        at, rate = q + v * t + a * t**2 / 2, v + a * t
        return planar.kinetic_energy(chain, at, rate) + planar.potential_energy(chain, at)

    change = (energy(-2 * h) - 8 * energy(-h) + 8 * energy(h) - energy(2 * h)) / (12 * h)
    power = (planar.inverse_dynamics(chain, q, v, a) * v).sum(-1)
    assert_allclose(change, power, atol=1e-9)


def test_a_joint_that_moves_nothing_is_refused() -> None:
    """No acceleration, no motion: a sentence, not a path of NaN."""
    empty = replace(ARM, masses=np.array([1.0, 1.0, 0.0]), moments=np.array([0.1, 0.1, 0.0]))
    with pytest.raises(RequestError, match=r"no motion at t = 0 s: a joint moves no inertia"):
        simulate.simulate(simulate.of_chain(empty), *START, 0.01, 5)
    massless = Tree("massless", (world(), Body("body", 0, Joint("joint", JointKind.REVOLUTE))))
    assert np.isinf(Reference(massless).forward_dynamics(*np.zeros((3, 1, 1)))).all()
    with pytest.raises(RequestError, match="no motion"):
        simulate.simulate(simulate.of_tree(massless), *np.zeros((2, 1, 1)), 0.01, 5)


# --- What simulated and measured motion is used for -------------------------------------------------------------------
def holding(_time: float, q: np.ndarray, _rate: np.ndarray) -> np.ndarray:
    """Return what holds the arm up."""
    return planar.inverse_dynamics(ARM, q, 0 * q, 0 * q)


def test_gravity_compensation_leaves_the_motion_to_inertia() -> None:
    """At rest the arm stays where it is; in motion its kinetic energy stays."""
    q, v = START
    chain = simulate.of_chain(ARM)
    still = simulate.simulate(chain, q, 0 * v, 0.01, 50, drive=holding)
    assert_allclose(still.q[-1], q, atol=1e-12)
    moving = simulate.simulate(chain, q, v, 0.005, 100, drive=holding)
    kinetic = [planar.kinetic_energy(ARM, a, b) for a, b in zip(moving.q, moving.v, strict=True)]
    assert_allclose(kinetic, np.broadcast_to(kinetic[0], np.shape(kinetic)), atol=1e-6)
    assert np.abs(moving.q[-1, 0] - q[0]).max() > 0.2


def test_computed_torques_follow_the_motion_that_they_are_computed_for() -> None:
    """Inverse dynamics along q(t), fed forward, returns it; feedback on top of it brings an error back as designed."""
    chain, rate = simulate.of_chain(ARM), 2.0

    def wanted(t: float) -> tuple[np.ndarray, ...]:
        q0, size = START[0][:1], np.array([[0.4, -0.3, 0.5]])
        return q0 + size * np.sin(rate * t), rate * size * np.cos(rate * t), -(rate**2) * size * np.sin(rate * t)

    def ahead(t: float, *_: np.ndarray) -> np.ndarray:
        return planar.inverse_dynamics(ARM, *wanted(t))

    path = simulate.simulate(chain, *wanted(0.0)[:2], 0.005, 100, drive=ahead)
    assert_allclose(path.q[-1], wanted(0.5)[0], atol=1e-5)

    def computed(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        at, moving, acceleration = wanted(t)
        return planar.inverse_dynamics(ARM, q, v, acceleration + 100 * (at - q) + 20 * (moving - v))

    off = 0.1
    path = simulate.simulate(chain, wanted(0.0)[0] + off, wanted(0.0)[1], 0.005, 100, drive=computed)
    # e'' + 20 e' + 100 e = 0, critically damped: e = off (1 + 10 t) e^{-10 t}.
    for k in (20, 100):
        t = path.t[k]
        assert_allclose(path.q[k] - wanted(t)[0], off * (1 + 10 * t) * np.exp(-10 * t), atol=2e-5)


def test_quaternions_and_matrices_leave_their_group_unless_they_are_brought_back() -> None:
    """Integrated without normalisation the norm drifts with the fourth power of the step; products of R lose R^T R."""
    omega = np.array([[3.0, -4.0, 5.0]])

    def rate(quat: np.ndarray) -> np.ndarray:
        return quaternion_product(quat, np.concatenate([[[0.0]], omega], axis=1)) / 2

    drift = []
    for count in (50, 100):
        quat, h = np.array([[1.0, 0, 0, 0]]), 2.0 / count
        for _ in range(count):
            k1 = rate(quat)
            k2 = rate(quat + h / 2 * k1)
            k3 = rate(quat + h / 2 * k2)
            quat = quat + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(quat + h * k3))
        drift.append(abs(np.linalg.norm(quat) - 1))
    assert drift[1] > 1e-9
    assert drift[0] / drift[1] > 15
    R = rotation_from_quaternion(np.array([0.9, 0.1, -0.3, 0.2]) / np.sqrt(0.95)).astype(np.float32)
    product = np.eye(3, dtype=np.float32)
    for _ in range(20000):
        product = product @ R
    assert np.abs(product.T @ product - np.eye(3)).max() > 100 * np.finfo(np.float32).eps


def test_differentiating_measurements_amplifies_their_noise() -> None:
    """Second differences of noise sigma have sigma sqrt(6) / h^2: halving the time between samples makes it four."""
    rng = np.random.default_rng(3)
    sigma, found = 1e-5, []
    for h in (0.01, 0.005):
        t = np.arange(0, 100, h)
        truth = 0.3 * np.sin(t)
        measured = truth + sigma * rng.normal(size=t.shape)
        second = (measured[2:] - 2 * measured[1:-1] + measured[:-2]) / h**2
        found.append((second + truth[1:-1]).std())
        assert_allclose(found[-1], sigma * np.sqrt(6) / h**2, rtol=0.05)
    assert_allclose(found[1] / found[0], 4, rtol=0.07)


def test_delivery_at_an_event_depends_on_the_limits_of_the_motors_and_converges_with_the_step() -> None:
    """Speed of the tip where the upper arm hangs down: to the step^3 or better, later and slower with weak motors."""
    chain = simulate.of_chain(ARM)
    q, v = np.array([[0.9, 0.3, 0.2]]), np.zeros((1, 3))

    def delivery(limit: float, count: int) -> tuple[float, float]:
        def drive(*_: object) -> np.ndarray:
            return np.clip(np.array([[-12.0, -4.0, -1.0]]), -limit, limit)

        path = simulate.simulate(chain, q, v, 0.9 / count, count, drive=drive)
        whole = path.q[:, 0, 0] + np.pi / 2
        k = int(np.flatnonzero((whole[:-1] > 0) & (whole[1:] <= 0))[0])
        # The event, by Hermite interpolation of state and rate between the two instants.
        h, rates = path.t[1], path.v[:, 0, 0]
        c = CubicEvent(whole[k], whole[k + 1], h * rates[k], h * rates[k + 1])
        s = c.root()
        late = simulate.simulate(chain, path.q[k], path.v[k], s * h, 1, drive=drive)
        joints = [planar.positions(ARM, late.q[-1] + late.v[-1] * d)[0][0, -1] for d in (-1e-5, 1e-5)]
        return (k + s) * h, float(np.linalg.norm(joints[1] - joints[0]) / 2e-5)

    strong = [delivery(100.0, count) for count in (30, 60, 120, 480)]
    errors = np.abs(np.array(strong[:3]) - strong[3])
    assert (errors[0] > 6 * errors[1]).all()
    assert (errors[1] > 6 * errors[2]).all()
    weak = delivery(3.0, 480)
    assert weak[0] > strong[3][0] + 0.02
    assert weak[1] < strong[3][1] - 0.5


class CubicEvent:
    """A cubic on 0..1 by its ends and its slopes there."""

    def __init__(self, a: float, b: float, da: float, db: float) -> None:
        self.coefficients = [2 * a - 2 * b + da + db, -3 * a + 3 * b - 2 * da - db, da, a]

    def root(self) -> float:
        """Return where it is zero, from 0 to 1."""
        found = np.roots(self.coefficients)
        return float(next(x.real for x in found if abs(x.imag) < 1e-9 and -1e-12 <= x.real <= 1 + 1e-12))
