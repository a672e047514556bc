"""What to do about a finding: one sentence, in the words of the reader's format and engine.

The sentences stand in `fixes.toml`, a table by kind, engine and format; here is the look-up alone.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .errors import Source

Rules: TypeAlias = "dict[str, Any]"

# What is said of two files when a kind has no sentence of its own for that.
DIFF: Final = "find out which is right and correct {element} of {where} in the other"
SPELLED: Final[Mapping[str, str]] = {
    "mujoco": "MuJoCo",
    "pinocchio": "Pinocchio",
    "drake": "Drake",
    "dart": "DART",
    "pybullet": "PyBullet",
    "idyntree": "iDynTree",
    "reference": "the reference",
}
MOST: Final = 3  # numbers of a value that still read well inside a sentence


@cache
def table() -> Mapping[str, Rules]:
    """Return the sentences: kind to key to text."""
    return tomllib.loads(files(__package__).joinpath("fixes.toml").read_text(encoding="utf-8"))


def fix(
    kind: str,
    *,
    where: str | None,
    format: str,  # noqa: A002  the word of `Origin`
    engine: str | None,
    expected: Any,
    found: Any,
    unit: str,
    source: Source,
    other: Source | None = None,
) -> str:
    """Return one sentence that says what to change.

    Args:
        kind: a key of `findings.KINDS`.
        where: body, joint or element, None for the whole robot.
        format: of the file: "urdf", "mjcf", ...; another word gives the sentence for any format.
        engine: that departs from the file; None between two files, and for the lint of one file.
        expected: what `source` says: a number, a list of numbers or a word.
        found: what the engine, or the other file, says.
        unit: of both.
        source: file and line of the element.
        other: in the other file, when there is one.

    Raises:
        KeyError: there is no such kind.
    """
    rules = table()[kind]
    words = {
        "where": repr(where) if where else "the robot",
        "line": _place(source),
        "engine": SPELLED.get(engine or "", engine or "the engine"),
        "expected": _said(expected, unit),
        "found": _said(found, unit),
        "attribute": _numbers(expected, " "),
        "list": _numbers(expected, ", "),
        "element": rules.get("element", {}).get(format, "its value"),
    }
    if engine is None and not kind.startswith("lint."):
        return f"{_says(words, source, other)}: " + rules.get("diff", DIFF).format(**words)
    keys = (f"{engine}.{format}", engine, format, "any")
    return next(rules[key] for key in keys if key in rules).format(**words)


def _says(words: Mapping[str, str], source: Source, other: Source | None) -> str:
    """Return which of two files says what; values that are too long for a sentence stand beside it in the finding."""
    ours = str(source) or "the first file"
    theirs = str(other or "") or "the other file"
    if words["expected"] == words["found"]:
        return f"{ours} and {theirs} differ"
    return f"{ours} says {words['expected']}, {theirs} {words['found']}"


def _place(source: Source) -> str:
    """Return `line 7 of arm.urdf`, the file alone, or `its element`."""
    name = source.file.replace("\\", "/").rpartition("/")[2]
    return f"line {source.line} of {name}" if source.line else name or "its element"


def _said(value: Any, unit: str) -> str:
    """Return a value with its unit, or a word for one that is too long."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return value
    flat = _flat(value)
    if len(flat) > MOST:
        return "another value"
    return _numbers(value, " ") + (f" {unit}" if unit else "")


def _numbers(value: Any, between: str) -> str:
    """Return the numbers of a value as text, a word as it is."""
    return between.join(f"{x:.9g}" if isinstance(x, float) else str(x) for x in _flat(value))


def _flat(value: Any) -> list[Any]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [x for item in value for x in _flat(item)]
    return [value]
