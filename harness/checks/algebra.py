"""Identities without derivatives: inverse dynamics is affine in a, its columns are M, forward dynamics undoes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .case import Case, NotApplicable, Residual

if TYPE_CHECKING:
    from ..tree import Floats
    from .case import Indices


def columns(case: Case) -> Residual:
    """Compare M e_j with ID(q, v, e_j) - ID(q, v, 0).

    Source: Walker and Orin 1982, Efficient dynamic computer simulation of robotic mechanisms.
    """
    zero, own = case.own_columns
    scale = case.mass_scale + case.efforts(case.truth.bias.scale[case.dense], zero)[:, :, None]
    return Residual(np.abs(own - case.first("mass_matrix")), case.rounding * scale, case.dense, case.dofs)


def symmetry(case: Case) -> Residual:
    """Compare M with its transpose."""
    M = case.first("mass_matrix")
    return Residual(np.abs(M - np.swapaxes(M, 1, 2)), case.rounding * case.mass_scale, case.dense, case.dofs)


def positive_definite(case: Case) -> Residual:
    """Return how far the least eigenvalue of M lies below eps, where the truth is regular.

    M is its symmetric part here, scaled to unit diagonal.
    """
    if case.truth.singular:
        raise NotApplicable(case.truth.singular)
    M = case.first("mass_matrix")
    M = (M + np.swapaxes(M, 1, 2)) / 2
    diagonal = np.diagonal(M, axis1=1, axis2=2)
    root = np.sqrt(np.where(diagonal > 0, diagonal, np.nan))
    scaled = M / root[:, :, None] / root[:, None, :]
    sound = np.isfinite(scaled).all((1, 2))
    least = np.full(len(M), -np.inf)
    least[sound] = np.linalg.eigvalsh(scaled[sound]).min(-1)
    return Residual(np.maximum(0, case.eps - least), np.zeros(len(M)), case.dense)


def velocity_invariance(case: Case) -> Residual:
    """Compare columns at the velocities of the states with columns at others."""
    probes = case.truth.probes
    return _invariance(case, case.columns(probes.velocity), probes.scale_of_velocity)


def gravity_invariance(case: Case) -> Residual:
    """Compare columns under the model's own gravity with columns under another."""
    probes = case.truth.probes
    return _invariance(case, case.columns(case.states.v, gravity=probes.gravity), probes.scale_of_gravity)


def load_invariance(case: Case) -> Residual:
    """Compare columns without wrenches with columns under some."""
    probes = case.truth.probes
    return _invariance(case, case.columns(case.states.v, wrenches=probes.wrenches), probes.scale_of_wrenches)


def _invariance(case: Case, other: tuple[Floats, Floats], scale_of_other: Floats) -> Residual:
    """Compare two sets of columns; each is held to the scale of M and of the bias that was subtracted."""
    zero, own = case.own_columns
    scale = case.efforts(case.truth.bias.scale[case.dense], zero) + case.efforts(scale_of_other[case.dense], other[0])
    tolerance = case.rounding * (case.mass_scale + scale[:, :, None])
    return Residual(np.abs(other[1] - own), tolerance, case.dense, case.dofs)


def affine(case: Case) -> Residual:
    """Return ID(a + b) - ID(a) - ID(b) + ID(0) at the same q and v."""
    s, (a, b) = case.states, case.truth.probes.accelerations
    both, first, second, zero = (
        case.asked("inverse_dynamics", q=s.q, v=s.v, a=x) for x in (a + b, a, b, np.zeros_like(a))
    )
    size = (np.abs(a) + np.abs(b))[:, case.kept]
    scale = case.mass_roots * (case.mass_roots * size).sum(-1, keepdims=True)
    scale = scale + case.efforts(case.truth.bias.scale, zero)
    return Residual(np.abs(both - first - second + zero), case.rounding * scale, _all(case), case.dofs)


def forward_inverse(case: Case) -> Residual:
    """Compare a with FD(q, v, ID(q, v, a)), where M can be inverted.

    The answer is a difference: what tau alone would give, less what velocities, gravity and wrenches give.
    """
    case.require_regular()
    states, s = case.dense, case.states
    loads = None if case.loads is None else case.loads[states]
    tau = np.zeros((len(states), case.tree.nv))
    tau[:, case.kept] = case.first("inverse_dynamics")[states]
    found = case.asked("forward_dynamics", q=s.q[states], v=s.v[states], tau=tau, wrenches=loads)
    a = s.a[states][:, case.kept]
    scale = case.condition * (1 + np.maximum(np.abs(a).max(-1), case.drift))
    return Residual(np.abs(found - a), case.rounding * scale[:, None], states, case.dofs)


def load_duality(case: Case) -> Residual:
    """Compare ID under wrenches with ID without them, less the sum of J^T f."""
    if case.loads is None:
        raise NotApplicable("the engine takes no external wrenches")
    s = case.states
    loaded, forces = case.first("inverse_dynamics"), case.first("generalized_forces")
    free = case.asked("inverse_dynamics", q=s.q, v=s.v, a=s.a)
    scale = case.efforts(case.truth.tau.scale, loaded, free)
    return Residual(np.abs(loaded - (free - forces)), case.rounding * scale, _all(case), case.dofs)


def _all(case: Case) -> Indices:
    return np.arange(len(case.states))
