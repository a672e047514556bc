"""Small files that engines read as another robot: every engine at hand gives the verdict that stands in the list."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from engines_at_hand import needs

from tautology.adapters import CARDS
from tautology.harness import registry
from tautology.harness.request import Request
from tautology.harness.run import check_files

if TYPE_CHECKING:
    from tautology.harness.results import EngineResult

FOLDER = Path(__file__).parent / "surprises"
SURPRISES: dict[str, Any] = tomllib.loads((FOLDER / "surprises.toml").read_text(encoding="utf-8"))
SLOW = "mjx"
"""Compiles for a quarter of a minute per file."""


def verdict(row: EngineResult) -> list[str]:
    """Return status, and kinds and places of the findings that make it so, each once."""
    told = [f for f in row.findings if f.severity not in ("convention", "info")]
    return [row.status, *dict.fromkeys(f"{f.kind} {f.where or ''}".strip() for f in told)]


@cache
def verdicts(kind: str, engines: tuple[str, ...]) -> dict[str, dict[str, list[str]]]:
    """Return the verdicts of engines on all files of a format, each engine in a process of its own."""
    files = {str(FOLDER / entry["file"]): name for name, entry in SURPRISES.items() if entry["file"].endswith(kind)}
    found = check_files(list(files), Request(list(engines), "native", states=8))
    assert not found.unusable
    return {
        files[model.file]: {row.engine: verdict(row) for row in model.engines if row.engine in engines}
        for model in found.models
    }


def engines_of(kind: str, *, slow: bool) -> tuple[str, ...]:
    """Return the engines that are installed and read the format."""
    reads = {".urdf": "urdf", ".xml": "mjcf"}[kind]
    own = [card for card in CARDS if card.name != "reference" and reads in card.formats and (card.name == SLOW) == slow]
    return tuple(card.name for card in own if registry.version(card) is not None)


def holds(name: str, *, slow: bool) -> None:
    """Compare verdicts with those of the list, where an engine that is not named agrees."""
    entry = SURPRISES[name]
    kind = Path(entry["file"]).suffix
    engines = engines_of(kind, slow=slow)
    assert verdicts(kind, engines)[name] == {engine: entry.get(engine, ["agree"]) for engine in engines}


@pytest.mark.parametrize("name", SURPRISES)
def test_every_engine_at_hand_reads_it_as_the_list_says(name: str) -> None:
    """Its verdict, and kind and place of each finding."""
    holds(name, slow=False)


@pytest.mark.slow
@needs(SLOW)
@pytest.mark.parametrize("name", SURPRISES)
def test_the_slow_one_too(name: str) -> None:
    """MJX is MuJoCo but for what it does not implement."""
    holds(name, slow=True)


def test_every_file_stands_in_the_list_and_no_engine_is_unknown() -> None:
    """Nothing is there in vain; an included part belongs to its file."""
    files = {file.name for file in FOLDER.glob("*.urdf")} | {file.name for file in FOLDER.glob("*.xml")}
    assert {entry["file"] for entry in SURPRISES.values()} == files - {"included_arm.xml"}
    named = {key for entry in SURPRISES.values() for key in entry} - {"file", "why"}
    assert named <= {card.name for card in CARDS}
