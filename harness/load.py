"""Turn whatever a user has, a file or a live model, into a tree."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .engine import Given
from .errors import ReadError, RequestError, Source
from .importers.urdf import expansion, tree_of_document
from .importers.xml import FilePath, parse_xml, read_bytes
from .tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable

BASES: Final = ("auto", "fixed", "free")


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A model ready to be checked: the tree, and what was handed over for the native path."""

    tree: Tree
    given: Given


def load(model: Any, base: str = "auto") -> Tree:
    """Return the tree of a URDF or MJCF file, or of a live model.

    Args:
        model: a path, a `Tree`, a `pinocchio.Model`, a `mujoco.MjModel` or a `mujoco.MjSpec`.
        base: "auto" takes the base as the model has it, "free" puts a floating joint under a welded root, "fixed" asks
            for a base that the model itself holds: what floats is not welded, since no engine reads the file so.

    Raises:
        ReadError: the file cannot be read, or breaks the rules of its format.
        RequestError: `model` is nothing that can be read, `base` is another word, or "fixed" where the model floats.
    """
    return open_model(model, base).tree


def open_model(model: Any, base: str = "auto", read_mjcf: Callable[[str], Tree] | None = None) -> Loaded:
    """Return the tree and what the native path needs; arguments and errors as for `load`.

    Args:
        model: as for `load`.
        base: as for `load`.
        read_mjcf: reads an MJCF file, in another process; None reads it in this one.
    """
    if base not in BASES:
        raise RequestError(f"base {base!r} does not exist; choose one of {', '.join(BASES)}")
    loaded = _open_file(model, read_mjcf) if isinstance(model, str | os.PathLike) else _open_live(model)
    if base == "fixed" and loaded.tree.base == "free":
        raise _floats(loaded.tree)
    tree = loaded.tree.with_base(base)
    return Loaded(tree, replace(loaded.given, freed=tree is not loaded.tree))


def _floats(tree: Tree) -> RequestError:
    """Return the error of a floating robot that was asked for with a fixed base."""
    joint = tree.joints[tree.free_roots[0]]
    place = f"{source}: " if (source := joint.source()).file else ""
    return RequestError(
        f"{place}joint {joint.name!r} lets {tree.name!r} float, and a fixed base was asked for; take the joint out of "
        "the file, or ask for the base as the file says (auto)"
    )


def _bundled(file: str) -> str:
    """Return where the model lies that comes with the package and is called as a file that is not there; else ""."""
    from ..models import path  # noqa: PLC0415  only where a file is missing

    if os.path.lexists(file) or not file.endswith((".urdf", ".xml")):
        return ""
    try:
        return str(path(Path(file).name))
    except (OSError, ValueError):
        return ""


def _open_file(path: FilePath, read: Callable[[str], Tree] | None) -> Loaded:
    """Read a file in the format that its root element tells."""
    file = os.fsdecode(path)
    try:
        file.encode()
    except UnicodeEncodeError as error:
        message = "no engine can open a path that is not in UTF-8; rename the file, or set a locale with UTF-8"
        raise ReadError(message, Source(file)) from error
    if bundled := _bundled(file):
        raise ReadError(f"there is no such file; the bundled model of this name is {bundled}", Source(file))
    data = read_bytes(file)
    if file.endswith(".xacro"):
        raise RequestError(f"{file} is a xacro file; expand it first: {expansion(file)}")
    document = parse_xml(data, file)
    if document.root.tag == "robot":
        return Loaded(tree_of_document(document), Given("urdf", file))
    if document.root.tag == "mujoco":
        if read is None:
            from .importers.mjcf import read_mjcf as read  # noqa: PLC0415  imports an engine

        return Loaded(read(file), Given("mjcf", file))
    message = f"the root element is <{document.root.tag}>; supported: <robot> (URDF) and <mujoco> (MJCF)"
    raise ReadError(message, document.root.source)


def _open_live(model: Any) -> Loaded:
    """Read an object of an engine back; the engines are told by name, so that none is imported in vain."""
    if isinstance(model, Tree):
        return Loaded(model, Given("tree", live=model))
    kinds = {(cls.__module__.partition(".")[0], cls.__name__) for cls in type(model).__mro__}
    if ("pinocchio", "Model") in kinds:
        from ..adapters.pinocchio_ import tree_of  # noqa: PLC0415  imports an engine

        return Loaded(tree_of(model), Given("pinocchio", live=model))
    if kinds & {("mujoco", "MjModel"), ("mujoco", "MjSpec")}:
        from .importers.mjcf import tree_of_mujoco  # noqa: PLC0415  imports an engine

        return Loaded(tree_of_mujoco(model), Given("mujoco", live=model))
    message = f"a {type(model).__qualname__} is no model; give a path, a Tree, a pinocchio.Model, a mujoco.MjModel"
    raise RequestError(f"{message} or a mujoco.MjSpec")
