"""The reflected inertia of a tree, for engines whose models hold none or a part: the rest is added outside of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .findings import finding

if TYPE_CHECKING:
    from .findings import Finding
    from .tree import Floats, Tree


def reflected_inertia(tree: Tree, *, joints: bool = True) -> Floats | None:
    """Return K (nv, nv), constant, which M holds beside the inertia of the bodies; None where the tree has none.

    K is the armature and rotors of all joints on its diagonal, and armature times c c^T of every fixed tendon.

    Args:
        tree: the robot.
        joints: whether the part of the joints is in it, or the model holds that.
    """
    parts = [joint.reflected * joints for joint in tree.joints]
    return _with_tendons(tree, np.diag(np.concatenate(parts)))


def reflected_beyond_one_dof(tree: Tree) -> Floats | None:
    """Return the part of `reflected_inertia` that a model does not hold whose joints of one dof have an armature."""
    parts = [joint.reflected * (joint.nv > 1) for joint in tree.joints]
    return _with_tendons(tree, np.diag(np.concatenate(parts)))


def tendons_outside(tree: Tree, engine: str) -> tuple[Finding, ...]:
    """Return what to tell of tendons whose inertia is added outside of an engine that has none."""
    return tuple(
        finding(
            "armature.tendon",
            tendon.source,
            where=tendon.name,
            expected=tendon.armature,
            found=0.0,
            unit="kg",
            severity="convention",
            fix=f"nothing: {engine} has no tendons, their inertia is added to tau and M outside of it",
        )
        for tendon in tree.tendons
    )


def _with_tendons(tree: Tree, K: Floats) -> Floats | None:
    for tendon in tree.tendons:
        c = np.zeros(tree.nv)
        for name, coefficient in tendon.coefficients.items():
            c[tree.v_slices[tree.joint_index[name]]] = coefficient
        K = K + tendon.armature * np.outer(c, c)
    return K if K.any() else None
