"""Patterns between the inertia that a file states and the one that somebody made of it.

A body can go wrong in few ways: its tensor was not turned, its products lost, flipped or listed in another order, the
tensor taken about another point, the whole body left out or invented. A pattern that closes to rounding is a reason;
"the tensor is another one" is what remains.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from ..fusion import compose
from ..spatial import inverse, motion_transform, skew, spatial_inertia
from ..tree import Inertia

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..tree import Floats

SIX: Final = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # xx yy zz xy xz yz
ORDERS: Final = np.array(list(permutations(range(6))))  # (720, 6) every order of six components
# How much a reason costs: one pattern is a better account than one free value, and both than two.
COST: Final = {
    "inertia.value": 1.2,
    "units.length": 0.9,
}
SMALL: Final = 1e-4  # a value that departs by less than this share of itself was written with few digits
TRIED: Final = 16  # members of which every combination is tried
INVENTED: Final = 3.5  # more than mass, centre of mass and tensor of a body that has them


@dataclass(frozen=True, eq=False)
class Reason:
    """One way in which an inertia departs.

    Attributes:
        kind: a key of `harness.findings.KINDS`.
        field: "mass", "com", "inertia" or "inertial" (all of it).
        rivals: kinds that fit as well.
        dropped: whether the tensor is gone: one act of an importer, and no free value.
        small: whether the value departs by little only: digits, rather than a decision.
    """

    kind: str
    field: str
    rivals: tuple[str, ...] = ()
    dropped: bool = False
    small: bool = False

    @property
    def cost(self) -> float:
        """What it adds to an account."""
        return (1.0 if self.dropped else COST.get(self.kind, 1.0)) * (0.3 if self.small else 1.0)


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
    # A centre at the origin was rounded on the way too: the size of the body counts beside its offset.
    moment = sum(abs(part.mass) * (float(np.linalg.norm(part.com)) + gyration(part)) for part in parts)
    tensor = sum(float(np.abs(part.I_com).max()) + abs(part.mass) * float(part.com @ part.com) for part in parts)
    return Grain(tolerance * mass, tolerance * moment, tolerance * tensor)


def gyration(inertia: Inertia) -> float:
    """Return the radius of gyration [m], 0 without mass."""
    return float(np.sqrt(np.abs(inertia.I_com).max() / abs(inertia.mass))) if inertia.mass else 0.0


def reasons(
    ours: Inertia, theirs: Inertia, g: Grain, *, stated: bool = True, frames: Sequence[Floats] = ()
) -> tuple[Reason, ...]:
    """Return how `theirs` departs from `ours`, both in the same body axes; empty when it does not.

    Args:
        ours: as the file says.
        theirs: as it was read.
        g: what counts as equal.
        stated: whether the file states an inertia for this body at all.
        frames: (3, 3) other axes in which a mistake may have been made, such as those of the other body.
    """
    heavier = abs(ours.mass - theirs.mass) > g.mass
    off = np.abs(ours.mass * ours.com - theirs.mass * theirs.com) > g.moment
    shifted = bool(np.abs(ours.com - theirs.com).max() * max(abs(ours.mass), abs(theirs.mass)) > g.moment)
    shifted = shifted and bool(theirs.mass)  # a body without mass has its centre anywhere
    turned = float(np.abs(ours.I_com - theirs.I_com).max()) > g.tensor
    if not (heavier or turned or off.any()):
        return ()
    if ours.is_zero and not stated:
        return (Reason("mass.default", "inertial"),)
    if heavier and abs(theirs.mass) <= g.mass and float(np.abs(theirs.I_com).max()) <= g.tensor:
        return (Reason("body.missing", "inertial"),)
    found: list[Reason] = []
    if heavier:
        found.append(Reason("mass", "mass", small=abs(ours.mass - theirs.mass) < SMALL * abs(ours.mass)))
    if shifted:
        scaled = any(
            float(np.linalg.norm(ours.com * k - theirs.com)) <= 1e-6 * float(np.linalg.norm(theirs.com))
            for k in (1e3, 1e-3)
        )
        small = float(np.abs(ours.com - theirs.com).max()) < SMALL * float(np.abs(ours.com).max())
        found.append(Reason("units.length" if scaled and ours.com.any() else "com", "com", small=small))
    if turned:
        small = float(np.abs(ours.I_com - theirs.I_com).max()) < SMALL * float(np.abs(ours.I_com).max())
        found.append(replace(_tensor(ours, theirs, g.tensor, frames), small=small))
    return tuple(found)


def _tensor(ours: Inertia, theirs: Inertia, grain: float, frames: Sequence[Floats]) -> Reason:
    """Return the pattern between two tensors about the centre of mass that differ."""
    kinds = [kind for kind, fits in _patterns(ours, theirs, grain, frames) if fits]
    if not kinds and np.abs(theirs.I_com).max() <= grain:
        return Reason("inertia.value", "inertia", dropped=True)
    if not kinds:
        return Reason(
            "inertia.repaired" if not is_physical(ours) and is_physical(theirs) else "inertia.value", "inertia"
        )
    return Reason(kinds[0], "inertia", tuple(kinds[1:]))


def _patterns(ours: Inertia, theirs: Inertia, grain: float, frames: Sequence[Floats]) -> list[tuple[str, bool]]:
    """Return every pattern with whether it fits, the most telling first.

    Mistakes are made in the axes of the body or in those of either file: all are tried.
    """
    tried = [
        _patterns_in(ours, theirs, R.T @ ours.I_com @ R, R.T @ theirs.I_com @ R, grain)
        for R in (np.eye(3), ours.axes, theirs.axes, *frames)
    ]
    R = ours.axes
    unturned = bool(np.abs(R.T @ ours.I_com @ R - theirs.I_com).max() <= 4 * grain)
    either = [(rows[0][0], any(fits for _, fits in rows)) for rows in zip(*tried, strict=True)]
    return [("inertia.rotation", True), *either] if unturned else either


def _patterns_in(ours: Inertia, theirs: Inertia, I: Floats, K: Floats, grain: float) -> list[tuple[str, bool]]:
    """Return the patterns between two tensors written in one set of axes."""
    six, other = np.array([I[at] for at in SIX]), np.array([K[at] for at in SIX])
    products = bool(np.abs(six[3:]).max() > grain or np.abs(other[3:]).max() > grain)
    diagonal = bool(np.abs(six[:3] - other[:3]).max() <= grain)
    signs = diagonal and any(
        np.abs(six[3:] * s - other[3:]).max() <= grain for s in product((1, -1), repeat=3) if s != (1, 1, 1)
    )
    dropped = diagonal and (np.abs(other[3:]).max() <= grain or np.abs(six[3:]).max() <= grain)
    ordered = bool((np.abs(six[ORDERS] - other).max(1) <= grain).any())
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


def is_default(inertia: Inertia) -> bool:
    """Return whether this is what readers give a link without `<inertial>`: 1 kg at its origin, an isotropic tensor."""
    I = inertia.I_com
    isotropic = np.abs(I - I[0, 0] * np.eye(3)).max() <= 1e-6 * max(float(np.abs(I).max()), 1e-300)
    return abs(inertia.mass - 1) <= 1e-6 and float(np.abs(inertia.com).max()) <= 1e-6 and bool(isotropic)


@dataclass(frozen=True, eq=False)
class Part:
    """One member of a composite as an account has it.

    Attributes:
        member: position among the members.
        theirs: its inertia in its own axes.
        reasons: how it departs.
    """

    member: int
    theirs: Inertia
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, eq=False)
class Account:
    """Members held to be at fault, while all others are as the file says.

    Attributes:
        parts: the members at fault.
        cost: of all their reasons; a frame without inertia is at fault only when it got one that readers invent.
    """

    parts: tuple[Part, ...]
    cost: float


Members: TypeAlias = "Sequence[tuple[Inertia, Floats]]"


def accounts(
    members: Members, stated: Sequence[bool], shaped: Sequence[bool], theirs: Inertia, tolerance: float
) -> list[Account]:
    """Return every account of a composite that departs, cheapest first; empty when it does not.

    Args:
        members: inertia of every member and its placement (4, 4) in the holder, the holder first.
        stated: whether the file states each inertia.
        shaped: whether a member has shapes that readers may make an inertia of.
        theirs: the composite that was found, in the frame of the holder.
        tolerance: relative.
    """
    in_holder = [in_frame(inertia, T) for inertia, T in members]
    if not reasons(compose(members), theirs, grain([*in_holder, theirs], tolerance)):
        return []
    found: list[Account] = []
    for k, (_, T) in enumerate(members):
        rest = [member for i, member in enumerate(members) if i != k]
        part = _at_fault(members, k, rest, stated[k], theirs, tolerance)
        if _closes([*rest, (part.theirs, T)], theirs, tolerance):
            usual = (stated[k] or shaped[k]) and part.theirs.mass >= min(0, members[k][0].mass)
            usual = usual and is_physical(part.theirs) >= is_physical(members[k][0])
            cost = sum(reason.cost for reason in part.reasons)
            found.append(Account((part,), cost if usual or is_default(part.theirs) else INVENTED + cost))
    if gone := left_out(members, theirs):
        # What the members left out do not explain is put on the heaviest that stayed: it has the digits to hold it.
        heaviest = max((k for k in range(len(members)) if k not in gone), key=lambda k: members[k][0].mass)
        rest = [member for i, member in enumerate(members) if i != heaviest and i not in gone]
        stays = _at_fault(members, heaviest, rest, stated[heaviest], theirs, tolerance)
        lost = [Part(k, Inertia(), (Reason("body.missing", "inertial"),)) for k in gone]
        if _closes([*rest, (stays.theirs, members[heaviest][1])], theirs, tolerance):
            parts = (*lost, stays) if stays.reasons else tuple(lost)
            # One decision leaves out many: "only the links with joints", "no sensors".
            cost = 0.5 + 0.1 * len(lost) + sum(reason.cost for reason in stays.reasons)
            found.append(Account(parts, cost))
    return sorted(found, key=lambda account: account.cost)


def _at_fault(members: Members, k: int, rest: Members, stated: bool, theirs: Inertia, tolerance: float) -> Part:
    """Return member k as it must be for `rest` and itself to give what was found."""
    inertia, T = members[k]
    alone, back = without(theirs, rest, T), np.asarray(inverse(T), np.float64)
    sizes = [in_frame(in_frame(x, placed), back) for x, placed in rest] + [in_frame(theirs, back), inertia]
    return Part(k, alone, reasons(inertia, alone, grain(sizes, tolerance), stated=stated))


def left_out(members: Members, theirs: Inertia) -> list[int]:
    """Return the members that were left out, when leaving some out explains nearly all of what departs.

    The difference of the ten parameters is a sum over the members left out: of up to `TRIED` members every sum is
    tried, of more they are found greedily, the one that takes most away first.
    """
    tried = [k for k, member in enumerate(members) if not member[0].is_zero]
    if not tried:
        return []
    whole = compose(members)
    length = max(float(np.linalg.norm(whole.com)), gyration(whole), 1e-6)
    scale = np.repeat([1, length, length**2], [1, 3, 6])
    tens = np.stack([_ten(in_frame(*members[k])) / scale for k in tried])
    missing = (_ten(whole) - _ten(theirs)) / scale
    chosen = _best_sum(tens, missing) if len(tried) <= TRIED else _greedy(tens, missing)
    left = float(np.linalg.norm(missing - tens[chosen].sum(0)))
    if not chosen.any() or chosen.all() or left >= 0.02 * float(np.linalg.norm(missing)):
        return []
    return [k for k, gone in zip(tried, chosen, strict=True) if gone]


def _best_sum(tens: Floats, missing: Floats) -> NDArray[np.bool_]:
    """Return which rows add up to `missing` best."""
    every = (np.arange(2 ** len(tens))[:, None] >> np.arange(len(tens))) & 1 == 1
    return every[int(np.linalg.norm(missing - every @ tens, axis=1).argmin())]


def _greedy(tens: Floats, missing: Floats) -> NDArray[np.bool_]:
    """Return which rows to add up, each time the one that takes most away, as long as one does."""
    chosen = np.zeros(len(tens), bool)
    left = missing
    while not chosen.all():
        norms = np.where(chosen, np.inf, np.linalg.norm(left - tens, axis=1))
        best = int(norms.argmin())
        if norms[best] >= float(np.linalg.norm(left)):
            break
        chosen[best] = True
        left = left - tens[best]
    return chosen


def _ten(inertia: Inertia) -> Floats:
    """Return mass, first moment and second moment about the origin, (10,)."""
    c = inertia.com
    I = inertia.I_com - inertia.mass * (skew(c) @ skew(c))
    return np.array([inertia.mass, *(inertia.mass * c), *(I[at] for at in SIX)])


def _closes(parts: Members, theirs: Inertia, tolerance: float) -> bool:
    """Return whether these members give the whole: a massless one cannot hold a moment of mass."""
    return not reasons(compose(parts), theirs, grain([*(in_frame(*p) for p in parts), theirs], 4 * tolerance))


def in_frame(inertia: Inertia, T: Floats) -> Inertia:
    """Return an inertia in the frame in which its body stands at T (4, 4)."""
    R = T[:3, :3]
    I = R @ inertia.I_com @ R.T
    return Inertia(inertia.mass, R @ inertia.com + T[:3, 3], (I + I.T) / 2, R @ inertia.axes)
