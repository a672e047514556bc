"""Floating roots that an engine places elsewhere: a constant motion between its poses and ours, whatever the state.

Where the frame of a floating joint stands is a choice as long as the coordinates follow it, so it is not compared as a
parameter. What does not follow shows in the poses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..spatial import inverse
from .difference import Difference, with_joint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..engine import Session
    from ..states import States
    from ..tree import Floats, Tree
    from .hypotheses import Make


def displaced_roots(session: Session, tree: Tree, states: States, make: Make, tolerance: float) -> Iterator[Difference]:
    """Yield the floating roots whose world is moved by a constant motion D: theirs = D ours.

    Args:
        session: that answers poses.
        tree: the expected robot.
        states: that are asked.
        make: returns the reference of a tree.
        tolerance: of rotations, and of translations times the farthest distance from the origin.
    """
    roots = [i for i in tree.floating_roots if tree.bodies[i].name in session.bodies]
    if not roots or "poses" in session.lacks:
        return
    try:
        theirs = session.poses(states.q.copy())
    except (Exception, SystemExit):  # noqa: BLE001  engines raise anything: the row of poses tells
        return
    ours = np.asarray(make(tree).poses(states.q), np.float64)
    for i in roots:
        mine, other = ours[:, i - 1], theirs[:, list(session.bodies).index(tree.bodies[i].name)]
        D = other @ inverse(mine)
        allowed = tolerance * max(1.0, float(np.abs(mine[:, :3, 3]).max()))
        if np.abs(D - D[0]).max() > allowed or np.abs(D[0] - np.eye(4)).max() <= allowed:
            continue
        yield _moved(tree, i, D[0])


def _moved(tree: Tree, i: int, D: Floats) -> Difference:
    """Return the difference of a root that stands at D times its own placement."""
    joint = tree.joints[i]
    T = D @ joint.T_parent_joint
    turned = float(np.abs(D[:3, :3] - np.eye(3)).max()) > 1e-9
    return Difference(
        "joint.orientation" if turned else "joint.placement",
        joint.name,
        joint.T_parent_joint[:3, 3].tolist(),
        T[:3, 3].tolist(),
        "m",
        lambda patched: with_joint(patched, joint.name, T_parent_joint=T),
        joint.source("T_parent_joint"),
    )
