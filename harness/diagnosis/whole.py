"""Differences that concern the whole robot: gravity, medium, inertia of tendons, couplings of joints."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..errors import Source
from ..tree import Said, TendonInertia
from .difference import Difference, unchanged
from .stated import Names, Statement, departing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tree import Floats, Medium, Tree
    from .matching import Matching

MOST: Final = 3  # entries of an inertia that are told
POWERS: Final = 5  # coefficients of a joint equality, a polynomial of the fourth degree


def whole_differences(ours: Tree, theirs: Tree, matching: Matching, tolerance: float) -> Iterator[Difference]:
    """Yield the differences in what is not of one body or joint.

    Args:
        ours: the expected tree.
        theirs: the other tree.
        matching: of their joints.
        tolerance: relative.
    """
    yield from _gravity(ours, theirs, tolerance)
    if ours.medium != theirs.medium:
        mine, other = (_said(t.medium, wind=ours.medium.wind != theirs.medium.wind) for t in (ours, theirs))
        yield Difference("fluid", None, mine, other, "", unchanged, _at(ours, "medium"), _at(theirs, "medium"))
    yield from _tendons(ours, theirs, matching, tolerance)
    yield from _mimics(ours, theirs, matching, tolerance)


def _said(medium: Medium, *, wind: bool) -> str:
    blows = f", wind {' '.join(f'{x:.9g}' for x in medium.wind)} m/s" if wind else ""
    return f"{medium.density:.9g} kg/m^3, {medium.viscosity:.9g} Pa s{blows}"


def _at(tree: Tree, name: str) -> Source:
    return tree.sources.get(name) or Source(tree.origin.path)


def _gravity(ours: Tree, theirs: Tree, tolerance: float) -> Iterator[Difference]:
    g, h = ours.gravity, theirs.gravity
    size = max(float(np.linalg.norm(g)), float(np.linalg.norm(h)))
    if size == 0 or np.abs(g - h).max() <= tolerance * size:
        return

    def apply(tree: Tree) -> Tree:
        return replace(tree, gravity=h)

    yield Difference(
        gravity_kind(g, h, tolerance),
        None,
        g.tolist(),
        h.tolist(),
        "m/s^2",
        apply,
        _at(ours, "gravity"),
        _at(theirs, "gravity"),
    )


def gravity_kind(g: Floats, h: Floats, tolerance: float) -> str:
    """Return how one gravity departs from another: its sign, its value, or its direction."""
    norms = float(np.linalg.norm(g)), float(np.linalg.norm(h))
    if np.abs(g + h).max() <= tolerance * max(norms):
        return "gravity.sign"
    along = min(norms) == 0 or float(np.linalg.norm(np.cross(g, h))) <= tolerance * norms[0] * norms[1]
    return "gravity.value" if along else "gravity.direction"


def _tendons(ours: Tree, theirs: Tree, matching: Matching, tolerance: float) -> Iterator[Difference]:
    """Compare the inertia that all fixed tendons give together, in our coordinates."""
    to_ours = {theirs.joints[j].name: ours.joints[i].name for i, j in matching.joints.items()}
    other = tuple(
        TendonInertia(t.name, t.armature, {to_ours[n]: c for n, c in t.coefficients.items() if n in to_ours}, t.source)
        for t in theirs.tendons
    )
    mine, found = _inertia_of(ours, ours.tendons), _inertia_of(ours, other)
    size = max(float(np.abs(mine).max(initial=0)), float(np.abs(found).max(initial=0)))
    if size == 0 or float(np.abs(mine - found).max()) <= tolerance * size:
        return
    tendons = ours.tendons or other
    values: tuple[Any, Any] = (sum(t.armature for t in ours.tendons), sum(t.armature for t in other))
    if [t.coefficients for t in ours.tendons] != [t.coefficients for t in other] and ours.tendons and other:
        values = _entries(ours, mine, found, tolerance * size)
    source = ours.tendons[0].source if ours.tendons else _at(ours, "")
    theirs_at = other[0].source if other else _at(theirs, "")
    yield Difference(
        "armature.tendon",
        tendons[0].name,
        *values,
        "kg m^2",
        lambda tree: replace(tree, tendons=other),
        source,
        theirs_at,
    )


def _entries(tree: Tree, mine: Floats, found: Floats, allowed: float) -> tuple[str, str]:
    """Return the entries of two inertias of tendons that differ, in words."""
    at = [(int(i), int(j)) for i, j in np.argwhere(np.triu(np.abs(mine - found) > allowed))]
    places = [f"between {tree.dofs[i]} and {tree.dofs[j]}" if i != j else f"at {tree.dofs[i]}" for i, j in at[:MOST]]
    more = ["..."] * (len(at) > MOST)
    told = [[f"{K[i, j]:.9g} {place}" for (i, j), place in zip(at, places, strict=False)] for K in (mine, found)]
    return ", ".join(told[0] + more), ", ".join(told[1] + more)


def _inertia_of(tree: Tree, tendons: tuple[TendonInertia, ...]) -> Floats:
    K = np.zeros((tree.nv, tree.nv))
    for tendon in tendons:
        c = np.zeros(tree.nv)
        for name, coefficient in tendon.coefficients.items():
            c[tree.v_slices[tree.joint_index[name]]] = coefficient
        K += tendon.armature * np.outer(c, c)
    return K


def _mimics(ours: Tree, theirs: Tree, matching: Matching, tolerance: float) -> Iterator[Difference]:
    """Yield couplings of two joints that one tree has and the other has not, or has with other numbers."""
    names = Names.of(ours, theirs, matching)
    mine, other = _couplings(ours, Names({}, {}, {})), _couplings(theirs, names)
    for told, x, y in departing(mine, other, tolerance):
        expected, found = (_coupling(z, x, y) for z in (x, y))
        sources = [z.source if z else _at(t, "") for z, t in ((x, ours), (y, theirs))]
        yield Difference("joint.mimic", told.where, expected, found, "", unchanged, source=sources[0], other=sources[1])


def _couplings(tree: Tree, names: Names) -> list[Statement]:
    """Return follower = polynomial of leader, for mimic and for joint equalities."""
    return [
        Statement(
            "coupling",
            names.named(closure.between[0]),
            (
                Said("polycoef", (*closure.numbers, *[0.0] * POWERS)[:POWERS]),
                names.said(Said("of", "", joint=closure.between[1])),
            ),
            closure.source,
            closure.active,
        )
        for closure in tree.closures
        if closure.kind in ("mimic", "joint")
    ]


def _coupling(z: Statement | None, *both: Statement | None) -> Any:
    """Return offset and multiplier, or all coefficients where one of both has more; with the leader when it changed."""
    if z is None or not z.on:
        return "free"
    said = [x.says for x in both if x is not None and x.on]
    used = max((k + 1 for polynomial, _ in said for k, c in enumerate(polynomial.value) if c), default=0)
    numbers = [float(c) for c in z.says[0].value[: max(used, 2)]]
    leaders = {leader.joint for _, leader in said}
    words = " ".join(f"{c:.9g}" for c in numbers)
    return numbers if len(leaders) == 1 else f"{words} of {z.says[1].joint or 'no joint'}"
