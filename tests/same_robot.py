"""Whether two trees are the same robot: number by number, answer by answer, or in other coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from random_trees import ONE_DOF, random_joint, random_tree

from tautology.adapters.reference import Reference
from tautology.harness.spatial import (
    quaternion_from_rotation,
    quaternion_product,
    rotation_about,
    rotation_from_quaternion,
)
from tautology.harness.states import sample
from tautology.harness.tree import STANDARD_GRAVITY, Joint, JointKind, Tree

ROUNDING = 1e-13  # of lengths up to a few metres, rotations and kg m^2; and of answers, over the largest of their kind
_PLACED = ("axis", "T_parent_joint", "T_joint_body")
_PLAIN = ("ref", "lower", "upper", "speed", "effort", "damping", "friction", "armature", "rotor", "stiffness", "rest")


def assert_same_dynamics(one: Tree, two: Tree, *, seed: int = 0) -> None:
    """M, tau, bias and gravity of two trees with the same dofs agree to rounding at sampled states."""
    assert two.dofs == one.dofs
    states = sample(one, 16, seed)
    q, v, a = states.q, states.v, states.a
    first, second = Reference(one), Reference(two)
    for answer, arguments in (
        ("inverse_dynamics", (q, v, a)),
        ("bias", (q, v)),
        ("gravity_forces", (q,)),
        ("mass_matrix", (q,)),
        ("potential_energy", (q,)),
    ):
        assert_close(getattr(first, answer)(*arguments), getattr(second, answer)(*arguments), answer)


def assert_close(expected: np.ndarray, found: np.ndarray, what: str) -> None:
    """Two arrays of answers differ by rounding of their largest number."""
    largest = np.abs(expected).max(initial=0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING * largest, err_msg=what)


def assert_same_fields(one: Tree, two: Tree, *without: str) -> None:
    """Names, structure and numbers of two trees are the same: placements to rounding, what is written as it is exactly.

    Args:
        one: the tree that was written.
        two: the tree that was read back.
        without: fields of joints, bodies or trees that differ for a reason.
    """
    assert [body.name for body in two.bodies] == [body.name for body in one.bodies]
    assert two.parents == one.parents
    for ours, theirs in zip(one.bodies[1:], two.bodies[1:], strict=True):
        if "inertia" not in without:
            assert theirs.inertia.mass == ours.inertia.mass
            np.testing.assert_allclose(theirs.inertia.I_com, ours.inertia.I_com, rtol=0, atol=ROUNDING)
            # MuJoCo has some centre of mass for a body without mass: it means nothing.
            if not ours.inertia.is_zero:
                np.testing.assert_allclose(theirs.inertia.com, ours.inertia.com, rtol=0, atol=ROUNDING)
        assert theirs.gravcomp == ours.gravcomp
        _assert_same_joint(ours.joint, theirs.joint, without)
    for field in {"name", "gravity", "medium", "home"} - set(without):
        np.testing.assert_equal(getattr(two, field), getattr(one, field), err_msg=field)
    if "closures" not in without:
        assert relations(two) == relations(one)
    assert {t.name: (t.armature, dict(t.coefficients)) for t in two.tendons} == {
        t.name: (t.armature, dict(t.coefficients)) for t in one.tendons
    }


def relations(tree: Tree) -> dict[str, object]:
    """Return the closures by name, without their lines."""
    return {c.name: (c.kind, c.between, c.numbers, c.active) for c in tree.closures}


def _assert_same_joint(one: Joint, two: Joint, without: tuple[str, ...]) -> None:
    for field in {"name", "kind", "actuated"} - set(without):
        # A fixed joint of MJCF has no name, and what it says beside its placement means nothing.
        if one.nv or (field == "name" and "fixed" not in without):
            assert getattr(two, field) == getattr(one, field), f"{field} of {one.name}"
    for field in set(_PLACED) - set(without):
        if field != "axis" or one.kind in (*ONE_DOF, JointKind.PLANAR):
            np.testing.assert_allclose(
                getattr(two, field), getattr(one, field), rtol=0, atol=ROUNDING, err_msg=f"{field} of {one.name}"
            )
    for field in set(_PLAIN) - set(without):
        if one.nv:
            np.testing.assert_equal(getattr(two, field), getattr(one, field), err_msg=f"{field} of {one.name}")


def assert_same_in_other_coordinates(tree: Tree, read: Tree) -> None:
    """A tree and its MJCF, with slides, hinges and balls for planar and floating joints, move alike.

    Two slides and a hinge, or three slides and a ball, have the position coordinates of the joint that they stand for.
    Linear velocities are in joint axes there: v' = R v, a' = R (a + omega x v), tau = R^T tau'. A free joint counts
    from the world, and is read back with the velocities of the tree.
    """
    states = sample(tree, 16, 1)
    q, v, a = states.q, states.v, states.a
    q_read, T, beta = q.copy(), np.tile(np.eye(tree.nv), (len(states), 1, 1)), np.zeros_like(v)
    for i, joint in enumerate(tree.joints):
        own, dofs = tree.q_slices[i], tree.v_slices[i]
        if joint.kind not in (JointKind.PLANAR, JointKind.FLOATING):
            continue
        at_top = joint.kind is JointKind.FLOATING and tree.parents[i] == 0
        for n in range(len(states)):
            if at_top:
                R, p = joint.T_parent_joint[:3, :3], joint.T_parent_joint[:3, 3]
                turned = quaternion_product(quaternion_from_rotation(R), q[n, own][3:])
                q_read[n, own] = np.concatenate([R @ q[n, own][:3] + p, turned])
                continue
            linear = slice(dofs.start, dofs.start + (2 if joint.kind is JointKind.PLANAR else 3))
            if joint.kind is JointKind.PLANAR:
                R = rotation_about(np.array([0.0, 0, 1]), q[n, own][2])[:2, :2]
                swept = v[n, dofs][2] * np.array([-v[n, dofs][1], v[n, dofs][0]])
            else:
                R = rotation_from_quaternion(q[n, own][3:])
                swept = np.cross(v[n, dofs][3:], v[n, dofs][:3])
            T[n, linear, linear], beta[n, linear] = R, R @ swept
    v_read, a_read = (np.einsum("nij,nj->ni", T, x) for x in (v, a))
    ours, theirs = Reference(tree), Reference(read)
    efforts = theirs.inverse_dynamics(q_read, v_read, a_read + beta)
    assert_close(ours.inverse_dynamics(q, v, a), np.einsum("nji,nj->ni", T, efforts), "tau")
    assert_close(ours.mass_matrix(q), T.swapaxes(1, 2) @ theirs.mass_matrix(q_read) @ T, "M")
    assert_close(ours.potential_energy(q), theirs.potential_energy(q_read), "U")


def plain_tree(seed: int, count: int = 12, **options: object) -> Tree:
    """Return a random tree under standard gravity, without tendons."""
    tree = random_tree(np.random.default_rng(seed), count, **options)
    return replace(tree, gravity=np.array(STANDARD_GRAVITY))


def dressed(rng: np.random.Generator, name: str, kind: JointKind, *, ref: bool = True) -> Joint:
    """Return a random joint that says something in every field that its kind has, equal along all of its dofs."""
    bare = random_joint(rng, name, kind)
    if not bare.nv:
        return bare
    shift = rng.uniform(-1, 1) if ref and kind in ONE_DOF else 0.0
    rest = rng.uniform(-1, 1, 1) if kind in ONE_DOF else bare.neutral
    return replace(
        bare,
        T_joint_body=np.eye(4),
        ref=shift,
        rest=rest if ref else None,
        effort=rng.uniform(1, 9) if kind in ONE_DOF else np.inf,
        damping=rng.uniform(0.1, 1),
        friction=rng.uniform(0.1, 1),
        armature=rng.uniform(0.1, 1),
        rotor=rng.uniform(0.1, 1),
        stiffness=rng.uniform(0.1, 1),
        actuated=True,
    )
