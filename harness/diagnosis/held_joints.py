"""Fixed joints that hold inertia and nothing that moves: displaced in the ten parameters of their rigid piece."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..spatial import inverse, rotation_from_quaternion, transform
from .geometry import displaced
from .parameters import TENSOR, six, tensor, transport, vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..tree import Floats, Joint, Tree
    from .inertial import Piece


@dataclass(frozen=True, eq=False)
class Held:
    """One fixed joint of a rigid piece; what it holds is a subtree without dofs.

    Attributes:
        tree: whose joint it is.
        piece: in which it is, with the residual in the directions that show.
        body: that the joint carries.
    """

    tree: Tree
    piece: Piece
    body: int

    @property
    def joint(self) -> Joint:
        """As the tree has it."""
        return self.tree.joints[self.body]

    @cached_property
    def _placed(self) -> Floats:
        """(4, 4) the frame of the joint in the holder."""
        T_holder_body = self.tree.fusion.Ts_holder_body[self.body]
        return np.asarray(T_holder_body @ inverse(self.joint.T_joint_body), np.float64)

    @cached_property
    def _carried(self) -> Floats:
        """(10,) parameters of all that the joint holds, in its own frame."""
        Ts, back, total = self.tree.fusion.Ts_holder_body, inverse(self._placed), np.zeros(10)
        inside = {self.body}
        for k in range(self.body, len(self.tree.bodies)):
            if k in inside or self.tree.parents[k] in inside:
                inside.add(k)
                total += transport(back @ Ts[k]) @ vector(self.tree.bodies[k].inertia)
        return total

    @property
    def weighs(self) -> bool:
        """Whether it holds any inertia."""
        return bool(self._carried.any())

    def function(self, kind: str, starts: Floats) -> Callable[[Floats], Floats]:
        """Return the residual as a function of x (H, p), whose mean square is that over all answers."""
        piece, ours = self.piece, transport(self._placed) @ self._carried
        share = np.sqrt((len(piece.z) + 1) / piece.count)

        def f(x: Floats) -> Floats:
            moved = displaced(kind, x, self.joint, np.tile(starts, (len(x) // len(starts), 1)))
            D = transform(np.asarray(rotation_from_quaternion(moved.quat), np.float64), moved.p)
            theirs = carried_to(np.asarray(self._placed @ D, np.float64), self._carried)
            inside = (theirs - ours) @ piece.space.R.T - piece.z
            return np.column_stack([inside, np.full(len(x), np.sqrt(piece.outside))]) * share

        return f


def carried_to(Ts: Floats, parameters: Floats) -> Floats:
    """Return ten parameters (H, 10) in the frames in which a body stands at Ts (H, 4, 4); see `transport`."""
    R, p, m = Ts[:, :3, :3], Ts[:, :3, 3], parameters[0]
    h = R @ parameters[1:4]
    ph = np.einsum("ki,kj->kij", p, h)
    pp = np.einsum("ki,kj->kij", p, p)
    both = ph + np.swapaxes(ph, 1, 2) + m * pp
    I = R @ tensor(parameters[TENSOR]) @ np.swapaxes(R, 1, 2) - both
    I += np.einsum("kii->k", both)[:, None, None] * np.eye(3)
    return np.concatenate([np.full((len(Ts), 1), m), h + m * p, six(I)], axis=1)
