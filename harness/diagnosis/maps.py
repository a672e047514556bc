"""Conventions that an engine or its caller may have swapped, as maps of the questions and of the answers.

A map says how the numbers that were meant canonically were taken, and how the efforts were handed over; no parameter of
the robot changes. Here are wrenches and units, and how any guesses are tried together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ..errors import Source
from ..tree import JointKind
from .difference import Difference, unchanged
from .evidence import answer
from .hypotheses import Candidate, Change, rms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..tree import Tree
    from .evidence import Questions
    from .hypotheses import Ask, Problem

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
    at = tree.joint_index.get(where or "")
    source = tree.joints[at].source() if at else Source(tree.origin.path)
    return Difference(kind, where, expected, found, "", unchanged, source)


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
                    at = told(
                        kind,
                        where,
                        names[0],
                        names[1] if factor < 1 else f"{names[0]}, handed over as {names[1]}",
                        tree,
                    )
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
