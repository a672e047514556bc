"""The tables of engines are what the cards say: whoever changes a card runs benchmarks/engine_table.py."""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import tautology
from tautology.adapters import CARDS

ROOT = Path(tautology.__file__).parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import engine_table  # noqa: E402  a script beside the package

RENEW = "run python benchmarks/engine_table.py"


def test_the_page_is_what_the_script_writes():
    """Word for word; versions are those of the machine that wrote it, and every engine has been measured."""
    text = engine_table.PAGE.read_text(encoding="utf-8")
    said = dict(re.findall(r"^## .*\(`(\w+)`\)\n\n\| version \| ([^|]+) \|$", text, re.MULTILINE))
    assert said.keys() == {card.name for card in CARDS}, RENEW
    assert engine_table.UNKNOWN not in said.values(), RENEW
    assert text == engine_table.page(said), RENEW


def test_the_readme_has_the_same_table():
    """A row per card: name, install line, formats, what it cannot do."""
    readme = engine_table.README.read_text(encoding="utf-8")
    assert engine_table.table() in readme, RENEW
    assert len(engine_table.OLD.findall(readme)) == 1


@pytest.mark.parametrize("card", [card for card in CARDS if card.name != "reference"], ids=lambda card: card.name)
def test_the_install_line_is_that_of_pyproject(card):
    """Same packages, same bounds; where pyproject.toml takes it on some Pythons alone, the line says why."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [
        wanted for name, wanted in project["optional-dependencies"].items() if name not in ("all", "test", "docs")
    ]
    groups = [[Requirement(line) for line in wanted] for wanted in ([line] for line in project["dependencies"])]
    groups += [[Requirement(line) for line in wanted] for wanted in extras]
    (group,) = [group for group in groups if group[0].name == card.distribution]
    words = shlex.split(card.install, comments=True)
    assert words[:2] == ["pip", "install"]
    assert [(one.name, one.specifier) for one in map(Requirement, words[2:])] == [(r.name, r.specifier) for r in group]
    marked = any(wanted.marker is not None for wanted in group)
    assert marked == ("# no wheel beyond Python 3.11" in card.install)


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_a_row_says_what_the_card_says(card):
    """The table is made of the cards, not of what stood there."""
    (row,) = [line for line in engine_table.table().split("\n") if f"| `{card.name}` |" in line]
    assert card.install in row or card.name == "reference"
    for line in card.limits:
        assert line.partition(":")[0] in row
    assert row.count(" | ") == 4


def test_versions_that_are_not_here_stay(monkeypatch):
    """A machine without an engine does not forget which version was measured."""
    monkeypatch.setattr(engine_table.registry, "version", lambda card: "9.9" if card.name == "mujoco" else None)
    known = engine_table.versions("## Drake (`drake`)\n\n| version | 1.2.3 |\n|---|---|\n")
    assert (known["drake"], known["mujoco"], known["dart"]) == ("1.2.3", "9.9", engine_table.UNKNOWN)
