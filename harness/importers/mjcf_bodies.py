"""Bodies and joints of a compiled MuJoCo model as bodies and joints of a tree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ..errors import ReadError
from ..tree import Body, Floats, Inertia, Joint, JointKind, world
from .mjcf_compiled import FRICTION_OFF, JOINT, JOINT_IN_PARENT, SO3, TENDON, Compiled
from .mjcf_names import BALL, FREE, HINGE, SLIDE, distinct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..errors import Source
    from .mjcf_lines import Flat, Place

# Field of `Joint` to the attribute of <joint> that it comes from.
_ATTRIBUTES: Final = {
    "axis": "axis",
    "T_joint_body": "pos",
    "ref": "ref",
    "lower": "range",
    "upper": "range",
    "effort": "actuatorfrcrange",
    "damping": "damping",
    "friction": "frictionloss",
    "armature": "armature",
    "stiffness": "stiffness",
    "rest": "springref",
}
# Field of `Joint` to the flags of <option> that switch it off.
_FLAGS: Final = {"damping": ("damper",), "friction": FRICTION_OFF, "stiffness": ("spring",)}
_FROM_GEOM_ALWAYS: Final = 1  # mjINERTIAFROMGEOM_TRUE

# An authored tensor stands for the compiled one when they agree so far: MuJoCo's principal axes cost up to 2e-14.
_SAME_TENSOR: Final = 1e-11

MjModel: TypeAlias = Any
Drives: TypeAlias = "dict[int, tuple[float, Source]]"


def names_of(model: MjModel) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names that the tree of a compiled model has for its bodies and its joints, in MuJoCo's order."""
    return Compiled(model).names


def bodies_of(compiled: Compiled) -> list[Body]:
    """Return the bodies of the tree, the world first, several joints of one body in series.

    Raises:
        ReadError: a number of a body or of its joints is not finite; sums and products of finite ones need not be.
    """
    model, lines = compiled.model, compiled.lines
    _check_finite(compiled)
    taken_bodies, taken_joints = set(compiled.bodies), set(compiled.joints)
    tensors, drives = _authored_tensors(compiled), _drives(compiled)
    inertial, shapes = _inertial_sources(compiled)
    bodies, index = [world()], [0]
    for i in range(1, int(model.nbody)):
        name, parent = compiled.bodies[i], index[model.body_parentid[i]]
        first = int(model.body_jntadr[i])
        joints = [_joint(compiled, j, drives) for j in range(first, first + int(model.body_jntnum[i]))]
        source = {"element": lines.source("body", i)}
        if not joints:
            fixed = distinct(f"{name}_fixed", taken_joints)
            joints = [Joint(fixed, JointKind.FIXED, T_parent_joint=compiled.T_parent_body(i), sources=source)]
        for joint in joints[:-1]:
            between = distinct(f"{name}/{joint.name}", taken_bodies)
            bodies.append(Body(between, parent, joint, sources={"element": joint.source()}))
            parent = len(bodies) - 1
        where = {key: inertial[i] for key in ("inertial", "mass", "com", "inertia") if i in inertial}
        if i in inertial and inertial[i] in shapes:
            where["shapes"] = inertial[i]
        inertia = Inertia()
        if model.body_mass[i] or model.body_inertia[i].any():  # else MuJoCo leaves the body's own place for a centre
            # An authored full tensor is written in body axes, any other in the axes that MuJoCo keeps.
            axes = np.eye(3) if i in tensors else compiled.axes(i)
            tensor = tensors.get(i, compiled.tensor(i))
            inertia = Inertia(model.body_mass[i], model.body_ipos[i], tensor, axes)
        gravcomp = float(model.body_gravcomp[i]) if compiled.passive else 0.0
        if not compiled.passive and model.body_gravcomp[i]:
            where["gravcomp"] = compiled.flag("spring") or lines.file
        bodies.append(Body(name, parent, joints[-1], inertia, gravcomp, {**source, **where}))
        index.append(len(bodies) - 1)
    return bodies


def _check_finite(compiled: Compiled) -> None:
    model = compiled.model
    fields = (model.body_mass, model.body_inertia, model.body_ipos, model.body_iquat, model.body_pos, model.body_quat)
    finite = np.all([np.isfinite(field).reshape(int(model.nbody), -1).all(axis=1) for field in fields], axis=0)
    bodies = [int(i) for i in np.flatnonzero(~finite)]
    of_dofs = np.isfinite(model.dof_armature) & np.isfinite(model.dof_damping) & np.isfinite(model.dof_frictionloss)
    bodies += [int(model.dof_bodyid[v]) for v in np.flatnonzero(~of_dofs)]
    for i in bodies[:1]:
        message = (
            f"body {compiled.bodies[i]!r} or its joint has a number that is not finite once MuJoCo has compiled it"
        )
        raise ReadError(message, compiled.lines.source("body", i), where=compiled.bodies[i])


def _joint(compiled: Compiled, j: int, drives: Drives) -> Joint:
    model, kind = compiled.model, int(compiled.model.jnt_type[j])
    one_dof = kind in (SLIDE, HINGE)
    limited = one_dof and bool(model.jnt_limited[j])
    forced = one_dof and bool(model.jnt_actfrclimited[j])
    joint_kind = {FREE: JointKind.FLOATING, BALL: JointKind.BALL, SLIDE: JointKind.PRISMATIC}.get(
        kind, JointKind.REVOLUTE if limited else JointKind.CONTINUOUS
    )
    T_parent_joint, T_joint_body = _placements(compiled, j)
    off = compiled.off
    q, v = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
    dofs = slice(v, v + joint_kind.nv)
    return Joint(
        compiled.joints[j],
        joint_kind,
        axis=model.jnt_axis[j] if one_dof else np.array([0.0, 0, 1]),
        T_parent_joint=T_parent_joint,
        T_joint_body=T_joint_body,
        ref=float(model.qpos0[q]) if one_dof else 0.0,
        # An unlimited range is not even converted from degrees.
        lower=float(model.jnt_range[j, 0]) if limited else -np.inf,
        upper=float(model.jnt_range[j, 1]) if limited else np.inf,
        effort=float(np.abs(model.jnt_actfrcrange[j]).max()) if forced else np.inf,
        # What a flag switches off is not there, and stands where the flag does.
        damping=model.dof_damping[dofs] * ("damper" not in off),
        friction=model.dof_frictionloss[dofs] * off.isdisjoint(FRICTION_OFF),
        armature=model.dof_armature[dofs],
        rotor=drives[j][0] if j in drives else 0.0,
        stiffness=float(model.jnt_stiffness[j]) * ("spring" not in off),
        rest=model.qpos_spring[q : q + joint_kind.nq],
        actuated=j in drives,
        sources=_joint_sources(compiled, j, drives),
    )


def _placements(compiled: Compiled, j: int) -> tuple[Floats, Floats]:
    """Return T_parent_joint and T_joint_body: to the anchor and back, so that the body frame is MuJoCo's."""
    model = compiled.model
    if model.jnt_type[j] == FREE:
        # Its coordinates are absolute: where the file puts the body is in qpos0 alone.
        return np.eye(4), np.eye(4)
    body = int(model.jnt_bodyid[j])
    there, back = np.eye(4), np.eye(4)
    there[:3, 3] = model.jnt_pos[j]
    back[:3, 3] = 0.0 - model.jnt_pos[j]
    return (compiled.T_parent_body(body) @ there if j == model.body_jntadr[body] else there), back


def _joint_sources(compiled: Compiled, j: int, drives: Drives) -> dict[str, Source]:
    """Return where the fields of joint j stand; `armature.default` is the default class that armature comes from."""
    lines, body = compiled.lines, int(compiled.model.jnt_bodyid[j])
    sources = {"element": lines.source("joint", j)}
    if j == compiled.model.body_jntadr[body]:
        sources["T_parent_joint"] = lines.source("body", body)
    if j in drives:
        sources["rotor"] = sources["actuated"] = drives[j][1]
    place = lines.place("joint", j)
    sources |= _written(place, lines.flat) if place and lines.flat else {}
    for field, flags in _FLAGS.items():
        if field in sources and (switched := compiled.flag(*flags)):
            sources[field] = switched
    return sources


def _written(place: Place, flat: Flat) -> dict[str, Source]:
    sources: dict[str, Source] = {}
    for field, attribute in _ATTRIBUTES.items():
        source = flat.attribute(place, attribute)
        if source:
            sources[field] = source
        if source and attribute not in place.element.attributes and (default := flat.default(place, attribute)):
            sources[f"{field}.default"] = default.source
    return sources


def _drives(compiled: Compiled) -> Drives:
    """Return, per joint that actuators drive, the sum of armature times gear squared and where the first one stands.

    MuJoCo adds the first component of the gear, squared, to every dof of a ball or free joint, whatever the others are.
    A joint driven through a fixed tendon is actuated; that reflected inertia is the tendon's.
    """
    model, lines = compiled.model, compiled.lines
    drives: Drives = {}
    for a in range(int(model.nactuator)):
        transmission, target = int(model.actuator_trntype[a]), int(model.actuator_trnid[a, 0])
        on_joint = transmission in (JOINT, JOINT_IN_PARENT, SO3)
        reflected = compiled.reflected(a) if on_joint else 0.0
        joints = [target] if on_joint else compiled.fixed_tendon(target) if transmission == TENDON else ()
        for joint in joints:
            before, source = drives.get(joint, (0.0, lines.source("actuator", a)))
            # The line is that of the actuator that has a rotor, if one of them has.
            first = lines.source("actuator", a) if reflected and not before else source
            drives[joint] = (before + reflected, first)
            if not math.isfinite(before + reflected):
                message = "the armature of its actuators, times gear squared, is not finite"
                raise ReadError(message, first, where=compiled.joints[joint])
    return drives


def _authored_tensors(compiled: Compiled) -> Mapping[int, Floats]:
    """Return the tensors that the file writes in full, where no compiler switch changed them.

    MuJoCo keeps principal moments and axes, which costs digits that the file has.
    """
    tensors: dict[int, Floats] = {}
    for body in compiled.spec.bodies if compiled.spec is not None else ():
        xx, yy, zz, xy, xz, yz = body.fullinertia
        authored = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if body.id > 0 and np.isfinite(authored).all():
            error = np.abs(authored - compiled.tensor(body.id)).max()
            if error <= _SAME_TENSOR * np.abs(authored).max():
                tensors[body.id] = authored
    return tensors


def _inertial_sources(compiled: Compiled) -> tuple[Mapping[int, Source], set[Source]]:
    """Return the line of `<inertial>`, else of the first geom that the inertia comes from, by body number.

    The second result holds those that are geoms.
    """
    model, lines, spec = compiled.model, compiled.lines, compiled.spec
    sources: dict[int, Source] = {}
    shapes: set[Source] = set()
    if spec is None:
        return sources, shapes
    low, high = spec.compiler.inertiagrouprange
    always = int(spec.compiler.inertiafromgeom) == _FROM_GEOM_ALWAYS
    for i in range(1, int(model.nbody)):
        place = lines.place("body", i)
        inertial = place.first("inertial") if place and not always else None
        first = int(model.body_geomadr[i])
        geoms = [g for g in range(first, first + int(model.body_geomnum[i])) if low <= model.geom_group[g] <= high]
        if inertial:
            sources[i] = inertial.source
        elif geoms and model.body_mass[i]:
            sources[i] = lines.source("geom", geoms[0])
            shapes.add(sources[i])
    return sources, shapes
