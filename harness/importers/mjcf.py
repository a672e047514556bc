"""MJCF, or a live MuJoCo model, to tree: MuJoCo's own reading of it, with the lines of the file.

What MJCF means, MuJoCo decides: defaults, includes, frames, replicas, attached models, inertia from geoms and compiler
switches come from `mujoco.MjSpec` and the compiled model; file and line come from the XML. The one switch that is not
followed is `fusestatic`: every body of the file stays a body.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..errors import ReadError, TreeError
from ..tree import Floats, Loss, Origin, Tree
from . import mjcf_spec
from .mjcf_assets import take_out
from .mjcf_bodies import bodies_of
from .mjcf_compiled import Compiled, Lines
from .mjcf_losses import losses_of
from .mjcf_terms import closures_of, medium_of, tendons_of

if TYPE_CHECKING:
    from .mjcf_assets import Unreadable
    from .xml import FilePath

MjSpec: TypeAlias = Any
MjModel: TypeAlias = Any


def read_mjcf(path: FilePath, *, other_angle_unit: bool = False) -> Tree:
    """Return the tree of an MJCF file.

    Args:
        path: of the file.
        other_angle_unit: whether angles are read as degrees where the file says radians, and the reverse.

    Raises:
        ReadError: the file or one that it includes cannot be read, is no XML, has another root than `mujoco`, holds a
            number that is not finite, or is refused by MuJoCo even without the meshes that cannot be read.
    """
    mujoco = _mujoco()
    with mjcf_spec.quiet(mujoco) as warned, mjcf_spec.decoding(path):
        source = mjcf_spec.read(path, mujoco)
        if other_angle_unit:
            source.spec.compiler.degree = not source.spec.compiler.degree
        model, unreadable = mjcf_spec.compiled(source.spec, source.flat, mujoco)
    document = source.flat.document
    lines = mjcf_spec.lines_of(source.spec, source.flat)
    origin = Origin(document.file, "mjcf", document.sha256)
    return _tree(mujoco, Compiled(model, source.spec, lines), origin, _said(warned, lines, unreadable))


def load_spec(path: FilePath) -> tuple[MjSpec, list[Loss]]:
    """Return the spec of an MJCF file, ready to compile, and what had to be taken out for that.

    Only meshes, textures, height fields and skins that cannot be read are taken out. Bodies and joints without a name
    have the name that `read_mjcf` gives them; `info` of each element is its file and line.

    Raises:
        ReadError: as `read_mjcf`.
    """
    mujoco = _mujoco()
    with mjcf_spec.quiet(mujoco), mjcf_spec.decoding(path):
        source = mjcf_spec.read(path, mujoco)
        # A compiled spec would have lost its fused bodies: the copy is compiled.
        _, unreadable = mjcf_spec.compiled(source.spec.copy(), source.flat, mujoco)
    losses = mjcf_spec.unreadable_losses(unreadable, source.flat)
    take_out(source.spec, unreadable)
    mjcf_spec.show_lines(source)
    return source.spec, losses


def tree_of_mujoco(model_or_spec: MjModel | MjSpec) -> Tree:
    """Return the tree of a live `mujoco.MjModel` or `MjSpec`, which stays as it is.

    Raises:
        ReadError: MuJoCo refuses to compile the spec.
    """
    mujoco = _mujoco()
    origin = Origin(format="mujoco")
    if not hasattr(model_or_spec, "compile"):
        return _tree(mujoco, Compiled(model_or_spec), origin, [])
    with mjcf_spec.quiet(mujoco) as warned:
        spec = model_or_spec.copy()
        mjcf_spec.name_all(spec)
        model, unreadable = mjcf_spec.compiled(spec, None, mujoco)
    return _tree(mujoco, Compiled(model, spec), origin, _said(warned, Lines(), unreadable))


def _mujoco() -> Any:
    import mujoco  # noqa: PLC0415  the one engine that an importer needs, and only here

    return mujoco


def _said(warned: list[str], lines: Lines, unreadable: tuple[Unreadable, ...]) -> list[Loss]:
    # MuJoCo logs a warning, then says it in full.
    said = [" ".join(words.split()) for words in dict.fromkeys(warned)]
    full = [words for words in said if not any(words != other and other.startswith(words) for other in said)]
    warnings = [Loss("mujoco", None, lines.file, touches_dynamics=False, note=words) for words in full]
    return warnings + mjcf_spec.unreadable_losses(unreadable, lines.flat)


def _tree(mujoco: Any, compiled: Compiled, origin: Origin, losses: list[Loss]) -> Tree:
    option = compiled.model.opt
    compiled = replace(compiled, off=_disabled(mujoco, int(option.disableflags)))
    home, key = _home(compiled)
    flat = compiled.lines.flat
    sources = flat.whole() if flat else {}
    if key is not None:
        sources["home"] = compiled.lines.source("key", key)
    try:
        return Tree(
            name=compiled.title,
            bodies=tuple(bodies_of(compiled)),
            gravity=np.zeros(3) if "gravity" in compiled.off else option.gravity,
            closures=closures_of(compiled),
            tendons=tendons_of(compiled),
            losses=(*losses, *losses_of(compiled)),
            medium=medium_of(compiled),
            origin=origin,
            home=home,
            sources=sources,
        )
    except TreeError as error:
        source = error.source if error.source.file else compiled.lines.file
        raise ReadError(str(error), source, where=error.where) from error


def _disabled(mujoco: Any, flags: int) -> frozenset[str]:
    """Return the names of `<flag>` that are set to "disable", those of today for what older versions call passive."""
    bits = mujoco.mjtDisableBit.__members__.items()
    off = {name.removeprefix("mjDSBL_").lower() for name, bit in bits if flags & int(bit)}
    return frozenset(off | ({"spring", "damper"} if "passive" in off else set[str]()))


def _home(compiled: Compiled) -> tuple[Floats, int | None]:
    """Return the keyframe "home", else the first, and its number, else qpos0: MuJoCo's layout of q is the tree's."""
    names = [compiled.name("key", k) for k in range(int(compiled.model.nkey))]
    if not names:
        return compiled.model.qpos0, None
    key = names.index("home") if "home" in names else 0
    return compiled.model.key_qpos[key], key
