"""The tables of a result as Parquet: every column with its type, its unit and what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

# Table to column to (type, unit, meaning). `number` is float64 with infinity for an answer that is missing, `whole` is
# int64, `word` a string of few values, `words` a string, `names` a list of strings, `json` a value as JSON text.
Column = tuple[str, str, str]

WHO: Final[dict[str, Column]] = {
    "model": ("word", "", "the file of the robot, or its name where it is in no file"),
    "engine": ("word", "", "who answered"),
    "version": ("word", "", "of the engine"),
    "path": ("word", "", "native: the engine read the file itself; neutral: it was built from our tree of it"),
}
PAIR: Final[dict[str, Column]] = {
    "model": ("word", "", "file A"),
    "other": ("word", "", "file B"),
    "engine": ("word", "", "who computed both: the reference"),
    "version": ("word", "", "of it"),
    "path": ("word", "", "neutral"),
}
ROBOT: Final[dict[str, Column]] = {
    "model": ("word", "", "the file of the robot, or its name where it is in no file"),
    "name": ("words", "", "of the robot"),
    "format": ("word", "", "urdf or mjcf"),
    "sha256": ("words", "", "of the file; null for a live model"),
    "base": ("word", "", "fixed or free"),
    "bodies": ("whole", "1", "without the world"),
    "nq": ("whole", "1", "coordinates"),
    "nv": ("whole", "1", "degrees of freedom"),
    "dofs": ("names", "", "in the order of the file"),
    "total_mass": ("number", "kg", "of all bodies"),
    "moving_mass": ("number", "kg", "of the bodies that can move relative to the world"),
    "closures": ("names", "", "mimic and equality relations, which are left out of the tree"),
}
STATES: Final[dict[str, Column]] = {
    "states": ("whole", "1", "frozen states that were asked"),
    "seed": ("whole", "", "of the draw; null for states from a file without one"),
    "states_sha256": ("words", "", "of the states"),
    "exit": ("whole", "", "exit code of this model: 0 agree, 1 differs or refused, 2 not compared, 3 crashed"),
}
ENGINE: Final[dict[str, Column]] = {
    "status": ("word", "", "agree, differs, refused, unsupported, crashed, timeout or absent"),
    "message": ("words", "", "what the engine said, or empty"),
    "known": ("words", "", "why what differs does not count, or empty"),
    "conventions": ("names", "", "kinds of findings that were mapped"),
    "load": ("number", "s", "wall time until the robot was there"),
    "compute": ("number", "s", "wall time of all answers, checks and the diagnosis"),
}
QUANTITY: Final[dict[str, Column]] = {
    "quantity": ("word", "", "tau, bias, gravity, mass_matrix, ..."),
    "unit": ("word", "", "of error, scale and tolerance: of a turning dof before the bar, of a sliding one behind it"),
    "applies": ("flag", "", "whether the comparison means anything here"),
    "error": ("number", "unit", "largest absolute error, where error over tolerance is worst"),
    "scale": ("number", "unit", "there, from the terms that are added up"),
    "tolerance": ("number", "unit", "there, absolute"),
    "digits": ("number", "1", "of agreement, the least over the states: 17 at zero error, 0 without an answer"),
    "state": ("whole", "", "index of the worst state, from 0"),
    "where": ("words", "", "dof or body of the worst entry"),
    "passed": ("flag", "", "error within tolerance in every state and entry; true where it does not apply"),
    "note": ("words", "", "why it does not apply, or empty"),
}
IDENTITY: Final[dict[str, Column]] = {
    "identity": ("word", "", "columns, symmetry, power_balance, ..."),
    "applies": ("flag", "", "whether it means anything here"),
    "residual": ("number", "1", "by how much it fails, relative to the terms that are added up"),
    "tolerance": ("number", "1", "what is allowed of it"),
    "state": ("whole", "", "index of the worst state, from 0"),
    "where": ("words", "", "dof or body of the worst entry"),
    "passed": ("flag", "", "residual within tolerance; true where it does not apply"),
    "note": ("words", "", "why it does not apply, or empty"),
}
FINDING: Final[dict[str, Column]] = {
    "kind": ("word", "", "as `tautology explain` lists them"),
    "severity": ("word", "", "convention: the same robot told otherwise; model: another robot; refusal: not loaded"),
    "where": ("words", "", "body, joint or dof; null when the whole file is concerned"),
    "file": ("word", "", "that says what is expected"),
    "line": ("whole", "", "there, from 1"),
    "expected": ("json", "unit", "what the file says (in a pair: A)"),
    "found": ("json", "unit", "what the engine holds (in a pair: what B says)"),
    "expected_value": ("number", "unit", "expected, where it is one number; else null"),
    "found_value": ("number", "unit", "found, where it is one number; else null"),
    "unit": ("word", "", "of both"),
    "explains": ("number", "1", "share of the difference that goes away with the found value; null: not measured"),
    "fix": ("words", "", "what to change, in a sentence"),
    "other_file": ("word", "", "in a pair, the file that says what is found"),
    "other_line": ("whole", "", "there, from 1"),
    "note": ("words", "", "what else there is to say"),
    "rivals": ("names", "", "what no motion can tell from it"),
    "known": ("words", "", "why it may stay and does not count, or empty"),
}
LOSS: Final[dict[str, Column]] = {
    "element": ("word", "", "of the file"),
    "where": ("words", "", "its name, or that of its body"),
    "file": ("word", "", "that has it"),
    "line": ("whole", "", "there, from 1"),
    "touches_dynamics": ("flag", "", "whether answers would change with it"),
    "note": ("words", "", "why it is left out"),
}
ANSWER: Final[dict[str, Column]] = {
    "state": ("whole", "", "index of the state, from 0"),
    "stratum": ("word", "", "what the state was drawn for: zero, home, random, ..."),
    "quantity": ("word", "", "tau, bias, gravity, mass_matrix, ..."),
    "unit": ("word", "", "of error and scale"),
    "dof": ("word", "", "of this row; null in a row for the whole state, or for a body"),
    "body": ("word", "", "of this row; null in a row for the whole state, or for a dof"),
    "error": ("number", "unit", "absolute, of the whole state the largest; infinite without an answer, null for M"),
    "scale": ("number", "unit", "from the terms that are added up, of the whole state the largest; null for M"),
    "digits": ("number", "1", "of agreement: -log10 of error over the largest scale of the state, 0 to 17"),
}
CHECK: Final[dict[str, dict[str, Column]]] = {
    "models": ROBOT | STATES,
    "engines": WHO | ENGINE,
    "lint": {"model": WHO["model"]} | FINDING,
    "quantities": WHO | QUANTITY,
    "identities": WHO | IDENTITY,
    "findings": WHO | FINDING,
    "losses": {"model": WHO["model"]} | LOSS,
    "answers": WHO | ANSWER,
}
DIFF: Final[dict[str, dict[str, Column]]] = {
    "models": ROBOT,
    "quantities": PAIR | QUANTITY,
    "findings": PAIR | FINDING,
    "matched": {
        "what": ("word", "", "joint or body"),
        "a": ("words", "", "its name in A"),
        "b": ("words", "", "its name in B"),
    },
    "losses": {"side": ("word", "", "a or b")} | LOSS,
}


def schema(columns: Mapping[str, Column]) -> Any:
    """Return the types of columns; unit and meaning stand in the metadata of each."""
    import pyarrow as pa  # noqa: PLC0415

    types = {
        "word": pa.dictionary(pa.int32(), pa.string()),
        "words": pa.string(),
        "json": pa.string(),
        "names": pa.list_(pa.string()),
        "number": pa.float64(),
        "whole": pa.int64(),
        "flag": pa.bool_(),
    }
    return pa.schema(
        [
            pa.field(name, types[kind], metadata={"unit": unit, "meaning": meaning})
            for name, (kind, unit, meaning) in columns.items()
        ]
    )
