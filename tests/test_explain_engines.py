"""Engines that a topic asks: what crashes, hangs or is absent is a row, the others answer, and times are comparable."""

from __future__ import annotations

import json
import threading
import time

import numpy as np
import pytest
import wrong_processes
from engines_at_hand import needs
from rich.cells import cell_len
from typer.testing import CliRunner

from tautology import models
from tautology.adapters.reference import Reference
from tautology.harness import bench, registry
from tautology.harness.cli import app
from tautology.harness.explain import columns, cost, frames, growth, wrenches
from tautology.harness.explain.asked import Asked, Roll, seconds
from tautology.harness.explain.topics import explain
from tautology.harness.load import open_model
from tautology.harness.stopwatch import least_seconds
from tautology.harness.workers import Limits

RUNNER = CliRunner()
ARM = models.path("tau_arm.urdf")
WRONG = {"killed": "crashed", "leaves": "crashed", "aborts": "crashed", "endless": "no answer", "exits": "failed"}


@pytest.fixture
def wrong_engines(tmp_path_factory, monkeypatch):
    """Make the wrong engines known here and in the processes that are started, and end those afterwards."""
    wrong_processes.known(tmp_path_factory, monkeypatch)
    yield
    bench.stop_workers()


def engines_of(found) -> dict[str, dict[str, object]]:
    """Return the last table's rows by engine."""
    (table,) = found.sections[-1].tables
    assert found.sections[-1].title == "Engines"
    return {str(row[0]): dict(zip([c.name for c in table.columns], row, strict=True)) for row in table.rows}


@needs("mujoco")
@pytest.mark.parametrize("topic", [columns, wrenches])
def test_an_engine_that_ends_is_a_row_and_the_others_answer(topic, monkeypatch, wrong_engines):
    """Signals, exit codes, endless loops and SystemExit, each in its words; MuJoCo stands in the tables after them."""
    del wrong_engines
    name = topic.__name__.rpartition(".")[2]
    monkeypatch.setattr(topic, "ENGINES", ("reference", *WRONG, "mujoco"))
    found = explain(name, ARM, limits=Limits(3.0, 0))
    rows = engines_of(found)
    assert {engine: rows[engine]["status"] for engine in WRONG} == WRONG
    assert "ended by SIGKILL" in str(rows["killed"]["why"])
    assert "it printed: fatal: bad joint" in str(rows["leaves"]["why"])
    assert "ended by SIGABRT" in str(rows["aborts"]["why"])
    assert "gave no answer within 3 s" in str(rows["endless"]["why"])
    assert rows["mujoco"]["status"] == "answered"
    answered = [row[0] for s in found.sections[:-1] for t in s.tables for row in t.rows if row[0] == "mujoco"]
    named = [c.name for s in found.sections[:-1] for t in s.tables for c in t.columns]
    assert answered
    assert not set(WRONG) & set(named)
    assert set(found.absent) == {rows[engine]["why"] for engine in WRONG}


@needs("mujoco")
def test_what_ended_once_is_not_asked_for_longer_chains(monkeypatch, wrong_engines):
    """One limit is waited for and not one per chain; times of MuJoCo are measured in its process."""
    del wrong_engines
    monkeypatch.setattr(cost, "ENGINES", ("endless", "killed", "mujoco"))
    monkeypatch.setattr(cost, "SIZES", (5, 6, 7))
    start = time.monotonic()
    found = explain("cost", ARM, limits=Limits(4.0, 0))
    assert time.monotonic() - start < 11
    assert {name: row["status"] for name, row in engines_of(found).items()} == {
        "endless": "no answer",
        "killed": "crashed",
        "mujoco": "answered",
    }
    assert "a chain of 5" in engines_of(found)["endless"]["why"]
    times = found.values["times"]["inverse"]
    assert set(times["mujoco"]) == {"5", "6", "7"}
    assert not {"endless", "killed"} & set(times)


@needs("mujoco", "pinocchio")
def test_the_command_survives_an_engine_that_ends(monkeypatch, wrong_engines, tmp_path):
    """Exit code 0; the row is on the console, on the page and in the document."""
    del wrong_engines
    monkeypatch.setattr(frames, "ENGINES", ("killed", "mujoco"))
    monkeypatch.setattr(frames, "CONVENTIONS", frames.CONVENTIONS | {"killed": frames.CONVENTIONS["pinocchio"]})
    monkeypatch.setattr(frames, "ORIENTATIONS", frames.ORIENTATIONS | {"killed": "none"})
    page, document = tmp_path / "page.html", tmp_path / "topic.json"
    result = RUNNER.invoke(
        app, ["explain", "frames", "--html", str(page), "--json", str(document)], env={"COLUMNS": "80"}
    )
    assert result.exit_code == 0, result.output
    held = json.loads(document.read_text(encoding="utf-8"))
    assert any("killed crashed on " in line for line in held["absent"])
    assert "SIGKILL" in result.stdout
    assert "killed crashed on " in page.read_text(encoding="utf-8")


def test_an_absent_engine_is_a_row(monkeypatch):
    """With the line that installs it."""
    asked = registry.version
    monkeypatch.setattr(registry, "version", lambda card: None if card.name == "mujoco" else asked(card))
    row = engines_of(explain("columns", ARM))["mujoco"]
    assert (row["version"], row["status"]) == (None, "not installed")
    assert registry.card_of("mujoco").install in str(row["why"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--timeout", "0"], "timeout 0.0 is not a number of seconds above 0"),
        (["--timeout", "nan"], "timeout nan is not a number of seconds above 0"),
    ],
)
def test_limits_that_are_none_are_refused(arguments, words):
    """As `check` refuses them."""
    result = RUNNER.invoke(app, ["explain", "columns", *arguments])
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"{words}\n")


def test_what_comes_first_stands_unless_the_engine_is_gone_for_good():
    """The roll: a second word does not hide the first, a crash does."""
    roll = Roll()
    roll.note("a", "cannot", "m", "one")
    roll.note("a", "failed", "m", "two")
    assert roll.sentences == ("a cannot be asked on m: one",)
    roll.note("a", "crashed", "m", "three")
    roll.note("a", "no answer", "m", "four")
    assert roll.sentences == ("a crashed on m: three",)
    assert roll.gone("a")
    assert not roll.gone("b")
    assert Roll().section() is None


@needs("mujoco", "pinocchio")
@pytest.mark.parametrize("topic", ["apis", "frames"])
def test_engines_answer_in_their_own_processes_as_in_this_one(topic):
    """The same numbers, bit by bit."""
    robot = models.path("tau_walker.urdf")
    here, there = explain(topic, robot), explain(topic, robot, limits=Limits())
    for key in ("calls", "omitted", "measured"):
        assert here.values.get(key) == there.values.get(key)
    assert [s.title for s in here.sections] == [s.title for s in there.sections]


# --- Time -------------------------------------------------------------------------------------------------------------
def test_others_on_the_machine_do_not_count():
    """Processor time: a nap is none, a loop is what it takes."""

    def busy() -> None:
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass

    assert least_seconds(lambda: time.sleep(0.05)) < 0.01
    assert 0.02 <= least_seconds(busy) < 0.03


@needs("mujoco")
def test_an_engine_is_timed_in_its_process_without_the_way_there():
    """Less than the wall clock sees of a call, more than nothing; other threads of this process do not count."""
    loaded = open_model(ARM)
    q, v, a = np.random.default_rng(0).uniform(-0.5, 0.5, (3, 200, loaded.tree.nv))
    (engine,) = Asked(loaded.tree, loaded.given, limits=Limits()).opened(("mujoco",))
    stop = threading.Event()

    def spin() -> None:
        while not stop.is_set():
            sum(range(1000))

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        start = time.perf_counter()
        engine.session.inverse_dynamics(q, v, a)
        wall = time.perf_counter() - start
        taken = seconds(engine.session, "inverse_dynamics", q=q, v=v, a=a)
    finally:
        stop.set()
        thread.join()
    assert 1e-5 < taken < wall
    here = seconds(Reference(loaded.tree), "inverse_dynamics", q=q, v=v, a=a)
    assert here > 1e-5


# --- Growth -----------------------------------------------------------------------------------------------------------
def test_a_polynomial_is_continued_exactly_and_only_if_it_holds():
    """A cubic of large numbers to the last digit; what is no cubic stays unknown beyond the check."""

    def cubic(n: int) -> int:
        return 7 * n**3 - 11 * n**2 + 13 * n - 5

    known = growth.Known((5, 10, 20, 50), 100)
    asked: list[int] = []

    def count(sizes) -> list[int]:
        asked.extend(sizes)
        return [cubic(n) for n in sizes]

    found = growth.grown(count, (5, 10, 100, 200, 10**6), known)
    assert found.totals == {n: cubic(n) for n in (5, 10, 100, 200, 10**6)}
    assert (found.counted, max(asked)) == (100, 100)
    bent = growth.grown(lambda sizes: [cubic(n) + (n == 100) for n in sizes], (5, 100, 200), known)
    assert bent.totals == {5: cubic(5), 100: cubic(100) + 1}
    whole = growth.grown(lambda sizes: [n**9 for n in sizes], (5, 200), None)
    assert (whole.totals, whole.counted) == ({5: 5**9, 200: 200**9}, 200)


def test_the_continued_counts_are_those_of_longer_chains():
    """Walker-Orin and the Lagrangian beyond a check, against the counter there."""
    from tautology.adapters.textbook import counting  # noqa: PLC0415

    for name, counts, known, n in (
        (counting.WALKER_ORIN, counting.spatial_counts, growth.Known((5, 6, 8, 10), 12), 40),
        (counting.LAGRANGE, counting.planar_counts, growth.Known((5, 6, 7, 8, 10), 12), 20),
    ):

        def count(sizes, counts=counts, name=name) -> list[int]:
            return [x.total for x in counts(sizes, [name])[name]]

        found = growth.grown(count, (5, n), known)
        assert found.totals[n] == count([n])[0]
        assert found.counted == 12


def test_a_slope_is_that_of_the_largest_sizes():
    """Short chains do not count, and one size has no slope."""
    assert growth.slope({5: 1e9, 10: 1e3, 100: 1e5, 1000: 1e7}) == pytest.approx(2)
    assert growth.slope({5: 1.0}) is None


# --- Models of a reader's own -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("topic", ["columns", "torque", "recursion", "wrenches", "loops"])
def test_names_of_any_script_fit_a_narrow_console(topic, width, tmp_path):
    """Wide letters count twice, nothing is coloured when nobody looks, one dof is one."""
    robot = tmp_path / "name.urdf"
    text = models.path("horizontal_rod.urdf").read_text(encoding="utf-8")
    robot.write_text(text.replace('"lift"', '"\u5173\u8282_\u00f6"'), encoding="utf-8")
    result = RUNNER.invoke(app, ["explain", topic, str(robot)], env={"COLUMNS": str(width), "NO_COLOR": "1"})
    assert result.exit_code == 0, result.output
    assert max(cell_len(line) for line in result.stdout.split("\n")) <= width
    assert "\x1b" not in result.stdout
    if topic != "loops":
        assert "\u5173\u8282_\u00f6" in result.stdout
        assert "1 dof" in result.stdout
        assert "1 dofs" not in result.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "this is a directory; a robot model is one file"),
        ('<robot name="x"><link', "this is not well-formed XML"),
        ('<robot name="x"><link name="a"/></robot>', "cannot move"),
    ],
)
def test_models_that_cannot_be_shown_are_one_sentence(text, words, tmp_path):
    """Exit code 2, nothing on stdout."""
    robot = tmp_path / "robot.urdf"
    if text is None:
        robot.mkdir()
    else:
        robot.write_text(text, encoding="utf-8")
    result = RUNNER.invoke(app, ["explain", "torque", str(robot)])
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert words in result.stderr
