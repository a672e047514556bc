"""Pinocchio as an engine: its own importers on the native path, a model built from the tree on the neutral one.

`pinocchio_joints` has the coordinates, `pinocchio_build` tree to model, `pinocchio_read` file to model,
`pinocchio_tree` live model to tree, `pinocchio_session` the answers, `pinocchio_findings` what loading reveals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..harness.findings import finding
from .pinocchio_build import build, require_depth, require_dofs
from .pinocchio_read import load
from .pinocchio_session import PinocchioSession
from .pinocchio_tree import tree_of
from .pinocchio_versions import reflected_outside

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
        require_dofs(tree)
        if given.path:
            require_depth(tree)
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
        require_dofs(tree)
        model, pairs = build(tree)
        booked = tuple(
            finding(
                "armature.tendon",
                tendon.source,
                where=tendon.name,
                expected=tendon.armature,
                found=0.0,
                unit="kg",
                severity="convention",
                fix="nothing: Pinocchio has no tendons, their inertia is added to tau and M outside of it",
            )
            for tendon in tree.tendons
        )
        return PinocchioSession(model, tree, pairs, shifted=True, findings=booked, outside=reflected_outside(tree))


ENGINE: Engine = _PinocchioEngine()
