# pyright: reportAttributeAccessIssue=false
"""The answers of a `pinocchio.Model`: `rnea`, `crba`, `aba`, energies, momentum and Jacobians.

Pinocchio's twists and wrenches are linear first, its external wrenches are given in joint frames, act on the body and
stand at the joint origin. `rnea`, `crba`, `aba` and the kinetic energy contain `model.armature`; `nonLinearEffects` and
`computeGeneralizedGravity` do not. Damping, friction and rotor inertia are in none of them.
Source: Carpentier and others 2019, The Pinocchio C++ library; documentation of the functions of `pinocchio/algorithm`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from ..harness.errors import EngineUnsupported
from ..harness.tree import JointKind
from .pinocchio_findings import IGNORED, armature_outside_energy
from .pinocchio_joints import CoordinateMap
from .pinocchio_tree import tree_of
from .pinocchio_versions import joint_of, of_dofs

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from ..harness.findings import Finding
    from ..harness.tree import Body, Floats, Tree
    from .pinocchio_joints import PinModel, Slot

SWAP_HALVES = [3, 4, 5, 0, 1, 2]  # linear first to angular first, and back


class PinocchioSession:
    """One model with the map of its coordinates; see `harness.engine.Session` for every answer.

    Args:
        model: owned by the session.
        tree: whose coordinates go in and out.
        pairs: tree body and slot of every joint that both have.
        shifted: whether `ref` is subtracted here (Pinocchio's MJCF importer does it itself).
        extra_dofs, findings, notes: see `harness.engine.Session`.
        outside: (nv, nv) reflected inertia that the model cannot hold, or None.
    """

    def __init__(
        self,
        model: PinModel,
        tree: Tree,
        pairs: Sequence[tuple[int, Slot]],
        *,
        shifted: bool,
        extra_dofs: tuple[str, ...] = (),
        findings: tuple[Finding, ...] = (),
        notes: tuple[str, ...] = (),
        outside: Floats | None = None,
    ) -> None:
        self.model, self.data, self.tree = model, model.createData(), tree
        self.extra_dofs, self.notes, self._outside = extra_dofs, notes, outside
        self.ignores = IGNORED if tree.origin.format == "mjcf" and not shifted else {}
        if not model.check(self.data):
            self.notes = (*notes, "the joints were not added depth-first: crba is silently wrong for such a model")
        self._map, self._pairs = CoordinateMap(model, tree, pairs, shifted=shifted), pairs
        self.dofs = tuple(tree.dofs[k] for k in self._map.v_from)
        frames = {f.name: k for k, f in enumerate(model.frames) if f.type == pin.FrameType.BODY}
        self._frames = {i: frames[b.name] for i, b in enumerate(tree.bodies) if i and b.name in frames}
        self.bodies = tuple(tree.bodies[i].name for i in self._frames)
        self.total_mass = float(sum(Y.mass for Y in model.inertias))
        self._unbooked = self._armature_outside_energy()
        self.findings = (*findings, *armature_outside_energy(tree, self._map.v_from, self._unbooked))
        joint_of = {i: slot.joint for i, slot in pairs}
        floating = [i for i, joint in enumerate(tree.joints) if joint.kind is JointKind.FLOATING]
        self._roots = [joint_of.get(i) for i in floating if not tree.moving[tree.parents[i]]]
        self.lacks = {"symmetry": "crba mirrors one triangle: that both are equal shows only what the adapter hands on"}
        if not sum(Y.mass for Y in list(model.inertias)[1:]):
            self.lacks["center_of_mass"] = "the bodies that can move have no mass"
        if None in self._roots:
            self.lacks["total_momentum"] = "a floating root of the file is not in this model"

    def _armature_outside_energy(self) -> Floats:
        """Return (n,) the armature that `computeKineticEnergy` leaves out, found by asking with and without it.

        In 4.1.0 it is that of every revolute joint whose axis is no coordinate axis.
        """
        model, q, outside = self.model, pin.neutral(self.model), np.zeros(self.model.nv)
        for k in np.flatnonzero(of_dofs(model, "armature")).tolist():
            unit = np.eye(1, model.nv, k)[0]
            whole = pin.computeKineticEnergy(model, self.data, q, unit)
            armature, model.armature[k] = model.armature[k], 0.0
            if pin.computeKineticEnergy(model, self.data, q, unit) == whole:
                outside[k] = armature
            model.armature[k] = armature
        return outside[self._map.v_to]

    def describe(self) -> Tree:
        """Return the model as a tree; Pinocchio has merged every fixed body into its joint.

        Joints that were matched have the names of the tree: those of a composite have none of their own.
        """
        held = tree_of(self.model)
        ours = {slot.name: self.tree.bodies[i] for i, slot in self._pairs}
        bodies: list[Body] = []
        for body in held.bodies:
            mine = ours.get(body.joint.name)
            if mine is not None and mine.joint.name not in held.joint_index:
                name = body.name if mine.name in held.index else mine.name
                bodies.append(replace(body, name=name, joint=replace(body.joint, name=mine.joint.name)))
            else:
                bodies.append(body)
        return replace(held, bodies=tuple(bodies))

    def inverse_dynamics(
        self, q: Floats, v: Floats, a: Floats, wrenches: Floats | None = None, gravity: Floats | None = None
    ) -> Floats:
        """`rnea`, which adds armature times a; wrenches as forces in joint frames."""
        states: list[Iterable[Any]] = [self._map.q(q), self._map.v(v), self._map.v(a)]
        if wrenches is not None:
            states.append(self._forces(self._joint_wrenches(wrenches)))
        with self._under(gravity):
            tau = self._efforts(pin.rnea, len(q), *states)
        return tau if self._outside is None else tau + a @ self._outside

    def bias(self, q: Floats, v: Floats, gravity: Floats | None = None) -> Floats:
        """`nonLinearEffects`."""
        with self._under(gravity):
            return self._efforts(pin.nonLinearEffects, len(q), self._map.q(q), self._map.v(v))

    def gravity_forces(self, q: Floats) -> Floats:
        """`computeGeneralizedGravity`."""
        return self._efforts(pin.computeGeneralizedGravity, len(q), self._map.q(q))

    def mass_matrix(self, q: Floats) -> Floats:
        """`crba`, with armature on the diagonal; tendon inertia is added here."""
        v_to, nv = self._map.v_to, self.model.nv
        M = self._run(pin.crba, len(q), (nv, nv), self._map.q(q))[:, v_to[:, None], v_to]
        return M if self._outside is None else M + self._outside

    def forward_dynamics(self, q: Floats, v: Floats, tau: Floats, wrenches: Floats | None = None) -> Floats:
        """`aba`; where it cannot hold a term or a dof, `crba` and `rnea` are solved instead."""
        if self._outside is not None or self.extra_dofs:
            rest = tau[:, self._map.v_from] - self.inverse_dynamics(q, v, np.zeros_like(v), wrenches)
            return np.array([_solve(M, b) for M, b in zip(self.mass_matrix(q), rest, strict=True)]).reshape(rest.shape)
        states: list[Iterable[Any]] = [self._map.q(q), self._map.v(v), self._map.v(tau)]
        if wrenches is not None:
            states.append(self._forces(self._joint_wrenches(wrenches)))
        return self._efforts(pin.aba, len(q), *states)

    def poses(self, q: Floats) -> Floats:
        """`framesForwardKinematics` of the BODY frames."""
        frames = tuple(self._frames.values())

        def placements(model: PinModel, data: Any, x: Floats) -> list[Floats]:
            pin.framesForwardKinematics(model, data, x)
            oMf = data.oMf
            return [oMf[k].homogeneous for k in frames]

        return self._run(placements, len(q), (len(frames), 4, 4), self._map.q(q))

    def velocities(self, q: Floats, v: Floats) -> Floats:
        """`getFrameVelocity` in the frame's own axes, brought to angular first."""
        frames = tuple(self._frames.values())

        def twists(model: PinModel, data: Any, x: Floats, y: Floats) -> list[Floats]:
            pin.forwardKinematics(model, data, x, y)
            return [pin.getFrameVelocity(model, data, k, pin.LOCAL).vector for k in frames]

        return self._run(twists, len(q), (len(frames), 6), self._map.q(q), self._map.v(v))[..., SWAP_HALVES]

    def kinetic_energy(self, q: Floats, v: Floats) -> Floats:
        """`computeKineticEnergy`, which contains armature; what it leaves out is added here."""
        energy = self._run(pin.computeKineticEnergy, len(q), (), self._map.q(q), self._map.v(v))
        energy += v[:, self._map.v_from] ** 2 @ self._unbooked / 2
        return energy if self._outside is None else energy + np.einsum("ni,ij,nj->n", v, self._outside, v) / 2

    def potential_energy(self, q: Floats) -> Floats:
        """`computePotentialEnergy`, which leaves out what is fixed to the world."""
        return self._run(pin.computePotentialEnergy, len(q), (), self._map.q(q))

    def center_of_mass(self, q: Floats) -> Floats:
        """`centerOfMass`, which leaves out what is fixed to the world."""
        return self._run(pin.centerOfMass, len(q), (3,), self._map.q(q))

    def momentum(self, q: Floats, v: Floats) -> Floats:
        """`computeCentroidalMomentum` sums momenta up to each root joint, in its frame: `data.h`."""
        roots = self._roots

        def momenta(model: PinModel, data: Any, x: Floats, y: Floats) -> list[Floats]:
            pin.computeCentroidalMomentum(model, data, x, y)
            lost = np.full(6, np.inf)
            return [lost if j is None else data.oMi[j].act(data.h[j]).vector for j in roots]

        return self._run(momenta, len(q), (len(roots), 6), self._map.q(q), self._map.v(v))[..., SWAP_HALVES]

    def generalized_forces(self, q: Floats, wrenches: Floats) -> Floats:
        """Sum of J^T f over the joints, with `getJointJacobian` in joint axes."""
        forces = self._joint_wrenches(wrenches)
        loaded = np.flatnonzero(forces.any((0, 2))).tolist()

        def projected(model: PinModel, data: Any, x: Floats, f: Floats) -> Any:
            pin.computeJointJacobians(model, data, x)
            return sum(pin.getJointJacobian(model, data, j, pin.LOCAL).T @ f[j] for j in loaded)

        return self._efforts(projected, len(q), self._map.q(q), forces)

    def _joint_wrenches(self, wrenches: Floats) -> Floats:
        """Return the wrench on each joint (N, njoints, 6), linear first, in joint axes about the joint origin."""
        forces = np.zeros((len(wrenches), self.model.njoints, 6))
        for i in np.flatnonzero(wrenches[:, 1:].any((0, 2))) + 1:
            if i not in self._frames:
                raise EngineUnsupported(
                    f"a wrench acts on body {self.tree.bodies[i].name!r}, which this model does not have"
                )
            frame = self.model.frames[self._frames[i]]
            forces[:, joint_of(frame)] += wrenches[:, i, SWAP_HALVES] @ frame.placement.toDualActionMatrix().T
        forces[:, 0] = 0  # the ground bears what acts on it
        return forces

    def _forces(self, forces: Floats) -> Iterator[Any]:
        """Yield, state by state, the one vector of forces that `rnea` and `aba` read, filled anew."""
        vector = pin.StdVec_Force()
        vector.extend([pin.Force.Zero()] * self.model.njoints)
        loaded = np.flatnonzero(forces.any((0, 2)))
        views = [vector[int(j)].vector for j in loaded]
        for rows in forces[:, loaded]:
            for view, row in zip(views, rows, strict=True):
                view[:] = row
            yield vector

    def _efforts(self, call: Callable[..., Any], count: int, *states: Iterable[Any]) -> Floats:
        return self._run(call, count, (self.model.nv,), *states)[:, self._map.v_to]

    def _run(self, call: Callable[..., Any], count: int, shape: tuple[int, ...], *states: Iterable[Any]) -> Floats:
        """Return `call(model, data, *state)` of every state, (count, *shape); not called where nothing is asked."""
        out, model, data = np.empty((count, *shape)), self.model, self.data
        if out.size:
            for i, state in enumerate(zip(*states, strict=True)):
                out[i] = call(model, data, *state)
        return out

    @contextmanager
    def _under(self, gravity: Floats | None) -> Generator[None]:
        """Set another gravity while a call runs."""
        own = self.model.gravity.copy()
        if gravity is not None:
            self.model.gravity = pin.Motion(gravity, np.zeros(3))
        try:
            yield
        finally:
            self.model.gravity = own


def _solve(M: Floats, b: Floats) -> Floats:
    """Return the solution of M a = b, NaN where M is singular, as `aba` has it."""
    try:
        return np.asarray(np.linalg.solve(M, b), np.float64)
    except np.linalg.LinAlgError:
        return np.full_like(b, np.nan)
