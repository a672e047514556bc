"""Joints of a URDF: `<joint>` to joints of the tree, and `<mimic>` to closures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..errors import ReadError, Source
from ..spatial import unit
from ..tree import Closure, Floats, Joint, JointKind
from .fields import Owner, malformed, number, numbers, text
from .urdf_links import read_origin, scaled

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from .xml import Element

# The format has the first six; MuJoCo reads "spherical", and "ball" is what other formats call it.
KINDS: Final[Mapping[str, JointKind]] = {
    "fixed": JointKind.FIXED,
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.CONTINUOUS,
    "prismatic": JointKind.PRISMATIC,
    "floating": JointKind.FLOATING,
    "planar": JointKind.PLANAR,
    "spherical": JointKind.BALL,
    "ball": JointKind.BALL,
}
DEFAULT_AXIS: Final = (1.0, 0.0, 0.0)

_HAS_AXIS: Final = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.PLANAR)
HAS_RANGE: Final = (JointKind.REVOLUTE, JointKind.PRISMATIC)


@dataclass(frozen=True, slots=True, eq=False)
class Connection:
    """One `<joint>`: the joint itself, and the names and elements of the links that it connects."""

    joint: Joint
    parent: str
    child: str
    parent_element: Element
    child_element: Element


def read_joint(element: Element, *, quaternions: bool, actuated: Container[str]) -> Connection:
    """Return a joint with the links that it connects.

    Raises:
        ReadError: it has no name, no parent, no child or an unknown type, a number is malformed, or the axis is zero.
    """
    owner = Owner("joint", text(element, "name"))
    kind = KINDS.get(text(element, "type", owner))
    if kind is None:
        message = f"{owner} has type {element.get('type')!r}; supported: {', '.join(KINDS)}"
        raise ReadError(message, element.source, owner.name, "refused.unsupported")
    parent, child = _end(element, "parent", owner), _end(element, "child", owner)
    sources = {"element": element.source, "parent": parent.source, "child": child.source}
    joint = Joint(
        owner.name,
        kind,
        axis=_axis(element, owner, sources) if kind in _HAS_AXIS else np.array([0.0, 0.0, 1.0]),
        T_parent_joint=read_origin(element, owner, sources, "T_parent_joint", quaternions=quaternions),
        **_limit(element, kind, owner, sources),
        **_dynamics(element, owner, sources),
        actuated=owner.name in actuated,
        sources=sources,
    )
    return Connection(joint, text(parent, "link", owner), text(child, "link", owner), parent, child)


def read_mimic(element: Element, joints: Mapping[str, Joint]) -> Closure | None:
    """Return the relation q = offset + multiplier * q_other of a `<joint>`, or None when it has none that can hold.

    Raises:
        ReadError: the `<mimic>` names no joint, or a number is malformed.
    """
    mimic = element.first("mimic")
    if mimic is None:
        return None
    owner = Owner("joint", text(element, "name"))
    other = text(mimic, "joint", owner)
    relation = number(mimic, "offset", owner, 0.0), number(mimic, "multiplier", owner, 1.0)
    if why_no_mimic(owner.name, other, joints):
        return None
    return Closure("mimic", owner.name, (owner.name, other), relation, source=mimic.source)


def why_no_mimic(name: str, other: str, joints: Mapping[str, Joint]) -> str:
    """Return why one joint cannot mimic another, or an empty string when it can."""
    if other not in joints:
        return f"there is no joint {other!r}"
    if other == name:
        return "it mimics itself"
    for joint in (joints[name], joints[other]):
        if joint.nv != 1:
            return f"joint {joint.name!r} is {joint.kind}: it has no single coordinate"
    return ""


def _end(element: Element, tag: str, owner: Owner) -> Element:
    end = element.first(tag)
    if end is None:
        raise malformed(f"{owner} has no <{tag} link=...>", element.source, owner)
    return end


def _axis(element: Element, owner: Owner, sources: dict[str, Source]) -> Floats:
    """Return the unit axis; (1, 0, 0) where the file gives none."""
    axis = element.first("axis")
    if axis is None:
        return np.array(DEFAULT_AXIS)
    sources["axis"] = axis.source
    n = numbers(axis, "xyz", owner, 3, DEFAULT_AXIS)
    if not n.any():
        raise malformed(f"<axis> of {owner} is zero: it has no direction", axis.source, owner)
    return unit(scaled(n)).astype(np.float64, copy=False)


def _limit(element: Element, kind: JointKind, owner: Owner, sources: dict[str, Source]) -> dict[str, Any]:
    """Return the limits; the format's defaults of lower and upper are zero, and no `<limit>` is no limit."""
    limit = element.first("limit")
    if limit is None:
        return {}
    fields = {"speed": number(limit, "velocity", owner, np.inf), "effort": number(limit, "effort", owner, np.inf)}
    lower, upper = number(limit, "lower", owner, 0.0), number(limit, "upper", owner, 0.0)
    if kind in HAS_RANGE:
        fields |= {"lower": lower, "upper": upper}
    sources.update(dict.fromkeys(("limit", *fields), limit.source))
    return fields


def _dynamics(element: Element, owner: Owner, sources: dict[str, Source]) -> dict[str, Any]:
    dynamics = element.first("dynamics")
    if dynamics is None:
        return {}
    fields = {name: number(dynamics, name, owner, 0.0) for name in ("damping", "friction")}
    sources.update(dict.fromkeys(("dynamics", *fields), dynamics.source))
    return fields
