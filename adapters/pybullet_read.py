"""What PyBullet's importers make of a file, matched with our tree by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from ..harness.errors import EngineUnsupported, ReadError
from ..harness.meshless import without_meshes
from ..harness.streams import caught
from ..harness.tree import JointKind
from .pybullet_findings import revealed, unfound_mesh
from .pybullet_model import FLAGS, Model, pybullet, spoken
from .pybullet_refusals import refusal
from .pybullet_session import Held

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..harness.engine import Given
    from ..harness.findings import Finding
    from ..harness.tree import Tree

ALIKE = {JointKind.CONTINUOUS: JointKind.REVOLUTE}


@dataclass(frozen=True)
class Call:
    """How a file is loaded.

    Attributes:
        flags: of `loadURDF` and `loadMJCF`.
        fixed: `useFixedBase`, unless the harness frees the base.
    """

    flags: int = FLAGS
    fixed: bool = True


@dataclass(frozen=True, eq=False)
class Found:
    """What PyBullet made of the file; fields as `BulletSession` takes them."""

    model: Model
    held: Held
    extra_dofs: tuple[str, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


def load(given: Given, tree: Tree, call: Call) -> Found:
    """Return the multibodies of a file, with its links and joints matched to those of `tree`.

    Raises:
        EngineRefused: PyBullet would not load it, or has no inverse dynamics of it, in its words.
        EngineUnsupported: another format, or an MJCF whose base should be freed.
    """
    if given.format not in ("urdf", "mjcf"):
        raise EngineUnsupported(f"PyBullet has no importer for {given.format}; it reads URDF and MJCF")
    if given.format == "mjcf" and given.freed:
        raise EngineUnsupported("PyBullet reads the base of an MJCF as the file has it; give it a free joint there")
    call = replace(call, fixed=call.fixed and not given.freed)
    model, notes, meshless = _opened(given, tree, call)
    said: list[str] = []
    try:
        with caught(said):
            model.prepare()
    except SystemError as error:
        raise refusal(given, tree, error, spoken(said), model) from error
    held = _matched(model, tree)
    seated = set(held.joints.values())
    extra = tuple(
        (link.joint or f"{link.name} base") + end
        for b, body in enumerate(model.bodies)
        for k, link in enumerate(body.links)
        if (b, k) not in seated
        for end in (JointKind.FLOATING if not k and body.floating else link.kind).dof_suffixes
    )
    findings = revealed(given, model, tree, held)
    return Found(model, held, extra, (*findings, *meshless), tuple(notes))


def _opened(given: Given, tree: Tree, call: Call) -> tuple[Model, list[str], list[Finding]]:
    """Return the model; without the meshes of a URDF where PyBullet cannot find them."""
    words: list[str] = []
    try:
        return _read(given.path, given, call, words), _notes(words), []
    except pybullet.error as error:
        first = error
    text, meshes = _meshless(given)
    if not meshes:
        raise refusal(given, tree, first, words)
    again: list[str] = []
    with TemporaryDirectory() as folder:
        path = Path(folder, Path(given.path).name)
        path.write_text(text, encoding="utf-8")
        try:
            model = _read(str(path), given, call, again)
        except pybullet.error as error:
            raise refusal(given, tree, error, again) from error
    count = f"{meshes} shapes were" if meshes > 1 else "1 shape was"
    note = f"{count} taken out, since PyBullet reads no URDF whose meshes it does not find: {first}"
    return model, [note, *_notes(again)], [unfound_mesh(given, tree, str(first), words)]


def _read(path: str, given: Given, call: Call, words: list[str]) -> Model:
    model, said = Model(), list[str]()
    try:
        with caught(said), np.errstate(all="ignore"):  # a place beyond single precision is not finite there
            if given.format == "urdf":
                model.urdf(path, fixed=call.fixed, flags=call.flags)
            else:
                model.mjcf(path, call.flags)
    finally:
        words += spoken(said)
    return model


def _notes(words: Sequence[str]) -> list[str]:
    """Return what PyBullet says, each statement once with all names that it is about."""
    about: dict[str, list[str]] = {}
    for line in words:
        said, colon, name = line.rpartition(": ")
        named = bool(colon) and " " not in name
        about.setdefault(said if named else line, []).extend([name] if named else [])
    return [f"PyBullet says: {said}" + (f": {', '.join(names)}" if names else "") for said, names in about.items()]


def _meshless(given: Given) -> tuple[str, int]:
    try:
        return without_meshes(given.path) if given.format == "urdf" else ("", 0)
    except ReadError:  # PyBullet says in its own words what is wrong with the file
        return "", 0


def _matched(model: Model, tree: Tree) -> Held:
    """Return what of the tree is where: links by their name, joints by theirs, a floating joint by its link."""
    places = [((b, k), link) for b, body in enumerate(model.bodies) for k, link in enumerate(body.links)]
    links = {tree.index[link.name]: at for at, link in places if tree.index.get(link.name)}
    joints: dict[int, tuple[int, int]] = {}
    for at, link in places:
        i = tree.joint_index.get(link.joint)
        if i and link.v and ALIKE.get(tree.joints[i].kind, tree.joints[i].kind) is link.kind:
            joints[i] = at
            links.setdefault(i, at)
    for i in tree.floating_roots:
        b, k = links.get(i, (0, -1))
        if k == 0 and model.bodies[b].floating:
            joints[i] = (b, 0)
    return Held(dict(sorted(links.items())), dict(sorted(joints.items())))
