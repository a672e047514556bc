"""Newton, in single precision: every answer on random trees, what it makes of files, what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from against_reference import answers, drawn, expected
from engines_at_hand import needs

from tautology.harness import registry
from tautology.harness.states import sample

pytestmark = needs("newton")
EPS = float(np.finfo(np.float32).eps)


@pytest.fixture(scope="module")
def engine():
    """Return Newton."""
    return registry.adapter("newton")


@pytest.mark.parametrize("seed", range(8))
def test_neutral_path_agrees_with_the_reference_on_random_trees(engine, seed: int) -> None:
    """Every joint kind anywhere, free roots, armature, tendons: to rounding of single precision."""
    tree = drawn(seed, 12)
    session = engine.neutral(tree)
    assert session.dofs == tree.dofs
    states = sample(tree, 6, seed=1)
    states = replace(states, wrenches=tree.fusion.fold(states.wrenches))
    found, wanted = answers(session, states), expected(tree, session, states)
    for name, value in found.items():
        bound = 100 * EPS * max(1.0, float(np.abs(wanted[name]).max(initial=0)))
        np.testing.assert_allclose(value, wanted[name], rtol=0, atol=bound, err_msg=name)
