"""Links and frames of a URDF: `<link>`, `<inertial>` and `<origin>` to bodies and placements."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..errors import ReadError, Source
from ..spatial import Array, rotation_from_quaternion, rotation_from_rpy, transform
from ..tree import Floats, Inertia
from .fields import Owner, malformed, number, numbers, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .xml import Element

_ZERO: Final = (0.0, 0.0, 0.0)
_TENSOR: Final = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """One `<link>`, before it has a place in the tree.

    Attributes:
        name: as in the file.
        inertia: in link axes; zero without `<inertial>`, and taken as written: it need not be physical.
        sources: file and line by field: "element", "inertial", "mass", "com", "inertia", and "visual_mesh" or
            "collision_mesh" for the first mesh of either kind.
    """

    name: str
    inertia: Inertia
    sources: Mapping[str, Source]


def knows_quaternions(root: Element) -> bool:
    """Return whether `<origin quat_xyzw>` means something: it came with version 1.1, and a file without one is 1.0."""
    match = re.fullmatch(r"(\d+)\.(\d+)", root.get("version") or "1.0")
    return match is not None and (int(match[1]), int(match[2])) >= (1, 1)


def read_link(element: Element, *, quaternions: bool) -> Link:
    """Return the inertia of a link in its own axes, I = R I_file R^T.

    Raises:
        ReadError: it has no name, a number is malformed, something required is missing, or a mass is negative.
    """
    owner = Owner("link", text(element, "name"))
    sources = {"element": element.source, **_meshes(element)}
    inertial = element.first("inertial")
    if inertial is None:
        return Link(owner.name, Inertia(), sources)
    sources["inertial"] = inertial.source
    mass = _mass(inertial, owner, sources)
    T_link_inertial = read_origin(inertial, owner, sources, "com", quaternions=quaternions)
    R, tensor = T_link_inertial[:3, :3], _tensor(inertial, owner, sources)
    with np.errstate(over="ignore", invalid="ignore"):
        I_com = R @ tensor @ R.T
        I_com = (I_com + I_com.T) / 2
    if not np.isfinite(I_com).all():
        raise malformed(f"<inertia> of {owner} is too large for a double", sources["inertia"], owner)
    return Link(owner.name, Inertia(mass, T_link_inertial[:3, 3], I_com, R), sources)


def scaled(n: Floats) -> Floats:
    """Return n, not zero, times the power of two that brings its largest component to [1/2, 1): exact, any length."""
    return np.ldexp(n, -np.frexp(np.abs(n).max())[1])


def read_origin(parent: Element, owner: Owner, sources: dict[str, Source], key: str, *, quaternions: bool) -> Floats:
    """Return the placement that `<origin>` gives, R = Rz(yaw) Ry(pitch) Rx(roll); identity without one.

    Args:
        parent: the element that has the `<origin>`.
        owner: whose origin it is, for errors.
        sources: gets the line of the `<origin>`.
        key: under which name.
        quaternions: whether `quat_xyzw` may give the rotation.

    Returns:
        (4, 4).

    Raises:
        ReadError: a number is malformed, a quaternion is zero, or rpy and quaternion stand side by side.
    """
    origin = parent.first("origin")
    if origin is None:
        return np.eye(4)
    sources[key] = origin.source
    xyz = numbers(origin, "xyz", owner, 3, _ZERO)
    if not quaternions or origin.get("quat_xyzw") is None:
        rpy = numbers(origin, "rpy", owner, 3, _ZERO)
        return _placement(rotation_from_rpy(rpy) if rpy.any() else np.eye(3), xyz)
    if origin.get("rpy") is not None:
        raise malformed(
            f"<origin> of {owner} has both rpy and quat_xyzw; only one of them is allowed", origin.source, owner
        )
    quat_xyzw = numbers(origin, "quat_xyzw", owner, 4)
    if not quat_xyzw.any():
        raise malformed(f"<origin quat_xyzw=...> of {owner} is zero: that is no rotation", origin.source, owner)
    return _placement(rotation_from_quaternion(scaled(np.roll(quat_xyzw, 1))), xyz)


def _placement(R: Array, p: Floats) -> Floats:
    return transform(R, p).astype(np.float64, copy=False)


def _mass(inertial: Element, owner: Owner, sources: dict[str, Source]) -> float:
    element = inertial.first("mass")
    if element is None:
        raise malformed(f"<inertial> of {owner} has no <mass>", inertial.source, owner)
    sources["mass"] = element.source
    mass = number(element, "value", owner)
    if mass < 0:
        message = f"<mass> of {owner} is negative: {mass:g} kg"
        raise ReadError(message, element.source, owner.name, "refused.nonphysical")
    return mass


def _tensor(inertial: Element, owner: Owner, sources: dict[str, Source]) -> Floats:
    """Return the (3, 3) tensor as written, in the axes of the `<origin>`; zero without `<inertia>`."""
    element = inertial.first("inertia")
    if element is None:
        return np.zeros((3, 3))
    sources["inertia"] = element.source
    xx, xy, xz, yy, yz, zz = (number(element, name, owner) for name in _TENSOR)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _meshes(link: Element) -> dict[str, Source]:
    """Return the line of the first visual and the first collision mesh: an engine may stumble over them."""
    found: dict[str, Source] = {}
    for shape in link.children:
        if shape.tag in ("visual", "collision"):
            for mesh in (e for e in shape.walk() if e.tag == "mesh"):
                found.setdefault(f"{shape.tag}_mesh", mesh.source)
    return found
