"""What is left to tell of a body's defect once a file has merged or split bodies: only their sum is compared then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from defects_plant import SAME, Account, Plant, classes
from defects_rewrites import added_up, part_of

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET

    from defects_files import File, Written

INERTIAL = ("mass", "com", "inertia")
VALUES = ("inertia.value", "inertia.rotation", "inertia.order", "inertia.sign", "inertia.off_diagonal")


def as_told(plant: Plant, sound: File, defective: File, pair: tuple[File, File]) -> Plant | None:
    """Return a plant with what it may be called in a pair of files, or None where the pair is the same robot.

    Where the files have other members in a rigid piece, merged in one or split in one, only the sum of the piece is the
    same robot: S = sum of the ten parameters of its members in one frame. Where S departs by less than the tolerance of
    its own size, the two files are the same robot by definition. Of a body that is itself merged in one file two things
    follow, and nothing else is granted here:

    - A changed tensor of one member is S changed by a tensor alone. A changed tensor of any other member, turned into
      its axes, makes the same S: while one file keeps the members, each may be the one.
    - Where no file states the body on its own, S is one body in both files: its mass, its centre of mass and its tensor
      depart, in the classes in which two tensors of one body depart.

    Args:
        plant: a defect of a body.
        sound: the file before it was planted.
        defective: the file with it.
        pair: both files, written over.
    """
    kind, name = plant.accounts[0].kind, plant.accounts[0].name
    if not _of_inertia(plant, name) or name not in sound.bodies():
        return plant
    elements = [_element(file, name) for file in pair]
    merged = [e is None for e in elements]
    stated = [e is not None and (e.find("inertial") is not None or e.find("geom") is not None) for e in elements]
    # A frame that the expected file does not have at all cannot have been given an inertia: the body is missing there.
    if kind == "mass.default" and merged[0]:
        plant = _with(plant, Account("body.missing", "body", name))
    holder, members = _piece(sound, name)
    if all(_kept(file, members) == set(members) for file in pair):
        return plant
    before, after = _sum(sound, holder, members), _sum(defective, holder, members)
    if before is None or after is None:
        return plant
    if _size(before, after) <= 4 * SAME:
        return None
    if not any(merged):
        return plant
    if kind in VALUES and any(stated):
        others = [Account("inertia.value", "body", m) for m in members if sound.inertial(m) is not None]
        plant = _with(plant, *others)
    if not any(stated):
        plant = _with(plant, *_of_sums(holder, before, after))
    return plant


def _element(file: File, name: str) -> ET.Element | None:
    """Return the element of a body in a file that was written over, None where it was merged."""
    roots = (file.root, *file.includes.values())
    named = (e for root in roots for e in root.iter() if e.tag in ("body", "link") and e.get("name") == file.now(name))
    return next(named, None)


def _kept(file: File, members: list[str]) -> set[str]:
    """Return the members of a piece that a file still has after it was written over, and the parts split off them."""
    return {m for m in (*members, *map(part_of, members)) if _element(file, m) is not None}


def _of_inertia(plant: Plant, name: str) -> bool:
    return plant.late is None and any(f"{name}.{field}" in plant.touched for field in INERTIAL)


def _with(plant: Plant, *more: Account) -> Plant:
    return replace(plant, accounts=(*plant.accounts, *(x for x in more if x not in plant.accounts)))


def _piece(file: File, name: str) -> tuple[str, list[str]]:
    """Return the body that carries the rigid piece of a body, and all bodies of the piece."""
    holder = name
    while file.kind(holder) == "fixed" and (above := file.parent(holder)) in file.bodies() and above is not None:
        holder = above
    members, todo = [holder], [holder]
    while todo:
        below = [c for c in file.children(todo.pop()) if file.kind(c) == "fixed"]
        members += below
        todo += below
    return holder, members


def _sum(file: File, holder: str, members: list[str]) -> Written | None:
    """Return the inertia of a piece in the frame of its holder, None without any."""
    parts: list[tuple[Written, object]] = []
    for m in members:
        if m not in file.bodies() or (w := file.inertial(m)) is None:
            continue
        T, b = np.eye(4), m
        while b != holder:
            T, b = file.placement(b) @ T, file.parent(b) or holder
        parts.append((w, T))
    return added_up(parts) if parts and sum(w.mass for w, _ in parts) > 0 else None


def _size(before: Written, after: Written) -> float:
    """Return by which share of the sum two sums depart, in mass, moment of mass or tensor, whichever is the largest."""
    length = max(float(np.linalg.norm(before.pos)), float(np.sqrt(np.abs(before.I_com).max() / before.mass)))
    mass = abs(before.mass - after.mass)
    moment = float(np.abs(before.mass * before.pos - after.mass * after.pos).max()) / length
    tensor = float(np.abs(before.I_com - after.I_com).max()) / length**2
    return max(mass, moment, tensor) / before.mass


def _of_sums(holder: str, before: Written, after: Written) -> list[Account]:
    """Return what departs between two sums, as of one body."""
    kinds: list[str] = []
    if abs(before.mass - after.mass) > SAME * before.mass:
        kinds.append("mass")
    if np.abs(before.pos - after.pos).max() > SAME * np.linalg.norm(before.pos):
        kinds.append("com")
    if np.abs(before.I_com - after.I_com).max() > SAME * np.abs(before.I_com).max():
        kinds += sorted(classes(before, after)) or ["inertia.value"]
    return [Account(kind, "body", holder) for kind in kinds]
