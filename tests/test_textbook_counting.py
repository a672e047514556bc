"""Operations of the algorithms, counted while their own code runs, and how they grow."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import closed_forms as cf
import numpy as np
import pytest
from numpy.testing import assert_allclose
from random_trees import random_inertia, random_joint

import tautology
from tautology import load, models
from tautology.adapters.reference import Reference
from tautology.adapters.textbook import counting, planar_tree
from tautology.adapters.textbook.counting import Counted, Given, Tally
from tautology.adapters.textbook.planar import PlanarChain
from tautology.harness.linear import ldl
from tautology.harness.tree import Body, JointKind, Tree, world

# What an algorithm of the name does when everything about a serial chain is general: the degree in n.
PLANAR_DEGREES = {
    counting.RNEA: 1,
    counting.PRODUCT: 2,
    counting.COLUMNS: 2,
    counting.ENERGY: 3,
    counting.WALKER_ORIN: 3,
    counting.SOLVE: 3,
    counting.LAGRANGE: 4,
}
SPATIAL_DEGREES = {
    counting.RNEA: 1,
    counting.EXPONENTIALS: 1,
    counting.ABA: 1,
    counting.PRODUCT: 2,
    counting.COLUMNS: 2,
    counting.CRBA: 2,
    counting.ENERGY: 3,
    counting.WALKER_ORIN: 3,
    counting.CRBA_SOLVE: 3,
    counting.SOLVE: 3,
}


def totals(tallies: list[Tally]) -> list[int]:
    """Return the sums."""
    return [tally.total for tally in tallies]


def given(q: np.ndarray, v: np.ndarray) -> Given:
    """Return inputs that only tests of the counter read."""
    return Given(q, v, v, v, np.eye(2)[None], v)


# --- The counter ------------------------------------------------------------------------------------------------------
def test_the_counter_counts_what_is_done() -> None:
    """Scalars, numpy's loops, matrix products, functions, powers and in-place sums, by hand."""
    x, y = np.array([[0.3, 1.2]]), np.array([[2.0, -0.5]])
    cases = [
        (lambda g: g.q + g.v - 1.0, Tally(additions=4)),
        (lambda g: 2.0 * g.q * g.v, Tally(multiplications=4)),
        (lambda g: g.q @ g.v.T, Tally(multiplications=2, additions=1)),
        (lambda g: np.ones((5, 2)) @ g.v.T, Tally(multiplications=10, additions=5)),
        (lambda g: np.cos(g.q) / np.sqrt(g.q), Tally(divisions=2, functions=4)),
        (lambda g: 1 / g.q - np.sin(g.v), Tally(divisions=2, additions=2, functions=2)),
        (lambda g: 1 - g.q**3, Tally(multiplications=4, additions=2)),
        (lambda g: np.abs(-g.q).T, Tally()),
        (lambda g: g.q.sum(-1), Tally(additions=1)),
        (lambda g: np.float64(2.0) * g.q, Tally(multiplications=2)),
    ]
    for function, expected in cases:
        found, result = counting.count(function, given(x, y))
        assert found == expected
        assert_allclose(result, function(given(x, y)), rtol=1e-15)
    assert Tally(1, 2, 3, 4).total == 10


def test_a_counted_number_is_not_lost_without_a_word() -> None:
    """Code that would turn it into a float, and stop counting, fails."""
    with pytest.raises(TypeError):
        counting.count(lambda g: g.q.astype(float), given(np.ones((1, 2)), np.ones((1, 2))))
    with pytest.raises(TypeError):
        counting.count(lambda g: np.ones(2) * float(g.q[0, 0]), given(np.ones((1, 2)), np.ones((1, 2))))
    assert Counted(1.0, Tally()) == 1.0
    assert Counted(1.0, Tally()) < Counted(2.0, Tally())


# --- What is counted is the algorithm ---------------------------------------------------------------------------------
def test_the_counted_algorithms_return_their_answers() -> None:
    """Inverse, M and forward dynamics of the planar arm and of a cylinder chain, each the right number."""
    rng = np.random.default_rng(0)
    for name, tree in (
        ("planar", planar_tree.embedded(PlanarChain(*cf.PLANAR_ARM))),
        ("spatial", load(models.path("three_cylinders.urdf"))),
    ):
        q, v, a = rng.uniform(-1, 1, (3, 1, 3))
        inputs = counting.given_of(tree, q, v, a)
        chosen = {
            "planar": lambda: counting.planar_algorithms(PlanarChain(*cf.PLANAR_ARM)),
            "spatial": lambda tree=tree: counting.spatial_algorithms(tree),
        }[name]()
        assert set(chosen) == set(PLANAR_DEGREES if name == "planar" else SPATIAL_DEGREES)
        for algorithm, function in chosen.items():
            kind = algorithm.split(", ")[-1]
            expected = {"inverse": inputs.tau, "M": inputs.M, "forward": a}[kind]
            found, answer = counting.count(function, inputs)
            assert_allclose(answer, expected, atol=1e-12, err_msg=algorithm)
            assert found.total > 10


def test_the_planar_recursion_by_hand() -> None:
    """A link more costs 20 products, 18 sums, a sine and a cosine; the first saves the three sums over its parents."""
    found = counting.planar_counts(range(1, 6), [counting.RNEA])[counting.RNEA]
    for n, tally in enumerate(found, 1):
        # Two products with the mass at the tip; moments are summed but for the last.
        assert tally == Tally(20 * n + 2, 18 * n - 3 - 1, 0, 2 * n)


def test_columns_cost_n_recursions() -> None:
    """M by n calls, and one call more, n^2 differences and the solve for forward dynamics."""
    sizes = [3, 6, 9]
    for counts in (counting.planar_counts(sizes), counting.spatial_counts(sizes)):
        one, columns = totals(counts[counting.RNEA]), totals(counts[counting.COLUMNS])
        whole, solve = totals(counts[counting.WALKER_ORIN]), totals(counts[counting.SOLVE])
        for k, n in enumerate(sizes):
            assert columns[k] == n * one[k]
            assert whole[k] == (n + 1) * one[k] + n**2 + solve[k]


# --- Growth -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("counts", "degrees"),
    [(counting.planar_counts, PLANAR_DEGREES), (counting.spatial_counts, SPATIAL_DEGREES)],
    ids=["planar", "spatial"],
)
def test_operations_are_polynomials_of_the_known_degree(counts, degrees: dict[str, int]) -> None:
    """Differences of the order of the degree are constant and positive: linear, quadratic, cubic, of fourth power."""
    found = counts(range(3, 11))
    assert set(found) == set(degrees)
    for name, tallies in found.items():
        differences = np.diff(totals(tallies), n=degrees[name])
        assert (differences == differences[0]).all(), name
        assert differences[0] > 0, name


def test_measured_exponents_approach_the_degrees() -> None:
    """The four curves: recursion 1, columns 2, with the solve towards 3, Christoffel symbols towards 4."""
    sizes = [30, 60, 120]
    found = counting.planar_counts(sizes, [counting.RNEA, counting.COLUMNS, counting.WALKER_ORIN])
    recursion, columns, forward = (
        counting.growth(sizes, totals(found[name])) for name in (counting.RNEA, counting.COLUMNS, counting.WALKER_ORIN)
    )
    assert_allclose(recursion, 1, atol=0.01)
    assert_allclose(columns, 2, atol=0.01)
    assert 2.2 < forward[0] < forward[1] < 3
    few = [6, 12, 24]
    lagrange = totals(counting.planar_counts(few, [counting.LAGRANGE])[counting.LAGRANGE])
    slopes = counting.growth(few, lagrange)
    assert 3.3 < slopes[0] < slopes[1] < 4


def test_the_longer_the_chain_the_wider_the_gap() -> None:
    """Christoffel symbols over recursion: a growing factor, from ten times at three links on."""
    found = counting.planar_counts([3, 6, 12, 24], [counting.RNEA, counting.LAGRANGE])
    factors = np.array(totals(found[counting.LAGRANGE])) / totals(found[counting.RNEA])
    assert (np.diff(factors) > 0).all()
    assert factors[0] > 5
    assert factors[-1] > 20 * factors[0]


def test_composite_bodies_are_linear_where_no_branch_is_long() -> None:
    """The composite pass is linear, and so is the climb to the root when all bodies hang on one: n entries, not n^2."""

    def bush(n: int) -> Tree:
        rng = np.random.default_rng(0)
        parts = [random_joint(rng, f"joint{i}", JointKind.REVOLUTE) for i in range(n)]
        return Tree(
            "bush", (world(), *(Body(f"body{i}", min(i, 1), p, random_inertia(rng)) for i, p in enumerate(parts)))
        )

    costs = []
    for n in range(3, 9):
        tree = bush(n)
        inputs = counting.given_of(tree, *np.random.default_rng(1).uniform(-1, 1, (3, 1, n)))
        found, M = counting.count(counting.spatial_algorithms(tree)[counting.CRBA], inputs)
        assert_allclose(M, inputs.M, atol=1e-12)
        assert not M[0, 1, 2]
        costs.append(found.total)
    steps = np.diff(costs)
    assert (steps == steps[0]).all()


def test_exponentials_are_counted_of_serial_chains_alone() -> None:
    """A branch has no product of exponentials; everything else is there."""
    tree = load(models.path("branched_tree.urdf"))
    algorithms = counting.spatial_algorithms(tree)
    assert set(algorithms) == set(SPATIAL_DEGREES) - {counting.EXPONENTIALS}
    q, v, a = np.random.default_rng(2).uniform(-1, 1, (3, 1, 4))
    _, tau = counting.count(algorithms[counting.RNEA], counting.given_of(tree, q, v, a))
    assert_allclose(tau, Reference(tree).inverse_dynamics(q, v, a), atol=1e-12)


# --- What the lesson says in passing ----------------------------------------------------------------------------------
def terms_of_m(tree: Tree) -> int:
    """Return how many terms constant, cos(k.q) and sin(k.q) the entries of M have, by Fourier transform over q.

    No angle enters M with more than its double: every J^T I J holds each rotation twice. M does not depend on q_1.
    """
    n = tree.nv
    grid = 2 * np.pi * np.arange(5) / 5
    q = np.stack(np.meshgrid([0.0], *[grid] * (n - 1), indexing="ij"), axis=-1).reshape(-1, n)
    M = Reference(tree).mass_matrix(q).reshape(*[5] * (n - 1), n, n)
    waves = (np.fft.fftn(M, axes=range(n - 1)) / 5 ** (n - 1)).reshape(-1, n, n)
    upper = np.triu(np.ones((n, n), bool))
    cosines, sines = ((np.abs(part) > 1e-9) & upper for part in (waves.real, waves.imag))
    # Waves come in pairs of k and -k, but for the constant.
    return int(cosines[0].sum() + (cosines[1:].sum() + sines[1:].sum()) // 2)


def test_written_out_m_fills_pages() -> None:
    """Five terms for two rods, as printed; thousands for six axes of the bundled arm, five times more an axis."""
    assert terms_of_m(load(models.path("two_rods.urdf")).fused()) == 5
    arm = load(models.path("tau_arm.urdf")).fused()
    found = [terms_of_m(replace(arm, bodies=arm.bodies[: n + 1])) for n in range(2, 7)]
    assert found[-1] > 8000
    assert (np.divide(found[1:], found[:-1]) > 4.5).all()


def test_a_millisecond_is_enough_for_arms_and_humanoids() -> None:
    """Pinocchio's inverse and forward dynamics of seven joints and of 34 dofs, the best of a hundred calls each."""
    pin = pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install 'tautology[pinocchio]'")
    humanoid = pin.buildSampleModelHumanoid()
    assert humanoid.nv == 34
    for model in (pin.buildModelFromUrdf(str(models.path("tau_arm.urdf"))), humanoid):
        data, q, v = model.createData(), pin.neutral(model), np.ones(model.nv)
        for algorithm in (pin.rnea, pin.aba):
            times = []
            for _ in range(100):
                start = perf_counter()
                algorithm(model, data, q, v, v)
                times.append(perf_counter() - start)
            assert min(times) < 1e-3


def test_a_factor_that_is_kept_makes_the_next_solve_quadratic() -> None:
    """Factoring costs n^3, a solve with the factor at hand n^2: counted on the code that does it."""
    sizes = range(4, 10)
    costs = {"factor": [], "solve": []}
    for n in sizes:
        A = np.random.default_rng(n).normal(size=(n, n))
        state = Given(
            np.ones((1, n)), np.ones((1, n)), np.ones((1, n)), np.ones((1, n)), (A @ A.T)[None], np.ones((1, n))
        )
        L, d = ldl(state.M)

        def factored(given: Given) -> np.ndarray:
            return ldl(given.M)[1]

        def solved(given: Given, L: np.ndarray = L, d: np.ndarray = d, n: int = n) -> np.ndarray:
            x = given.tau.copy()
            for k in range(n):
                x[:, k] = x[:, k] - (L[:, k, :k] * x[:, :k]).sum(-1)
            x = x / d
            for k in reversed(range(n)):
                x[:, k] = x[:, k] - (L[:, k + 1 :, k] * x[:, k + 1 :]).sum(-1)
            return x

        costs["factor"].append(counting.count(factored, state)[0].total)
        found, x = counting.count(solved, state)
        costs["solve"].append(found.total)
        assert_allclose(state.M[0] @ x[0], state.tau[0], rtol=1e-9)
    assert set(np.diff(costs["solve"], 2)) == {np.diff(costs["solve"], 2)[0]}
    thirds = np.diff(costs["factor"], 3)
    assert (thirds == thirds[0]).all()
    assert thirds[0] > 0


def test_like_is_held_against_like() -> None:
    """The script of the exercise: hardware, runs, preparation, a kept factor, and answers that agree to rounding."""
    pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install 'tautology[pinocchio]'")
    script = Path(tautology.__file__).parent / "benchmarks" / "like_for_like.py"
    if not script.is_file():
        pytest.skip("the package is installed without its benchmarks")
    asked = [sys.executable, str(script), "--sizes", "5", "10", "--repeats", "1"]
    ran = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr
    rows = {cells[1].strip(): cells[2:-1] for line in ran.stdout.splitlines() if (cells := line.split("|"))[1:]}
    assert {"inverse: rnea", "inverse: M a + h at hand", "forward: aba", "forward: solve, factor and h kept"} <= set(
        rows
    )
    assert sum(name.startswith("preparation: ") for name in rows) == 3
    assert max(map(float, rows["largest relative disagreement"])) < 1e-11
    assert float(rows["forward: solve, factor and h kept"][1]) < float(rows["forward: crba, h, factor, solve"][1])
    counted = counting.spatial_counts([5, 10], [counting.RNEA])[counting.RNEA]
    assert [int(cell) for cell in rows[counting.RNEA]] == totals(counted)
    assert "Pinocchio" in ran.stdout.splitlines()[1]
    assert "1 runs of" in ran.stdout
