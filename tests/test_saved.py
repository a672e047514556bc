"""A result and its side file of arrays: read back as they were, told apart from anything else, adding up to efforts."""

from __future__ import annotations

import json
from pathlib import Path

import mujoco
import numpy as np
import pytest
import sample_results as samples
from engines_at_hand import CORE

import tautology
from tautology.adapters.reference import Reference
from tautology.harness.arrays import terms
from tautology.harness.errors import ReadError
from tautology.harness.load import load
from tautology.harness.request import Request
from tautology.harness.run import check_files
from tautology.harness.saved import Saved, files_of
from tautology.harness.states import sample

ARM = Path(tautology.__file__).parent / "models" / "tau_arm.urdf"
SPRINGS = """
<mujoco model="springs">
  <option gravity="0 0.5 -9.81"/>
  <worldbody>
    <body name="a" pos="0 0 1" gravcomp="0.3">
      <joint name="hinge" axis="0 1 0" damping="0.7" stiffness="3" springref="20"/>
      <inertial pos="0.1 0.05 -0.2" mass="2" diaginertia="0.1 0.2 0.15"/>
      <body name="b" pos="0.2 0 0" gravcomp="1">
        <joint name="ball" type="ball" stiffness="2" damping="0.2"/>
        <inertial pos="0 0.1 0.1" mass="1.5" diaginertia="0.05 0.06 0.07"/>
        <body name="c" pos="0 0 0.3">
          <joint name="slide" type="slide" axis="1 0 0" stiffness="40" damping="1.5"/>
          <inertial pos="0 0 0" mass="0.5" diaginertia="0.01 0.01 0.01"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def result():
    """The bundled arm in Pinocchio and MuJoCo, with arrays."""
    return check_files([str(ARM)], Request(engines=CORE, states=12, arrays=True))


def written(result, folder: Path) -> Path:
    """Write document and arrays; return the document."""
    text, arrays = files_of(result, "r.arrays.npz")
    (folder / "r.json").write_text(text, encoding="utf-8")
    (folder / "r.arrays.npz").write_bytes(arrays)
    return folder / "r.json"


def same(a: Saved, b: Saved) -> bool:
    """Return whether two results say the same."""
    assert a.arrays is not None
    assert b.arrays is not None
    return a.document == b.document and all(np.array_equal(a.arrays[key], b.arrays[key]) for key in a.arrays | b.arrays)


def test_a_result_is_read_as_it_was(result, tmp_path):
    """What is made at once and what is made later come from the same numbers, and the same bytes are written twice."""
    at_once = Saved.of(result)
    assert same(Saved.read(written(result, tmp_path)), at_once)
    assert files_of(result, "x.npz") == files_of(result, "x.npz")
    assert "arrays" not in at_once.document


def test_arrays_belong_to_rows_of_the_document(result):
    """The worst error and the least digits of every row are those of its arrays."""
    saved = Saved.of(result)
    (model,) = saved.document["models"]
    for k, engine in enumerate(model["engines"]):
        for row in engine["quantities"]:
            digits = saved.arrays.get(f"m0/e{k}/digits/{row['quantity']}")
            assert (digits is not None) == row["applies"]
            if digits is not None:
                assert (len(digits), digits.min()) == (12, row["digits"])
            if row["applies"] and row["quantity"] in ("tau", "bias", "gravity"):
                error = saved.arrays[f"m0/e{k}/error/{row['quantity']}"]
                assert error.shape == (12, len(engine["dofs"]))
                assert row["error"] in error[row["state"]]
        assert saved.arrays[f"m0/e{k}/mass_matrix_error"].shape == (model["nv"], model["nv"])
    assert saved.arrays["m0/scale/tau"].shape == (12, model["nv"])


def test_terms_add_up_to_the_effort(result):
    """Gravity, velocity, inertia, armature and wrenches are all that the canonical effort holds."""
    arrays = Saved.of(result).arrays
    assert arrays is not None
    names = ("gravity", "velocity", "inertia", "armature", "wrenches")
    total = sum(arrays[f"m0/terms/{name}"] for name in names)
    np.testing.assert_allclose(total, arrays["m0/tau"], rtol=0, atol=1e-12)
    assert all(np.abs(arrays[f"m0/terms/{name}"]).max() > 1e-3 for name in ("gravity", "velocity", "inertia"))


def test_passive_efforts_are_those_of_mujoco(tmp_path):
    """Springs of hinge, ball and slide, damping and gravity compensation, against MuJoCo's passive forces."""
    file = tmp_path / "springs.xml"
    file.write_text(SPRINGS)
    tree = load(str(file))
    states = sample(tree, 20)
    ours = terms(Reference(tree), tree, states)["passive"]
    model = mujoco.MjModel.from_xml_string(SPRINGS)
    data = mujoco.MjData(model)
    for i in range(len(states)):
        data.qpos[:], data.qvel[:] = states.q[i], states.v[i]
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(ours[i], -data.qfrc_passive, rtol=0, atol=1e-9)


def test_without_arrays_a_result_is_read_all_the_same(tmp_path):
    """A document whose side file is gone, or that never had one, is still a result."""
    plain = samples.result(samples.agreeing())
    assert Saved.of(plain).arrays is None
    assert files_of(plain, "x")[1] == b""
    result = check_files([str(ARM)], Request(engines=CORE, states=3, arrays=True))
    path = written(result, tmp_path)
    (tmp_path / "r.arrays.npz").unlink()
    saved = Saved.read(path)
    assert saved.arrays is None
    assert saved.document == Saved.of(result).document


def test_arrays_of_another_result_are_refused(result, tmp_path):
    """A side file that was exchanged would be drawn beside numbers that it does not belong to."""
    path = written(result, tmp_path)
    (tmp_path / "r.arrays.npz").write_bytes(b"something else")
    with pytest.raises(ReadError, match="arrays of another result"):
        Saved.read(path)


def test_a_side_file_is_looked_for_beside_its_document_only(result, tmp_path):
    """A document cannot name a file elsewhere on the machine."""
    path = written(result, tmp_path)
    document = json.loads(path.read_text())
    document["arrays"]["file"] = "../../r.arrays.npz"
    path.write_text(json.dumps(document))
    assert Saved.read(path).arrays is not None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON"),
        ("{", "no JSON"),
        ("[1, 2]", "no result of tautology"),
        ('{"schema": "tautology/2", "command": "check"}', "no result of tautology"),
        ('{"schema": "tautology/1", "command": "freeze"}', "is a result of 'freeze'"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_what_is_no_result_is_refused_in_a_sentence(text, words, tmp_path):
    """Whatever somebody hands to `report` ends in one message that names the file."""
    file = tmp_path / "r.json"
    file.write_text(text)
    with pytest.raises(ReadError, match=words) as caught:
        Saved.read(file)
    assert str(file) in str(caught.value)


def test_a_missing_result_is_refused(tmp_path):
    """The message says which file."""
    with pytest.raises(ReadError, match=r"nothing\.json: cannot be read"):
        Saved.read(tmp_path / "nothing.json")


def test_trees_say_what_was_merged(result):
    """What an engine holds stands beside what the file says, and names the body that holds each merged one."""
    tree = Saved.of(result).document["models"][0]["tree"]
    ours, held = tree["file"], tree["engines"]["mujoco native"]
    assert held["merged"]["tool"] == "hand"
    assert {b["name"] for b in held["bodies"]}.isdisjoint(held["merged"])
    hand = next(b for b in ours["bodies"] if b["name"] == "hand")
    composite = next(b for b in held["bodies"] if b["name"] == "hand")
    assert composite["mass"] > hand["mass"] > 0
    assert hand["line"] > 0
    waist = next(j for j in ours["joints"] if j["name"] == "waist")
    assert (waist["kind"], waist["dofs"], waist["child"]) == ("revolute", ["waist"], ours["bodies"][1]["name"])
