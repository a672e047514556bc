"""The answers of multibodies of PyBullet: `calculateInverseDynamics`, `calculateMassMatrix`, `getLinkStates`.

Inverse dynamics and Jacobians are computed in the axes of the base inertial frame, whatever the base's own pose is:
gravity that is set in world axes is turned by those axes, unless it is handed over turned back. There is no call for
energies, centre of mass and momentum: they are summed over what `getLinkStates` and `getDynamicsInfo` say of each link.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from ..harness.bases import BULLET
from ..harness.errors import EngineUnsupported
from ..harness.lacking import Lacking, unless_lacking
from ..harness.seats import CoordinateMap, Seat
from ..harness.spatial import inverse, quaternion_from_rotation, rotation_from_quaternion, transform
from ..harness.tree import JointKind
from .pybullet_multibody import MOST_LINKS, MOST_POSITIONS
from .pybullet_tree import tree_of

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from typing import Any

    from ..harness.findings import Finding
    from ..harness.seats import Frame
    from ..harness.tree import Floats, Tree
    from .pybullet_model import Model
    from .pybullet_multibody import LinkStates, Multibody

EFFORTS: Final[tuple[str, ...]] = ("tau", "bias", "gravity", "acceleration", "generalized_forces")
OF_LINKS: Final[tuple[str, ...]] = (
    *("poses", "velocities", "kinetic_energy", "potential_energy", "center_of_mass", "momentum"),
    "generalized_forces",
)
XYZW: Final = [1, 2, 3, 0]  # of w, x, y, z
FLOATS: Final = "calculateInverseDynamics leaves the acceleration of a floating base out, and its efforts mean nothing"
MANY: Final = f"getLinkStates and calculateJacobian fail for more than {MOST_LINKS} links"
LONG: Final = f"PyBullet tells no right pose or velocity of more than {MOST_POSITIONS} joint positions"
BALLS: Final = "PyBullet says that spherical joints are not supported: it has no Jacobian, and wrong efforts above them"


@dataclass(frozen=True, eq=False)
class Held:
    """What of a tree stands where in PyBullet.

    Attributes:
        links: tree body to the numbers of its multibody and of its link there; the base is 0.
        joints: tree body whose joint PyBullet has to the link that hangs on it; for a floating joint, the base.
        Ts_link_body: where a body frame does not stand in its link frame.
    """

    links: Mapping[int, tuple[int, int]]
    joints: Mapping[int, tuple[int, int]]
    Ts_link_body: Mapping[int, Floats] = field(default_factory=dict)


class BulletSession(Lacking):
    """One client with the map of its coordinates; see `harness.engine.Session` for every answer.

    Args:
        model: owned by the session.
        tree: whose coordinates go in and out.
        held: what of it PyBullet has.
        upright: whether gravity is handed over in the axes of the base inertial frame, so that it acts as it should.
        outside: (nv, nv) reflected inertia that PyBullet has no place for, or None.
        extra_dofs, findings, notes: see `harness.engine.Session`.
    """

    def __init__(
        self,
        model: Model,
        tree: Tree,
        held: Held,
        *,
        upright: bool,
        outside: Floats | None = None,
        extra_dofs: tuple[str, ...] = (),
        findings: tuple[Finding, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> None:
        self.model, self.tree, self._held, self._outside = model, tree, held, outside
        self.extra_dofs, self.findings, self.notes = extra_dofs, findings, notes
        self._v_at = np.cumsum([0, *(body.nv for body in model.bodies)]).tolist()
        self._q_at = np.cumsum([0, *(body.nq for body in model.bodies)]).tolist()
        neutral = np.concatenate([np.zeros(0), *(body.neutral for body in model.bodies)])
        self._map = CoordinateMap(tree, [self._seat(i) for i in held.joints], neutral, model.nv)
        self.dofs = self._map.dofs
        self.bodies = tuple(tree.bodies[i].name for i in held.links)
        self.total_mass = float(sum(link.mass for body in model.bodies for link in body.links))
        self._axes = [body.R_world_inertial for body in model.bodies]
        self._upright = upright
        self.lacks = self._reasons()

    def _seat(self, i: int) -> Seat:
        joint, (b, k) = self.tree.joints[i], self._held.joints[i]
        body, q, v = self.model.bodies[b], self._q_at[b], self._v_at[b]
        if joint.kind is JointKind.FLOATING:
            point = body.links[0].T_link_inertial

            def turn(q: Floats, v: Floats) -> tuple[Floats, Floats]:
                return BULLET.matrices(np.broadcast_to(np.eye(4), (len(q), 4, 4)), v, point)

            return Seat(i, (), tuple(range(v, v + 6)), positions=lambda q: q[:, :0], turn=turn)
        link = body.links[k]
        columns, first = tuple(q + c for c in link.q), v + 6 * body.floating
        velocities = tuple(first + c for c in link.v)
        if joint.kind is not JointKind.BALL:
            return Seat(i, columns, velocities)
        R = link.T_link_inertial[:3, :3]  # its quaternion and its velocity are in the axes of the inertial frame

        def quaternions_xyzw(q: Floats) -> Floats:
            return np.concatenate([q[:, 1:] @ R, q[:, :1]], axis=1)

        def turned(q: Floats, _: Floats) -> tuple[Floats, Floats]:
            return np.broadcast_to(R.T, (len(q), 3, 3)), np.zeros((len(q), 3))

        return Seat(i, columns, velocities, positions=quaternions_xyzw, turn=turned)

    def _reasons(self) -> dict[str, str]:
        lacks: dict[str, str] = dict.fromkeys(EFFORTS, FLOATS) if self.model.floating else {}
        if any(body.nq != body.n for body in self.model.bodies):
            lacks = dict.fromkeys((*EFFORTS, "mass_matrix"), BALLS)
        if any(len(body.links) > MOST_LINKS + 1 for body in self.model.bodies):
            lacks |= dict.fromkeys(OF_LINKS, MANY)
        elif any(body.nq > MOST_POSITIONS for body in self.model.bodies):
            lacks |= dict.fromkeys(OF_LINKS, LONG)
        if not any(link.mass for body in self.model.bodies for link in body.moving_links):
            lacks["center_of_mass"] = "the links that can move have no mass"
        if any(i not in self._held.joints for i in self.tree.floating_roots):
            lacks["total_momentum"] = lacks["momentum"] = "a floating root of the file is not in this model"
        return lacks

    @property
    def gravity(self) -> Floats:
        """(3,) [m/s^2] gravity in world axes, as inverse dynamics has it."""
        fixed = (R for R, body in zip(self._axes, self.model.bodies, strict=True) if body.n and not body.floating)
        R = np.eye(3) if self._upright else next(fixed, np.eye(3))
        return np.asarray(R @ self.tree.gravity, np.float64)

    @unless_lacking
    def describe(self) -> Tree:
        """Return the links with their principal moments, turned into link axes; the mass of a fixed base is none."""
        bases = (i for i, (_, k) in self._held.links.items() if not k and not self.tree.moving[i])
        root = next(bases, None)
        return tree_of(self.model, self.gravity, self.tree.bodies[root].source("com") if root is not None else None)

    @unless_lacking
    def inverse_dynamics(
        self, q: Floats, v: Floats, a: Floats, wrenches: Floats | None = None, gravity: Floats | None = None
    ) -> Floats:
        """`calculateInverseDynamics`, minus the efforts of the wrenches by `calculateJacobian`."""
        frame = self._map.at(q, v)
        tau = self._efforts(frame, frame.v, frame.acceleration(a), gravity)
        if self._outside is not None:
            tau = tau + a @ self._outside[:, self._map.v_from]
        if wrenches is not None and wrenches[:, 1:].any():
            tau = tau - self.generalized_forces(q, wrenches)
        return tau

    @unless_lacking
    def bias(self, q: Floats, v: Floats, gravity: Floats | None = None) -> Floats:
        """`calculateInverseDynamics` without acceleration."""
        frame = self._map.at(q, v)
        return self._efforts(frame, frame.v, frame.acceleration(), gravity)

    @unless_lacking
    def gravity_forces(self, q: Floats) -> Floats:
        """`calculateInverseDynamics` at rest."""
        frame = self._map.at(q)
        rest = np.zeros((len(q), self._map.nv))
        return self._efforts(frame, rest, rest, None)

    @unless_lacking
    def mass_matrix(self, q: Floats) -> Floats:
        """`calculateMassMatrix`; nothing of one multibody is coupled to another."""
        frame = self._map.at(q)
        if len(self.model.bodies) == 1:
            M = self.model.bodies[0].mass_matrix(frame.q)
        else:
            M = np.zeros((len(q), self._map.nv, self._map.nv))
            for body, at, of in self._parts():
                M[:, of, of] = body.mass_matrix(frame.q[:, at])
        M = frame.mass_matrix(M)
        own = self._map.v_from
        return M if self._outside is None else M + self._outside[own[:, None], own]

    @unless_lacking
    def forward_dynamics(self, q: Floats, v: Floats, tau: Floats, wrenches: Floats | None = None) -> Floats:
        """Solved from `calculateMassMatrix` and `calculateInverseDynamics`: only a step of time has it otherwise."""
        rest = tau[:, self._map.v_from] - self.inverse_dynamics(q, v, np.zeros_like(v), wrenches)
        out = np.empty_like(rest)
        for i, (M, b) in enumerate(zip(self.mass_matrix(q), rest, strict=True)):
            try:
                out[i] = np.linalg.solve(M, b)
            except np.linalg.LinAlgError:
                out[i] = np.nan
        return out

    @unless_lacking
    def poses(self, q: Floats) -> Floats:
        """The link frames of `getLinkStates`, from its inertial frames: its own link frames have single precision."""
        found = self._states(q, np.zeros((len(q), self.tree.nv)))
        return self._placed(found)

    @unless_lacking
    def velocities(self, q: Floats, v: Floats) -> Floats:
        """The velocities of `getLinkStates`, of centres of mass in world axes, brought to the body frames."""
        found = self._states(q, v)
        Ts, out = self._placed(found), np.empty((len(q), len(self.bodies), 6))
        for row, (b, k) in enumerate(self._held.links.values()):
            states, turned = found[b], Ts[:, row, :3, :3].swapaxes(1, 2)
            lever = Ts[:, row, :3, 3] - states.T_world_inertial[:, k, :3, 3]
            linear = states.linear[:, k] + np.cross(states.angular[:, k], lever)
            out[:, row, :3] = (turned @ states.angular[:, k, :, None])[..., 0]
            out[:, row, 3:] = (turned @ linear[..., None])[..., 0]
        return out

    @unless_lacking
    def kinetic_energy(self, q: Floats, v: Floats) -> Floats:
        """Summed over the velocities of `getLinkStates`."""
        energy = np.zeros(len(q))
        for m, moments, T, linear, angular in self._moving(self._states(q, v)):
            own = (T[:, :3, :3].swapaxes(1, 2) @ angular[..., None])[..., 0]
            energy += (m * (linear**2).sum(-1) + own**2 @ moments) / 2
        return energy if self._outside is None else energy + np.einsum("ni,ij,nj->n", v, self._outside, v) / 2

    @unless_lacking
    def potential_energy(self, q: Floats) -> Floats:
        """Weight of each link under the gravity of inverse dynamics, at the centre that `getLinkStates` says."""
        energy, gravity = np.zeros(len(q)), self.gravity
        for m, _, T, *_rest in self._moving(self._states(q, np.zeros((len(q), self.tree.nv)))):
            energy -= m * T[:, :3, 3] @ gravity
        return energy

    @unless_lacking
    def center_of_mass(self, q: Floats) -> Floats:
        """The mean of the centres of mass of `getLinkStates`."""
        moment, mass = np.zeros((len(q), 3)), 0.0
        for m, _, T, *_rest in self._moving(self._states(q, np.zeros((len(q), self.tree.nv)))):
            moment += m * T[:, :3, 3]
            mass += m
        return moment / mass

    @unless_lacking
    def momentum(self, q: Floats, v: Floats) -> Floats:
        """Summed over the links of each floating multibody."""
        found = self._states(q, v)
        out = np.zeros((len(q), len(self.tree.floating_roots), 6))
        for row, i in enumerate(self.tree.floating_roots):
            b = self._held.joints[i][0]
            for m, moments, T, linear, angular in self._moving(found, b):
                R = T[:, :3, :3]
                spin = (R @ (moments[:, None] * (R.swapaxes(1, 2) @ angular[..., None])))[..., 0]
                out[:, row, :3] += spin + np.cross(T[:, :3, 3], m * linear)
                out[:, row, 3:] += m * linear
        return out

    @unless_lacking
    def generalized_forces(self, q: Floats, wrenches: Floats) -> Floats:
        """Sum of J^T f by `calculateJacobian` at the body origins, whose rows are in base inertial axes."""
        for i in np.flatnonzero(wrenches[:, 1:].any((0, 2))) + 1:
            if i not in self._held.links:
                name = self.tree.bodies[i].name
                raise EngineUnsupported(f"a wrench acts on body {name!r}, which PyBullet does not have")
        frame, Ts = self._map.at(q), self.poses(q)
        out = np.zeros((len(q), self._map.nv))
        for row, (i, (b, k)) in enumerate(self._held.links.items()):
            if not k or not wrenches[:, i].any() or not self.model.bodies[b].n:
                continue
            body, R = self.model.bodies[b], Ts[:, row, :3, :3]
            point = self._held.Ts_link_body.get(i, np.eye(4))[:3, 3]
            linear, angular = body.jacobians(frame.q[:, self._q_at[b] : self._q_at[b + 1]], k, point)
            to_base = self._axes[b].T @ R
            n, F = (to_base @ wrenches[:, i, part, None] for part in (slice(0, 3), slice(3, 6)))
            out[:, self._v_at[b] : self._v_at[b + 1]] += (linear.swapaxes(1, 2) @ F + angular.swapaxes(1, 2) @ n)[
                ..., 0
            ]
        return frame.efforts(out)

    def _efforts(self, frame: Frame, v: Floats, a: Floats, gravity: Floats | None) -> Floats:
        with self._under(gravity):
            if len(self.model.bodies) == 1:
                return frame.efforts(self.model.bodies[0].inverse_dynamics(frame.q, v, a))
            out = np.zeros_like(v)
            for body, at, of in self._parts():
                out[:, of] = body.inverse_dynamics(frame.q[:, at], v[:, of], a[:, of])
        return frame.efforts(out)

    def _parts(self) -> list[tuple[Multibody, slice, slice]]:
        """Return the multibodies with their columns among the positions and the velocities."""
        at = zip(self._q_at, self._q_at[1:], self._v_at, self._v_at[1:], strict=False)
        return [(body, slice(a, b), slice(c, d)) for body, (a, b, c, d) in zip(self.model.bodies, at, strict=True)]

    @contextmanager
    def _under(self, gravity: Floats | None) -> Generator[None]:
        """Set gravity for a call; upright, in the axes of the one multibody with a fixed base."""
        g = self.tree.gravity if gravity is None else gravity
        if self._upright:
            fixed = [R for R, body in zip(self._axes, self.model.bodies, strict=True) if not body.floating]
            g = fixed[0].T @ g if fixed else g
        self.model.set_gravity(g)
        yield

    def _states(self, q: Floats, v: Floats) -> list[LinkStates]:
        """Return the states of all links, by multibody."""
        frame = self._map.at(q, v)
        found: list[LinkStates] = []
        for b, (body, at, of) in enumerate(self._parts()):
            own = frame.v[:, of]
            bases = self._bases(b, q, v) if body.floating else ()
            found.append(body.states(frame.q[:, at], own[:, 6 * body.floating :], bases))
        return found

    def _bases(self, b: int, q: Floats, v: Floats) -> list[tuple[Any, ...]]:
        """Return pose and velocity of the inertial frame of a floating base, state by state."""
        tree, body = self.tree, self.model.bodies[b]
        i = next((i for i, at in self._held.joints.items() if at == (b, 0)), None)
        if i is None:
            return body.at_home * len(q)
        own, V = q[:, tree.q_slices[i]], v[:, tree.v_slices[i]]
        holder = tree.fusion.Ts_holder_body[tree.parents[i]] @ tree.joints[i].T_parent_joint
        T_base_inertial = body.links[0].T_link_inertial
        T_world_base = holder @ transform(rotation_from_quaternion(own[:, 3:]), own[:, :3])
        T = T_world_base @ T_base_inertial
        R = T_world_base[:, :3, :3]
        linear = (R @ (V[:, :3] + np.cross(V[:, 3:], T_base_inertial[:3, 3]))[..., None])[..., 0]
        angular = (R @ V[:, 3:, None])[..., 0]
        quats = np.array([quaternion_from_rotation(turn)[XYZW] for turn in T[:, :3, :3]]).reshape(-1, 4)
        rows = (T[:, :3, 3], quats, linear, angular)
        return [tuple(row) for row in zip(*(x.tolist() for x in rows), strict=True)]

    def _placed(self, found: Sequence[LinkStates]) -> Floats:
        out = np.empty((len(found[0].linear) if found else 0, len(self.bodies), 4, 4))
        for row, (i, (b, k)) in enumerate(self._held.links.items()):
            T = inverse(self.model.bodies[b].links[k].T_link_inertial)
            own = self._held.Ts_link_body.get(i)
            out[:, row] = found[b].T_world_inertial[:, k] @ (T if own is None else T @ own)
        return out

    def _moving(self, found: Sequence[LinkStates], only: int | None = None) -> Generator[tuple[Any, ...]]:
        """Yield mass, moments, pose and velocities of the links that can move."""
        for b, (body, states) in enumerate(zip(self.model.bodies, found, strict=True)):
            for k in np.flatnonzero(body.moving) if only in (None, b) else ():
                link = body.links[k]
                yield link.mass, link.moments, states.T_world_inertial[:, k], states.linear[:, k], states.angular[:, k]
