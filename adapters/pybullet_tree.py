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
    from .pybullet_model import Model
    from .pybullet_multibody import Link, Multibody

ROOT = "root_joint"
WELD = "jointfix_"  # what the MJCF importer calls a weld of its own


def tree_of(model: Model, gravity: Floats, turned_by: Source | None = None) -> Tree:
    """Return the links as they are held: inertias and axes turned into link axes, placements at zero.

    Args:
        model: read.
        gravity: (3,) [m/s^2] in world axes.
        turned_by: the element of the file that gives gravity its direction.
    """
    read = [link for multibody in model.bodies for link in multibody.links]
    # What has no name in the file is called like nothing in it.
    names, moved = {link.name for link in read}, {link.joint for link in read}
    ground = replace(world(), name=_distinct("universe", names)) if "world" in names else world()
    bodies, links, joints = [ground], {ground.name}, set[str]()
    for number, multibody in enumerate(model.bodies):
        at: dict[int, int] = {}
        carrier = _carriers(multibody)
        for k, link in enumerate(multibody.links):
            if k in carrier.values():
                continue
            if not k:
                name = ROOT if len(model.bodies) == 1 else f"{ROOT} {number}"
                joint, parent = _root(multibody, _distinct(name, moved)), 0
            else:
                moving = multibody.links[carrier.get(k, k)]
                joint, parent = _joint(moving, _distinct(moving.joint, joints)), at[moving.parent + 1]
            if k in carrier:
                joint = replace(joint, T_joint_body=link.T_parent_link)
            inertia = Inertia(link.mass, link.T_link_inertial[:3, 3], link.I_com)
            bodies.append(Body(_distinct(link.name, links), parent, joint, inertia))
            at[k] = len(bodies) - 1
    sources = {"gravity": turned_by} if turned_by else {}
    return Tree("pybullet", tuple(bodies), gravity=gravity, sources=sources)


def _carriers(multibody: Multibody) -> dict[int, int]:
    """Return links to those that the MJCF importer puts above them, for the joint alone: without inertia, and welded.

    Each body of an MJCF hangs so on its last joint.
    """
    children = [link.parent + 1 for link in multibody.links]
    return {
        k: above
        for k, link in enumerate(multibody.links)
        if link.joint.startswith(WELD)
        and (above := link.parent + 1) > 0
        and children.count(above) == 1
        and multibody.links[above].v
        and not multibody.links[above].mass
        and not multibody.links[above].moments.any()
    }


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
