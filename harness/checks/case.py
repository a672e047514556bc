"""One session under the identities: its first answers, its columns of M, the sizes that residuals are held to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import EngineUnsupported, HarnessError
from .answers import AnswerMissing, Asked
from .derivatives import GAIN
from .regularity import condition, least_pivots
from .tolerances import COLUMNS, EPS, OWN, derivative, rounding, step

if TYPE_CHECKING:
    from ..engine import Session
    from ..states import States
    from ..tree import Floats, Tree
    from .truth import Truth

Indices = NDArray[np.intp]


class NotApplicable(HarnessError):
    """The identity means nothing for this robot or this engine; the message says why."""


@dataclass(frozen=True, slots=True)
class Residual:
    """What is left of one identity.

    Attributes:
        value: (k, ...) not negative.
        tolerance: (k, ...) that broadcasts against `value`.
        states: (k,) index of the state of each row.
        names: of the entries along every axis after the first; empty when only states are told apart.
        note: for the reader.
    """

    value: Floats
    tolerance: Floats
    states: Indices
    names: tuple[str, ...] = ()
    note: str = ""


class Case:
    """One session with the frozen states; whatever several identities need is asked once.

    Attributes:
        asked: the session, asked with copies.
        tree, states, truth: of the model.
        native: whether the engine read the file itself, so that its robot may be another.
        kept: (n,) index in the tree of each dof of the session.
        eps: of the arithmetic that the engine computes in.
        rounding: part of a scale that rounding may take.
        step: of differences [rad | m].
        derivative: part of a scale that they may leave.
        dense: states at which M and its columns are asked.
    """

    def __init__(self, session: Session, tree: Tree, states: States, truth: Truth, path: str, eps: float = EPS) -> None:
        self.asked = Asked(session, tree)
        self.tree, self.states, self.truth = tree, states, truth
        self.native = path == "native"
        self.eps, self.rounding = eps, rounding(tree, eps)
        self.step, self.derivative = step(eps), derivative(eps)
        self.dofs = session.dofs
        self.kept: Indices = np.array([tree.dofs.index(dof) for dof in session.dofs], np.intp)
        self.dense = self.spread(len(self.kept) + 1, COLUMNS)
        self._first: dict[str, Floats | HarnessError] = {}

    def spread(self, cost: int, budget: int) -> Indices:
        """Return at most budget / cost states, at least one, evenly spread over the strata."""
        count = min(len(self.states), max(1, budget // cost))
        return np.linspace(0, len(self.states) - 1, count).round().astype(np.intp)

    def first(self, method: str) -> Floats:
        """Return the first answer of `method` at the frozen states (`mass_matrix`: at `dense`), asked once.

        Raises:
            EngineUnsupported, AnswerMissing: as `Asked` does, every time.
        """
        if method not in self._first:
            try:
                self._first[method] = self.asked(method, **self.question(method))
            except (EngineUnsupported, AnswerMissing) as failure:
                self._first[method] = failure
        answer = self._first[method]
        if isinstance(answer, HarnessError):
            raise answer
        return answer

    @property
    def answered(self) -> tuple[str, ...]:
        """Methods that have answered so far."""
        return tuple(name for name, answer in self._first.items() if not isinstance(answer, HarnessError))

    def question(self, method: str) -> dict[str, Floats | None]:
        """Return the arguments of `method` at the frozen states."""
        s = self.states
        if method == "mass_matrix":
            return {"q": s.q[self.dense]}
        if method == "generalized_forces":
            return {"q": s.q, "wrenches": self.loads}
        arguments: dict[str, Floats | None] = {"q": s.q}
        if method in ("inverse_dynamics", "bias", "forward_dynamics", "velocities", "kinetic_energy", "momentum"):
            arguments["v"] = s.v
        if method == "inverse_dynamics":
            arguments |= {"a": s.a, "wrenches": self.loads}
        if method == "forward_dynamics":
            arguments |= {"tau": s.tau, "wrenches": self.loads}
        return arguments

    @cached_property
    def loads(self) -> Floats | None:
        """Wrenches of the states on the bodies whose frames the engine holds; None for an engine that takes none."""
        if self.truth.large:
            return None
        held = set(self.asked.session.bodies)
        mask = np.array([body.name in held for body in self.tree.bodies])
        loads = self.states.wrenches * mask[:, None]
        s = self.states
        try:
            self.asked("inverse_dynamics", q=s.q[:1], v=s.v[:1], a=s.a[:1], wrenches=loads[:1])
        except EngineUnsupported:
            return None
        except AnswerMissing:
            return loads  # whatever failed will fail again where it is judged
        return loads

    def columns(
        self, v: Floats, *, wrenches: Floats | None = None, gravity: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return ID(q, v, 0) (k, n) and the columns ID(q, v, e_j) - ID(q, v, 0) (k, n, n), at the states `dense`.

        Args:
            v: (N, nv).
            wrenches: (N, nb, 6) or None.
            gravity: (3,) or None for the engine's own.
        """
        times = len(self.kept) + 1
        units = np.zeros((times, self.tree.nv))
        units[np.arange(1, times), self.kept] = 1
        answers = self.asked(
            "inverse_dynamics",
            q=np.repeat(self.states.q[self.dense], times, axis=0),
            v=np.repeat(v[self.dense], times, axis=0),
            a=np.tile(units, (len(self.dense), 1)),
            wrenches=None if wrenches is None else np.repeat(wrenches[self.dense], times, axis=0),
            gravity=gravity,
        ).reshape(len(self.dense), times, -1)
        zero = answers[:, 0]
        return zero, np.swapaxes(answers[:, 1:] - zero[:, None], 1, 2)

    @cached_property
    def own_columns(self) -> tuple[Floats, Floats]:
        """`columns` at the velocities of the states."""
        return self.columns(self.states.v)

    @cached_property
    def _own_roots(self) -> Floats:
        """(n,) square roots of the largest diagonal entries of the engine's own M, those of the truth without one."""
        try:
            diagonal = np.diagonal(self.first("mass_matrix"), axis1=1, axis2=2)
        except (EngineUnsupported, AnswerMissing):
            return self.truth.roots_of_mass[:, self.kept].max(0)
        largest = np.abs(diagonal).max(0)
        return np.sqrt(np.where(np.isfinite(largest), largest, 0))

    @cached_property
    def mass_roots(self) -> Floats:
        """(N, n) so that an entry of M is measured by the product of two of them."""
        roots = self.truth.roots_of_mass[:, self.kept]
        return np.maximum(roots, np.sqrt(OWN) * self._own_roots) if self.native else roots

    @property
    def mass_scale(self) -> Floats:
        """(k, n, n) scale of M at the states `dense`."""
        roots = self.mass_roots[self.dense]
        return roots[:, :, None] * roots[:, None, :]

    def efforts(self, scale: Floats, *answers: Floats) -> Floats:
        """Return the scale (k, n) of generalized forces.

        Natively it is at least `OWN` times the largest of the engine's own answers of that state, carried from one dof
        to another by square roots of inertia, which mends the units too: [N m] / sqrt(kg m^2) is [N] / sqrt(kg).

        Args:
            scale: (k, nv) from the truth.
            answers: (k, n) of the engine.
        """
        ours = scale[:, self.kept]
        if not self.native:
            return ours
        roots = self._own_roots
        sizes = [np.abs(answer) / np.where(roots > 0, roots, np.inf) for answer in answers]
        largest = np.max([np.where(np.isfinite(x), x, 0).max(-1, initial=0) for x in sizes], axis=0)
        return np.maximum(ours, OWN * roots * largest[:, None])

    def noise(self, scale: Floats, h: Floats, samples: Floats) -> Floats:
        """Return what rounding of `samples` may leave in their derivative, (k,).

        A light dof moves little of the energy of a heavy robot: its power is held to the rounding of the whole.

        Args:
            scale: (k,) of the samples, from the truth.
            h: (k,) steps.
            samples: (4 k, ...) of the engine, by whose size it is held natively.
        """
        if self.native:
            scale = np.maximum(scale, OWN * np.abs(samples).reshape(4, len(h), -1).max((0, 2), initial=0))
        return GAIN * self.rounding * scale / h

    def require_regular(self) -> None:
        """Go on only where M can be inverted: the truth's in every state, natively the engine's own too.

        Raises:
            NotApplicable: it cannot.
        """
        if self.truth.singular:
            raise NotApplicable(self.truth.singular)
        if self.native and not (least_pivots(self.first("mass_matrix")) > 0).all():
            raise NotApplicable("the engine's own M is singular")

    @cached_property
    def condition(self) -> Floats:
        """(k,) cond(M) at the states `dense`, natively the larger of the truth's and the engine's own."""
        ours = self.truth.condition[self.dense]
        return np.maximum(ours, condition(self.first("mass_matrix"))) if self.native else ours

    @cached_property
    def drift(self) -> Floats:
        """(k,) largest acceleration without efforts at the states `dense`, natively the larger of ours and its own."""
        ours = self.truth.drift[self.dense]
        if not self.native:
            return ours
        s, k = self.states, self.dense
        loads = None if self.loads is None else self.loads[k]
        own = self.asked("forward_dynamics", q=s.q[k], v=s.v[k], tau=np.zeros_like(s.tau[k]), wrenches=loads)
        return np.maximum(ours, np.abs(own).max(-1, initial=0))
