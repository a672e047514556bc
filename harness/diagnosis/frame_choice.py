"""Which frame of a body in one tree is which in the other: the choice that leaves the fewest parameters different.

Of the frames that suggest themselves the same frame wins a tie; then the one that continues the parent's, and the one
that keeps a child where it is; then those that bring what is fixed in the body together: the lines of the joints on it,
its centre of mass, its principal axes. Two of these give a frame, so that one of them may be at fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Final

import numpy as np

from ..fusion import compose
from ..spatial import inverse, motion_transform
from ..tree import JointKind
from .alignment import children, node_of, placement, same_pose, same_screws, screws

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..tree import Floats, Inertia
    from .alignment import Node, Side
    from .matching import Matching

LINES: Final = 5  # joints of a body whose lines are looked at: a base may have a hundred
APART: Final = 1e-3  # directions that are closer to parallel, and [m] points that are closer, tell no frame
DISTINCT: Final = 1e-3  # of the largest moment: principal axes of closer moments are any


def align(
    ours: Side, theirs: Side, matching: Matching, tolerance: float, chosen: Mapping[int, Floats] | None = None
) -> tuple[Node, ...]:
    """Return the matched bodies of both trees in the frames of ours, parents first.

    A static body is no parent: what stands on it is placed in the world, since where a pedestal ends and a placement
    begins is a choice of the file.

    Args:
        ours: the expected tree.
        theirs: the other tree.
        matching: from `match`.
        tolerance: relative, below which two parameters count as equal when frames are chosen.
        chosen: frame (4, 4) of bodies of ours for which none is looked for.
    """
    a = ours.tree
    reach = max(float(np.abs(ours.home[:, :3, 3]).max()), 1e-3)
    Gs: dict[int, Floats] = {0: np.eye(4)}
    nodes: list[Node] = [node_of(ours, theirs, 0, 0, 0, Gs[0], Gs[0])]
    for i in range(1, len(a.bodies)):
        if i not in matching.bodies:
            continue
        j, parent = matching.bodies[i], a.parents[i]
        while parent not in Gs or (parent and not ours.moves(parent)):
            parent = a.parents[parent]
        best: tuple[int, Node] | None = None
        given = None if chosen is None else chosen.get(i)
        frames = frames_of(ours, theirs, i, j, parent, Gs[parent], matching) if given is None else [given]
        for G in frames:
            node = node_of(ours, theirs, i, j, parent, Gs[parent], G, matching.bodies[parent])
            cost = departing(ours, theirs, node, matching, tolerance, reach)
            if best is None or cost < best[0]:
                best = (cost, node)
            if cost == 0:
                break
        assert best is not None  # noqa: S101  the same frame is always a candidate
        nodes.append(best[1])
        Gs[i] = best[1].G
    return tuple(nodes)


@dataclass(frozen=True, eq=False)
class Line:
    """The axis of a joint, in the axes of a body that it moves.

    Attributes:
        n: (3,) unit direction.
        p: (3,) [m] a point on it; None for a slide, which has a direction alone.
    """

    n: Floats
    p: Floats | None

    def foot(self, c: Floats) -> Floats | None:
        """Return the point of the line that is closest to c."""
        return None if self.p is None else self.p + self.n * float(self.n @ (c - self.p))


def _line(S: Floats) -> Line | None:
    """Return the line of a screw (6, 1); None of a joint with more dofs or none."""
    if S.shape[1] != 1:
        return None
    n, v = S[:3, 0], S[3:, 0]
    if not n.any():
        return Line(v / np.linalg.norm(v), None)
    return Line(n, np.cross(n, v))


def frames_of(
    ours: Side, theirs: Side, i: int, j: int, parent: int, G_parent: Floats, matching: Matching
) -> Iterator[Floats]:
    """Yield the frames G (4, 4) that suggest themselves for body i of ours and j of theirs, the same frame first.

    Args:
        ours: the expected tree.
        theirs: the other tree.
        i: body of ours.
        j: body of theirs that it was matched with.
        parent: index in ours of the nearest matched body above.
        G_parent: (4, 4) that was chosen for it.
        matching: from `match`.
    """
    yield np.eye(4)
    P_a = inverse(ours.home[parent]) @ ours.home[i]
    P_b = inverse(theirs.home[matching.bodies[parent]]) @ theirs.home[j]
    yield np.asarray(inverse(P_a) @ G_parent @ P_b, np.float64)
    below = children(ours.tree, i, matching)
    lines: list[tuple[Line, Line]] = []
    own = _line(screws(ours.tree.joints[i])), _line(screws(theirs.tree.joints[j]))
    if own[0] and own[1]:
        lines.append((own[0], own[1]))
    for child in below:
        other = matching.bodies[child]
        C_a = inverse(ours.home[i]) @ ours.home[child]
        C_b = inverse(theirs.home[j]) @ theirs.home[other]
        yield np.asarray(C_a @ inverse(C_b), np.float64)
        x = _line(np.asarray(motion_transform(C_a) @ screws(ours.tree.joints[child]), np.float64))
        y = _line(np.asarray(motion_transform(C_b) @ screws(theirs.tree.joints[other]), np.float64))
        if x and y and len(lines) < LINES:
            lines.append((x, y))
    yield from _by_features(lines, ours.inertia(i), theirs.inertia(j))


def _by_features(lines: list[tuple[Line, Line]], mine: Inertia, other: Inertia) -> Iterator[Floats]:
    """Yield the frames that bring lines, centres of mass and principal axes of two descriptions together."""
    heavy = bool(mine.mass and other.mass)
    c, d = mine.com, other.com
    pairs = [(x, y) for x, y in lines if (x.p is None) == (y.p is None)]
    for x, y in pairs if heavy else ():
        foot, far = x.foot(c), y.foot(d)
        if foot is not None and far is not None:
            yield from _frame(x.n, foot - c, c, y.n, far - d, d)
    for (x, y), (u, w) in combinations(pairs, 2):
        if heavy:
            yield from _frame(x.n, u.n, c, y.n, w.n, d)
        if (near := _nearest(x, u, c)) is not None and (there := _nearest(y, w, d)) is not None:
            yield from _frame(x.n, u.n, near[0], y.n, w.n, there[0])
            yield from _frame(x.n, near[1], near[0], y.n, there[1], there[0])
    if heavy:
        yield from _by_moments(mine, other)


def _frame(n: Floats, e: Floats, p: Floats, m: Floats, f: Floats, q: Floats) -> Iterator[Floats]:
    """Yield the frame that brings direction m, then f as far as it can, and point q to n, e and p."""
    R, Q = _triad(n, e), _triad(m, f)
    if R is not None and Q is not None:
        turn = R @ Q.T
        yield placement(turn, p - turn @ q)


def _triad(n: Floats, e: Floats) -> Floats | None:
    """Return axes (3, 3) with the first along n and the second towards e; None where these are parallel."""
    side = e - n * float(n @ e)
    size = float(np.linalg.norm(side))
    if size < APART * max(float(np.linalg.norm(e)), APART):
        return None
    side = side / size
    return np.column_stack([n, side, np.cross(n, side)])


def _nearest(x: Line, y: Line, c: Floats) -> tuple[Floats, Floats] | None:
    """Return the point of line x nearest to line y, and the way from there to y; from the foot of c where parallel."""
    if x.p is None or y.p is None:
        return None
    across = np.cross(x.n, y.n)
    if float(np.linalg.norm(across)) < APART:
        foot = x.p + x.n * float(x.n @ (c - x.p))
    else:
        # x.p + s x.n - y.p - t y.n is along `across`
        s = np.linalg.solve(np.column_stack([x.n, -y.n, -across]), y.p - x.p)[0]
        foot = x.p + float(s) * x.n
    way = y.foot(foot)
    return None if way is None else (foot, way - foot)


def _by_moments(mine: Inertia, other: Inertia) -> Iterator[Floats]:
    """Yield the four frames that bring centre of mass and principal axes together."""
    (moments, axes), (_, turned) = (np.linalg.eigh(x.I_com) for x in (mine, other))
    if np.diff(moments).min() <= DISTINCT * moments[-1]:
        return
    for x, y, z in product((1, -1), repeat=3):
        R = axes @ np.diag([x, y, z]) @ turned.T
        if np.linalg.det(R) > 0:
            yield placement(R, mine.com - R @ other.com)


def departing(ours: Side, theirs: Side, node: Node, matching: Matching, tolerance: float, reach: float) -> int:
    """Return how many parameters of a body and of the joints on it differ for this choice of frames."""
    free = JointKind.FLOATING in (ours.tree.joints[node.a].kind, theirs.tree.joints[node.b].kind)
    count = 0 if free else int(not same_pose(node.P, node.P_found, tolerance, reach))
    count += int(not same_screws(node.S, node.S_found, tolerance, reach)) if not free else 0
    mine, other = node.inertia, node.inertia_found
    if not ours.tree.joints[node.a].nv and (mine.is_zero or other.is_zero):
        return count  # a frame: nothing tells where it is but its placement
    unlike = _unlike(mine, other, tolerance, reach)
    if unlike:
        unlike = min(unlike, _unlike(_standing(ours, theirs, node, matching), other, tolerance, reach))
    count += unlike
    for child in children(ours.tree, node.a, matching):
        C_a = inverse(ours.home[node.a]) @ ours.home[child]
        C_b = node.G @ inverse(theirs.home[node.b]) @ theirs.home[matching.bodies[child]]
        S_a = motion_transform(C_a) @ screws(ours.tree.joints[child])
        S_b = motion_transform(C_b) @ screws(theirs.tree.joints[matching.bodies[child]])
        fixed = S_a.shape[1] == 0 and S_b.shape[1] == 0
        same = same_pose(C_a, C_b, tolerance, reach) if fixed else same_screws(S_a, S_b, tolerance, reach)
        count += int(not same)
    return count


def _unlike(mine: Inertia, other: Inertia, tolerance: float, reach: float) -> int:
    """Return how many of centre of mass and tensor differ."""
    count = int(np.abs(mine.com - other.com).max() > tolerance * reach and mine.mass * other.mass != 0)
    size = max(float(np.abs(mine.I_com).max()), float(np.abs(other.I_com).max()), 1e-300)
    return count + int(np.abs(mine.I_com - other.I_com).max() > tolerance * size)


def _standing(ours: Side, theirs: Side, node: Node, matching: Matching) -> Inertia:
    """Return our piece with its members where the other tree has them: that one is elsewhere is one difference."""
    parts = [(ours.tree.bodies[node.a].inertia, np.eye(4))]
    for i in ours.members(node.a):
        if i == node.a:
            continue
        j = matching.bodies.get(i)
        there = j is not None and theirs.holder[j] == node.b
        T = node.G @ theirs.Ts_holder_body[j] if there and j is not None else ours.Ts_holder_body[i]
        parts.append((ours.tree.bodies[i].inertia, np.asarray(T, np.float64)))
    return compose(parts) if len(parts) > 1 else node.inertia
