"""Pinocchio on the native path: files through its own importers, matched by name; its words when it refuses."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from against_reference import assert_agrees, drawn

from tautology.adapters.pinocchio_ import ENGINE, PinocchioSession, tree_of
from tautology.adapters.reference import Reference
from tautology.harness.engine import Given
from tautology.harness.errors import EngineRefused, EngineUnsupported, ReadError
from tautology.harness.load import open_model
from tautology.harness.run import check
from tautology.harness.states import sample
from tautology.harness.tree import JointKind


def robots() -> list[Path]:
    """Return URDF files of example-robot-data: arms, wheels, legs, singular M, indefinite tensors, massless links."""
    wanted = ("ur5_robot", "panda", "anymal", "talos_reduced", "tiago", "romeo", "bolt")
    files = metadata.files("example-robot-data") or []
    return [Path(str(file.locate())) for file in files if file.suffix == ".urdf" and file.stem in wanted]


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("path", robots(), ids=lambda path: path.stem)
def test_real_robots_agree_on_both_paths(path: Path, base: str) -> None:
    """What Pinocchio reads from the file, and what is built from the tree, are the robot of the reference."""
    opened = open_model(path, base)
    for session in (ENGINE.native(opened.given, opened.tree), ENGINE.neutral(opened.tree)):
        assert set(session.dofs) == set(opened.tree.dofs)
        assert session.extra_dofs == ()
        assert len(session.bodies) == len(opened.tree.bodies) - 1
        assert session.total_mass == pytest.approx(opened.tree.total_mass)
        assert_agrees(session, opened.tree, 3)
    assert robots()


LINK = (
    '<link name="{}"><inertial><mass value="{}"/><origin xyz=".1 -.2 .3" rpy=".1 .2 .3"/>'
    '<inertia ixx="1" iyy="2" izz="2.5" ixy=".1" ixz="0" iyz="0"/></inertial></link>\n'
)
JOINT = (
    '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>'
    '<origin xyz=".1 .2 .3" rpy=".3 .2 .1"/>{}</joint>\n'
)
LIMITS = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def written(folder: Path, *elements: str) -> Path:
    """Write a URDF, an element a line behind the first, into a path with a blank and a letter beyond ASCII."""
    path = folder / "ein bär.urdf"
    path.write_text('<robot name="bear">\n' + "".join(elements) + "</robot>\n", encoding="utf-8")
    return path


def test_native_order_and_coordinates_are_mapped_by_name_and_told(tmp_path: Path) -> None:
    """Siblings sorted by Pinocchio, a wheel as cosine and sine, a welded hand and a base in the ground are findings."""
    path = written(
        tmp_path,
        LINK.format("base", 3),
        LINK.format("left", 1),
        LINK.format("wheel", 2),
        LINK.format("hand", 0.5),
        JOINT.format("zz", "revolute", "base", "left", LIMITS),
        JOINT.format("aa", "continuous", "base", "wheel", '<axis xyz="1 2 3"/>'),
        JOINT.format("weld", "fixed", "left", "hand", ""),
    )
    opened = open_model(path)
    session = ENGINE.native(opened.given, opened.tree)
    assert session.dofs == opened.tree.dofs == ("zz", "aa")
    assert_agrees(session, opened.tree)
    told = {f.kind: f for f in session.findings}
    assert {kind: (f.where, f.line) for kind, f in told.items()} == {
        "joint.order": ("base", 2),
        "joint.coordinates": ("aa", 7),
        "body.root_fused": ("base", 2),
        "body.fused": ("hand", 8),
        "wrench.frame": ("left", 3),
        "wrench.sign": ("left", 3),
    }
    assert {f.severity for f in session.findings} == {"convention"}
    assert (told["joint.order"].expected, told["joint.order"].found) == (["zz", "aa"], ["aa", "zz"])
    assert {f.file for f in session.findings} == {str(path)}


@pytest.mark.parametrize(("axis", "kinds"), [("0 0 1", set()), ("0 .6 .8", {"joint.axis"})])
def test_the_normal_of_a_planar_joint_is_ignored_and_that_is_told(tmp_path: Path, axis: str, kinds: set[str]) -> None:
    """Pinocchio's plane is always xy of the joint: the same robot where the normal is z, another one else."""
    joint = JOINT.format("glide", "planar", "base", "puck", f'<axis xyz="{axis}"/>')
    opened = open_model(written(tmp_path, LINK.format("base", 3), LINK.format("puck", 1), joint))
    session = ENGINE.native(opened.given, opened.tree)
    told = {(f.kind, f.severity, f.where, f.line) for f in session.findings}
    assert {entry for entry in told if entry[1] == "model"} == {(kind, "model", "glide", 4) for kind in kinds}
    assert ("joint.coordinates", "convention", "glide", 4) in told
    if not kinds:
        assert_agrees(session, opened.tree)


@pytest.mark.parametrize("name", ["turn", "root_joint"])
def test_a_freed_base_is_found_by_its_link(tmp_path: Path, name: str) -> None:
    """Pinocchio calls its own joint `root_joint`; beside a second one of that name it reads another robot."""
    joint = JOINT.format(name, "continuous", "base", "arm", "")
    opened = open_model(written(tmp_path, LINK.format("base", 3), LINK.format("arm", 1), joint), "free")
    session = ENGINE.native(opened.given, opened.tree)
    assert session.dofs == opened.tree.dofs
    assert "base.quaternion_order" in {f.kind for f in session.findings}
    if name == "turn":
        assert_agrees(session, opened.tree)
    else:
        q = opened.tree.neutral[None]
        assert np.abs(session.mass_matrix(q) - Reference(opened.tree).mass_matrix(q)).max() > 0.1


def test_what_pinocchio_says_goes_into_the_notes_not_to_the_console(tmp_path: Path, capfd) -> None:
    """An odd inertial is reported on the C++ error stream, which is caught and put back."""
    odd = '<link name="arm"><inertial><mass value="1"/></inertial></link>\n'
    joint = JOINT.format("j", "continuous", "base", "arm", "")
    opened = open_model(written(tmp_path, LINK.format("base", 3), odd, joint))
    session = ENGINE.native(opened.given, opened.tree)
    assert capfd.readouterr() == ("", "")
    assert "Pinocchio said: Could not parse inertial element for Link [arm]" in session.notes
    os.write(2, b"still open\n")
    assert capfd.readouterr().err == "still open\n"


@pytest.mark.parametrize(
    ("kind", "finding", "words"),
    [
        ("revolute", "refused.malformed", "it does not specify limits"),
        ("spherical", "refused.unsupported", r"no known type \[spherical\]"),
    ],
    ids=["no limit", "spherical"],
)
def test_refusal_has_the_engines_reason_and_place(tmp_path: Path, capfd, kind: str, finding: str, words: str) -> None:
    """The reason that Pinocchio leaves on the error stream is in the message, with the joint that it names."""
    joint = JOINT.format("j", kind, "base", "arm", "")
    opened = open_model(written(tmp_path, LINK.format("base", 3), LINK.format("arm", 1), joint))
    with pytest.raises(EngineRefused, match=words) as refusal:
        ENGINE.native(opened.given, opened.tree)
    assert (refusal.value.kind, refusal.value.where, refusal.value.source.line) == (finding, "j", 4)
    assert capfd.readouterr() == ("", "")
    assert_agrees(ENGINE.neutral(opened.tree), opened.tree)


def test_a_joint_called_like_the_world_is_refused_before_it_ends_the_process(tmp_path: Path) -> None:
    """Pinocchio 4.1 aborts on such an MJCF; the neutral path and a URDF of that name are sound."""
    path = tmp_path / "robot.xml"
    path.write_text('<mujoco><worldbody><body>\n<joint name="universe"/><geom size="0.1"/></body></worldbody></mujoco>')
    opened = open_model(path)
    with pytest.raises(EngineRefused, match=r"joint 'universe' of .* give the joint another name") as caught:
        ENGINE.native(opened.given, opened.tree)
    assert (caught.value.where, caught.value.source.line) == ("universe", 2)
    assert_agrees(ENGINE.neutral(opened.tree), opened.tree)
    urdf = Path(__file__).parents[1] / "models" / "tau_arm.urdf"
    named = tmp_path / "robot.urdf"
    named.write_text(urdf.read_text().replace(f'"{open_model(urdf).tree.dofs[0]}"', '"universe"'))
    opened = open_model(named)
    assert_agrees(ENGINE.native(opened.given, opened.tree), opened.tree)


def test_refusal_is_told_at_what_ended_the_reading(tmp_path: Path) -> None:
    """The parser goes on after an odd inertial, and says so first; the joint behind it ends the reading."""
    odd = '<link name="arm"><inertial><mass value="1"/></inertial></link>\n'
    joint = JOINT.format("ball", "spherical", "base", "arm", "")
    opened = open_model(written(tmp_path, LINK.format("base", 3), odd, joint))
    with pytest.raises(EngineRefused, match=r"Link \[arm\].*Joint \[ball\]") as refusal:
        ENGINE.native(opened.given, opened.tree)
    assert (refusal.value.where, refusal.value.source.line) == ("ball", 4)


def test_other_formats_have_no_native_path() -> None:
    """A tree or a MuJoCo model is nothing that Pinocchio reads."""
    with pytest.raises(EngineUnsupported, match="no importer for tree"):
        ENGINE.native(Given("tree"), drawn(0))


def test_dofs_that_only_the_engine_has_are_held_at_rest(tmp_path: Path) -> None:
    """Against a tree in which the second joint is welded, the engine's second dof rests at zero and stays out of M."""
    path = written(
        tmp_path,
        *(LINK.format(name, 2) for name in ("base", "arm", "hand")),
        JOINT.format("a", "continuous", "base", "arm", ""),
        JOINT.format("b", "prismatic", "arm", "hand", LIMITS),
    )
    opened = open_model(path)
    bodies = list(opened.tree.bodies)
    welded = replace(bodies[3].joint, kind=JointKind.FIXED, damping=(), friction=(), armature=(), rotor=(), rest=None)
    bodies[3] = replace(bodies[3], joint=welded)
    tree = replace(opened.tree, bodies=tuple(bodies))
    session = ENGINE.native(opened.given, tree)
    assert (session.dofs, session.extra_dofs) == (("a",), ("b",))
    assert_agrees(session, tree)


MJCF = """<mujoco>
  <worldbody>
    <body name="trunk" pos="0 0 1">
      <freejoint/>
      <inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.1 0.2 0.25"/>
      <body name="leg" pos="0.1 0 0" euler="10 20 30">
        <joint axis="0.6 0 0.8" pos="0.1 0.2 0.3" armature="0.1"/>
        <joint type="slide" axis="0 1 0" pos="-0.1 0.1 0"/>
        <inertial pos="0.1 0.2 -0.3" mass="1" diaginertia="0.1 0.2 0.25"/>
        <body pos="0 0.2 0">
          <joint type="ball" pos="0 0.1 0"/>
          <inertial pos="0 0.2 0" mass="1.5" diaginertia="0.1 0.15 0.2"/>
          <body name="toe" pos="0 0 0.1">
            <joint axis="1 0 0" ref="20"/>
            <inertial pos="0 0.1 0.2" mass="0.5" diaginertia="0.1 0.15 0.2"/>
          </body>
        </body>
      </body>
    </body>
    <body name="other">
      <joint name="lost"/>
      <inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
    </body>
  </worldbody>
</mujoco>
"""


def test_mjcf_joints_are_matched_by_name_by_body_and_by_structure(tmp_path: Path) -> None:
    """Unnamed joints, a composite of two, an unnamed body; the second root is a dof that the engine lacks."""
    path = tmp_path / "walker.xml"
    path.write_text(MJCF)
    opened = open_model(path)
    tree = opened.tree
    session = ENGINE.native(opened.given, tree)
    assert set(tree.dofs) - set(session.dofs) == {"lost"}
    assert session.extra_dofs == ()
    s = sample(tree, 5, 0)
    wanted = Reference(tree)
    held = [tree.dofs.index(dof) for dof in session.dofs]
    for found, value in (
        (session.bias(s.q, s.v), wanted.bias(s.q, s.v)[:, held]),
        (session.mass_matrix(s.q), wanted.mass_matrix(s.q)[:, held][:, :, held]),
        (session.poses(s.q), wanted.poses(s.q)[:, [tree.index[body] - 1 for body in session.bodies]]),
    ):
        np.testing.assert_allclose(found, value, rtol=0, atol=1e-12)
    composite = [f for f in session.findings if f.found == ["Composite_legJoint_0"]]
    assert [(f.kind, f.line) for f in composite] == [("joint.coordinates", 7)]


NAMELESS = """<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body pos="0 0 1">
      <freejoint/>
      <inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.1 0.2 0.25"/>
      <body pos="0.1 0 0" euler="0.1 0.2 0.3">
        <joint axis="0.6 0 0.8" pos="0.1 0.2 0.3"/>
        <joint type="slide" axis="0 1 0"/>
        <inertial pos="0.1 0.2 -0.3" mass="1" diaginertia="0.1 0.2 0.25"/>
        <body pos="0 0.2 0">
          <joint type="ball" pos="0 0.1 0"/>
          <inertial pos="0 0.2 0" mass="1.5" diaginertia="0.1 0.15 0.2"/>
        </body>
      </body>
    </body>{}
  </worldbody>
</mujoco>
"""
SECOND_ROOT = '<body><joint/><inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body>'


def test_joints_without_any_name_are_matched_by_structure(tmp_path: Path) -> None:
    """A free body, a hinge with a slide in series and a ball: neither bodies nor joints have names."""
    path = tmp_path / "nameless.xml"
    path.write_text(NAMELESS.format(""))
    opened = open_model(path)
    session = ENGINE.native(opened.given, opened.tree)
    assert (session.dofs, session.extra_dofs) == (opened.tree.dofs, ())
    assert session.bodies == ("body1", "body2", "body3")
    assert_agrees(session, opened.tree)


def test_what_a_lost_base_carried_is_compared(tmp_path: Path) -> None:
    """Of a root without any attribute Pinocchio drops the free joint; what hangs below it is common all the same."""
    path = tmp_path / "nameless.xml"
    path.write_text(NAMELESS.format(SECOND_ROOT).replace(' pos="0 0 1"', ""))
    opened = open_model(path)
    findings = check(path, engines="pinocchio", path="native", states=8).models[0].engines[-1].findings
    session = ENGINE.native(opened.given, opened.tree)
    assert session.extra_dofs == ()
    assert {dof.partition(".")[0] for dof in session.dofs} == {"body2_hinge", "body2_slide", "body3_ball"}
    assert {f.kind for f in findings if f.where == "body1_free"} == {"base.fixed_or_free"}
    told = {f.kind for f in findings}
    assert "joint.missing" in told
    assert not told & {"joint.extra", "unexplained"}


def test_what_is_left_beside_lost_joints_is_no_matter_of_shapes(tmp_path: Path, monkeypatch) -> None:
    """An error of a call, told from the answers, while a second root is gone from the coordinates of the states."""
    path = tmp_path / "arm.xml"
    arm = '<body name="arm"><joint axis="0 1 0"/><inertial pos=".1 0 0" mass="2" diaginertia="1 1 1"/></body>'
    path.write_text(f"<mujoco><worldbody>{arm}{SECOND_ROOT}</worldbody></mujoco>")
    bias = PinocchioSession.bias
    monkeypatch.setattr(PinocchioSession, "bias", lambda *asked: 1.1 * bias(*asked))
    told = check(path, engines="pinocchio", path="native", states=8).models[0].engines[-1].findings
    assert [f.kind for f in told if "could not be compared" in f.fix] == []
    assert [f.where for f in told if f.kind == "joint.missing"] == ["body2_hinge"]
    assert [f.kind for f in told if f.explains and f.kind not in ("joint.missing", "body.missing")] != []


def test_a_wrench_on_a_body_that_the_engine_lacks_is_unsupported(tmp_path: Path) -> None:
    """It is refused with the name of the body, never left out; on the other bodies it acts."""
    path = tmp_path / "walker.xml"
    path.write_text(MJCF)
    opened = open_model(path)
    tree, session = opened.tree, ENGINE.native(opened.given, opened.tree)
    s, wrenches = sample(tree, 2, 0), np.zeros((2, len(tree.bodies), 6))
    wrenches[:, tree.index["toe"]] = 1
    moved = session.inverse_dynamics(s.q, s.v, s.a, wrenches) - session.inverse_dynamics(s.q, s.v, s.a)
    np.testing.assert_allclose(moved, -session.generalized_forces(s.q, wrenches), rtol=0, atol=1e-12)
    wrenches[:, tree.index["other"]] = 1
    with pytest.raises(EngineUnsupported, match="body 'other'"):
        session.inverse_dynamics(s.q, s.v, s.a, wrenches)


def test_a_mimicking_joint_of_a_live_model_is_refused_with_the_way_out(tmp_path: Path) -> None:
    """Pinocchio removes its dof, so that it is no joint of an open tree; `mimic=False` keeps it."""
    mimic = LIMITS + '<mimic joint="first" multiplier="-2" offset="0.1"/>'
    path = written(
        tmp_path,
        *(LINK.format(name, 2) for name in ("base", "arm", "hand")),
        JOINT.format("first", "revolute", "base", "arm", LIMITS),
        JOINT.format("second", "revolute", "arm", "hand", mimic),
    )
    with pytest.raises(ReadError, match=r"joint 'second' is a Mimic.*mimic=False"):
        tree_of(pin.buildModelFromUrdf(str(path), mimic=True))
    assert tree_of(pin.buildModelFromUrdf(str(path))).dofs == ("first", "second")
