"""What a joint does to motion and force vectors at N states: plane turn, shift, or any rigid displacement.

Arrays are (6, ..., N), angular first. For a child frame at p with rotation R in the parent frame,
motion to the child: omega' = R^T omega, v' = R^T (v + omega x p); force to the parent, the transpose of it:
F = R F', n = R n' + p x F.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...harness.spatial import Array, rotation_from_quaternion
from ...harness.tree import JointKind
from .model import TURNING, Segment


class Displacement(Protocol):
    """A joint at N states."""

    def to_child(self, x: Array) -> Array:
        """Return motion vectors (6, ..., N) of the parent side in child coordinates."""
        ...

    def to_parent(self, f: Array) -> Array:
        """Return wrenches (6, N) of the child in coordinates of the parent side."""
        ...

    def matrix(self) -> Array:
        """Return T_parent_child, (N, 4, 4)."""
        ...


@dataclass(frozen=True, eq=False)
class Turn:
    """Rotation about z by angles with cosine c and sine s, (N,) each."""

    c: Array
    s: Array

    def to_child(self, x: Array) -> Array:
        """See `Displacement`; x may be overwritten."""
        pairs = x.reshape(2, 3, *x.shape[1:])
        a, b = pairs[:, 0], pairs[:, 1]
        sa = self.s * a
        a *= self.c
        a += self.s * b
        b *= self.c
        b -= sa
        return x

    def to_parent(self, f: Array) -> Array:
        """See `Displacement`."""
        g = np.empty_like(f)
        given, out = f.reshape(2, 3, -1), g.reshape(2, 3, -1)
        a, b = given[:, 0], given[:, 1]
        np.multiply(a, self.c, out=out[:, 0])
        out[:, 0] -= self.s * b
        np.multiply(b, self.c, out=out[:, 1])
        out[:, 1] += self.s * a
        out[:, 2] = given[:, 2]
        return g

    def matrix(self) -> Array:
        """See `Displacement`."""
        T = np.zeros((len(self.c), 4, 4), self.c.dtype)
        T[:, 0, 0] = T[:, 1, 1] = self.c
        T[:, 1, 0], T[:, 0, 1] = self.s, -self.s
        T[:, 2, 2] = T[:, 3, 3] = 1
        return T


@dataclass(frozen=True, eq=False)
class Shift:
    """Translation along z by d, (N,)."""

    d: Array

    def to_child(self, x: Array) -> Array:
        """See `Displacement`; x may be overwritten."""
        x[3] += x[1] * self.d
        x[4] -= x[0] * self.d
        return x

    def to_parent(self, f: Array) -> Array:
        """See `Displacement`."""
        g = f.copy()
        g[0] -= self.d * f[4]
        g[1] += self.d * f[3]
        return g

    def matrix(self) -> Array:
        """See `Displacement`."""
        T = np.zeros((len(self.d), 4, 4), self.d.dtype)
        T[:, range(4), range(4)] = 1
        T[:, 2, 3] = self.d
        return T


@dataclass(frozen=True, eq=False)
class Displace:
    """Any rigid displacement: R (3, 3, N) and p (3, N)."""

    R: Array
    p: Array

    def to_child(self, x: Array) -> Array:
        """See `Displacement`."""
        moved = x[3:] + cross(x[:3], self.p.reshape(3, *[1] * (x.ndim - 2), -1))
        return np.concatenate([_turn_back(self.R, x[:3]), _turn_back(self.R, moved)])

    def to_parent(self, f: Array) -> Array:
        """See `Displacement`."""
        n, F = _turn(self.R, f[:3]), _turn(self.R, f[3:])
        return np.concatenate([n + cross(self.p, F), F])

    def matrix(self) -> Array:
        """See `Displacement`."""
        T = np.zeros((self.p.shape[-1], 4, 4), self.p.dtype)
        T[:, :3, :3] = np.moveaxis(self.R, -1, 0)
        T[:, :3, 3] = self.p.T
        T[:, 3, 3] = 1
        return T


def displacement(segment: Segment, q: Array) -> Displacement:
    """Return what the joint of `segment` does at the states whose own coordinates are q, (nq, N)."""
    kind = segment.kind
    if kind in TURNING:
        angle = q[0] - segment.ref
        return Turn(np.cos(angle), np.sin(angle))
    if kind is JointKind.PRISMATIC:
        return Shift(q[0] - segment.ref)
    zero = np.zeros_like(q[0])
    if kind is JointKind.PLANAR:
        c, s, one = np.cos(q[2]), np.sin(q[2]), np.ones_like(zero)
        R = np.stack([np.stack([c, -s, zero]), np.stack([s, c, zero]), np.stack([zero, zero, one])])
        return Displace(R, np.stack([q[0], q[1], zero]))
    R = np.moveaxis(rotation_from_quaternion(q[-4:].T), 0, -1)
    return Displace(R, q[:3] if kind is JointKind.FLOATING else np.zeros_like(q[:3]))


def cross(a: Array, b: Array) -> Array:
    """Return a x b for vectors along the first axis."""
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _turn(R: Array, x: Array) -> Array:
    """Return R x, state by state: R (3, 3, N), x (3, N)."""
    return np.stack([R[k, 0] * x[0] + R[k, 1] * x[1] + R[k, 2] * x[2] for k in range(3)])


def _turn_back(R: Array, x: Array) -> Array:
    """Return R^T x, state by state: R (3, 3, N), x (3, ..., N)."""
    return np.stack([R[0, k] * x[0] + R[1, k] * x[1] + R[2, k] * x[2] for k in range(3)])
