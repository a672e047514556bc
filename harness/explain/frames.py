"""How each engine writes the velocity and the acceleration of a floating base, and what leaving omega x v out does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..bases import BODY, BULLET, DART, DRAKE, HYBRID, INERTIAL, MIXED, NEWTON
from ..errors import RequestError
from .record import Cell, Column, Explanation, Section, Table, columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..bases import BaseConvention
    from ..tree import Floats
    from .asked import Asked

QUESTION: Final = "What are the six numbers of a floating base in each engine?"
# Newton and PyBullet have the centre of mass of the base for their point, all others its origin.
CONVENTIONS: Final[Mapping[str, BaseConvention]] = {
    "pinocchio": BODY,
    "mujoco": HYBRID,
    "mjx": HYBRID,
    "drake": DRAKE,
    "dart": DART,
    "idyntree": MIXED,
    "idyntree, inertial": INERTIAL,
    "adam": MIXED,
    "newton": NEWTON,
    "pybullet": BULLET,
}
ORIENTATIONS: Final[Mapping[str, str]] = {
    "pinocchio": "quaternion xyzw",
    "mujoco": "quaternion wxyz",
    "mjx": "quaternion wxyz",
    "drake": "quaternion wxyz",
    "dart": "rotation vector",
    "idyntree": "matrix",
    "adam": "matrix",
    "newton": "quaternion xyzw",
    "pybullet": "quaternion xyzw",
}
ENGINES: Final = ("pinocchio", "mujoco", "mjx", "drake", "dart", "idyntree", "adam", "newton", "pybullet")
MEASURED: Final = ("pinocchio", "mujoco", "drake")
MAPS: Final = (
    "With V = (v, omega) in base axes about the base origin, an engine has u = T V and u' = T V' + beta, where V' is "
    "the spatial acceleration, the derivative of the components of V. T turns axes and moves the point; beta is omega "
    "x v, turned into its axes, where the engine's acceleration is that of a point, and zero where it is spatial."
)
EFFORTS: Final = (
    "Power is the same in all words: tau = T' tau_engine, M = T' M_engine T. An engine with ordinary acceleration that "
    "is handed the spatial numbers accelerates by omega x v less, and errs by M (omega x v) in every row."
)
WITNESS: Final = (
    "Column k of T^-1 is the twist of the base that the engine makes of the k-th unit velocity. Here the engine itself "
    "carries its positions along by a small step, forward and back, and the twist is read from the two poses."
)
ZERO: Final = (
    "The same motion has another name for rest: at u' = 0 of an engine with ordinary acceleration the base moves on a "
    "straight line, at V' = 0 of a spatial one on a screw."
)


def explain(asked: Asked) -> Explanation:
    """Explain the conventions of a floating base."""
    freed = asked.tree.base != "free"
    tree = asked.tree.with_base("free")
    if not tree.floating_roots:
        raise RequestError(f"{tree.name!r} has no root that can float: there is no base to speak of")
    asked = replace(asked, tree=tree)
    states, root = asked.states(1), tree.floating_roots[0]
    q, v, a = states.q[:1], states.v[:1], states.a[:1]
    own = tree.v_slices[root]
    reference = asked.reference()
    T_world_base: Floats = reference.poses(q).astype(np.float64)[
        :, list(reference.bodies).index(tree.bodies[root].name)
    ]
    V, A = v[:, own], a[:, own]
    com = np.asarray(tree.bodies[root].inertia.com)
    maps = {name: c.matrices(T_world_base, V, _point(com, name)) for name, c in CONVENTIONS.items()}
    numbers = {name: (T[0] @ V[0], T[0] @ A[0] + beta[0], beta[0]) for name, (T, beta) in maps.items()}
    tables = [
        Table(
            title,
            columns("engine", *(f"{sign}{k}" for k in range(1, 7)), digits=4),
            tuple((name, *(float(x) for x in found[which])) for name, found in numbers.items()),
            note,
        )
        for which, (title, sign, note) in enumerate(
            (
                ("Base velocity of one motion [m/s, rad/s]", "u", "In the engine's own order."),
                ("Base acceleration of the same motion [m/s^2, rad/s^2]", "u'", ""),
                ("beta, what omega x v puts into it [m/s^2]", "b", ""),
            )
        )
    ]
    omitted, vectors = _omitted(asked, own, (q, v, a), maps)
    rows, measured = _measured(asked, q[0], maps)
    opening = (MAPS, f"The base of {tree.name!r} stands still in its file; it is freed here.") if freed else (MAPS,)
    worst = float(np.abs(vectors["M (omega x v)"]).max())
    return Explanation(
        "frames",
        QUESTION,
        asked.model,
        f"omega x v is {np.linalg.norm(np.cross(V[0, 3:], V[0, :3])):.3g} m/s^2 here; leaving it out makes an error of "
        f"{worst:.3g} N m | N in tau.",
        (
            Section("Conventions and maps", opening, (_words(), *tables)),
            Section("Without omega x v", (EFFORTS, ZERO), tuple(omitted)),
            Section("Seen from outside", (WITNESS,), (rows,)),
        ),
        values={
            "V": V[0].tolist(),
            "A": A[0].tolist(),
            "T_world_base": T_world_base[0].tolist(),
            "u": {name: found[0].tolist() for name, found in numbers.items()},
            "du": {name: found[1].tolist() for name, found in numbers.items()},
            "omitted": {name: x.tolist() for name, x in vectors.items()},
            "measured": measured,
            "M": reference.mass_matrix(q)[0].tolist(),
        },
    )


def _words() -> Table:
    """Return what every engine writes of a base, in words."""
    return Table(
        "The conventions",
        columns("engine", "linear part", "angular part", "first", "acceleration", "orientation"),
        tuple(
            (
                name,
                {"body": "base axes", "world": "world axes", "inertial": "world, at its origin"}[c.linear],
                f"{'base' if c.angular == 'body' else 'world'} axes",
                "angular" if c.angular_first else "linear",
                "ordinary" if c.ordinary else "spatial",
                ORIENTATIONS[name.partition(",")[0]],
            )
            for name, c in CONVENTIONS.items()
        ),
        "Newton and PyBullet: of the centre of mass of the base; all others of its origin. PyBullet: in its mass "
        "matrix.",
    )


def _point(com: Floats, name: str) -> Floats | None:
    """Return (4, 4) where the engine's point is in the base: the centre of mass of some."""
    if name not in ("newton", "pybullet"):
        return None
    T = np.eye(4)
    T[:3, 3] = com
    return T


def _omitted(
    asked: Asked,
    own: slice,
    motion: tuple[Floats, Floats, Floats],
    maps: Mapping[str, tuple[Floats, Floats]],
) -> tuple[list[Table], dict[str, Floats]]:
    """Return what every engine answers with omega x v and without, and the vectors."""
    q, v, a = motion
    turned = np.zeros_like(a)
    turned[:, own.start : own.start + 3] = np.cross(v[:, own][:, 3:], v[:, own][:, :3])
    reference = asked.reference()
    tau = reference.inverse_dynamics(q, v, a)[0]
    vectors = {"tau": tau, "M (omega x v)": (reference.mass_matrix(q)[0] @ turned[0])}
    rows: list[tuple[Cell, ...]] = []
    for engine in asked.opened(ENGINES):
        session, ordinary = engine.session, CONVENTIONS[engine.name].ordinary
        n = [list(asked.tree.dofs).index(dof) for dof in session.dofs]
        answers: list[Floats] = []
        other = a + turned
        if ordinary:
            # Handed T a without beta, it computes the motion with a - T^-1 beta: omega x v of its own point less.
            T, beta = maps[engine.name]
            other = a.copy()
            other[:, own] -= np.linalg.solve(T[0], beta[0])
        with asked.trying(engine.name):
            answers = [session.inverse_dynamics(q, v, x)[0] for x in (a, other)]
        if not answers:
            continue
        right, wrong = answers
        vectors[engine.name] = wrong - right
        rows.append(
            (
                engine.name,
                "ordinary" if ordinary else "spatial",
                float(np.abs(right - tau[n]).max()),
                float(np.abs(wrong - right)[:6].max()),
                float(np.abs(wrong - right)[6:].max(initial=0)),
            )
        )
    table = Table(
        "Error of tau when omega x v is left out, or put in where it does not belong [N m | N]",
        (
            Column("engine"),
            Column("acceleration"),
            Column("with the map", 2),
            Column("base rows without", 4),
            Column("joint rows without", 4),
        ),
        tuple(rows),
        "With the map: against the reference, in the arithmetic of the engine; Newton's is single precision. Spatial "
        "engines: omega x v added in error. v is that of the engine's own point.",
    )
    whole = {name: x for name, x in vectors.items() if len(x) == len(tau)}
    shown = Table(
        "Row by row [N m | N]",
        columns("dof", *whole, digits=4),
        tuple((dof, *(float(x[k]) for x in whole.values())) for k, dof in enumerate(asked.tree.dofs)),
        "Columns of engines: their answer without omega x v, minus that with it.",
    )
    return [table, shown], vectors


def _measured(
    asked: Asked, q: Floats, maps: Mapping[str, tuple[Floats, Floats]]
) -> tuple[Table, dict[str, list[list[float]]]]:
    """Return how far T^-1, as the engines' own steps show it, is from the map."""
    rows: list[tuple[Cell, ...]] = []
    measured: dict[str, list[list[float]]] = {}
    poses: dict[str, Any] = {}
    for name, ask in asked.beside(MEASURED, "apis"):
        with asked.trying(name):
            poses[name] = ask("carried", asked.tree, q)
    for name, (plus, minus, step) in poses.items():
        R, p = (plus[:, :3, :3] + minus[:, :3, :3]) / 2, (plus[:, :3, 3] - minus[:, :3, 3]) / (2 * step)
        rates = (plus[:, :3, :3] - minus[:, :3, :3]) / (2 * step)
        spins = R.swapaxes(1, 2) @ rates
        omega = np.stack([spins[:, 2, 1], spins[:, 0, 2], spins[:, 1, 0]], axis=1)
        linear = (R.swapaxes(1, 2) @ p[..., None])[..., 0]
        found = np.hstack([linear, omega]).T
        expected = np.linalg.inv(maps[name][0][0])
        measured[name] = found.tolist()
        other = np.linalg.inv(maps["mujoco" if name == "pinocchio" else "pinocchio"][0][0])
        rows.append((name, float(np.abs(found - expected).max()), float(np.abs(found - other).max())))
    table = Table(
        "T^-1 measured, against the map of the engine and against another's",
        (Column("engine"), Column("off its map", 2), Column("off another map", 3)),
        tuple(rows),
        "Another: MuJoCo's for Pinocchio, Pinocchio's for the others.",
    )
    return table, measured
