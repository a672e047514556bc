"""Where a convention about external wrenches shows most, so that a finding about it can name a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .tree import Body, Tree


def longest_lever(tree: Tree) -> Body | None:
    """Return the moving body whose centre of mass lies farthest from its origin; None when nothing moves.

    A wrench that is taken at the centre of mass, or in other axes, differs most there.
    """
    moving = [body for body, moves in zip(tree.bodies, tree.moving, strict=True) if moves]
    return max(moving, key=lambda body: float(np.linalg.norm(body.inertia.com)), default=None)
