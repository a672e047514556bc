"""Engines that are wrong on purpose, each in one thing, and the table of the checks that catch them.

Every miniature is the right reference in float64 behind a thin wall. `CATCHES` says which quantities and which
identities fail on the neutral path; all others pass.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tautology.adapters.reference import Reference
from tautology.harness.errors import EngineUnsupported
from tautology.harness.tree import JointKind

SMALL = 1e-10  # relative: far below what two robots may differ in, far above rounding


class Miniature:
    """The right reference behind a thin wall; what a subclass does not answer, the reference does."""

    def __init__(self, tree):
        self.tree = tree
        self.right = Reference(tree)

    def __getattr__(self, name):
        return getattr(self.right, name)

    def base(self):
        """Return the slice of the floating root's velocities."""
        return next(
            s for j, s in zip(self.tree.joints, self.tree.v_slices, strict=True) if j.kind is JointKind.FLOATING
        )


class BiasLeftIn(Miniature):
    """Columns of M with the gravity that was never subtracted."""

    def mass_matrix(self, q):
        """Return ID(q, 0, e_j) as column j."""
        return self.right.mass_matrix(q) + self.right.gravity_forces(q)[:, :, None]


class ArmatureMissingFromM(Miniature):
    """Reflected inertia in tau, none in M."""

    def mass_matrix(self, q):
        """Return the rigid part alone."""
        return self.right.mass_matrix(q) - np.diag(self.right.model.reflected)


class ArmatureMissingFromTau(Miniature):
    """Reflected inertia in M, none in tau."""

    def inverse_dynamics(self, q, v, a, wrenches=None, gravity=None):
        """Return the rigid part alone."""
        return self.right.inverse_dynamics(q, v, a, wrenches, gravity) - self.right.model.reflected * a


class OrdinaryBaseAcceleration(Miniature):
    """The base acceleration taken as ordinary, not spatial: wrong by omega x v."""

    def inverse_dynamics(self, q, v, a, wrenches=None, gravity=None):
        """Subtract omega x v from the linear part before asking."""
        base, b = self.base(), np.array(a)
        b[:, base][:, :3] -= np.cross(v[:, base][:, 3:], v[:, base][:, :3])
        return self.right.inverse_dynamics(q, v, b, wrenches, gravity)

    def bias(self, q, v, gravity=None):
        """Return the same at zero acceleration."""
        return self.inverse_dynamics(q, v, np.zeros_like(v), gravity=gravity)


class WorldWrenches(Miniature):
    """External wrenches taken in world axes instead of body axes."""

    def inverse_dynamics(self, q, v, a, wrenches=None, gravity=None):
        """Turn the wrenches by R^T of their bodies."""
        if wrenches is not None:
            R = np.swapaxes(self.right.all_poses(q)[..., :3, :3], -1, -2)
            wrenches = (R[:, :, None] @ wrenches.reshape(len(q), -1, 2, 3, 1)).reshape(wrenches.shape)
        return self.right.inverse_dynamics(q, v, a, wrenches, gravity)


class WrenchesReversed(Miniature):
    """External wrenches by the body on the environment."""

    def inverse_dynamics(self, q, v, a, wrenches=None, gravity=None):
        """Reverse them."""
        return self.right.inverse_dynamics(q, v, a, None if wrenches is None else -wrenches, gravity)


class SignFlipped(Miniature):
    """Efforts of the robot on the motors."""

    def inverse_dynamics(self, q, v, a, wrenches=None, gravity=None):
        """Return minus tau."""
        return -self.right.inverse_dynamics(q, v, a, wrenches, gravity)


class NoGravity(Miniature):
    """Gravity left out of every effort, kept in the potential energy."""

    def inverse_dynamics(self, q, v, a, wrenches=None, gravity=None):  # noqa: ARG002
        """Ask without gravity, whatever is asked for."""
        return self.right.inverse_dynamics(q, v, a, wrenches, np.zeros(3))

    def bias(self, q, v, gravity=None):  # noqa: ARG002
        """Ask without gravity, whatever is asked for."""
        return self.right.bias(q, v, np.zeros(3))

    def gravity_forces(self, q):
        """Return none."""
        return np.zeros((len(q), self.tree.nv))


class OtherGravity(Miniature):
    """A sound engine whose g is 9.80665 where the file says 9.81."""

    def __init__(self, tree):
        super().__init__(tree)
        self.right = Reference(replace(tree, gravity=tree.gravity * (9.80665 / 9.81)))


class HalfOfM(Miniature):
    """Only the upper triangle of M filled."""

    def mass_matrix(self, q):
        """Return zeros below the diagonal."""
        return np.triu(self.right.mass_matrix(q))


class IndefiniteM(Miniature):
    """The least eigenvalue of M reversed, as scaled to unit diagonal; every diagonal entry stays positive."""

    def mass_matrix(self, q):
        """Return D (N - 2 w u u^T) D for M = D N D."""
        M = self.right.mass_matrix(q)
        D = np.sqrt(np.diagonal(M, axis1=1, axis2=2))
        D = D[:, :, None] * D[:, None, :]
        w, U = np.linalg.eigh(M / D)
        u = U[..., 0]
        return M - 2 * w[:, 0, None, None] * u[:, :, None] * u[:, None, :] * D


class WritesIntoInputs(Miniature):
    """Right answers, and the question rewritten: the angles of the caller come back wrapped."""

    def poses(self, q):
        """Answer, then turn q."""
        T = self.right.poses(q)
        q[:, 0] += 2 * np.pi
        return T


class Restless(Miniature):
    """The last bit depends on how often it was asked."""

    def __init__(self, tree):
        super().__init__(tree)
        self.calls = 0

    def bias(self, q, v, gravity=None):
        """Return the bias, a bit off every second time."""
        self.calls += 1
        return np.nextafter(self.right.bias(q, v, gravity), np.inf if self.calls % 2 else -np.inf)


class Stale(Miniature):
    """Velocities of the question before this one."""

    def __init__(self, tree):
        super().__init__(tree)
        self.last = None

    def velocities(self, q, v):
        """Return what was asked last, the first time zeros."""
        answer = np.zeros_like(self.right.velocities(q, v)) if self.last is None else self.last
        self.last = self.right.velocities(q, v)
        return answer


class NotANumber(Miniature):
    """NaN in one entry of one state."""

    def gravity_forces(self, q):
        """Return NaN for the first dof of the fourth state."""
        g = self.right.gravity_forces(q)
        g[3, 0] = np.nan
        return g


class WrongShape(Miniature):
    """The energy of all states as a column."""

    def potential_energy(self, q):
        """Return (N, 1)."""
        return self.right.potential_energy(q)[:, None]


class NoAnswer(Miniature):
    """A call that returns nothing."""

    def center_of_mass(self, q):
        """Return None."""


class Raises(Miniature):
    """A call that raises what it should not."""

    def forward_dynamics(self, q, v, tau, wrenches=None):  # noqa: ARG002
        """Raise."""
        raise ZeroDivisionError(f"{len(q)} states are too many")


class LeavesTheProcess(Miniature):
    """A call that leaves the process when it is not content, as Drake's do."""

    def velocities(self, q, v):  # noqa: ARG002
        """Raise SystemExit."""
        raise SystemExit(1)


class KineticEnergyWithoutArmature(Miniature):
    """Kinetic energy of the bodies alone."""

    def kinetic_energy(self, q, v):
        """Leave out what the rotors have."""
        return self.right.kinetic_energy(q, v) - (self.right.model.reflected * v * v).sum(-1) / 2


class PotentialEnergyFromBase(Miniature):
    """Potential energy measured from another height: no identity can tell."""

    def potential_energy(self, q):
        """Add a constant."""
        return self.right.potential_energy(q) + 0.25


class PotentialEnergyReversed(Miniature):
    """Potential energy that falls when the robot is lifted."""

    def potential_energy(self, q):
        """Return -U."""
        return -self.right.potential_energy(q)


class StaticBodiesInCom(Miniature):
    """A centre of mass that counts a pedestal."""

    def center_of_mass(self, q):
        """Return it drawn towards the world origin."""
        return self.right.center_of_mass(q) * 0.999


class OriginVelocityOfCom(Miniature):
    """Body velocities at the centre of mass instead of the body origin."""

    def velocities(self, q, v):
        """Return (omega, v + omega x c)."""
        V = np.array(self.right.velocities(q, v))
        com = np.stack([body.inertia.com for body in self.tree.bodies[1:]])
        V[..., 3:] += np.cross(V[..., :3], com)
        return V


class PoseOfCom(Miniature):
    """Poses of inertial frames instead of body frames."""

    def poses(self, q):
        """Move every origin to the centre of mass."""
        T = self.right.poses(q)
        com = np.stack([body.inertia.com for body in self.tree.bodies[1:]])
        T[..., :3, 3] += (T[..., :3, :3] @ com[..., None])[..., 0]
        return T


class OrderSwapped(Miniature):
    """A consistent engine that has mixed up two hinges: another robot, which no identity can tell."""

    def __init__(self, tree):
        super().__init__(tree)
        hinges = [i for i, j in enumerate(tree.joints) if j.kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS)]
        self.qs = np.arange(tree.nq)
        self.vs = np.arange(tree.nv)
        for order, slices in ((self.qs, tree.q_slices), (self.vs, tree.v_slices)):
            one, two = slices[hinges[0]].start, slices[hinges[-1]].start
            order[[one, two]] = order[[two, one]]

    def inverse_dynamics(self, q, v, a, wrenches=None, gravity=None):
        """Swap what goes in and what comes out; so does every other answer."""
        tau = self.right.inverse_dynamics(q[:, self.qs], v[:, self.vs], a[:, self.vs], wrenches, gravity)
        return tau[:, self.vs]

    def bias(self, q, v, gravity=None):
        """See `inverse_dynamics`."""
        return self.right.bias(q[:, self.qs], v[:, self.vs], gravity)[:, self.vs]

    def gravity_forces(self, q):
        """See `inverse_dynamics`."""
        return self.right.gravity_forces(q[:, self.qs])[:, self.vs]

    def mass_matrix(self, q):
        """See `inverse_dynamics`."""
        return self.right.mass_matrix(q[:, self.qs])[:, self.vs][:, :, self.vs]

    def forward_dynamics(self, q, v, tau, wrenches=None):
        """See `inverse_dynamics`."""
        return self.right.forward_dynamics(q[:, self.qs], v[:, self.vs], tau[:, self.vs], wrenches)[:, self.vs]

    def poses(self, q):
        """See `inverse_dynamics`."""
        return self.right.poses(q[:, self.qs])

    def velocities(self, q, v):
        """See `inverse_dynamics`."""
        return self.right.velocities(q[:, self.qs], v[:, self.vs])

    def kinetic_energy(self, q, v):
        """See `inverse_dynamics`."""
        return self.right.kinetic_energy(q[:, self.qs], v[:, self.vs])

    def potential_energy(self, q):
        """See `inverse_dynamics`."""
        return self.right.potential_energy(q[:, self.qs])

    def center_of_mass(self, q):
        """See `inverse_dynamics`."""
        return self.right.center_of_mass(q[:, self.qs])

    def momentum(self, q, v):
        """See `inverse_dynamics`."""
        return self.right.momentum(q[:, self.qs], v[:, self.vs])

    def generalized_forces(self, q, wrenches):
        """See `inverse_dynamics`."""
        return self.right.generalized_forces(q[:, self.qs], wrenches)[:, self.vs]


class QuaternionOrder(OrderSwapped):
    """The base quaternion read as (x, y, z, w)."""

    def __init__(self, tree):
        Miniature.__init__(self, tree)
        self.qs, self.vs = np.arange(tree.nq), np.arange(tree.nv)
        root = next(i for i, j in enumerate(tree.joints) if j.kind is JointKind.FLOATING)
        start = tree.q_slices[root].start + 3
        self.qs[start : start + 4] = np.roll(self.qs[start : start + 4], 1)


class ForwardWithoutWrenches(Miniature):
    """Forward dynamics that forgets the wrenches."""

    def forward_dynamics(self, q, v, tau, wrenches=None):  # noqa: ARG002
        """Leave them out."""
        return self.right.forward_dynamics(q, v, tau)


class ForwardWithoutArmature(Miniature):
    """Forward dynamics of the rigid robot alone."""

    def forward_dynamics(self, q, v, tau, wrenches=None):
        """Solve with the rigid part of M."""
        r = self.right
        M = r.mass_matrix(q) - np.diag(r.model.reflected)
        known = r.inverse_dynamics(q, v, np.zeros_like(v), wrenches)
        return np.linalg.solve(M, (tau - known)[..., None])[..., 0]


class MomentumAboutBase(Miniature):
    """Momentum about the base origin instead of the world origin."""

    def momentum(self, q, v):
        """Shift the angular part."""
        h = self.right.momentum(q, v)
        p = self.right.poses(q)[:, 0, :3, 3]
        return np.concatenate([h[..., :3] - np.cross(p[:, None], h[..., 3:]), h[..., 3:]], axis=-1)


class JacobianOfCom(Miniature):
    """Generalized forces of wrenches that act at centres of mass."""

    def generalized_forces(self, q, wrenches):
        """Move every wrench from the body origin to the centre of mass."""
        com = np.stack([body.inertia.com for body in self.tree.bodies])
        moved = np.array(wrenches)
        moved[..., :3] += np.cross(com, moved[..., 3:])
        return self.right.generalized_forces(q, moved)


class HalfOfCoriolis(Miniature):
    """A bias with half of the velocity products."""

    def bias(self, q, v, gravity=None):
        """Average the bias with the gravity forces."""
        still = self.right.bias(q, np.zeros_like(v), gravity)
        return (self.right.bias(q, v, gravity) + still) / 2


class InertiaOfSpeed(Miniature):
    """Implicit damping in an inverse-dynamics call: its columns grow with the speed."""

    def inverse_dynamics(self, q, v, a, wrenches=None, gravity=None):
        """Add |v| a, very small."""
        return self.right.inverse_dynamics(q, v, a, wrenches, gravity) + 1e-6 * np.abs(v) * a


class InertiaOfGravity(Miniature):
    """A call that keeps reflected inertia for its own gravity alone."""

    def inverse_dynamics(self, q, v, a, wrenches=None, gravity=None):
        """Drop it when gravity is given."""
        tau = self.right.inverse_dynamics(q, v, a, wrenches, gravity)
        return tau if gravity is None else tau - self.right.model.reflected * a


class InertiaOfLoad(Miniature):
    """A call that drops reflected inertia when wrenches are given."""

    def inverse_dynamics(self, q, v, a, wrenches=None, gravity=None):
        """Drop it when there is any wrench."""
        tau = self.right.inverse_dynamics(q, v, a, wrenches, gravity)
        return tau if wrenches is None else tau - self.right.model.reflected * a


class Bent(Miniature):
    """Inverse dynamics that is not affine in a, as with constraint forces; unit accelerations do not show it."""

    def inverse_dynamics(self, q, v, a, wrenches=None, gravity=None):
        """Add what vanishes at a = 0 and a = 1."""
        return self.right.inverse_dynamics(q, v, a, wrenches, gravity) + 1e-8 * a * (a - 1)


class WrongDegreesOfFreedom(Miniature):
    """A mass matrix without its last dof."""

    def mass_matrix(self, q):
        """Return (N, n - 1, n - 1)."""
        return self.right.mass_matrix(q)[:, :-1, :-1]


class NoWrenches(Miniature):
    """A right engine that takes no wrenches: nothing fails, and what needs them does not apply."""

    def inverse_dynamics(self, q, v, a, wrenches=None, gravity=None):
        """Refuse wrenches."""
        if wrenches is not None:
            raise EngineUnsupported("this engine takes no wrenches")
        return self.right.inverse_dynamics(q, v, a, None, gravity)

    def forward_dynamics(self, q, v, tau, wrenches=None):
        """Refuse wrenches."""
        if wrenches is not None:
            raise EngineUnsupported("this engine takes no wrenches")
        return self.right.forward_dynamics(q, v, tau)


class OffBy(Miniature):
    """A right engine with one answer wrong by a small relative factor."""

    def __init__(self, tree, method, factor=SMALL):
        super().__init__(tree)
        answer = getattr(self.right, method)
        setattr(self, method, lambda *args, **kwargs: answer(*args, **kwargs) * (1 + factor))


class Lost(Miniature):
    """A sound engine whose importer welded one joint: it has a dof less, and wrenches act on what is left."""

    def __init__(self, tree, joint):
        super().__init__(tree)
        index = tree.joint_index[joint]
        bodies = list(tree.bodies)
        inert = dict.fromkeys(("damping", "friction", "armature", "rotor"), 0.0)
        welded = replace(bodies[index].joint, kind=JointKind.FIXED, rest=None, **inert)
        bodies[index] = replace(bodies[index], joint=welded)
        self.right = Reference(replace(tree, bodies=tuple(bodies), tendons=(), home=None))
        self.qs = np.delete(np.arange(tree.nq), tree.q_slices[index])
        self.vs = np.delete(np.arange(tree.nv), tree.v_slices[index])
        self.dofs = self.right.dofs

    def inverse_dynamics(self, q, v, a, wrenches=None, gravity=None):
        """Take the coordinates that are left; so does every other answer."""
        return self.right.inverse_dynamics(q[:, self.qs], v[:, self.vs], a[:, self.vs], wrenches, gravity)

    def bias(self, q, v, gravity=None):
        """See `inverse_dynamics`."""
        return self.right.bias(q[:, self.qs], v[:, self.vs], gravity)

    def gravity_forces(self, q):
        """See `inverse_dynamics`."""
        return self.right.gravity_forces(q[:, self.qs])

    def mass_matrix(self, q):
        """See `inverse_dynamics`."""
        return self.right.mass_matrix(q[:, self.qs])

    def forward_dynamics(self, q, v, tau, wrenches=None):
        """See `inverse_dynamics`."""
        return self.right.forward_dynamics(q[:, self.qs], v[:, self.vs], tau[:, self.vs], wrenches)

    def poses(self, q):
        """See `inverse_dynamics`."""
        return self.right.poses(q[:, self.qs])

    def velocities(self, q, v):
        """See `inverse_dynamics`."""
        return self.right.velocities(q[:, self.qs], v[:, self.vs])

    def kinetic_energy(self, q, v):
        """See `inverse_dynamics`."""
        return self.right.kinetic_energy(q[:, self.qs], v[:, self.vs])

    def potential_energy(self, q):
        """See `inverse_dynamics`."""
        return self.right.potential_energy(q[:, self.qs])

    def center_of_mass(self, q):
        """See `inverse_dynamics`."""
        return self.right.center_of_mass(q[:, self.qs])

    def momentum(self, q, v):
        """Return the mechanisms that float in the file: behind a welded joint another one may float now."""
        wanted = self.tree.floating_roots
        kept = [k for k, root in enumerate(self.right.tree.floating_roots) if root in wanted]
        return self.right.momentum(q[:, self.qs], v[:, self.vs])[:, kept]

    def generalized_forces(self, q, wrenches):
        """See `inverse_dynamics`."""
        return self.right.generalized_forces(q[:, self.qs], wrenches)


EFFORTS = {"tau", "bias", "gravity"}
ROBOT = {*EFFORTS, "mass_matrix", "acceleration", "poses", "velocities"} | {
    *("kinetic_energy", "potential_energy", "center_of_mass"),
}
LOADED = {"power_balance", "forward_inverse", "total_momentum"}  # what inverse dynamics under wrenches stands in
OF_M = {"columns", "kinetic_energy", "passivity"}  # what M stands in, beside its own properties

# Miniature: quantities that fail, identities that fail.
CATCHES: dict[type[Miniature], tuple[set[str], set[str]]] = {
    Miniature: (set(), set()),
    BiasLeftIn: ({"mass_matrix"}, {*OF_M, "symmetry", "positive_definite"}),
    ArmatureMissingFromM: ({"mass_matrix"}, {"columns", "kinetic_energy"}),
    ArmatureMissingFromTau: ({"tau"}, {"columns", *LOADED}),
    OrdinaryBaseAcceleration: ({"tau", "bias"}, {"passivity", *LOADED}),
    WorldWrenches: ({"tau"}, {"load_duality", *LOADED}),
    WrenchesReversed: ({"tau"}, {"load_duality", *LOADED}),
    SignFlipped: ({"tau"}, {"columns", "load_duality", *LOADED}),
    NoGravity: (EFFORTS, {"energy_gradient", *LOADED}),
    OtherGravity: ({*EFFORTS, "acceleration", "potential_energy"}, set()),
    HalfOfM: ({"mass_matrix"}, {*OF_M, "symmetry"}),
    IndefiniteM: ({"mass_matrix"}, {*OF_M, "positive_definite"}),
    WritesIntoInputs: (set(), {"inputs_unchanged"}),
    Restless: (set(), {"repeatability"}),
    Stale: ({"velocities"}, {"power_balance", "repeatability"}),
    NotANumber: ({"gravity"}, {"energy_gradient", "passivity"}),
    WrongShape: ({"potential_energy"}, {"power_balance", "energy_gradient"}),
    WrongDegreesOfFreedom: ({"mass_matrix"}, {*OF_M, "symmetry", "positive_definite"}),
    NoAnswer: ({"center_of_mass"}, set()),
    Raises: ({"acceleration"}, {"forward_inverse"}),
    LeavesTheProcess: ({"velocities"}, {"power_balance"}),
    KineticEnergyWithoutArmature: ({"kinetic_energy"}, {"kinetic_energy", "power_balance"}),
    PotentialEnergyFromBase: ({"potential_energy"}, set()),
    PotentialEnergyReversed: ({"potential_energy"}, {"energy_gradient", "power_balance"}),
    StaticBodiesInCom: ({"center_of_mass"}, set()),
    OriginVelocityOfCom: ({"velocities"}, {"power_balance"}),
    PoseOfCom: ({"poses"}, {"total_momentum"}),
    OrderSwapped: (ROBOT, set()),
    QuaternionOrder: (
        {*EFFORTS, "acceleration", "poses", "potential_energy", "center_of_mass"},
        {"energy_gradient", "power_balance", "total_momentum"},
    ),
    ForwardWithoutWrenches: ({"acceleration"}, {"forward_inverse"}),
    ForwardWithoutArmature: ({"acceleration"}, {"forward_inverse"}),
    MomentumAboutBase: (set(), {"total_momentum"}),
    JacobianOfCom: (set(), {"load_duality"}),
    HalfOfCoriolis: ({"bias"}, {"passivity"}),
    InertiaOfSpeed: ({"tau"}, {"columns", "velocity_invariance", *LOADED}),
    InertiaOfGravity: (set(), {"gravity_invariance", "total_momentum"}),
    InertiaOfLoad: ({"tau"}, {"load_invariance", "load_duality", *LOADED}),
    Bent: ({"tau"}, {"affine", *LOADED}),
    NoWrenches: (set(), set()),
}
