"""How alike two joints or two bodies of two trees are, whatever they are called.

Structure means: below matched bodies, joints of the same kind, compared by the line of their axis and by what they
carry; fixed bodies of one rigid piece, compared by what no choice of frame changes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from ..tree import JointKind

if TYPE_CHECKING:
    from ..tree import Floats, Inertia, Tree

ALIKE: Final = (JointKind.REVOLUTE, JointKind.CONTINUOUS)
CLEAR: Final = 0.5  # a structural match whose cost is above this share of the runner-up's is doubtful
SAME: Final = 1e-6  # relative, below which two masses or moments are the same


class Likeness:
    """Compares the joints of two trees by structure."""

    def __init__(self, a: Tree, b: Tree) -> None:
        self.a, self.b = a, b
        self._poses = neutral_poses(a), neutral_poses(b)
        (masses_a, centres_a), (masses_b, centres_b) = (
            _carried(t, Ts) for t, Ts in zip((a, b), self._poses, strict=True)
        )
        self._masses, self._centres = (masses_a, masses_b), (centres_a, centres_b)
        self._reach = max(float(np.abs(self._poses[0][:, :3, 3]).max()), 1e-9)

    def cost(self, i: int, j: int) -> float:
        """Return how far joint i of A and j of B lie apart: lines in the world, and mass and centre of what they carry.

        Lengths count as shares of the reach.
        """
        (p, n), (r, m) = (
            (T[:3, 3], T[:3, :3] @ tree.joints[k].axis)
            for tree, k, poses in ((self.a, i, self._poses[0]), (self.b, j, self._poses[1]))
            for T in (poses[tree.parents[k]] @ tree.joints[k].T_parent_joint,)
        )
        kind, off, turned = self.a.joints[i].kind, p - r, 0.0
        if kind not in (JointKind.BALL, JointKind.FLOATING):
            turned = 1 - abs(float(n @ m))
            # Where along its axis a hinge is written is a choice, and so is where a slide or a plane is.
            off = off - n * float(n @ off) if kind in ALIKE else off * 0
        x, y = float(self._masses[0][i]), float(self._masses[1][j])
        off = np.linalg.norm(off) + np.linalg.norm(self._centres[0][i] - self._centres[1][j])
        return float(off) / self._reach + turned + abs(x - y) / max(abs(x), abs(y), 1e-300)

    def complete(self, pairs: dict[int, int]) -> set[int]:
        """Add pairs below matched bodies, cheapest first, and return those that could be otherwise."""
        doubtful: set[int] = set()
        above_a, above_b = _holders(self.a, self.b, pairs, 0), _holders(self.b, self.a, pairs, 1)
        known: dict[tuple[int, int], float] = {}
        while True:
            matched = {0: 0} | pairs
            taken = set(pairs.values())
            for i in range(1, len(self.a.bodies)):
                if i in pairs or not self.a.joints[i].nv or above_a[i] not in matched:
                    continue
                for j in range(1, len(self.b.bodies)):
                    fits = self.b.joints[j].nv and above_b[j] == matched[above_a[i]] and (i, j) not in known
                    if fits and _same_kind(self.a.joints[i].kind, self.b.joints[j].kind):
                        known[i, j] = self.cost(i, j)
            costs = [(cost, i, j) for (i, j), cost in known.items() if i not in pairs and j not in taken]
            if not costs:
                return doubtful
            best = min(costs)
            runner_up = min((c for c, i, j in costs if (i == best[1]) != (j == best[2])), default=np.inf)
            if best[0] >= CLEAR * runner_up and runner_up < np.inf:
                doubtful.add(best[1])
            pairs[best[1]] = best[2]


def _same_kind(x: JointKind, y: JointKind) -> bool:
    return x is y or (x in ALIKE and y in ALIKE)


def _holders(tree: Tree, other: Tree, pairs: dict[int, int], side: int) -> list[int]:
    """Return for every body the nearest body above it whose joint has a dof, 0 for none.

    A base that floats in this tree alone is as the world: what it carries stands on a welded base in the other.
    """
    taken = {pair[side] for pair in pairs.items()}
    welded = not other.floating_roots
    above = [0]
    for body in tree.bodies[1:]:
        held = body.parent
        loose = held in tree.floating_roots and welded and held not in taken
        above.append(held if tree.joints[held].nv and not loose else above[held])
    return above


def neutral_poses(tree: Tree) -> Floats:
    """Return T_world_body (nb, 4, 4) with every joint undisplaced."""
    Ts = [np.eye(4)]
    for body in tree.bodies[1:]:
        Ts.append(Ts[body.parent] @ body.joint.T_parent_joint @ body.joint.T_joint_body)
    return np.stack(Ts)


def _carried(tree: Tree, Ts: Floats) -> tuple[Floats, Floats]:
    """Return mass (nb,) and centre of mass in the world (nb, 3) of all that each joint carries, every joint at rest."""
    masses = np.array([body.inertia.mass for body in tree.bodies])
    coms = np.stack([body.inertia.com for body in tree.bodies])
    centres = np.einsum("kij,kj->ki", Ts[:, :3, :3], coms) + Ts[:, :3, 3]
    moments = masses[:, None] * centres
    for i in range(len(tree.bodies) - 1, 0, -1):
        masses[tree.parents[i]] += masses[i]
        moments[tree.parents[i]] += moments[i]
    return masses, np.where(masses[:, None] != 0, moments / np.where(masses != 0, masses, 1.0)[:, None], centres)


def by_inertia(bodies: dict[int, int], a: Tree, b: Tree) -> None:
    """Add fixed bodies of matched rigid pieces that have one mass and one set of principal moments, where no other has.

    Then those that have one of both. A base that floats in one tree alone is matched with a body of the other's world
    in the same way.
    """
    for wanted in (2, 1):
        left_a, left_b = _left(a, set(bodies), b), _left(b, set(bodies.values()), a)
        found = [
            (i, j)
            for i, h in left_a
            for j, k in left_b
            if bodies.get(h) == k and _alike(a.bodies[i].inertia, b.bodies[j].inertia) >= wanted
        ]
        times_a, times_b = Counter(i for i, _ in found), Counter(j for _, j in found)
        bodies.update((i, j) for i, j in found if times_a[i] == times_b[j] == 1)


def _left(tree: Tree, taken: set[int], other: Tree) -> list[tuple[int, int]]:
    """Return the unmatched bodies with inertia that are fixed to another, each with the holder of its piece."""
    fixed = [i for i, joint in enumerate(tree.joints) if i and not joint.nv and i not in taken]
    found = [(i, tree.fusion.holder[i]) for i in fixed if not tree.bodies[i].inertia.is_zero]
    if not other.floating_roots:
        found += [(i, 0) for i in tree.floating_roots if i not in taken and not tree.bodies[i].inertia.is_zero]
    return found


def _alike(x: Inertia, y: Inertia) -> int:
    """Return how many of mass and principal moments are the same."""
    moments, others = np.linalg.eigvalsh(x.I_com), np.linalg.eigvalsh(y.I_com)
    same = np.abs(moments - others).max() <= SAME * np.abs(moments).max()
    return int(abs(x.mass - y.mass) <= SAME * abs(x.mass)) + int(same)
