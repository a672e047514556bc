"""Kinematics, mass matrix and gravity of a tree in a few lines, one state at a time, independent of the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tautology.harness.spatial import (
    inverse,
    motion_transform,
    rotation_about,
    rotation_from_quaternion,
    spatial_inertia,
    transform,
)

if TYPE_CHECKING:
    from tautology.harness.tree import Joint, Tree

Array = np.ndarray[Any, np.dtype[np.float64]]


def displacement(joint: Joint, q: Array) -> tuple[Array, Array]:
    """Return T_joint_moved (4, 4) and the motion subspace in the moved axes (6, nv); no planar joints."""
    zero, one, axis = np.zeros(3), np.eye(3), joint.axis
    match joint.kind:
        case "revolute" | "continuous":
            return transform(rotation_about(axis, q[0] - joint.ref), zero), np.concatenate([axis, zero])[:, None]
        case "prismatic":
            return transform(one, axis * (q[0] - joint.ref)), np.concatenate([zero, axis])[:, None]
        case "ball":
            return transform(rotation_from_quaternion(q), zero), np.eye(6)[:, :3]
        case "floating":
            return transform(rotation_from_quaternion(q[3:]), q[:3]), np.eye(6)[:, [3, 4, 5, 0, 1, 2]]
        case _:
            return np.eye(4), np.zeros((6, 0))


def poses_and_jacobians(tree: Tree, q: Array) -> tuple[list[Array], list[Array]]:
    """Return T_world_body and the body-frame Jacobian (6, nv), angular first, of every body."""
    poses, jacobians = [np.eye(4)], [np.zeros((6, tree.nv))]
    for i, body in enumerate(tree.bodies[1:], 1):
        T_joint_moved, S = displacement(body.joint, q[tree.q_slices[i]])
        T_parent_body = body.joint.T_parent_joint @ T_joint_moved @ body.joint.T_joint_body
        poses.append(poses[body.parent] @ T_parent_body)
        jacobian = motion_transform(inverse(T_parent_body)) @ jacobians[body.parent]
        jacobian[:, tree.v_slices[i]] += motion_transform(inverse(body.joint.T_joint_body)) @ S
        jacobians.append(jacobian)
    return poses, jacobians


def mass_matrix_and_gravity(tree: Tree, q: Array) -> tuple[Array, Array]:
    """Return M = sum of J^T I J with reflected inertia (nv, nv), and dU/dq (nv,)."""
    poses, jacobians = poses_and_jacobians(tree, q)
    M, g = np.diag(np.concatenate([joint.reflected for joint in tree.joints])), np.zeros(tree.nv)
    for body, T, J in zip(tree.bodies, poses, jacobians, strict=True):
        I = spatial_inertia(np.array(body.inertia.mass), body.inertia.com, body.inertia.I_com)
        M += J.T @ I @ J
        weight = body.inertia.mass * T[:3, :3].T @ tree.gravity
        g -= J.T @ np.concatenate([np.cross(body.inertia.com, weight), weight])
    for tendon in tree.tendons:
        c = np.zeros(tree.nv)
        for name, coefficient in tendon.coefficients.items():
            c[tree.v_slices[tree.joint_index[name]]] = coefficient
        M += tendon.armature * np.outer(c, c)
    return M, g
