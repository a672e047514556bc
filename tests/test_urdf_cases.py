"""The case files beside the checkout: what the reference must refuse, and the numbers that it must read."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tautology.harness.errors import ReadError
from tautology.harness.importers.urdf import read_urdf

if TYPE_CHECKING:
    from tautology.harness.tree import Inertia, Tree

CASES = Path(__file__).parents[1].parent / "shared" / "cases"

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the case files do not lie beside this checkout")


def case_of(folder: Path) -> dict[str, Any]:
    """Return what stands in a case.toml."""
    return tomllib.loads((folder / "case.toml").read_text())


def entries(case: dict[str, Any], file: str) -> list[dict[str, Any]]:
    """Return the expectations on one file."""
    return [entry for entry in case["expect"] if entry.get("file") == file]


def refusal(case: dict[str, Any], file: str) -> dict[str, Any] | None:
    """Return the entry that makes the reference refuse a file."""
    found = [e for e in entries(case, file) if e["engine"] == "reference" and e["status"] == "refused"]
    return found[0] if found else None


FILES = [
    (folder, file) for folder in sorted(CASES.glob("*/")) for file in case_of(folder)["files"] if file.endswith(".urdf")
]
REFUSED = [(folder, file) for folder, file in FILES if refusal(case_of(folder), file)]
LOADED = [case for case in FILES if case not in REFUSED]


def label(value: Any) -> str:
    """Return the last part of a path, as a parameter id."""
    return Path(value).name


@pytest.mark.parametrize(("folder", "file"), REFUSED, ids=label)
def test_what_the_reference_refuses_is_refused(folder: Path, file: str) -> None:
    """With the kind, the name and the line of the case."""
    verdict = refusal(case_of(folder), file) or {}
    with pytest.raises(ReadError) as caught:
        read_urdf(folder / file)
    error = caught.value
    assert (error.kind, error.where) == (verdict["finding"], verdict.get("where"))
    assert error.source.line == verdict.get("line", error.source.line)


@pytest.mark.parametrize(("folder", "file"), LOADED, ids=label)
def test_the_tree_knows_every_name_and_line_of_the_case(folder: Path, file: str) -> None:
    """A finding can point at whatever the case points at."""
    tree = read_urdf(folder / file)
    for entry in entries(case_of(folder), file):
        if "where" in entry and "line" in entry and "line_file" not in entry:
            assert entry["where"] in names(tree)
            assert entry["line"] in lines(tree)


def names(tree: Tree) -> set[str | None]:
    """Return every name that a finding can point at."""
    return {*tree.index, *tree.joint_index, *(loss.where for loss in tree.losses)}


def lines(tree: Tree) -> set[int]:
    """Return every line that the tree knows."""
    things = [*tree.bodies[1:], *tree.joints[1:]]
    sources = [source for thing in things for source in thing.sources.values()]
    return {source.line for source in [*sources, *(thing.source for thing in (*tree.losses, *tree.closures))]}


def six(inertia: Inertia) -> np.ndarray:
    """Return xx yy zz xy xz yz."""
    I = inertia.I_com
    return np.array([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])


def value(tree: Tree, quantity: str) -> Any:
    """Return a quantity of a tree that needs no state, or None."""
    kind, _, of = quantity.removesuffix("]").partition("[")
    if kind in ("nq", "nv", "total_mass"):
        return getattr(tree, kind)
    if kind == "joints":
        return [joint.name for joint in tree.joints if joint.nv]
    if kind == "axis":
        return tree.joints[tree.joint_index[of]].axis
    merged = kind.startswith("composite.")
    tree = tree.fused() if merged else tree
    if of not in tree.index:
        return None
    inertia = tree.bodies[tree.index[of]].inertia
    kind = kind.removeprefix("composite.")
    return {"mass": inertia.mass, "com": inertia.com, "inertia": six(inertia)}.get(kind)


def numbers(folder: Path, file: str) -> list[tuple[str, Any, float]]:
    """Return quantity, number and tolerance of what a case says about a file itself, whatever engines make of it."""
    case = case_of(folder)
    found: list[tuple[str, Any, float]] = []
    for entry in entries(case, file):
        # A mimic joint counts as no dof there; the tree stays open.
        if "quantity" not in entry or entry["status"] == "accepted" or entry.get("finding") == "joint.mimic":
            continue
        side = "found" if case["command"] == "diff" else "expected"
        if case["command"] == "diff" and entry.get("version"):
            continue  # an engine version that misreads the file
        found.append((entry["quantity"], entry.get(side), entry.get("tolerance", 1e-9)))
    return found


@pytest.mark.parametrize(("folder", "file"), LOADED, ids=label)
def test_numbers_of_the_cases_are_read(folder: Path, file: str) -> None:
    """Masses, centres, tensors, composites, axes, sizes and joint orders that a case states."""
    tree = read_urdf(folder / file)
    for quantity, expected, tolerance in numbers(folder, file):
        mine = value(tree, quantity)
        if quantity == "joints":
            assert mine == expected
        elif mine is not None:
            np.testing.assert_allclose(mine, expected, rtol=0, atol=tolerance)


def test_the_cases_state_numbers() -> None:
    """The test above does not pass by finding nothing."""
    stated = [quantity for folder, file in LOADED for quantity, _, _ in numbers(folder, file)]
    for kind in ("mass[", "com[", "inertia[", "composite.com[", "axis[", "nv", "joints"):
        assert any(quantity.startswith(kind) for quantity in stated)
