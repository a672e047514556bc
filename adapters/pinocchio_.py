"""Pinocchio as an engine: its own importers on the native path, a model built from the tree on the neutral one.

`pinocchio_joints` has the coordinates, `pinocchio_build` tree to model, `pinocchio_read` file to model,
`pinocchio_tree` live model to tree, `pinocchio_session` the answers, `pinocchio_findings` what loading reveals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..harness.limits import require_depth, require_dofs
from ..harness.reflected import reflected_inertia, tendons_outside
from .pinocchio_build import DEPTH, DOFS, build
from .pinocchio_read import load
from .pinocchio_session import PinocchioSession
from .pinocchio_tree import tree_of
from .pinocchio_versions import HOLDS_ARMATURE

if TYPE_CHECKING:
    from ..harness.engine import Engine, Given
    from ..harness.tree import Tree

__all__ = ["ENGINE", "PinocchioSession", "tree_of"]


class _PinocchioEngine:
    """Pinocchio as an engine of the harness."""

    def native(self, given: Given, tree: Tree) -> PinocchioSession:
        """Open the file with Pinocchio's importer, or take a copy of the live model.

        Raises:
            EngineRefused: Pinocchio would not load it; the message holds its words from the error stream.
            EngineUnsupported: another format, or a size that Pinocchio cannot hold.
        """
        require_dofs(tree, *DOFS)
        if given.path:
            require_depth(tree, *DEPTH)
        found = load(given, tree)
        return PinocchioSession(
            found.model,
            tree,
            found.pairs,
            shifted=False,
            extra_dofs=found.extra_dofs,
            findings=found.findings,
            notes=found.notes,
        )

    def neutral(self, tree: Tree) -> PinocchioSession:
        """Build the model from the tree.

        Raises:
            EngineUnsupported: a size that Pinocchio cannot hold.
        """
        require_dofs(tree, *DOFS)
        model, pairs = build(tree)
        return PinocchioSession(
            model,
            tree,
            pairs,
            shifted=True,
            findings=tendons_outside(tree, "Pinocchio"),
            outside=reflected_inertia(tree, joints=not HOLDS_ARMATURE),
        )


ENGINE: Engine = _PinocchioEngine()
