"""PyBullet as an engine: its own importers on the native path, a written URDF on the neutral one.

What its pages say, and what was measured with 3.2.7:

- `loadURDF` takes the inertia of the file only with URDF_USE_INERTIA_FROM_FILE; without that flag it is made of the
  collision shapes. A link without `<inertial>` has 1 kg and 1 kg m^2; a tensor that no body can have becomes zero.
- A base is welded with `useFixedBase`; it has no mass then. A base without mass never floats.
- `calculateInverseDynamics` and `calculateJacobian` compute in the axes of the base inertial frame and take gravity
  as if it were given there. Of a floating base its efforts mean nothing; `calculateMassMatrix`, flags=0, is right, for
  velocities of the inertial frame of the base in its own axes, angular first, then the joints in order of the links.
- `getLinkStates` tells inertial frames in double and link frames in single precision.
- Joints are revolute (also continuous), prismatic, fixed; spherical ones move, and have no dynamics in Python.
- Armature there is none; damping, friction and limits are in no answer. `mimic` is not read: both joints stay free.
- The MJCF importer knows old MJCF alone: a joint without `type`, a `<freejoint>` and class defaults are passed over.
- Links beyond 127 have no poses; positions of dofs beyond the 128th are lost on their way to inverse dynamics.
- `getLinkStates` moves a link along an axis as long as it is written; inverse dynamics normalises it.
- Two roots, a joint name twice and a link with two parents end the process.

`pybullet_model` has the client, `pybullet_multibody` what it is asked, `pybullet_session` the answers, `pybullet_read`
file to client, `pybullet_build` tree to client, `pybullet_tree` client to tree, `pybullet_findings` what loading tells.
Source: PyBullet Quickstart Guide; bullet3, PhysicsServerCommandProcessor.cpp, BulletUrdfImporter.cpp.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..harness.reflected import reflected_inertia, tendons_outside
from .pybullet_build import build
from .pybullet_read import Call, load
from .pybullet_session import BulletSession

if TYPE_CHECKING:
    from ..harness.engine import Engine, Given
    from ..harness.tree import Tree

__all__ = ["ENGINE", "BulletEngine", "BulletSession", "Call"]


@dataclass(frozen=True)
class BulletEngine:
    """PyBullet as an engine of the harness.

    Attributes:
        call: how files are loaded.
    """

    call: Call = field(default_factory=Call)

    def native(self, given: Given, tree: Tree) -> BulletSession:
        """Open the file with PyBullet's importer.

        Raises:
            EngineRefused: PyBullet would not load it, or has no inverse dynamics of it, in its words.
            EngineUnsupported: another format, or an MJCF whose base should be freed.
        """
        found = load(given, tree, self.call)
        return BulletSession(
            found.model,
            tree,
            found.held,
            upright=False,
            extra_dofs=found.extra_dofs,
            findings=found.findings,
            notes=found.notes,
        )

    def neutral(self, tree: Tree) -> BulletSession:
        """Build the multibodies from the tree.

        Raises:
            EngineUnsupported: a joint, an inertia or a root that PyBullet cannot hold.
        """
        model, held = build(tree)
        return BulletSession(
            model,
            tree,
            held,
            upright=True,
            outside=reflected_inertia(tree),
            findings=tendons_outside(tree, "PyBullet"),
        )


ENGINE: Engine = BulletEngine()
