"""Results made by hand, one for each way in which a check can end, with names that a file may hold."""

from __future__ import annotations

import math
from dataclasses import replace

from tautology.harness.errors import Source
from tautology.harness.findings import finding
from tautology.harness.results import (
    IDENTITIES,
    QUANTITIES,
    EngineResult,
    IdentityRow,
    ModelResult,
    QuantityRow,
    Result,
    Unusable,
)
from tautology.harness.tree import Loss

VERSIONS = {"tautology": "0.1.0", "python": "3.11.7", "numpy": "2.4.6", "pinocchio": "4.1.0", "mujoco": "4.0.0"}
FILE = "robots/arm.urdf"
# No dof of the sample is above one metre or radian: the numbers below stand for their kind, not for a computation.
DIGITS = dict(zip(QUANTITIES, (15.23, 15.41, 15.58, 16.02, 13.97, 15.9, 15.71, 16.3, 16.14, 17.0), strict=True))


def quantities(**changes: dict) -> tuple[QuantityRow, ...]:
    """Return a passing row for every quantity, with the fields of some replaced."""
    rows = []
    for name, unit in QUANTITIES.items():
        error = 10.0 ** -DIGITS[name] if DIGITS[name] < 17 else 0.0
        row = QuantityRow(name, unit, True, error, 1.0, 2.2e-14, DIGITS[name], 17, "elbow", True)
        rows.append(replace(row, **changes.get(name, {})))
    return tuple(rows)


def identities(**changes: dict) -> tuple[IdentityRow, ...]:
    """Return a passing row for every identity, of a robot on a fixed base."""
    rows = []
    for name in IDENTITIES:
        row = IdentityRow(name, True, 3e-15, 2.2e-14, 5, "elbow", True, "")
        if name == "total_momentum":
            row = IdentityRow(name, False, 0.0, 0.0, None, None, True, "no root floats")
        rows.append(replace(row, **changes.get(name, {})))
    return tuple(rows)


def engine(name: str, path: str, status: str = "agree", message: str = "", **fields: object) -> EngineResult:
    """Return one engine on one path; one that answers has all rows."""
    answers = status in ("agree", "differs")
    rows = {"quantities": quantities(), "identities": identities()} if answers else {}
    version = VERSIONS["tautology" if name == "reference" else name] if name in ("reference", *VERSIONS) else ""
    return EngineResult(name, version, path, status, message, {"load": 0.01, "compute": 0.25}, **(rows | fields))


def model(*engines: EngineResult, **fields: object) -> ModelResult:
    """Return a model with these engines beside the reference."""
    results = (engine("reference", "neutral"), *engines)
    exits = {"differs": 1, "refused": 1, "crashed": 3, "timeout": 3}
    usual = {
        "file": FILE,
        "format": "urdf",
        "sha256": "0" * 64,
        "name": "arm",
        "base": "fixed",
        "bodies": 8,
        "nq": 7,
        "nv": 7,
        "dofs": ("shoulder", "elbow", "wrist"),
        "total_mass": 18.3,
        "moving_mass": 15.9,
        "lint": (),
        "closures": (),
        "losses": (),
        "states": {"count": 64, "seed": 0, "sha256": "1" * 64, "strata": {"zero": 1, "home": 1, "random": 62}},
        "exit": max(exits.get(r.status, 0) for r in results),
    }
    return ModelResult(engines=results, **(usual | fields))


def result(*models: ModelResult, unusable: tuple[Unusable, ...] = ()) -> Result:
    """Return the result of a check of these models."""
    return Result("check", VERSIONS, models, unusable)


def agreeing() -> ModelResult:
    """Return a robot on which all agree, with conventions, closures and losses."""
    order = finding("joint.order", where="elbow", expected=1, found=0, fix="address joints by name")
    fused = tuple(finding("body.fused", Source(FILE, 40 + n), where=f"link_{n}") for n in range(6))
    losses = (
        Loss("transmission", "motor_a", Source(FILE, 90), True, "rotor inertia behind a gear stays out of M"),
        Loss("transmission", "motor_b", Source(FILE, 97), True, "rotor inertia behind a gear stays out of M"),
        Loss("gazebo", "link_1", Source(FILE, 120), False, "no meaning for the smooth dynamics"),
        Loss("visual", "link_1", Source(FILE, 14), False, "not needed"),
    )
    return model(
        engine("pinocchio", "native", findings=(order,), conventions=("joint.order",)),
        engine("pinocchio", "neutral"),
        engine("mujoco", "native", message="2 meshes were taken out", findings=fused, conventions=("body.fused",)),
        engine("mujoco", "neutral"),
        closures=("mimic finger_right", "mimic finger_left"),
        losses=losses,
    )


def faulty() -> ModelResult:
    """Return a robot on which all agree, whose file has faults of its own: eight of one kind, one of another."""
    lint = tuple(
        replace(
            finding(
                "lint.triangle",
                Source(FILE, 20 + n),
                where=f"finger_{n}",
                expected="A + B >= C",
                found=[1e-6, 2e-6, 4e-6],
                unit="kg m^2",
                fix=f"compute <inertia> of 'finger_{n}' at line {20 + n} of arm.urdf once more",
            ),
            note="as of a placeholder" if n == 0 else "",
        )
        for n in range(8)
    )
    axis = finding(
        "lint.axis", Source("parts/wrist.urdf", 7), where="wrist", expected=1.0, found=5.0, fix="normalise it"
    )
    return model(engine("pinocchio", "neutral"), engine("mujoco", "neutral"), lint=(*lint, axis))


def differing() -> ModelResult:
    """Return a robot that MuJoCo reads otherwise, and that Pinocchio cannot answer for on the neutral path."""
    wrong = quantities(
        tau={"error": 0.3127, "tolerance": 2.1e-8, "digits": 1.66, "passed": False, "where": "wrist"},
        mass_matrix={"error": 0.04, "tolerance": 1e-9, "digits": 2.1, "passed": False, "where": "elbow, wrist"},
        acceleration={"error": math.inf, "digits": 0.0, "passed": False, "where": None, "note": "aba gave NaN"},
    )
    failed = identities(power_balance={"residual": 1e-3, "passed": False, "where": None})
    reasons = tuple(
        finding(
            "mass.default",
            Source(FILE, 41 + n),
            where=f"tool_{n}",
            expected=0.0,
            found=6.0 + n,
            unit="kg",
            explains=0.987,
            fix="give the link an <inertial>, or take its collision geometry out",
        )
        for n in range(9)
    )
    turned = finding(
        "inertia.rotation",
        Source("parts/wrist.urdf", 7),
        where="wrist",
        expected=[0.1, 0.1000000001, 0.1],
        found=[0.1, 0.1000000002, 0.1],
        unit="kg m^2",
        fix="write the tensor in the axes of the link",
    )
    fused = tuple(finding("body.fused", Source(FILE, 60 + n), where=f"flange_{n}") for n in range(2))
    return model(
        engine("pinocchio", "native"),
        engine("pinocchio", "neutral", "unsupported", "nv = 900 is above 500, where createData needs 45 GB"),
        engine("mujoco", "native", "differs", quantities=wrong, identities=failed, findings=(*reasons, turned, *fused)),
        engine("mujoco", "neutral"),
    )


def refused() -> ModelResult:
    """Return a robot that MuJoCo will not load."""
    words = "Error: inertia must satisfy A + B >= C; use 'balanceinertia' to fix\nElement name 'hand', id 3"
    reason = finding(
        "refused.nonphysical",
        Source(FILE, 77),
        where="hand",
        found=words,
        fix="give 'hand' a tensor that a body can have",
    )
    return model(
        engine("pinocchio", "native"),
        engine("pinocchio", "neutral"),
        engine("mujoco", "native", "refused", words, findings=(reason,)),
        engine("mujoco", "neutral"),
    )


def crashed() -> ModelResult:
    """Return a robot on which Pinocchio fails while loading, and MuJoCo differs."""
    return model(
        engine("pinocchio", "native", "crashed", "while loading: RuntimeError: bad_alloc"),
        engine("pinocchio", "neutral"),
        engine("mujoco", "native", "differs", quantities=quantities(bias={"passed": False, "digits": 3.0})),
        engine("mujoco", "neutral"),
    )


def silent() -> ModelResult:
    """Return a robot that no engine can answer for."""
    return model(
        *(engine(name, path, "unsupported", "too deep") for name in ("pinocchio", "mujoco") for path in PATHS),
        exit=2,
    )


def motionless() -> ModelResult:
    """Return a robot without a degree of freedom: there are no rows of dofs."""
    bodies = tuple(row for row in quantities() if row.quantity in ("poses", "velocities", "kinetic_energy"))
    none = tuple(replace(row, applies=False, note="there is no dof") for row in identities())
    still = {"quantities": bodies, "identities": none}
    return model(engine("pinocchio", "neutral", **still), engine("mujoco", "neutral", **still), nq=0, nv=0, dofs=())


PATHS = ("native", "neutral")
BAD = Unusable("robots/bad.urdf", "robots/bad.urdf:3: joint 'a' has type 'screw'", "refused.unsupported", "a", 3)
