"""Mass matrix three ways: composite rigid bodies, kinetic energy, and columns of inverse dynamics.

Source: Featherstone 2008, Table 6.2 (composite rigid bodies); Walker and Orin 1982, Efficient dynamic computer
simulation of robotic mechanisms (columns).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...harness.spatial import inverse, motion_transform
from .joints import displacement
from .recursion import inward, outward

if TYPE_CHECKING:
    from ...harness.spatial import Array
    from .model import Model


def motion_transforms(model: Model, q: Array) -> list[Array]:
    """Return X_segment_parent (N, 6, 6) of every segment; the world's stays the identity.

    Args:
        model: compiled tree.
        q: (nq, N).
    """
    Xs: list[Array] = [np.broadcast_to(np.eye(6, dtype=model.dtype), (q.shape[1], 6, 6))]
    Xs.extend(
        motion_transform(inverse(displacement(segment, q[segment.q]).matrix())) @ segment.X
        for segment in model.segments[1:]
    )
    return Xs


def mass_matrix(model: Model, q: Array) -> Array:
    """Return the rigid mass matrix (N, nv, nv) by the composite-rigid-body algorithm.

    Composite inertias go inward once; each joint's column F = I^c S then climbs to the root along its own ancestors.
    """
    Xs = motion_transforms(model, q)
    count = q.shape[1]
    composites = [np.broadcast_to(segment.I, (count, 6, 6)) for segment in model.segments]
    for k in range(len(model.segments) - 1, 0, -1):
        parent = model.segments[k].parent
        if parent:
            composites[parent] = composites[parent] + Xs[k].swapaxes(-1, -2) @ composites[k] @ Xs[k]
    M = np.zeros((count, model.tree.nv, model.tree.nv), model.dtype)
    for k, segment in enumerate(model.segments[1:], 1):
        F = composites[k] @ segment.S
        M[:, segment.v, segment.v] = segment.S.T @ F
        j = k
        while model.segments[j].parent:
            F = Xs[j].swapaxes(-1, -2) @ F
            j = model.segments[j].parent
            above = model.segments[j]
            block = above.S.T @ F
            M[:, above.v, segment.v] = block
            M[:, segment.v, above.v] = block.swapaxes(-1, -2)
    return M


def mass_matrix_from_energy(model: Model, q: Array) -> Array:
    """Return the rigid mass matrix (N, nv, nv) as sum of J^T I J over the segments, whose quadratic form is 2 K."""
    M = np.zeros((q.shape[1], model.tree.nv, model.tree.nv), model.dtype)
    for J, segment in zip(jacobians(model, q), model.segments, strict=True):
        M += J.swapaxes(-1, -2) @ (segment.I @ J)
    return M


def mass_matrix_by_columns(model: Model, q: Array) -> Array:
    """Return the rigid mass matrix (N, nv, nv), column j as ID(q, 0, e_j) without gravity: nv recursions."""
    nv, count = model.tree.nv, q.shape[1]
    # All columns of all states are one batch: state n and column j stand at n + j N.
    q_all, rest = np.tile(q, (1, nv)), np.zeros((nv, nv * count), model.dtype)
    a = np.repeat(np.eye(nv, dtype=model.dtype), count, axis=1)
    tau = inward(model, outward(model, q_all, rest, a, np.zeros(3, model.dtype)), {})
    return tau.reshape(nv, nv, count).transpose(2, 0, 1)


def jacobians(model: Model, q: Array) -> list[Array]:
    """Return J (N, 6, nv) of every segment: twist in segment coordinates = J v."""
    Js: list[Array] = [np.zeros((q.shape[1], 6, model.tree.nv), model.dtype)]
    for X, segment in zip(motion_transforms(model, q)[1:], model.segments[1:], strict=True):
        J = X @ Js[segment.parent]
        J[:, :, segment.v] += segment.S
        Js.append(J)
    return Js
