"""The same joints in another order: read off the answers where only they are permuted, else off the diagonal of M.

M_jj depends on the coordinates of the joints strictly below j alone, and on nothing for a leaf. So an order in which an
engine takes and hands over its numbers is found from the leaves inward: which position answers as joint j does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from ..errors import Source
from ..tree import JointKind
from .difference import Difference, unchanged
from .evidence import MASS
from .hypotheses import Candidate, Change
from .maps import fitting, tried

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..tree import Floats, Tree
    from .evidence import Masses, Questions
    from .hypotheses import Problem

ONE_DOF: Final = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC)
TRIES: Final = 3000  # mass matrices that the search from the leaves may ask for, at six states each


def order_candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield orders of the one-dof joints that leave rounding alone."""
    tree, dM = problem.tree, problem.mass_residual
    whole = len(problem.evidence.kept) == tree.nv and bool(problem.evidence.weight.any(0).all())
    # Joints in another order show in M, where M is known.
    if not whole or (dM is not None and np.abs(dM).max(initial=0) <= problem.accept):
        return
    orders = [_of_answers(problem)]
    told = [_change(tree, order, answers=True) for order in orders if order is not None]
    found = list(fitting(problem, [(change,) for change in told]))
    if not found:
        both = [_change(tree, order, answers=False) for order in usual_orders(tree)]
        found = list(fitting(problem, [(change,) for change in both]))
    if not found and (order := _from_leaves(problem)) is not None:
        found = list(fitting(problem, [(_change(tree, order, answers=False),)]))
    yield from found[:1]


def movers(tree: Tree) -> list[int]:
    """Return the bodies whose joints have one dof."""
    return [i for i, joint in enumerate(tree.joints) if joint.kind in ONE_DOF]


def usual_orders(tree: Tree) -> Iterator[list[int]]:
    """Yield orders of the one-dof joints as bodies: alphabetical, reversed, by depth, and every exchange of two."""
    own = movers(tree)
    depth = [0]
    for body in tree.bodies[1:]:
        depth.append(depth[body.parent] + 1)
    siblings = {i: (tree.parents[i], tree.joints[i].name) for i in own}
    usual = [
        sorted(own, key=lambda i: tree.joints[i].name),
        own[::-1],
        sorted(own, key=lambda i: depth[i]),
        sorted(own, key=lambda i: (depth[i], siblings[i])),
        _walk(tree, reverse=False),
        _walk(tree, reverse=True),
    ]
    for i, j in combinations(range(len(own)), 2):
        exchanged = list(own)
        exchanged[i], exchanged[j] = own[j], own[i]
        usual.append(exchanged)
    seen = {tuple(own)}
    for order in usual:
        if tuple(order) not in seen:
            seen.add(tuple(order))
            yield order


def _walk(tree: Tree, *, reverse: bool) -> list[int]:
    """Return the one-dof joints depth-first, siblings by joint name or the other way round."""
    order: list[int] = []
    stack = [0]
    while stack:
        i = stack.pop()
        order.append(i)
        children = [k for k in range(1, len(tree.bodies)) if tree.parents[k] == i]
        stack += children if reverse else sorted(children, key=lambda k: tree.joints[k].name)[::-1]
    return [i for i in order if tree.joints[i].kind in ONE_DOF]


def _of_answers(problem: Problem) -> list[int] | None:
    """Return the order in which the answers were handed over, when each is that of one other dof."""
    tree, evidence = problem.tree, problem.evidence
    own = movers(tree)
    rows = evidence.questions.quantity != MASS
    if not rows.any():
        return None
    O, P, w = evidence.answers[rows], problem.predicted[rows], evidence.weight[rows]
    at = np.array([tree.v_slices[i].start for i in own], np.intp)
    fits = np.array([[np.abs((O[:, i] - P[:, j]) * w[:, i]).max() <= problem.accept for j in at] for i in at])
    order: list[int] = []
    left = list(range(len(own)))
    for i in range(len(own)):
        options = [j for j in left if fits[i, j]]
        if not options:
            return None
        chosen = i if i in options else options[0]
        order.append(own[chosen])
        left.remove(chosen)
    return order


def _change(tree: Tree, order: Sequence[int], *, answers: bool) -> Change:
    """Return the order as a change: position k of ours, a one-dof joint, is the joint of body order[k] of theirs."""
    own = movers(tree)
    qs, vs = ([s[i].start for i in own] for s in (tree.q_slices, tree.v_slices))
    to_q, to_v = ([s[i].start for i in order] for s in (tree.q_slices, tree.v_slices))

    def ask(questions: Questions) -> Questions:
        q, v, a = questions.q.copy(), questions.v.copy(), questions.a.copy()
        rows = (questions.quantity == MASS) if answers else np.full(len(q), True)
        a[np.ix_(rows, to_v)] = questions.a[np.ix_(rows, vs)]
        if not answers:
            q[:, to_q], v[:, to_v] = questions.q[:, qs], questions.v[:, vs]
        return replace(questions, q=q, v=v, a=a)

    def tell(questions: Questions, efforts: Floats) -> Floats:
        del questions
        told = efforts.copy()
        told[:, vs] = efforts[:, to_v]
        return told

    ours, theirs = ([tree.joints[i].name for i in some] for some in (own, order))
    note = "the answers alone" if answers else "questions and answers"
    source = Source(tree.origin.path)
    return Change(Difference("joint.order", None, ours, theirs, "", unchanged, source, note=note), ask, tell)


@dataclass(eq=False)
class _Search:
    """Which position holds which joint, from the leaves inward.

    Attributes:
        problem: with M entry by entry.
        masses: M of the engine.
        own: bodies of one-dof joints, whose places in the coordinates are the positions.
        taken: body to the body whose place it holds.
        tries: mass matrices that may still be asked for.
    """

    problem: Problem
    masses: Masses
    own: list[int]
    taken: dict[int, int]
    tries: int = TRIES

    def run(self) -> Iterator[list[int]]:
        """Yield every order that M allows: the body of the joint that stands at each position."""
        if len(self.taken) == len(self.own):
            holds = {place: body for body, place in self.taken.items()}
            yield [holds[place] for place in self.own]
            return
        body = self.own[-1 - len(self.taken)]  # children before parents
        for place in self._options(body):
            self.taken[body] = place
            yield from self.run()
            del self.taken[body]

    def _options(self, body: int) -> list[int]:
        """Return the free places whose entries of M are those of `body`, with all joints below it and the base."""
        tree = self.problem.tree
        free = sorted(set(self.own) - set(self.taken.values()), key=lambda place: place != body)
        self.tries -= len(free)
        if self.tries < 0:
            return []
        # Between a dof and the base M depends on the dof's own coordinate too: each place is asked by itself.
        base = [] if any(_is_above(tree, k, body) for k in self.own) else self._base(body)
        q = np.tile(self.masses.q, (len(free), 1, 1))
        for other, place in self.taken.items():
            q[..., tree.q_slices[other].start] = self.masses.q[:, tree.q_slices[place].start]
        for k, place in enumerate(free):
            q[k, :, tree.q_slices[body].start] = self.masses.q[:, tree.q_slices[place].start]
        M = np.asarray(self.problem.reference.mass_matrix(q.reshape(-1, tree.nq)), np.float64)
        M = M.reshape(len(free), -1, tree.nv, tree.nv)
        below = [k for k in self.taken if _is_above(tree, body, k)]
        at = [tree.v_slices[i].start for i in (body, *below)] + base
        return [place for k, place in enumerate(free) if self._fits(M[k][:, at[0], at], place, below, base)]

    def _base(self, body: int) -> list[int]:
        """Return the dofs of the other joints above a body."""
        tree = self.problem.tree
        above = [i for i in range(1, body) if _is_above(tree, i, body)]
        return [dof for i in above for dof in range(tree.v_slices[i].start, tree.v_slices[i].stop)]

    def _fits(self, ours: Floats, place: int, below: list[int], base: list[int]) -> bool:
        tree, masses = self.problem.tree, self.masses
        there = [tree.v_slices[i].start for i in (place, *(self.taken[k] for k in below))] + base
        theirs, weight = (x[:, there[0], there] for x in (masses.M, masses.weight))
        return bool(np.abs((ours - theirs) * weight).max() <= self.problem.accept)


def _is_above(tree: Tree, i: int, k: int) -> bool:
    """Return whether body i is strictly above body k."""
    k = tree.parents[k]
    while k > i:
        k = tree.parents[k]
    return k == i


def _from_leaves(problem: Problem) -> list[int] | None:
    """Return an order of questions and answers that M allows and that the other answers bear out; None without one."""
    masses, tree = problem.evidence.masses, problem.tree
    if masses is None or problem.given:
        return None
    light = problem.light
    for order in _Search(problem, masses, movers(tree), {}).run():
        if tried(light, [(_change(tree, order, answers=False),)])[0] <= problem.accept:
            return order
    return None
