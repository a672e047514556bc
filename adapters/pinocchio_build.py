# pyright: reportAttributeAccessIssue=false
"""A `pinocchio.Model` built from a tree, and how large a tree Pinocchio can hold.

Pinocchio holds one joint per moving body, with its frame on the moving side; fixed bodies are frames.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pinocchio as pin

from ..harness.spatial import rotation_z_to, transform
from ..harness.tree import JointKind
from .pinocchio_joints import Slot
from .pinocchio_versions import HOLDS_ARMATURE, body_frame

if TYPE_CHECKING:
    from ..harness.tree import Floats, Inertia, Joint, Tree
    from .pinocchio_joints import PinModel

# `createData` takes 66 bytes times nv cubed (second derivatives, measured from 100 to 300 dofs): 1 GB at 250.
DOFS: Final = (250, "Pinocchio", "1 GB in `createData`")
# The URDF parser calls itself once per link: 3,000 links in a row pass, 5,000 end the process (8 MB of stack). A model
# that is built from a tree answers with 200,000 links in a row.
DEPTH: Final = (1000, "Pinocchio's parser", "it crashes below 5,000")


ALIGNED = {
    JointKind.REVOLUTE: (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ, pin.JointModelRevoluteUnaligned),
    JointKind.PRISMATIC: (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ, pin.JointModelPrismaticUnaligned),
}


def build(tree: Tree) -> tuple[PinModel, list[tuple[int, Slot]]]:
    """Return the model of `tree`, one joint per moving body, and the slot of each tree body that has one.

    Joints are added depth-first: in any other order `crba` is silently wrong.
    """
    fusion, model = tree.fusion, pin.Model()
    model.name, model.gravity = tree.name, pin.Motion(tree.gravity, np.zeros(3))
    moving = [i for i, h in enumerate(fusion.holder) if h == i]
    # T_side_body: of a body on the moving side of its joint, that is in Pinocchio's joint frame.
    joints, Ts_side_body = [0], [np.eye(4)]
    pairs: list[tuple[int, Slot]] = []
    model.inertias[0] = _inertia(fusion.tree.bodies[0].inertia, np.eye(4))
    for i, body in zip(moving[1:], fusion.tree.bodies[1:], strict=True):
        joint = body.joint
        B = transform(rotation_z_to(joint.axis) if joint.kind is JointKind.PLANAR else np.eye(3), np.zeros(3))
        placement = pin.SE3(Ts_side_body[body.parent] @ joint.T_parent_joint @ B)
        j = model.addJoint(joints[body.parent], _joint_model(joint), placement, joint.name)
        added = model.joints[j]
        if HOLDS_ARMATURE:
            model.armature[added.idx_v : added.idx_v + joint.nv] = joint.reflected
        joints.append(j)
        Ts_side_body.append(B.T @ joint.T_joint_body)
        model.inertias[j] = _inertia(body.inertia, Ts_side_body[-1])
        pairs.append((i, Slot(j, joint.name, joint.kind, joint.axis, placement, added.idx_q, added.idx_v)))
    for i, body in enumerate(tree.bodies[1:], 1):
        k = fusion.merged[i]
        placement = pin.SE3(Ts_side_body[k] @ fusion.Ts_holder_body[i])
        model.addFrame(body_frame(body.name, joints[k], placement), append_inertia=False)
    return model, pairs


def _joint_model(joint: Joint) -> Any:
    """Return Pinocchio's joint of the same kind; a continuous one is plain, its coordinate stays an angle."""
    if joint.kind is JointKind.BALL:
        return pin.JointModelSpherical()
    if joint.kind is JointKind.PLANAR:
        return pin.JointModelPlanar()
    if joint.kind is JointKind.FLOATING:
        return pin.JointModelFreeFlyer()
    models = ALIGNED[JointKind.PRISMATIC if joint.kind is JointKind.PRISMATIC else JointKind.REVOLUTE]
    for aligned, axis in zip(models, np.eye(3), strict=False):
        if np.array_equal(joint.axis, axis):
            return aligned()
    return models[3](joint.axis)


def _inertia(inertia: Inertia, T: Floats) -> Any:
    """Return the inertia of a body placed at T, as the tree says it: also singular, indefinite or without mass.

    The constructor of `pin.Inertia` refuses such a tensor, and `appendBodyToJoint` loses the centre of masses below
    1e-16 kg: the tensor is set afterwards, and the caller assigns the whole.
    """
    R = T[:3, :3]
    Y = pin.Inertia(inertia.mass, R @ inertia.com + T[:3, 3], np.eye(3))
    Y.inertia = inertia.I_com if np.array_equal(R, np.eye(3)) else R @ inertia.I_com @ R.T
    return Y
