"""What each body and joint of a tree becomes in an MJCF, and under which name, before a line is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..tree import JointKind
from .frames import is_identity, seated
from .mjcf_joints import FREE, WORLD, primitives
from .mjcf_seats import grounded, seats_of
from .names import distinct, spelled

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ..tree import Body, Joint, Tree
    from .mjcf_joints import Primitive
    from .mjcf_seats import Seat


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """An MJCF in outline; numbers of bodies are those of the tree.

    Attributes:
        tree: what is written.
        bodies: its bodies, those in `moved` with their frames on their joints.
        moved: bodies whose frame MuJoCo wants on the joint.
        ground: bodies that are the world itself.
        seats: the MJCF bodies, in the order of the tree.
        parts: the MJCF joints of each body that is not the world.
        body_names: name in the tree to name in the file, for the bodies that are there.
        joint_names: (body, name in the file) of each MJCF joint, in the order of `parts`.
    """

    tree: Tree
    bodies: tuple[Body, ...]
    moved: Collection[int]
    ground: Collection[int]
    seats: Sequence[Seat]
    parts: Mapping[int, tuple[Primitive, ...]]
    body_names: Mapping[str, str]
    joint_names: Mapping[int, tuple[str, ...]]

    @property
    def one_dof(self) -> dict[str, str]:
        """Name in the tree to name in the file of the joints with one dof."""
        return {name: own for name, own in self.single.items() if self.tree.joints[self.tree.joint_index[name]].nv == 1}

    @property
    def single(self) -> dict[str, str]:
        """Name in the tree to name in the file of the joints that are one joint there."""
        return {self.tree.joints[i].name: names[0] for i, names in self.joint_names.items() if len(names) == 1}

    @property
    def kept(self) -> dict[str, str]:
        """Name in the tree to name in the file of the world and of the bodies whose frames are those of the tree."""
        frames = {self.tree.bodies[seat.body].name for seat in self.seats if seat.body not in self.moved}
        there = {name: own for name, own in self.body_names.items() if name in frames}
        return {self.tree.bodies[0].name: WORLD, **there}

    @property
    def driven(self) -> list[tuple[str, Joint, Primitive]]:
        """Name, joint of the tree and part of each MJCF joint that an actuator drives, or that has a rotor."""
        return [
            (name, self.tree.joints[i], part)
            for i, names in self.joint_names.items()
            for name, part in zip(names, self.parts[i], strict=True)
            if self.tree.joints[i].actuated or np.any(self.tree.joints[i].rotor)
        ]


def outline(tree: Tree) -> Plan:
    """Return what each body and joint of a tree becomes."""
    named = {name for c in tree.closures if c.kind in ("connect", "weld") for name in c.between}
    ground = grounded(tree, named)
    parts = {
        i: primitives(body.joint, top=body.parent in ground) for i, body in enumerate(tree.bodies) if i not in ground
    }
    moved = {i for i, standing in parts.items() if _needs_frame(tree.joints[i], standing)}
    bodies = seated(tree.bodies, moved)
    seats = seats_of(bodies, ground, named)
    body_names = spelled((tree.bodies[seat.body].name for seat in seats), {WORLD})
    return Plan(tree, bodies, moved, ground, seats, parts, body_names, _joint_names(tree, parts))


def _needs_frame(joint: Joint, parts: tuple[Primitive, ...]) -> bool:
    """Return whether MuJoCo can have the coordinates of this joint only in a body frame that stands on the joint.

    A free joint gives the pose of the body frame; a ball turns it in its own axes.
    """
    turned = not is_identity(joint.T_joint_body[:3, :3])
    if joint.kind is JointKind.FLOATING and parts[0].type == FREE:
        return not is_identity(joint.T_joint_body)
    return joint.kind in (JointKind.BALL, JointKind.FLOATING) and turned


def _joint_names(tree: Tree, parts: Mapping[int, tuple[Primitive, ...]]) -> dict[int, tuple[str, ...]]:
    """Return the names of the MJCF joints of each body; joints that stay one keep their name before others get one."""
    own = spelled(tree.joints[i].name for i, standing in parts.items() if standing)
    taken = {own[tree.joints[i].name] for i, standing in parts.items() if len(standing) == 1}
    names: dict[int, tuple[str, ...]] = {}
    for i, standing in parts.items():
        if len(standing) == 1:
            names[i] = (own[tree.joints[i].name],)
            continue
        found: list[str] = []
        for part in standing:
            found.append(distinct(own[tree.joints[i].name] + part.suffix, taken))
            taken.add(found[-1])
        names[i] = tuple(found)
    return names
