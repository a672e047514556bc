"""A floating base: six equations that no actuator is in, the wrench that a motion would demand there, and a humanoid.

The rows of the base in M a + bias = tau + sum J^T f have tau = 0. What is left of them is the residual wrench, which a
motion that is prescribed against them would need at the base and nothing gives; it is the rate of change of the whole
momentum less gravity and the wrenches of the surroundings:

    d/dt sum h_i = sum (c_i x m_i g, m_i g) + sum f_i + f_residual        about the world origin, in world axes

Source: Featherstone 2008, Rigid Body Dynamics Algorithms, chapter 9; Wieber 2006, Holonomy and nonholonomy in the
dynamics of articulated motion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from ...harness.errors import RequestError
from ...harness.joint import JointKind
from ...harness.spatial import inverse, motion_transform, transform
from ...harness.tree import Body, Inertia, Joint, Tree, world
from ..reference import Reference
from .inputs import agree, moving

if TYPE_CHECKING:
    from ...harness.spatial import Array

BASE = (3, 4, 5, 0, 1, 2)  # v of a floating joint is linear first, wrenches are moment first


def root_of(tree: Tree) -> int:
    """Return the body that floats.

    Raises:
        RequestError: none does, or several.
    """
    if len(tree.floating_roots) != 1:
        raise RequestError(f"{tree.name!r} has {len(tree.floating_roots)} floating roots; needed: one")
    return tree.floating_roots[0]


def residual_wrench(tree: Tree, q: Array, v: Array, a: Array, wrenches: Array | None = None) -> Array:
    """Return the wrench (N, 6) that the motion demands at the base, moment first, in axes and about the origin of it.

    Args:
        tree: with one floating root.
        q: (N, nq).
        v: (N, nv).
        a: (N, nv).
        wrenches: (N, nb, 6) of the surroundings on the bodies.

    Raises:
        RequestError: not one floating root.
    """
    i = root_of(tree)
    efforts = Reference(tree).inverse_dynamics(q, v, a, wrenches)[:, tree.v_slices[i]][:, list(BASE)]
    # Efforts act on the moving side of the joint; the body may be placed otherwise there.
    X = motion_transform(tree.joints[i].T_joint_body)
    return efforts @ X


def in_world(tree: Tree, q: Array, wrench: Array) -> Array:
    """Return a wrench (N, 6) of the base about the world origin, in world axes."""
    agree(repr(tree.name), q=(q, "N", tree.nq), wrench=(wrench, "N", 6))
    T = Reference(tree).all_poses(q)[:, root_of(tree)]
    return (motion_transform(inverse(T)).swapaxes(-1, -2) @ wrench[..., None])[..., 0]


def momentum_rate(tree: Tree, q: Array, v: Array, a: Array) -> Array:
    """Return d/dt of the momentum of the floating mechanism (N, 6) about the world origin, body by body in world axes.

    Per body: force m c'', moment I_c alpha + omega x I_c omega + c x m c''.
    """
    motion, root = Reference(tree).motion(q, v, a), root_of(tree)
    total = np.zeros((len(q), 6))
    for i, body in enumerate(tree.bodies):
        if tree.roots[i] != root:
            continue
        R, omega, alpha = motion.R_world_body[:, i], motion.omega[:, i], motion.alpha[:, i]
        r = motion.c_world[:, i] - motion.p_world_body[:, i]
        speed = motion.v_origin[:, i] + np.cross(omega, r)
        F = body.inertia.mass * (motion.a_origin[:, i] + np.cross(alpha, r) + np.cross(omega, speed))
        I = R @ body.inertia.I_com @ R.swapaxes(-1, -2)
        turning = (I @ alpha[..., None])[..., 0] + np.cross(omega, (I @ omega[..., None])[..., 0])
        total += np.concatenate([turning + np.cross(motion.c_world[:, i], F), F], axis=1)
    return total


def gravity_wrench(tree: Tree, q: Array) -> Array:
    """Return the weight of the floating mechanism (N, 6) about the world origin, in world axes."""
    T, root = Reference(tree).all_poses(q), root_of(tree)
    total = np.zeros((len(q), 6))
    for i, body in enumerate(tree.bodies):
        if tree.roots[i] == root:
            c = T[:, i, :3, 3] + T[:, i, :3, :3] @ body.inertia.com
            force = np.broadcast_to(body.inertia.mass * tree.gravity, c.shape)
            total += np.concatenate([np.cross(c, force), force], axis=1)
    return total


def base_acceleration(tree: Tree, q: Array, v: Array, a: Array, wrenches: Array | None = None) -> Array:
    """Return a (N, nv) with the acceleration of the base that the six equations leave to it.

    Args:
        tree: with one floating root.
        q: (N, nq).
        v: (N, nv).
        a: (N, nv) prescribed; the entries of the base are replaced.
        wrenches: (N, nb, 6) of the surroundings on the bodies.

    Raises:
        RequestError: not one floating root.
    """
    base = tree.v_slices[root_of(tree)]
    agree(repr(tree.name), q=(q, "N", tree.nq), v=(v, "N", tree.nv), a=(a, "N", tree.nv))
    prescribed = np.array(a, np.float64)
    prescribed[:, base] = 0
    reference = Reference(tree)
    rest = reference.inverse_dynamics(q, v, prescribed, wrenches)[:, base]
    M = moving(repr(tree.name), reference.mass_matrix(q)[:, base, base])
    prescribed[:, base] = -np.linalg.solve(M, rest[..., None])[..., 0]
    return prescribed


def actuation(tree: Tree) -> Array:
    """Return B (nv, nu), one unit actuator per dof that is not of the floating base."""
    base = tree.v_slices[root_of(tree)]
    driven = [k for k in range(tree.nv) if not base.start <= k < base.stop]
    return np.eye(tree.nv)[:, driven]


# Parent, joint, axis, joint in the parent [m], mass [kg], half extents of the box [m], its centre in the link [m].
_Vector: TypeAlias = tuple[float, float, float]
_TRUNK: Final[dict[str, tuple[str, str, _Vector, float, _Vector, _Vector]]] = {
    "torso_yaw": ("pelvis", "z", (0, 0, 0.10), 1.0, (0.06, 0.06, 0.03), (0, 0, 0.03)),
    "torso_pitch": ("torso_yaw", "y", (0, 0, 0.06), 1.0, (0.06, 0.06, 0.03), (0, 0, 0.03)),
    "chest": ("torso_pitch", "x", (0, 0, 0.06), 16.0, (0.10, 0.16, 0.20), (0, 0, 0.20)),
    "head": ("chest", "z", (0, 0, 0.42), 4.0, (0.09, 0.08, 0.12), (0.01, 0, 0.12)),
}
_ARM = (
    ("upper_arm_pitch", "y", (0, 0.22, 0.36), 0.8, (0.04, 0.04, 0.04), (0, 0.02, 0)),
    ("upper_arm_roll", "x", (0, 0.04, 0), 0.8, (0.04, 0.04, 0.06), (0, 0.01, -0.05)),
    ("upper_arm", "z", (0, 0.01, -0.10), 1.4, (0.04, 0.04, 0.09), (0, 0, -0.09)),
    ("forearm", "y", (0, 0, -0.18), 1.5, (0.03, 0.03, 0.13), (0.01, 0, -0.13)),
)
_LEG = (
    ("hip_yaw", "z", (0, 0.10, -0.05), 1.0, (0.05, 0.05, 0.04), (0, 0, -0.02)),
    ("hip_roll", "x", (0, 0, -0.05), 1.0, (0.05, 0.05, 0.04), (0.01, 0, 0)),
    ("thigh", "y", (0, 0, 0), 7.0, (0.07, 0.07, 0.20), (0, 0.01, -0.20)),
    ("shin", "y", (0, 0, -0.42), 3.5, (0.05, 0.05, 0.20), (0, 0, -0.19)),
    ("ankle", "y", (0, 0, -0.42), 0.4, (0.03, 0.03, 0.02), (0, 0, 0)),
    ("foot", "x", (0, 0, 0), 1.0, (0.12, 0.05, 0.03), (0.04, 0, -0.05)),
)


def humanoid() -> Tree:
    """Return a teaching humanoid: 30 velocity dofs, six of them of the floating pelvis, 24 actuated hinges.

    Three hinges of the waist, one of the neck, four per arm, six per leg; bodies are uniform boxes, x ahead, z up.
    Contacts are no part of it: a foot that stands is a weld to the world, `assembly.welded`.
    """
    rows = dict(_TRUNK)
    for side, sign in (("left", 1), ("right", -1)):
        for limb, first in ((_ARM, "chest"), (_LEG, "pelvis")):
            parent = first
            for name, axis, at, mass, half, centre in limb:
                there, middle = (at[0], sign * at[1], at[2]), (centre[0], sign * centre[1], centre[2])
                rows[f"{side}_{name}"] = (parent, axis, there, mass, half, middle)
                parent = f"{side}_{name}"
    bodies = [
        world(),
        Body("pelvis", 0, Joint("base", JointKind.FLOATING), _box(9.0, (0.08, 0.13, 0.08), (0, 0, 0.02))),
    ]
    index = {"pelvis": 1}
    for name, (parent, axis, at, mass, half, centre) in rows.items():
        placed = np.asarray(transform(np.eye(3), np.array(at, float)), np.float64)
        turn = np.eye(3)["xyz".index(axis)]
        joint = Joint(f"{name}_joint", JointKind.REVOLUTE, axis=turn, T_parent_joint=placed, actuated=True)
        index[name] = len(bodies)
        bodies.append(Body(name, index[parent], joint, _box(mass, half, centre)))
    return Tree("humanoid", tuple(bodies))


def _box(mass: float, half: tuple[float, ...], centre: tuple[float, ...]) -> Inertia:
    x, y, z = (h * h for h in half)
    return Inertia(mass, np.array(centre, float), mass / 3 * np.diag([y + z, x + z, x + y]))
