"""The tree: order, coordinates, faults, fusion, free base."""

from __future__ import annotations

import numpy as np
import pytest
from random_trees import random_inertia, random_tree

from tautology.adapters.reference import Reference
from tautology.harness.errors import ShapeError, TreeError
from tautology.harness.fusion import compose
from tautology.harness.spatial import spatial_inertia
from tautology.harness.states import sample
from tautology.harness.tree import Body, Inertia, Joint, JointKind, Tree, world


def chain(*kinds: str) -> Tree:
    """Return a chain of bodies b1, b2, ... on joints j1, j2, ... of these kinds."""
    bodies = [world()]
    for i, kind in enumerate(kinds, 1):
        bodies.append(Body(f"b{i}", i - 1, Joint(f"j{i}", JointKind(kind)), Inertia(1.0, np.zeros(3), np.eye(3))))
    return Tree("chain", tuple(bodies))


def test_coordinates_have_the_layout_of_the_conventions() -> None:
    """Positions, velocities and dof names per kind."""
    tree = chain("revolute", "ball", "fixed", "planar", "floating", "prismatic")
    assert (tree.nq, tree.nv) == (1 + 4 + 0 + 3 + 7 + 1, 1 + 3 + 0 + 3 + 6 + 1)
    assert tree.dofs[:4] == ("j1", "j2.wx", "j2.wy", "j2.wz")
    assert tree.dofs[4:7] == ("j4.vx", "j4.vy", "j4.wz")
    assert tree.dofs[7:13] == ("j5.vx", "j5.vy", "j5.vz", "j5.wx", "j5.wy", "j5.wz")
    assert tree.joint_of_dof == (1, 2, 2, 2, 4, 4, 4, 5, 5, 5, 5, 5, 5, 6)


def test_bodies_are_sorted_depth_first_with_siblings_as_given() -> None:
    """A tree built in another order is sorted, and the parents follow."""
    given = [("a", 0), ("c", 0), ("a1", 1), ("c1", 2), ("a2", 1)]
    bodies = [Body(name, parent, Joint(f"j_{name}", JointKind.FIXED)) for name, parent in given]
    tree = Tree("t", (world(), *bodies))
    assert [b.name for b in tree.bodies] == ["world", "a", "a1", "a2", "c", "c1"]
    assert tree.parents == (-1, 0, 1, 1, 0, 4)


def test_deep_chains_need_no_recursion() -> None:
    """10,000 bodies are sorted like three."""
    joint = [Joint(f"j{i}", JointKind.FIXED) for i in range(10_000)]
    bodies = [Body(f"b{i}", i, joint[i]) for i in range(10_000)]
    assert len(Tree("deep", (world(), *bodies)).fused().bodies) == 1


def test_all_faults_are_listed_at_once() -> None:
    """Names that stand twice, numbers that are not finite and axes that are no unit vectors come in one message."""
    bad = Inertia(np.nan)
    bodies = (
        world(),
        Body("b", 0, Joint("j", JointKind.REVOLUTE, axis=np.array([0, 0, 2.0]))),
        Body("b", 1, Joint("j", JointKind.FIXED), bad),
    )
    with pytest.raises(TreeError) as raised:
        Tree("faulty", bodies)
    for words in ("body name 'b' stands twice", "joint name 'j' stands twice", "not finite", "no unit vector"):
        assert words in str(raised.value)


@pytest.mark.parametrize(("parents", "words"), [((2, 1), "own ancestors"), ((0, 7), "has parent 7")])
def test_a_tree_must_hang_together(parents: tuple[int, int], words: str) -> None:
    """Rings and parents out of range are refused."""
    bodies = [Body(f"b{i}", p, Joint(f"j{i}", JointKind.FIXED)) for i, p in enumerate(parents, 1)]
    with pytest.raises(TreeError, match=words):
        Tree("t", (world(), *bodies))


def test_arrays_are_copied_in_and_read_only() -> None:
    """What the caller does to his array later does not reach the tree."""
    com = np.ones(3)
    inertia = Inertia(1.0, com, np.eye(3))
    com[0] = 7
    assert inertia.com[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        inertia.com[0] = 2
    with pytest.raises(ShapeError, match="com has shape"):
        Inertia(1.0, np.zeros(2), np.eye(3))


@pytest.mark.parametrize("seed", range(5))
def test_fusion_keeps_every_motion_and_force(seed: int) -> None:
    """The merged tree has the same M, torques, COM and energies, and folded wrenches load the joints alike."""
    rng = np.random.default_rng(seed)
    kinds = [JointKind.FIXED, JointKind.REVOLUTE, JointKind.FIXED, JointKind.BALL]
    tree = random_tree(rng, 12, kinds=kinds)
    states = sample(tree, 8, seed)
    wrenches = rng.normal(size=states.wrenches.shape)
    whole, merged = Reference(tree), Reference(tree.fused())
    assert len(tree.fused().bodies) < len(tree.bodies)
    folded = tree.fusion.fold(wrenches)
    kept = [i for i, h in enumerate(tree.fusion.holder) if h == i]
    expected = whole.inverse_dynamics(states.q, states.v, states.a, wrenches)
    for found in (
        whole.inverse_dynamics(states.q, states.v, states.a, folded),
        merged.inverse_dynamics(states.q, states.v, states.a, folded[:, kept]),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(merged.mass_matrix(states.q), whole.mass_matrix(states.q), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(merged.center_of_mass(states.q), whole.center_of_mass(states.q), atol=1e-14)
    np.testing.assert_allclose(merged.potential_energy(states.q), whole.potential_energy(states.q), rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_composite_is_the_sum_of_spatial_inertias(seed: int) -> None:
    """compose adds the 6 x 6 inertias about one origin."""
    rng = np.random.default_rng(seed)
    parts = [(random_inertia(rng), np.eye(4)) for _ in range(3)]
    total = sum(spatial_inertia(np.asarray(i.mass), i.com, i.I_com) for i, _ in parts)
    whole = compose(parts)
    found = spatial_inertia(np.asarray(whole.mass), whole.com, whole.I_com)
    np.testing.assert_allclose(found, total, rtol=1e-14, atol=1e-15)


def test_free_base_frees_what_is_welded_to_the_world() -> None:
    """`free` turns the root's weld into a floating joint, `auto` and `fixed` change nothing, a free tree stays."""
    tree = chain("fixed", "revolute")
    assert tree.base == "fixed"
    free = tree.with_base("free")
    assert free.base == "free"
    assert free.nv == 7
    assert free.with_base("free") is free
    assert tree.with_base("auto") is tree
    assert chain("floating", "revolute").base == "free"


def test_a_tree_is_short_at_a_prompt():
    """Name, size, base; no arrays."""
    body = Body("arm", 0, Joint("hinge", JointKind.FLOATING), Inertia(2.5))
    assert repr(Tree("robot", (world(), body))) == "<Tree 'robot': 1 bodies, 6 dofs, 2.5 kg, free base>"
