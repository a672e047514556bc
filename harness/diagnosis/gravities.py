"""Gravity of another size, sign or direction, gravity compensation, and tendon inertia: linear, and of no one dof."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import Source
from ..spatial import exp_so3, rotation_from_quaternion
from ..tree import TendonInertia
from .difference import Difference, unchanged, with_tendons
from .evidence import BIAS, GRAVITY, MASS, QUANTITIES, TAU
from .fitting import descend, shown, solve, subspace
from .hypotheses import Candidate, Change, rms
from .parameters import transport, vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..tree import Floats, Tree
    from .evidence import Questions
    from .hypotheses import Problem

HEAVY = (TAU, BIAS, GRAVITY)


@dataclass(frozen=True, eq=False)
class Booking:
    """In which answers the residual shows.

    Attributes:
        rows: (E,) questions of these quantities.
        quantities: indices in `QUANTITIES`.
        everywhere: whether all answers that could show it do.
    """

    rows: np.ndarray
    quantities: tuple[int, ...]
    everywhere: bool

    @property
    def note(self) -> str:
        """For the reader."""
        return "" if self.everywhere else "in " + " and ".join(QUANTITIES[k] for k in self.quantities) + " alone"


def booking(problem: Problem, could: tuple[int, ...]) -> Booking | None:
    """Return where the residual shows; None when it shows in an answer that could not have it."""
    quantity = problem.evidence.questions.quantity
    size = np.abs(problem.residual).max(1, initial=0)
    shows = tuple(k for k in range(len(QUANTITIES)) if size[quantity == k].max(initial=0) > problem.accept)
    if not shows or not set(shows) <= set(could):
        return None
    present = {int(k) for k in np.unique(quantity)} & set(could)
    return Booking(np.isin(quantity, shows), shows, set(shows) >= present)


def gravity_candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield gravities that leave rounding alone: the sign, one of another size, one of another direction."""
    where = booking(problem, HEAVY)
    if where is None:
        return
    tree, asked = problem.tree, problem.asked
    at_rest = np.zeros_like(asked.v)
    units = [problem.reference.inverse_dynamics(asked.q, at_rest, at_rest, None, e) for e in np.eye(3)]
    here = (asked.heavy & where.rows)[:, None, None]
    A = problem.rows(np.where(here, np.stack(units, axis=-1), 0))
    space, r = subspace(A), problem.residual.ravel()
    outside = float(((r - space.Q @ (space.Q.T @ r)) ** 2).sum())
    if np.sqrt(outside / r.size) > problem.accept:
        return
    M, z, g = space.R, space.Q.T @ r, tree.gravity
    tries: list[tuple[str, Floats, Floats]] = []
    column = M @ g
    if column.any():
        k = float(column @ z / (column @ column))
        tries = [("gravity.sign", -2 * g, np.zeros((3, 0))), ("gravity.value", k * g, k * g[:, None])]
        tries.append(("gravity.direction", *_turned(M, z, g)))
    free = solve(M, z)
    tries.append(("gravity.direction" if g.any() else "gravity.value", free, np.linalg.norm(free) * np.eye(3)))
    told: set[str] = set()
    for kind, change, basis in tries:
        left = float(np.sqrt((((M @ change - z) ** 2).sum() + outside) / r.size))
        if left <= problem.accept and kind not in told:
            told.add(kind)
            yield Candidate((_gravity(problem, kind, change, where),), left, shown(M @ basis, r.size))


def _turned(M: Floats, z: Floats, g: Floats) -> tuple[Floats, Floats]:
    """Return the change that turns g as fits best, and the directions (3, 2) of its size."""
    starts = np.array([[0.0, 0, 0], [2.2, 0, 0], [0, 2.2, 0], [0, 0, 2.2], [-2.2, 0, 0], [0, -2.2, 0], [0, 0, -2.2]])

    def f(x: Floats) -> Floats:
        return (rotation_from_quaternion(exp_so3(x)) @ g - g) @ M.T - z

    x, left = descend(f, starts, steps=30)
    change = np.asarray(rotation_from_quaternion(exp_so3(x[left.argmin()])) @ g - g, np.float64)
    _, _, Vt = np.linalg.svd((g + change)[None])
    return change, Vt[1:].T * float(np.linalg.norm(change))


def _gravity(problem: Problem, kind: str, change: Floats, where: Booking) -> Change:
    tree, reference = problem.tree, problem.reference
    g, h = tree.gravity, tree.gravity + change
    h = np.where(np.abs(h).max() <= 1e-12 * np.abs(g).max(initial=0), 0, h)

    def apply(tree: Tree) -> Tree:
        return replace(tree, gravity=h)

    source = tree.sources.get("gravity") or Source(tree.origin.path)
    told = Difference(
        kind, None, g.tolist(), h.tolist(), "m/s^2", apply if where.everywhere else unchanged, source, note=where.note
    )
    if where.everywhere:
        return Change(told)

    def tell(questions: Questions, efforts: Floats) -> Floats:
        at_rest = np.zeros_like(questions.v)
        pull = reference.inverse_dynamics(questions.q, at_rest, at_rest, None, change)
        here = questions.heavy & np.isin(questions.quantity, where.quantities)
        return efforts + np.where(here[:, None], pull, 0)

    return Change(told, tell=tell)


def gravcomp_candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield gravity compensation booked in the answers: of the file as a whole, or of one body."""
    where = booking(problem, HEAVY)
    if where is None:
        return
    tree, r = problem.tree, problem.residual.ravel()
    heavy = [i for i, body in enumerate(tree.bodies) if tree.moving[i] and body.inertia.mass]
    stated = np.array([tree.bodies[i].gravcomp for i in heavy])
    columns = {i: -_weight(problem, i, where) for i in heavy if problem.reach.inertia(i)}
    if stated.any() and np.count_nonzero(stated) > 1 and all(i in columns for i in np.array(heavy)[stated != 0]):
        total = sum(x * columns[i] for i, x in zip(heavy, stated, strict=True) if x)
        left = rms(r - problem.rows(np.asarray(total)[..., None])[:, 0])
        if left <= problem.accept:
            yield Candidate((_gravcomp(problem, None, stated.tolist(), np.asarray(total), where),), left)
    for i, column in columns.items():
        A = problem.rows(column[..., None])[:, 0]
        size = float(A @ A)
        share = float(A @ r) / size if size else 0.0
        left = rms(r - share * A)
        if size and left <= problem.accept:
            told = _gravcomp(problem, i, share, share * column, where)
            yield Candidate((told,), left, (abs(share) * float(np.sqrt(size / r.size)),))


def _weight(problem: Problem, i: int, where: Booking) -> Floats:
    """Return the effort (E, nv) that carries the weight of body i, where it is booked."""
    tree, holder = problem.tree, problem.tree.fusion.holder[i]
    parameters = transport(tree.fusion.Ts_holder_body[i]) @ vector(tree.bodies[i].inertia)
    pull = problem.regressor.weight_columns(holder, tree.gravity) @ parameters
    return np.where(where.rows[:, None], pull, 0)


def _gravcomp(problem: Problem, i: int | None, share: float | list[float], effort: Floats, where: Booking) -> Change:
    """Return gravity compensation as an addition to some answers of the same questions."""
    tree, reference = problem.tree, problem.reference
    body = None if i is None else tree.bodies[i]
    expected = [b.gravcomp for b in tree.bodies] if body is None else body.gravcomp
    source = Source(tree.origin.path) if body is None else body.source("gravcomp")
    name = None if body is None else body.name
    told = Difference("gravcomp", name, expected, share, "1", unchanged, source, note=where.note or "in all answers")
    shares = {b.name: b.gravcomp for b in tree.bodies} if i is None else {tree.bodies[i].name: float(np.ravel(share)[0])}
    lighter = _lighter(tree, shares)
    del effort

    def tell(questions: Questions, efforts: Floats) -> Floats:
        at_rest = np.zeros_like(questions.v)
        pull = lighter(reference, questions.q, at_rest)
        here = questions.heavy & np.isin(questions.quantity, where.quantities)
        return efforts + np.where(here[:, None], pull, 0)

    return Change(told, tell=tell)


def _lighter(tree: Tree, shares: dict[str, float]) -> Callable[..., Floats]:
    """Return what compensates a share of the weight of some bodies, as wrenches on them at rest."""

    def pull(reference: Any, q: Floats, at_rest: Floats) -> Floats:
        T = np.asarray(reference.poses(q), np.float64)
        wrenches = np.zeros((len(q), len(tree.bodies), 6))
        for name, share in shares.items():
            i, inertia = tree.index[name], tree.bodies[tree.index[name]].inertia
            if i:
                force = -share * inertia.mass * np.einsum("eji,j->ei", T[:, i - 1, :3, :3], tree.gravity)
                wrenches[:, i] = np.concatenate([np.cross(inertia.com, force), force], axis=1)
        return np.asarray(reference.inverse_dynamics(q, at_rest, at_rest, wrenches, np.zeros(3)), np.float64)

    return pull


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
    if off > problem.accept or np.count_nonzero(c) < 2:
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
