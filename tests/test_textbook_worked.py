"""Planar chains of the texts: inertias, closed forms of any two links, which part leads, and a wrong statement."""

from __future__ import annotations

from dataclasses import replace

import closed_forms as cf
import numpy as np
from numpy.testing import assert_allclose

from tautology.adapters.textbook import planar, planar_lagrange
from tautology.adapters.textbook.planar import PlanarChain
from tautology.harness.spatial import inverse, motion_cross, motion_transform, transform

STATE = (cf.THREE_LINKS_Q, cf.THREE_LINKS_QD, cf.THREE_LINKS_QDD)
THREE_LINKS = PlanarChain(*cf.THREE_LINKS)
TWO_RODS = planar.uniform_rods(np.ones(2), np.ones(2))
ARM = PlanarChain(*cf.PLANAR_ARM)


def test_planar_inertias_about_the_joints() -> None:
    """I + m c^2 of the three links: 0.333, 0.107 and 0.072; of the uniform rods that they round, 1/3 and 0.32/3."""
    about_joint = THREE_LINKS.moments + THREE_LINKS.masses * THREE_LINKS.centres**2
    assert_allclose(about_joint, [0.333, 0.107, 0.072], rtol=1e-12)
    for i in range(3):  # turned alone about its own joint, a link resists with that
        alone = PlanarChain(*(x[i : i + 1] for x in cf.THREE_LINKS), gravity=np.zeros(2))
        assert_allclose(planar.inverse_dynamics(alone, np.zeros(1), np.zeros(1), np.ones(1)), about_joint[i])
    rods = planar.uniform_rods(THREE_LINKS.lengths, THREE_LINKS.masses)
    assert_allclose(rods.moments[:2].round(3), THREE_LINKS.moments[:2], rtol=1e-12)
    # It is no arm of three uniform rods: that one needs less at every joint.
    efforts = planar.inverse_dynamics(rods, *STATE)
    assert (np.array(cf.THREE_LINKS_TAU) - efforts > 0.2).all()


def test_rounded_angles_are_another_problem() -> None:
    """0.524 and 0.785 rad are 30.02 and 44.98 degrees: at 30 and 45 degrees the efforts differ in the third decimal."""
    assert_allclose(np.degrees(cf.THREE_LINKS_Q), [30, 45, 0], atol=0.03)
    degrees = np.radians([30.0, 45.0, 0.0])
    difference = planar.inverse_dynamics(THREE_LINKS, degrees, *STATE[1:]) - cf.THREE_LINKS_TAU
    assert 1e-5 < np.abs(difference).min() < 1e-3 < np.abs(difference).max() < 3e-3


def test_which_part_is_largest_depends_on_pose_and_acceleration() -> None:
    """Hanging, gravity asks nothing; accelerated less, joint 3 is gravity's; faster, velocity products lead."""
    q, v, a = STATE
    for at, rate, wanted, order in (
        (q, v, a, ["gravity", "acceleration", "velocity"]),
        (np.array([-np.pi / 2, 0, 0]), v, a, ["acceleration", "gravity", "velocity"]),
        (np.array([-np.pi / 2, 0.8, 0.5]), 8 * v, 0.1 * a, ["velocity", "gravity", "acceleration"]),
    ):
        terms = planar_lagrange.by_christoffel(THREE_LINKS, at, rate)
        sizes = {"gravity": terms.gravity[0], "velocity": terms.velocity[0], "acceleration": (terms.M @ wanted)[0]}
        found = sorted(sizes, key=lambda name: -abs(sizes[name]))
        assert found[0] == order[0]
    less = planar_lagrange.by_christoffel(THREE_LINKS, q, v)
    assert (less.M @ (a / 2))[2] < less.gravity[2] < (less.M @ a)[2]


def test_centres_of_the_rods_and_the_closed_form_of_any_two_links() -> None:
    """Centres e_1 / 2 and e_1 + e_12 / 2; M, velocity products and gravity with m, L, c and I restored."""
    q, v, a = cf.TWO_RODS_STATES[0]
    e1, e12 = (np.array([np.cos(x), np.sin(x)]) for x in (q[0], q[0] + q[1]))
    assert_allclose(planar.positions(TWO_RODS, q)[1], [e1 / 2, e1 + e12 / 2], atol=1e-15)
    rng = np.random.default_rng(8)
    for _ in range(5):
        (L1, _), (m1, m2), (c1, c2), (I1, I2) = lengths, masses, centres, moments = rng.uniform(0.2, 1.5, (4, 2))
        chain = PlanarChain(lengths, masses, centres, moments)
        q, v, a = rng.uniform(-3, 3, (3, 2))
        x = m2 * L1 * c2
        far, c, s = I2 + m2 * c2**2, np.cos(q[1]), np.sin(q[1])
        M = [[I1 + m1 * c1**2 + m2 * L1**2 + far + 2 * x * c, far + x * c], [far + x * c, far]]
        b = x * s * np.array([-2 * v[0] * v[1] - v[1] ** 2, v[0] ** 2])
        distal = m2 * c2 * np.cos(q.sum())
        G = cf.G * np.array([(m1 * c1 + m2 * L1) * np.cos(q[0]) + distal, distal])
        assert_allclose(planar.inverse_dynamics(chain, q, v, a), M @ a + b + G, rtol=1e-12, atol=1e-12)


def test_the_centre_of_mass_is_pulled_inward_where_the_joint_stands_still() -> None:
    """Link 1 turns steadily about a fixed joint: spatial acceleration 0, and yet omega^2 c towards the axis."""
    chain = replace(THREE_LINKS, gravity=np.zeros(2))
    q, v = cf.THREE_LINKS_Q, cf.THREE_LINKS_QD
    motion = planar.outward(chain, q, v, np.zeros(3))
    assert_allclose(motion.joints[0], 0)
    assert_allclose(motion.centres[0], -(0.5**2) * 0.5 * motion.along[0], atol=1e-15)


def test_the_velocity_product_of_centre_of_mass_frames_is_not_the_centripetal_term() -> None:
    """The lesson says so of ad_V A rate in the plane; it is rate_i sum of omega_j r_j, j < i, and 0 at joint 1.

    The centripetal acceleration of the centre of mass is the omega x v between spatial and ordinary acceleration: of
    link 1 it is 0.125 m/s^2 where ad_V A rate is 0.
    """
    weightless = replace(planar.uniform_rods(THREE_LINKS.lengths, THREE_LINKS.masses), gravity=np.zeros(2))
    q, v = cf.THREE_LINKS_Q, cf.THREE_LINKS_QD
    omega = np.cumsum(v)
    motion = planar.outward(weightless, q, v, np.zeros(3))
    twist, spatial, arm, before = np.zeros(6), np.zeros(6), 0.0, np.zeros(3)
    for i in range(3):
        half = weightless.lengths[i] / 2
        c, s = np.cos(q[i]), np.sin(q[i])
        R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])  # of link i in link i - 1
        X = motion_transform(inverse(transform(R, [arm, 0, 0] + R @ [half, 0, 0])))
        A = np.array([0, 0, 1, 0, half, 0])
        twist = X @ twist + A * v[i]
        product = motion_cross(twist) @ A * v[i]
        spatial = X @ spatial + product
        before = R.T @ before
        assert_allclose(product[:3], 0, atol=1e-15)
        assert_allclose(product[3:], v[i] * before, atol=1e-15)
        before = before + omega[i] * np.array([weightless.lengths[i], 0, 0])
        theta = q[: i + 1].sum()
        world = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
        ordinary = spatial[3:] + np.cross(twist[:3], twist[3:])
        assert_allclose(world @ ordinary[:2], motion.centres[i], atol=1e-15)
        # No gyroscopic moment in the plane: omega is along an axis of the inertia.
        I = np.diag([0.3, 0.2, 0.1])
        assert_allclose(np.cross(twist[:3], I @ twist[:3]), 0, atol=1e-15)
        if i == 0:
            assert_allclose(product, 0, atol=1e-17)
            assert_allclose(np.linalg.norm(motion.centripetal[0]), 0.125)
        arm = half


def test_a_contact_force_is_read_out_of_the_efforts() -> None:
    """What motors give beyond the inverse dynamics of the free arm is J^T F: solved for F, it is the tip's."""
    rng = np.random.default_rng(9)
    q, v, a = rng.uniform(-2, 2, (3, 20, 3))
    force = rng.uniform(-5, 5, (20, 2))
    measured = planar.inverse_dynamics(ARM, q, v, a, force)
    excess = measured - planar.inverse_dynamics(ARM, q, v, a)
    for k in range(20):
        joints, _ = planar.positions(ARM, q[k])
        arms = joints[-1] - joints[:-1]
        J = np.stack([-arms[:, 1], arms[:, 0]])
        assert_allclose(np.linalg.lstsq(J.T, excess[k], rcond=None)[0], force[k], rtol=1e-9)
