"""Inertias as MJCF has them, and those that MuJoCo refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..spatial import quaternion_from_rotation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tree import Floats, Inertia, Tree
    from .document import Losses, Value
    from .mjcf_seats import Seat

# What MuJoCo's compiler compares with: the least mass and moment of what moves, the least moment in `fullinertia`.
LEAST: Final = 1e-15
LEAST_FULL: Final = 1e-14


def inertial(inertia: Inertia) -> dict[str, Value]:
    """Return the attributes of `<inertial>`: a diagonal tensor as moments, another in full.

    MuJoCo refuses a full tensor with a moment below 1e-14, and a largest moment that is beyond the sum of the others by
    a rounding error. Principal moments in turned axes are the same tensor to rounding, and can be kept inside.
    """
    given: dict[str, Value] = {"pos": inertia.com, "mass": inertia.mass}
    I = inertia.I_com
    if _is_diagonal(I):
        return {**given, "diaginertia": _back_inside(np.diag(I))}
    moments, axes = np.linalg.eigh(I)
    tolerance = _tolerance(moments)
    at_the_edge = abs(moments[0] + moments[1] - moments[2]) <= tolerance
    if not at_the_edge and not -tolerance <= moments[0] < 2 * LEAST_FULL:
        return {**given, "fullinertia": I[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]}
    axes = axes * np.array([np.sign(np.linalg.det(axes)), 1, 1])
    return {**given, "quat": quaternion_from_rotation(axes), "diaginertia": _back_inside(moments)}


def _back_inside(moments: Floats) -> Floats:
    """Return moments (3,) that a body can have, where rounding alone has led outside; others as they are."""
    tolerance = _tolerance(moments)
    kept = np.where((moments < 0) & (moments >= -tolerance), 0, moments)
    k = int(np.argmax(kept))
    others = float(np.delete(kept, k).sum())
    if kept[k] - others <= tolerance:
        kept[k] = min(kept[k], others)
    return kept


def _tolerance(moments: Floats) -> float:
    return 64 * np.finfo(float).eps * float(np.abs(moments).max())


def lose_inertias(tree: Tree, seats: Sequence[Seat], losses: Losses) -> None:
    """Name the bodies that MuJoCo refuses: written as they are where they move, left out where they stand still."""
    heavy = _heavy(tree, seats)
    for seat in seats:
        body = tree.bodies[seat.body]
        fault = _fault(body.inertia)
        moves = any(tree.joints[i].nv for i in seat.members)
        if not fault and moves and seat.body not in heavy:
            fault = "it moves, and neither it nor a body fixed to it has a mass and three moments of 1e-15 or more"
        if fault:
            still = "left out, since the body stands still: " if is_left_out(tree, seat.body) else ""
            note = f"{still}MuJoCo refuses such a body: {fault}"
            losses.add("inertial", body.name, body.source("inertial"), note, touches=True)


def is_left_out(tree: Tree, body: int) -> bool:
    """Return whether an inertia is left out: MuJoCo would refuse the whole file for one that no motion shows."""
    return not tree.moving[body] and bool(_fault(tree.bodies[body].inertia))


def _heavy(tree: Tree, seats: Sequence[Seat]) -> set[int]:
    """Return the bodies that have enough inertia to move, or carry such a body fixed to them."""
    heavy: set[int] = set()
    for seat in reversed(seats):
        inertia = tree.bodies[seat.body].inertia
        if seat.body in heavy or (inertia.mass >= LEAST and _moments(inertia.I_com)[0] >= LEAST):
            heavy.add(seat.body)
            if not any(tree.joints[i].nv for i in seat.members):
                heavy.add(seat.parent)
    return heavy


def _fault(inertia: Inertia) -> str:
    """Return why no body can have this inertia, "" if one can."""
    moments = _moments(inertia.I_com)
    if inertia.mass < 0:
        return f"its mass is {inertia.mass:g} kg"
    if moments[0] < -_tolerance(moments):
        return f"its tensor has a moment of {moments[0]:g} kg m^2"
    if moments[0] + moments[1] - moments[2] < -_tolerance(moments):
        return f"its moments are {', '.join(f'{m:g}' for m in moments)} kg m^2, one beyond the sum of the others"
    return ""


def _moments(I: Floats) -> Floats:
    """Return the principal moments (3,), the least first; exact for a diagonal tensor."""
    return np.sort(np.diag(I)) if _is_diagonal(I) else np.asarray(np.linalg.eigvalsh(I), np.float64)


def _is_diagonal(I: Floats) -> bool:
    return not (I - np.diag(np.diag(I))).any()
