# pyright: reportAttributeAccessIssue=false
"""What older versions of Pinocchio, from 2.7 on, call otherwise or do not have; all else is written for the newest.

Every name here asks the module what it can do, never for its number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pinocchio as pin

if TYPE_CHECKING:
    from ..harness.tree import Floats

    PinModel = Any
    SE3 = Any

# Whether a model holds armature, and its calls count it; if not, it is added outside of them (2.7).
HOLDS_ARMATURE: Final = hasattr(pin.Model, "armature")
READS_MJCF: Final = hasattr(pin, "buildModelFromMJCF")
# The importer that takes a root joint, too; up to 3.9 it has the same name.
freed_mjcf: Final[Any] = getattr(pin, "buildModelFromMJCFAndRootJoint", getattr(pin, "buildModelFromMJCF", None))
# What the limits were called when each had one side.
ONE_SIDED: Final = {"upperVelocityLimit": "velocityLimit", "upperEffortLimit": "effortLimit"}


def joint_of(frame: Any) -> int:
    """Return the joint that a frame moves with."""
    return frame.parentJoint if hasattr(frame, "parentJoint") else frame.parent


def body_frame(name: str, joint: int, placement: SE3) -> Any:
    """Return the frame of a body."""
    if hasattr(pin.Frame, "parentJoint"):
        return pin.Frame(name, joint, placement, pin.FrameType.BODY)
    return pin.Frame(name, joint, 0, placement, pin.FrameType.BODY)


def subspace(model: PinModel, joint: Any) -> Floats:
    """Return S (6, nv), linear first, of a joint model at its neutral position."""
    if hasattr(joint, "createData"):
        data = joint.createData()
        joint.calc(data, pin.neutral(model))
        return np.array(data.S).reshape(6, -1)
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    J = pin.getJointJacobian(model, data, joint.id, pin.LOCAL)
    return np.array(J[:, joint.idx_v : joint.idx_v + joint.nv])


def of_dofs(model: PinModel, name: str) -> Floats:
    """Return the numbers (nv,) of a field with one per dof; zeros where this version has none such."""
    found = getattr(model, name, getattr(model, ONE_SIDED.get(name, ""), None))
    return np.zeros(model.nv) if found is None else np.array(found)
