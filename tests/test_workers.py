"""Engines in processes of their own: whatever one of them does is a named result, and the others answer as ever."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import wrong_processes

import tautology
from tautology.harness import bench
from tautology.harness.errors import EngineAbsent, EngineRefused, RequestError, Source
from tautology.harness.load import load
from tautology.harness.request import Request
from tautology.harness.run import check, check_files
from tautology.harness.states import sample
from tautology.harness.worker_server import failure
from tautology.harness.workers import Limits, Worker, taken

ARM = str(Path(tautology.__file__).parent / "models" / "tau_arm.urdf")


@pytest.fixture(autouse=True)
def wrong_engines(tmp_path_factory, monkeypatch):
    """Make the wrong engines known here and in the processes that are started, and end those afterwards."""
    wrong_processes.known(tmp_path_factory, monkeypatch)
    yield
    bench.stop_workers()


def asked(engine: str, **more):
    """Return what the arm's result says of one wrong engine on the neutral path, and of MuJoCo beside it."""
    request = Request(engines=[engine, "mujoco"], path="neutral", states=8, in_process=False, **more)
    rows = {r.engine: r for r in check_files([ARM], request).models[0].engines}
    return rows[engine], rows["mujoco"]


@pytest.mark.parametrize(
    ("engine", "status", "words"),
    [
        ("killed", "crashed", "inverse_dynamics: ended by SIGKILL (at state 0)"),
        ("aborts", "crashed", "while loading: ended by SIGABRT"),
        ("leaves", "crashed", "ended with exit code 7; it printed: fatal: bad joint"),
        ("endless", "timeout", "inverse_dynamics: gave no answer within 3 s"),
    ],
)
def test_an_engine_that_ends_harms_nobody_else(engine, status, words):
    """Signals, exit codes and endless loops are named; the engine beside it answers every question."""
    wrong, other = asked(engine, timeout=3.0)
    assert wrong.status == status
    assert words in wrong.message
    assert other.status == "agree"
    assert all(row.passed for row in other.quantities)


def test_a_crash_names_the_state():
    """The state at which the process ends is found, with the last words of the engine."""
    tree = load(ARM)
    drawn = sample(tree, 11)
    q = drawn.q.copy()
    q[7, 0] = wrong_processes.MARK
    result = check(ARM, engines=["segfault"], path="neutral", states=replace(drawn, q=q), in_process=False)
    row = result.models[0].engines[1]
    assert row.status == "crashed"
    assert "ended by SIGSEGV" in row.message
    assert "(at state 7)" in row.message
    assert "about to touch a null pointer" in row.message
    assert result.exit == 3


def test_memory_is_limited():
    """An engine that asks for 30 GB gets an error, and the machine keeps its memory."""
    wrong, other = asked("hungry", memory=4096)
    assert wrong.status == "differs"
    note = next(row.note for row in wrong.quantities if row.quantity == "tau")
    assert "MemoryError" in note
    assert other.status == "agree"


def test_a_flood_of_output_is_taken_and_its_end_kept(capfd):
    """100 MB on both streams block nobody and do not reach our own streams."""
    wrong, other = asked("flood")
    assert (wrong.status, other.status) == ("agree", "agree")
    printed = capfd.readouterr()
    assert printed.out == printed.err == ""
    (worker,) = (w for (term, _), w in bench._workers.items() if term.name == "flood")
    assert 0 < len(worker.printed) < 200_000


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        ("exits", "SystemExit: precondition failed"),
        ("short", "expected numbers of (8, 7)"),
        ("nothing", "answered object"),
        ("thing", "cannot be sent"),
    ],
)
def test_answers_that_are_none_are_named(engine, words):
    """What an engine raises or hands out in place of numbers is in the note, as in our own process."""
    wrong, other = asked(engine)
    assert wrong.status == "differs"
    assert any(words in row.note for row in wrong.quantities), [row.note for row in wrong.quantities]
    assert other.status == "agree"


def test_numbers_that_are_none_and_inputs_that_are_changed_are_told():
    """NaN is an infinite error at its state; an argument that was written into is named."""
    wrong, _ = asked("notanumber")
    row = next(row for row in wrong.quantities if row.quantity == "tau")
    assert (row.error, row.state, row.passed) == (np.inf, wrong_processes.AT, False)
    wrong, _ = asked("writes")
    row = next(row for row in wrong.identities if row.identity == "inputs_unchanged")
    assert not row.passed
    assert "q" in f"{row.where} {row.note}"


def test_a_process_that_died_is_started_for_the_next_model():
    """One model that kills an engine costs that model alone."""
    result = check_files([ARM, ARM], Request(engines=["killed"], path="neutral", states=3, in_process=False))
    assert [m.engines[1].status for m in result.models] == ["crashed", "crashed"]
    both = check_files([ARM, ARM], Request(engines=["mujoco"], states=3, in_process=False))
    assert [e.status for m in both.models for e in m.engines] == ["agree"] * 6
    (worker,) = (w for (term, _), w in bench._workers.items() if term.name == "mujoco")
    assert worker.starts == 1


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_answers_are_bit_for_bit_those_of_our_own_process(engine):
    """Rows, findings and notes are the same with and without a process in between."""

    def rows(in_process):
        result = check(ARM, engines=[engine], states=16, in_process=in_process)
        return [replace(r, seconds={}, held=None) for r in result.models[0].engines]

    assert repr(rows(True)) == repr(rows(False))


def test_refusals_keep_place_and_line(tmp_path):
    """An error of the harness that is raised over there is raised here, with all that it says."""
    text = Path(ARM).read_text().replace('<mass value="', '<mass value="0" was="', 2)
    file = tmp_path / "light.urdf"
    file.write_text(text)
    rows = [
        check(str(file), engines=["mujoco"], path="native", states=3, in_process=here).models[0].engines[1]
        for here in (True, False)
    ]
    assert rows[0].status == rows[1].status
    assert rows[0].message == rows[1].message
    assert rows[0].findings == rows[1].findings


def test_errors_travel_with_their_fields():
    """The class, the words and every field."""
    error = EngineRefused("no", "refused.mesh", "hand", Source("a.urdf", 7))
    with pytest.raises(EngineRefused, match="no") as caught:
        taken(failure(error))
    assert (caught.value.kind, caught.value.where, caught.value.source) == ("refused.mesh", "hand", Source("a.urdf", 7))


def test_ctrl_c_leaves_no_process(tmp_path):
    """Interrupted while an engine works: all over within a second or so, no process or file left or half-written."""
    pid_file, out = tmp_path / "pid", tmp_path / "r.json"
    command = [sys.executable, "-m", "tautology", "check", ARM, "--engine", "slow", "--json", str(out)]
    environment = {**os.environ, "SLOW_PID": str(pid_file), "TMPDIR": str(temporary(tmp_path))}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not (pid_file.exists() and pid_file.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(2)
    start = time.monotonic()
    _, errors = process.communicate(timeout=30)
    assert time.monotonic() - start < 3
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert not out.exists()
    assert not alive(int(pid_file.read_text()))
    assert not list(temporary(tmp_path).iterdir())


def test_a_killed_harness_leaves_no_process(tmp_path):
    """Even when nobody can clean up, an engine in an endless loop goes with us."""
    pid_file = tmp_path / "pid"
    command = [sys.executable, "-m", "tautology", "check", ARM, "--engine", "slow"]
    environment = {**os.environ, "SLOW_PID": str(pid_file), "TMPDIR": str(temporary(tmp_path))}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (pid_file.exists() and pid_file.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.wait()
    time.sleep(0.5)
    assert not alive(int(pid_file.read_text()))
    assert not list(temporary(tmp_path).iterdir())


def test_a_process_that_is_stopped_leaves_no_temporary_file(tmp_path, monkeypatch):
    """They are in a folder of its own, also where it crashed or gave no answer."""
    monkeypatch.setenv("TMPDIR", str(temporary(tmp_path)))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("SLOW_PID", str(tmp_path / "pid"))
    asked("slow", timeout=2)
    asked("segfault")
    bench.stop_workers()
    assert not list(temporary(tmp_path).iterdir())


def temporary(folder: Path) -> Path:
    """Return a folder for temporary files alone."""
    own = folder / "temporary"
    own.mkdir(exist_ok=True)
    return own


def alive(pid: int) -> bool:
    """Return whether a process runs; one that waits to be buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_an_interpreter_without_the_engine_is_absent(tmp_path):
    """The words of the loader say why."""
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    for python, words in ((str(tmp_path / "none"), "cannot be started"), (str(bare), "No module named")):
        with pytest.raises(EngineAbsent, match=words):
            _ = Worker("mujoco", python, Limits(20)).version


def test_limits_out_of_range_are_refused():
    """A limit must be a number that means something."""
    with pytest.raises(RequestError, match="timeout"):
        Request(timeout=0)
    with pytest.raises(RequestError, match="memory"):
        Request(memory=-1)


def test_an_mjcf_that_hangs_the_compiler_is_unusable_and_no_more(tmp_path):
    """MuJoCo reads MJCF for every engine: it does so in its own process, and the next file is read as ever."""
    hostile, sound = tmp_path / "keys.xml", Path(ARM).with_suffix(".xml")
    hostile.write_text(
        '<mujoco><size nkey="100000000"/><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>'
    )
    request = Request(engines=["mujoco"], states=3, in_process=False, timeout=5.0, memory=2048)
    result = check_files([str(hostile), str(sound)], request)
    (row,) = result.unusable
    assert row.file == str(hostile)
    assert "MuJoCo" in row.message
    assert [e.status for e in result.models[0].engines] == ["agree"] * 3
