"""Inertia of fixed tendons: constant in M, of rank one, between joints that no chain connects."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..tree import TendonInertia
from .booking import booking
from .difference import Difference, with_tendons
from .evidence import MASS, TAU
from .hypotheses import Candidate, Change, rms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tree import Floats, Tree
    from .hypotheses import Problem


def tendon_candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield one tendon whose inertia the engine has not, has otherwise, or has beyond the file."""
    where = booking(problem, (TAU, MASS))
    if where is None or not where.everywhere:
        return
    tree, r = problem.tree, problem.residual.ravel()
    for k, tendon in enumerate(tree.tendons):
        c = _row(tree, tendon)
        A = problem.rows((problem.asked.a @ c)[:, None, None] * c[None, :, None])[:, 0]
        size = float(A @ A)
        if not size or rms(r - A * float(A @ r) / size) > problem.accept:
            continue
        armature = tendon.armature + float(A @ r) / size
        if armature < -1e-12 * tendon.armature:
            continue
        gone = abs(armature) <= 1e-12 * tendon.armature
        others = [replace(t, armature=0.0 if gone else armature) if j == k else t for j, t in enumerate(tree.tendons)]
        sizes = () if gone else (float(np.sqrt(size / r.size)) * abs(armature - tendon.armature),)
        yield Candidate((_tendon(tendon, armature, tuple(others)),), rms(r - A * float(A @ r) / size), sizes)
        return
    yield from _new_tendon(problem)


def _new_tendon(problem: Problem) -> Iterator[Candidate]:
    """Yield a tendon of rank one that the file does not have."""
    tree, masses, dM = problem.tree, problem.evidence.masses, problem.mass_residual
    if masses is None or dM is None or problem.evidence.kept.size != tree.nv:
        return
    scale = np.divide(1, masses.weight, out=np.zeros_like(dM), where=masses.weight > 0)
    K = (dM * scale).mean(0)
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    at = int(np.abs(values).argmax())
    c = vectors[:, at]
    c = np.where(np.abs(c) > 1e-9, c, 0) * np.sign(c[np.abs(c).argmax()])
    off = max(float(np.abs((dM * scale - values[at] * np.outer(c, c)) * masses.weight).max()), 0.0)
    if off > problem.accept or np.count_nonzero(c) < 2 or values[at] <= 0:
        return
    joints = [tree.joints[tree.joint_of_dof[i]] for i in np.flatnonzero(c)]
    if any(joint.nv != 1 for joint in joints):
        return
    strongest = float(np.abs(c).max())
    named = {joint.name: float(x) / strongest for joint, x in zip(joints, c[c != 0], strict=True)}
    tendon = TendonInertia("tendon", float(values[at]) * strongest**2, named)
    told = _tendon(replace(tendon, armature=0.0), tendon.armature, (*tree.tendons, tendon))
    left = rms(problem.left([told]))
    if left <= problem.accept:
        yield Candidate((told,), left, (problem.size,) * np.count_nonzero(c))


def _tendon(tendon: TendonInertia, armature: float, tendons: tuple[TendonInertia, ...]) -> Change:
    def apply(tree: Tree) -> Tree:
        return with_tendons(tree, tendons)

    values = (tendon.armature, armature, "kg m^2")
    return Change(Difference("armature.tendon", tendon.name, *values, apply, tendon.source))


def _row(tree: Tree, tendon: TendonInertia) -> Floats:
    c = np.zeros(tree.nv)
    for name, coefficient in tendon.coefficients.items():
        c[tree.v_slices[tree.joint_index[name]]] = coefficient
    return c
