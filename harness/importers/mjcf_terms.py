"""What an MJCF says beside bodies and joints: equalities as closures, reflected inertia of tendons, the medium."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from ..errors import ReadError
from ..spatial import quaternion_from_rotation, rotation_from_quaternion
from ..tree import Closure, Floats, Medium, TendonInertia
from .mjcf_compiled import EQUALITY_OFF
from .mjcf_names import distinct
from .mjcf_said import path_of

if TYPE_CHECKING:
    from .mjcf_compiled import Compiled

EQUALITIES: Final = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain", "distance")  # mjtEq
OBJ_SITE: Final = 6  # mjOBJ_SITE


def closures_of(compiled: Compiled) -> tuple[Closure, ...]:
    """Return the equalities, those between sites as the same relation between their bodies.

    Numbers: connect, the anchor in the first body and in the second (3 + 3); weld, the anchor in the second body, where
    it stands in the first, the quat_wxyz of the second in the first, the torque scale (3 + 3 + 4 + 1); joint and
    tendon, five polynomial coefficients; flex constraints, none. The world is "".
    """
    model = compiled.model
    given = [compiled.name("eq", e) for e in range(int(model.neq))]
    taken = set(given)
    closures: list[Closure] = []
    for e, own in enumerate(given):
        kind = EQUALITIES[model.eq_type[e]]
        name = own or distinct(f"{kind}{e}", taken)
        numbers = tuple(float(x) for x in _numbers(compiled, e, kind))
        active = bool(model.eq_active0[e]) and compiled.off.isdisjoint(EQUALITY_OFF)
        source = compiled.flag(*EQUALITY_OFF) or compiled.lines.source("equality", e)
        tendons = [int(model.eq_obj1id[e]), int(model.eq_obj2id[e])] if kind == "tendon" else []
        path = tuple(said for t in tendons for said in (path_of(compiled, t) if t >= 0 else ()))
        closures.append(Closure(kind, name, _between(compiled, e, kind), numbers, active, source, path))
    return tuple(closures)


def _between(compiled: Compiled, e: int, kind: str) -> tuple[str, ...]:
    model = compiled.model
    ends = [int(model.eq_obj1id[e]), int(model.eq_obj2id[e])]
    if kind in ("connect", "weld"):
        ends = [int(model.site_bodyid[i]) for i in ends] if model.eq_objtype[e] == OBJ_SITE else ends
        return tuple(compiled.bodies[i] if i > 0 else "" for i in ends)
    if kind == "joint":
        return tuple(compiled.joints[i] if i >= 0 else "" for i in ends)
    if kind == "tendon":
        return tuple(compiled.tendon_name(i) if i >= 0 else "" for i in ends)
    return (compiled.name("flex", ends[0]),)


def _numbers(compiled: Compiled, e: int, kind: str) -> Floats:
    model = compiled.model
    data: Floats = np.array(model.eq_data[e])
    if model.eq_objtype[e] == OBJ_SITE and kind in ("connect", "weld"):
        one, two = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
        if kind == "connect":
            data[:3], data[3:6] = model.site_pos[one], model.site_pos[two]
        else:
            # The sites coincide: body to first site, which is the second, and back to the other body.
            R = _site(compiled, one) @ _site(compiled, two).T
            data[:3], data[3:6], data[6:10] = model.site_pos[two], model.site_pos[one], quaternion_from_rotation(R)
    return data[: {"connect": 6, "weld": 11, "joint": 5, "tendon": 5}.get(kind, 0)]


def _site(compiled: Compiled, site: int) -> Floats:
    return np.asarray(rotation_from_quaternion(np.array(compiled.model.site_quat[site])), np.float64)


def tendons_of(compiled: Compiled) -> tuple[TendonInertia, ...]:
    """Return the reflected inertia of the fixed tendons that have one.

    Raises:
        ReadError: it is not finite.
    """
    tendons: list[TendonInertia] = []
    for t in range(int(compiled.model.ntendon)):
        armature, coefficients = compiled.tendon_armature(t), compiled.fixed_tendon(t)
        if armature and coefficients:
            named = {compiled.joints[j]: c for j, c in coefficients.items()}
            source = compiled.lines.source("tendon", t)
            if not math.isfinite(armature):
                raise ReadError(
                    "its armature, times gear squared, is not finite", source, where=compiled.tendon_name(t)
                )
            tendons.append(TendonInertia(compiled.tendon_name(t), armature, named, source))
    return tuple(tendons)


def medium_of(compiled: Compiled) -> Medium:
    """Return the fluid around the model."""
    option = compiled.model.opt
    if not compiled.passive:
        return Medium()
    return Medium(float(option.density), float(option.viscosity), tuple(float(x) for x in option.wind))
