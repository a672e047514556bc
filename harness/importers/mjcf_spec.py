"""Read an MJCF with MuJoCo, quietly, and say in file and line what it refuses.

The functions take the module `mujoco` as an argument: `mjcf.py` alone imports it.
"""

from __future__ import annotations

import os
import re
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ..errors import ReadError, Source
from ..tree import Loss
from .mjcf_assets import compile_readable
from .mjcf_compiled import Lines
from .mjcf_merge import flatten
from .mjcf_names import invent_names
from .mjcf_refusals import by_name, refusal
from .xml import FilePath, read_xml

if TYPE_CHECKING:
    from collections.abc import Generator

    from .mjcf_assets import Unreadable
    from .mjcf_lines import Flat, Place

MjSpec: TypeAlias = Any
MjModel: TypeAlias = Any
Mujoco: TypeAlias = Any

# Element kind to the list of an MjSpec that holds it.
KINDS: Final = {
    "body": "bodies",
    "joint": "joints",
    "geom": "geoms",
    "site": "sites",
    "camera": "cameras",
    "light": "lights",
    "mesh": "meshes",
    "texture": "textures",
    "material": "materials",
    "hfield": "hfields",
    "skin": "skins",
    "flex": "flexes",
    "pair": "pairs",
    "exclude": "excludes",
    "equality": "equalities",
    "tendon": "tendons",
    "actuator": "actuators",
    "sensor": "sensors",
    "numeric": "numerics",
    "text": "texts",
    "tuple": "tuples",
    "key": "keys",
    "plugin": "plugins",
}


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """A file that MuJoCo has read: bodies and joints have names, and `info` holds a line number of `flat`."""

    spec: MjSpec
    flat: Flat


@contextmanager
def quiet(mujoco: Mujoco) -> Generator[list[str]]:
    """Collect MuJoCo's warnings, which it would write to stderr and to MUJOCO_LOG.TXT in the working folder."""
    words: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(words.append)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield words
        words += [str(warning.message) for warning in caught]
    finally:
        mujoco.set_mju_user_warning(before)


@contextmanager
def decoding(path: FilePath) -> Generator[None]:
    """Say of names that MuJoCo cannot hand over why: it takes the bytes of a file as they are.

    Raises:
        ReadError: a name is not in UTF-8.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        message = "a name is not in UTF-8, the one encoding that MuJoCo reads; save the file as UTF-8"
        raise ReadError(message, Source(os.fspath(path), 1)) from error


def read(path: FilePath, mujoco: Mujoco) -> Read:
    """Return an MJCF as MuJoCo reads it, not compiled.

    Raises:
        ReadError: the file or one that it includes cannot be read, its root is not `mujoco`, or MuJoCo refuses it.
    """
    document = read_xml(path)
    root = document.root
    if root.tag != "mujoco":
        raise ReadError(f"the root element of an MJCF is <mujoco>; found <{root.tag}>", root.source)
    flat = flatten(document)
    try:
        spec = mujoco.MjSpec.from_file(document.file)
    except (ValueError, mujoco.FatalError) as error:
        raise refusal(_twin(flat, mujoco)[1] or str(error), flat) from error
    with quiet(mujoco):  # the same warnings again
        twin, _ = _twin(flat, mujoco)
    for many in KINDS.values():
        ours, numbered = list(getattr(spec, many)), list(getattr(twin, many, ()))
        infos = [element.info for element in numbered] if len(ours) == len(numbered) else [""] * len(ours)
        for element, info in zip(ours, infos, strict=True):
            element.info = info
    name_all(spec)
    return Read(spec, flat)


def _twin(flat: Flat, mujoco: Mujoco) -> tuple[MjSpec, str]:
    """Return the merged document as MuJoCo reads it, and why it does not."""
    try:
        return mujoco.MjSpec.from_string(flat.text, include=flat.models), ""
    except (ValueError, mujoco.FatalError) as error:
        return None, str(error)


def name_all(spec: MjSpec) -> None:
    """Give a name to every body and joint that has none."""
    bodies = list(spec.bodies)
    joints = [(joint, i) for i, body in enumerate(bodies) for joint in body.joints]
    given = [(joint.name, i, int(joint.type)) for joint, i in joints]
    body_names, joint_names = invent_names([body.name for body in bodies], given)
    for element, name in [
        *zip(bodies, body_names, strict=True),
        *zip((j for j, _ in joints), joint_names, strict=True),
    ]:
        if not element.name:
            element.name = name


def compiled(spec: MjSpec, flat: Flat | None, mujoco: Mujoco) -> tuple[MjModel, tuple[Unreadable, ...]]:
    """Compile with every body of the file, and without the assets that cannot be read; this changes `spec`.

    `fusestatic` is off, except under `settotalmass`, which scales what is left after fusing: there it changes masses.

    Raises:
        ReadError: MuJoCo refuses the model even without those assets.
    """
    if not spec.compiler.settotalmass > 0:
        spec.compiler.fusestatic = False
    try:
        return compile_readable(spec)
    except (ValueError, RuntimeError, MemoryError, mujoco.FatalError) as error:
        raise refusal(str(error), flat) from error


def show_lines(source: Read) -> None:
    """Put file and line into the `info` of every element, which MuJoCo adds to its errors."""
    for many in KINDS.values():
        for element in getattr(source.spec, many):
            place = source.flat.at(_number(element.info))
            element.info = str(place.source) if place else ""


def lines_of(spec: MjSpec, flat: Flat) -> Lines:
    """Return where the elements of a compiled spec stand."""
    places: dict[tuple[str, int], Place] = {}
    for kind, many in KINDS.items():
        for i, element in enumerate(getattr(spec, many)):
            place = flat.at(_number(element.info)) or by_name(flat, kind, element.name)
            if place:
                places[kind, element.id if element.id >= 0 else i] = place
    return Lines(flat, places)


def _number(info: str) -> int:
    found = re.search(r"line\D*(\d+)", info)
    return int(found[1]) if found else 0


def unreadable_losses(unreadable: tuple[Unreadable, ...], flat: Flat | None) -> list[Loss]:
    """Return what the model loses with the assets that were taken out."""
    losses: list[Loss] = []
    for asset in unreadable:
        note = f"the file {asset.file!r} cannot be read ({asset.words}); what it draws is left out"
        losses.append(Loss(asset.kind, asset.name, _source(asset.info, flat), touches_dynamics=False, note=note))
        for body, info in asset.massive:
            note = f"body {body!r} takes its inertia from the mesh {asset.name!r}, which cannot be read: it is missing"
            losses.append(Loss("geom@mesh", body, _source(info, flat), touches_dynamics=True, note=note))
    return losses


def _source(info: str, flat: Flat | None) -> Source:
    place = flat.at(_number(info)) if flat else None
    return place.source if place else Source(flat.document.file) if flat else Source()
