"""Reports for machines from the command line: at once or later the same bytes, faults in a sentence, fast and small."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import parquet

from tautology import models

FILES = {"markdown": "r.md", "junit": "r.xml", "sarif": "r.sarif", "frames": "frames"}
LAMP, ARM = models.path("desk_lamp.urdf"), models.path("planar_arm.urdf")

# A hundred robots with five engines on both paths, 29 dofs and 64 states; every way to end among them.
LARGE = """
import itertools, resource, sys, time
from dataclasses import replace
from pathlib import Path
import numpy as np
import sample_results as sample
from tautology.harness.results import QUANTITIES, Result
from tautology.harness.saved import Saved
from tautology.reports.junit import junit
from tautology.reports.markdown import markdown
from tautology.reports.parquet import write_frames
from tautology.reports.sarif import sarif

states, dofs, bodies = 64, 29, 40
makers = itertools.cycle([sample.agreeing, sample.differing, sample.refused, sample.faulty, sample.crashed])
who = [(name, path) for name in ("reference", "pinocchio", "mujoco", "drake", "dart") for path in ("native", "neutral")]
made = []
for n in range(100):
    model = next(makers)()
    names = {"dofs": tuple(f"d{j}" for j in range(dofs)), "bodies": tuple(f"b{j}" for j in range(bodies))}
    rows = itertools.cycle(model.engines)
    engines = [replace(next(rows), engine=name, path=path, **names) for name, path in who]
    wide = {"poses": (bodies,), "velocities": (bodies,)}
    wide |= dict.fromkeys(("tau", "bias", "gravity", "acceleration"), (dofs,))
    arrays = {}
    for quantity in QUANTITIES:
        arrays[f"scale/{quantity}"] = np.ones((states, *wide.get(quantity, ())))
        for k in range(len(engines)):
            arrays[f"e{k}/digits/{quantity}"] = np.full(states, 15.0)
            arrays[f"e{k}/error/{quantity}"] = np.full((states, *wide.get(quantity, ())), 1e-15)
    made.append(replace(model, file=f"robots/{n}.urdf", engines=tuple(engines), arrays=arrays))
saved = Saved.of(Result("check", sample.VERSIONS, tuple(made)))
start = time.process_time()
sizes = [len(report(saved)) for report in (markdown, junit, sarif)]
write_frames(saved, Path(sys.argv[1]))
seconds = time.process_time() - start
print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, *sizes)
"""


def tautology(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    command = [sys.executable, "-m", "tautology", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def options(folder: str) -> list[str]:
    """Return the options that make every report, in a folder."""
    return [part for name, file in FILES.items() for part in (f"--{name}", f"{folder}/{file}")]


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize(
    "request_",
    [("check", LAMP, "bad.urdf", "--states", "9"), ("diff", LAMP, ARM), ("diff", ARM, ARM)],
    ids=["check", "diff", "same"],
)
def test_a_report_made_later_has_the_same_bytes(request_: tuple[str | Path, ...], tmp_path: Path) -> None:
    """Markdown, JUnit, SARIF and every table, from the saved result and its arrays."""
    (tmp_path / "bad.urdf").write_text("<robot", encoding="utf-8")
    (tmp_path / "now").mkdir()
    (tmp_path / "later").mkdir()
    ran = tautology(*request_, "--quiet", "--json", "r.json", *options("now"), cwd=tmp_path)
    assert ran.returncode == json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["exit"], ran.stderr
    ran = tautology("report", "r.json", *options("later"), cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    now = contents(tmp_path / "now")
    assert len(now) == 3 + (8 if request_[0] == "check" else 5)
    assert now == contents(tmp_path / "later")


def test_without_the_arrays_all_but_the_answers_is_there(tmp_path: Path) -> None:
    """The table of answers is empty and says why; the rest has the same bytes."""
    assert tautology("check", ARM, "-q", "--json", "r.json", "--frames", "now", cwd=tmp_path).returncode == 0
    (tmp_path / "r.arrays.npz").unlink()
    assert tautology("report", "r.json", "--frames", "later", cwd=tmp_path).returncode == 0
    now, later = contents(tmp_path / "now"), contents(tmp_path / "later")
    assert [name for name in now if now[name] != later[name]] == ["answers.parquet"]
    assert parquet.read_metadata(tmp_path / "later" / "answers.parquet").num_rows == 0


@pytest.mark.parametrize("report", FILES)
def test_a_damaged_result_is_exit_2_in_a_sentence(report: str, tmp_path: Path) -> None:
    """What every result has is not there: no traceback, and no half of a report."""
    head = {"schema": "tautology/1", "command": "check", "exit": 0, "versions": {}}
    (tmp_path / "r.json").write_text(json.dumps({**head, "models": [{"file": "a"}], "unusable": []}), encoding="utf-8")
    ran = tautology("report", "r.json", f"--{report}", "out", cwd=tmp_path)
    assert ran.returncode == 2
    assert re.fullmatch(r"r\.json is damaged.*\n", ran.stderr)
    assert [file for file in contents(tmp_path) if file != "r.json"] == []


def test_without_pyarrow_the_command_says_what_to_install(tmp_path: Path) -> None:
    """Before anything is computed."""
    code = (
        "import importlib.util as u, sys; real = u.find_spec; "
        "u.find_spec = lambda name, *rest: None if name == 'pyarrow' else real(name, *rest); "
        "from tautology.harness.cli import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", code, "check", str(ARM), "--frames", "f"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert (
        ran.stderr == "--frames writes Parquet with pyarrow, which is not installed: pip install 'tautology[frames]'\n"
    )
    assert contents(tmp_path) == {}


@pytest.mark.slow
def test_a_hundred_robots_with_five_engines_are_reported_in_five_seconds(tmp_path: Path) -> None:
    """All four together, in processor time; in less than 500 MB with the result itself."""
    command = [sys.executable, "-c", LARGE, str(tmp_path / "frames")]
    ran = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    seconds, megabytes, *sizes = map(float, ran.stdout.split())
    assert seconds < 5
    assert megabytes < 500
    assert sizes[0] <= 60_000
    assert parquet.read_metadata(tmp_path / "frames" / "answers.parquet").num_rows == 100 * 10 * 10 * 64
