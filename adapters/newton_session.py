"""The answers of a Newton model in canonical form; see `newton_` for its conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..harness.errors import EngineUnsupported
from ..harness.linear import solve_general
from ..harness.seats import CoordinateMap
from .newton_batch import Batch, listening
from .newton_findings import conventions
from .newton_joints import TYPE, floating_of, placed, seats
from .newton_tree import tree_of

if TYPE_CHECKING:
    from ..harness.findings import Finding
    from ..harness.seats import Seat
    from ..harness.tree import Floats, Tree
    from .newton_build import Opened


class NewtonSession:
    """One robot with the map of its coordinates; see `harness.engine.Session` for every answer.

    Args:
        opened: the builder; owned by the session.
        tree: whose coordinates go in and out.
    """

    def __init__(self, opened: Opened, tree: Tree) -> None:
        self.tree, self._opened, self.extra_dofs = tree, opened, opened.extra_dofs
        said: list[str] = []
        with listening(said):
            self._batch = Batch(opened.builder, checked=opened.checked)
            self._compile()
        told = [f"Newton says of {self._batch.size} copies of the robot: {words}" for words in said]
        self.notes = tuple(dict.fromkeys((*opened.notes, *told)))
        first = self._batch.first
        self._masses, self._coms = first("body_mass"), first("body_com")
        self._inertias, self._armature = first("body_inertia"), first("joint_armature")
        self._map = CoordinateMap(tree, self._seats(), self._batch.neutral, self._batch.nv)
        self.dofs = self._map.dofs
        self._held = dict(sorted(opened.held.items()))
        self._numbers = list(self._held.values())
        self.bodies = tuple(tree.bodies[i].name for i in self._held)
        self.total_mass = float(self._masses.sum())
        self._moving = self._moving_bodies()
        self._gravity = np.asarray(opened.builder.gravity, np.float64)
        self._outside = opened.outside
        self._roots = self._mechanisms()
        self.findings: tuple[Finding, ...] = (*opened.findings, *conventions(opened, tree))
        self.lacks = {"load_invariance": "its inverse dynamics takes no wrenches: the adapter subtracts J^T f"}
        if not self._masses[self._moving].sum():
            self.lacks["center_of_mass"] = "the bodies that can move have no mass"
        if len(self._roots) < len(tree.floating_roots):
            self.lacks["momentum"] = self.lacks["total_momentum"] = "a floating root of the file is not in this model"

    def _compile(self) -> None:
        """Ask every call once, so that Newton compiles its kernels now; they are kept for the next process."""
        q, v = self._batch.neutral[None], np.zeros((1, self._batch.nv))
        if self._batch.nv:
            self._batch.efforts(q, v, v)
            self._batch.jacobian_efforts(q, np.zeros((1, self._batch.bodies, 6)))

    def _seats(self) -> list[Seat]:
        batch, tree = self._batch, self.tree
        X_p, X_c = placed(batch.first("joint_X_p")), placed(batch.first("joint_X_c"))
        starts_q, starts_v = (batch.model.joint_q_start.numpy(), batch.model.joint_qd_start.numpy())
        types, parents = batch.first("joint_type").astype(int), batch.first("joint_parent").astype(int)
        found: list[Seat] = []
        for j, row in self._opened.rows.items():
            free = None
            if types[j] == int(TYPE.FREE):
                joint = tree.fusion.tree.joints[tree.fusion.merged[row[0]]] if parents[j] < 0 else tree.joints[row[0]]
                com = self._coms[batch.child[j]]
                free = floating_of(tree, row[0], joint.T_parent_joint, X_p[j], X_c[j], com)
            found += seats(tree, row, int(starts_q[j]), int(starts_v[j]), free)
        return found

    def _moving_bodies(self) -> list[int]:
        """Return Newton's numbers of the bodies that can move against the world."""
        batch = self._batch
        starts, parents = batch.model.joint_qd_start.numpy(), batch.first("joint_parent").astype(int)
        moves: dict[int, bool] = {-1: False}
        for j in batch.tree_joints:
            child = int(batch.child[j])
            moves[child] = moves.get(parents[j], False) or bool(starts[j + 1] > starts[j])
        return sorted(b for b, can in moves.items() if can and b >= 0)

    def _mechanisms(self) -> list[list[int]]:
        """Return, per floating root of the tree that Newton has, Newton's numbers of the bodies on it."""
        parents = self._batch.first("joint_parent").astype(int)
        above = {int(self._batch.child[j]): int(parents[j]) for j in self._batch.tree_joints}
        found: list[list[int]] = []
        for root in self.tree.floating_roots:
            if root not in self._held or not set(self.tree.joints[root].dofs) <= set(self.dofs):
                continue
            top, mechanism = self._held[root], list[int]()
            for b in range(self._batch.bodies):
                up = b
                while up >= 0 and up != top:
                    up = above.get(up, -1)
                mechanism += [b] if up == top else []
            found.append(mechanism)
        return found

    def describe(self) -> Tree:
        """Return the finalized model as a tree."""
        return tree_of(self._batch, self._opened, self.tree, self._gravity)

    def inverse_dynamics(
        self, q: Floats, v: Floats, a: Floats, wrenches: Floats | None = None, gravity: Floats | None = None
    ) -> Floats:
        """`eval_inverse_dynamics_force`, less J^T f of the wrenches."""
        frame = self._map.at(q, v)
        tau = frame.efforts(self._batch.efforts(frame.q, frame.v, frame.acceleration(a), gravity))
        if wrenches is not None:
            tau = tau - self.generalized_forces(q, wrenches)
        return tau if self._outside is None else tau + a @ self._outside

    def bias(self, q: Floats, v: Floats, gravity: Floats | None = None) -> Floats:
        """`eval_inverse_dynamics_passive`, or all of it at Newton's acceleration that is none of the tree's."""
        frame = self._map.at(q, v)
        return frame.efforts(
            self._batch.efforts(frame.q, frame.v, frame.acceleration() if frame.turns else None, gravity)
        )

    def gravity_forces(self, q: Floats) -> Floats:
        """`eval_inverse_dynamics_passive` at rest."""
        frame = self._map.at(q)
        return frame.efforts(self._batch.efforts(frame.q, frame.v))

    def mass_matrix(self, q: Floats) -> Floats:
        """`eval_mass_matrix`."""
        frame = self._map.at(q)
        M = frame.mass_matrix(self._batch.inertia(frame.q))
        return M if self._outside is None else M + self._outside

    def forward_dynamics(self, q: Floats, v: Floats, tau: Floats, wrenches: Floats | None = None) -> Floats:
        """A dense solution of M: Newton has forward dynamics inside the steps of its solvers alone."""
        rest = tau[:, self._map.v_from] - self.inverse_dynamics(q, v, np.zeros_like(v), wrenches)
        return np.asarray(solve_general(self.mass_matrix(q), rest), np.float64)

    def poses(self, q: Floats) -> Floats:
        """`body_q`."""
        frame = self._map.at(q)
        return self._batch.motions(frame.q, frame.v)[0][:, self._numbers]

    def velocities(self, q: Floats, v: Floats) -> Floats:
        """`body_qd`, moved from centres of mass to origins and turned into body axes."""
        Ts, V = self._motions(q, v)
        Ts, V = Ts[:, self._numbers], V[:, self._numbers]
        R, omega = Ts[..., :3, :3], V[..., 3:]
        linear = V[..., :3] - np.cross(omega, (R @ self._coms[self._numbers][:, :, None])[..., 0])
        return (np.stack([omega, linear], axis=2) @ R).reshape(len(q), len(self._numbers), 6)

    def kinetic_energy(self, q: Floats, v: Floats) -> Floats:
        """Half of m v.v + omega.I omega of the centres, and armature."""
        frame = self._map.at(q, v)
        Ts, V = self._batch.motions(frame.q, frame.v)
        omega = (V[..., None, 3:] @ Ts[..., :3, :3])[..., 0, :]
        twice = (V[..., :3] ** 2).sum(-1) @ self._masses + np.einsum("nbi,bij,nbj->n", omega, self._inertias, omega)
        twice += frame.v**2 @ self._armature
        return (twice if self._outside is None else twice + np.einsum("ni,ij,nj->n", v, self._outside, v)) / 2

    def potential_energy(self, q: Floats) -> Floats:
        """Minus the sum of m g.x over the bodies that move."""
        return -(self._moments(q) @ self._gravity)

    def center_of_mass(self, q: Floats) -> Floats:
        """The mean of the centres of the bodies that move, weighted by mass."""
        return self._moments(q) / self._masses[self._moving].sum()

    def momentum(self, q: Floats, v: Floats) -> Floats:
        """The sum over the bodies of each floating root, about the world origin."""
        Ts, V = self._motions(q, v)
        R = Ts[..., :3, :3]
        centers = (R @ self._coms[:, :, None])[..., 0] + Ts[..., :3, 3]
        linear = self._masses[:, None] * V[..., :3]
        turned = R @ self._inertias @ R.swapaxes(-1, -2)
        angular = (turned @ V[..., 3:, None])[..., 0] + np.cross(centers, linear)
        momenta = np.concatenate([angular, linear], axis=-1)
        return (
            np.stack([momenta[:, on].sum(1) for on in self._roots], axis=1) if self._roots else np.zeros((len(q), 0, 6))
        )

    def generalized_forces(self, q: Floats, wrenches: Floats) -> Floats:
        """The sum of J^T f over the bodies, with `eval_jacobian`."""
        loaded = [int(i) for i in np.flatnonzero(wrenches.any((0, 2))) if i]  # the ground bears what acts on it
        for i in loaded:
            if i not in self._held:
                raise EngineUnsupported(f"a wrench acts on body {self.tree.bodies[i].name!r}, which this model has not")
        frame = self._map.at(q)
        numbers = [self._held[i] for i in loaded]
        R = self._batch.motions(frame.q, frame.v)[0][:, numbers, :3, :3]
        moment, force = wrenches[:, loaded, :3], wrenches[:, loaded, 3:]
        moment = moment - np.cross(self._coms[numbers], force)
        pushes = np.zeros((len(q), self._batch.bodies, 6))
        pushes[:, numbers, :3] = (R @ force[..., None])[..., 0]
        pushes[:, numbers, 3:] = (R @ moment[..., None])[..., 0]
        return frame.efforts(self._batch.jacobian_efforts(frame.q, pushes))

    def _motions(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        frame = self._map.at(q, v)
        return self._batch.motions(frame.q, frame.v)

    def _moments(self, q: Floats) -> Floats:
        """Return the sum of m x over the bodies that move, (N, 3) [kg m]."""
        frame = self._map.at(q)
        Ts = self._batch.motions(frame.q, frame.v)[0][:, self._moving]
        centers = (Ts[..., :3, :3] @ self._coms[self._moving][:, :, None])[..., 0] + Ts[..., :3, 3]
        return np.einsum("b,nbi->ni", self._masses[self._moving], centers)
