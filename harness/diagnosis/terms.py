"""Terms that act on one dof alone: reflected inertia, damping, dry friction, springs, each in some of the answers.

A term that the canonical answers hold, or do not hold, may be in one call of an engine and not in another. So for every
dof that shows a residual each term is fitted to the answers that show it, and must leave the others alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..tree import JointKind
from .difference import Difference, unchanged, with_joint
from .evidence import BIAS, GRAVITY, MASS, QUANTITIES, TAU
from .fitting import solve
from .hypotheses import Candidate, Change, rms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..tree import Floats, Joint, Tree
    from .evidence import Questions
    from .hypotheses import Problem

# Term: the answers that can hold it.
TERMS: Final[Mapping[str, tuple[int, ...]]] = {
    "armature": (TAU, MASS),
    "damping": (TAU, BIAS),
    "frictionloss": (TAU, BIAS),
    "spring": (TAU, BIAS, GRAVITY),
}
ONE_DOF: Final = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC)


@dataclass(frozen=True, eq=False)
class Fit:
    """Terms of one dof.

    Attributes:
        dof: index in the tree.
        values: term to its coefficients.
        booked: quantities whose answers hold them.
        left: root mean square of what is left on this dof.
        sizes: root mean square that each coefficient makes, over all answers of the evidence.
    """

    dof: int
    values: Mapping[str, tuple[float, ...]]
    booked: tuple[int, ...]
    left: float
    sizes: tuple[float, ...]


def term_candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield the fewest terms that account for every dof with a residual."""
    touched = np.flatnonzero(problem.reach.touched)
    if not len(touched):
        return
    for count in (1, 2, 3):
        found = False
        for names in combinations(TERMS, count):
            fits = [_fewest(problem, int(dof), names) for dof in touched]
            complete = [fit for fit in fits if fit is not None]
            if len(complete) == len(touched) and set(names) == {name for fit in complete for name in fit.values}:
                found = True
                yield from _candidates(problem, complete, names)
        if found:
            return


def _fewest(problem: Problem, dof: int, names: Sequence[str]) -> Fit | None:
    """Return the fit of the fewest of these terms that leaves rounding on one dof."""
    for count in range(1, len(names) + 1):
        for some in combinations(names, count):
            fit = _fit(problem, dof, some)
            if fit is not None:
                return fit
    return None


def _fit(problem: Problem, dof: int, names: Sequence[str]) -> Fit | None:
    """Fit terms to the answers of one dof; None when more than rounding is left, or when one is not needed."""
    tree, evidence = problem.tree, problem.evidence
    if "spring" in names and tree.joints[tree.joint_of_dof[dof]].kind not in ONE_DOF:
        return None
    at = int(np.flatnonzero(evidence.kept == dof)[0])
    r, w = problem.residual[:, at], evidence.weight[:, at]
    quantity = evidence.questions.quantity
    booked = tuple(k for k in range(len(QUANTITIES)) if np.abs(r[quantity == k]).max(initial=0) > problem.accept)
    if not set(booked) <= {k for name in names for k in TERMS[name]}:
        return None
    blocks = [columns(evidence.questions, tree, dof, name, booked) for name in names]
    A = np.concatenate(blocks, axis=1) * w[:, None]
    x = solve(A, r)
    rest = r - A @ x
    if np.abs(rest).max() > problem.accept or any(not b.any() for b in blocks):
        return None
    values: dict[str, tuple[float, ...]] = {}
    start = 0
    for name, block in zip(names, blocks, strict=True):
        values[name] = tuple(float(value) for value in x[start : start + block.shape[1]])
        start += block.shape[1]
    sizes = np.linalg.norm(A * x, axis=0) / np.sqrt(evidence.answers.size)
    return Fit(dof, values, booked, rms(rest), tuple(float(size) for size in sizes))


def columns(questions: Questions, tree: Tree, dof: int, name: str, booked: Sequence[int]) -> Floats:
    """Return what one unit of a term does to the effort of its dof (E, 1), a spring in (E, 2), where it is booked."""
    here = np.isin(questions.quantity, [k for k in booked if k in TERMS[name]])[:, None]
    v, a = questions.v[:, [dof]], questions.a[:, [dof]]
    if name == "spring":
        q = questions.q[:, [tree.q_slices[tree.joint_of_dof[dof]].start]]
        return np.where(here & questions.heavy[:, None], np.concatenate([q, np.ones_like(q)], axis=1), 0)
    return np.where(here, {"armature": a, "damping": v, "frictionloss": np.sign(v)}[name], 0)


def _candidates(problem: Problem, fits: Sequence[Fit], names: Sequence[str]) -> Iterator[Candidate]:
    """Yield the fits as changes, a joint each; reflected inertia under both of its names."""
    tree = problem.tree
    if any(_is_negative(tree, fit) for fit in fits):
        return
    changes: list[Change] = []
    for body in sorted({tree.joint_of_dof[fit.dof] for fit in fits}):
        mine = [fit for fit in fits if tree.joint_of_dof[fit.dof] == body]
        changes += [_change(problem, body, mine, name) for name in names if any(name in fit.values for fit in mine)]
    left = float(np.sqrt(sum(fit.left**2 for fit in fits) / len(problem.evidence.kept)))
    sizes = tuple(size for fit in fits for size in fit.sizes)
    first = tuple(changes)
    second = tuple(_renamed(change, "rotor") if change.difference.kind == "armature" else change for change in first)
    rotors = any(change.difference.kind == "armature" and _is_rotor(tree, change) for change in first)
    for told in dict.fromkeys((second, first) if rotors else (first, second)):
        yield Candidate(told, left, sizes, len(names))


def _is_negative(tree: Tree, fit: Fit) -> bool:
    """Return whether a dof would have less than no reflected inertia."""
    at = tree.joint_of_dof[fit.dof]
    ours = float(tree.joints[at].reflected[fit.dof - tree.v_slices[at].start])
    return ours + sum(fit.values.get("armature", ())) < -1e-9 * abs(ours) - 1e-15


def _is_rotor(tree: Tree, change: Change) -> bool:
    """Return whether the joint has reflected inertia of an actuator alone."""
    joint = tree.joints[tree.joint_index[str(change.difference.where)]]
    return bool(np.any(joint.rotor)) and not np.any(joint.armature)


def _renamed(change: Change, kind: str) -> Change:
    d = change.difference
    return Change(
        Difference(kind, d.where, d.expected, d.found, d.unit, d.apply, d.source, note=d.note), tell=change.tell
    )


def _change(problem: Problem, body: int, fits: Sequence[Fit], name: str) -> Change:
    """Return one term of one joint as a change: of the tree where all answers hold it, else of some answers."""
    tree = problem.tree
    joint = tree.joints[body]
    booked = tuple(sorted({k for fit in fits if name in fit.values for k in fit.booked if k in TERMS[name]}))
    start, nv = tree.v_slices[body].start, joint.nv
    x = np.zeros((nv, 2 if name == "spring" else 1))
    for fit in fits:
        if name in fit.values:
            x[fit.dof - start] = fit.values[name]
    present = {int(k) for k in np.unique(problem.evidence.questions.quantity)} & set(TERMS[name])
    everywhere = set(booked) >= present
    note = "" if everywhere else "in " + " and ".join(QUANTITIES[k] for k in booked) + " alone"
    expected, found, unit = _values(joint, name, x)
    source = joint.source({"frictionloss": "friction", "spring": "stiffness"}.get(name, name))
    if name == "armature" and everywhere:
        reflected = np.asarray(joint.armature) + x[:, 0]

        def apply(tree: Tree) -> Tree:
            return with_joint(tree, joint.name, armature=reflected)

        return Change(Difference(name, joint.name, expected, found, unit, apply, source))

    def tell(questions: Questions, efforts: Floats) -> Floats:
        efforts = efforts.copy()
        for k in range(nv):
            efforts[:, start + k] += columns(questions, tree, start + k, name, booked) @ x[k]
        return efforts

    return Change(Difference(name, joint.name, expected, found, unit, unchanged, source, note=note), tell=tell)


def _values(joint: Joint, name: str, x: Floats) -> tuple[Any, Any, str]:
    """Return what the file says, what was found, and the unit of a term."""
    slides = joint.kind is JointKind.PRISMATIC
    if name == "spring":
        k, rest = float(x[0, 0]), float(-x[0, 1] / x[0, 0]) if x[0, 0] else 0.0
        unit = "N/m, m" if slides else "N m/rad, rad"
        assert joint.rest is not None  # noqa: S101  set on construction
        return [joint.stiffness, float(joint.rest[0])], [k, rest], unit
    ours = {"armature": joint.reflected, "damping": joint.damping, "frictionloss": joint.friction}[name]
    found = x[:, 0] + joint.reflected if name == "armature" else x[:, 0]
    unit = {"armature": ("kg", "kg m^2"), "damping": ("N s/m", "N m s/rad"), "frictionloss": ("N", "N m")}[name]
    plain = [float(np.ravel(y)[0]) if joint.nv == 1 else np.asarray(y).tolist() for y in (ours, found)]
    return plain[0], plain[1], unit[0 if slides else 1]
