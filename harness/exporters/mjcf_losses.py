"""What a tree says of its bodies and an MJCF does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..errors import Source
from ..tree import JointKind
from .frames import is_identity, misses
from .mjcf_joints import FREE
from .names import distinct, plain

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ..tree import Tree
    from .document import Losses
    from .mjcf_joints import Primitive
    from .mjcf_seats import Seat

# MuJoCo's XML reader stops at 500 nested elements: <mujoco>, <worldbody>, 496 bodies and what stands in the last one.
MOST_LEVELS: Final = 496


def lose_ground(tree: Tree, ground: Collection[int], losses: Losses) -> None:
    """Name the bodies that are the world itself in the file, the inertia of the world, and a name that cannot stand."""
    if plain(tree.name) != tree.name:
        note = f"the file has {plain(tree.name)!r}"
        losses.add("mujoco@model", tree.name, Source(tree.origin.path), note, touches=False)
    if not tree.bodies[0].inertia.is_zero:
        note = "inertia of the world, which does not move"
        losses.add("inertial", tree.bodies[0].name, tree.bodies[0].source(), note, touches=False)
    for i in sorted(set(ground) - {0}):
        body = tree.bodies[i]
        note = "a body without inertia at the origin of the world: here it is the world itself"
        losses.add("body", body.name, body.source(), note, touches=False)


def lose_frames(tree: Tree, moved: Collection[int], losses: Losses) -> None:
    """Name the bodies whose frames move onto their joints."""
    for i in sorted(moved):
        body = tree.bodies[i]
        note = f"MuJoCo's {body.joint.kind} joint has the frame of its body: the body frame stands on the joint"
        losses.add("body@pos", body.name, body.joint.source("T_joint_body"), note, touches=False)


def lose_names(tree: Tree, kind: str, names: Mapping[str, str], losses: Losses) -> None:
    """Name the bodies or joints that have another name in the file.

    Args:
        tree: any.
        kind: "body" or "joint".
        names: in the tree to in the file.
        losses: gets them.
    """
    for i, body in enumerate(tree.bodies[1:], 1):
        name, source = (body.name, body.source()) if kind == "body" else (body.joint.name, tree.joints[i].source())
        if names.get(name, name) != name:
            note = f"{name!r} is no name that MJCF can hold here; the file has {names[name]!r}"
            losses.add(f"{kind}@name", name, source, note, touches=False)


def lose_seats(tree: Tree, seats: Sequence[Seat], losses: Losses) -> None:
    """Name the bodies that became joints of another one, fixed joints by name, and nesting beyond what MuJoCo reads."""
    taken = {tree.bodies[seat.body].name for seat in seats} | {tree.bodies[0].name}
    levels = {0: 0}
    for seat in seats:
        levels[seat.body] = levels[seat.parent] + 1
        body = tree.bodies[seat.body]
        for i, T_body_joint in zip(seat.members[:-1], seat.Ts_body_joint, strict=False):
            between = tree.bodies[i]
            T_body_between = T_body_joint @ between.joint.T_joint_body
            same_frame = not misses(T_body_between, np.eye(4))
            if between.name != distinct(f"{body.name}/{between.joint.name}", taken) or not same_frame:
                note = f"a massless body: its joint is one of several on body {body.name!r}, its frame is that body's"
                losses.add("body", between.name, between.source(), note, touches=False)
        if body.joint.kind is JointKind.FIXED and body.joint.actuated:
            note = "a fixed joint cannot be driven in the format"
            losses.add("joint@actuated", body.joint.name, body.joint.source("actuated"), note, touches=False)
        if body.joint.kind is JointKind.FIXED and body.joint.name != f"{body.name}_fixed":
            note = "a fixed joint has no name in the format"
            losses.add("joint@name", body.joint.name, body.joint.source(), note, touches=False)
    if max(levels.values()) > MOST_LEVELS:
        note = f"bodies are nested {max(levels.values())} deep; MuJoCo's reader stops at {MOST_LEVELS}"
        losses.add("body", None, tree.bodies[0].source(), note, touches=True)


def lose_placements(tree: Tree, parts: Mapping[int, tuple[Primitive, ...]], losses: Losses) -> None:
    """Name the free joints whose coordinates become those of the world."""
    for i, standing in parts.items():
        joint = tree.joints[i]
        if standing and standing[0].type == FREE and not is_identity(joint.T_parent_joint):
            note = "a free joint counts from the world, not from where this joint is placed"
            losses.add("joint@coordinates", joint.name, joint.source("T_parent_joint"), note, touches=False)
