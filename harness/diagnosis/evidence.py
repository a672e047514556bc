"""What an engine answered, as single questions of inverse dynamics, each answer weighed by its scale.

tau, bias, gravity and every product M w are one question each: (q, v, a, wrenches), with or without gravity. A residual
divided by its scale is then of one kind, whatever quantity it comes from, and rounding is some eps of 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import ShapeError
from ..tree import Floats, Tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..spatial import Array

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

QUANTITIES: Final = ("tau", "bias", "gravity", "mass_matrix")
TAU, BIAS, GRAVITY, MASS = range(4)
STATES: Final = 18  # at which tau, bias and gravity are asked
MASS_STATES: Final = 6  # at which M is
PRODUCTS: Final = 6  # products M w per state, for a robot with more dofs than that


class Motion(Protocol):
    """Motion of every tree body, (N, nb, 3) in world axes, R (N, nb, 3, 3); gravity left out."""

    @property
    def R_world_body(self) -> Array: ...  # noqa: D102
    @property
    def omega(self) -> Array: ...  # noqa: D102
    @property
    def v_origin(self) -> Array: ...  # noqa: D102
    @property
    def alpha(self) -> Array: ...  # noqa: D102
    @property
    def a_origin(self) -> Array: ...  # noqa: D102


class ReferenceLike(Protocol):
    """The native reference of a tree; shapes as in `harness.engine.Session`."""

    def inverse_dynamics(  # noqa: D102
        self, q: Array, v: Array, a: Array, wrenches: Array | None = None, gravity: Array | None = None
    ) -> Array: ...
    def mass_matrix(self, q: Array) -> Array: ...  # noqa: D102
    def poses(self, q: Array) -> Array: ...  # noqa: D102
    def velocities(self, q: Array, v: Array) -> Array: ...  # noqa: D102
    def motion(self, q: Array, v: Array, a: Array) -> Motion: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Observed:
    """The states that were asked, canonical, and what the engine answered there; what it did not answer is None.

    Attributes:
        q: (N, nq), v, a: (N, nv), wrenches: (N, nb, 6) or None for none; over all coordinates of the expected tree.
        dofs: the dofs that the engine has too, in the order of the answers.
        tau: (N, n) under the wrenches.
        bias: (N, n) at zero acceleration, without wrenches.
        gravity: (N, n) at rest, without wrenches.
        mass_matrix: (k, n, n), as the engine filled it.
        mass_states: (k,) state of each M; the first k when None.
        poses: (N, len(bodies), 4, 4) T_world_body.
        bodies: names that go with `poses`.
    """

    q: Floats
    v: Floats
    a: Floats
    dofs: tuple[str, ...]
    wrenches: Floats | None = None
    tau: Floats | None = None
    bias: Floats | None = None
    gravity: Floats | None = None
    mass_matrix: Floats | None = None
    mass_states: Indices | None = None
    poses: Floats | None = None
    bodies: tuple[str, ...] = ()

    @property
    def at_mass(self) -> Indices:
        """(k,) state of each M."""
        if self.mass_states is not None:
            return self.mass_states
        return np.arange(0 if self.mass_matrix is None else len(self.mass_matrix))

    def require(self, tree: Tree) -> None:
        """Check the sizes.

        Raises:
            ShapeError: an array does not fit the tree, the dofs, or the number of states.
        """
        count, n = len(self.q), len(self.dofs)
        wanted: dict[str, tuple[int, ...]] = {"q": (count, tree.nq), "v": (count, tree.nv), "a": (count, tree.nv)}
        wanted |= {"wrenches": (count, len(tree.bodies), 6), "tau": (count, n), "bias": (count, n)}
        wanted |= {"gravity": (count, n), "mass_matrix": (len(self.at_mass), n, n)}
        wanted["poses"] = (count, len(self.bodies), 4, 4)
        for name, shape in wanted.items():
            found = getattr(self, name)
            if found is not None and found.shape != shape:
                raise ShapeError(f"observed {name} has shape {found.shape}; {tree.name!r} needs {shape}")


@dataclass(frozen=True, eq=False)
class Questions:
    """E questions of inverse dynamics.

    Attributes:
        q: (E, nq), v, a: (E, nv), wrenches: (E, nb, 6) or None.
        heavy: (E,) whether gravity acts.
        quantity: (E,) index in `QUANTITIES` of what the answer belongs to.
    """

    q: Floats
    v: Floats
    a: Floats
    wrenches: Floats | None
    heavy: Mask
    quantity: Indices

    def __len__(self) -> int:
        return len(self.q)

    def at(self, rows: Any) -> Questions:
        """Return some of the questions."""
        wrenches = None if self.wrenches is None else self.wrenches[rows]
        return Questions(self.q[rows], self.v[rows], self.a[rows], wrenches, self.heavy[rows], self.quantity[rows])

    def repeated(self, times: int) -> Questions:
        """Return all questions, `times` over: question e of round h stands at h E + e."""
        return self.at(np.tile(np.arange(len(self)), times))


def answer(reference: ReferenceLike, asked: Questions) -> Floats:
    """Return the efforts (E, nv) of the reference."""
    tau = np.zeros_like(asked.v)
    loaded = np.zeros(len(asked), bool) if asked.wrenches is None else asked.wrenches.any((1, 2))
    for heavy in (True, False):
        for load in (True, False):
            rows = np.flatnonzero((asked.heavy == heavy) & (loaded == load))
            if len(rows):
                wrenches = asked.wrenches[rows] if load and asked.wrenches is not None else None
                gravity = None if heavy else np.zeros(3)
                tau[rows] = reference.inverse_dynamics(asked.q[rows], asked.v[rows], asked.a[rows], wrenches, gravity)
    return tau


@dataclass(frozen=True, eq=False)
class Masses:
    """Mass matrices entry by entry: q (k, nq), M (k, n, n), weight (k, n, n) one over its scale."""

    q: Floats
    M: Floats
    weight: Floats


@dataclass(frozen=True, eq=False)
class Evidence:
    """Questions with what the engine answered.

    Attributes:
        questions: E of them.
        answers: (E, n).
        weight: (E, n), one over the scale of the answer; 0 where nothing is there to be measured.
        kept: (n,) index in the tree of each dof that was answered.
        state: (E,) index in `states` of the state of each question.
        states: indices of the observed states that the questions are about.
        masses: M at some states, or None.
    """

    questions: Questions
    answers: Floats
    weight: Floats
    kept: Indices
    state: Indices
    states: Indices
    masses: Masses | None

    def residual(self, efforts: Floats) -> Floats:
        """Return (answers - efforts) / scale (..., E, n) for efforts (..., E, nv)."""
        return (self.answers - efforts[..., self.kept]) * self.weight

    def at(self, rows: Any) -> Evidence:
        """Return some of the evidence."""
        asked = self.questions.at(rows)
        return Evidence(asked, self.answers[rows], self.weight[rows], self.kept, self.state[rows], self.states, self.masses)

    def light(self, count: int) -> Evidence:
        """Return about `count` questions that say most: spread over the quantities, those at rest and tau last."""
        lively = self.questions.v.any(1) | self.questions.a.any(1) | (self.questions.quantity == GRAVITY)
        kinds = [k for k in (BIAS, GRAVITY, MASS, TAU) if (self.questions.quantity == k).any()]
        # With bias and M at hand tau says nothing of its own but what acts with the wrenches.
        if {BIAS, GRAVITY, MASS} <= set(kinds):
            kinds = [BIAS, GRAVITY, MASS]
        rows: list[int] = []
        for kind in kinds:
            mine = np.flatnonzero((self.questions.quantity == kind) & lively)
            share = min(len(mine), -(-count // len(kinds)))
            rows += [int(i) for i in mine[np.linspace(0, len(mine) - 1, share).round().astype(int)]] if share else []
        return self.at(np.array(sorted(set(rows)), np.intp))


def gather(tree: Tree, observed: Observed, scales: Mapping[str, Floats]) -> Evidence:
    """Return the questions that are worth asking, with the engine's answers.

    Args:
        tree: expected.
        observed: what was asked and answered.
        scales: by quantity, of the shape of its answers or one that broadcasts.
    """
    kept = np.array([tree.dofs.index(name) for name in observed.dofs], np.intp)
    parts: list[tuple[Questions, Floats, Floats, Indices]] = []
    chosen = _choose(observed.v, np.arange(len(observed.q)), STATES)
    for kind, name in enumerate(QUANTITIES[:3]):
        values = getattr(observed, name)
        if values is not None:
            scale = np.broadcast_to(scales[name], values.shape)[chosen]
            parts.append((_ask(observed, kind, chosen), values[chosen], scale, chosen))
    masses = _masses(observed, scales)
    if masses is not None:
        parts.append(_products(observed, kept, masses[0], masses[1]))
    states = np.unique(np.concatenate([part[3] for part in parts]))
    wrenches = None if all(p[0].wrenches is None for p in parts) else np.concatenate([_wrenches(p[0], tree) for p in parts])
    fields = {name: np.concatenate([getattr(p[0], name) for p in parts]) for name in ("q", "v", "a", "heavy", "quantity")}
    answers = np.concatenate([part[1] for part in parts])
    weight = weights(answers, np.concatenate([part[2] for part in parts]))
    state = np.searchsorted(states, np.concatenate([part[3] for part in parts]))
    return Evidence(Questions(wrenches=wrenches, **fields), answers, weight, kept, state, states, None if masses is None else masses[0])


def weights(answers: Floats, scale: Floats) -> Floats:
    """Return one over the scale (E, n) of each answer, widened where the engine's own robot is a larger one."""
    size = np.abs(answers)
    ratio = np.divide(size, scale, out=np.zeros_like(size), where=scale > 0)
    wide = np.maximum(scale * np.maximum(1, ratio.max(-1, keepdims=True, initial=0)), size)
    return np.divide(1, wide, out=np.zeros_like(wide), where=wide > 0)


def _choose(v: Floats, among: Indices, count: int) -> Indices:
    """Return at most `count` of the states, evenly spread, those that move most dofs first in line."""
    moving = (v[among] != 0).sum(1)
    order = among[np.argsort(-moving, kind="stable")]
    lively = order[: max(count, int((moving > moving.max(initial=0) / 2).sum()))]
    return np.sort(lively[np.unique(np.linspace(0, len(lively) - 1, min(count, len(lively))).round().astype(int))])


def _ask(observed: Observed, kind: int, states: Indices) -> Questions:
    q, v, a = observed.q[states], observed.v[states], observed.a[states]
    none = np.zeros_like(v)
    wrenches = observed.wrenches[states] if kind == TAU and observed.wrenches is not None else None
    full = np.full(len(states), True)
    v, a = none if kind == GRAVITY else v, a if kind == TAU else none
    return Questions(q, v, a, wrenches, full, np.full(len(states), kind, np.intp))


def _masses(observed: Observed, scales: Mapping[str, Floats]) -> tuple[Masses, Indices] | None:
    """Return M at a few states, and the index of each; None without M."""
    if observed.mass_matrix is None or not len(observed.at_mass):
        return None
    at = np.unique(np.linspace(0, len(observed.at_mass) - 1, MASS_STATES).round().astype(int))
    states = observed.at_mass[at]
    M = observed.mass_matrix[at]
    scale = np.broadcast_to(scales["mass_matrix"], observed.mass_matrix.shape)[at]
    return Masses(observed.q[states], M, weights(M.reshape(len(M), -1), scale.reshape(len(M), -1)).reshape(M.shape)), states


def _products(observed: Observed, kept: Indices, masses: Masses, at: Indices) -> tuple[Questions, Floats, Floats, Indices]:
    """Return products M w: with unit vectors for few dofs, else with random signs over the roots of the diagonal."""
    n = len(kept)
    scale = np.divide(1, masses.weight, out=np.zeros_like(masses.M), where=masses.weight > 0)
    if n <= PRODUCTS:
        w = np.broadcast_to(np.eye(n), (len(at), n, n))
    else:
        root = np.sqrt(np.diagonal(scale, axis1=1, axis2=2))
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(at), PRODUCTS, n))
        w = signs / np.where(root > 0, root, 1)[:, None, :]
    values = np.einsum("kij,kwj->kwi", masses.M, w)
    sizes = np.sqrt(np.einsum("kij,kwj->kwi", scale**2, w**2))
    states = np.repeat(at, w.shape[1])
    a = np.zeros((len(states), observed.v.shape[1]))
    a[:, kept] = w.reshape(-1, n)
    q, rest = observed.q[states], np.zeros_like(a)
    weightless, kind = np.zeros(len(states), bool), np.full(len(states), MASS, np.intp)
    return Questions(q, rest, a, None, weightless, kind), values.reshape(-1, n), sizes.reshape(-1, n), states


def _wrenches(asked: Questions, tree: Tree) -> Floats:
    return np.zeros((len(asked), len(tree.bodies), 6)) if asked.wrenches is None else asked.wrenches
