"""Joints that move nothing, cannot move, follow nobody, or say their axis in another length than one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..tree import JointKind
from .fault import fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..findings import Finding
    from ..tree import Tree

# An axis written with three digits misses its length by less.
AXIS: Final = 1e-3


def massless(tree: Tree) -> Iterator[Finding]:
    """Yield joints with nothing to move: no mass and no tensor at or below them, no inertia of motor or tendon.

    The upmost one of a chain is told, since what is below it says the same.
    """
    heavy = _carries(tree)
    pulled = {name for tendon in tree.tendons if tendon.armature > 0 for name in tendon.coefficients}
    silent: set[int] = set()
    for i, body in enumerate(tree.bodies[1:], 1):
        joint = body.joint
        if body.parent in silent:
            silent.add(i)
        elif joint.nv and not heavy[i] and not (joint.reflected > 0).all() and joint.name not in pulled:
            silent.add(i)
            source = body.source("inertial")
            yield fault(tree, "lint.massless", body.name, source, f"inertia that joint {joint.name!r} moves", "none")


def without_inertial(tree: Tree) -> Iterator[Finding]:
    """Yield links of a URDF that move without inertia, though something below them has some.

    A link whose fixed children have inertia is no such link.
    """
    if tree.origin.format != "urdf":
        return  # elsewhere a body without inertia is how a joint of several dofs is written
    heavy, fusion = _carries(tree), tree.fusion
    for i, body in enumerate(tree.bodies[1:], 1):
        piece = fusion.tree.bodies[fusion.merged[i]]
        if body.joint.nv and heavy[i] and "inertial" not in body.sources and piece.inertia.is_zero:
            yield fault(tree, "lint.no_inertial", body.name, body.source(), "an <inertial>", "none")


def _carries(tree: Tree) -> list[bool]:
    """Return for every body whether it or a body below it has inertia."""
    heavy = [not body.inertia.is_zero for body in tree.bodies]
    for i in range(len(tree.bodies) - 1, 0, -1):
        heavy[tree.parents[i]] |= heavy[i]
    return heavy


def mimics(tree: Tree) -> Iterator[Finding]:
    """Yield couplings to nowhere, which the importer could not keep."""
    for loss in tree.losses:
        if loss.element == "mimic" and loss.where:
            yield fault(tree, "lint.mimic", loss.where, loss.source, "another joint with one coordinate", loss.note)


def ranges(tree: Tree) -> Iterator[Finding]:
    """Yield limits that leave no room: the lower one is not below the upper one."""
    for joint in tree.joints[1:]:
        if joint.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC) and not joint.lower < joint.upper:
            unit = "m" if joint.kind is JointKind.PRISMATIC else "rad"
            found = [joint.lower, joint.upper]
            yield fault(tree, "lint.range", joint.name, joint.source("lower"), "lower < upper", found, unit)


def axes(tree: Tree) -> Iterator[Finding]:
    """Yield axes whose length is not one: the tree holds the direction, a loss of the importer the length."""
    for loss in tree.losses:
        if loss.element == "axis@xyz" and loss.where and abs((loss.value or 1.0) - 1) > AXIS:
            yield fault(tree, "lint.axis", loss.where, loss.source, "an axis of length 1", loss.value)
