"""A robot that is a chain of rods in a plane, by the planar recursion, which knows no six-vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..spatial import inverse
from ..tree import JointKind
from .plane import TURNS
from .record import Column, Section, Table, columns

if TYPE_CHECKING:
    from ...adapters.textbook.planar import PlanarChain
    from ..tree import Floats, Tree
    from .asked import Asked
    from .plane import Plane

COUNT: Final = 64  # random states
FLAT: Final = 1e-9  # of the length of a link: a centre of mass beside the link is not on it
SAME: Final = (
    "In a plane a vector has two components and a moment one, and the same two passes need no rotation matrix and no "
    "six-vector: A_C = A + alpha c e' - omega^2 c e outward, f = f_next + m A_C and mu = mu_next + I alpha + c e x m "
    "A_C + L e x f_next inward. Here they take lengths, masses, centres and moments about the normal, and no more."
)


@dataclass(frozen=True, eq=False)
class Flat:
    """A planar chain, and how its angles come from those of the tree.

    Attributes:
        chain: the links.
        signs: (n,) 1 where a joint turns about the normal, -1 where about its opposite.
        offsets: (n,) [rad] relative angle of every link at q = 0.
    """

    chain: PlanarChain
    signs: Floats
    offsets: Floats

    def efforts(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Return tau (N, n) [N m] of the tree by the planar recursion."""
        from ...adapters.textbook.planar import inverse_dynamics  # noqa: PLC0415  loaded when a topic is asked

        turned = (self.offsets + self.signs * q, self.signs * v, self.signs * a)
        return self.signs * np.asarray(inverse_dynamics(self.chain, *turned), np.float64)


def flat_chain(tree: Tree, plane: Plane, q: Floats) -> Flat | str:
    """Return a robot that moves in a plane as a planar chain, or why it is none.

    Args:
        tree: of the robot; what is fixed to a link is part of it.
        plane: that it moves in.
        q: (nq,) a state, at which the links are measured.
    """
    from ...adapters.reference import Reference  # noqa: PLC0415  loaded when a topic is asked
    from ...adapters.textbook.planar import PlanarChain  # noqa: PLC0415

    whole = tree.fusion.tree
    if any(joint.kind not in TURNS for joint in whole.joints[1:]):
        slides = next(joint.name for joint in whole.joints[1:] if joint.kind is JointKind.PRISMATIC)
        return f"joint {slides!r} slides, and the links of a planar chain turn"
    if [body.parent for body in whole.bodies[1:]] != [*range(len(whole.bodies) - 1)]:
        return "it branches, and a planar chain is one row of links"
    rest = np.zeros((1, whole.nv))
    motion = Reference(whole).motion(q[None], rest, rest)
    R, p = (np.asarray(x[0, 1:], np.float64) for x in (motion.R_world_body, motion.p_world_body))
    c = plane.flat(np.asarray(motion.c_world[0, 1:], np.float64))
    inertias = [body.inertia for body in whole.bodies[1:]]
    masses = np.array([inertia.mass for inertia in inertias])
    to_joint = [inverse(np.asarray(joint.T_joint_body, np.float64)) for joint in whole.joints[1:]]
    axes = np.stack(
        [r @ T[:3, :3] @ np.asarray(joint.axis) for r, T, joint in zip(R, to_joint, whole.joints[1:], strict=True)]
    )
    joints = plane.flat(np.stack([o + r @ T[:3, 3] for o, r, T in zip(p, R, to_joint, strict=True)]))
    reach = [*(joints[1:] - joints[:-1]), c[-1] - joints[-1]]
    along: list[Floats] = []
    for k, x in enumerate(reach):
        arm = c[k] - joints[k] if masses[k] else 0 * x
        e = x if np.linalg.norm(x) > FLAT else arm
        length = float(np.linalg.norm(e))
        e = e / length if length > FLAT else np.array([1.0, 0.0])
        if abs(arm[0] * e[1] - arm[1] * e[0]) > FLAT * max(length, 1.0):
            return f"the centre of mass of {whole.bodies[k + 1].name!r} is beside the line from joint to joint"
        along.append(e)
    moments = [plane.normal @ r @ np.asarray(i.I_com) @ r.T @ plane.normal for r, i in zip(R, inertias, strict=True)]
    chain = PlanarChain(
        np.array([x @ e for x, e in zip(reach, along, strict=True)]),
        masses,
        np.array([(c[k] - joints[k]) @ e if masses[k] else 0.0 for k, e in enumerate(along)]),
        np.array(moments),
        gravity=plane.flat(np.asarray(tree.gravity, np.float64)),
    )
    signs = np.sign(axes @ plane.normal)
    angles = np.arctan2([e[1] for e in along], [e[0] for e in along])
    return Flat(chain, signs, np.diff(angles, prepend=0.0) - signs * q)


def beside(asked: Asked, plane: Plane, q: Floats) -> tuple[Section, float | None]:
    """Return the planar recursion beside the spatial one, and the largest difference over all states [N m]."""
    tree, states, reference = asked.tree, asked.states(COUNT), asked.reference()
    found = flat_chain(tree, plane, q)
    if isinstance(found, str):
        return Section("Planar recursion", (f"It cannot be shown on this model: {found}.",)), None
    spatial = reference.inverse_dynamics(states.q, states.v, states.a, armature=False)
    flat = found.efforts(states.q, states.v, states.a)
    off = np.abs(flat - np.asarray(spatial, np.float64))
    efforts = Table(
        "Joint efforts at that state [N m]",
        (*columns("dof", "planar", "spatial", digits=10), Column("off", 2), Column(f"off, {COUNT} states", 2)),
        tuple(
            (dof, float(flat[0, k]), float(spatial[0, k]), float(off[0, k]), float(off[:, k].max()))
            for k, dof in enumerate(tree.dofs)
        ),
        f"{COUNT} random states; the efforts go up to {np.abs(spatial).max():.3g} N m.",
    )
    chain = found.chain
    links = Table(
        "The planar chain",
        columns("link", "L [m]", "m [kg]", "c [m]", "I [kg m^2]", "turn"),
        tuple(
            (
                tree.fusion.tree.bodies[k + 1].name,
                *(float(x[k]) for x in (chain.lengths, chain.masses, chain.centres, chain.moments)),
                "+" if found.signs[k] > 0 else "-",
            )
            for k in range(chain.n)
        ),
        "What is fixed to a link is part of it. L of the last link ends at its centre of mass, where nothing hangs.",
    )
    return Section("Planar recursion", (SAME,), (links, efforts)), float(off.max())
