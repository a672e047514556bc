"""What the reference says at the frozen states: longdouble answers with their scales, once for all engines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from .probes import Probes
from .regularity import Mask, condition, regular
from .scales import Ruler
from .tolerances import LARGEST

if TYPE_CHECKING:
    from ..spatial import Array
    from ..states import States
    from ..tree import Floats, Tree
    from .scales import Motion


class Exact(Protocol):
    """The reference; answers as `harness.engine.Session` describes them, in its own float type."""

    def inverse_dynamics(  # noqa: D102
        self, q: Array, v: Array, a: Array, wrenches: Array | None = None, gravity: Array | None = None
    ) -> Array: ...
    def bias(self, q: Array, v: Array, gravity: Array | None = None) -> Array: ...  # noqa: D102
    def gravity_forces(self, q: Array) -> Array: ...  # noqa: D102
    def mass_matrix(self, q: Array) -> Array: ...  # noqa: D102
    def forward_dynamics(self, q: Array, v: Array, tau: Array, wrenches: Array | None = None) -> Array: ...  # noqa: D102
    def poses(self, q: Array) -> Array: ...  # noqa: D102
    def velocities(self, q: Array, v: Array) -> Array: ...  # noqa: D102
    def kinetic_energy(self, q: Array, v: Array) -> Array: ...  # noqa: D102
    def potential_energy(self, q: Array) -> Array: ...  # noqa: D102
    def center_of_mass(self, q: Array) -> Array: ...  # noqa: D102
    def motion(self, q: Array, v: Array, a: Array) -> Motion: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Expected:
    """One quantity at all states.

    Attributes:
        value: (N, ...) in the float type of the reference.
        scale: (N, ...) that broadcasts against `value`.
    """

    value: Array
    scale: Floats


@dataclass(frozen=True, eq=False)
class Truth:
    """The reference at the frozen states; each property named like a quantity is computed when it is first asked.

    Attributes:
        tree: the robot.
        states: at which everything is answered.
        exact: the reference in longdouble.
        quick: the reference in float64, for the motions that scales are made of.
    """

    tree: Tree
    states: States
    exact: Exact
    quick: Exact

    def scale_of(self, quantity: str) -> Floats:
        """Return the scale of "tau", "bias", "gravity" (N, nv) or "mass_matrix" (N, nv, nv)."""
        return getattr(self, quantity).scale

    @cached_property
    def large(self) -> bool:
        """Whether the robot has too many dofs for whatever needs M."""
        return self.tree.nv > LARGEST

    @cached_property
    def rest(self) -> Floats:
        """(N, nv) zeros."""
        return np.zeros_like(self.states.v)

    @cached_property
    def moving(self) -> Motion:
        """Motion at q, v, a."""
        return self.quick.motion(self.states.q, self.states.v, self.states.a)

    @cached_property
    def coasting(self) -> Motion:
        """Motion at q, v and zero acceleration."""
        return self.quick.motion(self.states.q, self.states.v, self.rest)

    @cached_property
    def resting(self) -> Motion:
        """Motion at q without velocity or acceleration."""
        return self.quick.motion(self.states.q, self.rest, self.rest)

    @cached_property
    def ruler(self) -> Ruler:
        """Scales at the frozen configurations."""
        return Ruler(self.tree, self.resting)

    @cached_property
    def tau(self) -> Expected:
        """Inverse dynamics under the wrenches of the states."""
        s = self.states
        value = self.exact.inverse_dynamics(s.q, s.v, s.a, s.wrenches)
        return Expected(value, self.ruler.efforts(self.moving, s.a, self.tree.gravity, s.wrenches))

    @cached_property
    def tau_unloaded(self) -> Expected:
        """Inverse dynamics without wrenches, for engines that take none."""
        s = self.states
        value = self.exact.inverse_dynamics(s.q, s.v, s.a)
        return Expected(value, self.ruler.efforts(self.moving, s.a, self.tree.gravity))

    @cached_property
    def bias(self) -> Expected:
        """Efforts at zero acceleration, without wrenches."""
        value = self.exact.bias(self.states.q, self.states.v)
        return Expected(value, self.ruler.efforts(self.coasting, self.rest, self.tree.gravity))

    @cached_property
    def gravity(self) -> Expected:
        """Efforts at rest, without wrenches."""
        value = self.exact.gravity_forces(self.states.q)
        return Expected(value, self.ruler.efforts(self.resting, self.rest, self.tree.gravity))

    @cached_property
    def roots_of_mass(self) -> Floats:
        """(N, nv) sqrt(s_i), so that M_ij is measured by sqrt(s_i) sqrt(s_j)."""
        return np.sqrt(self.ruler.masses())

    @cached_property
    def mass_matrix(self) -> Expected:
        """M with reflected inertia."""
        root = self.roots_of_mass
        return Expected(self.exact.mass_matrix(self.states.q), root[:, :, None] * root[:, None, :])

    @cached_property
    def regular(self) -> Mask:
        """(N,) where M can be inverted at all."""
        return regular(self.mass_matrix.value)

    @cached_property
    def singular(self) -> str:
        """Why nothing can be solved with M, or an empty string where it can in every state."""
        lost = np.flatnonzero(~self.regular)
        if len(lost):
            return f"M is singular in {len(lost)} of {len(self.regular)} states, first in state {lost[0]}"
        with np.errstate(all="ignore"):
            beyond = np.flatnonzero(~np.isfinite(self.acceleration.scale[:, 0]))
        if len(beyond):
            return f"no double holds the accelerations of {len(beyond)} states, first of state {beyond[0]}"
        return ""

    @cached_property
    def condition(self) -> Floats:
        """(N,) cond(M) in the 2-norm; means something where M is regular."""
        return condition(self.mass_matrix.value.astype(np.float64))

    @cached_property
    def acceleration(self) -> Expected:
        """Forward dynamics under `tau` and wrenches of the states; means something where M is regular."""
        return self._accelerations(self.states.wrenches)

    @cached_property
    def acceleration_unloaded(self) -> Expected:
        """Forward dynamics without wrenches, for engines that take none."""
        return self._accelerations(None)

    def _accelerations(self, wrenches: Floats | None) -> Expected:
        s = self.states
        value = self.exact.forward_dynamics(s.q, s.v, s.tau, wrenches)
        largest = np.abs(value).max(-1, initial=0).astype(np.float64)
        # Where effort and bias cancel, the answer is small and what was added up is not.
        return Expected(value, (self.condition * (1 + np.maximum(largest, self.drift)))[:, None])

    @cached_property
    def drift(self) -> Floats:
        """(N,) largest acceleration that velocities, gravity and wrenches give by themselves."""
        s = self.states
        return np.abs(self.quick.forward_dynamics(s.q, s.v, self.rest, s.wrenches)).max(-1, initial=0)

    @cached_property
    def probes(self) -> Probes:
        """Other velocities, accelerations, gravity and wrenches for the identities, with their scales."""
        return Probes(self)

    @cached_property
    def poses(self) -> Expected:
        """T_world_body of every tree body but the world."""
        return _bounded(self.exact.poses(self.states.q))

    @cached_property
    def velocities(self) -> Expected:
        """Body twists of every tree body but the world."""
        bounded = _bounded(self.exact.velocities(self.states.q, self.states.v))
        # What is computed about the world origin cancels there: |omega| times the distance, of each body.
        turn, far = (np.linalg.norm(x[:, 1:], axis=-1) for x in (self.coasting.omega, self.coasting.p_world_body))
        swept = np.asarray(turn * far, np.float64)
        return replace(bounded, scale=np.maximum(bounded.scale, swept[..., None]))

    @cached_property
    def kinetic_energy(self) -> Expected:
        """Kinetic energy with reflected inertia."""
        value = self.exact.kinetic_energy(self.states.q, self.states.v)
        return Expected(value, self.ruler.kinetic(self.coasting, self.states.v))

    @cached_property
    def potential_energy(self) -> Expected:
        """Potential energy of the moving bodies."""
        return Expected(self.exact.potential_energy(self.states.q), self.ruler.potential(self.tree.gravity))

    @cached_property
    def center_of_mass(self) -> Expected:
        """Centre of mass of the moving bodies."""
        return _bounded(self.exact.center_of_mass(self.states.q))


def _bounded(value: Array) -> Expected:
    """Return value with the scale max(1, largest component) of each state."""
    axes = tuple(range(1, value.ndim))
    return Expected(value, np.abs(value).max(axes, initial=1, keepdims=True).astype(np.float64))
