"""The answers of a `dartpy` skeleton: `computeInverseDynamics`, `getMassMatrix`, `computeForwardDynamics`, Jacobians.

A skeleton keeps its state: positions, velocities and accelerations are written before every call. Twists and wrenches
are angular first in body axes, as ours. `setExtForce` and `setExtTorque` take what the surroundings do to the body.
`computeInverseDynamics` holds damping and springs only when asked to; `computeForwardDynamics` always does, at the
state of the next time step: a copy of the skeleton without them answers instead. No model holds reflected inertia.
DART takes vectors of any length without a word: the map of coordinates looks at their sizes.
Source: DART 6.20, `dynamics::Skeleton`, `dynamics::BodyNode`, measured.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..harness.errors import EngineUnsupported
from ..harness.linear import solve
from ..harness.seats import CoordinateMap
from ..harness.tree import JointKind
from .dart_ledger import ledger, without_passive_forces
from .dart_tree import tree_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

    from ..harness.findings import Finding
    from ..harness.seats import Frame, Seat
    from ..harness.tree import Floats, Tree
    from .dart_build import Skeleton
    from .dart_joints import BodyNode


class DartSession:
    """One skeleton with the map of its coordinates; see `harness.engine.Session` for every answer.

    Args:
        skeleton: owned by the session.
        tree: whose coordinates go in and out.
        nodes: tree body to the body node that stands for it.
        seats: of the joints that both have.
        extra_dofs, findings, notes: see `harness.engine.Session`.
        outside: (nv, nv) reflected inertia that is added to what DART answers, or None.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        tree: Tree,
        nodes: Mapping[int, BodyNode],
        seats: Sequence[Seat],
        *,
        extra_dofs: tuple[str, ...] = (),
        findings: tuple[Finding, ...] = (),
        notes: tuple[str, ...] = (),
        outside: Floats | None = None,
    ) -> None:
        self.model, self.tree = skeleton, tree
        self.extra_dofs, self.findings, self.notes = extra_dofs, findings, notes
        n = skeleton.getNumDofs()
        self._map = CoordinateMap(tree, seats, np.zeros(n), n)
        self.dofs = self._map.dofs
        self._nodes = dict(sorted(nodes.items()))
        self.bodies = tuple(tree.bodies[i].name for i in self._nodes)
        self.total_mass = float(skeleton.getMass())
        every = [skeleton.getBodyNode(k) for k in range(skeleton.getNumBodyNodes())]
        self._moving = [node for node in every if node.getNumDependentGenCoords()]
        self._outside = None if outside is None else outside[np.ix_(self._map.v_from, self._map.v_from)]
        self._roots = [self._mechanism(i) for i in tree.floating_roots]
        self._free: Skeleton = None
        self.lacks = {"symmetry": "getMassMatrix mirrors one triangle: that both are equal shows nothing"}
        if not sum(node.getMass() for node in self._moving):
            self.lacks["center_of_mass"] = "the bodies that can move have no mass"
        if None in self._roots:
            self.lacks["total_momentum"] = "a floating root of the file does not float in this skeleton"

    def _mechanism(self, root: int) -> list[BodyNode] | None:
        """Return the body nodes of the mechanism below a floating root, None where the skeleton has none such."""
        node = self._nodes.get(root)
        if node is None or node.getParentJoint().getType() != "FreeJoint":
            return None
        return [other for other in self._moving if other.descendsFrom(node)]

    def describe(self) -> Tree:
        """Return the skeleton as a tree: DART keeps every link as a body.

        Where a free joint is at is of its coordinates: it is said in those of the tree that was given.
        """
        held = tree_of(self.model)
        floating = {i: node for i, node in self._nodes.items() if self.tree.joints[i].kind is JointKind.FLOATING}
        bodies = list(held.bodies)
        for i, node in floating.items():
            k = held.index.get(node.getName(), 0)
            if bodies[k].joint.kind is JointKind.FLOATING:
                placed = replace(bodies[k].joint, T_parent_joint=self.tree.joints[i].T_parent_joint)
                bodies[k] = replace(bodies[k], joint=placed)
        return replace(held, bodies=tuple(bodies))

    def inverse_dynamics(
        self, q: Floats, v: Floats, a: Floats, wrenches: Floats | None = None, gravity: Floats | None = None
    ) -> Floats:
        """`computeInverseDynamics`, without damping and springs; wrenches as external forces."""
        frame = self._map.at(q, v)
        with self._under(gravity):
            tau = self._inverse(frame, frame.acceleration(a), wrenches)
        return tau if self._outside is None else tau + a[:, self._map.v_from] @ self._outside

    def bias(self, q: Floats, v: Floats, gravity: Floats | None = None) -> Floats:
        """`getCoriolisAndGravityForces`; where DART's acceleration is not zero at ours, `computeInverseDynamics`."""
        frame = self._map.at(q, v)
        with self._under(gravity):
            if frame.turns:
                return self._inverse(frame, frame.acceleration(), None)
            call = self.model.getCoriolisAndGravityForces
            return frame.efforts(self._run(call, (self._map.nv,), frame.q, frame.v))

    def gravity_forces(self, q: Floats) -> Floats:
        """`getGravityForces`."""
        frame = self._map.at(q)
        return frame.efforts(self._run(self.model.getGravityForces, (self._map.nv,), frame.q))

    def mass_matrix(self, q: Floats) -> Floats:
        """`getMassMatrix`; reflected inertia is added here."""
        frame, nv = self._map.at(q), self._map.nv
        M = frame.mass_matrix(self._run(self.model.getMassMatrix, (nv, nv), frame.q))
        return M if self._outside is None else M + self._outside

    def forward_dynamics(self, q: Floats, v: Floats, tau: Floats, wrenches: Floats | None = None) -> Floats:
        """`computeForwardDynamics`; where it cannot hold a term or a dof, M and the bias are solved instead."""
        if self._outside is not None or self.extra_dofs:
            rest = tau[:, self._map.v_from] - self.inverse_dynamics(q, v, np.zeros_like(v), wrenches)
            return np.asarray(solve(self.mass_matrix(q), rest), np.float64)
        if self._free is None:
            self._free = without_passive_forces(self.model)
        skeleton, frame = self._free, self._map.at(q, v)
        load = self._loads(skeleton, wrenches)
        out = np.empty((len(q), self._map.nv))
        for i, state in enumerate(zip(frame.q, frame.v, frame.engine_efforts(tau), strict=True) if out.size else ()):
            skeleton.setPositions(state[0])
            skeleton.setVelocities(state[1])
            skeleton.setForces(state[2])
            load(i)
            skeleton.computeForwardDynamics()
            out[i] = skeleton.getAccelerations()
        skeleton.clearExternalForces()
        return frame.tree_acceleration(out)

    def poses(self, q: Floats) -> Floats:
        """`getWorldTransform`."""
        nodes = tuple(self._nodes.values())
        call = lambda: [node.getWorldTransform().matrix() for node in nodes]  # noqa: E731
        return self._run(call, (len(nodes), 4, 4), self._map.at(q).q)

    def velocities(self, q: Floats, v: Floats) -> Floats:
        """`getSpatialVelocity`, angular first in body axes, as ours."""
        nodes, frame = tuple(self._nodes.values()), self._map.at(q, v)
        return self._run(lambda: [node.getSpatialVelocity() for node in nodes], (len(nodes), 6), frame.q, frame.v)

    def kinetic_energy(self, q: Floats, v: Floats) -> Floats:
        """`computeKineticEnergy`; that of reflected inertia is added here."""
        frame = self._map.at(q, v)
        energy = self._run(self.model.computeKineticEnergy, (), frame.q, frame.v)
        own = v[:, self._map.v_from]
        return energy if self._outside is None else energy + np.einsum("ni,ij,nj->n", own, self._outside, own) / 2

    def potential_energy(self, q: Floats) -> Floats:
        """Sum of `computePotentialEnergy` over the bodies that can move."""
        nodes, g = self._moving, self.model.getGravity()
        return self._run(lambda: sum(node.computePotentialEnergy(g) for node in nodes), (), self._map.at(q).q)

    def center_of_mass(self, q: Floats) -> Floats:
        """Mean of `getCOM` over the bodies that can move."""
        masses = np.array([node.getMass() for node in self._moving])
        nodes = self._moving
        return self._run(lambda: masses @ [node.getCOM() for node in nodes] / masses.sum(), (3,), self._map.at(q).q)

    def momentum(self, q: Floats, v: Floats) -> Floats:
        """Sum of `getAngularMomentum` and `getLinearMomentum`, which are in body axes, brought to the world."""
        roots, frame = self._roots, self._map.at(q, v)

        def momenta() -> list[Floats]:
            lost = np.full(6, np.inf)
            return [lost if nodes is None else sum(map(_momentum, nodes), np.zeros(6)) for nodes in roots]

        return self._run(momenta, (len(roots), 6), frame.q, frame.v)

    def generalized_forces(self, q: Floats, wrenches: Floats) -> Floats:
        """Sum of J^T f, with `getJacobian` of the skeleton in body axes at the body origin."""
        frame, skeleton = self._map.at(q), self.model
        loaded = self._loaded(wrenches)
        out = np.zeros((len(q), self._map.nv))
        for i, row in enumerate(frame.q if loaded else ()):
            skeleton.setPositions(row)
            for body, node in loaded:
                out[i] += skeleton.getJacobian(node).T @ wrenches[i, body]
        return frame.efforts(out)

    def ledger(self, q: Floats, v: Floats, a: Floats) -> Mapping[str, Mapping[str, Floats]]:
        """Return what other calls of DART hold: damping and springs, at the state of the next time step."""
        frame = self._map.at(q, v)
        return ledger(self.model, frame, frame.acceleration(a))

    def _inverse(self, frame: Frame, a: Floats, wrenches: Floats | None) -> Floats:
        skeleton, out = self.model, np.empty((len(a), self._map.nv))
        if not out.size:
            return frame.efforts(out)
        positions, velocities, accelerations = skeleton.setPositions, skeleton.setVelocities, skeleton.setAccelerations
        compute, forces, load = skeleton.computeInverseDynamics, skeleton.getForces, self._loads(skeleton, wrenches)
        loaded = wrenches is not None
        for i, (x, y, z) in enumerate(zip(frame.q, frame.v, a, strict=True)):
            positions(x)
            velocities(y)
            accelerations(z)
            if loaded:
                load(i)
            compute(loaded)
            out[i] = forces()
        if loaded:
            skeleton.clearExternalForces()
        return frame.efforts(out)

    def _loads(self, skeleton: Skeleton, wrenches: Floats | None) -> Callable[[int], None]:
        """Return what sets the external forces of one state."""
        if wrenches is None:
            return lambda _: None
        bodies = [(i, skeleton.getBodyNode(node.getIndexInSkeleton())) for i, node in self._loaded(wrenches)]
        origin = np.zeros(3)

        def load(state: int) -> None:
            for body, node in bodies:
                # In this order: `setExtForce` sets the moment too, to that of its lever.
                node.setExtForce(wrenches[state, body, 3:], origin, True, True)
                node.setExtTorque(wrenches[state, body, :3], True)

        return load

    def _loaded(self, wrenches: Floats) -> list[tuple[int, BodyNode]]:
        """Return the bodies on which a wrench acts; the ground bears what acts on it."""
        loaded = (np.flatnonzero(wrenches[:, 1:].any((0, 2))) + 1).tolist()
        for i in loaded:
            if i not in self._nodes:
                raise EngineUnsupported(
                    f"a wrench acts on body {self.tree.bodies[i].name!r}, which this skeleton does not have"
                )
        return [(i, self._nodes[i]) for i in loaded]

    def _run(self, call: Callable[[], Any], shape: tuple[int, ...], q: Floats, v: Floats | None = None) -> Floats:
        """Return `call()` at every state, (N, *shape); not called where nothing is asked."""
        out, skeleton = np.empty((len(q), *shape)), self.model
        states: Iterable[Any] = zip(q, q if v is None else v, strict=True)
        for i, (x, y) in enumerate(states if out.size else ()):
            skeleton.setPositions(x)
            if v is not None:
                skeleton.setVelocities(y)
            out[i] = call()
        return out

    @contextmanager
    def _under(self, gravity: Floats | None) -> Generator[None]:
        """Set another gravity while a call runs."""
        own = np.array(self.model.getGravity())  # a view of the skeleton's own
        if gravity is not None:
            self.model.setGravity(gravity)
        try:
            yield
        finally:
            if gravity is not None:
                self.model.setGravity(own)


def _momentum(node: BodyNode) -> Floats:
    """Return the momentum (n, f) of one body in world axes about the world origin."""
    T = node.getWorldTransform().matrix()
    n, f = T[:3, :3] @ node.getAngularMomentum(), T[:3, :3] @ node.getLinearMomentum()
    return np.concatenate([n + np.cross(T[:3, 3], f), f])
