# pyright: reportAttributeAccessIssue=false
"""What loading alone reveals: coordinates, order, the base, and what Drake's parsers say that they ignore."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..harness.bases import DRAKE
from ..harness.errors import Source
from ..harness.findings import finding
from ..harness.importers.xml import read_xml
from ..harness.revealed import order, wrenches
from ..harness.tree import JointKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..harness.findings import Finding
    from ..harness.tree import Tree
    from .drake_build import Opened

# What the MJCF parser passes over, with the kinds of difference that this makes.
IGNORED: Final[Mapping[str, tuple[str, ...]]] = {
    "option/flag@gravity": ("gravity.",),
    "compiler@settotalmass": ("mass", "inertia."),
    "compiler@inertiagrouprange": ("mass", "com", "inertia."),
    "compiler@balanceinertia": ("inertia.",),
    "compiler@boundmass": ("mass",),
    "compiler@boundinertia": ("inertia.",),
}
MAPPED: Final = "nothing: the harness maps it; in your own calls, use Drake's coordinates"
WRENCH: Final = "SpatialForce: moment, then force, at any point, in axes of any frame"
LOGGED: Final = re.compile(r"^(?P<file>.*?):(?P<line>\d+): (?P<level>warning|error): (?P<words>.*)$", re.DOTALL)
FLOATING_URDF: Final = re.compile(r"Joint '(?P<name>.*)' specified as type floating")
# Elements and attributes of MJCF that touch no smooth dynamics: the notes have them.
OF_NO_DYNAMICS: Final = frozenset(
    (
        *("visual", "statistic", "size", "sensor", "contact", "asset", "texture", "material", "custom", "camera"),
        *("light", "site", "rgba", "geom", "timestep", "iterations", "solver", "integrator", "cone", "impratio"),
        *("tolerance", "class", "childclass", "extension"),
    )
)
UNSUPPORTED: Final = re.compile(r"(?:attribute|tag) '(?P<child>[^']*)' found (?:in a|as a child of) '(?P<tag>[^']*)'")


def conventions(opened: Opened, tree: Tree) -> Iterator[Finding]:
    """Yield what the adapter maps."""
    joints = opened.joints
    yield from order(
        tree,
        sorted(joints, key=lambda i: joints[i].velocity_start()),
        "map dofs by joint name: Drake numbers base bodies and branches in an order of its own",
    )
    for i in sorted(joints):
        joint, body = tree.joints[i], tree.bodies[i]
        values: tuple[str, str] | None = None
        if joint.kind is JointKind.FLOATING:
            yield from DRAKE.findings(body, "Drake")
            fused = tree.fusion.tree.joints[tree.fusion.merged[i]]
            if joints[i].is_ephemeral() and not np.array_equal(fused.T_parent_joint, np.eye(4)):
                yield finding(
                    "joint.coordinates",
                    joint.source("T_parent_joint"),
                    where=joint.name,
                    expected="pose in the joint frame",
                    found="pose in the world",
                    fix="multiply by the placement of the joint",
                )
        elif joint.kind is JointKind.BALL:
            values = ("quaternion w, x, y, z; velocity in child axes", "roll, pitch, yaw; velocity in parent axes")
        elif joint.kind is JointKind.PLANAR:
            values = ("velocity in child axes", "velocity in axes of the plane")
        if values:
            expected, found = values
            yield finding(
                "joint.coordinates", joint.source(), where=joint.name, expected=expected, found=found, fix=MAPPED
            )
    yield from wrenches(tree, WRENCH, MAPPED, "what the surroundings do to the body")
    yield from _gravity(opened, tree)


def _gravity(opened: Opened, tree: Tree) -> Iterator[Finding]:
    """Yield the sign of `CalcGravityGeneralizedForces`, said at the first joint."""
    first = min(opened.joints, default=0)
    if first and tree.gravity.any():
        yield finding(
            "gravity.sign",
            tree.sources.get("gravity") or next((s for k, s in tree.sources.items() if k.startswith("option@")), None),
            where=tree.joints[first].name,
            expected="the efforts that hold the robot still",
            found="the efforts of gravity",
            severity="convention",
            fix="turn the sign of CalcGravityGeneralizedForces, as here",
        )


def welded(tree: Tree, names: Sequence[str]) -> Iterator[Finding]:
    """Yield the root links that Drake would leave floating, and the adapter has welded to the world."""
    for name in names:
        body = tree.bodies[tree.index[name]] if name in tree.index else None
        yield finding(
            "base.fixed_or_free",
            body.source() if body else None,
            where=name,
            expected="fixed to the world",
            found="free, unless the caller welds it",
            severity="convention",
            fix=f"plant.WeldFrames(plant.world_frame(), plant.GetFrameByName({name!r})), as here",
        )


def said(lines: Sequence[str], tree: Tree) -> Iterator[Finding]:
    """Yield what the parser says that it does not read."""
    told: set[tuple[str, str | None]] = set()
    for line in lines:
        match = LOGGED.match(line)
        if not match:
            continue
        words, number = match["words"], int(match["line"])
        what = UNSUPPORTED.search(words)
        element = f"{what['tag']}@{what['child']}" if what else ""
        if element in IGNORED or element == "option@flag":
            continue  # said beside its effect, see `harness.diagnosis.ignored`
        if what and {what["tag"], what["child"]} & OF_NO_DYNAMICS:
            continue
        floating = FLOATING_URDF.search(words)
        if not (what or floating or "does not currently support" in words or "not supported" in words):
            continue
        where, source = _element(words, match["file"], number, tree)
        key = (words, where)
        if key in told:
            continue
        told.add(key)
        values: dict[str, Any] = {"expected": "read", "found": words.rstrip(".")}
        values["fix"] = "nothing in the compared answers depends on it, or another finding says what does"
        yield finding("feature.ignored", source, where=where or element or None, severity="convention", **values)


def _element(words: str, file: str, line: int, tree: Tree) -> tuple[str | None, Source]:
    """Return name and place of the joint or body that the words, or their line, are about."""
    floating = FLOATING_URDF.search(words)
    if floating and floating["name"] in tree.joint_index:
        joint = tree.joints[tree.joint_index[floating["name"]]]
        return joint.name, joint.source()
    at, what = Source(file, line), UNSUPPORTED.search(words)
    if what:
        return _named(at, (what["tag"], what["child"]))
    for body in tree.bodies[1:]:
        if _is_at(at, body.joint.source()):
            return body.joint.name, at
        if _is_at(at, body.source()):
            return body.name, at
        if any(_is_at(at, source) for source in body.joint.sources.values()):
            return body.joint.name, at
    return None, at


def _named(at: Source, tags: tuple[str, str]) -> tuple[str | None, Source]:
    """Return the first name on or inside the element of one of these tags that begins on a line."""
    for element in read_xml(at.file).root.walk():
        if element.source.line == at.line and element.tag in tags:
            named = next((inner for inner in element.walk() if inner.get("name")), None)
            return (named.get("name"), named.source) if named else (None, at)
    return None, at


def _is_at(one: Source, other: Source) -> bool:
    return bool(other.line) and (one.file, one.line) == (other.file, other.line)
