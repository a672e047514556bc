"""Identities of energy: power balance, gravity as a gradient, kinetic energy from M, and passivity."""

from __future__ import annotations

import numpy as np

from .case import Case, Residual
from .derivatives import along, rate, shifted, steps
from .tolerances import GRADIENTS


def power_balance(case: Case) -> Residual:
    """Compare dE/dt along q' = v, v' = a with tau.v + sum f.V; E holds reflected inertia."""
    s, h = case.states, steps(case.states.v, case.step)
    q, v = along(case.tree, s.q, s.v, h), shifted(s.v, s.a, h)
    energy = case.asked("kinetic_energy", q=q, v=v) + case.asked("potential_energy", q=q)
    tau, speed = case.first("inverse_dynamics"), s.v[:, case.kept]
    power = (tau * speed).sum(-1)
    if case.loads is not None:
        held = [case.tree.index[name] for name in case.asked.session.bodies]
        power = power + (case.loads[:, held] * case.first("velocities")).sum((1, 2))
    scale = (np.abs(speed) * case.efforts(case.truth.tau.scale, tau)).sum(-1)
    noise = case.noise(case.truth.kinetic_energy.scale + case.truth.potential_energy.scale, h, energy)
    return Residual(np.abs(rate(energy, h) - power), case.derivative * scale + noise, np.arange(len(s)))


def energy_gradient(case: Case) -> Residual:
    """Compare the gravity forces with dU/dq, dof by dof."""
    states = case.spread(4 * len(case.kept), GRADIENTS)
    count, n = len(states), len(case.kept)
    unit = np.zeros((n, case.tree.nv))
    unit[np.arange(n), case.kept] = 1
    h = np.full(count * n, case.step)
    q = along(case.tree, np.repeat(case.states.q[states], n, axis=0), np.tile(unit, (count, 1)), h)
    energy = case.asked("potential_energy", q=q)
    gradient = rate(energy, h).reshape(count, n)
    gravity = case.first("gravity_forces")[states]
    scale = case.efforts(case.truth.gravity.scale[states], gravity).max(-1, keepdims=True)
    noise = case.noise(np.repeat(case.truth.potential_energy.scale[states], n), h, energy).reshape(count, n)
    return Residual(np.abs(gravity - gradient), case.derivative * scale + noise, states, case.dofs)


def kinetic_energy(case: Case) -> Residual:
    """Compare the kinetic energy, which comes from body velocities, with v.Mv / 2."""
    M, energy = case.first("mass_matrix"), case.first("kinetic_energy")[case.dense]
    speed = case.states.v[case.dense][:, case.kept]
    expected = np.einsum("ni,nij,nj->n", speed, M, speed) / 2
    scale = (np.abs(speed) * case.mass_roots[case.dense]).sum(-1) ** 2 / 2 + case.truth.kinetic_energy.scale[case.dense]
    return Residual(np.abs(energy - expected), case.rounding * scale, case.dense)


def passivity(case: Case) -> Residual:
    """Compare v.(dM/dt)v along q' = v with 2 v.(bias - gravity), which is v.(dM/dt - 2C)v = 0 without C."""
    s, states = case.states, case.dense
    v, h = s.v[states], steps(s.v[states], case.step)
    M = case.asked("mass_matrix", q=along(case.tree, s.q[states], v, h))
    speed = v[:, case.kept]
    energy = np.einsum("ni,nij,nj->n", np.tile(speed, (4, 1)), M, np.tile(speed, (4, 1)))
    noise = case.noise((np.abs(speed) * case.mass_roots[states]).sum(-1) ** 2, h, energy)
    bias, gravity = case.first("bias")[states], case.first("gravity_forces")[states]
    truth = case.truth
    scale = case.efforts(truth.bias.scale[states] + truth.gravity.scale[states], bias, gravity)
    work = 2 * (speed * (bias - gravity)).sum(-1)
    return Residual(np.abs(rate(energy, h) - work), case.derivative * (np.abs(speed) * scale).sum(-1) + noise, states)
