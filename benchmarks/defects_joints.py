"""Defects of joints that stay what they are: axis, placement, orientation, zero, units."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from defects_files import HINGED, ONE_DOF, numbers, words
from defects_inertials import LEAST, rests, stated
from defects_mjcf import Mjcf
from defects_plant import Account, Plant, direction, pick, plant
from defects_urdf import Urdf

from tautology.harness.spatial import exp_so3, rotation_about, rotation_from_quaternion, transform

if TYPE_CHECKING:
    from defects_files import File


def _carrying(file: File) -> set[str]:
    """Return the bodies that have mass or carry some."""
    heavy = set(stated(file))
    for b in reversed(file.bodies()):
        while (above := file.parent(b)) is not None and b in heavy and above not in heavy and above != "world":
            heavy.add(above)
            b = above  # noqa: PLW2901  up to the root
    return heavy


def movable(file: File) -> list[str]:
    """Return the bodies whose placement is a parameter of its own.

    Not those that float. Not those on a massless fixed frame, nor such a frame itself: where the frame of a body stands
    is a choice of the file, and nothing but the sum of both placements moves anything.
    """
    heavy = set(stated(file))
    bodies = [b for b in file.bodies() if file.joint(b) is not None or isinstance(file, Mjcf)]
    bodies = [b for b in bodies if file.kind(b) != "floating" and file.parent(b) not in (None, "world")]

    def idle(b: str | None) -> bool:
        return b is not None and b not in heavy and file.kind(b) in ("fixed", None)

    return [b for b in bodies if not idle(file.parent(b)) and not idle(b)]


def of_kind(file: File, *kinds: str) -> list[str]:
    """Return the bodies on joints of these types that carry some mass."""
    heavy = _carrying(file)
    return [b for b in file.bodies() if file.kind(b) in kinds and b in heavy]


def placement(file: File, rng: Any, size: float) -> Plant | None:
    """Shift a joint in a direction of no symmetry; a body at rest on another could have its inertia shifted."""
    b = pick(rng, movable(file))
    if b is None:
        return None
    T = file.placement(b)
    length = float(np.linalg.norm(T[:3, 3])) or 0.1
    T[:3, 3] += direction(rng) * length * size
    file.put_placement(b, T)
    still = rests(file, b) and file.inertial(b) is not None
    return plant("joint.placement", "joint", b, "placement", equal=(Account("com", "body", b),) if still else ())


def anchor(file: File, rng: Any, size: float) -> Plant | None:
    """Shift the anchor of a hinge or ball in its body, not along the axis: the axis is another line then."""
    b = pick(rng, of_kind(file, *HINGED, "ball")) if isinstance(file, Mjcf) else None
    joint = None if b is None else file.joint(b)
    if b is None or joint is None:
        return None
    pos = numbers(joint.get("pos"), "0 0 0")
    off = direction(rng)
    if file.kind(b) in HINGED:
        n = file.axis(b) / np.linalg.norm(file.axis(b))
        off = np.cross(n, off) / np.linalg.norm(np.cross(n, off))
    joint.set("pos", words(pos + off * (float(np.linalg.norm(pos)) or 0.1) * size))
    return plant("joint.placement", "joint", b, "placement")


def orientation(file: File, rng: Any, size: float) -> Plant | None:
    """Turn a joint about a direction of no symmetry; a body at rest about its centre of mass turns its tensor."""
    b = pick(rng, [b for b in movable(file) if not _round(file, b)])
    if b is None:
        return None
    T = file.placement(b)
    T[:3, :3] = T[:3, :3] @ rotation_from_quaternion(exp_so3(direction(rng) * min(size, 1.0)))
    file.put_placement(b, T)
    still = rests(file, b)
    w = file.inertial(b)
    centred = still and w is not None and not w.pos.any()
    equal = (Account("inertia.rotation", "body", b),) if centred else ()
    return plant("joint.orientation", "joint", b, "placement", equal=equal)


def _round(file: File, b: str) -> bool:
    """Return whether turning a body shows nowhere: it rests on another, carries nothing, and is the same all around."""
    w = file.inertial(b)
    if w is None or not rests(file, b):
        return False
    even = np.abs(w.I_com - w.I_com[0, 0] * np.eye(3)).max() <= LEAST * np.abs(w.six).max()
    return bool(even and not w.pos.any())


def axis(file: File, rng: Any, size: float) -> Plant | None:
    """Tilt an axis."""
    b = pick(rng, of_kind(file, *ONE_DOF))
    if b is None:
        return None
    n = file.axis(b)
    side = np.cross(n, direction(rng))
    tilt = rotation_about(side / np.linalg.norm(side), np.asarray(min(size, 1.0)))
    file.put_axis(b, tilt @ n)
    return plant("joint.axis", "joint", b, "axis")


def axis_sign(file: File, rng: Any, _size: float) -> Plant | None:
    """Reverse an axis."""
    b = pick(rng, of_kind(file, *ONE_DOF))
    if b is None:
        return None
    file.put_axis(b, -file.axis(b))
    return plant("joint.axis_sign", "joint", b, "axis")


def zero(file: File, rng: Any, size: float) -> Plant | None:
    """Shift the zero: by `ref`, or by the placement, which is the same as another placement along the motion."""
    turns = [b for b in of_kind(file, *ONE_DOF) if b in movable(file)]
    b = pick(rng, turns)
    if b is None:
        return None
    joint, n = file.joint(b), file.axis(b) / np.linalg.norm(file.axis(b))
    slides = file.kind(b) == "prismatic"
    twin = Account("joint.placement" if slides else "joint.orientation", "joint", b)
    if isinstance(file, Mjcf) and joint is not None and rng.random() < 0.5:
        joint.set("ref", words(float(joint.get("ref", "0")) + (0.1 if slides else 1.0) * size))
    else:
        anchored = isinstance(file, Mjcf) and joint is not None and joint.get("pos") is not None
        c = numbers(joint.get("pos"), "0 0 0") if anchored and joint is not None else np.zeros(3)
        R = np.eye(3) if slides else rotation_about(n, np.asarray(size))
        shift = n * 0.1 * size if slides else c - R @ c
        file.put_placement(b, file.placement(b) @ transform(R, shift))
    return plant("joint.zero", "joint", b, "placement", "zero", equal=(twin,))


def degrees(file: File, rng: Any, _size: float) -> Plant | None:
    """Write the turn of one URDF joint in degrees."""
    if not isinstance(file, Urdf):
        return None
    turned = [b for b in movable(file) if np.abs(_rpy(file, b)).max() > 0.05 and not _round(file, b)]
    b = pick(rng, turned)
    if b is None:
        return None
    origin = file.placed(b).find("origin")
    assert origin is not None  # noqa: S101  it has a turn
    origin.set("rpy", words(np.rad2deg(_rpy(file, b))))
    return plant("units.angle", "joint", b, "placement", equal=(Account("units.angle", "body", b),))


def _rpy(file: Urdf, b: str) -> Any:
    origin = file.placed(b).find("origin")
    return np.zeros(3) if origin is None else numbers(origin.get("rpy"), "0 0 0")


def millimetres(file: File, rng: Any, _size: float) -> Plant | None:
    """Write the placement of one joint in millimetres, or all lengths of the file."""
    far = [b for b in movable(file) if np.linalg.norm(file.placement(b)[:3, 3]) > 1e-3]
    b = pick(rng, far)
    if b is None:
        return None
    factor = float(rng.choice([1e3, 1e-3]))
    if rng.random() < 0.6:
        _stretch(file, b, factor)
        return plant("units.length", "joint", b, "placement")
    for body in far:
        _stretch(file, body, factor)
    for body in stated(file):
        w = file.inertial(body)
        assert w is not None  # noqa: S101  it is stated
        file.put_inertial(body, replace(w, pos=w.pos * factor))
    for joint in file.root.iter("joint") if isinstance(file, Mjcf) else ():
        if joint.get("pos"):
            joint.set("pos", words(numbers(joint.get("pos"), "") * factor))
    fields = frozenset(f"{x}.{field}" for x in file.bodies() for field in ("placement", "com"))
    return Plant((Account("units.length", "any"),), fields)


def _stretch(file: File, b: str, factor: float) -> None:
    T = file.placement(b)
    T[:3, 3] *= factor
    file.put_placement(b, T)


JOINTS = {
    "joint.placement": placement,
    "joint.placement anchor": anchor,
    "joint.orientation": orientation,
    "joint.axis": axis,
    "joint.axis_sign": axis_sign,
    "joint.zero": zero,
    "units.angle": degrees,
    "units.length": millimetres,
}
