"""What the algorithms cost: counted operations and measured times, on the robot and on chains of growing length."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .record import Cell, Chart, Column, Explanation, Section, Series, Table, columns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...adapters.reference import Reference
    from ..engine import Session
    from ..tree import Floats, Tree
    from .asked import Asked, Opened

QUESTION: Final = "How many operations and how much time does each algorithm take?"
ENGINES: Final = ("pinocchio", "mujoco", "drake", "dart", "idyntree")
SIZES: Final = (5, 10, 20, 50, 100, 200)
# The longest chain on which the operations are counted: counting runs the algorithm on Python numbers, one by one.
LONGEST: Final = {"CRBA + solve": 100, "Walker-Orin": 100, "explicit Lagrangian": 10}
OF_SLOPE: Final = 3  # sizes, the largest: slopes are those of long chains
STATES: Final = 16  # in one call of the algorithms in numpy, so that what numpy asks per call is shared
BRIEF: Final = 0.2  # s: what takes less is repeated, and the best is taken
REPEATS: Final = 4
ENOUGH: Final = 0.6  # s in one call: longer chains are left out for this algorithm
LEAST: Final = 0.002  # kg m^2 of a link about its other axes, so that every engine holds it
LIKE: Final = (
    "Like is held against like: inverse dynamics against inverse dynamics, forward against forward. M a + bias "
    "at hand starts from M and bias that somebody has computed already, and is no answer to the whole question."
)
COUNTED: Final = (
    "Operations are counted, not estimated: the code itself runs at one state on numbers that count. Chains are "
    "equal rods of one metre and one kilogram in all, of n revolute joints about parallel axes. Counting goes to n = "
    "200, to 100 for those that grow with n^3. The explicit Lagrangian, by Christoffel symbols of the planar chain, "
    "grows so fast that it is counted to n = 10 alone."
)
TIMED: Final = (
    "Best of a few runs, per state, on this machine now. Our own algorithms take 16 states in one call of numpy; "
    "engines are asked through their adapters, in a loop over the states, conversion of coordinates included."
)
TAIL: Final = "slope: d log / d log n over the largest three sizes"


def explain(asked: Asked) -> Explanation:
    """Explain cost."""
    states = asked.states(1)
    inverse, forward = _counted_on(asked.tree, states.q, states.v, states.a)
    own = Table(
        f"Operations for one state of {asked.tree.name}",
        columns("question", "algorithm", "mult.", "add.", "div.", "sin, cos, sqrt", "all"),
        (*inverse, *forward),
        keys=2,
    )
    operations = _operations()
    times, absent = _times(asked)
    tables = [
        _grown("Operations, inverse", operations["inverse"], 4),
        _grown("Operations, forward", operations["forward"], 4),
        _grown("Microseconds per state, inverse", times["inverse"], 3),
        _grown("Microseconds per state, forward", times["forward"], 3),
    ]
    charts = [
        _chart("Operations, inverse dynamics", "operations", operations["inverse"]),
        _chart("Operations, forward dynamics", "operations", operations["forward"]),
        _chart("Time, inverse dynamics", "time per state [us]", times["inverse"]),
        _chart("Time, forward dynamics", "time per state [us]", times["forward"]),
    ]
    slopes = {
        f"{kind} {question}": {name: slope(found) for name, found in rows.items()}
        for kind, by in (("operations", operations), ("times", times))
        for question, rows in by.items()
    }
    counted = slopes["operations inverse"] | slopes["operations forward"]
    return Explanation(
        "cost",
        QUESTION,
        asked.model,
        f"Counted on long chains, RNEA grows with n^{counted['RNEA']:.2f}, M a + bias with "
        f"n^{counted['M a + bias at hand']:.2f}; ABA with n^{counted['ABA']:.2f}, CRBA + solve with "
        f"n^{counted['CRBA + solve']:.2f}, Walker-Orin with n^{counted['Walker-Orin']:.2f}.",
        (
            Section("This robot", (LIKE,), (own,)),
            Section("Operations against n", (COUNTED,), tuple(tables[:2]), tuple(charts[:2])),
            Section("Times against n", (TIMED,), tuple(tables[2:]), tuple(charts[2:])),
        ),
        (*asked.absent, *absent),
        {
            "sizes": list(SIZES),
            "operations": {
                q: {k: {str(n): x for n, x in f.items()} for k, f in by.items()} for q, by in operations.items()
            },
            "times": {q: {k: {str(n): x for n, x in f.items()} for k, f in by.items()} for q, by in times.items()},
            "slopes": slopes,
        },
    )


def slope(found: Mapping[int, float]) -> float | None:
    """Return d log / d log n by least squares over the largest sizes; None where there are fewer than two."""
    sizes = sorted(found)[-OF_SLOPE:]
    if len(sizes) < 2:
        return None
    return float(np.polyfit(np.log(sizes), np.log([found[n] for n in sizes]), 1)[0])


def _names() -> dict[str, dict[str, str]]:
    """Return question to short name to the name in `textbook.counting`."""
    from ...adapters.textbook import counting  # noqa: PLC0415  loaded when a topic is asked

    return {
        "inverse": {
            "RNEA": counting.RNEA,
            "exponentials": counting.EXPONENTIALS,
            "M a + bias at hand": counting.PRODUCT,
            "explicit Lagrangian": counting.LAGRANGE,
        },
        "forward": {
            "ABA": counting.ABA,
            "CRBA + solve": counting.CRBA_SOLVE,
            "Walker-Orin": counting.WALKER_ORIN,
        },
    }


def _counted_on(tree: Tree, q: Floats, v: Floats, a: Floats) -> list[tuple[tuple[Cell, ...], ...]]:
    """Return rows of operations on a robot, for each question."""
    from ...adapters.textbook import counting  # noqa: PLC0415  loaded when a topic is asked

    algorithms, given = counting.spatial_algorithms(tree), counting.given_of(tree, q, v, a)
    found: list[tuple[tuple[Cell, ...], ...]] = []
    for question, names in _names().items():
        rows: list[tuple[Cell, ...]] = []
        for name, known in names.items():
            if known in algorithms:
                tally, _ = counting.count(algorithms[known], given)
                parts = (tally.multiplications, tally.additions, tally.divisions, tally.functions)
                rows.append((question, name, *parts, tally.total))
        found.append(tuple(rows))
    return found


def _operations() -> dict[str, dict[str, dict[int, float]]]:
    """Return question to algorithm to n to counted operations of a chain."""
    from ...adapters.textbook import counting  # noqa: PLC0415  loaded when a topic is asked

    found: dict[str, dict[str, dict[int, float]]] = {}
    for question, names in _names().items():
        for name, known in names.items():
            sizes = [n for n in SIZES if n <= LONGEST.get(name, max(SIZES))]
            counts = counting.planar_counts if known == counting.LAGRANGE else counting.spatial_counts
            totals = counts(sizes, [known])[known]
            found.setdefault(question, {})[name] = {n: float(x.total) for n, x in zip(sizes, totals, strict=True)}
    return found


def _times(asked: Asked) -> tuple[dict[str, dict[str, dict[int, float]]], list[str]]:
    """Return question to algorithm to n to microseconds per state, and a sentence per engine that is not there."""
    from ...adapters.reference import Reference  # noqa: PLC0415  loaded when a topic is asked
    from ...adapters.textbook.counting import uniform_chain  # noqa: PLC0415
    from ...adapters.textbook.planar_tree import embedded  # noqa: PLC0415

    found: dict[str, dict[str, dict[int, float]]] = {"inverse": {}, "forward": {}}
    absent: list[str] = []
    for n in SIZES:
        tree = embedded(uniform_chain(n), f"chain of {n}", np.full((n, 2), LEAST / n))
        chain = replace(asked, tree=tree, absent=absent if n == SIZES[0] else [])
        q, v, a, tau = np.random.default_rng(n).uniform(-1, 1, (4, STATES, n))
        calls: dict[str, dict[str, Callable[[], Any]]] = {"inverse": {}, "forward": {}}
        _ours(calls, Reference(tree), q, v, a, tau)
        for engine in chain.opened(ENGINES, ("tau",)):
            _theirs(calls, engine, q, v, a, tau)
        for question, asks in calls.items():
            for name, call in asks.items():
                known = found[question].setdefault(name, {})
                # An algorithm that took long on a shorter chain is not asked on a longer one.
                if known and max(known.values()) * STATES / 1e6 > ENOUGH:
                    continue
                with chain.trying(name):
                    known[n] = _seconds(call) / STATES * 1e6
    return {question: {k: x for k, x in by.items() if x} for question, by in found.items()}, absent


def _ours(
    calls: dict[str, dict[str, Callable[[], Any]]], reference: Reference, q: Floats, v: Floats, a: Floats, tau: Floats
) -> None:
    """Add the calls of our own algorithms."""
    from ...adapters.textbook.forward import composite_solve, walker_orin  # noqa: PLC0415

    M, bias = reference.mass_matrix(q), reference.bias(q, v)
    calls["inverse"] |= {
        "RNEA": lambda: reference.inverse_dynamics(q, v, a),
        "M a + bias at hand": lambda: (M @ a[..., None])[..., 0] + bias,
    }
    calls["forward"] |= {
        "ABA": lambda: reference.forward_dynamics(q, v, tau),
        "CRBA + solve": lambda: composite_solve(reference.mass_matrix, reference.inverse_dynamics, q, v, tau),
        "Walker-Orin": lambda: walker_orin(reference.inverse_dynamics, q, v, tau),
    }


def _theirs(
    calls: dict[str, dict[str, Callable[[], Any]]], engine: Opened, q: Floats, v: Floats, a: Floats, tau: Floats
) -> None:
    """Add the calls of an engine."""
    session: Session = engine.session
    calls["inverse"][engine.name] = lambda: session.inverse_dynamics(q, v, a)
    if "acceleration" not in session.lacks:
        calls["forward"][engine.name] = lambda: session.forward_dynamics(q, v, tau)


def _seconds(call: Callable[[], Any]) -> float:
    """Return the best time of a call; the first is a rehearsal unless it is long."""
    start = perf_counter()
    call()
    best = perf_counter() - start
    if best > BRIEF:
        return best
    for _ in range(REPEATS):
        start = perf_counter()
        call()
        best = min(best, perf_counter() - start)
    return best


def _grown(title: str, rows: Mapping[str, Mapping[int, float]], digits: int) -> Table:
    """Return values against n, a row per algorithm, with the slope."""
    return Table(
        f"{title}, against n",
        (Column("algorithm"), *(Column(f"{n}", digits) for n in SIZES), Column("slope", 3)),
        tuple((name, *(found.get(n) for n in SIZES), slope(found)) for name, found in rows.items()),
        TAIL,
    )


def _chart(title: str, y: str, rows: Mapping[str, Mapping[int, float]]) -> Chart:
    lines: Sequence[Series] = [
        Series(name, tuple((float(n), float(x)) for n, x in found.items())) for name, found in rows.items()
    ]
    said = "; ".join(f"{name} n^{k:.2f}" for name, found in rows.items() if (k := slope(found)) is not None)
    return Chart(title, "n", y, tuple(lines), "xy", f"Slopes: {said}.")
