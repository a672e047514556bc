"""What an MJCF says and a tree cannot hold, element by element, with lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..tree import Loss, Said
from .mjcf_assets import has_mass, in_group_range, takes_inertia
from .mjcf_compiled import BODY, FRICTION_OFF, JOINT, JOINT_IN_PARENT, SITE, SLIDER_CRANK, SO3, TENDON
from .mjcf_names import BALL, HINGE, SLIDE
from .mjcf_said import any_of, numbers, path_of, polynomial, shape_of, target_of, written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .mjcf_compiled import Compiled

_TARGETS: Final = {TENDON: "a tendon", SITE: "a site", BODY: "a body", SLIDER_CRANK: "a slider-crank"}
# Kind, count in MjModel, and what its elements are for.
_NO_DYNAMICS: Final = (
    ("geom", "ngeom", "shapes, for contact and view; inertia taken from them is in the bodies"),
    ("site", "nsite", "marked points"),
    ("camera", "ncam", "views"),
    ("light", "nlight", "views"),
    ("mesh", "nmesh", "shapes; inertia taken from them is in the bodies"),
    ("hfield", "nhfield", "terrain"),
    ("texture", "ntex", "looks"),
    ("material", "nmat", "looks"),
    ("skin", "nskin", "looks"),
    ("pair", "npair", "contact"),
    ("exclude", "nexclude", "contact"),
    ("sensor", "nsensor", "measurements"),
    ("numeric", "nnumeric", "custom data"),
    ("text", "ntext", "custom data"),
    ("tuple", "ntuple", "custom data"),
)
_OF_THE_TREE: Final = {"gravity", "density", "viscosity", "wind"}


def losses_of(compiled: Compiled) -> tuple[Loss, ...]:
    """Return every loss: those of single elements, then one per kind of element without dynamics."""
    parts = (_bodies, _uncounted, _joints, _tendons, _actuators, _flexes, _sections, _without_dynamics)
    return tuple(loss for part in parts for loss in part(compiled))


def _bodies(compiled: Compiled) -> Iterator[Loss]:
    model, lines = compiled.model, compiled.lines
    for i, name in enumerate(compiled.bodies):
        if model.body_mocapid[i] >= 0:
            note = "a mocap body, moved from outside; here it is fixed where the file puts it"
            yield Loss("body@mocap", name, lines.source("body", i), touches_dynamics=False, note=note)
        if model.body_plugin[i] >= 0:
            note = "a plugin, whose forces are in no canonical quantity"
            place = lines.place("body", i)
            said = (Said("body", "", body=name), *written(place.first("plugin") if place else None))
            yield Loss("plugin", name, lines.source("body", i), touches_dynamics=True, note=note, says=said)
    fluid = compiled.passive and (model.opt.density or model.opt.viscosity)
    for g in range(int(model.ngeom)):
        if model.geom_fluid[g, 0] > 0:
            note = "drag and lift of an ellipsoid; the tree holds the medium, not the shape"
            where = compiled.bodies[model.geom_bodyid[g]]
            said = shape_of(compiled, g) if fluid else ()
            yield Loss("geom@fluidshape", where, lines.source("geom", g), touches_dynamics=True, note=note, says=said)


def _uncounted(compiled: Compiled) -> Iterator[Loss]:
    """Yield the geoms outside `inertiagrouprange`: they weigh nothing here, and something in other readers."""
    spec = compiled.spec
    if spec is None:
        return
    for geom in spec.geoms:
        if takes_inertia(spec, geom) and has_mass(geom) and not in_group_range(spec, geom):
            low, high = spec.compiler.inertiagrouprange
            note = f"group {geom.group} is outside inertiagrouprange {low} to {high}: this geom weighs nothing"
            source = compiled.lines.source("geom", geom.id)
            yield Loss("geom@group", geom.parent.name, source, touches_dynamics=True, note=note)


def _joints(compiled: Compiled) -> Iterator[Loss]:
    model = compiled.model
    lifted = compiled.passive and model.body_gravcomp.any()
    for j, name in enumerate(compiled.joints):
        kind, source = int(model.jnt_type[j]), compiled.lines.source("joint", j)
        if "spring" not in compiled.off and (model.jnt_stiffnesspoly[j].any() or model.jnt_springyield[j]):
            note = "a spring that is not linear; the tree holds its linear part"
            said = (polynomial("stiffness", model.jnt_stiffnesspoly[j], model.jnt_springyield[j], joint=name),)
            yield Loss("joint@stiffness", name, source, touches_dynamics=True, note=note, says=said)
        if "damper" not in compiled.off and model.dof_dampingpoly[model.jnt_dofadr[j]].any():
            note = "damping that is not linear; the tree holds its linear part"
            said = (polynomial("damping", model.dof_dampingpoly[model.jnt_dofadr[j]], joint=name),)
            yield Loss("joint@damping", name, source, touches_dynamics=True, note=note, says=said)
        if model.jnt_actgravcomp[j]:
            note = "gravity compensation acts through the actuators"
            said = (Said("actuatorgravcomp", "true", joint=name),) if lifted else ()
            yield Loss("joint@actuatorgravcomp", name, source, touches_dynamics=False, note=note, says=said)
        if model.jnt_limited[j] and kind == BALL:
            note = f"a cone of {model.jnt_range[j, 1]:g} rad; states of a ball are not limited"
            yield Loss("joint@range", name, source, touches_dynamics=False, note=note)
        low, high = model.jnt_actfrcrange[j]
        if model.jnt_actfrclimited[j] and low != -high and kind in (SLIDE, HINGE):
            note = f"effort from {low:g} to {high:g}; the tree holds the larger of the two"
            yield Loss("joint@actuatorfrcrange", name, source, touches_dynamics=False, note=note)


def _tendons(compiled: Compiled) -> Iterator[Loss]:
    model = compiled.model
    for t in range(int(model.ntendon)):
        name, source, path = compiled.tendon_name(t), compiled.lines.source("tendon", t), path_of(compiled, t)
        fixed, armature = bool(compiled.fixed_tendon(t)), compiled.tendon_armature(t)
        element = "fixed" if fixed else "spatial"
        passive = [term for term in _passive(compiled, t) if any_of(term[:1])]
        for term in passive:
            note = "springs, dampers and dry friction of a tendon are in no canonical quantity"
            attribute, said = f"{element}@{term[0].name}", (*term, *path)
            yield Loss(attribute, name, source, touches_dynamics=True, note=note, says=said)
        if armature and not fixed:
            note = "reflected inertia along a path that depends on the configuration: it is missing from M and tau"
            said = (numbers("armature", armature), *path)
            yield Loss("spatial@armature", name, source, touches_dynamics=True, note=note, says=said)
        if not passive and not armature:
            note = "a tendon without forces of its own"
            yield Loss(element, name, source, touches_dynamics=False, note=note)


def _passive(compiled: Compiled, t: int) -> Iterator[tuple[Said, ...]]:
    """Yield the passive forces of a tendon that no flag switches off: spring and rest lengths, damper, dry friction."""
    model, off = compiled.model, compiled.off
    if "spring" not in off:
        linear, other = model.tendon_stiffness[t], model.tendon_stiffnesspoly[t]
        spring = polynomial("stiffness", linear, other, model.tendon_springyield[t])
        yield spring, numbers("springlength", model.tendon_lengthspring[t])
    if "damper" not in off:
        yield (polynomial("damping", model.tendon_damping[t], model.tendon_dampingpoly[t]),)
    if off.isdisjoint(FRICTION_OFF):
        yield (numbers("frictionloss", model.tendon_frictionloss[t]),)


def _actuators(compiled: Compiled) -> Iterator[Loss]:
    model, lines = compiled.model, compiled.lines
    for a in range(int(model.nactuator)):
        transmission, target = int(model.actuator_trntype[a]), int(model.actuator_trnid[a, 0])
        on_joint = transmission in (JOINT, JOINT_IN_PARENT, SO3)
        joint = compiled.joints[target] if on_joint else None
        # A motor is an input; whatever has a bias or a gain that is not constant pulls by itself.
        alone = any((model.actuator_biastype[a], model.actuator_gaintype[a], model.actuator_plugin[a] >= 0))
        force = "a force that depends on the state" if alone else "an input force"
        target_words = f"joint {joint!r}" if joint else _TARGETS.get(transmission, "a target")
        note = f"{force} on {target_words}, in no canonical quantity"
        place = lines.place("actuator", a)
        element = place.element.tag if place else "actuator"
        where = compiled.name("actuator", a) or joint
        yield Loss(element, where, lines.source("actuator", a), touches_dynamics=bool(alone), note=note)
        damping = polynomial("damping", model.actuator_damping[a], model.actuator_dampingpoly[a])
        if any_of([damping]) and "damper" not in compiled.off:
            note = f"damping of {target_words} behind a gear, in no canonical quantity"
            said = (damping, *target_of(compiled, a))
            yield Loss(f"{element}@damping", where, lines.source("actuator", a), True, note, says=said)


def _flexes(compiled: Compiled) -> Iterator[Loss]:
    for f in range(int(compiled.model.nflex)):
        name = compiled.name("flex", f) or f"flex{f}"
        note = "elastic forces of a flexible body are in no canonical quantity; its bodies are in the tree"
        said = (*_elastic(compiled, f), *written(compiled.lines.place("flex", f)))
        yield Loss("flex", name, compiled.lines.source("flex", f), touches_dynamics=True, note=note, says=said)


def _elastic(compiled: Compiled, f: int) -> Iterator[Said]:
    """Yield the moduli of a flexible body as MuJoCo compiled them."""
    for name in ("flex_edgestiffness", "flex_edgedamping", "flex_damping"):
        yield numbers(name.removeprefix("flex_"), getattr(compiled.model, name)[f])


def _sections(compiled: Compiled) -> Iterator[Loss]:
    flat, model = compiled.lines.flat, compiled.model
    for place in flat.places if flat else ():
        tag, written = place.element.tag, sorted(set(place.element.attributes) - _OF_THE_TREE)
        if tag == "option" and written:
            note = f"{', '.join(written)}: of the simulation, not of the robot"
            yield Loss(tag, None, place.source, touches_dynamics=False, note=note)
        elif tag in ("statistic", "visual", "size"):
            yield Loss(tag, None, place.source, touches_dynamics=False, note="looks and memory")
    if model.nkey > 1:
        note = f"{model.nkey} keyframes; one of them is the home configuration of the tree"
        yield Loss("key", None, compiled.lines.source("key", 1), touches_dynamics=False, note=note)


def _without_dynamics(compiled: Compiled) -> Iterator[Loss]:
    for kind, count, use in _NO_DYNAMICS:
        number = int(getattr(compiled.model, count))
        if number:
            source = compiled.lines.source(kind, 0)
            yield Loss(kind, None, source, touches_dynamics=False, note=f"{number} in all: {use}")
