"""Engines that hold the right robot and answer otherwise: terms booked elsewhere, other conventions; see `planted`."""

from __future__ import annotations

import numpy as np
from planted import ONE_DOF, TURNING, answers, body, heavy, hinges_and_slides, observed, pick, size

from tautology.adapters.reference import Reference
from tautology.harness.spatial import rotation_from_quaternion


def _plus(b, dof, of, quantities):
    """Return the right answers with a term of one dof, of(q, v, a) (N,), added to some of them."""
    s, values = b.states, answers(b.tree, b.states)
    rest = np.zeros_like(s.v)
    motions = {"tau": (s.v, s.a), "bias": (s.v, rest), "gravity": (rest, rest)}
    for name in quantities:
        values[name][:, dof] += of(s.q, *motions[name])
    return observed(b, values)


def _one(b, rng):
    """Return a joint with one dof, the index of the dof, and where it has its coordinate."""
    j = pick(rng, hinges_and_slides(b.tree))
    at = b.tree.joint_index[j.name]
    return j.name, b.tree.v_slices[at].start, b.tree.q_slices[at].start


def damping(b, rng):
    """Viscous friction in tau, or in the bias too."""
    name, dof, _ = _one(b, rng)
    D = size(rng)
    where = pick(rng, [("tau",), ("tau", "bias")])
    return _plus(b, dof, lambda _q, v, _a: D * v[:, dof], where), name


def frictionloss(b, rng):
    """Dry friction in tau, or in the bias too."""
    name, dof, _ = _one(b, rng)
    c = size(rng)
    where = pick(rng, [("tau",), ("tau", "bias")])
    return _plus(b, dof, lambda _q, v, _a: c * np.sign(v[:, dof]), where), name


def spring(b, rng):
    """A spring in tau, or in all answers but M."""
    name, dof, at = _one(b, rng)
    k, rest = 10 * size(rng), rng.uniform(-1, 1)
    where = pick(rng, [("tau",), ("tau", "bias", "gravity")])
    return _plus(b, dof, lambda q, _v, _a: k * (q[:, at] - rest), where), name


def armature_in_tau(b, rng):
    """Reflected inertia that M does not show."""
    name, dof, _ = _one(b, rng)
    J = size(rng)
    return _plus(b, dof, lambda _q, _v, a: J * a[:, dof], ("tau",)), name


def gravcomp(b, rng):
    """A share of the weight of one body carried by somebody else."""
    chosen = pick(rng, [x for x in heavy(b.tree) if x.inertia.mass])
    I, share = chosen.inertia, rng.uniform(0.1, 1)
    lighter = body(b.tree, chosen.name, inertia=type(I)(I.mass * (1 - share), I.com, I.I_com))
    less = Reference(lighter).gravity_forces(b.states.q) - Reference(b.tree).gravity_forces(b.states.q)
    values = answers(b.tree, b.states)
    return observed(b, {name: x if name == "mass_matrix" else x + less for name, x in values.items()}), chosen.name


def reversed_gravity(b, _rng):
    """The gravity call alone with the other sign."""
    values = answers(b.tree, b.states)
    return observed(b, values | {"gravity": -values["gravity"]}), None


def triangle(b, rng):
    """Half of M."""
    if b.tree.nv < 2:
        raise LookupError
    values = answers(b.tree, b.states)
    return observed(b, values | {"mass_matrix": pick(rng, [np.triu, np.tril])(values["mass_matrix"])}), None


def _permuted(values, order):
    return {name: x[:, order][:, :, order] if x.ndim == 3 else x[:, order] for name, x in values.items()}


def order(b, rng):
    """One-dof joints in any other order: of the answers, or of the questions too."""
    t = b.tree
    own = [i for i, j in enumerate(t.joints) if j.kind in ONE_DOF]
    if len(own) < 2:
        raise LookupError
    mixed = rng.permutation(len(own))
    mixed = mixed if (mixed != np.arange(len(own))).any() else mixed[::-1]
    q, v = np.arange(t.nq), np.arange(t.nv)
    for at, slices in ((q, t.q_slices), (v, t.v_slices)):
        place = np.array([slices[i].start for i in own])
        at[place] = place[mixed]
    if rng.random() < 0.5:
        return observed(b, _permuted(answers(t, b.states), v)), None
    back_q, back_v = np.argsort(q), np.argsort(v)
    values = answers(t, b.states, q=lambda x: x[:, back_q], v=lambda x: x[:, back_v])
    return observed(b, _permuted(values, v)), None


def degrees(b, _rng):
    """All hinges read in degrees."""
    at = [b.tree.q_slices[i].start for i, j in enumerate(b.tree.joints) if j.kind in TURNING]
    if not at:
        raise LookupError

    def scaled(q):
        q = q.copy()
        q[:, at] *= np.pi / 180
        return q

    return observed(b, answers(b.tree, b.states, q=scaled)), None


def _base(b):
    if not b.tree.floating_roots:
        raise LookupError
    root = b.tree.floating_roots[0]
    return b.tree.joints[root], b.tree.q_slices[root].start, b.tree.v_slices[root].start


def velocity_frame(b, rng):
    """The base velocity in world axes, linear part or both, with accelerations as its rates, or turned alone."""
    j, q0, v0 = _base(b)
    s, both, rates = b.states, rng.random() < 0.5, rng.random() < 0.7
    R = j.T_parent_joint[:3, :3] @ rotation_from_quaternion(s.q[:, q0 + 3 : q0 + 7])
    X = np.tile(np.eye(b.tree.nv), (len(s.q), 1, 1))
    for start in (v0, v0 + 3) if both else (v0,):
        X[:, start : start + 3, start : start + 3] = np.swapaxes(R, 1, 2)  # T^-1

    def accelerations(_q, v, a):
        a = a.copy()
        a[:, v0 : v0 + 3] -= np.cross(v[:, v0 + 3 : v0 + 6], v[:, v0 : v0 + 3]) * rates
        return a

    values = answers(b.tree, s, v=lambda v: np.einsum("nij,nj->ni", X, v), a=accelerations)
    M = np.swapaxes(X, 1, 2) @ values["mass_matrix"] @ X
    told = {name: np.einsum("nji,nj->ni", X, x) for name, x in values.items() if x.ndim == 2}
    return observed(b, told | {"mass_matrix": M}), j.name


def component_order(b, _rng):
    """The angular part of the base first."""
    j, _, v0 = _base(b)
    swap = np.arange(b.tree.nv)
    swap[v0 : v0 + 6] = [*range(v0 + 3, v0 + 6), *range(v0, v0 + 3)]
    return observed(b, _permuted(answers(b.tree, b.states, v=lambda v: v[:, swap]), swap)), j.name


def quaternion_order(b, rng):
    """The scalar of the base quaternion at the other end."""
    j, q0, _ = _base(b)
    at = q0 + 3 + np.array(pick(rng, [[1, 2, 3, 0], [3, 0, 1, 2]]))

    def other(q):
        q = q.copy()
        q[:, q0 + 3 : q0 + 7] = q[:, at]
        return q

    return observed(b, answers(b.tree, b.states, q=other)), j.name


def acceleration(b, rng):
    """Ordinary base accelerations taken for spatial ones, or the reverse."""
    j, _, v0 = _base(b)
    sign = rng.choice([-1, 1])

    def other(_q, v, a):
        a = a.copy()
        a[:, v0 : v0 + 3] += sign * np.cross(v[:, v0 + 3 : v0 + 6], v[:, v0 : v0 + 3])
        return a

    return observed(b, answers(b.tree, b.states, a=other)), j.name


def wrench_sign(b, _rng):
    """Wrenches by the body on the environment."""
    return observed(b, answers(b.tree, b.states, wrenches=lambda w: -w)), None


def wrench_frame(b, rng):
    """Wrenches with the force first, about the centre of mass, or in world axes."""
    kind = int(rng.integers(3))
    coms = np.array([x.inertia.com for x in b.tree.bodies])
    R = np.tile(np.eye(3), (len(b.states.q), len(coms), 1, 1))
    R[:, 1:] = Reference(b.tree).poses(b.states.q)[..., :3, :3]

    def other(w):
        n, f = w[..., :3], w[..., 3:]
        if kind == 2:
            n, f = (np.einsum("nbji,nbj->nbi", R, x) for x in (n, f))
        parts = [(f, n), (n + np.cross(coms, f), f), (n, f)][kind]
        return np.concatenate(parts, axis=-1)

    return observed(b, answers(b.tree, b.states, wrenches=other)), None


def locked(b, rng):
    """A joint that the engine does not have, at its zero."""
    name, dof, at = _one(b, rng)

    def held(x, column):
        x = x.copy()
        x[:, column] = 0
        return x

    values = answers(b.tree, b.states, q=lambda q: held(q, at), v=lambda v: held(v, dof))
    dofs = tuple(x for x in b.tree.dofs if x != b.tree.dofs[dof])
    if not dofs:
        raise LookupError
    return observed(b, values, dofs), name


ANSWERS = {
    "damping": damping,
    "frictionloss": frictionloss,
    "spring": spring,
    "armature in tau": armature_in_tau,
    "gravcomp": gravcomp,
    "gravity.sign of a call": reversed_gravity,
    "mass_matrix.triangle": triangle,
    "joint.order": order,
    "units.angle": degrees,
    "base.velocity_frame": velocity_frame,
    "base.component_order": component_order,
    "base.quaternion_order": quaternion_order,
    "base.acceleration": acceleration,
    "wrench.sign": wrench_sign,
    "wrench.frame": wrench_frame,
    "joint.missing": locked,
}
