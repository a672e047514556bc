"""Baselines: what is frozen, what counts as a change, what is said of its cause, and what is renewed."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from engines_at_hand import ASK_CORE, CORE
from lxml import etree
from random_trees import random_tree
from typer.testing import CliRunner

from tautology import models
from tautology.harness import registry
from tautology.harness.baseline import SAME, rounded, written
from tautology.harness.baseline_file import read_baseline
from tautology.harness.baseline_run import check_against, freeze
from tautology.harness.cli import app
from tautology.harness.errors import ReadError, RequestError
from tautology.harness.known import known_difference
from tautology.harness.load import load
from tautology.harness.request import Request
from tautology.harness.states import ARRAYS, sample

if TYPE_CHECKING:
    from pathlib import Path

RUNNER = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"})
LAMP = models.path("desk_lamp.urdf")


@pytest.fixture(scope="module")
def lamp():
    """The bundled lamp, which MuJoCo reads as another robot, frozen with both engines."""
    _, baseline = freeze(str(LAMP), Request(engines=CORE, states=12))
    assert baseline is not None
    return baseline


@pytest.fixture
def folder(tmp_path, monkeypatch, lamp):
    """A folder with the lamp and its baseline."""
    shutil.copy(LAMP, tmp_path / "lamp.urdf")
    (tmp_path / "lamp.json").write_text(written(lamp), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def changed(folder: Path, old: str, new: str) -> str:
    """Return a copy of the lamp with other words in it."""
    text = (folder / "lamp.urdf").read_text(encoding="utf-8")
    assert old in text
    (folder / "other.urdf").write_text(text.replace(old, new), encoding="utf-8")
    return "other.urdf"


def tautology(*arguments: str):
    """Run the command, and return its exit code and its words on one line."""
    run = RUNNER.invoke(app, list(arguments))
    return run.exit_code, " ".join(run.stdout.split()), " ".join(run.stderr.split())


def compared(baseline, **request):
    """Return what changed since a baseline."""
    result, _ = check_against(str(LAMP), baseline, "lamp.json", Request(**request))
    assert result.baseline is not None
    return result.baseline


def with_engine(baseline, label, **fields):
    """Return a baseline in which one engine said something else."""
    return replace(baseline, engines={**baseline.engines, label: replace(baseline.engines[label], **fields)})


def test_a_baseline_survives_its_file(lamp, tmp_path):
    """Every number comes back with all its bits, and the text is the same again."""
    file = tmp_path / "b.json"
    file.write_text(written(lamp), encoding="utf-8")
    read = read_baseline(file)
    assert written(read) == written(lamp)
    assert read.states.sha256 == lamp.states.sha256
    assert read.engines == lamp.engines


def test_every_quantity_of_every_engine_and_path_is_frozen(lamp):
    """What agrees with the reference is told by a word, what does not by its numbers."""
    assert list(lamp.engines) == [
        "reference neutral",
        *(f"{name} {path}" for name in ("pinocchio", "mujoco") for path in ("native", "neutral")),
    ]
    for label, engine in lamp.engines.items():
        assert set(engine.answers) == set(lamp.engines["reference neutral"].answers), label
    assert set(lamp.engines["pinocchio native"].answers.values()) == {SAME}
    differs = {q for q, x in lamp.engines["mujoco native"].answers.items() if x != SAME}
    assert differs == set(lamp.engines["mujoco native"].failed)
    assert [f["kind"] for f in lamp.engines["mujoco native"].findings] == ["mass.default"]


def test_one_line_holds_one_thing(lamp):
    """A dof over all states, a body, a state, a finding: no line holds two, and none is spread."""
    lines = [line.strip().rstrip(",") for line in written(lamp).splitlines()]
    assert sum(line.startswith('"lift": [') for line in lines) == 2 * 5
    assert any(line.startswith('{"kind": "mass.default"') and line.endswith("}") for line in lines)
    assert sum(line.startswith('"11": [') for line in lines) == 4
    assert not any(line.startswith("[") and line != "[" for line in lines)


def test_states_are_short_where_any_number_will_do():
    """Positions keep their bits; every stratum is there."""
    tree = random_tree(np.random.default_rng(3), 6)
    states = sample(tree, 12)
    short = rounded(states)
    assert (short.q == states.q).all()
    assert short.strata == states.strata
    for name in ARRAYS[1:]:
        assert np.allclose(getattr(short, name), getattr(states, name), rtol=1e-5, atol=0)
        assert max(len(repr(float(x))) for x in getattr(short, name).ravel()) < 16


@pytest.mark.usefixtures("folder")
def test_nothing_changes_by_itself():
    """A robot that differs does so as before: exit 0, and one word says it."""
    code, words, errors = tautology("check", "lamp.urdf", "--baseline", "lamp.json")
    assert (code, errors) == (0, "")
    assert words.startswith("UNCHANGED all is as frozen in lamp.json. KNOWN lamp.urdf: mujoco (native path) reads")


def test_another_mass_is_a_change_of_the_file(folder):
    """Every quantity that holds mass is told with what was and what is, and the file is named as the cause."""
    file = changed(folder, 'mass value="0.11"', 'mass value="0.12"')
    code, words, _ = tautology("check", file, "--baseline", "lamp.json")
    assert code == 1
    assert words.startswith("CHANGED since lamp.json was frozen: 8 answers. the file has changed (sha256 ")
    assert "reference (neutral path), pinocchio (both paths) and mujoco (neutral path):" in words
    assert "gravity -0.0669417 -0.0730273" in words
    assert "was 4.0.0" not in words


def test_a_frame_that_no_dynamics_sees_is_a_change(folder):
    """A massless link that moves changes poses and velocities alone."""
    text = (folder / "lamp.urdf").read_text(encoding="utf-8")
    tip = '<link name="tip"/><joint name="end" type="fixed"><parent link="bulb"/><child link="tip"/>{}</joint></robot>'
    for name, origin in (("a.urdf", ""), ("b.urdf", '<origin xyz="0 1e-6 0"/>')):
        (folder / name).write_text(text.replace("</robot>", tip.format(origin)), encoding="utf-8")
    _, frozen = freeze("a.urdf", Request(engines=["pinocchio"]))
    result, _ = check_against("b.urdf", frozen, "a.json", Request())
    assert {(c.what, c.where) for c in result.baseline.changes} == {
        ("poses", "tip, y of position"),
        ("velocities", "tip, vz"),
    }


def test_joints_that_come_and_go_are_a_change_and_no_fault(folder):
    """The states of the joints that stayed are asked all the same."""
    file = changed(folder, 'type="fixed"', 'type="continuous"')
    code, words, _ = tautology("check", file, "--baseline", "lamp.json")
    assert code == 1
    assert "the file: dof at socket: new" in words
    assert "body.fused at bulb: gone" in words


def test_states_are_fitted_by_name():
    """Joints in another order, a joint more, a joint less: each keeps its own numbers."""
    result, baseline = freeze(str(models.path("tau_tree.xml")), Request(engines=["mujoco"], states=3))
    tree = result.models[0].tree
    same = baseline.fitted(tree)
    assert same.sha256 == baseline.states.sha256
    other = baseline.fitted(load(LAMP))
    assert other.q.shape == (3, 2)
    assert not other.v.any()
    last = tree.dofs.index(tree.dofs[-1])
    fewer = replace(baseline, dofs=tree.dofs[:-1], states=replace(baseline.states, v=baseline.states.v[:, :-1]))
    assert not fewer.fitted(tree).v[:, last].any()
    assert (fewer.fitted(tree).v[:, :last] == baseline.states.v[:, :last]).all()


def moved(line, k, by):
    """Return a line with one number moved."""
    return [x + by * (i == k) for i, x in enumerate(line)]


@pytest.mark.parametrize("quantity", ["tau", "bias", "gravity", "mass_matrix", "acceleration", "poses", "velocities"])
def test_an_answer_beyond_the_tolerance_is_a_change_at_its_place(lamp, quantity):
    """And one within it is none."""
    answers = lamp.engines["mujoco native"].answers
    lines = answers[quantity] if answers[quantity] != SAME else lamp.engines["reference neutral"].answers[quantity]
    label = "nod" if "nod" in lines else "shade"
    lines = {key: line for key, line in lines.items() if key in (*lamp.dofs, "arm", "shade")}
    size = max(abs(x) for x in lines[label]) + 1
    for by, count in ((size * 1e-4, 1), (1e-16, 0)):
        worse = {**answers, quantity: {**lines, label: moved(lines[label], 0, by)}}
        found = compared(with_engine(lamp, "mujoco native", answers=worse), engines=["mujoco"])
        assert len(found.changes) == count
        for change in found.changes:
            assert (change.kind, change.engine, change.path, change.what) == ("answer", "mujoco", "native", quantity)
            assert label in change.where
            assert change.times > 1


def test_a_number_that_was_none_is_a_change(lamp):
    """Not-a-number agrees with itself alone."""
    answers = lamp.engines["mujoco native"].answers
    bad = {**answers, "tau": {**answers["tau"], "nod": [float("nan")] * 12}}
    found = compared(with_engine(lamp, "mujoco native", answers=bad), engines=["mujoco"])
    assert [(c.what, c.where) for c in found.changes] == [("tau", "nod")]
    text = written(with_engine(lamp, "mujoco native", answers=bad))
    assert json.loads(text)["engines"]["mujoco native"]["answers"]["tau"]["nod"][0] == "nan"


def test_findings_that_come_go_or_hold_other_values_are_changes(lamp):
    """Also those that are a matter of convention."""
    (row,) = lamp.engines["mujoco native"].findings
    cases = {
        "came": ({"findings": ()}, ("mass.default", "shade", None, "there")),
        "went": ({"findings": (row, {**row, "where": "arm"})}, ("mass.default", "arm", "there", None)),
        "value": ({"findings": ({**row, "found": 1.3},)}, ("mass.default", "shade", 1.3, pytest.approx(1.3571680263))),
        "convention": (
            {"conventions": {**lamp.engines["mujoco native"].conventions, "damping": []}},
            ("damping", "lift", None, "there"),
        ),
    }
    for name, (fields, expected) in cases.items():
        (change,) = compared(with_engine(lamp, "mujoco native", **fields), engines=["mujoco"]).changes
        assert (change.what, change.where, change.before, change.now) == expected, name


def test_a_verdict_or_a_status_that_turned_is_a_change(lamp):
    """Though no number moved beyond the tolerance."""
    turned = with_engine(lamp, "pinocchio neutral", status="differs", failed=("identity columns",))
    found = compared(turned, engines=["pinocchio"])
    assert [(c.kind, c.what, c.before, c.now) for c in found.changes] == [
        ("status", "status", "differs", "agree"),
        ("verdict", "identity columns", "failed", "held"),
    ]


def test_of_a_number_that_moved_the_verdict_is_no_second_change(lamp):
    """One thing that happened is told once."""
    frozen = lamp.engines["mujoco native"]
    answers = {**frozen.answers, "bias": SAME}
    failed = tuple(name for name in frozen.failed if name != "bias")
    found = compared(with_engine(lamp, "mujoco native", answers=answers, failed=failed), engines=["mujoco"])
    assert [(c.kind, c.what) for c in found.changes] == [("answer", "bias")]


def test_a_refusal_is_frozen_and_its_end_is_a_change(folder):
    """A tensor that no body has is refused by MuJoCo's importer; mended, the refusal is gone."""
    text = (folder / "lamp.urdf").read_text(encoding="utf-8").replace('ixx="0.009"', 'ixx="0.9"')
    (folder / "bad.urdf").write_text(text, encoding="utf-8")
    result, frozen = freeze("bad.urdf", Request(engines=["mujoco"]))
    native = frozen.engines["mujoco native"]
    assert (native.status, [f["kind"] for f in native.findings]) == ("refused", ["refused.nonphysical"])
    assert result.exit == 1
    again, _ = check_against("bad.urdf", frozen, "bad.json", Request())
    assert (again.exit, again.baseline.changes) == (0, ())
    mended, _ = check_against("lamp.urdf", frozen, "bad.json", Request())
    assert mended.exit == 1
    assert ("refusal", "refused.nonphysical", "there", None) in [
        (c.kind, c.what, c.before, c.now) for c in mended.baseline.changes
    ]


def test_an_engine_that_cannot_be_had_is_no_verdict_on_the_robot(lamp):
    """Its absence is the one change, the exit code is 2, and nothing is renewed."""
    request = Request(engines=["mujoco@/no/python"], in_process=False)
    result, renewed = check_against(str(LAMP), lamp, "lamp.json", request)
    assert [(c.what, c.path, c.now) for c in result.baseline.changes] == [
        ("status", "native", "absent"),
        ("status", "neutral", "absent"),
    ]
    assert (result.exit, result.baseline.exit, renewed) == (2, 2, None)


@pytest.mark.parametrize(
    ("fields", "engine", "sentence"),
    [
        ({"versions": {"tautology": "0.0.1"}}, {}, "tautology was 0.0.1, now "),
        ({"versions": {"machine": "Darwin arm64"}}, {}, "machine was Darwin arm64, now "),
        ({"sha256": "0" * 64}, {}, "the file has changed (sha256 000000000000, now "),
        ({}, {"version": "3.3.7"}, "mujoco was 3.3.7, now "),
    ],
    ids=["tool", "machine", "file", "engine"],
)
def test_what_may_be_the_cause_is_said(lamp, fields, engine, sentence):
    """Hashes and versions that are not as they were, each in a sentence, and nothing else."""
    baseline = lamp
    for path in ("native", "neutral"):
        baseline = with_engine(baseline, f"mujoco {path}", **engine)
    fields = {**fields, **({"versions": {**lamp.versions, **fields["versions"]}} if "versions" in fields else {})}
    (cause,) = compared(replace(baseline, **fields), engines=["mujoco"]).causes
    assert cause.startswith(sentence)


def test_a_change_without_a_cause_says_so(folder, lamp):
    """Then it is something that neither hash nor version shows."""
    text = written(with_engine(lamp, "pinocchio native", failed=("tau",)))
    (folder / "lamp.json").write_text(text, encoding="utf-8")
    code, words, _ = tautology("check", "lamp.urdf", "--baseline", "lamp.json", "--quiet")
    assert (code, words.split(". ")[0]) == (1, "CHANGED since lamp.json was frozen: 1 verdict")
    _, words, _ = tautology("check", "lamp.urdf", "--baseline", "lamp.json")
    assert "neither the file, nor the version of an engine, nor this program has changed" in words


def test_accept_renews_what_changed_and_leaves_the_other_lines(folder):
    """The diff shows the change: lines of answers that still hold stay to the bit."""
    file = changed(folder, 'rpy="0 0.8 0.1"', 'rpy="0 0.8 0.1000000000001"')
    before = (folder / "lamp.json").read_text(encoding="utf-8").splitlines()
    assert tautology("check", file, "--baseline", "lamp.json")[0] == 0
    assert (folder / "lamp.json").read_text(encoding="utf-8").splitlines() == before
    code, _, errors = tautology("check", file, "--baseline", "lamp.json", "--accept")
    after = (folder / "lamp.json").read_text(encoding="utf-8").splitlines()
    assert (code, errors) == (0, "")
    assert [a.split(":")[0].strip() for a, b in zip(before, after, strict=True) if a != b] == ['"file"', '"sha256"']
    file = changed(folder, 'mass value="0.11"', 'mass value="0.12"')
    code, words, _ = tautology("check", file, "--baseline", "lamp.json", "--accept")
    assert code == 0
    assert "accepted, the file is renewed" in words
    assert "--accept" not in words
    assert tautology("check", file, "--baseline", "lamp.json")[:2][0] == 0
    assert tautology("check", "lamp.urdf", "--baseline", "lamp.json")[0] == 1


def test_a_change_that_is_known_does_not_count(lamp):
    """A finding that came and is listed as known is shown, with the answers that it moves."""
    answers = dict.fromkeys(lamp.engines["mujoco native"].answers, SAME)
    innocent = with_engine(lamp, "mujoco native", findings=(), failed=(), status="agree", answers=answers)
    entry = known_difference({"kind": "mass.default", "reason": "paper"}, "tautology.toml: known 1")
    found = compared(innocent, engines=["mujoco"], known=(entry,))
    assert found.changes
    assert found.counted == ()
    assert found.exit == 0
    assert compared(innocent, engines=["mujoco"]).exit == 1
    over = replace(entry, expires=dt.date(2020, 1, 1))
    assert compared(innocent, engines=["mujoco"], known=(over,)).exit == 1


def test_an_answer_that_moves_under_a_known_finding_counts(lamp):
    """The finding was there before: it is no reason for a new number."""
    answers = lamp.engines["mujoco native"].answers
    other = {**answers, "tau": {key: [x + 1e-3 for x in line] for key, line in answers["tau"].items()}}
    entry = known_difference({"kind": "mass.default", "reason": "paper"}, "tautology.toml: known 1")
    found = compared(with_engine(lamp, "mujoco native", answers=other), engines=["mujoco"], known=(entry,))
    assert [c.what for c in found.counted] == ["tau"]


def test_another_version_of_a_frozen_engine_is_held_against_it(lamp):
    """`--engine mujoco==4.1.0` against a baseline of `mujoco`; of two versions the same one."""
    assert lamp.counterpart("mujoco==4.1.0 native") == "mujoco native"
    assert lamp.counterpart("drake native") is None
    pinned = replace(lamp, engines={f"mujoco=={v} native": lamp.engines["mujoco native"] for v in ("3.3.7", "4.0.0")})
    assert pinned.counterpart("mujoco==4.0.0 native") == "mujoco==4.0.0 native"
    assert pinned.counterpart("mujoco native") is None
    with pytest.raises(RequestError, match="holds no answers of drake; it has those of pinocchio, mujoco"):
        compared(lamp, engines=["drake"])


def test_the_tolerance_is_the_frozen_one_unless_another_is_given(folder):
    """A small change passes a coarse tolerance."""
    file = changed(folder, 'mass value="0.11"', 'mass value="0.110001"')
    options = ["--baseline", "lamp.json", "--quiet", "--engine", "pinocchio"]
    assert tautology("check", file, *options)[0] == 1
    assert tautology("check", file, *options, "--tolerance", "1e-3")[0] == 0
    (folder / "coarse.json").write_text(
        (folder / "lamp.json").read_text(encoding="utf-8").replace('"tolerance": 1e-09', '"tolerance": 0.001'),
        encoding="utf-8",
    )
    assert tautology("check", file, "--baseline", "coarse.json", *options[2:])[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "lamp.urdf", "lamp.urdf", "--baseline", "lamp.json"], "a baseline is of one model; 2 files"),
        (["check", "lamp.urdf", "--baseline", "lamp.json", "--states", "8"], "--states is frozen in lamp.json"),
        (["check", "lamp.urdf", "--baseline", "lamp.json", "--base", "free"], "--base is frozen in lamp.json"),
        (["check", "lamp.urdf", "--accept"], "--accept renews a baseline; name it with --baseline"),
        (["check", "lamp.urdf", "--baseline", "lamp.json", "--accept", "--engine", "mujoco"], "leave out --engine"),
        (["check", "lamp.urdf", "--baseline", "none.json"], "none.json: cannot be read: No such file"),
        (["check", "lamp.urdf", "--baseline", "lamp.urdf"], "lamp.urdf is the model itself"),
        (["check", "none.urdf", "--baseline", "lamp.json"], "none.urdf"),
        (["check", "lamp.urdf", "--baseline", "lamp.json", "--json", "lamp.json"], "lamp.json is a file that is read"),
        (["freeze", "none.urdf", "-o", "x.json"], "none.urdf"),
        (["freeze", "lamp.urdf", "-o", "lamp.urdf"], "lamp.urdf is a file that is read"),
        (["freeze", "lamp.urdf", "-o", "no/x.json"], "cannot write no/x.json"),
        (["freeze", "lamp.urdf", "-o", "x.json", "--engine", "havok"], "there is no engine 'havok'"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(folder, arguments, words):
    """Exit 2, no traceback, and nothing is written."""
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    code, _, errors = tautology(*arguments)
    assert code == 2
    assert words in errors
    assert "Traceback" not in errors
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_damaged_baseline_is_one_sentence(folder):
    """Cut anywhere, or with a part left out, it is refused and never half believed."""
    text = (folder / "lamp.json").read_text(encoding="utf-8")
    document = json.loads(text)
    for cut in (0, 10, len(text) // 2):
        (folder / "cut.json").write_text(text[:cut], encoding="utf-8")
        with pytest.raises(ReadError, match="is no baseline"):
            read_baseline(folder / "cut.json")
    for key in document:
        (folder / "cut.json").write_text(json.dumps({k: v for k, v in document.items() if k != key}), encoding="utf-8")
        with pytest.raises(ReadError, match=r"is no baseline|is damaged"):
            read_baseline(folder / "cut.json")


class _Leaving:
    """An engine that leaves the process when it loads a model."""

    def native(self, *_):
        raise SystemExit(3)

    neutral = native


def test_a_crash_is_neither_frozen_nor_accepted(folder, monkeypatch):
    """Exit 3, and the file stays as it was."""
    adapter = registry.adapter
    monkeypatch.setattr(registry, "adapter", lambda name: _Leaving() if name == "mujoco" else adapter(name))
    before = (folder / "lamp.json").read_bytes()
    code, _, errors = tautology("freeze", "lamp.urdf", "-o", "lamp.json", "--in-process", *ASK_CORE)
    assert (code, errors) == (3, "lamp.json is not written: not all engines answered or refused")
    code, _, errors = tautology("check", "lamp.urdf", "--baseline", "lamp.json", "--accept", "--in-process")
    assert (code, errors) == (3, "lamp.json is not renewed: not all engines answered or refused")
    assert (folder / "lamp.json").read_bytes() == before


def test_the_document_says_what_changed(folder):
    """As JSON, in a field of its own; the exit code of the document is that of the command."""
    file = changed(folder, 'mass value="0.11"', 'mass value="0.12"')
    code, _, _ = tautology("check", file, "--baseline", "lamp.json", "--json", "out.json", "--engine", "pinocchio")
    document = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert code == document["exit"] == 1
    assert document["baseline"]["status"] == "changed"
    assert {c["what"] for c in document["baseline"]["changes"]} >= {"tau", "mass_matrix"}
    code, words, _ = tautology("check", "lamp.urdf", "--baseline", "lamp.json", "--json", "-")
    assert code == 0
    assert json.loads(words)["baseline"] == {"file": "lamp.json", "status": "same", "changes": [], "causes": []}


def test_junit_fails_exactly_when_something_changed(folder):
    """Also where every engine agrees: the change itself is a case."""
    file = changed(folder, 'mass value="0.11"', 'mass value="0.12"')
    for model, options, failures in (
        (file, (), "1"),
        ("lamp.urdf", (), "0"),
        (file, ("--accept",), "0"),
    ):
        engine = () if options else ("--engine", "pinocchio")
        code, _, _ = tautology("check", model, "--baseline", "lamp.json", "--junit", "out.xml", *engine, *options)
        suites = etree.parse(folder / "out.xml").getroot()
        assert (code, suites.get("failures")) == (int(failures), failures)
        if failures == "1":
            (failure,) = suites.iter("failure")
            assert failure.get("message").startswith("tau at nod (reference, neutral path): was ")
            assert failure.text.startswith("the file has changed (sha256 ")


def test_a_baseline_is_small():
    """It grows with dofs and bodies, and hardly with engines."""
    one, two = (
        freeze(str(models.path("tau_tree.xml")), Request(engines=engines, states=12))[1]
        for engines in (["mujoco"], ["mujoco", "pinocchio"])
    )
    assert len(written(one)) < 25_000
    assert len(written(two)) < len(written(one)) + 2_000
