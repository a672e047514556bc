"""Tree to MJCF: every body with its frame, its inertia and its joints, in the order of the tree.

Angles are radians, and every number reads back as it was. Massless bodies in a row become several joints of one body
(`mjcf_seats`); what a joint of the tree becomes is in `mjcf_joints`. Reflected inertia of actuators is the armature of
a motor with gear 1. What MuJoCo will refuse is written as it is, and named.

Source: MuJoCo documentation, "XML reference"; limits of its compiler as measured with MuJoCo 4.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..spatial import quaternion_from_rotation, rotation_from_quaternion
from .document import Exported, Losses, Writer
from .frames import is_identity, misses
from .mjcf_inertias import inertial, is_left_out, lose_inertias
from .mjcf_joints import FREE, attributes, lose_joint
from .mjcf_losses import lose_frames, lose_ground, lose_names, lose_placements, lose_seats
from .mjcf_plan import outline
from .mjcf_terms import (
    Spelling,
    absolute,
    equalities_of,
    tendons_of,
    write_equalities,
    write_home,
    write_motors,
    write_tendons,
)
from .names import plain

if TYPE_CHECKING:
    from ..tree import Tree
    from .document import Value
    from .mjcf_plan import Plan
    from .mjcf_seats import Seat
    from .mjcf_terms import Equality


def write_mjcf(tree: Tree) -> Exported:
    """Return a tree as an MJCF document, and what it does not hold.

    Raises:
        TreeError: a number that has to be written is not finite.
    """
    writer, losses = Writer(), Losses()
    plan = outline(tree)
    _lose(plan, losses)
    tendons = tendons_of(tree, plan.one_dof, losses)
    equalities = equalities_of(tree, Spelling(plan.kept, plan.one_dof, tendons), losses)
    with writer.inside("mujoco", model=plain(tree.name)):
        writer.leaf("compiler", angle="radian", autolimits="true")
        _write_option(writer, tree)
        _write_bodies(writer, plan, _sites(plan, equalities))
        write_tendons(writer, tree, tendons, plan.one_dof)
        write_equalities(writer, equalities)
        write_motors(writer, plan.driven)
        write_home(writer, tree, plan.parts)
    return Exported(writer.text, losses.all())


def _lose(plan: Plan, losses: Losses) -> None:
    tree = plan.tree
    lose_ground(tree, plan.ground, losses)
    lose_frames(tree, plan.moved, losses)
    lose_names(tree, "body", plan.body_names, losses)
    lose_names(tree, "joint", plan.single, losses)
    lose_seats(tree, plan.seats, losses)
    lose_placements(tree, plan.parts, losses)
    lose_inertias(tree, plan.seats, losses)
    for i, parts in plan.parts.items():
        lose_joint(tree.joints[i], parts, losses)
    for seat in plan.seats:
        T = seat.T_parent_body
        if misses(T[:3, :3], rotation_from_quaternion(quaternion_from_rotation(T[:3, :3]))):
            joint = tree.joints[seat.body]
            note = "its placement holds no rotation; the nearest quaternion stands in the file"
            losses.add("body@quat", tree.bodies[seat.body].name, joint.source("T_parent_joint"), note, touches=True)


def _write_option(writer: Writer, tree: Tree) -> None:
    medium = tree.medium
    writer.leaf(
        "option",
        gravity=tree.gravity,
        density=medium.density or None,
        viscosity=medium.viscosity or None,
        wind=medium.wind if any(medium.wind) else None,
    )


def _sites(plan: Plan, equalities: list[Equality]) -> dict[int, list[dict[str, Value]]]:
    """Return the attributes of the sites of equalities, by tree body; 0 is the world."""
    sites: dict[int, list[dict[str, Value]]] = {}
    for equality in equalities:
        for body, name, position in equality.sites:
            index = plan.tree.index[body] if body else 0
            sites.setdefault(index, []).append({"name": name, "pos": position})
    return sites


def _write_bodies(writer: Writer, plan: Plan, sites: dict[int, list[dict[str, Value]]]) -> None:
    """Write the world body: the seats stand depth-first, so each ends those before it that do not carry it."""
    with writer.inside("worldbody"):
        for site in sites.get(0, ()):
            writer.leaf("site", **site)
        around = [0]
        for seat in plan.seats:
            while around[-1] != seat.parent:
                writer.end()
                around.pop()
            _begin_body(writer, plan, seat)
            for site in sites.get(seat.body, ()):
                writer.leaf("site", **site)
            around.append(seat.body)
        for _ in around[1:]:
            writer.end()


def _begin_body(writer: Writer, plan: Plan, seat: Seat) -> None:
    body = plan.bodies[seat.body]
    placed: dict[str, Value] = {"pos": None, "quat": None}
    if [part.type for part in plan.parts[seat.body]] == [FREE]:
        pose = absolute(body.joint, np.asarray(body.joint.rest))
        placed = {"pos": pose[:3], "quat": pose[3:]}
    elif not is_identity(seat.T_parent_body):
        R, p = seat.T_parent_body[:3, :3], seat.T_parent_body[:3, 3]
        placed = {"pos": p, "quat": None if is_identity(R) else quaternion_from_rotation(R)}
    writer.begin("body", name=plan.body_names[body.name], **placed, gravcomp=body.gravcomp or None)
    if not body.inertia.is_zero and not is_left_out(plan.tree, seat.body):
        writer.leaf("inertial", **inertial(body.inertia))
    for i, T_body_joint in zip(seat.members, seat.Ts_body_joint, strict=True):
        for name, part in zip(plan.joint_names[i], plan.parts[i], strict=True):
            joint = plan.bodies[i].joint
            writer.leaf("joint", name=name, **attributes(joint, part, T_body_joint))
