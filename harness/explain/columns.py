"""The mass matrix by columns: inverse dynamics at unit accelerations, minus the bias, n + 1 calls of one state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..checks.derivatives import displaced
from .record import Column, Explanation, Section, Table, columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..engine import Session
    from ..tree import Floats
    from .asked import Asked

ENGINES: Final = ("reference", "pinocchio", "mujoco", "drake", "dart", "idyntree", "pybullet")
# How far q moves between two calls when it is not frozen [rad | m]: a control cycle of 1 ms at the speed of the state.
CYCLE: Final = 1e-3  # s
AFFINE: Final = (
    "tau(q, v, a) = M(q) a + bias(q, v) is affine in a. With q and v frozen, tau(q, v, e_j) - tau(q, v, 0) is column j "
    "of M, whatever v and gravity are."
)
RAW: Final = (
    "Without subtracting the bias every column has the whole bias in it: the error is a vector that stands in all "
    "columns alike."
)
WIDEST: Final = 12  # dofs of a matrix that is printed


def by_columns(session: Session, qs: Floats, v: Floats, *, bias: bool) -> Floats:
    """Return (n, n) the columns tau(q, v, e_j), less tau(q, v, 0) when wanted.

    Args:
        session: asked once per column, and once more for the bias.
        qs: (n + 1, nq) configuration of every call, the bias first; the same one when the state is frozen.
        v: (nv,) velocity.
        bias: whether the bias is subtracted.
    """
    n = len(v)
    vs, unit = np.tile(v, (n + 1, 1)), np.vstack([np.zeros(n), np.eye(n)])
    taus = session.inverse_dynamics(qs, vs, unit)
    return (taus[1:] - taus[0] if bias else taus[1:]).T


def explain(asked: Asked) -> Explanation:
    """Explain the column test."""
    tree, states = asked.tree, asked.states(1)
    q, v = states.q[0], states.v[0]
    n = tree.nv
    frozen = np.tile(q, (n + 1, 1))
    moving = _moved(asked, q, v)
    rows: list[tuple[str | float, ...]] = []
    shown: dict[str, Floats] = {}
    for engine in asked.opened(ENGINES, ("tau", "mass_matrix")):
        if len(engine.session.dofs) != n:
            asked.leave_out(engine.name, f"it has {len(engine.session.dofs)} of its {n} dofs")
            continue
        asks: list[Floats] = []
        with asked.trying(engine.name):
            asks.append(engine.session.mass_matrix(q[None])[0])
            asks += [by_columns(engine.session, frozen, v, bias=bias) for bias in (True, False)]
            asks.append(by_columns(engine.session, moving, v, bias=True))
        if len(asks) < 4:
            continue
        M, right, raw, drifted = asks
        skew = drifted - drifted.T
        rows.append((engine.name, *(float(np.abs(X).max()) for X in (M, right - M, raw - M, drifted - M, skew))))
        shown.setdefault("crba", M)
        shown.setdefault("right", right)
        shown.setdefault("raw", raw)
        shown.setdefault("drifted", drifted)
    table = Table(
        "Largest element of M, and largest errors of M by columns [kg m^2 | kg m | kg]",
        (
            Column("engine"),
            Column("max |M|"),
            Column("minus bias", 2),
            Column("bias left in", 2),
            Column("q not frozen", 2),
            Column("asymmetry then", 2),
        ),
        tuple(rows),
        "Against the engine's own mass matrix. q not frozen: the bias is subtracted, but every call comes "
        f"{CYCLE * 1e3:g} ms later than the one before, at the speed of the state.",
    )
    sections = [
        Section(
            "The test",
            (AFFINE, RAW),
            (table, _calls(n)),
        )
    ]
    if n <= WIDEST:
        sections.append(_matrices(tree.dofs, shown))
    size, right, raw, drifted = (float(x) for x in rows[0][1:5])
    return Explanation(
        "columns",
        "How do inverse dynamics at unit accelerations give the mass matrix?",
        asked.model,
        f"{n + 1} calls minus the bias give M to {right:.1e} of {size:.3g}; with the bias left in the error is "
        f"{raw:.2g}, with q moving on for {CYCLE * 1e3:g} ms between the calls {drifted:.1e}.",
        tuple(sections),
        values={"dofs": list(tree.dofs), "q": q.tolist(), "v": v.tolist(), **{k: x.tolist() for k, x in shown.items()}},
    )


def _calls(n: int) -> Table:
    """Return how many calls each way takes."""
    return Table(
        "What it costs, in calls",
        columns("way", "calls", "work"),
        (
            ("columns, bias subtracted", n + 1, "n + 1 recursions over n bodies: O(n^2)"),
            ("columns at rest without gravity", n, "n recursions, since the bias is zero there"),
            ("composite rigid bodies (CRBA)", 1, "one sweep; O(n d) with d joints above a body, O(n^2) in a chain"),
        ),
        f"n = {n} here.",
    )


def _matrices(dofs: Sequence[str], shown: Mapping[str, Floats]) -> Section:
    """Return M and its columns in full."""
    titles = {
        "crba": "M by composite rigid bodies",
        "right": "M by columns, bias subtracted",
        "raw": "Columns with the bias left in",
        "drifted": "Columns with q moving on between the calls, bias subtracted",
    }
    return Section(
        "The matrices of the reference",
        tables=tuple(
            Table(
                title,
                columns("dof", *dofs, digits=4),
                tuple((name, *(float(x) for x in row)) for name, row in zip(dofs, shown[key], strict=True)),
            )
            for key, title in titles.items()
        ),
    )


def _moved(asked: Asked, q: Floats, v: Floats) -> Floats:
    """Return (n + 1, nq) the configurations of calls that are a cycle apart each."""
    times = CYCLE * np.arange(len(v) + 1)
    return displaced(asked.tree, np.tile(q, (len(times), 1)), times[:, None] * v)
