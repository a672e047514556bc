"""What joint efforts are made of: gravity, velocity, acceleration, load and reflected inertia; and which body asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..checks.derivatives import displaced
from .record import Chart, Column, Explanation, Section, Series, Table, columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tree import Floats
    from .asked import Asked

QUESTION: Final = "What are the joint efforts made of?"
COUNT: Final = 64  # random states
INSTANTS: Final = 61
FASTEST: Final = 3.0  # rad/s | m/s
ROUNDING: Final = 1e-12  # N m | N
PULL: Final = (0.0, 0.0, -10.0)  # N, in world axes
CAUSES: Final = ("gravity", "velocity", "acceleration", "load", "reflected")
PARTS: Final = (
    "tau = g(q) + c(q, v) + M a - sum J^T f + reflected inertia times a. The parts are signed efforts, not powers: "
    "they may cancel, so the sum of their sizes is more than tau."
)
BODIES: Final = "Each body asks J^T of its own net wrench; a joint carries what all bodies behind it ask, no more."
MOTION: Final = (
    "The motion is q0 exp(v0 s(t)), s = sin(2 pi t) / (2 pi): one second to and fro along the velocity of the first "
    "state, made so large that its fastest dof has 3 rad/s | m/s, without load."
)


def explain(asked: Asked) -> Explanation:
    """Explain the parts of the torque."""
    from ...adapters.textbook.parts import parts  # noqa: PLC0415  loaded when a topic is asked

    tree, states, reference = asked.tree, asked.states(COUNT), asked.reference()
    loads, loaded = _loads(asked, states.q)
    found = parts(reference, states.q, states.v, states.a, loads)
    tau = reference.inverse_dynamics(states.q, states.v, states.a, loads)
    causes = {name: np.asarray(x, np.float64) for name, x in found.by_cause().items()}
    closed = float(np.abs(np.asarray(found.total()) - tau).max())
    dofs = tree.dofs
    one = Table(
        "At one state [N m | N]",
        columns("dof", *CAUSES, "tau"),
        tuple((dof, *(float(causes[c][0, k]) for c in CAUSES), float(tau[0, k])) for k, dof in enumerate(dofs)),
        f"The parts add up to inverse dynamics to {closed:.1e} over all {len(states)} states.",
    )
    size = {name: np.sqrt((x * x).mean(0)) for name, x in causes.items()}
    many = Table(
        f"Root mean square over {len(states)} random states [N m | N]",
        columns("dof", *CAUSES, "largest part", digits=4),
        tuple(
            (dof, *(float(size[c][k]) for c in CAUSES), max(CAUSES, key=lambda c, k=k: size[c][k]))
            for k, dof in enumerate(dofs)
        ),
    )
    heaviest = int(np.abs(tau[0]).argmax())
    asks = np.asarray(found.by_body(), np.float64)[0, :, heaviest]
    behind = [b for b in np.argsort(-np.abs(asks)).tolist() if asks[b]]
    bodies = Table(
        f"What each body asks of {dofs[heaviest]} at that state [N m | N]",
        (Column("body"), *(Column(c) for c in CAUSES[:4]), Column("sum")),
        tuple(
            (
                tree.bodies[b].name,
                *(float(getattr(found, c)[0, b, heaviest]) for c in CAUSES[:4]),
                float(asks[b]),
            )
            for b in behind
        ),
    )
    t, along = _along(asked, states.q[0], states.v[0] * (FASTEST / max(float(np.abs(states.v[0]).max()), 1e-9)))
    leading = max(CAUSES, key=lambda c: float(size[c][heaviest]))
    return Explanation(
        "torque",
        QUESTION,
        asked.model,
        f"Of {dofs[heaviest]}, which carries most, {leading} is the largest part: {size[leading][heaviest]:.3g} of "
        f"{np.sqrt((tau[:, heaviest] ** 2).mean()):.3g} root mean square.",
        (
            Section("By cause", (PARTS, f"Load: {-PULL[2]:g} N straight down on {loaded}."), (one, many)),
            Section("By body", (BODIES,), (bodies,)),
            Section("Along a motion", (MOTION,), pictures=(_chart(t, along, heaviest, dofs[heaviest]),)),
        ),
        values={
            "dofs": list(dofs),
            "parts": {name: x.tolist() for name, x in causes.items()},
            "tau": tau.tolist(),
            "motion": {"t": t.tolist(), **{name: x.tolist() for name, x in along.items()}},
        },
    )


def _chart(t: Floats, along: Mapping[str, Floats], heaviest: int, dof: str) -> Chart:
    """Return the parts of the effort of one dof along a motion."""
    return Chart(
        f"Parts of the effort of {dof} along a motion",
        "time [s]",
        "effort [N m | N]",
        tuple(
            Series(name, tuple((float(x), float(y)) for x, y in zip(t, rows[:, heaviest], strict=True)))
            for name, rows in along.items()
        ),
        says="; ".join(
            f"{name}: from {_round(rows[:, heaviest].min()):.3g} to {_round(rows[:, heaviest].max()):.3g}"
            for name, rows in along.items()
        )
        + f" along the motion, {dof}.",
    )


def _round(x: float) -> float:
    """Return a number without what rounding leaves of zero."""
    return 0.0 if abs(x) < ROUNDING else float(x)


def _loads(asked: Asked, q: Floats) -> tuple[Floats, str]:
    """Return wrenches (N, nb, 6) of one force at the origin of the last body that moves, and its name."""
    tree, reference = asked.tree, asked.reference()
    b = max(k for k, holder in enumerate(tree.fusion.holder) if k and holder == k and tree.moving[k])
    loads, name = np.zeros((len(q), len(tree.bodies), 6)), tree.bodies[b].name
    loads[:, b, 3:] = np.asarray(PULL) @ reference.poses(q)[:, list(reference.bodies).index(name), :3, :3]
    return loads, name


def _along(asked: Asked, q0: Floats, v0: Floats) -> tuple[Floats, dict[str, Floats]]:
    """Return instants (K,) [s], and the parts (K, nv) and their sum along q0 exp(v0 s(t))."""
    from ...adapters.textbook.parts import parts  # noqa: PLC0415  loaded when a topic is asked

    t = np.linspace(0, 1, INSTANTS)
    turn = 2 * np.pi
    q = displaced(asked.tree, np.tile(q0, (INSTANTS, 1)), np.sin(turn * t)[:, None] / turn * v0)
    # The velocity in body axes of q0 exp(v0 s) is v0 s' exactly, its derivative v0 s''.
    v, a = np.cos(turn * t)[:, None] * v0, -turn * np.sin(turn * t)[:, None] * v0
    found = parts(asked.reference(), q, v, a)
    rows = {name: np.asarray(x, np.float64) for name, x in found.by_cause().items() if name != "load"}
    return t, {**rows, "tau": np.asarray(found.total(), np.float64)}
