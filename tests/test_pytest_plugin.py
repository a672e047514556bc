"""The pytest plugin: models as items, with and without xdist, the fixture, and what it costs when it is not used."""

from __future__ import annotations

import re
import shutil
import sys
from collections import Counter
from importlib import metadata
from pathlib import Path

import pytest
import wrong_processes

from tautology import models
from tautology.harness import pytest_items, pytest_plugin
from tautology.harness.results import IDENTITIES, QUANTITIES

pytest_plugins = ["pytester"]

PAGE = Path(pytest_plugin.__file__).parent.parent / "docs" / "pytest.md"
FEW = 'engines = ["mujoco"]\nstates = 4\n'
CHECKS = ["load", "same-robot", *QUANTITIES, *(f"identity-{name}" for name in IDENTITIES)]
# Logs which process checks which model.
LOGGED = """
import os
from tautology.harness import pytest_check
ask = pytest_check.check_under
def logged(project, model, **request):
    with open({log!r}, "a") as file:
        file.write(f"{{os.getpid()}} {{model.name}} {{request['identities']}}\\n")
    return ask(project, model, **request)
pytest_check.check_under = logged
"""


@pytest.fixture
def project(pytester):
    """A project with a lamp, which MuJoCo reads as another robot, and an arm, asked of one engine at few states."""
    (pytester.path / "tautology.toml").write_text(FEW, encoding="utf-8")
    shutil.copy(models.path("desk_lamp.urdf"), pytester.path / "lamp.urdf")
    shutil.copy(models.path("tau_arm.urdf"), pytester.path / "arm.urdf")
    return pytester


def settings(project, *lines: str) -> None:
    """Add settings of the project."""
    (project.path / "tautology.toml").write_text("\n".join([*lines, FEW]), encoding="utf-8")


def outcomes(run) -> dict[str, int]:
    """Return how many items ended how, without warnings."""
    return {name: count for name, count in run.parseoutcomes().items() if name != "warnings"}


def chain(joints: int) -> str:
    """Return the URDF of a chain of hinges."""
    link = '<link name="l{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    joint = '<joint name="j{0}" type="continuous"><parent link="l{1}"/><child link="l{0}"/></joint>'
    parts = [f"{link.format(i)}</inertial></link>{joint.format(i, i - 1)}" for i in range(1, joints + 1)]
    return f'<robot name="chain"><link name="l0"/>{"".join(parts)}</robot>'


def test_an_item_per_engine_path_and_check_without_opening_the_model(project):
    """Their names are known beforehand, in an order that stays; a broken model has them too."""
    (project.path / "broken.urdf").write_text("<robot", encoding="utf-8")
    run = project.runpytest("--collect-only", "-q", "--tautology-model", "*.urdf")
    engines = ["reference-neutral", "mujoco-native", "mujoco-neutral"]
    expected = [
        f"{file}.urdf::{engine}-{check}" for file in ("arm", "broken", "lamp") for engine in engines for check in CHECKS
    ]
    assert [line for line in run.outlines if "::" in line] == expected
    assert run.ret == 0


def test_what_differs_fails_with_the_finding(project):
    """The finding is the first thing that a summary shows; what agrees passes, what does not apply is skipped."""
    run = project.runpytest("--tautology-model", "lamp.urdf", "-rfs")
    found = outcomes(run)
    assert run.ret == 1
    assert found["failed"] == 9
    assert sum(found.values()) == 3 * len(CHECKS)
    run.stdout.fnmatch_lines_random(
        [
            "FAILED lamp.urdf::mujoco-native-same-robot - mass.default at shade*",
            "FAILED lamp.urdf::mujoco-native-tau - mass.default at shade*",
            "mass.default at shade, lamp.urdf:12; expected 0 kg, found 1.35717 kg; explains",
            "  100.0% of the difference; fix: write an <inertial> for 'shade' at line 12 of",
            "SKIPPED*lamp.urdf*: no mechanism floats",
        ]
    )
    assert "pytest_items.py" not in run.stdout.str()
    failed = {line.split()[1].split("::")[1] for line in run.outlines if line.startswith("FAILED")}
    assert {name.rpartition("-")[0] for name in failed} == {"mujoco-native", "mujoco-native-same"}


def test_what_agrees_passes(project):
    """Exit 0."""
    run = project.runpytest("--tautology-model", "arm.urdf")
    assert (run.ret, outcomes(run).keys()) == (0, {"passed", "skipped"})


@pytest.mark.parametrize("options", [(), ("-n", "2"), ("-n", "2", "--dist", "loadfile")], ids=" ".join)
def test_workers_find_the_same_and_ask_each_model_once(project, options):
    """With xdist the outcomes are the same, and no process checks a model twice; by file, no two processes do."""
    log = project.path / "log.txt"
    project.makeconftest(LOGGED.format(log=str(log)))
    run = project.runpytest_subprocess("--tautology-model", "*.urdf", "-p", "no:cacheprovider", *options)
    found = outcomes(run)
    assert (found["failed"], sum(found.values())) == (9, 2 * 3 * len(CHECKS))
    asked = Counter(line.split()[1] for line in log.read_text(encoding="utf-8").splitlines())
    times = Counter(log.read_text(encoding="utf-8").splitlines())
    assert set(asked) == {"arm.urdf", "lamp.urdf"}
    assert set(times.values()) == {1}
    if not options or "--dist" in options:
        assert set(asked.values()) == {1}


def test_models_of_the_configuration_are_checked_in_a_run_of_everything(project):
    """Beside the tests of the project; a run of one test stays a run of one test."""
    settings(project, 'models = ["*arm.urdf"]')
    project.makepyfile(test_own="def test_own(): pass")
    everything = project.runpytest()
    assert sum(outcomes(everything).values()) == 1 + 3 * len(CHECKS)
    one = project.runpytest("test_own.py")
    assert outcomes(one) == {"passed": 1}
    item = project.runpytest("arm.urdf::mujoco-native-tau")
    assert outcomes(item) == {"passed": 1}
    both = project.runpytest("test_own.py", "--tautology-model", "arm.urdf")
    assert sum(outcomes(both).values()) == 1 + 3 * len(CHECKS)


def test_models_beside_the_tests_are_collected_once(project):
    """Where pytest walks past them, and no second time at the end; in pyproject.toml as well."""
    (project.path / "tautology.toml").unlink()
    (project.path / "robots").mkdir()
    (project.path / "arm.urdf").rename(project.path / "robots" / "arm.urdf")
    project.makepyprojecttoml(
        '[tool.tautology]\nmodels = ["robots/*.urdf", "robots/arm.urdf"]\nengines = ["mujoco"]\npath = "native"\n'
        'states = 4\n[tool.pytest.ini_options]\naddopts = "--strict-markers"\n'
    )
    for arguments in ((), (".",), ("robots",), ("robots/arm.urdf",)):
        run = project.runpytest(*arguments)
        assert sum(outcomes(run).values()) == 2 * len(CHECKS), arguments


def test_expressions_and_marks_choose_items(project):
    """-k takes parts of the names, -m the marks."""
    run = project.runpytest("--tautology-model", "arm.urdf", "-k", "mujoco and native and gravity", "-v")
    names = [line.split()[0] for line in run.outlines if "::" in line]
    assert names == ["arm.urdf::mujoco-native-gravity", "arm.urdf::mujoco-native-identity-gravity_invariance"]
    project.makepyfile(test_own="def test_own(): pass")
    assert outcomes(project.runpytest("--tautology-model", "arm.urdf", "-m", "not interop"))["passed"] == 1


@pytest.mark.parametrize(("joints", "slow"), [(pytest_items.LARGE, False), (pytest_items.LARGE + 1, True)])
def test_identities_of_large_robots_are_slow_and_not_asked_when_left_out(project, joints, slow):
    """`-m "not slow"` saves their time: the engines are not asked for them."""
    log = project.path / "log.txt"
    project.makeconftest(LOGGED.format(log=str(log)))
    (project.path / "chain.urdf").write_text(chain(joints), encoding="utf-8")
    run = project.runpytest_subprocess("--tautology-model", "chain.urdf", "-m", "not slow", "--strict-markers")
    kept = 3 * (2 + len(QUANTITIES) + (0 if slow else len(IDENTITIES)))
    assert sum(outcomes(run).values()) - outcomes(run).get("deselected", 0) == kept
    assert log.read_text(encoding="utf-8").split()[1:] == ["chain.urdf", str(not slow)]


def test_a_known_difference_is_skipped_with_its_reason(project):
    """It is told and fails nothing."""
    known = '[[known]]\nkind = "mass.default"\nengine = "mujoco"\nreason = "paper"'
    (project.path / "tautology.toml").write_text(FEW + known, encoding="utf-8")
    run = project.runpytest("--tautology-model", "lamp.urdf", "-rs")
    assert run.ret == 0
    assert "known: paper" in run.stdout.str()


def test_a_model_that_cannot_be_used_is_one_failure(project):
    """And never green: where the item that tells of it is left out, the others do."""
    (project.path / "broken.urdf").write_text("<robot", encoding="utf-8")
    run = project.runpytest("--tautology-model", "broken.urdf")
    assert outcomes(run) == {"failed": 1, "skipped": 3 * len(CHECKS) - 1}
    run.stdout.fnmatch_lines(["FAILED broken.urdf::reference-neutral-load - *broken.urdf:1: *"])
    run = project.runpytest("--tautology-model", "broken.urdf", "-k", "mujoco and native and affine")
    assert outcomes(run) == {"failed": 1, "deselected": 3 * len(CHECKS) - 1}


def test_an_engine_that_refuses_is_one_failure(project):
    """The engine's own words stand at `load`; what it was not asked is skipped."""
    text = (project.path / "lamp.urdf").read_text(encoding="utf-8").replace('ixx="0.009"', 'ixx="0.9"')
    (project.path / "heavy.urdf").write_text(text, encoding="utf-8")
    run = project.runpytest("--tautology-model", "heavy.urdf", "-k", "native")
    assert outcomes(run)["failed"] == 1
    run.stdout.fnmatch_lines(["FAILED heavy.urdf::mujoco-native-load - *"])
    assert outcomes(run)["skipped"] == len(CHECKS) - 1


def test_an_engine_that_crashes_is_one_failure(project, monkeypatch):
    """It is told with its signal; pytest goes on, and the other engine passes."""
    folder = project.mkdir("engines")
    wrong_processes.install(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    (project.path / "tautology.toml").write_text('engines = ["killed", "mujoco"]\nstates = 4\n', encoding="utf-8")
    run = project.runpytest_subprocess("--tautology-model", "arm.urdf", "-k", "neutral and not reference")
    assert outcomes(run)["failed"] == 1
    assert outcomes(run)["passed"] > 20
    run.stdout.fnmatch_lines(["*inverse_dynamics*SIGKILL*", "FAILED arm.urdf::killed-neutral-load - *"])


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("", ("--tautology-model", "none.urdf"), "tautology: there is no model 'none.urdf' in "),
        ('models = ["none/*.urdf"]', (), "tautology: there is no model 'none/?.urdf' in "),
        ('engines = ["havok"]', (), "there is no engine 'havok'; known engines: "),
        ("model = 1", (), "'model' is no setting; there are models, "),
        ('[[known]]\nkind = "com"', (), "known 1 has no reason"),
    ],
)
def test_what_cannot_be_asked_ends_the_run_with_a_sentence(pytester, text, arguments, words):
    """Usage errors: exit 4, no traceback."""
    (pytester.path / "tautology.toml").write_text(text, encoding="utf-8")
    run = pytester.runpytest_subprocess(*arguments)
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines([f"*{words}*"])
    assert "Traceback" not in run.stderr.str()


def test_the_fixture_checks_a_model_and_returns_the_result(project):
    """It fails with the findings unless told otherwise, and takes what is asked, else what the settings say."""
    project.makepyfile(
        """
        def test_agrees(tautology_check):
            result = tautology_check("arm.urdf")
            assert result.verdict == "agree"
            assert {e.engine for e in result.models[0].engines} == {"reference", "mujoco"}
            assert result.models[0].states["count"] == 4

        def test_differs(tautology_check):
            tautology_check("lamp.urdf")

        def test_looks_itself(tautology_check):
            result = tautology_check("lamp.urdf", fail=False, states=2)
            assert result.exit == 1
            assert result.models[0].states["count"] == 2
            assert list(result.findings["kind"]).count("mass.default") == 1

        def test_own_function(tautology_check):
            tautology_check("arm.urdf", engines=lambda q, v, a: 0 * a)
        """
    )
    run = project.runpytest("-k", "not arm.urdf", "test_the_fixture_checks_a_model_and_returns_the_result.py")
    assert outcomes(run) == {"passed": 2, "failed": 2}
    run.stdout.fnmatch_lines(
        [
            "DIFFERS  lamp.urdf: mujoco (native path) reads another robot: mass.default at shade*",
            "mujoco, native path: mass.default at shade, lamp.urdf:12; expected 0 kg, *",
        ]
    )
    assert not any("pytest_plugin.py" in line for line in run.outlines)


OWN = """
import tautology
from tautology.adapters.reference import Reference
arm = Reference(tautology.load("robots/arm.urdf"))
def my_inverse_dynamics(q, v, a): return arm.inverse_dynamics(q[None], v[None], a[None])[0]
"""


@pytest.mark.skipif(not PAGE.is_file(), reason="the package is installed without its docs")
def test_the_examples_of_the_page_run(pytester):
    """docs/pytest.md: the settings are settings, and the tests pass."""
    settings, code = (
        re.search(rf"```{kind}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[1] for kind in ("toml", "python")
    )
    (pytester.path / "robots").mkdir()
    for name, model in (("arm", "tau_arm"), ("lamp", "desk_lamp")):
        shutil.copy(models.path(f"{model}.urdf"), pytester.path / "robots" / f"{name}.urdf")
    (pytester.path / "scenes").mkdir()
    shutil.copy(models.path("tau_arm.xml"), pytester.path / "scenes" / "arm.xml")
    pytester.makepyprojecttoml(settings)
    pytester.makepyfile(test_own=OWN + code)
    assert outcomes(pytester.runpytest_subprocess("test_own.py")) == {"passed": 3}
    listed = pytester.runpytest_subprocess("--collect-only", "-q")
    assert {line.split("::")[0] for line in listed.outlines if "native-tau" in line} == {
        "robots/arm.urdf",
        "robots/lamp.urdf",
        "scenes/arm.xml",
    }


def test_known_differences_hold_for_the_fixture(project):
    """As for the items."""
    known = '[[known]]\nkind = "mass.default"\nreason = "paper"'
    (project.path / "tautology.toml").write_text(FEW + known, encoding="utf-8")
    project.makepyfile("def test_lamp(tautology_check): assert tautology_check('lamp.urdf').verdict == 'agree'")
    assert outcomes(project.runpytest("-p", "no:cacheprovider")) == {"passed": 1}


def test_unused_it_loads_nothing(pytester):
    """A start of pytest that names no model loads three small modules of ours, and no engine, numpy or TOML for it."""
    pytester.makepyprojecttoml('[tool.other]\nx = 1\n[project]\nname = "tautology-user"\n')
    pytester.makepyfile(
        """
        import sys
        def test_modules():
            ours = {name for name in sys.modules if name.split(".")[0] == "tautology"}
            assert ours == {"tautology", "tautology.harness", "tautology.harness.pytest_plugin"}
            assert not {"numpy", "pandas", "mujoco", "pinocchio", "lxml", "typer"} & set(sys.modules)
        """
    )
    # Other plugins of this environment may load what they like.
    others = [p.name for p in metadata.entry_points(group="pytest11") if p.name != "tautology"]
    blocked = [word for name in others for word in ("-p", f"no:{name}")]
    run = pytester.runpytest_subprocess(*blocked)
    assert outcomes(run) == {"passed": 1}


def test_it_is_registered_once_in_our_own_suite(pytestconfig):
    """By its entry point, under one name, from one file; our own pyproject.toml names no models."""
    file = Path(str(pytest_plugin.__file__)).resolve()
    found = [
        name
        for name, plugin in pytestconfig.pluginmanager.list_name_plugin()
        if getattr(plugin, "__file__", None) and Path(plugin.__file__).resolve() == file
    ]
    assert found == ["tautology"]
    assert not pytestconfig.pluginmanager.hasplugin("tautology-models")
    loaded = [name for name in sys.modules if name.endswith(".harness.pytest_plugin")]
    assert loaded == ["tautology.harness.pytest_plugin"]
