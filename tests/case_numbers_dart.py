"""Numbers of the cases in DART's own words: its coordinates, and its calls that hold more than the canonical ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared_cases import session

from tautology.harness.bases import SWAPPED
from tautology.harness.streams import caught
from tautology.harness.tree import JointKind

if TYPE_CHECKING:
    from pathlib import Path

    from case_numbers import Side

DAMPED = "computeInverseDynamics, withDampingForces"
BY_DEFAULT = "default of the loader"


def raw(side: Side, what: str) -> Any:
    """Return entries of q, M or the bias in the coordinates of DART; of the file, in ours."""
    places = side.places[0].split(":") if what == "q" else side.places
    at = [int(k) for k in places]
    if side.held:
        (floating,) = (i for i, joint in enumerate(side.tree.joints) if joint.kind is JointKind.FLOATING)
        if what == "q":
            return side.q[0, side.tree.q_slices[floating]][3:]
        if side.case.entry["finding"] == "base.velocity_frame":
            # The same component of the base: ours is linear first.
            at = [SWAPPED[k] if k < len(SWAPPED) else k for k in at]
        return side.answer(what)[tuple(at)]
    frame, skeleton = side.session._map.at(side.q, side.v), side.session.model
    skeleton.setPositions(frame.q[0])
    skeleton.setVelocities(frame.v[0])
    if what == "q":
        return frame.q[0, slice(*at)]
    return (skeleton.getMassMatrix() if what == "M" else skeleton.getCoriolisAndGravityForces())[tuple(at)]


def damped(side: Side, _tail: str) -> Any:
    """Return tau with damping: of the next step where DART answers, of this state where the integrator is found."""
    engine = session(side.case.file, "dart", "native", side.case.base)
    terms = engine.ledger(side.q, side.v, side.a)[DAMPED]
    tau = side.answer("tau")
    if side.held:
        return tau + terms["damping"][0] if side.case.entry["finding"] == "integrator" else tau
    return tau + terms["damping"][0] + terms["integrator"][0]


def actuator(side: Side, _tail: str) -> str:
    """Return how a joint that follows another one is driven."""
    name = side.places[0]
    if side.held:
        return "MIMIC" if any(name == closure.between[0] for closure in side.tree.closures) else "FORCE"
    return side.session.model.getJoint(name).getActuatorType().name


def positions(side: Side, _tail: str) -> int:
    """Return the number of positions."""
    return side.held.nq if side.held else side.session.model.getNumDofs()


def velocities(side: Side, _tail: str) -> int:
    """Return the number of velocities; by default the root of a URDF floats."""
    if side.held:
        return side.held.nv
    if side.case.options != BY_DEFAULT:
        return side.session.model.getNumDofs()
    import dartpy as dart  # noqa: PLC0415  no engine is needed to collect the cases

    uri = dart.common.Uri()
    uri.fromPath(str(side.case.file))
    return dart.utils.DartLoader().parseSkeleton(uri).getNumDofs()


def joints(side: Side, _tail: str) -> list[str]:
    """Return the names of the joints that move, in order."""
    if side.held:
        return [joint.name for joint in side.held.joints if joint.nv]
    skeleton = side.session.model
    held = [skeleton.getJoint(k) for k in range(skeleton.getNumJoints())]
    return [joint.getName() for joint in held if joint.getNumDofs()]


def refuses(file: Path) -> str:
    """Return what DART alone says of a file that it does not load."""
    import dartpy as dart  # noqa: PLC0415  as above

    uri = dart.common.Uri()
    uri.fromPath(str(file))
    said: list[str] = []
    with caught(said):
        assert dart.utils.DartLoader().parseSkeleton(uri) is None
    return "\n".join(said)


QUANTITIES = {
    "raw": raw,
    "tau_with_damping": damped,
    "actuator_type": actuator,
    "nq": positions,
    "nv": velocities,
    "joints": joints,
    "refuses": refuses,
}
