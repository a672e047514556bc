"""The same robot as another file: other body frames, merged and split links, frames, order, names, includes."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import numpy as np
from defects_files import HINGED, Written, numbers, words
from defects_inertials import stated
from defects_mjcf import Mjcf
from defects_spelling import by_default, in_degrees, other_turns, scaled_axes, to_euler, turned_inertials
from defects_urdf import Urdf

from tautology.harness.spatial import inverse, quaternion_from_rotation, rotation_from_quaternion, transform

if TYPE_CHECKING:
    from collections.abc import Callable

    from defects_files import File


def added_up(parts: list[tuple[Written, Any]]) -> Written:
    """Return the inertia of several bodies, each with its placement T, as one, in the outer frame."""
    mass = sum(w.mass for w, _ in parts)
    coms = [T[:3, :3] @ w.pos + T[:3, 3] for w, T in parts]
    c = sum(w.mass * p for (w, _), p in zip(parts, coms, strict=True)) / mass
    I = np.zeros((3, 3))
    for (w, T), p in zip(parts, coms, strict=True):
        d = p - c
        I += T[:3, :3] @ w.I_com @ T[:3, :3].T + w.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Written(mass, c, np.eye(3), _six(I))


def _six(I: Any) -> Any:
    return np.array([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])


def merged(file: File, rng: Any) -> None:
    """Merge fixed bodies into what they are fixed to, as converters do."""
    for b in file.leaves():
        above, w = file.parent(b), file.inertial(b)
        if file.kind(b) != "fixed" or above not in file.bodies() or rng.random() < 0.3:
            continue
        if w is None and _weighs_by_shape(file, b):
            continue  # a merger that lost its mass would be another defect
        if w is not None:
            own = file.inertial(above)
            parts = [(w, file.placement(b))] + ([(own, np.eye(4))] if own is not None else [])
            file.put_inertial(above, added_up(parts))
        file.remove(b)


def _weighs_by_shape(file: File, b: str) -> bool:
    """Return whether the inertia of a body is left to its shapes."""
    return isinstance(file, Mjcf) and file.body(b).find("geom") is not None


def split(file: File, rng: Any) -> None:
    """Split a share of some body off, as a body fixed to it."""
    for b in stated(file):
        w = file.inertial(b)
        if w is None or rng.random() < 0.6 or file.kind(b) is None:
            continue
        share = float(rng.uniform(0.2, 0.6))
        part = Written(w.mass * share, w.pos, w.R, w.six * share)
        T = transform(rotation_from_quaternion(rng.normal(size=4)), rng.uniform(-0.1, 0.1, 3))
        back = inverse(T)
        _hang(file, b, part_of(b), T)
        moved = Written(
            part.mass, back[:3, :3] @ w.pos + back[:3, 3], np.eye(3), _six(back[:3, :3] @ part.I_com @ T[:3, :3])
        )
        file.put_inertial(part_of(b), moved)
        file.put_inertial(b, Written(w.mass * (1 - share), w.pos, w.R, w.six * (1 - share)))
        return


def part_of(body: str) -> str:
    """Return the name of what is split off a body."""
    return f"{body}_part"


def _hang(file: File, parent: str, name: str, T: Any) -> None:
    """Add an empty body fixed to another."""
    if isinstance(file, Mjcf):
        ET.SubElement(file.body(parent), "body", name=name)
    else:
        ET.SubElement(file.root, "link", name=name)
        joint = ET.SubElement(file.root, "joint", name=f"{name}_fixed_joint", type="fixed")
        ET.SubElement(joint, "parent", link=parent)
        ET.SubElement(joint, "child", link=name)
    file.put_placement(name, T)


def frames(file: File, rng: Any) -> None:
    """Add tool frames without mass."""
    for b in file.leaves():
        if rng.random() < 0.5:
            T = transform(rotation_from_quaternion(rng.normal(size=4)), rng.uniform(-0.2, 0.2, 3))
            _hang(file, b, f"{b}_tool", T)


def moved_origins(file: File, rng: Any) -> None:
    """Put body frames elsewhere: along the axis and turned in URDF, anywhere in MJCF. Coordinates stay as they are."""
    for b in file.bodies():
        kind = file.kind(b)
        above = file.parent(b)
        if kind in (None, "floating") or above in (None, "world") or above not in file.bodies() or rng.random() < 0.5:
            continue
        n = file.axis(b) / np.linalg.norm(file.axis(b)) if kind in (*HINGED, "prismatic") else np.zeros(3)
        # The velocity of a ball is written in the axes of its body: those stay.
        R = np.eye(3) if kind == "ball" else rotation_from_quaternion(rng.normal(size=4))
        p = n * rng.uniform(-0.1, 0.1) if isinstance(file, Urdf) and kind in HINGED else rng.uniform(-0.1, 0.1, 3)
        if isinstance(file, Urdf) and kind == "ball":
            continue
        _refer(file, b, transform(R, p))


def _refer(file: File, b: str, T: Any) -> None:
    """Refer everything of a body to the frame that stands at T in the old one."""
    back = inverse(T)
    file.put_placement(b, file.placement(b) @ T)
    joint = file.joint(b)
    if file.kind(b) in (*HINGED, "prismatic"):
        file.put_axis(b, back[:3, :3] @ file.axis(b))
    if isinstance(file, Mjcf):
        if joint is not None:
            joint.set("pos", words(back[:3, :3] @ numbers(joint.get("pos"), "0 0 0") + back[:3, 3]))
        for element in file.body(b):
            if element.tag in ("geom", "site", "body"):
                file.place(element, back @ file.where(element))
    else:
        for child in file.children(b):
            file.put_placement(child, back @ file.placement(child))
    w = file.inertial(b)
    if w is not None:
        I = back[:3, :3] @ w.I_com @ T[:3, :3]
        new = Written(w.mass, back[:3, :3] @ w.pos + back[:3, 3], np.eye(3), _six((I + I.T) / 2))
        file.put_inertial(b, new)


def shuffled(file: File, rng: Any) -> None:
    """Put siblings, links and joints in another order."""
    owners = [file.root] if isinstance(file, Urdf) else [e for e in file.root.iter() if e.tag in ("body", "worldbody")]
    for owner in owners:
        movable = [e for e in owner if e.tag in ("link", "joint", "body")]
        if isinstance(file, Mjcf):
            movable = [e for e in movable if e.tag == "body"]
        others = [e for e in owner if e not in movable]
        for e in movable:
            owner.remove(e)
        order = [movable[i] for i in rng.permutation(len(movable))]
        owner[:] = [*others, *order] if isinstance(file, Mjcf) else [*order, *others]


def based(file: File, rng: Any) -> None:
    """Put a root without mass under a welded URDF, fixed at the origin; wrap MJCF bodies into frames."""
    if isinstance(file, Urdf):
        if not file.root.findall("link[@name='world']"):
            root = next(b for b in file.bodies() if file.joint(b) is None)
            ET.SubElement(file.root, "link", name="footprint")
            joint = ET.SubElement(file.root, "joint", name="footprint_joint", type="fixed")
            ET.SubElement(joint, "parent", link="footprint")
            ET.SubElement(joint, "child", link=root)
        return
    for element in [e for e in file.root.iter("body") if rng.random() < 0.4]:
        if any(e.tag == "freejoint" or e.get("type") == "free" for e in element) or element.get("quat") is None:
            continue
        above = next(e for e in file.root.iter() if element in list(e))
        T = file.where(element)
        F = transform(rotation_from_quaternion(rng.normal(size=4)), rng.uniform(-0.3, 0.3, 3))
        frame = ET.Element("frame", pos=words(F[:3, 3]), quat=words(quaternion_from_rotation(F[:3, :3])))
        at = list(above).index(element)
        above.remove(element)
        above.insert(at, frame)
        frame.append(element)
        element.set("quat", words(quaternion_from_rotation((inverse(F) @ T)[:3, :3])))
        element.set("pos", words((inverse(F) @ T)[:3, 3]))


def renamed(file: File, rng: Any) -> None:
    """Give joints and bodies other names: filling words changed, in capitals, or names that tell nothing."""
    style = str(rng.choice(["filling", "camel", "numbers"], p=[0.4, 0.3, 0.3]))
    roots = (file.root, *file.includes.values())
    named = [e for root in roots for e in root.iter() if e.tag in ("link", "body", "joint", "freejoint")]
    names = sorted({e.get("name", "") for e in named} - {"", "world"})
    # Numbers of its own for each file: one name for two different joints is another robot by its names, and told so.
    first = int(rng.integers(10**6)) * 1000
    table = {name: _other_name(name, first + k, style) for k, name in enumerate(names)}
    if len(set(table.values())) < len(table):
        return
    file.renamed = dict(table)
    for e in (e for root in roots for e in root.iter()):
        own = e.tag in ("link", "body", "joint", "freejoint")
        for key in ("name", "link", "joint", "joint1", "joint2", "body1", "body2"):
            value = e.get(key)
            if value in table and (own or key != "name"):
                e.set(key, table[value])


def _other_name(name: str, number: int, style: str) -> str:
    if style == "numbers":
        return f"n{number}"
    if style == "camel":
        return "".join(part.title() for part in name.split("_"))
    return name.replace("joint", "jnt").replace("link", "body")


def included(file: File, rng: Any) -> None:
    """Move a limb of an MJCF into a file of its own."""
    if not isinstance(file, Mjcf) or file.includes:
        return
    limbs = [e for e in file.root.iter("body") if e.findall("body")]
    if not limbs:
        return
    owner = limbs[int(rng.integers(len(limbs)))]
    limb = owner.findall("body")[0]
    at = list(owner).index(limb)
    owner.remove(limb)
    owner.insert(at, ET.Element("include", file="limb.xml"))
    part = ET.Element("mujocoinclude")
    part.append(limb)
    file.includes["limb.xml"] = part


# In the order in which they can be applied: structure, then spelling, then names and files.
REWRITES: dict[str, Callable[[File, Any], None]] = {
    "other axes of tensors": turned_inertials,
    "merged fixed bodies": merged,
    "split body": split,
    "tool frames": frames,
    "other body origins": moved_origins,
    "scaled axes": scaled_axes,
    "frames around": based,
    "default classes": by_default,
    "degrees": in_degrees,
    "euler angles": lambda file, rng: to_euler(file, rng) if isinstance(file, Mjcf) else None,
    "other spelling of turns": other_turns,
    "other order": shuffled,
    "other names": renamed,
    "include": included,
}
