"""Scales: by hand on a pendulum, never below the answer itself, and as the units say."""

from dataclasses import replace

import numpy as np
import pytest
from random_trees import random_tree

from tautology.adapters.reference import Reference
from tautology.harness.checks.agreement import agreement
from tautology.harness.checks.identities import identities
from tautology.harness.checks.truth import Truth
from tautology.harness.request import PATHS
from tautology.harness.results import QUANTITIES
from tautology.harness.spatial import transform
from tautology.harness.states import States, sample
from tautology.harness.tree import Body, Inertia, Joint, JointKind, TendonInertia, Tree, world


def truth_of(tree, states):
    """Return the truth of a tree at these states."""
    return Truth(tree, states, Reference(tree, np.longdouble), Reference(tree))


def one_state(tree, q, v, a, wrenches=None):
    """Return a single state."""
    rows = [np.array([x], float) for x in (q, v, a)]
    loads = np.zeros((1, len(tree.bodies), 6)) if wrenches is None else wrenches
    return States(*rows, np.zeros((1, tree.nv)), loads, ("random",))


def test_a_pendulum_by_hand():
    """Hinge a metre above the origin, 2 kg half a metre below it: every term of the formulas, added up on paper."""
    joint = Joint("hinge", JointKind.REVOLUTE, np.array([1.0, 0, 0]), transform(np.eye(3), np.array([0, 0, 1.0])))
    joint = replace(joint, armature=0.25)
    body = Body("bob", 0, joint, Inertia(2.0, np.array([0, 0, -0.5]), np.diag([0.1, 0.2, 0.15])))
    tree = Tree("pendulum", (world(), body), gravity=np.array([0, 0, -10.0]))
    wrenches = np.zeros((1, 2, 6))
    wrenches[0, 1] = [3, 4, 0, 0, 0, 2]
    truth = truth_of(tree, one_state(tree, [0.0], [2.0], [3.0], wrenches))
    arm, reach = 0 + 0.5, 0.5  # |c - C| + |C|, |p - C|: one body, C half a metre up
    force = 2 * (10 + 0 + 3 * 0.5 + 4 * 0.5)
    bare = 0.2 * (3 + 4) + (arm + reach) * force + 0.25 * 3
    loaded = bare + 5 + (0.5 + 0.5) * 2 + reach * 2  # moment 5, force 2 at the body origin
    assert truth.tau_unloaded.scale[0, 0] == pytest.approx(bare, rel=1e-14)
    assert truth.tau.scale[0, 0] == pytest.approx(loaded, rel=1e-14)
    assert truth.bias.scale[0, 0] == pytest.approx(0.2 * 4 + (arm + reach) * 2 * (10 + 2), rel=1e-14)
    assert truth.gravity.scale[0, 0] == pytest.approx((arm + reach) * 20, rel=1e-14)
    assert truth.mass_matrix.scale[0, 0, 0] == pytest.approx(0.2 + 2 * (arm + reach) ** 2 + 0.25, rel=1e-14)
    assert truth.kinetic_energy.scale[0] == pytest.approx(
        (0.2 * 4 + 2 * (2 * (0.5 + arm)) ** 2 + 0.25 * 4) / 2, rel=1e-14
    )
    assert truth.potential_energy.scale[0] == pytest.approx(2 * 10 * (1 + 0.5), rel=1e-14)  # the way up and down
    assert truth.center_of_mass.scale[0] == 1
    assert truth.velocities.scale[0].item() == 2


def test_a_slide_feels_forces_alone():
    """The scale of a slide is the carried force, with neither tensors nor lever arms."""
    body = Body("cart", 0, Joint("slide", JointKind.PRISMATIC), Inertia(2.0, np.array([0, 0, -0.5]), np.eye(3)))
    truth = truth_of(tree := Tree("cart", (world(), body)), one_state(tree, [0.3], [2.0], [3.0]))
    assert truth.tau.scale[0, 0] == pytest.approx(2 * (9.81 + 3), rel=1e-14)
    assert truth.mass_matrix.scale[0, 0, 0] == pytest.approx(2, rel=1e-14)


def test_tendons_couple_their_joints():
    """Reflected inertia of a tendon stands in the scales of M and of tau."""
    links = [Body(f"b{i}", 0, Joint(f"j{i}", JointKind.PRISMATIC), Inertia(1.0)) for i in (1, 2)]
    belt = TendonInertia("belt", 4.0, {"j1": 1.5, "j2": -0.5})
    tree = Tree("belt", (world(), *links), gravity=np.zeros(3), tendons=(belt,))
    truth = truth_of(tree, one_state(tree, [0.0, 0.0], [0.0, 0.0], [1.0, 3.0]))
    np.testing.assert_allclose(truth.mass_matrix.scale[0].diagonal(), [1 + 9, 1 + 1], rtol=1e-14)
    np.testing.assert_allclose(truth.tau.scale[0], [1 + 4 * 1.5 * (1.5 + 1.5), 3 + 4 * 0.5 * (1.5 + 1.5)], rtol=1e-14)


@pytest.mark.parametrize("quantity", [q for q in QUANTITIES if q != "acceleration"])
@pytest.mark.parametrize("seed", range(6))
def test_no_answer_is_larger_than_its_scale(seed, quantity):
    """Sums of absolute terms bound the sum, for every entry of every quantity."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 8, floating_root=bool(seed % 2), armature=True, tendons=True)
    expected = getattr(truth_of(tree, sample(tree, 16, seed)), quantity)
    assert (np.abs(expected.value) <= expected.scale * (1 + 1e-12)).all()


@pytest.mark.parametrize("seed", range(3))
def test_scales_go_with_the_units(seed):
    """Twice the masses double efforts, M and energies; nothing else changes."""
    tree = random_tree(np.random.default_rng(seed), 6)
    doubled = [replace(b, inertia=Inertia(2 * b.inertia.mass, b.inertia.com, 2 * b.inertia.I_com)) for b in tree.bodies]
    states = sample(tree, 8, seed)
    unloaded = States(states.q, states.v, states.a, states.tau, 0 * states.wrenches, states.strata)
    one, two = truth_of(tree, unloaded), truth_of(replace(tree, bodies=tuple(doubled)), unloaded)
    for quantity in ("tau", "bias", "gravity", "mass_matrix", "kinetic_energy", "potential_energy"):
        np.testing.assert_allclose(getattr(two, quantity).scale, 2 * getattr(one, quantity).scale, rtol=1e-12)
    np.testing.assert_allclose(two.condition, one.condition, rtol=1e-6)


def test_scales_count_the_distance_from_the_world_origin():
    """An engine that works in world coordinates pays for a far base: rotations do, translations do not."""
    tree = random_tree(np.random.default_rng(3), 5, kinds=[JointKind.REVOLUTE, JointKind.PRISMATIC], massless=0)
    T = np.array(tree.joints[1].T_parent_joint)
    T[:3, 3] += [1000, 0, 0]
    root = replace(tree.bodies[1], joint=replace(tree.joints[1], T_parent_joint=T))
    far = replace(tree, bodies=(tree.bodies[0], root, *tree.bodies[2:]))
    states = sample(tree, 8)
    near, away = truth_of(tree, states), truth_of(far, states)
    moved = np.array(tree.roots[1:]) == 1
    turns = np.array([joint.kind is JointKind.REVOLUTE for joint in tree.joints[1:]])[moved]
    ratio = (away.gravity.scale / near.gravity.scale)[:, moved]
    assert turns.any()
    assert not turns.all()
    assert (ratio[:, turns] > 100).all()
    np.testing.assert_allclose(ratio[:, ~turns], 1, rtol=1e-9)


DENORMAL = 5e-324


@pytest.mark.parametrize(
    ("mass", "tensor", "offset"),
    [
        (2.0, 0.1, DENORMAL),
        (1e6, 1e6, 3e-320),
        (2.0, 0.1, 1e-200),
        (1e-310, 1e-310, 0.3),
        (1e-320, 1e-320, 1e4),
        (DENORMAL, 0.0, 1.0),
        (0.0, DENORMAL, 0.0),
    ],
)
def test_numbers_below_the_normal_ones_are_judged_by_what_doubles_can_hold(mass, tensor, offset):
    """Products of such numbers vanish or lose their digits: that is rounding, and no other robot."""
    arm = Body("arm", 0, Joint("j1", JointKind.REVOLUTE, np.array([0, 1.0, 0])), Inertia(1.0, np.zeros(3), np.eye(3)))
    inertia = Inertia(mass, np.array([offset, 0, -offset]), np.eye(3) * tensor)
    tip = Body("tip", 1, Joint("j2", JointKind.REVOLUTE, np.array([0, 1.0, 0])), inertia)
    tree = Tree("small", (world(), arm, tip))
    states = sample(tree, 32)
    truth, reference = truth_of(tree, states), Reference(tree)
    with np.errstate(all="ignore"):
        rows = [row for path in PATHS for row in agreement(reference, truth, states, path, 1e-9)]
        held = [row for path in PATHS for row in identities(reference, tree, states, truth, path)]
    assert [row.quantity for row in rows if not row.passed] == []
    assert [row.identity for row in held if not row.passed] == []


def test_accelerations_that_no_double_holds_are_not_compared():
    """An inertia of 1e-310 under an effort of 1 overflows in every engine."""
    tip = Body("tip", 0, Joint("hinge", JointKind.REVOLUTE), Inertia(1e-310, np.zeros(3), np.eye(3) * 1e-310))
    truth = truth_of(tree := Tree("light", (world(), tip)), sample(tree, 8))
    with np.errstate(all="ignore"):
        (row,) = (
            row
            for row in agreement(Reference(tree), truth, truth.states, "native", 1e-9)
            if row.quantity == "acceleration"
        )
    assert not row.applies
    assert row.note == "no double holds the accelerations of 8 states, first of state 0"


def test_a_length_is_not_lost_in_its_square():
    """An arm of 1e-200 m has a scale of 1e-200 times weight: 1e-190 times as much is no rounding."""
    body = Body("bob", 0, Joint("hinge", JointKind.REVOLUTE), Inertia(2.0, np.array([0, 0, 1e-200]), np.eye(3)))
    tree = Tree("small", (world(), body), gravity=np.array([0, 0, -10.0]))
    scale = truth_of(tree, one_state(tree, [0.0], [0.0], [0.0])).potential_energy.scale[0]
    assert scale == pytest.approx(2e-199, rel=1e-12, abs=0)


def test_positions_that_cancel_still_round():
    """A joint 0.2 m up whose mass swings back through the origin: its energy rounds with the way there."""
    up = transform(np.eye(3), np.array([0, 0, 0.2]))
    joint = Joint("j", JointKind.REVOLUTE, np.array([0, 1.0, 0]), up)
    tree = Tree("r", (world(), Body("arm", 0, joint, Inertia(1.0, np.array([0, 0, 0.2]), np.eye(3) * 0.01))))
    truth = truth_of(tree, one_state(tree, [np.pi], [0.0], [0.0]))
    assert abs(float(truth.potential_energy.value[0])) < 1e-15
    assert truth.potential_energy.scale[0] == pytest.approx(9.81 * 0.4, rel=1e-12)
