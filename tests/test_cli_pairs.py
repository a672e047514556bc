"""The commands `diff` and `export`: options, exit codes, messages, files written whole or not at all."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
from pair_texts import CAMERA, TOOL, two_links
from typer.testing import CliRunner

import tautology
from tautology.harness import bench
from tautology.harness import diff as module
from tautology.harness.cli import app

RUNNER = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"})
MODELS = Path(tautology.__file__).parent / "models"
HOSTILE = "el\u202e[red]bow\u200b:smile:\u2028"


@pytest.fixture
def pair(tmp_path, monkeypatch):
    """Return a function that writes two texts as a.urdf and b.urdf into the folder in which commands run."""
    monkeypatch.chdir(tmp_path)

    def write(a: str, b: str) -> None:
        (tmp_path / "a.urdf").write_text(a, encoding="utf-8")
        (tmp_path / "b.urdf").write_text(b, encoding="utf-8")

    return write


def diff(*options: str, code: int | None = None):
    """Run the command on a.urdf and b.urdf with few states."""
    run = RUNNER.invoke(app, ["diff", "a.urdf", "b.urdf", "--states", "6", *options])
    assert code is None or run.exit_code == code, run.output
    return run


def test_the_exit_code_is_0_for_one_robot_and_1_for_two(pair):
    """Scripts read the exit code, however the answer is printed."""
    pair(two_links(), two_links())
    for options in ([], ["--quiet"], ["--verbose"], ["--json", "-"]):
        diff(*options, code=0)
    pair(two_links(), two_links(mass="1.5"))
    for options in ([], ["--quiet"], ["--verbose"], ["--json", "-"]):
        diff(*options, code=1)


def test_every_option_reaches_the_comparison(pair, monkeypatch):
    """What is typed is what is asked."""
    pair(two_links(), two_links())
    asked, seeing = [], module.diff
    monkeypatch.setattr(module, "diff", lambda *a, **k: asked.append((a, k)) or seeing(*a, **k))
    options = (
        "--base free --map hinge=hinge --map elbow=elbow --ignore armature --ignore mass --seed 3 --tolerance 1e-6"
    )
    diff(*options.split(), "--in-process", code=0)
    assert asked == [
        (
            ("a.urdf", "b.urdf"),
            {
                "base": "free",
                "names": {"hinge": "hinge", "elbow": "elbow"},
                "ignore": ["armature", "mass"],
                "states": 6,
                "seed": 3,
                "tolerance": 1e-6,
                "read_mjcf": None,
            },
        )
    ]


def test_the_answer_is_written_as_json_and_csv(pair, tmp_path):
    """The same document on stdout and in a file, one table per frame."""
    pair(two_links(), two_links(CAMERA))
    run = diff("--json", "-", "--csv", "tables", code=1)
    diff("--json", "result.json", "--quiet", code=1)
    document = json.loads(run.stdout)
    assert document == json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert document["findings"][0]["kind"] == "body.missing"
    tables = {file.stem: pd.read_csv(file) for file in (tmp_path / "tables").iterdir()}
    assert set(tables) == {"models", "quantities", "findings", "matched", "losses"}
    assert tables["findings"]["other_line"].tolist() == [document["findings"][0]["other_line"]]
    assert len(tables["matched"]) == 7


def test_a_map_is_taken_from_pairs_and_files(pair, tmp_path):
    """A file of pairs, with comments, beside pairs of the command."""
    crossed = two_links(hinge="second_", second="hinge").replace("second_", "second")
    pair(two_links(), crossed)
    diff("--quiet", code=1)
    (tmp_path / "names.txt").write_text("# by hand\nhinge = second # the first\n", encoding="utf-8")
    run = diff("--map", "names.txt", "--map", "second=hinge", code=0)
    assert "under another name: hinge = second and second = hinge" in " ".join(run.stdout.split())


def test_ignored_kinds_are_told_and_do_not_count(pair):
    """The report says what was left out."""
    pair(two_links(), two_links(mass="1.5"))
    run = diff("--ignore", "mass", code=0)
    flowed = " ".join(run.stdout.split())
    assert flowed.startswith("AGREE a.urdf and b.urdf are the same robot, apart from what was to be ignored: mass;")
    assert "Ignored as asked: mass" in flowed
    assert "Not the same robot" not in flowed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--map", "hinge=a", "--map", "hinge=b"], "--map hinge=b: 'hinge' is mapped to 'a' already"),
        (["--map", "a=hinge", "--map", "b=hinge"], "'hinge' is what 'a' is mapped to already"),
        (["--map", "nix=hinge"], "a.urdf has no 'nix'"),
        (["--map", "hinge=nix"], "b.urdf has no 'nix'"),
        (["--map", "=hinge"], "'=hinge' is no pair; write NAME_IN_A=NAME_IN_B"),
        (["--map", "nowhere.txt"], "nowhere.txt: cannot be read"),
        (["--ignore", "armatur"], "did you mean armature"),
        (["--base", "loose"], "'loose' is not one of auto, fixed, free"),
        (["--tolerance", "2"], "2.0 is not between 0 and 1"),
        (["--states", "0"], "--states"),
        (["--json", "missing/result.json"], "cannot write missing/result.json"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_request_that_cannot_be_met_is_one_message_and_exit_2(pair, options, words):
    """The message stands on stderr, nothing on stdout, and no traceback."""
    pair(two_links(), two_links())
    run = diff(*options, code=2)
    assert words in " ".join(re.sub("[│╭╮╰╯─]", " ", run.stderr).split())
    assert "Traceback" not in run.stderr
    assert run.stdout == ""


def test_a_file_that_cannot_be_used_is_exit_2_with_its_line(pair):
    """Whichever of both it is."""
    pair(two_links(), two_links().replace('type="continuous"', 'type="screw"', 1))
    for files in (["a.urdf", "b.urdf"], ["b.urdf", "a.urdf"], ["a.urdf", "nowhere.xml"]):
        run = RUNNER.invoke(app, ["diff", *files])
        assert run.exit_code == 2
        assert re.match(r"(b\.urdf:\d+: .*screw|nowhere\.xml: )", run.stderr)
        assert run.stderr.count("\n") == 1


def test_hostile_names_cannot_reach_the_terminal(pair):
    """What a terminal would obey or hide is escaped, and nothing is taken for markup."""
    hostile = two_links(TOOL, elbow=HOSTILE, tool=HOSTILE)
    pair(hostile, two_links())
    for options in ([], ["--quiet"], ["--verbose"], ["--map", f"{HOSTILE}=nix"]):
        run = diff(*options)
        for text in (run.stdout, run.stderr):
            assert all(c.isprintable() or c == "\n" for c in text)
            assert "\u202e" not in text
        assert "[red]" in " ".join((run.stdout + run.stderr).split())


def test_quiet_is_one_line(pair):
    """However long it is."""
    pair(two_links(), two_links(CAMERA + TOOL, mass="1.5"))
    run = diff("--quiet", code=1)
    assert run.stdout.count("\n") == 1
    assert run.stdout.startswith("DIFFERS  a.urdf and b.urdf are not the same robot: ")


def test_an_output_that_cannot_be_written_leaves_the_old_file(pair, tmp_path, monkeypatch):
    """What stood there before stands there after."""
    pair(two_links(), two_links())
    (tmp_path / "result.json").write_text("old")

    def fault(*_, **__):
        raise ValueError("a fault")

    monkeypatch.setattr(module, "diff", fault)
    run = diff("--json", "result.json", code=2)
    assert re.match(r"internal error, please report it .*ValueError at test_cli_pairs\.py:\d+: a fault\n", run.stderr)
    assert (tmp_path / "result.json").read_text() == "old"


def export(*arguments: str, code: int = 0):
    """Run the command and flow its answer into one line."""
    run = RUNNER.invoke(app, ["export", *arguments])
    assert run.exit_code == code, run.output
    return run


@pytest.mark.parametrize(("name", "target"), [("tau_arm.urdf", "arm.xml"), ("tau_arm.xml", "arm.urdf")])
def test_an_exported_robot_is_the_same_robot(tmp_path, name, target):
    """What the other format cannot hold is named; the rest is there."""
    written = tmp_path / target
    run = export(str(MODELS / name), "-o", str(written))
    assert run.stdout.startswith(f"WROTE  {written}: ")
    result = tautology.diff(MODELS / name, written, states=6)
    named = " ".join(run.stdout.split())
    for kind in {f.kind for f in result.counted}:
        assert kind in named
    assert not {f.kind for f in result.counted} - {"armature", "joint.mimic"}


def test_losses_of_reading_and_of_writing_are_told_apart(pair):
    """By element, with a note for what touches the dynamics, the names in a list; one by one when asked."""
    sensor = "<gazebo/><gazebo/>"
    pair(two_links(sensor), two_links())
    text = """<mujoco><worldbody><body name="rod"><joint name="hinge" armature="0.25" damping="1"/>
<geom size="0.1" mass="2"/></body></worldbody><actuator><position joint="hinge" kp="3"/></actuator></mujoco>"""
    Path("rod.xml").write_text(text, encoding="utf-8")
    flowed = " ".join(export("rod.xml", "-o", "rod.urdf").stdout.split())
    assert "Not read from the file, though it touches the dynamics: position" in flowed
    assert re.search(r"Not written, though it touches the dynamics:.* joint@armature at hinge", flowed)
    assert "tautology diff rod.xml rod.urdf" in flowed
    plain = export("a.urdf", "-o", "c.urdf").stdout
    assert "without effect on the smooth dynamics: gazebo x2" in " ".join(plain.split())
    assert export("a.urdf", "-o", "c.urdf", "--verbose").stdout.count("gazebo") == 2


def test_format_and_base_are_those_asked(pair):
    """The format wins over the ending; a free base is written as one."""
    pair(two_links(), two_links())
    export("a.urdf", "-o", "arm.xml", "--format", "urdf", "--base", "free")
    tree = tautology.load("arm.xml")
    assert (tree.origin.format, tree.base) == ("urdf", "free")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.urdf", "-o", "a.urdf"], "a.urdf is the file that is read; write to another one"),
        (["a.urdf", "-o", "./a.urdf"], "is the file that is read"),
        (["a.urdf", "-o", "a.obj"], "the ending tells no format"),
        (["a.urdf", "-o", "a.obj", "--format", "step"], "choose one of urdf, mjcf"),
        (["a.urdf", "-o", "missing/a.xml"], "cannot write missing/a.xml"),
        (["nowhere.urdf", "-o", "a.xml"], "nowhere.urdf: "),
        (["a.urdf", "-o", "a.xml", "--base", "loose"], "auto, fixed, free"),
        (["a.urdf"], "-o"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_export_that_cannot_be_made_is_one_message_and_exit_2(pair, arguments, words):
    """And the file that is read stays as it is."""
    pair(two_links(), two_links())
    run = export(*arguments, code=2)
    assert words in " ".join(re.sub("[│╭╮╰╯─]", " ", run.stderr).split())
    assert run.stdout == ""
    assert Path("a.urdf").read_text(encoding="utf-8") == two_links()


def test_the_help_speaks_of_this_command():
    """A comparison has one verdict, an export no quantities, and both say what a fixed base means."""
    for command, words in (("diff", "on one line"), ("export", "every loss, one by one")):
        shown = " ".join(RUNNER.invoke(app, [command, "--help"]).output.replace("│", " ").split())
        assert words in shown
        assert "a file whose robot floats is refused" in shown


@pytest.mark.parametrize("base", ["auto", "free"])
def test_the_next_command_that_an_export_names_works(tmp_path, monkeypatch, base):
    """With the base that was asked: the written file holds it, the read one does not."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my arm.urdf").write_bytes((MODELS / "tau_arm.urdf").read_bytes())
    shown = export("my arm.urdf", "-o", "arm.xml", "--base", base).output
    named = shlex.split(shown.split("What is the same and what is not: ")[1])
    assert named[:2] == ["tautology", "diff"]
    assert RUNNER.invoke(app, [*named[1:], "--states", "4"]).exit_code == 0


def test_an_export_that_cannot_be_read_back_names_the_reason_and_no_next_command(pair):
    """MuJoCo refuses a link that moves and has no mass."""
    pair(two_links(mass="0").replace('="0.1"', '="0"'), two_links())
    shown = export("a.urdf", "-o", "a.xml").output
    assert "What was written cannot be read back: " in shown
    assert "a.xml" in shown.split("read back: ")[1]
    assert "tautology diff" not in shown


@pytest.mark.parametrize("command", ["diff", "diff URDF", "export"])
def test_mjcf_is_read_in_the_process_of_mujoco(command, tmp_path, monkeypatch):
    """A compiler that does not come to an end is a sentence and exit 2, as in `check`; with --in-process it is ours."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "arm.xml"
    file.write_text((MODELS / "tau_arm.xml").read_text())
    arguments = {
        "diff": ["diff", str(file), str(file)],
        "diff URDF": ["diff", str(MODELS / "tau_arm.urdf"), str(file)],
        "export": ["export", str(file), "-o", "arm.urdf"],
    }[command]
    late = RUNNER.invoke(app, [*arguments, "--timeout", "0.0001"])
    bench.stop_workers()
    assert (late.exit_code, late.stdout) == (2, "")
    assert late.stderr == f"{file}: MuJoCo, which reads MJCF for every engine, gave no answer within 0.0001 s\n"
    assert not (tmp_path / "arm.urdf").exists()
    assert RUNNER.invoke(app, [*arguments, "--timeout", "0.0001", "--in-process"]).exit_code == 0
    wrong = RUNNER.invoke(app, [*arguments, "--timeout", "0"])
    assert (wrong.exit_code, wrong.stderr) == (2, "timeout 0.0 is not a number of seconds above 0\n")
