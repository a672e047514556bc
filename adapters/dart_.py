"""DART as an engine: `DartLoader` and `MjcfParser` on the native path, a skeleton built from the tree on the neutral.

Coordinates: q of ball and free joints are exponential coordinates (rotation vectors), their velocities are not its
derivative; a free joint has its angular part first, in the axes of its parent (`dart_joints`). Twists and wrenches are
angular first in body axes. Gravity is (0, 0, -9.81) unless set. Ledger: damping and springs are in
`computeInverseDynamics` only when asked for, then at the next time step; in `computeForwardDynamics` always; there is
no reflected inertia. Defaults of `DartLoader`: a floating root, 1 kg and the unit tensor for a link without
`<inertial>`, no link called "world". `MjcfParser` gives every body the unit tensor, and 1 kg where it has no shapes;
counts the first shape alone; puts a body without `pos` where its `<inertial>` is; takes `<freejoint/>` for a weld; and
knows neither gravity nor armature.
Source: DART 6.20, `utils/urdf/DartLoader`, `utils/mjcf/MjcfParser`, each fact measured; see tests/test_dart_adapter.py.

`dart_joints` has the coordinates, `dart_build` tree to skeleton, `dart_read` file to skeleton, `dart_tree` skeleton to
tree, `dart_session` the answers, `dart_ledger` the terms of other calls, `dart_findings` what loading reveals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..harness.limits import require_depth, require_dofs
from ..harness.reflected import reflected_inertia, tendons_outside
from .dart_build import DEPTH, DOFS, build
from .dart_read import load
from .dart_session import DartSession
from .dart_tree import tree_of

if TYPE_CHECKING:
    from ..harness.engine import Engine, Given
    from ..harness.tree import Tree

__all__ = ["ENGINE", "DartSession", "tree_of"]


class _DartEngine:
    """DART as an engine of the harness."""

    def native(self, given: Given, tree: Tree) -> DartSession:
        """Open the file with DART's importer.

        Raises:
            EngineRefused: DART would not load it; the message holds its words from the error stream.
            EngineUnsupported: another format, or a size that DART's parser cannot hold.
        """
        require_dofs(tree, *DOFS)
        require_depth(tree, *DEPTH)
        found = load(given, tree)
        return DartSession(
            found.skeleton,
            tree,
            found.nodes,
            found.seats,
            extra_dofs=found.extra_dofs,
            findings=found.findings,
            notes=found.notes,
        )

    def neutral(self, tree: Tree) -> DartSession:
        """Build the skeleton from the tree.

        Raises:
            EngineUnsupported: a size that DART cannot hold.
        """
        require_dofs(tree, *DOFS)
        skeleton, nodes, seats = build(tree)
        return DartSession(
            skeleton, tree, nodes, seats, outside=reflected_inertia(tree), findings=tendons_outside(tree, "DART")
        )


ENGINE: Engine = _DartEngine()
