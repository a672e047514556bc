"""Numbers of the cases in Drake's own words: its coordinates, and its calls that hold more, or less, than ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tautology.harness.bases import SWAPPED
from tautology.harness.tree import JointKind

if TYPE_CHECKING:
    from pathlib import Path

    from case_numbers import Side

BY_DEFAULT = "default of the loader"
FORCES = "CalcForceElementsContribution"


def raw(side: Side, what: str) -> Any:
    """Return entries of q, M or the bias in the coordinates of Drake; of the file, in ours."""
    places = side.places[0].split(":") if what == "q" else side.places
    at = [int(k) for k in places]
    if side.held:
        turned = next(i for i, j in enumerate(side.tree.joints) if j.kind in (JointKind.FLOATING, JointKind.BALL))
        if what == "q":
            own = side.q[0, side.tree.q_slices[turned]]
            return own[3:] if len(own) > len(places) * 3 else own
        if side.case.entry["finding"] != "base.component_order":
            # The same component of the base: ours is linear first.
            at = [SWAPPED[k] if k < len(SWAPPED) else k for k in at]
        return side.answer(what)[tuple(at)]
    frame, plant = side.session._map.at(side.q, side.v), side.session.model
    context = plant.CreateDefaultContext()
    plant.SetPositionsAndVelocities(context, np.concatenate([frame.q[0], frame.v[0]]))
    if what == "q":
        return frame.q[0, slice(*at)]
    if what == "M":
        return plant.CalcMassMatrix(context)[tuple(at)]
    return (plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context))[tuple(at)]


def gravity(side: Side, _tail: str) -> Any:
    """Return what the call gives, in an order of dofs that is ours; of the file, what holds the robot still."""
    if side.held:
        return side._of_dofs(side.answer("g"))
    frame, plant = side.session._map.at(side.q), side.session.model
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, frame.q[0])
    return side._of_dofs(frame.efforts(plant.CalcGravityGeneralizedForces(context)[None])[0])


def damped(side: Side, _tail: str) -> Any:
    """Return tau with what the force elements hold beside gravity."""
    if side.held:
        return side._of_dofs(side.answer("tau"))
    terms = side.session.ledger(side.q, side.v, side.a)[FORCES]
    return side._of_dofs(side.answer("tau") + sum(term[0] for term in terms.values()))


def positions(side: Side, _tail: str) -> int:
    """Return the number of positions."""
    return side.held.nq if side.held else side.session.model.num_positions()


def velocities(side: Side, _tail: str) -> int:
    """Return the number of velocities; by default the root of a URDF floats."""
    if side.held:
        coupled = side.case.entry.get("finding") == "joint.mimic"
        return side.held.nv - (len(side.held.closures) if coupled else 0)
    if side.case.options != BY_DEFAULT:
        return side.session.model.num_velocities()
    from pydrake.multibody.parsing import Parser  # noqa: PLC0415  no engine is needed to collect the cases
    from pydrake.multibody.plant import MultibodyPlant  # noqa: PLC0415  as above

    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(side.case.file))
    plant.Finalize()
    return plant.num_velocities()


def couplers(side: Side, _tail: str) -> int:
    """Return the number of couplings."""
    return len(side.held.closures) if side.held else side.session.model.num_constraints()


def joints(side: Side, _tail: str) -> list[str]:
    """Return the names of the joints that move, in order."""
    if side.held:
        return [joint.name for joint in side.held.joints if joint.nv]
    plant = side.session.model
    held = [plant.get_joint(k) for k in plant.GetJointIndices()]
    return [j.name() for j in sorted(held, key=lambda j: j.velocity_start()) if j.num_velocities()]


def refuses(file: Path) -> str:
    """Return why Drake alone would not load a file."""
    from pydrake.multibody.parsing import Parser  # noqa: PLC0415  as above
    from pydrake.multibody.plant import MultibodyPlant  # noqa: PLC0415  as above

    plant = MultibodyPlant(0.0)
    with pytest.raises(RuntimeError, match=r".") as refusal:
        Parser(plant).AddModels(str(file))
    return str(refusal.value)


QUANTITIES = {
    "refuses": refuses,
    "raw": raw,
    "CalcGravityGeneralizedForces": gravity,
    "tau_with_force_elements": damped,
    "nq": positions,
    "nv": velocities,
    "coupler": couplers,
    "joints": joints,
}
