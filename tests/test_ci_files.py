"""The action, the hooks and the snippets for CI: what they say is what they do, as far as it can be run here."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tautology import models

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
SNIPPETS = {
    text.splitlines()[0].removeprefix("# "): text
    for text in re.findall(r"^```yaml\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
}
BIN = Path(sys.executable).parent
STEPS = {step.get("name"): step for step in ACTION["runs"]["steps"]}
LAMP, ARM = models.path("desk_lamp.urdf"), models.path("planar_arm.urdf")


def run(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with what it printed in one text."""
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"} if env is None else dict(env)
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("schema", "file"),
    [("vendor.github-actions", ROOT / "action.yml"), ("vendor.github-workflows", None), ("vendor.gitlab-ci", None)],
)
def test_files_keep_the_schemas_of_their_services(schema: str, file: Path | None, tmp_path: Path) -> None:
    """GitHub's of actions and workflows, GitLab's of pipelines, as check-jsonschema ships them."""
    named = {"vendor.github-workflows": ".github/workflows/robots.yml", "vendor.gitlab-ci": ".gitlab-ci.yml"}
    if file is None:
        file = tmp_path / "snippet.yml"
        file.write_text(SNIPPETS[named[schema]], encoding="utf-8")
    transform = ("--data-transform", "gitlab-ci") if schema == "vendor.gitlab-ci" else ()
    checker = (BIN / "check-jsonschema", "--builtin-schema", schema, *transform)
    ran = run(*checker, file, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout
    broken = tmp_path / "broken.yml"
    broken.write_text(file.read_text(encoding="utf-8").replace("run", "walk").replace("script", "scrpt"), "utf-8")
    assert run(*checker, broken, cwd=tmp_path).returncode == 1


def test_the_page_names_the_inputs_of_the_action() -> None:
    """Every input with its default, every output."""
    rows = re.findall(r"^\| `([\w-]+)` \| (?:`(.*?)`)?", PAGE, flags=re.MULTILINE)
    assert [name for name, _ in rows] == list(ACTION["inputs"])
    for name, default in rows:
        if default:
            assert ACTION["inputs"][name]["default"] == default
    assert all(f"`{name}`" in PAGE for name in ACTION["outputs"])


def test_no_shell_reads_an_input() -> None:
    """Expressions stand in `env` and `with` alone: never in a text that is run."""
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
    used = {value for step in STEPS.values() for value in step.get("env", {}).values()}
    used |= {value for step in STEPS.values() for value in step.get("with", {}).values()}
    inputs = {match[1] for value in used if (match := re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value))}
    assert inputs == set(ACTION["inputs"])


class Job:
    """A runner's folder with the installed package where the action installs it."""

    def __init__(self, folder: Path) -> None:
        self.work, self.temp = folder / "work", folder / "temp"
        self.summary, self.output = folder / "summary.md", folder / "output"
        self.work.mkdir()
        (self.temp / "tautology" / "bin").mkdir(parents=True)
        (self.temp / "tautology" / "bin" / "tautology").symlink_to(BIN / "tautology")
        self.printed = ""

    def check(self, **inputs: str) -> int:
        """Run the step `Check` as a runner does, with these inputs and the defaults, and return its exit code."""
        step = STEPS["Check"]
        given = {name: str(about.get("default", "")) for name, about in ACTION["inputs"].items()} | inputs
        filled = {key: given[re.search(r"inputs\.([\w-]+)", value)[1]] for key, value in step["env"].items()}
        runner = {"RUNNER_TEMP": self.temp, "GITHUB_STEP_SUMMARY": self.summary, "GITHUB_OUTPUT": self.output}
        script = self.temp / "step.py"
        script.write_text(step["run"], encoding="utf-8")
        self.output.write_text("", encoding="utf-8")
        env = {"PATH": os.environ["PATH"], **{key: str(value) for key, value in runner.items()}, **filled}
        ran = run(sys.executable, script, cwd=self.work, env=env)
        self.printed = ran.stdout
        return ran.returncode

    @property
    def outputs(self) -> dict[str, str]:
        """What the step handed on, as a runner reads it: NAME=VALUE, or NAME<<WORD and lines up to that word."""
        lines = iter(self.output.read_text(encoding="utf-8").splitlines())
        found: dict[str, str] = {}
        for line in lines:
            name, sign, rest = re.fullmatch(r"([\w-]+)(=|<<)(.*)", line).groups()
            held = [rest] if sign == "=" else list(iter(lambda: next(lines), rest))
            found[name] = "\n".join(held)
        return found


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Return a job of its own."""
    return Job(tmp_path)


def test_the_action_checks_and_reports(job: Job) -> None:
    """The exit code is kept, the reports are where the outputs say, the summary holds the Markdown."""
    shutil.copy(LAMP, job.work / "lamp.urdf")
    assert job.check(files="lamp.urdf") == 1
    outputs = job.outputs
    assert outputs["exit-code"] == "1"
    assert (outputs["sarif"], outputs["junit"]) == ("tautology.sarif", "tautology.xml")
    found = json.loads((job.work / "tautology.sarif").read_text(encoding="utf-8"))["runs"][0]["results"][0]
    assert found["ruleId"] == "mass.default"
    place = found["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("lamp.urdf", 12)
    assert "<failure" in (job.work / "tautology.xml").read_text(encoding="utf-8")
    markdown = Path(outputs["markdown"]).read_text(encoding="utf-8")
    assert job.summary.read_text(encoding="utf-8") == markdown + "\n"
    assert markdown.startswith("**DIFFERS** lamp.urdf: ")


def test_the_action_expands_patterns_and_takes_options(job: Job) -> None:
    """`**` reaches into folders, engines and base are handed on, an empty name is no file, no summary unasked."""
    (job.work / "a" / "b c" / "d").mkdir(parents=True)
    for place in ("a", "a/b c/d"):
        shutil.copy(ARM, job.work / place / "arm.urdf")
    options = {"engines": " mujoco  pinocchio ", "base": "fixed", "tolerance": "1e-6"}
    assert job.check(files="\n a/**/*.urdf \n\n", sarif="", junit="", summary="false", **options) == 0
    assert job.outputs == {"exit-code": "0", "sarif": "", "junit": "", "markdown": str(job.temp / "tautology.md")}
    assert not job.summary.exists()
    assert "a/arm.urdf" in job.printed
    assert "a/b c/d/arm.urdf" in job.printed
    assert sorted(path.name for path in job.work.iterdir()) == ["a"]


def test_a_request_that_cannot_be_used_is_exit_2(job: Job) -> None:
    """No file fits, an engine does not exist; reports of an earlier run are not taken for new ones."""
    assert job.check(files="*.urdf") == 2
    assert "::error::no file fits *.urdf" in job.printed
    shutil.copy(ARM, job.work / "arm.urdf")
    assert job.check(files="arm.urdf") == 0
    assert job.check(files="arm.urdf", engines="bullet") == 2
    assert job.outputs == {"exit-code": "2", "sarif": "", "junit": "", "markdown": ""}


def test_a_file_that_cannot_be_used_is_reported(job: Job) -> None:
    """The others are still checked."""
    shutil.copy(ARM, job.work / "arm.urdf")
    (job.work / "bad.urdf").write_text("<robot", encoding="utf-8")
    assert job.check(files="arm.urdf\nbad.urdf") == 2
    assert job.outputs["sarif"] == "tautology.sarif"
    assert "`bad.urdf` cannot be used" in job.summary.read_text(encoding="utf-8")


HOSTILE = ("$(touch pwned)", "`touch pwned`", "; touch pwned;", "--json=pwned", "a\nexit-code=0", "' || touch pwned '")


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", ["files", "engines", "tolerance"])
def test_hostile_inputs_are_arguments(text: str, name: str, job: Job) -> None:
    """They are looked for as files, engines and numbers, are not there, and nothing else happens."""
    inputs = {"files": "missing.urdf", name: f"missing.urdf\n{text}" if name == "files" else text}
    assert job.check(**inputs) == 2
    assert {path.name for path in job.work.iterdir()} <= {"tautology.sarif", "tautology.xml"}
    assert job.outputs["exit-code"] == "2"


def test_the_name_of_an_output_sets_no_other(job: Job) -> None:
    """A line break in it ends nothing: the word around the value is drawn by chance."""
    name = "a\nexit-code=0\nb"
    assert job.check(files="missing.urdf", sarif=name) == 2
    assert job.outputs["exit-code"] == "2"
    assert job.outputs["sarif"] == name


def test_names_of_models_command_no_runner(job: Job) -> None:
    """Lines of the report that look like commands stand between a stop and a word that no file knows."""
    text = LAMP.read_text(encoding="utf-8").replace('"shade"', '"::error::gone"')
    (job.work / "lamp.urdf").write_text(text, encoding="utf-8")
    assert job.check(files="lamp.urdf") == 1
    lines = job.printed.splitlines()
    word = re.fullmatch(r"::stop-commands::([0-9a-f]{32})", lines[0])[1]
    assert lines[-1] == f"::{word}::"
    assert "::error::gone" in "".join(lines[1:-1])


def test_the_action_installs_itself_or_a_version(tmp_path: Path) -> None:
    """The folder of the action, or one release by its number; whatever is in the input is one argument."""
    step = STEPS["Install"]
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin" / "python"
    # The first call makes the environment, the second installs into it: both write down what they were given.
    fake.write_text(
        '#!/bin/sh\nprintf "%s\\n" "$@" "--" >> "$LOG"\nmkdir -p "$RUNNER_TEMP/tautology/bin"\n'
        'cp "$0" "$RUNNER_TEMP/tautology/bin/python" 2> /dev/null || true\n',
        encoding="utf-8",
    )
    fake.chmod(0o755)
    for version, wanted in {"": "/the action", "1.2": "tautology==1.2", "1; touch x": "tautology==1; touch x"}.items():
        log = tmp_path / "log"
        log.unlink(missing_ok=True)
        env = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "RUNNER_TEMP": str(tmp_path / "t"), "LOG": str(log)}
        script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        ran = run(*script, cwd=tmp_path, env={**env, "VERSION": version, "ACTION": "/the action"})
        assert ran.returncode == 0, ran.stdout
        calls = log.read_text(encoding="utf-8").split("--\n")
        assert calls[0].splitlines() == ["-m", "venv", str(tmp_path / "t" / "tautology")]
        assert calls[1].splitlines() == ["-m", "pip", "install", "--quiet", wanted]
    assert not (tmp_path / "x").exists()


def test_pre_commit_takes_the_hooks(tmp_path: Path) -> None:
    """Its own check of a manifest, and of the configuration on the page."""
    ran = run(BIN / "pre-commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout
    (tmp_path / "config.yaml").write_text(SNIPPETS[".pre-commit-config.yaml"], encoding="utf-8")
    ran = run(BIN / "pre-commit", "validate-config", "config.yaml", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout
    on_page = yaml.safe_load(SNIPPETS[".pre-commit-config.yaml"])["repos"][0]["hooks"]
    assert [hook["id"] for hook in on_page] == [hook["id"] for hook in HOOKS]


def repository(folder: Path, *args: str) -> dict[str, Any]:
    """Make a git repository that runs the hooks of the manifest with the package that is installed here."""
    hooks = [{**hook, "language": "system"} for hook in HOOKS]
    hooks[1] |= {"args": list(args)}
    config = {"repos": [{"repo": "local", "hooks": hooks if args else hooks[:1]}]}
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    for command in (("init", "-q"), ("add", "-A")):
        assert run("git", *command, cwd=folder).returncode == 0
    return config


def hooked(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pre-commit in a repository, with a cache of its own."""
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "PRE_COMMIT_HOME": str(folder / ".cache")}
    return run(BIN / "pre-commit", "run", "--verbose", *arguments, cwd=folder, env=env)


def test_the_hook_checks_the_models_of_a_commit(tmp_path: Path) -> None:
    """A robot that all read alike passes; the lamp does not; the XML of a ROS package is no model."""
    shutil.copy(ARM, tmp_path / "arm.urdf")
    (tmp_path / "package.xml").write_text("<package/>", encoding="utf-8")
    (tmp_path / "arm.launch.xml").write_text("<launch/>", encoding="utf-8")
    repository(tmp_path)
    ran = hooked(tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert "AGREE  arm.urdf" in ran.stdout
    shutil.copy(LAMP, tmp_path / "-lamp.urdf")
    assert run("git", "add", "-A", cwd=tmp_path).returncode == 0
    ran = hooked(tmp_path)
    assert ran.returncode == 1
    assert "exit code: 1" in ran.stdout
    assert re.search(r"DIFFERS  -lamp.urdf: .* mass.default at shade", ran.stdout)


def test_the_hook_compares_two_files(tmp_path: Path) -> None:
    """Those of `args`, whichever of them changed."""
    for suffix in ("urdf", "xml"):
        shutil.copy(models.path(f"planar_arm.{suffix}"), tmp_path / f"arm.{suffix}")
    repository(tmp_path, "arm.urdf", "arm.xml")
    ran = hooked(tmp_path, "tautology-diff")
    assert ran.returncode == 0, ran.stdout
    assert "AGREE  arm.urdf and arm.xml are the same robot" in ran.stdout
    shutil.copy(LAMP, tmp_path / "arm.urdf")
    assert run("git", "add", "-A", cwd=tmp_path).returncode == 0
    assert "exit code: 1" in hooked(tmp_path, "tautology-diff").stdout


def test_the_lines_for_gitlab_run(tmp_path: Path) -> None:
    """All but the installation, in a shell, and the files that it keeps are written."""
    job = yaml.safe_load(SNIPPETS[".gitlab-ci.yml"])["tautology"]
    (tmp_path / "robots").mkdir()
    shutil.copy(ARM, tmp_path / "robots" / "arm.urdf")
    lines: Sequence[str] = [line for line in job["script"] if not line.startswith("pip install")]
    assert len(lines) == len(job["script"]) - 1
    ran = run("bash", "-ec", "\n".join(lines), cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout
    kept = [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]
    assert all((tmp_path / name).is_file() for name in kept)


def test_the_python_of_the_page_runs(tmp_path: Path) -> None:
    """The schema that comes with the package."""
    (block,) = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert "Results of tautology" in run(sys.executable, "-W", "error", "-c", block, cwd=tmp_path).stdout
