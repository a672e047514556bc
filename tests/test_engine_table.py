"""The tables of engines are what the cards say: whoever changes a card runs benchmarks/engine_table.py."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

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
