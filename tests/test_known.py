"""Known differences: what they match, what they excuse, when they expire, which are stale; and where they are read."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path

import pytest
import sample_results as samples
from engines_at_hand import ASK_CORE
from typer.testing import CliRunner

from tautology import models
from tautology.harness import known as known_module
from tautology.harness.cli import app
from tautology.harness.errors import HarnessError
from tautology.harness.findings import finding
from tautology.harness.known import known_difference, with_known
from tautology.harness.settings import settings

PAGE = Path(known_module.__file__).parent.parent / "docs" / "baselines.md"
RUNNER = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"})
TODAY = dt.date(2026, 6, 15)
COM = finding("com", where="left_hand", expected=[0.0, 0.0, 0.1], found=[0.0, 0.0, 0.2], unit="m")
MASS = finding("mass", where="forearm", expected=1.0, found=2.0, unit="kg")
FUSED = finding("body.fused", where="tool")
REFUSED = finding("refused.mesh", where="hand", found="no file")


def known(**entry):
    """Return an entry with a reason."""
    return known_difference({"reason": "a reason", **entry}, "tautology.toml: known 1")


def judged(entries, *engines, today=TODAY):
    """Return a result of these engines after known differences were marked."""
    return with_known(samples.result(samples.model(*engines)), entries, today)


def differing(*findings, path="native", engine="mujoco"):
    """Return an engine that differs for these reasons."""
    return samples.engine(engine, path, "differs", findings=findings)


def test_a_known_difference_is_shown_and_does_not_count():
    """The status stays what it is; the exit code passes over it."""
    result = judged([known(kind="com", where="*_hand", engine="mujoco")], differing(FUSED, COM))
    engine = result.models[0].engines[1]
    assert (result.exit, engine.status, engine.known) == (0, "differs", "known: a reason")
    assert [f.known for f in engine.findings] == ["", "a reason"]
    assert result.notes == ()


@pytest.mark.parametrize(
    "entry",
    [
        {"kind": "com", "where": "right_*"},
        {"kind": "mass"},
        {"kind": "com", "engine": "pinocchio"},
        {"kind": "com", "engine": "mujoco==3.3.7"},
        {"kind": "com", "file": "robots/leg.urdf"},
        {"kind": "body.fused", "where": "left_hand"},
    ],
    ids=lambda entry: " ".join(entry.values()),
)
def test_another_place_engine_version_or_file_is_not_known(entry):
    """Each key narrows what is meant."""
    result = judged([known(**entry)], differing(FUSED, COM))
    assert result.exit == 1
    assert not any(f.known for f in result.models[0].engines[1].findings)


@pytest.mark.parametrize(
    "entry",
    [
        {"kind": "com"},
        {"kind": "c*", "where": "left_hand"},
        {"kind": "com", "engine": "mujoco==4.0.0"},
        {"kind": "com", "file": "arm.urdf"},
        {"kind": "com", "file": "robots/*.urdf"},
    ],
    ids=lambda entry: " ".join(entry.values()),
)
def test_globs_versions_and_files_match(entry):
    """Kind and place are globs, a version must be the engine's, a file is matched from the right."""
    assert judged([known(**entry)], differing(COM)).exit == 0


def test_one_unknown_difference_is_enough_to_fail():
    """An engine is excused when everything grave is known, and not before."""
    result = judged([known(kind="com")], differing(COM, MASS))
    assert result.exit == 1
    assert result.models[0].engines[1].known == ""
    assert [f.known for f in result.models[0].engines[1].findings] == ["a reason", ""]


def test_another_engine_still_counts():
    """What is known of one engine excuses no other, and no other path."""
    entries = [known(kind="com", engine="mujoco")]
    assert judged(entries, differing(COM), differing(COM, engine="pinocchio")).exit == 1
    assert judged(entries, differing(COM), differing(COM, path="neutral")).exit == 0


def test_a_refusal_can_be_known_and_a_crash_cannot():
    """A crash is no difference."""
    refused = samples.engine("mujoco", "native", "refused", "no file", findings=(REFUSED,))
    crashed = samples.engine("pinocchio", "native", "crashed", "signal 11")
    entries = [known(kind="refused.mesh"), known(kind="*")]
    assert judged(entries, refused).exit == 0
    assert judged(entries, refused, crashed).exit == 3


def test_an_engine_that_differs_without_a_finding_is_not_excused():
    """There is nothing that could be known."""
    assert judged([known(kind="*")], differing(FUSED)).exit == 1


@pytest.mark.parametrize(("day", "code"), [(15, 0), (14, 1)])
def test_an_entry_counts_until_its_last_day(day, code):
    """On the day after it fails again and says so, in the finding and in a note."""
    result = judged([known(kind="com", expires=dt.date(2026, 6, day))], differing(COM))
    (f,) = result.models[0].engines[1].findings
    assert result.exit == code
    if code:
        assert f.note == "known until 2026-06-14, which is over: a reason"
        assert "tautology.toml: known 1 (com) expired on 2026-06-14" in result.notes[0]
    else:
        assert f.known == "a reason (until 2026-06-15)"


def test_stale_entries_are_reported_where_they_could_have_matched():
    """Only when the engine was asked on both paths about a file that is meant."""
    both = (differing(MASS), samples.engine("mujoco", "neutral"))
    assert (
        "(com at x in mujoco) matched nothing"
        in judged([known(kind="com", where="x", engine="mujoco")], *both).notes[0]
    )
    assert judged([known(kind="com", engine="pinocchio")], *both).notes == ()
    assert judged([known(kind="com", file="leg.urdf")], *both).notes == ()
    assert judged([known(kind="com")], both[0]).notes == ()
    assert judged([known(kind="mass")], *both).notes == ()


WRONG = {
    "no kind": ('[[known]]\nreason = "r"', "known 1 has no kind"),
    "no reason": ('[[known]]\nkind = "com"', "known 1 has no reason"),
    "blank reason": ('[[known]]\nkind = "com"\nreason = " "', "reason is ' '"),
    "unknown key": ('[[known]]\nkind = "com"\nreason = "r"\nplace = "x"', "'place' does not exist"),
    "unknown kind": ('[[known]]\nkind = "centre"\nreason = "r"', "there is no kind 'centre'"),
    "no date": ('[[known]]\nkind = "com"\nreason = "r"\nexpires = "soon"', "expires is 'soon'"),
    "no list": ('known = "com"', "known is 'com'"),
    "no table": ('known = ["com"]', "known 1 is no table"),
    "unknown setting": ("model = 1", "'model' is no setting"),
    "states": ("states = true", "states is True; give a whole number"),
    "models": ("models = [1]", "models is [1]; give a list of names"),
    "no TOML": ("known = [", "is no TOML"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_in_the_settings_is_one_sentence(case, tmp_path):
    """It names file and entry."""
    text, words = WRONG[case]
    (tmp_path / "tautology.toml").write_text(text, encoding="utf-8")
    with pytest.raises(HarnessError) as error:
        settings(tmp_path)
    assert words in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "tautology.toml"))


def test_settings_are_those_of_the_nearest_folder(tmp_path):
    """tautology.toml comes before pyproject.toml, a pyproject.toml without a word for us is passed over."""
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.tautology]\nmodels = ["top.urdf"]\n', encoding="utf-8")
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.ruff]\n", encoding="utf-8")
    assert settings(deep).models == ("top.urdf",)
    (tmp_path / "a" / "tautology.toml").write_text('models = ["own.urdf"]\ntolerance = 1e-6\n', encoding="utf-8")
    (tmp_path / "a" / "pyproject.toml").write_text('[tool.tautology]\nmodels = ["other.urdf"]\n', encoding="utf-8")
    found = settings(deep)
    assert (found.models, found.request, found.file) == (
        ("own.urdf",),
        {"tolerance": 1e-6},
        str(tmp_path / "a" / "tautology.toml"),
    )


@pytest.mark.skipif(not PAGE.is_file(), reason="the package is installed without its docs")
def test_the_example_of_the_page_is_read(tmp_path):
    """docs/baselines.md shows every key."""
    text = re.search(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[1]
    (tmp_path / "tautology.toml").write_text(text, encoding="utf-8")
    (entry,) = settings(tmp_path).known
    assert str(entry) == "mass.default at shade* in mujoco of robots/lamp.urdf"
    assert entry.expires == dt.date(2027, 6, 30)


def test_a_broken_pyproject_is_not_our_business(tmp_path):
    """Whoever needs it will say so."""
    (tmp_path / "pyproject.toml").write_text("[tool", encoding="utf-8")
    assert settings(tmp_path).known == ()


def test_check_passes_over_a_known_difference_and_says_so(tmp_path, monkeypatch):
    """The desk lamp differs in MuJoCo; listed, it ends with 0, and is called known."""
    (tmp_path / "tautology.toml").write_text(
        '[[known]]\nkind = "mass.default"\nwhere = "shade"\nengine = "mujoco"\nreason = "paper"\n'
        '[[known]]\nkind = "com"\nreason = "once"\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    run = RUNNER.invoke(app, ["check", str(models.path("desk_lamp.urdf")), "--states", "4", *ASK_CORE])
    words = " ".join(run.stdout.split())
    assert run.exit_code == 0, run.output
    assert words.startswith("KNOWN ")
    assert "explains 100.0% of the difference; known: paper" in words
    assert "known 2 (com) matched nothing" in run.stderr


def test_check_refuses_settings_that_are_wrong(tmp_path, monkeypatch):
    """Exit 2 and the sentence, before any engine is asked."""
    (tmp_path / "tautology.toml").write_text('[[known]]\nkind = "com"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    run = RUNNER.invoke(app, ["check", str(Path("a.urdf"))])
    assert (run.exit_code, run.stdout) == (2, "")
    assert run.stderr.strip() == f"{tmp_path / 'tautology.toml'}: known 1 has no reason"
