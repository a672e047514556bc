"""The tree of a live MuJoCo model is that of its file; MuJoCo itself stays quiet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import pytest
from mjcf_texts import GOOD, ZOO, written

from tautology.harness.errors import ReadError
from tautology.harness.importers import mjcf_compiled, mjcf_names, mjcf_terms
from tautology.harness.importers.mjcf import read_mjcf, tree_of_mujoco
from tautology.harness.importers.mjcf_spec import quiet

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tautology.harness.tree import Tree


def same(one: Tree, other: Tree) -> None:
    """Assert that two trees hold the same robot; MuJoCo's principal axes cost a live model some digits of a tensor."""
    assert [b.name for b in one.bodies] == [b.name for b in other.bodies]
    assert one.dofs == other.dofs
    for a, b in zip(one.bodies, other.bodies, strict=True):
        assert (a.parent, a.gravcomp, a.joint.kind, a.joint.ref, a.joint.lower, a.joint.upper, a.joint.effort) == (
            (b.parent, b.gravcomp, b.joint.kind, b.joint.ref, b.joint.lower, b.joint.upper, b.joint.effort)
        )
        for field in ("axis", "T_parent_joint", "T_joint_body", "damping", "friction", "armature", "rotor", "rest"):
            np.testing.assert_array_equal(getattr(a.joint, field), getattr(b.joint, field))
        assert a.inertia.mass == b.inertia.mass
        np.testing.assert_array_equal(a.inertia.com, b.inertia.com)
        np.testing.assert_allclose(a.inertia.I_com, b.inertia.I_com, rtol=0, atol=1e-13 * np.abs(a.inertia.I_com).max())
    assert [(t.name, t.armature, t.coefficients) for t in one.tendons] == [
        (t.name, t.armature, t.coefficients) for t in other.tendons
    ]
    np.testing.assert_array_equal(one.home, other.home)
    np.testing.assert_array_equal(one.gravity, other.gravity)
    assert (one.name, one.medium) == (other.name, other.medium)


LIVE: dict[str, Callable[[str], Any]] = {
    "MjModel": mujoco.MjModel.from_xml_string,
    "MjSpec": mujoco.MjSpec.from_string,
    "compiled MjSpec": lambda text: [spec := mujoco.MjSpec.from_string(text), spec.compile()][0],
}


@pytest.mark.parametrize("kind", LIVE)
def test_a_live_model_is_the_tree_of_its_file(tmp_path: Path, kind: str) -> None:
    """The same code reads both; a live model has no lines, and stays as it is."""
    live = LIVE[kind](ZOO)
    tree = tree_of_mujoco(live)
    same(tree, read_mjcf(written(tmp_path, ZOO)))
    assert tree.origin.format == "mujoco"
    assert {str(b.source()) for b in tree.bodies} == {""}
    if kind == "MjSpec":
        assert [body.name for body in live.bodies].count("") == 1


def test_an_edited_spec_is_read_as_edited() -> None:
    """A model that was built in memory, with a joint that was changed after parsing."""
    spec = mujoco.MjSpec.from_string(GOOD)
    spec.joint("turn").armature = 0.5
    spec.body("part").add_body(name="more", mass=2, inertia=[1, 1, 1], explicitinertial=True)
    tree = tree_of_mujoco(spec)
    assert tree.joints[tree.joint_index["turn"]].armature == 0.5
    assert tree.total_mass == pytest.approx(3.4)


def test_nothing_is_printed_and_no_log_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """MuJoCo's warnings become losses instead."""
    monkeypatch.chdir(tmp_path)
    # One warning comes through Python, one through the handler; a margin is no number of the tree.
    text = GOOD.replace('angle="radian"', 'angle="radian" settotalmass="7"').replace('"fold"', '"fold" margin="nan"')
    tree = read_mjcf(written(tmp_path, text))
    assert capfd.readouterr() == ("", "")
    assert [path.name for path in tmp_path.iterdir()] == ["robot.xml"]
    said = [loss.note for loss in tree.losses if loss.element == "mujoco"]
    assert [any(word in words for words in said) for word in ("settotalmass", "NaN")] == [True, True]
    assert tree.total_mass == pytest.approx(7)


def test_the_users_own_handler_of_warnings_is_back_afterwards(tmp_path: Path) -> None:
    """Also when MuJoCo raises, and it hears nothing of what the importer does."""
    heard: list[str] = []
    mujoco.set_mju_user_warning(heard.append)
    try:
        read_mjcf(written(tmp_path, GOOD.replace('"fold"', '"fold" margin="nan"')))
        with pytest.raises(ValueError, match="unrecognized"), quiet(mujoco):
            mujoco.MjSpec.from_string("<mujoco><worldbody><thing/></worldbody></mujoco>")
        assert mujoco.get_mju_user_warning() == heard.append
    finally:
        mujoco.set_mju_user_warning(None)
    assert heard == []


def test_the_numbers_of_enumerations_are_mujocos() -> None:
    """They are written down, so that a compiled model can be read without the module."""
    joints = ("FREE", "BALL", "SLIDE", "HINGE")
    assert [int(getattr(mujoco.mjtJoint, f"mjJNT_{name}")) for name in joints] == [
        getattr(mjcf_names, name) for name in joints
    ]
    transmissions = {"JOINT", "JOINTINPARENT", "SLIDERCRANK", "TENDON", "SITE", "BODY", "SO3"}
    spelled = {"JOINTINPARENT": "JOINT_IN_PARENT", "SLIDERCRANK": "SLIDER_CRANK"}
    for name in transmissions:
        assert int(getattr(mujoco.mjtTrn, f"mjTRN_{name}")) == getattr(mjcf_compiled, spelled.get(name, name))
    assert int(mujoco.mjtWrap.mjWRAP_JOINT) == mjcf_compiled.WRAP_JOINT
    assert int(mujoco.mjtObj.mjOBJ_SITE) == mjcf_terms.OBJ_SITE
    for i, kind in enumerate(mjcf_terms.EQUALITIES):
        assert int(getattr(mujoco.mjtEq, f"mjEQ_{kind.upper()}")) == i


def test_a_live_spec_that_mujoco_refuses_says_which_body() -> None:
    """There is no file, only the name."""
    with pytest.raises(ReadError, match="mjMINVAL") as caught:
        tree_of_mujoco(mujoco.MjSpec.from_string(GOOD.replace('mass="0.7"', 'mass="0"', 1)))
    assert (caught.value.where, caught.value.kind) == ("part", "refused.nonphysical")
