"""Differences that concern the whole robot: gravity, medium, tendons, mimic and other closures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import Source
from ..tree import TendonInertia
from .difference import Difference, unchanged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..tree import Closure, Floats, Tree
    from .matching import Matching


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
        mine, other = (f"{t.medium.density:g} kg/m^3, {t.medium.viscosity:g} Pa s" for t in (ours, theirs))
        yield Difference("fluid", None, mine, other, "", unchanged, _at(ours, "medium"), _at(theirs, "medium"))
    yield from _tendons(ours, theirs, matching, tolerance)
    yield from _mimics(ours, theirs, matching, tolerance)


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
    values = (sum(t.armature for t in ours.tendons), sum(t.armature for t in other))
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
    to_ours = {theirs.joints[j].name: ours.joints[i].name for i, j in matching.joints.items()}
    mine = _couplings(ours, {joint.name: joint.name for joint in ours.joints})
    other = _couplings(theirs, to_ours)
    for name in [*mine, *(n for n in other if n not in mine)]:
        x, y = mine.get(name), other.get(name)
        if x is not None and y is not None and np.allclose(x[0], y[0], rtol=tolerance, atol=tolerance):
            continue
        expected, found = (list(z[0]) if z else "free" for z in (x, y))
        sources = [z[1].source if z else _at(t, "") for z, t in ((x, ours), (y, theirs))]
        yield Difference("joint.mimic", name, expected, found, "", unchanged, source=sources[0], other=sources[1])


def _couplings(tree: Tree, names: Mapping[str, str]) -> dict[str, tuple[tuple[float, ...], Closure]]:
    """Return follower to (offset, multiplier) and closure, for mimic and for linear joint equalities."""
    found: dict[str, tuple[tuple[float, ...], Closure]] = {}
    for closure in tree.closures:
        if closure.kind in ("mimic", "joint") and closure.active and closure.between[0] in names:
            numbers = (*closure.numbers, 0.0, 0.0)[:2]
            found[names[closure.between[0]]] = (numbers, closure)
    return found
