"""What a URDF says and the tree cannot hold: vendor tags, transmissions, limits without a place, odd axes.

Shapes and materials are no losses: the tree describes the dynamics. Neither are comments, and neither are the axis,
limits and dynamics of a fixed joint, which mean nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..tree import Joint, JointKind, Loss, Said
from .fields import Owner, numbers
from .said import said_by, word
from .urdf_joints import DEFAULT_AXIS, HAS_RANGE, why_no_mimic

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .xml import Element

# Element to the attributes and children that the importer reads, or that are no part of the dynamics.
_READ: Final[Mapping[str, tuple[set[str], set[str]]]] = {
    "robot": ({"name", "version"}, {"link", "joint", "material", "transmission"}),
    "link": ({"name"}, {"inertial", "visual", "collision"}),
    "inertial": (set(), {"origin", "mass", "inertia"}),
    "origin": ({"xyz", "rpy"}, set()),
    "mass": ({"value"}, set()),
    "inertia": ({"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}, set()),
    "joint": ({"name", "type"}, {"parent", "child", "origin", "axis", "limit", "dynamics", "mimic"}),
    "parent": ({"link"}, set()),
    "child": ({"link"}, set()),
    "axis": ({"xyz"}, set()),
    "limit": ({"lower", "upper", "velocity", "effort"}, set()),
    "dynamics": ({"damping", "friction"}, set()),
    "mimic": ({"joint", "multiplier", "offset"}, set()),
}
_MANY: Final = {"link", "joint", "material", "transmission", "visual", "collision"}
_CLOSED: Final = {"visual", "collision", "material", "transmission"}
_TOUCHING_PARENTS: Final = {"inertial", "origin", "mass", "inertia", "axis", "dynamics"}

# Names, in lower case and without prefix, hyphen and underscore, of vendor tags and attributes that change the smooth
# dynamics where they are read: rotors and gears, springs, damping, gravity switches, couplings, MuJoCo's compiler.
_TOUCHING: Final = {
    *("rotorinertia", "motorinertia", "reflectedinertia", "armature", "gearratio", "mechanicalreduction"),
    *("springstiffness", "springreference", "linearspringdamper", "linearbushingrpy", "dampingfactor"),
    *("gravity", "turngravityoff", "mimicjoint", "loopjoint", "compiler", "option"),
}
_ROTORS: Final = {"rotorinertia", "motorinertia", "reflectedinertia"}
_GEARS: Final = {"gearratio", "mechanicalreduction"}
# A unit axis written with six digits misses its length by more than this: a lint will judge, this only tells.
_AXIS_ROUNDING: Final = 1e-9

_KNOWN: Final[Mapping[str, str]] = {
    "safety_controller": "soft limits of a controller",
    "calibration": "reference positions for calibration",
    "gazebo": "settings for Gazebo",
    "mujoco": "settings for MuJoCo",
    "ros2_control": "settings for ros2_control",
    "sensor": "a sensor",
    "contact": "contact parameters",
}


def losses_of(root: Element, joints: Mapping[str, Joint], *, quaternions: bool) -> tuple[Loss, ...]:
    """Return every loss of a URDF, in document order.

    Args:
        root: the `<robot>`.
        joints: by name.
        quaternions: whether `quat_xyzw` was read.
    """
    losses = list(_unread(root, Owner("robot", root.get("name") or ""), quaternions))
    for link in root.all("link"):
        losses += _of_link(link)
    for joint in root.all("joint"):
        losses += _of_joint(joint, joints[joint.get("name") or ""], joints)
    for transmission in root.all("transmission"):
        losses += _of_transmission(transmission)
    return tuple(sorted(losses, key=lambda loss: loss.source.line))


def _unread(root: Element, robot: Owner, quaternions: bool) -> Iterator[Loss]:
    """Yield attributes and elements that the importer does not know, and second elements where one is allowed."""
    stack = [(root, robot)]
    while stack:
        element, owner = stack.pop()
        attributes, children = _READ[element.tag]
        for name in element.attributes:
            if name not in attributes and not name.startswith("xmlns") and not (quaternions and name == "quat_xyzw"):
                touches = element.tag in _TOUCHING_PARENTS or _plain(name) in _TOUCHING
                value = element.attributes[name]
                note = f"attribute of {owner} that is not read: {name}={value!r}"
                said = (_about(owner), Said(name, word(value))) if touches else ()
                yield Loss(f"{element.tag}@{name}", owner.name, element.source, touches, note, says=said)
        seen: set[str] = set()
        for child in element.children:
            if child.tag not in children:
                yield from _foreign(child, owner)
            elif child.tag in seen and child.tag not in _MANY:
                note = f"a second <{child.tag}> in <{element.tag}> of {owner}: only the first is read"
                said = (_about(owner), *said_by(child))
                yield Loss(child.tag, owner.name, child.source, touches_dynamics=True, note=note, says=said)
            elif child.tag not in _CLOSED:
                named = child.tag in ("link", "joint")
                stack.append((child, Owner(child.tag, child.get("name") or "") if named else owner))
            seen.add(child.tag)


def _foreign(element: Element, owner: Owner) -> Iterator[Loss]:
    """Yield a foreign element as one loss, and each thing inside that touches the dynamics as one more."""
    what = _KNOWN.get(element.tag, "an element that is not read")
    where = element.get("reference") or element.get("name") or owner.name
    said = (_about(owner), *said_by(element)) if _touches(element) else ()
    note = f"{what}, in {owner}{_value(element)}"
    yield Loss(element.tag, where, element.source, _touches(element), note, says=said)
    yield from _touching(element, where)


def _touching(element: Element, where: str) -> Iterator[Loss]:
    """Yield what touches the dynamics inside an element, each under the nearest name above it."""
    stack = [(child, where) for child in reversed(element.children)]
    # A gear alone is how a motor is driven; with a rotor behind it, it is inertia.
    geared = any(_plain(inner.tag) in _ROTORS for inner in element.walk())
    while stack:
        inner, where = stack.pop()
        where = inner.get("name") or where
        if _touches(inner):
            note = f"changes the dynamics of engines that read it, inside <{element.tag}>{_value(inner)}"
            said = said_by(inner) if geared or _plain(inner.tag) not in _GEARS else ()
            said = (Said("of", "", joint=where, body=where), *said) if said else ()
            yield Loss(inner.tag, where, inner.source, touches_dynamics=True, note=note, says=said)
        stack.extend((child, where) for child in reversed(inner.children))


def _of_link(link: Element) -> Iterator[Loss]:
    collision = link.first("collision")
    if link.first("inertial") is None and collision is not None:
        name = link.get("name")
        note = (
            f"link {name!r} has no <inertial>: engines that take inertia from shapes give it a mass; here it has none"
        )
        yield Loss("collision", name, collision.source, touches_dynamics=True, note=note)


def _of_joint(element: Element, joint: Joint, joints: Mapping[str, Joint]) -> Iterator[Loss]:
    axis, limit, mimic = element.first("axis"), element.first("limit"), element.first("mimic")
    if axis is not None and "axis" in joint.sources:
        n = numbers(axis, "xyz", Owner("joint", joint.name), 3, DEFAULT_AXIS)
        length = float(np.hypot(np.hypot(n[0], n[1]), n[2]))
        if abs(length - 1) > _AXIS_ROUNDING:
            note = f"axis {axis.get('xyz')} has length {length:.9g}; only its direction is taken"
            yield Loss("axis@xyz", joint.name, axis.source, touches_dynamics=False, note=note, value=length)
    for name, note in _limit_notes(limit, joint.kind):
        source = element.source if limit is None else limit.source
        yield Loss(name, joint.name, source, touches_dynamics=False, note=note)
    if mimic is not None and (reason := why_no_mimic(joint.name, mimic.get("joint") or "", joints)):
        note = f"joint {joint.name!r} mimics {mimic.get('joint')!r}, but {reason}"
        said = (Said("joint", "", joint=joint.name), *said_by(mimic)) if joint.nv else ()
        yield Loss("mimic", joint.name, mimic.source, touches_dynamics=joint.nv > 0, note=note, says=said)


def _limit_notes(limit: Element | None, kind: JointKind) -> Iterator[tuple[str, str]]:
    """Yield element and note of what `<limit>` lacks, and of what a joint of this kind has no place for."""
    if kind in HAS_RANGE:
        if limit is None:
            yield "limit", f"a {kind} joint without <limit>, which the format demands: taken as unlimited"
            return
        for name in ("effort", "velocity"):
            if limit.get(name) is None:
                yield f"limit@{name}", f"<limit> without {name}, which the format demands: taken as unlimited"
    elif limit is not None and kind is not JointKind.FIXED:
        for name in ("lower", "upper"):
            if limit.get(name) is not None:
                yield f"limit@{name}", f"a {kind} joint has no range in this format; {name}={limit.get(name)!r}"


def _of_transmission(element: Element) -> Iterator[Loss]:
    """Yield a transmission, and the gears and rotors inside: reflected inertia that only the vendor's tags describe."""
    name = element.get("name") or ""
    driven = ", ".join(repr(joint.get("name")) for joint in element.all("joint"))
    note = f"transmission of joint {driven or 'none'}: gears and rotors are not in the mass matrix"
    yield Loss("transmission", name, element.source, touches_dynamics=True, note=note)
    yield from _touching(element, name)


def _about(owner: Owner) -> Said:
    """Return the joint or link that a loss is about."""
    joint, body = (owner.name if owner.kind == kind else "" for kind in ("joint", "link"))
    return Said("of", "", joint=joint, body=body)


def _touches(element: Element) -> bool:
    return any(_plain(name) in _TOUCHING for name in (element.tag, *element.attributes))


def _plain(name: str) -> str:
    return name.rpartition(":")[2].lower().replace("_", "").replace("-", "")


def _value(element: Element) -> str:
    """Return what an element says in itself: its text and attributes."""
    said = [f"{key}={value!r}" for key, value in element.attributes.items()]
    text = " ".join(element.text.split())
    return ": " + " ".join([text, *said]).strip() if text or said else ""
