"""The reflected inertia of a tree, for engines whose models hold none: it is added outside of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .tree import Floats, Tree


def reflected_inertia(tree: Tree) -> Floats | None:
    """Return K (nv, nv), constant, which M holds beside the inertia of the bodies; None where the tree has none.

    K is the armature and rotors of all joints on its diagonal, and armature times c c^T of every fixed tendon.
    """
    K = np.diag(np.concatenate([joint.reflected for joint in tree.joints]))
    for tendon in tree.tendons:
        c = np.zeros(tree.nv)
        for name, coefficient in tendon.coefficients.items():
            c[tree.v_slices[tree.joint_index[name]]] = coefficient
        K += tendon.armature * np.outer(c, c)
    return K if K.any() else None
