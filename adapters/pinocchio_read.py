# pyright: reportAttributeAccessIssue=false
"""What Pinocchio reads: a file through its own importers, matched with our tree; a live model as a tree."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pinocchio as pin

from ..harness.errors import EngineRefused, EngineUnsupported, HarnessError, ReadError
from .pinocchio_findings import revealed
from .pinocchio_joints import slots
from .pinocchio_refusals import refusal, require_names
from .pinocchio_tree import tree_of
from .pinocchio_versions import READS_MJCF, body_frame, freed_mjcf, joint_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from ..harness.engine import Given
    from ..harness.findings import Finding
    from ..harness.tree import Joint, Tree
    from .pinocchio_joints import PinModel, Slot


@dataclass(frozen=True, eq=False)
class Found:
    """What Pinocchio made of the file; fields as `PinocchioSession` takes them."""

    model: PinModel
    pairs: tuple[tuple[int, Slot], ...]
    extra_dofs: tuple[str, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


def load(given: Given, tree: Tree) -> Found:
    """Return the model of a file or a copy of a live model, with its joints matched to those of `tree`.

    Raises:
        EngineRefused: Pinocchio would not load it, in its words, or would end the process.
        EngineUnsupported: another format, or a live model whose base should be freed.
    """
    require_names(given, tree)
    said: list[str] = []
    try:
        model, primitives = _open(given, said)
    except ReadError as error:
        raise EngineRefused(str(error), error.kind, error.where) from error
    except (ValueError, RuntimeError, IndexError) as error:
        raise refusal(given, tree, error, said) from error
    pairs = _match(model, tree, primitives)
    matched = {id(slot) for _, slot in pairs}
    extra = tuple(s.name + end for s in primitives if id(s) not in matched for end in s.kind.dof_suffixes)
    findings = revealed(given, model, tree, pairs)
    return Found(model, tuple(pairs), extra, findings, tuple(f"Pinocchio said: {line}" for line in said))


def _open(given: Given, said: list[str]) -> tuple[PinModel, list[Slot]]:
    with _error_stream(said):
        model = _import(given)
    return model, slots(model)


def _import(given: Given) -> PinModel:
    """Call the importer, every default as it is."""
    root = (pin.JointModelFreeFlyer(),) if given.freed else ()
    if given.format == "urdf":
        return pin.buildModelFromUrdf(given.path, *root)
    if given.format == "mjcf" and not READS_MJCF:
        raise EngineUnsupported(f"Pinocchio {pin.__version__} has no importer for MJCF")
    if given.format == "mjcf":
        return freed_mjcf(given.path, *root) if root else pin.buildModelFromMJCF(given.path)
    if given.format == "pinocchio":
        if given.freed:
            raise EngineUnsupported(
                "a live pinocchio.Model is taken as it is: to free its base, build it with pin.JointModelFreeFlyer()"
            )
        return given.live.copy()
    raise EngineUnsupported(f"Pinocchio has no importer for {given.format}; it reads URDF, MJCF and pinocchio.Model")


@contextmanager
def _error_stream(said: list[str]) -> Generator[None]:
    """Collect what C++ writes to the error stream: Pinocchio's exceptions leave the reason there, and only there."""
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            text = re.sub(r"\x1b\[[0-9;]*m", "", file.read().decode(errors="replace"))
            lines = (re.sub(r"^(Error|Warning):\s*", "", line.strip()) for line in text.splitlines())
            # Lines that begin so name a place in the parser's own sources.
            said += [line for line in lines if line and not line.startswith("at line ")]


def _match(model: PinModel, tree: Tree, primitives: Sequence[Slot]) -> list[tuple[int, Slot]]:
    """Return tree body and slot of the joints that both have.

    By name; else by the name of the link, from which the joints of one MJCF body follow upwards (Pinocchio makes one
    composite of them, and their names are lost); else, for joints that have no name in the file, by structure.
    """
    groups: dict[int, list[Slot]] = {}
    for slot in primitives:
        groups.setdefault(slot.joint, []).append(slot)
    pairs: dict[int, Slot] = {}
    at = {0: 0}  # tree body that each Pinocchio joint carries

    def accept(j: int, chain: Sequence[int]) -> bool:
        group = groups[j]
        if len(chain) != len(group) or not all(map(_fits, [tree.joints[i] for i in chain], group)):
            return False
        if pairs.keys() & set(chain):
            return False
        pairs.update(zip(chain, group, strict=True))
        at[j] = chain[-1]
        return True

    for j, group in groups.items():
        links = [tree.index.get(frame.name, 0) for frame in _body_frames(model, j)]
        links.append(tree.index.get(model.names[j], 0))
        named = [tree.joint_index.get(slot.name, 0) for slot in group]
        any(accept(j, chain) for chain in (named, *(_upwards(tree, i, len(group)) for i in links)))
    for i, slot in _by_structure(model, tree, pairs, primitives):
        pairs[i] = slot
        if slot is groups[slot.joint][-1]:
            at[slot.joint] = i
    for j, i in at.items():
        if j and not model.existFrame(tree.bodies[i].name, pin.FrameType.BODY):
            # A body without a name has another one here, a live model may have no frames at all.
            own = _body_frames(model, j)
            nameless = bool(own) and own[0].name not in tree.index
            placement = own[0].placement if nameless else pin.SE3.Identity()
            model.addFrame(body_frame(tree.bodies[i].name, j, placement), append_inertia=False)
    return sorted(pairs.items(), key=lambda pair: pair[0])


def _by_structure(
    model: PinModel, tree: Tree, pairs: Mapping[int, Slot], primitives: Sequence[Slot]
) -> Iterator[tuple[int, Slot]]:
    """Yield the pairs of joints that no name tells: alike in kind, axis, place and load, below what is matched."""
    left = set(primitives) - set(pairs.values())
    if not left or all(i in pairs for i, joint in enumerate(tree.joints) if joint.nv):
        return
    # Files that name their joints never need it.
    from ..harness.diagnosis.likeness import Likeness  # noqa: PLC0415

    try:
        held = tree_of(model)
    except HarnessError:  # numbers that no tree can hold: what has no name stays unmatched
        return
    slot_of = {held.joint_index[slot.name]: slot for slot in primitives}
    alike = {i: held.joint_index[slot.name] for i, slot in pairs.items()}
    Likeness(tree, held).complete(alike)
    yield from ((i, slot_of[j]) for i, j in alike.items() if slot_of[j] in left)


def _fits(joint: Joint, slot: Slot) -> bool:
    return joint.nv == slot.kind.nv and (joint.nv == 1 or joint.kind is slot.kind)


def _upwards(tree: Tree, body: int, count: int) -> list[int]:
    """Return `count` bodies in series that end at `body`, parents first."""
    chain = [body]
    while len(chain) < count and chain[0] > 0:
        chain.insert(0, tree.parents[chain[0]])
    return chain


def _body_frames(model: PinModel, joint: int) -> list[Any]:
    """Return the BODY frames on one joint, that of its own link first: importers add it with the joint."""
    return [f for f in model.frames if f.type == pin.FrameType.BODY and joint_of(f) == joint]
