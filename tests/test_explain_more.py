"""Topics recursion, energy, cost and loops: numbers against other routes, on robots of every kind."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from random_trees import random_transform, random_tree
from typer.testing import CliRunner

from tautology import models
from tautology.adapters.reference import Reference
from tautology.adapters.textbook import counting, planar_tree
from tautology.adapters.textbook.planar import PlanarChain
from tautology.harness.cli import app
from tautology.harness.errors import RequestError
from tautology.harness.explain import cost, energy
from tautology.harness.explain.energy import exponent
from tautology.harness.explain.passes import passes
from tautology.harness.explain.record import Drawing, Explanation
from tautology.harness.explain.topics import TOPICS, explain
from tautology.harness.load import load
from tautology.harness.spatial import rotation_about, transform
from tautology.harness.states import sample
from tautology.harness.tree import Inertia, Tree

RUNNER = CliRunner()
QUICK = ("recursion", "energy", "loops")
ROBOTS = ("three_planar_links.urdf", "tau_walker.urdf", "tau_tree.xml")
# From the geometry of the file alone.
CRANK, COUPLER, ROCKER, GROUND = 0.2, 0.5, 0.5, 0.4


@cache
def explained(topic: str, robot: str) -> Explanation:
    """Return a topic on a bundled robot, computed once."""
    return explain(topic, models.path(robot))


def table(found: Explanation, start: str) -> list[dict[str, object]]:
    """Return the rows of the first table whose title begins so, by column."""
    one = next(t for s in found.sections for t in s.tables if t.title.startswith(start))
    return [{c.name: x for c, x in zip(one.columns, row, strict=True)} for row in one.rows]


@pytest.fixture
def few_chains(monkeypatch):
    """Let `cost` look at short chains only: long ones are a matter of seconds."""
    monkeypatch.setattr(cost, "SIZES", (5, 10, 20))


@pytest.mark.parametrize("robot", [None, *ROBOTS])
@pytest.mark.parametrize("topic", [*QUICK, "cost"])
def test_every_topic_fits_eighty_columns_and_has_a_page_and_a_document(topic, robot, tmp_path, few_chains):
    """Exit code 0, no line is wider, no column is lost, the page loads nothing, the document holds the sections."""
    del few_chains
    page, document = tmp_path / "page.html", tmp_path / "topic.json"
    model = [] if robot is None else [str(models.path(robot))]
    asked = ["explain", topic, *model, "--html", str(page), "--json", str(document)]
    result = RUNNER.invoke(app, asked, env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    lines = result.stdout.split("\n")
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"{topic}  ")
    held = json.loads(document.read_text(encoding="utf-8"))
    heads = {c["name"] for s in held["sections"] for t in s["tables"] for c in t["columns"]}
    assert {name for name in heads if name not in result.stdout} == set()
    text = page.read_text(encoding="utf-8")
    assert not any(word in text for word in ("<script", "http:", "https:", "<link", "@import", "url("))
    assert all(section["title"] in text for section in held["sections"])
    assert "<svg" in text or (topic, robot) in {("recursion", "tau_walker.urdf"), ("recursion", "tau_tree.xml")}


@pytest.mark.parametrize("topic", [*QUICK, "cost"])
def test_a_robot_that_cannot_move_is_refused_in_words(topic, tmp_path):
    """One sentence, no traceback; `loops` shows the bundled one instead."""
    still = tmp_path / "still.urdf"
    still.write_text('<robot name="still"><link name="stone"/></robot>', encoding="utf-8")
    result = RUNNER.invoke(app, ["explain", topic, str(still)])
    if topic == "loops":
        assert (result.exit_code, "The model 'still' has no closure" in result.stdout) == (0, True)
        return
    assert result.exit_code == 2
    assert "cannot move" in result.stderr


# --- Recursion --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(12))
def test_newton_and_euler_in_world_axes_give_the_efforts_of_the_spatial_recursion(seed):
    """On random trees of every joint kind."""
    tree = random_tree(np.random.default_rng(seed), 8)
    states = sample(tree, 12, seed)
    q, v, a = states.q[10:11], states.v[10:11], states.a[10:11]
    expected = np.asarray(Reference(tree).inverse_dynamics(q, v, a, armature=False)[0])
    found = passes(tree, q[0], v[0], a[0])
    np.testing.assert_allclose(found.tau, expected, atol=1e-11 * max(1.0, np.abs(expected).max()))


def test_velocities_and_accelerations_are_derivatives_of_places():
    """Of centres of mass along q + v t + a t^2 / 2, by central differences."""
    found = explained("recursion", "three_planar_links.urdf")
    reference = Reference(load(models.path("three_planar_links.urdf")))
    q, v, a = (np.array(found.values[name]) for name in "qva")
    h = 1e-4
    at = np.array([q + v * t + a * t * t / 2 for t in (-h, 0.0, h)])
    before, now, after = np.asarray(reference.motion(at, 0 * at, 0 * at).c_world)
    np.testing.assert_allclose(found.values["passes"]["v_com"], (after - before) / (2 * h), atol=1e-7)
    np.testing.assert_allclose(found.values["passes"]["a_com"], (after - 2 * now + before) / h**2, atol=1e-6)


def test_planar_robots_are_drawn_and_others_are_not():
    """Two drawings with arrows of both kinds; a walker has a sentence."""
    pictures = [p for s in explained("recursion", "three_planar_links.urdf").sections for p in s.pictures]
    assert [type(p) for p in pictures] == [Drawing, Drawing]
    for picture in pictures:
        groups = [mark.group for mark in picture.marks if mark.style == "arrow"]
        assert (groups.count(1), groups.count(2)) == (3, 3)
    walker = explained("recursion", "tau_walker.urdf")
    assert not any(s.pictures for s in walker.sections)
    assert any("do not move in one plane" in words for s in walker.sections for words in s.sentences)


def test_arrows_of_the_drawing_are_the_vectors_of_the_table():
    """Parallel to the world's x and z, and as long as one scale says."""
    found = explained("recursion", "three_planar_links.urdf")
    drawing = next(p for s in found.sections for p in s.pictures if p.title.startswith("Inward"))
    drawn = np.array([np.subtract(m.points[1], m.points[0]) for m in drawing.marks if m.group == 2])
    force = np.array(found.values["passes"]["force"])[-3:, [0, 2]]
    # Seen from where the first joint, about -y of the world, turns counterclockwise: x to the right.
    scale = np.linalg.norm(drawn[0]) / np.linalg.norm(force[0])
    np.testing.assert_allclose(drawn, scale * force, atol=1e-12)


def restated(tree: Tree, seed: int) -> Tree:
    """Return an embedded planar chain in a tilted plane: body frames anywhere, joints of both signs, bent at q = 0."""
    rng = np.random.default_rng(seed)
    bodies, moved = [tree.bodies[0]], np.eye(4)
    for i, body in enumerate(tree.bodies[1:], 1):
        T_joint_body = random_transform(rng)
        T_body_old = np.linalg.inv(T_joint_body)
        turn = transform(rotation_about(np.eye(3)[2], rng.uniform(-2, 2)), np.zeros(3))
        T_parent_joint = moved @ np.asarray(body.joint.T_parent_joint) @ turn
        if i == 1:
            T_parent_joint = random_transform(rng) @ T_parent_joint
        axis = np.array([0.0, 0, -1.0 if rng.integers(2) else 1.0])
        joint = replace(body.joint, T_parent_joint=T_parent_joint, T_joint_body=T_joint_body, axis=axis)
        R, com = T_body_old[:3, :3], np.asarray(body.inertia.com)
        I_com = R @ np.asarray(body.inertia.I_com) @ R.T
        inertia = Inertia(body.inertia.mass, T_body_old[:3, 3] + R @ com, (I_com + I_com.T) / 2)
        bodies.append(replace(body, joint=joint, inertia=inertia))
        moved = T_body_old
    return replace(tree, bodies=tuple(bodies), gravity=rng.uniform(-9, 9, 3))


@pytest.mark.parametrize("seed", range(6))
def test_the_planar_recursion_finds_the_efforts_of_any_chain_in_a_plane(seed):
    """Whatever the frames are; lengths, masses and moments are those of the chain it was made from."""
    rng = np.random.default_rng(seed)
    lengths, masses, centres, moments = rng.uniform(0.2, 1.5, (4, 4))
    chain = PlanarChain(lengths, masses, centres, moments)
    found = explain("recursion", restated(planar_tree.embedded(chain), seed))
    assert found.values["planar off"] < 3e-13
    links = table(found, "The planar chain")
    # The last length is free: nothing hangs there.
    np.testing.assert_allclose([row["L [m]"] for row in links][:-1], lengths[:-1], atol=1e-12)
    for name, values in (("m [kg]", masses), ("c [m]", centres), ("I [kg m^2]", moments)):
        np.testing.assert_allclose([row[name] for row in links], values, atol=1e-12)
    places = np.array(found.values["passes"]["joints"])[1:]
    np.testing.assert_allclose(np.linalg.norm(np.diff(places, axis=0), axis=1), lengths, atol=1e-12)


def test_a_robot_in_a_plane_that_is_no_chain_of_rods_is_told_why(tmp_path):
    """A branch, a slide and a centre of mass beside the line; the drawing is there all the same."""
    text = models.path("three_planar_links.urdf").read_text(encoding="utf-8")
    at = text.index("<origin", text.index("<inertial>"))
    beside = tmp_path / "beside.urdf"
    beside.write_text(text[:at] + '<origin xyz="0.5 0.01 0"/>' + text[text.index("/>", at) + 2 :], encoding="utf-8")
    slide = tmp_path / "slide.urdf"
    at = text.index('type="revolute"', text.index('<joint name="joint_2"'))
    slid = text[:at] + text[at:].replace("revolute", "prismatic", 1)
    at = slid.index("<axis", at)
    slide.write_text(slid[:at] + '<axis xyz="1 0 0"/>' + slid[slid.index("/>", at) + 2 :], encoding="utf-8")
    for robot, words in (
        (models.path("four_bar.xml"), "it branches"),
        (slide, "joint 'joint_2' slides"),
        (beside, "the centre of mass of 'link_1' is beside the line"),
    ):
        found = explain("recursion", robot)
        assert found.values["planar off"] is None
        assert any(words in w for s in found.sections for w in s.sentences), words
        assert any(s.pictures for s in found.sections)


# --- Energy -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("robot", [TOPICS["energy"].model, *ROBOTS])
def test_power_balances_and_drift_falls_with_the_fourth_power(robot):
    """To the accuracy of the differences; with and without friction."""
    found = explained("energy", robot)
    powers = {row["power"]: row["dynamics"] for row in table(found, "Powers")}
    scale = max(1.0, *(abs(x) for x in powers.values()))
    assert found.values["left"] < 1e-8 * scale
    assert powers["v.M a"] + powers["v.c"] == pytest.approx(powers["kinetic energy, v.(M a + c)"])
    for name in ("exponent", "exponent with friction"):
        assert found.values[name] == pytest.approx(4, abs=0.35)
    fall = table(found, "Energy with friction")
    work = [row["work of friction"] for row in fall]
    assert work == sorted(work)
    assert work[-1] > 1e3 * abs(fall[-1]["sum"])


def test_a_motion_that_no_step_can_follow_is_made_shorter():
    """The next duration is taken, and the last one's fault is told when there is none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(energy, "DURATIONS", (2e3, 0.5))
        found = explain("energy", models.path("two_rods.urdf"))
    assert found.values["steps"][0] == 0.5 / energy.COUNTS[0]
    assert found.values["exponent"] == pytest.approx(4, abs=0.35)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(energy, "DURATIONS", (2e3,))
        with pytest.raises(RequestError, match="'two_rods' cannot be simulated: no motion at"):
            explain("energy", models.path("two_rods.urdf"))


def test_exponents_are_those_of_the_points():
    """A third power is one, rounding is left out, two points are the least."""
    steps = [0.4, 0.2, 0.1, 0.05]
    assert exponent(steps, [7 * h**3 for h in steps], 1e-30) == pytest.approx(3)
    assert exponent(steps, [1.0, 0.0625, 1e-14, 1e-14], 1e-15) == pytest.approx(4)
    assert exponent(steps, [1e-14] * 4, 1e-15) is None
    assert exponent(steps, [np.inf, np.inf, np.inf, 1.0], 1e-15) is None


# --- Cost -------------------------------------------------------------------------------------------------------------
def test_operations_are_those_of_the_counter_and_grow_as_the_algorithms_do(few_chains):
    """Totals again from the counter, linear and square ones, and like beside like."""
    del few_chains
    found = explain("cost", models.path("two_rods.urdf"))
    inverse, forward = (found.values["operations"][question] for question in ("inverse", "forward"))
    assert inverse["RNEA"]["10"] == counting.spatial_counts((10,), [counting.RNEA])[counting.RNEA][0].total
    assert forward["ABA"]["10"] == counting.spatial_counts((10,), [counting.ABA])[counting.ABA][0].total
    assert set(inverse["explicit Lagrangian"]) == {"5", "10", "20"}
    assert {row["algorithm"]: row["counted"] for row in table(found, "Operations, inverse")}["RNEA"] == "to 20"
    slopes = found.values["slopes"]
    assert slopes["operations inverse"]["RNEA"] == pytest.approx(1, abs=0.1)
    assert slopes["operations inverse"]["M a + bias at hand"] == pytest.approx(2, abs=0.02)
    assert slopes["operations inverse"]["explicit Lagrangian"] > 3
    assert slopes["operations forward"]["ABA"] == pytest.approx(1, abs=0.15)
    assert 1.2 < slopes["operations forward"]["CRBA + solve"] < slopes["operations forward"]["Walker-Orin"] < 3
    times = found.values["times"]
    assert {"RNEA", "exponentials", "M a + bias at hand", "explicit Lagrangian"} <= set(times["inverse"])
    assert {"ABA", "CRBA + solve", "Walker-Orin"} <= set(times["forward"])
    assert all(x > 0 for by in times.values() for f in by.values() for x in f.values())
    assert times["forward"]["Walker-Orin"]["20"] > times["inverse"]["RNEA"]["20"]


# --- Loops ------------------------------------------------------------------------------------------------------------
def test_the_four_bar_moves_with_its_one_dof_and_its_pin_holds():
    """Places, speeds and accelerations from the geometry of four bars; energy of one dof gives the acceleration."""
    found = explained("loops", "four_bar.xml")
    q, v = np.array(found.values["q"]), np.array(found.values["v"])
    tilt = np.arctan2(0.3, 0.4)

    def ends(q):
        coupler = q[0] + q[1] + tilt
        one = CRANK * np.array([-np.sin(q[0]), np.cos(q[0])]) + COUPLER * np.array([np.cos(coupler), np.sin(coupler)])
        return one, np.array([GROUND, 0]) + ROCKER * np.array([-np.sin(q[2]), np.cos(q[2])])

    np.testing.assert_allclose(*ends(q), atol=1e-12)
    h = 1e-5
    for a, closes in ((np.array(found.values["closed"]), True), (np.array(found.values["open"]), False)):
        gaps = [np.subtract(*ends(q + v * t + a * t * t / 2)) for t in (-h, 0.0, h)]
        assert np.abs(gaps[2] - gaps[0]).max() / (2 * h) < 1e-7
        second = np.abs(gaps[2] - 2 * gaps[1] + gaps[0]).max() / h**2
        assert (second < 1e-4) == closes
    # d'Alembert: along the one direction that the loop leaves, nothing but tau - bias accelerates.
    reference = Reference(load(models.path("four_bar.xml")))
    J = np.stack([np.subtract(*ends(q + 1e-6 * e)) - np.subtract(*ends(q - 1e-6 * e)) for e in np.eye(3)], axis=1)
    free = np.linalg.svd(J)[2][-1]
    tau = reference.inverse_dynamics(q[None], v[None], np.array(found.values["closed"])[None])[0]
    assert abs(free @ tau) < 1e-7 * np.abs(tau).max()
    assert found.values["apart"] < 1e-9


def test_rank_redundancy_and_drift_are_what_they_are_said_to_be():
    """Two of three rows hold a plane pin; doubled rows change no motion; drift falls with the fourth power."""
    found = explained("loops", "four_bar.xml")
    once, twice = table(found, "Every closure once and twice")
    assert [(r["rows"], r["rank"], r["redundant"]) for r in (once, twice)] == [(3, 2, 1), (6, 2, 4)]
    assert twice["not unique"] == 6
    assert twice["off in a"] < 1e-9
    assert twice["largest reaction"] == pytest.approx(once["largest reaction"] / 2)
    rows = table(found, "Largest |phi|")
    assert all(row["closed"] < 1e-3 < row["open tree"] for row in rows)
    assert rows[-1]["ratio"] == pytest.approx(16, rel=0.3)
    assert [r["one value"] for r in table(found, "Rows at an assembled state")] == ["yes", "no", "yes"]


def test_a_robot_without_a_loop_is_told_so_and_the_bundled_one_is_shown():
    """The sentence names both; numbers are those of the four-bar."""
    found = explained("loops", "two_rods.urdf")
    assert any("'two_rods' has no closure, so the bundled 'four_bar'" in w for s in found.sections for w in s.sentences)
    assert found.values["closed"] == explained("loops", "four_bar.xml").values["closed"]


def test_mimic_joints_are_loops_too(tmp_path):
    """The row of a mimic: both joints accelerate as it says; what has no rows here is named."""
    text = models.path("two_rods.urdf").read_text(encoding="utf-8")
    mimic = '<mimic joint="joint_1" multiplier="0.5" offset="0.1"/>'
    at = text.index('<joint name="joint_2"')
    at = text.index("</joint>", at)
    robot = tmp_path / "mimic.urdf"
    robot.write_text(text[:at] + mimic + text[at:], encoding="utf-8")
    found = explain("loops", robot)
    closed, opened = np.array(found.values["closed"]), np.array(found.values["open"])
    assert closed[1] == pytest.approx(0.5 * closed[0])
    assert abs(opened[1] - 0.5 * opened[0]) > 1e-3
