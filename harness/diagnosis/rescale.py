"""A whole file in another unit of length: one reason instead of a hundred."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ..tree import JointKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tree import Floats, Inertia, Joint, Tree

RATIOS: Final = (1e3, 1e-3)  # millimetres read as metres, and the reverse
NEAR: Final = 0.1  # how close the sizes of two robots must come to such a ratio to try it


def size(tree: Tree) -> float:
    """Return the sum of all distances from joint to joint and to centres of mass [m]."""
    lengths = [body.joint.T_parent_joint[:3, 3] for body in tree.bodies] + [b.inertia.com for b in tree.bodies]
    return sum(float(np.linalg.norm(p)) for p in lengths)


def candidates(ours: Tree, theirs: Tree) -> Iterator[tuple[float, bool]]:
    """Yield what the lengths of `theirs` may have been multiplied by, and whether its tensors went along."""
    mine, other = size(ours), size(theirs)
    for ratio in RATIOS:
        if mine and abs(other / mine / ratio - 1) < NEAR:
            yield ratio, True
            yield ratio, False


def rescaled(tree: Tree, factor: float, *, tensors: bool) -> Tree:
    """Return the tree with every length times `factor`, and its tensors times its square when asked."""

    def placed(T: Floats) -> Floats:
        return np.vstack([np.hstack([T[:3, :3], T[:3, 3:] * factor]), T[3:]])

    def joint(j: Joint) -> Joint:
        fields = {"T_parent_joint": placed(j.T_parent_joint), "T_joint_body": placed(j.T_joint_body)}
        return replace(j, **fields, ref=j.ref * (factor if j.kind is JointKind.PRISMATIC else 1.0))

    def inertia(i: Inertia) -> Inertia:
        return replace(i, com=i.com * factor, I_com=i.I_com * (factor**2 if tensors else 1.0))

    bodies = [replace(body, joint=joint(body.joint), inertia=inertia(body.inertia)) for body in tree.bodies]
    return replace(tree, bodies=tuple(bodies))
