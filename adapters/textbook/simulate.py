"""Simulation by the classical Runge-Kutta method of fourth order, with viscous friction and an account of the energy.

The state is (q, v) with the works of friction and drive; q' = N(q) v, where quaternions change by quat (0, omega) / 2
and origins of floating and planar joints move along their own axes. Quaternions are normalised after every step: a
numerical policy, which keeps the order of the method.

Without friction and drive the energy of a conservative mechanism stays; with them it changes by what they give and
take. What is left over is the error of the integrator, and falls with the fourth power of the step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...harness.errors import RequestError, ShapeError
from ...harness.joint import JointKind
from ...harness.spatial import quaternion_product, rotation_from_quaternion
from ..reference import Reference
from . import planar
from .forward import walker_orin
from .inputs import agree, finite

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...harness.spatial import Array
    from ...harness.tree import Tree
    from .planar import PlanarChain


@dataclass(frozen=True, eq=False)
class Mechanism:
    """What a simulation asks of a mechanism, N states at once.

    Attributes:
        acceleration: (q, v, tau) to a (N, nv).
        rate: (q, v) to q' (N, nq).
        normalised: q to the nearest configuration (N, nq).
        energy: (q, v) to kinetic plus potential energy (N,) [J].
    """

    acceleration: Callable[[Array, Array, Array], Array]
    rate: Callable[[Array, Array], Array]
    normalised: Callable[[Array], Array]
    energy: Callable[[Array, Array], Array]


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A simulated motion of N mechanisms at K + 1 instants.

    Attributes:
        t: (K + 1,) [s].
        q: (K + 1, N, nq).
        v: (K + 1, N, nv).
        energy: (K + 1, N) [J].
        dissipated: (K + 1, N) [J] work that friction has taken since the start.
        supplied: (K + 1, N) [J] work that the drive has given since the start.
    """

    t: Array
    q: Array
    v: Array
    energy: Array
    dissipated: Array
    supplied: Array

    def drift(self) -> Array:
        """Return the energy that came from nowhere, E - E_0 + dissipated - supplied, (K + 1, N) [J]."""
        return self.energy - self.energy[0] + self.dissipated - self.supplied


def of_tree(tree: Tree) -> Mechanism:
    """Return a tree of any joints, accelerated by articulated bodies."""
    reference = Reference(tree)
    return Mechanism(
        reference.forward_dynamics,
        lambda q, v: _rate(tree, q, v),
        lambda q: _normalised(tree, q),
        lambda q, v: reference.kinetic_energy(q, v) + reference.potential_energy(q),
    )


def of_chain(chain: PlanarChain) -> Mechanism:
    """Return a planar chain, accelerated by columns of its recursion and a solve."""

    def inverse_dynamics(q: Array, v: Array, a: Array) -> Array:
        return planar.inverse_dynamics(chain, q, v, a)

    return Mechanism(
        lambda q, v, tau: walker_orin(inverse_dynamics, q, v, tau),
        lambda _, v: v,
        lambda q: q,
        lambda q, v: planar.kinetic_energy(chain, q, v) + planar.potential_energy(chain, q),
    )


def simulate(
    mechanism: Mechanism,
    q: Array,
    v: Array,
    step: float,
    count: int,
    viscous: Array | float = 0.0,
    drive: Callable[[float, Array, Array], Array] | None = None,
) -> Trajectory:
    """Return the motion from (q, v) on.

    Args:
        mechanism: what moves.
        q: (N, nq).
        v: (N, nv).
        step: [s].
        count: of steps.
        viscous: (nv,) or (N, nv) [N m s/rad | N s/m], or one number: joints feel -viscous v.
        drive: (t, q, v) to joint efforts (N, nv); none by default.

    Raises:
        ShapeError: an array, also one of the drive, has another number of joints or states.
        RequestError: an acceleration is not finite: some joint moves no inertia, or the step is too long by far; the
            start is no number, or the steps are none.
    """
    agree("a simulation", q=(q, "N", "nq"), v=(v, "N", "nv"))
    finite("a simulation", q=q, v=v, viscous=viscous)
    require_steps(step, count)
    nq, nv = q.shape[1], v.shape[1]
    if np.shape(viscous) not in ((), (nv,), v.shape):
        raise ShapeError(f"viscous has shape {np.shape(viscous)}; needed: one number, ({nv},) or {v.shape}")

    def slope(t: float, y: Array) -> Array:
        q, v = y[:, :nq], y[:, nq : nq + nv]
        given = np.zeros_like(v) if drive is None else drive(t, q, v)
        agree("the drive of a simulation", efforts=(given, *v.shape))
        a = mechanism.acceleration(q, v, given - viscous * v)
        if not np.isfinite(a).all():
            raise RequestError(
                f"no motion at t = {t:g} s: a joint moves no inertia there, or the step {step:g} s is too long"
            )
        works = np.stack([(viscous * v * v).sum(-1), (given * v).sum(-1)], axis=-1)
        return np.concatenate([mechanism.rate(q, v), a, works], axis=-1)

    y = np.concatenate([q, v, np.zeros((len(q), 2))], axis=-1)
    path = [y]
    for k in range(count):
        t = k * step
        k1 = slope(t, y)
        k2 = slope(t + step / 2, y + step / 2 * k1)
        k3 = slope(t + step / 2, y + step / 2 * k2)
        k4 = slope(t + step, y + step * k3)
        y = y + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        y[:, :nq] = mechanism.normalised(y[:, :nq])
        path.append(y)
    whole = np.stack(path)
    qs, vs = whole[..., :nq], whole[..., nq : nq + nv]
    energy = np.stack([mechanism.energy(a, b) for a, b in zip(qs, vs, strict=True)])
    return Trajectory(step * np.arange(count + 1), qs, vs, energy, whole[..., -2], whole[..., -1])


def require_steps(step: float, count: int) -> None:
    """Pass when the steps are numbers of seconds, and as many as can be counted.

    Raises:
        RequestError: they are not.
    """
    if not hasattr(count, "__index__") or count < 0:
        raise RequestError(f"count of the steps is {count!r}; must be a whole number, not negative")
    if not np.isfinite(step):
        raise RequestError(f"step is {step:g} s; must be a number")


def _rate(tree: Tree, q: Array, v: Array) -> Array:
    """Return q' = N(q) v, (N, nq)."""
    rate = np.empty_like(q)
    for joint, at, of in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
        own, given = q[:, at], v[:, of]
        if joint.kind is JointKind.BALL:
            rate[:, at] = _quaternion_rate(own, given)
        elif joint.kind is JointKind.FLOATING:
            rate[:, at.start : at.start + 3] = (rotation_from_quaternion(own[:, 3:]) @ given[:, :3, None])[..., 0]
            rate[:, at.start + 3 : at.stop] = _quaternion_rate(own[:, 3:], given[:, 3:])
        elif joint.kind is JointKind.PLANAR:
            c, s, (x, y) = np.cos(own[:, 2]), np.sin(own[:, 2]), given[:, :2].T
            rate[:, at] = np.stack([c * x - s * y, s * x + c * y, given[:, 2]], axis=-1)
        else:
            rate[:, at] = given
    return rate


def _quaternion_rate(quat_wxyz: Array, omega: Array) -> Array:
    """Return quat (0, omega) / 2, for omega in child axes."""
    return quaternion_product(quat_wxyz, np.concatenate([np.zeros_like(omega[:, :1]), omega], axis=1)) / 2


def _normalised(tree: Tree, q: Array) -> Array:
    """Return q with unit quaternions."""
    q = q.copy()
    for joint, at in zip(tree.joints, tree.q_slices, strict=True):
        if joint.kind in (JointKind.BALL, JointKind.FLOATING):
            quat = slice(at.stop - 4, at.stop)
            q[:, quat] /= np.sqrt((q[:, quat] ** 2).sum(-1, keepdims=True))
    return q
