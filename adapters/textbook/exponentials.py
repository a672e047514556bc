"""Inverse dynamics of a serial chain by products of exponentials, in centre-of-mass frames, with a wrench at the tip.

Frame i stands at the centre of mass of link i, in the axes of its body; frame n + 1 is the tip. With the home placement
M_{i-1,i} of frame i in frame i - 1, the screw A_i of joint i in frame i and G_i = diag(I_com, m 1):

outward from V_0 = 0, dV_0 = (0, -g):   T_{i,i-1} = e^{-[A_i] q_i} M_{i,i-1}
                                        V_i  = Ad V_{i-1} + A_i v_i
                                        dV_i = Ad dV_{i-1} + ad_{V_i} A_i v_i + A_i a_i
inward from F_{n+1}, of the tip on its surroundings, in the tip frame:
                                        F_i = Ad_{T_{i+1,i}}^T F_{i+1} + G_i dV_i - ad_{V_i}^T G_i V_i
                                        tau_i = F_i^T A_i

Nothing is shared with the recursion of the reference but the tree.

Source: Lynch and Park 2017, Modern Robotics, chapters 4.1 and 8.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...harness.errors import TreeError
from ...harness.joint import JointKind
from ...harness.spatial import inverse, motion_cross, motion_transform, transform
from .inputs import agree
from .lie import screw_motion

if TYPE_CHECKING:
    from ...harness.spatial import Array
    from ...harness.tree import Tree


@dataclass(frozen=True, eq=False)
class Screws:
    """A serial chain of n links by home placements, screws and inertias.

    Attributes:
        M: (n + 1, 4, 4) placement at q = 0 of frame i in frame i - 1, the tip's last.
        A: (n, 6) screw of joint i in frame i: unit rotation, or unit translation.
        G: (n, 6, 6) spatial inertia of link i in frame i, block diagonal.
        gravity: (3,) [m/s^2] in world axes.
        reflected: (n,) [kg m^2 | kg] armature and rotors of the joints.
    """

    M: Array
    A: Array
    G: Array
    gravity: Array
    reflected: Array

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.A)

    @property
    def told(self) -> str:
        """What messages call it."""
        return f"a chain of {self.n} joints"

    def space_screws(self) -> Array:
        """Return the screws S_i = Ad_{M_1 ... M_i} A_i in world axes at q = 0, (n, 6)."""
        home = np.eye(4)
        screws: list[Array] = []
        for M, A in zip(self.M[:-1], self.A, strict=True):
            home = home @ M
            screws.append(motion_transform(home) @ A)
        return np.stack(screws)


def is_serial(tree: Tree) -> bool:
    """Return whether a tree is one row of joints with one dof each, fixed bodies aside, and has no tendons."""
    # As many bodies as dofs: every joint has one.
    return tree.nv > 0 and not tree.tendons and tree.fused().parents == tuple(range(-1, tree.nv))


def screws_of(tree: Tree, tip: str | None = None) -> Screws:
    """Return a serial tree of scalar joints as screws; what is fixed to a link is merged into it.

    Args:
        tree: bodies in one row.
        tip: name of the body whose frame is the tip; the last body by default.

    Raises:
        TreeError: a branch, a joint of several dofs, no joint at all, an unknown tip, or a tip that is not on the
            last link.
    """
    merged = tree.fused()
    if not is_serial(tree):
        what = "one row of revolute, continuous and prismatic joints, without tendons"
        raise TreeError(f"tree {tree.name!r} is no serial chain: products of exponentials take {what}")
    T_link_tip = _tip(tree, tree.bodies[-1].name if tip is None else tip)
    Ms: list[Array] = []
    As: list[Array] = []
    Gs: list[Array] = []
    T_previous_frame = np.eye(4)
    for body in merged.bodies[1:]:
        joint, inertia = body.joint, body.inertia
        axis, zero = joint.axis, np.zeros(3)
        screw = np.concatenate([zero, axis] if joint.kind is JointKind.PRISMATIC else [axis, zero])
        T_joint_frame = joint.T_joint_body @ transform(np.eye(3), inertia.com)
        undisplaced = joint.T_parent_joint @ screw_motion(screw, np.asarray(-joint.ref))
        Ms.append(inverse(T_previous_frame) @ undisplaced @ T_joint_frame)
        As.append(motion_transform(inverse(T_joint_frame)) @ screw)
        G = np.zeros((6, 6))
        G[:3, :3], G[3:, 3:] = inertia.I_com, inertia.mass * np.eye(3)
        Gs.append(G)
        T_previous_frame = transform(np.eye(3), inertia.com)
    Ms.append(inverse(T_previous_frame) @ T_link_tip)
    reflected = np.concatenate([joint.reflected for joint in merged.joints])
    return Screws(np.stack(Ms), np.stack(As), np.stack(Gs), tree.gravity, reflected)


def poses(screws: Screws, q: Array) -> Array:
    """Return T_world_frame (N, n + 1, 4, 4) of every frame, the tip's last: e^{[S_1] q_1} ... e^{[S_i] q_i} M_{0,i}.

    Args:
        screws: the chain.
        q: (N, n) [rad | m].

    Raises:
        ShapeError: q has another number of joints.
    """
    agree(screws.told, q=(q, "N", screws.n))
    product, home = np.eye(4), np.eye(4)
    found: list[Array] = []
    for i, S in enumerate(screws.space_screws()):
        product, home = product @ screw_motion(S, q[:, i]), home @ screws.M[i]
        found.append(product @ home)
    found.append(product @ home @ screws.M[-1])
    return np.stack(found, axis=1)


def inverse_dynamics(screws: Screws, q: Array, v: Array, a: Array, tip_wrench: Array | None = None) -> Array:
    """Return the joint efforts tau (N, n) [N m | N].

    Args:
        screws: the chain.
        q: (N, n) [rad | m].
        v: (N, n).
        a: (N, n).
        tip_wrench: (N, 6) [N m, N] of the tip on its surroundings, moment first, about the tip in its axes.

    Raises:
        ShapeError: an array has another number of joints, or of states, or the wrench not six components.
    """
    n = screws.n
    agree(screws.told, q=(q, "N", n), v=(v, "N", n), a=(a, "N", n), tip_wrench=(tip_wrench, "N", 6))
    V, dV = np.zeros(6), np.concatenate([np.zeros(3), -screws.gravity])
    Ads: list[Array] = []
    own: list[Array] = []
    for i in range(screws.n):
        A, G = screws.A[i], screws.G[i]
        X = motion_transform(screw_motion(-A, q[:, i]) @ inverse(screws.M[i]))
        joint = v[:, i, None] * A
        V = _apply(X, V) + joint
        ad = motion_cross(V)
        dV = _apply(X, dV) + _apply(ad, joint) + a[:, i, None] * A
        Ads.append(X)
        own.append(dV @ G - _apply(ad.swapaxes(-1, -2), V @ G))
    F = np.zeros(6)
    if tip_wrench is not None:
        F = tip_wrench @ motion_transform(inverse(screws.M[-1]))
    tau: list[Array] = []
    for i in reversed(range(screws.n)):
        F = F + own[i]
        tau.append(F @ screws.A[i])
        F = _apply(Ads[i].swapaxes(-1, -2), F)
    return np.stack(tau[::-1], axis=-1) + screws.reflected * a


def _apply(A: Array, x: Array) -> Array:
    """Return A x, state by state: (N, 6, 6), (N, 6)."""
    return (A @ x[..., None])[..., 0]


def _tip(tree: Tree, name: str) -> Array:
    """Return the placement of the tip in the last link of the merged tree, (4, 4)."""
    if name not in tree.index:
        raise TreeError(f"tree {tree.name!r} has no body {name!r} to be its tip; there are: {', '.join(tree.index)}")
    i = tree.index[name]
    if tree.fusion.merged[i] != len(tree.fused().bodies) - 1:
        raise TreeError(f"body {name!r} of tree {tree.name!r} is not on its last link, and cannot be its tip")
    return tree.fusion.Ts_holder_body[i]
