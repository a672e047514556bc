# pyright: reportAttributeAccessIssue=false
"""What each inverse-dynamics call of Pinocchio returns at one state; see `tautology explain apis`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pinocchio as pin

from ..harness.limits import require_dofs
from .pinocchio_build import DOFS, build
from .pinocchio_joints import CoordinateMap

if TYPE_CHECKING:
    from ..harness.tree import Floats, Tree


STEP: Final = 1e-4  # of central differences, whose error is about its square


def apis(tree: Tree, q: Floats, v: Floats, a: Floats) -> dict[str, Floats]:
    """Return call to joint efforts (nv,) in tree coordinates, which are Pinocchio's; matrices times a.

    Args:
        tree: the model is built from it, with damping and dry friction where joints have them.
        q: (nq,).
        v: (nv,).
        a: (nv,).

    Raises:
        EngineUnsupported: more dofs than Pinocchio is asked for.
    """
    require_dofs(tree, *DOFS)
    model, pairs = build(tree)
    for i, slot in pairs:
        joint, at = tree.joints[i], slice(slot.v, slot.v + tree.joints[i].nv)
        for names, value in ((("damping",), joint.damping), (("upperDryFrictionLimit", "friction"), joint.friction)):
            for name in names:
                if hasattr(model, name):
                    getattr(model, name)[at] = value
    coordinates, data = CoordinateMap(model, tree, pairs, shifted=True), model.createData()
    x, w, b = coordinates.q(q[None])[0], coordinates.v(v[None])[0], coordinates.v(a[None])[0]
    found = {
        "pin.rnea": pin.rnea(model, data, x, w, b),
        "pin.rnea, a = 0": pin.rnea(model, data, x, w, 0 * b),
        "pin.nonLinearEffects": pin.nonLinearEffects(model, data, x, w),
        "pin.computeGeneralizedGravity": pin.computeGeneralizedGravity(model, data, x),
        "pin.computeCoriolisMatrix, C v": pin.computeCoriolisMatrix(model, data, x, w) @ w,
        "pin.crba, M a": np.array(pin.crba(model, data, x)) @ b,
    }
    out = {name: np.zeros(tree.nv) for name in found}
    for name, efforts in found.items():
        out[name][coordinates.v_from] = np.array(efforts)[coordinates.v_to]
    return out


def carried(tree: Tree, q: Floats) -> tuple[Floats, Floats, float]:
    """Return the pose of the floating base after `integrate` by plus and minus one small step of each velocity.

    Args:
        tree: with a floating root.
        q: (nq,).

    Returns:
        (6, 4, 4), (6, 4, 4), one per velocity of the free flyer in Pinocchio's order, and the step.
    """
    model, pairs = build(tree)
    data, root = model.createData(), tree.floating_roots[0]
    slot = next(slot for i, slot in pairs if i == root)
    start = CoordinateMap(model, tree, pairs, shifted=True).q(q[None])[0]
    frame = model.getFrameId(tree.bodies[root].name, pin.FrameType.BODY)
    poses = np.empty((2, 6, 4, 4))
    for side, sign in enumerate((STEP, -STEP)):
        for k in range(6):
            pin.framesForwardKinematics(
                model, data, pin.integrate(model, start, sign * np.eye(1, model.nv, slot.v + k)[0])
            )
            poses[side, k] = data.oMf[frame].homogeneous
    return poses[0], poses[1], STEP
