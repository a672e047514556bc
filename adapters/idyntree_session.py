# pyright: reportAttributeAccessIssue=false
"""The answers of `KinDynComputations`: inverse dynamics, mass matrix, momentum, Jacobians of one `iDynTree::Model`.

Twists and wrenches are linear first, in the representation that `setFrameVelocityRepresentation` chooses; wrenches act
on links, at their origin in MIXED and BODY_FIXED, at the world origin in INERTIAL_FIXED. All generalized vectors have
six rows of the base link in front, also where it is held still. Gravity is an argument of every state.
Source: header KinDynComputations.h of 15.1; Traversaro 2017, Modelling, Estimation and Identification of Humanoid
Robots Dynamics, chapters 2 and 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..harness.base_links import POSE, TWIST, turns_of
from ..harness.bases import BODY, INERTIAL, MIXED
from ..harness.errors import EngineUnsupported
from ..harness.linear import solve_general
from ..harness.spatial import inverse, motion_transform
from .idyntree_bindings import idt
from .idyntree_build import matrix_of, transform_of
from .idyntree_forward import Forward
from .idyntree_seats import coordinate_map
from .idyntree_tree import tree_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..harness.base_links import BaseLink
    from ..harness.bases import BaseConvention
    from ..harness.findings import Finding
    from ..harness.seats import Frame
    from ..harness.tree import Floats, Tree
    from .idyntree_build import Model

SWAP_HALVES = [3, 4, 5, 0, 1, 2]  # linear first to angular first, and back
REPRESENTATIONS = {
    MIXED: idt.MIXED_REPRESENTATION,
    BODY: idt.BODY_FIXED_REPRESENTATION,
    INERTIAL: idt.INERTIAL_FIXED_REPRESENTATION,
}
NOT_TWO_TRIANGLES = "iDynTree copies every block of M to the other side: equal halves show only what it hands on"


class IdyntreeSession:
    """One model with the map of its coordinates; see `harness.engine.Session` for every answer.

    Args:
        model: owned by the session.
        tree: whose coordinates go in and out.
        base: where the base link is.
        pairs: tree body to joint of the model, for the joints that both have.
        outside: (nv, nv) reflected inertia that no model of iDynTree holds, or None.
        representation: of twists and wrenches; iDynTree's default is MIXED.
        extra_dofs, findings, notes: see `harness.engine.Session`.
    """

    def __init__(
        self,
        model: Model,
        tree: Tree,
        base: BaseLink,
        pairs: Mapping[int, int],
        *,
        outside: Floats | None = None,
        representation: BaseConvention = MIXED,
        extra_dofs: tuple[str, ...] = (),
        findings: tuple[Finding, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> None:
        self.model, self.tree, self._base, self._convention = model, tree, base, representation
        self.extra_dofs, self.findings, self.notes = extra_dofs, findings, notes
        self._engine = idt.KinDynComputations()
        self._engine.loadRobotModel(model)
        self._engine.setFrameVelocityRepresentation(REPRESENTATIONS[representation])
        self._map = coordinate_map(model, tree, base, pairs, representation)
        self.dofs = self._map.dofs
        self._outside = None if outside is None else outside[np.ix_(self._map.v_from, self._map.v_from)]
        frames = {i: model.getFrameIndex(body.name) for i, body in enumerate(tree.bodies) if i}
        self._frames = {i: frame for i, frame in frames.items() if frame >= 0}
        self.bodies = tuple(tree.bodies[i].name for i in self._frames)
        self._inertias = _matrices(model)
        self.total_mass = float(model.getTotalMass())
        still = set[int]() if base.floats else fixed_to_base(model)
        self._static_mass = float(self._inertias[list(still), 0, 0].sum())
        self._moving = sorted({*range(len(self._inertias))} - still) if self._static_mass else None
        balls = any(model.getJoint(k).isSphericalJoint() for k in range(model.getNrOfJoints()))
        forward = base.floats and self._outside is None and not extra_dofs and not balls
        self._forward = Forward(model, coordinate_map(model, tree, base, pairs, BODY)) if forward else None
        self._gravity = np.array(tree.gravity, np.float64)
        self.lacks = {"symmetry": NOT_TWO_TRIANGLES}
        if not self.total_mass - self._static_mass:
            self.lacks["center_of_mass"] = "the bodies that can move have no mass"
        if tree.floating_roots and not base.floats:
            self.lacks["momentum"] = self.lacks["total_momentum"] = "the base link of this model stands still"

    def describe(self) -> Tree:
        """Return the model as a tree."""
        return tree_of(self.model, self.tree, self._base)

    def inverse_dynamics(
        self, q: Floats, v: Floats, a: Floats, wrenches: Floats | None = None, gravity: Floats | None = None
    ) -> Floats:
        """`inverseDynamics` with wrenches on links; reflected inertia is added here."""
        frame = self._map.at(q, v)
        tau = frame.efforts(self._inverse(frame, frame.acceleration(a), wrenches, gravity))
        return tau if self._outside is None else tau + a[:, self._map.v_from] @ self._outside

    def bias(self, q: Floats, v: Floats, gravity: Floats | None = None) -> Floats:
        """`generalizedBiasForces` of a base that stands still, else `inverseDynamics` at its own acceleration."""
        frame = self._map.at(q, v)
        if self._base.floats:
            return frame.efforts(self._inverse(frame, frame.acceleration(), None, gravity))
        return frame.efforts(self._generalized(self._engine.generalizedBiasForces, frame, gravity))

    def gravity_forces(self, q: Floats) -> Floats:
        """`generalizedGravityForces`, after a call that brings the pose of the base link up to date."""
        frame = self._map.at(q)
        return frame.efforts(self._generalized(self._gravity_call, frame))

    def mass_matrix(self, q: Floats) -> Floats:
        """`getFreeFloatingMassMatrix`; reflected inertia is added here."""
        frame, nv = self._map.at(q), self._map.nv
        out, M, call = np.empty((len(q), nv, nv)), idt.MatrixDynSize(nv, nv), self._engine.getFreeFloatingMassMatrix
        for k in self._states(frame):
            call(M)
            out[k] = M.toNumPy()
        M = frame.mass_matrix(out)
        return M if self._outside is None else M + self._outside

    def forward_dynamics(self, q: Floats, v: Floats, tau: Floats, wrenches: Floats | None = None) -> Floats:
        """`ArticulatedBodyAlgorithm`; it knows no fixed base and no spherical joints, M is solved there instead."""
        if self._forward is not None:
            return self._forward(q, v, tau, self._gravity, None if wrenches is None else self._on_links(wrenches))
        rest = tau[:, self._map.v_from] - self.inverse_dynamics(q, v, np.zeros_like(v), wrenches)
        return np.asarray(solve_general(self.mass_matrix(q), rest), np.float64)

    def poses(self, q: Floats) -> Floats:
        """`getWorldTransform` of links and additional frames."""
        return self._poses(self._map.at(q), list(self._frames.values()))

    def velocities(self, q: Floats, v: Floats) -> Floats:
        """`getFrameVel`, brought from the representation to body axes, angular first."""
        return self._twists(self._map.at(q, v), list(self._frames.values()))[..., SWAP_HALVES]

    def kinetic_energy(self, q: Floats, v: Floats) -> Floats:
        """Half of V I V, summed over the links: iDynTree has no call for it."""
        V = self._twists(self._map.at(q, v), list(range(len(self._inertias))))
        energy = np.einsum("nbi,bij,nbj->n", V, self._inertias, V) / 2
        own = v[:, self._map.v_from]
        return energy if self._outside is None else energy + np.einsum("ni,ij,nj->n", own, self._outside, own) / 2

    def potential_energy(self, q: Floats) -> Floats:
        """Minus gravity times mass times centre of mass."""
        return -self._moments(q) @ self._gravity

    def center_of_mass(self, q: Floats) -> Floats:
        """Centre of mass of what moves."""
        return self._moments(q) / (self.total_mass - self._static_mass)

    def momentum(self, q: Floats, v: Floats) -> Floats:
        """`getCentroidalTotalMomentum`, moved to the world origin."""
        if not self._base.floats:
            return np.zeros((len(q), 0, 6))
        out, frame = np.empty((len(q), 1, 6)), self._map.at(q, v)
        R = np.eye(3)
        for k in self._states(frame):
            momentum, com = self._engine.getCentroidalTotalMomentum(), self._engine.getCenterOfMassPosition()
            vector = momentum.asVector()
            h = vector.toNumPy()
            if self._convention is BODY:
                R = frame.q[k, :POSE].reshape(4, 4)[:3, :3]
            force = R @ h[:3]
            out[k, 0] = [*(R @ h[3:] + np.cross(com.toNumPy(), force)), *force]
        return out

    def generalized_forces(self, q: Floats, wrenches: Floats) -> Floats:
        """Sum of J^T f with `getFrameFreeFloatingJacobian`."""
        frame, nv = self._map.at(q), self._map.nv
        loaded = [i for i in self._loaded(wrenches) if i]
        frames = [self._frames[i] for i in loaded]
        forces = self._represented(self._poses(frame, frames), wrenches[:, loaded])
        out, J = np.zeros((len(q), nv)), idt.MatrixDynSize(TWIST, nv)
        for k in self._states(frame):
            for index, force in zip(frames, forces[k], strict=True):
                self._engine.getFrameFreeFloatingJacobian(index, J)
                out[k] += force @ J.toNumPy()
        return frame.efforts(out)

    def _gravity_call(self, efforts: Any) -> bool:
        """`generalizedGravityForces` turns its base rows by the pose of the last state that had its poses computed."""
        self._engine.getWorldTransform(0)
        return self._engine.generalizedGravityForces(efforts)

    def _states(self, frame: Frame, gravity: Floats | None = None) -> Iterator[int]:
        """Set state after state, and yield its number; a base that stands still is set up once."""
        state, velocities, floats = self._engine.setRobotState, frame.v, self._base.floats
        g = idt.Vector3.FromPython(self._gravity if gravity is None else np.asarray(gravity, np.float64))
        vector, pose, twist = idt.VectorDynSize.FromPython, transform_of(self._base.T_world_link), idt.Twist.Zero()
        poses, twists = frame.q[:, :POSE].reshape(-1, 4, 4), velocities[:, :TWIST].copy()
        # Rows of an array that is contiguous are taken as they are.
        rows = zip(frame.q[:, POSE:].copy(), velocities[:, TWIST:].copy(), strict=True)
        for k, (s, ds) in enumerate(rows):
            if floats:
                pose.fromHomogeneousTransform(idt.Matrix4x4.FromPython(poses[k]))
                twist = idt.Twist.FromPython(twists[k])
            state(pose, vector(s), twist, vector(ds), g)
            yield k

    def _generalized(self, call: Callable[[Any], Any], frame: Frame, gravity: Floats | None = None) -> Floats:
        """Return (N, 6 + n) what a call writes into generalized torques; zero rows of a base that stands still."""
        out, efforts = np.zeros((len(frame.q), self._map.nv)), idt.FreeFloatingGeneralizedTorques(self.model)
        base, joints, floats = efforts.baseWrench(), efforts.jointTorques(), self._base.floats
        for k in self._states(frame, gravity):
            call(efforts)
            out[k, TWIST:] = joints.toNumPy()
            if floats:
                out[k, :TWIST] = base.toNumPy()
        return out

    def _inverse(self, frame: Frame, a: Floats, wrenches: Floats | None, gravity: Floats | None) -> Floats:
        """Return (N, 6 + n) what `inverseDynamics` gives at iDynTree's accelerations."""
        external = idt.LinkWrenches(self.model)
        external.zero()
        bases, joints = a[:, :TWIST].copy(), a[:, TWIST:].copy()
        six, vector = idt.Vector6.FromPython, idt.VectorDynSize.FromPython
        call, state = self._engine.inverseDynamics, iter(range(len(a)))
        if wrenches is None:
            rows = zip(bases, joints, strict=True)

            def bare(efforts: Any) -> None:
                base, joint = next(rows)
                call(six(base), vector(joint), external, efforts)

            return self._generalized(bare, frame, gravity)
        links, on_links = self._on_links(wrenches)
        forces, slots = self._represented(self._poses(frame, links), on_links), [external(link) for link in links]

        def loaded(efforts: Any) -> None:
            k = next(state)
            for slot, force in zip(slots, forces[k], strict=True):
                for at, value in enumerate(force.tolist()):
                    slot.setVal(at, value)
            call(six(bases[k]), vector(joints[k]), external, efforts)

        return self._generalized(loaded, frame, gravity)

    def _poses(self, frame: Frame, frames: Sequence[int]) -> Floats:
        """Return T_world_frame (N, len(frames), 4, 4)."""
        out = np.empty((len(frame.q), len(frames), 4, 4))
        for k in self._states(frame):
            for at, index in enumerate(frames):
                out[k, at] = matrix_of(self._engine.getWorldTransform(index))
        return out

    def _twists(self, frame: Frame, frames: Sequence[int]) -> Floats:
        """Return the twists of frames (N, len(frames), 6), linear first, in their own axes about their own origin."""
        out = np.empty((len(frame.q), len(frames), 6))
        Ts = np.empty((len(frame.q), len(frames), 4, 4))
        for k in self._states(frame):
            for at, index in enumerate(frames):
                out[k, at] = self._engine.getFrameVel(index).toNumPy()
                Ts[k, at] = matrix_of(self._engine.getWorldTransform(index))
        return np.asarray(np.linalg.solve(turns_of(self._convention, Ts), out[..., None])[..., 0], np.float64)

    def _represented(self, Ts: Floats, wrenches: Floats) -> Floats:
        """Return wrenches (N, k, 6), moment first in the axes of frames at Ts, as the representation has them."""
        turned = np.linalg.inv(turns_of(self._convention, Ts)).swapaxes(-1, -2)
        return (turned @ wrenches[..., SWAP_HALVES, None])[..., 0]

    def _loaded(self, wrenches: Floats) -> list[int]:
        """Return the bodies of the tree that wrenches act on.

        Raises:
            EngineUnsupported: the model does not have one.
        """
        loaded = (np.flatnonzero(wrenches[:, 1:].any((0, 2))) + 1).tolist()
        for i in loaded:
            if i not in self._frames:
                raise EngineUnsupported(
                    f"a wrench acts on body {self.tree.bodies[i].name!r}, which this model does not have"
                )
        return loaded

    def _on_links(self, wrenches: Floats) -> tuple[list[int], Floats]:
        """Return links, and the wrenches (N, len(links), 6) on them, moment first in link axes."""
        on: dict[int, Floats] = {}
        for i in self._loaded(wrenches):
            frame = self._frames[i]
            X_frame_link = motion_transform(inverse(matrix_of(self.model.getFrameTransform(frame))))
            link = self.model.getFrameLink(frame)
            on[link] = on.get(link, 0) + wrenches[:, i] @ X_frame_link
        return list(on), np.stack(list(on.values()), axis=1) if on else np.zeros((len(wrenches), 0, 6))

    def _moments(self, q: Floats) -> Floats:
        """Return mass times centre of mass of what moves (N, 3) in the world.

        `getCenterOfMassPosition` is that of all links: where some that stand still have a mass, the others are summed.
        """
        frame = self._map.at(q)
        if self._moving is None:
            out = np.empty((len(q), 3))
            for k in self._states(frame):
                out[k] = self._engine.getCenterOfMassPosition().toNumPy()
            return self.total_mass * out
        I, Ts = self._inertias[self._moving], self._poses(frame, self._moving)
        first = np.stack([I[:, 1, 5], I[:, 2, 3], I[:, 0, 4]], axis=1)
        return np.einsum("nbij,bj->ni", Ts[..., :3, :3], first) + np.einsum("nbi,b->ni", Ts[..., :3, 3], I[:, 0, 0])


def _matrices(model: Model) -> Floats:
    """Return the spatial inertia (links, 6, 6) of every link about its origin, linear first."""
    out = np.empty((model.getNrOfLinks(), 6, 6))
    for k in range(len(out)):
        inertia = model.getLink(k).getInertia()
        matrix = inertia.asMatrix()
        out[k] = matrix.toNumPy()
    return out


def fixed_to_base(model: Model) -> set[int]:
    """Return the base link and those that are fixed to it, by index."""
    traversal = idt.Traversal()
    model.computeFullTreeTraversal(traversal)
    found = {model.getDefaultBaseLink()}
    for k in range(1, traversal.getNrOfVisitedLinks()):
        if traversal.getParentLink(k).getIndex() in found and not traversal.getParentJoint(k).getNrOfDOFs():
            found.add(traversal.getLink(k).getIndex())
    return found
