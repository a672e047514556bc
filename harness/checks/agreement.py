"""Agreement with the reference: every quantity of one session, judged at its worst state against its own scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..errors import EngineUnsupported
from ..results import QUANTITIES, QuantityRow
from .answers import AnswerMissing, Asked
from .tolerances import DIGITS, EPS, LARGEST, alike, rounding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..engine import Session
    from ..spatial import Array
    from ..states import States
    from ..tree import Floats, Tree
    from .truth import Expected, Truth

    Record = Callable[[str, Floats, Floats, Floats, Floats], None]

# Method of the session, and the arrays of the states that it is asked with.
QUESTIONS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "tau": ("inverse_dynamics", ("q", "v", "a", "wrenches")),
    "bias": ("bias", ("q", "v")),
    "gravity": ("gravity_forces", ("q",)),
    "mass_matrix": ("mass_matrix", ("q",)),
    "acceleration": ("forward_dynamics", ("q", "v", "tau", "wrenches")),
    "poses": ("poses", ("q",)),
    "velocities": ("velocities", ("q", "v")),
    "kinetic_energy": ("kinetic_energy", ("q", "v")),
    "potential_energy": ("potential_energy", ("q",)),
    "center_of_mass": ("center_of_mass", ("q",)),
}
PER_DOF: Final = ("tau", "bias", "gravity", "mass_matrix", "acceleration")
PER_BODY: Final = ("poses", "velocities")
ALWAYS: Final = ("tau", "bias", "gravity", "kinetic_energy", "potential_energy")
UNLOADED: Final[Mapping[str, str]] = {"tau": "tau_unloaded", "acceleration": "acceleration_unloaded"}


def agreement(
    session: Session,
    truth: Truth,
    states: States,
    path: str,
    tolerance: float,
    *,
    eps: float = EPS,
    record: Record | None = None,
) -> tuple[QuantityRow, ...]:
    """Return one row per quantity; a robot without dofs, or a session without common ones, has no rows of dofs.

    Args:
        session: the opened engine.
        truth: of the same states.
        states: what is asked; the session gets copies.
        path: "neutral", judged to rounding, or "native", judged to `tolerance`.
        tolerance: relative, of `--tolerance`.
        eps: of the arithmetic that the engine computes in.
        record: is given every quantity that is compared: answer, errors and scales (N, ...), digits (N,).
    """
    asked = Asked(session, truth.tree)
    factor = alike(tolerance, truth.tree, eps) if path == "native" else rounding(truth.tree, eps)
    names = [name for name in QUANTITIES if session.dofs or name not in PER_DOF]
    return tuple(_row(name, asked, truth, states, factor, record) for name in names)


def _row(name: str, asked: Asked, truth: Truth, states: States, factor: float, record: Record | None) -> QuantityRow:
    """Return the row of one quantity."""
    reason = _inapplicable(name, truth)
    if reason:
        return _without(name, reason)
    method, arrays = QUESTIONS[name]
    arguments = {array: getattr(states, array) for array in arrays}
    note = ""
    try:
        answer, loaded = _ask(asked, method, arguments)
    except EngineUnsupported as refusal:
        return _without(name, str(refusal))
    except AnswerMissing as failure:
        answer, loaded, note = None, True, str(failure)
    expected: Expected = getattr(truth, name if loaded else UNLOADED[name])
    if not loaded:
        note = "asked without external wrenches, which this engine does not take"
    return _judge(_Selection(name, asked.session, truth.tree), answer, expected, factor, note, record)


def _ask(asked: Asked, method: str, arguments: Mapping[str, Floats]) -> tuple[Floats, bool]:
    """Return the answer, and whether it was asked with wrenches; without them where the engine takes none."""
    if "wrenches" not in arguments:
        return asked(method, **arguments), True
    try:
        return asked(method, **arguments), True
    except EngineUnsupported:
        return asked(method, **{name: x for name, x in arguments.items() if name != "wrenches"}), False


def _inapplicable(name: str, truth: Truth) -> str:
    """Return why a quantity means nothing for this robot, or an empty string."""
    if truth.large and name not in ALWAYS:
        return f"asked up to {LARGEST} dofs; this robot has {truth.tree.nv}"
    if name == "center_of_mass" and not truth.tree.moving_mass:
        return "nothing that moves has mass"
    return truth.singular if name == "acceleration" else ""


def _without(name: str, note: str) -> QuantityRow:
    return QuantityRow(name, QUANTITIES[name], False, 0.0, 0.0, 0.0, DIGITS, None, None, True, note)


@dataclass(frozen=True, slots=True)
class _Selection:
    """Which entries of the reference a session answers for, and what they are called."""

    name: str
    session: Session
    tree: Tree

    def of(self, x: Array) -> Array:
        """Return the entries of x (N, ...) that belong to the dofs or bodies of the session."""
        if self.name in PER_BODY:
            kept = [self.tree.index[body] - 1 for body in self.session.bodies]
        elif self.name in PER_DOF:
            kept = [self.tree.dofs.index(dof) for dof in self.session.dofs]
        else:
            return x
        x = x[:, kept]
        return x[:, :, kept] if self.name == "mass_matrix" else x

    def place(self, entry: tuple[int, ...]) -> str | None:
        """Return the dof, the two dofs or the body of an entry (state first)."""
        if self.name in PER_BODY:
            return self.session.bodies[entry[1]]
        if self.name in PER_DOF:
            return ", ".join(self.session.dofs[i] for i in entry[1:])
        return None


def _judge(
    chosen: _Selection, answer: Floats | None, expected: Expected, factor: float, note: str, record: Record | None
) -> QuantityRow:
    """Return the row of an answer (N, ...); no answer is an infinite error at the first state."""
    name, value = chosen.name, chosen.of(expected.value)
    scale = chosen.of(np.broadcast_to(expected.scale, expected.value.shape)).astype(np.float64)
    if not value.size:
        return _without(name, "the engine holds none of the bodies")
    if answer is None:
        largest = float(scale[0].max())
        return QuantityRow(name, QUANTITIES[name], True, np.inf, largest, factor * largest, 0.0, 0, None, False, note)
    tolerance = factor * scale
    with np.errstate(all="ignore"):
        error = np.abs(answer - value).astype(np.float64)
        error[~np.isfinite(error)] = np.inf
        ratio = np.where(error > 0, error / tolerance, 0)
    digits = _digits(error, scale)
    if record is not None:
        record(name, answer, error, scale, digits)
    entry = tuple(int(i) for i in np.unravel_index(int(ratio.argmax()), ratio.shape))
    return QuantityRow(
        name,
        QUANTITIES[name],
        True,
        float(error[entry]),
        float(scale[entry]),
        float(tolerance[entry]),
        float(digits.min()),
        entry[0],
        chosen.place(entry),
        bool((error <= tolerance).all()),
        note,
    )


def _digits(error: Floats, scale: Floats) -> Floats:
    """Return -log10 of the largest error over the largest scale of every state, (N,)."""
    axes = tuple(range(1, error.ndim))
    worst, largest = error.max(axes), scale.max(axes)
    with np.errstate(all="ignore"):
        digits = np.where(worst > 0, -np.log10(worst / largest), DIGITS)
    return np.clip(np.nan_to_num(digits, nan=0.0), 0, DIGITS)
