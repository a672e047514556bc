"""The MJCF among the case files beside the checkout: what is refused, numbers that must be read, names and lines."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from mjcf_texts import refusal
from small_dynamics import mass_matrix_and_gravity, poses_and_jacobians

from tautology.harness.importers.mjcf import read_mjcf

if TYPE_CHECKING:
    from tautology.harness.tree import Inertia, Tree

CASES = Path(__file__).parents[1].parent / "shared" / "cases"

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the case files do not lie beside this checkout")

# Files that other files include.
PARTS = ("arm.xml", "defaults.xml")
# Names that a tree does not keep: of elements that are merged, and of the keyframe that is its home.
MERGED = ("include", "frame", "tilted")


def case_of(folder: Path) -> dict[str, Any]:
    """Return what stands in a case.toml."""
    return tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))


def entries(folder: Path, file: str) -> list[dict[str, Any]]:
    """Return the expectations on one file."""
    return [entry for entry in case_of(folder)["expect"] if entry.get("file") == file]


def refused(folder: Path, file: str) -> dict[str, Any] | None:
    """Return the entry that makes the reference refuse a file."""
    found = (e for e in entries(folder, file) if e["engine"] == "reference" and e["status"] == "refused")
    return next(found, None)


FILES = [
    (folder, file) for folder in sorted(CASES.glob("*/")) for file in case_of(folder)["files"] if file.endswith(".xml")
]
LOADED = [(folder, file) for folder, file in FILES if not refused(folder, file) and file not in PARTS]


def label(value: Any) -> str:
    """Return the last part of a path, as a parameter id."""
    return Path(value).name


@pytest.mark.parametrize(("folder", "file"), [case for case in FILES if refused(*case)], ids=label)
def test_what_the_reference_refuses_is_refused(folder: Path, file: str) -> None:
    """With the kind, the name and the line of the case."""
    verdict, error = refused(folder, file) or {}, refusal(folder / file)
    assert (error.kind, error.where, error.source.line) == (verdict["finding"], verdict["where"], verdict["line"])
    assert error.source.file == str(folder / file)


@pytest.mark.parametrize("file", PARTS)
def test_a_part_is_no_model(file: str) -> None:
    """A file that others include has another root."""
    assert "<mujocoinclude>" in str(refusal(CASES / "23-mocap-frame-include" / file))


@pytest.mark.parametrize(("folder", "file"), LOADED, ids=label)
def test_a_finding_can_point_at_what_the_case_points_at(folder: Path, file: str) -> None:
    """The tree knows every name, and every line of every file, that the case names."""
    tree = read_mjcf(folder / file)
    for entry in entries(folder, file):
        if "line" in entry and entry.get("where") not in MERGED:
            assert entry.get("where") in names(tree)
            assert (str(folder / entry.get("line_file", file)), entry["line"]) in lines(tree)


# Finding kind to the field of a joint whose line it reports.
FIELDS = {
    "armature": "armature",
    "rotor": "rotor",
    "damping": "damping",
    "frictionloss": "friction",
    "spring": "stiffness",
    "joint.axis_sign": "axis",
    "joint.zero": "ref",
    "joint.orientation": "T_parent_joint",
}


@pytest.mark.parametrize(("folder", "file"), LOADED, ids=label)
def test_fields_of_joints_stand_on_the_line_of_the_case(folder: Path, file: str) -> None:
    """A default class of the same file leads to the joint, one of another file to the default itself."""
    tree = read_mjcf(folder / file)
    for entry in entries(folder, file):
        field, joint = FIELDS.get(entry.get("finding", "")), tree.joint_index.get(entry.get("where", ""))
        if field and joint and "line" in entry:
            source = tree.joints[joint].source(field)
            assert (source.file, source.line) == (str(folder / entry.get("line_file", file)), entry["line"])


def names(tree: Tree) -> set[str | None]:
    """Return every name that a finding can point at."""
    closures = {end for closure in tree.closures for end in closure.between}
    tendons = {tendon.name for tendon in tree.tendons}
    losses = {loss.where for loss in tree.losses}
    return {None, *tree.index, *tree.joint_index, *tree.sources, *closures, *tendons, *losses, *tree.dofs}


def lines(tree: Tree) -> set[tuple[str, int]]:
    """Return every file and line that the tree knows."""
    owners = [*tree.bodies[1:], *tree.joints[1:], tree]
    sources = [source for owner in owners for source in owner.sources.values()]
    sources += [thing.source for thing in (*tree.losses, *tree.closures, *tree.tendons)]
    return {(source.file, source.line) for source in sources}


def six(inertia: Inertia) -> np.ndarray:
    """Return xx yy zz xy xz yz."""
    I = inertia.I_com
    return np.array([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])


def state(folder: Path, file: str, tree: Tree) -> np.ndarray:
    """Return q of the case's frozen state."""
    q = tree.neutral.copy()
    for entry in case_of(folder).get("state", []):
        for name, value in entry["q"].items() if file in entry["files"] else ():
            flat = [*value["pos"], *value["quat_wxyz"]] if isinstance(value, dict) else value
            q[tree.q_slices[tree.joint_index[name]]] = flat
    return q


def of_the_tree(tree: Tree, kind: str, of: str) -> Any:
    """Return a quantity that needs no state, or None."""
    joint = tree.joints[tree.joint_index.get(of.partition(".")[0], 0)]
    body = tree.bodies[tree.index.get(of, 0)]
    values = {
        "nq": tree.nq,
        "nv": tree.nv,
        "total_mass": tree.total_mass,
        "static_mass": tree.total_mass - tree.moving_mass,
        "gravity": tree.gravity,
        "damping": [float(d) for j in tree.joints for d in np.asarray(j.damping)],
        "joints": [j.name for j in tree.joints if j.nv],
        "qpos0": tree.neutral,
        "key": tree.home,
        "axis": joint.axis,
        "armature": joint.reflected[:1],
        "placement.pos": joint.T_parent_joint[:3, 3],
        "placement.rot": joint.T_parent_joint[:3, :3].ravel(),
        "mass": body.inertia.mass,
        "com": body.inertia.com,
        "inertia": six(body.inertia),
        "eq": tree.closures[0].numbers if tree.closures else None,
    }
    return values.get(kind)


def at_the_state(tree: Tree, q: np.ndarray, kind: str, of: str) -> Any:
    """Return a quantity that needs a state, or None."""
    poses, _ = poses_and_jacobians(tree, q)
    if kind in ("pos", "rot") and of in tree.index:
        T = poses[tree.index[of]]
        return T[:3, 3] if kind == "pos" else T[:3, :3].ravel()
    M, g = mass_matrix_and_gravity(tree, q)
    if kind == "g":
        return g[tree.dofs.index(of)]
    if kind == "M":
        row, column = of.split(",")
        return M[tree.dofs.index(row), tree.dofs.index(column)]
    return None


def numbers(folder: Path, file: str) -> list[tuple[str, Any, float]]:
    """Return quantity, number and tolerance of what a case says about the file, whatever engines make of it."""
    case, found = case_of(folder), []
    for entry in entries(folder, file):
        # A coupled joint counts as no dof there; the tree stays open.
        if "quantity" not in entry or entry["status"] == "accepted" or entry.get("finding") == "joint.mimic":
            continue
        diff = case["command"] == "diff"
        if not (diff and (entry.get("version") or "mujoco" not in entry["engine"])):
            found.append((entry["quantity"], entry["found" if diff else "expected"], entry.get("tolerance", 1e-9)))
    return found


@pytest.mark.parametrize(("folder", "file"), LOADED, ids=label)
def test_numbers_of_the_cases_are_read(folder: Path, file: str) -> None:
    """Masses, tensors, axes, armature, gravity, poses, mass matrices and gravity torques that a case states."""
    tree = read_mjcf(folder / file)
    q = state(folder, file, tree)
    for quantity, expected, tolerance in numbers(folder, file):
        kind, _, of = quantity.removesuffix("]").partition("[")
        mine = of_the_tree(tree, kind, of)
        mine = at_the_state(tree, q, kind, of) if mine is None else mine
        if kind == "joints":
            assert mine == expected
        elif mine is not None:
            np.testing.assert_allclose(mine, expected, rtol=0, atol=tolerance)


def test_the_cases_state_numbers() -> None:
    """The test above does not pass by finding nothing."""
    stated = [quantity for folder, file in LOADED for quantity, _, _ in numbers(folder, file)]
    for kind in (
        "mass[",
        "com[",
        "inertia[",
        "axis[",
        "armature[",
        "placement.",
        "M[",
        "g[",
        "pos[",
        "rot[",
        "gravity",
    ):
        assert any(quantity.startswith(kind) for quantity in stated)
    assert len(stated) > 80
