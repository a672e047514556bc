"""`tautology explain TOPIC [MODEL]`: numbers against independent computation, words at 80 columns, bad requests."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from engines_at_hand import needs
from random_trees import random_tree
from typer.testing import CliRunner

from tautology import models
from tautology.adapters.reference import Reference
from tautology.harness.cli import app
from tautology.harness.explain import apis
from tautology.harness.explain.record import Explanation, Table, columns
from tautology.harness.explain.topics import TOPICS, explain
from tautology.harness.load import load
from tautology.harness.registry import CARDS
from tautology.reports.explained import cell
from tautology.reports.page.explained import explained_page

RUNNER = CliRunner()
OWN = ("apis", "columns", "torque", "frames", "wrenches")
ROBOTS = ("tau_arm.urdf", "tau_walker.urdf", "tau_tree.xml")
BASES = ("tau_arm.urdf", "tau_walker.urdf", "tau_walker.xml", "tau_arm.xml")


@cache
def explained(topic: str, robot: str) -> Explanation:
    """Return a topic on a bundled robot, computed once."""
    return explain(topic, models.path(robot))


def table(found: Explanation, start: str) -> list[dict[str, object]]:
    """Return the rows of the first table whose title begins so, by column."""
    one = next(t for s in found.sections for t in s.tables if t.title.startswith(start))
    return [{c.name: x for c, x in zip(one.columns, row, strict=True)} for row in one.rows]


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("topic", OWN)
def test_every_topic_fits_eighty_columns_on_every_kind_of_robot(topic, robot):
    """Exit code 0, no line is wider, the question and the robot stand in the heading."""
    robot = "tau_walker.xml" if (topic, robot) == ("frames", "tau_tree.xml") else robot  # the tree cannot float
    result = RUNNER.invoke(app, ["explain", topic, str(models.path(robot))], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    lines = result.stdout.split("\n")
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"{topic}  ")
    assert load(models.path(robot)).name in result.stdout
    assert "\u2026" not in result.stdout  # what does not fit is broken into pieces, not cut
    heads = {c.name for s in explained(topic, robot).sections for t in s.tables for c in t.columns}
    assert {name for name in heads if name not in result.stdout} == set()


@pytest.mark.parametrize("topic", OWN)
def test_every_topic_has_a_bundled_robot_a_page_and_a_document(topic, tmp_path):
    """Without MODEL; the page loads nothing, and the document holds the same tables."""
    page, document = tmp_path / "page.html", tmp_path / "topic.json"
    result = RUNNER.invoke(app, ["explain", topic, "--html", str(page), "--json", str(document)])
    assert result.exit_code == 0, result.output
    held = json.loads(document.read_text(encoding="utf-8"))
    assert (held["command"], held["topic"]) == ("explain", topic)
    text = page.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert not any(word in text for word in ("<script", "http:", "https:", "<link", "@import", "url("))
    for section in held["sections"]:
        assert section["title"].replace("'", "&#x27;") in text


def test_names_out_of_files_are_no_markup(tmp_path):
    """A hostile joint name is shown escaped."""
    text = models.path("two_rods.urdf").read_text(encoding="utf-8")
    joint = load(models.path("two_rods.urdf")).dofs[0]
    hostile = tmp_path / "hostile.urdf"
    hostile.write_text(text.replace(f'"{joint}"', '"&lt;img src=x&gt;\u202e"'), encoding="utf-8")
    page = explained_page(explain("columns", hostile))
    assert "<img" not in page
    assert "&lt;img src=x&gt;\\u202e" in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["explain", "zzz"], "there is no topic and no kind 'zzz'; topics: "),
        (["explain", "colums"], "did you mean columns"),
        (["explain", "columns", "nowhere.urdf"], "nowhere.urdf"),
        (["explain", "columns", "--base", "up"], "base 'up' is not one of auto, fixed, free"),
        (["explain", "mass", str(models.path("tau_arm.urdf"))], "MODEL goes with a topic: "),
        (["explain", "columns", "--html", "/nowhere/at/all.html"], "cannot write"),
    ],
)
def test_bad_requests_end_with_two_and_one_sentence(arguments, words):
    """Nothing on stdout, one line on stderr."""
    result = RUNNER.invoke(app, arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_an_unknown_word_lists_topics_and_kinds():
    """Every topic, and every family of kinds."""
    words = RUNNER.invoke(app, ["explain", "zzz"]).stderr
    assert all(topic in words for topic in TOPICS)
    assert all(family in words for family in ("mass", "inertia", "joint", "base", "lint"))


@pytest.mark.parametrize("topic", OWN)
def test_a_robot_that_cannot_move_is_refused_in_words(topic, tmp_path):
    """One sentence, no traceback."""
    still = tmp_path / "still.urdf"
    still.write_text('<robot name="still"><link name="stone"/></robot>', encoding="utf-8")
    result = RUNNER.invoke(app, ["explain", topic, str(still)])
    if topic == "frames":  # it is freed there: a free stone has a base
        assert result.exit_code in (0, 2)
        assert "internal" not in result.output
        return
    assert result.exit_code == 2
    assert "cannot move" in result.stderr


def test_an_absent_engine_is_a_line_with_its_install_line(monkeypatch):
    """Every topic that asks engines goes on without it."""
    from tautology.harness import registry  # noqa: PLC0415

    asked = registry.version
    monkeypatch.setattr(registry, "version", lambda card: None if card.name == "mujoco" else asked(card))
    line = next(card.install for card in CARDS if card.name == "mujoco")
    for topic in ("apis", "columns", "frames", "wrenches"):
        found = explain(topic, models.path("tau_arm.urdf"))
        assert f"mujoco is not installed; install it with: {line}" in found.absent
        assert not any(row[0] == "mujoco" for s in found.sections for t in s.tables for row in t.rows if t.keys == 0)


@pytest.mark.parametrize("robot", ROBOTS)
def test_columns_of_the_reference_are_the_mass_matrix_and_nothing_else_is(robot):
    """M from kinetic energy shares nothing with inverse dynamics; left in, the bias is the error of every column."""
    found = explained("columns", robot)
    tree = load(models.path(robot))
    q, v = np.array(found.values["q"])[None], np.array(found.values["v"])[None]
    reference = Reference(tree)
    M = np.asarray(reference.mass_matrix_from_energy(q))[0]
    np.testing.assert_allclose(found.values["right"], M, atol=1e-9 * np.abs(M).max())
    bias = np.asarray(reference.bias(q, v))[0]
    np.testing.assert_allclose(np.array(found.values["raw"]) - M, np.tile(bias[:, None], tree.nv), atol=1e-9 * 100)
    drifted = np.array(found.values["drifted"])
    assert np.abs(drifted - M).max() > 1e-5
    assert np.abs(drifted - drifted.T).max() > 1e-5
    for row in table(found, "Largest element"):
        assert row["minus bias"] < 1e-10 < row["bias left in"]
    assert [row["calls"] for row in table(found, "What it costs")] == [tree.nv + 1, tree.nv, 1]


@pytest.mark.parametrize("robot", ROBOTS)
def test_parts_of_the_torque_are_what_inverse_dynamics_says_without_the_others(robot):
    """Gravity at rest, velocity without gravity, acceleration at rest without gravity; they add up to tau."""
    found = explained("torque", robot)
    tree = load(models.path(robot))
    reference = Reference(tree)
    states = {name: np.array(x) for name, x in found.values["parts"].items()}
    np.testing.assert_allclose(sum(states.values()), found.values["tau"], atol=1e-9)
    motion = {name: np.array(x) for name, x in found.values["motion"].items()}
    # At t = 0 and t = 1 the motion is at its fastest and not accelerated; a quarter later it is the other way round.
    assert np.abs(motion["acceleration"][0]).max() < 1e-9 * max(1, np.abs(motion["acceleration"]).max())
    assert np.abs(motion["velocity"][15]).max() < 1e-9 * max(1, np.abs(motion["velocity"]).max())
    np.testing.assert_allclose(motion["velocity"][0], motion["velocity"][-1], atol=1e-9)
    drawn = table(found, "At one state")
    from tautology.harness.explain.asked import Asked  # noqa: PLC0415
    from tautology.harness.load import open_model  # noqa: PLC0415

    loaded = open_model(models.path(robot))
    state = Asked(loaded.tree, loaded.given).states(64)
    still, zero = np.zeros_like(state.v[:1]), np.zeros(3)
    expected = {
        "gravity": reference.gravity_forces(state.q[:1])[0],
        "velocity": reference.bias(state.q[:1], state.v[:1], gravity=zero)[0],
        "acceleration": reference.inverse_dynamics(state.q[:1], still, state.a[:1], gravity=zero)[0],
    }
    reflected = np.array([row["reflected"] for row in drawn])
    expected["acceleration"] = expected["acceleration"] - reflected
    for cause, values in expected.items():
        np.testing.assert_allclose([row[cause] for row in drawn], values, atol=1e-9)


@pytest.mark.parametrize("robot", BASES)
def test_omega_cross_v_costs_what_the_mass_matrix_says(robot):
    """Every engine errs by plus or minus M (omega x v) when it is left out; with the map by rounding."""
    found = explained("frames", robot)
    V = np.array(found.values["V"])
    swept = np.cross(V[3:], V[:3])
    omitted = {name: np.array(x) for name, x in found.values["omitted"].items()}
    np.testing.assert_allclose(omitted["M (omega x v)"], np.array(found.values["M"])[:, :3] @ swept, atol=1e-9)
    assert np.abs(omitted["M (omega x v)"]).max() > 1e-3
    tree = load(models.path(robot)).with_base("free")
    com, M = np.asarray(tree.bodies[tree.floating_roots[0]].inertia.com), found.values["M"]
    for row in table(found, "Error of tau"):
        close = 1e-9 if row["engine"] != "newton" else 1e-5 * max(1, np.abs(omitted["tau"]).max())
        assert row["with the map"] < close
        sign = 1 if row["acceleration"] == "spatial" else -1
        error = omitted[row["engine"]]
        point = com if row["engine"] == "newton" else np.zeros(3)
        own = np.cross(V[3:], V[:3] + np.cross(V[3:], point))
        if len(error) == len(omitted["tau"]):
            np.testing.assert_allclose(error, sign * np.array(M)[:, :3] @ own, atol=close)
    R = np.array(found.values["T_world_base"])[:3, :3]
    u, du = found.values["u"], found.values["du"]
    np.testing.assert_allclose(u["mujoco"], np.hstack([R @ V[:3], V[3:]]), atol=1e-12)
    np.testing.assert_allclose(u["drake"], np.hstack([R @ V[3:], R @ V[:3]]), atol=1e-12)
    np.testing.assert_allclose(du["mujoco"][:3], R @ (np.array(found.values["A"])[:3] + swept), atol=1e-12)
    np.testing.assert_allclose(du["pinocchio"], found.values["A"], atol=1e-15)


@needs("pinocchio", "mujoco")
@pytest.mark.parametrize("robot", BASES)
def test_engines_show_their_base_velocity_from_outside(robot):
    """The twist that an engine's own step makes is the column of the map, to the square of the step."""
    rows = table(explained("frames", robot), "T^-1 measured")
    assert {row["engine"] for row in rows} >= {"pinocchio", "mujoco"}
    for row in rows:
        assert row["off its map"] < 1e-7
        assert row["off another map"] > 1e-2


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_wrench_is_minus_its_power_over_the_rates(robot):
    """J^T f is the gradient of the power f.V in the rates, by the velocity of the body alone."""
    found = explained("wrenches", robot)
    tree = load(models.path(robot))
    reference = Reference(tree)
    q = np.tile(np.array(found.values["q"]), (tree.nv, 1))
    f = np.array(found.values["wrench"])
    at = list(reference.bodies).index(found.values["body"])
    powers = np.asarray(reference.velocities(q, np.eye(tree.nv)))[:, at] @ f
    np.testing.assert_allclose(found.values["generalized"], powers, atol=1e-10)
    for row in table(found, "Change of tau"):
        assert row["so it is"] == "-J^T f"
        assert row["off -J^T f"] < 1e-9
    forms = found.values["forms"]
    T = np.asarray(reference.poses(q[:1]))[0, at]
    world = next(np.array(x) for name, x in forms.items() if name.startswith("world axes, world origin"))
    R, p = T[:3, :3], T[:3, 3]
    np.testing.assert_allclose(world[3:], R @ f[3:], atol=1e-12)
    np.testing.assert_allclose(R.T @ (world[:3] - np.cross(p, world[3:])), f[:3], atol=1e-12)
    errors = table(found, "Largest error of tau")
    assert errors[0]["reference"] == pytest.approx(2 * np.abs(powers).max())


EXPECTED = {
    "pin.rnea": "Ma c g arm",
    "pin.rnea, a = 0": "c g",
    "pin.nonLinearEffects": "c g",
    "pin.computeGeneralizedGravity": "g",
    "pin.crba, M a": "Ma arm",
    "mj_rne, flg_acc=1": "Ma c g",
    "mj_crb, M a": "Ma arm",
    "mj_makeM, M a": "Ma arm",
    "CalcInverseDynamics, no forces": "Ma c arm",
    "inverseDynamics": "Ma c g",
    "generalizedGravityForces": "g",
    "getFreeFloatingMassMatrix, M a": "Ma",
}


@needs("pinocchio", "mujoco")
@pytest.mark.parametrize("robot", ROBOTS)
def test_the_ledger_as_measured_is_the_ledger_of_the_manuals(robot):
    """Signs of every call, and nothing is left of it; mj_inverse holds passive terms and dry friction as well."""
    found = explained("apis", robot)
    seen = {}
    for section in found.sections:
        for one in section.tables:
            if one.title == "Terms":
                seen |= {row[0]: dict(zip(apis.NAMES, row[1:-1], strict=True)) for row in one.rows}
                assert {row[0]: row[-1] for row in one.rows if not row[-1] < 1e-9} == {}
    for call, terms in EXPECTED.items():
        if call in seen:
            assert {name for name, sign in seen[call].items() if sign} == set(terms.split()), call
            assert {sign for sign in seen[call].values() if sign} == {"+"}, call
    assert {name for name in ("Ma", "c", "g", "arm", "damp", "spring") if seen["mj_inverse"][name] == "+"} == {
        "Ma",
        "c",
        "g",
        "arm",
        "damp",
        "spring",
    }
    assert seen["qfrc_passive"]["damp"] == seen["qfrc_passive"]["spring"] == "-"
    own = "+*" if load(models.path(robot)).base == "free" else "+"
    assert seen["qfrc_bias"]["c"] == seen["mj_rne, flg_acc=0"]["c"] == own


@needs("pinocchio", "mujoco")
@pytest.mark.parametrize("seed", range(6))
def test_terms_are_told_apart_on_joints_of_every_kind(seed):
    """Planar, ball and floating joints: nothing is left of any call, and only two terms of MuJoCo are held in part."""
    found = explain("apis", random_tree(np.random.default_rng(seed), 7, armature=True))
    parts = set()
    for section in found.sections:
        for one in section.tables:
            for row in one.rows if one.title == "Terms" else ():
                assert row[-1] < 1e-8, row
                parts |= {(row[0], n) for n, x in zip(apis.NAMES, row[1:-1], strict=True) if isinstance(x, float)}
    soft = {("mj_inverse", "fric"), ("mj_inverse, invdiscrete", "fric"), ("mj_inverse, invdiscrete", "damp")}
    assert parts <= soft


@needs("mujoco")
@pytest.mark.parametrize("robot", ROBOTS)
def test_mj_inverse_closes_with_contacts_off_and_on(robot):
    """To rounding; for the next step what is left is timestep times damping times acceleration."""
    rows = table(explained("apis", robot), "Largest efforts")
    assert [(row["contacts"], row["invdiscrete"]) for row in rows] == [
        ("off", "off"),
        ("off", "on"),
        ("on", "off"),
        ("on", "on"),
    ]
    for row in rows:
        scale = max(1.0, row["mj_inverse"], row["constraint"])
        left = row["rest"] if row["invdiscrete"] == "off" else row["rest - h D a"]
        assert left < 1e-12 * scale
        assert (row["touching"] > 0) == (row["contacts"] == "on")
        if row["invdiscrete"] == "on":
            assert row["rest"] > 1e-6
    assert rows[2]["constraint"] > 1 + rows[0]["constraint"]


def test_a_row_of_another_length_is_refused():
    """Cells are matched to columns by their place."""
    with pytest.raises(ValueError, match="a row has 1 cells for 2 columns"):
        Table("t", columns("a", "b"), ((1,),))


def test_cells_say_what_is_missing():
    """None is a dash, what is not finite no answer, minus zero is zero."""
    assert [cell(x, 3) for x in (None, np.inf, -0.0, 1234.5, "x")] == ["-", "no answer", "0", "1.23e+03", "x"]
