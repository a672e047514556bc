"""Identities inside one engine: what must hold among its own answers, whatever robot it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..errors import EngineUnsupported
from ..results import IdentityRow
from . import algebra, conduct, energy
from .answers import AnswerMissing
from .case import Case, NotApplicable, Residual
from .momentum import total_momentum
from .tolerances import EPS, LARGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..engine import Session
    from ..states import States
    from ..tree import Tree
    from .truth import Truth

# In the order of results.IDENTITIES; the last two look back on all the others.
CHECKS: Final[Mapping[str, Callable[[Case], Residual]]] = {
    "columns": algebra.columns,
    "symmetry": algebra.symmetry,
    "positive_definite": algebra.positive_definite,
    "velocity_invariance": algebra.velocity_invariance,
    "gravity_invariance": algebra.gravity_invariance,
    "load_invariance": algebra.load_invariance,
    "affine": algebra.affine,
    "power_balance": energy.power_balance,
    "energy_gradient": energy.energy_gradient,
    "kinetic_energy": energy.kinetic_energy,
    "passivity": energy.passivity,
    "forward_inverse": algebra.forward_inverse,
    "load_duality": algebra.load_duality,
    "total_momentum": total_momentum,
    "repeatability": conduct.repeatability,
    "inputs_unchanged": conduct.inputs_unchanged,
}
OF_ANY_SIZE: Final = ("affine", "power_balance", "repeatability", "inputs_unchanged")
WITHOUT_DOFS: Final = ("repeatability", "inputs_unchanged")
FIRST: Final = (
    *("inverse_dynamics", "bias", "gravity_forces", "kinetic_energy", "potential_energy"),
    *("mass_matrix", "forward_dynamics", "poses", "velocities", "center_of_mass", "momentum", "generalized_forces"),
)


def identities(
    session: Session, tree: Tree, states: States, truth: Truth, path: str, eps: float = EPS
) -> tuple[IdentityRow, ...]:
    """Return one row per identity, in the order of `results.IDENTITIES`.

    Args:
        session: the opened engine; everything but the scales comes from its own answers.
        tree: the robot of the file.
        states: what is asked; the session gets copies.
        truth: of the same states, for the scales.
        path: "neutral", or "native" where the engine may hold another robot than the tree.
        eps: of the arithmetic that the engine computes in.
    """
    case = Case(session, tree, states, truth, path, eps)
    for method in FIRST[:5] if truth.large else FIRST:
        _ask_first(case, method)
    return tuple(_row(name, check, case) for name, check in CHECKS.items())


def _ask_first(case: Case, method: str) -> None:
    """Ask before all identities, so that `repeatability` asks again with every other call between."""
    if method == "generalized_forces" and case.loads is None:
        return
    try:
        case.first(method)
    except (EngineUnsupported, AnswerMissing):
        return  # kept in the case, and raised again in each identity that needs the answer


def _row(name: str, check: Callable[[Case], Residual], case: Case) -> IdentityRow:
    """Return the row of one identity; a refusal does not apply, a missing answer is an infinite residual."""
    reason = _inapplicable(name, case)
    if reason:
        return IdentityRow(name, False, 0.0, 0.0, None, None, True, reason)
    try:
        with np.errstate(all="ignore"):
            left = check(case)
    except (EngineUnsupported, NotApplicable) as refusal:
        return IdentityRow(name, False, 0.0, 0.0, None, None, True, str(refusal))
    except AnswerMissing as failure:
        return IdentityRow(name, True, np.inf, 0.0, None, None, False, str(failure))
    return _judge(name, left)


def _inapplicable(name: str, case: Case) -> str:
    """Return why an identity means nothing for this session, or an empty string."""
    if not case.dofs and name not in WITHOUT_DOFS:
        return "no degree of freedom"
    if case.truth.large and name not in OF_ANY_SIZE:
        return f"asked up to {LARGEST} dofs; this robot has {case.tree.nv}"
    return case.asked.session.lacks.get(name, "")


def _judge(name: str, left: Residual) -> IdentityRow:
    """Return the row of a residual at the entry where it is worst against its tolerance."""
    value = np.where(np.isfinite(left.value), left.value, np.inf)
    tolerance = np.broadcast_to(left.tolerance, value.shape)
    with np.errstate(all="ignore"):
        ratio = np.where(value > 0, value / tolerance, 0)
    entry = tuple(int(i) for i in np.unravel_index(int(ratio.argmax()), ratio.shape))
    return IdentityRow(
        name,
        True,
        float(value[entry]),
        float(tolerance[entry]),
        int(left.states[entry[0]]),
        ", ".join(left.names[i] for i in entry[1:]) or None,
        bool((value <= tolerance).all()),
        left.note,
    )
