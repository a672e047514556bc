"""Conventions that an engine or its caller may have swapped, as maps of the questions and of the answers.

A map says how the numbers that were meant canonically were taken, and how the efforts were handed over. With
v_engine = T v and a_engine = T a + beta (ENGINE: conventions of the base in each engine's adapter), numbers taken as the
engine's own are v = T^-1 v_engine, and efforts are handed over as T^-T tau.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ..spatial import rotation_from_quaternion, skew
from ..tree import JointKind
from .difference import Difference, unchanged
from .evidence import MASS, answer
from .hypotheses import Candidate, Change, rms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..tree import Floats, Tree
    from .evidence import Questions
    from .hypotheses import Ask, Problem, Tell

DEGREE: Final = np.pi / 180


def fitting(problem: Problem, guesses: Sequence[tuple[Change, ...]]) -> Iterator[Candidate]:
    """Yield the guesses that leave rounding alone, tried together on few questions and then on all."""
    light = problem.light
    for changes, left in zip(guesses, tried(light, guesses), strict=True):
        if left <= problem.accept:
            rest = rms(problem.left(changes)) if len(light.asked) < len(problem.asked) else left
            if rest <= problem.accept:
                yield Candidate(changes, rest, (), len(changes))


def tried(problem: Problem, guesses: Sequence[tuple[Change, ...]]) -> list[float]:
    """Return the root mean square that each guess, which must not touch the tree, leaves."""
    if not guesses:
        return []
    meant = [_stages(problem.asked, changes) for changes in guesses]
    efforts = answer(problem.reference, _joined([stages[-1] for stages in meant]))
    count = len(problem.asked)
    left: list[float] = []
    for k, (changes, stages) in enumerate(zip(guesses, meant, strict=True)):
        told = efforts[k * count : (k + 1) * count]
        for change, stage in zip(reversed(changes), reversed(stages[:-1]), strict=True):
            told = change.tell(stage, told)
        left.append(rms(problem.evidence.residual(problem.told(problem.evidence.questions, told))))
    return left


def _stages(asked: Questions, changes: Sequence[Change]) -> list[Questions]:
    stages = [asked]
    for change in changes:
        stages.append(change.ask(stages[-1]))
    return stages


def _joined(parts: Sequence[Questions]) -> Questions:
    """Return many questions as one."""
    whole = parts[0].repeated(len(parts))
    fields = {name: np.concatenate([getattr(p, name) for p in parts]) for name in ("q", "v", "a")}
    wrenches = None if whole.wrenches is None else np.concatenate([p.wrenches for p in parts if p.wrenches is not None])
    return replace(whole, wrenches=wrenches, **fields)


def told(kind: str, where: str | None, expected: str, found: str, tree: Tree) -> Difference:
    """Return a convention as a difference that touches no parameter."""
    joint = tree.joints[tree.joint_index[where]] if where in tree.joint_index else None
    sources = {"source": joint.source()} if joint else {}
    return Difference(kind, where, expected, found, "", unchanged, **sources)


@dataclass(frozen=True, eq=False)
class Frame:
    """How the velocity of a floating base may be written: v_engine = P T v, a_engine = P (T a + beta).

    Attributes:
        linear, angular: "body" or "world", the axes of each part; "inertial" takes both at the world origin.
        swapped: angular part first.
        ordinary: whether accelerations are ordinary, beta = R (omega x v) in the linear part.
        back: T^-1 instead of T, as if our numbers had been in the other frame.
        answers: whether only the answers are so, and the questions were understood.
    """

    linear: str = "body"
    angular: str = "body"
    swapped: bool = False
    ordinary: bool = False
    back: bool = False
    answers: bool = False

    def change(self, tree: Tree) -> tuple[Change, ...]:
        """Return it as differences: frame, order and acceleration apart; the first carries the map."""
        name = tree.joints[tree.floating_roots[0]].name
        differences: list[Difference] = []
        moved = (self.linear, self.angular) != ("body", "body")
        if moved:
            axes = f"linear part in {self.linear}, angular part in {self.angular} axes"
            expected, found = ("both parts in body axes", axes)
            differences.append(told("base.velocity_frame", name, *((found, expected) if self.back else (expected, found)), tree))
        if self.swapped:
            differences.append(told("base.component_order", name, "linear first", "angular first", tree))
        if self.ordinary and not moved:
            differences.append(told("base.acceleration", name, "spatial", "ordinary", tree))
        first, *others = differences
        return (Change(first, self._ask(tree), self._tell(tree)), *(Change(d) for d in others))

    def _matrix(self, tree: Tree, root: int, questions: Questions) -> Floats:
        """Return P T (E, 6, 6) of one base."""
        joint = tree.joints[root]
        q = questions.q[:, tree.q_slices[root]]
        R = joint.T_parent_joint[:3, :3] @ np.asarray(rotation_from_quaternion(q[:, 3:]), np.float64)
        T = np.zeros((len(q), 6, 6))
        T[:, :3, :3] = np.eye(3) if self.linear == "body" else R
        T[:, 3:, 3:] = np.eye(3) if self.angular == "body" else R
        if self.linear == "inertial":
            p = q[:, :3] @ joint.T_parent_joint[:3, :3].T + joint.T_parent_joint[:3, 3]
            T[:, :3, 3:] = skew(p) @ R
        if self.back:
            T = np.linalg.inv(T)
        return T[:, [3, 4, 5, 0, 1, 2]] if self.swapped else T

    def _ask(self, tree: Tree) -> Ask:
        def ask(questions: Questions) -> Questions:
            v, a = questions.v.copy(), questions.a.copy()
            for root in tree.floating_roots:
                at, T = tree.v_slices[root], self._matrix(tree, root, questions)
                rows = questions.quantity == MASS if self.answers else np.full(len(v), True)
                u = np.linalg.solve(T, v[:, at, None])[..., 0]
                b = np.linalg.solve(T, a[:, at, None])[..., 0]
                if self.ordinary:
                    b[:, :3] -= np.cross(u[:, 3:], u[:, :3])
                v[:, at] = np.where(rows[:, None], u, v[:, at])
                a[:, at] = np.where(rows[:, None], b, a[:, at])
            return replace(questions, v=v, a=a)

        return ask

    def _tell(self, tree: Tree) -> Tell:
        def tell(questions: Questions, efforts: Floats) -> Floats:
            efforts = efforts.copy()
            for root in tree.floating_roots:
                at, T = tree.v_slices[root], self._matrix(tree, root, questions)
                efforts[:, at] = np.linalg.solve(np.swapaxes(T, 1, 2), efforts[:, at, None])[..., 0]
            return efforts

        return tell


def base_guesses(tree: Tree) -> list[tuple[Change, ...]]:
    """Return the ways to write the velocity of a floating base, one difference before two."""
    if not tree.floating_roots:
        return list(_quaternions(tree))
    world = [("world", "body"), ("world", "world"), ("body", "world"), ("inertial", "world")]
    frames = [Frame(ordinary=True), Frame(swapped=True), Frame(swapped=True, answers=True)]
    for swapped in (False, True):
        for linear, angular in world:
            for answers in (False, True):
                frames.append(Frame(linear, angular, swapped, answers=answers))
                frames.append(Frame(linear, angular, swapped, back=True, answers=answers))
            if linear == "world":
                frames.append(Frame(linear, angular, swapped, ordinary=True))
    guesses = [frame.change(tree) for frame in frames]
    guesses.append((_accelerated(tree),))
    return [*guesses, *_quaternions(tree)]


def _accelerated(tree: Tree) -> Change:
    """Return the opposite of an ordinary acceleration: spatial where ordinary was meant."""

    def ask(questions: Questions) -> Questions:
        a = questions.a.copy()
        for root in tree.floating_roots:
            at = tree.v_slices[root].start
            v = questions.v[:, at : at + 6]
            a[:, at : at + 3] += np.cross(v[:, 3:], v[:, :3])
        return replace(questions, a=a)

    name = tree.joints[tree.floating_roots[0]].name
    return Change(told("base.acceleration", name, "spatial", "omega x v added twice", tree), ask)


def _quaternions(tree: Tree) -> Iterator[tuple[Change, ...]]:
    """Yield quaternions whose scalar was taken from the other end: of all joints, of one kind of them, of one joint."""
    kinds = (JointKind.FLOATING, JointKind.BALL)
    balls, floating = ([i for i, joint in enumerate(tree.joints) if joint.kind is kind] for kind in kinds[::-1])
    every = sorted([*floating, *balls])
    groups = dict.fromkeys(tuple(group) for group in (every, floating, balls, *([i] for i in every)) if group)
    for group in groups:
        for order, found in (([3, 0, 1, 2], "taken as xyzw"), ([1, 2, 3, 0], "handed over as xyzw")):
            change = told("base.quaternion_order", tree.joints[group[0]].name, "wxyz", found, tree)
            yield (Change(change, _requaternion(tree, group, order)),)


def _requaternion(tree: Tree, some: Sequence[int], order: Sequence[int]) -> Ask:
    """Return the map under which numbers x are taken as the quaternion wxyz = x[order]."""

    def ask(questions: Questions) -> Questions:
        q = questions.q.copy()
        for i in some:
            stop = tree.q_slices[i].stop
            q[:, stop - 4 : stop] = q[:, stop - 4 : stop][:, order]
        return replace(questions, q=q)

    return ask


def wrench_guesses(tree: Tree, problem: Problem) -> list[tuple[Change, ...]]:
    """Return other ways to take an external wrench: point, axes, order, sign; empty without wrenches."""
    asked = problem.asked
    if asked.wrenches is None or not asked.wrenches.any():
        return []
    rest = np.abs(problem.residual[~asked.wrenches.any((1, 2))]).max(initial=0)
    if rest > problem.accept:
        return []
    guesses: list[tuple[Change, ...]] = []
    for point in ("origin", "com", "world origin"):
        for axes in ("body", "world"):
            for force_first in (False, True):
                for sign in (1, -1):
                    found = f"{'force' if force_first else 'moment'} first, about the {point}, in {axes} axes"
                    first = told("wrench.frame", None, "moment first, about the body origin, in body axes", found, tree)
                    other = told("wrench.sign", None, "on the body", "by the body", tree)
                    plain = (point, axes, force_first) == ("origin", "body", False)
                    names = [*([] if plain else [first]), *([other] if sign < 0 else [])]
                    if names:
                        ask = _rewrench(tree, problem, point, axes, force_first=force_first, sign=sign)
                        guesses.append((Change(names[0], ask), *(Change(d) for d in names[1:])))
    return guesses


def _rewrench(tree: Tree, problem: Problem, point: str, axes: str, *, force_first: bool, sign: int) -> Ask:
    reference = problem.reference
    coms = np.array([body.inertia.com for body in tree.bodies])

    def ask(questions: Questions) -> Questions:
        if questions.wrenches is None:
            return questions
        w = questions.wrenches * sign
        T = np.tile(np.eye(4), (*w.shape[:2], 1, 1))
        T[:, 1:] = reference.poses(questions.q)
        n, f = (w[..., 3:], w[..., :3]) if force_first else (w[..., :3], w[..., 3:])
        R, p = T[..., :3, :3], T[..., :3, 3]
        if axes == "world":
            n, f = (np.einsum("ebji,ebj->ebi", R, x) for x in (n, f))
        arm = {"origin": np.zeros_like(p), "com": np.broadcast_to(coms, p.shape)}.get(point)
        if arm is None:
            arm = -np.einsum("ebji,ebj->ebi", R, p)
        return replace(questions, wrenches=np.concatenate([n + np.cross(arm, f), f], axis=-1))

    return ask


def unit_guesses(tree: Tree) -> Iterator[tuple[Change, ...]]:
    """Yield coordinates taken in degrees or millimetres: of all joints of a kind, or of one."""
    hinges = [i for i, joint in enumerate(tree.joints) if joint.kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS)]
    slides = [i for i, joint in enumerate(tree.joints) if joint.kind is JointKind.PRISMATIC]
    for kind, joints, factors, names in (
        ("units.angle", hinges, (DEGREE, 1 / DEGREE), ("rad", "degrees")),
        ("units.length", slides, (1e-3, 1e3), ("m", "mm")),
    ):
        groups = [(None, joints), *((tree.joints[i].name, [i]) for i in joints)]
        for where, group in groups if joints else []:
            for factor in factors:
                for rates in (False, True):
                    at = told(kind, where, names[0], names[1] if factor < 1 else f"{names[0]}, handed over as {names[1]}", tree)
                    yield (Change(at, _scaled(tree, group, factor, rates=rates)),)


def _scaled(tree: Tree, joints: Sequence[int], factor: float, *, rates: bool) -> Ask:
    qs = [tree.q_slices[i].start for i in joints]
    vs = [tree.v_slices[i].start for i in joints]

    def ask(questions: Questions) -> Questions:
        q, v, a = questions.q.copy(), questions.v.copy(), questions.a.copy()
        q[:, qs] *= factor
        if rates:
            v[:, vs] *= factor
            a[:, vs] *= factor
        return replace(questions, q=q, v=v, a=a)

    return ask


