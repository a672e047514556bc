"""Small parts that adapters share: streams of C, reflected inertia, systems of no known sign."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from random_trees import random_tree

from tautology.adapters.reference import Reference
from tautology.harness import registry
from tautology.harness.depth import links_in_a_row
from tautology.harness.errors import EngineUnsupported
from tautology.harness.limits import require_depth, require_dofs
from tautology.harness.linear import solve_general
from tautology.harness.reflected import reflected_beyond_one_dof, reflected_inertia
from tautology.harness.states import sample
from tautology.harness.streams import caught
from tautology.harness.tree import JointKind, Tree, world


def test_lines_of_both_descriptors_are_caught_in_their_order(capfd: pytest.CaptureFixture[str]) -> None:
    """Colours and blank lines are left out."""
    said: list[str] = []
    with caught(said):
        os.write(1, b"\x1b[31mone\x1b[0m\n\n")
        os.write(2, b"  two \xff\n")
    assert said == ["one", "two \N{REPLACEMENT CHARACTER}"]
    assert capfd.readouterr() == ("", "")


def test_what_python_has_buffered_goes_where_it_was_meant_to_go() -> None:
    """Before and after stay on the stream, what was printed inside is caught."""
    script = """
from tautology.harness.streams import caught
said = []
print("before", end=" ")
with caught(said):
    print("inside")
print("after", said)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "before after ['inside']\n"


def test_an_error_inside_leaves_the_streams_as_they_were(capfd: pytest.CaptureFixture[str]) -> None:
    """What was said before the error is kept."""
    said: list[str] = []

    def fails() -> None:
        with caught(said, (2,)):
            os.write(2, b"words\n")
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        fails()
    os.write(2, b"free\n")
    assert (said, capfd.readouterr().err) == (["words"], "free\n")


def test_reflected_inertia_is_the_part_of_m_that_is_constant() -> None:
    """Armature, rotors and tendons: M of the reference less M of the same bodies alone."""
    tree = random_tree(np.random.default_rng(2), 12, armature=True, tendons=True)
    bare = Tree("bare", tuple(replace(b, joint=replace(b.joint, armature=0.0, rotor=0.0)) for b in tree.bodies))
    q = sample(tree, 2).q
    wanted = Reference(tree).mass_matrix(q) - Reference(bare).mass_matrix(q)
    K = reflected_inertia(tree)
    assert K is not None
    assert np.count_nonzero(K - np.diag(np.diag(K))) == 2
    np.testing.assert_allclose(np.stack([K, K]), wanted, rtol=0, atol=1e-11)
    assert reflected_inertia(bare) is None
    assert reflected_inertia(Tree("none", (world(),))) is None


def test_general_systems_are_solved_state_by_state() -> None:
    """An indefinite M has its solution, a singular one NaN, the others stay."""
    rng = np.random.default_rng(0)
    M, b = rng.normal(size=(3, 4, 4)), rng.normal(size=(3, 4))
    M[1, 2] = M[1, 0] * 0
    x = solve_general(M, b)
    assert np.isnan(x[1]).all()
    np.testing.assert_allclose((M[::2] @ x[::2, :, None])[..., 0], b[::2], rtol=0, atol=1e-12)
    assert solve_general(np.zeros((2, 0, 0)), np.zeros((2, 0))).shape == (2, 0)


@pytest.mark.parametrize("name", ["pinocchio", "drake", "idyntree", "dart", "pybullet", "adam", "newton"])
def test_a_tendon_whose_inertia_is_added_outside_is_told(name: str) -> None:
    """Whoever has no tendons says so on the neutral path, where tau and M hold it all the same."""
    if registry.version(registry.card_of(name)) is None:
        pytest.skip(f"{name} is not installed: {registry.card_of(name).install}")
    kinds = (JointKind.REVOLUTE,)
    tree = random_tree(np.random.default_rng(4), 4, kinds=kinds, tendons=True)
    (tendon,) = tree.tendons
    told = [f for f in registry.adapter(name).neutral(tree).findings if f.kind == "armature.tendon"]
    assert [(f.where, f.expected, f.severity) for f in told] == [(tendon.name, tendon.armature, "convention")]


def test_the_part_of_joints_may_be_left_to_the_model() -> None:
    """What models with an armature per joint leave is that of tendons, and of joints with several dofs."""
    tree = random_tree(np.random.default_rng(2), 12, armature=True, tendons=True)
    whole, tendons = reflected_inertia(tree), reflected_inertia(tree, joints=False)
    rest = reflected_beyond_one_dof(tree)
    assert whole is not None
    assert tendons is not None
    assert rest is not None
    joints = np.concatenate([joint.reflected for joint in tree.joints])
    single = np.concatenate([np.full(joint.nv, joint.nv == 1) for joint in tree.joints])
    assert joints[single].any()
    assert joints[~single].any()
    assert np.allclose(tendons, whole - np.diag(joints), atol=1e-15)
    assert np.allclose(rest, whole - np.diag(joints * single), atol=1e-15)


def test_sizes_are_told_before_the_engine_is_called() -> None:
    """As many as allowed pass; one more is a sentence with both numbers and what would happen."""
    tree = random_tree(np.random.default_rng(1), 6, kinds=(JointKind.REVOLUTE,))
    require_dofs(tree, tree.nv, "Any")
    require_depth(tree, links_in_a_row(tree), "Any")
    with pytest.raises(EngineUnsupported, match=r"has 6 dofs; Any is asked for up to 5 \(it takes an hour\)"):
        require_dofs(tree, 5, "Any", "it takes an hour")
    with pytest.raises(EngineUnsupported, match=r"links in a row; Any is asked for up to 1$"):
        require_depth(tree, 1, "Any")
