"""Inertial regressor: the effort of every dof as a linear function of the ten parameters of every moving body.

tau = sum over bodies of J^T Y(V, A) (m, m c, I_O), with V, A the twist and acceleration of the body in its own axes:
n = I_O alpha + omega x I_O omega + h x d, f = m d + alpha x h + omega x (omega x h), d = a + omega x v - g, h = m c.

Source: Atkeson, An and Hollerbach 1986; Featherstone 2008, section 2.13, for the change from spatial acceleration to d.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..spatial import skew

if TYPE_CHECKING:
    from ..tree import Floats, Tree
    from .evidence import Evidence, Indices, Questions, ReferenceLike


def body_regressor(omega: Floats, alpha: Floats, d: Floats) -> Floats:
    """Return Y (E, 6, 10), moment first, from angular velocity, angular acceleration and d, (E, 3) in body axes."""
    Y = np.zeros((len(omega), 6, 10))
    W = skew(omega)
    Y[:, :3, 1:4] = -skew(d)
    Y[:, :3, 4:] = _tensor_columns(alpha) + W @ _tensor_columns(omega)
    Y[:, 3:, 0] = d
    Y[:, 3:, 1:4] = skew(alpha) + W @ W
    return Y


def _tensor_columns(w: Floats) -> Floats:
    """Return L(w) (E, 3, 6) with I w = L(w) (xx, yy, zz, xy, xz, yz)."""
    L = np.zeros((len(w), 3, 6))
    x, y, z = w.T
    L[:, 0, 0], L[:, 0, 3], L[:, 0, 4] = x, y, z
    L[:, 1, 1], L[:, 1, 3], L[:, 1, 5] = y, x, z
    L[:, 2, 2], L[:, 2, 4], L[:, 2, 5] = z, x, y
    return L


@dataclass(frozen=True, eq=False)
class Kinematics:
    """Motion of the holders at the states of the evidence, all in body axes.

    Attributes:
        holders: (B,) bodies whose joint has a dof; everything fixed to them moves with them.
        J: (S, B, 6, nv) body Jacobians, angular first.
        A0: (S, B, 6) spatial acceleration at a = 0, without gravity.
        R: (S, B, 3, 3) R_world_body.
    """

    holders: tuple[int, ...]
    J: Floats
    A0: Floats
    R: Floats


def kinematics(tree: Tree, reference: ReferenceLike, q: Floats, v: Floats) -> Kinematics:
    """Return the motion of every holder at S states, (S, nq) and (S, nv)."""
    holders = tuple(i for i, joint in enumerate(tree.joints) if joint.nv)
    count, nv = v.shape
    at = np.array(holders, np.intp)
    unit = np.tile(np.eye(nv), (count, 1))
    J = reference.velocities(np.repeat(q, nv, axis=0), unit)[:, at - 1].reshape(count, nv, len(at), 6)
    motion = reference.motion(q, v, np.zeros_like(v))
    R = np.asarray(motion.R_world_body[:, at], np.float64)
    turning, linear = (np.asarray(x[:, at], np.float64) for x in (motion.alpha, motion.a_origin))
    A0 = np.concatenate([_back(R, turning), _back(R, linear)], axis=-1)
    return Kinematics(holders, np.moveaxis(J, 1, -1).astype(np.float64), A0, R)


def _back(R: Floats, x: Floats) -> Floats:
    return np.einsum("sbji,sbj->sbi", R, x)


@dataclass(frozen=True, eq=False)
class Regressor:
    """Columns of the evidence in the inertial parameters of the holders.

    Attributes:
        tree: whose motion it is.
        questions: as the engine is held to have understood them.
        state: (E,) row of `motion` for each question.
        motion: of the holders.
    """

    tree: Tree
    questions: Questions
    state: Indices
    motion: Kinematics

    def columns(self, holder: int) -> Floats:
        """Return d tau / d parameters (E, nv, 10) of one holder, by its index in the tree."""
        b, s, asked = self.motion.holders.index(holder), self.state, self.questions
        J = self.motion.J[s, b]
        moves = asked.v.any(axis=1, keepdims=True)
        V = np.einsum("eij,ej->ei", J, asked.v)
        A = np.einsum("eij,ej->ei", J, asked.a) + np.where(moves, self.motion.A0[s, b], 0)
        d = A[:, 3:] + np.cross(V[:, :3], V[:, 3:]) - self._gravity(b, self.tree.gravity)
        return np.swapaxes(J, 1, 2) @ body_regressor(V[:, :3], A[:, :3], d)

    def weight_columns(self, holder: int, gravity: Floats) -> Floats:
        """Return the part (E, nv, 10) of `columns` that a gravity (3,) in world axes makes by itself."""
        b = self.motion.holders.index(holder)
        g = self._gravity(b, gravity)
        none = np.zeros_like(g)
        return np.swapaxes(self.motion.J[self.state, b], 1, 2) @ body_regressor(none, none, -g)

    def _gravity(self, b: int, gravity: Floats) -> Floats:
        """Return gravity in body axes (E, 3), zero where the question is without."""
        return np.where(self.questions.heavy[:, None], self.motion.R[self.state, b].swapaxes(1, 2) @ gravity, 0)

    @cached_property
    def holders(self) -> tuple[int, ...]:
        """Bodies that have columns."""
        return self.motion.holders


def regressor(tree: Tree, reference: ReferenceLike, evidence: Evidence, asked: Questions) -> Regressor:
    """Return the regressor at `asked`, which are the questions of the evidence as the engine is held to take them.

    Every state has one q and at most one v among its questions.
    """
    count = len(evidence.states)
    q, v = np.tile(tree.neutral, (count, 1)), np.zeros((count, tree.nv))
    q[evidence.state] = asked.q
    moving = asked.v.any(1)
    v[evidence.state[moving]] = asked.v[moving]
    return Regressor(tree, asked, evidence.state, kinematics(tree, reference, q, v))
