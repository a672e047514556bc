"""The term ledger: what MuJoCo's calls add to the canonical effort, in closed form, and its part in the diagnosis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tautology.adapters.mujoco_ import ENGINE
from tautology.adapters.reference import Reference
from tautology.harness.diagnosis.ledger import Booked, entries
from tautology.harness.load import open_model
from tautology.harness.request import Request
from tautology.harness.run import check, check_files
from tautology.harness.states import sample

if TYPE_CHECKING:
    from pathlib import Path

STEP = 0.003
ARM = """<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.003" {option}/>
  <worldbody>
    <body name="upper" pos=".1 .2 .3" quat=".9 .2 -.1 .3">
      <joint name="lift" axis="0 .6 .8" damping="1.7" stiffness="5" springref=".3" armature=".2"/>
      <inertial pos=".05 .02 .1" mass="2" fullinertia=".01 .012 .015 .001 -.002 .0005"/>
      <body name="lower" pos=".02 -.06 .3" quat=".8 -.3 .4 .3" gravcomp=".6">
        <joint name="rail" type="slide" axis=".6 0 .8" damping=".4" frictionloss=".7" {joint}/>
        <inertial pos="-.03 .04 .1" mass=".9" fullinertia=".006 .0079 .0098 .0006 -.0004 .0008"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""
FREE = """<mujoco>
  <worldbody>
    <body name="drone" pos=".1 .2 .3" quat=".9 .2 -.1 .3">
      <joint name="root" type="free" armature=".4"/>
      <inertial pos=".05 .02 .1" mass="{mass}" diaginertia=".01 .012 .015"/>
    </body>
  </worldbody>
</mujoco>"""


def opened(folder: Path, text: str):
    """Return the tree, MuJoCo's session on the file, and states of it."""
    path = folder / "model.xml"
    path.write_text(text, encoding="utf-8")
    model = open_model(path)
    return model.tree, ENGINE.native(model.given, model.tree), sample(model.tree, 20, seed=3)


def test_every_force_is_told_apart_in_closed_form(tmp_path: Path) -> None:
    """D v, k (q - rest), c sign(v), the weight that is carried, and h D a for the discrete step."""
    tree, session, s = opened(tmp_path, ARM.format(option="", joint=""))
    told = session.ledger(s.q, s.v, s.a)
    calls = told["mj_inverse"]
    np.testing.assert_allclose(calls["damping"], s.v * [1.7, 0.4], rtol=0, atol=1e-12)
    np.testing.assert_allclose(calls["spring"], (s.q - [0.3, 0]) * [5, 0], rtol=0, atol=1e-12)
    moving = np.abs(s.v[:, 1]) > 1
    np.testing.assert_allclose(calls["frictionloss"][moving, 1], 0.7 * np.sign(s.v[moving, 1]), rtol=0, atol=1e-9)
    carried = Reference(tree).generalized_forces(s.q, weights(tree, s.q, "lower", 0.6))
    np.testing.assert_allclose(calls["gravcomp"], -carried, rtol=0, atol=1e-12)
    assert set(calls) == {"damping", "spring", "frictionloss", "gravcomp"}
    step = told["mj_inverse, invdiscrete"]["integrator"][moving]  # a slow slide may come to rest within the step
    np.testing.assert_allclose(step, STEP * s.a[moving] * [1.7, 0.4], rtol=0, atol=1e-10)
    np.testing.assert_allclose(told["mj_rne"]["armature"], -s.a * [0.2, 0], rtol=0, atol=1e-12)
    assert told["tau"] == {}


def weights(tree, q: np.ndarray, name: str, share: float) -> np.ndarray:
    """Return the wrenches (N, nb, 6) that carry a share of the weight of one body."""
    i = tree.index[name]
    R, body = Reference(tree).poses(q)[:, i - 1, :3, :3], tree.bodies[i].inertia
    force = -share * body.mass * (R.swapaxes(1, 2) @ tree.gravity)
    out = np.zeros((len(q), len(tree.bodies), 6))
    out[:, i] = np.concatenate([np.cross(body.com, force), force], axis=1)
    return out


@pytest.mark.parametrize("integrator", ["Euler", "implicit", "implicitfast", "RK4", "discrete"])
def test_the_terms_sum_to_the_call(tmp_path: Path, integrator: str) -> None:
    """Tau and all terms give what mj_inverse returns, limits and fluid included, for every integrator."""
    import mujoco  # noqa: PLC0415  to be asked without the adapter

    option = f'integrator="{integrator}" density="30" viscosity=".4"'
    tree, session, s = opened(tmp_path, ARM.format(option=option, joint='range="-.01 .01"'))
    q = s.q + np.array([0, 0.2])  # beyond the limit
    told = session.ledger(q, s.v, s.a)["mj_inverse"]
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    data = mujoco.MjData(model)
    whole = np.zeros_like(s.v)
    for i in range(len(s)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[i], s.v[i], s.a[i]
        mujoco.mj_inverse(model, data)
        whole[i] = data.qfrc_inverse
    tau = Reference(tree).inverse_dynamics(q, s.v, s.a)
    assert {"fluid", "constraint"} <= set(told)
    assert ("integrator" in told) == (integrator == "discrete")
    np.testing.assert_allclose(tau + sum(told.values()), whole, rtol=1e-12, atol=1e-9)


def test_the_flags_of_the_file_hold_in_the_ledger_and_not_in_the_answers(tmp_path: Path) -> None:
    """With springs switched off there is none in mj_inverse; asking changes no answer."""
    flag = '><flag spring="disable"/></option>\n  <worldbody>'
    text = ARM.format(option="", joint="").replace("/>\n  <worldbody>", flag)
    _, session, s = opened(tmp_path, text)
    before = session.inverse_dynamics(s.q, s.v, s.a)
    assert "spring" not in session.ledger(s.q, s.v, s.a)["mj_inverse"]
    np.testing.assert_array_equal(session.inverse_dynamics(s.q, s.v, s.a), before)


def test_terms_of_other_calls_are_conventions_at_their_elements(tmp_path: Path) -> None:
    """Joint by joint, gravity compensation at its body, each with its line; the robot agrees."""
    path = tmp_path / "model.xml"
    path.write_text(ARM.format(option="", joint=""), encoding="utf-8")
    row = check(path, engines=["mujoco"], path="native", states=12).models[0].engines[-1]
    assert row.status == "agree"
    found = {(f.kind, f.where, f.line, f.severity) for f in row.findings}
    assert found >= {
        ("damping", "lift", 6, "convention"),
        ("damping", "rail", 9, "convention"),
        ("spring", "lift", 6, "convention"),
        ("frictionloss", "rail", 9, "convention"),
        ("gravcomp", "lower", 8, "convention"),
        ("integrator", "lift", 6, "convention"),
        ("armature", "lift", 6, "convention"),
    }


def test_a_term_in_the_compared_answer_is_taken_out_before_anything_is_unexplained(tmp_path: Path) -> None:
    """MuJoCo's armature on a free joint makes tau differ, and explains all of it."""
    path = tmp_path / "model.xml"
    path.write_text(FREE.format(mass=2), encoding="utf-8")
    row = check(path, engines=["mujoco"], path="native", states=12).models[0].engines[-1]
    assert row.status == "differs"
    told = {f.kind: f for f in row.findings if f.severity == "model"}
    assert set(told) == {"armature"}
    assert told["armature"].explains == pytest.approx(1, abs=1e-12)


def test_a_finding_hides_no_residual_that_is_not_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With another error beside the armature, what is left after it is named as unexplained."""
    from tautology.adapters.mujoco_ import MujocoSession  # noqa: PLC0415  patched here

    right = MujocoSession.inverse_dynamics
    monkeypatch.setattr(MujocoSession, "inverse_dynamics", lambda *x, **y: right(*x, **y) + 1e-3)
    path = tmp_path / "model.xml"
    path.write_text(FREE.format(mass=2), encoding="utf-8")
    result = check_files([str(path)], Request(engines=["mujoco"], path="native", states=12))
    assert {"armature", "unexplained"} <= {f.kind for r in result.models[0].engines for f in r.findings}


def test_a_session_without_ledger_has_no_entries(tmp_path: Path) -> None:
    """The reference keeps none."""
    tree, session, states = opened(tmp_path, FREE.format(mass=2))
    assert isinstance(session, Booked)
    assert entries(Reference(tree), states) == {}
