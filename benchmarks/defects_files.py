"""Robot files as text that can be edited: one view of URDF and MJCF, so that a defect is planted once for both.

The files are those that the exporters write: one joint per body, rpy in URDF, quaternions in MJCF, radians. Everything
else (degrees, Euler angles, default classes, other frames) is written over it afterwards, by `defects_rewrites`.
"""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ET
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tautology.harness.spatial import quaternion_from_rotation, rotation_from_quaternion, rotation_from_rpy, transform

KEYS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
HINGED = ("revolute", "continuous")
ONE_DOF = (*HINGED, "prismatic")


def words(values: Any) -> str:
    """Return numbers as a file has them, every digit kept."""
    return " ".join(repr(float(x)) for x in np.atleast_1d(values))


def numbers(text: str | None, default: str) -> Any:
    """Return the numbers of an attribute as an array."""
    return np.array([float(x) for x in (text or default).split()])


def rpy_of(R: Any) -> Any:
    """Return roll, pitch, yaw (3,) of R = Rz Ry Rx."""
    c = np.hypot(R[0, 0], R[1, 0])
    if c < 1e-9:  # gimbal lock: only one of roll and yaw is told
        return np.array([np.arctan2(-R[1, 2], R[1, 1]), np.arctan2(-R[2, 0], c), 0.0])
    return np.array([np.arctan2(R[2, 1], R[2, 2]), np.arctan2(-R[2, 0], c), np.arctan2(R[1, 0], R[0, 0])])


def tensor(six: Any) -> Any:
    """Return xx yy zz xy xz yz as (3, 3)."""
    xx, yy, zz, xy, xz, yz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def six_of(I: Any) -> Any:
    """Return (3, 3) as xx yy zz xy xz yz."""
    return np.array([I[at] for at in ENTRIES])


@dataclass(frozen=True)
class Written:
    """An inertial as a file writes it: mass, pos (3,), R_body_inertial (3, 3), six numbers in those axes."""

    mass: float
    pos: Any
    R: Any
    six: Any

    @property
    def I_com(self) -> Any:
        """(3, 3) in body axes."""
        return self.R @ tensor(self.six) @ self.R.T

    def turned(self, R: Any) -> Written:
        """Return the same inertia written in other axes R_body_inertial."""
        return replace(self, R=R, six=six_of(R.T @ self.I_com @ R))


class File(ABC):
    """A document; bodies go by name, a joint by the body that it carries."""

    format = ""

    def __init__(self, text: str) -> None:
        self.root = ET.fromstring(text)  # noqa: S314  our own exporters wrote it
        self.includes: dict[str, ET.Element] = {}
        self.renamed: dict[str, str] = {}  # name of a body or joint as exported to the name in the file

    def copy(self) -> File:
        """Return an independent copy."""
        return copy.deepcopy(self)

    def texts(self, name: str) -> dict[str, str]:
        """Return file name to text, the main file under `name`."""
        parts = {name: self.root, **self.includes}
        return {key: ET.tostring(root, encoding="unicode") for key, root in parts.items()}

    def now(self, name: str) -> str:
        """Return what is called `name` by the exporter, as the file calls it."""
        return self.renamed.get(name, name)

    def moving(self, body: str) -> bool:
        """Return whether the body's own joint moves."""
        return self.kind(body) not in (None, "fixed")

    def leaves(self) -> list[str]:
        """Return the bodies without children."""
        return [b for b in self.bodies() if not self.children(b)]

    def put_placement(self, body: str, T: Any) -> None:
        """Place the body's joint in its parent."""
        self.place(self.placed(body), T)

    def placement(self, body: str) -> Any:
        """Return (4, 4) of the body, or its joint, in the parent."""
        return self.where(self.placed(body))

    @abstractmethod
    def bodies(self) -> list[str]:
        """Return the bodies that can be edited."""

    @abstractmethod
    def parent(self, body: str) -> str | None:
        """Return the body above, None for the world."""

    @abstractmethod
    def children(self, body: str) -> list[str]:
        """Return the bodies right below."""

    @abstractmethod
    def joint(self, body: str) -> ET.Element | None:
        """Return the element of the joint that carries the body, None where there is none."""

    @abstractmethod
    def kind(self, body: str) -> str | None:
        """Return the type of the joint in the words of URDF; None for a root link that has no joint."""

    @abstractmethod
    def placed(self, body: str) -> ET.Element:
        """Return the element that says where the body stands."""

    @abstractmethod
    def where(self, element: ET.Element) -> Any:
        """Return the (4, 4) of an element that is placed."""

    @abstractmethod
    def place(self, element: ET.Element, T: Any) -> None:
        """Write a placement."""

    @abstractmethod
    def axis(self, body: str) -> Any:
        """Return the axis of a one-dof joint (3,), in body axes."""

    @abstractmethod
    def put_axis(self, body: str, n: Any) -> None:
        """Write the axis."""

    @abstractmethod
    def inertial(self, body: str) -> Written | None:
        """Return the inertial of a body, None without one."""

    @abstractmethod
    def put_inertial(self, body: str, written: Written | None) -> None:
        """Write the inertial, or take it away."""

    @abstractmethod
    def remove(self, body: str) -> None:
        """Take a leaf away, with its joint and whatever names it."""


class Urdf(File):
    """A URDF: links and joints side by side."""

    format = "urdf"

    def bodies(self) -> list[str]:
        """Return all links but an empty one that stands for the world."""
        return [e.get("name", "") for e in self.root.findall("link") if e.get("name") != "world"]

    def link(self, body: str) -> ET.Element:
        """Return the element of a link."""
        return next(e for e in self.root.findall("link") if e.get("name") == body)

    def joint(self, body: str) -> ET.Element | None:
        return next((j for j in self.root.findall("joint") if _end(j, "child") == body), None)

    def parent(self, body: str) -> str | None:
        joint = self.joint(body)
        return None if joint is None else _end(joint, "parent")

    def children(self, body: str) -> list[str]:
        return [_end(j, "child") for j in self.root.findall("joint") if _end(j, "parent") == body]

    def kind(self, body: str) -> str | None:
        joint = self.joint(body)
        return None if joint is None else {"spherical": "ball"}.get(joint.get("type", ""), joint.get("type"))

    def placed(self, body: str) -> ET.Element:
        joint = self.joint(body)
        assert joint is not None  # noqa: S101  callers ask for bodies with a joint
        return joint

    def where(self, element: ET.Element) -> Any:
        origin = element.find("origin")
        if origin is None:
            return np.eye(4)
        return transform(rotation_from_rpy(numbers(origin.get("rpy"), "0 0 0")), numbers(origin.get("xyz"), "0 0 0"))

    def place(self, element: ET.Element, T: Any) -> None:
        origin = element.find("origin")
        if origin is None:
            origin = ET.SubElement(element, "origin")
        old = self.where(element)
        if not np.array_equal(old[:3, :3], T[:3, :3]):
            origin.set("rpy", words(rpy_of(T[:3, :3])))
        origin.set("xyz", words(T[:3, 3]))

    def axis(self, body: str) -> Any:
        found = self.placed(body).find("axis")
        return numbers(None if found is None else found.get("xyz"), "1 0 0")

    def put_axis(self, body: str, n: Any) -> None:
        joint = self.placed(body)
        found = joint.find("axis")
        (ET.SubElement(joint, "axis") if found is None else found).set("xyz", words(n))

    def inertial(self, body: str) -> Written | None:
        element = self.link(body).find("inertial")
        if element is None:
            return None
        mass, inertia = element.find("mass"), element.find("inertia")
        assert mass is not None  # noqa: S101  the exporter writes both
        assert inertia is not None  # noqa: S101
        T = self.where(element)
        six = np.array([float(inertia.get(key, "0")) for key in KEYS])
        return Written(float(mass.get("value", "0")), T[:3, 3], T[:3, :3], six)

    def put_inertial(self, body: str, written: Written | None) -> None:
        link = self.link(body)
        element = link.find("inertial")
        if written is None:
            if element is not None:
                link.remove(element)
            return
        if element is None:
            element = ET.SubElement(link, "inertial")
            for tag in ("origin", "mass", "inertia"):
                ET.SubElement(element, tag)
        self.place(element, transform(written.R, written.pos))
        _child(element, "mass").set("value", words(written.mass))
        for key, value in zip(KEYS, written.six, strict=True):
            _child(element, "inertia").set(key, words(value))

    def remove(self, body: str) -> None:
        joint = self.joint(body)
        name = "" if joint is None else joint.get("name")
        self.root.remove(self.link(body))
        for element in list(self.root):
            names = {e.get("name") for e in element.iter("joint")} if element.tag == "transmission" else set()
            if element is joint or name in names:
                self.root.remove(element)
            mimic = element.find("mimic")
            if mimic is not None and mimic.get("joint") == name:
                element.remove(mimic)


def _end(joint: ET.Element, tag: str) -> str:
    return _child(joint, tag).get("link", "")


def _child(element: ET.Element, tag: str) -> ET.Element:
    found = element.find(tag)
    assert found is not None  # noqa: S101  the exporter writes it
    return found


class Mjcf(File):
    """An MJCF: bodies in bodies. Bodies with several joints stand for several bodies and are left alone."""

    format = "mjcf"
    TYPES = {"hinge": "revolute", "slide": "prismatic", "ball": "ball", "free": "floating"}  # noqa: RUF012

    def world(self) -> ET.Element:
        """Return `<worldbody>`."""
        return _child(self.root, "worldbody")

    def bodies(self) -> list[str]:
        return [e.get("name", "") for e in self.world().iter("body") if len(_joints(e)) < 2]

    def body(self, name: str) -> ET.Element:
        """Return the element of a body."""
        return next(e for e in self.world().iter("body") if e.get("name") == name)

    def above(self, element: ET.Element) -> ET.Element:
        """Return the element that holds another."""
        return next(e for e in self.root.iter() if element in list(e))

    def parent(self, body: str) -> str | None:
        return self.above(self.body(body)).get("name")

    def children(self, body: str) -> list[str]:
        return [e.get("name", "") for e in self.body(body).findall("body")]

    def joint(self, body: str) -> ET.Element | None:
        return next(iter(_joints(self.body(body))), None)

    def kind(self, body: str) -> str | None:
        joint = self.joint(body)
        if joint is None:
            return "fixed"
        return "floating" if joint.tag == "freejoint" else self.TYPES[joint.get("type", "hinge")]

    def placed(self, body: str) -> ET.Element:
        return self.body(body)

    def where(self, element: ET.Element) -> Any:
        quat = numbers(element.get("quat"), "1 0 0 0")
        return transform(rotation_from_quaternion(quat), numbers(element.get("pos"), "0 0 0"))

    def place(self, element: ET.Element, T: Any) -> None:
        if not np.array_equal(self.where(element)[:3, :3], T[:3, :3]):
            element.set("quat", words(quaternion_from_rotation(T[:3, :3])))
        element.set("pos", words(T[:3, 3]))

    def axis(self, body: str) -> Any:
        joint = self.joint(body)
        return numbers(None if joint is None else joint.get("axis"), "0 0 1")

    def put_axis(self, body: str, n: Any) -> None:
        joint = self.joint(body)
        assert joint is not None  # noqa: S101  callers ask for moving bodies
        joint.set("axis", words(n))

    def inertial(self, body: str) -> Written | None:
        element = self.body(body).find("inertial")
        if element is None:
            return None
        T = self.where(element)
        six = numbers(element.get("fullinertia"), element.get("diaginertia", "0 0 0") + " 0 0 0")
        return Written(float(element.get("mass", "0")), T[:3, 3], T[:3, :3], six)

    def put_inertial(self, body: str, written: Written | None) -> None:
        owner = self.body(body)
        element = owner.find("inertial")
        if element is not None:
            owner.remove(element)
        if written is None:
            return
        element = ET.Element("inertial", pos=words(written.pos), mass=words(written.mass))
        if np.array_equal(written.R, np.eye(3)) and written.six[3:].any():
            element.set("fullinertia", words(written.six))
        else:  # the format takes a full tensor in body axes only
            if not np.array_equal(written.R, np.eye(3)):
                element.set("quat", words(quaternion_from_rotation(written.R)))
            element.set("diaginertia", words(written.six[:3]))
        owner.insert(0, element)

    def remove(self, body: str) -> None:
        element, joint = self.body(body), self.joint(body)
        name = None if joint is None else joint.get("name")
        self.above(element).remove(element)
        for section in [e for e in self.root if e.tag in ("tendon", "equality", "actuator", "keyframe")]:
            for part in list(section):
                named = {value for e in part.iter() for value in e.attrib.values()}
                if section.tag == "keyframe" or (name is not None and name in named):
                    section.remove(part)


def _joints(body: ET.Element) -> list[ET.Element]:
    return [e for e in body if e.tag in ("joint", "freejoint")]


def open_text(text: str) -> File:
    """Return a document by its root element."""
    return Urdf(text) if "<robot" in text[:400] else Mjcf(text)
