"""Drake: `MultibodyPlant` with a continuous state, its own parsers of URDF and MJCF, or a plant built from the tree.

Coordinates: revolute and prismatic as the file has them; a ball is roll, pitch, yaw with the angular velocity in parent
axes; planar x, y, theta with velocities in the plane; a floating base quaternion w, x, y, z, then position, velocity
angular first, both parts in world axes of the body origin, ordinary accelerations (`drake_joints`).
Dofs: bodies without a joint float by default, welded here where the file stands; base bodies come first in v.
Terms: inverse dynamics, M, kinetic energy and forward dynamics contain rotor inertia times gear squared (`drake:` tags
of a URDF transmission; armature of an MJCF joint with an actuator, and only then); damping and springs are force
elements (`drake_session`). Gravity is in `CalcGravityGeneralizedForces`, with the opposite sign.
Defaults of the parsers: an unphysical tensor or mass becomes a ball of water of 1 kg, or of the mass as written; joint
friction, springs, tendons, equalities and what the log says are left out (`drake_read`, `drake_findings`).
Source: Drake, documentation of `MultibodyPlant` and of `parsing`, "Parsing Models for Multibody Simulation".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .drake_build import build
from .drake_read import load
from .drake_session import DrakeSession

if TYPE_CHECKING:
    from ..harness.engine import Engine, Given
    from ..harness.tree import Tree

__all__ = ["ENGINE", "DrakeSession"]


class _DrakeEngine:
    """Drake as an engine of the harness."""

    def native(self, given: Given, tree: Tree) -> DrakeSession:
        """Open the file with Drake's parser and its defaults.

        Raises:
            EngineRefused: Drake would not load it; the message holds its words.
            EngineUnsupported: another format.
        """
        return DrakeSession(load(given, tree), tree)

    def neutral(self, tree: Tree) -> DrakeSession:
        """Build the plant from the tree."""
        return DrakeSession(build(tree), tree)


ENGINE: Engine = _DrakeEngine()
