"""Defects of bodies: mass, centre of mass, tensor, bodies that lost their inertia or were given one."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np
from defects_files import Written, six_of, tensor, words
from defects_mjcf import Mjcf
from defects_plant import EVERY, Account, Plant, classes, direction, physical, pick, plant, weight

from tautology.harness.spatial import exp_so3, rotation_from_quaternion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from defects_files import File

LEAST = 1e-7  # relative; a turn of a millionth of a radian changes a tensor by somewhat less than a millionth


def stated(file: File) -> list[str]:
    """Return the bodies whose inertia the file states, with a mass and a tensor."""
    found = {b: file.inertial(b) for b in file.bodies()}
    return [b for b, w in found.items() if w is not None and w.mass > 0 and np.abs(w.six).max() > 0]


def mass(file: File, rng: Any, size: float) -> Plant | None:
    """Change a mass, and nothing else."""
    b = pick(rng, stated(file))
    if b is None:
        return None
    w = _of(file, b)
    file.put_inertial(b, replace(w, mass=w.mass * (1 + size)))
    return plant("mass", "body", b, "mass")


def com(file: File, rng: Any, size: float) -> Plant | None:
    """Shift a centre of mass in a direction of no symmetry; on a body fixed to another, the body could be shifted."""
    b = pick(rng, stated(file))
    if b is None:
        return None
    w = _of(file, b)
    length = float(np.linalg.norm(w.pos)) or 0.1
    file.put_inertial(b, replace(w, pos=w.pos + direction(rng) * length * size))
    alike = (Account("joint.placement", "joint", b),) if rests(file, b) else ()
    return plant("com", "body", b, "com", equal=alike)


def rests(file: File, b: str) -> bool:
    """Return whether a body is fixed to another and carries frames at most: its placement is that of its inertia."""
    return file.kind(b) == "fixed" and file.parent(b) is not None and _empty_below(file, b)


def _empty_below(file: File, b: str) -> bool:
    return all(file.kind(c) == "fixed" and file.inertial(c) is None and _empty_below(file, c) for c in file.children(b))


def _of(file: File, b: str) -> Written:
    written = file.inertial(b)
    assert written is not None  # noqa: S101  callers choose among those that have one
    return written


def _retensored(
    kind: str, change: Callable[[Written, Any, float], Iterator[Written]]
) -> Callable[[File, Any, float], Plant | None]:
    """Return a planter of a tensor defect: the first change that a body can have and that is one."""

    def grow(file: File, rng: Any, size: float) -> Plant | None:
        bodies = stated(file)
        for b in rng.permutation(bodies) if bodies else ():
            w = _of(file, b)
            for after in change(w, rng, size):
                moved = np.abs(after.I_com - w.I_com).max()
                if moved < LEAST * np.abs(w.I_com).max() or (file.format == "mjcf" and not physical(after)):
                    continue
                alike = classes(w, after)
                if kind == "inertia.value" and alike:
                    continue
                if kind != "inertia.value" and kind not in alike:
                    continue
                file.put_inertial(b, after)
                equal = tuple(Account(other, "body", str(b)) for other in sorted(alike - {kind}))
                return plant(kind, "body", str(b), "inertia", *_needs(kind), equal=equal)
        return None

    return grow


def _needs(kind: str) -> tuple[str, ...]:
    """Return the other fields that a pattern is made of: with another mass its shift would be none."""
    return ("mass", "com") if kind == "inertia.reference_point" else ()


def _rotated(w: Written, rng: Any, size: float) -> Iterator[Written]:
    """Leave out the turn of the inertial frame, apply it the wrong way round, or turn by a small angle."""
    if size >= 0.1 and not np.allclose(w.R, np.eye(3)):
        yield replace(w, R=np.eye(3))
        yield replace(w, R=w.R.T)
    turn = rotation_from_quaternion(exp_so3(direction(rng) * size))
    if np.array_equal(w.R, np.eye(3)):
        yield replace(w, six=six_of(turn @ tensor(w.six) @ turn.T))
    else:
        yield replace(w, R=turn @ w.R)


def _ordered(w: Written, rng: Any, _size: float) -> Iterator[Written]:
    """List the six numbers as another format does, or in any other order."""
    orders = [(0, 3, 4, 1, 5, 2), (0, 1, 2, 5, 4, 3), (0, 2, 1, 3, 4, 5), (0, 1, 2, 4, 3, 5)]
    orders += [tuple(p) for p in rng.permutation(list(permutations(range(6))))[:20]]
    for p in rng.permutation(orders):
        yield replace(w, six=w.six[list(p)])


def _flipped(w: Written, rng: Any, _size: float) -> Iterator[Written]:
    """Flip products of inertia: all three first, which no turn can do."""
    signs = [s for s in product((1, -1), repeat=3) if min(s) < 0]
    for s in [(-1, -1, -1), *[signs[i] for i in rng.permutation(len(signs))]]:
        yield replace(w, six=w.six * np.array([1, 1, 1, *s]))


def _shifted(w: Written, rng: Any, _size: float) -> Iterator[Written]:
    """Give the tensor about the body origin, or shift it twice."""
    c = w.pos
    steiner = w.R.T @ (w.mass * (c @ c * np.eye(3) - np.outer(c, c))) @ w.R
    if np.abs(steiner).max() > LEAST * weight(w):
        for sign in rng.permutation([1, -1]):
            after = replace(w, six=six_of(tensor(w.six) + sign * steiner))
            if physical(after):
                # MJCF cannot write a full tensor in turned axes.
                yield after if np.abs(after.six[3:]).max() == 0 else after.turned(np.eye(3))


def _undiagonal(w: Written, _rng: Any, _size: float) -> Iterator[Written]:
    yield replace(w, six=w.six * np.array([1, 1, 1, 0, 0, 0]))


def _valued(w: Written, rng: Any, size: float) -> Iterator[Written]:
    """Change one number, or all six."""
    top = np.abs(w.six).max()
    for _ in range(8):
        change = rng.uniform(-1, 1, 6) * top
        if np.array_equal(w.six[3:], np.zeros(3)):
            change[3:] = 0
        if rng.random() < 0.5:
            change = np.eye(6)[rng.integers(3)] * top
        yield replace(w, six=w.six + size * change / max(np.abs(change).max() / top, 1e-9))


def dropped(file: File, rng: Any, _size: float) -> Plant | None:
    """Take the inertia of a body away: `<inertial>` of a link, or a fixed body with all it has."""
    leaves = set(file.leaves())
    fixed = [b for b in stated(file) if file.kind(b) == "fixed" and b in leaves and file.parent(b)]
    loose = stated(file) if file.format == "urdf" else []
    b = pick(rng, [*fixed, *loose])
    if b is None:
        return None
    if b in fixed and rng.random() < 0.5 and len(file.children(file.parent(b) or "")) > 0:
        file.remove(b)
    else:
        file.put_inertial(b, None)
    return Plant((Account("body.missing", "body", b),), _all(b))


def invented(file: File, rng: Any, _size: float) -> Plant | None:
    """Give a body without inertia a mass of 1 kg, as importers do."""
    empty = [b for b in file.bodies() if file.inertial(b) is None]
    b = pick(rng, empty)
    if b is None:
        return None
    six = np.array([0.4, 0.4, 0.4, 0, 0, 0]) * float(rng.uniform(0.01, 0.1)) ** 2
    file.put_inertial(b, Written(1.0, np.zeros(3), np.eye(3), six))
    return Plant((Account("mass.default", "body", b),), _all(b))


def from_geometry(file: File, rng: Any, _size: float) -> Plant | None:
    """Leave an inertia to the density of a shape."""
    if not isinstance(file, Mjcf):
        return None
    b = pick(rng, stated(file))
    if b is None:
        return None
    file.put_inertial(b, None)
    box = ET.Element("geom", type="box", size=words(rng.uniform(0.02, 0.1, 3)), pos=words(rng.uniform(-0.1, 0.1, 3)))
    file.body(b).insert(0, box)
    return Plant((Account("mass.default", "body", b),), _all(b))


def millimetres_com(file: File, rng: Any, _size: float) -> Plant | None:
    """Write a centre of mass in millimetres."""
    b = pick(rng, [b for b in stated(file) if np.linalg.norm(_of(file, b).pos) > 1e-3])
    if b is None:
        return None
    w = _of(file, b)
    file.put_inertial(b, replace(w, pos=w.pos * float(rng.choice([1e3, 1e-3]))))
    alike = (Account("units.length", "joint", b),) if rests(file, b) else ()
    return plant("units.length", "body", b, "com", equal=alike)


def _all(b: str) -> frozenset[str]:
    return frozenset(f"{b}.{field}" for field in EVERY)


INERTIALS = {
    "mass": mass,
    "com": com,
    "inertia.rotation": _retensored("inertia.rotation", _rotated),
    "inertia.order": _retensored("inertia.order", _ordered),
    "inertia.sign": _retensored("inertia.sign", _flipped),
    "inertia.reference_point": _retensored("inertia.reference_point", _shifted),
    "inertia.off_diagonal": _retensored("inertia.off_diagonal", _undiagonal),
    "inertia.value": _retensored("inertia.value", _valued),
    "body.missing": dropped,
    "mass.default": invented,
    "mass.default geometry": from_geometry,
    "units.length com": millimetres_com,
}
SIZED = ("mass", "com", "inertia.rotation", "inertia.value")
