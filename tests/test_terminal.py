"""A terminal of any width, names of any length, and an interrupt at any time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tautology.harness.cli import app
from tautology.harness.cli_output import NARROWEST, WIDEST
from tautology.reports.text import NAME, TEXT, WORD, sentence, shortened, shown

ARM = Path(__file__).parents[1] / "models" / "tau_arm.urdf"
CHECK = ["check", str(ARM), "--engine", "mujoco", "--in-process", "--states", "2"]
LONG = "n" * 11_000_000


@pytest.mark.parametrize("columns", ["0", "1", "20", "99999999", "9" * 40, "wide"])
@pytest.mark.parametrize("arguments", [CHECK, ["--help"], ["check", "--nothing"]], ids=lambda words: words[-1])
def test_lines_are_as_wide_as_can_be_read(columns: str, arguments: list[str]) -> None:
    """Whatever COLUMNS says: nothing is lost, and nothing takes for ever."""
    run = subprocess.run(
        [sys.executable, "-m", "tautology", *arguments],
        env={**os.environ, "COLUMNS": columns, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert run.returncode == (2 if "--nothing" in arguments else 0), run.stderr
    lines = (run.stdout or run.stderr).splitlines()
    assert sum(len(line.strip()) for line in lines) > 100
    assert max(map(len, lines)) <= WIDEST
    if columns == "0":
        assert max(map(len, lines)) <= max(NARROWEST, len(f"  {ARM}"))  # a path stays in one piece


@pytest.mark.timeout(60)
@pytest.mark.parametrize("arguments", [[], ["--quiet"], ["--verbose"]], ids=str)
def test_a_robot_with_a_name_of_megabytes_is_printed_at_once(arguments: list[str], tmp_path: Path) -> None:
    """The name is cut, in reports and in sentences."""
    path = tmp_path / "robot.urdf"
    path.write_text(ARM.read_text().replace('name="tau_arm"', f'name="{LONG}"'))
    run = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"}).invoke(app, ["check", str(path), *CHECK[2:], *arguments])
    assert run.exit_code == 0, run.stderr
    assert len(run.stdout) < 20_000
    assert "n" * (NAME + 1) not in run.stdout.replace("\n  ", "")
    run = CliRunner().invoke(app, ["check", str(path), *CHECK[2:], "--states", "100000000"])
    assert run.exit_code == 2
    assert "do not fit into memory" in run.stderr
    assert len(run.stderr) < 2 * WORD


def test_long_words_and_texts_are_cut_in_the_middle() -> None:
    """What names share stands at their beginnings."""
    assert shown("a" * WORD) == "a" * WORD
    assert shown("a" * WORD + "b") == "a" * 499 + "…" + "a" * 499 + "b"
    assert len(shown("ab " * TEXT)) == TEXT
    assert sentence(f"robot {LONG} has no link").endswith("n has no link")
    assert len(sentence(f"robot {LONG} has no link")) == len("robot  has no link") + WORD
    assert shortened("abcdefg", 5) == "ab…fg"


@pytest.mark.skipif(os.name != "posix", reason="a signal ends a process")
def test_an_interrupt_at_the_start_has_no_traceback(tmp_path: Path) -> None:
    """While the command line itself is loaded, nobody can catch it."""
    (tmp_path / "typer.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(5)\n")
    run = subprocess.run(
        [sys.executable, "-m", "tautology", "--version"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (-signal.SIGINT, "")


def test_later_interrupts_are_python_s() -> None:
    """So that a run can say that it was interrupted; one that ignores interrupts goes on doing so."""
    code = (
        "import signal, sys, tautology.__main__ as first, tautology.harness.cli as cli\n"
        "if sys.argv[1:]: signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "cli.main = lambda: print(repr(signal.getsignal(signal.SIGINT)))\n"
        "first.main()\n"
    )
    said = [
        subprocess.run([sys.executable, "-c", code, *more], capture_output=True, text=True, check=True).stdout
        for more in ([], ["ignore"])
    ]
    assert "default_int_handler" in said[0]
    assert "SIG_IGN" in said[1]
