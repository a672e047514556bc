"""The multibodies of a client as a tree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..harness.spatial import inverse
from ..harness.tree import Body, Inertia, Joint, JointKind, Tree, world

if TYPE_CHECKING:
    from ..harness.errors import Source
    from ..harness.tree import Floats
    from .pybullet_model import Link, Model, Multibody

ROOT = "root_joint"


def tree_of(model: Model, gravity: Floats, turned_by: Source | None = None) -> Tree:
    """Return the links as they are held: inertias and axes turned into link axes, placements at zero.

    Args:
        model: read.
        gravity: (3,) [m/s^2] in world axes.
        turned_by: the element of the file that gives gravity its direction.
    """
    named_so = any(link.name == "world" for multibody in model.bodies for link in multibody.links)
    ground = replace(world(), name="universe") if named_so else world()
    bodies, links, joints = [ground], {ground.name}, set[str]()
    for number, multibody in enumerate(model.bodies):
        first = len(bodies)
        for k, link in enumerate(multibody.links):
            if not k:
                name = ROOT if len(model.bodies) == 1 else f"{ROOT} {number}"
                joint = _root(multibody, _distinct(name, joints))
            else:
                joint = _joint(link, _distinct(link.joint, joints))
            parent = first + link.parent + 1 if k else 0
            inertia = Inertia(link.mass, link.T_link_inertial[:3, 3], link.I_com)
            bodies.append(Body(_distinct(link.name, links), parent, joint, inertia))
    sources = {"gravity": turned_by} if turned_by else {}
    return Tree("pybullet", tuple(bodies), gravity=gravity, sources=sources)


def _root(multibody: Multibody, name: str) -> Joint:
    """Return how a base stands; a floating one starts from the world, wherever it was put."""
    if multibody.floating:
        return Joint(name, JointKind.FLOATING)
    T = multibody.T_world_inertial @ inverse(multibody.links[0].T_link_inertial)
    return Joint(name, JointKind.FIXED, T_parent_joint=np.asarray(T, np.float64))


def _joint(link: Link, name: str) -> Joint:
    length = float(np.linalg.norm(link.axis))
    limited = link.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC) and link.lower <= link.upper
    kind = JointKind.CONTINUOUS if link.kind is JointKind.REVOLUTE and not limited else link.kind
    return Joint(
        name,
        kind,
        axis=link.axis / length if length else np.array([0.0, 0.0, 1.0]),
        T_parent_joint=link.T_parent_link,
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
