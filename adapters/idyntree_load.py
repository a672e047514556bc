# pyright: reportAttributeAccessIssue=false
"""A URDF through iDynTree's `ModelLoader`, every default as it is, and why it would not load one.

The loader says True and leaves a model of no links behind where a link has two roots, a cycle or an unknown joint type:
any call on such a model ends the process. The reason stands on the error stream alone. Meshes are not opened. A visual
or collision in which the loader finds no box, sphere, cylinder or mesh ends the process: `<capsule>` is one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..harness.base_links import BaseLink, static_pose
from ..harness.errors import EngineRefused, EngineUnsupported, ReadError, Source
from ..harness.importers.xml import read_xml
from ..harness.limits import require_depth
from ..harness.streams import caught
from ..harness.tree import JointKind
from .idyntree_bindings import idt
from .idyntree_build import DEPTH, matrix_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..harness.engine import Given
    from ..harness.importers.xml import Element
    from ..harness.tree import Tree
    from .idyntree_build import Model

UNSUPPORTED: Final = "not currently supported by iDynTree"
# Shapes with their attributes, and how many numbers are in each.
SHAPES: Final[Mapping[str, Mapping[str, int]]] = {
    "box": {"size": 3},
    "sphere": {"radius": 1},
    "cylinder": {"radius": 1, "length": 1},
}
NUMBER: Final = re.compile(r"(?<!\S)[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?!\S)")


def load(given: Given, tree: Tree) -> tuple[Model, tuple[str, ...]]:
    """Return the model of a file, and what the importer said on the way.

    Raises:
        EngineRefused: iDynTree would not load it, in its words, or would take all memory.
        EngineUnsupported: another format than URDF, or more links in a row than it is asked for.
    """
    if given.format != "urdf":
        raise EngineUnsupported(f"iDynTree has no importer for {given.format}; it reads URDF")
    require_depth(tree, *DEPTH)
    try:
        root = read_xml(given.path).root
    except ReadError:
        pass  # what is wrong with the file, iDynTree says in its own words
    else:
        _require_one_parent(given, root)
        _require_shapes(given, root)
    said: list[str] = []
    loader = idt.ModelLoader()
    with caught(said):
        loaded = loader.loadModelFromFile(given.path, "urdf")
    words = [re.sub(r"^\[(ERROR|WARNING)\]\s*", "", line) for line in said]
    model = loader.model().copy()
    if not loaded or not model.getNrOfLinks():
        raise _refusal(given, tree, words)
    return model, tuple(f"iDynTree said: {line}" for line in words)


def base_in(model: Model, tree: Tree) -> BaseLink:
    """Return where the base link of a file's model is: our root is a link that is fixed to it, or a frame of it."""
    base = model.getDefaultBaseLink()
    for i in (*tree.floating_roots, *range(1, len(tree.bodies))):
        if i not in tree.floating_roots and (tree.parents[i] or tree.joints[i].kind is not JointKind.FIXED):
            continue
        frame = model.getFrameIndex(tree.bodies[i].name)
        if frame >= 0:
            T_base_body = _place(model, base, frame)
            if T_base_body is not None:
                floats = tree.joints[i].kind is JointKind.FLOATING
                return BaseLink(i, np.linalg.inv(T_base_body), floats, static_pose(tree, i))
    return BaseLink(0, np.eye(4), False, np.eye(4))


def _place(model: Model, base: int, frame: int) -> Any:
    """Return T_base_frame (4, 4), or None where a joint that moves is between them."""
    # The answers need no session to be open: the chain of fixed joints is followed upwards.
    link = model.getFrameLink(frame)
    held = model.getFrameTransform(frame)
    T = matrix_of(held)
    traversal = idt.Traversal()
    model.computeFullTreeTraversal(traversal, base)
    while link != base:
        joint, parent = traversal.getParentJointFromLinkIndex(link), traversal.getParentLinkFromLinkIndex(link)
        if joint.getNrOfDOFs():
            return None
        rest = joint.getRestTransform(parent.getIndex(), link)
        T, link = matrix_of(rest) @ T, parent.getIndex()
    return T


def _require_one_parent(given: Given, root: Element) -> None:
    """Refuse a link with two parents: the importer follows such a graph without end, and takes all memory.

    Raises:
        EngineRefused: there is one.
    """
    taken: set[str] = set()
    for joint in root.all("joint"):
        for child in joint.all("child"):
            name = child.get("link") or ""
            if name in taken:
                message = (
                    f"iDynTree would follow the two parents of link {name!r} of {given.path} without end, up to "
                    "std::bad_alloc or the end of memory: it is not called"
                )
                raise EngineRefused(message, "refused.malformed", name, child.source)
            taken.add(name)


def _require_shapes(given: Given, root: Element) -> None:
    """Refuse a visual or collision without a shape that the importer knows: it follows a pointer to nothing.

    Raises:
        EngineRefused: there is one.
    """
    for link in root.all("link"):
        for shown in (*link.all("visual"), *link.all("collision")):
            geometry = shown.first("geometry")
            if geometry is not None and any(map(_is_shape, geometry.walk())):
                continue
            name = link.get("name")
            message = (
                f"iDynTree ends the process on the <{shown.tag}> of link {name!r} of {given.path}, in which it finds "
                "no box, sphere, cylinder or mesh: it is not called"
            )
            raise EngineRefused(message, "refused.unsupported", name, shown.source)


def _is_shape(element: Element) -> bool:
    """Return whether the importer makes a shape of an element."""
    numbers = SHAPES.get(element.tag)
    if numbers is None:
        return element.tag == "mesh" and element.get("filename") is not None
    return all(len(NUMBER.findall(element.get(name) or "")) == count for name, count in numbers.items())


def _refusal(given: Given, tree: Tree, words: Sequence[str]) -> EngineRefused:
    """Return the refusal in iDynTree's words, at the joint or link that they name."""
    said = "; ".join(words) or "nothing"
    unsupported = next((line for line in words if UNSUPPORTED in line), "")
    where, source = _named(unsupported or said, tree)
    kind = "refused.unsupported" if unsupported else "refused.malformed"
    return EngineRefused(f"iDynTree would not load {given.path}: {said}", kind, where, source)


def _named(words: str, tree: Tree) -> tuple[str | None, Source]:
    """Return the joint or link that the words name."""
    for name in re.findall(r"[Jj]oint (\S+)|link (\S+)", words):
        for candidate in filter(None, name):
            if candidate in tree.joint_index:
                return candidate, tree.joints[tree.joint_index[candidate]].source()
            if candidate in tree.index:
                return candidate, tree.bodies[tree.index[candidate]].source()
    return None, Source()
