"""Numbers of the cases that iDynTree says in its own words: its dofs, its order, its coordinates of a floating base."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from case_numbers import Side


def nv(side: Side, _tail: str) -> int:
    """Rows of M: six of the base stand in front of those of the joints; where the entry counts couplings, none do."""
    if side.held:
        return side.nv_value(_tail)
    dofs = side.session.model.getNrOfDOFs()
    return dofs if side.case.entry.get("finding") == "joint.mimic" else dofs + 6


def joints(side: Side, _tail: str) -> list[str]:
    """Names of the joints that move, in the order of the velocities."""
    if side.held:
        return side.joints_value(_tail)
    model = side.session.model
    moving = [k for k in range(model.getNrOfJoints()) if model.getJoint(k).getNrOfDOFs()]
    return [model.getJointName(k) for k in sorted(moving, key=lambda k: model.getJoint(k).getDOFsOffset())]


def raw(side: Side, tail: str) -> Any:
    """An entry of M in MIXED representation."""
    assert tail == "M"
    row, column = map(int, side.places)
    if side.held:
        return side.answer("M")[row, column]
    frame = side.session._map.at(side.q)
    engine, _ = side.session._engine, next(side.session._states(frame))
    import idyntree.bindings as idt  # noqa: PLC0415  no engine is needed to collect the cases

    M = idt.MatrixDynSize(frame.map.nv, frame.map.nv)
    assert engine.getFrameVelocityRepresentation() == idt.MIXED_REPRESENTATION
    engine.getFreeFloatingMassMatrix(M)
    return M.toNumPy()[row, column]


QUANTITIES = {"nv": nv, "joints": joints, "raw": raw}
