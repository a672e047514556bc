"""The terms that other calls of DART hold: damping and springs, which its dynamics counts at the next time step.

With a time step h, damping d, stiffness k and rest position q0 of a joint, `computeInverseDynamics(_, True, True)`
subtracts the forces -d (v + h a) and -k (q + h v - q0), and `computeForwardDynamics` counts them always, with
h d + h^2 k in its inertia. What the step adds to the force at the state itself is of the integrator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import dartpy as dart
import numpy as np

from ..harness.streams import caught

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..harness.seats import Frame
    from ..harness.tree import Floats
    from .dart_build import Skeleton

DAMPED = "computeInverseDynamics, withDampingForces"
SPRUNG = "computeInverseDynamics, withSpringForces"


def ledger(skeleton: Skeleton, frame: Frame, a: Floats) -> Mapping[str, Mapping[str, Floats]]:
    """Return the efforts (N, n) that calls hold beyond the canonical ones, by finding kind.

    Args:
        skeleton: asked.
        frame: its states.
        a: (N, nv) its accelerations.
    """
    rest = np.zeros_like(a)
    damping = _beyond(skeleton, frame, rest, damped=True)
    damped = {"damping": damping, "integrator": _beyond(skeleton, frame, a, damped=True) - damping}
    still = np.zeros_like(frame.v)
    spring = _beyond(skeleton, frame, rest, damped=False, v=still)
    sprung = {"spring": spring, "integrator": _beyond(skeleton, frame, rest, damped=False) - spring}
    calls = {DAMPED: damped, SPRUNG: sprung}
    return {"tau": {}} | {
        call: {kind: frame.efforts(x) for kind, x in terms.items() if x.any()} for call, terms in calls.items()
    }


def _beyond(skeleton: Skeleton, frame: Frame, a: Floats, *, damped: bool, v: Floats | None = None) -> Floats:
    """Return what `computeInverseDynamics` holds (N, nv) with damping or springs beyond what it holds without."""
    out = np.zeros_like(a)
    for i, (x, y, z) in enumerate(zip(frame.q, frame.v if v is None else v, a, strict=True) if out.size else ()):
        skeleton.setPositions(x)
        skeleton.setVelocities(y)
        skeleton.setAccelerations(z)
        skeleton.computeInverseDynamics(False, False, False)
        bare = skeleton.getForces()
        skeleton.computeInverseDynamics(False, damped, not damped)
        out[i] = skeleton.getForces() - bare
    # Rounding of the two calls is no term.
    scale = np.abs(out).max(0, initial=0)
    held = _coefficients(skeleton, "getDampingCoefficient" if damped else "getSpringStiffness")
    return np.where((held != 0) & (scale > 0), out, 0.0)


def _coefficients(skeleton: Skeleton, name: str) -> Floats:
    """Return the coefficients (nv,) of all dofs."""
    joints = (skeleton.getJoint(k) for k in range(skeleton.getNumJoints()))
    own = [(j.getIndexInSkeleton(k), getattr(j, name)(k)) for j in joints for k in range(j.getNumDofs())]
    return np.array([value for _, value in sorted(own)])


def without_passive_forces(skeleton: Skeleton) -> Skeleton:
    """Return a copy in which every dof is driven by its force alone: no damping, springs, or prescribed motion.

    A joint that follows another one has the actuator type MIMIC, and its force is passed over.
    """
    with caught([]):  # it warns once more of every mass that no body can have
        copy = skeleton.clone()
    for k in range(copy.getNumJoints()):
        joint = copy.getJoint(k)
        joint.setActuatorType(dart.dynamics.ActuatorType.FORCE)
        for dof in range(joint.getNumDofs()):
            joint.setDampingCoefficient(dof, 0.0)
            joint.setSpringStiffness(dof, 0.0)
    return copy
