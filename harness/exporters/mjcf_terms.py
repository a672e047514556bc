"""Equalities, tendons, motors, and the home configuration of an MJCF."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..spatial import quaternion_from_rotation, quaternion_product
from ..tree import JointKind
from .document import common
from .frames import is_identity
from .mjcf_joints import FREE, WORLD
from .names import distinct, spelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..tree import Closure, Floats, Joint, Tree
    from .document import Losses, Value, Writer
    from .mjcf_joints import Primitive


@dataclass(frozen=True, slots=True)
class Equality:
    """One equality of MJCF.

    Attributes:
        tag: "connect", "weld", "joint" or "tendon".
        attributes: in order.
        sites: (body of the tree, name, position (3,) in the body) of each site that it needs.
    """

    tag: str
    attributes: Mapping[str, Value]
    sites: tuple[tuple[str, str, tuple[float, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Spelling:
    """Names in the tree to names in the file, for what closures may name.

    Attributes:
        bodies: those whose frame is that of the tree.
        joints: those with one dof.
        tendons: those that are written.
    """

    bodies: Mapping[str, str]
    joints: Mapping[str, str]
    tendons: Mapping[str, str]


def equalities_of(tree: Tree, names: Spelling, losses: Losses) -> list[Equality]:
    """Return what the closures of a tree are in MJCF, and name each one that is nothing there."""
    found: list[Equality] = []
    taken: set[str] = set()
    for closure in tree.closures:
        equality = _equality(tree, closure, names, len(found))
        if equality is None:
            note = f"a closure of kind {closure.kind} between {' and '.join(map(repr, closure.between))}"
            note += f", numbers {list(closure.numbers)}: MJCF has no such equality of what is in this file"
            losses.add("equality", closure.name, closure.source, note, touches=closure.active)
            continue
        name = distinct(spelled([closure.name])[closure.name], taken)
        taken.add(name)
        if name != closure.name:
            losses.add("equality@name", closure.name, closure.source, f"the file has {name!r}", touches=False)
        attributes = {"name": name, **equality.attributes, "active": None if closure.active else "false"}
        found.append(Equality(equality.tag, attributes, equality.sites))
    return found


def write_equalities(writer: Writer, equalities: Sequence[Equality]) -> None:
    """Write `<equality>`."""
    if equalities:
        with writer.inside("equality"):
            for equality in equalities:
                writer.leaf(equality.tag, **equality.attributes)


def _equality(tree: Tree, closure: Closure, names: Spelling, number: int) -> Equality | None:
    """Return an equality without its name; `number` tells its sites from those of others."""
    kind, numbers = closure.kind, closure.numbers
    first, second = (*closure.between, "", "")[:2]
    if kind in ("mimic", "joint", "tendon"):
        what, known = ("tendon", names.tendons) if kind == "tendon" else ("joint", names.joints)
        polynomial = _mimic(tree, closure) if kind == "mimic" else _padded(numbers)
        if polynomial is None or first not in known or (second and second not in known):
            return None
        ends: dict[str, Value] = {f"{what}1": known[first], f"{what}2": known[second] if second else None}
        return Equality(what, {**ends, "polycoef": polynomial})
    if any(name and name not in names.bodies for name in (first, second)):
        return None
    one, two = (names.bodies[name] if name else WORLD for name in (first, second))
    if (kind, len(numbers)) == ("connect", 6):
        # Sites hold both anchors; `anchor` alone would leave the second to the pose that MuJoCo assembles.
        sites = ((first, f"anchor{number}_a", numbers[:3]), (second, f"anchor{number}_b", numbers[3:]))
        return Equality(kind, {"site1": sites[0][1], "site2": sites[1][1]}, sites)
    if (kind, len(numbers)) == ("connect", 3):
        return Equality(kind, {"body1": one, "body2": two, "anchor": numbers})
    if (kind, len(numbers)) == ("weld", 11):
        pose, scale = numbers[3:10], numbers[10]
        weld: dict[str, Value] = {
            "body1": one,
            "body2": two,
            "anchor": numbers[:3],
            "relpose": pose,
            "torquescale": scale,
        }
        return Equality(kind, weld)
    return None


def _mimic(tree: Tree, closure: Closure) -> tuple[float, ...] | None:
    """Return q1 = offset + multiplier q2 as MuJoCo counts, from the reference positions."""
    found = [tree.joints[tree.joint_index[name]] for name in closure.between if name in tree.joint_index]
    if len(closure.numbers) != 2 or len(found) != 2:
        return None
    (offset, multiplier), (one, two) = closure.numbers, found
    return offset - one.ref + multiplier * two.ref, multiplier, 0, 0, 0


def _padded(numbers: tuple[float, ...]) -> tuple[float, ...] | None:
    return (*numbers, *[0.0] * (5 - len(numbers))) if 0 < len(numbers) <= 5 else None


def tendons_of(tree: Tree, joints: Mapping[str, str], losses: Losses) -> dict[str, str]:
    """Return the tendons that the file has, name in the tree to name in the file, and name those that it has not.

    Args:
        tree: that has them.
        joints: name in the tree to name in the file of the joints with one dof.
        losses: gets the others.
    """
    held = [t for t in tree.tendons if t.coefficients and all(name in joints for name in t.coefficients)]
    names = spelled(tendon.name for tendon in held)
    for tendon in tree.tendons:
        over = ", ".join(map(repr, tendon.coefficients)) or "nothing"
        if tendon not in held:
            note = f"a tendon over {over}: a fixed tendon needs joints of one dof"
            losses.add("fixed@armature", tendon.name, tendon.source, note, touches=True)
        elif names[tendon.name] != tendon.name:
            losses.add("fixed@name", tendon.name, tendon.source, f"the file has {names[tendon.name]!r}", touches=False)
    return names


def write_tendons(writer: Writer, tree: Tree, tendons: Mapping[str, str], joints: Mapping[str, str]) -> None:
    """Write the tendons that have reflected inertia; names in the tree to names in the file."""
    if tendons:
        with writer.inside("tendon"):
            for tendon in tree.tendons:
                if tendon.name in tendons:
                    with writer.inside("fixed", name=tendons[tendon.name], armature=tendon.armature):
                        for joint, coefficient in tendon.coefficients.items():
                            writer.leaf("joint", joint=joints[joint], coef=coefficient)


def write_motors(writer: Writer, driven: Sequence[tuple[str, Joint, Primitive]]) -> None:
    """Write a motor for every MJCF joint, by name, that an actuator drives, with its reflected inertia."""
    if driven:
        with writer.inside("actuator"):
            for name, joint, part in driven:
                rotor = common(np.asarray(joint.rotor)[part.dofs])
                writer.leaf("motor", name=name, joint=name, armature=rotor or None)


def write_home(writer: Writer, tree: Tree, parts: Mapping[int, tuple[Primitive, ...]]) -> None:
    """Write the home configuration as the keyframe "home", in the layout of MuJoCo's qpos.

    The two layouts are one, except that a free joint counts from the world.
    """
    if tree.home is None or not tree.nq:
        return
    q = np.array(tree.home)
    for i, standing in parts.items():
        joint, own = tree.joints[i], tree.q_slices[i]
        if standing and standing[0].type == FREE and not is_identity(joint.T_parent_joint):
            q[own] = absolute(joint, q[own])
    with writer.inside("keyframe"):
        writer.leaf("key", name="home", qpos=q)


def absolute(joint: Joint, q: Floats) -> Floats:
    """Return position and quat_wxyz (7,) in the world of a floating joint at q (7,)."""
    if joint.kind is not JointKind.FLOATING or is_identity(joint.T_parent_joint):
        return q
    R, p = joint.T_parent_joint[:3, :3], joint.T_parent_joint[:3, 3]
    quat = quaternion_product(quaternion_from_rotation(R), q[3:])
    return np.concatenate([R @ q[:3] + p, np.asarray(quat, np.float64)])
