"""Adapters of other packages: the one of the documentation is built and installed, broken ones are sentences."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import wrong_adapters
from typer.testing import CliRunner

import tautology
from tautology.harness import registry
from tautology.harness.cli import app
from tautology.harness.errors import RequestError

ROOT = Path(tautology.__file__).parent
PAGE = ROOT / "docs" / "adapters.md"
RUNNER = CliRunner()
SAID = {
    "noimport": "cannot be loaded: ModuleNotFoundError: No module named 'a_module_that_is_not_there'",
    "nocard": "cannot be loaded: AttributeError",
    "othertype": "is of type dict; it must be a harness.engine.EngineCard",
    "leaves": "cannot be loaded: SystemExit: no licence found",
    "clash": "is called 'mujoco', which is an engine of tautology; give it another name",
    "badfield": "has no tuple of texts as formats: 'urdf'",
    "badname": "is called 'bad==1', which is read as an engine and its version",
}


def run(*command, cwd, path=""):
    """Run a command to its end at 80 columns; of our own variables none is handed on."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    ran = subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        cwd=cwd,
        env=kept | {"COLUMNS": "80"} | ({"PYTHONPATH": str(path)} if path else {}),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert "Traceback" not in ran.stderr
    return ran


def files_of_the_page():
    """Return the files that the page shows: name to text."""
    blocks = re.findall(
        r"^`([\w.]+)`.*?\n\n```\w+\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    return dict(blocks)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the package of the page and install it into a folder, without the network."""
    source, target = tmp_path_factory.mktemp("hinge"), tmp_path_factory.mktemp("site")
    for name, text in files_of_the_page().items():
        (source / name).write_text(text, encoding="utf-8")
    offline = ("--no-deps", "--no-index", "--no-build-isolation", "--quiet")
    installed = run("pip", "install", *offline, "--target", target, source, cwd=source)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    return target


def test_the_adapter_of_the_page_keeps_the_contract(site, tmp_path):
    """Every specimen that it holds is right, and its card is true; the page shows the line that is printed."""
    file = tmp_path / "hinge.json"
    ran = run("tautology", "selftest", "hinge", "--json", file, cwd=tmp_path, path=site)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (shown,) = re.findall(r"^\$ tautology selftest hinge\n(.*)\n", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert ran.stdout.splitlines()[0] == shown
    document = json.loads(file.read_text())
    rows = {row["concern"]: row for row in document["specimens"]}
    assert rows["revolute joints"]["status"] == rows["chain of 30 joints"]["status"] == "right"
    assert rows["ball joints"]["status"] == "cannot"
    assert "floating joint below another body" in document["limits"]


def test_the_adapter_of_the_page_is_an_engine_like_the_others(site, tmp_path):
    """It is listed, and checked beside our own in a process of its own."""
    listed = run("tautology", "engines", cwd=tmp_path, path=site)
    assert "hinge 1.0" in listed.stdout
    assert "cannot        prismatic joints" in listed.stdout
    file = tmp_path / "check.json"
    model = ROOT / "models" / "tau_arm.urdf"
    engines = ("--engine", "hinge", "--engine", "mujoco")
    ran = run("tautology", "check", model, *engines, "--json", file, cwd=tmp_path, path=site)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows = {(row["engine"], row["path"]): row for row in json.loads(file.read_text())["models"][0]["engines"]}
    assert rows["hinge", "neutral"]["status"] == "agree"
    assert rows["hinge", "native"]["status"] == "unsupported"
    digits = {row["quantity"]: row["digits"] for row in rows["hinge", "neutral"]["quantities"] if row["applies"]}
    assert digits.keys() == {"tau", "bias", "gravity", "mass_matrix", "poses"}
    assert min(digits.values()) > 14


def test_the_checker_of_the_page_sees_an_error(site, tmp_path):
    """With one sign of the engine turned, the same command fails: what is right above is no accident."""
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in site.glob("*.py"):
        (broken / file.name).write_text(file.read_text().replace("n - R @ loads", "n + R @ loads"))
    path = os.pathsep.join((str(broken), str(site)))
    ran = run("tautology", "selftest", "hinge", cwd=tmp_path, path=path)
    assert ran.returncode == 1
    assert "tau: " in ran.stdout


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Install every broken adapter beside a sound one."""
    wrong_adapters.known(("sound", *wrong_adapters.BROKEN), tmp_path, monkeypatch)


@pytest.mark.usefixtures("broken")
def test_a_broken_adapter_is_a_sentence_among_the_engines():
    """The others are listed as ever, and every broken one says which package it is of and what is wrong."""
    ran = RUNNER.invoke(app, ["engines"], env={"COLUMNS": "80"})
    assert ran.exit_code == 0
    text = " ".join(ran.stdout.split())
    assert "sound 0.1" in text
    for name, said in SAID.items():
        assert (
            f"no engine: entry point '{name}' (wrong_adapter_{name}:CARD) of the package 'wrong-adapters' {said}"
            in text
        )
    assert set(SAID) == set(wrong_adapters.BROKEN)
    assert max(map(len, ran.stdout.split("\n"))) <= 80


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("name", SAID)
def test_a_broken_adapter_that_is_asked_for_is_a_sentence(name):
    """Exit 2, and the reason is that of the list of engines; the name that is taken is the engine that has it."""
    with pytest.raises(RequestError) as raised:
        registry.card_of(name)
    assert SAID[name] in str(raised.value)
    ran = RUNNER.invoke(app, ["check", str(ROOT / "models" / "tau_arm.urdf"), "--engine", name])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert SAID[name] in ran.stderr
    assert registry.card_of("mujoco").module == "adapters.mujoco_"


@pytest.mark.parametrize(
    "card", [card for card in registry.CARDS if card.name != "reference"], ids=lambda card: card.name
)
@pytest.mark.parametrize("command", ["check", "selftest"])
def test_an_engine_that_is_absent_is_told_with_its_install_line(card, command, monkeypatch):
    """One sentence, exit 2, whichever of ours it is."""
    known = registry.version
    monkeypatch.setattr(registry, "version", lambda other: None if other.name == card.name else known(other))
    model = [str(ROOT / "models" / "tau_arm.urdf"), "--engine"] if command == "check" else []
    ran = RUNNER.invoke(app, [command, *model, card.name])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == f"engine {card.name!r} is not installed; install it with: {card.install}\n"


def test_by_default_every_installed_engine_is_asked(monkeypatch):
    """Those that are absent are left out without a word."""
    from tautology.harness.bench import gather  # noqa: PLC0415

    here = {"reference", "pinocchio"}
    monkeypatch.setattr(registry, "version", lambda card: "1" if card.name in here else None)
    assert {b.name for b in gather(None)} == here
