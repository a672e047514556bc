"""The generator of planted defects, and a small sample of what `diff` says; the benchmark asks hundreds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tautology
from tautology.adapters.reference import Reference
from tautology.harness.states import sample

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def pairs():
    """Return the module that makes pairs; benchmarks are scripts, no package."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import defects_pairs  # noqa: PLC0415

        yield defects_pairs
    finally:
        sys.path.remove(str(BENCHMARKS))


def opened(pairs, file, folder):
    """Return the tree of a document."""
    name, parts = pairs.texts(file, "robot")
    folder.mkdir(exist_ok=True)
    for part, text in parts.items():
        (folder / part).write_text(text)
    return tautology.load(folder / name)


def answers(tree, other, names):
    """Return M and gravity of both at the same states, in the order of the first."""
    states = sample(tree, 6, 3)
    q = np.zeros((len(states), other.nq))
    order = np.zeros(tree.nv, int)
    for i, joint in enumerate(tree.joints):
        if joint.nv:
            k = other.joint_index[names(joint.name)]
            q[:, other.q_slices[k]] = states.q[:, tree.q_slices[i]]
            order[tree.v_slices[i]] = np.arange(other.nv)[other.v_slices[k]]
    mine, theirs = Reference(tree), Reference(other)
    M = theirs.mass_matrix(q)[:, order][:, :, order]
    return (mine.mass_matrix(states.q), mine.gravity_forces(states.q)), (M, theirs.gravity_forces(q)[:, order])


def rewrites():
    """Return the names of all rewrites, as the module has them."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        from defects_rewrites import REWRITES  # noqa: PLC0415
    finally:
        sys.path.remove(str(BENCHMARKS))
    return list(REWRITES)


@pytest.mark.parametrize("name", rewrites())
def test_a_rewrite_changes_the_text_and_not_the_robot(pairs, tmp_path, name):
    """M and gravity are those of the file before, in the coordinates of the file before."""
    from defects_robots import random_robot  # noqa: PLC0415

    changed = 0
    for seed in range(8):
        rng = np.random.default_rng([7, seed])
        robot = random_robot(rng)
        for kind, text in robot.texts.items():
            file = pairs.open_text(text)
            before, main = file.texts("x"), opened(pairs, file, tmp_path / f"a{seed}{kind}")
            pairs.REWRITES[name](file, rng)
            changed += file.texts("x") != before
            now = opened(pairs, file, tmp_path / f"b{seed}{kind}")
            for mine, theirs in zip(*answers(main, now, file.now), strict=True):
                np.testing.assert_allclose(theirs, mine, rtol=0, atol=1e-11 * max(np.abs(mine).max(), 1))
    assert changed


def test_a_planter_changes_what_it_says_and_never_nothing(pairs):
    """Every planter finds a robot, changes the text, and names a kind of the list at a place."""
    from defects_robots import random_robot  # noqa: PLC0415

    from tautology.harness.findings import KINDS  # noqa: PLC0415

    for name, planter in pairs.PLANTERS.items():
        for seed in range(60):
            rng = np.random.default_rng([11, seed])
            robot = random_robot(rng)
            file = pairs.open_text(robot.texts[str(rng.choice(list(robot.texts)))])
            before = file.texts("x")
            planted = planter(file, rng, 1e-6)
            if planted is not None:
                assert planted.late or file.texts("x") != before, name
                assert planted.kind == name.split()[0], name
                assert planted.kind in KINDS, name
                break
        else:
            pytest.fail(f"no robot for {name}")


def test_equal_accounts_follow_from_theory(pairs):
    """One flipped product of one is half a turn; three flipped products are none; equal moments swapped are a turn."""
    del pairs
    from defects_files import Written  # noqa: PLC0415
    from defects_plant import classes  # noqa: PLC0415

    def of(*six, pos=(0.0, 0.0, 0.0)):
        return Written(1.0, np.array(pos), np.eye(3), np.array(six, float))

    assert {"inertia.sign", "inertia.rotation"} <= classes(of(3, 4, 5, 1, 0, 0), of(3, 4, 5, -1, 0, 0))
    assert "inertia.rotation" not in classes(of(3, 4, 5, 0.3, 0.5, 0.7), of(3, 4, 5, -0.3, -0.5, -0.7))
    assert {"inertia.order", "inertia.rotation"} <= classes(of(3, 4, 5, 0, 0, 0), of(4, 3, 5, 0, 0, 0))
    assert classes(of(3, 4, 5, 0.3, 0.5, 0.7), of(3.1, 4, 5, 0.3, 0.5, 0.7)) == set()
    assert classes(of(3, 4, 5, 0, 0, 0, pos=(1, 0, 0)), of(3, 5, 6, 0, 0, 0)) == {"inertia.reference_point"}


def test_a_small_sample_meets_the_targets():
    """Two pairs of every kind of pair, in a process of its own: the whole benchmark, small."""
    command = [sys.executable, str(BENCHMARKS / "defects.py"), "--pairs", "40", "--engines", "9", "--real", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
