"""Accounts of a composite that departs: one member at fault, or a few left out, all others as their file says.

A file that merges bodies tells their sum alone. Each account holds that one file is right about all members but a few;
what is left of the sum without them is then what those few must be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from ..fusion import compose
from ..spatial import inverse, motion_transform, skew, spatial_inertia
from ..tree import Inertia
from .inertias import Grain, Reason, grain, gyration, in_frame, is_default, is_physical, reasons
from .reader_acts import readings
from .tensor_patterns import SIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..tree import Floats

TRIED: Final = 16  # members of which every combination is tried
INVENTED: Final = 3.5  # more than mass, centre of mass and tensor of a body that has them
KEPT: Final = 1e-6  # of a tensor: readers that keep its moments and axes lose the digits below
CLEAR: Final = 1e3  # how many grains two principal moments must be apart for their axes to be told


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
    members: Members,
    stated: Sequence[bool],
    shaped: Sequence[bool],
    theirs: Inertia,
    tolerance: float,
    frames: Sequence[Sequence[Floats]] = (),
    ends: Sequence[bool] = (),
) -> list[Account]:
    """Return every account of a composite that departs, cheapest first; empty when it does not.

    Args:
        members: inertia of every member and its placement (4, 4) in the holder, the holder first.
        stated: whether the file states each inertia.
        shaped: whether a member has shapes that readers may make an inertia of.
        theirs: the composite that was found, in the frame of the holder.
        tolerance: relative.
        frames: (3, 3) axes per member in which a mistake may have been made, beside those of the member.
        ends: per member, whether it is fixed to another one and carries nothing: its joint places it alone.
    """
    in_holder = [in_frame(inertia, T) for inertia, T in members]
    if not reasons(compose(members), theirs, grain([*in_holder, theirs], tolerance)):
        return []
    found: list[Account] = []
    for k, (_, T) in enumerate(members):
        rest = [member for i, member in enumerate(members) if i != k]
        part = _at_fault(members, k, rest, stated[k], theirs, tolerance, frames[k] if frames else ())
        if _closes([*rest, (part.theirs, T)], theirs, tolerance):
            if ends and ends[k]:
                part = told_as_turned(members[k][0], part, _grain_of(members, k, rest, theirs, tolerance))
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
    found += _of_one_act(members, theirs, tolerance)
    return sorted(found, key=lambda account: account.cost)


def _of_one_act(members: Members, theirs: Inertia, tolerance: float) -> list[Account]:
    """Return the accounts in which one act of the reader touched several members.

    No number of it is free: it is told by what it explains, also where the reader kept fewer digits than `tolerance`.
    """
    digits, placements, found = max(tolerance, KEPT), [T for _, T in members], list[Account]()
    for read in readings(members):
        placed = list(zip(read, placements, strict=True))
        if not _closes(placed, theirs, digits):
            continue
        rests = [[other for i, other in enumerate(placed) if i != k] for k in range(len(placed))]
        grains = [_grain_of(members, k, rest, theirs, digits) for k, rest in enumerate(rests)]
        how = [reasons(was, now, g) for (was, _), now, g in zip(members, read, grains, strict=True)]
        touched = [k for k, why in enumerate(how) if why]
        if len(touched) < 2:
            continue
        # The digits that were lost are put where most was read otherwise, on the heaviest of several.
        last = max(touched, key=lambda k: (len(how[k]), read[k].mass))
        read[last] = without(theirs, rests[last], placements[last])
        found.append(Account(tuple(Part(k, read[k], how[k]) for k in touched), 0.5 + 0.1 * len(touched)))
    return found


def _at_fault(
    members: Members,
    k: int,
    rest: Members,
    stated: bool,
    theirs: Inertia,
    tolerance: float,
    frames: Sequence[Floats] = (),
) -> Part:
    """Return member k as it must be for `rest` and itself to give what was found."""
    inertia, T = members[k]
    alone = without(theirs, rest, T)
    g = _grain_of(members, k, rest, theirs, tolerance)
    return Part(k, alone, reasons(inertia, alone, g, stated=stated, frames=frames))


def _grain_of(members: Members, k: int, rest: Members, theirs: Inertia, tolerance: float) -> Grain:
    """Return the grain of what is left of a composite for member k, in its own frame."""
    inertia, T = members[k]
    return remainder_grain(rest, theirs, T, inertia, tolerance)


def remainder_grain(rest: Members, total: Inertia, T: Floats, wanted: Inertia, tolerance: float) -> Grain:
    """Return the grain of a composite without some of its members.

    Args:
        rest: the members that are taken away.
        total: of the composite, in the frame of the holder.
        T: (4, 4) placement in the holder of the member that is left.
        wanted: what that member should be, in its own axes.
        tolerance: relative.
    """
    back = np.asarray(inverse(T), np.float64)
    sizes = [in_frame(in_frame(x, placed), back) for x, placed in rest] + [in_frame(total, back), wanted]
    return grain(sizes, tolerance)


def told_as_turned(ours: Inertia, part: Part, g: Grain) -> Part:
    """Return a part whose centre and tensor depart together as one turn about its origin, where they do."""
    if len(part.reasons) < 2:
        return part
    R = turn_between(ours, part.theirs, g)
    if R is None:
        return part
    small = all(reason.small for reason in part.reasons)
    return replace(part, reasons=(Reason("joint.orientation", "placing", small=small, turn=R),))


def turn_between(ours: Inertia, theirs: Inertia, g: Grain) -> Floats | None:
    """Return the turn R (3, 3) about the body origin that makes `theirs` of `ours`; None where none does.

    Args:
        ours: an inertia.
        theirs: another one, in the same frame.
        g: what counts as equal.
    """
    (moments, axes), (others, turned) = (np.linalg.eigh(x.I_com) for x in (ours, theirs))
    alike = abs(ours.mass - theirs.mass) <= g.mass and np.abs(moments - others).max() <= 4 * g.tensor
    if not alike or np.diff(moments).min() <= CLEAR * g.tensor:
        return None
    turns = [turned @ np.diag([x, y, z]) @ axes.T for x in (1, -1) for y in (1, -1) for z in (1, -1)]
    fits = [R for R in turns if np.linalg.det(R) > 0]
    fits = [R for R in fits if np.abs(R @ ours.com - theirs.com).max() * ours.mass <= 4 * g.moment]
    return np.asarray(fits[0], np.float64) if fits else None


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
