"""Versions beside each other: terms, environments, names in reports, and where along versions an answer changed."""

from __future__ import annotations

import json
import stat
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import sample_results as samples
from rich.console import Console
from test_schema import faults

from tautology.harness import environments
from tautology.harness.bench import Bench, versions
from tautology.harness.bisection import Bisection, changes_of
from tautology.harness.engine_terms import EngineTerm, engine_term
from tautology.harness.errors import EngineAbsent, RequestError
from tautology.harness.findings import finding
from tautology.harness.results import called
from tautology.harness.saved import Saved
from tautology.reports.bisection import bisection_report
from tautology.reports.console import report
from tautology.reports.page.data import model_parts
from tautology.reports.page.sentence import Verdict

COM = finding("com", where="panda_hand", expected=[0.0], found=[0.1], unit="m")


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("mujoco", EngineTerm("mujoco")),
        ("mujoco==3.3.7", EngineTerm("mujoco", "3.3.7")),
        ("pinocchio==2.7.0.post1", EngineTerm("pinocchio", "2.7.0.post1")),
        ("mujoco@/opt/my python", EngineTerm("mujoco", python="/opt/my python")),
    ],
)
def test_terms_are_read_as_they_are_written(text, term):
    """A term says engine, version or interpreter, and is written again as it was."""
    assert engine_term(text) == term
    assert str(term) == text
    assert term.elsewhere == (text != "mujoco")


@pytest.mark.parametrize("text", ["", "==3", "mujoco==", "mujoco==x", "mujoco=3", "mujoco@", "mujoco==3@/py", "a b"])
def test_what_is_no_term_is_refused(text):
    """The message says what a term is."""
    with pytest.raises(RequestError, match="give NAME, NAME==VERSION or NAME@PYTHON"):
        engine_term(text)


FAKE_UV = """#!{python}
import json, os, pathlib, sys
folder = pathlib.Path({folder!r})
arguments, text = sys.argv[1:], "" if sys.stdin.isatty() else sys.stdin.read()
with (folder / "calls").open("a") as file:
    file.write(json.dumps([arguments, text]) + "\\n")
known = ["3.1.1", "3.1.2", "3.2.0"]
newest = arguments[arguments.index("--exclude-newer") + 1] if "--exclude-newer" in arguments else "9999"
if arguments[0] == "venv":
    home = pathlib.Path(arguments[-1]) / "bin"
    home.mkdir(parents=True)
elif arguments[:2] == ["pip", "install"]:
    wanted = next(a for a in arguments if "==" in a)
    if wanted.partition("==")[2] not in known:
        sys.exit("error: No solution found\\n  cause: there is no version of " + wanted)
    python = pathlib.Path(arguments[arguments.index("--python") + 1])
    # 3.1.2 imports beside what there was two weeks after its day, the first of June 2023, alone.
    bad = wanted.endswith("3.1.2") and newest != "2023-06-15"
    python.write_text("#!/bin/sh\\n" + ("echo 'ImportError: numpy.core' >&2; exit 1" if bad else "exit 0") + "\\n")
    python.chmod(0o755)
elif arguments[:2] == ["pip", "compile"]:
    if text.startswith("mujoco=="):
        sys.exit(0 if newest >= "2023-06-01" else 1)
    above, least = text.removeprefix("mujoco").split(",>=")
    below = [v for v in known if (v <= above[2:] if above.startswith("<=") else v < above[1:]) and v >= least]
    if not below:
        sys.exit("error: No solution found")
    print("mujoco==" + below[-1])
"""


@pytest.fixture
def fake_uv(tmp_path, monkeypatch):
    """Put a program in the place of uv that knows three versions, and return a function that gives its calls."""
    program = tmp_path / "uv"
    program.write_text(FAKE_UV.format(python=sys.executable, folder=str(tmp_path)), encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("TAUTOLOGY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(environments, "uv", lambda: str(program))
    calls = tmp_path / "calls"
    return lambda: [json.loads(line)[0] for line in calls.read_text().splitlines()] if calls.exists() else []


def test_an_environment_is_made_once(fake_uv):
    """The second run asks nobody; one that was left half-made is made anew."""
    python = environments.python_of("mujoco", "3.1.1")
    assert Path(python).is_file()
    made = len(fake_uv())
    assert environments.python_of("mujoco", "3.1.1") == python
    assert len(fake_uv()) == made
    (Path(python).parents[1] / environments.READY).unlink()
    assert environments.python_of("mujoco", "3.1.1") == python
    assert len(fake_uv()) == 2 * made


def test_wheels_alone_are_installed(fake_uv):
    """Nothing is built from source; numpy comes along."""
    environments.python_of("mujoco", "3.1.1")
    (install,) = (call for call in fake_uv() if call[:2] == ["pip", "install"])
    assert install[install.index("--only-binary") + 1] == ":all:"
    assert install[-2:] == ["mujoco==3.1.1", "numpy"]


def test_what_does_not_import_gets_what_there_was_on_its_day(fake_uv):
    """Halving finds the day of a version; two weeks later what it needs was there."""
    assert Path(environments.python_of("mujoco", "3.1.2")).is_file()
    last = [call for call in fake_uv() if call[:2] == ["pip", "install"]][-1]
    assert last[last.index("--exclude-newer") + 1] == "2023-06-15"


def test_a_version_that_cannot_be_had_is_absent_in_the_words_of_the_loader(fake_uv):
    """No half-made environment stays behind."""
    with pytest.raises(EngineAbsent, match=r"mujoco==9\.9 cannot be had: .*there is no version of mujoco==9\.9"):
        environments.python_of("mujoco", "9.9")
    assert not (environments.cache() / "mujoco-9.9").exists()
    assert fake_uv()


def test_versions_of_a_range_come_in_order(fake_uv):
    """All of them, and none without a range that holds one."""
    assert environments.versions_between("mujoco", "3.1.1", "3.2.0") == ["3.1.1", "3.1.2", "3.2.0"]
    assert environments.versions_between("mujoco", "3.1.2", "3.1.9") == ["3.1.2"]
    with pytest.raises(RequestError, match="no version of mujoco from 4 to 5"):
        environments.versions_between("mujoco", "4", "5")
    assert all(":all:" in call for call in fake_uv())


def test_without_uv_or_a_cache_the_request_is_refused(tmp_path, monkeypatch):
    """In one sentence each."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RequestError, match="need uv"):
        environments.uv()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TAUTOLOGY_CACHE", str(tmp_path / "file"))
    with pytest.raises(RequestError, match="set TAUTOLOGY_CACHE"):
        environments.python_of("mujoco", "3.3.7")


def test_pinned_engines_stand_under_their_terms_among_the_versions():
    """One key cannot hold two versions."""
    bench = [
        Bench("reference", "0.1.0"),
        Bench("mujoco", "3.3.7", term=EngineTerm("mujoco", "3.3.7")),
        Bench("mujoco", "4.0.0", term=EngineTerm("mujoco", "4.0.0")),
        Bench("pinocchio", "4.1.0", term=EngineTerm("pinocchio")),
    ]
    named = {name: version for name, version in versions(bench).items() if name not in ("python", "numpy")}
    assert named == {"tautology": "0.1.0", "mujoco==3.3.7": "3.3.7", "mujoco==4.0.0": "4.0.0", "pinocchio": "4.1.0"}


def two_versions():
    """Return a result in which one version differs and another agrees."""
    new = samples.engine("mujoco", "native")
    old = replace(samples.engine("mujoco", "native", "differs", findings=(COM,)), version="3.3.7")
    return samples.result(samples.model(old, new, samples.engine("pinocchio", "native")))


def test_an_engine_goes_by_its_version_where_there_are_two():
    """Else by its name."""
    table = [("mujoco", "3.3.7"), ("mujoco", "4.0.0"), ("pinocchio", "4.1.0")]
    assert [called(*row, table) for row in table] == ["mujoco 3.3.7", "mujoco 4.0.0", "pinocchio"]


def test_reports_tell_two_versions_apart():
    """The console in its verdict and its table, at 80 columns; the page in its rows."""
    result = two_versions()
    where = Console(file=StringIO(), width=80, highlight=False)
    report(result, where)
    text = where.file.getvalue()
    assert "mujoco 3.3.7 (native path) reads another robot" in " ".join(text.split())
    assert "mujoco 4.0.0 (native path) and pinocchio (native path) agree" in " ".join(text.split())
    rows = [line for line in text.splitlines() if line.startswith(("mujoco 3.3.7 native", "mujoco 4.0.0 native"))]
    assert [len(row) <= 80 for row in rows] == [True, True]
    (page,) = model_parts(Saved.of(result), [Verdict("differs", "")])
    assert [r["engine"] for r in page["engines"]] == ["reference", "mujoco 3.3.7", "mujoco 4.0.0", "pinocchio"]


def test_a_table_of_versions_is_80_columns_wide():
    """Long names give way in the middle, and stay apart."""
    engines = [replace(samples.engine("pinocchio", "neutral", "unsupported"), version=v) for v in ("3.4.0", "2.7.0")]
    where = Console(file=StringIO(), width=80, highlight=False)
    report(samples.result(samples.model(*engines)), where)
    rows = [line for line in where.file.getvalue().splitlines() if " unsupported " in line]
    assert len({row.split(" neutral")[0] for row in rows}) == 2
    assert [(row[:4], row.count(" -"), len(row) <= 80) for row in rows] == [("pino", 10, True)] * 2


def test_the_verdict_names_what_explains_most():
    """A tensor that is off in the eighth digit stands behind a com that is off by centimetres."""
    small = replace(finding("inertia.off_diagonal", where="panda_link1"), explains=1e-9)
    found = (small, replace(COM, explains=1.0))
    result = samples.result(samples.model(samples.engine("mujoco", "native", "differs", findings=found)))
    where = Console(file=StringIO(), width=80, highlight=False)
    report(result, where)
    assert "reads another robot: com at panda_hand and 1 more." in " ".join(where.file.getvalue().split())


def row(version: str, tau: float | None = 1.0, status: str = "agree", **fields: object):
    """Return a version that answers `tau` in two states, or nothing."""
    answers = {} if tau is None else {"tau": (np.array([[0.5], [tau]]), np.full((2, 1), 2.0))}
    result = samples.engine("mujoco", "native", status, dofs=("elbow",), answers=answers, **fields)
    return replace(result, version=version)


def test_good_bad_good_again_is_found():
    """Each version whose answer is another one is listed, with the findings on both sides."""
    rows = [row("1"), row("2"), row("3", 1.2, "differs", findings=(COM,)), row("4", 1.2, "differs"), row("5"), row("6")]
    first, second = changes_of(rows, 1e-6)
    assert (first.before, first.after, second.before, second.after) == ("2", "3", "4", "5")
    assert (first.findings_before, first.findings_after) == ((), (COM,))
    (moved,) = first.moved
    assert (moved.quantity, moved.state) == ("tau", 1)
    assert (moved.size, moved.relative) == pytest.approx((0.2, 0.1))
    assert changes_of(rows, 0.11) == []


def test_small_steps_in_one_direction_add_up():
    """Each is held against the last change, not against its neighbour."""
    rows = [row(str(k), 1 + k * 0.8e-6) for k in range(6)]
    assert [change.after for change in changes_of(rows, 1e-6)] == ["3"]


def test_a_refusal_is_a_change_and_absence_is_none():
    """What could not be had says nothing of the answer."""
    rows = [row("1"), row("2", None, "absent"), row("3", None, "refused", message="no"), row("4", None, "refused")]
    (change,) = changes_of(rows, 1e-6)
    assert (change.before, change.after, change.words) == ("1", "3", "3 refused: no")


def test_other_dofs_and_lost_answers_are_changes():
    """Arrays of another shape are not compared; a number that is gone has moved without end."""
    other = replace(row("2"), dofs=("wrist",))
    assert changes_of([row("1"), other], 1e-6)[0].words == "it holds other dofs: without elbow; with wrist"
    (change,) = changes_of([row("1"), row("2", np.nan), row("3", np.nan)], 1e-6)
    assert change.moved[0].size == np.inf


def bisection(*rows):
    """Return what the versions say of a file."""
    states = {"count": 2, "seed": 0, "sha256": "0" * 64, "strata": {"random": 2}}
    return Bisection("arm.urdf", "mujoco", 1e-6, {"tautology": "0.1.0"}, states, rows, tuple(changes_of(rows, 1e-6)))


def printed(result: Bisection) -> str:
    """Return the report on one line."""
    where = Console(file=StringIO(), width=80, highlight=False)
    bisection_report(result, where)
    return " ".join(where.file.getvalue().split())


def test_a_bisection_is_reported_with_both_sides():
    """Verdict first, then spans of equal answers, then the changes."""
    result = bisection(row("3.3.2"), row("3.3.3", 1.2, "differs", findings=(COM,)), row("3.3.4", 1.2, "differs"))
    text = printed(result)
    assert text.startswith(
        "CHANGES arm.urdf: the answer of mujoco changes in 3.3.3 (native path); 3 versions from 3.3.2"
    )
    assert "3.3.3 to 3.3.4 differs" in text
    assert "3.3.3, after 3.3.2 tau moves by 2.00e-01 [N m | N], 1.00e-01 of its scale, in state 1" in text
    assert "3.3.2 agrees 3.3.3 differs: com at panda_hand" in text
    assert printed(bisection(row("1"), row("2"))).startswith("SAME arm.urdf: the answer of mujoco is the same in 2")
    assert printed(bisection(row("1", None, "absent"))).startswith("ABSENT no version of mujoco could be had.")


def test_the_exit_of_a_bisection_tells_the_worst():
    """0 the same, 1 changed, 2 nothing could be had, 3 one crashed."""
    crashed = row("2", None, "crashed")
    cases = [(row("1"), row("2")), (row("1"), row("2", 2.0)), (row("1", None, "absent"),), (row("1"), crashed)]
    assert [bisection(*rows).exit for rows in cases] == [0, 1, 2, 3]


def test_the_document_of_a_bisection_is_plain_json():
    """Infinities are words, findings tables; the schema holds."""
    document = json.loads(bisection(row("1"), row("2", np.nan, "differs", findings=(COM,))).dumps())
    assert (document["schema"], document["command"], document["exit"]) == ("tautology/1", "bisect", 1)
    (change,) = document["changes"]
    assert change["moved"][0]["size"] == "inf"
    assert change["findings_after"][0]["kind"] == "com"
    assert [r["version"] for r in document["rows"]] == ["1", "2"]
    assert faults(document) == []
