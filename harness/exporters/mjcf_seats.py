"""Which bodies of a tree share one body of an MJCF, and which are the world itself.

MuJoCo refuses moving bodies without inertia, but has several joints on one body: massless bodies in a row become joints
of the body that ends the row. This undoes what the importer does with such joints, and it makes the massless links of a
URDF acceptable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..spatial import inverse
from ..tree import JointKind
from .frames import is_identity
from .mjcf_joints import BALL, HINGE, MOST_DOFS, WORLD, primitives

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ..tree import Body, Floats, Tree


@dataclass(frozen=True, slots=True, eq=False)
class Seat:
    """One MJCF body.

    Attributes:
        members: tree bodies in a row; the last one gives name and inertia.
        parent: the tree body that the first one hangs on, 0 when that is the world.
        T_parent_body: (4, 4) placement of the last member in the parent when every joint is undisplaced.
        Ts_body_joint: (n, 4, 4) placement in the last member of each member's joint, likewise.
    """

    members: tuple[int, ...]
    parent: int
    T_parent_body: Floats
    Ts_body_joint: Floats

    @property
    def body(self) -> int:
        """The tree body that this is."""
        return self.members[-1]


def grounded(tree: Tree, named: Collection[str]) -> set[int]:
    """Return the bodies that are the world itself, the world included.

    Such a body is fixed at the origin of the world, without inertia, and has to be the world: MuJoCo keeps the name
    "world", and takes a free joint nowhere else.

    Args:
        tree: any.
        named: bodies that closures name; they stay.
    """
    ground = {0}
    floating = {b.parent for b in tree.bodies if b.joint.kind is JointKind.FLOATING}
    for i, body in enumerate(tree.bodies[1:], 1):
        joint = body.joint
        wanted = body.name == WORLD or i in floating
        fixed = joint.nv == 0 and is_identity(joint.T_parent_joint) and is_identity(joint.T_joint_body)
        if wanted and fixed and body.parent in ground and body.inertia.is_zero and body.name not in named:
            ground.add(i)
    return ground


def seats_of(bodies: Sequence[Body], ground: Collection[int], named: Collection[str]) -> list[Seat]:
    """Return the MJCF bodies in the order of the tree.

    Args:
        bodies: of a tree.
        ground: those that are the world itself.
        named: bodies that closures name; each is a body of its own.
    """
    children: list[list[int]] = [[] for _ in bodies]
    for i, body in enumerate(bodies[1:], 1):
        children[body.parent].append(i)
    seats: list[Seat] = []
    taken: set[int] = set(ground)
    for i in range(len(bodies)):
        if i in taken:
            continue
        row = [i]
        while _passes(bodies, row[-1], children[row[-1]], named) and _fits(bodies, [*row, *children[row[-1]]], ground):
            row += children[row[-1]]
        taken.update(row)
        seats.append(_seat(bodies, row, ground))
    return seats


def _passes(bodies: Sequence[Body], i: int, children: Sequence[int], named: Collection[str]) -> bool:
    """Return whether a body is only there to hold one joint more."""
    body = bodies[i]
    bare = body.inertia.is_zero and not body.gravcomp and body.name not in named
    return bare and body.joint.nv > 0 and len(children) == 1 and bodies[children[0]].joint.nv > 0


def _fits(bodies: Sequence[Body], row: Sequence[int], ground: Collection[int]) -> bool:
    """Return whether MuJoCo takes the joints of these bodies on one: few dofs, no turn after a ball, no turned ball.

    A floating joint has as many dofs as a body may have: it never shares one.
    """
    joints = [bodies[i].joint for i in row]
    types = [part.type for joint in joints for part in primitives(joint, top=False)]
    if sum(joint.nv for joint in joints) > MOST_DOFS:
        return False
    if BALL not in types:
        return True
    # A ball has the axes of its body.
    Ts = _seat(bodies, row, ground).Ts_body_joint
    turned = any(j.kind is JointKind.BALL and not is_identity(T[:3, :3]) for j, T in zip(joints, Ts, strict=True))
    return not turned and not {BALL, HINGE} & set(types[types.index(BALL) + 1 :])


def _seat(bodies: Sequence[Body], row: Sequence[int], ground: Collection[int]) -> Seat:
    """Return the seat of bodies in a row.

    T_parent_body(q) = P1 m1 B1 P2 m2 B2 ... of the joints' placements, motions and bodies is T_parent_body times the
    product of J m J^-1, J the placement of each joint in the last body: J_n = B_n^-1, J_k = J_k+1 (B_k P_k+1)^-1.
    """
    joints = [bodies[i].joint for i in row]
    Ts = [inverse(joints[-1].T_joint_body)]
    for joint, after in zip(joints[-2::-1], joints[:0:-1], strict=True):
        Ts.insert(0, Ts[0] @ inverse(joint.T_joint_body @ after.T_parent_joint))
    T_parent_body = np.eye(4)
    for joint in joints:
        T_parent_body = T_parent_body @ joint.T_parent_joint @ joint.T_joint_body
    parent = bodies[row[0]].parent
    return Seat(tuple(row), 0 if parent in ground else parent, T_parent_body, np.array(Ts, np.float64))
