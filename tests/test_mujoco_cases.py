"""The cases beside the checkout: what MuJoCo makes of them, number by number, where the default call is meant."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tautology.adapters.mujoco_ import ENGINE
from tautology.adapters.reference import Reference
from tautology.harness.errors import EngineRefused
from tautology.harness.load import open_model

if TYPE_CHECKING:
    from tautology.harness.tree import Tree

CASES = Path(__file__).resolve().parents[2] / "shared" / "cases"
DYNAMICS = ("M", "g", "bias", "tau")
FREED = "freejoint added to"
# What the session reveals when it is opened; the other findings come from a comparison with the model read back.
TOLD = ("body.fused", "body.root_fused", "joint.coordinates", "base.velocity_frame", "base.acceleration")
TOLD += ("armature", "mass.default", "inertia.value")


def entries(wanted) -> list:
    """Return what the cases say of MuJoCo 4 and its default calls, as far as `wanted(entry)` is true.

    What our importers refuse is asked of no engine. A mesh that cannot be read is taken out here, where the cases have
    a refusal.
    """
    found = []
    for folder in sorted(CASES.glob("[0-9]*")):
        case = tomllib.loads((folder / "case.toml").read_text())
        for k, entry in enumerate(case.get("expect", [])):
            mine = "mujoco" in entry["engine"] and case["command"] == "check"
            mine = mine and "4.0.0" in entry.get("version", "4.0.0")
            mine = mine and entry.get("options", FREED).startswith(FREED) and entry["file"] != "zero.urdf"
            sound = entry["status"] != "accepted" and (not folder.name.startswith("26") or entry["status"] == "agree")
            if mine and sound and wanted(entry):
                found.append(pytest.param(folder, case, entry, id=f"{folder.name}-{entry['path']}-{k}"))
    absent = pytest.mark.skip(reason="there is no folder ../shared/cases beside the checkout")
    return found or [pytest.param(None, None, None, marks=absent, id="absent")]


def state_of(case: dict, entry: dict) -> dict:
    """Return the state that the case gives for the file of this entry; empty without one."""
    return next((state for state in case.get("state", []) if entry["file"] in state["files"]), {})


def opened(folder: Path, case: dict, entry: dict):
    """Return the tree and the session of an entry; a state of a root that a URDF has not asks for a free base."""
    rooted = entry["file"].endswith(".urdf") and "root" in state_of(case, entry).get("q", {})
    free = entry.get("options", "").startswith(FREED) or (rooted and entry["path"] == "neutral")
    model = open_model(folder / entry["file"], "free" if free else "auto")
    native = entry["path"] == "native"
    return model.tree, ENGINE.native(model.given, model.tree) if native else ENGINE.neutral(model.tree)


def dynamics(session, tree: Tree, values: dict) -> dict[str, np.ndarray]:
    """Return M, g, bias and tau at a state, whose joints are undisplaced and at rest unless it says otherwise."""
    rows = [tree.neutral.copy(), np.zeros(tree.nv), np.zeros(tree.nv)]
    for row, key, slices in zip(rows, "qva", (tree.q_slices, tree.v_slices, tree.v_slices), strict=True):
        for name, value in values.get(key, {}).items():
            flat = [*value["pos"], *value["quat_wxyz"]] if isinstance(value, dict) else value
            row[slices[tree.joint_index.get(name, 1)]] = flat  # "root" is the joint of body 1
    q, v, a = (row[None] for row in rows)
    still = session.inverse_dynamics(q, v, np.zeros_like(a))
    return {
        "M": session.mass_matrix(q),
        "g": session.gravity_forces(q),
        "bias": still,
        "tau": session.inverse_dynamics(q, v, a),
    }


@pytest.mark.parametrize(("folder", "case", "entry"), entries(lambda e: e["status"] == "agree" and "quantity" not in e))
def test_agreement_is_as_measured(folder: Path, case: dict, entry: dict) -> None:
    """M, gravity, bias and tau are those of the reference."""
    tree, session = opened(folder, case, entry)
    wanted = dynamics(Reference(tree), tree, state_of(case, entry))
    for name, value in dynamics(session, tree, state_of(case, entry)).items():
        np.testing.assert_allclose(value, wanted[name], rtol=0, atol=entry["tolerance"], err_msg=name)


@pytest.mark.parametrize(
    ("folder", "case", "entry"), entries(lambda e: e.get("quantity", "").partition("[")[0] in DYNAMICS)
)
def test_numbers_are_as_measured(folder: Path, case: dict, entry: dict) -> None:
    """One entry of M, g, bias or tau, named by dofs, is what was found, whether it agrees or not."""
    tree, session = opened(folder, case, entry)
    name, _, places = entry["quantity"].removesuffix("]").partition("[")
    answer = dynamics(session, tree, state_of(case, entry))[name]
    value = answer[(0, *(session.dofs.index(dof) for dof in places.split(",")))]
    assert value == pytest.approx(entry["found"], rel=0, abs=entry["tolerance"])


@pytest.mark.parametrize(
    ("folder", "case", "entry"), entries(lambda e: e.get("finding") in TOLD and e["status"] in ("agree", "differs"))
)
def test_places_are_as_measured(folder: Path, case: dict, entry: dict) -> None:
    """The finding stands at the element and line that the case names; what differs is another robot."""
    _, session = opened(folder, case, entry)
    found = {(f.kind, f.where, f.line): f.severity for f in session.findings}
    severity = found[entry["finding"], entry["where"], entry["line"]]
    assert severity == ("convention" if entry["status"] == "agree" or "fused" in entry["finding"] else "model")


@pytest.mark.parametrize(("folder", "case", "entry"), entries(lambda e: e.get("quantity") == "total_mass"))
def test_total_mass_is_as_measured(folder: Path, case: dict, entry: dict) -> None:
    """A welded root is not in MuJoCo's model, a freed one is."""
    _, session = opened(folder, case, entry)
    assert session.total_mass == pytest.approx(entry["found"], rel=0, abs=entry["tolerance"])


@pytest.mark.parametrize(("folder", "case", "entry"), entries(lambda e: e["status"] == "refused"))
def test_refusals_are_as_measured(folder: Path, case: dict, entry: dict) -> None:
    """Words, kind, place and line are those of the case."""
    with pytest.raises(EngineRefused) as refusal:
        opened(folder, case, entry)
    told = (refusal.value.kind, refusal.value.where, refusal.value.source.line)
    assert told == (entry["finding"], entry["where"], entry["line"])
    assert entry["message"] in str(refusal.value)
