"""Saved results made by hand: however a check or a comparison ends, with arrays, and with names that are markup."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import sample_results as sample

from tautology.harness.diff_result import Compared, DiffResult
from tautology.harness.errors import Source
from tautology.harness.findings import finding
from tautology.harness.results import QUANTITIES, ModelResult, QuantityRow, Result
from tautology.harness.saved import Saved
from tautology.harness.tree import Loss

if TYPE_CHECKING:
    from collections.abc import Mapping

# What the formats would obey: XML, HTML, Markdown, GitHub's mentions and references, what a terminal obeys, and what
# turns the order of letters around.
HOSTILE = (
    "<script>alert(1)</script>",
    "]]>&amp;<!--",
    "a|b`c``d\\|e",
    "*bold* _it_ ~~no~~ $x$ [l](javascript:0)",
    "@everyone #1 GH-2 owner/repo#3 :tada: https://example.org www.example.org a@b.example",
    "two\nlines\r\n\n- three",
    "\x00\x1b[31m\x7f\u202ereversed\ufffe\ud800",
)
A, B = "robots/a/arm.urdf", "robots/b/arm.xml"
FEW = 3


def saved(*models: ModelResult, unusable: bool = False) -> Saved:
    """Return the saved result of a check."""
    return Saved.of(sample.result(*models, unusable=(sample.BAD,) if unusable else ()))


def side(file: str, **fields: object) -> Compared:
    """Return one of two robots."""
    usual = {"file": file, "format": "urdf", "sha256": "0" * 64, "name": "arm", "base": "fixed", "bodies": 8, "nq": 7}
    usual |= {"nv": 7, "dofs": ("elbow",), "total_mass": 3.0, "moving_mass": 3.0, "closures": (), "losses": ()}
    return Compared(**(usual | fields))


def pair(**fields: object) -> DiffResult:
    """Return a comparison that ends with three findings: the mass of a body, and the armature of two joints."""
    between = {"other_file": B, "other_line": 20}
    mass = finding(
        "mass", Source(A, 10), where="fore", expected=6.78, found=8.561, unit="kg", explains=0.9876, fix="weigh 'fore'"
    )
    armature = [
        finding("armature", Source(A, 30 + n), where=f"joint_{n}", expected=0.0, found=0.01, unit="kg m^2", fix="agree")
        for n in range(2)
    ]
    fused = finding("body.fused", Source(A, 50), where="camera")
    wrong = [QuantityRow(q, unit, True, 0.5, 1.0, 1e-9, 0.3, 3, "elbow", False) for q, unit in QUANTITIES.items()]
    lost = Loss("transmission", "motor", Source(A, 90), True, "a rotor behind a gear")
    usual = {
        "models": (side(A, losses=(lost,)), side(B, format="mjcf", total_mass=4.781)),
        "versions": {"tautology": "0.1.0", "python": "3.11.7", "numpy": "2.4.6"},
        "status": "differs",
        "matched": {"joints": (("elbow", "elbow"), ("wrist", "hand")), "bodies": (("fore", "fore"),)},
        "unmatched": {"a": ("lamp",), "b": ()},
        "frames_only": {"a": (), "b": ()},
        "doubtful": ("wrist",),
        "states": {"count": 64, "seed": 0, "sha256": "1" * 64, "strata": {"random": 64}},
        "rows": tuple(wrong),
        "reasons": (*(replace(f, **between) for f in (mass, *armature)), fused),
        "together": {"mass": 0.9876, "armature": 0.01},
        "tolerance": 1e-9,
    }
    return DiffResult(**(usual | fields))


def same_pair() -> DiffResult:
    """Return a comparison of one robot with itself, apart from an armature that was to be ignored."""
    rows = [
        QuantityRow(q, unit, True, 1e-16, 1.0, 1e-9, 15.9, 3, "elbow", q != "tau") for q, unit in QUANTITIES.items()
    ]
    reasons = tuple(f for f in pair().reasons if f.kind != "mass")
    return pair(status="agree", rows=tuple(rows), reasons=reasons, ignored=("armature",), unmatched={"a": (), "b": ()})


def hostile(name: str) -> ModelResult:
    """Return a robot whose file, bodies, engine, messages and fixes are called so."""
    model = sample.differing()
    reason = finding(
        "mass", Source(name, 3), where=name, expected=name, found=[1.0, 2.0], unit="kg", fix=f"fix {name}!"
    )
    rows = sample.quantities(tau={"passed": False, "digits": 1.0, "where": name, "note": name})
    engine = sample.engine(name, "native", "differs", f"says {name}", findings=(reason,), quantities=rows)
    other = sample.engine("mujoco", "native", "crashed", name)
    lost = (Loss(name, name, Source(name, 4), True, name),)
    names = {"file": name, "name": name, "dofs": (name,), "closures": (name,), "losses": lost, "lint": (reason,)}
    return replace(model, engines=(*model.engines[:1], engine, other), exit=3, **names)


def with_arrays(states: int = 4, *, per_place: Mapping[str, float] | None = None) -> Saved:
    """Return a check of a robot with three dofs and two bodies, and an engine that holds its dofs the other way round.

    Args:
        states: of the zero stratum the first, the others random.
        per_place: error of `tau` at each dof of that engine, in its order.
    """
    model = sample.agreeing()
    dofs, bodies = ("shoulder", "elbow", "wrist"), ("fore", "hand")
    orders = {"mujoco": (2, 1, 0)}
    arrays: dict[str, np.ndarray] = {}
    engines = []
    for k, engine in enumerate(model.engines):
        order = orders.get(engine.engine, (0, 1, 2))
        held = bodies if engine.engine != "mujoco" else bodies[:1]
        engines.append(replace(engine, dofs=tuple(dofs[n] for n in order), bodies=held))
        for quantity in QUANTITIES:
            shape = {"poses": (len(held),), "velocities": (len(held),)}.get(
                quantity, (FEW,) if quantity in ("tau", "bias", "gravity", "acceleration") else ()
            )
            arrays[f"e{k}/digits/{quantity}"] = np.full(states, 15.0)
            if quantity != "mass_matrix":
                arrays[f"e{k}/error/{quantity}"] = np.full((states, *shape), 1e-15)
        arrays[f"e{k}/mass_matrix_error"] = np.zeros((FEW, FEW))
    for quantity in QUANTITIES:
        shape = {"poses": (2,), "velocities": (2,)}.get(
            quantity, (FEW,) if quantity in ("tau", "bias", "gravity", "acceleration") else ()
        )
        if quantity != "mass_matrix":
            arrays[f"scale/{quantity}"] = np.ones((states, *shape))
    arrays["scale/tau"] = np.tile([1.0, 2.0, 3.0], (states, 1))  # of shoulder, elbow, wrist
    for n, error in enumerate((per_place or {}).values()):
        arrays["e3/error/tau"][:, n] = error
    strata = {"count": states, "seed": 0, "sha256": "1" * 64, "strata": {"zero": 1, "random": states - 1}}
    made = replace(model, engines=tuple(engines), arrays=arrays, dofs=dofs, states=strata)
    return Saved.of(Result("check", sample.VERSIONS, (made,)))


def known() -> Saved:
    """Return the check of a robot that an engine reads otherwise, all of which is listed as known, with a date."""
    made = Saved.of(sample.result(sample.differing()))
    document = copy.deepcopy(dict(made.document))
    document["exit"] = document["models"][0]["exit"] = 0
    engine = document["models"][0]["engines"][3]
    engine["known"] = "waits for the supplier (until 2027-06-30)"
    for row in engine["findings"]:
        row["known"] = engine["known"] if row["severity"] == "model" else ""
    return Saved(document, None)


# However a command ends, by name.
DOCUMENTS = {
    "agreeing": saved(sample.agreeing()),
    "faulty": saved(sample.faulty()),
    "differing": saved(sample.differing()),
    "refused": saved(sample.refused()),
    "crashed": saved(sample.crashed()),
    "silent": saved(sample.silent()),
    "motionless": saved(sample.motionless()),
    "in no file": saved(replace(sample.agreeing(), file="", sha256="")),
    "unusable": saved(unusable=True),
    "nothing": saved(),
    "known": known(),
    "several": saved(*(make() for make in (sample.agreeing, sample.differing, sample.refused)), unusable=True),
    "arrays": with_arrays(),
    "a pair": Saved.of(pair()),
    "the same pair": Saved.of(same_pair()),
}
DOCUMENTS |= {f"hostile {n}": saved(hostile(name)) for n, name in enumerate(HOSTILE)}
# The three of which every format has a text that was read and found right, in tests/golden.
GOLDEN = {"agree": "agreeing", "importer_bug": "differing", "refusal": "refused", "diff": "a pair"}
