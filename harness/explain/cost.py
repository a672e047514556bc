"""What the algorithms cost: counted operations and measured times, on the robot and on chains of growing length."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from ..stopwatch import least_seconds
from .asked import seconds
from .growth import Growth, Known, grown, slope
from .record import Cell, Chart, Column, Explanation, Section, Series, Table, columns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...adapters.textbook.counting import Tally
    from ..tree import Floats, Tree
    from .asked import Asked, Opened

    # What a call takes [s]; tallies of algorithms by sizes and names.
    Timed = Callable[[], float]
    Counter = Callable[[Sequence[int], Sequence[str]], Mapping[str, Sequence[Tally]]]

QUESTION: Final = "How many operations and how much time does each algorithm take?"
ENGINES: Final = ("pinocchio", "mujoco", "drake", "dart", "idyntree", "pybullet")
SIZES: Final = (5, 10, 20, 50, 100, 200)
# Counting runs the algorithm on Python numbers, one by one: these would take minutes at n = 200.
UNCOUNTED: Final[Mapping[str, Known]] = {
    "Walker-Orin": Known((5, 10, 20, 50), 100),
    "explicit Lagrangian": Known((5, 6, 7, 8, 10), 20),
}
STATES: Final = 16  # in one call of the algorithms in numpy, so that what numpy asks per call is shared
ALONE: Final = "explicit Lagrangian"  # is asked one state: n^3 numbers of 16 would fill the memory
ENOUGH: Final = 0.6  # s in one call: longer chains are left out for this algorithm
LEAST: Final = 0.002  # kg m^2 of a link about its other axes, so that every engine holds it
LIKE: Final = (
    "Like is held against like: inverse dynamics against inverse dynamics, forward against forward. M a + bias "
    "at hand starts from M and bias that somebody has computed already, and is no answer to the whole question."
)
COUNTED: Final = (
    "Operations are counted, not estimated: the code itself runs at one state on numbers that count. Chains are "
    "equal rods of one metre and one kilogram in all, of n revolute joints about parallel axes. The explicit "
    "Lagrangian is that of the planar chain, by Christoffel symbols; all others are spatial."
)
BEYOND: Final = (
    "Beyond the column counted, the numbers are those of a polynomial, and exact, too: code with loops over bodies "
    "carries out a polynomial of n. The cubic through the counts of Walker-Orin at n = 5, 10, 20 and 50 meets the one "
    "at 100, the quartic through those of the Lagrangian at n = 5, 6, 7, 8 and 10 the one at 20, to the last "
    "operation; where it would not, nothing stands there."
)
TIMED: Final = (
    "Processor time per state, the best of a few runs, on this machine now. Our own algorithms take 16 states in one "
    "call of numpy, the explicit Lagrangian one; engines are asked through their adapters, in a loop over the states, "
    "conversion of coordinates included. A dash: it took more than 0.6 s on a shorter chain, or cannot hold this one. "
    "ADAM, MJX and Newton are left out: they take longer to make a long chain than to answer."
)
SLOWER: Final = (
    "Times grow more slowly than operations where something is paid per call or per step and not per operation: numpy "
    "asks about a microsecond for each of its calls, whatever is in the arrays, and compiled code multiplies small "
    "matrices faster than it walks along the chain. Slopes of 1 and 2 are those of the work, 3 shows on longer chains."
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
    counts = _operations()
    operations = {q: {k: {n: float(x) for n, x in g.totals.items()} for k, g in by.items()} for q, by in counts.items()}
    times = _times(asked)
    tables = [
        _grown("Operations, inverse", operations["inverse"], 4, counts["inverse"]),
        _grown("Operations, forward", operations["forward"], 4, counts["forward"]),
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
            Section("Operations against n", (COUNTED, BEYOND), tuple(tables[:2]), tuple(charts[:2])),
            Section("Times against n", (TIMED, SLOWER), tuple(tables[2:]), tuple(charts[2:])),
        ),
        values={
            "sizes": list(SIZES),
            "operations": {
                q: {k: {str(n): x for n, x in f.items()} for k, f in by.items()} for q, by in operations.items()
            },
            "counted": {name: x.counted for by in counts.values() for name, x in by.items()},
            "times": {q: {k: {str(n): x for n, x in f.items()} for k, f in by.items()} for q, by in times.items()},
            "slopes": slopes,
        },
    )


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


def _operations() -> dict[str, dict[str, Growth]]:
    """Return question to algorithm to the operations of chains."""
    from ...adapters.textbook import counting  # noqa: PLC0415  loaded when a topic is asked

    found: dict[str, dict[str, Growth]] = {}
    for question, names in _names().items():
        for name, known in names.items():
            counts = counting.planar_counts if known == counting.LAGRANGE else counting.spatial_counts

            def count(sizes: Sequence[int], counts: Counter = counts, known: str = known) -> list[int]:
                return [x.total for x in counts(sizes, [known])[known]]

            found.setdefault(question, {})[name] = grown(count, SIZES, UNCOUNTED.get(name))
    return found


def _times(asked: Asked) -> dict[str, dict[str, dict[int, float]]]:
    """Return question to algorithm to n to microseconds per state."""
    found: dict[str, dict[str, dict[int, float]]] = {"inverse": {}, "forward": {}}
    for n in SIZES:
        chain = replace(asked, tree=_chain(n))
        for question, calls in _calls(chain).items():
            for name, call in calls.items():
                known, states = found[question].setdefault(name, {}), 1 if name == ALONE else STATES
                # An algorithm that took long on a shorter chain is not asked on a longer one.
                if known and max(known.values()) * states / 1e6 > ENOUGH:
                    continue
                with chain.trying(name):
                    known[n] = call() / states * 1e6
    return {question: {k: x for k, x in by.items() if x} for question, by in found.items()}


def _chain(n: int) -> Tree:
    """Return the rods in space, which every engine holds."""
    from ...adapters.textbook.counting import uniform_chain  # noqa: PLC0415  loaded when a topic is asked
    from ...adapters.textbook.planar_tree import embedded  # noqa: PLC0415

    return embedded(uniform_chain(n), f"a chain of {n}", np.full((n, 2), LEAST / n))


def _calls(chain: Asked) -> dict[str, dict[str, Timed]]:
    """Return question to algorithm to what times it on a chain."""
    n = chain.tree.nv
    q, v, a, tau = np.random.default_rng(n).uniform(-1, 1, (4, STATES, n))
    calls = _ours(chain.tree, q, v, a, tau)
    for engine in chain.opened(ENGINES):
        inverse, forward = _theirs(engine, q, v, a, tau)
        calls["inverse"][engine.name] = inverse
        if forward is not None:
            calls["forward"][engine.name] = forward
    return calls


def _ours(tree: Tree, q: Floats, v: Floats, a: Floats, tau: Floats) -> dict[str, dict[str, Timed]]:
    """Return what times our own algorithms."""
    from ...adapters.reference import Reference  # noqa: PLC0415  loaded when a topic is asked
    from ...adapters.textbook.counting import uniform_chain  # noqa: PLC0415
    from ...adapters.textbook.exponentials import inverse_dynamics, screws_of  # noqa: PLC0415
    from ...adapters.textbook.forward import composite_solve, walker_orin  # noqa: PLC0415
    from ...adapters.textbook.planar_lagrange import by_christoffel  # noqa: PLC0415

    reference, screws, chain = Reference(tree), screws_of(tree), uniform_chain(tree.nv)
    M, bias = reference.mass_matrix(q), reference.bias(q, v)
    rnea, crba = reference.inverse_dynamics, reference.mass_matrix
    return {
        "inverse": {
            "RNEA": partial(least_seconds, lambda: rnea(q, v, a)),
            "exponentials": partial(least_seconds, lambda: inverse_dynamics(screws, q, v, a)),
            "M a + bias at hand": partial(least_seconds, lambda: (M @ a[..., None])[..., 0] + bias),
            ALONE: partial(least_seconds, lambda: by_christoffel(chain, q[0], v[0]).efforts(a[0])),
        },
        "forward": {
            "ABA": partial(least_seconds, lambda: reference.forward_dynamics(q, v, tau)),
            "CRBA + solve": partial(least_seconds, lambda: composite_solve(crba, rnea, q, v, tau)),
            "Walker-Orin": partial(least_seconds, lambda: walker_orin(rnea, q, v, tau)),
        },
    }


def _theirs(engine: Opened, q: Floats, v: Floats, a: Floats, tau: Floats) -> tuple[Timed, Timed | None]:
    """Return what times inverse and forward dynamics of an engine; None for what it lacks."""
    inverse = partial(seconds, engine.session, "inverse_dynamics", q=q, v=v, a=a)
    if "acceleration" in engine.session.lacks:
        return inverse, None
    return inverse, partial(seconds, engine.session, "forward_dynamics", q=q, v=v, tau=tau)


def _grown(
    title: str, rows: Mapping[str, Mapping[int, float]], digits: int, counts: Mapping[str, Growth] | None = None
) -> Table:
    """Return values against n, a row per algorithm, with the slope, and to which n they were counted."""
    return Table(
        f"{title}, against n",
        (
            Column("algorithm"),
            *(Column(f"{n}", digits) for n in SIZES),
            Column("slope", 3),
            *((Column("counted"),) if counts else ()),
        ),
        tuple(
            (
                name,
                *(found.get(n) for n in SIZES),
                slope(found),
                *((f"to {counts[name].counted}",) if counts else ()),
            )
            for name, found in rows.items()
        ),
        TAIL,
    )


def _chart(title: str, y: str, rows: Mapping[str, Mapping[int, float]]) -> Chart:
    lines: Sequence[Series] = [
        Series(name, tuple((float(n), float(x)) for n, x in found.items())) for name, found in rows.items()
    ]
    said = "; ".join(f"{name} n^{k:.2f}" for name, found in rows.items() if (k := slope(found)) is not None)
    return Chart(title, "n", y, tuple(lines), "xy", f"Slopes: {said}.")
