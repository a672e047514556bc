"""The answers of `adam.numpy.KinDynComputations`, of all states at once: its calls take stacks of states.

The state is pose and velocity of the root link, linear first and MIXED, and positions and velocities of the joints.
`mass_matrix`, `bias_force`, `gravity_term` and `aba` are rigid; there is no inverse dynamics with accelerations, which
is put together of M and the bias, and no velocity of a frame, which is its Jacobian times the velocity.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..harness.base_links import POSE, TWIST, turns_of
from ..harness.bases import MIXED
from ..harness.errors import EngineUnsupported
from ..harness.linear import solve_general
from ..harness.seats import CoordinateMap, Seat
from ..harness.spatial import inverse, motion_transform
from .adam_tree import tree_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from ..harness.base_links import BaseLink
    from ..harness.findings import Finding
    from ..harness.seats import Frame
    from ..harness.tree import Floats, Tree

SWAP_HALVES: Final = [3, 4, 5, 0, 1, 2]  # linear first to angular first, and back
PUT_TOGETHER: Final = (
    "adam has no inverse dynamics with accelerations: tau is M a and the bias, less J^T f, put together"
)
MIRRORED: Final = "adam writes every block of M on both sides: equal halves show only what it hands on"


class AdamSession:
    """One model with the map of its coordinates; see `harness.engine.Session` for every answer.

    Args:
        engine: adam's computations; owned by the session.
        tree: whose coordinates go in and out.
        base: where the root link is.
        links: tree body to link or frame of the model.
        joints: tree body to joint of the model.
        written: whether the model was written from the tree: its names and link frames are its own.
        outside: (nv, nv) reflected inertia, or None.
        of_unit_axes: returns the same model with axes of length one, where some are not; else None.
        extra_dofs, findings, notes: see `harness.engine.Session`.
    """

    def __init__(
        self,
        engine: Any,
        tree: Tree,
        base: BaseLink,
        links: Mapping[int, str],
        joints: Mapping[int, int],
        *,
        written: bool = False,
        outside: Floats | None = None,
        of_unit_axes: Callable[[], Any] | None = None,
        extra_dofs: tuple[str, ...] = (),
        findings: tuple[Finding, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> None:
        self.model, self.tree, self._base, self._links = engine, tree, base, links
        self.extra_dofs, self.findings, self.notes = extra_dofs, findings, notes
        seats = [Seat(i, (POSE + j,), (TWIST + j,)) for i, j in joints.items()]
        neutral = np.zeros(POSE + engine.NDoF)
        neutral[:POSE] = base.T_world_link.ravel()
        if base.floats:
            seats.append(base.seat(tree, MIXED))
        self._map = CoordinateMap(tree, seats, neutral, TWIST + engine.NDoF)
        self.dofs = self._map.dofs
        self._outside = None if outside is None else outside[np.ix_(self._map.v_from, self._map.v_from)]
        # A link frame of URDF stands on its joint, a body of the tree need not.
        seated = {i: tree.joints[i].T_joint_body for i in joints} if written else {}
        self._Ts_link_body = {i: seated.get(i, np.eye(4)) for i in links}
        self._written, self._of_unit_axes = written, of_unit_axes
        self.bodies = tuple(tree.bodies[i].name for i in links if i)
        nodes = list(engine.rbdalgos.model.tree)
        self._names = [node.name for node in nodes]
        self._inertias = np.array([node.link.spatial_inertia().array for node in nodes], np.float64)
        self.total_mass = float(engine.get_total_mass())
        still = [] if base.floats else _fixed_to_root(nodes)
        moving = sorted(set(range(len(nodes))) - set(still))
        self._moving = moving if self._inertias[still, 0, 0].any() else None
        self._moving_mass = float(self._inertias[moving, 0, 0].sum())
        self.lacks = self._lacking(tree)

    def _lacking(self, tree: Tree) -> dict[str, str]:
        identities = (
            "columns",
            "velocity_invariance",
            "gravity_invariance",
            "load_invariance",
            "affine",
            "load_duality",
        )
        lacks = {**dict.fromkeys(identities, PUT_TOGETHER), "symmetry": MIRRORED}
        if not self._moving_mass:
            lacks["center_of_mass"] = "the bodies that can move have no mass"
        if not self.total_mass:
            lacks["momentum"] = lacks["total_momentum"] = "adam divides by the total mass, and there is none"
        if tree.floating_roots and not self._base.floats:
            lacks["momentum"] = lacks["total_momentum"] = "the root link of this model stands still"
        return lacks

    def describe(self) -> Tree:
        """Return the model as a tree, in the words of ours where it was written from it."""
        bodies, joints = self.tree.bodies, self.tree.joints
        own = {name: (bodies[i].name, joints[i].name, self._Ts_link_body[i]) for i, name in self._links.items()}
        return tree_of(self.model, self.tree, self._base, own if self._written else {})

    def inverse_dynamics(
        self, q: Floats, v: Floats, a: Floats, wrenches: Floats | None = None, gravity: Floats | None = None
    ) -> Floats:
        """`mass_matrix` times the accelerations, plus `bias_force`, minus J^T f; reflected inertia is added here."""
        frame = self._map.at(q, v)
        efforts = self._bias(frame, gravity) + (self._mass(frame) @ frame.acceleration(a)[..., None])[..., 0]
        if wrenches is not None:
            efforts -= self._projected(frame, wrenches)
        tau = frame.efforts(efforts)
        return tau if self._outside is None else tau + a[:, self._map.v_from] @ self._outside

    def bias(self, q: Floats, v: Floats, gravity: Floats | None = None) -> Floats:
        """`bias_force`; on a floating base at that acceleration of adam's which is none of the tree's."""
        frame = self._map.at(q, v)
        bias = self._bias(frame, gravity)
        if self._base.floats:
            bias += (self._mass(frame) @ frame.acceleration()[..., None])[..., 0]
        return frame.efforts(bias)

    def gravity_forces(self, q: Floats) -> Floats:
        """`gravity_term`."""
        frame = self._map.at(q)
        state = _state(frame)
        return frame.efforts(self._called(lambda: self.model.gravity_term(*state), len(q), (self._map.nv,)))

    def mass_matrix(self, q: Floats) -> Floats:
        """`mass_matrix`; reflected inertia is added here."""
        frame = self._map.at(q)
        M = frame.mass_matrix(self._mass(frame))
        return M if self._outside is None else M + self._outside

    def forward_dynamics(self, q: Floats, v: Floats, tau: Floats, wrenches: Floats | None = None) -> Floats:
        """`aba` of a floating root, state by state; it knows no fixed one, M is solved there instead."""
        if self._base.floats and self._outside is None and not self.extra_dofs:
            return self._articulated(q, v, tau, wrenches)
        rest = tau[:, self._map.v_from] - self.inverse_dynamics(q, v, np.zeros_like(v), wrenches)
        return np.asarray(solve_general(self.mass_matrix(q), rest), np.float64)

    def _articulated(self, q: Floats, v: Floats, tau: Floats, wrenches: Floats | None) -> Floats:
        frame = self._map.at(q, v)
        efforts, (poses, s), twists = frame.engine_efforts(tau), _state(frame), frame.v
        root = self.model.rbdalgos.root_link
        loads = {} if wrenches is None else self._on_links(frame, wrenches)
        # What the floating joint is driven with acts on the root link from outside.
        loads[root] = loads.get(root, 0) + efforts[:, :TWIST]
        out = np.full((len(q), self._map.nv), np.nan)
        for k in range(len(q)):
            state = poses[k], s[k], twists[k, :TWIST], twists[k, TWIST:], efforts[k, TWIST:]
            with suppress(np.linalg.LinAlgError):  # of a singular M, whose accelerations are NaN
                out[k] = self.model.aba(*state, {name: load[k] for name, load in loads.items()})
        return frame.tree_acceleration(out)

    def poses(self, q: Floats) -> Floats:
        """`forward_kinematics` of links and frames."""
        frame = self._map.at(q)
        out = self._poses(frame, [self._links[i] for i in self._links if i])
        return out @ np.array([T for i, T in self._Ts_link_body.items() if i]).reshape(-1, 4, 4)

    def velocities(self, q: Floats, v: Floats) -> Floats:
        """`jacobian` times the velocity, brought to body axes, angular first."""
        frame = self._map.at(q, v)
        twists = self._twists(frame, [self._links[i] for i in self._links if i])[..., SWAP_HALVES]
        turns = [motion_transform(inverse(T)) for i, T in self._Ts_link_body.items() if i]
        return (np.array(turns).reshape(-1, 6, 6) @ twists[..., None])[..., 0]

    def kinetic_energy(self, q: Floats, v: Floats) -> Floats:
        """Half of V I V, summed over the links: adam has no call for it."""
        V = self._twists(self._map.at(q, v), self._names)
        energy = np.einsum("nbi,bij,nbj->n", V, self._inertias, V) / 2
        own = v[:, self._map.v_from]
        return energy if self._outside is None else energy + np.einsum("ni,ij,nj->n", own, self._outside, own) / 2

    def potential_energy(self, q: Floats) -> Floats:
        """Minus gravity times mass times centre of mass."""
        return -self._moments(q) @ self.model.g[:3]

    def center_of_mass(self, q: Floats) -> Floats:
        """Centre of mass of what moves."""
        return self._moments(q) / self._moving_mass

    def momentum(self, q: Floats, v: Floats) -> Floats:
        """`centroidal_momentum_matrix` times the velocity, moved to the world origin."""
        if not self._base.floats:
            return np.zeros((len(q), 0, 6))
        frame, state = self._map.at(q, v), _state(self._map.at(q))
        A = self._called(lambda: self.model.centroidal_momentum_matrix(*state), len(q), (6, self._map.nv))
        com = self._called(lambda: self.model.CoM_position(*state), len(q), (3,))
        h = (A @ frame.v[..., None])[..., 0]
        return np.concatenate([h[:, 3:] + np.cross(com, h[:, :3]), h[:, :3]], axis=1)[:, None]

    def ledger(self, q: Floats, v: Floats, a: Floats) -> Mapping[str, Mapping[str, Floats]]:
        """Return what axes that are no unit vectors do to efforts and M; see `harness.diagnosis.ledger.Booked`.

        No joint turns by such a matrix, so that no description can tell it: it is the difference to unit axes.
        """
        if self._of_unit_axes is None:
            return {}
        asked = {
            "tau": lambda: self.inverse_dynamics(q, v, a),
            "bias": lambda: self.bias(q, v),
            "gravity": lambda: self.gravity_forces(q),
            "mass_matrix": lambda: self.mass_matrix(q),
        }
        own, held = self.model, {name: call() for name, call in asked.items()}
        self.model = self._of_unit_axes()
        try:
            return {name: {"joint.axis": held[name] - call()} for name, call in asked.items()}
        finally:
            self.model = own

    def generalized_forces(self, q: Floats, wrenches: Floats) -> Floats:
        """Sum of J^T f with `jacobian`."""
        frame = self._map.at(q)
        return frame.efforts(self._projected(frame, wrenches))

    def _called(self, call: Callable[[], Any], count: int, shape: tuple[int, ...]) -> Floats:
        """Return what a call gives of all states, in the shape that it loses where there is one state or one dof."""
        if not count:
            return np.zeros((0, *shape))
        with np.errstate(all="ignore"):  # `mass_matrix` divides by the total mass, also where there is none
            return np.array(call(), np.float64).reshape(count, *shape)

    def _mass(self, frame: Frame) -> Floats:
        nv, state = self._map.nv, _state(frame)
        return self._called(lambda: self.model.mass_matrix(*state), len(frame.q), (nv, nv))

    def _bias(self, frame: Frame, gravity: Floats | None = None) -> Floats:
        state, v = _state(frame), frame.v
        with self._under(gravity):
            call = lambda: self.model.bias_force(*state, v[:, :TWIST], v[:, TWIST:])  # noqa: E731
            return self._called(call, len(v), (self._map.nv,))

    @contextmanager
    def _under(self, gravity: Floats | None) -> Generator[None]:
        """Set another gravity while a call runs."""
        own = self.model.g
        if gravity is not None:
            self.model.g = np.array([*gravity, 0.0, 0.0, 0.0])
        try:
            yield
        finally:
            self.model.g = own

    def _poses(self, frame: Frame, names: Sequence[str]) -> Floats:
        """Return T_world_link (N, len(names), 4, 4)."""
        out, state = np.empty((len(frame.q), len(names), 4, 4)), _state(frame)
        for k, name in enumerate(names):
            call = lambda name=name: self.model.forward_kinematics(name, *state)  # noqa: E731
            out[:, k] = self._called(call, len(frame.q), (4, 4))
        return out

    def _jacobian(self, frame: Frame, name: str) -> Floats:
        """Return J (N, 6, 6 + n); of what is fixed to the root state by state: adam takes no stack there."""
        model = self.model.rbdalgos.model
        chain, states = model.get_joints_chain(self.model.rbdalgos.root_link, name), zip(*_state(frame), strict=True)
        if all(joint.type == "fixed" for joint in chain):
            one = [self.model.jacobian(name, *state) for state in states]
            return np.array(one, np.float64).reshape(len(frame.q), 6, self._map.nv)
        return self._called(lambda: self.model.jacobian(name, *_state(frame)), len(frame.q), (6, self._map.nv))

    def _twists(self, frame: Frame, names: Sequence[str]) -> Floats:
        """Return the twists of links (N, len(names), 6), linear first, in their own axes about their own origin."""
        out, v = np.zeros((len(frame.q), len(names), 6)), frame.v
        for k, name in enumerate(names):
            out[:, k] = (self._jacobian(frame, name) @ v[..., None])[..., 0]
        turns = turns_of(MIXED, self._poses(frame, names))
        return np.asarray(np.linalg.solve(turns, out[..., None])[..., 0], np.float64)

    def _projected(self, frame: Frame, wrenches: Floats) -> Floats:
        """Return sum J^T f (N, 6 + n)."""
        out = np.zeros((len(frame.q), self._map.nv))
        for name, load in self._on_links(frame, wrenches).items():
            out += (load[:, None] @ self._jacobian(frame, name))[:, 0]
        return out

    def _on_links(self, frame: Frame, wrenches: Floats) -> dict[str, Floats]:
        """Return the wrench (N, 6) on each link, force first, in world axes at the link origin.

        Raises:
            EngineUnsupported: a body that the model does not have.
        """
        on: dict[str, Floats] = {}
        for i in (np.flatnonzero(wrenches[:, 1:].any((0, 2))) + 1).tolist():
            if i not in self._links:
                raise EngineUnsupported(
                    f"a wrench acts on body {self.tree.bodies[i].name!r}, which this model does not have"
                )
            X_body_link = motion_transform(inverse(self._Ts_link_body[i]))
            own = (wrenches[:, i] @ X_body_link)[:, SWAP_HALVES]
            R = self._poses(frame, [self._links[i]])[:, 0, :3, :3]
            on[self._links[i]] = np.concatenate([(R @ own[:, k : k + 3, None])[..., 0] for k in (0, 3)], axis=1)
        return on

    def _moments(self, q: Floats) -> Floats:
        """Return mass times centre of mass of what moves (N, 3) in the world.

        `CoM_position` is that of all links: where some that stand still have a mass, the others are summed.
        """
        frame = self._map.at(q)
        if self._moving is None and self._moving_mass:
            state = _state(frame)
            return self.total_mass * self._called(lambda: self.model.CoM_position(*state), len(q), (3,))
        moving = self._moving or []
        I, Ts = self._inertias[moving], self._poses(frame, [self._names[k] for k in moving])
        first = np.stack([I[:, 5, 1], I[:, 3, 2], I[:, 4, 0]], axis=1)
        return np.einsum("nbij,bj->ni", Ts[..., :3, :3], first) + np.einsum("nbi,b->ni", Ts[..., :3, 3], I[:, 0, 0])


def _state(frame: Frame) -> tuple[Floats, Floats]:
    """Return poses of the root link (N, 4, 4) and positions of the joints (N, n)."""
    return frame.q[:, :POSE].reshape(-1, 4, 4), frame.q[:, POSE:]


def _fixed_to_root(nodes: Sequence[Any]) -> list[int]:
    """Return the links that no joint moves against the root, by their place in the model."""
    found: dict[str, int] = {}
    for k, node in enumerate(nodes):
        if node.parent is None or (node.parent.name in found and node.parent_arc.type == "fixed"):
            found[node.name] = k
    return list(found.values())
