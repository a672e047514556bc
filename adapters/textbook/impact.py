"""Impact by impulse: velocities jump, configurations stay, and the account of momentum and energy.

    M (v+ - v-) = J^T P,    Jn v+ = -e Jn v-,    kinetic energy + P . (J v+ + J v-) / 2

Bilateral closures stay closed (e = 0, impulses of any sign); contacts push alone. With several contacts, those that
part by themselves carry no impulse: P >= 0, Jn v+ + e Jn v- >= 0, one of them zero (Newton's restitution). Impulses are
no forces: no torque of inverse dynamics follows from them without the time that the collision takes.

Source: Pfeiffer and Glocker 1996, Multibody dynamics with unilateral contacts, chapter 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from ...harness.errors import RequestError
from ..reference import Reference
from .constrained import independent, require_state
from .constraints import rows_of
from .inputs import agree, finite, moving

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...harness.spatial import Array
    from ...harness.tree import Tree
    from .contact import Contact

MOST: Final = 10  # contacts: all their subsets are tried
SLACK: Final = 1e-9  # of the largest speed or impulse


@dataclass(frozen=True, eq=False)
class Impact:
    """A jump of velocities at one state.

    Attributes:
        before: (nv,) velocity.
        after: (nv,) velocity.
        impulses: (C,) [N s] of the contacts, not negative.
        reactions: (m,) [N s | N m s] impulses of the closures.
        change: (nv,) J^T P, the jump of the generalized momentum M v.
        energy: [J] the jump of the kinetic energy; never positive for 0 <= e <= 1.
        work: [J] P . (J v+ + J v-) / 2, which equals it.
    """

    before: Array
    after: Array
    impulses: Array
    reactions: Array
    change: Array
    energy: float
    work: float


def strike(tree: Tree, contacts: Sequence[Contact], q: Array, v: Array, restitution: float) -> Impact:
    """Return what an impact at q (nq,) makes of v (nv,); all contacts touch there, whatever their gap.

    Args:
        tree: with closures, which stay closed.
        contacts: that touch, at most ten.
        q: (nq,).
        v: (nv,).
        restitution: e, from 0 to 1.

    Raises:
        ShapeError: q or v has another number of joints.
        RequestError: e out of range, too many contacts, a number that is none, a joint that moves no inertia, or no
            impulses satisfy the law.
        Inconsistent: q and v do not satisfy the closures.
    """
    if not 0 <= restitution <= 1:
        raise RequestError(f"restitution {restitution:g}; allowed is 0 to 1")
    if len(contacts) > MOST:
        raise RequestError(f"{len(contacts)} contacts at once; at most {MOST}")
    agree(repr(tree.name), q=(q, tree.nq), v=(v, tree.nv))
    finite(repr(tree.name), q=q, v=v)
    rows = rows_of(tree, q[None], v[None])
    require_state(rows, v[None])
    J = np.concatenate([*(c.geometry(tree, q[None], v[None])[2] for c in contacts), rows.J[0]])
    M = moving(repr(tree.name), Reference(tree).mass_matrix(q[None]))[0]
    W, speed, count = J @ np.linalg.solve(M, J.T), J @ v, len(contacts)
    aimed = -speed.copy()
    aimed[:count] -= restitution * speed[:count]
    size = np.abs(speed).max(initial=0) + np.abs(aimed).max(initial=0)
    # From the smallest set of pushing contacts on: the first that satisfies the law.
    for pushing in chain.from_iterable(combinations(range(count), k) for k in range(count + 1)):
        held = [*pushing, *range(count, len(J))]
        P = np.zeros(len(J))
        P[held] = _solved(W[np.ix_(held, held)], aimed[held])
        parting = W @ P - aimed
        pushes = (P[:count] >= -SLACK * np.abs(P).max(initial=0)).all()
        if pushes and (parting[:count] >= -SLACK * size).all() and np.abs(parting[held]).max(initial=0) <= SLACK * size:
            P[:count] = np.maximum(P[:count], 0)
            change = J.T @ P
            after = v + np.linalg.solve(M, change)
            energy = float(after @ M @ after - v @ M @ v) / 2
            work = float(P @ (J @ (after + v))) / 2
            return Impact(v, after, P[:count], P[count:], change, energy, work)
    raise RequestError(f"no impulses at {tree.name!r} satisfy the law of the impact")


def _solved(W: Array, b: Array) -> Array:
    """Return the smallest P with W P = b; redundant rows share."""
    U, s, _ = independent(W)
    return U @ ((U.T @ b) / s)
