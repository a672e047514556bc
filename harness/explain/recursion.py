"""Recursive Newton-Euler, body by body: motion outward from the base, wrenches inward from the tips.

Written in world axes with the equations of Newton and Euler for every body, and no six-vector: the recursion of the
reference works in joint axes with spatial vectors, and both must give the same joint efforts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from .passes import Passes, passes
from .planar import COUNT, beside
from .plane import drawings, plane_of
from .record import Column, Explanation, Section, Table, columns

if TYPE_CHECKING:
    from ..tree import Tree
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


def explain(asked: Asked) -> Explanation:
    """Explain the recursion."""
    tree, states, reference = asked.tree, asked.states(1), asked.reference()
    q, v, a = states.q[0], states.v[0], states.a[0]
    done = passes(tree, q, v, a)
    whole = np.asarray(reference.inverse_dynamics(q[None], v[None], a[None])[0], np.float64)
    rigid = np.asarray(reference.inverse_dynamics(q[None], v[None], a[None], armature=False)[0], np.float64)
    worst = float(np.abs(done.tau - rigid).max())
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
        Section("Outward pass", (OUTWARD,), (_outward(tree, done),)),
        Section("Inward pass", (INWARD,), (_inward(tree, done), efforts)),
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


def _outward(tree: Tree, done: Passes) -> Table:
    """Return the motion of every body, from the base on."""
    return Table(
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
            for b in range(1, len(tree.bodies))
        ),
        "omega [rad/s], v [m/s], alpha [rad/s^2], a_C [m/s^2]",
    )


def _inward(tree: Tree, done: Passes) -> Table:
    """Return the wrenches through the joints, from the tips on."""
    return Table(
        "Inward: what the joint hands to every body, world axes, about the body's origin",
        columns("body", *(f"own.{x}" for x in AXES), *(f"F.{x}" for x in AXES), *(f"n.{x}" for x in AXES), digits=4),
        tuple(
            (tree.bodies[b].name, *(_round(x) for rows in (done.own, done.force, done.moment) for x in rows[b]))
            for b in reversed(range(1, len(tree.bodies)))
        ),
        "own: m (a_C - g) of the body alone [N]; F [N] and n [N m] through its joint, everything behind it included",
    )


def _round(x: float) -> float:
    """Return a number without what rounding leaves of zero."""
    return 0.0 if abs(x) < 1e-12 else float(x)
