"""Newton: `eval_inverse_dynamics_force`, `eval_mass_matrix`, `eval_fk`, `eval_jacobian`, in float32 on the CPU.

Coordinates: a free joint is position, quaternion x, y, z, w | velocity of the centre of mass of the body and angular
velocity, both in axes of the joint's fixed side, accelerations ordinary; a ball has its velocity there, too. Joints of
one MJCF body are one D6, slides before hinges; `ref` is taken off the coordinate.
Order: URDF depth-first, MJCF as written; every link stays a body, also behind fixed joints.
Defaults: gravity is 9.81 down whatever a file says, but for its flag; a root without a joint is fixed; a tensor that no
body can have is corrected when the model is finalized (`inertia.repaired`), and only a warning counts those.
Ledger: the mass matrix contains `joint_armature`; nothing contains damping, friction, springs or external wrenches.
Source: Newton 1.8, documentation, "Conventions" and "Articulations"; newton/_src/sim/articulation.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .newton_build import build
from .newton_read import load, refusal
from .newton_session import NewtonSession

if TYPE_CHECKING:
    from ..harness.engine import Given
    from ..harness.tree import Tree


class _NewtonEngine:
    """Newton as an engine of the harness."""

    def native(self, given: Given, tree: Tree) -> NewtonSession:
        """Open the file with Newton's importer and its defaults.

        Raises:
            EngineRefused: Newton would not load it.
            EngineUnsupported: another format, or a model without a joint that moves.
        """
        opened = load(given, tree)
        try:
            return NewtonSession(opened, tree)
        except ValueError as error:
            raise refusal(error, tree) from error

    def neutral(self, tree: Tree) -> NewtonSession:
        """Build the model from the tree.

        Raises:
            EngineUnsupported: nothing moves.
        """
        return NewtonSession(build(tree), tree)


ENGINE = _NewtonEngine()
