"""Patterns between the inertia that a file states and the one that somebody made of it.

A body can go wrong in few ways: its tensor was not turned, its products lost, flipped or listed in another order, the
tensor taken about another point, the whole body left out or invented. A pattern that closes to rounding is a reason;
"the tensor is another one" is what remains.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ..tree import Inertia
from .tensor_patterns import patterns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tree import Floats

# How much a reason costs. A pattern that closes is hardly by chance: it is a better account than any free value, also
# than one that departs by a few digits only.
COST: Final = {
    "inertia.value": 1.2,
    "units.length": 0.9,
    **dict.fromkeys(("inertia.rotation", "inertia.order", "inertia.sign", "inertia.reference_point"), 0.34),
    **dict.fromkeys(("inertia.off_diagonal", "joint.orientation"), 0.34),
}
SMALL: Final = 1e-4  # a value that departs by less than this share of itself was written with few digits
FREE: Final = 0.9  # from here on a reason has a free value
ROUNDING: Final = 64 * float(np.finfo(np.float64).eps)  # of the lengths that a point went through, frame by frame


@dataclass(frozen=True, eq=False)
class Reason:
    """One way in which an inertia departs.

    Attributes:
        kind: a key of `harness.findings.KINDS`.
        field: "mass", "com", "inertia", "placing" (centre and tensor) or "inertial" (all of it).
        rivals: kinds that fit as well.
        dropped: whether the tensor is gone: one act of an importer, and no free value.
        small: whether the value departs by little only: digits, rather than a decision.
        turn: (3, 3) of a body that stands turned on what it is fixed to.
        chance: what it costs more, since it could fit by chance.
    """

    kind: str
    field: str
    rivals: tuple[str, ...] = ()
    dropped: bool = False
    small: bool = False
    turn: Floats | None = None
    chance: float = 0.0

    @property
    def cost(self) -> float:
        """What it adds to an account."""
        cost = COST.get(self.kind, 1.0) + self.chance
        return 1.0 if self.dropped else cost * 0.4 if self.small and cost >= FREE else cost


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


def grain(parts: Sequence[Inertia], tolerance: float, reach: float = 0.0) -> Grain:
    """Return the grain of a sum of inertias in one frame: `tolerance` times the sizes of what was added up.

    Args:
        parts: what was added up.
        tolerance: relative.
        reach: [m] how far away the frames stand that the centres of mass were carried through: a centre at the origin
            of a body without size was rounded on the way all the same.
    """
    mass = sum(abs(part.mass) for part in parts)
    # A centre at the origin was rounded on the way too: the size of the body counts beside its offset.
    moment = sum(abs(part.mass) * (float(np.linalg.norm(part.com)) + gyration(part)) for part in parts)
    tensor = sum(float(np.abs(part.I_com).max()) + abs(part.mass) * float(part.com @ part.com) for part in parts)
    return Grain(tolerance * mass, tolerance * moment + ROUNDING * mass * reach, tolerance * tensor)


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
        invented = not ours.mass and is_default(replace(theirs, com=np.zeros(3)))
        kind = "mass.default" if invented else "mass"
        found.append(Reason(kind, "mass", small=abs(ours.mass - theirs.mass) < SMALL * abs(ours.mass)))
    if shifted:
        scaled = any(
            float(np.linalg.norm(ours.com * k - theirs.com)) <= 1e-6 * float(np.linalg.norm(theirs.com))
            for k in (1e3, 1e-3)
        )
        length = max(float(np.abs(ours.com).max()), gyration(ours))
        small = float(np.abs(ours.com - theirs.com).max()) < SMALL * length
        found.append(Reason("units.length" if scaled and ours.com.any() else "com", "com", small=small))
    if turned:
        small = float(np.abs(ours.I_com - theirs.I_com).max()) < SMALL * float(np.abs(ours.I_com).max())
        found.append(replace(_tensor(ours, theirs, g.tensor, frames, alone=not found), small=small))
    return tuple(found)


def _tensor(ours: Inertia, theirs: Inertia, grain: float, frames: Sequence[Floats], *, alone: bool) -> Reason:
    """Return the pattern between two tensors that differ; `alone` when mass and centre do not."""
    # A mass added at a point shifts the tensor like another reference point: beside a value such a pattern is chance.
    kinds = patterns(ours, theirs, grain, frames, free=alone)
    if kinds:
        first, *others = kinds
        return Reason(first, "inertia", tuple(others), chance=0.0 if alone and kinds[first] else 0.05 if alone else 0.8)
    if np.abs(theirs.I_com).max() <= grain:
        return Reason("inertia.value" if is_physical(ours) else "inertia.repaired", "inertia", dropped=True)
    unphysical = not is_physical(ours) or (not ours.mass and bool(theirs.mass))  # no body has a tensor and no mass
    repaired = unphysical and is_physical(theirs)
    return Reason("inertia.repaired" if repaired else "inertia.value", "inertia")


def is_physical(inertia: Inertia) -> bool:
    """Return whether a rigid body can have this inertia: mass not negative, moments positive and in the triangle."""
    moments = np.linalg.eigvalsh(inertia.I_com)
    slack = 1e-9 * max(float(np.abs(moments).max()), 1e-300)
    return inertia.mass >= 0 and bool(moments[0] >= -slack) and bool(moments[0] + moments[1] >= moments[2] - slack)


def is_default(inertia: Inertia) -> bool:
    """Return whether this is what readers give a link without `<inertial>`: 1 kg at its origin, an isotropic tensor."""
    I = inertia.I_com
    isotropic = np.abs(I - I[0, 0] * np.eye(3)).max() <= 1e-6 * max(float(np.abs(I).max()), 1e-300)
    return abs(inertia.mass - 1) <= 1e-6 and float(np.abs(inertia.com).max()) <= 1e-6 and bool(isotropic)


def in_frame(inertia: Inertia, T: Floats) -> Inertia:
    """Return an inertia in the frame in which its body stands at T (4, 4)."""
    R = T[:3, :3]
    I = R @ inertia.I_com @ R.T
    return Inertia(inertia.mass, R @ inertia.com + T[:3, 3], (I + I.T) / 2, R @ inertia.axes)
