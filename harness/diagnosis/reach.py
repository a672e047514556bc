"""Where a fault can sit, told by what it cannot touch.

The inertia of a body acts on the dofs above it and on itself alone. A joint that stands elsewhere also changes the dofs
below it, but no entry of M between two dofs that are both strictly below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..tree import Floats, Tree
    from .evidence import Evidence, Mask


@dataclass(frozen=True, eq=False)
class Reach:
    """Which dofs and which entries of M show a residual, and what each place could touch.

    Attributes:
        tree: whose places these are.
        above: (nv, nb) whether dof i carries body b.
        touched: (nv,) dofs with a residual.
        entries: (nv, nv) entries of M with one; None when M is not known.
    """

    tree: Tree
    above: Mask
    touched: Mask
    entries: Mask | None

    def inertia(self, body: int) -> bool:
        """Return whether a fault in the inertia of `body` can touch all that shows a residual."""
        over = self.above[:, body]
        if (self.touched & ~over).any():
            return False
        return self.entries is None or not (self.entries & ~np.outer(over, over)).any()

    def joint(self, body: int) -> bool:
        """Return whether a fault in the axis or placement of the joint of `body` can."""
        over, below = self.above[:, body], self.below(body)
        if (self.touched & ~(over | below)).any():
            return False
        if self.entries is None:
            return True
        related = np.outer(over, over | below)
        return not (self.entries & ~(related | related.T)).any()

    def shows_below(self, body: int) -> bool:
        """Return whether a residual shows at the joint of `body` or below it, as it does when that joint is elsewhere.

        A balanced wheel is the exception: its own dof does not feel where it stands.
        """
        return bool((self.touched & self.below(body)).any())

    def below(self, body: int) -> Mask:
        """Return which dofs (nv,) carry bodies of the subtree of `body` alone: its own and those under it."""
        carried = np.zeros(self.tree.nv, bool)
        inside = {body}
        for k in range(body, len(self.tree.bodies)):
            if k in inside or self.tree.parents[k] in inside:
                inside.add(k)
                carried[self.tree.v_slices[k]] = True
        return carried


def reach_of(tree: Tree, evidence: Evidence, residual: Floats, masses: Floats | None, accept: float) -> Reach:
    """Return where the residual shows.

    Args:
        tree: with the changes that are given.
        evidence: whose residual it is.
        residual: (E, n) scaled.
        masses: (k, n, n) scaled residual of M, or None.
        accept: what counts as rounding.
    """
    above = np.zeros((tree.nv, len(tree.bodies)), bool)
    for b in range(1, len(tree.bodies)):
        above[:, b] = above[:, tree.parents[b]]
        above[tree.v_slices[b], b] = True
    touched = np.zeros(tree.nv, bool)
    touched[evidence.kept] = np.abs(residual).max(0, initial=0) > accept
    entries = None
    if masses is not None:
        entries = np.zeros((tree.nv, tree.nv), bool)
        entries[np.ix_(evidence.kept, evidence.kept)] = np.abs(masses).max(0, initial=0) > accept
    return Reach(tree, above, touched, entries)
