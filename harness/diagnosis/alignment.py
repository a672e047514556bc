"""Two matched trees in one set of frames, so that parameters can be compared one by one.

The frame of a body is a choice of whoever wrote the file: two descriptions of one robot may put it elsewhere. The
choice is a constant transform G between the two frames of a matched body, and it is not a parameter of the robot;
`frame_choice` makes it.

A joint is compared by what does not depend on how it is written: its home placement P = T_parent_body at one
coordinate (the common `ref` of a pair, else 0), and its screws S, the twists of the body per unit of velocity, in body
axes about the body origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..fusion import fuse
from ..spatial import inverse, motion_transform, rotation_about, rotation_z_to, transform
from ..tree import JointKind
from .inertias import in_frame

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from ..spatial import Array
    from ..tree import Floats, Inertia, Joint, Tree
    from .matching import Matching

TURNING = (JointKind.REVOLUTE, JointKind.CONTINUOUS)


@dataclass(frozen=True, eq=False)
class Node:
    """One matched body, both descriptions in the frames of the expected one.

    Attributes:
        a, b: index of the body in each tree as it was given.
        parent: index in the expected tree of the nearest matched body above.
        P, P_found: (4, 4) home placement in that parent.
        at: coordinate of a one-dof joint at which it is at home.
        S, S_found: (6, nv) screws in body axes.
        inertia, inertia_found: of the rigid piece that a moving body makes with all that is fixed to it; of a fixed
            body alone.
        G: (4, 4) frame of the found body in the frame of the expected one.
    """

    a: int
    b: int
    parent: int
    P: Floats
    P_found: Floats
    at: float
    S: Floats
    S_found: Floats
    inertia: Inertia
    inertia_found: Inertia
    G: Floats


@dataclass(frozen=True, eq=False)
class Side:
    """One tree with its rigid pieces: a moving body, or the world, with all that is fixed to it.

    Attributes:
        tree: as it was given.
        holder: (nb,) index of the body that carries each body.
        pieces: composite inertia of every piece, by index of its holder.
        Ts_holder_body: (nb, 4, 4) placement of every body in its holder.
        zeros: coordinate at which a joint is at home, by body; 0 where it is not named.
        home: (nb, 4, 4) T_world_body with every joint at home.
    """

    tree: Tree
    zeros: Mapping[int, float]
    holder: tuple[int, ...]
    pieces: Mapping[int, Inertia]
    Ts_holder_body: Floats
    home: Floats

    def members(self, i: int) -> list[int]:
        """Return the bodies of the piece that body i holds, itself first."""
        return [k for k, holder in enumerate(self.holder) if holder == i]

    def moves(self, i: int) -> bool:
        """Return whether body i can move against the world, in this tree or in the other."""
        return self.holder[i] != 0

    def inertia(self, i: int) -> Inertia:
        """Return the inertia of a piece by its holder, of any other body alone."""
        return self.pieces[i] if i in self.pieces else self.tree.bodies[i].inertia


def side(tree: Tree, zeros: Mapping[int, float], keep: Container[int] = ()) -> Side:
    """Return the tree with its rigid pieces.

    Args:
        tree: one of two.
        zeros: from `common_zeros`.
        keep: from `moving_elsewhere`: fixed bodies that are pieces of their own all the same.
    """
    fusion = fuse(tree, keep)
    pieces = {holder: fusion.tree.bodies[fusion.merged[holder]].inertia for holder in fusion.holder}
    home = [np.eye(4)]
    for i, body in enumerate(tree.bodies[1:], 1):
        home.append(home[body.parent] @ home_placement(body.joint, zeros.get(i, 0.0)))
    return Side(tree, zeros, fusion.holder, pieces, fusion.Ts_holder_body, np.stack(home))


def ends_of(tree: Tree) -> frozenset[int]:
    """Return the fixed bodies that carry frames without inertia at most: their joint places them alone."""
    loaded = set[int]()
    ends: list[int] = []
    for i in range(len(tree.bodies) - 1, 0, -1):
        body = tree.bodies[i]
        if i not in loaded and not body.joint.nv:
            ends.append(i)
        if i in loaded or body.joint.nv or not body.inertia.is_zero:
            loaded.add(body.parent)
    return frozenset(ends)


def moving_elsewhere(a: Tree, b: Tree, matching: Matching) -> tuple[frozenset[int], frozenset[int]]:
    """Return for each tree its fixed bodies that are carried by a moving joint in the other.

    What is welded in one tree and moves in the other is one piece in both: its joint differs, and not the inertia of
    what it is welded to.
    """
    pairs = [(i, j) for i, j in matching.bodies.items() if i]
    welded_a = frozenset(i for i, j in pairs if b.joints[j].nv and not a.joints[i].nv)
    return welded_a, frozenset(j for i, j in pairs if a.joints[i].nv and not b.joints[j].nv)


def home_placement(joint: Joint, at: float = 0.0) -> Floats:
    """Return T_parent_body of a one-dof joint at coordinate `at`, of other joints at their neutral: (4, 4)."""
    return joint.T_parent_joint @ _motion(joint, at - joint.ref) @ joint.T_joint_body


def home_coordinates(tree: Tree) -> Floats:
    """Return q (nq,) of a robot at home: one-dof joints at 0, wherever their `ref` is, quaternions at the identity."""
    return np.concatenate([np.zeros(1) if joint.nq == 1 else joint.neutral for joint in tree.joints])


def common_zeros(a: Tree, b: Tree, matching: Matching) -> tuple[dict[int, float], dict[int, float]]:
    """Return for each tree, by body, the coordinate at which matched joints are compared: the `ref` that both have.

    A hinge that is turned by `ref` in both files stands differently at q = 0 when only its axis differs.
    """
    refs = {
        (i, j): a.joints[i].ref
        for i, j in matching.joints.items()
        if a.joints[i].nv == 1 and a.joints[i].ref == b.joints[j].ref
    }
    return {i: ref for (i, _), ref in refs.items()}, {j: ref for (_, j), ref in refs.items()}


def _motion(joint: Joint, displacement: float) -> Floats:
    """Return the motion of a one-dof joint displaced from its zero; other kinds are at home."""
    R, p = np.eye(3), np.zeros(3)
    if joint.kind in TURNING:
        R = rotation_about(joint.axis, np.asarray(displacement))
    elif joint.kind is JointKind.PRISMATIC:
        p = joint.axis * displacement
    return placement(R, p)


def placement(R: Array, p: Array) -> Floats:
    """Return T = [[R, p], [0, 1]] in float64."""
    return np.asarray(transform(R, p), np.float64)


def screws(joint: Joint) -> Floats:
    """Return S (6, nv): the twist of the body per unit of each velocity, in body axes about the body origin."""
    zero, unit = np.zeros((3, 3)), np.eye(3)
    basis = rotation_z_to(joint.axis)
    in_joint = {
        JointKind.FIXED: np.zeros((6, 0)),
        JointKind.BALL: np.vstack([unit, zero]),
        JointKind.FLOATING: np.vstack([np.hstack([zero, unit]), np.hstack([unit, zero])]),
        JointKind.PLANAR: np.vstack([np.column_stack([zero[0], zero[0], basis[:, 2]]), _in_plane(basis)]),
        JointKind.PRISMATIC: np.concatenate([zero[0], joint.axis])[:, None],
    }.get(joint.kind, np.concatenate([joint.axis, zero[0]])[:, None])
    return _written_alike(joint, np.asarray(motion_transform(inverse(joint.T_joint_body)) @ in_joint, np.float64))


def _written_alike(joint: Joint, S: Floats) -> Floats:
    """Return the screws of a ball for unit rates about body axes: which axes it counts about is a choice of frame."""
    return np.asarray(S @ S[:3].T, np.float64) if joint.kind is JointKind.BALL else S


def _in_plane(basis: Array) -> Floats:
    return np.asarray(np.column_stack([basis[:, 0], basis[:, 1], np.zeros(3)]), np.float64)


def moved(inertia: Inertia, G: Floats) -> Inertia:
    """Return an inertia given in the found frame in the frame of the expected body."""
    return in_frame(inertia, G)


def node_of(ours: Side, theirs: Side, i: int, j: int, parent: int, G_parent: Floats, G: Floats, over: int = 0) -> Node:
    """Return both descriptions of one body for a choice of G; `over` is the other tree's index of the parent."""
    P_b, _other = inverse(theirs.home[over]) @ theirs.home[j], theirs.tree.joints[j]
    return Node(
        i,
        j,
        parent,
        np.asarray(inverse(ours.home[parent]) @ ours.home[i], np.float64),
        np.asarray(G_parent @ P_b @ inverse(G), np.float64),
        ours.zeros.get(i, 0.0),
        screws(ours.tree.joints[i]),
        _written_alike(
            theirs.tree.joints[j], np.asarray(motion_transform(G) @ screws(theirs.tree.joints[j]), np.float64)
        ),
        ours.inertia(i),
        moved(theirs.inertia(j), G),
        G,
    )


def found_placements(ours: Side, theirs: Side, nodes: Sequence[Node]) -> Floats:
    """Return T_holder_body (nb, 4, 4) of our bodies as the other tree has them; as ours where it does not have them."""
    Ts, matched = ours.Ts_holder_body.copy(), {node.a: node for node in nodes}
    for i, body in enumerate(ours.tree.bodies):
        holder = matched.get(ours.holder[i])
        if holder is None or ours.holder[i] == i:
            continue
        node = matched.get(i)
        if node is not None and theirs.holder[node.b] == holder.b:
            Ts[i] = holder.G @ theirs.Ts_holder_body[node.b] @ inverse(node.G)
        else:
            Ts[i] = Ts[body.parent] @ home_placement(body.joint)
    return Ts


def children(tree: Tree, i: int, matching: Matching) -> list[int]:
    """Return the matched bodies right below body i, through unmatched fixed bodies too."""
    below: list[int] = []
    group = {i}
    for k in range(i + 1, len(tree.bodies)):
        if tree.parents[k] in group:
            if k in matching.bodies:
                below.append(k)
            elif not tree.joints[k].nv:
                group.add(k)
    return below


def same_pose(P: Floats, Q: Floats, tolerance: float, reach: float) -> bool:
    """Return whether two placements are equal: rotation to `tolerance`, origin to `tolerance` times the reach."""
    turned = float(np.abs(P[:3, :3] - Q[:3, :3]).max())
    return turned <= tolerance and float(np.abs(P[:3, 3] - Q[:3, 3]).max()) <= tolerance * reach


def same_screws(S: Floats, Z: Floats, tolerance: float, reach: float) -> bool:
    """Return whether two joints allow the same motion per unit of velocity."""
    if S.shape != Z.shape:
        return False
    if S.size == 0:
        return True
    turned = float(np.abs(S[:3] - Z[:3]).max())
    return turned <= tolerance and float(np.abs(S[3:] - Z[3:]).max()) <= tolerance * max(reach, 1.0)
