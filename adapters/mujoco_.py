"""MuJoCo: `mj_rne`, `mj_makeM`, `mj_solveM`, energies, momentum, Jacobians, on its own reading of a file or our tree.

No answer comes from `mj_inverse` or a step: contacts, limits, friction, springs, damping, gravity compensation and
fluid stay out, and the ledger says what such a call adds. `mj_rne` has no reflected inertia of any kind in it,
`mj_makeM` all of it; the adapter adds it to tau. `mj_rne` takes no external wrenches: `mj_applyFT` maps them to joint
efforts, which are subtracted afterwards.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..harness.errors import EngineUnsupported
from ..harness.spatial import inverse, motion_transform
from .mujoco_build import build, require_size
from .mujoco_calls import BODY, FRAME, Calls
from .mujoco_findings import conventions, held_tendons, tendons
from .mujoco_ledger import Switches, inverse_terms
from .mujoco_load import load
from .mujoco_map import CoordinateMap
from .mujoco_versions import Whole

if TYPE_CHECKING:
    from ..harness.engine import Given
    from ..harness.findings import Finding
    from ..harness.tree import Floats, Tree
    from .mujoco_build import Opened
    from .mujoco_map import Frame, MjModel


class MujocoSession:
    """One model with the map of its coordinates; see `harness.engine.Session` for every answer.

    Args:
        opened: the model; owned by the session.
        tree: whose coordinates go in and out.
        calls: into the model; MuJoCo's own without.
    """

    def __init__(self, opened: Opened, tree: Tree, calls: Calls | None = None) -> None:
        self.model, self.tree, self.extra_dofs = opened.model, tree, opened.extra_dofs
        self._switches = Switches.of(opened.model)  # before they are set for the answers
        self._calls, self._map = calls or Calls(opened.model), CoordinateMap(opened.model, tree, opened.seats)
        self._held, self._Ts_held_body = opened.held, opened.Ts_held_body
        self._reflected, self._added, self._canonical = self._calls.reflected_inertia(), opened.added, opened.canonical
        self._notes = opened.notes
        self.dofs = tuple(tree.dofs[k] for k in self._map.v_from)
        self.bodies = tuple(tree.bodies[i].name for i in self._held)
        self.total_mass = float(self.model.body_mass.sum())
        self._moving = _moving(opened.model)
        self._masses = self.model.body_mass[self._moving]
        roots = tree.floating_roots
        self._roots = [self._held[i] for i in roots if i in self._held]
        self.findings: tuple[Finding, ...] = (
            *opened.findings,
            *conventions(opened, tree, self._calls.WRENCHES, self._calls.RNE),
            *tendons(opened, tree, self._calls.couplings() if tree.tendons else (), self._calls.RNE),
        )
        self.lacks = dict(self._calls.LACKS)
        if not self._masses.sum():
            self.lacks["center_of_mass"] = "the bodies that can move have no mass"
        if len(self._roots) < len(roots):
            self.lacks["momentum"] = self.lacks["total_momentum"] = "a floating root of the file is not in this model"
        if (self.model.body_subtreemass < 0).any():
            self.lacks["momentum"] = self.lacks["total_momentum"] = (
                "MuJoCo's subtree velocity takes a negative mass for none"
            )

    def describe(self) -> Tree:
        """Return the compiled model as a tree."""
        from ..harness.importers.mjcf import tree_of_mujoco  # noqa: PLC0415  reads XML: not needed for any answer

        tree = tree_of_mujoco(Whole(self.model))
        return (
            tree
            if self._canonical or not tree.tendons
            else replace(tree, tendons=held_tendons(tree, self._calls.couplings()))
        )

    def ledger(self, q: Floats, v: Floats, a: Floats) -> dict[str, dict[str, Floats]]:
        """Return what `inverse_dynamics` ("tau"), `mj_rne` and `mj_inverse` hold beyond the canonical effort.

        See `harness.diagnosis.ledger.Booked`.
        """
        frame = self._map.at(q)
        Ta, beta, qvel = frame.to_engine(a), frame.beta(v), frame.to_engine(v)
        own = {} if self._canonical else {"armature": _times(self._reflected, beta)}
        rigid = self._calls.inverse_dynamics(frame.qpos, qvel, Ta + beta)
        tau = rigid + _times(self._reflected, Ta + beta)
        calls = inverse_terms(copy.copy(self.model), self._switches, frame.qpos, qvel, Ta + beta, tau)
        calls = {call: {**own, **terms} for call, terms in calls.items()}
        calls |= {"tau": own, self._calls.RNE: {"armature": -_times(self._reflected, Ta)}}
        return {
            call: {kind: frame.to_tree(efforts) for kind, efforts in terms.items() if efforts.any()}
            for call, terms in calls.items()
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the file, and what MuJoCo warned of."""
        return (*self._notes, *dict.fromkeys(self._calls.warnings))

    def inverse_dynamics(
        self, q: Floats, v: Floats, a: Floats, wrenches: Floats | None = None, gravity: Floats | None = None
    ) -> Floats:
        """`mj_rne` at MuJoCo's acceleration, plus reflected inertia, minus `mj_applyFT` of the wrenches."""
        frame = self._map.at(q)
        tau = frame.to_tree(self._efforts(frame, v, a, wrenches, gravity))
        return tau if self._added is None else tau + _times(self._added, a)

    def bias(self, q: Floats, v: Floats, gravity: Floats | None = None) -> Floats:
        """`mj_rne` at that acceleration of MuJoCo which is none of the tree's."""
        frame = self._map.at(q)
        bias = self._calls.inverse_dynamics(frame.qpos, frame.to_engine(v), frame.beta(v), gravity=gravity)
        return frame.to_tree(bias)

    def gravity_forces(self, q: Floats) -> Floats:
        """`mj_rne` at rest."""
        frame, rest = self._map.at(q), np.zeros((len(q), self.model.nv))
        return frame.to_tree(self._calls.inverse_dynamics(frame.qpos, rest, rest))

    def mass_matrix(self, q: Floats) -> Floats:
        """`mj_makeM` through `mj_fullM`."""
        frame = self._map.at(q)
        M = frame.matrix_to_tree(self._calls.inertia(frame.qpos))
        if self._added is None:
            return M
        return M + (self._added if self._added.ndim == 2 else np.diag(self._added))

    def forward_dynamics(self, q: Floats, v: Floats, tau: Floats, wrenches: Floats | None = None) -> Floats:
        """`mj_factorM` and `mj_solveM`; where their M lacks a term or has a dof too many, a dense solution of M."""
        frame = self._map.at(q)
        rest = frame.to_engine(tau) - self._efforts(frame, v, np.zeros_like(v), wrenches)
        if self._added is None and not self.extra_dofs:
            with np.errstate(invalid="ignore"):  # a singular M gives infinities, which turn into NaN
                return frame.to_tree(self._calls.solve(frame.qpos, rest))
        pairs = zip(self.mass_matrix(q), frame.to_tree(rest), strict=True)
        return np.array([_solve(M, b) for M, b in pairs]).reshape(len(q), len(self.dofs))

    def poses(self, q: Floats) -> Floats:
        """`xpos` and `xmat`."""
        Ts = self._calls.poses(self._map.at(q).qpos, list(self._held.values()))
        for k, i in enumerate(self._held):
            if i in self._Ts_held_body:
                Ts[:, k] = Ts[:, k] @ self._Ts_held_body[i]
        return Ts

    def velocities(self, q: Floats, v: Floats) -> Floats:
        """`mj_objectVelocity` of the body frame in its own axes."""
        frame = self._map.at(q)
        twists = self._calls.velocities(frame.qpos, frame.to_engine(v), FRAME, list(self._held.values()))
        for k, i in enumerate(self._held):
            if i in self._Ts_held_body:
                twists[:, k] = twists[:, k] @ motion_transform(inverse(self._Ts_held_body[i])).T
        return twists

    def kinetic_energy(self, q: Floats, v: Floats) -> Floats:
        """Half of m v.v + omega.I omega, by `mj_objectVelocity` of the centre of mass in principal axes."""
        frame = self._map.at(q)
        qvel = frame.to_engine(v)
        squares = self._calls.velocities(frame.qpos, qvel, BODY, self._moving) ** 2
        energy = np.einsum("nbi,bi->n", squares[..., :3], self.model.body_inertia[self._moving])
        energy += squares[..., 3:].sum(-1) @ self._masses + (qvel * _times(self._reflected, qvel)).sum(-1)
        return (energy if self._added is None else energy + (v * _times(self._added, v)).sum(-1)) / 2

    def potential_energy(self, q: Floats) -> Floats:
        """Minus the sum of m g.xipos."""
        return -(self._calls.mass_moments(self._map.at(q).qpos, self._moving) @ self.model.opt.gravity)

    def center_of_mass(self, q: Floats) -> Floats:
        """The mean of xipos, weighted by mass."""
        return self._calls.mass_moments(self._map.at(q).qpos, self._moving) / self._masses.sum()

    def momentum(self, q: Floats, v: Floats) -> Floats:
        """`mj_subtreeVel` of each floating root."""
        frame = self._map.at(q)
        return self._calls.momenta(frame.qpos, frame.to_engine(v), self._roots)

    def generalized_forces(self, q: Floats, wrenches: Floats) -> Floats:
        """The sum of J^T f over the bodies, with `mj_jacBody`."""
        frame = self._map.at(q)
        return frame.to_tree(self._calls.jacobian_efforts(frame.qpos, *self._loads(wrenches)))

    def _efforts(
        self, frame: Frame, v: Floats, a: Floats, wrenches: Floats | None, gravity: Floats | None = None
    ) -> Floats:
        """Return inverse dynamics in MuJoCo's coordinates, (N, nv), but for what is `added`."""
        Ta, beta = frame.to_engine(a), frame.beta(v)
        loads, bodies = (None, []) if wrenches is None else self._loads(wrenches)
        tau = self._calls.inverse_dynamics(
            frame.qpos, frame.to_engine(v), Ta + beta, loads=loads, bodies=bodies, gravity=gravity
        )
        # Armature multiplies the tree's acceleration; natively MuJoCo has it multiply its own (finding `armature`).
        return tau + _times(self._reflected, Ta if self._canonical else Ta + beta)

    def _loads(self, wrenches: Floats) -> tuple[Floats, list[int]]:
        """Return the wrenches that are not zero, in MuJoCo's body frames (N, k, 6), and their bodies in MuJoCo."""
        loaded = [int(i) for i in np.flatnonzero(wrenches.any((0, 2))) if i]  # the ground bears what acts on it
        for i in loaded:
            if i not in self._held:
                raise EngineUnsupported(f"a wrench acts on body {self.tree.bodies[i].name!r}, which this model has not")
        loads = wrenches[:, loaded]
        for k, i in enumerate(loaded):
            if i in self._Ts_held_body:  # rows: f_held = X_body_held^T f_body
                loads[:, k] = loads[:, k] @ motion_transform(inverse(self._Ts_held_body[i]))
        return loads, [self._held[i] for i in loaded]


def _moving(model: MjModel) -> list[int]:
    """Return MuJoCo's numbers of the bodies that can move against the world; mocap bodies stand still."""
    moves = [False]
    for b in range(1, model.nbody):
        moves.append(moves[model.body_parentid[b]] or bool(model.body_jntnum[b]))
    return [b for b, can in enumerate(moves) if can]


def _times(inertia: Floats, a: Floats) -> Floats:
    """Return inertia times a for a diagonal (n,) or a symmetric matrix (n, n), and a of (N, n)."""
    return a * inertia if inertia.ndim == 1 else a @ inertia


def _solve(M: Floats, b: Floats) -> Floats:
    """Return the solution of M a = b, NaN where M is singular."""
    try:
        return np.asarray(np.linalg.solve(M, b), np.float64)
    except np.linalg.LinAlgError:
        return np.full_like(b, np.nan)


class _MujocoEngine:
    """MuJoCo as an engine of the harness."""

    def native(self, given: Given, tree: Tree) -> MujocoSession:
        """Open the file with MuJoCo's importer and its defaults, or take a copy of the live model.

        Raises:
            EngineRefused: MuJoCo would not load it.
            EngineUnsupported: another format, or a model that MuJoCo cannot hold.
        """
        require_size(tree)
        return MujocoSession(load(given, tree), tree)

    def neutral(self, tree: Tree) -> MujocoSession:
        """Build the model from the tree.

        Raises:
            EngineUnsupported: a size that MuJoCo cannot hold.
        """
        return MujocoSession(build(tree), tree)


ENGINE = _MujocoEngine()
