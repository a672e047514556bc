"""Accounts of a rigid piece in the members of the other tree: ours may have merged what that one still tells apart.

When all members of the other piece but one are taken away from our sum, what is left is what our file holds of that
one. It is compared with what the other file states, in the axes in which it states it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..fusion import compose
from ..tree import Inertia
from .accounts import Part, remainder_grain, told_as_turned, without
from .alignment import ends_of
from .difference import with_inertia
from .inertias import is_physical, reasons

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..tree import Floats, Tree
    from .alignment import Node, Side
    from .inertias import Reason
    from .matching import Matching


@dataclass(frozen=True, eq=False)
class Remainder:
    """One member of the other piece against what our sum leaves for it.

    Attributes:
        other: its index in the other tree.
        ours: what our sum leaves for it, in its own axes.
        theirs: what the other tree states.
        reasons: how they depart.
        cost: of all reasons.
        T: (4, 4) its placement in our holder.
        rest: the other members of the other piece, each with its placement in our holder.
    """

    other: int
    ours: Inertia
    theirs: Inertia
    reasons: tuple[Reason, ...]
    cost: float
    T: Floats
    rest: Sequence[tuple[Inertia, Floats]]

    def patch(self, holder: str, mine: Sequence[tuple[str, Floats]], fields: Sequence[str]) -> Callable[[Tree], Tree]:
        """Return what puts fields of the stated inertia in, whatever else was put in before.

        Args:
            holder: name of our body that carries the piece.
            mine: names of our members and their placements (4, 4) in the holder.
            fields: of `Inertia`.
        """

        def apply(tree: Tree) -> Tree:
            total = compose([(tree.bodies[tree.index[name]].inertia, T) for name, T in mine])
            now = without(total, self.rest, self.T)
            then = replace(now, **{field: getattr(self.theirs, field) for field in fields})
            negative = Inertia(-now.mass, now.com, -now.I_com)
            held = tree.bodies[tree.index[holder]].inertia
            return with_inertia(tree, holder, compose([(held, np.eye(4)), (then, self.T), (negative, self.T)]))

        return apply


def remainders(ours: Side, theirs: Side, node: Node, matching: Matching, tolerance: float) -> Iterator[Remainder]:
    """Yield the members of the other piece that alone account for what departs.

    Args:
        ours: the expected tree, its members where the other tree has them.
        theirs: the other tree.
        node: the holder of the piece in our frames.
        matching: of the bodies.
        tolerance: relative.
    """
    mine, there = ours.members(node.a), theirs.members(node.b)
    if len(mine) == 1 and len(there) == 1:
        return
    back = {j: i for i, j in matching.bodies.items()}
    total = compose([(ours.tree.bodies[i].inertia, ours.Ts_holder_body[i]) for i in mine])
    placed = {j: np.asarray(node.G @ theirs.Ts_holder_body[j], np.float64) for j in there}
    for j in there:
        rest = [(theirs.tree.bodies[k].inertia, placed[k]) for k in there if k != j]
        stated, alone = theirs.tree.bodies[j].inertia, without(total, rest, placed[j])
        g = remainder_grain(rest, total, placed[j], stated, tolerance)
        lost = stated.is_zero
        if not is_physical(alone) or (lost and (j in back or alone.mass <= g.mass)):
            continue
        i = back.get(j)
        frames = () if i is None or i not in mine else (_axes_of(ours, i, placed[j]),)
        part = Part(j, stated, reasons(alone, stated, g, frames=frames))
        if j in ends_of(theirs.tree):
            part = told_as_turned(alone, part, g)
        if part.reasons:
            # That a frame of the other tree had the very inertia that departs must beat every value of one body.
            cost = sum(reason.cost for reason in part.reasons) + (0.5 if lost else 0.0)
            yield Remainder(j, alone, stated, part.reasons, cost, placed[j], rest)


def _axes_of(ours: Side, i: int, T: Floats) -> Floats:
    """Return the axes in which our file writes the tensor of a member, in the axes of the other's that stands at T."""
    R = ours.Ts_holder_body[i][:3, :3] @ ours.tree.bodies[i].inertia.axes
    return np.asarray(T[:3, :3].T @ R, np.float64)
