# pyright: reportAttributeAccessIssue=false
"""The answers of a `MultibodyPlant`: one plant and one context for all states.

`CalcInverseDynamics` with no forces is M vdot + C v, rotors included, gravity not: `CalcGravityGeneralizedForces`,
which is minus dU/dq, is subtracted. `CalcMassMatrix`, `CalcKineticEnergy` and forward dynamics contain rotors too,
`CalcBiasTerm` neither rotors nor gravity. Damping is a force element: `CalcForceElementsContribution` has it, and so
has forward dynamics, so it is set to zero in the context. Springs are force elements as well.
Source: Drake, documentation of `MultibodyPlant`.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from pydrake.multibody.math import SpatialForce
from pydrake.multibody.tree import BodyIndex, JacobianWrtVariable, MultibodyForces

from ..harness.errors import EngineUnsupported
from ..harness.linear import solve_general
from ..harness.seats import CoordinateMap, require_columns
from ..harness.spatial import inverse, motion_transform
from .drake_findings import IGNORED, conventions
from .drake_joints import seat
from .drake_tree import tree_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from ..harness.findings import Finding
    from ..harness.tree import Floats, Tree
    from .drake_build import DrakeBody, Opened

ROUNDING = 1e-12  # of the largest effort: what the sum of all terms may miss


class DrakeSession:
    """One plant with the map of its coordinates; see `harness.engine.Session` for every answer.

    Args:
        opened: the plant; owned by the session.
        tree: whose coordinates go in and out.
    """

    def __init__(self, opened: Opened, tree: Tree) -> None:
        self.model, self.tree, self._opened = opened.plant, tree, opened
        self.extra_dofs, self.notes, self._outside = opened.extra_dofs, opened.notes, opened.outside
        self.ignores = IGNORED if opened.native and tree.origin.format == "mjcf" else {}
        self.reads = opened.reads
        plant = self.model
        self._context = plant.CreateDefaultContext()
        self._undamped(self._context)
        self._nv = plant.num_velocities()
        seats = [seat(tree, i, joint, shifted=not opened.native) for i, joint in opened.joints.items()]
        self._map = CoordinateMap(tree, seats, plant.GetPositions(self._context), self._nv)
        self._none = MultibodyForces(plant)
        self._applied = plant.get_applied_generalized_force_input_port().FixValue(self._context, np.zeros(self._nv))
        self.dofs = self._map.dofs
        self._held = dict(sorted(opened.held.items()))
        self.bodies = tuple(tree.bodies[i].name for i in self._held)
        # With couplings or springs the forward dynamics of Drake answers for them too, or not at all.
        self._not_articulated = plant.num_constraints() > 0 or plant.num_force_elements() > 1
        self._masses()
        self.findings: tuple[Finding, ...] = (*opened.findings, *conventions(opened, tree))
        self._roots = [tree.v_slices[r] for r in tree.floating_roots if set(tree.joints[r].dofs) <= set(self.dofs)]
        self.lacks = {
            "symmetry": "CalcMassMatrix mirrors one triangle: that both are equal shows only what is handed on"
        }
        built_of_none = not opened.native and tree.moving_mass <= 0
        if built_of_none or self._moving_mass <= 0 or self.total_mass <= 0:
            self.lacks["center_of_mass"] = "the bodies that can move have no mass, or Drake's total is not positive"
        if len(self._roots) < len(tree.floating_roots):
            self.lacks["momentum"] = self.lacks["total_momentum"] = "a floating root of the file is not in this plant"

    def _undamped(self, context: Any) -> None:
        """Take the damping of all joints out of a context."""
        for k in self.model.GetJointIndices():
            joint = self.model.get_joint(k)
            if joint.num_velocities() and np.any(joint.default_damping_vector()):
                joint.SetDampingVector(context, np.zeros(joint.num_velocities()))

    def _masses(self) -> None:
        """Add up what Drake holds, and what of it cannot move: no answer counts that."""
        plant = self.model
        welded = {b.index() for b in plant.GetBodiesWeldedTo(plant.world_body())}
        self.total_mass, self._moving_mass, static = 0.0, 0.0, np.zeros(3)
        for k in range(1, plant.num_bodies()):
            body = plant.get_body(BodyIndex(k))
            mass = body.default_mass()
            self.total_mass += mass
            if body.index() in welded:
                static += mass * plant.EvalBodyPoseInWorld(self._context, body).multiply(body.default_com())
            else:
                self._moving_mass += mass
        self._static_moment = static

    def describe(self) -> Tree:
        """Return the plant as a tree."""
        return tree_of(self._opened, self.tree)

    def inverse_dynamics(
        self, q: Floats, v: Floats, a: Floats, wrenches: Floats | None = None, gravity: Floats | None = None
    ) -> Floats:
        """`CalcInverseDynamics`, wrenches by `AddInForce`, less `CalcGravityGeneralizedForces`."""
        require_columns(a, self.tree.nv, "a")
        frame = self._map.at(q, v)
        loads = [] if wrenches is None else self._loads(wrenches)
        tau = self._efforts(frame.q, frame.v, frame.acceleration(a), loads, gravity)
        tau = frame.efforts(tau)
        return tau if self._outside is None else tau + a @ self._outside

    def bias(self, q: Floats, v: Floats, gravity: Floats | None = None) -> Floats:
        """`CalcBiasTerm`, or inverse dynamics at Drake's acceleration that is none of the tree's, less gravity."""
        frame = self._map.at(q, v)
        if frame.turns:
            return frame.efforts(self._efforts(frame.q, frame.v, frame.acceleration(), [], gravity))
        plant = self.model
        C, g = plant.CalcBiasTerm, plant.CalcGravityGeneralizedForces
        with self._under(gravity):
            return frame.efforts(self._run(lambda c: C(c) - g(c), (self._nv,), frame.q, frame.v))

    def gravity_forces(self, q: Floats) -> Floats:
        """Minus `CalcGravityGeneralizedForces`."""
        frame = self._map.at(q)
        return frame.efforts(-self._run(self.model.CalcGravityGeneralizedForces, (self._nv,), frame.q))

    def mass_matrix(self, q: Floats) -> Floats:
        """`CalcMassMatrix`."""
        frame = self._map.at(q)
        M = frame.mass_matrix(self._run(self.model.CalcMassMatrix, (self._nv, self._nv), frame.q))
        return M if self._outside is None else M + self._outside

    def forward_dynamics(self, q: Floats, v: Floats, tau: Floats, wrenches: Floats | None = None) -> Floats:
        """`EvalTimeDerivatives`, the articulated body algorithm; where it cannot hold a term or a dof, M is solved."""
        require_columns(tau, self.tree.nv, "tau")
        plant = self.model
        if self._outside is not None or self.extra_dofs or self._not_articulated:
            rest = tau[:, self._map.v_from] - self.inverse_dynamics(q, v, np.zeros_like(v), wrenches)
            return np.asarray(solve_general(self.mass_matrix(q), rest), np.float64)
        frame = self._map.at(q, v)
        applied = frame.engine_efforts(tau)
        if wrenches is not None:
            applied = applied + self._load_efforts(frame.q, self._loads(wrenches))
        efforts, nothing = iter(applied), np.full(self._nv, np.nan)

        def articulated(context: Any) -> Floats:
            self._applied.GetMutableData().get_mutable_value().SetFromVector(next(efforts))
            try:
                return plant.EvalTimeDerivatives(context).get_generalized_velocity().CopyToVector()
            except (RuntimeError, SystemExit):  # a singular articulated inertia
                return nothing

        out = self._run(articulated, (self._nv,), frame.q, frame.v)
        return frame.tree_acceleration(out)

    def poses(self, q: Floats) -> Floats:
        """`EvalBodyPoseInWorld`."""
        return self._placed(self._world_poses(self._map.at(q).q))

    def velocities(self, q: Floats, v: Floats) -> Floats:
        """`EvalBodySpatialVelocityInWorld`, in world axes, turned into those of the body."""
        frame, plant = self._map.at(q, v), self.model
        bodies = [body for body, _ in self._held.values()]

        def twists(context: Any) -> list[Floats]:
            return [plant.EvalBodySpatialVelocityInWorld(context, body).get_coeffs() for body in bodies]

        V = self._run(twists, (len(bodies), 6), frame.q, frame.v)
        R = self._world_poses(frame.q)[..., :3, :3]
        out = np.concatenate([(V[:, :, None, :3] @ R)[:, :, 0], (V[:, :, None, 3:] @ R)[:, :, 0]], axis=2)
        for k, (_, T) in enumerate(self._held.values()):
            if T is not None:
                out[:, k] = out[:, k] @ motion_transform(inverse(T)).T
        return out

    def kinetic_energy(self, q: Floats, v: Floats) -> Floats:
        """`CalcKineticEnergy`, which contains rotors."""
        frame = self._map.at(q, v)
        energy = self._run(self.model.CalcKineticEnergy, (), frame.q, frame.v)
        return energy if self._outside is None else energy + np.einsum("ni,ij,nj->n", v, self._outside, v) / 2

    def potential_energy(self, q: Floats) -> Floats:
        """`CalcPotentialEnergy`, less that of what cannot move; of springs, there is none in it."""
        frame, gravity = self._map.at(q), self.model.gravity_field().gravity_vector()
        if not self._nv:
            return np.zeros(len(q))  # the difference of two roundings is none of what moves
        if self.model.num_force_elements() > 1:
            return -self._moments(frame.q) @ gravity
        return self._run(self.model.CalcPotentialEnergy, (), frame.q) + self._static_moment @ gravity

    def center_of_mass(self, q: Floats) -> Floats:
        """`CalcCenterOfMassPositionInWorld`, less what cannot move."""
        return self._moments(self._map.at(q).q) / self._moving_mass

    def momentum(self, q: Floats, v: Floats) -> Floats:
        """`CalcSpatialMomentumInWorldAboutPoint`, with all other mechanisms at rest."""
        roots, origin, plant = self.tree.roots, np.zeros(3), self.model
        out = np.zeros((len(q), len(self._roots), 6))
        for k, root in enumerate(self.tree.floating_roots):
            own = np.array([roots[i] == root for i in self.tree.joint_of_dof])
            frame = self._map.at(q, v * own)
            out[:, k] = self._run(
                lambda c: plant.CalcSpatialMomentumInWorldAboutPoint(c, origin).get_coeffs(), (6,), frame.q, frame.v
            )
        return out

    def generalized_forces(self, q: Floats, wrenches: Floats) -> Floats:
        """The sum of J^T f over the bodies, with `CalcJacobianSpatialVelocity` in body axes."""
        frame, plant, zero = self._map.at(q), self.model, np.zeros(3)
        out, world, kV = np.zeros((len(q), self._nv)), plant.world_frame(), JacobianWrtVariable.kV
        for body, loads in self._loads(wrenches):
            own = body.body_frame()

            def jacobian(c: Any, own: Any = own) -> Floats:
                return plant.CalcJacobianSpatialVelocity(c, kV, own, zero, world, own)

            out += (loads[:, None] @ self._run(jacobian, (6, self._nv), frame.q))[:, 0]
        return frame.efforts(out)

    def ledger(self, q: Floats, v: Floats, a: Floats) -> dict[str, dict[str, Floats]]:
        """Return what `CalcForceElementsContribution` adds to inverse dynamics beside gravity: damping and springs.

        See `harness.diagnosis.ledger.Booked`.
        """
        del a  # no force element depends on it
        plant, frame = self.model, self._map.at(q, v)
        context, forces = plant.CreateDefaultContext(), MultibodyForces(plant)
        terms = {"damping": np.zeros((len(q), self._nv)), "spring": np.zeros((len(q), self._nv))}
        for k, state in enumerate(np.hstack([frame.q, frame.v])):
            plant.SetPositionsAndVelocities(context, state)
            damping = np.zeros(self._nv)
            for j in plant.GetJointIndices():
                joint = plant.get_joint(j)
                rows = slice(joint.velocity_start(), joint.velocity_start() + joint.num_velocities())
                if joint.num_velocities():
                    damping[rows] = joint.default_damping_vector() * frame.v[k, rows]
            forces.SetZero()
            plant.CalcForceElementsContribution(context, forces)
            applied = plant.CalcGeneralizedForces(context, forces) - plant.CalcGravityGeneralizedForces(context)
            terms["damping"][k], terms["spring"][k] = damping, -applied - damping
        largest = max(float(np.abs(x).max(initial=0)) for x in terms.values())
        kept = {kind: frame.efforts(x) for kind, x in terms.items() if np.abs(x).max(initial=0) > ROUNDING * largest}
        return {"CalcForceElementsContribution": kept} if largest > ROUNDING else {}

    def _efforts(self, q: Floats, v: Floats, a: Floats, loads: list[Any], gravity: Floats | None) -> Floats:
        """Return inverse dynamics in Drake's coordinates, (N, nv)."""
        plant, none = self.model, self._none
        inverse_dynamics, g = plant.CalcInverseDynamics, plant.CalcGravityGeneralizedForces
        accelerations = iter(a)

        def plain(context: Any) -> Floats:
            return inverse_dynamics(context, next(accelerations), none) - g(context)

        if not loads:
            with self._under(gravity):
                return self._run(plain, (self._nv,), q, v)
        forces, zero, rows = MultibodyForces(plant), np.zeros(3), iter(range(len(q)))

        def loaded(context: Any) -> Floats:
            forces.SetZero()
            k = next(rows)
            for body, f in loads:
                body.AddInForce(context, zero, SpatialForce(f[k]), body.body_frame(), forces)
            return inverse_dynamics(context, next(accelerations), forces) - g(context)

        with self._under(gravity):
            return self._run(loaded, (self._nv,), q, v)

    def _load_efforts(self, q: Floats, loads: list[Any]) -> Floats:
        """Return what the wrenches do to the joints, (N, nv), by `CalcGeneralizedForces`."""
        plant, forces, zero, rows = self.model, MultibodyForces(self.model), np.zeros(3), iter(range(len(q)))

        def efforts(context: Any) -> Floats:
            forces.SetZero()
            k = next(rows)
            for body, f in loads:
                body.AddInForce(context, zero, SpatialForce(f[k]), body.body_frame(), forces)
            return plant.CalcGeneralizedForces(context, forces)

        return self._run(efforts, (self._nv,), q)

    def _loads(self, wrenches: Floats) -> list[tuple[DrakeBody, Floats]]:
        """Return the bodies that wrenches act on with those (N, 6), in Drake's body frames.

        Raises:
            EngineUnsupported: such a body is not in this plant.
        """
        loads: list[tuple[DrakeBody, Floats]] = []
        for i in np.flatnonzero(wrenches.any((0, 2))).tolist():
            if not i:
                continue  # the ground bears what acts on it
            if i not in self._held:
                raise EngineUnsupported(f"a wrench acts on body {self.tree.bodies[i].name!r}, which this plant has not")
            body, T = self._held[i]
            f = wrenches[:, i]
            loads.append((body, f if T is None else f @ motion_transform(inverse(T))))
        return loads

    def _world_poses(self, q: Floats) -> Floats:
        plant, bodies = self.model, [body for body, _ in self._held.values()]

        def placements(context: Any) -> list[Floats]:
            return [plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4() for body in bodies]

        return self._run(placements, (len(bodies), 4, 4), q)

    def _placed(self, Ts: Floats) -> Floats:
        for k, (_, T) in enumerate(self._held.values()):
            if T is not None:
                Ts[:, k] = Ts[:, k] @ T
        return Ts

    def _moments(self, q: Floats) -> Floats:
        """Return the sum of mass times position of what can move, (N, 3)."""
        return self.total_mass * self._run(self.model.CalcCenterOfMassPositionInWorld, (3,), q) - self._static_moment

    def _run(self, call: Callable[[Any], Any], shape: tuple[int, ...], q: Floats, v: Floats | None = None) -> Floats:
        """Return `call(context)` at every state, (N, *shape); not called where nothing is asked."""
        out, context = np.empty((len(q), *shape)), self._context
        if not out.size:
            return out
        states = np.hstack([q, np.zeros((len(q), self._nv)) if v is None else v])
        set_state = self.model.SetPositionsAndVelocities
        try:
            for k, state in enumerate(states):
                set_state(context, state)
                out[k] = call(context)
        except SystemExit as error:  # a failed precondition of Drake, such as a state that is not finite
            raise RuntimeError(str(error)) from error
        return out

    @contextmanager
    def _under(self, gravity: Floats | None) -> Generator[None]:
        """Set another gravity while a call runs."""
        field = self.model.mutable_gravity_field()
        own = np.array(field.gravity_vector())
        if gravity is not None:
            field.set_gravity_vector(gravity)
        try:
            yield
        finally:
            if gravity is not None:
                field.set_gravity_vector(own)
