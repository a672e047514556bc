"""Other velocities, gravity and wrenches, on which no column of M may depend; the same for all engines."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from ..tree import Floats
    from .truth import Truth

OTHER_GRAVITY: Final = (3.1, -5.7, 7.3)  # [m/s^2] along no axis, and of no planet


class Probes:
    """What the identities ask beside the frozen states.

    Attributes:
        velocity: (N, nv) [rad/s | m/s] each in (-1, 1).
        accelerations: (2, N, nv) [rad/s^2 | m/s^2] each in (-5, 5).
        gravity: (3,) [m/s^2].
        wrenches: (N, nb, 6) [N m, N] on every moving body with inertia that is fixed to no other.
    """

    def __init__(self, truth: Truth) -> None:
        self._truth = truth
        tree, states = truth.tree, truth.states
        rng = np.random.default_rng(states.seed)
        self.velocity = rng.uniform(-1, 1, states.v.shape)
        self.accelerations = rng.uniform(-5, 5, (2, *states.v.shape))
        self.gravity = np.array(OTHER_GRAVITY)
        fusion = tree.fusion
        loaded = [
            h == i and tree.moving[i] and not fusion.tree.bodies[fusion.merged[i]].inertia.is_zero
            for i, h in enumerate(fusion.holder)
        ]
        weight = 10 * max(tree.moving_mass, 1e-3)
        size = weight * np.repeat([truth.ruler.length, 1.0], 3)
        self.wrenches = rng.uniform(-1, 1, states.wrenches.shape) * np.array(loaded)[:, None] * size

    @cached_property
    def scale_of_velocity(self) -> Floats:
        """(N, nv) scale of the bias at the other velocity."""
        truth = self._truth
        motion = truth.quick.motion(truth.states.q, self.velocity, truth.rest)
        return truth.ruler.efforts(motion, truth.rest, truth.tree.gravity)

    @cached_property
    def scale_of_gravity(self) -> Floats:
        """(N, nv) scale of the bias under the other gravity."""
        truth = self._truth
        return truth.ruler.efforts(truth.coasting, truth.rest, self.gravity)

    @cached_property
    def scale_of_wrenches(self) -> Floats:
        """(N, nv) scale of the bias under the other wrenches."""
        truth = self._truth
        return truth.ruler.efforts(truth.coasting, truth.rest, truth.tree.gravity, self.wrenches)
