"""The mass, the centre, the turn and the tensor of one body that fit a residual best, in the few directions that show.

Every fit works on M (r, 10), the columns of a body in the directions that show, and z (r,), the residual there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from ..spatial import exp_so3, rotation_from_quaternion, skew
from .fitting import descend, solve
from .inertias import is_physical
from .parameters import TENSOR, about_origin, inertia_of, six, tensor, vector

if TYPE_CHECKING:
    from ..tree import Floats, Inertia

Fitted: TypeAlias = "tuple[Inertia, Floats] | None"


def fit_mass(ours: Inertia, M: Floats, z: Floats) -> Fitted:
    """Return the inertia with the mass that fits best, and the change (10, 1); None for one below zero."""
    along = about_origin(1.0, ours.com, np.zeros((3, 3)))
    column = M @ along
    size = float(column @ column)
    if not size:
        return None
    change = float(column @ z) / size
    if ours.mass + change < 0 <= ours.mass:
        return None
    return replace(ours, mass=ours.mass + change), along[:, None] * change


def fit_tensor(ours: Inertia, M: Floats, z: Floats) -> Fitted:
    """Return the inertia with the tensor that fits best, and directions (10, 6) of its size."""
    change = solve(M[:, TENSOR], z)
    return replace(ours, I_com=ours.I_com + tensor(change)), np.eye(10)[:, TENSOR] * float(np.abs(change).max())


def fit_products(ours: Inertia, M: Floats, z: Floats) -> Fitted:
    """Return the inertia with products where the file has none, and directions (10, 3); None where it has some.

    Files leave them out: then ours is what remains of the tensor that the engine has. Axes are those of the file.
    """
    R, I = ours.axes, ours.axes.T @ ours.I_com @ ours.axes
    if np.abs(six(I)[3:]).max() > 1e-12 * np.abs(I).max() or not I.any():
        return None
    products = np.zeros((10, 3))
    for k in range(3):
        products[TENSOR, k] = six(R @ tensor(np.eye(6)[3 + k]) @ R.T)
    change = solve(M @ products, z)
    return replace(ours, I_com=ours.I_com + tensor(products[TENSOR] @ change)), products * float(np.abs(change).max())


def fit_com(ours: Inertia, M: Floats, z: Floats) -> Fitted:
    """Return the inertia with the centre of mass that fits best, and directions (10, 3) of the size of the shift."""
    if not ours.mass:
        return None
    reach = max(float(np.linalg.norm(ours.com)), float(np.sqrt(np.abs(ours.I_com).max() / abs(ours.mass))), 1e-6)
    base = vector(ours)

    def parameters(c: Floats) -> Floats:
        outer = c[:, :, None] * c[:, None, :]
        tensors = six(ours.I_com + ours.mass * (np.einsum("kii->k", outer)[:, None, None] * np.eye(3) - outer))
        return np.concatenate([np.full((len(c), 1), ours.mass), ours.mass * c, tensors], axis=1)

    def f(x: Floats) -> Floats:
        return (parameters(ours.com + reach * x) - base) @ M.T - z

    free = solve(M, z)[1:4] / ours.mass / reach
    starts = np.array([np.zeros(3), free, -ours.com / reach, -2 * ours.com / reach])
    x, left = descend(f, starts, steps=30)
    com = ours.com + reach * x[left.argmin()]
    size = float(np.linalg.norm(com - ours.com))
    basis = (parameters(com + size * np.eye(3)) - parameters(com[None])).T
    return replace(ours, com=com), basis


def fit_rotation(ours: Inertia, M: Floats, z: Floats) -> Fitted:
    """Return the inertia turned as fits best, and directions (10, 3); None for one that no turn changes."""
    moments = np.linalg.eigvalsh(ours.I_com)
    if moments[2] - moments[0] <= 1e-12 * np.abs(moments).max():
        return None
    tensors = CUBE @ ours.I_com @ np.swapaxes(CUBE, 1, 2)

    def f(x: Floats) -> Floats:
        R = rotation_from_quaternion(exp_so3(x))
        I = R @ np.tile(tensors, (len(x) // len(CUBE), 1, 1)) @ np.swapaxes(R, 1, 2)
        return six(I - ours.I_com) @ M[:, TENSOR].T - z

    x, left = descend(f, np.zeros((len(CUBE), 3)), steps=30)
    best = int(left.argmin())
    R = rotation_from_quaternion(exp_so3(x[best])) @ CUBE[best]
    I = R @ ours.I_com @ R.T
    turn = min(1.0, float(np.abs(R - np.eye(3)).max()))
    basis = np.zeros((10, 3))
    for k in range(3):
        K = skew(np.eye(3)[k])
        basis[TENSOR, k] = six(K @ I - I @ K) * turn
    return replace(ours, I_com=(I + I.T) / 2), basis


def _cube() -> Floats:
    """Return the turns of a cube up to half turns about its axes, which leave a tensor near itself: (8, 3, 3)."""
    turns = [np.eye(3)[list(p)] for p in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (1, 0, 2), (0, 2, 1), (2, 1, 0))]
    turns = [R * np.sign(np.linalg.det(R)) for R in turns]
    tilt = rotation_from_quaternion(np.array([[1.0, 0.5, 0.5, 0.5], [1.0, -0.5, 0.5, -0.5]]))
    return np.asarray([*turns, *tilt], np.float64)


CUBE: Final = _cube()


def invented(M: Floats, z: Floats, bar: float) -> Inertia:
    """Return an inertia that fits a body that has none: one of a body with extent, where there is such a one.

    What does not show is free. The pseudo-inertia P = [[S, h], [h, m]], S = tr(I) / 2 - I, of a body is positive
    definite: it is looked for as D L L^T D, L lower triangular, from balls of several sizes.
    Source: Wensing, Kim and Slotine 2018, Linear matrix inequalities for physically consistent inertial parameters.
    """
    sizes = np.array([[m, r] for m in (1.0, 0.1, 10.0) for r in (0.3, 0.1)])
    D = np.sqrt(sizes[:, :1]) * np.column_stack([sizes[:, [1, 1, 1]], np.ones(len(sizes))])
    rows, columns = np.tril_indices(4)

    def parameters(x: Floats) -> Floats:
        L = np.zeros((len(x), 4, 4))
        L[:, rows, columns] = x
        half = np.tile(D, (len(x) // len(D), 1))[:, :, None] * L
        P = half @ np.swapaxes(half, 1, 2)
        S = P[:, :3, :3]
        I = np.einsum("kii->k", S)[:, None, None] * np.eye(3) - S
        return np.concatenate([P[:, 3:, 3], P[:, :3, 3], six(I)], axis=1)

    start = np.tile(np.eye(4)[rows, columns], (len(D), 1))
    x, left = descend(lambda x: parameters(x) @ M.T - z, start, steps=60)
    # A body of usual size wins over one that fits a little better.
    fits = [k for k in range(len(D)) if left[k] <= bar]
    k = fits[0] if fits else int(left.argmin())
    return inertia_of(parameters(x)[k], np.zeros(3))


def is_solid(inertia: Inertia) -> bool:
    """Return whether an engine could have invented this inertia: a body with extent, no point and no mere tensor."""
    moments = np.linalg.eigvalsh(inertia.I_com)
    return inertia.mass > 0 and is_physical(inertia) and bool(moments[0] > 1e-6 * moments[2])
