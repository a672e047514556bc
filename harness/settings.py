"""What a project says once for all runs: `tautology.toml`, or the table `[tool.tautology]` of its pyproject.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from .errors import ReadError, RequestError, Source
from .known import KEYS as KNOWN_KEYS
from .known import Known, known_difference

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

OWN: Final = "tautology.toml"
SHARED: Final = "pyproject.toml"
# Key to its type; lists are of strings.
KEYS: Final[Mapping[str, tuple[type, ...]]] = {
    "models": (list,),
    "engines": (list,),
    "path": (str,),
    "base": (str,),
    "states": (int,),
    "seed": (int,),
    "tolerance": (float,),
    "known": (list,),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a project.

    Attributes:
        file: that says them; "" when there is none.
        models: files and globs, relative to the folder of `file`; for the pytest plugin.
        request: fields of `harness.request.Request`: engines, path, base, states, seed, tolerance; for the plugin.
        known: differences that are known.
    """

    file: str = ""
    models: tuple[str, ...] = ()
    request: Mapping[str, Any] = field(default_factory=dict[str, Any])
    known: tuple[Known, ...] = ()


def settings(start: Path) -> Settings:
    """Return the settings that hold in a folder: of the nearest file in it or above it.

    Raises:
        ReadError: the file cannot be read.
        RequestError: it says something that does not exist; the message names file and entry.
    """
    for folder in (start.resolve(), *start.resolve().parents):
        for name in (OWN, SHARED):
            file = folder / name
            if file.is_file():
                table = _table(file)
                if table is not None:
                    return _settings(file, table)
    return Settings()


def _table(file: Path) -> Mapping[str, Any] | None:
    """Return what a file says to us; None for a pyproject.toml that has no word for us."""
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror or error}", Source(str(file))) from error
    except ValueError as error:  # of TOML or of UTF-8
        if file.name == SHARED:
            return None  # somebody else's fault, and told by whoever needs that file
        raise ReadError(f"is no TOML: {error}", Source(str(file))) from error
    if file.name == OWN:
        return document
    tool = document.get("tool")
    return tool.get("tautology") if isinstance(tool, dict) else None


def _settings(file: Path, table: object) -> Settings:
    where = str(file) if file.name == OWN else f"{file}: [tool.tautology]"
    if not isinstance(table, dict):
        raise RequestError(f"{where} is no table")
    said = cast("dict[str, Any]", table)
    for key, value in said.items():
        if key not in KEYS:
            raise RequestError(f"{where}: {key!r} is no setting; there are {', '.join(KEYS)}")
        kinds = KEYS[key]
        number = isinstance(value, int) and float in kinds
        if isinstance(value, bool) or not (isinstance(value, kinds) or number):
            raise RequestError(f"{where}: {key} is {value!r}; give a {_said(kinds)}")
    for key in ("models", "engines"):
        if not all(isinstance(item, str) and item for item in said.get(key, ())):
            raise RequestError(f"{where}: {key} is {said[key]!r}; give a list of names")
    known: list[Known] = []
    for n, entry in enumerate(said.get("known", ()), 1):
        if not isinstance(entry, dict):
            raise RequestError(f"{where}: known {n} is no table with {', '.join(KNOWN_KEYS)}")
        known.append(known_difference(cast("dict[str, Any]", entry), f"{where}: known {n}"))
    request = {key: said[key] for key in ("engines", "path", "base", "states", "seed", "tolerance") if key in said}
    return Settings(str(file), tuple(said.get("models", ())), request, tuple(known))


def _said(kinds: tuple[type, ...]) -> str:
    return {list: "list", str: "word", int: "whole number", float: "number"}[kinds[0]]
