"""An MJCF as text that can be edited."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any, ClassVar

import numpy as np
from defects_files import File, Written, child, numbers, words

from tautology.harness.spatial import quaternion_from_rotation, rotation_from_quaternion, transform


class Mjcf(File):
    """An MJCF: bodies in bodies. Bodies with several joints stand for several bodies and are left alone."""

    format = "mjcf"
    TYPES: ClassVar = {"hinge": "revolute", "slide": "prismatic", "ball": "ball", "free": "floating"}

    def world(self) -> ET.Element:
        """Return `<worldbody>`."""
        return child(self.root, "worldbody")

    def bodies(self) -> list[str]:
        """Return the bodies that can be edited."""
        return [e.get("name", "") for e in self.world().iter("body") if len(_joints(e)) < 2]

    def body(self, name: str) -> ET.Element:
        """Return the element of a body."""
        return next(e for e in self.world().iter("body") if e.get("name") == name)

    def above(self, element: ET.Element) -> ET.Element:
        """Return the element that holds another."""
        return next(e for e in self.root.iter() if element in list(e))

    def parent(self, body: str) -> str | None:
        """Return the body above, None for the world."""
        return self.above(self.body(body)).get("name")

    def children(self, body: str) -> list[str]:
        """Return the bodies right below."""
        return [e.get("name", "") for e in self.body(body).findall("body")]

    def joint(self, body: str) -> ET.Element | None:
        """Return the element of the joint that carries the body, None where there is none."""
        return next(iter(_joints(self.body(body))), None)

    def kind(self, body: str) -> str | None:
        """Return the type of the joint in the words of URDF; None for a root link that has no joint."""
        joint = self.joint(body)
        if joint is None:
            return "fixed"
        return "floating" if joint.tag == "freejoint" else self.TYPES[joint.get("type", "hinge")]

    def placed(self, body: str) -> ET.Element:
        """Return the element that says where the body stands."""
        return self.body(body)

    def where(self, element: ET.Element) -> Any:
        """Return the (4, 4) of an element that is placed."""
        quat = numbers(element.get("quat"), "1 0 0 0")
        return transform(rotation_from_quaternion(quat), numbers(element.get("pos"), "0 0 0"))

    def place(self, element: ET.Element, T: Any) -> None:
        """Write a placement."""
        if not np.array_equal(self.where(element)[:3, :3], T[:3, :3]):
            element.set("quat", words(quaternion_from_rotation(T[:3, :3])))
        element.set("pos", words(T[:3, 3]))

    def axis(self, body: str) -> Any:
        """Return the axis of a one-dof joint (3,), in body axes."""
        joint = self.joint(body)
        return numbers(None if joint is None else joint.get("axis"), "0 0 1")

    def put_axis(self, body: str, n: Any) -> None:
        """Write the axis."""
        joint = self.joint(body)
        assert joint is not None  # noqa: S101  callers ask for moving bodies
        joint.set("axis", words(n))

    def inertial(self, body: str) -> Written | None:
        """Return the inertial of a body, None without one."""
        element = self.body(body).find("inertial")
        if element is None:
            return None
        T = self.where(element)
        six = numbers(element.get("fullinertia"), element.get("diaginertia", "0 0 0") + " 0 0 0")
        return Written(float(element.get("mass", "0")), T[:3, 3], T[:3, :3], six)

    def put_inertial(self, body: str, written: Written | None) -> None:
        """Write the inertial, or take it away."""
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
        """Take a leaf away, with its joint and whatever names it."""
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
