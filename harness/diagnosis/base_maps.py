"""Conventions of a floating base: axes and order of its velocity, its acceleration, its quaternion.

With v_engine = T v and a_engine = T a + beta, numbers that were taken as the engine's own are v = T^-1 v_engine, and
efforts are handed over as T^-T tau. The catalogue holds the frames of the engines that have adapters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..spatial import rotation_from_quaternion, skew
from ..tree import JointKind
from .evidence import MASS
from .hypotheses import Change
from .maps import told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..tree import Floats, Tree
    from .difference import Difference
    from .evidence import Questions
    from .hypotheses import Ask, Tell


@dataclass(frozen=True, eq=False)
class Frame:
    """How the velocity of a floating base may be written: v_engine = P T v, a_engine = P (T a + beta).

    Attributes:
        linear, angular: "body" or "world", the axes of each part; "inertial" takes both at the world origin.
        swapped: angular part first.
        ordinary: whether accelerations are ordinary, beta = R (omega x v) in the linear part.
        back: T^-1 instead of T, as if our numbers had been in the other frame.
        answers: whether only the answers are so, and the questions were understood.
        roots: floating bodies that it is about.
        upright: "world" means the axes of the fixed side of the joint, however that stands.
    """

    linear: str = "body"
    angular: str = "body"
    swapped: bool = False
    ordinary: bool = False
    back: bool = False
    answers: bool = False
    roots: tuple[int, ...] = ()
    upright: bool = False

    def change(self, tree: Tree) -> tuple[Change, ...]:
        """Return it as differences: frame, order and acceleration apart; the first carries the map."""
        name = tree.joints[self.roots[0]].name
        differences: list[Difference] = []
        moved = (self.linear, self.angular) != ("body", "body")
        if moved:
            axes = f"linear part in {self.linear}, angular part in {self.angular} axes"
            expected, found = ("both parts in body axes", axes)
            differences.append(
                told("base.velocity_frame", name, *((found, expected) if self.back else (expected, found)), tree)
            )
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
        R = np.asarray(rotation_from_quaternion(q[:, 3:]), np.float64)
        R = R if self.upright else joint.T_parent_joint[:3, :3] @ R
        T = np.zeros((len(q), 6, 6))
        T[:, :3, :3] = np.eye(3) if self.linear == "body" else R
        T[:, 3:, 3:] = np.eye(3) if self.angular == "body" else R
        if self.linear == "inertial":
            p = q[:, :3] @ joint.T_parent_joint[:3, :3].T + joint.T_parent_joint[:3, 3]
            T[:, :3, 3:] = skew(p) @ R
        T = np.asarray(np.linalg.inv(T) if self.back else T, np.float64)
        return T[:, [3, 4, 5, 0, 1, 2]] if self.swapped else T

    def _ask(self, tree: Tree) -> Ask:
        def ask(questions: Questions) -> Questions:
            v, a = questions.v.copy(), questions.a.copy()
            for root in self.roots:
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
            for root in self.roots:
                at, T = tree.v_slices[root], self._matrix(tree, root, questions)
                efforts[:, at] = np.linalg.solve(np.swapaxes(T, 1, 2), efforts[:, at, None])[..., 0]
            return efforts

        return tell


def base_guesses(tree: Tree) -> list[tuple[Change, ...]]:
    """Return the ways to write the velocity of floating joints, all of them or one: one difference before two."""
    guesses: list[tuple[Change, ...]] = []
    roots = tree.floating_roots
    every = tuple(i for i, joint in enumerate(tree.joints) if joint.kind is JointKind.FLOATING)
    for some in dict.fromkeys((roots, every, *((root,) for root in roots))):
        if some:
            askew = any(not np.array_equal(tree.joints[i].T_parent_joint[:3, :3], np.eye(3)) for i in some)
            frames = [frame for upright in ((False, True) if askew else (False,)) for frame in _frames(some, upright)]
            guesses += [frame.change(tree) for frame in frames]
            guesses.append((_accelerated(tree, some),))
    return [*guesses, *_quaternions(tree)]


def _frames(roots: tuple[int, ...], upright: bool) -> Iterator[Frame]:
    """Yield the frames, orders and accelerations that engines are known to have."""
    if not upright:
        yield Frame(ordinary=True, roots=roots)
        yield Frame(swapped=True, roots=roots)
        yield Frame(swapped=True, answers=True, roots=roots)
    for swapped in (False, True):
        for linear, angular in (("world", "body"), ("world", "world"), ("body", "world"), ("inertial", "world")):
            for answers in (False, True):
                for back in (False, True):
                    yield Frame(linear, angular, swapped, back=back, answers=answers, roots=roots, upright=upright)
            if linear == "world":
                yield Frame(linear, angular, swapped, ordinary=True, roots=roots, upright=upright)


def _accelerated(tree: Tree, roots: tuple[int, ...]) -> Change:
    """Return the opposite of an ordinary acceleration: spatial where ordinary was meant."""

    def ask(questions: Questions) -> Questions:
        a = questions.a.copy()
        for root in roots:
            at = tree.v_slices[root].start
            v = questions.v[:, at : at + 6]
            a[:, at : at + 3] += np.cross(v[:, 3:], v[:, :3])
        return replace(questions, a=a)

    name = tree.joints[roots[0]].name
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
