"""What Pinocchio reads: a file through its own importers, matched with our tree; a live model as a tree."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from ..harness.errors import EngineRefused, EngineUnsupported, ReadError, Source
from ..harness.findings import finding
from ..harness.tree import JointKind
from .pinocchio_joints import slots

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
        EngineRefused: Pinocchio would not load it, in its words.
        EngineUnsupported: another format, or a live model whose base should be freed.
    """
    said: list[str] = []
    try:
        with _error_stream(said):
            model = _open(given)
        primitives = slots(model)
    except ReadError as error:
        raise EngineRefused(str(error), error.kind, error.where) from error
    except (ValueError, RuntimeError, IndexError) as error:
        raise _refusal(given, tree, error, said) from error
    pairs = _match(model, tree, primitives)
    matched = {id(slot) for _, slot in pairs}
    extra = tuple(s.name + end for s in primitives if id(s) not in matched for end in s.kind.dof_suffixes)
    findings = (*_order(tree, pairs), *_coordinates(given, model, tree, pairs), *_fusions(model, tree))
    return Found(model, tuple(pairs), extra, findings, tuple(f"Pinocchio said: {line}" for line in said))


def _open(given: Given) -> PinModel:
    """Call the importer, every default as it is."""
    root = (pin.JointModelFreeFlyer(),) if given.freed else ()
    if given.format == "urdf":
        return pin.buildModelFromUrdf(given.path, *root)
    if given.format == "mjcf":
        return pin.buildModelFromMJCFAndRootJoint(given.path, *root) if root else pin.buildModelFromMJCF(given.path)
    if given.format == "pinocchio":
        if given.freed:
            raise EngineUnsupported(
                "a live pinocchio.Model is taken as it is: to free its base, build it with pin.JointModelFreeFlyer()"
            )
        return given.live.copy()
    raise EngineUnsupported(f"Pinocchio has no importer for {given.format}; it reads URDF, MJCF and pinocchio.Model")


@contextmanager
def _error_stream(said: list[str]) -> Iterator[None]:
    """Collect what C++ writes to the error stream: Pinocchio's exceptions leave the reason there, and only there."""
    sys.stderr.flush()
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
