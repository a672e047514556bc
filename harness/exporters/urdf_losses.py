"""What a tree says and a URDF does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..tree import STANDARD_GRAVITY, Medium

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tree import Body, Floats, Tree
    from .document import Losses

_ROOT_JOINT: Final = "root_joint"


def lose_tree(tree: Tree, root: int, links: Mapping[str, str], joints: Mapping[str, str], losses: Losses) -> None:
    """Name what is lost of the tree as a whole, and of its bodies."""
    if tuple(tree.gravity) != STANDARD_GRAVITY:
        note = f"gravity is {tree.gravity.tolist()}; the format has none, and readers take {list(STANDARD_GRAVITY)}"
        losses.add("option@gravity", None, tree.bodies[0].source(), note, touches=True)
    if tree.medium != Medium():
        note = f"{tree.medium}: the format has no fluid"
        losses.add("option@density", None, tree.bodies[0].source(), note, touches=True)
    if tree.home is not None and tree.home.tolist() != _taken_for_home(tree).tolist():
        note = "the home configuration; the format has none"
        losses.add("key", None, tree.bodies[0].source(), note, touches=False)
    for tendon in tree.tendons:
        note = f"reflected inertia {tendon.armature:g} of a tendon over {', '.join(map(repr, tendon.coefficients))}"
        losses.add("fixed@armature", tendon.name, tendon.source, note, touches=True)
    if not tree.bodies[0].inertia.is_zero:
        note = "inertia of the world, which does not move"
        losses.add("inertial", tree.bodies[0].name, tree.bodies[0].source(), note, touches=False)
    for body in tree.bodies[1:]:
        _lose_body(body, losses)
        for element, name, spelled in (("link", body.name, links), ("joint", body.joint.name, joints)):
            if spelled[name] != name:
                note = f"{name!r} cannot stand in an XML attribute; the file has {spelled[name]!r}"
                losses.add(f"{element}@name", name, body.source(), note, touches=False)
    if root and tree.joints[root].name != _ROOT_JOINT:
        note = f"the root link has no joint in the format; readers call it {_ROOT_JOINT!r} or nothing"
        losses.add("joint@name", tree.joints[root].name, tree.joints[root].source(), note, touches=False)


def _taken_for_home(tree: Tree) -> Floats:
    """Return the configuration (nq,) at which a reader finds the robot undisplaced: zero, since `ref` is lost."""
    parts = [joint.neutral * (joint.nq > 1) for joint in tree.joints]
    return np.concatenate(parts)


def _lose_body(body: Body, losses: Losses) -> None:
    if body.gravcomp:
        note = f"gravity compensation of {body.gravcomp:g} times the weight"
        losses.add("body@gravcomp", body.name, body.source(), note, touches=True)
    if body.inertia.mass < 0:
        note = f"mass {body.inertia.mass:g} kg is negative: readers refuse it or make it positive"
        losses.add("mass", body.name, body.source("mass"), note, touches=True)
    if body.name == "world" and body.parent >= 0 and body.joint.nv:
        note = "MuJoCo takes a link named 'world' for the ground, and refuses it on a joint"
        losses.add("link@name", body.name, body.source(), note, touches=False)
