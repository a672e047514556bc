"""Loading whatever a user has: a file of either format, a live model, a tree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tautology import models
from tautology.harness.errors import ReadError, RequestError
from tautology.harness.load import load, open_model
from tautology.harness.tree import JointKind, Tree

MODELS = Path(__file__).parents[1] / "models"
ARM = MODELS / "tau_arm.urdf"


@pytest.mark.parametrize(("suffix", "form"), [("urdf", "urdf"), ("xml", "mjcf")])
def test_the_root_element_tells_the_format(suffix: str, form: str, tmp_path: Path) -> None:
    """Not the ending of the name."""
    path = tmp_path / "robot.xml"
    path.write_bytes((MODELS / f"tau_arm.{suffix}").read_bytes())
    loaded = open_model(path)
    assert (loaded.given.format, loaded.given.path, loaded.given.live) == (form, str(path), None)
    assert (loaded.tree.origin.format, loaded.tree.origin.path) == (form, str(path))
    assert load(str(path)).dofs == loaded.tree.dofs


def test_a_free_base_is_put_under_a_welded_root_on_request() -> None:
    """And the native path is told."""
    welded, freed = open_model(ARM), open_model(ARM, "free")
    assert (welded.tree.base, welded.given.freed) == ("fixed", False)
    assert (freed.tree.base, freed.given.freed) == ("free", True)
    assert freed.tree.joints[1].kind is JointKind.FLOATING
    again = open_model(freed.tree, "free")
    assert (again.tree, again.given.freed) == (freed.tree, False)


def test_a_tree_stands_for_itself() -> None:
    """It is handed on, not copied."""
    tree = load(ARM)
    loaded = open_model(tree)
    assert loaded.tree is tree
    assert (loaded.given.format, loaded.given.live) == ("tree", tree)


def pinocchio_model() -> Any:
    """Return a live Pinocchio model."""
    pinocchio = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    return pinocchio.buildModelFromUrdf(str(ARM))


def mujoco_spec() -> Any:
    """Return a live MuJoCo specification."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    return mujoco.MjSpec.from_file(str(MODELS / "tau_arm.xml"))


@pytest.mark.parametrize(
    ("make", "form"),
    [
        (pinocchio_model, "pinocchio"),
        (mujoco_spec, "mujoco"),
        (lambda: mujoco_spec().compile(), "mujoco"),
    ],
    ids=["pinocchio.Model", "mujoco.MjSpec", "mujoco.MjModel"],
)
def test_live_models_are_read_back(make: Any, form: str) -> None:
    """The same dofs as from the file."""
    model = make()
    loaded = open_model(model)
    assert (loaded.given.format, loaded.given.live) == (form, model)
    assert set(loaded.tree.dofs) == set(load(ARM).dofs)


@pytest.mark.parametrize("model", [None, 3, b"arm.urdf", ["arm.urdf"]])
def test_other_objects_are_refused(model: object) -> None:
    """With what may be given instead."""
    with pytest.raises(RequestError, match=f"{type(model).__name__} is no model; give a path"):
        load(model)


def test_other_bases_are_refused() -> None:
    """With those that exist."""
    with pytest.raises(RequestError, match="'floating' does not exist; choose one of auto, fixed, free"):
        load(ARM, "floating")


def test_other_roots_are_refused(tmp_path: Path) -> None:
    """An SDF is XML, and no robot of ours."""
    path = tmp_path / "robot.sdf"
    path.write_text("<?xml version='1.0'?>\n<sdf version='1.9'/>")
    with pytest.raises(ReadError, match=r"robot\.sdf:2: the root element is <sdf>; supported: <robot> .* <mujoco>"):
        load(path)


def test_xacro_files_come_with_the_command_that_expands_them(tmp_path: Path) -> None:
    """Ready for a shell, with the path quoted; a file that is not there is said first."""
    path = tmp_path / "my arm.urdf.xacro"
    with pytest.raises(ReadError, match="no such file"):
        load(path)
    path.write_text("<robot/>")
    with pytest.raises(RequestError) as caught:
        load(path)
    assert f"xacro '{path}' > '{tmp_path}/my arm.urdf'" in str(caught.value)


def test_a_urdf_is_loaded_without_any_engine() -> None:
    """Neither engine nor pandas is imported for it."""
    code = f"""
import sys
from tautology import load
assert load({str(ARM)!r}).nv > 0
assert not {{"pinocchio", "mujoco", "pandas", "lxml"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_loading_is_public() -> None:
    """`tautology.load` returns a tree."""
    import tautology  # noqa: PLC0415  the lazy name is what is tested

    assert isinstance(tautology.load(ARM), Tree)


@pytest.mark.parametrize(("name", "place"), [("tau_walker.urdf", ":96"), ("tau_walker.xml", "")])
def test_a_fixed_base_is_refused_where_the_robot_floats(name: str, place: str) -> None:
    """No engine would read the file so; what is fixed already is taken."""
    with pytest.raises(RequestError) as refused:
        open_model(MODELS / name, "fixed")
    assert str(refused.value).startswith(f"{MODELS / name}{place}: joint 'root' lets 'tau_walker' float")
    assert open_model(ARM, "fixed").tree.base == "fixed"


def test_a_missing_file_that_is_called_as_a_bundled_one_is_told_where_that_is(tmp_path, monkeypatch):
    """After `pip install` there is no folder `models` beside; a file that is there is read, whatever its name."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ReadError) as caught:
        load("models/desk_lamp.urdf")
    place = models.path("desk_lamp.urdf")
    words = f"models/desk_lamp.urdf: there is no such file; the bundled model of this name is {place}"
    assert str(caught.value) == words
    for name in ("catalogue.toml", "gone.urdf", "a\0b.urdf", "models/"):
        with pytest.raises(ReadError) as caught:
            load(name)
        assert "bundled" not in str(caught.value)
    (tmp_path / "desk_lamp.urdf").write_text("<other/>")
    with pytest.raises(ReadError, match="root element"):
        load("desk_lamp.urdf")
