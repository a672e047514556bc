"""Engine adapters, one engine per file; `reference` is the native engine.

The cards say what is known of an engine without importing it, so that `tautology engines` stays fast.
"""

from __future__ import annotations

from ..harness.engine import EngineCard

REFERENCE = EngineCard(
    name="reference",
    module="adapters.reference",
    distribution="tautology",
    install="pip install tautology",
    licence="Apache-2.0",
    formats=(),
    answers="RNEA, CRBA, ABA, energies, momentum, Jacobians: in float64 and longdouble",
    conventions=(),
    ledger={"inverse_dynamics": "rigid + armature + rotor + tendon armature", "mass_matrix": "the same"},
)

PINOCCHIO = EngineCard(
    name="pinocchio",
    module="adapters.pinocchio_",
    distribution="pin",
    install="pip install 'pin>=4'",
    licence="BSD-2-Clause",
    formats=("urdf", "mjcf", "pinocchio"),
    answers="rnea, crba, aba, energies, momentum, Jacobians",
    conventions=(),
)

MUJOCO = EngineCard(
    name="mujoco",
    module="adapters.mujoco_",
    distribution="mujoco",
    install="pip install 'mujoco>=4'",
    licence="Apache-2.0",
    formats=("urdf", "mjcf", "mujoco"),
    answers="mj_rne, mj_crb, mj_solveM, energies, momentum, Jacobians",
    conventions=(),
)

CARDS = (REFERENCE, PINOCCHIO, MUJOCO)
