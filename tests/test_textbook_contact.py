"""Compliant contact and impact: closed forms of one mass, work, refinement of the step, momentum and energy."""

from __future__ import annotations

import numpy as np
import pytest
from constrained_robots import closed_four_bar
from numpy.testing import assert_allclose

from tautology.adapters.reference import Reference
from tautology.adapters.textbook import assembly, floating
from tautology.adapters.textbook.contact import Contact, Law, effective_mass, land
from tautology.adapters.textbook.impact import strike
from tautology.harness.errors import RequestError
from tautology.harness.joint import JointKind
from tautology.harness.states import sample
from tautology.harness.tree import Body, Inertia, Joint, Tree, world

MASS, STIFFNESS, SPEED = 2.0, 800.0, 1.5
UP = np.array([0, 0, 1.0])
BALL = Tree("ball", (world(), Body("ball", 0, Joint("z", JointKind.PRISMATIC), Inertia(MASS))), gravity=np.zeros(3))
FLOOR = Contact("ball", np.zeros(3), UP, np.zeros(3))
OMEGA = np.sqrt(STIFFNESS / MASS)


def bounced(law: Law, steps: int, seconds: float = 1.3 * np.pi / OMEGA):
    """Return a ball that meets the floor at SPEED without gravity, from the moment it touches."""
    return land(BALL, [FLOOR], law, np.zeros(1), np.array([-SPEED]), seconds / steps, steps)


def test_a_spring_returns_the_speed_after_half_a_period() -> None:
    """Largest force v sqrt(k m), contact time pi sqrt(m / k), all energy back, by the closed form of an oscillator."""
    path = bounced(Law(STIFFNESS), 650)
    touching = path.t < np.pi / OMEGA
    assert_allclose(path.q[touching, 0], -SPEED / OMEGA * np.sin(OMEGA * path.t[touching]), atol=1e-9)
    assert_allclose(path.forces.max(), SPEED * np.sqrt(STIFFNESS * MASS), rtol=1e-5)
    assert_allclose(path.v[-1], SPEED, rtol=1e-6)
    assert_allclose(path.lost[-1], 0, atol=1e-6)
    assert_allclose(effective_mass(BALL, FLOOR, np.zeros((1, 1))), MASS)


def test_a_damper_that_may_not_pull_gives_the_restitution_of_its_closed_form() -> None:
    """z = c / (2 sqrt(k m)): the force ends at tan(w t) = ..., and e follows from the oscillation up to there."""
    z = 0.2
    path = bounced(Law(STIFFNESS, 2 * z * np.sqrt(STIFFNESS * MASS)), 1500)
    w = OMEGA * np.sqrt(1 - z * z)
    # The force vanishes with the acceleration of x = -v/w exp(-z W t) sin(w t), at w t = atan2(2 z root, 2 z z - 1).
    end = np.arctan2(2 * z * np.sqrt(1 - z * z), 2 * z * z - 1) / w
    e = np.exp(-z * OMEGA * end) * (z * OMEGA / w * np.sin(w * end) - np.cos(w * end))
    # The first of the four slopes of the first step is at gap 0, without the damper's force: its impulse is missing.
    missing = path.t[1] / 6 * 2 * z * OMEGA
    assert_allclose(path.v[-1, 0] / SPEED / e - 1, missing, rtol=1e-3)
    assert (path.forces >= 0).all()
    assert (np.diff(path.lost) > -1e-9).all()
    # What is lost is the jump of the kinetic energy, and the residual compression where the force ended.
    assert_allclose(
        path.lost[-1] + path.stored[-1], MASS * SPEED**2 / 2 * (1 - (path.v[-1, 0] / SPEED) ** 2), rtol=1e-6
    )
    pulling = Law(STIFFNESS, 100.0)
    assert pulling.force(np.array([-1e-3, 1e-3]), np.array([1.0, -1.0])).tolist() == [0, 0]


def test_refinement_shows_the_order_and_where_it_is_lost() -> None:
    """While the spring is pressed the balance falls with step^4 or faster; across the edge of contact, slower."""
    law = Law(STIFFNESS)
    inside = [np.abs(bounced(law, steps, 0.9 * np.pi / OMEGA).unbalanced).max() for steps in (20, 40)]
    assert inside[0] / inside[1] > 15
    final = [abs(bounced(law, steps).v[-1, 0] - SPEED) for steps in (25, 50, 100, 200)]
    assert final[3] < final[0] / 10
    peaks = [bounced(law, steps).forces.max() for steps in (20, 200)]
    exact = SPEED * np.sqrt(STIFFNESS * MASS)
    assert abs(peaks[1] - exact) < abs(peaks[0] - exact) / 10
    nothing = Tree("no mass", (world(), Body("ball", 0, Joint("z", JointKind.PRISMATIC))))
    with pytest.raises(RequestError, match=r"no motion at t = 0 s: the step 0\.1 s is too long, or a joint moves no"):
        land(nothing, [FLOOR], law, np.zeros(1), np.zeros(1), 0.1, 1)


def test_a_falling_humanoid_keeps_its_account() -> None:
    """Two feet on a Hunt-Crossley floor: unbalanced energy is small and falls with the step, forces never pull."""
    tree = floating.humanoid()
    q = np.array(tree.neutral)
    q[2] = 1.03
    feet = [Contact(f"{side}_foot", np.array([0.04, 0, -0.08]), UP, np.zeros(3)) for side in ("left", "right")]
    law = Law(2e5, 2e5, 1.5, 1.5)
    paths = [land(tree, feet, law, q, np.zeros(30), 0.16 / n, n) for n in (40, 80)]
    assert paths[0].forces.max() > 100
    assert all((path.forces >= 0).all() for path in paths)
    loss = [np.abs(path.unbalanced).max() for path in paths]
    assert loss[1] < loss[0] / 4
    assert loss[1] < 1e-3 * paths[1].energy[0]
    assert paths[1].lost[-1] > 0.1


# --- Impact -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_one_contact_loses_what_its_effective_mass_says(e) -> None:
    """P = (1 + e) m_eff |v_n|, and the kinetic energy falls by (1 - e^2) m_eff v_n^2 / 2, on a robot of many dofs."""
    tree = floating.humanoid()
    states = sample(tree, 12, 3)
    contact = Contact("left_foot", np.array([0.1, 0.02, -0.08]), np.array([0.2, -0.1, 1]), np.zeros(3))
    q, v = states.q[11], np.array(states.v[11])
    rate = contact.geometry(tree, q[None], v[None])[1][0]
    v = v if rate < 0 else -v
    mass, rate = effective_mass(tree, contact, q[None])[0], -abs(rate)
    found = strike(tree, [contact], q, v, e)
    assert_allclose(found.impulses, [-(1 + e) * mass * rate], rtol=1e-9)
    assert_allclose(found.energy, -(1 - e * e) * mass * rate**2 / 2, rtol=1e-6, atol=1e-9 * mass * rate**2)
    assert_allclose(found.work, found.energy, atol=1e-9 * mass * rate**2)
    assert_allclose(
        contact.geometry(tree, q[None], found.after[None])[1], [-e * rate], rtol=1e-8, atol=1e-9 * abs(rate)
    )
    reference = Reference(tree)
    jump = [reference.momentum(q[None], x[None])[0, 0] for x in (v, found.after)]
    n = contact.normal / np.linalg.norm(contact.normal)
    T = reference.all_poses(q[None])[0, tree.index["left_foot"]]
    point = T[:3, :3] @ contact.point + T[:3, 3]
    impulse = found.impulses[0] * np.concatenate([np.cross(point, n), n])
    assert_allclose(jump[1] - jump[0], impulse, atol=1e-9 * np.abs(impulse).max())


def test_parting_contacts_push_nothing_and_closures_stay_closed() -> None:
    """A four-bar that is hit keeps its loop; the same contact, parting, changes nothing; e out of range is refused."""
    tree, q = closed_four_bar()
    v = assembly.consistent_velocity(tree, q, np.array([[-2.0, 0, 0]]))[0]
    wall = Contact("coupler", np.array([0.5, 0, 0]), np.array([0, 1.0, 0]), np.zeros(3))
    if wall.geometry(tree, q, v[None])[1][0] > 0:
        v = -v
    hit = strike(tree, [wall], q[0], v, 0.5)
    assert hit.impulses[0] > 0
    assert np.abs(hit.reactions).max() > 1e-3
    assert_allclose(hit.energy, hit.work, atol=1e-12)
    assert hit.energy < 0
    strike(tree, [], q[0], hit.after, 0.0)  # still consistent, else refused
    parting = strike(tree, [wall], q[0], hit.after, 0.5)
    assert_allclose(parting.impulses, 0)
    assert_allclose(parting.after, hit.after, atol=1e-12)
    with pytest.raises(RequestError, match=r"restitution 1\.5; allowed is 0 to 1"):
        strike(tree, [wall], q[0], v, 1.5)
    with pytest.raises(RequestError, match="11 contacts at once"):
        strike(tree, [wall] * 11, q[0], v, 0.5)


def test_twice_the_same_contact_is_once() -> None:
    """A redundant contact changes no velocity."""
    one, two = (strike(BALL, [FLOOR] * k, np.zeros(1), np.array([-SPEED]), 0.3) for k in (1, 2))
    assert_allclose(one.after, [0.3 * SPEED])
    assert_allclose(two.after, one.after)
    assert_allclose(two.impulses.sum(), one.impulses.sum())


@pytest.mark.parametrize("wrong", [{"stiffness": 0.0}, {"stiffness": 1.0, "damping": -1.0}])
def test_a_law_out_of_range_is_refused(wrong) -> None:
    """One sentence, with the numbers."""
    with pytest.raises(RequestError, match="must be positive"):
        Law(**wrong)


@pytest.mark.parametrize("stiffness", [800.0, 8e4, 8e6])
def test_the_impulse_of_a_stiff_contact_is_that_of_the_impact(stiffness: float) -> None:
    """The force grows with sqrt(k) and lasts 1 / sqrt(k): its integral stays (1 + e) m v, that of the impact."""
    half = np.pi / np.sqrt(stiffness / MASS)
    path = bounced(Law(stiffness), 800, 1.1 * half)
    impulse = ((path.forces[1:, 0] + path.forces[:-1, 0]) / 2 * np.diff(path.t)).sum()
    struck = strike(BALL, [FLOOR], np.zeros(1), np.array([-SPEED]), 1.0)
    assert_allclose(impulse, struck.impulses[0], rtol=1e-4)
    assert_allclose(struck.impulses, [2 * MASS * SPEED])
    assert_allclose(path.forces.max(), SPEED * np.sqrt(stiffness * MASS), rtol=1e-4)
    assert_allclose(np.abs(path.q).max(), SPEED * np.sqrt(MASS / stiffness), rtol=1e-4)
