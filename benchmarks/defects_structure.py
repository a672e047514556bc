"""Defects of structure: another type of joint, joints that are missing or that nobody asked for, a base that floats."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import numpy as np
from defects_files import Written, words
from defects_inertials import stated
from defects_joints import movable, of_kind
from defects_mjcf import Mjcf
from defects_plant import EVERY, Account, Plant, direction, pick, plant
from defects_urdf import Urdf

from tautology.harness.spatial import rotation_from_quaternion, transform

if TYPE_CHECKING:
    from defects_files import File


def retyped(file: File, rng: Any, _size: float) -> Plant | None:
    """Give a joint another type; a lock is a joint less as well, a freed one a joint more."""
    changes = {"revolute": "prismatic", "continuous": "prismatic", "prismatic": "continuous", "ball": "revolute"}
    b = pick(rng, of_kind(file, *changes))
    joint = None if b is None else file.joint(b)
    if b is None or joint is None or _coupled(file, joint.get("name")):
        return None
    new, lock = changes[file.kind(b) or ""], rng.random() < 0.4
    locked = Account("joint.missing", "joint", b)
    if isinstance(file, Urdf):
        joint.set("type", "fixed" if lock else new)
    elif lock:
        file.body(b).remove(joint)
    else:
        joint.set("type", {"prismatic": "slide"}.get(new, "hinge"))
        for name in ("range", "ref", "springref", "stiffness", "frictionloss"):
            joint.attrib.pop(name, None)
    equal = (locked,) if lock else ()
    return plant("joint.type", "joint", b, "kind", "axis", "zero", "terms", equal=equal)


def _coupled(file: File, name: str | None) -> bool:
    """Return whether something else names the joint: a motor or a relation would be lost with it."""
    holders = [e for e in file.root.iter() if e.tag in ("motor", "mimic", "equality", "tendon", "key")]
    return any(name in e.attrib.values() for holder in holders for e in holder.iter())


def freed(file: File, rng: Any, _size: float) -> Plant | None:
    """Let a fixed body turn."""
    bodies = set(stated(file)) & set(movable(file))
    b = pick(rng, [b for b in file.bodies() if file.kind(b) == "fixed" and b in bodies])
    if b is None:
        return None
    name = f"{b}_new_joint"
    if isinstance(file, Mjcf):
        element = file.body(b)
        element.insert(
            list(element).index(element.find("inertial")) + 1 if element.find("inertial") is not None else 0,
            ET.Element("joint", name=name, axis=words(direction(rng))),
        )
    else:
        joint = file.placed(b)
        joint.set("type", "continuous")
        file.put_axis(b, direction(rng))
        name = joint.get("name", "")
    equal = (
        Account("joint.extra", "name", name),
        Account("joint.type", "joint", b),
        Account("joint.type", "name", name),
    )
    return plant("joint.extra", "joint", b, "kind", "axis", "terms", "placement", equal=equal)


def lost(file: File, rng: Any, _size: float) -> Plant | None:
    """Take the last link of a limb away, with its joint: the joint is missing, and so is the body."""
    b = pick(rng, [b for b in file.leaves() if file.moving(b) and b in stated(file) and file.kind(b) != "floating"])
    if b is None or len(file.bodies()) < 3:
        return None
    file.remove(b)
    return plant("joint.missing", "joint", b, *EVERY, equal=(Account("body.missing", "body", b),))


def added(file: File, rng: Any, _size: float) -> Plant | None:
    """Hang one more link on a body."""
    parent = pick(rng, [b for b in stated(file) if b in movable(file)])
    if parent is None:
        return None
    new, joint = "added_link", "added_joint"
    w = Written(0.5, np.array([0.02, 0.01, 0.1]), np.eye(3), np.array([3e-3, 2e-3, 2.5e-3, 1e-4, 2e-4, 3e-4]))
    T = transform(rotation_from_quaternion(rng.normal(size=4)), rng.uniform(-0.2, 0.2, 3))
    if isinstance(file, Mjcf):
        body = ET.SubElement(file.body(parent), "body", name=new)
        ET.SubElement(body, "joint", name=joint, axis=words(direction(rng)))
    elif isinstance(file, Urdf):
        ET.SubElement(file.root, "link", name=new)
        element = ET.SubElement(file.root, "joint", name=joint, type="continuous")
        ET.SubElement(element, "parent", link=parent)
        ET.SubElement(element, "child", link=new)
        file.put_axis(new, direction(rng))
    file.put_placement(new, T)
    file.put_inertial(new, w)
    fields = frozenset(f"{new}.{field}" for field in EVERY) | {"tendon", "mimic"}
    return Plant((Account("joint.extra", "name", joint),), fields)


def base(file: File, _rng: Any, _size: float) -> Plant | None:
    """Weld a floating base, or let a welded one float."""
    floating = [b for b in file.bodies() if file.kind(b) == "floating"]
    roots = floating or [b for b in file.bodies() if file.parent(b) in (None, "world")]
    if len(roots) != 1:
        return None
    b = roots[0]
    if isinstance(file, Mjcf):
        element, joint = file.body(b), file.joint(b)
        if joint is not None:
            element.remove(joint)
        elif file.kind(b) == "fixed" and b in stated(file):
            element.insert(1, ET.Element("freejoint", name="root"))
        else:
            return None
    elif floating:
        file.placed(b).set("type", "fixed")
    elif b in stated(file) and not file.root.findall("link[@name='world']"):
        ET.SubElement(file.root, "link", name="world")
        joint = ET.SubElement(file.root, "joint", name="root", type="floating")
        ET.SubElement(joint, "parent", link="world")
        ET.SubElement(joint, "child", link=b)
    else:
        return None
    return Plant((Account("base.fixed_or_free", "any"),), frozenset({"base"}))


STRUCTURE = {
    "joint.type": retyped,
    "joint.extra freed": freed,
    "joint.missing": lost,
    "joint.extra": added,
    "base.fixed_or_free": base,
}
