"""One external wrench in every engine's words, what it does to the joints, and what a wrong word costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..spatial import inverse, motion_transform
from .record import Cell, Column, Explanation, Section, Table, columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..engine import Session
    from ..tree import Floats
    from .asked import Asked

QUESTION: Final = "In which axes, about which point and with which sign does an engine take an external wrench?"
ENGINES: Final = ("reference", "pinocchio", "mujoco", "drake", "dart", "idyntree", "pybullet")
NAMES: Final = ("nx", "ny", "nz", "Fx", "Fy", "Fz")
SAME: Final = (
    "tau = M a + bias - sum J^T f: what pushes the robot along its motion is effort that the joints do not need. Here "
    "f is moment and force on a body, in its axes about its origin."
)
POINTS: Final = (
    "The force is the same vector whatever the point, turned into the axes; the moment changes with the point: about p "
    "it is n - p x F."
)


def explain(asked: Asked) -> Explanation:
    """Explain external wrenches."""
    tree, states, reference = asked.tree, asked.states(1), asked.reference()
    q, v, a = states.q[:1], states.v[:1], states.a[:1]
    b = max(k for k, holder in enumerate(tree.fusion.holder) if k and holder == k and tree.moving[k])
    body = tree.bodies[b]
    f = np.array([0.4, -0.7, 1.1, 5.0, -3.0, 2.0])
    T = reference.poses(q)[0, list(reference.bodies).index(body.name)]
    forms = _forms(f, T, np.asarray(body.inertia.com), np.asarray(body.joint.T_joint_body))
    loads = np.zeros((1, len(tree.bodies), 6))
    loads[0, b] = f
    pushed = reference.generalized_forces(q, loads)[0]
    wrong = _mistakes(f, T, np.asarray(body.inertia.com))
    rows: list[tuple[Cell, ...]] = []
    costs: dict[str, list[float]] = {}
    for engine in asked.opened(ENGINES):
        n = [list(tree.dofs).index(dof) for dof in engine.session.dofs]

        def answer(load: Floats, session: Session = engine.session) -> Floats:
            given = np.zeros_like(loads)
            given[0, b] = load
            return session.inverse_dynamics(q, v, a, given)[0] - session.inverse_dynamics(q, v, a)[0]

        answers: list[Floats] = []
        with asked.trying(engine.name):
            answers = [answer(load) for load in (f, *wrong.values())]
        if not answers:
            continue
        change = answers[0]
        with_minus, with_plus = (float(np.abs(change - s * pushed[n]).max()) for s in (-1, 1))
        rows.append((engine.name, with_minus, with_plus, "-J^T f" if with_minus < with_plus else "+J^T f"))
        costs[engine.name] = [float(np.abs(x - change).max()) for x in answers[1:]]
    effect = Table(
        "Change of tau, held against -J^T f and +J^T f [N m | N]",
        (Column("engine"), Column("off -J^T f", 2), Column("off +J^T f", 3), Column("so it is")),
        tuple(rows),
        f"Largest of J^T f: {np.abs(pushed).max():.4g}.",
    )
    mistakes = Table(
        "Largest error of tau when the wrench is handed over in the wrong words [N m | N]",
        columns("mistake", *costs, digits=4),
        tuple((words, *(costs[name][k] for name in costs)) for k, words in enumerate(wrong)),
    )
    vector = Table(
        "J^T f of the reference [N m | N]",
        columns("dof", "J^T f"),
        tuple((dof, float(x)) for dof, x in zip(tree.dofs, pushed, strict=True)),
    )
    worst = max(wrong, key=lambda w: costs["reference"][list(wrong).index(w)])
    return Explanation(
        "wrenches",
        QUESTION,
        asked.model,
        f"In {len(rows)} engines a wrench on the body enters tau as -J^T f; the dearest mistake here, {worst}, costs "
        f"{costs['reference'][list(wrong).index(worst)]:.3g} N m.",
        (
            Section("One wrench, many words", (POINTS,), (_words(body.name, forms),)),
            Section("Sign", (SAME,), (effect, vector)),
            Section("Mistakes", tables=(mistakes,)),
        ),
        values={
            "body": body.name,
            "wrench": f.tolist(),
            "q": q[0].tolist(),
            "generalized": pushed.tolist(),
            "forms": {k: x.tolist() for k, x in forms.items()},
        },
    )


def _words(body: str, forms: Mapping[str, Floats]) -> Table:
    """Return one wrench as every call wants it."""
    return Table(
        f"The wrench on {body} in the words of every call [N m, N]",
        columns("", *NAMES, digits=4),
        tuple((form, *(float(x) for x in values)) for form, values in forms.items()),
        "Order in the call: ours and Drake moment first; Pinocchio, MuJoCo and iDynTree force first.",
    )


def _forms(f: Floats, T_world_body: Floats, com: Floats, T_joint_body: Floats) -> dict[str, Floats]:
    """Return the same wrench (6,), moment first, in the axes and about the point that each call wants."""
    R, p = T_world_body[:3, :3], T_world_body[:3, 3]
    n, F = f[:3], f[3:]
    in_joint = f @ motion_transform(inverse(T_joint_body))  # wrenches go by the transpose
    return {
        "body axes, body origin (ours, Drake, DART)": f,
        "joint axes, joint origin (pin fext)": in_joint,
        "world axes, body origin (mj_applyFT, iDynTree MIXED)": np.hstack([R @ n, R @ F]),
        "world axes, body COM (xfrc_applied)": np.hstack([R @ (n - np.cross(com, F)), R @ F]),
        "world axes, world origin (INERTIAL_FIXED)": np.hstack([R @ n + np.cross(p, R @ F), R @ F]),
    }


def _mistakes(f: Floats, T_world_body: Floats, com: Floats) -> dict[str, Floats]:
    """Return what the engine takes the wrench for, in body axes about the body origin, after each mistake."""
    R = T_world_body[:3, :3]
    n, F = f[:3], f[3:]
    return {
        "on the surroundings, not on the body": -f,
        "force first where moment is first": np.hstack([F, n]),
        "world axes taken for body axes": np.hstack([R @ n, R @ F]),
        "moment about the COM taken for the origin's": np.hstack([n - np.cross(com, F), F]),
    }
