# pyright: reportAttributeAccessIssue=false
"""What each inverse-dynamics call of iDynTree returns at one state; see `tautology explain apis`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..harness.base_links import POSE, TWIST, BaseLink, static_pose
from ..harness.bases import MIXED
from .idyntree_bindings import idt
from .idyntree_build import base_of, build, transform_of
from .idyntree_seats import coordinate_map, seats_of

if TYPE_CHECKING:
    from ..harness.tree import Floats, Tree


def apis(tree: Tree, q: Floats, v: Floats, a: Floats) -> dict[str, Floats]:
    """Return call to joint efforts (nv,) in tree coordinates, zero at dofs that iDynTree has not; matrices times a.

    Args:
        tree: the model is built from it, with damping and dry friction where joints have them.
        q: (nq,).
        v: (nv,).
        a: (nv,) canonical acceleration; iDynTree is handed its own, with omega x v in it where a base floats.

    Raises:
        EngineUnsupported: iDynTree cannot hold the robot.
    """
    model, body = build(tree), base_of(tree)
    base = BaseLink(body, np.eye(4), bool(body), static_pose(tree, body))
    pairs, _ = seats_of(model, tree)
    for i, k in pairs.items():
        joint = model.getJoint(k)
        if tree.joints[i].nv == 1:
            joint.setDamping(0, float(np.asarray(tree.joints[i].damping)[0]))
            joint.setStaticFriction(0, float(np.asarray(tree.joints[i].friction)[0]))
    engine = idt.KinDynComputations()
    engine.loadRobotModel(model)
    coordinates = coordinate_map(model, tree, base, pairs, MIXED)
    frame = coordinates.at(q[None], v[None])
    own, still = frame.acceleration(a[None])[0], frame.acceleration(0 * a[None])[0]
    vector = idt.VectorDynSize.FromPython
    pose, twist = transform_of(base.T_world_link), idt.Twist.Zero()
    if base.floats:
        pose.fromHomogeneousTransform(idt.Matrix4x4.FromPython(frame.q[0, :POSE].reshape(4, 4).copy()))
        twist = idt.Twist.FromPython(frame.v[0, :TWIST].copy())
    joints, rates = vector(frame.q[0, POSE:].copy()), vector(frame.v[0, TWIST:].copy())
    engine.setRobotState(pose, joints, twist, rates, idt.Vector3.FromPython(np.array(tree.gravity, np.float64)))
    engine.getWorldTransform(0)  # `generalizedGravityForces` turns its base rows by the pose of an earlier state else
    external, efforts = idt.LinkWrenches(model), idt.FreeFloatingGeneralizedTorques(model)
    external.zero()

    def read() -> Floats:
        return np.hstack([efforts.baseWrench().toNumPy(), efforts.jointTorques().toNumPy()]).copy()

    def inverse(acceleration: Floats) -> Any:
        six = idt.Vector6.FromPython(acceleration[:TWIST].copy())
        return engine.inverseDynamics(six, vector(acceleration[TWIST:].copy()), external, efforts)

    found: dict[str, Floats] = {}
    inverse(own)
    found["inverseDynamics"] = read()
    engine.generalizedBiasForces(efforts)
    found["generalizedBiasForces"] = read()
    engine.generalizedGravityForces(efforts)
    found["generalizedGravityForces"] = read()
    M = idt.MatrixDynSize(coordinates.nv, coordinates.nv)
    engine.getFreeFloatingMassMatrix(M)
    found["getFreeFloatingMassMatrix, M a"] = M.toNumPy() @ (own - still)
    out = {name: np.zeros(tree.nv) for name in found}
    for name, x in found.items():
        out[name][coordinates.v_from] = frame.efforts(x[None])[0]
    return out
