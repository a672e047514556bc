"""What loading alone reveals in PyBullet: frames, order, what of the root is gone, axes that are no unit vectors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from ..harness.bases import BULLET
from ..harness.errors import Source
from ..harness.findings import finding
from ..harness.revealed import order, wrenches
from ..harness.tree import JointKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..harness.engine import Given
    from ..harness.findings import Finding
    from ..harness.tree import Tree
    from .pybullet_model import Model
    from .pybullet_session import Held

MAPPED: Final = "nothing: the harness maps it; in your own calls, use PyBullet's coordinates"
SORTED: Final = "map dofs by joint name: PyBullet has them in the order of its links"
JACOBIAN: Final = "inverse dynamics takes none; calculateJacobian has rows in the axes of the base inertial frame"
UNIT: Final = 1e-9  # an axis is as long as a unit vector


def revealed(given: Given, model: Model, tree: Tree, held: Held) -> tuple[Finding, ...]:
    """Return what was found when joints and links were matched by name."""
    by_velocity = sorted(held.joints, key=lambda i: _first_velocity(model, held.joints[i]))
    return (
        *order(tree, by_velocity, SORTED),
        *wrenches(tree, JACOBIAN, MAPPED),
        *_bases(model, tree, held, urdf=given.format == "urdf"),
        *_coordinates(tree, held),
        *_axes(model, tree, held),
    )


def _first_velocity(model: Model, at: tuple[int, int]) -> tuple[int, int]:
    b, k = at
    return b, model.bodies[b].links[k].v.start if k else -1


def _bases(model: Model, tree: Tree, held: Held, *, urdf: bool) -> Iterator[Finding]:
    """Yield how a base that floats is written, and what of one that does not is left."""
    for i in (i for i, joint in enumerate(tree.joints) if joint.kind is JointKind.FLOATING and i in held.joints):
        body = tree.bodies[i]
        yield from BULLET.findings(body, "PyBullet")
        yield finding(
            "base.velocity_frame",
            body.source(),
            where=body.name,
            expected="both parts in base axes, at the origin of the base",
            found="both parts in the axes of the inertial frame of the base, at its centre of mass",
            fix="move and turn the velocity into the inertial frame that getDynamicsInfo tells",
        )
    for i, (b, k) in held.links.items():
        body = tree.bodies[i]
        if k or model.bodies[b].floating or tree.moving[i]:
            continue
        if urdf:
            yield finding(
                "base.fixed_or_free",
                body.source(),
                where=body.name,
                expected="fixed to the world",
                found="floating by default",
                severity="convention",
                fix="loadURDF(file, useFixedBase=True), as the harness does",
            )
        if not body.inertia.is_zero:
            yield finding(
                "body.root_fused",
                body.source(),
                where=body.name,
                expected=body.name,
                found="world",
                fix="give it a floating joint, or --base free, if it should move: a fixed base has no mass in PyBullet",
            )


def _coordinates(tree: Tree, held: Held) -> Iterator[Finding]:
    for joint in (tree.joints[i] for i in held.joints):
        if joint.kind is JointKind.BALL:
            yield finding(
                "joint.coordinates",
                joint.source(),
                where=joint.name,
                expected="quaternion w, x, y, z",
                found="quaternion x, y, z, w",
                fix=MAPPED,
            )


def _axes(model: Model, tree: Tree, held: Held) -> Iterator[Finding]:
    """Yield the axes that are kept as long as they are written: inverse dynamics normalises them, motion does not."""
    for i, (b, k) in held.joints.items():
        joint, link = tree.joints[i], model.bodies[b].links[k]
        length = float(np.linalg.norm(link.axis))
        if k and link.kind is not JointKind.BALL and abs(length - 1) > UNIT:
            yield finding(
                "joint.axis",
                joint.source("axis"),
                where=joint.name,
                expected=joint.axis.tolist(),
                found=link.axis.tolist(),
                fix="write the axis with length 1: inverse dynamics normalises it, getLinkStates does not",
            )


def unfound_mesh(given: Given, tree: Tree, error: str, words: Sequence[str]) -> Finding:
    """Return the finding of the first mesh that PyBullet did not find, for which alone it would not load the file."""
    said = "; ".join(words)
    place = re.search(r":(\d+): cannot find '([^']*)'", said)
    name = next((word for w in reversed(words) if tree.index.get(word := w.rpartition(": ")[2])), None)
    return finding(
        "refused.mesh",
        Source(given.path, int(place[1])) if place else Source(given.path),
        where=name,
        expected="a file that PyBullet can find",
        found=f"{error} {said}".strip(),
        severity="convention",
        fix=f"make {place[2] if place else 'the mesh'!r} readable, or load the file without its meshes, as here",
    )
