"""Planar chains by forces and by energies: the worked examples of the texts, and the two routes against each other."""

from __future__ import annotations

from dataclasses import replace

import closed_forms as cf
import numpy as np
import pytest
from numpy.testing import assert_allclose

from tautology.adapters.reference import Reference
from tautology.adapters.textbook import planar, planar_lagrange, planar_tree
from tautology.adapters.textbook.planar import PlanarChain
from tautology.harness.errors import ShapeError, TreeError
from tautology.harness.spatial import spatial_inertia

STATE = (cf.THREE_LINKS_Q, cf.THREE_LINKS_QD, cf.THREE_LINKS_QDD)
THREE_LINKS = PlanarChain(*cf.THREE_LINKS)
# The third link as the text says it: a rod without mass, and a point mass at its end.
WITH_TIP_MASS = replace(THREE_LINKS, masses=np.array([1.0, 0.5, 0.0]), tip_mass=0.2)
TWO_RODS = planar.uniform_rods(np.ones(2), np.ones(2))
ARM = PlanarChain(*cf.PLANAR_ARM)


def states(seed: int, count: int, n: int) -> tuple[np.ndarray, ...]:
    """Return q over the whole turn, v, a and tip forces."""
    rng = np.random.default_rng(seed)
    q, v, a = rng.uniform(-1, 1, (3, count, n))
    return np.pi * q, 2 * v, 3 * a, rng.uniform(-5, 5, (count, 2))


# --- The three links --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("chain", [THREE_LINKS, WITH_TIP_MASS], ids=["link 3 has mass", "tip mass"])
def test_the_printed_efforts_of_three_links_and_their_parts(chain: PlanarChain) -> None:
    """Tau, gravity, velocity and acceleration parts, by the recursion, to the printed digits."""
    q, v, a = STATE
    rest, weightless = np.zeros(3), replace(chain, gravity=np.zeros(2))
    found = [
        planar.inverse_dynamics(chain, q, v, a),
        planar.inverse_dynamics(chain, q, rest, rest),
        planar.inverse_dynamics(weightless, q, v, rest),
        planar.inverse_dynamics(weightless, q, rest, a),
    ]
    printed = [cf.THREE_LINKS_TAU, cf.THREE_LINKS_GRAVITY, cf.THREE_LINKS_VELOCITY_PRODUCT, cf.THREE_LINKS_INERTIAL]
    for value, expected in zip(found, printed, strict=True):
        assert_allclose(value, expected, rtol=0, atol=cf.PRINTED)
    assert_allclose(found[0], sum(found[1:]), atol=1e-14)
    # What the figure of the parts says of them.
    assert found[1][0] > found[3][0] > -found[2][0] > 0
    assert found[1][2] < found[3][2] < 1.15 * found[1][2]


@pytest.mark.parametrize("route", [planar_lagrange.by_differences, planar_lagrange.by_christoffel])
def test_the_printed_parts_of_three_links_by_energy(route) -> None:
    """The same digits from Lagrange's equations; differences agree with the recursion within the 1e-8 of the text."""
    q, v, a = STATE
    terms = route(WITH_TIP_MASS, q, v)
    assert_allclose(terms.gravity, cf.THREE_LINKS_GRAVITY, rtol=0, atol=cf.PRINTED)
    assert_allclose(terms.velocity, cf.THREE_LINKS_VELOCITY_PRODUCT, rtol=0, atol=cf.PRINTED)
    assert_allclose(terms.M @ a, cf.THREE_LINKS_INERTIAL, rtol=0, atol=cf.PRINTED)
    assert_allclose(terms.efforts(a), planar.inverse_dynamics(WITH_TIP_MASS, q, v, a), rtol=0, atol=1e-8)


def test_rates_and_accelerations_of_three_links_add_up() -> None:
    """Cumulative rates (0.5, 0.8, 1.0) and accelerations (1, 1.5, 1.6)."""
    motion = planar.outward(THREE_LINKS, *STATE)
    assert_allclose(motion.omega, [0.5, 0.8, 1.0], rtol=1e-15)
    assert_allclose(motion.alpha, [1, 1.5, 1.6], rtol=1e-15)


def test_a_point_mass_has_no_regular_spatial_inertia_but_a_regular_mass_matrix() -> None:
    """The end point leaves the six-dimensional inertia of its link singular, and M of the plane positive definite."""
    tree = planar_tree.embedded(THREE_LINKS)
    held = tree.bodies[3].inertia
    I = spatial_inertia(np.array(held.mass), held.com, held.I_com)
    assert np.linalg.matrix_rank(I) == 3
    M = planar_lagrange.by_christoffel(THREE_LINKS, *STATE[:2]).M
    assert np.linalg.eigvalsh(M).min() > 0.01


def test_the_cylinder_chain_has_its_printed_efforts_and_comes_back() -> None:
    """(13.447676, 1.977061, 0.315835) by the plane and in space; forward dynamics returns the acceleration to 1e-11."""
    chain = PlanarChain(*cf.CYLINDERS)
    axial, transverse = cf.cylinder_moments(chain.masses, chain.lengths, cf.CYLINDERS_RADIUS)
    assert_allclose(planar.inverse_dynamics(chain, *STATE), cf.CYLINDERS_TAU, rtol=0, atol=cf.PRINTED)
    reference = Reference(planar_tree.embedded(chain, other_moments=np.stack([axial, transverse], axis=1)))
    q, v, a = (x[None] for x in STATE)
    tau = reference.inverse_dynamics(q, v, a)
    assert_allclose(tau[0], cf.CYLINDERS_TAU, rtol=0, atol=cf.PRINTED)
    assert_allclose(reference.forward_dynamics(q, v, tau), a, rtol=0, atol=1e-11)


# --- Two uniform rods -------------------------------------------------------------------------------------------------
def test_two_rods_at_zero_have_the_printed_efforts() -> None:
    """(21.12, 5.388333) = gravity (19.62, 4.905) + acceleration (1.5, 0.483333), velocity products zero."""
    q, v, a = cf.TWO_RODS_Q, cf.TWO_RODS_QD, cf.TWO_RODS_QDD
    rest, weightless = np.zeros(2), replace(TWO_RODS, gravity=np.zeros(2))
    assert_allclose(planar.inverse_dynamics(TWO_RODS, q, v, a), cf.TWO_RODS_TAU, rtol=0, atol=cf.PRINTED)
    assert_allclose(planar.inverse_dynamics(TWO_RODS, q, rest, rest), cf.TWO_RODS_GRAVITY, rtol=0, atol=cf.PRINTED)
    assert_allclose(planar.inverse_dynamics(weightless, q, rest, a), cf.TWO_RODS_INERTIAL, rtol=0, atol=cf.PRINTED)
    assert_allclose(planar.inverse_dynamics(weightless, q, v, rest), 0, atol=1e-15)
    # The net effect vanishes, what it is made of does not.
    assert_allclose(planar.outward(weightless, q, v, rest).centripetal[:, 0], [-0.5, -1.125])


@pytest.mark.parametrize(("q", "v", "a"), cf.TWO_RODS_STATES)
def test_two_rods_have_their_closed_forms_where_nothing_is_symmetric(q, v, a) -> None:
    """M, velocity products and gravity, by the recursion and by both Lagrangian routes."""
    weightless = replace(TWO_RODS, gravity=np.zeros(2))
    rest = np.zeros(2)
    M = np.stack([planar.inverse_dynamics(weightless, q, rest, e) for e in np.eye(2)], axis=-1)
    assert_allclose(M, cf.two_rods_mass_matrix(q), atol=1e-15)
    assert_allclose(planar.inverse_dynamics(weightless, q, v, rest), cf.two_rods_velocity_product(q, v), atol=1e-14)
    assert_allclose(planar.inverse_dynamics(TWO_RODS, q, rest, rest), cf.two_rods_gravity(q), atol=1e-14)
    assert_allclose(planar.inverse_dynamics(TWO_RODS, q, v, a), cf.two_rods_effort(q, v, a), atol=1e-14)
    assert_allclose(planar.potential_energy(TWO_RODS, q), cf.two_rods_potential(q), atol=1e-14)
    for route, atol in ((planar_lagrange.by_christoffel, 1e-14), (planar_lagrange.by_differences, 1e-8)):
        assert_allclose(route(TWO_RODS, q, v).M, cf.two_rods_mass_matrix(q), atol=atol)
        assert_allclose(route(TWO_RODS, q, v).efforts(a), cf.two_rods_effort(q, v, a), atol=atol)


def test_rods_are_no_point_masses() -> None:
    """Leaving out the central moments takes 1/6, 1/12 and 1/12 from M."""
    q = cf.TWO_RODS_STATES[0][0]
    points = replace(TWO_RODS, moments=np.zeros(2))
    M = planar_lagrange.by_christoffel(points, q, np.zeros(2)).M
    assert_allclose(cf.two_rods_mass_matrix(q) - M, np.array([[2, 1], [1, 1]]) / 12, atol=1e-15)


# --- The recursion against space, against energy, and against itself ---------------------------------------------
@pytest.mark.parametrize("thick", [False, True], ids=["zz alone", "all moments"])
@pytest.mark.parametrize("chain", [ARM, WITH_TIP_MASS], ids=["arm", "tip mass"])
def test_planar_and_spatial_recursion_agree(chain: PlanarChain, thick: bool) -> None:
    """300 random states with tip forces, to 3e-14."""
    q, v, a, force = states(0, 300, 3)
    tree = planar_tree.embedded(chain, other_moments=np.full((3, 2), 0.05) if thick else None)
    spatial = Reference(tree).inverse_dynamics(q, v, a, planar_tree.tip_wrenches(chain, q, force))
    found = planar.inverse_dynamics(chain, q, v, a, force)
    assert np.abs(found - spatial).max() <= 3e-14
    assert np.abs(found).max() > 10


def test_the_recursion_agrees_with_christoffel_symbols() -> None:
    """300 random states with tip forces, to the same 3e-14: the routes share no intermediate step."""
    q, v, a, force = states(1, 300, 3)
    by_energy = planar_lagrange.by_christoffel(ARM, q, v).efforts(a, force)
    assert np.abs(planar.inverse_dynamics(ARM, q, v, a, force) - by_energy).max() <= 3e-14


def test_halving_the_step_of_the_differences_divides_their_error_by_sixteen() -> None:
    """Fourth-order differences, in longdouble so that rounding stays out of the way."""
    q, v, a, force = (x.astype(np.longdouble) for x in states(2, 40, 3))
    exact = planar.inverse_dynamics(ARM, q, v, a, force)
    assert exact.dtype == np.longdouble
    errors = [
        np.abs(planar_lagrange.by_differences(ARM, q, v, 0.04 / 2**k).efforts(a, force) - exact).max() for k in range(4)
    ]
    ratios = np.array(errors[:-1], float) / np.array(errors[1:], float)
    assert_allclose(ratios, 16, rtol=0.05)


def test_mdot_minus_twice_c_is_skew_with_christoffel_symbols() -> None:
    """Mdot = sum dM/dq_k v_k; the symmetric part of Mdot - 2C is zero to rounding."""
    q, v, _, _ = states(3, 50, 3)
    dM = planar_lagrange.mass_matrix_derivative(ARM, q)
    N = (dM @ v[:, None, :, None])[..., 0] - 2 * planar_lagrange.coriolis_matrix(dM, v)
    assert np.abs(N).max() > 0.1
    assert np.abs(N + N.swapaxes(-1, -2)).max() < 1e-14


def test_accelerations_of_the_outward_pass_are_those_of_the_points() -> None:
    """Inherited, tangential and centripetal parts add up to the second derivative of the positions, minus g."""
    q, v, a, _ = states(4, 20, 3)
    motion = planar.outward(ARM, q, v, a)
    h = 1e-3
    path = [planar.positions(ARM, q + v * t + a * t**2 / 2) for t in h * np.arange(-2, 3)]
    weights = np.array([-1, 16, -30, 16, -1]) / (12 * h**2)
    joints, centres = (sum(w * p[k] for w, p in zip(weights, path, strict=True)) for k in (0, 1))
    assert_allclose(motion.joints + ARM.gravity, joints, atol=1e-7)
    assert_allclose(motion.centres + ARM.gravity, centres, atol=1e-7)
    assert_allclose(motion.joints[:, :-1] + motion.euler + motion.centripetal, motion.centres, atol=1e-13)
    # Tangential parts stand across the link, centripetal parts point at the axis.
    assert_allclose((motion.euler * motion.along).sum(-1), 0, atol=1e-13)
    assert ((motion.centripetal * motion.along).sum(-1) <= 0).all()


def test_every_link_is_in_balance() -> None:
    """f_i - f_{i+1} + m g = m a, and Euler's equation about the centre of mass, link by link."""
    q, v, a, tip = states(5, 20, 3)
    motion = planar.outward(ARM, q, v, a)
    found = planar.inward(ARM, motion, tip)
    true = motion.centres + ARM.gravity
    mass = ARM.masses[:, None]
    assert_allclose(found.forces[:, :-1] - found.forces[:, 1:] + mass * ARM.gravity, mass * true, atol=1e-13)
    assert_allclose(found.forces[:, -1], tip)
    moments = np.concatenate([found.tau, np.zeros((20, 1))], axis=1)
    r, rc = ARM.lengths[:, None] * motion.along, ARM.centres[:, None] * motion.along
    arms = planar.cross(-rc, found.forces[:, :-1]) + planar.cross(r - rc, -found.forces[:, 1:])
    assert_allclose(moments[:, :-1] - moments[:, 1:] + arms, ARM.moments * motion.alpha, atol=1e-13)


# --- What the texts say in passing ------------------------------------------------------------------------------------
def test_at_rest_a_joint_holds_up_what_is_beyond_it() -> None:
    """f_i is the weight of the links from i on; a level uniform rod needs m g L / 2."""
    rest = np.zeros(3)
    found = planar.inward(ARM, planar.outward(ARM, cf.PLANAR_ARM_Q, rest, rest))
    weights = np.cumsum(ARM.masses[::-1])[::-1] * cf.G
    assert_allclose(found.forces[:-1], np.stack([rest, weights], axis=1), atol=1e-14)
    rod = planar.uniform_rods(np.array([cf.HORIZONTAL_ROD_L]), np.array([cf.HORIZONTAL_ROD_M]))
    assert_allclose(planar.inverse_dynamics(rod, *np.zeros((3, 1))), cf.HORIZONTAL_ROD_TAU, rtol=1e-15)


def test_the_arm_over_the_centre_of_mass_is_the_parallel_axis_term() -> None:
    """A rod about its end resists with m L^2 / 3; with that moment in the recursion, m L^2 / 4 is counted twice."""
    rod = replace(planar.uniform_rods(np.array([1.5]), np.array([2.4])), gravity=np.zeros(2))
    still, unit = np.zeros(1), np.ones(1)
    assert_allclose(planar.inverse_dynamics(rod, still, still, unit), 2.4 * 1.5**2 / 3, rtol=1e-15)
    twice = replace(rod, moments=np.array([2.4 * 1.5**2 / 3]))
    excess = planar.inverse_dynamics(twice, still, still, unit) - 2.4 * 1.5**2 / 3
    assert_allclose(excess, 2.4 * 1.5**2 / 4, rtol=1e-14)


def test_gravity_across_the_plane_asks_nothing() -> None:
    """Along -z, gravity has no part in the plane and no moment about any axis."""
    tree = replace(planar_tree.embedded(THREE_LINKS), gravity=np.array([0, 0, -9.81]))
    assert_allclose(Reference(tree).gravity_forces(cf.THREE_LINKS_Q[None]), 0, atol=1e-15)


def test_a_tip_force_is_held_by_the_jacobian() -> None:
    """Links without mass: tau = J_tip^T F, and every joint hands the same force on."""
    chain = replace(ARM, masses=np.zeros(3), moments=np.zeros(3))
    q, v, a, force = states(6, 10, 3)
    found = planar.inward(chain, planar.outward(chain, q, v, a), force)
    assert_allclose(found.forces, np.broadcast_to(force[:, None], (10, 4, 2)))
    J = planar_lagrange.by_differences(chain, q, v).J_tip
    assert_allclose(found.tau, (force[:, None] @ J)[:, 0], atol=1e-8)


def test_energies_are_those_of_space() -> None:
    """Kinetic and potential energy against the spatial reference, tip mass included."""
    q, v, _, _ = states(7, 20, 3)
    reference = Reference(planar_tree.embedded(WITH_TIP_MASS))
    assert_allclose(planar.kinetic_energy(WITH_TIP_MASS, q, v), reference.kinetic_energy(q, v), rtol=1e-13)
    assert_allclose(planar.potential_energy(WITH_TIP_MASS, q), reference.potential_energy(q), atol=1e-13)


def test_a_chain_that_is_none_is_refused_with_every_fault() -> None:
    """Negative numbers, numbers that are none, and arrays of another length."""
    with pytest.raises(TreeError, match=r"masses are negative.*moments are not finite"):
        PlanarChain(np.ones(1), np.array([-1.0]), np.ones(1), np.array([np.nan]))
    with pytest.raises(TreeError, match="no link"):
        PlanarChain(*np.zeros((4, 0)))
    with pytest.raises(ShapeError, match="masses of a planar chain"):
        PlanarChain(np.ones(2), np.ones(1), np.ones(2), np.ones(2))
    with pytest.raises(ShapeError, match=r"a planar chain of 3 links needs \(\.\.\., 3\)"):
        planar.inverse_dynamics(ARM, np.zeros(2), np.zeros(3), np.zeros(3))
