"""A URDF as text that can be edited."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
from defects_files import KEYS, File, Written, child, numbers, rpy_of, words

from tautology.harness.spatial import rotation_from_rpy, transform


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
        """Return the element of the joint that carries the body, None where there is none."""
        return next((j for j in self.root.findall("joint") if _end(j, "child") == body), None)

    def parent(self, body: str) -> str | None:
        """Return the body above, None for the world."""
        joint = self.joint(body)
        return None if joint is None else _end(joint, "parent")

    def children(self, body: str) -> list[str]:
        """Return the bodies right below."""
        return [_end(j, "child") for j in self.root.findall("joint") if _end(j, "parent") == body]

    def kind(self, body: str) -> str | None:
        """Return the type of the joint in the words of URDF; None for a root link that has no joint."""
        joint = self.joint(body)
        return None if joint is None else {"spherical": "ball"}.get(joint.get("type", ""), joint.get("type"))

    def placed(self, body: str) -> ET.Element:
        """Return the element that says where the body stands."""
        joint = self.joint(body)
        assert joint is not None  # noqa: S101  callers ask for bodies with a joint
        return joint

    def where(self, element: ET.Element) -> Any:
        """Return the (4, 4) of an element that is placed."""
        origin = element.find("origin")
        if origin is None:
            return np.eye(4)
        return transform(rotation_from_rpy(numbers(origin.get("rpy"), "0 0 0")), numbers(origin.get("xyz"), "0 0 0"))

    def place(self, element: ET.Element, T: Any) -> None:
        """Write a placement."""
        origin = element.find("origin")
        if origin is None:
            origin = ET.SubElement(element, "origin")
        old = self.where(element)
        if not np.array_equal(old[:3, :3], T[:3, :3]):
            origin.set("rpy", words(rpy_of(T[:3, :3])))
        origin.set("xyz", words(T[:3, 3]))

    def axis(self, body: str) -> Any:
        """Return the axis of a one-dof joint (3,), in body axes."""
        found = self.placed(body).find("axis")
        return numbers(None if found is None else found.get("xyz"), "1 0 0")

    def put_axis(self, body: str, n: Any) -> None:
        """Write the axis."""
        joint = self.placed(body)
        found = joint.find("axis")
        (ET.SubElement(joint, "axis") if found is None else found).set("xyz", words(n))

    def inertial(self, body: str) -> Written | None:
        """Return the inertial of a body, None without one."""
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
        """Write the inertial, or take it away."""
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
        child(element, "mass").set("value", words(written.mass))
        for key, value in zip(KEYS, written.six, strict=True):
            child(element, "inertia").set(key, words(value))

    def remove(self, body: str) -> None:
        """Take a leaf away, with its joint and whatever names it."""
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
    return child(joint, tag).get("link", "")
