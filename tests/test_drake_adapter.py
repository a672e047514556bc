"""Drake as an engine: random trees of every joint kind, real robots, refusals, repairs and what only Drake does."""

from __future__ import annotations

import pytest
from against_reference import assert_agrees, drawn
from engines_at_hand import needs

from tautology.harness import registry
from tautology.harness.load import open_model

pytestmark = needs("drake")


def neutral(tree):
    """Return a session on a plant that is built from a tree."""
    return registry.adapter("drake").neutral(tree)


def native(path, base: str = "auto"):
    """Return a session on a file that Drake reads, and the tree of the file."""
    model = open_model(path, base)
    return registry.adapter("drake").native(model.given, model.tree), model.tree


@pytest.mark.parametrize("seed", range(24))
def test_random_trees_agree_with_the_reference(seed: int) -> None:
    """Every joint kind anywhere, free roots, armature and tendons, massless bodies."""
    tree = drawn(seed)
    session = neutral(tree)
    assert session.dofs == tree.dofs
    assert_agrees(session, tree)
