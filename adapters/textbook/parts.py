"""Joint efforts taken apart: by cause, and by the body that asks for them.

Body b asks joint efforts J_b^T f_b for its own net wrench f_b = I A + V x* (I V), which is linear in three causes:

    gravity        A = (0, -g) carried out to the body, at rest
    velocity       A = J' v, with V x* (I V)
    acceleration   A = J a

and -J_b^T f for the load f on it. Reflected inertia belongs to joints and to no body. The parts are signed efforts, not
powers; which is the largest depends on pose, rates and accelerations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...harness.spatial import inverse, motion_transform, spatial_inertia
from ..reference.composite import jacobians
from ..reference.recursion import body_wrench, outward
from .inputs import agree

if TYPE_CHECKING:
    from ...harness.spatial import Array
    from ..reference import Reference


@dataclass(frozen=True, eq=False)
class Parts:
    """Joint efforts by cause and body; each of the first four is (N, nb, nv) [N m | N], the world's row zero.

    Attributes:
        gravity: holds every body up.
        velocity: keeps every body on its curved way at constant v.
        acceleration: what every body asks for a.
        load: minus what the wrench on every body contributes.
        reflected: (N, nv) armature, rotors and tendon inertia times a.
    """

    gravity: Array
    velocity: Array
    acceleration: Array
    load: Array
    reflected: Array

    def by_cause(self) -> dict[str, Array]:
        """Return the efforts (N, nv) of every cause by its name, summed over the bodies."""
        causes = {name: getattr(self, name).sum(1) for name in ("gravity", "velocity", "acceleration", "load")}
        return causes | {"reflected": self.reflected}

    def by_body(self) -> Array:
        """Return the efforts (N, nb, nv) that every body asks for, summed over the causes but reflected inertia."""
        return self.gravity + self.velocity + self.acceleration + self.load

    def total(self) -> Array:
        """Return tau (N, nv)."""
        return self.by_body().sum(1) + self.reflected


def parts(reference: Reference, q: Array, v: Array, a: Array, wrenches: Array | None = None) -> Parts:
    """Return what inverse dynamics is made of.

    Args:
        reference: session of the tree.
        q: (N, nq).
        v: (N, nv).
        a: (N, nv).
        wrenches: (N, nb, 6) on the bodies, as in `Session`.

    Raises:
        ShapeError: an array has another number of coordinates, bodies or states.
    """
    model, tree, dtype = reference.model, reference.tree, reference.dtype
    nv, nb = tree.nv, len(tree.bodies)
    told = {"q": (q, "N", tree.nq), "v": (v, "N", nv), "a": (a, "N", nv), "wrenches": (wrenches, "N", nb, 6)}
    agree(repr(tree.name), **told)
    q, v, a = (np.ascontiguousarray(np.asarray(x, dtype).T) for x in (q, v, a))
    rest, weightless = np.zeros_like(v), np.zeros(3, dtype)
    causes = (
        outward(model, q, rest, rest, tree.gravity.astype(dtype)),
        outward(model, q, v, rest, weightless),
        outward(model, q, rest, a, weightless),
    )
    Js = jacobians(model, q)
    by_gravity, by_velocity, by_acceleration, by_load = np.zeros((4, q.shape[1], len(tree.bodies), tree.nv), dtype)
    for b, body in enumerate(tree.bodies):
        k = model.holder[b]
        if k == 0:
            continue  # the ground bears what cannot move
        X_body_segment = motion_transform(inverse(model.Ts_segment_body[b]))
        held = body.inertia
        I_body = spatial_inertia(np.asarray(held.mass, dtype), held.com.astype(dtype), held.I_com.astype(dtype))
        I = X_body_segment.T @ I_body @ X_body_segment
        for part, passed in zip((by_gravity, by_velocity, by_acceleration), causes, strict=True):
            part[:, b] = _efforts(Js[k], body_wrench(I, passed.VA[k]))
        if wrenches is not None:
            by_load[:, b] = -_efforts(Js[k], X_body_segment.T @ wrenches[:, b].T.astype(dtype))
    reflected = model.reflected[:, None] * a
    if model.tendons is not None:
        reflected = reflected + model.tendons @ a
    return Parts(by_gravity, by_velocity, by_acceleration, by_load, reflected.T)


def _efforts(J: Array, f: Array) -> Array:
    """Return J^T f (N, nv), state by state: (N, 6, nv), (6, N)."""
    return (f.T[:, None] @ J)[:, 0]
