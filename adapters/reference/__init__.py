"""The native reference: recursive dynamics of a `Tree`, independent of every engine, in float64 or longdouble.

Written from the tree's own conventions; all answers are canonical by construction. In longdouble it is the truth that
engines are measured against, in float64 an engine like the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...harness.errors import EngineUnsupported, ShapeError
from ...harness.linear import scaled_pivots, solve
from ...harness.spatial import inverse, motion_transform
from ...harness.tree import JointKind
from . import composite
from .articulated import SINGULAR, articulated_body
from .joints import displacement
from .model import Model, compile_tree
from .recursion import inward, outward

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ...harness.engine import Given
    from ...harness.spatial import Array
    from ...harness.tree import Tree


@dataclass(frozen=True, eq=False)
class Motion:
    """Motion of every tree body against the world, the world's row included; all vectors in world axes.

    Attributes:
        R_world_body: (N, nb, 3, 3).
        p_world_body: (N, nb, 3) [m] body origins.
        c_world: (N, nb, 3) [m] centres of mass.
        omega: (N, nb, 3) [rad/s].
        v_origin: (N, nb, 3) [m/s] velocity of the body origin.
        alpha: (N, nb, 3) [rad/s^2].
        a_origin: (N, nb, 3) [m/s^2] linear part of the spatial acceleration at the body origin, gravity left out.
    """

    R_world_body: Array
    p_world_body: Array
    c_world: Array
    omega: Array
    v_origin: Array
    alpha: Array
    a_origin: Array


class Reference:
    """A session of the native engine; see `harness.engine.Session` for the arguments and shapes of every answer."""

    findings = ()
    notes = ()
    extra_dofs = ()

    def __init__(self, tree: Tree, dtype: DTypeLike = np.float64) -> None:
        self.tree = tree
        self.dtype: Any = np.dtype(dtype)
        self.lacks: dict[str, str] = {}
        self.total_mass = tree.total_mass
        self.dofs = tree.dofs
        self.bodies = tuple(body.name for body in tree.bodies[1:])
        self._gravity = tree.gravity.astype(dtype)

    @cached_property
    def model(self) -> Model:
        """The tree made ready for recursion."""
        return compile_tree(self.tree, self.dtype)

    def inverse_dynamics(
        self,
        q: Array,
        v: Array,
        a: Array,
        wrenches: Array | None = None,
        gravity: Array | None = None,
        *,
        armature: bool = True,
        damping: bool = False,
    ) -> Array:
        """Return tau = M a + bias - sum J^T f (N, nv), by recursive Newton-Euler.

        Args:
            q: as in `Session`.
            v: as in `Session`.
            a: as in `Session`.
            wrenches: as in `Session`; they may act on any body, also a fixed one.
            gravity: as in `Session`.
            armature: whether M holds the reflected inertia of joints, rotors and tendons.
            damping: whether the viscous joint forces `damping * v` are added.
        """
        q, v, a = self._columns(q, self.tree.nq), self._columns(v, self.tree.nv), self._columns(a, self.tree.nv)
        g = self._gravity if gravity is None else np.asarray(gravity, self.dtype)
        tau = inward(self.model, outward(self.model, q, v, a, g), self._external(wrenches))
        if armature:
            tau += self.model.reflected[:, None] * a
            if self.model.tendons is not None:
                tau += self.model.tendons @ a
        if damping:
            tau += np.concatenate([joint.damping for joint in self.tree.joints])[:, None] * v
        return tau.T

    def bias(self, q: Array, v: Array, gravity: Array | None = None) -> Array:
        """Return inverse dynamics at zero acceleration, (N, nv)."""
        return self.inverse_dynamics(q, v, np.zeros_like(v), gravity=gravity)

    def gravity_forces(self, q: Array) -> Array:
        """Return inverse dynamics at rest, (N, nv)."""
        rest = np.zeros((len(q), self.tree.nv), self.dtype)
        return self.inverse_dynamics(q, rest, rest)

    def mass_matrix(self, q: Array) -> Array:
        """Return M (N, nv, nv) by composite rigid bodies, with reflected inertia."""
        return self._with_reflected(composite.mass_matrix(self.model, self._columns(q, self.tree.nq)))

    def mass_matrix_from_energy(self, q: Array) -> Array:
        """Return M (N, nv, nv) as the sum of J^T I J, with reflected inertia."""
        return self._with_reflected(composite.mass_matrix_from_energy(self.model, self._columns(q, self.tree.nq)))

    def mass_matrix_by_columns(self, q: Array) -> Array:
        """Return M (N, nv, nv) column by column from inverse dynamics, with reflected inertia."""
        return self._with_reflected(composite.mass_matrix_by_columns(self.model, self._columns(q, self.tree.nq)))

    def forward_dynamics(self, q: Array, v: Array, tau: Array, wrenches: Array | None = None) -> Array:
        """Return the acceleration (N, nv) by the articulated-body algorithm.

        A state in which some joint moves no inertia has no acceleration: its row is inf. Tendon inertia couples joints
        across the tree, which articulated bodies cannot hold: then M is assembled and solved.
        """
        if self.model.tendons is not None:
            return self._solved(q, v, tau, wrenches)
        q, v, tau = self._columns(q, self.tree.nq), self._columns(v, self.tree.nv), self._columns(tau, self.tree.nv)
        model = self.model
        return articulated_body(model, q, v, tau, self._gravity, self._external(wrenches), model.reflected).T

    def _solved(self, q: Array, v: Array, tau: Array, wrenches: Array | None) -> Array:
        """Return M^-1 (tau - bias + sum J^T f), (N, nv); inf where M is singular."""
        M = self.mass_matrix(q)
        a = solve(M, np.asarray(tau, self.dtype) - self.inverse_dynamics(q, v, np.zeros_like(v), wrenches))
        regular = (np.abs(scaled_pivots(M)) > SINGULAR * np.finfo(self.dtype).eps).all(-1)
        a[~regular] = np.inf
        return a

    def segment_poses(self, q: Array) -> list[Array]:
        """Return T_world_segment (N, 4, 4) of every segment of the compiled model."""
        q = self._columns(q, self.tree.nq)
        Ts: list[Array] = [np.broadcast_to(np.eye(4, dtype=self.dtype), (q.shape[1], 4, 4))]
        for segment in self.model.segments[1:]:
            Ts.append(Ts[segment.parent] @ segment.K @ displacement(segment, q[segment.q]).matrix())
        return Ts

    def all_poses(self, q: Array) -> Array:
        """Return T_world_body (N, nb, 4, 4), the world's first."""
        Ts = self.segment_poses(q)
        placements = zip(self.model.holder, self.model.Ts_segment_body, strict=True)
        return np.stack([Ts[k] @ T for k, T in placements], axis=1)

    def poses(self, q: Array) -> Array:
        """Return T_world_body (N, nb - 1, 4, 4)."""
        return self.all_poses(q)[:, 1:]

    def velocities(self, q: Array, v: Array) -> Array:
        """Return body twists (N, nb - 1, 6) in body axes."""
        return self._twists(q, v, np.zeros_like(v))[0][:, 1:]

    def motion(self, q: Array, v: Array, a: Array) -> Motion:
        """Return positions, velocities and accelerations of every body in world axes, the world's first."""
        T = self.all_poses(q)
        V, A = self._twists(q, v, a)
        R, p = T[..., :3, :3], T[..., :3, 3]
        com = np.stack([body.inertia.com for body in self.tree.bodies]).astype(self.dtype)

        def turned(x: Array) -> Array:
            return (R @ x[..., None])[..., 0]

        c = p + turned(np.broadcast_to(com, p.shape))
        return Motion(R, p, c, turned(V[..., :3]), turned(V[..., 3:]), turned(A[..., :3]), turned(A[..., 3:]))

    def kinetic_energy(self, q: Array, v: Array) -> Array:
        """Return sum V.I V / 2 over the segments, plus reflected inertia, (N,)."""
        columns = self._columns(v, self.tree.nv)
        passed = outward(self.model, self._columns(q, self.tree.nq), columns, np.zeros_like(columns), self._gravity)
        energy = (self.model.reflected[:, None] * columns**2).sum(0)
        if self.model.tendons is not None:
            energy = energy + (columns * (self.model.tendons @ columns)).sum(0)
        for segment, motion in zip(self.model.segments[1:], passed.VA[1:], strict=True):
            energy = energy + (motion[:, 0] * (segment.I @ motion[:, 0])).sum(0)
        return energy / 2

    def potential_energy(self, q: Array) -> Array:
        """Return -sum m g.c over the moving bodies, (N,)."""
        return -(self._mass_moments(q) @ self._gravity)

    def center_of_mass(self, q: Array) -> Array:
        """Return the centre of mass of the moving bodies (N, 3); inf when they have no mass."""
        mass = self.dtype.type(self.tree.moving_mass)
        moments = self._mass_moments(q)
        return moments / mass if mass else np.full_like(moments, np.inf)

    def momentum(self, q: Array, v: Array) -> Array:
        """Return the momentum (N, R, 6) of each mechanism with a floating root, about the world origin."""
        columns = self._columns(v, self.tree.nv)
        passed = outward(self.model, self._columns(q, self.tree.nq), columns, np.zeros_like(columns), self._gravity)
        totals: dict[int, Array] = {
            k: np.zeros((columns.shape[1], 6), self.dtype)
            for k, s in enumerate(self.model.segments)
            if k and not s.parent and s.kind is JointKind.FLOATING
        }
        root = [0]
        for k, (segment, T) in enumerate(zip(self.model.segments[1:], self.segment_poses(q)[1:], strict=True), 1):
            root.append(root[segment.parent] or k)
            if root[k] in totals:
                h = (segment.I @ passed.VA[k][:, 0]).T
                totals[root[k]] += (motion_transform(inverse(T)).swapaxes(-1, -2) @ h[..., None])[..., 0]
        return np.stack(list(totals.values()), axis=1) if totals else np.zeros((columns.shape[1], 0, 6), self.dtype)

    def generalized_forces(self, q: Array, wrenches: Array) -> Array:
        """Return sum J^T f (N, nv) from the body Jacobians."""
        Js = composite.jacobians(self.model, self._columns(q, self.tree.nq))
        total = np.zeros((len(q), self.tree.nv), self.dtype)
        for k, f in self._external(wrenches).items():
            total += (Js[k].swapaxes(-1, -2) @ f.T[..., None])[..., 0]
        return total

    def describe(self) -> Tree:
        """Return the tree itself."""
        return self.tree

    def _columns(self, x: Array, size: int) -> Array:
        """Return (N, size) as (size, N) in our float type."""
        if np.ndim(x) != 2 or np.shape(x)[1] != size:
            raise ShapeError(f"got an array of shape {np.shape(x)}; {self.tree.name!r} needs (N, {size})")
        return np.ascontiguousarray(np.asarray(x, self.dtype).T)

    def _external(self, wrenches: Array | None) -> dict[int, Array]:
        """Return the wrench on each segment, (6, N) in its coordinates, moved there from the bodies that it holds."""
        if wrenches is None:
            return {}
        if wrenches.shape[1:] != (len(self.tree.bodies), 6):
            raise ShapeError(f"wrenches are {wrenches.shape}; needed: (N, {len(self.tree.bodies)}, 6)")
        collected: dict[int, Array] = {}
        for i in np.flatnonzero(wrenches.any((0, 2))):
            X_body_segment = motion_transform(inverse(self.model.Ts_segment_body[i]))
            f = X_body_segment.T @ wrenches[:, i].T.astype(self.dtype)
            k = self.model.holder[i]
            collected[k] = collected[k] + f if k in collected else f
        collected.pop(0, None)  # the ground bears what acts on it
        return collected

    def _with_reflected(self, M: Array) -> Array:
        diagonal = np.arange(self.tree.nv)
        M[:, diagonal, diagonal] += self.model.reflected
        return M if self.model.tendons is None else M + self.model.tendons

    def _twists(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Return twists and spatial accelerations (N, nb, 6) of all bodies in body axes, without gravity."""
        passed = outward(
            self.model,
            self._columns(q, self.tree.nq),
            self._columns(v, self.tree.nv),
            self._columns(a, self.tree.nv),
            np.zeros(3, self.dtype),
        )
        Xs = motion_transform(inverse(self.model.Ts_segment_body))
        pairs = [np.tensordot(X, passed.VA[k], 1) for k, X in zip(self.model.holder, Xs, strict=True)]
        VA = np.stack(pairs)  # (nb, 6, 2, N)
        return np.moveaxis(VA[:, :, 0], -1, 0), np.moveaxis(VA[:, :, 1], -1, 0)

    def _mass_moments(self, q: Array) -> Array:
        """Return sum m c over the moving bodies, (N, 3)."""
        total = np.zeros((len(q), 3), self.dtype)
        for segment, T in zip(self.model.segments[1:], self.segment_poses(q)[1:], strict=True):
            # The first moment m c stands in the upper right block of I as the matrix of its cross product.
            moment = np.array([segment.I[2, 4], segment.I[0, 5], segment.I[1, 3]])
            total += T[:, :3, :3] @ moment + segment.I[3, 3] * T[:, :3, 3]
        return total


class _ReferenceEngine:
    """The reference as an engine of the harness."""

    def native(self, given: Given, tree: Tree) -> Any:
        """Refuse: the reference reads no file, the importer does."""
        raise EngineUnsupported(f"the reference has no importer of its own for {given.format} {tree.name!r}")

    def neutral(self, tree: Tree) -> Reference:
        """Return the reference in float64."""
        return Reference(tree)


ENGINE = _ReferenceEngine()
