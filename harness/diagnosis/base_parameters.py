"""Base parameters: the combinations of inertial parameters that motion can tell, and what of a change they show.

The columns of the regressor are taken from the root outward. A column that those before it hold is no parameter of its
own: it is grouped into them. What is left is identifiable; robots that no motion can tell apart agree in it.

Source: Gautier and Khalil 1990, Direct calculation of minimum set of inertial parameters of serial robots;
Gautier 1991, Numerical calculation of the base inertial parameters of robots (QR).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..spatial import exp_so3
from ..tree import JointKind
from .evidence import Evidence, Questions
from .parameters import NAMES, UNITS, vector
from .regressor import regressor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tree import Floats, Tree
    from .evidence import ReferenceLike

DEPENDS: Final = 1e-9  # share of a column's size outside the columns before it, below which it is one of them
TERMS: Final = 1e-9  # share of the largest coefficient below which a term is left out of a combination


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The identifiable combinations of a tree.

    Attributes:
        bodies: names of the moving bodies, ten parameters each in this order; what is fixed to one is counted with it.
        independent: (r,) which of the parameters lead a combination.
        grouping: (r, 10 B) coefficients: combination = grouping @ parameters.
    """

    bodies: tuple[str, ...]
    independent: tuple[int, ...]
    grouping: Floats

    @property
    def rank(self) -> int:
        """Number of combinations."""
        return len(self.independent)

    def name(self, k: int) -> str:
        """Return one combination in words."""
        row = self.grouping[k]
        at = [i for i in np.argsort(-np.abs(row), kind="stable") if abs(row[i]) > TERMS * np.abs(row).max()]
        lead = self.independent[k]
        return " ".join(self._term(float(row[i]), int(i)) for i in [lead, *(i for i in at if i != lead)]).removeprefix(
            "+ "
        )

    def _term(self, coefficient: float, i: int) -> str:
        size = abs(coefficient)
        factor = "" if abs(size - 1) < TERMS else f"{size:.6g} "
        return f"{'-' if coefficient < 0 else '+'} {factor}{NAMES[i % 10]}({self.bodies[i // 10]})"

    def unit(self, k: int) -> str:
        """Return the unit of one combination."""
        return UNITS[self.independent[k] % 10]


@dataclass(frozen=True, slots=True)
class Shown:
    """What motion shows of a change: one combination, by how much it changed, and its unit."""

    combination: str
    change: float
    unit: str


def base_parameters(tree: Tree, reference: ReferenceLike, *, seed: int = 0) -> BaseParameters:
    """Return the base parameters of a tree under its own gravity, found at random motions.

    Args:
        tree: whose moving bodies are described.
        reference: of the tree.
        seed: of the motions.
    """
    evidence = _motions(tree, seed)
    found = regressor(tree, reference, evidence, evidence.questions)
    columns = [found.columns(h).reshape(-1, 10) for h in found.holders]
    W = np.concatenate(columns, axis=1) if columns else np.zeros((0, 0))
    independent, grouping = grouped(W)
    return BaseParameters(tuple(tree.bodies[h].name for h in found.holders), independent, grouping)


def grouped(W: Floats) -> tuple[tuple[int, ...], Floats]:
    """Return the leading columns of W (m, p), and the coefficients (r, p) with W = W[:, leading] @ coefficients."""
    size = np.linalg.norm(W, axis=0)
    there = np.flatnonzero(size > DEPENDS * max(float(size.max(initial=0)), 1e-300))
    # The angles between the columns are those of the small triangle of a QR factorisation.
    small = np.asarray(np.linalg.qr(W[:, there] / size[there], mode="r"), np.float64)
    Q = np.zeros((len(small), len(there)))
    leading: list[int] = []
    for i, k in enumerate(there):
        column, basis = small[:, i], Q[:, : len(leading)]
        for _ in range(2):  # twice is enough, Kahan
            column = column - basis @ (basis.T @ column)
        rest = float(np.linalg.norm(column))
        if rest > DEPENDS:
            Q[:, len(leading)] = column / rest
            leading.append(int(k))
    coefficients = np.zeros((len(leading), W.shape[1]))
    lead = [int(np.flatnonzero(there == k)[0]) for k in leading]
    basis = Q[:, : len(leading)]
    inner = np.linalg.solve(basis.T @ small[:, lead], basis.T @ small) if leading else coefficients[:, there]
    coefficients[:, there] = inner * size[there] / size[leading][:, None]
    coefficients[np.abs(coefficients) < 1e-12] = 0
    return tuple(leading), coefficients


def _motions(tree: Tree, seed: int) -> Evidence:
    """Return questions that move every joint anyhow, enough of them to tell ten parameters per body."""
    rng = np.random.default_rng(seed)
    movers = sum(joint.nv > 0 for joint in tree.joints)
    count = 4 + 12 * movers // max(1, tree.nv) + 2 * movers
    q = np.concatenate([_positions(joint.kind, count, rng) for joint in tree.joints], axis=1)
    v, a = rng.normal(size=(2, count, tree.nv))
    full, kinds = np.full(count, True), np.zeros(count, np.intp)
    states = np.arange(count)
    weight = np.ones((count, tree.nv))
    return Evidence(Questions(q, v, a, None, full, kinds), 0 * v, weight, np.arange(tree.nv), states, states, None)


def _positions(kind: JointKind, count: int, rng: np.random.Generator) -> Floats:
    """Return random coordinates of one joint, (count, nq)."""
    if kind in (JointKind.BALL, JointKind.FLOATING):
        turn = np.asarray(exp_so3(rng.normal(size=(count, 3)) * 2), np.float64)
        return turn if kind is JointKind.BALL else np.concatenate([rng.normal(size=(count, 3)), turn], axis=1)
    return rng.uniform(-np.pi, np.pi, (count, kind.nq))


def parameters_of(tree: Tree, bodies: Sequence[str]) -> Floats:
    """Return the ten parameters of moving bodies with what is fixed to them, one after the other."""
    fused = tree.fused()
    return np.concatenate([vector(fused.bodies[fused.index[name]].inertia) for name in bodies] or [np.zeros(0)])


def shown(base: BaseParameters, ours: Floats, theirs: Floats) -> tuple[Shown, ...]:
    """Return the combinations that differ between two robots, (10 B,) parameters each, in the order of the bodies."""
    change, size = base.grouping @ (theirs - ours), np.abs(base.grouping) @ np.maximum(np.abs(ours), np.abs(theirs))
    differs = np.flatnonzero(np.abs(change) > 1e-12 * size)
    return tuple(Shown(base.name(int(k)), float(change[k]), base.unit(int(k))) for k in differs)
