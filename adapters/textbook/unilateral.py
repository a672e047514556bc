"""Rigid contact that pushes and does not pull: the smooth modes of closed contacts, without and with Coulomb's slip.

Where a contact is closed (gap 0) and does not part (normal velocity 0), its force and its acceleration complement each
other:

    0 <= lambda,   0 <= a_n,   lambda a_n = 0,   a_n = Jn a + Jn_dot v,   M a = tau - bias + F^T lambda
    F = Jn without friction; Jn - mu s.Jt while the point slips along s = v_t / |v_t|: lambda_t = -mu lambda s

Every set of pushing contacts is tried. Without friction one motion satisfies the law; with friction there may be none
or several (Painleve), and all of them are returned. An approaching contact needs a law of impact, and a contact that
sticks has no direction of slip: both are refused here. A contact that sticks is a closure: whether its reaction lies
within the cone |lambda_t| <= mu lambda_n is a question to its solution.

Source: Pfeiffer and Glocker 1996, Multibody dynamics with unilateral contacts, chapters 5 and 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from ...harness.errors import RequestError
from ...harness.spatial import unit
from ...harness.tree import Closure
from ..reference import Reference
from .constraints import rows_of
from .impact import MOST
from .inputs import agree, finite, moving

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...harness.spatial import Array
    from ...harness.tree import Tree
    from .contact import Contact

CLOSED: Final = 1e-9  # [m], [m/s]: gaps and normal velocities that count as none
SLACK: Final = 1e-9  # of the largest force or acceleration


@dataclass(frozen=True, eq=False)
class Mode:
    """One motion that satisfies the law at one state.

    Attributes:
        pushing: numbers of the contacts that push.
        forces: (C,) [N] normal forces, not negative.
        friction: (C, 3) [N] on the points, in world axes.
        a: (nv,) acceleration.
        parting: (C,) [m/s^2] normal accelerations of the closed contacts, not negative; inf of open ones.
    """

    pushing: tuple[int, ...]
    forces: Array
    friction: Array
    a: Array
    parting: Array


def modes(tree: Tree, contacts: Sequence[Contact], q: Array, v: Array, tau: Array, friction: float = 0.0) -> list[Mode]:
    """Return every motion that the law allows at q (nq,), v (nv,) under joint efforts tau (nv,).

    Open and parting contacts carry nothing.

    Args:
        tree: that moves; closures hold nothing here.
        contacts: points that may touch, at most ten.
        q: (nq,).
        v: (nv,).
        tau: (nv,).
        friction: mu, not negative.

    Raises:
        ShapeError: an array has another number of joints.
        RequestError: a contact approaches, sticks though there is friction, or lies deep in its plane; too many;
            friction below zero, a number that is none, or a joint that moves no inertia.
    """
    if len(contacts) > MOST:
        raise RequestError(f"{len(contacts)} contacts at once; at most {MOST}")
    _require(tree, q, v, tau, friction)
    reference = Reference(tree)
    M, free = moving(repr(tree.name), reference.mass_matrix(q[None]))[0], tau - reference.bias(q[None], v[None])[0]
    closed: list[int] = []
    normals: list[Array] = []
    pushes: list[Array] = []
    biases: list[float] = []
    slips: list[Array] = []
    for k, contact in enumerate(contacts):
        pin = Closure("connect", "contact", (contact.body, ""), (*map(float, contact.point), 0.0, 0.0, 0.0))
        rows, n = rows_of(tree, q[None], v[None], [pin]), unit(np.asarray(contact.normal, np.float64))
        gap, velocity = float(n @ (rows.position[0] - contact.origin)), rows.velocity(v[None])[0]
        rate = float(n @ velocity)
        if gap < -CLOSED or (gap <= CLOSED and rate < -CLOSED):
            raise RequestError(
                f"contact {k} of {contact.body!r} has gap {gap:.3g} m and normal velocity {rate:.3g} m/s: "
                "a smooth mode needs both not negative; an approaching contact needs a law of impact"
            )
        if gap > CLOSED or rate > CLOSED:
            continue
        slip = velocity - rate * n
        speed = float(np.linalg.norm(slip))
        if friction and speed <= CLOSED:
            raise RequestError(f"contact {k} of {contact.body!r} sticks: Coulomb's law gives no direction of slip")
        along = friction * slip / speed if friction else np.zeros(3)
        closed.append(k)
        normals.append(n @ rows.J[0])
        pushes.append((n - along) @ rows.J[0])
        biases.append(float(n @ rows.bias[0]))
        slips.append(-along)
    J, F = (np.reshape(x, (len(closed), tree.nv)) for x in (normals, pushes))
    W, b = J @ np.linalg.solve(M, F.T), J @ np.linalg.solve(M, free) + biases
    found: list[Mode] = []
    for held in chain.from_iterable(combinations(range(len(closed)), k) for k in range(len(closed) + 1)):
        own, pushed = list(held), np.zeros(len(closed))
        if own:
            pushed[own] = np.linalg.lstsq(W[np.ix_(own, own)], -b[own], rcond=None)[0]
        parting = W @ pushed + b
        size = 1 + np.abs(b).max(initial=0)
        fits = np.abs(parting[own]).max(initial=0) <= SLACK * size and (parting >= -SLACK * size).all()
        if not fits or (pushed[own] <= SLACK * np.abs(pushed).max(initial=0)).any():
            continue
        forces, rubbing, apart = np.zeros(len(contacts)), np.zeros((len(contacts), 3)), np.full(len(contacts), np.inf)
        parting[own] = 0
        for k, force, slip, away in zip(closed, pushed, slips, parting, strict=True):
            forces[k], rubbing[k], apart[k] = force, force * slip, max(float(away), 0.0)
        a = np.linalg.solve(M, free + pushed @ F)
        found.append(Mode(tuple(closed[k] for k in own), forces, rubbing, a, apart))
    return found


def _require(tree: Tree, q: Array, v: Array, tau: Array, friction: float) -> None:
    agree(repr(tree.name), q=(q, tree.nq), v=(v, tree.nv), tau=(tau, tree.nv))
    finite(repr(tree.name), q=q, v=v, tau=tau)
    if not 0 <= friction < np.inf:
        raise RequestError(f"friction {friction:g}; must not be negative")
