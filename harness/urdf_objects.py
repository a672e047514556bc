"""What a parser of URDF keeps of a file, link by link and joint by joint, as a tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from .tree import Body, Closure, Inertia, Joint, JointKind, Tree, world

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from .tree import Floats

ROOT: Final = "root_joint"  # that carries the base link


@dataclass(frozen=True, eq=False)
class Hung:
    """A joint as a parser keeps it.

    Attributes:
        joint: of the tree.
        parent: name of the link above.
        child: name of the link below.
        mimic: name of the joint that it follows, multiplier and offset; None for none.
    """

    joint: Joint
    parent: str
    child: str
    mimic: tuple[str, float, float] | None = None


def turned_inertia(mass: float, T_link_inertial: Floats, tensor: Floats) -> Inertia:
    """Return an `<inertial>` in link axes.

    Args:
        mass: [kg].
        T_link_inertial: (4, 4) its origin.
        tensor: (3, 3) [kg m^2] in its axes.
    """
    R = T_link_inertial[:3, :3]
    return Inertia(mass, T_link_inertial[:3, 3], R @ tensor @ R.T, R)


def tree_of(name: str, links: Sequence[tuple[str, Inertia]], joints: Sequence[Hung]) -> Tree:
    """Return the tree of what was parsed, whose base link stands at the origin of the world.

    Args:
        name: of the robot.
        links: names and inertias, in any order.
        joints: in any order; one link is the child of none.
    """
    inertias, carried = dict(links), {hung.child: hung for hung in joints}
    below: dict[str, list[str]] = {}
    for hung in joints:
        below.setdefault(hung.parent, []).append(hung.child)
    ground = world()
    if ground.name in inertias:
        ground = replace(ground, name=_free("universe", inertias))
    root = Joint(_free(ROOT, {hung.joint.name for hung in joints}), JointKind.FIXED)
    bodies, left = [ground], [(link, 0) for link in inertias if link not in carried]
    while left:
        link, parent = left.pop()
        joint = carried[link].joint if link in carried else root
        bodies.append(Body(link, parent, joint, inertias[link]))
        left += [(child, len(bodies) - 1) for child in reversed(below.get(link, []))]
    closures = tuple(_coupling(hung.joint.name, *hung.mimic) for hung in joints if hung.mimic)
    return Tree(name, tuple(bodies), closures=closures)


def _free(name: str, taken: Container[str]) -> str:
    """Return a name that is not taken yet."""
    while name in taken:
        name += "_"
    return name


def _coupling(follower: str, leader: str, multiplier: float, offset: float) -> Closure:
    return Closure("mimic", follower, (follower, leader), (offset, multiplier))
