"""Trees with loops: random ones that are closed at a state, and a planar four-bar with all its lengths."""

from __future__ import annotations

import numpy as np
from random_trees import random_tree

from tautology.adapters.textbook import assembly
from tautology.adapters.textbook.constraints import rows_of
from tautology.harness.joint import JointKind
from tautology.harness.spatial import transform
from tautology.harness.states import sample
from tautology.harness.tree import Body, Closure, Inertia, Joint, Tree, world


def looped(seed: int, kind: str, *, floating: bool = True, count: int = 9):
    """Return a random tree with one loop and one tie to the world, with a state (q, v) that satisfies both, and tau.

    Args:
        seed: of the draw.
        kind: "connect" or "weld".
        floating: whether its root floats.
        count: of bodies.
    """
    rng = np.random.default_rng(seed)
    make = assembly.connected if kind == "connect" else assembly.welded
    while True:  # until the loop has dofs enough for independent rows
        tree = random_tree(rng, count, floating_root=floating, armature=True, massless=0)
        q = np.array(sample(tree, 12, seed).q[10:11])
        loop = make(tree, q[0], "loop", "" if not floating else "body1", f"body{count}", rng.uniform(-0.3, 0.3, 3))
        if kind == "connect" and not floating:
            loop = make(tree, q[0], "loop", f"body{count}", "", rng.uniform(-0.3, 0.3, 3))
        tied = assembly.with_closures(tree, [loop])
        J = rows_of(tied, q, np.zeros((1, tree.nv))).J[0]
        if np.linalg.svd(J)[1].min() > 1e-2:
            break
    v = assembly.consistent_velocity(tied, q, rng.normal(size=(1, tree.nv)))
    return tied, q, v, rng.normal(size=(1, tree.nv)) * 5


def four_bar(turned: np.ndarray | None = None) -> Tree:
    """Return crank (0.3 m), coupler (0.8 m) and rocker (0.6 m) over a ground link of 0.7 m, cut at the coupler's end.

    Args:
        turned: (4, 4) placement of the mechanism; in the xy-plane by default, gravity along -y.
    """
    T = np.eye(4) if turned is None else turned
    bodies = [world()]
    for name, parent, at, length in (
        ("crank", 0, 0.0, 0.3),
        ("coupler", 1, 0.3, 0.8),
        ("rocker", 0, 0.7, 0.6),
    ):
        there = transform(np.eye(3), np.array([at, 0, 0]))
        joint = Joint(f"{name}_joint", JointKind.REVOLUTE, T_parent_joint=T @ there if parent == 0 else there)
        rod = Inertia(2 * length, np.array([length / 2, 0, 0]), 2 * length**3 / 12 * np.diag([0.1, 1, 1]))
        bodies.append(Body(name, parent, joint, rod))
    return Tree("four-bar", tuple(bodies), gravity=T[:3, :3] @ np.array([0, -9.81, 0]))


def closed_four_bar(kind: str = "connect", turned: np.ndarray | None = None) -> tuple[Tree, np.ndarray]:
    """Return the four-bar with its closure, "connect" or "two pins" on one axis, and q (1, 3)."""
    tree = four_bar(turned)
    pin = Closure("connect", "pin", ("coupler", "rocker"), (0.8, 0, 0, 0.6, 0, 0))
    closed, q = assembly.with_closures(tree, [pin]), assembled_crank(1.0)
    if kind == "connect":
        return closed, q
    second = assembly.connected(tree, q[0], "pin2", "coupler", "rocker", np.array([0.8, 0, 0.1]))
    return assembly.with_closures(closed, [second]), q


def assembled_crank(angle: float) -> np.ndarray:
    """Return the closed configuration (1, 3) with the crank at an angle [rad]."""
    end = 0.3 * np.array([np.cos(angle), np.sin(angle)])
    span = np.array([0.7, 0]) - end
    d = np.linalg.norm(span)
    inner = np.arccos((0.8**2 + d**2 - 0.6**2) / (2 * 0.8 * d))
    coupler = np.arctan2(span[1], span[0]) + inner
    tip = end + 0.8 * np.array([np.cos(coupler), np.sin(coupler)])
    rocker = np.arctan2(tip[1], tip[0] - 0.7)
    return np.array([[angle, coupler - angle, rocker]])
