"""What is seen before any search: answers that are no numbers, half a mass matrix, dofs that are not there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..tree import Inertia, Joint, JointKind, Tree
from .alignment import home_placement
from .difference import Difference, unchanged, with_body, with_inertia
from .hypotheses import Change, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..tree import Floats
    from .closure import Observed
    from .evidence import Questions
    from .hypotheses import Ask, Make


def numbers(observed: Observed) -> tuple[Observed, tuple[str, ...]]:
    """Return the observations that are finite, and a note for every quantity that is not."""
    bad = [name for name, value in observed.values.items() if not np.isfinite(value).all()]
    kept = {name: value for name, value in observed.values.items() if name not in bad and value.size}
    notes = tuple(f"{name} holds what is no number and was left out" for name in bad)
    return replace(observed, values=kept), notes


def mirrored(observed: Observed, tree: Tree, make: Make) -> tuple[Observed, tuple[Change, ...]]:
    """Return the observations with a whole M, and the difference when only one triangle of it was filled or right."""
    M = observed.values.get("mass_matrix")
    if M is None:
        return observed, ()
    scale = observed.scales["mass_matrix"]
    size = np.maximum(np.maximum(scale, np.abs(M)), np.abs(np.swapaxes(M, 1, 2)))
    if np.abs((M - np.swapaxes(M, 1, 2)) / np.where(size > 0, size, 1)).max(initial=0) <= 1e-12:
        return observed, ()
    at = [tree.dofs.index(name) for name in observed.dofs]
    expected = np.asarray(make(tree).mass_matrix(observed.states.q), np.float64)[:, at][:, :, at]
    halves = {"lower": np.tril(M), "upper": np.triu(M)}
    whole = {name: half + np.swapaxes(half, 1, 2) - _diagonal(M) for name, half in halves.items()}
    # An empty triangle is the wrong one; where both hold numbers, the one that is nearer to ours is right.
    off = {name: float(np.abs((X - expected) / np.where(size > 0, size, 1)).max()) for name, X in whole.items()}
    off |= {name: np.inf for name, half in halves.items() if not (half - _diagonal(M)).any()}
    right = min(off, key=lambda name: off[name])
    told = Difference("mass_matrix.triangle", None, "both triangles", f"the {right} triangle alone", "", unchanged)
    return replace(observed, values={**observed.values, "mass_matrix": whole[right]}), (Change(told),)


def _diagonal(M: Floats) -> Floats:
    return M * np.eye(M.shape[-1])


def missing(problem: Problem, dofs: tuple[str, ...]) -> tuple[Change, ...]:
    """Return what explains best the joints that the engine does not have: locked at 0, or gone with all they carry."""
    tree = problem.tree
    gone = [i for i, joint in enumerate(tree.joints) if joint.nv and not set(joint.dofs) <= set(dofs)]
    if not gone:
        return ()
    tries = [
        [_locked(tree, i, np.zeros(tree.joints[i].nq)) for i in gone],
        [_locked(tree, i, tree.joints[i].neutral) for i in gone],
        [change for i in gone for change in (_locked(tree, i, tree.joints[i].neutral), *_dropped(tree, i))],
    ]
    return min((tuple(changes) for changes in tries), key=lambda changes: problem.retold(changes).size)


def other_types(seen: tuple[Change, ...], tree: Tree) -> tuple[tuple[Change, ...], ...]:
    """Return what was seen in other words: a joint that is locked may be there, as one of another type."""
    if any(change.difference.kind == "body.missing" for change in seen):
        return ()
    told: list[Change] = []
    for change in seen:
        d = change.difference
        if d.kind == "joint.missing":
            joint = tree.joints[tree.joint_index[d.where or ""]]
            values = (joint.kind.value, "another, with other coordinates", "")
            d = Difference("joint.type", d.where, *values, d.apply, joint.source("type"))
        told.append(replace(change, difference=d))
    return (tuple(told),) if any(c.difference.kind == "joint.type" for c in told) else ()


def _locked(tree: Tree, i: int, q0: Floats) -> Change:
    """Return a joint held at q0; a quaternion of zeros is the identity."""
    joint = tree.joints[i]
    at_root = joint.kind is JointKind.FLOATING and not tree.moving[tree.parents[i]]
    values = ("free", "fixed", "") if at_root else (joint.nv, 0, "dof")
    q0 = q0 if joint.nq == joint.nv else joint.neutral

    def ask(questions: Questions) -> Questions:
        q, v, a = questions.q.copy(), questions.v.copy(), questions.a.copy()
        q[:, tree.q_slices[i]] = q0
        v[:, tree.v_slices[i]] = 0
        a[:, tree.v_slices[i]] = 0
        return replace(questions, q=q, v=v, a=a)

    kind = "base.fixed_or_free" if at_root else "joint.missing"
    told = Difference(kind, joint.name, *values, _welded(joint, q0), joint.source())
    return Change(told, ask, keeps=True)


def _welded(joint: Joint, q0: Floats) -> Callable[[Tree], Tree]:
    """Return the patch that makes a joint a fixed one, at q0."""
    shift = float(q0[0]) if joint.nq == 1 else 0.0

    def apply(tree: Tree) -> Tree:
        at = tree.joint_index[joint.name]
        now = tree.joints[at]
        placed = home_placement(replace(now, ref=now.ref - shift))
        fixed = Joint(now.name, JointKind.FIXED, T_parent_joint=placed, sources=now.sources)
        return with_body(tree, tree.bodies[at].name, lambda body: replace(body, joint=fixed))

    return apply


def _dropped(tree: Tree, i: int) -> Iterator[Change]:
    """Yield the bodies of a subtree as gone, with the wrenches on them."""
    inside = {i}
    for k in range(i, len(tree.bodies)):
        if k in inside or tree.parents[k] in inside:
            inside.add(k)
            body = tree.bodies[k]
            values = (body.inertia.mass, 0.0, "kg")
            told = Difference("body.missing", body.name, *values, _without(body.name), body.source())
            if not body.inertia.is_zero:
                yield Change(told, _unloaded(k))


def _unloaded(body: int) -> Ask:
    def ask(questions: Questions) -> Questions:
        if questions.wrenches is None:
            return questions
        wrenches = questions.wrenches.copy()
        wrenches[:, body] = 0
        return replace(questions, wrenches=wrenches)

    return ask


def _without(name: str) -> Callable[[Tree], Tree]:
    return lambda tree: with_inertia(tree, name, Inertia())
