"""A whole file in another unit: one reason instead of a hundred."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..errors import ReadError, Source
from ..tree import JointKind
from .difference import Difference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..tree import Floats, Inertia, Joint, Tree
    from .matching import Matching

RATIOS: Final = (1e3, 1e-3)  # millimetres read as metres, and the reverse
NEAR: Final = 0.1  # how close the sizes of two robots must come to such a ratio to try it
EXACT: Final = 1e-3  # how close single lengths must come
MANY: Final = 1 / 3  # of all lengths, that must have the ratio
TURNED: Final = ("joint.orientation", "units.angle", "joint.zero", "joint.axis", "inertia.rotation", "spring")
ANGLES: Final = re.compile(rb"(euler|axisangle|ref|springref)\s*=")  # what MJCF writes in the unit of its compiler
SAID: Final = re.compile(rb"""\sangle\s*=\s*["'](radian|degree)["']""")
OTHER: Final = {"radian": "degree", "degree": "radian"}


@dataclass(frozen=True, eq=False)
class Reading:
    """Both trees, one of them read in another unit.

    Attributes:
        kind: a key of `harness.findings.KINDS`.
        ours, theirs: the trees.
        expected, found, unit: what the difference says.
        sources: lines of the unit in both files.
        length: by which lengths of the other file were divided.
    """

    kind: str
    ours: Tree
    theirs: Tree
    expected: Any
    found: Any
    unit: str
    sources: tuple[Source, Source]
    length: float = 1.0

    def frame(self, G: Floats) -> Floats:
        """Return a frame of the other tree as it was first read, given one (4, 4) of this reading."""
        T = G.copy()
        T[:3, 3] *= self.length
        return T

    def difference(self, where: str | None, apply: Callable[[Tree], Tree]) -> Difference:
        """Return the unit as a difference, at the only body that it touches, or of the whole file."""
        return Difference(self.kind, where, self.expected, self.found, self.unit, apply, *self.sources)


def readings(ours: Tree, theirs: Tree, matching: Matching, found: Sequence[Difference]) -> Iterator[Reading]:
    """Yield the readings in which two trees may agree better.

    Args:
        ours: the expected tree.
        theirs: the other tree.
        matching: of both.
        found: how they differ as they were read.
    """
    files = Source(ours.origin.path), Source(theirs.origin.path)
    for ratio, tensors in _ratios(ours, theirs, matching):
        unit = "m" if not tensors else "m, and kg m^2 with its square"
        other = rescaled(theirs, 1 / ratio, tensors=tensors)
        yield Reading("units.length", ours, other, 1.0, ratio, unit, files, ratio)
    if any(d.kind in TURNED for d in found):
        lines = ours.sources.get("angle") or files[0], theirs.sources.get("angle") or files[1]
        if (other := _in_other_angles(theirs)) is not None:
            yield Reading("units.angle", ours, other[0], other[1], OTHER[other[1]], "", lines)
        if (mine := _in_other_angles(ours)) is not None:
            yield Reading("units.angle", mine[0], theirs, OTHER[mine[1]], mine[1], "", lines)


def _in_other_angles(tree: Tree) -> tuple[Tree, str] | None:
    """Return the tree of an MJCF with its angles in the other unit, and that; None where the file has no angle."""
    path = tree.origin.path
    if tree.origin.format != "mjcf" or not path:
        return None
    text = Path(path).read_bytes()
    if "include" not in tree.sources and not ANGLES.search(text):
        return None
    from ..importers.mjcf import read_mjcf  # noqa: PLC0415  imports an engine

    said = SAID.search(text)
    try:
        other = read_mjcf(path, other_angle_unit=True)
    except ReadError:  # not a file in that unit
        return None
    return other.with_base(tree.base), OTHER[said[1].decode() if said else "degree"]


def size(tree: Tree) -> float:
    """Return the sum of all distances from joint to joint and to centres of mass [m]."""
    lengths = [body.joint.T_parent_joint[:3, 3] for body in tree.bodies] + [b.inertia.com for b in tree.bodies]
    return sum(float(np.linalg.norm(p)) for p in lengths)


def _ratios(ours: Tree, theirs: Tree, matching: Matching) -> Iterator[tuple[float, bool]]:
    """Yield what the lengths of `theirs` may have been multiplied by, and whether its tensors went along."""
    mine, other = size(ours), size(theirs)
    each = _each_ratio(ours, theirs, matching)
    for ratio in RATIOS:
        alike = int((np.abs(each / ratio - 1) < EXACT).sum())
        if (mine and abs(other / mine / ratio - 1) < NEAR) or alike > max(2, MANY * len(each)):
            yield ratio, True
            yield ratio, False


def _each_ratio(ours: Tree, theirs: Tree, matching: Matching) -> Floats:
    """Return theirs over ours of the lengths that matched bodies have in both files."""
    pairs: list[tuple[float, float]] = []
    for i, j in matching.bodies.items():
        x, y = ours.bodies[i], theirs.bodies[j]
        pairs.append((float(np.linalg.norm(x.inertia.com)), float(np.linalg.norm(y.inertia.com))))
        placed = [float(np.linalg.norm(z.joint.T_parent_joint[:3, 3])) for z in (x, y)]
        pairs.append((placed[0], placed[1]))
    return np.array([y / x for x, y in pairs if x and y])


def rescaled(tree: Tree, factor: float, *, tensors: bool) -> Tree:
    """Return the tree with every length times `factor`, and its tensors times its square when asked."""

    def placed(T: Floats) -> Floats:
        return np.vstack([np.hstack([T[:3, :3], T[:3, 3:] * factor]), T[3:]])

    def joint(j: Joint) -> Joint:
        fields = {"T_parent_joint": placed(j.T_parent_joint), "T_joint_body": placed(j.T_joint_body)}
        return replace(j, **fields, ref=j.ref * (factor if j.kind is JointKind.PRISMATIC else 1.0))

    def inertia(i: Inertia) -> Inertia:
        return replace(i, com=i.com * factor, I_com=i.I_com * (factor**2 if tensors else 1.0))

    bodies = [replace(body, joint=joint(body.joint), inertia=inertia(body.inertia)) for body in tree.bodies]
    return replace(tree, bodies=tuple(bodies))
