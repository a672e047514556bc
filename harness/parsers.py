"""URDF readers written in Python: a file is handed over, without its meshes where these cannot be opened."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

from .errors import EngineRefused, EngineUnsupported, ReadError, Source, told
from .exporters.urdf import write_urdf
from .meshless import without_meshes
from .streams import caught
from .tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from .engine import Given

R = TypeVar("R")


def parsed(load: Callable[[str], R], given: Given, tree: Tree, engine: str) -> tuple[R, list[str]]:
    """Return what a reader makes of a URDF, and notes: its words, and what was taken out for it.

    Args:
        load: takes a path, and raises anything.
        given: what the user handed over.
        tree: of the same file.
        engine: its name, as it stands in a sentence.

    Raises:
        EngineRefused: the reader would not load it, in its words.
        EngineUnsupported: another format, or a base that should be freed.
    """
    if given.format != "urdf":
        raise EngineUnsupported(f"{engine} has no importer for {given.format}; it reads URDF")
    if given.freed:
        raise EngineUnsupported(f"{engine} places links in their base link: the base cannot float")
    said: list[str] = []
    try:
        robot = _heard(load, given.path, said)
    except Exception as error:  # noqa: BLE001  readers raise anything
        first = error
    else:
        return robot, _notes(said, engine)
    text, meshes = _meshless(given.path)
    if not meshes:
        raise _refusal(given, tree, first, engine)
    again: list[str] = []
    with TemporaryDirectory() as folder:
        path = Path(folder, Path(given.path).name)
        path.write_text(text, encoding="utf-8")
        try:
            robot = _heard(load, str(path), again)
        except Exception as error:
            raise _refusal(given, tree, error, engine) from error
    count = f"{meshes} shapes were" if meshes > 1 else "1 shape was"
    note = f"{count} taken out, since {engine} reads no URDF whose meshes it cannot open: {told(first)}"
    return robot, [note, *_notes(again, engine)]


def written(load: Callable[[str], R], tree: Tree, engine: str) -> R:
    """Return what a reader makes of a tree that is written as a URDF, couplings left out.

    Raises:
        EngineUnsupported: it would not load it.
    """
    bare = Tree("tree", tree.bodies, gravity=tree.gravity)
    with TemporaryDirectory() as folder:
        path = Path(folder, "tree.urdf")
        path.write_text(write_urdf(bare, principal=True).text, encoding="utf-8")
        try:
            return _heard(load, str(path), [])
        except Exception as error:
            raise EngineUnsupported(f"{engine} would not load the tree as a URDF: {told(error)}") from error


def _heard(load: Callable[[str], R], path: str, said: list[str]) -> R:
    with caught(said), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        robot = load(path)
    said += [str(warning.message) for warning in warned]
    return robot


def _notes(said: list[str], engine: str) -> list[str]:
    return [f"{engine} says: {line}" for line in dict.fromkeys(said)]


def _meshless(path: str) -> tuple[str, int]:
    try:
        return without_meshes(path)
    except ReadError:  # the reader says in its own words what is wrong with the file
        return "", 0


def _refusal(given: Given, tree: Tree, error: Exception, engine: str) -> EngineRefused:
    words = told(error)
    where, source = None, Source(given.path)
    for word in re.findall(r"[\w./-]+", words):
        if tree.index.get(word):
            where, source = word, tree.bodies[tree.index[word]].source()
        elif word in tree.joint_index:
            where, source = word, tree.joints[tree.joint_index[word]].source()
    kind = "refused.unsupported" if "nsupported" in words else "refused.malformed"
    return EngineRefused(f"{engine} would not load {given.path}: {words}", kind, where, source)
