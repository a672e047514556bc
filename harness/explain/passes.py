"""Both passes of the recursion at one state, from the equations of Newton and Euler for every body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..spatial import inverse

if TYPE_CHECKING:
    from ..spatial import Array
    from ..tree import Floats, Tree


@dataclass(frozen=True, eq=False)
class Passes:
    """Both passes at one state, every vector in world axes, a row per body of the tree, the world's included.

    Attributes:
        p: (nb, 3) [m] body origins.
        joints: (nb, 3) [m] where the joint that carries each body is.
        c: (nb, 3) [m] centres of mass.
        omega: (nb, 3) [rad/s].
        v: (nb, 3) [m/s] of the origins.
        v_com: (nb, 3) [m/s] of the centres of mass.
        alpha: (nb, 3) [rad/s^2].
        a_com: (nb, 3) [m/s^2] ordinary acceleration of the centres of mass.
        own: (nb, 3) [N] m (a_C - g), the force that moves each body by itself.
        force: (nb, 3) [N] that the joint hands to its child body.
        moment: (nb, 3) [N m] the same about the origin of the child body.
        tau: (nv,) [N m | N] joint efforts, reflected inertia left out.
    """

    p: Floats
    joints: Floats
    c: Floats
    omega: Floats
    v: Floats
    v_com: Floats
    alpha: Floats
    a_com: Floats
    own: Floats
    force: Floats
    moment: Floats
    tau: Floats


def passes(tree: Tree, q: Floats, v: Floats, a: Floats) -> Passes:
    """Return both passes at one state.

    Args:
        tree: of the robot.
        q: (nq,).
        v: (nv,).
        a: (nv,).
    """
    from ...adapters.reference import Reference  # noqa: PLC0415  loaded when a topic is asked

    reference = Reference(tree)
    found = reference.motion(q[None], v[None], a[None])
    R, p, c = (np.asarray(x[0], np.float64) for x in (found.R_world_body, found.p_world_body, found.c_world))
    omega, v_origin = (np.asarray(x[0], np.float64) for x in (found.omega, found.v_origin))
    alpha, a_spatial = (np.asarray(x[0], np.float64) for x in (found.alpha, found.a_origin))
    r = c - p
    to_joint = np.stack([inverse(np.asarray(joint.T_joint_body, np.float64))[:3, 3] for joint in tree.joints])
    # The linear part of a spatial acceleration is not that of the point: omega x v is missing in it.
    a_com = a_spatial + np.cross(omega, v_origin) + np.cross(alpha, r) + np.cross(omega, np.cross(omega, r))
    masses = np.array([body.inertia.mass for body in tree.bodies])
    own = masses[:, None] * (a_com - tree.gravity)
    I = R @ np.stack([body.inertia.I_com for body in tree.bodies]) @ R.swapaxes(-1, -2)
    turning = _times(I, alpha) + np.cross(omega, _times(I, omega))
    force, moment = own.copy(), turning + np.cross(r, own)
    for b in range(len(tree.bodies) - 1, 0, -1):
        parent = tree.bodies[b].parent
        force[parent] += force[b]
        moment[parent] += moment[b] + np.cross(p[b] - p[parent], force[b])
    return Passes(
        *(
            p,
            p + _times(R, to_joint),
            c,
            omega,
            v_origin,
            v_origin + np.cross(omega, r),
            alpha,
            a_com,
            own,
            force,
            moment,
        ),
        _efforts(tree, reference.velocities(np.tile(q, (tree.nv, 1)), np.eye(tree.nv)), R, force, moment),
    )


def _efforts(tree: Tree, twists: Array, R: Floats, force: Floats, moment: Floats) -> Floats:
    """Return the power of the wrench through each joint at unit rate of each of its dofs, (nv,).

    Args:
        tree: of the robot.
        twists: (nv, nb - 1, 6) of the bodies at unit rates, body axes.
        R: (nb, 3, 3) R_world_body.
        force: (nb, 3) [N] through the joints, world axes.
        moment: (nb, 3) [N m] about the origins of the child bodies.
    """
    tau = np.zeros(tree.nv)
    for b, of in enumerate(tree.v_slices):
        for k in range(of.start, of.stop):
            twist = np.asarray(twists[k, b - 1], np.float64)
            tau[k] = moment[b] @ (R[b] @ twist[:3]) + force[b] @ (R[b] @ twist[3:])
    return tau


def _times(I: Array, x: Array) -> Floats:
    return np.asarray((I @ x[..., None])[..., 0], np.float64)
