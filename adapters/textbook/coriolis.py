"""The Coriolis matrix C(q, v) of any tree, for which C v is the velocity product and Mdot - 2C is skew.

With the body Jacobians J and their component rates J', M = sum J^T I J gives Mdot = sum J'^T I J + J^T I J', and

    C = sum J^T (I J' + B(V) J),    B(V) V = V x* (I V),    B(V) skew,

so that Mdot - 2C = sum (J'^T I J - J^T I J') - 2 J^T B J is skew, whatever the joints are: J' is the rate of the
components along the motion q' = v in the velocity coordinates of the tree, also where v is no derivative of q (ball,
planar and floating joints). C v = bias - gravity leaves C open; two choices of B are offered:

    "christoffel"   B = (V x* I + I ad_V + (I V) x) / 2, which on trees of scalar joints gives the matrix of the
                    Christoffel symbols of M, and carries their construction over to the other joints
    "body"          B = (I V) x, the momentum alone: the shortest, another matrix with the same C v

where h x is the matrix with (h x) V = V x* h, skew for every h = (n, F). Reflected inertia is constant and has no part.

Source: Niemeyer and Slotine 1991, Performance in adaptive manipulator control; Echeandia and Wensing 2021, Numerical
methods to compute the Coriolis matrix and Christoffel symbols for rigid-body systems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ...harness.errors import RequestError
from ...harness.spatial import motion_cross, skew
from ..reference.composite import motion_transforms
from .inputs import agree

if TYPE_CHECKING:
    from ...harness.spatial import Array
    from ..reference import Reference

Choice = Literal["christoffel", "body"]


def coriolis_matrix(reference: Reference, q: Array, v: Array, choice: Choice = "christoffel") -> Array:
    """Return C (N, nv, nv) with C v = bias - gravity and Mdot - 2C skew.

    Args:
        reference: session of the tree.
        q: (N, nq).
        v: (N, nv).
        choice: which of the matrices with these properties; see the module.

    Raises:
        ShapeError: an array has another number of coordinates or states.
        RequestError: an unknown choice.
    """
    if choice not in get_args(Choice):
        raise RequestError(f"choice {choice!r} is unknown; known are {', '.join(get_args(Choice))}")
    C = np.zeros((len(q), reference.tree.nv, reference.tree.nv), reference.dtype)
    for segment, (J, rate, V) in zip(reference.model.segments[1:], _jacobians(reference, q, v), strict=True):
        I = segment.I
        B = momentum_cross(V @ I)
        if choice == "christoffel":
            ad = motion_cross(V)
            B = (B + I @ ad - ad.swapaxes(-1, -2) @ I) / 2
        C += J.swapaxes(-1, -2) @ (I @ rate + B @ J)
    return C


def mass_matrix_rate(reference: Reference, q: Array, v: Array) -> Array:
    """Return Mdot (N, nv, nv) along the motion q' = v; arguments as in `coriolis_matrix`."""
    M = np.zeros((len(q), reference.tree.nv, reference.tree.nv), reference.dtype)
    for segment, (J, rate, _) in zip(reference.model.segments[1:], _jacobians(reference, q, v), strict=True):
        half = J.swapaxes(-1, -2) @ (segment.I @ rate)
        M += half + half.swapaxes(-1, -2)
    return M


def momentum_cross(h: Array) -> Array:
    """Return h x = -[[n x, F x], [F x, 0]], skew, with (h x) V = V x* h for every twist V; (..., 6, 6) of (..., 6)."""
    matrix = np.zeros((*h.shape[:-1], 6, 6), h.dtype)
    matrix[..., :3, :3] = -skew(h[..., :3])
    matrix[..., :3, 3:] = matrix[..., 3:, :3] = -skew(h[..., 3:])
    return matrix


def _jacobians(reference: Reference, q: Array, v: Array) -> list[tuple[Array, Array, Array]]:
    """Return J (N, 6, nv), its rate and the twist (N, 6) of every moving segment, in segment coordinates.

    S is constant and X' = -ad_{S v} X, so that X J + S changes by X J' - ad_{S v} X J.
    """
    model, tree = reference.model, reference.tree
    agree(repr(tree.name), q=(q, "N", tree.nq), v=(v, "N", tree.nv))
    v = np.asarray(v, reference.dtype)
    Xs = motion_transforms(model, np.ascontiguousarray(np.asarray(q, reference.dtype).T))
    still = np.zeros((len(q), 6, reference.tree.nv), reference.dtype)
    found: list[tuple[Array, Array, Array]] = [(still, still, np.zeros((len(q), 6), reference.dtype))]
    for X, segment in zip(Xs[1:], model.segments[1:], strict=True):
        J, rate, V = found[segment.parent]
        joint = v[:, segment.v] @ segment.S.T
        inherited = X @ J
        rate = X @ rate - motion_cross(joint) @ inherited
        J = inherited.copy()
        J[:, :, segment.v] += segment.S
        found.append((J, rate, (X @ V[..., None])[..., 0] + joint))
    return found[1:]
