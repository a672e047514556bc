"""What an engine answered, as single questions of inverse dynamics, each answer weighed by its scale.

tau, bias, gravity and every product M w are one question each: (q, v, a, wrenches), with or without gravity. A residual
divided by its scale is then of one kind, whatever quantity it comes from, and rounding is some eps of 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ..checks.scales import Motion
    from ..spatial import Array
    from ..states import States
    from ..tree import Floats, Tree
    from .closure import Observed

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

# Questions, answers, scales, and the observed state of each.
Part: TypeAlias = "tuple[Questions, Floats, Floats, Indices]"

QUANTITIES: Final = ("tau", "bias", "gravity", "mass_matrix")
TAU, BIAS, GRAVITY, MASS = range(4)
STATES: Final = 18  # at which tau, bias and gravity are asked
MASS_STATES: Final = 6  # at which M is
PRODUCTS: Final = 6  # products M w per state, for a robot with more dofs than that
LEAST: Final = 1e-150  # scale of an answer that still has its digits, squared too


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
        return Evidence(
            asked, self.answers[rows], self.weight[rows], self.kept, self.state[rows], self.states, self.masses
        )

    def light(self, count: int) -> Evidence:
        """Return about `count` questions that say most: spread over the quantities, those at rest and tau last."""
        lively = self.questions.v.any(1) | self.questions.a.any(1) | (self.questions.quantity == GRAVITY)
        kinds = [k for k in (BIAS, GRAVITY, MASS, TAU) if (self.questions.quantity == k).any()]
        # With bias and M at hand tau says nothing of its own but what acts with the wrenches.
        if {BIAS, GRAVITY, MASS} <= set(kinds) and self.questions.wrenches is None:
            kinds = [BIAS, GRAVITY, MASS]
        rows: list[int] = []
        for kind in kinds:
            mine = np.flatnonzero((self.questions.quantity == kind) & lively)
            share = min(len(mine), -(-count // len(kinds)))
            rows += [int(i) for i in mine[np.linspace(0, len(mine) - 1, share).round().astype(int)]] if share else []
        return self.at(np.array(sorted(set(rows)), np.intp))


def gather(tree: Tree, observed: Observed) -> Evidence:
    """Return the questions that are worth asking, with the engine's answers.

    Args:
        tree: expected.
        observed: what was asked and answered, with its scales; at least one quantity.
    """
    kept = np.array([tree.dofs.index(name) for name in observed.dofs], np.intp)
    states = observed.states
    chosen = _choose(states.v, STATES)
    parts: list[Part] = []
    for kind, name in enumerate(QUANTITIES[:3]):
        if name in observed.values:
            values, scale = observed.values[name][chosen], observed.scales[name][chosen]
            parts.append((_ask(states, kind, chosen), values, scale, chosen))
    masses = None
    if "mass_matrix" in observed.values:
        few = chosen[np.unique(np.linspace(0, len(chosen) - 1, MASS_STATES).round().astype(int))]
        masses = _masses(observed, few)
        parts.append(_products(states, kept, masses, few))
    asked = [part[0] for part in parts]
    wrenches = np.concatenate([_wrenches(one, tree) for one in asked])
    fields = {name: np.concatenate([getattr(x, name) for x in asked]) for name in ("q", "v", "a", "heavy", "quantity")}
    answers = np.concatenate([part[1] for part in parts])
    weight = weights(answers, np.concatenate([part[2] for part in parts]))
    every = np.concatenate([part[3] for part in parts])
    at = np.unique(every)
    questions = Questions(wrenches=wrenches if wrenches.any() else None, **fields)
    return Evidence(questions, answers, weight, kept, np.searchsorted(at, every), at, masses)


def weights(answers: Floats, scale: Floats) -> Floats:
    """Return one over the scale (E, n) of each answer, widened where the engine's own robot is a larger one.

    Zero where nothing is there to be measured: below `LEAST` numbers lose their digits, and one over them is infinite.
    """
    size = np.abs(answers)
    ratio = np.divide(size, scale, out=np.zeros_like(size), where=scale > 0)
    wide = np.maximum(scale * np.maximum(1, ratio.max(-1, keepdims=True, initial=0)), size)
    return np.divide(1, wide, out=np.zeros_like(wide), where=wide > LEAST)


def _choose(v: Floats, count: int) -> Indices:
    """Return at most `count` states, evenly spread over those that move at least half as many dofs as the best."""
    moving = (v != 0).sum(1)
    order = np.argsort(-moving, kind="stable")
    lively = order[: max(count, int((moving > moving.max(initial=0) / 2).sum()))]
    return np.sort(lively[np.unique(np.linspace(0, len(lively) - 1, min(count, len(lively))).round().astype(int))])


def _ask(states: States, kind: int, at: Indices) -> Questions:
    q, v, a = states.q[at], states.v[at], states.a[at]
    none = np.zeros_like(v)
    wrenches = states.wrenches[at] if kind == TAU else None
    full = np.full(len(at), True)
    v, a = none if kind == GRAVITY else v, a if kind == TAU else none
    return Questions(q, v, a, wrenches, full, np.full(len(at), kind, np.intp))


def _masses(observed: Observed, at: Indices) -> Masses:
    M, scale = observed.values["mass_matrix"][at], observed.scales["mass_matrix"][at]
    weight = weights(M.reshape(len(M), -1), scale.reshape(len(M), -1)).reshape(M.shape)
    return Masses(observed.states.q[at], M, weight)


def _products(states: States, kept: Indices, masses: Masses, at: Indices) -> Part:
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
    every = np.repeat(at, w.shape[1])
    a = np.zeros((len(every), states.v.shape[1]))
    a[:, kept] = w.reshape(-1, n)
    q, rest = states.q[every], np.zeros_like(a)
    weightless, kind = np.zeros(len(every), bool), np.full(len(every), MASS, np.intp)
    return Questions(q, rest, a, None, weightless, kind), values.reshape(-1, n), sizes.reshape(-1, n), every


def _wrenches(asked: Questions, tree: Tree) -> Floats:
    return np.zeros((len(asked), len(tree.bodies), 6)) if asked.wrenches is None else asked.wrenches
