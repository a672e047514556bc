"""Tensors that no body can have: principal moments A <= B <= C of mass anywhere have 0 <= A and C <= A + B."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from .fault import fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..findings import Finding
    from ..tree import Body, Floats, Tree

# Relative to the largest moment: eigenvalues of a 3 x 3 matrix are good to some eps, a turn R I R^T costs some more.
ROUNDING: Final = 1e-12
UNIT: Final = "kg m^2"


def moments(body: Body) -> Floats:
    """Return the principal moments (3,) [kg m^2], ascending.

    The tensor is scaled by a power of two first, since its square must fit into a double.
    """
    I = body.inertia.I_com
    exponent = int(np.frexp(np.abs(I).max())[1])
    return np.ldexp(np.linalg.eigvalsh(np.ldexp(I, -exponent)), exponent)


def massless_tensors(tree: Tree) -> Iterator[Finding]:
    """Yield bodies whose mass is zero though they have a tensor."""
    for body in tree.bodies[1:]:
        if body.inertia.mass == 0 and body.inertia.I_com.any():
            found = moments(body).tolist()
            yield fault(tree, "lint.massless_tensor", body.name, body.source("mass"), "no tensor", found, UNIT)


def tensors(tree: Tree) -> Iterator[Finding]:
    """Yield tensors that are not positive definite, or that violate the triangle inequality.

    A moment that is exactly zero is a point or a line of mass. On a link that is fixed to another one that is fair; a
    link that moves by itself, and the root, which may float, are asked for three moments above zero.
    """
    for body in tree.bodies[1:]:
        low, middle, high = (float(x) for x in moments(body))
        rounding = ROUNDING * max(-low, high)
        alone = body.joint.nv > 0 or body.parent == 0
        found = [low, middle, high]
        if low < -rounding:
            yield _fault(tree, body, "lint.not_definite", "A > 0", found)
        elif high - low - middle > rounding:
            yield _fault(tree, body, "lint.triangle", "A + B >= C", found)
        elif low <= rounding and alone and body.inertia.mass > 0:
            yield _fault(tree, body, "lint.not_definite", "A > 0", found)


def _fault(tree: Tree, body: Body, kind: str, law: str, found: list[float]) -> Finding:
    return fault(tree, kind, body.name, body.source("inertia"), f"principal moments A, B, C with {law}", found, UNIT)
