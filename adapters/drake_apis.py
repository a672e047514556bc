# pyright: reportAttributeAccessIssue=false
"""What each inverse-dynamics call of Drake returns at one state; see `tautology explain apis`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from pydrake.multibody.tree import MultibodyForces

from ..harness.seats import CoordinateMap
from .drake_build import build
from .drake_joints import seat

if TYPE_CHECKING:
    from ..harness.tree import Floats, Tree


STEP: Final = 1e-4  # of central differences, whose error is about its square


def apis(tree: Tree, q: Floats, v: Floats, a: Floats) -> dict[str, Floats]:
    """Return call to joint efforts (nv,) in tree coordinates, zero at dofs that Drake has not; matrices times a.

    Args:
        tree: the plant is built from it, with damping where joints have it; Drake's joints have no dry friction.
        q: (nq,).
        v: (nv,).
        a: (nv,) canonical acceleration; Drake is handed its own, with omega x v in it where a base floats.
    """
    opened = build(tree)
    plant = opened.plant
    context = plant.CreateDefaultContext()
    for i, joint in opened.joints.items():
        if tree.joints[i].nv == 1:
            joint.SetDampingVector(context, np.array(tree.joints[i].damping))
    seats = [seat(tree, i, joint, shifted=True) for i, joint in opened.joints.items()]
    coordinates = CoordinateMap(tree, seats, plant.GetPositions(context), plant.num_velocities())
    frame = coordinates.at(q[None], v[None])
    own = frame.acceleration(a[None])[0]
    still = frame.acceleration(0 * a[None])[0]
    plant.SetPositionsAndVelocities(context, np.hstack([frame.q[0], frame.v[0]]))
    none, all_forces = MultibodyForces(plant), MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, all_forces)
    found = {
        "CalcInverseDynamics, no forces": plant.CalcInverseDynamics(context, own, none),
        "CalcInverseDynamics, all forces": plant.CalcInverseDynamics(context, own, all_forces),
        "CalcBiasTerm": plant.CalcBiasTerm(context),
        "CalcGravityGeneralizedForces": plant.CalcGravityGeneralizedForces(context),
        "CalcMassMatrix, M a": plant.CalcMassMatrix(context) @ (own - still),
    }
    out = {name: np.zeros(tree.nv) for name in found}
    for name, efforts in found.items():
        out[name][coordinates.v_from] = frame.efforts(np.array(efforts)[None])[0]
    return out


def carried(tree: Tree, q: Floats) -> tuple[Floats, Floats, float]:
    """Return the pose of the floating base after plus and minus one small step of `MapVelocityToQDot`.

    Args:
        tree: with a floating root.
        q: (nq,).

    Returns:
        (6, 4, 4), (6, 4, 4), one per velocity of the floating joint in Drake's order, and the step.
    """
    opened = build(tree)
    plant, root = opened.plant, tree.floating_roots[0]
    context = plant.CreateDefaultContext()
    seats = [seat(tree, i, joint, shifted=True) for i, joint in opened.joints.items()]
    coordinates = CoordinateMap(tree, seats, plant.GetPositions(context), plant.num_velocities())
    start, first = coordinates.at(q[None]).q[0], opened.joints[root].velocity_start()
    body, T = opened.held[root]
    plant.SetPositions(context, start)
    rates = [plant.MapVelocityToQDot(context, np.eye(1, plant.num_velocities(), first + k)[0]) for k in range(6)]
    poses = np.empty((2, 6, 4, 4))
    for side, sign in enumerate((STEP, -STEP)):
        for k, rate in enumerate(rates):
            plant.SetPositions(context, start + sign * rate)  # the quaternion is normalised by the plant
            poses[side, k] = plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4() @ (np.eye(4) if T is None else T)
    return poses[0], poses[1], STEP
