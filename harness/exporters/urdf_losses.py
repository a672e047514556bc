"""What a tree says as a whole, of its bodies and in its names, and a URDF does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..errors import Source
from ..tree import STANDARD_GRAVITY, JointKind, Medium
from .names import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tree import Floats, Tree
    from .document import Losses

_ROOT_JOINT: Final = "root_joint"


def lose_surroundings(tree: Tree, losses: Losses) -> None:
    """Name what is lost of gravity, medium, home, tendons and the world."""
    if tuple(tree.gravity) != STANDARD_GRAVITY:
        note = f"gravity is {tree.gravity.tolist()}; the format has none, and readers take {list(STANDARD_GRAVITY)}"
        losses.add("option@gravity", None, tree.sources.get("gravity", Source()), note, touches=True)
    if tree.medium != Medium():
        note = f"{tree.medium}: the format has no fluid"
        losses.add("option@density", None, tree.sources.get("medium", Source()), note, touches=True)
    if tree.home is not None and tree.home.tolist() != _taken_for_home(tree).tolist():
        note = "the home configuration; the format has none"
        losses.add("key", None, tree.sources.get("home", Source()), note, touches=False)
    for tendon in tree.tendons:
        note = f"reflected inertia {tendon.armature:g} of a tendon over {', '.join(map(repr, tendon.coefficients))}"
        losses.add("fixed@armature", tendon.name, tendon.source, note, touches=True)
    if not tree.bodies[0].inertia.is_zero:
        note = "inertia of the world, which does not move"
        losses.add("inertial", tree.bodies[0].name, tree.bodies[0].source(), note, touches=False)


def _taken_for_home(tree: Tree) -> Floats:
    """Return the configuration (nq,) at which a reader finds the robot undisplaced: zero, since `ref` is lost."""
    return np.concatenate([joint.neutral * (joint.nq > 1) for joint in tree.joints])


def lose_bodies(tree: Tree, losses: Losses) -> None:
    """Name what is lost of the bodies, and what common readers will not take of them."""
    for body in tree.bodies[1:]:
        if body.gravcomp:
            note = f"gravity compensation of {body.gravcomp:g} times the weight"
            losses.add("body@gravcomp", body.name, body.source(), note, touches=True)
        if body.inertia.mass < 0:
            note = f"mass {body.inertia.mass:g} kg is negative: readers refuse it or make it positive"
            losses.add("mass", body.name, body.source("mass"), note, touches=True)
        if body.name == "world" and body.joint.nv:
            note = "MuJoCo takes a link named 'world' for the ground, and refuses it on a joint"
            losses.add("link@name", body.name, body.source(), note, touches=False)
        if body.joint.kind is JointKind.FLOATING and tree.moving[body.parent]:
            note = "a floating joint on a link that moves; MuJoCo takes one on the root alone"
            losses.add("joint@type", body.joint.name, body.joint.source(), note, touches=True)


def lose_names(tree: Tree, root: int, links: Mapping[str, str], joints: Mapping[str, str], losses: Losses) -> None:
    """Name the names that are others in the file.

    Args:
        tree: any.
        root: the body that becomes the root link.
        links: name in the tree to name in the file.
        joints: likewise.
        losses: gets them.
    """
    if plain(tree.name) != tree.name:
        note = f"the file has {plain(tree.name)!r}"
        losses.add("robot@name", tree.name, Source(tree.origin.path), note, touches=False)
    for i, body in enumerate(tree.bodies[1:], 1):
        for element, owner, spelled in (("link", body, links), ("joint", body.joint, joints)):
            if spelled[owner.name] != owner.name and (element, i) != ("joint", root):
                note = f"{owner.name!r} is no name that the format can hold; the file has {spelled[owner.name]!r}"
                losses.add(f"{element}@name", owner.name, owner.source(), note, touches=False)
    if root and tree.joints[root].name != _ROOT_JOINT:
        note = f"the root link has no joint in the format; readers call it {_ROOT_JOINT!r} or nothing"
        losses.add("joint@name", tree.joints[root].name, tree.joints[root].source(), note, touches=False)
