"""The values by which two MJCFs are compared in what no tree holds: tendon paths, polynomials, shapes, plugins."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..spatial import rotation_from_quaternion
from ..tree import Said
from .mjcf_compiled import JOINT, JOINT_IN_PARENT, SO3, TENDON, WRAP_JOINT, WRAP_PULLEY, WRAP_SITE
from .said import said_by

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..tree import Floats
    from .mjcf_compiled import Compiled
    from .mjcf_lines import Place


def numbers(name: str, *values: float | Floats, joint: str = "", body: str = "", point: bool = False) -> Said:
    """Return numbers of a loss, one after the other."""
    return Said(name, tuple(float(x) for value in values for x in np.ravel(value)), joint, body, point)


def polynomial(name: str, *values: float | Floats, joint: str = "") -> Said:
    """Return coefficients, as `numbers` does, without the zeros behind the last that is none."""
    said = numbers(name, *values, joint=joint)
    return replace(said, value=tuple(float(x) for x in np.trim_zeros(np.array(said.value), "b")))


def path_of(compiled: Compiled, t: int) -> tuple[Said, ...]:
    """Return what the length of tendon t depends on: joints with coefficients, or the points and shapes on its way."""
    model, path = compiled.model, list[Said]()
    for w in range(int(model.tendon_adr[t]), int(model.tendon_adr[t] + model.tendon_num[t])):
        kind, at = int(model.wrap_type[w]), int(model.wrap_objid[w])
        if kind == WRAP_JOINT:
            path.append(numbers("coef", model.wrap_prm[w], joint=compiled.joints[at]))
        elif kind == WRAP_PULLEY:
            path.append(numbers("divisor", model.wrap_prm[w]))
        elif kind == WRAP_SITE:
            body = compiled.bodies[model.site_bodyid[at]]
            path.append(numbers("site", model.site_pos[at], body=body, point=True))
        else:
            body = compiled.bodies[model.geom_bodyid[at]]
            axis = rotation_from_quaternion(np.array(model.geom_quat[at]))[:, 2]
            path.append(numbers("geom", model.geom_pos[at], body=body, point=True))
            path.append(numbers("geom axis", model.geom_pos[at] + axis, body=body, point=True))
            path.append(numbers("geom size", model.geom_size[at]))
    # The order of joints means nothing, that of points does.
    return tuple(sorted(path, key=lambda said: said.joint))


def target_of(compiled: Compiled, a: int) -> tuple[Said, ...]:
    """Return what actuator a acts on."""
    model = compiled.model
    transmission, target = int(model.actuator_trntype[a]), int(model.actuator_trnid[a, 0])
    gear = numbers("gear", model.actuator_gear[model.actuator_outadr[a]])
    if transmission in (JOINT, JOINT_IN_PARENT, SO3):
        return gear, Said("joint", "", joint=compiled.joints[target])
    if transmission == TENDON:
        return gear, *path_of(compiled, target)
    return gear, Said("target", f"{transmission} {target}")


def shape_of(compiled: Compiled, g: int) -> tuple[Said, ...]:
    """Return the ellipsoid that geom g is to a fluid, with its coefficients."""
    model, body = compiled.model, compiled.bodies[compiled.model.geom_bodyid[g]]
    R, p = rotation_from_quaternion(np.array(model.geom_quat[g])), model.geom_pos[g]
    points = [("centre", p), ("x axis", p + R[:, 0]), ("y axis", p + R[:, 1])]
    places = [numbers(name, x, body=body, point=True) for name, x in points]
    return *places, numbers("size", model.geom_size[g]), numbers("fluidcoef", model.geom_fluid[g])


def written(place: Place | None) -> tuple[Said, ...]:
    """Return an element with everything inside as it is written; empty without a file."""
    return said_by(place.element) if place else ()


def any_of(said: Iterable[Said]) -> bool:
    """Return whether one of the numbers is not zero."""
    return any(any(one.value) for one in said)
