"""What may have happened to a robot or to the questions about it, in a form that predicts the engine's answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from .difference import patched
from .evidence import Evidence, Indices, Questions, answer
from .reach import Reach, reach_of
from .regressor import Regressor, regressor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..tree import Floats, Tree
    from .difference import Difference
    from .evidence import ReferenceLike

Make: TypeAlias = "Callable[[Tree], ReferenceLike]"
Ask: TypeAlias = "Callable[[Questions], Questions]"
Tell: TypeAlias = "Callable[[Questions, Floats], Floats]"


LIGHT: Final = 16  # questions for hypotheses that cost one inverse dynamics per question


def as_asked(questions: Questions) -> Questions:
    """Return the questions themselves: they were understood."""
    return questions


def as_answered(questions: Questions, efforts: Floats) -> Floats:
    """Return the efforts themselves: they were handed over."""
    del questions
    return efforts


@dataclass(frozen=True, eq=False)
class Change:
    """One difference, with what it does beyond the tree.

    Attributes:
        difference: whose `apply` changes the tree.
        ask: from the questions as meant to the questions as the engine took them.
        tell: from the questions as meant and the efforts (E, nv) of the engine to what it hands over; affine in them.
        keeps: whether the tree stays as it is here, since `ask` and `tell` do all and `apply` would take dofs away.
    """

    difference: Difference
    ask: Ask = as_asked
    tell: Tell = as_answered
    keeps: bool = False


@dataclass(frozen=True, eq=False)
class Candidate:
    """Changes that may be the cause.

    Attributes:
        changes: one, or several that come together.
        left: root mean square of what is left of the scaled residual on the evidence that was looked at.
        sizes: root mean square that each fitted direction makes, at the size that was found; empty when nothing was
            fitted. Directions that do not show do not count as freedom.
        causes: how many separate reasons the changes count for.
    """

    changes: tuple[Change, ...]
    left: float
    sizes: tuple[float, ...] = ()
    causes: int = 1

    @property
    def differences(self) -> tuple[Difference, ...]:
        """What differs."""
        return tuple(change.difference for change in self.changes)


@dataclass(frozen=True, eq=False)
class Problem:
    """The question of one search: which change explains what is left after `given`.

    Attributes:
        expected: the tree of the file.
        make: its native reference.
        evidence: all questions with answers.
        given: changes that are taken for granted.
        accept: largest scaled residual that counts as rounding.
    """

    expected: Tree
    make: Make
    evidence: Evidence
    accept: float
    given: tuple[Change, ...] = ()

    @cached_property
    def tree(self) -> Tree:
        """The tree with the given changes."""
        return patched(self.expected, [change.difference for change in self.given if not change.keeps])

    @cached_property
    def reference(self) -> ReferenceLike:
        """Of `tree`."""
        return self.make(self.tree)

    @cached_property
    def asked(self) -> Questions:
        """The questions of the evidence, as the engine took them."""
        return self.taken(self.evidence.questions)

    def taken(self, questions: Questions) -> Questions:
        """Return questions as the engine took them, by the given changes."""
        for change in self.given:
            questions = change.ask(questions)
        return questions

    def told(self, questions: Questions, efforts: Floats) -> Floats:
        """Return what the engine hands over for efforts (E, nv), by the given changes."""
        stages = [questions]
        for change in self.given:
            stages.append(change.ask(stages[-1]))
        for change, meant in zip(reversed(self.given), reversed(stages[:-1]), strict=True):
            efforts = change.tell(meant, efforts)
        return efforts

    @cached_property
    def predicted(self) -> Floats:
        """(E, nv) answers to the evidence."""
        return self.told(self.evidence.questions, answer(self.reference, self.asked))

    @cached_property
    def residual(self) -> Floats:
        """(E, n) scaled, what is to be explained."""
        return self.evidence.residual(self.predicted)

    @cached_property
    def size(self) -> float:
        """Root mean square of the residual."""
        return rms(self.residual)

    @cached_property
    def light(self) -> Problem:
        """The same problem with few questions, for hypotheses that cost an inverse dynamics each."""
        evidence = self.evidence.light(LIGHT)
        return Problem(self.expected, self.make, evidence, self.accept, self.given)

    @cached_property
    def regressor(self) -> Regressor:
        """Inertial regressor of `tree` at the questions as taken."""
        return regressor(self.tree, self.reference, self.evidence, self.asked)

    @cached_property
    def reach(self) -> Reach:
        """Which places can be at fault, by the dofs that show a residual."""
        return reach_of(self.tree, self.evidence, self.residual, self.mass_residual, self.accept)

    @cached_property
    def mass_residual(self) -> Floats | None:
        """(k, n, n) what is to be explained of M, scaled; None when M is not known entry by entry."""
        masses = self.evidence.masses
        if masses is None or any(c.ask is not as_asked or c.tell is not as_answered for c in self.given):
            return None
        kept = self.evidence.kept
        expected = self.reference.mass_matrix(masses.q)[:, kept[:, None], kept]
        return np.asarray((masses.M - expected) * masses.weight, np.float64)

    def rows(self, columns: Floats) -> Floats:
        """Return columns of raw efforts (E, nv, p) as scaled columns of the evidence (E n, p)."""
        handed = columns
        if any(change.tell is not as_answered for change in self.given):
            asked = self.evidence.questions
            zero = self.told(asked, np.zeros(columns.shape[:2]))
            handed = np.stack([self.told(asked, columns[..., k]) - zero for k in range(columns.shape[2])], axis=-1)
        kept = handed[:, self.evidence.kept] * self.evidence.weight[..., None]
        return kept.reshape(-1, columns.shape[2])

    def retold(self, changes: Sequence[Change]) -> Problem:
        """Return the problem that is left with more changes given."""
        return Problem(self.expected, self.make, self.evidence, self.accept, (*self.given, *changes))

    def left(self, changes: Sequence[Change]) -> Floats:
        """Return the scaled residual (E, n) that more changes leave."""
        return self.retold(changes).residual

    def lanes(self, rounds: int, move: Callable[[Questions, Indices], Questions]) -> Floats:
        """Return the scaled residuals (H, E, n) of H ways to move the questions as taken.

        Args:
            rounds: H.
            move: from all questions, H times over, and (H E,) the round of each, to the moved ones.
        """
        count = len(self.asked)
        moved = move(self.asked.repeated(rounds), np.repeat(np.arange(rounds), count))
        efforts = answer(self.reference, moved)
        told = self.told(self.evidence.questions.repeated(rounds), efforts)
        return self.evidence.residual(told.reshape(rounds, count, -1))


def rms(residual: Floats) -> float:
    """Return the root mean square, infinity for what is not finite."""
    value = float(np.sqrt(np.mean(np.square(residual)))) if residual.size else 0.0
    return value if np.isfinite(value) else np.inf
