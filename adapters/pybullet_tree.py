"""The multibodies of a client as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..harness.spatial import inverse
from ..harness.tree import Body, Inertia, Joint, JointKind, Tree, world

if TYPE_CHECKING:
    from ..harness.errors import Source
    from ..harness.tree import Floats
    from .pybullet_model import Link, Model

ROOT = "root_joint"


def tree_of(model: Model, gravity: Floats, turned_by: Source | None = None) -> Tree:
    """Return the links as they are held: inertias and axes turned into link axes, placements at zero.

    Args:
        model: read.
        gravity: (3,) [m/s^2] in world axes.
        turned_by: the element of the file that gives gravity its direction.
    """
    bodies, links, joints = [world()], {"world"}, set[str]()
    for number, multibody in enumerate(model.bodies):
        states = multibody.states(multibody.neutral[None], np.zeros((1, multibody.n)), multibody.at_home)
        Ts = states.T_world_inertial[0] @ inverse(np.stack([link.T_link_inertial for link in multibody.links]))
        first = len(bodies)
        for k, link in enumerate(multibody.links):
            if not k:
                kind = JointKind.FLOATING if multibody.floating else JointKind.FIXED
                name = ROOT if len(model.bodies) == 1 else f"{ROOT} {number}"
                joint = Joint(_distinct(name, joints), kind, T_parent_joint=_home(Ts[0], kind))
            else:
                T = inverse(Ts[link.parent + 1]) @ Ts[k]
                joint = _joint(link, _distinct(link.joint, joints), np.asarray(T, np.float64))
            parent = first + link.parent + 1 if k else 0
            inertia = Inertia(link.mass, link.T_link_inertial[:3, 3], link.I_com)
            bodies.append(Body(_distinct(link.name, links), parent, joint, inertia))
    sources = {"gravity": turned_by} if turned_by else {}
    return Tree("pybullet", tuple(bodies), gravity=gravity, sources=sources)


def _home(T: Floats, kind: JointKind) -> Floats:
    """Return where a base stands; a floating one starts from the world, wherever it was put."""
    return np.eye(4) if kind is JointKind.FLOATING else np.asarray(T, np.float64)


def _joint(link: Link, name: str, T: Floats) -> Joint:
    length = float(np.linalg.norm(link.axis))
    limited = link.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC) and link.lower <= link.upper
    kind = JointKind.CONTINUOUS if link.kind is JointKind.REVOLUTE and not limited else link.kind
    return Joint(
        name,
        kind,
        axis=link.axis / length if length else np.array([0.0, 0.0, 1.0]),
        T_parent_joint=T,
        lower=link.lower if limited else -np.inf,
        upper=link.upper if limited else np.inf,
        effort=link.effort or np.inf,
        speed=link.speed or np.inf,
        damping=link.damping,
        friction=link.friction,
    )


def _distinct(name: str, taken: set[str]) -> str:
    """Return the name, with a number behind it where there is one such already."""
    found, count = name, 1
    while found in taken:
        count += 1
        found = f"{name} {count}"
    taken.add(found)
    return found
