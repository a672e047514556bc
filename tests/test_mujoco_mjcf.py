"""MuJoCo reads MJCF and live models: bodies in series, fusing, tendons, armature, flags; inputs stay as they are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import mujoco
import numpy as np
import pytest
from against_reference import assert_agrees

import tautology
from tautology.adapters.mujoco_ import ENGINE
from tautology.adapters.reference import Reference
from tautology.harness.errors import EngineUnsupported
from tautology.harness.load import open_model
from tautology.harness.states import sample

if TYPE_CHECKING:
    from pathlib import Path


def native(model):
    """Return MuJoCo's own reading of an opened model."""
    return ENGINE.native(model.given, model.tree)


def read_mjcf(folder: Path, text: str, base: str = "auto"):
    """Open an MJCF."""
    path = folder / "robot.xml"
    path.write_text(text)
    return open_model(path, base)


MJCF = """<mujoco>
  <compiler fusestatic="{fuse}" settotalmass="{mass}"/>
  <option gravity="1 2 -3" integrator="implicit"><flag energy="enable" gravity="{gravity}"/></option>
  <worldbody>
    <body mocap="true"><inertial pos="0 0 1" mass="3" diaginertia="1 1 1"/></body>
    <body name="stand" pos="0 0 .3" euler="10 20 30">
      <inertial pos="0 0 1" mass="3" diaginertia="1 1 1"/>
      <body pos="0 .1 .2">
        <joint axis="1 2 3" ref="20" armature=".2"/>
        <joint type="slide" axis="0 1 1" pos=".1 .2 .3" ref=".3"/>
        <joint type="ball" pos="-.1 .2 0" armature=".1"/>
        <inertial pos="0.1 0.2 0.3" mass="2" fullinertia="0.1 0.2 0.25 .01 .02 .03"/>
        <body name="leg" pos="0.1 0 0" euler="10 20 30">
          <inertial pos="0.1 0.2 -0.3" mass="1" diaginertia="0.1 0.2 0.25"/>
          <body name="toe">
            <joint name="tip" axis="0.6 0 0.8" pos="0.1 0.2 0.3" damping="3" stiffness="4" frictionloss="5"/>
            <inertial pos="0.1 0.2 -0.3" mass="1" diaginertia="0.1 0.2 0.25"/>
          </body>
        </body>
      </body>
    </body>
    <body name="drone" pos="1 2 3" euler="30 20 10">
      <freejoint/>
      <inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.12 0.15"/>
    </body>
  </worldbody>
  <actuator><motor joint="tip" gear="3" armature=".05"/></actuator>
</mujoco>
"""


@pytest.mark.parametrize("fuse", ["true", "false"])
@pytest.mark.parametrize("gravity", ["enable", "disable"])
def test_mjcf_is_matched_by_body_and_order(tmp_path: Path, fuse: str, gravity: str) -> None:
    """Unnamed bodies and joints, joints in series, `ref`, mocap, fused bodies, flags and passive forces."""
    model = read_mjcf(tmp_path, MJCF.format(fuse=fuse, gravity=gravity, mass=-1))
    session = native(model)
    assert session.dofs == model.tree.dofs
    assert session.extra_dofs == ()
    assert ("leg" in session.bodies) == (fuse == "false")
    assert_agrees(session, model.tree)
    assert_agrees(ENGINE.neutral(model.tree), model.tree)
    assert {f.severity for f in session.findings} == {"convention"}
    armatures = {f.where: f.expected for f in session.findings if f.kind == "armature"}
    assert armatures["tip"] == pytest.approx(0.45)


def test_what_mujoco_warns_of_stands_in_the_notes(tmp_path: Path, monkeypatch, capfd) -> None:
    """A deprecated switch, warned of by Python's `warnings`, and nothing on the console or in a log file."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    session = native(read_mjcf(tmp_path, MJCF.format(fuse="false", gravity="enable", mass=10)))
    assert any("settotalmass" in note for note in session.notes)
    assert session.total_mass == pytest.approx(10)
    assert os.listdir(folder) == []  # noqa: PTH208
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("compiled", [False, True], ids=["MjSpec", "MjModel"])
def test_a_live_model_is_copied(*, compiled: bool) -> None:
    """What a session does, and what is done to the user's model later, does not meet."""
    live = mujoco.MjSpec.from_string(MJCF.format(fuse="false", gravity="disable", mass=-1))
    live = live.compile() if compiled else live
    model = open_model(live)
    session = native(model)
    assert_agrees(session, model.tree)
    option = live.opt if compiled else live.option
    assert option.integrator == mujoco.mjtIntegrator.mjINT_IMPLICIT
    assert option.disableflags == mujoco.mjtDisableBit.mjDSBL_GRAVITY
    option.disableflags, option.gravity = 0, np.ones(3)
    s = sample(model.tree, 2, 0)
    np.testing.assert_array_equal(session.gravity_forces(s.q), np.zeros((2, model.tree.nv)))


def test_the_base_of_a_spec_can_be_freed_and_that_of_a_compiled_model_not() -> None:
    """A free joint is put on a copy of the spec; a compiled model is what it is."""
    text = '<mujoco><worldbody><body pos="1 2 3" euler="10 20 30"><inertial pos=".1 .2 .3" mass="2" '
    text += 'diaginertia="1 2 2.5"/><body><joint/><geom size=".1"/></body></body></worldbody></mujoco>'
    spec = mujoco.MjSpec.from_string(text)
    free = open_model(spec, "free")
    session = native(free)
    assert session.dofs == free.tree.dofs
    assert len(session.dofs) == 7
    assert_agrees(session, free.tree)
    assert len(spec.joints) == 1
    with pytest.raises(EngineUnsupported, match="hand over the MjSpec"):
        native(open_model(spec.compile(), "free"))


TENDON = """<mujoco>
  <worldbody>
    <body><joint name="a" axis="0 1 0"/><geom size=".1" pos=".1 .2 .3"/><site name="s"/>
      <body><joint name="b" axis="1 1 0"/><geom size=".1" pos=".1 .2 .3"/><site name="t" pos="1 2 3"/></body>
      <body><joint name="c" type="slide" axis="1 1 0"/><geom size=".1" pos=".1 .2 .3"/></body>
    </body>
  </worldbody>
  <tendon>{}</tendon>
</mujoco>"""


def told(session) -> list:
    """Return the findings, but for how MuJoCo takes wrenches, which is said of every robot."""
    return [f for f in session.findings if f.kind != "wrench.frame"]


def test_a_tendon_along_one_branch_agrees(tmp_path: Path) -> None:
    """MuJoCo's own `mj_makeM` is the reference's armature c c^T there."""
    fixed = '<fixed name="belt" armature=".5"><joint joint="a" coef="2"/><joint joint="b" coef="-3"/></fixed>'
    model = read_mjcf(tmp_path, TENDON.format(fixed))
    session = native(model)
    assert [(f.kind, f.where, f.severity) for f in told(session)] == [("armature.tendon", "belt", "convention")]
    assert_agrees(session, model.tree)


def test_a_tendon_across_branches_loses_its_coupling_and_is_named(tmp_path: Path) -> None:
    """MuJoCo's sparse M has no entry for joints on different branches: it drops that term, in silence."""
    fixed = '<fixed name="belt" armature=".5"><joint joint="b" coef="2"/><joint joint="c" coef="-3"/></fixed>'
    model = read_mjcf(tmp_path, TENDON.format(fixed))
    session, q = native(model), np.zeros((1, 3))
    (lack,) = told(session)
    assert (lack.kind, lack.where, lack.severity, lack.line) == ("armature.tendon", "belt", "model", 8)
    lost = Reference(model.tree).mass_matrix(q) - session.mass_matrix(q)
    np.testing.assert_allclose(lost, [[[0, 0, 0], [0, 0, -3], [0, -3, 0]]], rtol=0, atol=1e-12)
    assert_agrees(ENGINE.neutral(model.tree), model.tree)


def test_what_is_left_of_a_tendon_across_branches_explains_all(tmp_path: Path) -> None:
    """Put into our tree, the inertia that MuJoCo counts leaves nothing unexplained: three joints, one coupling lost."""
    joints = "".join(f'<joint joint="{name}" coef="{c}"/>' for name, c in (("a", 2), ("b", -3), ("c", 1)))
    path = tmp_path / "robot.xml"
    path.write_text(TENDON.format(f'<fixed name="belt" armature=".5">{joints}</fixed>'), encoding="utf-8")
    result = tautology.check(path, engines=["mujoco"], states=8)
    (native_path,) = [e for e in result.models[0].engines if (e.engine, e.path) == ("mujoco", "native")]
    (told,) = [f for f in native_path.findings if f.severity == "model"]
    assert (told.kind, told.where, told.expected) == ("armature.tendon", "belt", "-1.5 between b and c")
    assert told.found == "0 between b and c"
    assert told.explains == pytest.approx(1, abs=1e-12)
    reader = native(open_model(path))
    q = np.zeros((1, 3))
    np.testing.assert_allclose(Reference(reader.describe()).mass_matrix(q), reader.mass_matrix(q), rtol=0, atol=1e-13)


def test_the_inertia_of_a_spatial_tendon_is_left_out_and_named(tmp_path: Path) -> None:
    """It changes with q, and no tree holds it; MuJoCo has it in M, which the finding says."""
    wire = '<spatial name="wire" armature="{}"><site site="s"/><site site="t"/></spatial>'
    model = read_mjcf(tmp_path, TENDON.format(wire.format(5)))
    session = native(model)
    assert [(f.kind, f.where, f.severity, f.found) for f in told(session)] == [("armature.tendon", "wire", "model", 5)]
    assert_agrees(session, model.tree)
    assert told(native(read_mjcf(tmp_path, TENDON.format(wire.format(0))))) == []


def test_armature_on_a_free_joint_is_another_robot_natively(tmp_path: Path) -> None:
    """MuJoCo multiplies its own, ordinary acceleration: tau is off by armature times omega x v, in base axes."""
    text = '<mujoco><worldbody><body name="drone"><joint name="root" type="free" armature=".4"/>'
    text += '<inertial pos=".1 .2 .3" mass="2" diaginertia="1 2 2.5"/></body></worldbody></mujoco>'
    model = read_mjcf(tmp_path, text)
    session, s = native(model), sample(model.tree, 6, 0)
    told = {f.kind: (f.where, f.severity) for f in session.findings}
    assert told["armature"] == ("root", "model")
    error = session.inverse_dynamics(s.q, s.v, s.a) - Reference(model.tree).inverse_dynamics(s.q, s.v, s.a)
    swept = 0.4 * np.cross(s.v[:, 3:], s.v[:, :3])
    np.testing.assert_allclose(error, np.pad(swept, ((0, 0), (0, 3))), rtol=0, atol=1e-11)
    assert np.abs(swept).max() > 1
    back = session.forward_dynamics(s.q, s.v, session.inverse_dynamics(s.q, s.v, s.a))
    np.testing.assert_allclose(back, s.a, rtol=0, atol=1e-11)
    assert_agrees(ENGINE.neutral(model.tree), model.tree)
