"""Textbook algorithms under wrong inputs: one clear sentence or the right answer, never that of another question."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tautology.adapters.reference import Reference
from tautology.adapters.textbook import (
    allocation,
    assembly,
    constrained,
    constraints,
    contact,
    coriolis,
    counting,
    exponentials,
    floating,
    forward,
    impact,
    lie,
    parts,
    planar,
    planar_lagrange,
    planar_tree,
    simulate,
    unilateral,
)
from tautology.harness.errors import RequestError, ShapeError
from tautology.harness.tree import Closure

if TYPE_CHECKING:
    from collections.abc import Callable

RODS = planar.uniform_rods(np.array([1.0, 0.8, 0.6]), np.array([1.0, 0.5, 0.2]))
TREE = planar_tree.embedded(RODS, other_moments=np.full((3, 2), 0.01))
MASSLESS = planar_tree.embedded(
    planar.PlanarChain(np.ones(3), np.array([1.0, 0, 0]), np.full(3, 0.5), np.array([0.1, 0, 0]))
)
SESSION = Reference(TREE)
SCREWS = exponentials.screws_of(TREE)
Q, REST, NO = np.array([[0.3, 0.5, -0.4]]), np.zeros((1, 3)), np.zeros((0, 3))
ONE, LONG, TWO, NAN = np.ones((1, 1)), np.ones((1, 4)), np.ones((2, 3)), np.full((1, 3), np.nan)
PIN = assembly.connected(TREE, Q[0], "pin", "tip", "", np.zeros(3))
HELD = assembly.with_closures(TREE, [PIN])
# At joint_2 in motion, both rows cannot be kept: they ask joint_1 for accelerations of 2 and 4.
TORN = assembly.with_closures(
    TREE, [Closure("joint", name, ("joint_1", "joint_2"), (0.0, 0.0, c)) for name, c in (("a", 1.0), ("b", 2.0))]
)
UP, ZERO = np.array([0.0, 1, 0]), np.zeros(3)
TOE = contact.Contact("tip", ZERO, UP, ZERO)
LAW = contact.Law(1e4)
HUMANOID = floating.humanoid()
STANDING, STILL = np.asarray(HUMANOID.neutral, float)[None], np.zeros((1, 30))


def held(**given: Any) -> object:
    """Run the constrained dynamics of the pinned chain with one argument replaced."""
    usual: dict[str, Any] = {"tree": HELD, "q": Q, "v": REST, "tau": REST}
    return constrained.constrained_dynamics(**(usual | given))


def moved(**given: Any) -> object:
    """Run a simulation of the chain with one argument replaced."""
    usual: dict[str, Any] = {"mechanism": simulate.of_chain(RODS), "q": Q, "v": REST, "step": 0.01, "count": 2}
    return simulate.simulate(**(usual | given))


def landed(**given: Any) -> object:
    """Run a landing of the chain with one argument replaced."""
    usual: dict[str, Any] = {
        "tree": TREE,
        "contacts": [TOE],
        "law": LAW,
        "q": Q[0],
        "v": ZERO,
        "step": 0.01,
        "count": 2,
    }
    return contact.land(**(usual | given))


def shared(**given: Any) -> object:
    """Run an allocation with one argument replaced."""
    usual: dict[str, Any] = {"tree": TREE, "q": Q, "v": REST, "a": REST, "B": np.eye(3)}
    return allocation.allocate(**(usual | given))


SHAPES: dict[str, Callable[[], object]] = {
    "planar, one number for a tip force": lambda: planar.inverse_dynamics(RODS, Q, REST, REST, np.array([5.0])),
    "planar, a tip force in space": lambda: planar.inverse_dynamics(RODS, Q, REST, REST, np.zeros((1, 3))),
    "planar, states of two lengths": lambda: planar.inverse_dynamics(RODS, TWO, np.zeros((3, 3)), REST),
    "rods, two lengths and three masses": lambda: planar.uniform_rods(np.ones(2), np.ones(3)),
    "differences, short q": lambda: planar_lagrange.by_differences(RODS, ONE, REST),
    "differences, short v": lambda: planar_lagrange.by_differences(RODS, Q, ONE),
    "christoffel, long q": lambda: planar_lagrange.by_christoffel(RODS, LONG, LONG),
    "christoffel, short v": lambda: planar_lagrange.by_christoffel(RODS, Q, ONE),
    "planar M, short q": lambda: planar_lagrange.mass_matrix(RODS, ONE),
    "planar dM, short q": lambda: planar_lagrange.mass_matrix_derivative(RODS, ONE),
    "lagrange, short a": lambda: planar_lagrange.by_christoffel(RODS, Q, REST).efforts(ONE),
    "tip wrenches, short q": lambda: planar_tree.tip_wrenches(RODS, np.zeros((1, 2)), np.zeros((1, 2))),
    "tip wrenches, fewer forces": lambda: planar_tree.tip_wrenches(RODS, TWO, np.zeros((1, 2))),
    "embedding, moments of two links": lambda: planar_tree.embedded(RODS, other_moments=np.ones((2, 2))),
    "embedding, moments of four links": lambda: planar_tree.embedded(RODS, other_moments=np.ones((4, 2))),
    "exponentials, poses of a long q": lambda: exponentials.poses(SCREWS, LONG),
    "exponentials, a tip force alone": lambda: exponentials.inverse_dynamics(SCREWS, Q, REST, REST, REST),
    "exponentials, fewer velocities": lambda: exponentials.inverse_dynamics(SCREWS, TWO, REST, TWO),
    "columns, one effort for all": lambda: forward.walker_orin(SESSION.inverse_dynamics, Q, REST, ONE),
    "solve, one effort for all": lambda: forward.composite_solve(
        SESSION.mass_matrix, SESSION.inverse_dynamics, Q, REST, ONE
    ),
    "parts, long q": lambda: parts.parts(SESSION, LONG, REST, REST),
    "parts, long v": lambda: parts.parts(SESSION, Q, LONG, REST),
    "parts, wrenches of another tree": lambda: parts.parts(SESSION, Q, REST, REST, np.ones((1, 7, 6))),
    "parts, wrenches of one state": lambda: parts.parts(SESSION, TWO, TWO, TWO, np.ones((1, 5, 6))),
    "coriolis, long q": lambda: coriolis.coriolis_matrix(SESSION, LONG, REST),
    "coriolis, short v": lambda: coriolis.coriolis_matrix(SESSION, Q, ONE),
    "rate of M, long q": lambda: coriolis.mass_matrix_rate(SESSION, LONG, REST),
    "rows, long q": lambda: constraints.rows_of(HELD, LONG, REST),
    "rows of a coupling, long q": lambda: constraints.rows_of(TORN, LONG, LONG),
    "rows of a coupling, fewer velocities": lambda: constraints.rows_of(TORN, TWO, REST),
    "constrained, one effort for all": lambda: held(tau=ONE),
    "constrained, one number for a support": lambda: held(support=(ONE, ONE)),
    "constrained, compliance of two rows": lambda: held(compliance=np.ones(2)),
    "connected, a flat anchor": lambda: assembly.connected(TREE, Q[0], "p", "tip", "", np.zeros(2)),
    "connected, several q": lambda: assembly.connected(TREE, Q, "p", "tip", "", ZERO),
    "consistent acceleration, short a": lambda: assembly.consistent_acceleration(HELD, Q, REST, ONE),
    "allocation, short a": lambda: shared(a=ONE),
    "allocation, B of other states": lambda: shared(B=np.ones((2, 3, 3))),
    "allocation, limits of two": lambda: shared(limits=np.ones(2)),
    "simulation, one state without its axis": lambda: moved(q=Q[0], v=ZERO),
    "simulation, more velocities": lambda: moved(v=TWO),
    "simulation, friction of two joints": lambda: moved(viscous=np.ones(2)),
    "simulation, one number for a drive": lambda: moved(drive=lambda *_: ONE),
    "contact, a flat normal": lambda: contact.Contact("tip", ZERO, np.ones(2), ZERO),
    "contact, a point of two numbers": lambda: contact.Contact("tip", np.ones(2), UP, ZERO),
    "landing, several states": lambda: landed(q=Q, v=REST),
    "impact, a short v": lambda: impact.strike(TREE, [TOE], Q[0], np.zeros(1), 0.5),
    "modes, one effort for all": lambda: unilateral.modes(TREE, [], Q[0], ZERO, np.zeros(1)),
    "base wrench without moment": lambda: floating.in_world(HUMANOID, STANDING, np.zeros((1, 3))),
    "base acceleration, one state without its axis": lambda: floating.base_acceleration(
        HUMANOID, STANDING, STILL, STILL[0]
    ),
    "hat of seven": lambda: lie.hat(np.ones(7)),
    "dual cross of seven": lambda: lie.force_cross(np.ones(7)),
    "exponential of no square": lambda: lie.exponential(np.ones((2, 3))),
    "vee of a turn alone": lambda: lie.vee(np.eye(3)),
    "a wrench moved by a turn alone": lambda: lie.wrench_transform(np.eye(3)),
    "differential of two sizes": lambda: lie.differential(np.zeros((4, 4)), np.zeros((3, 3))),
    "trivialised increment of a turn alone": lambda: lie.right_trivialised(np.zeros(3)),
    "planar C of two sizes": lambda: planar_lagrange.coriolis_matrix(np.zeros((1, 3, 3, 3)), ONE),
    "quadrature of a stack": lambda: lie.differential_by_integral(np.zeros((16, 4, 4)), np.zeros((16, 4, 4))),
}
REQUESTS: dict[str, tuple[Callable[[], object], str]] = {
    "differences, no step": (lambda: planar_lagrange.by_differences(RODS, Q, REST, 0.0), "step"),
    "coriolis, an unknown choice": (
        lambda: coriolis.coriolis_matrix(SESSION, Q, REST, "Christoffel"),
        "known are christoffel, body",
    ),
    "a weld without a turn": (
        lambda: constraints.rows_of(
            assembly.with_closures(TREE, [Closure("weld", "w", ("tip", ""), (0.0,) * 11)]), Q, REST
        ),
        "quaternion",
    ),
    "a coupling that is no number": (
        lambda: constraints.rows_of(
            assembly.with_closures(TREE, [Closure("mimic", "m", ("joint_2", "joint_1"), (0.0, np.nan))]), Q, REST
        ),
        "not finite",
    ),
    "constrained, no number": (lambda: held(tree=TREE, q=NAN, route="KKT"), "q is not finite"),
    "constrained, effort no number": (lambda: held(tree=TREE, tau=NAN), "tau is not finite"),
    "constrained, compliance below zero": (lambda: held(compliance=-1.0), "compliance"),
    "constrained, compliance without end": (lambda: held(compliance=np.inf), "compliance"),
    "gains below zero": (lambda: constrained.Baumgarte(-1.0, 0.0), "gain"),
    "assembly from nowhere": (lambda: assembly.assembled(HELD, NAN), "q is not finite"),
    "a closure from nowhere": (lambda: assembly.welded(TREE, NAN[0], "w", "tip", ""), "q is not finite"),
    "no acceleration keeps both rows": (
        lambda: assembly.consistent_acceleration(TORN, REST, np.array([[0, 1.0, 0]]), REST),
        "does not satisfy",
    ),
    "W without inertia": (lambda: constrained.constraint_matrix(np.zeros((1, 3, 3)), np.ones((1, 2, 3))), "inertia"),
    "allocation, B no number": (lambda: shared(B=np.full((3, 3), np.nan)), "B is not finite"),
    "allocation, motion no number": (lambda: shared(a=NAN), "a is not finite"),
    "allocation, limits below zero": (lambda: shared(limits=-1.0), "limits"),
    "allocation, limits no number": (lambda: shared(limits=np.nan), "limits"),
    "simulation, steps below zero": (lambda: moved(count=-3), "count"),
    "simulation, half a step": (lambda: moved(count=2.5), "count"),
    "simulation, no step": (lambda: moved(step=np.nan), "step"),
    "landing, steps below zero": (lambda: landed(count=-3), "count"),
    "law without end": (lambda: contact.Law(np.inf), "finite"),
    "contact without a normal": (lambda: contact.Contact("tip", ZERO, ZERO, ZERO), "normal"),
    "contact nowhere": (lambda: contact.Contact("tip", ZERO, UP, NAN[0]), "not finite"),
    "effective mass without inertia": (lambda: contact.effective_mass(MASSLESS, TOE, Q), "inertia"),
    "impact without inertia": (lambda: impact.strike(MASSLESS, [TOE], Q[0], UP, 0.5), "inertia"),
    "impact nowhere": (lambda: impact.strike(TREE, [TOE], NAN[0], UP, 0.5), "q is not finite"),
    "modes without inertia": (lambda: unilateral.modes(MASSLESS, [], Q[0], ZERO, ZERO), "inertia"),
    "modes of no number": (lambda: unilateral.modes(TREE, [], Q[0], ZERO, NAN[0]), "tau is not finite"),
    "friction below zero": (lambda: unilateral.modes(TREE, [], Q[0], ZERO, ZERO, -0.5), "friction"),
    "a screw that is no unit": (lambda: lie.screw_motion(np.array([0, 0, 2.0, 0, 0, 0]), np.ones(())), "unit"),
    "an exponential without end": (lambda: lie.exponential(np.full((2, 2), np.inf)), "not finite"),
    "growth of one size": (lambda: counting.growth([5, 5], [4, 5]), "sizes"),
    "growth of other totals": (lambda: counting.growth([5, 6], [3, 4, 5]), "sizes"),
    "count of an unknown algorithm": (lambda: counting.planar_counts([2], ["nope"]), "known are"),
    "a chain of no link": (lambda: counting.planar_counts([0]), "link"),
}


@pytest.mark.parametrize("call", SHAPES.values(), ids=SHAPES)
def test_another_shape_is_told(call: Callable[[], object]) -> None:
    """What numpy would stretch or take the front of, or refuse in its own words."""
    with pytest.raises(ShapeError):
        call()


@pytest.mark.parametrize(("call", "words"), REQUESTS.values(), ids=REQUESTS)
def test_numbers_without_an_answer_are_told(call: Callable[[], object], words: str) -> None:
    """No number, no inertia, no unit, rows that contradict one another."""
    with pytest.raises(RequestError, match=words):
        call()


def test_no_state_is_answered_by_no_state() -> None:
    """N = 0 is a number of states."""
    for route in ("constraint space", "KKT"):
        found = constrained.constrained_dynamics(HELD, NO, NO, NO, route=route)
        assert (found.a.shape, found.reactions.shape, found.rank.shape) == ((0, 3), (0, 3), (0,))
    for road in (planar_lagrange.by_differences, planar_lagrange.by_christoffel):
        assert road(RODS, NO, NO).efforts(NO).shape == (0, 3)
    assert allocation.allocate(TREE, NO, NO, NO, np.eye(3)) == []


def test_a_gap_that_is_no_number_has_no_force() -> None:
    """It is not open."""
    assert np.isnan(LAW.force(np.array([np.nan]), np.zeros(1))).all()


def test_a_landing_without_contacts_is_a_flight() -> None:
    """The same motion as the simulation's."""
    flight = contact.land(TREE, [], LAW, Q[0], ZERO, 0.01, 5)
    told = simulate.simulate(simulate.of_tree(TREE), Q, REST, 0.01, 5)
    assert_allclose(flight.q, told.q[:, 0], atol=1e-15)
    assert flight.forces.shape == (6, 0)


def test_a_joint_without_inertia_is_allocated_an_effort() -> None:
    """Where M has a zero on its diagonal, equations are statics, and still have one solution."""
    (found,) = allocation.allocate(MASSLESS, Q, REST, REST, np.eye(3))
    assert found.solutions == "one"
    assert_allclose(found.u, Reference(MASSLESS).inverse_dynamics(Q, REST, REST)[0], atol=1e-13)


def test_two_closures_alike_share_what_one_bears() -> None:
    """The pair moves as the one does; no reaction of it is unique."""
    one = constrained.constrained_dynamics(HELD, Q, REST, REST)
    pair = assembly.with_closures(TREE, [PIN, replace(PIN, name="other")])
    two = constrained.constrained_dynamics(pair, Q, REST, REST)
    assert_allclose(two.a, one.a, atol=1e-11)
    assert_allclose(two.reactions, np.tile(one.reactions, 2) / 2, atol=1e-11)
    assert not two.unique.any()
