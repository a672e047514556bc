"""DART on the native path: what its importers make of a file, what they refuse, and what other calls hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from against_reference import assert_agrees
from engines_at_hand import needs

from tautology.adapters.reference import Reference
from tautology.harness import registry
from tautology.harness.engine import Given
from tautology.harness.errors import EngineRefused, EngineUnsupported
from tautology.harness.load import open_model
from tautology.harness.request import Request
from tautology.harness.run import check_files
from tautology.harness.states import sample
from tautology.harness.tree import JointKind, Tree, world

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = needs("dart")

BARE = Tree("bare", (world(),))
INERTIAL = """
    <inertial>
      <origin xyz="0.03 0.05 0.08" rpy="0.3 -0.7 0.4"/>
      <mass value="1.4"/>
      <inertia ixx="0.007" ixy="0.0005" ixz="-0.0008" iyy="0.0098" iyz="0.0006" izz="0.0121"/>
    </inertial>"""
LIMIT = '<limit lower="-2" upper="1.5" effort="40" velocity="6"/>'


def link(name: str, inside: str = INERTIAL) -> str:
    """Return a link on lines of its own."""
    return f'\n  <link name="{name}">{inside}\n  </link>'


def joint(name: str, kind: str, parent: str, child: str, inside: str = '<axis xyz="0 0.6 0.8"/>' + LIMIT) -> str:
    """Return a joint, turned and offset."""
    return f"""
  <joint name="{name}" type="{kind}">
    <parent link="{parent}"/><child link="{child}"/><origin xyz="0.1 -0.2 0.3" rpy="0.2 0.4 -0.3"/>{inside}
  </joint>"""


def written(folder: Path, *elements: str, name: str = "robot.urdf") -> Path:
    """Return the file of a URDF."""
    file = folder / name
    file.write_text(f'<robot name="robot">{"".join(elements)}\n</robot>\n', encoding="utf-8")
    return file


def mjcf(folder: Path, bodies: str, more: str = "") -> Path:
    """Return the file of an MJCF."""
    file = folder / "robot.xml"
    file.write_text(f'<mujoco model="robot">{more}\n<worldbody>\n{bodies}\n</worldbody></mujoco>\n', encoding="utf-8")
    return file


def native(file: Path, base: str = "auto") -> Any:
    """Return the session of a file."""
    model = open_model(file, base)
    return registry.adapter("dart").native(model.given, model.tree)


def alone(file: Path) -> Any:
    """Return what DART makes of a file that our importer may refuse."""
    return registry.adapter("dart").native(Given(open_format(file), str(file)), BARE)


def open_format(file: Path) -> str:
    """Return the format of a file by its name."""
    return "urdf" if file.suffix == ".urdf" else "mjcf"


def checked(file: Path, base: str = "auto") -> Mapping[str, Any]:
    """Return what `tautology check` says of the native path."""
    (model,) = check_files([str(file)], Request(["dart"], "native", base, 16, in_process=True)).to_json()["models"]
    return next(row for row in model["engines"] if row["engine"] == "dart")


def told(row: Mapping[str, Any], severity: str = "model") -> dict[str, tuple[Any, ...]]:
    """Return where, line, expected and found by kind, of the findings of one severity."""
    findings = (f for f in row["findings"] if f["severity"] == severity)
    return {f["kind"]: (f["where"], f["line"], f["expected"], f["found"]) for f in findings}


def test_a_link_without_inertial_weighs_one_kilogram(tmp_path: Path) -> None:
    """That is DART's default, told at the link; the neutral path has no such mass."""
    file = written(tmp_path, link("base"), link("arm"), link("sensor", ""), joint("turn", "revolute", "base", "arm"))
    file.write_text(file.read_text().replace("\n</robot>", joint("hold", "fixed", "arm", "sensor") + "\n</robot>"))
    row = checked(file)
    assert row["status"] == "differs"
    assert told(row) == {"mass.default": ("sensor", 16, 0.0, 1.0)}
    tree = open_model(file, "auto").tree
    neutral = registry.adapter("dart").neutral(tree)
    assert neutral.total_mass == pytest.approx(2.8)
    assert_agrees(neutral, tree)


def test_the_root_is_welded_or_floats_as_the_tree_says(tmp_path: Path) -> None:
    """DART lets a root float by default: told to weld it, it does, and that is said; a freed one floats."""
    file = written(tmp_path, link("base"), link("arm"), joint("turn", "revolute", "base", "arm"))
    fixed, free = native(file), native(file, "free")
    assert (fixed.dofs, fixed.model.getNumDofs()) == (("turn",), 1)
    assert free.model.getNumDofs() == len(free.dofs) == 7
    assert_agrees(fixed, open_model(file, "auto").tree)
    assert_agrees(free, open_model(file, "free").tree)
    assert [f.where for f in fixed.findings if f.kind == "base.fixed_or_free"] == ["base"]
    base = {f.kind: f.where for f in free.findings}
    assert "base.fixed_or_free" not in base
    assert {base[k] for k in ("joint.coordinates", "base.velocity_frame", "base.component_order")} == {"base"}


def test_links_on_a_link_called_world_are_roots_of_their_own(tmp_path: Path) -> None:
    """DART has no body of that name, and as many trees as hang on it."""
    roots = (joint("left", "revolute", "world", "a"), joint("right", "floating", "world", "b", ""))
    file = written(tmp_path, '\n  <link name="world"/>', link("a"), link("b"), *roots)
    session, tree = native(file), open_model(file, "auto").tree
    assert session.model.getNumTrees() == 2
    assert session.dofs == tree.dofs
    assert_agrees(session, tree)
    row = checked(file)
    assert (row["status"], told(row)) == ("agree", {})


@pytest.mark.parametrize("axis", ["0 0 1", "0 0 -1", "1 0 0", "0 0.6 0.8", "1 -2 3"])
def test_planar_joints_keep_their_plane(tmp_path: Path, axis: str) -> None:
    """DART honours the normal, and counts along axes of its own in the plane, which the adapter maps."""
    glide = joint("glide", "planar", "base", "arm", f'<axis xyz="{axis}"/>')
    file = written(tmp_path, link("base"), link("arm"), link("hand"), glide, joint("turn", "revolute", "arm", "hand"))
    session, tree = native(file), open_model(file, "auto").tree
    assert session.dofs == tree.dofs
    assert_agrees(session, tree)
    row = checked(file)
    assert (row["status"], told(row)) == ("agree", {})
    assert told(row, "convention")["joint.coordinates"][0] == "glide"


def test_a_floating_joint_inside_is_mapped(tmp_path: Path) -> None:
    """Its velocity is in the axes of the parent body, angular first."""
    drift = joint("drift", "floating", "arm", "buoy", "")
    file = written(tmp_path, link("base"), link("arm"), link("buoy"), joint("turn", "revolute", "base", "arm"), drift)
    session = native(file)
    assert_agrees(session, open_model(file, "auto").tree)
    assert {f.where for f in session.findings if f.kind.startswith("base.") and f.where != "base"} == {"drift"}


def test_siblings_come_by_joint_name(tmp_path: Path) -> None:
    """Answers are in the order of the file all the same."""
    links = [link(name) for name in ("base", "p", "q", "r")]
    joints = [joint(j, "revolute", "base", b) for j, b in (("zip", "p"), ("ask", "q"), ("mid", "r"))]
    file = written(tmp_path, *links, *joints)
    session = native(file)
    assert [session.model.getDof(k).getName() for k in range(3)] == ["ask", "mid", "zip"]
    assert session.dofs == ("zip", "ask", "mid")
    (found,) = (f for f in session.findings if f.kind == "joint.order")
    assert (found.where, found.found) == ("base", ["ask", "mid", "zip"])
    assert_agrees(session, open_model(file, "auto").tree)


DAMPED = '<axis xyz="0 0.6 0.8"/><dynamics damping="0.7" friction="0.2"/>' + LIMIT


def test_damping_is_in_other_calls_alone(tmp_path: Path) -> None:
    """No answer holds it, forward dynamics neither; DART's own calls do when asked, at the next time step."""
    file = written(tmp_path, link("base"), link("arm"), joint("turn", "revolute", "base", "arm", DAMPED))
    session, tree = native(file), open_model(file, "auto").tree
    assert_agrees(session, tree)
    s = sample(tree, 5, 0)
    terms = session.ledger(s.q, s.v, s.a)
    assert terms["tau"] == {}
    (call,) = (terms[name] for name in terms if "Damping" in name)
    np.testing.assert_allclose(call["damping"], 0.7 * s.v, rtol=0, atol=1e-12)
    np.testing.assert_allclose(call["integrator"], 0.7 * 0.001 * s.a, rtol=0, atol=1e-12)
    row = checked(file)
    assert row["status"] == "agree"
    assert told(row, "convention")["damping"][:2] == ("turn", 17)
    described = session.describe().joints[2]
    assert (described.damping.tolist(), described.friction.tolist()) == ([0.7], [0.2])
    assert (described.lower, described.upper, described.speed, described.effort) == (-2.0, 1.5, 6.0, 40.0)


def test_a_follower_stays_open_and_takes_its_own_force(tmp_path: Path) -> None:
    """DART drives it by its leader, and would pass over its force; the answers are those of the open robot."""
    mimic = '<axis xyz="1 0 0"/>' + LIMIT + '<mimic joint="lead" multiplier="-2" offset="0.1"/>'
    joints = joint("lead", "revolute", "base", "a"), joint("follow", "revolute", "a", "b", mimic)
    file = written(tmp_path, link("base"), link("a"), link("b"), *joints)
    session = native(file)
    assert session.dofs == ("lead", "follow")
    assert_agrees(session, open_model(file, "auto").tree)
    (closure,) = session.describe().closures
    assert (closure.between, closure.numbers) == (("follow", "lead"), (0.1, -2.0))
    assert checked(file)["status"] == "agree"


def test_meshes_are_taken_out_and_the_first_lost_one_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """DART returns no robot where it finds a mesh not; without them it is asked, and nothing reaches the terminal."""
    mesh = '\n    <visual><geometry><mesh filename="package://nowhere/{}.stl"/></geometry></visual>'
    links = link("base"), link("arm", INERTIAL + mesh.format("a") + mesh.format("b"))
    file = written(tmp_path, *links, joint("turn", "revolute", "base", "arm"))
    session = native(file)
    assert_agrees(session, open_model(file, "auto").tree)
    (lost,) = (f for f in session.findings if f.kind == "refused.mesh")
    assert (lost.severity, lost.where, lost.line) == ("convention", "arm", 15)
    assert lost.found == "'package://nowhere/a.stl' and 1 more"
    assert session.notes[0].startswith("2 meshes were taken out")
    assert any("Failed loading mesh" in note for note in session.notes)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["a b", "a#b", "a?b", "a%20b", "ä"])
def test_names_that_no_uri_can_hold_are_read(tmp_path: Path, name: str) -> None:
    """DART cuts a path at # and ?; a copy is read then."""
    turn = joint("turn", "revolute", "base", "arm")
    file = written(tmp_path, link("base"), link("arm"), turn, name=f"{name}.urdf")
    assert native(file).dofs == ("turn",)


REFUSED = {
    "two roots": (link("a") + link("b"), "refused.malformed", "Two root links found"),
    "unknown type": (link("a") + link("b") + joint("x", "spherical", "a", "b"), "refused.unsupported", "no known type"),
    "twice": (link("a") + link("a"), "refused.malformed", "link 'a' is not unique"),
    "no limit": (link("a") + link("b") + joint("x", "revolute", "a", "b", ""), "refused.malformed", "limits"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_dart_refuses_is_told_in_its_words(tmp_path: Path, case: str, capfd: pytest.CaptureFixture[str]) -> None:
    """The parser returns None, and says why on the error stream of the process alone."""
    text, kind, words = REFUSED[case]
    with pytest.raises(EngineRefused, match=words) as refusal:
        alone(written(tmp_path, text))
    assert refusal.value.kind == kind
    assert capfd.readouterr() == ("", "")


def test_a_joint_that_dart_will_not_have_is_named(tmp_path: Path) -> None:
    """A revolute joint without limits is one of ours, and none of urdfdom's."""
    links = link("base"), link("arm")
    row = checked(written(tmp_path, *links, joint("turn", "revolute", "base", "arm", '<axis xyz="1 0 0"/>')))
    assert row["status"] == "refused"
    assert told(row, "refusal")["refused.malformed"][:2] == ("turn", 16)


# A body without `pos` is put where its `<inertial>` is.
PUT = ' pos="0 0 0"'
BODY = (
    '<body name="arm" pos="0.1 0.2 1" euler="10 20 30"><joint name="turn" axis="0 0.6 0.8" pos="0.1 0 0.2"/>{}</body>'
)
GEOM = '<geom type="sphere" size="0.1"/>'
HEAVY = '<inertial pos="0.1 0.2 0.05" mass="3" diaginertia="0.03 0.02 0.04"/>' + GEOM
UNIT = '<inertial pos="0.1 0.2 0.05" mass="3" diaginertia="1 1 1"/>' + GEOM


def test_mjcf_bodies_without_shapes_have_one_kilogram(tmp_path: Path) -> None:
    """Whatever their `<inertial>` says, it is not read then."""
    found = told(checked(mjcf(tmp_path, BODY.format(HEAVY.removesuffix(GEOM)))))
    assert found["mass"] == ("arm", 3, 3.0, 1.0)
    assert set(found) == {"mass", "com", "inertia.value"}


def test_mjcf_bodies_have_the_unit_tensor(tmp_path: Path) -> None:
    """Mass and centre are those of the file, the tensor is not."""
    row = checked(mjcf(tmp_path, BODY.format(HEAVY)))
    assert (row["status"], set(told(row))) == ("differs", {"inertia.value"})
    where, line, _, found = told(row)["inertia.value"]
    assert (where, line) == ("arm", 3)
    assert np.ravel(found).tolist() in ([1.0] * 3 + [0.0] * 3, np.eye(3).ravel().tolist())


def test_a_free_joint_of_mjcf_is_a_weld(tmp_path: Path) -> None:
    """`<freejoint/>` is passed over, `<joint type="free"/>` is not."""
    bodies = '<body name="float" pos="1 2 3" euler="10 20 30"><{}/>' + UNIT + "</body>"
    welded = checked(mjcf(tmp_path, bodies.format("freejoint")))
    assert "base.fixed_or_free" in told(welded)
    assert "unexplained" not in told(welded)
    file = mjcf(tmp_path, bodies.format('joint name="drift" type="free"'))
    row = checked(file)
    assert (row["status"], told(row)) == ("agree", {})
    session = native(file)
    np.testing.assert_array_equal(session.describe().joints[1].T_parent_joint, np.eye(4))  # ours, not DART's own
    assert_agrees(session, session.tree)


def test_an_mjcf_body_without_a_place_is_put_where_its_inertia_is(tmp_path: Path) -> None:
    """The joint moves with it; a written `pos` of zero is none such."""
    body = '<body name="arm"{}><joint name="turn" axis="0 1 0"/>' + UNIT + "</body>"
    assert checked(mjcf(tmp_path, body.format(PUT)))["status"] == "agree"
    where, line, expected, found = told(checked(mjcf(tmp_path, body.format(""))))["joint.placement"]
    assert (where, line) == ("turn", 3)
    np.testing.assert_allclose((expected, found), ([0, 0, 0], [0.1, 0.2, 0.05]))


def test_ref_of_mjcf_is_passed_over(tmp_path: Path) -> None:
    """DART counts from where the file draws the body, so that another robot answers at the same q."""
    row = checked(mjcf(tmp_path, BODY.format(UNIT).replace("<joint", '<joint ref="20"')))
    assert (row["status"], set(told(row))) == ("differs", {"joint.zero"})
    assert not next(q for q in row["quantities"] if q["quantity"] == "poses")["passed"]


def test_gravity_and_armature_of_mjcf_are_passed_over(tmp_path: Path) -> None:
    """Both are found, none is left unexplained."""
    file = mjcf(tmp_path, BODY.format(UNIT).replace("<joint", '<joint armature="0.3"'), '<option gravity="0 1 -3"/>')
    found = told(checked(file))
    assert found["armature"][:2] == ("turn", 3)
    assert any(kind.startswith("gravity.") for kind in found)
    assert "unexplained" not in found


def test_several_bodies_and_slides_of_mjcf_are_all_there(tmp_path: Path) -> None:
    """DART makes a skeleton of every body of the world, and one joint of two slides; our dofs are theirs."""
    slides = '<joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>'
    cart = f'<body name="cart" pos="0 1 0">{slides}{UNIT}</body>'
    ball = f'<body name="ball"{PUT}><joint name="b" type="ball" pos="0.1 0 0"/>{UNIT}</body>'
    file = mjcf(tmp_path, f'<geom type="plane" size="1 1 1"/>{BODY.format(UNIT)}\n{cart}\n{ball}')
    session, tree = native(file), open_model(file, "auto").tree
    assert session.dofs == tree.dofs
    assert session.extra_dofs == ()
    assert session.total_mass == pytest.approx(9.0)  # the ground is no body
    assert_agrees(session, tree)
    kinds = [j.kind for j in session.describe().joints if j.nv]
    assert kinds == [JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.PRISMATIC, JointKind.BALL]
    assert checked(file)["status"] == "agree"


def test_a_site_of_the_world_is_refused_before_it_ends_the_process(tmp_path: Path) -> None:
    """The parser of DART 6.20 crashes on it."""
    file = mjcf(tmp_path, f'<site name="goal" size="0.1"/>\n{BODY.format(HEAVY)}')
    with pytest.raises(EngineRefused, match="ends the process on the <site>") as refusal:
        native(file)
    assert (refusal.value.kind, refusal.value.where, refusal.value.source.line) == ("refused.unsupported", "goal", 3)


def test_what_mjcf_dart_refuses_is_told_in_its_words(tmp_path: Path) -> None:
    """An integrator that it does not know, a mesh that is not there, and bodies that it does not see."""
    with pytest.raises(EngineRefused, match="Invalid attribute for 'integrator'"):
        native(mjcf(tmp_path, BODY.format(HEAVY), '<option integrator="implicitfast"/>'))
    with pytest.raises(EngineRefused, match="DART reads no body"):
        native(mjcf(tmp_path, f"<frame>{BODY.format(HEAVY)}</frame>"))


def test_other_formats_are_unsupported() -> None:
    """The sentence says what DART reads."""
    with pytest.raises(EngineUnsupported, match="DART has no importer for tree; it reads URDF and MJCF"):
        registry.adapter("dart").native(Given("tree", live=BARE), BARE)


def test_the_reference_and_dart_hold_the_same_robot(tmp_path: Path) -> None:
    """What is read back is the tree of the file: poses and M of it are DART's own answers."""
    joints = joint("turn", "revolute", "base", "arm"), joint("push", "prismatic", "arm", "hand")
    file = written(tmp_path, link("base"), link("arm"), link("hand"), *joints)
    session = native(file)
    held, q = session.describe(), sample(open_model(file, "auto").tree, 4, 0).q
    np.testing.assert_allclose(Reference(held).mass_matrix(q), session.mass_matrix(q), rtol=0, atol=1e-13)
    assert [body.name for body in held.bodies[1:]] == list(session.bodies)
    np.testing.assert_allclose(Reference(held).poses(q), session.poses(q), rtol=0, atol=1e-13)
