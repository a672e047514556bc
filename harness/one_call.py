"""Sessions of engines that have inverse dynamics and nothing else: bias, gravity and M are asked of that one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .lacking import Lacking

if TYPE_CHECKING:
    from abc import abstractmethod
    from collections.abc import Sequence

    from .tree import Floats


class OneCall(Lacking):
    """What follows from `inverse_dynamics`, for a session that has it and `dofs`; see `harness.engine.Session`."""

    if TYPE_CHECKING:

        @property
        def dofs(self) -> Sequence[str]:
            """Names, one per column of v."""
            ...

        @abstractmethod
        def inverse_dynamics(
            self, q: Floats, v: Floats, a: Floats, wrenches: Floats | None = None, gravity: Floats | None = None
        ) -> Floats:
            """Return tau (N, nv)."""

    def bias(self, q: Floats, v: Floats, gravity: Floats | None = None) -> Floats:
        """Return tau at zero acceleration, (N, nv)."""
        return self.inverse_dynamics(q, v, np.zeros_like(v), gravity=gravity)

    def gravity_forces(self, q: Floats) -> Floats:
        """Return tau at rest, (N, nv)."""
        return self.bias(q, np.zeros((len(q), len(self.dofs))))

    def mass_matrix(self, q: Floats) -> Floats:
        """Return M (N, nv, nv) by columns: tau at unit acceleration of one dof, less tau at rest."""
        rest = np.zeros((len(q), len(self.dofs)))
        bias = self.bias(q, rest)
        columns = [self.inverse_dynamics(q, rest, rest + unit) - bias for unit in np.eye(len(self.dofs))]
        return np.stack(columns, axis=-1) if columns else np.zeros((len(q), 0, 0))
