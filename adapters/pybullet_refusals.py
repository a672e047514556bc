"""Why PyBullet would not load a file: its words, and the element that they are about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..harness.errors import EngineRefused, Source
from ..harness.tree import JointKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..harness.engine import Given
    from ..harness.tree import Tree
    from .pybullet_model import Model


def refusal(
    given: Given, tree: Tree, error: Exception, said: Sequence[str], model: Model | None = None
) -> EngineRefused:
    """Return the refusal in PyBullet's words, at the link, joint or line that they are about.

    Args:
        given: what was handed over.
        tree: of the same file.
        error: what was raised.
        said: what was written.
        model: when the file was read, and inverse dynamics has none of what it holds.
    """
    # What comes last ends the reading.
    words = [str(error), *(line for line in said if "will use normalized vector" not in line)]
    message = f"PyBullet would not load {given.path}: {'; '.join(words)}"
    kind = "refused.unsupported" if "not implemented" in message else "refused.malformed"
    where, source = _place(given, tree, words, model)
    return EngineRefused(message, kind, where, source)


def _place(given: Given, tree: Tree, words: Sequence[str], model: Model | None) -> tuple[str | None, Source]:
    joint = _without_dynamics(model, " ".join(words)) if model is not None else ""
    if joint:
        return joint, tree.joints[tree.joint_index[joint]].source() if joint in tree.joint_index else Source(given.path)
    for said in reversed(words):
        name = said.rpartition(": ")[2]
        if tree.index.get(name):
            body = tree.bodies[tree.index[name]]
            return name, body.source("inertial" if "inertial" in " ".join(words[1:]) else "element")
        if name in tree.joint_index:
            return name, tree.joints[tree.joint_index[name]].source()
    line = re.search(r"Line number=(\d+)|\.urdf:(\d+):", " ".join(words))
    return None, Source(given.path, int(line[1] or line[2]) if line else 0)


def _without_dynamics(model: Model, words: str) -> str:
    """Return the name of the joint that ended the copy of a multibody for inverse dynamics, "" if it is not told."""
    links = [link for body in model.bodies for link in body.links]
    added = re.search(r"adding body (\d+)", words)
    if added and len(model.bodies) == 1:
        return links[int(added[1])].joint
    return next((link.joint for link in links if link.kind is JointKind.PLANAR), "")
