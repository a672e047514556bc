"""Configurations, velocities and accelerations that satisfy constraints, and closures made of a configuration.

Newton's method on the manifold: q <- q exp(dq), with the smallest dq, in the metric of the mass matrix or of the
coordinates themselves, that makes phi + J dq = 0. Velocities and accelerations are corrected in one step.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...harness.checks.derivatives import displaced
from ...harness.errors import RequestError
from ...harness.spatial import inverse, quaternion_from_rotation
from ...harness.tree import Closure
from ..reference import Reference
from .constrained import require_motion
from .constraints import rows_of
from .inputs import agree, finite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...harness.spatial import Array
    from ...harness.tree import Tree

ASSEMBLED = 1e-13  # [m | rad] of every row, in units of the largest coordinate of a body, at least 1
ROUNDS = 100
RANK = 1e-9  # of the largest singular value: what is smaller is no direction that the rows can move


def connected(tree: Tree, q: Array, name: str, first: str, second: str, anchor: Array) -> Closure:
    """Return a `connect` of the point `anchor` (3,) [m] of body `first` with where it stands in `second` at q (nq,).

    Args:
        tree: that has the bodies; "" is the world.
        q: (nq,).
        name: of the closure.
        first: body of the anchor.
        second: the other body.
        anchor: (3,) [m] in the axes of `first`, from its origin.

    Raises:
        ShapeError: q or the anchor has another number of components.
        RequestError: there is no such body, or a number is none.
    """
    T = _relative(tree, q, second, first, anchor)
    there = T[:3, :3] @ anchor + T[:3, 3]
    return Closure("connect", name, (first, second), tuple(float(x) for x in (*anchor, *there)))


def welded(tree: Tree, q: Array, name: str, first: str, second: str, anchor: Array | None = None) -> Closure:
    """Return a `weld` that holds the two bodies as they stand at q (nq,); `anchor` (3,) [m] is a point of `second`.

    Raises:
        ShapeError: q or the anchor has another number of components.
        RequestError: there is no such body, or a number is none.
    """
    own = np.zeros(3) if anchor is None else anchor
    T = _relative(tree, q, first, second, own)
    quat = quaternion_from_rotation(T[:3, :3])
    numbers = (*own, *(T[:3, :3] @ own + T[:3, 3]), *quat, 1.0)
    return Closure("weld", name, (first, second), tuple(float(x) for x in numbers))


def _relative(tree: Tree, q: Array, one: str, two: str, anchor: Array) -> Array:
    """Return T_one_two (4, 4) at q (nq,)."""
    agree(repr(tree.name), q=(q, tree.nq), anchor=(anchor, 3))
    finite(repr(tree.name), q=q, anchor=anchor)
    for name in (one, two):
        if name and name not in tree.index:
            raise RequestError(f"there is no body {name!r} in {tree.name!r}")
    T = Reference(tree).all_poses(np.asarray(q, np.float64)[None])[0]
    i, j = (tree.index[name] if name else 0 for name in (one, two))
    return inverse(T[i]) @ T[j]


def with_closures(tree: Tree, closures: Sequence[Closure]) -> Tree:
    """Return the tree with these closures beside its own."""
    return replace(tree, closures=(*tree.closures, *closures))


def assembled(tree: Tree, q: Array) -> Array:
    """Return configurations (N, nq) near q (N, nq) in which all closures hold.

    Raises:
        RequestError: none was found from there; the message holds the row that is left open most.
    """
    near = np.array(q, np.float64)
    finite(repr(tree.name), q=near)
    rest = np.zeros((len(near), tree.nv))
    rows = rows_of(tree, near, rest)
    for _ in range(ROUNDS):
        if np.abs(rows.position).max(initial=0) <= ASSEMBLED * max(1.0, float(np.abs(near).max(initial=0))):
            return near
        near = displaced(tree, near, -np.asarray(_smallest(rows.J, rows.position), np.float64))
        rows = rows_of(tree, near, rest)
    state, row = np.unravel_index(np.abs(rows.position).argmax(), rows.position.shape)
    raise RequestError(
        f"no configuration of {tree.name!r} was found in which its closures hold: from state {state}, "
        f"{rows.names[row]!r} stays at {rows.position[state, row]:.3g} {rows.units[row]}"
    )


def consistent_velocity(tree: Tree, q: Array, v: Array) -> Array:
    """Return the velocity (N, nv) nearest to v (N, nv) with J v = 0."""
    rows = rows_of(tree, q, v)
    finite(repr(tree.name), q=q, v=v)
    return v - _smallest(rows.J, rows.velocity(v))


def consistent_acceleration(tree: Tree, q: Array, v: Array, a: Array) -> Array:
    """Return the acceleration (N, nv) nearest to a (N, nv) with J a + Jdot v = 0.

    Raises:
        ShapeError: an array has another number of coordinates or states.
        Inconsistent: there is none: rows that say the same of positions ask for different accelerations.
    """
    rows = rows_of(tree, q, v)
    agree(repr(tree.name), v=(v, "N", "nv"), a=(a, "N", "nv"))
    finite(repr(tree.name), q=q, v=v, a=a)
    nearest = a - _smallest(rows.J, rows.acceleration(a))
    require_motion(rows, nearest)
    return nearest


def _smallest(J: Array, residual: Array) -> Array:
    """Return the smallest x (N, nv) with J x = residual (N, m)."""
    return (np.linalg.pinv(J, rcond=RANK) @ residual[..., None])[..., 0]
