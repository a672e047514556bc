"""Defects beside the rigid bodies: gravity, medium, joint terms, tendons, relations, the unit of a whole file."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import numpy as np
from defects_files import ONE_DOF, numbers, words
from defects_inertials import stated
from defects_mjcf import Mjcf
from defects_plant import Account, Plant, direction, pick, plant
from defects_spelling import to_euler
from defects_urdf import Urdf

from tautology.harness.spatial import exp_so3, rotation_from_quaternion

if TYPE_CHECKING:
    from collections.abc import Callable

    from defects_files import File


def gravity(kind: str) -> Callable[[File, Any, float], Plant | None]:
    """Return a planter of a gravity defect."""

    def grow(file: File, rng: Any, size: float) -> Plant | None:
        option = file.root.find("option")
        if option is None:
            return None
        g = numbers(option.get("gravity"), "0 0 -9.81")
        side = np.cross(g, direction(rng))
        turn = rotation_from_quaternion(exp_so3(side / np.linalg.norm(side) * min(size, 1.0)))
        after = {"gravity.value": g * (1 + size), "gravity.sign": -g, "gravity.direction": turn @ g}[kind]
        option.set("gravity", words(after))
        return Plant((Account(kind, "whole"),), frozenset({"gravity"}))

    return grow


def fluid(file: File, rng: Any, size: float) -> Plant | None:
    """Change the medium: its density, its viscosity or the wind."""
    option = file.root.find("option")
    if option is None:
        return None
    name = str(rng.choice(["density", "viscosity", "wind"]))
    if name == "wind":
        option.set("wind", words(numbers(option.get("wind"), "0 0 0") + direction(rng) * size))
    else:
        option.set(name, words(float(option.get(name, "0")) * (1 + size) or size))
    return Plant((Account("fluid", "whole"),), frozenset({"fluid"}))


def of_joint(kind: str, attribute: str) -> Callable[[File, Any, float], Plant | None]:
    """Return a planter that scales, adds or takes away an attribute of MJCF's `<joint>` or of URDF's `<dynamics>`."""

    def grow(file: File, rng: Any, size: float) -> Plant | None:
        movers = [b for b in file.bodies() if file.kind(b) in ONE_DOF]
        b = pick(rng, movers)
        element = None if b is None else file.joint(b)
        if b is None or element is None:
            return None
        name = attribute
        if isinstance(file, Urdf):
            if kind not in ("damping", "frictionloss"):
                return None
            found = element.find("dynamics")
            element = ET.SubElement(element, "dynamics") if found is None else found
            name = attribute.removesuffix("loss")
        value = float(element.get(name, "0"))
        element.set(name, words(_altered(value, rng, size)))
        return plant(kind, "joint", b, "terms", name)

    return grow


def _altered(value: float, rng: Any, size: float) -> float:
    """Return another value of a term: by a share of itself, none where there was one, or one where there was none."""
    if value and size >= 1 and rng.random() < 0.5:
        return 0.0
    return value * (1 + size) if value else 0.3 * size


def spring(file: File, rng: Any, size: float) -> Plant | None:
    """Change the stiffness of a spring, or where it rests."""
    sprung = [b for b in file.bodies() if file.kind(b) in ONE_DOF and _stiff(file, b)]
    b = pick(rng, sprung)
    joint = None if b is None else file.joint(b)
    if b is None or joint is None:
        return of_joint("spring", "stiffness")(file, rng, size) if isinstance(file, Mjcf) else None
    if rng.random() < 0.5:
        joint.set("stiffness", words(float(joint.get("stiffness", "0")) * (1 + size)))
    else:
        joint.set("springref", words(float(joint.get("springref", "0")) + size))
    return plant("spring", "joint", b, "terms", "spring")


def _stiff(file: File, b: str) -> bool:
    joint = file.joint(b)
    return joint is not None and joint.get("stiffness") is not None


def gravcomp(file: File, rng: Any, size: float) -> Plant | None:
    """Let MuJoCo carry a share of a body's weight."""
    b = pick(rng, stated(file)) if isinstance(file, Mjcf) else None
    if b is None or not isinstance(file, Mjcf) or not file.moving(b):
        return None
    element = file.body(b)
    element.set("gravcomp", words(float(element.get("gravcomp", "0")) + min(size, 1.0)))
    return plant("gravcomp", "body", b, "gravcomp")


def rotor(file: File, rng: Any, size: float) -> Plant | None:
    """Change the inertia of a motor, or its gear, which counts squared."""
    motors = [m for m in file.root.iter("motor") if m.get("armature")]
    if not motors:
        return None
    motor = motors[int(rng.integers(len(motors)))]
    owners = {e.get("name"): b for b in file.bodies() if (e := file.joint(b)) is not None}
    b = owners.get(motor.get("joint"))
    if b is None:
        return None
    if rng.random() < 0.5:
        motor.set("armature", words(float(motor.get("armature", "0")) * (1 + size)))
    else:
        motor.set("gear", words(1 + size))
    return plant("rotor", "joint", b, "terms", "armature")


def belt(file: File, rng: Any, size: float) -> Plant | None:
    """Change the inertia of a tendon or a coefficient of it, or add a tendon."""
    if not isinstance(file, Mjcf):
        return None
    fixed = file.root.find("tendon/fixed")
    if fixed is not None:
        ends = fixed.findall("joint")
        if rng.random() < 0.5:
            fixed.set("armature", words(float(fixed.get("armature", "0")) * (1 + size)))
        else:
            ends[0].set("coef", words(float(ends[0].get("coef", "1")) * (1 + size)))
        name = fixed.get("name", "")
    else:
        movers = [
            e.get("name", "") for b in file.bodies() if file.kind(b) in ONE_DOF and (e := file.joint(b)) is not None
        ]
        if len(movers) < 2:
            return None
        name, section = "new_belt", ET.SubElement(file.root, "tendon")
        fixed = ET.SubElement(section, "fixed", name=name, armature=words(0.2 * size))
        for joint, coefficient in zip(rng.permutation(movers)[:2], (1.0, -0.6), strict=True):
            ET.SubElement(fixed, "joint", joint=str(joint), coef=words(coefficient))
    return plant("armature.tendon", "name", name, "tendon")


def mimic(file: File, rng: Any, size: float) -> Plant | None:
    """Change the ratio or offset of a relation between two joints, or take it away, or add one."""
    relations = [*file.root.iter("mimic"), *file.root.findall("equality/joint")]
    names = {e.get("name"): b for b in file.bodies() if file.kind(b) in ONE_DOF and (e := file.joint(b)) is not None}
    if not relations:
        return _coupled(file, rng, names)
    relation = relations[int(rng.integers(len(relations)))]
    above = next(e for e in file.root.iter() if relation in list(e))
    follower = names.get(above.get("name") if relation.tag == "mimic" else relation.get("joint1"))
    if follower is None:
        return None
    if size >= 1 and rng.random() < 0.3:
        above.remove(relation)
    elif relation.tag == "mimic":
        which = "multiplier" if rng.random() < 0.5 else "offset"
        value = float(relation.get(which, "1" if which == "multiplier" else "0"))
        relation.set(which, words(value * (1 + size) if value else size))
    else:
        polynomial = numbers(relation.get("polycoef"), "0 1 0 0 0")
        k = int(rng.integers(2))
        polynomial[k] = polynomial[k] * (1 + size) if polynomial[k] else size
        relation.set("polycoef", words(polynomial))
    return plant("joint.mimic", "joint", follower, "mimic")


def _coupled(file: File, rng: Any, names: dict[str | None, str]) -> Plant | None:
    if len(names) < 2:
        return None
    order = rng.permutation([str(name) for name in names])
    first, second = str(order[0]), str(order[1])
    if isinstance(file, Urdf):
        ET.SubElement(file.placed(names[first]), "mimic", joint=second, multiplier="1.5")
    else:
        section = ET.SubElement(file.root, "equality")
        ET.SubElement(section, "joint", name="relation", joint1=first, joint2=second, polycoef="0 1.5 0 0 0")
    return plant("joint.mimic", "joint", names[first], "mimic")


def wrong_unit(file: File, rng: Any, _size: float) -> Plant | None:
    """Spell all turns of an MJCF as Euler angles, and let the compiler read them in the other unit."""
    if not isinstance(file, Mjcf):
        return None
    turned = [b for b in file.bodies() if np.abs(file.placement(b)[:3, :3] - np.eye(3)).max() > 0.05]
    if not turned:
        return None

    def late(done: File) -> None:
        to_euler(done, rng)
        compiler = done.root.find("compiler")
        assert compiler is not None  # noqa: S101  the exporter writes it
        compiler.set("angle", {"radian": "degree", "degree": "radian"}[compiler.get("angle", "degree")])

    fields = frozenset(f"{b}.{field}" for b in file.bodies() for field in ("placement", "zero", "spring", "terms"))
    return Plant((Account("units.angle", "any"),), fields | {"spelling"}, late)


TERMS = {
    "gravity.value": gravity("gravity.value"),
    "gravity.sign": gravity("gravity.sign"),
    "gravity.direction": gravity("gravity.direction"),
    "fluid": fluid,
    "damping": of_joint("damping", "damping"),
    "frictionloss": of_joint("frictionloss", "frictionloss"),
    "armature": of_joint("armature", "armature"),
    "spring": spring,
    "gravcomp": gravcomp,
    "rotor": rotor,
    "armature.tendon": belt,
    "joint.mimic": mimic,
    "units.angle file": wrong_unit,
}
