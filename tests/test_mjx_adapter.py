"""MJX: every answer on random trees, what it makes of files, what it refuses, what it does to jax."""

from __future__ import annotations

import pytest
from against_reference import assert_agrees, drawn
from engines_at_hand import needs

from tautology.harness import registry

pytestmark = needs("mjx")


@pytest.fixture(scope="module")
def engine():
    """Return MJX."""
    return registry.adapter("mjx")


@pytest.mark.parametrize("seed", range(6))
def test_neutral_path_agrees_with_the_reference_on_random_trees(engine, seed: int) -> None:
    """Every joint kind anywhere, free roots, armature, tendons."""
    tree = drawn(seed, 8)
    session = engine.neutral(tree)
    assert session.dofs == tree.dofs
    assert_agrees(session, tree)
