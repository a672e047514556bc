"""A loop that is cut into a tree, with and without the constraint that closes it again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..errors import RequestError
from .record import Cell, Chart, Column, Explanation, Section, Series, Table, columns

if TYPE_CHECKING:
    from ...adapters.textbook.constrained import Baumgarte, Constrained
    from ...adapters.textbook.constraints import Rows
    from ..tree import Closure, Floats, Tree
    from .asked import Asked

QUESTION: Final = "What does a loop ask of the tree that it was cut into?"
BUNDLED: Final = "four_bar.xml"
CUT: Final = (
    "A loop is cut at one joint, which leaves a tree; the cut is closed again by rows phi(q) = 0. Then phi' = J v and "
    "phi'' = J a + Jdot v must be zero, too, and M a = tau - bias + J^T lambda has the reactions lambda as unknowns."
)
FALLS: Final = (
    "No joint is driven. Without the constraint each branch falls by itself and the cut opens with phi''; with it, the "
    "reactions pull it together. Two routes, the KKT system and the constraint-space matrix J M^-1 J^T, must agree."
)
REDUNDANT: Final = (
    "A row that others imply adds nothing to the rank. Acceleration and J^T lambda stay as they are, though single "
    "reactions then have many values, and the smallest are shown. Below, all closures are asked for once and twice."
)
DRIFTS: Final = (
    "The constraint is met by accelerations; positions are integrated, and drift with the error of the integrator, "
    "here the classical Runge-Kutta method. Baumgarte's gains pull phi back to zero; the open tree just leaves it."
)
TRIES: Final = 24  # random states from which an assembly is sought
ROUNDING: Final = 1e-12
FASTEST: Final = 1.0  # rad/s | m/s
DURATION: Final = 0.4  # s
COUNTS: Final = (10, 20, 40, 80)
SETTLING: Final = 0.05  # s, of Baumgarte's stabilisation


@dataclass(frozen=True, eq=False)
class _State:
    """A tree whose closures hold at one state.

    Attributes:
        tree: with the closures that are known here.
        q: (1, nq) assembled.
        v: (1, nv) with J v = 0.
    """

    tree: Tree
    q: Floats
    v: Floats


def explain(asked: Asked) -> Explanation:
    """Explain loops."""
    from ...adapters.textbook.constrained import constrained_dynamics  # noqa: PLC0415  loaded when a topic is asked

    asked, said = _closed(asked)
    tree = asked.tree
    state = _state(asked)
    none = np.zeros((1, tree.nv))
    opened = np.asarray(asked.reference().forward_dynamics(state.q, state.v, none), np.float64)
    by_space = constrained_dynamics(tree, state.q, state.v, none)
    by_kkt = constrained_dynamics(tree, state.q, state.v, none, route="KKT")
    rows, m, rank = by_space.rows, len(by_space.rows.names), int(by_space.rank[0])
    apart = float(np.abs(by_space.a - by_kkt.a).max())
    forces = np.asarray(rows.forces(by_space.reactions)[0], np.float64)
    gap = np.asarray(rows.acceleration(opened)[0], np.float64)
    accelerations = Table(
        "Accelerations [rad/s^2 | m/s^2] and the forces of the constraint [N m | N]",
        (*columns("dof", "open tree", "closed", "change", "J^T lambda"), Column("KKT off", 2)),
        tuple(
            (
                dof,
                float(opened[0, k]),
                float(by_space.a[0, k]),
                float(by_space.a[0, k] - opened[0, k]),
                float(forces[k]),
                float(abs(by_space.a[0, k] - by_kkt.a[0, k])),
            )
            for k, dof in enumerate(tree.dofs)
        ),
    )
    drift, courses = _drift(state)
    return Explanation(
        "loops",
        QUESTION,
        asked.model,
        f"The open tree would open its cuts with up to {np.abs(gap).max():.4g} m/s^2 | rad/s^2; {rank} independent of "
        f"{m} rows close them and leave {tree.nv - rank} of {tree.nv} dofs.",
        (
            Section("The closures", (*said, CUT), (_closures(tree), _rows(rows, state, gap, by_space))),
            Section("Open and closed", (FALLS,), (accelerations,)),
            Section("Rank and redundant rows", (REDUNDANT,), (_twice(state, none, by_space),)),
            Section("Drift", (DRIFTS,), (drift,), (courses,)),
        ),
        values={
            "q": state.q[0].tolist(),
            "v": state.v[0].tolist(),
            "open": opened[0].tolist(),
            "closed": by_space.a[0].tolist(),
            "apart": apart,
            "rows": list(rows.names),
            "rank": rank,
            "reactions": by_space.reactions[0].tolist(),
            "unique": by_space.unique[0].tolist(),
            "drift": [list(row) for row in drift.rows],
        },
    )


def _closed(asked: Asked) -> tuple[Asked, tuple[str, ...]]:
    """Return the robot with the closures whose rows are known, or the bundled one, and what is to be said of it."""
    from ...adapters.textbook.constraints import SIZES  # noqa: PLC0415  loaded when a topic is asked

    on = [c for c in asked.tree.closures if c.active]
    known = tuple(c for c in on if c.kind in SIZES and len(c.numbers) in SIZES[c.kind])
    others = sorted({c.kind for c in on if c not in known})
    if known:
        said = (f"Left out, since its rows are not known here: {', '.join(others)}.",) if others else ()
        return replace(asked, tree=replace(asked.tree, closures=known)), said
    from ...models import path  # noqa: PLC0415  only where the robot has no loop
    from ..load import open_model  # noqa: PLC0415

    why = f"has only closures whose rows are not known here ({', '.join(others)})" if others else "has no closure"
    loaded = open_model(str(path(BUNDLED)), "auto")
    bundled = replace(asked, tree=loaded.tree, given=loaded.given)
    return bundled, (f"The model {asked.tree.name!r} {why}, so the bundled {loaded.tree.name!r} is shown.",)


def _state(asked: Asked) -> _State:
    """Return the first random state from which the closures can be met.

    Raises:
        RequestError: there is none.
    """
    from ...adapters.textbook.assembly import assembled, consistent_velocity  # noqa: PLC0415
    from ...adapters.textbook.constrained import constrained_dynamics  # noqa: PLC0415

    states, tree = asked.states(TRIES), asked.tree
    failed: RequestError | None = None
    for q, v in zip(states.q, states.v, strict=True):
        try:
            near = np.asarray(assembled(tree, q[None]), np.float64)
            speed = np.asarray(consistent_velocity(tree, near, v[None]), np.float64)
            speed *= FASTEST / max(float(np.abs(speed).max()), FASTEST)
            constrained_dynamics(tree, near, speed, np.zeros_like(speed))
        except RequestError as error:
            failed = error
            continue
        return _State(tree, near, speed)
    raise RequestError(f"the loops of {tree.name!r} cannot be shown: {failed}")


def _closures(tree: Tree) -> Table:
    """Return the closures as the file has them."""
    return Table(
        "Closures",
        columns("closure", "kind", "first", "second"),
        tuple((c.name, c.kind, c.between[0], _second(c)) for c in tree.closures),
    )


def _second(closure: Closure) -> str:
    name = closure.between[1] if len(closure.between) > 1 else ""
    return name or ("the world" if closure.kind in ("connect", "weld") else "a constant")


def _rows(rows: Rows, state: _State, gap: Floats, found: Constrained) -> Table:
    """Return every row at the state: what is left of it, with the open and the closed acceleration, and reaction."""
    speed, closed = rows.velocity(state.v)[0], rows.acceleration(found.a)[0]
    return Table(
        "Rows at an assembled state",
        (
            *(Column("row"), Column("unit"), Column("phi", 2), Column("phi'", 2)),
            *(Column("phi'' open", 5), Column("phi'' closed", 2), Column("reaction", 5), Column("one value")),
        ),
        tuple(
            (
                *(name, unit),
                *(float(x) for x in (rows.position[0, k], speed[k], _round(gap[k]), closed[k])),
                _round(found.reactions[0, k]),
                "yes" if found.unique[0, k] else "no",
            )
            for k, (name, unit) in enumerate(zip(rows.names, rows.units, strict=True))
        ),
        "reaction lambda, in newton for a row in metres; one value: whether no other value gives the same motion",
    )


def _round(x: float) -> float:
    """Return a number without what rounding leaves of zero."""
    return 0.0 if abs(x) < ROUNDING else float(x)


def _twice(state: _State, none: Floats, once: Constrained) -> Table:
    """Return ranks with the closures once and twice, and how far the motions are apart."""
    from ...adapters.textbook.constrained import constrained_dynamics  # noqa: PLC0415

    tree = state.tree
    again = replace(tree, closures=(*tree.closures, *(replace(c, name=f"{c.name} again") for c in tree.closures)))
    twice = constrained_dynamics(again, state.q, state.v, none)
    change = float(np.abs(twice.a - once.a).max())
    push = float(np.abs(twice.rows.forces(twice.reactions) - once.rows.forces(once.reactions)).max())
    rows: list[tuple[Cell, ...]] = []
    for words, found, off, off_force in (("once", once, 0.0, 0.0), ("twice", twice, change, push)):
        m, rank = len(found.rows.names), int(found.rank[0])
        largest = float(np.abs(found.reactions).max())
        rows.append((words, m, rank, m - rank, int((~found.unique).sum()), largest, off, off_force))
    return Table(
        "Every closure once and twice",
        (
            *columns("closures", "rows", "rank", "redundant", "not unique", "largest reaction"),
            *(Column("off in a", 2), Column("off in J^T lambda", 2)),
        ),
        tuple(rows),
    )


def _drift(state: _State) -> tuple[Table, Chart]:
    """Return the largest |phi| over a motion, by step, and its course at the longest step."""
    from ...adapters.textbook.constrained import Baumgarte  # noqa: PLC0415

    ways: dict[str, Any] = {"open tree": None, "closed": Baumgarte(), "stabilised": Baumgarte.of_time(SETTLING)}
    rows: list[tuple[Cell, ...]] = []
    lines: list[Series] = []
    last: dict[str, float] = {}
    for count in COUNTS:
        cells: list[Cell] = []
        ratio: float | None = None
        for name, gains in ways.items():
            t, left = _left(state, count, gains)
            cells += [float(left[-1])]
            if name == "closed":
                ratio = last[name] / left[-1] if last.get(name) and left[-1] else None
            last[name] = float(left[-1])
            if count == COUNTS[0]:
                lines.append(Series(name, tuple((float(x), float(y)) for x, y in zip(t[1:], left[1:], strict=True))))
        rows.append((count, DURATION / count, *cells, ratio))
    table = Table(
        f"Largest |phi| after {DURATION:g} s [m | rad]",
        (Column("steps"), *columns("step [s]", *ways, digits=3), Column("ratio", 3)),
        tuple(rows),
        f"ratio: of closed, twice the step over this one. Stabilised with a time constant of {SETTLING:g} s.",
    )
    chart = Chart(
        f"Largest |phi| at a step of {DURATION / COUNTS[0]:g} s",
        "time [s]",
        "max |phi| [m | rad]",
        tuple(lines),
        "y",
        f"After {DURATION:g} s the open tree has left its closures by {rows[0][2]:.2g}, the closed one by "
        f"{rows[0][3]:.2g}.",
    )
    return table, chart


def _left(state: _State, count: int, gains: Baumgarte | None) -> tuple[Floats, Floats]:
    """Return instants (K,) [s] and the largest |phi| (K,) of a motion without drive; `gains` None is the open tree."""
    from ...adapters.textbook.constrained import constrained_dynamics  # noqa: PLC0415
    from ...adapters.textbook.constraints import rows_of  # noqa: PLC0415
    from ...adapters.textbook.simulate import of_tree, simulate  # noqa: PLC0415

    tree, mechanism = state.tree, of_tree(state.tree)
    if gains is not None:

        def acceleration(q: Any, v: Any, tau: Any) -> Any:
            return constrained_dynamics(tree, q, v, tau, stabilisation=gains, tolerance=np.inf).a

        mechanism = replace(mechanism, acceleration=acceleration)
    motion = simulate(mechanism, state.q, state.v, DURATION / count, count)
    rows = rows_of(tree, np.asarray(motion.q[:, 0]), np.asarray(motion.v[:, 0]))
    return np.asarray(motion.t, np.float64), np.abs(rows.position).max(axis=1)
