"""The command line: options, exit codes, messages, files written whole or not at all."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest
import sample_results as samples
from engines_at_hand import ASK_CORE
from typer.testing import CliRunner

from tautology.harness import registry, run
from tautology.harness.cli import app
from tautology.harness.errors import RequestError
from tautology.harness.states import States

RUNNER = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"})
ENDINGS = {
    "agree": (samples.result(samples.agreeing()), 0),
    "differs": (samples.result(samples.differing()), 1),
    "refused": (samples.result(samples.refused()), 1),
    "crashed": (samples.result(samples.crashed()), 3),
    "not compared": (samples.result(samples.silent()), 2),
    "unusable": (samples.result(unusable=(samples.BAD,)), 2),
    "unusable beside a crash": (samples.result(samples.crashed(), unusable=(samples.BAD,)), 2),
}
ROD = """<robot name="rod"><link name="base"/><link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
<inertia ixx="0.01" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""


@pytest.fixture
def answer(monkeypatch):
    """Return a function that makes every check end with a given result, and what was asked of it."""
    asked = []

    def give(result):
        def check_files(files, request):
            asked.append((files, request))
            if isinstance(result, BaseException):
                raise result
            return result

        monkeypatch.setattr(run, "check_files", check_files)
        return asked

    return give


def tautology(*arguments: str, code: str = "", **options) -> subprocess.CompletedProcess:
    """Run the command in a process of its own, after some code."""
    script = f"import sys; sys.argv[0] = 'tautology'\n{code}\nfrom tautology.harness.cli import main; main()"
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, check=False, **({"capture_output": True, "text": True} | options))


# Code for a process whose checks all end alike, without an engine.
ENDED = """
import sys; sys.path.insert(0, {tests!r})
import sample_results as samples
from tautology.harness import run
run.check_files = lambda files, request: samples.result(samples.{name}())
"""


def ended(name: str) -> str:
    """Return code after which every check ends as this sample."""
    return ENDED.format(tests=str(Path(__file__).parent), name=name)


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_exit_code_is_that_of_the_result(answer, ending):
    """Scripts read the exit code, quiet or not."""
    result, code = ENDINGS[ending]
    answer(result)
    assert RUNNER.invoke(app, ["check", "arm.urdf"]).exit_code == code
    assert RUNNER.invoke(app, ["check", "arm.urdf", "--quiet"]).exit_code == code
    assert RUNNER.invoke(app, ["check", "arm.urdf", "--json", "-"]).exit_code == code


def test_every_option_reaches_the_request(answer):
    """What is typed is what is asked."""
    asked = answer(ENDINGS["agree"][0])
    options = "--engine mujoco --engine pinocchio --path native --base free --states 7 --seed 3 --tolerance 1e-6"
    RUNNER.invoke(app, ["check", "a.urdf", "b.xml", *options.split()], catch_exceptions=False)
    files, request = asked[0]
    assert list(files) == ["a.urdf", "b.xml"]
    assert list(request.engines) == ["mujoco", "pinocchio"]
    assert (request.path, request.base, request.states, request.seed) == ("native", "free", 7, 3)
    assert request.tolerance == 1e-6


def test_without_options_the_defaults_are_asked(answer):
    """All engines, both paths, the base of the file, 64 states of seed 0, 1e-9."""
    asked = answer(ENDINGS["agree"][0])
    RUNNER.invoke(app, ["check", "a.urdf"])
    request = asked[0][1]
    assert request.engines is None
    assert (request.path, request.base, request.states, request.seed) == ("both", "auto", 64, 0)
    assert request.tolerance == 1e-9


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "a.urdf", "--engine", "bullet"], "known engines: reference, pinocchio, mujoco"),
        (["check", "a.urdf", "--engine", "reference"], "no engine beside the reference"),
        (["check", "a.urdf", "--path", "sideways"], "'sideways' is not one of native, neutral, both"),
        (["check", "a.urdf", "--base", "loose"], "'loose' is not one of auto, fixed, free"),
        (["check", "a.urdf", "--tolerance", "2"], "2.0 is not between 0 and 1"),
        (["check", "a.urdf", "--tolerance", "nan"], "nan is not between 0 and 1"),
        (["check", "a.urdf", "--states", "0"], "--states"),
        (["check", "a.urdf", "--seed", "-1"], "--seed"),
        (["check", "a.urdf", "--states", "many"], "--states"),
        (["check", "a.urdf", "--states-file", "nowhere.npz"], "nowhere.npz"),
        (["check", "a.urdf", "b.urdf", "--save-states", "s.npz"], "states of one model; 2 files were given"),
        (["check"], "FILE"),
        (["check", "--no-such-option"], "--no-such-option"),
        (["chekc", "a.urdf"], "chekc"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_request_that_cannot_be_met_is_one_message_and_exit_2(arguments, words):
    """The message stands on stderr and says what is allowed; nothing stands on stdout."""
    run = RUNNER.invoke(app, arguments)
    assert run.exit_code == 2
    assert words in " ".join(re.sub("[│╭╮╰╯─]", " ", run.stderr).split())
    assert "Traceback" not in run.stderr
    assert run.stdout == ""


def test_an_engine_that_is_not_installed_is_exit_2_with_its_install_line(monkeypatch):
    """Who names an absent engine learns how to get it."""
    there = registry.version
    monkeypatch.setattr(registry, "version", lambda card: None if card.name == "mujoco" else there(card))
    run = RUNNER.invoke(app, ["check", "a.urdf", "--engine", "mujoco"])
    assert run.exit_code == 2
    assert "pip install 'mujoco>=4.0,<5'" in run.stderr


def test_a_file_that_cannot_be_used_is_one_message_with_file_and_line(answer):
    """The message is on stderr as it is, so that an editor finds the place."""
    answer(ENDINGS["unusable"][0])
    run = RUNNER.invoke(app, ["check", "robots/bad.urdf"])
    assert run.stderr == "robots/bad.urdf:3: joint 'a' has type 'screw'\n"
    assert run.stdout == ""


def test_a_bad_file_does_not_silence_the_others(answer):
    """With several files the verdicts on the good ones stand on stdout."""
    answer(samples.result(samples.agreeing(), unusable=(samples.BAD,)))
    run = RUNNER.invoke(app, ["check", "a.urdf", "robots/bad.urdf"])
    assert run.stdout.startswith("UNUSABLE  of 2 files, 1 cannot be used (robots/bad.urdf); 1 agrees.\n")
    assert "AGREE  robots/arm.urdf" in run.stdout
    assert run.stderr.count("\n") == 1


def test_quiet_is_the_verdict_only(answer):
    """One line per model, whatever its length."""
    answer(samples.result(samples.differing(), samples.agreeing()))
    lines = RUNNER.invoke(app, ["check", "a", "b", "--quiet"]).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["DIFFERS", "AGREE"]


def test_json_to_a_file_and_to_stdout_are_the_same(answer, tmp_path):
    """With - the document takes the place of the report."""
    answer(ENDINGS["differs"][0])
    target = tmp_path / "a result ü.json"
    report = RUNNER.invoke(app, ["check", "a.urdf", "--json", str(target)])
    assert report.stdout.startswith("DIFFERS")
    written = RUNNER.invoke(app, ["check", "a.urdf", "--json", "-"]).stdout
    assert json.loads(written) == json.loads(target.read_text(encoding="utf-8"))
    assert json.loads(written)["exit"] == 1
    assert list(tmp_path.iterdir()) == [target]


def test_csv_is_one_file_per_table_with_the_same_columns(answer, tmp_path):
    """Every table can be read back, with as many rows and the same columns."""
    result = samples.result(samples.agreeing(), samples.differing())
    answer(result)
    folder = tmp_path / "new" / "tables"
    assert RUNNER.invoke(app, ["check", "a", "b", "--csv", str(folder)]).exit_code == 1
    frames = result.frames()
    assert {file.name for file in folder.iterdir()} == {f"{name}.csv" for name in frames}
    for name, frame in frames.items():
        read = pd.read_csv(folder / f"{name}.csv")
        assert list(read.columns) == list(frame.columns)
        assert len(read) == len(frame)
    read = pd.read_csv(folder / "findings.csv")
    assert json.loads(read[read["kind"] == "inertia.rotation"]["expected"].item()) == [0.1, 0.1000000001, 0.1]
    models = pd.read_csv(folder / "models.csv")
    assert json.loads(models["dofs"][0]) == ["shoulder", "elbow", "wrist"]
    assert json.loads(models["states"][0])["strata"]["random"] == 62


@pytest.mark.parametrize("option", ["--json", "--csv", "--save-states"])
def test_an_output_that_cannot_be_written_is_said_before_the_run(answer, tmp_path, option):
    """Nobody waits for a result that has nowhere to go."""
    asked = answer(ENDINGS["agree"][0])
    (tmp_path / "file").write_text("here")
    targets = [tmp_path / "file" / "below"]
    targets += [tmp_path / "file"] if option == "--csv" else [tmp_path, tmp_path / "missing" / "result"]
    for target in targets:
        run = RUNNER.invoke(app, ["check", "a.urdf", option, str(target)])
        assert run.exit_code == 2
        assert run.stderr.startswith(f"cannot write {target}: ")
        assert run.stderr.count("\n") == 1
    assert not asked
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("ending", [KeyboardInterrupt(), RequestError("no"), ValueError("a fault")], ids=repr)
def test_a_run_that_ends_early_leaves_the_old_files(answer, tmp_path, ending):
    """What stood there before stands there after, and nothing beside it."""
    answer(ending)
    target = tmp_path / "result.json"
    target.write_text("old")
    arguments = ["check", "a.urdf", "--json", str(target), "--csv", str(tmp_path / "csv")]
    assert RUNNER.invoke(app, arguments).exit_code == (130 if isinstance(ending, KeyboardInterrupt) else 2)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_result_that_cannot_be_written_whole_is_not_written(answer, tmp_path, monkeypatch):
    """A failure in the middle of writing leaves the old file and no other."""
    answer(ENDINGS["agree"][0])
    target = tmp_path / "result.json"
    target.write_text("old")
    write_text = Path.write_text

    def half(path, text, **options):
        write_text(path, text[:100], **options)
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_text", half)
    run = RUNNER.invoke(app, ["check", "a.urdf", "--json", str(target)])
    assert run.exit_code == 2
    assert "No space left" in run.stderr
    assert run.stdout.startswith("AGREE")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_written_to_and_not_replaced(answer, tmp_path):
    """`--json /dev/null` or a pipe of the shell must not get a file in its place."""
    answer(ENDINGS["agree"][0])
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    # A daemon: a reader whose pipe was replaced would wait for ever.
    reader = Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")), daemon=True)
    reader.start()
    assert RUNNER.invoke(app, ["check", "a.urdf", "--json", str(pipe)]).exit_code == 0
    assert pipe.is_fifo()
    reader.join(timeout=10)
    assert json.loads(read[0])["exit"] == 0


def test_a_link_stays_a_link(answer, tmp_path):
    """The file behind a symbolic link is replaced, not the link."""
    answer(ENDINGS["agree"][0])
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    link.symlink_to(real)
    RUNNER.invoke(app, ["check", "a.urdf", "--json", str(link)])
    assert link.is_symlink()
    assert json.loads(real.read_text())["exit"] == 0


def test_states_are_saved_and_asked_again(tmp_path):
    """The states of a run, written to a file, give the same hash when they are asked from it."""
    model, file = tmp_path / "rod.urdf", tmp_path / "states.npz"
    model.write_text(ROD)
    drawn = RUNNER.invoke(
        app, ["check", str(model), *ASK_CORE, "--states", "9", "--save-states", str(file), "--json", "-"]
    )
    assert drawn.exit_code == 0, drawn.stderr
    again = RUNNER.invoke(app, ["check", str(model), *ASK_CORE, "--states-file", str(file), "--json", "-"])
    first, second = (json.loads(run.stdout)["models"][0]["states"] for run in (drawn, again))
    assert first == second
    assert first["sha256"] == States.load(file).sha256
    assert first["count"] == 9


def test_real_files_are_checked_whatever_they_are_called(tmp_path):
    """Blanks and letters beyond ASCII in a path, twice the same file, and one that is not there."""
    model = tmp_path / "ein Röbot ☃.urdf"
    model.write_text(ROD)
    run = RUNNER.invoke(app, ["check", str(model), str(model), str(tmp_path / "none.urdf"), *ASK_CORE, "--states", "4"])
    assert run.exit_code == 2
    flowed = " ".join(run.stdout.split())
    assert flowed.startswith("UNUSABLE of 3 files, 1 cannot be used (")
    assert flowed.count("hinge") == 0
    assert run.stdout.count("pinocchio neutral agree") == 2
    assert str(tmp_path / "none.urdf") in run.stderr


def test_a_xacro_file_is_exit_2_with_the_command_that_expands_it(tmp_path):
    """Xacro is a program that makes URDF: the message says how to run it."""
    model = tmp_path / "arm.urdf.xacro"
    model.write_text(ROD)
    run = RUNNER.invoke(app, ["check", str(model)])
    assert run.exit_code == 2
    assert "xacro" in run.stderr
    assert "arm.urdf" in run.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["engines"], ["check", "--help"], ["--version"]], ids=" ".join)
def test_help_and_engines_load_no_engine_and_no_pandas(arguments):
    """A list and a help text come at once."""
    heavy = "{'pandas', 'mujoco', 'pinocchio', 'lxml'}"
    code = f"import atexit; atexit.register(lambda: print('loaded', sorted({heavy} & set(sys.modules))))"
    run = tautology(*arguments, code=code)
    assert run.returncode == 0, run.stderr
    assert run.stdout.endswith("loaded []\n")


def test_help_loads_no_numpy():
    """Half of the time that a help text takes would be numpy's."""
    run = tautology("--help", code="import atexit; atexit.register(lambda: print('numpy' in sys.modules))")
    assert run.stdout.endswith("False\n")


def test_the_package_runs_as_a_module():
    """`python -m tautology` is the command."""
    run = subprocess.run([sys.executable, "-m", "tautology", "--version"], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"tautology \d+\.\d+\.\d+\S*\n", run.stdout)


def test_engines_lists_every_engine():
    """Each with its version, licence and what it answers."""
    text = RUNNER.invoke(app, ["engines"]).stdout
    for name, version in registry.engines().items():
        assert (f"{name} {version}" if version else f"{name}: not installed") in text
    assert "BSD-2-Clause" in text


def test_tolerances_are_listed():
    """The table that judges every row can be read without a robot."""
    assert "passivity" in RUNNER.invoke(app, ["tolerances"]).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_an_interrupt_is_quiet_and_exit_130(tmp_path):
    """Ctrl-C in the middle of a run: no traceback, no file."""
    code = """
from tautology.harness import run
import time
def check_files(files, request):
    print('running', flush=True)
    time.sleep(60)
run.check_files = check_files
"""
    script = f"import sys\n{code}\nfrom tautology.harness.cli import main; main()"
    command = [sys.executable, "-c", script, "check", "a.urdf", "--json", str(tmp_path / "result.json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "running\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_behind_stdout_is_a_message():
    """A report that cannot be printed is exit 2 and one sentence."""
    with Path("/dev/full").open("w") as full:
        run = tautology("check", "a", code=ended("agreeing"), capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert run.returncode == 2
    assert run.stderr == "cannot write the output: No space left on device\n"


def test_a_reader_who_goes_away_is_no_error():
    """`tautology check FILE | head -1` keeps the exit code of the check and prints no traceback."""
    read, write = os.pipe()
    os.close(read)
    run = tautology("check", "a", code=ended("crashed"), capture_output=False, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (run.returncode, run.stderr) == (3, "")


def test_a_terminal_that_knows_only_ascii_shows_the_rest_escaped():
    """No letter of a name can end a report with an encoding error."""
    code = ended("model").replace("samples.model()", "samples.model(name='Röbot', exit=0)")
    env = os.environ | {"PYTHONIOENCODING": "ascii", "NO_COLOR": "1"}
    run = tautology("check", "a", code=code, env=env)
    assert run.returncode == 0, run.stderr
    assert r"R\xf6bot: URDF" in run.stdout


def test_a_warning_of_an_engine_is_one_sentence():
    """What Python would print with a line of source is printed as words."""
    code = ended("agreeing").replace("samples.result(", "warnings.warn('old\\nattribute') or samples.result(")
    run = tautology("check", "a", "--quiet", code="import warnings\n" + code)
    assert (run.returncode, run.stderr) == (0, "warning: old attribute\n")


def test_an_internal_error_is_a_sentence_and_exit_2(answer):
    """A fault of our own must not look like a verdict: Python's exit code 1 would say `differs`."""
    answer(ValueError("a fault"))
    run = RUNNER.invoke(app, ["check", "a.urdf"])
    assert run.exit_code == 2
    assert re.fullmatch(r"internal error, please report it .*ValueError at test_cli\.py:\d+: a fault\n", run.stderr)


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("check", "tautology check [OPTIONS] FILE..."),
        ("diff", "tautology diff [OPTIONS] FILE_A FILE_B"),
        ("export", "tautology export [OPTIONS] FILE"),
        ("explain", "tautology explain [OPTIONS] [WORD] [MODEL]"),
    ],
)
def test_the_line_of_usage_reads_as_everywhere(command, line):
    """Square brackets for what may be left out, nothing around what is needed, dots for several."""
    shown = RUNNER.invoke(app, [command, "--help"], prog_name="tautology").output
    assert f"Usage: {line}" in [row.strip() for row in shown.splitlines()]
