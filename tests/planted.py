"""Defects planted in trees and in answers, by code that shares nothing with the diagnosis.

A planter takes a tree (and states) with a generator, and returns what an engine with that defect holds or answers, and
the place. `LookupError` says that this robot cannot have the defect.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from random_trees import ONE_DOF, random_inertia

from tautology.adapters.reference import Reference
from tautology.harness.checks.truth import Truth
from tautology.harness.diagnosis.closure import Observed
from tautology.harness.spatial import exp_so3, rotation_from_quaternion, skew, transform
from tautology.harness.states import sample
from tautology.harness.tree import Inertia, JointKind

SIX = (0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)
TURNING = (JointKind.REVOLUTE, JointKind.CONTINUOUS)


@dataclass(frozen=True, eq=False)
class Bench:
    """A robot with its states, and the scales of its answers."""

    tree: object
    states: object
    scales: dict


def bench(tree, count=40, seed=0):
    """Return a robot ready to be asked; wrenches stand on moving bodies, as in `check`."""
    drawn = sample(tree, count, seed)
    states = replace(drawn, wrenches=tree.fusion.fold(drawn.wrenches))
    truth = Truth(tree, states, Reference(tree), Reference(tree))
    names = ("tau", "bias", "gravity", "mass_matrix")
    return Bench(tree, states, {name: getattr(truth, name).scale for name in names})


def answers(tree, states, q=None, v=None, a=None, wrenches=None):
    """Return tau, bias, gravity and M; q, v and wrenches map the questions, a maps accelerations from (q, v, a)."""
    same = lambda x: x  # noqa: E731
    Q, V, W = (q or same)(states.q), (v or same)(states.v), (wrenches or same)(states.wrenches)
    rest = np.zeros_like(V)
    of = a or (lambda _q, _v, x: x)
    engine = Reference(tree)
    return {
        "tau": engine.inverse_dynamics(Q, V, of(Q, V, (v or same)(states.a)), W),
        "bias": engine.inverse_dynamics(Q, V, of(Q, V, rest)),
        "gravity": engine.gravity_forces(Q),
        "mass_matrix": engine.mass_matrix(Q),
    }


def observed(b, values, dofs=None):
    """Return what was observed on a bench, on all dofs or on some."""
    if dofs is None:
        return Observed(b.states, b.tree.dofs, values, b.scales)
    at = [b.tree.dofs.index(name) for name in dofs]
    cut = lambda x: x[:, at][:, :, at] if x.ndim == 3 else x[:, at]  # noqa: E731
    return Observed(b.states, dofs, *({n: cut(x) for n, x in some.items()} for some in (values, b.scales)))


def pick(rng, options):
    """Return one of some options."""
    options = list(options)
    if not options:
        raise LookupError
    return options[int(rng.integers(len(options)))]


def size(rng):
    """Return a relative size, from subtle to blatant."""
    return 10 ** rng.uniform(-6, 0)


def turn(rng, angle):
    """Return a rotation by an angle about a random axis."""
    w = rng.normal(size=3)
    return rotation_from_quaternion(exp_so3(w / np.linalg.norm(w) * angle))


def body(tree, name, **fields):
    """Return the tree with fields of one body replaced."""
    at = tree.index[name]
    changed = replace(tree.bodies[at], **fields)
    return replace(tree, bodies=(*tree.bodies[:at], changed, *tree.bodies[at + 1 :]))


def joint(tree, name, **fields):
    """Return the tree with fields of one joint replaced."""
    at = tree.joint_index[name]
    return body(tree, tree.bodies[at].name, joint=replace(tree.joints[at], **fields))


def heavy(tree):
    """Return the bodies that move and resist motion."""
    return [b for i, b in enumerate(tree.bodies) if tree.moving[i] and not b.inertia.is_zero]


def hinges_and_slides(tree):
    """Return the joints with one dof."""
    return [j for j in tree.joints if j.kind in ONE_DOF]


def movable(tree):
    """Return the joints whose placement matters."""
    return [j for j in tree.joints[1:] if j.nv and j.kind is not JointKind.FLOATING]


def held(tree):
    """Return the fixed joints that hold inertia on a moving body."""
    heavy_below = [not b.inertia.is_zero for b in tree.bodies]
    for i in range(len(tree.bodies) - 1, 0, -1):
        heavy_below[tree.parents[i]] |= heavy_below[i]
    at = range(1, len(tree.bodies))
    return [tree.joints[i] for i in at if not tree.joints[i].nv and tree.moving[i] and heavy_below[i]]


def of_body(change, needs_mass=False):
    """Return a planter that changes the inertia of one body."""

    def plant(tree, rng):
        b = pick(rng, [b for b in heavy(tree) if b.inertia.mass or not needs_mass])
        return body(tree, b.name, inertia=change(b.inertia, rng)), b.name

    return plant


def of_joint(change, among=hinges_and_slides):
    """Return a planter that changes fields of one joint."""

    def plant(tree, rng):
        j = pick(rng, among(tree))
        return joint(tree, j.name, **change(j, rng)), j.name

    return plant


def six(I):
    """Return xx yy zz xy xz yz."""
    return np.array([I[at] for at in SIX])


def tensor(values):
    """Return the symmetric matrix of xx yy zz xy xz yz."""
    I = np.zeros((3, 3))
    for at, value in zip(SIX, values, strict=True):
        I[at] = I[at[::-1]] = value
    return I


def with_tensor(inertia, I):
    """Return the inertia with another tensor."""
    return replace(inertia, I_com=(I + I.T) / 2)


def _turned(I, rng):
    R = turn(rng, min(3, 3 * size(rng)))
    return with_tensor(I, R @ I.I_com @ R.T)


def _valued(I, rng):
    values = six(I.I_com)
    return with_tensor(I, tensor(values + np.abs(values).max() * rng.normal(size=6) * size(rng) * 0.3))


def _flipped(I, rng):
    values = six(I.I_com)
    return with_tensor(I, tensor([*values[:3], *values[3:] * rng.choice([-1, 1], 3)]))


def _shifted(I, rng):
    return with_tensor(I, I.I_com - rng.choice([1, -1]) * I.mass * skew(I.com) @ skew(I.com))


def _missing(tree, rng):
    b = pick(rng, heavy(tree))
    return body(tree, b.name, inertia=Inertia()), b.name


def _invented(tree, rng):
    empty = [b for i, b in enumerate(tree.bodies) if i and tree.moving[i] and b.inertia.is_zero]
    b = pick(rng, [b for b in empty if "inertial" not in b.sources])
    unit = Inertia(1, np.zeros(3), np.eye(3))
    return body(tree, b.name, inertia=unit if rng.random() < 0.5 else random_inertia(rng)), b.name


def _reaxed(j, rng):
    n = turn(rng, min(3, 3 * size(rng))) @ j.axis
    return {"axis": n / np.linalg.norm(n)}


def _rezeroed(j, rng):
    reach = 0.5 if j.kind is JointKind.PRISMATIC else np.pi
    return {"ref": j.ref + reach * size(rng) * rng.choice([-1, 1])}


def _moved(j, rng):
    return {"T_parent_joint": j.T_parent_joint @ transform(np.eye(3), turn(rng, 1) @ [0.2 * size(rng), 0, 0])}


def _reoriented(j, rng):
    return {"T_parent_joint": j.T_parent_joint @ transform(turn(rng, min(3, 3 * size(rng))), np.zeros(3))}


def _unturned(j, _rng):
    if np.abs(j.T_parent_joint[:3, :3] - np.eye(3)).max() < 1e-9:
        raise LookupError
    return {"T_parent_joint": transform(np.eye(3), j.T_parent_joint[:3, 3])}


def _millimetres(j, rng):
    if not j.T_parent_joint[:3, 3].any():
        raise LookupError
    return {"T_parent_joint": transform(j.T_parent_joint[:3, :3], j.T_parent_joint[:3, 3] * rng.choice([1e3, 1e-3]))}


TREES = {
    "mass": of_body(lambda I, rng: replace(I, mass=I.mass * (1 + size(rng))), needs_mass=True),
    "com": of_body(lambda I, rng: replace(I, com=I.com + turn(rng, 1) @ [0.1 * size(rng), 0, 0]), needs_mass=True),
    "inertia.rotation": of_body(_turned),
    "inertia.value": of_body(_valued),
    "inertia.order": of_body(lambda I, rng: with_tensor(I, tensor(six(I.I_com)[rng.permutation(6)]))),
    "inertia.sign": of_body(_flipped),
    "inertia.off_diagonal": of_body(lambda I, _: with_tensor(I, np.diag(np.diag(I.I_com)))),
    "inertia.reference_point": of_body(_shifted),
    "units.length of a centre": of_body(
        lambda I, rng: replace(I, com=I.com * rng.choice([1e3, 1e-3])), needs_mass=True
    ),
    "body.missing": _missing,
    "mass.default": _invented,
    "armature": of_joint(lambda j, rng: {"armature": j.armature + size(rng)}, lambda t: [j for j in t.joints if j.nv]),
    "rotor": of_joint(lambda _j, rng: {"rotor": size(rng)}),
    "joint.axis": of_joint(_reaxed),
    "joint.axis_sign": of_joint(lambda j, _: {"axis": -j.axis}),
    "joint.zero": of_joint(_rezeroed),
    "joint.placement": of_joint(_moved, movable),
    "joint.placement of a fixed joint": of_joint(_moved, held),
    "joint.orientation": of_joint(_reoriented, movable),
    "joint.orientation of a fixed joint": of_joint(_reoriented, held),
    "joint.orientation left out": of_joint(_unturned, movable),
    "units.length of a placement": of_joint(_millimetres, movable),
    "gravity.value": lambda t, rng: (replace(t, gravity=t.gravity * (1 + size(rng))), None),
    "gravity.value of zero": lambda t, _: (replace(t, gravity=np.zeros(3)), None),
    "gravity.sign": lambda t, _: (replace(t, gravity=-t.gravity), None),
    "gravity.direction": lambda t, rng: (replace(t, gravity=turn(rng, min(3, 3 * size(rng))) @ t.gravity), None),
}
