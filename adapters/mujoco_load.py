"""A file or a live model as MuJoCo itself reads it, every default left as it is (`fusestatic` on for URDF).

Only meshes, textures and height fields that cannot be read are taken out. Primitive shapes stay, since MuJoCo takes
the inertia of a link without `<inertial>` from them.
"""

from __future__ import annotations

import copy
import re
import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..harness.errors import EngineRefused, EngineUnsupported, Source
from ..harness.importers.mjcf_assets import compile_readable
from ..harness.importers.mjcf_bodies import names_of
from ..harness.importers.mjcf_spec import name_all
from ..harness.importers.xml import read_xml
from ..harness.tree import JointKind
from .mujoco_build import Opened, quiet
from .mujoco_findings import differences, take_out_spatial_tendons, taken_out
from .mujoco_map import mujoco, seats
from .mujoco_text import compiled_file
from .mujoco_versions import EDITABLE, spec_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..harness.engine import Given
    from ..harness.importers.xml import Element
    from ..harness.tree import Tree
    from .mujoco_map import MjModel

MINVAL: Final = float(mujoco.mjMINVAL)
NONPHYSICAL: Final = re.compile(r"mjMINVAL|A \+ B >= C|eigenvalues")
# What the newest version has read, or there would be no tree, and an older one does not know.
NEWER: Final = re.compile(r"unrecognized (attribute|element)")
NAMED: Final = re.compile(r"Element name '(?P<new>.*)', id|Object name = (?P<old>.*), id")
UNSUPPORTED: Final = re.compile(r"free joint can only be used on top level|joint found in world body|mocap body")


def load(given: Given, tree: Tree) -> Opened:
    """Return the model of what the user handed over, and how it relates to the tree.

    Raises:
        EngineRefused: MuJoCo would not load it, in its words.
        EngineUnsupported: MuJoCo reads no such format, or the base of this model cannot be freed.
        UnicodeDecodeError: a name is not in UTF-8: MuJoCo takes the bytes of a file, whatever encoding it declares.
    """
    with quiet() as heard, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model, unreadable = _compiled(given, tree)
    heard += [str(warning.message) for warning in said]
    names, _ = names_of(model)
    for b, name in enumerate(names):
        if name not in tree.index:
            _ = model.body(b).name  # raises, where the bytes are no UTF-8
    held = {tree.index[name]: b for b, name in enumerate(names) if b and name in tree.index}
    held = dict(sorted(held.items()))
    found, extra = seats(model, tree, [(_series(tree, i, int(model.body_jntnum[b])), b) for i, b in held.items()])
    # A URDF says its warnings here alone; those of an MJCF stand among the losses of its tree already.
    notes = [f"MuJoCo warns: {words}" for words in dict.fromkeys(heard)]
    if unreadable:
        count = f"{len(unreadable)} files were" if len(unreadable) > 1 else "1 file was"
        notes.insert(0, f"{count} taken out that MuJoCo cannot read, first {unreadable[0].kind}: {unreadable[0].words}")
    from_mesh = {body for asset in unreadable for body, _ in asset.massive}
    reasons = (*differences(model, tree, held, from_mesh), *take_out_spatial_tendons(model))
    reasons += tuple(taken_out(unreadable[:1], tree))
    return Opened(model, held, found, extra_dofs=extra, findings=reasons, notes=tuple(notes))


def _compiled(given: Given, tree: Tree) -> tuple[MjModel, Sequence[Any]]:
    """Return the compiled model, and what was taken out for that."""
    if given.format not in ("urdf", "mjcf", "mujoco"):
        raise EngineUnsupported(f"MuJoCo has no importer for {given.format}; it reads urdf, mjcf and its own models")
    if isinstance(given.live, mujoco.MjModel):
        if given.freed:
            raise EngineUnsupported("the base of a compiled MjModel cannot be freed; hand over the MjSpec or the file")
        return copy.copy(given.live), ()
    try:
        roots = _free_roots(given, tree) if given.freed else []
        if not EDITABLE:
            return compiled_file(given, roots)
        spec = given.live.copy() if given.live is not None else spec_of(given.path)
        if given.format != "urdf":
            name_all(spec)
        for root in roots:
            spec.body(root).add_freejoint()
        # On copies: up to 3.15 a spec that was refused once is refused for good.
        return compile_readable(spec, lambda spec: spec.copy().compile())
    except (ValueError, mujoco.FatalError) as error:
        raise refusal(str(error), tree) from error


def _free_roots(given: Given, tree: Tree) -> list[str]:
    """Return the bodies that are welded to the world and have to get a free joint.

    Raises:
        EngineUnsupported: the root link is called `world`, which MuJoCo takes for the world itself.
    """
    roots = [body.name for body in tree.bodies[1:] if body.parent == 0 and body.joint.kind is JointKind.FLOATING]
    if given.format == "urdf" and "world" in roots:
        raise EngineUnsupported("MuJoCo takes a root link that is called 'world' for the world itself: it cannot float")
    return roots


def _series(tree: Tree, i: int, joints: int) -> list[int]:
    """Return the tree bodies in a row, down to body i, whose joints are the so many joints of one MuJoCo body."""
    row = [i]
    while sum(3 if tree.joints[k].kind is JointKind.PLANAR else 1 for k in row) < joints and tree.parents[row[0]]:
        row.insert(0, tree.parents[row[0]])
    return row


def refusal(words: str, tree: Tree) -> EngineRefused:
    """Return MuJoCo's refusal with the place that its words, or the tree, tell of."""
    # MuJoCo ends with what became of the spec, which nobody will see again.
    message = "; ".join(line for line in words.strip().splitlines() if line and not line.endswith("remain so."))
    file, element = tree.origin.path, NAMED.search(words)
    name = element["new"] or element["old"] or "" if element else ""
    body = tree.bodies[tree.index[name]] if name in tree.index else None
    if body is not None and NONPHYSICAL.search(words):
        if "inertial" not in body.sources and "collision_mesh" in body.sources:
            return EngineRefused(message, "refused.mesh", name, body.source("collision_mesh"))
        light = body.inertia.mass < MINVAL
        thin = np.linalg.eigvalsh(body.inertia.I_com)[0] < MINVAL
        field = ("inertial" if thin else "mass") if light else "inertia"
        return EngineRefused(message, "refused.nonphysical", name, body.source(field))
    if UNSUPPORTED.search(words):
        where, source = (body.joint.name, body.joint.source()) if body else (name or None, Source(file))
        return EngineRefused(message, "refused.unsupported", where, source)
    if NEWER.search(words) and (said := re.search(r"Element '(.*)', line (\d+)", words)):
        element = _written(file, said[1], int(said[2]))
        where, source = (element.get("name") or element.tag, element.source) if element else (None, Source(file))
        return EngineRefused(message, "refused.unsupported", where, source)
    line = re.search(r"line(?: number=)? ?(\d+)", words, re.IGNORECASE)
    source = Source(file, int(line[1])) if line else Source(file)
    if name in tree.joint_index:
        source = tree.joints[tree.joint_index[name]].source()
    elif body is not None:
        source = body.source()
    kind = "refused.nonphysical" if NONPHYSICAL.search(words) else "refused.malformed"
    return EngineRefused(message, kind, name or _at(tree, source.line), source)


def _written(file: str, tag: str, line: int) -> Element | None:
    """Return the element of that tag on that line; None in another file, which an `<include>` names."""
    return next((e for e in read_xml(file).root.walk() if (e.tag, e.source.line) == (tag, line)), None)


def _at(tree: Tree, line: int) -> str | None:
    """Return the body or joint that has something on this line of the file."""
    for body in tree.bodies[1:]:
        for owner in (body, body.joint):
            if line and any(source.line == line for source in owner.sources.values()):
                return owner.name
    return None
