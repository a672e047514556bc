"""Random trees of joints with one dof or none, with one state, and the efforts of the reference there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from random_trees import ONE_DOF, random_tree

from tautology.adapters.reference import Reference
from tautology.harness.joint import JointKind

if TYPE_CHECKING:
    from tautology.harness.tree import Tree

SCALAR = [*ONE_DOF, JointKind.FIXED]


def drawn(seed: int, count: int = 8) -> tuple[Tree, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return a random tree of scalar joints, and q, v, a and wrenches of one state."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, count, kinds=SCALAR)
    q, v, a = rng.uniform(-1.5, 1.5, (3, tree.nv))
    loads = rng.uniform(-5, 5, (len(tree.bodies), 6))
    loads[0] = 0
    return tree, q, v, a, loads


def effort(tree: Tree, *state: np.ndarray, gravity: np.ndarray | None = None) -> np.ndarray:
    """Return the reference's efforts at one state, wrenches last."""
    return Reference(tree).inverse_dynamics(*(x[None] for x in state), gravity=gravity)[0]
