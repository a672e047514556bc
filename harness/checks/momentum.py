"""The base rows of a floating mechanism are the rate of its whole momentum, less weight and loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import EngineUnsupported
from .case import Case, NotApplicable, Residual
from .derivatives import along, rate, shifted, steps

if TYPE_CHECKING:
    from ..tree import Floats


def total_momentum(case: Case) -> Residual:
    """Compare base rows minus base armature times a with dh/dt - weight - wrenches, about the base, in its axes.

    The weight is the engine's own: moved as one block with velocity g, the mechanism has momentum (C x m g, m g).
    """
    tree, s = case.tree, case.states
    roots = tree.floating_roots
    if not roots:
        raise NotApplicable("no mechanism floats")
    rows = [list(case.dofs).index(dof) for root in roots for dof in tree.joints[root].dofs if dof in case.dofs]
    if len(rows) < 6 * len(roots):
        raise NotApplicable("the engine welds a base that floats in the file")
    h = steps(s.v, case.step)
    momenta = case.asked("momentum", q=along(tree, s.q, s.v, h), v=shifted(s.v, s.a, h))
    wrench = rate(momenta, h) - _loads(case, roots)
    R, p = _base_frames(case, roots)
    wrench = wrench - case.asked("momentum", q=s.q, v=_falling(case, roots, R))
    moment, force = wrench[..., :3] - np.cross(p, wrench[..., 3:]), wrench[..., 3:]
    local = np.concatenate([_turned_back(R, force), _turned_back(R, moment)], axis=-1).reshape(len(s), -1)
    base = [i for root in roots for i in range(tree.v_slices[root].start, tree.v_slices[root].stop)]
    armature = np.concatenate([joint.reflected for joint in tree.joints])[base]
    tau = _under_known_gravity(case)
    scale = case.efforts(case.truth.tau.scale, tau)[:, rows].max(-1)
    tolerance = case.derivative * scale + case.noise(case.truth.ruler.momentum(case.truth.coasting), h, momenta)
    value = np.abs(tau[:, rows] - armature * s.a[:, base] - local)
    return Residual(value, tolerance[:, None], np.arange(len(s)), tuple(case.dofs[i] for i in rows))


def _under_known_gravity(case: Case) -> Floats:
    """Return tau under the gravity of the tree, which the weight is computed with; the engine's own if it is fixed."""
    s = case.states
    try:
        return case.asked("inverse_dynamics", q=s.q, v=s.v, a=s.a, wrenches=case.loads, gravity=case.tree.gravity)
    except EngineUnsupported:
        return case.first("inverse_dynamics")


def _base_frames(case: Case, roots: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return R (N, R, 3, 3) and p (N, R, 3) of the moving side of each floating joint, in the world."""
    poses = _poses(case)
    T = np.stack([poses[root] @ np.linalg.inv(case.tree.joints[root].T_joint_body) for root in roots], axis=1)
    return T[..., :3, :3], T[..., :3, 3]


def _poses(case: Case) -> dict[int, Floats]:
    """Return T_world_body (N, 4, 4) by body index, for the bodies whose frames the engine holds."""
    names = case.asked.session.bodies
    return {case.tree.index[name]: T for name, T in zip(names, np.moveaxis(case.first("poses"), 1, 0), strict=True)}


def _loads(case: Case, roots: tuple[int, ...]) -> Floats:
    """Return the wrenches on each floating mechanism, (N, R, 6) in world axes about the world origin."""
    total = np.zeros((len(case.states), len(roots), 6))
    if case.loads is None:
        return total
    for i, T in _poses(case).items():
        if case.tree.roots[i] in roots and case.loads[:, i].any():
            moment, force = np.moveaxis((T[:, None, :3, :3] @ case.loads[:, i].reshape(-1, 2, 3, 1))[..., 0], 1, 0)
            row = total[:, roots.index(case.tree.roots[i])]
            row += np.concatenate([moment + np.cross(T[:, :3, 3], force), force], axis=-1)
    return total


def _falling(case: Case, roots: tuple[int, ...], R: Floats) -> Floats:
    """Return the velocities (N, nv) at which every floating mechanism moves as one block with g."""
    v = np.zeros_like(case.states.v)
    for k, root in enumerate(roots):
        start = case.tree.v_slices[root].start
        v[:, start : start + 3] = _turned_back(R[:, k], np.broadcast_to(case.tree.gravity, (len(v), 3)))
    return v


def _turned_back(R: Floats, x: Floats) -> Floats:
    """Return R^T x for stacks."""
    return (np.swapaxes(R, -1, -2) @ x[..., None])[..., 0]
