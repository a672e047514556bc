"""What DART reads: a URDF through `DartLoader`, an MJCF through `MjcfParser`, matched with our tree.

Every default stays but one: `DartLoader` lets the root float unless told otherwise, and is told what the tree says.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dartpy as dart

from ..harness.errors import EngineRefused, EngineUnsupported, ReadError
from ..harness.meshless import without_meshes
from ..harness.streams import caught
from .dart_findings import revealed
from .dart_joints import columns, fits, seats, slides
from .dart_meshes import unreadable
from .dart_refusals import refusal, require_parsable_world

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..harness.engine import Given
    from ..harness.findings import Finding
    from ..harness.seats import Seat
    from ..harness.tree import Tree
    from .dart_build import Skeleton
    from .dart_joints import BodyNode

# The place in DART's own sources, and the time and level of its log.
PREFIX = re.compile(r"^(\[[-\d]+ [\d:.]+\] *\[\w+\] *|(Warning|Error) *(\[[\w.]+:\d+\])? *:? *|Msg *\[[\w.]+:\d+\] *)+")


@dataclass(frozen=True, eq=False)
class Found:
    """What DART made of the file; fields as `DartSession` takes them."""

    skeleton: Skeleton
    nodes: Mapping[int, BodyNode]
    seats: tuple[Seat, ...]
    extra_dofs: tuple[str, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


def load(given: Given, tree: Tree) -> Found:
    """Return the skeleton of a file, with its joints matched to those of `tree`.

    Raises:
        EngineRefused: DART would not load it, in its words.
        EngineUnsupported: another format.
    """
    said: list[str] = []
    meshes = 0
    if given.format == "urdf":
        try:
            text, meshes = without_meshes(given.path)
        except ReadError as error:
            raise EngineRefused(str(error), error.kind, error.where, error.source) from error
        # What stands behind these signs in a name is no part of the path of a URI.
        cut = bool({"#", "?"} & set(str(Path(given.path).resolve())))
        skeleton = _urdf(given, tree, text if meshes or cut else None, said)
        skeleton.setGravity(tree.gravity)
    elif given.format == "mjcf":
        require_parsable_world(given)
        skeleton = _mjcf(given, tree, said)
    else:
        raise EngineUnsupported(f"DART has no importer for {given.format}; it reads URDF and MJCF here")
    nodes = _match(skeleton, tree)
    found, taken = _seated(tree, nodes)
    extra = tuple(skeleton.getDof(k).getName() for k in range(skeleton.getNumDofs()) if k not in taken)
    notes = [f"DART said: {line}" for line in said]
    findings = list(revealed(given, tree, nodes, found))
    if meshes:
        lost, words = unreadable(given.path)
        findings += lost
        notes.insert(0, f"{meshes} meshes were taken out of {given.path} before DART read it")
        notes += [f"DART said of the first mesh that it does not find: {line}" for line in _plain(words)]
    return Found(skeleton, nodes, tuple(found), extra, tuple(findings), tuple(notes))


def _urdf(given: Given, tree: Tree, text: str | None, said: list[str]) -> Skeleton:
    """Return the skeleton that `DartLoader` makes of a URDF, or of `text` in its place."""
    options = dart.utils.DartLoaderOptions()
    types = dart.utils.DartLoaderRootJointType
    options.mDefaultRootJointType = types.FLOATING if given.freed else types.FIXED
    loader = dart.utils.DartLoader()
    loader.setOptions(options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(given.path).resolve()
        if text is not None:
            path = Path(folder) / "model.urdf"
            path.write_text(text, encoding="utf-8")
        return _opened(loader.parseSkeleton, path, given, tree, said)


def _mjcf(given: Given, tree: Tree, said: list[str]) -> Skeleton:
    """Return one skeleton of all that `MjcfParser` makes of a file, which are one for every body of the world.

    The world's own geometries are a skeleton that is not mobile, of a body of 1 kg that no force moves: it stays out.
    """
    world = _opened(dart.utils.MjcfParser.readWorld, Path(given.path).resolve(), given, tree, said)
    mobile = [s for s in map(world.getSkeleton, range(world.getNumSkeletons())) if s.isMobile()]
    if not mobile:
        raise EngineRefused(f"DART reads no body in {given.path}", "refused.unsupported")
    first, *others = mobile
    with caught(said):
        for other in others:
            while other.getNumBodyNodes():
                other.getRootBodyNode(0).moveTo(first, None)
    first.setGravity(world.getGravity())
    said[:] = _plain(said)
    return first


def _opened(call: Any, path: Path, given: Given, tree: Tree, said: list[str]) -> Any:
    """Return what a parser makes of a file.

    Raises:
        EngineRefused: it raises, or returns None and says why on the error stream alone.
    """
    uri = dart.common.Uri()
    uri.fromPath(str(path))
    error: Exception | None = None
    with caught(said):
        try:
            opened = call(uri)
        except (RuntimeError, ValueError, IndexError) as raised:
            opened, error = None, raised
    said[:] = _plain(said)
    if opened is None:
        raise refusal(given, tree, said, error)
    return opened


def _plain(said: list[str]) -> list[str]:
    """Return the lines without what stands before the words, each once."""
    # What begins with "at line" names a place in the parser's own sources.
    lines = (PREFIX.sub("", line) for line in said)
    return list(dict.fromkeys(line for line in lines if line and not line.startswith("at line ")))


def _match(skeleton: Skeleton, tree: Tree) -> dict[int, BodyNode]:
    """Return the body nodes of the tree's bodies: by name, else by the name of the joint that carries them."""
    nodes: dict[int, BodyNode] = {}
    every = [skeleton.getBodyNode(k) for k in range(skeleton.getNumBodyNodes())]
    for node in every:
        i = tree.index.get(node.getName(), 0)
        if i:
            nodes[i] = node
    taken = {node.getName() for node in nodes.values()}
    for node in every:
        i = tree.joint_index.get(node.getParentJoint().getName(), 0)
        if i and i not in nodes and node.getName() not in taken:
            nodes[i] = node
    return nodes


def _seated(tree: Tree, nodes: Mapping[int, BodyNode]) -> tuple[list[Seat], set[int]]:
    """Return the seats of the joints that both have, and the coordinates that these take.

    Several slides of an MJCF body are one joint of DART.
    """
    found: list[Seat] = []
    taken: set[int] = set()
    for i, node in nodes.items():
        held = node.getParentJoint()
        chain = [i]
        while len(chain) < len(slides(held)) and tree.parents[chain[0]] > 0:
            chain.insert(0, tree.parents[chain[0]])
        joints = [tree.joints[k] for k in chain]
        if tree.joints[i].nv and fits(joints, held):
            found += seats(chain, joints, held, shifted=False)
            taken |= set(columns(held))
    return found, taken
