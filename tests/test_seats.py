"""The map of coordinates: M, efforts and accelerations of a made-up engine come back as those of the tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from random_trees import random_tree

from tautology.adapters.reference import Reference
from tautology.harness.bases import DRAKE
from tautology.harness.seats import CoordinateMap, Seat
from tautology.harness.spatial import rotation_from_quaternion, transform
from tautology.harness.states import sample
from tautology.harness.tree import JointKind, Tree

ONE_DOF = [JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.CONTINUOUS]


def made_up() -> tuple[Tree, CoordinateMap]:
    """Return a robot, and an engine that has its joints backwards, one of them counted the other way."""
    tree = random_tree(np.random.default_rng(3), 7, kinds=ONE_DOF, floating_root=True, massless=0)
    seats: list[Seat] = []
    q = v = 1  # the engine has one dof of its own in front

    def positions(x: np.ndarray) -> np.ndarray:
        return x[:, [3, 4, 5, 6, 0, 1, 2]]

    def turn(x: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return DRAKE.matrices(transform(rotation_from_quaternion(x[:, 3:]), x[:, :3]), V)

    for i in range(len(tree.bodies) - 1, 0, -1):
        joint = tree.joints[i]
        own = {"positions": positions, "turn": turn} if joint.nv == 6 else {"shift": 0.1 * i, "sign": (-1.0) ** i}
        seats.append(Seat(i, tuple(range(q, q + joint.nq)), tuple(range(v, v + joint.nv)), **own))
        q, v = q + joint.nq, v + joint.nv
    return tree, CoordinateMap(tree, seats, np.zeros(q), v)


def test_quantities_of_the_engine_come_back_as_those_of_the_tree() -> None:
    """tau'v is the same power on both sides, v'Mv the same energy, and every map has its inverse."""
    tree, mapped = made_up()
    states = sample(tree, 6)
    assert mapped.dofs == tree.dofs
    frame = mapped.at(states.q, states.v)
    assert frame.q.shape == (6, tree.nq + 1)
    u, rng = frame.v, np.random.default_rng(0)
    tau = rng.normal(size=u.shape)
    tau[:, 0] = 0
    np.testing.assert_allclose((frame.efforts(tau) * states.v).sum(1), (tau * u).sum(1), rtol=0, atol=1e-13)
    np.testing.assert_allclose(frame.engine_efforts(frame.efforts(tau)), tau, rtol=0, atol=1e-14)
    M = rng.normal(size=(6, mapped.nv, mapped.nv))
    energy = np.einsum("ni,nij,nj->n", states.v, frame.mass_matrix(M), states.v)
    np.testing.assert_allclose(energy, np.einsum("ni,nij,nj->n", u, M, u), rtol=0, atol=1e-12)
    np.testing.assert_allclose(frame.tree_acceleration(frame.acceleration(states.a)), states.a, rtol=0, atol=1e-13)
    M_tree, bias = Reference(tree).mass_matrix(states.q), Reference(tree).bias(states.q, states.v)
    np.testing.assert_allclose(frame.mass_matrix(_engine_matrix(frame, M_tree)), M_tree, rtol=0, atol=1e-12)
    assert np.abs(bias).max() > 0


def _engine_matrix(frame, M: np.ndarray) -> np.ndarray:
    """Return T^-T M T^-1, column by column through the map of efforts."""
    columns = np.stack([frame.engine_efforts(M[:, :, k]) for k in range(M.shape[2])], axis=2)
    rows = [frame.engine_efforts(columns[:, k]) for k in range(columns.shape[1])]
    return np.stack(rows, axis=1)


def test_positions_are_shifted_and_signed_and_the_rest_is_neutral() -> None:
    """A hinge counts the other way from its own zero; the dof that the tree does not have rests where it was put."""
    tree, mapped = made_up()
    states = sample(tree, 2)
    found = replace_neutral(mapped, 7.0).positions(states.q)
    assert (found[:, 0] == 7.0).all()
    last = len(tree.bodies) - 1
    q = states.q[:, tree.q_slices[last]]
    np.testing.assert_array_equal(found[:, [1]], (q - 0.1 * last) * (-1.0) ** last)


def replace_neutral(mapped: CoordinateMap, value: float) -> CoordinateMap:
    """Return the map with the engine's own dof at another place."""
    mapped.neutral = mapped.neutral + value
    return mapped


def test_what_has_no_seat_is_left_out() -> None:
    """Dofs of joints that the engine has not are in no answer, and their velocities meet nobody."""
    tree, mapped = made_up()
    first = CoordinateMap(tree, [Seat(2, (0,), (0,))], np.zeros(1), 1)
    states = sample(tree, 3)
    v = states.v[:, tree.v_slices[2]]
    np.testing.assert_array_equal(first.at(states.q, states.v).v, v)
    assert first.dofs == tuple(tree.dofs[tree.v_slices[2]])
    assert mapped.nv == tree.nv + 1
    assert replace(states, v=states.v * 2).v.shape == states.v.shape
