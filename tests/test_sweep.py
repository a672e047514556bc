"""Sweeps: every model once, whatever is killed; the same results after any number of stops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tautology
from tautology.harness.collect import collect
from tautology.harness.errors import RequestError
from tautology.harness.pools import processes
from tautology.harness.request import Request
from tautology.harness.sweep import Sweep, whole

MODELS = Path(tautology.__file__).parent / "models"
FILES = [str(MODELS / name) for name in ("planar_arm.urdf", "two_rods.urdf", "horizontal_rod.urdf", "tau_arm.urdf")]
ASKED = Request(engines=("mujoco",), path="neutral", states=4, in_process=False)
VERSIONS = {"tautology": "0.1.0", "mujoco": "4.0.0"}


def ignore(_line: dict) -> None:
    """Take no note of a finished model."""


def names(folder: Path) -> list[str]:
    """Return the files of the finished lines, as often as they stand there."""
    return [json.loads(line)["file"] for line in (folder / "results.jsonl").read_text().splitlines()]


def sweep_command(folder: Path, *more: str) -> list[str]:
    """Return a command that sweeps the files."""
    asked = ("--engine", "mujoco", "--path", "neutral", "--states", "4", "--jobs", "2")
    return [sys.executable, "-m", "tautology", "sweep", *FILES, "-o", str(folder), *asked, *more]


def plain(line: dict) -> dict:
    """Return a line without the times of its engines."""
    for model in line["models"]:
        for engine in model["engines"]:
            del engine["seconds"]
    return line


def test_models_are_found_in_files_folders_and_patterns(tmp_path):
    """Each once; in a folder only what is a model; what is named is taken as it is."""
    (tmp_path / "deep").mkdir()
    for name, text in (("a.urdf", "<robot/>"), ("deep/b.xml", "<mujoco/>"), ("deep/c.xml", "<other/>"), ("d.txt", "x")):
        (tmp_path / name).write_text(text.replace("/>", " />"))
    a, b = str(tmp_path / "a.urdf"), str(tmp_path / "deep" / "b.xml")
    assert collect([str(tmp_path)]) == [a, b]
    assert collect([a, str(tmp_path), a]) == [a, b]
    assert collect([str(tmp_path / "**" / "*.xml")]) == [b, str(tmp_path / "deep" / "c.xml")]
    assert collect([str(tmp_path / "d.txt")]) == [str(tmp_path / "d.txt")]
    with pytest.raises(RequestError, match="nothing fits"):
        collect([str(tmp_path / "*.sdf")])


def test_a_finished_model_is_not_repeated_and_a_changed_one_is(tmp_path):
    """What stands in the folder counts, as long as the file is the one that was checked."""
    robot = tmp_path / "robot.urdf"
    robot.write_text(Path(FILES[0]).read_text())
    files = [str(robot), FILES[1]]
    sweep = Sweep(tmp_path / "out", ASKED, VERSIONS)
    assert sweep.begin(restart=False) == {}
    sweep.run(files, processes(1), 2, ignore)
    assert set(sweep.begin(restart=False)) == set(files)
    robot.write_text(robot.read_text().replace("planar", "plane"))
    assert set(sweep.begin(restart=False)) == {FILES[1]}
    assert sweep.begin(restart=True) == {}


def test_another_request_or_version_is_another_sweep(tmp_path):
    """Lines of different questions are not mixed."""
    Sweep(tmp_path, ASKED, VERSIONS).begin(restart=False)
    other = Request(engines=("mujoco",), path="neutral", states=8, in_process=False)
    with pytest.raises(RequestError, match="states 4, now 8"):
        Sweep(tmp_path, other, VERSIONS).begin(restart=False)
    with pytest.raises(RequestError, match=r"mujoco '4\.0\.0', now '3\.3\.7'"):
        Sweep(tmp_path, ASKED, {**VERSIONS, "mujoco": "3.3.7"}).begin(restart=False)


@pytest.mark.parametrize("tail", [b"", b'{"file": "', b"\xff\x00", b'{"file": "x", "sha256": ""}'])
def test_a_line_that_a_kill_cut_off_is_taken_away(tmp_path, tail):
    """Half a line at the end, with or without sense, costs that model alone."""
    sweep = Sweep(tmp_path, ASKED, VERSIONS)
    sweep.begin(restart=False)
    sweep.run(FILES[:2], processes(1), 2, ignore)
    before = sweep.results.read_bytes()
    sweep.results.write_bytes(before + tail)
    assert set(sweep.begin(restart=False)) == set(FILES[:2])
    assert sweep.results.read_bytes() == before


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_sweep_that_is_stopped_goes_on(tmp_path, number):
    """Killed at some point and started again, it ends with the results of one that was left alone."""
    alone, stopped = tmp_path / "alone", tmp_path / "stopped"
    assert subprocess.run(sweep_command(alone, "-q"), check=False, capture_output=True).returncode == 0
    process = subprocess.Popen(sweep_command(stopped), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    results = stopped / "results.jsonl"
    while not (results.exists() and results.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    process.wait(timeout=20)
    done = names(stopped)
    assert done
    assert subprocess.run(sweep_command(stopped), check=False, capture_output=True).returncode == 0
    assert names(stopped)[: len(done)] == done
    assert sorted(names(stopped)) == sorted(FILES)
    lines = [
        {line["file"]: plain(line) for line in map(json.loads, (f / "results.jsonl").read_text().splitlines())}
        for f in (alone, stopped)
    ]
    assert lines[0] == lines[1]
    assert (stopped / "index.html").read_text().startswith("<!doctype html>")


def test_a_killed_process_of_the_pool_costs_no_model(tmp_path):
    """The pool is made anew, and what it had in hand is asked again."""
    killed = []

    def pool():
        executor = processes(1)()
        if not killed:
            killed.append(executor.submit(os.getpid).result())
            executor.submit(os.kill, killed[0], signal.SIGKILL)
        return executor

    sweep = Sweep(tmp_path, ASKED, VERSIONS)
    sweep.begin(restart=False)
    sweep.run(FILES[:2], pool, 2, ignore)
    assert killed
    assert sorted(names(tmp_path)) == sorted(FILES[:2])


def test_a_bad_model_never_stops_a_sweep(tmp_path):
    """It is a line like any other, and the document of all models tells it."""
    bad = tmp_path / "bad.urdf"
    bad.write_text("<robot")
    sweep = Sweep(tmp_path / "out", ASKED, VERSIONS)
    sweep.begin(restart=False)
    sweep.run([str(bad), FILES[0]], processes(1), 2, ignore)
    lines = dict(sweep.finished())
    assert (lines[str(bad)]["exit"], lines[FILES[0]]["exit"]) == (2, 0)
    document = whole([lines[FILES[0]], lines[str(bad)]])
    assert (document["exit"], len(document["models"]), len(document["unusable"])) == (2, 1, 1)


@pytest.mark.slow
def test_a_dask_cluster_loses_no_model_with_a_worker(tmp_path):
    """Two workers on this machine, one of which is killed in the middle: every model is there once."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        folder = tmp_path / "out"
        command = [*sweep_command(folder), "--dask", cluster.scheduler_address]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 90
        results = folder / "results.jsonl"
        while not (results.exists() and results.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output.decode()
    assert sorted(names(folder)) == sorted(FILES)
