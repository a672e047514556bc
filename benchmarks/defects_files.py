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


def child(element: ET.Element, tag: str) -> ET.Element:
    """Return the child of this tag, which the exporter has written."""
    found = element.find(tag)
    assert found is not None  # noqa: S101  the exporter writes it
    return found
