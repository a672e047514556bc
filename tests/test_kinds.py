"""What every kind of finding means, and the command that says it."""

from __future__ import annotations

import io
import tomllib
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import tautology
from tautology.harness.cli import app
from tautology.harness.errors import RequestError
from tautology.harness.findings import KINDS
from tautology.harness.kinds import text, texts
from tautology.reports.kinds import kind_list, kind_text

RUNNER = CliRunner()
FILE = Path(tautology.__file__).parent / "harness" / "kinds.toml"
ENGINES = {"mujoco", "pinocchio", "drake", "idyntree", "dart", "pybullet", "adam", "files"}


def printed(draw) -> str:
    """Return what is drawn on a console of 80 columns."""
    console = Console(file=io.StringIO(), width=80, color_system=None, highlight=False, markup=False, emoji=False)
    draw(console)
    return console.file.getvalue()


def flowed(words: str) -> str:
    """Return a text without its line breaks."""
    return " ".join(words.split())


def test_every_kind_has_a_text_and_no_text_is_for_an_unknown_kind():
    """A new kind without a text fails here, and so does a text whose kind is gone."""
    assert set(tomllib.loads(FILE.read_text(encoding="utf-8"))) == set(KINDS)
    assert list(texts()) == list(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_says_what_it_means_how_it_looks_whence_it_comes_and_what_to_do(kind):
    """Nothing is left empty; both engines of every installation and the authors of files are spoken of."""
    one = text(kind)
    assert one.severity == KINDS[kind]
    for words in (one.means, one.numbers, one.fix, *one.causes.values()):
        assert words.endswith(".")
        assert "  " not in words
        assert "\n" not in words
    assert set(one.causes) <= ENGINES
    assert "files" in one.causes or kind == "unexplained"
    assert {"mujoco", "pinocchio", "drake"} & set(one.causes)


@pytest.mark.parametrize("kind", KINDS)
def test_explain_prints_the_whole_text(kind):
    """Every word, at 80 columns, with exit code 0."""
    out = printed(lambda console: kind_text(text(kind), console))
    assert max(map(len, out.split("\n"))) <= 80
    result = RUNNER.invoke(app, ["explain", kind])
    assert result.exit_code == 0
    one = text(kind)
    for words in (kind, one.means, one.numbers, one.fix, *one.causes.values()):
        assert words in flowed(out)
        assert words in flowed(result.stdout)


@pytest.mark.parametrize("arguments", [["explain"], ["explain", "--list"]])
def test_without_a_kind_all_are_listed(arguments):
    """Each with how much it counts and what it means, at 80 columns."""
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == 0
    kinds = result.stdout.partition("Kinds of findings\n")[2]
    assert [line.split()[0] for line in kinds.split("\n") if line[:1].strip()] == list(KINDS)
    assert "units.length model Millimetres were read as metres, or the reverse" in flowed(result.stdout)
    out = printed(lambda console: kind_list(texts().values(), console))
    assert max(map(len, out.split("\n"))) <= 80


def test_a_lint_is_told_as_one():
    """A fault of the file changes no verdict, and is not said to; a term may be one that only other calls hold."""
    for kind, words in (
        ("lint.triangle", "lint: wrong in the file itself, whatever engine reads it; changes no verdict"),
        ("mass", "model: not the same robot What it means"),
        ("damping", "model: not the same robot; convention: in other calls of this engine, not in the compared ones"),
    ):
        assert f"{kind} {words}" in flowed(RUNNER.invoke(app, ["explain", kind]).stdout)


def test_an_unknown_kind_names_the_nearest_and_where_all_are_listed():
    """Exit code 2 and a sentence that is read at a glance."""
    result = RUNNER.invoke(app, ["explain", "inertia.rotaton"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "there is no kind 'inertia.rotaton'; did you mean inertia.rotation" in result.stderr
    assert len(result.stderr) < 200
    for word in ("x", ""):
        with pytest.raises(RequestError, match=f"^there is no kind '{word}'; `tautology explain` lists all kinds$"):
            text(word)


def test_case_does_not_matter_and_a_beginning_is_enough_where_one_kind_has_it():
    """Exact names win over longer ones that begin alike; several are listed, and nothing else."""
    assert text("Joint.Axis_Sign").kind == "joint.axis_sign"
    assert text("frict").kind == "frictionloss"
    assert text("mass_matrix").kind == "mass_matrix.triangle"
    assert text("mass").kind == "mass"
    with pytest.raises(
        RequestError, match=r"^2 kinds begin with 'units': units.angle, units.length; give one of them$"
    ):
        text("units")
