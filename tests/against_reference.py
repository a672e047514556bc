"""Hold a session against the reference: every answer, at the dofs and bodies that the session has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from random_trees import random_tree

from tautology.adapters.reference import Reference
from tautology.harness.states import sample

if TYPE_CHECKING:
    from tautology.harness.tree import Tree

PER_DOF = ("inverse_dynamics", "bias", "gravity_forces", "mass_matrix", "forward_dynamics", "generalized_forces")


def answers(session, states, *, loaded: bool = True, forward: bool = False) -> dict[str, np.ndarray]:
    """Return what a session says of these states, by method; the tree's wrenches are on moving bodies alone."""
    q, v, a, tau, wrenches = states.q, states.v, states.a, states.tau, states.wrenches
    wrenches = wrenches if loaded else None
    result = {
        "inverse_dynamics": session.inverse_dynamics(q, v, a, wrenches),
        "bias": session.bias(q, v),
        "gravity_forces": session.gravity_forces(q),
        "mass_matrix": session.mass_matrix(q),
        "poses": session.poses(q),
        "velocities": session.velocities(q, v),
        "kinetic_energy": session.kinetic_energy(q, v),
        "potential_energy": session.potential_energy(q),
        "momentum": session.momentum(q, v),
    }
    if forward:
        result["forward_dynamics"] = session.forward_dynamics(q, v, tau, wrenches)
    if "center_of_mass" not in session.lacks:
        result["center_of_mass"] = session.center_of_mass(q)
    if loaded:
        result["generalized_forces"] = session.generalized_forces(q, wrenches)
    return result


def expected(tree: Tree, session, states, **asked: bool) -> dict[str, np.ndarray]:
    """Return what the reference says in longdouble, at the dofs and bodies that the session has."""
    result = answers(Reference(tree, np.longdouble), states, **asked)
    dofs = [tree.dofs.index(dof) for dof in session.dofs]
    bodies = [tree.index[body] - 1 for body in session.bodies]
    for name in PER_DOF:
        if name in result:
            result[name] = result[name][:, dofs]
    result["mass_matrix"] = result["mass_matrix"][:, :, dofs]
    result["poses"], result["velocities"] = result["poses"][:, bodies], result["velocities"][:, bodies]
    return {name: value.astype(float) for name, value in result.items()}


def condition(M: np.ndarray) -> float:
    """Return the largest condition number of the matrices of M (N, n, n), inf without dofs."""
    return float(np.linalg.cond(M).max()) if M.size else np.inf


def assert_agrees(session, tree: Tree, count: int = 6, *, loaded: bool = True) -> None:
    """Hold every answer of a session against the reference; forward dynamics where M can be inverted."""
    states = sample(tree, count, seed=1)
    states = replace(states, wrenches=tree.fusion.fold(states.wrenches))
    worst = condition(session.mass_matrix(states.q))
    asked = {"loaded": loaded, "forward": worst < 1e8}
    found, wanted = answers(session, states, **asked), expected(tree, session, states, **asked)
    for name, value in found.items():
        bound = 1e-13 * max(1.0, float(np.abs(wanted[name]).max(initial=0)))
        bound *= max(worst, 1) if name == "forward_dynamics" else 1
        np.testing.assert_allclose(value, wanted[name], rtol=0, atol=bound, err_msg=name)


def drawn(seed: int, most: int = 25) -> Tree:
    """Return a random tree of at most 150 dofs, with armature and now and then a free root and a tendon."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, most + 1))
    tree = random_tree(rng, count, floating_root=seed % 3 == 0, armature=True, tendons=seed % 2 == 0)
    return tree if tree.nv <= 150 else drawn(seed + 1, most // 2)
