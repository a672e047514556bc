"""What to do about a finding: one sentence, in the words of the reader's format and engine.

The sentences stand in `fixes.toml`, a table by kind, engine and format; here is the look-up alone.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .errors import Source

Rules: TypeAlias = "dict[str, Any]"

SPELLED: Final[Mapping[str, str]] = {
    "mujoco": "MuJoCo",
    "pinocchio": "Pinocchio",
    "drake": "Drake",
    "dart": "DART",
    "pybullet": "PyBullet",
    "idyntree": "iDynTree",
    "reference": "the reference",
}
FORMATS: Final = ("urdf", "mjcf")
MOST: Final = 3  # numbers of a value that still read well inside a sentence


@cache
def table() -> Mapping[str, Rules]:
    """Return the sentences: kind to key to text."""
    return tomllib.loads(Path(__file__).with_name("fixes.toml").read_text(encoding="utf-8"))


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
    words = _words(rules, where, format, engine, expected, found, unit, source)
    if engine is None and not kind.startswith("lint."):
        return f"{_says(_said(expected, unit), _said(found, unit), source, other)}: " + rules["diff"].format(**words)
    # A live model of an engine is a format too, "mujoco": no key of a format, whatever engine is meant.
    keys = (f"{engine}.{format}", engine, format if format in FORMATS else "", "any")
    return next(rules[key] for key in keys if key in rules).format(**words)


def advice(kind: str, *, where: str | None, format: str, expected: Any, found: Any, unit: str, source: Source) -> str:  # noqa: A002
    """Return what to do about a difference between two files, for reports that show beside it what each file says.

    Arguments and errors as for `fix`.
    """
    rules = table()[kind]
    return rules["diff"].format(**_words(rules, where, format, None, expected, found, unit, source))


def _words(
    rules: Rules,
    where: str | None,
    format: str,  # noqa: A002  the word of `Origin`
    engine: str | None,
    expected: Any,
    found: Any,
    unit: str,
    source: Source,
) -> dict[str, str]:
    """Return what stands for the words in braces."""
    return {
        "where": repr(where) if where else "the robot",
        "line": _place(source),
        "engine": SPELLED.get(engine or "", engine or "the engine"),
        "expected": _said(expected, unit) or "the value of the file",
        "found": _said(found, unit) or "another value",
        "attribute": _numbers(expected, " "),
        "list": _numbers(expected, ", "),
        "element": rules.get("element", {}).get(format, "its value"),
    }


def _says(expected: str, found: str, source: Source, other: Source | None) -> str:
    """Return which of two files says what; values that are too long for a sentence stand beside it in the finding."""
    ours, theirs = str(source) or "the first file", str(other or "") or "the other file"
    return f"{ours} says {expected}, {theirs} {found}" if expected and found else f"{ours} and {theirs} differ"


def _place(source: Source) -> str:
    """Return `line 7 of arm.urdf`, the file alone, or `its element`."""
    name = source.file.replace("\\", "/").rpartition("/")[2]
    return f"line {source.line} of {name}" if source.line else name or "its element"


def _said(value: Any, unit: str) -> str:
    """Return a value with its unit; an empty string for one that is too long."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return value
    if len(_flat(value)) > MOST:
        return ""
    return _numbers(value, " ") + (f" {unit}" if unit not in ("", "1") else "")


def _numbers(value: Any, between: str) -> str:
    """Return the numbers of a value as text, a word as it is, dots for nothing."""
    if value is None:
        return "..."
    return between.join(f"{x:.9g}" if isinstance(x, float) else str(x) for x in _flat(value))


def _flat(value: Any) -> list[Any]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [x for item in value for x in _flat(item)]
    return [value]
