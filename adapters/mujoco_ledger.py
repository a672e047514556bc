"""What MuJoCo's calls hold beyond M a + bias: the terms that `mj_inverse` adds, and those that `mj_rne` leaves out.

mj_inverse = M qacc + qfrc_bias - qfrc_passive - qfrc_constraint, with the flags of the model; with `invdiscrete` it
answers for the discrete step. No answer of the adapter comes from here: the ledger says what a caller of these gets.
Source: MuJoCo documentation, Computation, "Inverse dynamics"; API reference, mj_inverse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..harness.errors import EngineUnsupported
from .mujoco_build import quiet
from .mujoco_map import mujoco
from .mujoco_versions import DISCRETE, without

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..harness.tree import Floats
    from .mujoco_map import MjModel

DISABLE = mujoco.mjtDisableBit
# Without these, dry friction is all that is left among the constraints; rows of the solver do not see each other here.
BUT_FRICTION: Final = int(DISABLE.mjDSBL_LIMIT) | int(DISABLE.mjDSBL_CONTACT) | int(DISABLE.mjDSBL_EQUALITY)
PASSIVE: Final = {"damping": "qfrc_damper", "spring": "qfrc_spring", "fluid": "qfrc_fluid"}
ROUNDING: Final = 1e-12  # of the largest effort: what the sum of all terms may miss


@dataclass(frozen=True)
class Switches:
    """The integrator and the flags of a model, as its file has them."""

    integrator: int
    disabled: int
    enabled: int

    @classmethod
    def of(cls, model: MjModel) -> Switches:
        """Return those of a model."""
        return cls(int(model.opt.integrator), int(model.opt.disableflags), int(model.opt.enableflags))

    def set(self, model: MjModel) -> None:
        """Write them into a model."""
        model.opt.integrator, model.opt.disableflags = self.integrator, self.disabled
        model.opt.enableflags = self.enabled


def inverse_terms(
    model: MjModel, switches: Switches, qpos: Floats, qvel: Floats, qacc: Floats, tau: Floats
) -> dict[str, dict[str, Floats]]:
    """Return call to finding kind to efforts (N, nv) in MuJoCo's coordinates, terms that are zero everywhere left out.

    Args:
        model: a copy, which is written to.
        switches: of the file.
        qpos: (N, nq).
        qvel: (N, nv).
        qacc: (N, nv).
        tau: (N, nv) M qacc + bias.
    """
    enabled = switches.enabled & ~DISCRETE
    whole = _asked(model, Switches(switches.integrator, switches.disabled, enabled), qpos, qvel, qacc)
    for field in PASSIVE.values():
        if not hasattr(mujoco.MjData, field):  # before 3.1.1: told by what is left without its cause
            less = _asked(
                without(model, field), Switches(switches.integrator, switches.disabled, enabled), qpos, qvel, qacc
            )
            whole[field] = whole["qfrc_passive"] - less["qfrc_passive"]
    found = {kind: -whole[field] for kind, field in PASSIVE.items()}
    # What actuators carry of gravity compensation is not among the passive forces: so it is told by what is left.
    found["gravcomp"] = sum(whole[field] for field in PASSIVE.values()) + whole["qfrc_adhesion"] - whole["qfrc_passive"]
    friction = np.zeros_like(tau)
    if model.dof_frictionloss.any() or model.tendon_frictionloss.any():
        alone = Switches(switches.integrator, switches.disabled | BUT_FRICTION, enabled)
        friction = _asked(model, alone, qpos, qvel, qacc)["qfrc_constraint"]
    found["frictionloss"] = -friction
    found["constraint"] = friction - whole["qfrc_constraint"] - whole["qfrc_adhesion"]
    found["integrator"] = whole["qfrc_inverse"] - tau - sum(found.values())
    calls = {"mj_inverse": found}
    if DISCRETE and switches.integrator != int(
        mujoco.mjtIntegrator.mjINT_RK4
    ):  # it has no discrete inverse, and says so
        step = _asked(model, Switches(switches.integrator, switches.disabled, enabled | DISCRETE), qpos, qvel, qacc)
        more = step["qfrc_inverse"] - whole["qfrc_inverse"]
        calls["mj_inverse, invdiscrete"] = {**found, "integrator": found["integrator"] + more}
    return {call: _kept(terms, whole["qfrc_inverse"]) for call, terms in calls.items()}


def _kept(terms: Mapping[str, Any], whole: Floats) -> dict[str, Floats]:
    """Return the terms that are more than what rounding leaves."""
    least = ROUNDING * float(np.abs(whole).max(initial=0))
    return {kind: efforts for kind, efforts in terms.items() if float(np.abs(efforts).max(initial=0)) > least}


def _asked(model: MjModel, switches: Switches, qpos: Floats, qvel: Floats, qacc: Floats) -> dict[str, Floats]:
    """Return the efforts (N, nv) that `mj_inverse` leaves in the data, by field.

    Raises:
        EngineUnsupported: MuJoCo cannot compute them.
    """
    fields = ("qfrc_inverse", "qfrc_passive", "qfrc_adhesion", "qfrc_constraint", *PASSIVE.values())
    answers = {field: np.zeros_like(qvel) for field in fields}
    switches.set(model)
    data = mujoco.MjData(model)
    with quiet():
        for i in range(len(qpos)):
            data.qpos[:], data.qvel[:], data.qacc[:] = qpos[i], qvel[i], qacc[i]
            try:
                mujoco.mj_inverse(model, data)
            except mujoco.FatalError as error:  # more contacts than the model has memory for
                raise EngineUnsupported(f"mj_inverse: {error}") from error
            for field, rows in answers.items():
                rows[i] = getattr(data, field, 0.0)
    return answers
