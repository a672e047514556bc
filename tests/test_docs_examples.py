"""The smallest file of every kind of finding, as the site shows it: what is asked finds that kind, and no other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tautology
from tautology.harness.findings import KINDS
from tautology.harness.registry import engines

DOCS = Path(tautology.__file__).parent / "docs"
if not DOCS.is_dir():
    pytest.skip("the package is installed without its docs", allow_module_level=True)
sys.path.insert(0, str(DOCS))
import examples  # noqa: E402

GRAVE = ("model", "refusal")


def grave(findings):
    """Return the kinds of what is no convention."""
    return {kind for kind, severity in findings if severity in GRAVE}


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_shows_its_kind_and_no_other(kind):
    """A pair by `diff`, a file by `check` in one engine, an engine of one's own by its script."""
    example = examples.of(kind)
    allowed = {kind, *example.also}
    if example.files[0].suffix == ".py":
        pytest.skip("asked by its script, below")
    if len(example.files) == 2:
        result = tautology.diff(*example.files, states=8)
        assert {f.kind for f in result.reasons} == allowed
        return
    if engines()[example.engine] is None:
        pytest.skip(f"{example.engine} is not installed")
    result = tautology.check(example.files[0], engines=example.engine, states=8, identities=False)
    if kind.startswith("lint."):
        found = {f.kind for model in result.models for f in model.lint}
        assert found == allowed
        return
    told = list(zip(result.findings["kind"], result.findings["severity"], strict=True))
    assert kind in dict(told)
    assert grave(told) <= allowed
    assert not [f.kind for model in result.models for f in model.lint if kind not in examples.FAULTY]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if (examples.FOLDER / f"{kind}.py").is_file()])
def test_the_script_of_an_example_finds_its_kind(kind):
    """First of all that it prints, as the most telling."""
    ran = subprocess.run(
        [sys.executable, "-W", "error", str(examples.FOLDER / f"{kind}.py")],
        env={**os.environ, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[1].split()[1] == kind


def test_no_file_of_the_examples_is_without_its_kind():
    """What lies in the folder is shown on some page."""
    shown = {file for kind in KINDS for file in examples.of(kind).files}
    assert shown == {file for file in examples.FOLDER.iterdir() if file.suffix in (".py", ".urdf", ".xml")}
