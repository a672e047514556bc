"""What the adapters do where an engine is older: the same calls in the newest version, and the versions themselves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from example_robots import EXAMPLE_ROBOTS
from package_index import require_index
from random_trees import random_tree

import tautology
from tautology.adapters import (
    mujoco_build,
    mujoco_ledger,
    mujoco_load,
    mujoco_versions,
    pinocchio_,
    pinocchio_build,
    pinocchio_versions,
)
from tautology.adapters.mujoco_text import Text, compiled_file
from tautology.harness import bench
from tautology.harness.bisection import bisect
from tautology.harness.engine import Given
from tautology.harness.errors import EngineUnsupported
from tautology.harness.importers.xml import parse_xml
from tautology.harness.request import Request
from tautology.harness.run import check, check_files

MODELS = Path(tautology.__file__).parent / "models"
PANDA = str(EXAMPLE_ROBOTS["panda_description/panda"])
TREES = [
    random_tree(np.random.default_rng(s), 7, floating_root=s % 2 == 0, armature=True, tendons=True) for s in range(6)
]
PASSIVE = """<mujoco><option density="900" viscosity="0.3"/><worldbody><body>
  <freejoint/><geom size="0.1 0.2 0.3" type="box"/>
  <body pos="0.4 0.1 0">
    <joint axis="0 1 0" damping="0.7" stiffness="3" springref="0.2"/><geom size="0.1"/>
  </body>
</body></worldbody></mujoco>"""
BELT = """<mujoco><worldbody>
  <body><joint name="drive" axis="0 0.6 0.8"/><geom size="0.1" pos="0.2 0.1 0"/>
    <body pos="0.3 0 0.1"><joint name="slew" axis="0.8 -0.6 0"/><geom size="0.1" pos="0 0.2 0.1"/></body>
  </body></worldbody>
  <tendon><fixed armature="0.2"><joint joint="drive" coef="1.5"/><joint joint="slew" coef="-0.5"/></fixed></tendon>
</mujoco>"""
MESHES = b"""<robot name="r" xmlns:other="http://example.org">
  <link name="base">
    <visual><geometry><mesh filename="seen.stl"/></geometry></visual>
  </link>
  <link name="a&amp;b">
    <inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><geometry><mesh filename="package://gone/hull.stl"/></geometry></collision>
    <collision><geometry><mesh filename="package://gone/hull.stl"/></geometry></collision>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <joint name="turn" type="continuous">
    <parent link="base"/><child link="a&amp;b"/><axis xyz="0 0 1"/>
    <drake:rotor_inertia value="1"/>
  </joint>
</robot>
"""


@pytest.mark.parametrize("tree", TREES, ids=range(len(TREES)))
def test_a_model_that_is_built_from_text_is_the_same(tree, monkeypatch):
    """Versions without an editable spec are handed MJCF; every joint kind, armature, tendons."""
    monkeypatch.setattr(mujoco_build, "EDITABLE", False)
    (result,) = check(tree, engines=["mujoco"], path="neutral", states=8).models[0].engines[1:]
    assert result.status == "agree"


def test_a_chain_that_is_too_deep_for_text_is_unsupported():
    """The parser of MuJoCo stops at some 500 levels; its words say so."""
    rows = [
        mujoco_build.Row(k, np.zeros(3), np.array([1.0, 0, 0, 0]), [(mujoco_build.HINGE, np.eye(3)[2])], 0.0)
        for k in range(600)
    ]
    with pytest.raises(EngineUnsupported, match=r"would not build the model: .*too deep"):
        mujoco_build.compiled_text(rows)


@pytest.mark.parametrize("name", ["panda_description/panda", "solo_description/solo12", "talos_data/talos_reduced"])
@pytest.mark.parametrize("base", ["auto", "free"])
def test_a_file_that_is_read_from_text_is_the_same(name, base, monkeypatch):
    """Mesh shapes are taken out of a URDF, and its base is put on a free joint, in the text."""
    wanted = {"engines": ["mujoco"], "path": "native", "base": base, "states": 8}
    spec = check(str(EXAMPLE_ROBOTS[name]), **wanted).models[0].engines[1]
    monkeypatch.setattr(mujoco_load, "EDITABLE", False)
    text = check(str(EXAMPLE_ROBOTS[name]), **wanted).models[0].engines[1]
    assert (text.status, text.dofs, text.bodies) == (spec.status, spec.dofs, spec.bodies)
    assert text.status == "agree"


def test_text_keeps_lines_and_names_and_says_what_is_gone(tmp_path):
    """Files count once, visual ones not at all; prefixes and escapes stay as they are."""
    file = tmp_path / "robot.urdf"
    file.write_bytes(MESHES)
    model, gone = compiled_file(Given("urdf", str(file)), [])
    assert [(asset.file, asset.bodies, asset.massive) for asset in gone] == [
        ("package://gone/hull.stl", ("a&b", "a&b"), ()),
    ]
    assert [model.body(b).name for b in range(model.nbody)] == ["world", "a&b"]
    assert model.ngeom == 1
    root = parse_xml(MESHES, "robot.urdf").root
    text = Text([])
    text.write(root)
    again = parse_xml("".join(text.parts).encode(), "robot.urdf").root
    assert [(e.tag, e.attributes, e.source.line) for e in again.walk()] == [
        (e.tag, e.attributes, e.source.line) for e in root.walk()
    ]


def test_the_base_of_an_mjcf_needs_a_spec():
    """Its text is not changed: that is said beforehand."""
    with pytest.raises(EngineUnsupported, match="cannot free the base of an MJCF"):
        compiled_file(Given("mjcf", str(MODELS / "tau_arm.xml")), ["base"])


def compiled(path: Path):
    """Return a model and its data."""
    model = mujoco.MjModel.from_xml_path(str(path))
    return model, mujoco.MjData(model)


def test_inertia_without_its_newest_call_is_the_same():
    """`mj_crb`, and what adds tendons, give M as `mj_makeM` does."""
    models = [compiled(MODELS / "tau_walker.xml")[0], mujoco.MjModel.from_xml_string(BELT)]
    for model, data in [(model, mujoco.MjData(model)) for model in models]:
        answers = []
        for make in (mujoco.mj_makeM, mujoco_versions._crb_with_tendons):
            for stage in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_tendon, make):
                stage(model, data)
            M = np.zeros((model.nv, model.nv))
            mujoco_versions.full_inertia(model, data, M)
            answers.append(M)
        np.testing.assert_array_equal(*answers)


class Hidden:
    """A model that has not what is hidden."""

    def __init__(self, model, *names):
        self._model, self._names = model, names

    def __getattr__(self, name):
        if name in self._names:
            raise AttributeError(name)
        return getattr(self._model, name)


def test_couplings_follow_from_the_tree_of_dofs():
    """Where M is not told row by row, a dof couples with all that it rides on."""
    for name in ("tau_walker.xml", "tau_tree.xml", "branched_tree.xml"):
        model, _ = compiled(MODELS / name)
        assert mujoco_versions.couplings(Hidden(model, "M_colind")) == mujoco_versions.couplings(model)


def test_a_model_is_shown_whole():
    """What it has is its own; what only newer versions have is zero, by row; what nobody knows is an error."""
    model, _ = compiled(MODELS / "tau_tree.xml")
    same = mujoco_versions.Whole(model)
    assert same.nactuator == model.nactuator
    np.testing.assert_array_equal(same.dof_damping, model.dof_damping)
    older = mujoco_versions.Whole(
        Hidden(model, "nactuator", "actuator_outadr", "tendon_armature", "dof_dampingpoly", "nflex", "eq_active0")
    )
    assert (older.nactuator, older.nflex) == (model.nu, 0)
    assert older.actuator_outadr.tolist() == list(range(model.nu))
    assert (older.tendon_armature.shape, older.dof_dampingpoly.shape) == ((model.ntendon,), (model.nv, 2))
    with pytest.raises(AttributeError):
        _ = older.nonsense


def test_passive_forces_are_told_apart_by_leaving_out_their_cause():
    """Damper, spring and fluid, as the newest version tells them itself."""
    model = mujoco.MjModel.from_xml_string(PASSIVE)
    rng = np.random.default_rng(3)
    qpos = np.tile(model.qpos0, (4, 1)) + 0.1 * rng.normal(size=(4, model.nq))
    qvel, qacc = rng.normal(size=(2, 4, model.nv))
    switches = mujoco_ledger.Switches.of(model)
    told = mujoco_ledger._asked(model, switches, qpos, qvel, qacc)
    for field in mujoco_versions.PASSIVE:
        less = mujoco_ledger._asked(mujoco_versions.without(model, field), switches, qpos, qvel, qacc)
        assert told[field].any()
        np.testing.assert_allclose(told["qfrc_passive"] - less["qfrc_passive"], told[field], rtol=0, atol=1e-12)


@pytest.mark.parametrize("tree", TREES, ids=range(len(TREES)))
def test_armature_that_a_model_cannot_hold_is_added_outside(tree, monkeypatch):
    """As of Pinocchio 2.7: tau, M, energy and forward dynamics have it all the same."""
    for module in (pinocchio_, pinocchio_build):
        monkeypatch.setattr(module, "HOLDS_ARMATURE", False)
    (result,) = check(tree, engines=["pinocchio"], path="neutral", states=8).models[0].engines[1:]
    assert result.status == "agree"


class Bare:
    """A joint model as version 2.7 shows it: without data of its own."""

    def __init__(self, joint):
        self.id, self.idx_v, self.nv = joint.id, joint.idx_v, joint.nv


def test_the_motion_of_a_joint_is_read_off_its_jacobian():
    """Where joint models make no data."""
    model = pin.buildModelFromUrdf(PANDA)
    for joint in list(model.joints)[1:]:
        S = pinocchio_versions.subspace(model, joint)
        assert np.abs(S).sum() == pytest.approx(1)
        np.testing.assert_allclose(pinocchio_versions.subspace(model, Bare(joint)), S, rtol=0, atol=1e-15)


def test_modules_of_the_harness_hide_no_others(tmp_path):
    """A process of an engine does not look into the folder that it was started from."""
    child = Path(tautology.__file__).parent / "harness" / "worker_child.py"
    code = f"import runpy, sys; sys.path[0] = {str(child.parent)!r}; runpy.run_path({str(child)!r}); print(sys.path[0])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert said.stdout.strip() != str(child.parent)


@pytest.fixture
def _index():
    """Need an index of packages; end the processes of engines afterwards."""
    require_index()
    yield
    bench.stop_workers()


@pytest.mark.slow
@pytest.mark.usefixtures("_index")
def test_panda_differs_in_mujoco_3_3_7_alone():
    """The hand, merged into link 7: its com and its tensor; all of it is explained, and the others agree."""
    request = Request(["mujoco==3.3.7", "mujoco==4.0.0", "pinocchio"], states=16, in_process=False)
    result = check_files([PANDA], request)
    rows = {(r.engine, r.version, r.path): r for r in result.models[0].engines}
    assert {key[:2]: r.status for key, r in rows.items() if key[2] == "native"} == {
        ("mujoco", "3.3.7"): "differs",
        ("mujoco", "4.0.0"): "agree",
        ("pinocchio", result.versions["pinocchio"]): "agree",
    }
    assert {r.status for r in rows.values() if r.path == "neutral"} == {"agree"}
    grave = [f for f in rows["mujoco", "3.3.7", "native"].findings if f.severity == "model"]
    assert {("com", "panda_hand"), ("inertia.rotation", "panda_hand")} <= {(f.kind, f.where) for f in grave}
    assert "unexplained" not in {f.kind for f in grave}
    assert max(f.explains for f in grave) == pytest.approx(1, abs=1e-6)
    (merged,) = [
        f for f in rows["mujoco", "3.3.7", "native"].findings if (f.kind, f.where) == ("body.fused", "panda_hand")
    ]
    assert merged.found == "part of 'panda_link7'"
    assert set(result.versions) == {"tautology", "python", "numpy", "mujoco==3.3.7", "mujoco==4.0.0", "pinocchio"}


@pytest.mark.slow
@pytest.mark.usefixtures("_index")
def test_bisect_lists_the_versions_in_which_the_panda_changed():
    """Com and turns lost, turns back, com back; and all tensors in full since 3.14."""
    request = Request(path="native", states=8, tolerance=1e-6, in_process=False)
    found = bisect(PANDA, "mujoco", "3.1.1", "4.0.0", request)
    assert [change.after for change in found.changes] == ["3.3.3", "3.6.0", "3.11.0"]
    com_lost, _, com_back = found.changes
    assert not com_lost.findings_before
    assert {f.kind for f in com_lost.findings_after} == {"com", "inertia.rotation"}
    assert com_back.findings_after == ()
    request = Request(path="native", states=8, in_process=False)
    (full,) = bisect(PANDA, "mujoco", "3.11.0", "4.0.0", request).changes
    assert (full.before, full.after) == ("3.13.0", "3.14.0")
    assert {f.kind for f in full.findings_before} == {"inertia.rotation"}
    assert 1e-9 < full.moved[0].relative < 1e-7


OLDER = ["mujoco==2.3.7", "mujoco==3.1.1", "mujoco==3.2.0", "mujoco==3.3.2", "mujoco==3.4.0", "mujoco==3.10.0"]
OLDER += ["pinocchio==2.7.0", "pinocchio==3.3.1", "pinocchio==3.9.0", "pinocchio==4.0.0"]


@pytest.mark.slow
@pytest.mark.usefixtures("_index")
def test_older_versions_answer_on_the_neutral_path_as_the_reference_does():
    """Every joint kind, free bases, armature and tendons."""
    for tree in TREES[:3]:
        result = check(tree, engines=OLDER, path="neutral", states=6, in_process=False)
        assert {(r.engine, r.version): r.status for r in result.models[0].engines if r.status != "agree"} == {}
        assert len(result.models[0].engines) == len(OLDER) + 1


@pytest.mark.slow
@pytest.mark.usefixtures("_index")
def test_older_versions_read_a_free_base_and_mjcf():
    """A verdict for each, nothing unexplained, nothing crashed; an attribute may be newer than a version."""
    wanted = {"engines": OLDER, "path": "native", "states": 6, "in_process": False, "tolerance": 1e-6}
    for file, base in ((EXAMPLE_ROBOTS["solo_description/solo12"], "free"), (MODELS / "tau_walker.xml", "auto")):
        for r in check(str(file), base=base, **wanted).models[0].engines:
            kinds = {f.kind for f in r.findings}
            assert r.status in ("agree", "differs", "unsupported") or "refused.unsupported" in kinds, r.message
            assert "unexplained" not in kinds


@pytest.mark.slow
@pytest.mark.usefixtures("_index")
def test_a_version_that_does_not_exist_is_absent():
    """In the words of the loader, beside an engine that answers."""
    engines = (
        check(PANDA, engines=["mujoco==9.9.9", "pinocchio"], path="native", states=4, in_process=False)
        .models[0]
        .engines
    )
    (absent,) = [r for r in engines if r.engine == "mujoco"]
    assert (absent.status, absent.version) == ("absent", "9.9.9")
    assert "mujoco==9.9.9 cannot be had" in absent.message
    assert [r.status for r in engines if r.engine == "pinocchio"] == ["agree"]
