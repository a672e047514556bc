"""The inertial regressor and the base parameters: linear in the robot, and of the rank that theory says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from planted import answers, bench, observed
from random_trees import random_inertia, random_transform, random_tree

from tautology.adapters.reference import Reference
from tautology.harness.diagnosis.base_parameters import base_parameters, grouped, parameters_of, shown
from tautology.harness.diagnosis.evidence import answer, gather
from tautology.harness.diagnosis.fitting import descend, solve, subspace
from tautology.harness.diagnosis.inertias import in_frame
from tautology.harness.diagnosis.parameters import inertia_of, transport, vector
from tautology.harness.diagnosis.regressor import regressor
from tautology.harness.tree import Inertia, JointKind


def bare(tree):
    """Return the tree without reflected inertia."""
    bodies = [replace(b, joint=replace(b.joint, armature=0.0, rotor=0.0)) for b in tree.bodies]
    return replace(tree, bodies=tuple(bodies), tendons=())


@pytest.mark.parametrize("seed", range(4))
def test_columns_times_parameters_are_the_efforts(seed):
    """tau, bias, gravity and M w of any tree are the regressor times the ten parameters of its moving bodies."""
    tree = bare(random_tree(np.random.default_rng(seed), 8, floating_root=seed % 2 == 0))
    b = bench(tree, 16)
    b = replace(b, states=replace(b.states, wrenches=0 * b.states.wrenches))
    evidence = gather(tree, observed(b, answers(tree, b.states)))
    reference = Reference(tree)
    found = regressor(tree, reference, evidence, evidence.questions)
    names = [tree.bodies[h].name for h in found.holders]
    parameters = parameters_of(tree, names).reshape(-1, 10)
    efforts = sum(found.columns(h) @ x for h, x in zip(found.holders, parameters, strict=True))
    assert np.abs((efforts - answer(reference, evidence.questions)) * evidence.weight).max() < 1e-15
    weight = sum(found.weight_columns(h, tree.gravity) @ x for h, x in zip(found.holders, parameters, strict=True))
    rows = evidence.questions.quantity == 2
    assert np.abs((weight - efforts)[rows] * evidence.weight[rows]).max() < 1e-15


def test_parameters_round_trip_and_move():
    """Ten parameters give the inertia back, and move from frame to frame like the inertia itself."""
    rng = np.random.default_rng(1)
    I, T = random_inertia(rng), random_transform(rng)
    again = inertia_of(vector(I), np.zeros(3))
    np.testing.assert_allclose(again.com, I.com, atol=1e-15)
    np.testing.assert_allclose(again.I_com, I.I_com, atol=1e-15)
    np.testing.assert_allclose(transport(T) @ vector(I), vector(in_frame(I, T)), atol=1e-15)
    massless = inertia_of(vector(Inertia(0, I.com, I.I_com)), I.com)
    np.testing.assert_allclose(massless.I_com, I.I_com)


SHARES = {JointKind.REVOLUTE: 7, JointKind.PRISMATIC: 4, JointKind.BALL: 9}


@pytest.mark.parametrize("kinds", [["revolute"], ["revolute", "prismatic"], ["revolute", "ball"]], ids="-".join)
def test_the_number_of_base_parameters(kinds):
    """A free root shows ten parameters, every hinge seven more, every slide four, every ball nine (Gautier 1991)."""
    some = [JointKind(kind) for kind in kinds]
    rngs = map(np.random.default_rng, range(20))
    trees = [random_tree(rng, 6, kinds=some, floating_root=True, massless=0) for rng in rngs]
    tree = next(t for t in trees if set(t.roots) == {0, 1} and len({j.kind for j in t.joints[2:]}) == len(kinds))
    expected = 10 + sum(SHARES[joint.kind] for joint in tree.joints[2:])
    assert base_parameters(tree, Reference(tree)).rank == expected


def test_robots_with_the_same_base_parameters_move_alike():
    """What is taken from one body and regrouped into its parent shows in no answer, and `shown` is empty for it."""
    tree = random_tree(np.random.default_rng(3), 4, kinds=[JointKind.REVOLUTE], floating_root=True, massless=0)
    base = base_parameters(tree, Reference(tree))
    ours = parameters_of(tree, base.bodies)
    _, _, Vt = np.linalg.svd(base.grouping)
    hidden = Vt[-1] * 0.1
    assert np.abs(base.grouping @ hidden).max() < 1e-12
    other = (ours + hidden).reshape(-1, 10)
    changed = {name: inertia_of(x, np.zeros(3)) for name, x in zip(base.bodies, other, strict=True)}
    bodies = tuple(replace(b, inertia=changed.get(b.name, b.inertia)) for b in tree.bodies)
    b = bench(tree, 12)
    first, second = (answers(t, b.states) for t in (tree, replace(tree, bodies=bodies)))
    for name, value in first.items():
        assert np.abs((value - second[name]) / b.scales[name]).max() < 1e-13
    assert shown(base, ours, ours + hidden) == ()
    visible = np.zeros(len(ours))
    visible[base.independent[0]] = 0.25
    (one,) = shown(base, ours, ours + visible)
    assert (one.change, one.combination) == (pytest.approx(0.25), base.name(0))
    assert one.unit == base.unit(0)


def test_a_column_that_others_hold_is_grouped():
    """W = W[:, leading] @ coefficients, the earlier columns lead, and zero columns lead nothing."""
    rng = np.random.default_rng(4)
    A = rng.normal(size=(30, 3)) * [1, 1e-4, 1e3]
    W = np.column_stack([A[:, 0], 2 * A[:, 0], A[:, 1], np.zeros(30), A[:, 0] - 5 * A[:, 1], A[:, 2]])
    leading, coefficients = grouped(W)
    assert leading == (0, 2, 5)
    np.testing.assert_allclose(W[:, leading] @ coefficients, W, atol=1e-12)


def test_names_of_combinations_read():
    """A combination begins with the parameter that leads it, with coefficients where they are not one."""
    tree = random_tree(np.random.default_rng(3), 3, kinds=[JointKind.REVOLUTE], massless=0)
    base = base_parameters(tree, Reference(tree))
    assert {base.unit(k) for k in range(base.rank)} <= {"kg", "kg m", "kg m^2"}
    assert base.name(0).startswith(("Ixx(body1)", "m cx(body1)"))
    assert base.name(base.rank - 1).endswith("(body3)")


def test_linear_fits_know_their_rank():
    """Columns of any unit: the rank is that of their directions, and dependent columns share the solution."""
    rng = np.random.default_rng(5)
    A = rng.normal(size=(40, 2)) * [1e4, 1e-4]
    W = np.column_stack([A, A[:, 0] * 3])
    assert subspace(W).rank == 2
    np.testing.assert_allclose(subspace(W).Q @ subspace(W).R, W, rtol=1e-12)
    x = solve(W, A @ [2.0, 5.0])
    np.testing.assert_allclose(W @ x, A @ [2.0, 5.0], rtol=1e-10)
    assert x[1] == pytest.approx(5.0)
    assert solve(0 * W, np.ones(40)).tolist() == [0, 0, 0]


def test_descent_reaches_rounding_also_where_a_direction_does_not_show():
    """From several starts at once, on a valley: the root is met to rounding, and the blind direction stays in reach."""
    f = lambda x: np.stack([x[:, 0] ** 2 + x[:, 1] ** 2 - 1, np.zeros(len(x)), 1e-9 * x[:, 2]], axis=1)  # noqa: E731
    starts = np.array([[2.0, 0, 0], [0, 0.5, 0], [1e-3, 1e-3, 1]])
    x, left = descend(f, starts, steps=40)
    np.testing.assert_allclose(np.hypot(x[:, 0], x[:, 1]), 1, atol=1e-9)
    assert left.max() < 1e-9
    assert np.abs(x).max() < 3
