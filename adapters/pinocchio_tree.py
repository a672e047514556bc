# pyright: reportAttributeAccessIssue=false
"""A live `pinocchio.Model` as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from ..harness.errors import Source
from ..harness.tree import Body, Inertia, Joint, JointKind, Loss, Tree, world
from .pinocchio_joints import slots, unique
from .pinocchio_versions import joint_of, of_dofs

if TYPE_CHECKING:
    from .pinocchio_joints import PinModel, Slot


def tree_of(model: PinModel) -> Tree:
    """Return the tree that a live `pinocchio.Model` holds: its inertias, placements, armature, limits, gravity.

    Bodies take the names of the BODY frames at their joint, else of the joint. The other BODY frames become massless
    fixed bodies: Pinocchio has merged their inertia. What is fixed to the world is one body.

    Raises:
        ReadError: a joint that no tree can hold.
        TreeError: numbers that are not finite, or an axis that is no unit vector.
    """
    primitives = slots(model)
    builder = _Builder(model, {slot.name for slot in primitives})
    root, static = builder.frame_name(0), _inertia(model.inertias[0])
    at = {0: 0}  # tree body that each Pinocchio joint carries
    if root or not static.is_zero:
        at[0] = builder.add(root or "universe", 0, builder.weld(root or "universe", np.eye(4)), static)
    for k, slot in enumerate(primitives):
        j = slot.joint
        parent = at[j] if j in at else at[model.parents[j]]
        if k + 1 < len(primitives) and primitives[k + 1].joint == j:
            at[j] = builder.add(f"{slot.name} side", parent, _joint(model, slot), Inertia())
        else:
            name = builder.frame_name(j) or model.names[j]
            at[j] = builder.add(name, parent, _joint(model, slot), _inertia(model.inertias[j]))
    for frame in builder.left_frames():
        T = frame.placement.homogeneous
        builder.add(frame.name, at[joint_of(frame)], builder.weld(frame.name, T), Inertia())
    return Tree(_name(model), tuple(builder.bodies), gravity=model.gravity.linear, losses=_losses(model, primitives))


def _name(model: PinModel) -> str:
    """Return the name of the robot, or "" when a file in another encoding than UTF-8 has left bytes that are none."""
    try:
        return model.name
    except UnicodeDecodeError:
        return ""


class _Builder:
    """The bodies as they grow, with names that stay unique."""

    def __init__(self, model: PinModel, joint_names: set[str]) -> None:
        self.bodies = [world()]
        self._names, self._joint_names, self._used = {"world"}, set(joint_names), set[int]()
        self._frames = [(k, f) for k, f in enumerate(model.frames) if f.type == pin.FrameType.BODY]

    def add(self, name: str, parent: int, joint: Joint, inertia: Inertia) -> int:
        self.bodies.append(Body(unique(name, self._names), parent, joint, inertia))
        return len(self.bodies) - 1

    def weld(self, name: str, T: Any) -> Joint:
        return Joint(unique(f"{name} weld", self._joint_names), JointKind.FIXED, T_parent_joint=T)

    def frame_name(self, joint: int) -> str:
        """Return the name of the first BODY frame at the origin of the joint, and count it as used; "" without one."""
        for k, frame in self._frames:
            if joint_of(frame) == joint and frame.placement.isIdentity(0.0):
                self._used.add(k)
                return frame.name
        return ""

    def left_frames(self) -> list[Any]:
        """Return the BODY frames that are no body yet."""
        return [frame for k, frame in self._frames if k not in self._used]


def _joint(model: PinModel, slot: Slot) -> Joint:
    v = slice(slot.v, slot.v + slot.kind.nv)
    limited = slot.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC)
    single = slot.kind.nv == 1
    return Joint(
        slot.name,
        slot.kind,
        axis=slot.axis,
        T_parent_joint=slot.placement.homogeneous,
        lower=_limit(model.lowerPositionLimit[slot.q]) if limited else -np.inf,
        upper=_limit(model.upperPositionLimit[slot.q]) if limited else np.inf,
        speed=_limit(of_dofs(model, "upperVelocityLimit")[slot.v]) if single else np.inf,
        effort=_limit(of_dofs(model, "upperEffortLimit")[slot.v]) if single else np.inf,
        damping=model.damping[v],
        friction=of_dofs(model, "upperDryFrictionLimit")[v],
        armature=of_dofs(model, "armature")[v],
    )


def _limit(number: float) -> float:
    """Return a limit; the largest number of all stands for none in Pinocchio."""
    return float(np.copysign(np.inf, number)) if abs(number) == np.finfo(float).max else float(number)


def _inertia(Y: Any) -> Inertia:
    return Inertia(Y.mass, Y.lever, Y.inertia)


def _losses(model: PinModel, primitives: list[Slot]) -> tuple[Loss, ...]:
    """Return the rotor inertias: they stand in the model and in none of Pinocchio's dynamics."""
    return tuple(
        Loss(
            "rotorInertia",
            slot.name,
            Source(),
            touches_dynamics=True,
            note="rotorInertia times rotorGearRatio squared is in no call of Pinocchio; put it into model.armature",
        )
        for slot in primitives
        if (model.rotorInertia * model.rotorGearRatio**2)[slot.v : slot.v + slot.kind.nv].any()
    )
