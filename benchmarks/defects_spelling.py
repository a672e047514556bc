"""The same placement, axis or inertia in other words: Euler angles, degrees, quaternions, other axes of tensors."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import numpy as np
from defects_files import Written, numbers, rpy_of, words
from defects_mjcf import Mjcf
from defects_urdf import Urdf

from tautology.harness.spatial import quaternion_from_rotation, rotation_about, rotation_from_quaternion

if TYPE_CHECKING:
    from defects_files import File

TURNED = ("body", "inertial", "geom", "site", "frame", "camera")
SEQUENCES = ("xyz", "XYZ", "zyx", "ZYX")


def euler_of(R: Any, sequence: str) -> Any:
    """Return the three angles of R in a sequence of MuJoCo: small letters turn with the body, capitals stay.

    R = Rx(a) Ry(b) Rz(c) for "xyz" and "ZYX" (listed backwards); R = Rz Ry Rx for "zyx" and "XYZ" (backwards).
    """
    roll, pitch, yaw = rpy_of(R)  # R = Rz(yaw) Ry(pitch) Rx(roll)
    back = -rpy_of(R.T)  # R = Rx(back 0) Ry(back 1) Rz(back 2)
    return {"XYZ": [roll, pitch, yaw], "zyx": [yaw, pitch, roll], "xyz": back, "ZYX": back[::-1]}[sequence]


def to_euler(file: File, rng: Any) -> None:
    """Write every quaternion of an MJCF as Euler angles, in the unit that the compiler line names."""
    compiler = file.root.find("compiler")
    assert compiler is not None  # noqa: S101  the exporter writes it
    sequence = compiler.get("eulerseq") or str(rng.choice(SEQUENCES))
    compiler.set("eulerseq", sequence)
    degrees = compiler.get("angle") == "degree"
    for element in _turned(file):
        R = rotation_from_quaternion(numbers(element.attrib.pop("quat"), ""))
        angles = np.asarray(euler_of(R, sequence))
        element.set("euler", words(np.rad2deg(angles) if degrees else angles))


def _turned(file: File) -> list[ET.Element]:
    roots = [file.root, *file.includes.values()]
    return [e for root in roots for e in root.iter() if e.tag in TURNED and e.get("quat")]


def in_degrees(file: File, _rng: Any) -> None:
    """Write all angles of an MJCF in degrees, with the right compiler line."""
    compiler = file.root.find("compiler")
    if compiler is None or compiler.get("angle") == "degree":
        return
    compiler.set("angle", "degree")
    for b in file.bodies():
        joint = file.joint(b)
        if joint is not None and file.kind(b) in ("revolute", "continuous"):
            for name in ("ref", "springref", "range"):
                if joint.get(name):
                    joint.set(name, words(np.rad2deg(numbers(joint.get(name), ""))))
    if _euler(file):
        for root in [file.root, *file.includes.values()]:
            for e in root.iter():
                if e.get("euler"):
                    e.set("euler", words(np.rad2deg(numbers(e.get("euler"), ""))))


def _euler(file: File) -> bool:
    return any(e.get("euler") for root in [file.root, *file.includes.values()] for e in root.iter())


def other_turns(file: File, rng: Any) -> None:
    """Write every turn in another way that the format has."""
    if isinstance(file, Urdf):
        _urdf_turns(file, rng)
        return
    compiler = file.root.find("compiler")
    degrees = compiler is not None and compiler.get("angle") == "degree"
    for element in _turned(file):
        quat = numbers(element.get("quat"), "")
        R = rotation_from_quaternion(quat)
        way = rng.integers(4)
        if way == 0:
            element.set("quat", words(quat * rng.choice([-2.0, -1, 3.5])))
            continue
        del element.attrib["quat"]
        if way == 1:
            element.set("xyaxes", words(np.concatenate([R[:, 0] * 2, R[:, 1]])))
        elif way == 2:
            quat = quaternion_from_rotation(R)
            angle = 2 * np.arctan2(np.linalg.norm(quat[1:]), quat[0])
            n = quat[1:] if quat[1:].any() else np.array([0, 0, 1.0])
            element.set("axisangle", words([*(n / np.linalg.norm(n)), np.rad2deg(angle) if degrees else angle]))
        else:
            element.set("quat", words(quaternion_from_rotation(R)))


def _urdf_turns(file: Urdf, rng: Any) -> None:
    file.root.set("version", "1.1")
    for origin in file.root.iter("origin"):
        rpy = numbers(origin.get("rpy"), "0 0 0")
        way = rng.integers(3)
        if way == 0:  # the other triple of the same turn
            origin.set("rpy", words([rpy[0] + np.pi, np.pi - rpy[1], rpy[2] - np.pi]))
        elif way == 1:
            x, y, z = np.eye(3)
            R = rotation_about(z, rpy[2]) @ rotation_about(y, rpy[1]) @ rotation_about(x, rpy[0])
            origin.attrib.pop("rpy", None)
            origin.set("quat_xyzw", words(np.roll(quaternion_from_rotation(R), -1)))


def scaled_axes(file: File, rng: Any) -> None:
    """Write axes of another length."""
    for b in file.bodies():
        joint = file.joint(b)
        if joint is not None and file.kind(b) in ("revolute", "continuous", "prismatic"):
            file.put_axis(b, file.axis(b) * rng.choice([0.5, 2.0, 7.3]))


def turned_inertials(file: File, rng: Any, *, all_of_them: bool = False) -> None:
    """Write tensors in other axes: any in URDF, principal ones in MJCF."""
    for b in file.bodies():
        w = file.inertial(b)
        if w is None or not np.abs(w.six).max() > 0 or not (all_of_them or rng.random() < 0.7):
            continue
        if isinstance(file, Mjcf):
            moments, axes = np.linalg.eigh(w.I_com)
            axes = axes * np.array([1, 1, np.sign(np.linalg.det(axes))])
            if np.array_equal(w.R, np.eye(3)) and w.six[3:].any():
                file.put_inertial(b, Written(w.mass, w.pos, axes, np.array([*moments, 0, 0, 0])))
            elif not np.array_equal(w.R, np.eye(3)):
                file.put_inertial(b, w.turned(np.eye(3)))
        else:
            file.put_inertial(b, w.turned(rotation_from_quaternion(rng.normal(size=4))))


def by_default(file: File, rng: Any) -> None:
    """Put what joints have in common into a default class of MJCF."""
    if not isinstance(file, Mjcf) or file.root.find("default") is not None:
        return
    joints = [e for b in file.bodies() if (e := file.joint(b)) is not None and e.tag == "joint"]
    for name in ("damping", "armature", "frictionloss", "axis"):
        values = [e.get(name) for e in joints if e.get(name)]
        if not values or any(e.get("type") in ("free", "ball") and name == "axis" for e in joints):
            continue
        common = values[int(rng.integers(len(values)))]
        default = file.root.find("default")
        if default is None:
            default = ET.Element("default")
            file.root.insert(1, default)
            outer = ET.SubElement(default, "default", {"class": "limb"})
            ET.SubElement(outer, "joint")
            file.world().findall("body")[0].set("childclass", "limb")
        inner = default.find("default/joint")
        assert inner is not None  # noqa: S101  written above
        inner.set(name, common or "")
        for e in joints:
            if e.get(name) == common:
                del e.attrib[name]
            elif not e.get(name):
                e.set(name, "0 0 1" if name == "axis" else "0")
