"""Where energy goes: power balance at a state, and what an integrator makes from nothing, against its step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..checks.derivatives import displaced
from ..errors import RequestError
from .record import Chart, Column, Explanation, Section, Series, Table, columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tree import Floats
    from .asked import Asked

QUESTION: Final = "Does the power of the joints become energy, and does a simulation keep it?"
BALANCE: Final = (
    "tau.v + sum f.V = dE/dt: joints and wrenches give what the bodies gain. Inverse dynamics has tau = M a + c + g - "
    "sum J^T f; kinetic energy rises by v.(M a + c), potential energy by v.g. The rates of the energies are central "
    "differences along the motion, which share nothing with inverse dynamics."
)
DRIFT: Final = (
    "Without drive and friction the energy of the robot stays. The classical Runge-Kutta method loses or makes a "
    "little, max |E - E_0| over the motion; its order says that half the step leaves a sixteenth, until rounding is "
    "reached."
)
FRICTION: Final = (
    "With viscous friction, joints feel -d v: energy falls by the work of friction, integral d v.v dt, which is "
    "integrated beside the motion. E - E_0 + work is what comes from nowhere."
)
INSTANT: Final = 1e-3  # s, of the differences
DURATIONS: Final = (0.5, 0.1, 0.02)  # s: the longest that the finest step can follow
FASTEST: Final = 2.0  # rad/s | m/s
COUNTS: Final = (8, 16, 32, 64, 128, 256)
DECAY: Final = 2.0  # 1/s: friction over the inertia of each dof at the start
ROUNDING: Final = 1e-12  # of the energies at hand: below, drift is rounding


def explain(asked: Asked) -> Explanation:
    """Explain energy."""
    states = asked.states(1)
    q, v = states.q[:1], states.v[:1]
    balance, left = _balance(asked, q, v, states.a[:1], states.wrenches[:1])
    v = v * (FASTEST / max(float(np.abs(v).max()), 1e-9))
    M = np.asarray(asked.reference().mass_matrix(q)[0], np.float64)
    viscous = DECAY * np.diagonal(M)
    duration, free, friction = _runs(asked, q, v, viscous)
    steps = [duration / count for count in COUNTS]
    drift, drift_friction = ([run["drift"] for run in runs] for runs in (free, friction))
    scale = max(float(np.ptp(np.concatenate([free[-1]["kinetic"], [0.0]]))), 1e-9)
    fitted, fitted_friction = (exponent(steps, x, ROUNDING * scale) for x in (drift, drift_friction))
    table = Table(
        f"Energy from nowhere over {duration:g} s [J]",
        (Column("steps"), *columns("step [s]", "free", "with friction", digits=3), Column("ratio", 3)),
        tuple(
            (n, h, x, y, None if k == 0 or not np.isfinite(drift[k - 1]) or not x else drift[k - 1] / x)
            for k, (n, h, x, y) in enumerate(zip(COUNTS, steps, drift, drift_friction, strict=True))
        ),
        f"ratio: drift at twice the step over this one, free. Fitted exponents: {_said(fitted)} free, "
        f"{_said(fitted_friction)} with friction. Kinetic energy rises to {scale:.3g} J.",
    )
    longest = Chart(
        "Drift against step",
        "step [s]",
        "max |E - E_0 + work| [J]",
        (
            Series("free", tuple(zip(steps, map(float, drift), strict=True))),
            Series("with friction", tuple(zip(steps, map(float, drift_friction), strict=True))),
        ),
        "xy",
        f"Drift falls with exponent {_said(fitted)} of the step.",
    )
    return Explanation(
        "energy",
        QUESTION,
        asked.model,
        f"Power closes to {left:.1e} W; the drift of the fourth-order method falls with the power {_said(fitted)} of "
        f"the step, and is {drift[-1]:.1e} J at {steps[-1]:.2g} s.",
        (
            Section("Power balance at a state", (BALANCE,), (balance,)),
            Section("Drift against step size", (DRIFT,), (table,), (longest,)),
            Section("Friction", (FRICTION,), (_fall(friction[-1]),), (_course(free[-1], friction[-1], duration),)),
        ),
        values={
            "steps": steps,
            "drift": drift,
            "drift with friction": drift_friction,
            "exponent": fitted,
            "exponent with friction": fitted_friction,
            "viscous": viscous.tolist(),
            "left": left,
        },
    )


def exponent(steps: Sequence[float], drift: Sequence[float], rounding: float) -> float | None:
    """Return the slope of log drift over log step by least squares; None where too few drifts are above rounding.

    The three finest steps count that are above rounding: at long steps terms of higher order are not yet small.

    Args:
        steps: [s], from long to short.
        drift: [J].
        rounding: [J] drifts that are not above a hundred times this are rounding.
    """
    kept = [(h, x) for h, x in zip(steps, drift, strict=True) if np.isfinite(x) and x > 100 * rounding][-3:]
    if len(kept) < 2:
        return None
    h, x = np.log(np.array(kept)).T
    return float(np.polyfit(h, x, 1)[0])


def _said(fitted: float | None) -> str:
    return "none (all is rounding)" if fitted is None else f"{fitted:.2f}"


def _balance(asked: Asked, q: Floats, v: Floats, a: Floats, wrenches: Floats) -> tuple[Table, float]:
    """Return the table of powers, and what the balance leaves [W]."""
    reference, zero, rest = asked.reference(), np.zeros(3), np.zeros_like(v)
    V = np.asarray(reference.velocities(q, v)[0], np.float64)
    tau = reference.inverse_dynamics(q, v, a, wrenches)[0]
    pushed = float((wrenches[0, 1:] * V).sum())
    by_motion = float(reference.inverse_dynamics(q, v, a, gravity=zero)[0] @ v[0])
    inertial = float(reference.inverse_dynamics(q, rest, a, gravity=zero)[0] @ v[0])
    by_gravity = float(reference.gravity_forces(q)[0] @ v[0])

    def potential(q: Any, _: Any) -> Any:
        return reference.potential_energy(q)

    rates: list[float] = []
    for energy in (reference.kinetic_energy, potential):
        # Central differences at h and h / 2, and what both say of h = 0.
        coarse, fine = (
            (_ahead(asked, energy, q, v, a, h) - _ahead(asked, energy, q, v, a, -h)) / (2 * h)
            for h in (INSTANT, INSTANT / 2)
        )
        rates.append((4 * fine - coarse) / 3)
    drive = float(tau @ v[0])
    left = abs(drive + pushed - sum(rates))
    rows = (
        ("joints, tau.v", drive, None),
        ("wrenches, sum f.V", pushed, None),
        ("given in all", drive + pushed, sum(rates)),
        ("v.M a", inertial, None),
        ("v.c", by_motion - inertial, None),
        ("kinetic energy, v.(M a + c)", by_motion, rates[0]),
        ("potential energy, v.g", by_gravity, rates[1]),
    )
    table = Table(
        "Powers [W]",
        (*columns("power", "dynamics", digits=8), Column("difference of energy", 8), Column("off", 2)),
        tuple((name, x, rate, None if rate is None else abs(x - rate)) for name, x, rate in rows),
        f"difference of energy: dE/dt by central differences of {INSTANT:g} s along the motion, extrapolated",
    )
    return table, left


def _ahead(asked: Asked, energy: Any, q: Floats, v: Floats, a: Floats, h: float) -> float:
    """Return an energy [J] at q exp(v h + a h^2 / 2), v + a h: on the motion but for terms of third order in h."""
    return float(energy(displaced(asked.tree, q, v * h + a * (h * h / 2)), v + a * h)[0])


def _runs(
    asked: Asked, q: Floats, v: Floats, viscous: Floats
) -> tuple[float, list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the duration [s], and the motions without and with friction at every step.

    Raises:
        RequestError: not even the shortest motion can be followed.
    """
    failed: RequestError | None = None
    for duration in DURATIONS:
        try:
            free, friction = _both(asked, q, v, viscous, duration)
        except RequestError as error:
            failed = error
            continue
        return duration, free, friction
    raise RequestError(f"{asked.tree.name!r} cannot be simulated: {failed}")


def _both(
    asked: Asked, q: Floats, v: Floats, viscous: Floats, duration: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return both motions at every step: times, energies, works and drift; a step that is too long has drift inf.

    Raises:
        RequestError: the shortest step is too long.
    """
    from ...adapters.textbook import simulate  # noqa: PLC0415  loaded when a topic is asked

    mechanism, reference = simulate.of_tree(asked.tree), asked.reference()
    damping = np.stack([0 * viscous, viscous])
    found: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for count in sorted(COUNTS, reverse=True):
        try:
            with np.errstate(all="ignore"):  # what does not converge is not finite, and told so
                motion = simulate.simulate(
                    mechanism, np.tile(q, (2, 1)), np.tile(v, (2, 1)), duration / count, count, damping
                )
        except RequestError:
            if count == max(COUNTS):
                raise
            for runs in found:
                runs.insert(0, {"drift": float("inf")})
            continue
        for k, runs in enumerate(found):
            runs.insert(
                0,
                {
                    "drift": float(np.abs(motion.drift()[:, k]).max()),
                    "t": motion.t,
                    "energy": motion.energy[:, k],
                    "dissipated": motion.dissipated[:, k],
                    "kinetic": reference.kinetic_energy(motion.q[:, k], motion.v[:, k]).tolist(),
                },
            )
    return found


def _fall(run: dict[str, Any]) -> Table:
    """Return energy and work of friction at a few instants."""
    t, energy, work = run["t"], run["energy"], run["dissipated"]
    at = np.linspace(0, len(t) - 1, 9).round().astype(int)
    return Table(
        "Energy with friction [J]",
        (*columns("t [s]", digits=3), *columns("E - E_0", "work of friction", digits=8), Column("sum", 2)),
        tuple(
            (float(t[k]), float(energy[k] - energy[0]), float(work[k]), float(energy[k] - energy[0] + work[k]))
            for k in at
        ),
        f"d of each joint is {DECAY:g} 1/s times its diagonal element of M at the start.",
    )


def _course(free: dict[str, Any], friction: dict[str, Any], duration: float) -> Chart:
    """Return the energies over time."""
    lines = {
        "E - E_0, free": free["energy"] - free["energy"][0],
        "E - E_0, friction": friction["energy"] - friction["energy"][0],
        "work of friction": friction["dissipated"],
    }
    return Chart(
        "Energy along the motion",
        "time [s]",
        "energy [J]",
        tuple(
            Series(name, tuple((float(x), float(y)) for x, y in zip(free["t"], values, strict=True)))
            for name, values in lines.items()
        ),
        says=f"Friction takes {friction['dissipated'][-1]:.4g} J in {duration:g} s.",
    )
