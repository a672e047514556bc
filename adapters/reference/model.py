"""The tree, made ready for recursion: moving segments, each in a frame in which its joint moves about or along z.

A segment is a body whose joint has a dof, with everything that is fixed to it. Its frame is the moving side of the
joint, turned by C such that the axis is z: every one-dof joint then costs a plane rotation or a shift, and all that
does not depend on q is one constant 6 x 6 matrix. State arrays inside are (components, N): one component of all states
is contiguous.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...harness.spatial import Array, inverse, motion_transform, rotation_z_to, spatial_inertia, transform
from ...harness.tree import JointKind, Tree

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

TURNING = (JointKind.REVOLUTE, JointKind.CONTINUOUS)
WITHOUT_AXIS = (JointKind.BALL, JointKind.FLOATING)


@dataclass(frozen=True, eq=False)
class Segment:
    """One moving segment.

    Attributes:
        body: index in the tree of the body that carries its name.
        parent: index of the parent segment, 0 for the world.
        kind: of its joint.
        q, v: slices of the coordinates.
        ref: coordinate at which the joint is undisplaced.
        K: (4, 4) frame of the undisplaced joint in the parent segment.
        X: (6, 6) motion transform from the parent segment to that frame.
        I: (6, 6) composite spatial inertia in the segment frame.
        S: (6, nv) motion subspace in the segment frame, constant for every joint kind.
    """

    body: int
    parent: int
    kind: JointKind
    q: slice
    v: slice
    ref: float
    K: Array
    X: Array
    I: Array
    S: Array


@dataclass(frozen=True, eq=False)
class Model:
    """All segments; segment 0 is the world and holds no inertia that moves.

    Attributes:
        tree: as it was given.
        segments: parents before children; `segments[0]` stands for the world.
        holder: (nb,) segment of every tree body.
        Ts_segment_body: (nb, 4, 4) constant placement of every body in its segment.
        reflected: (nv,) armature plus rotor.
        tendons: (nv, nv) constant inertia of the fixed tendons, or None without any.
        dtype: of every number.
    """

    tree: Tree
    segments: tuple[Segment, ...]
    holder: tuple[int, ...]
    Ts_segment_body: Array
    reflected: Array
    tendons: Array | None
    dtype: Any


def compile_tree(tree: Tree, dtype: DTypeLike = np.float64) -> Model:
    """Return the segments of `tree`, every constant computed in `dtype`."""
    count = len(tree.bodies)
    holder = [0] * count
    Ts = np.zeros((count, 4, 4), dtype)
    Ts[0] = np.eye(4)
    parts: list[Array] = [np.zeros((6, 6), dtype)]
    frames: list[tuple[int, int, Array]] = [(0, 0, np.eye(4, dtype=dtype))]
    for i, body in enumerate(tree.bodies[1:], 1):
        joint = body.joint
        placed = Ts[body.parent] @ joint.T_parent_joint.astype(dtype)
        if joint.nv == 0:
            holder[i], Ts[i] = holder[body.parent], placed @ joint.T_joint_body.astype(dtype)
        else:
            C = _alignment(joint.kind, tuple(joint.axis.tolist()), np.dtype(dtype))
            frames.append((i, holder[body.parent], placed @ C))
            parts.append(np.zeros((6, 6), dtype))
            holder[i], Ts[i] = len(frames) - 1, C.T @ joint.T_joint_body.astype(dtype)
    for part, I in zip(holder[1:], _in_segments(tree, Ts)[1:], strict=True):
        parts[part] += I
    Xs = motion_transform(inverse(np.stack([K for _, _, K in frames])))
    segments = [
        Segment(
            body,
            parent,
            tree.joints[body].kind,
            tree.q_slices[body],
            tree.v_slices[body],
            tree.joints[body].ref,
            K,
            Xs[k],
            parts[k],
            _subspace(tree.joints[body].kind, dtype),
        )
        for k, (body, parent, K) in enumerate(frames)
    ]
    reflected = np.concatenate([joint.reflected for joint in tree.joints]).astype(dtype)
    return Model(tree, tuple(segments), tuple(holder), Ts, reflected, _tendon_inertia(tree, dtype), np.dtype(dtype))


def _in_segments(tree: Tree, Ts: Array) -> Array:
    """Return the spatial inertia (nb, 6, 6) of every body in its segment, where it stands at Ts (nb, 4, 4)."""
    inertias = [body.inertia for body in tree.bodies]
    mass = np.array([I.mass for I in inertias], Ts.dtype)
    com, I_com = (np.stack([getattr(I, name) for I in inertias]).astype(Ts.dtype) for name in ("com", "I_com"))
    X = motion_transform(inverse(Ts))
    return X.swapaxes(-1, -2) @ spatial_inertia(mass, com, I_com) @ X


@lru_cache(maxsize=4096)
def _alignment(kind: JointKind, axis: tuple[float, ...], dtype: np.dtype[Any]) -> Array:
    """Return (4, 4) the turn that brings z onto the axis; none for joints without an axis.

    Robots share axes, and one robot is compiled many times with one parameter changed.
    """
    R = np.eye(3, dtype=dtype) if kind in WITHOUT_AXIS else rotation_z_to(np.array(axis, dtype))
    C = transform(R, np.zeros(3, dtype))
    C.flags.writeable = False
    return C


def _subspace(kind: JointKind, dtype: DTypeLike) -> Array:
    """Return S (6, nv): which twist each velocity coordinate gives, angular first."""
    columns = {
        JointKind.FIXED: (),
        JointKind.REVOLUTE: (2,),
        JointKind.CONTINUOUS: (2,),
        JointKind.PRISMATIC: (5,),
        JointKind.BALL: (0, 1, 2),
        JointKind.PLANAR: (3, 4, 2),  # vx, vy, omega
        JointKind.FLOATING: (3, 4, 5, 0, 1, 2),  # linear first
    }[kind]
    return np.eye(6, dtype=dtype)[:, list(columns)]


def _tendon_inertia(tree: Tree, dtype: DTypeLike) -> Array | None:
    """Return the sum of armature times c c^T over the fixed tendons, (nv, nv), None without any.

    A tree that says what an engine holds may have negative ones: what is left when the engine leaves a coupling out.
    """
    if not tree.tendons:
        return None
    K = np.zeros((tree.nv, tree.nv), dtype)
    for tendon in tree.tendons:
        c = np.zeros(tree.nv, dtype)
        for name, coefficient in tendon.coefficients.items():
            c[tree.v_slices[tree.joint_index[name]]] = coefficient
        K += np.asarray(tendon.armature, dtype) * np.outer(c, c)
    return K
