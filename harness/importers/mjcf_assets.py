"""Compile an MjSpec without the mesh, texture, height field and skin files that cannot be read.

Meshes are never needed for the dynamics, except where a body takes its inertia from one; those bodies are named. Only
what MuJoCo cannot read is taken out. Its geoms stay as massless points, so that whatever names them stays valid.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

MjSpec: TypeAlias = Any
MjModel: TypeAlias = Any

_LISTS: Final = {"mesh": "meshes", "texture": "textures", "hfield": "hfields", "skin": "skins"}
_SPHERE: Final = 2  # mjGEOM_SPHERE
_FROM_GEOM_NEVER, _FROM_GEOM_ALWAYS = 0, 1  # mjtInertiaFromGeom


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An asset that was taken out.

    Attributes:
        kind: mesh, texture, hfield or skin.
        name: as other elements call it.
        file: as the model names it.
        words: MuJoCo's.
        info: of its element, as MjSpec holds it.
        massive: name of each body whose inertia would have come from it, and info of the geom.
        bodies: name of each body that has a geom of it.
    """

    kind: str
    name: str
    file: str
    words: str
    info: str
    massive: tuple[tuple[str, str], ...] = ()
    bodies: tuple[str, ...] = ()


def compile_readable(
    spec: MjSpec, compiled: Callable[[MjSpec], MjModel] = lambda spec: spec.compile()
) -> tuple[MjModel, tuple[Unreadable, ...]]:
    """Compile, taking out of `spec` one after the other the assets that MuJoCo cannot read.

    Args:
        spec: to be compiled; it is changed.
        compiled: compiles it.

    Raises:
        ValueError: MuJoCo refuses the model for another reason, in its words.
    """
    gone = [_take_out(spec, kind, asset, "it is no regular file") for kind, asset in _endless(spec)]
    while True:
        try:
            return compiled(spec), tuple(gone)
        except ValueError as error:
            words = str(error)
            blamed = _blamed(spec, words)
            if not blamed:
                raise ValueError(_explained(words, gone)) from error
        gone += [_take_out(spec, kind, asset, first_words(words)) for kind, asset in blamed]


def _endless(spec: MjSpec) -> list[tuple[str, Any]]:
    """Return the assets whose file is a pipe or a device: MuJoCo would wait for ever, or never come to the end."""
    join, base = os.path.join, os.path.basename
    folders = [join(spec.modelfiledir, sub) for sub in ("", spec.compiler.meshdir, spec.compiler.texturedir)]

    def endless(file: str) -> bool:
        paths = [join(folder, name) for folder in folders for name in (file, base(file))]
        return any(os.path.exists(p) and not os.path.isfile(p) and not os.path.isdir(p) for p in paths)  # noqa: PTH110, PTH112, PTH113

    assets = [(kind, asset) for kind, many in _LISTS.items() for asset in getattr(spec, many)]
    return [(kind, asset) for kind, asset in assets if any(map(endless, _files(asset)))]


def take_out(spec: MjSpec, unreadable: tuple[Unreadable, ...]) -> None:
    """Take the same assets out of another copy of the spec."""
    for gone in unreadable:
        for asset in list(getattr(spec, _LISTS[gone.kind])):
            if _name(asset) == gone.name:
                _take_out(spec, gone.kind, asset, gone.words)


def first_words(words: str) -> str:
    """Return MuJoCo's reason in one line, without its prefixes and without the element and line that it adds."""
    reason = " ".join(words.split("\nElement ", maxsplit=1)[0].split())
    reason = re.sub(r"Error=(\w+) ErrorID=.*? Line number=\d+", r"\1", reason)
    return re.sub(r"^((XML )?Error: )+", "", reason)


def takes_inertia(spec: MjSpec, geom: Any) -> bool:
    """Return whether the body of a geom takes its inertia from its geoms."""
    rule = int(spec.compiler.inertiafromgeom)
    body = geom.parent
    if rule == _FROM_GEOM_NEVER or body.name == "world":
        return False
    return rule == _FROM_GEOM_ALWAYS or not body.explicitinertial


def in_group_range(spec: MjSpec, geom: Any) -> bool:
    """Return whether the compiler counts a geom when it infers inertia from geoms."""
    low, high = spec.compiler.inertiagrouprange
    return bool(low <= geom.group <= high)


def has_mass(geom: Any) -> bool:
    """Return whether a geom would have mass: `mass` counts if given (it is nan if not), else the density."""
    return bool(geom.density != 0) if geom.mass != geom.mass else bool(geom.mass != 0)


def _name(asset: Any) -> str:
    return asset.name or os.path.splitext(os.path.basename(asset.file))[0]  # noqa: PTH119, PTH122  any separator


def _files(asset: Any) -> list[str]:
    return [file for file in (asset.file, *getattr(asset, "cubefiles", ())) if file]


def _blamed(spec: MjSpec, words: str) -> list[tuple[str, Any]]:
    """Return the assets that MuJoCo's words are about: by the path that it tried, else by name and number."""
    assets = [(kind, i, asset) for kind, many in _LISTS.items() for i, asset in enumerate(getattr(spec, many))]
    if opened := re.search(r"Error opening file '(.*)'", words):
        tried = opened[1].replace("\\", "/")
        # MuJoCo puts its folders in front, and makes one slash of two (package://).
        ends = {id(asset): [re.sub("/+", "/", f.replace("\\", "/")) for f in _files(asset)] for *_, asset in assets}
        exact = [(kind, asset) for kind, _, asset in assets if any(tried.endswith(f) for f in ends[id(asset)])]
        base = tried.rsplit("/", 1)[-1]
        alike = [(k, asset) for k, _, asset in assets if any(f.rsplit("/", 1)[-1] == base for f in ends[id(asset)])]
        return exact or alike
    if element := re.search(r"^Element name '(.*)', id (\d+)", words, re.MULTILINE):
        name, number = element[1], int(element[2])
        return [(k, asset) for k, i, asset in assets if (i, _name(asset)) == (number, name) and _files(asset)]
    return []


def _take_out(spec: MjSpec, kind: str, asset: Any, words: str) -> Unreadable:
    name = _name(asset)
    geoms = [geom for geom in spec.geoms if name in (geom.meshname, geom.hfieldname)]
    counted = [g for g in geoms if takes_inertia(spec, g) and in_group_range(spec, g) and has_mass(g)]
    massive = tuple((geom.parent.name, geom.info) for geom in counted if kind == "mesh")
    bodies = tuple(dict.fromkeys(geom.parent.name for geom in geoms))
    gone = Unreadable(kind, name, ", ".join(_files(asset)), words, asset.info, massive, bodies)
    if kind in ("mesh", "hfield"):
        for shape in [*geoms, *(site for site in spec.sites if kind == "mesh" and site.meshname == name)]:
            _make_point(shape)
    if kind == "texture":
        for material in spec.materials:
            material.textures = ["" if texture == name else texture for texture in material.textures]
        for light in spec.lights:
            light.texture = "" if light.texture == name else light.texture
    spec.delete(asset)
    return gone


def _explained(words: str, gone: list[Unreadable]) -> str:
    """Return MuJoCo's words, and where the inertia would have come from when it misses that of a body."""
    for asset in gone:
        for body, _ in asset.massive:
            if f"Element name {body!r}," in words:
                reason, *rest = words.split("\n", 1)
                reason += f"; it would come from the mesh {asset.name!r}, which cannot be read: {asset.words}"
                return "\n".join([reason, *rest])
    return words


def _make_point(shape: Any) -> None:
    shape.meshname = ""
    shape.type = type(shape.type)(_SPHERE)  # a bare number is no type to versions before 4
    shape.size = [1e-3, 0, 0]
    if hasattr(shape, "hfieldname"):
        shape.hfieldname = ""
        shape.mass = 0
        shape.contype = shape.conaffinity = 0
