"""Patterns between the inertia that a file states and the one that somebody made of it.

A body can go wrong in few ways: its tensor was not turned, its products lost, flipped or listed in another order, the
tensor taken about another point, the whole body left out or invented. A pattern that closes to rounding is a reason;
"the tensor is another one" is what remains.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations, product
from typing import TYPE_CHECKING, Final

import numpy as np

from ..fusion import compose
from ..spatial import inverse, motion_transform, skew, spatial_inertia
from ..tree import Inertia

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tree import Floats

SIX: Final = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # xx yy zz xy xz yz
# How much a reason costs: one pattern is a better account than one free value, and both than two.
COST: Final = {
    "inertia.value": 1.2,
    "units.length": 0.9,
}


@dataclass(frozen=True, eq=False)
class Reason:
    """One way in which an inertia departs.

    Attributes:
        kind: a key of `harness.findings.KINDS`.
        field: "mass", "com", "inertia" or "inertial" (all of it).
        rivals: kinds that fit as well.
        dropped: whether the tensor is gone: one act of an importer, and no free value.
    """

    kind: str
    field: str
    rivals: tuple[str, ...] = ()
    dropped: bool = False

    @property
    def cost(self) -> float:
        """What it adds to an account."""
        return 1.0 if self.dropped else COST.get(self.kind, 1.0)


@dataclass(frozen=True, slots=True)
class Grain:
    """Absolute differences below which two values of one body are equal.

    Attributes:
        mass: [kg].
        moment: [kg m] of mass times centre of mass.
        tensor: [kg m^2].
    """

    mass: float
    moment: float
    tensor: float


def grain(parts: Sequence[Inertia], tolerance: float) -> Grain:
    """Return the grain of a sum of inertias in one frame: `tolerance` times the sizes of what was added up."""
    mass = sum(abs(part.mass) for part in parts)
    moment = sum(abs(part.mass) * float(np.linalg.norm(part.com)) for part in parts)
    tensor = sum(float(np.abs(part.I_com).max()) + abs(part.mass) * float(part.com @ part.com) for part in parts)
    return Grain(tolerance * mass, tolerance * moment, tolerance * tensor)


def reasons(ours: Inertia, theirs: Inertia, g: Grain, *, stated: bool = True) -> tuple[Reason, ...]:
    """Return how `theirs` departs from `ours`, both in the same body axes; empty when it does not.

    Args:
        ours: as the file says.
        theirs: as it was read.
        g: what counts as equal.
        stated: whether the file states an inertia for this body at all.
    """
    heavier = abs(ours.mass - theirs.mass) > g.mass
    off = np.abs(ours.mass * ours.com - theirs.mass * theirs.com) > g.moment
    shifted = bool(np.abs(ours.com - theirs.com).max() * max(abs(ours.mass), abs(theirs.mass)) > g.moment)
    shifted = shifted and bool(ours.mass) and bool(theirs.mass)
    turned = float(np.abs(ours.I_com - theirs.I_com).max()) > g.tensor
    if not (heavier or turned or off.any()):
        return ()
    if ours.is_zero and not stated:
        return (Reason("mass.default", "inertial"),)
    if heavier and abs(theirs.mass) <= g.mass and float(np.abs(theirs.I_com).max()) <= g.tensor:
        return (Reason("body.missing", "inertial"),)
    found: list[Reason] = []
    if heavier:
        found.append(Reason("mass", "mass"))
    if shifted:
        scaled = any(
            np.abs(ours.com * k - theirs.com).max() * abs(ours.mass) <= g.moment * max(k, 1) for k in (1e3, 1e-3)
        )
        found.append(Reason("units.length" if scaled and ours.com.any() else "com", "com"))
    if turned:
        found.append(_tensor(ours, theirs, g.tensor))
    return tuple(found)


def _tensor(ours: Inertia, theirs: Inertia, grain: float) -> Reason:
    """Return the pattern between two tensors about the centre of mass that differ."""
    kinds = [kind for kind, fits in _patterns(ours, theirs, grain) if fits]
    if not kinds and np.abs(theirs.I_com).max() <= grain:
        return Reason("inertia.value", "inertia", dropped=True)
    if not kinds:
        return Reason(
            "inertia.repaired" if not is_physical(ours) and is_physical(theirs) else "inertia.value", "inertia"
        )
    return Reason(kinds[0], "inertia", tuple(kinds[1:]))


def _patterns(ours: Inertia, theirs: Inertia, grain: float) -> list[tuple[str, bool]]:
    """Return every pattern with whether it fits, the most telling first.

    Mistakes are made in the axes of the file as well as in those of the body: both are tried.
    """
    in_body = _patterns_in(ours, theirs, ours.I_com, theirs.I_com, grain)
    R = ours.axes
    in_file = _patterns_in(ours, theirs, R.T @ ours.I_com @ R, R.T @ theirs.I_com @ R, grain)
    unturned = np.abs(R.T @ ours.I_com @ R - theirs.I_com).max() <= 4 * grain
    either = [(kind, x or y) for (kind, x), (_, y) in zip(in_body, in_file, strict=True)]
    return [("inertia.rotation", bool(unturned)), *either] if unturned else either


def _patterns_in(ours: Inertia, theirs: Inertia, I: Floats, K: Floats, grain: float) -> list[tuple[str, bool]]:
    """Return the patterns between two tensors written in one set of axes."""
    six, other = np.array([I[at] for at in SIX]), np.array([K[at] for at in SIX])
    products = bool(np.abs(six[3:]).max() > grain or np.abs(other[3:]).max() > grain)
    diagonal = bool(np.abs(six[:3] - other[:3]).max() <= grain)
    signs = diagonal and any(
        np.abs(six[3:] * s - other[3:]).max() <= grain for s in product((1, -1), repeat=3) if s != (1, 1, 1)
    )
    dropped = diagonal and (np.abs(other[3:]).max() <= grain or np.abs(six[3:]).max() <= grain)
    ordered = any(np.abs(six[list(p)] - other).max() <= grain for p in permutations(range(6)))
    eigen = bool(np.abs(np.linalg.eigvalsh(I) - np.linalg.eigvalsh(K)).max() <= 4 * grain)
    shifts = [k * ours.mass * -(skew(c) @ skew(c)) for k in (1, -1) for c in (ours.com, theirs.com)]
    about = any(
        np.abs(ours.I_com + shift - theirs.I_com).max() <= 4 * grain and np.abs(shift).max() > grain for shift in shifts
    )
    scales = any(np.abs(I * k - K).max() <= grain * max(k, 1) for k in (1e6, 1e-6))
    return [
        ("inertia.off_diagonal", products and bool(dropped)),
        ("inertia.sign", products and signs),
        ("inertia.reference_point", about),
        ("inertia.order", ordered),
        ("inertia.rotation", eigen),
        ("units.length", scales),
    ]


def is_physical(inertia: Inertia) -> bool:
    """Return whether a rigid body can have this inertia: mass not negative, moments positive and in the triangle."""
    moments = np.linalg.eigvalsh(inertia.I_com)
    slack = 1e-9 * max(float(np.abs(moments).max()), 1e-300)
    return inertia.mass >= 0 and bool(moments[0] >= -slack) and bool(moments[0] + moments[1] >= moments[2] - slack)


def without(total: Inertia, others: Sequence[tuple[Inertia, Floats]], T: Floats) -> Inertia:
    """Return what is left of a composite when the exact shares of the other members are taken away.

    Args:
        total: of the composite, in the frame of the holder.
        others: inertia of every other member and its placement (4, 4) in the holder.
        T: (4, 4) placement of the member that is wanted; the result is in its axes.
    """
    J = _spatial(total)
    for inertia, placement in others:
        X = motion_transform(inverse(placement.astype(np.longdouble)))
        J = J - X.T @ _spatial(inertia) @ X
    X = motion_transform(T.astype(np.longdouble))
    J = X.T @ J @ X
    mass = J[3, 3]
    h = np.array([J[2, 4], J[0, 5], J[1, 3]])
    sizable = abs(mass) > 1e-13 * max(abs(total.mass), 1e-300)
    com = h / mass if sizable else np.zeros(3, J.dtype)
    I = J[:3, :3] + (mass * (skew(com) @ skew(com)) if sizable else 0)
    return Inertia(float(mass) if sizable else 0.0, com.astype(float), ((I + I.T) / 2).astype(float))


def _spatial(inertia: Inertia) -> np.ndarray[tuple[int, ...], np.dtype[np.longdouble]]:
    wide = np.longdouble
    return spatial_inertia(np.asarray(inertia.mass, wide), inertia.com.astype(wide), inertia.I_com.astype(wide))


@dataclass(frozen=True, eq=False)
class Account:
    """One member of a composite, held to be the one at fault.

    Attributes:
        member: position among the members.
        theirs: its inertia in its own axes, when all others are as the file says.
        reasons: how it departs.
    """

    member: int
    theirs: Inertia
    reasons: tuple[Reason, ...]

    @property
    def cost(self) -> float:
        """Of all its reasons."""
        return sum(reason.cost for reason in self.reasons)


def accounts(
    members: Sequence[tuple[Inertia, Floats]], stated: Sequence[bool], theirs: Inertia, tolerance: float
) -> list[Account]:
    """Return for each member the account in which it alone is at fault, cheapest first; empty when nothing departs.

    Args:
        members: inertia of every member and its placement (4, 4) in the holder, the holder first.
        stated: whether the file states each inertia.
        theirs: the composite that was found, in the frame of the holder.
        tolerance: relative.
    """
    whole = compose(members)
    in_holder = [in_frame(inertia, T) for inertia, T in members]
    if not reasons(whole, theirs, grain([*in_holder, theirs], tolerance)):
        return []
    found: list[Account] = []
    for k, (inertia, T) in enumerate(members):
        rest = [member for i, member in enumerate(members) if i != k]
        alone = without(theirs, rest, T)
        back = inverse(T)
        g = grain([in_frame(x, back) for x in (*in_holder, theirs)], tolerance)
        found.append(Account(k, alone, reasons(inertia, alone, g, stated=stated[k])))
    return sorted(found, key=lambda account: account.cost)


def in_frame(inertia: Inertia, T: Floats) -> Inertia:
    """Return an inertia in the frame in which its body stands at T (4, 4)."""
    R = T[:3, :3]
    I = R @ inertia.I_com @ R.T
    return Inertia(inertia.mass, R @ inertia.com + T[:3, 3], (I + I.T) / 2)
