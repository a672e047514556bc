"""Recursive Newton-Euler, body by body: motion outward from the base, wrenches inward from the tips.

Written in world axes with the equations of Newton and Euler for every body, and no six-vector: the recursion of the
reference works in joint axes with spatial vectors, and both must give the same joint efforts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..spatial import inverse
from .planar import COUNT, beside
from .plane import drawings, plane_of
from .record import Column, Explanation, Section, Table, columns

if TYPE_CHECKING:
    from ..spatial import Array
    from ..tree import Floats, Tree
    from .asked import Asked

QUESTION: Final = "How does the recursion find the joint efforts, body by body?"
OUTWARD: Final = (
    "From the base outward: omega and v of a body are those of its parent, moved to its origin, plus the motion of its "
    "joint; so are alpha and the acceleration, with the terms omega x (omega x r) that a turning frame adds. All "
    "vectors in world axes; v of the body's origin, a_C the ordinary acceleration of its centre of mass, without "
    "gravity."
)
INWARD: Final = (
    "From the tips inward: each body needs the force m (a_C - g) and, about its centre of mass, the moment I alpha + "
    "omega x I omega. What its joint hands to it is that plus what it hands on to its children. The effort of the "
    "joint is the part of this wrench along its motion, the rest is carried by the bearing."
)
PLANE: Final = "Everything moves in one plane; there the vectors are drawn."
SPACE: Final = "The bodies do not move in one plane, so there are tables and no drawing."
AXES: Final = ("x", "y", "z")


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


def explain(asked: Asked) -> Explanation:
    """Explain the recursion."""
    tree, states, reference = asked.tree, asked.states(1), asked.reference()
    q, v, a = states.q[0], states.v[0], states.a[0]
    done = passes(tree, q, v, a)
    whole = np.asarray(reference.inverse_dynamics(q[None], v[None], a[None])[0], np.float64)
    rigid = np.asarray(reference.inverse_dynamics(q[None], v[None], a[None], armature=False)[0], np.float64)
    worst = float(np.abs(done.tau - rigid).max())
    bodies = range(1, len(tree.bodies))
    outward = Table(
        "Outward: motion of every body, world axes",
        columns(
            *("body", "parent"),
            *(f"{name}.{axis}" for name in ("omega", "v", "alpha", "a_C") for axis in AXES),
            digits=4,
        ),
        tuple(
            (
                tree.bodies[b].name,
                tree.bodies[tree.bodies[b].parent].name,
                *(_round(x) for rows in (done.omega, done.v, done.alpha, done.a_com) for x in rows[b]),
            )
            for b in bodies
        ),
        "omega [rad/s], v [m/s], alpha [rad/s^2], a_C [m/s^2]",
    )
    inward = Table(
        "Inward: what the joint hands to every body, world axes, about the body's origin",
        columns("body", *(f"own.{x}" for x in AXES), *(f"F.{x}" for x in AXES), *(f"n.{x}" for x in AXES), digits=4),
        tuple(
            (tree.bodies[b].name, *(_round(x) for rows in (done.own, done.force, done.moment) for x in rows[b]))
            for b in reversed(bodies)
        ),
        "own: m (a_C - g) of the body alone [N]; F [N] and n [N m] through its joint, everything behind it included",
    )
    efforts = Table(
        "Joint efforts [N m | N]",
        (*columns("dof", "by the passes", "reference", digits=6), Column("off", 2), Column("reflected", 4)),
        tuple(
            (dof, float(done.tau[k]), float(rigid[k]), float(abs(done.tau[k] - rigid[k])), float(whole[k] - rigid[k]))
            for k, dof in enumerate(tree.dofs)
        ),
        "reflected: what armature and rotors need beside, which no body feels",
    )
    plane = plane_of(tree, reference.motion(q[None], v[None], a[None]))
    sections = [
        Section("Outward pass", (OUTWARD,), (outward,)),
        Section("Inward pass", (INWARD,), (inward, efforts)),
    ]
    apart, flat = "", None
    if plane is None:
        sections.append(Section("Drawing", (SPACE,)))
    else:
        planar, flat = beside(asked, plane, q)
        sections += [Section("Drawing", (PLANE,), pictures=drawings(tree, plane, done)), planar]
        apart = "" if flat is None else f" and the planar recursion by {flat:.1e} over {COUNT} states"
    heaviest = int(np.abs(done.tau).argmax())
    return Explanation(
        "recursion",
        QUESTION,
        asked.model,
        f"Two passes over the bodies give the efforts of all dofs, {tree.nv} in number, off the reference's own "
        f"recursion by {worst:.1e}{apart}; the largest is {done.tau[heaviest]:.4g} at {tree.dofs[heaviest]}.",
        tuple(sections),
        values={
            "q": q.tolist(),
            "v": v.tolist(),
            "a": a.tolist(),
            "bodies": [body.name for body in tree.bodies],
            "passes": {name: getattr(done, name).tolist() for name in Passes.__dataclass_fields__},
            "reference": rigid.tolist(),
            "planar off": flat,
        },
    )


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


def _round(x: float) -> float:
    """Return a number without what rounding leaves of zero."""
    return 0.0 if abs(x) < 1e-12 else float(x)
