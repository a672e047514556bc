"""What is wrong with a model file itself, whatever engine reads it: each fault with its line and what to do.

A lint changes no verdict. It says what no body can be (a tensor, a mass), what no robot is meant to be (a tensor in
other units, a product of inertia that breaks the mirror of left and right), and what engines disagree about in silence
(an axis that is no unit vector, a link without inertia that moves, a mimic of nothing, limits without room).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..findings import KINDS
from .lint_joints import axes, massless, mimics, ranges, without_inertial
from .lint_mirror import mirrors
from .lint_size import masses, sizes
from .lint_tensors import massless_tensors, tensors

if TYPE_CHECKING:
    from ..findings import Finding
    from ..tree import Tree

CHECKS: Final = (
    masses,
    massless_tensors,
    tensors,
    sizes,
    mirrors,
    massless,
    without_inertial,
    mimics,
    ranges,
    axes,
)


def lint(tree: Tree) -> tuple[Finding, ...]:
    """Return what is wrong with the file of this tree, by kind, then by line.

    Args:
        tree: as the importer read it.
    """
    with np.errstate(all="ignore"):  # a number of any size is a fault, not a warning
        found = [finding for check in CHECKS for finding in check(tree)]
    order = {kind: n for n, kind in enumerate(KINDS)}
    return tuple(sorted(found, key=lambda f: (order[f.kind], f.file or "", f.line or 0)))
