"""Frozen states: strata, ranges, hash, file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from random_trees import random_tree

from tautology.harness.errors import ReadError, RequestError, ShapeError
from tautology.harness.states import FAST, MOST_BODY_STATES, States, interval, require_memory, sample
from tautology.harness.tree import Body, Inertia, Joint, JointKind, Tree, world

if TYPE_CHECKING:
    from pathlib import Path

SOLID = Inertia(1.0, np.zeros(3), np.eye(3))


def tree_of(joint: Joint) -> Tree:
    """Return one body on this joint."""
    return Tree("one", (world(), Body("b", 0, joint, SOLID)))


def test_every_stratum_is_there() -> None:
    """64 states of a floating robot hold all eight strata, most of them random."""
    tree = random_tree(np.random.default_rng(0), 6, floating_root=True)
    counts = sample(tree, 64).counts
    names = ["zero", "home", "random", "single", "limits", "fast", "near_singular", "base_orientation"]
    assert list(counts) == names
    assert sum(counts.values()) == 64
    assert "base_orientation" not in sample(tree_of(Joint("j", JointKind.REVOLUTE)), 64).counts


def test_seed_fixes_every_bit() -> None:
    """The same seed gives the same hash, another seed another."""
    tree = random_tree(np.random.default_rng(1), 6)
    assert sample(tree, 16, 3).sha256 == sample(tree, 16, 3).sha256
    assert sample(tree, 16, 3).sha256 != sample(tree, 16, 4).sha256


def test_arrays_are_frozen() -> None:
    """Nobody can write into the states, and copies do not share memory."""
    states = sample(tree_of(Joint("j", JointKind.REVOLUTE)), 4)
    with pytest.raises(ValueError, match="read-only"):
        states.q[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        states.q.flags.writeable = True


def test_file_holds_the_same_bits_and_no_pickle(tmp_path: Path) -> None:
    """save and load give the same hash, strata and seed; numpy reads the file with pickles forbidden."""
    states = sample(random_tree(np.random.default_rng(2), 5), 16, 5)
    file = tmp_path / "states of a robot.npz"
    states.save(file)
    loaded = States.load(file)
    assert (loaded.sha256, loaded.strata, loaded.seed) == (states.sha256, states.strata, 5)
    with np.load(file, allow_pickle=False) as content:
        assert set(content) == {"meta", "q", "v", "a", "tau", "wrenches"}


def test_states_that_were_edited_in_their_file_are_refused(tmp_path: Path) -> None:
    """One number in one array is enough; the same file, written anew, is read."""
    states = sample(random_tree(np.random.default_rng(2), 5), 4, 5)
    file = tmp_path / "states.npz"
    states.save(file)
    with np.load(file) as content:
        arrays = dict(content)
    np.savez(file, **arrays)
    assert States.load(file).sha256 == states.sha256
    arrays["v"][3, 0] += 1e-9
    np.savez(file, **arrays)
    with pytest.raises(ReadError, match=r"states\.npz: the states were changed after they were written"):
        States.load(file)


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04"])
def test_other_files_are_refused_by_name(tmp_path: Path, content: bytes) -> None:
    """A file that holds no states is a sentence with its name."""
    file = tmp_path / "other.npz"
    file.write_bytes(content)
    with pytest.raises(ReadError, match=r"other\.npz.*no file of states"):
        States.load(file)


def test_states_of_another_robot_are_refused() -> None:
    """Sizes are compared before anything is asked."""
    states = sample(tree_of(Joint("j", JointKind.REVOLUTE)), 4)
    with pytest.raises(ShapeError, match="needs"):
        states.require(tree_of(Joint("j", JointKind.BALL)))


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [(-1, 2, (-1, 2)), (-1e16, 1e16, (-np.pi, np.pi)), (2, -2, (-np.pi, np.pi)), (0, 0, (-np.pi, np.pi))],
)
def test_wide_empty_and_reversed_ranges_are_one_turn(lower: float, upper: float, expected: tuple[float, float]) -> None:
    """Limits that no joint can have are not sampled."""
    assert interval(Joint("j", JointKind.REVOLUTE, lower=lower, upper=upper)) == expected


def test_positions_stay_inside_the_limits_and_speeds_below_theirs() -> None:
    """random and limits keep the range, fast keeps the file's positive speed limit or 20."""
    tree = tree_of(Joint("j", JointKind.REVOLUTE, lower=-0.3, upper=0.2, speed=3.0))
    states = sample(tree, 400)
    strata = np.array(states.strata)
    for name in ("random", "limits", "fast", "single"):
        inside = states.q[strata == name]
        assert inside.min() >= -0.3
        assert inside.max() <= 0.2
    assert set(states.q[strata == "limits"].ravel()) == {-0.3, 0.2}
    assert np.abs(states.v).max() <= 3
    assert np.abs(sample(tree_of(Joint("j", JointKind.REVOLUTE, speed=0.0)), 400).v).max() <= FAST


def test_wrenches_act_on_bodies_that_resist() -> None:
    """No wrench on a massless body, nor on one that is fixed to another; zero and single states are unloaded."""
    bodies = (
        world(),
        Body("light", 0, Joint("a", JointKind.REVOLUTE)),
        Body("heavy", 1, Joint("b", JointKind.REVOLUTE), SOLID),
        Body("tool", 2, Joint("c", JointKind.FIXED), SOLID),
    )
    states = sample(Tree("t", bodies), 32)
    assert [bool(states.wrenches[:, i].any()) for i in range(4)] == [False, False, True, False]
    assert not states.wrenches[np.isin(states.strata, ["zero", "home", "single"])].any()


@pytest.mark.parametrize(("count", "seed"), [(0, 0), (-1, 0), (4, -1)])
def test_impossible_draws_are_refused(count: int, seed: int) -> None:
    """At least one state, and no negative seed."""
    with pytest.raises(RequestError):
        sample(tree_of(Joint("j", JointKind.REVOLUTE)), count, seed)


def test_a_tree_without_dofs_has_states() -> None:
    """A statue has states of no coordinate."""
    assert sample(Tree("statue", (world(),)), 3).q.shape == (3, 0)


def test_states_are_short_at_a_prompt():
    """How many of which stratum, and the sizes of the robot; no arrays."""
    tree = Tree("robot", (world(), Body("arm", 0, Joint("hinge", JointKind.BALL), Inertia(1.0))))
    said = repr(sample(tree, 16, seed=3))
    assert said.startswith("<States: 16 (1 zero, ")
    assert said.endswith("), seed 3; nq 4, nv 3, bodies 1>")


def test_states_that_would_fill_the_memory_are_refused():
    """With the number that fits."""
    tree = Tree("robot", (world(), Body("arm", 0, Joint("hinge", JointKind.BALL), Inertia(1.0))))
    require_memory(tree, MOST_BODY_STATES // 2)
    with pytest.raises(RequestError, match=f"{MOST_BODY_STATES // 2} are the most for 'robot'"):
        require_memory(tree, MOST_BODY_STATES // 2 + 1)
