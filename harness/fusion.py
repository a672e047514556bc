"""Merge bodies that have no dof of their own into the body that carries them, with exact composite inertia."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .spatial import Array, inverse, motion_transform, skew
from .tree import Body, Floats, Inertia, Tree

if TYPE_CHECKING:
    from collections.abc import Container, Sequence


@dataclass(frozen=True, eq=False)
class Fusion:
    """Where each body went.

    Attributes:
        tree: the merged tree: the world, and the bodies whose joint has a dof.
        holder: (nb,) index *in the original tree* of the body that carries body i: itself when its joint moves or it
            was kept, else the nearest such body above it, or the world.
        merged: (nb,) index of that holder in `tree`.
        Ts_holder_body: (nb, 4, 4) constant placement in the holder.
    """

    tree: Tree
    holder: tuple[int, ...]
    merged: tuple[int, ...]
    Ts_holder_body: Floats

    def fold(self, wrenches: Floats) -> Floats:
        """Move the wrenches (N, nb, 6) on fixed bodies to their holders; the resultant on each holder stays."""
        folded = wrenches.copy()
        for i, h in enumerate(self.holder):
            if h != i:
                X_body_holder = motion_transform(inverse(self.Ts_holder_body[i]))
                folded[:, h] += wrenches[:, i] @ X_body_holder  # rows: f_holder = X^T f_body
                folded[:, i] = 0
        return folded


def fuse(tree: Tree, keep: Container[int] = ()) -> Fusion:
    """Return the merged tree and where each body went; fixed bodies whose index is in `keep` stay bodies.

    Sums are taken in longdouble and rounded once, so that a composite is as exact as a float64 can hold it.
    """
    count = len(tree.bodies)
    holder, Ts = [0] * count, np.zeros((count, 4, 4), np.longdouble)
    Ts[0] = np.eye(4)
    for i, body in enumerate(tree.bodies[1:], 1):
        if body.joint.nv or i in keep:
            holder[i], Ts[i] = i, np.eye(4)
        else:
            T_parent_body = body.joint.T_parent_joint.astype(np.longdouble) @ body.joint.T_joint_body
            holder[i], Ts[i] = holder[body.parent], Ts[body.parent] @ T_parent_body
    kept = [i for i in range(count) if holder[i] == i]
    new = {old: i for i, old in enumerate(kept)}
    members: dict[int, list[int]] = {i: [] for i in kept}
    for i in range(count):
        members[holder[i]].append(i)
    bodies: list[Body] = []
    for old in kept:
        body = tree.bodies[old]
        parts = [(tree.bodies[i].inertia, Ts[i]) for i in members[old]]
        weights = [tree.bodies[i].gravcomp * tree.bodies[i].inertia.mass for i in members[old]]
        composite = body.inertia if len(parts) == 1 else compose(parts)
        joint = body.joint
        if old:
            # The parent may have gone into its own holder: the joint is then placed there.
            T = (Ts[body.parent] @ joint.T_parent_joint).astype(np.float64)
            joint = replace(joint, T_parent_joint=T if body.parent != holder[body.parent] else joint.T_parent_joint)
        comp = sum(weights) / composite.mass if composite.mass else 0.0
        parent = new[holder[body.parent]] if old else -1
        bodies.append(replace(body, parent=parent, joint=joint, inertia=composite, gravcomp=comp))
    merged = replace(tree, bodies=tuple(bodies))
    return Fusion(merged, tuple(holder), tuple(new[h] for h in holder), Ts.astype(np.float64))


def compose(parts: Sequence[tuple[Inertia, Array]]) -> Inertia:
    """Return the inertia of bodies fixed to one frame.

    Args:
        parts: each an inertia in its own body axes and T_frame_body (4, 4).

    A tensor of a massless part is kept; the centre of mass of a massless whole is that of its parts' mean, which no
    motion can tell.
    """
    masses = np.array([inertia.mass for inertia, _ in parts], np.longdouble)
    coms = np.stack([T[:3, :3] @ inertia.com.astype(np.longdouble) + T[:3, 3] for inertia, T in parts])
    mass = masses.sum()
    com = (masses[:, None] * coms).sum(0) / mass if mass else coms.mean(0)
    I = np.zeros((3, 3), np.longdouble)
    for (inertia, T), m, c in zip(parts, masses, coms, strict=True):
        S = skew(c - com)
        I += T[:3, :3] @ inertia.I_com.astype(np.longdouble) @ T[:3, :3].T - m * (S @ S)
    return Inertia(float(mass), com.astype(np.float64), ((I + I.T) / 2).astype(np.float64))
