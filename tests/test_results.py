"""The JSON document and the frames: their fields are what scripts and other tools rely on."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import sample_results as samples

from tautology.harness.findings import finding
from tautology.harness.results import IdentityRow, off_by

TOP = ["schema", "command", "exit", "versions", "models", "unusable", "tolerance", "tolerances", "notes"]
MODEL = [
    *("file", "format", "sha256", "name", "base", "bodies", "nq", "nv", "dofs", "total_mass", "moving_mass"),
    *("lint", "closures", "losses", "states", "engines", "exit"),
]
LOSS = ["element", "where", "file", "line", "touches_dynamics", "note"]
STATES = ["count", "seed", "sha256", "strata"]
ENGINE = [
    *("engine", "version", "path", "status", "message", "seconds", "conventions", "quantities", "identities"),
    *("findings", "dofs", "bodies", "known"),
]
QUANTITY = [
    *("quantity", "unit", "applies", "error", "scale", "tolerance", "digits", "state", "where", "passed"),
    "note",
]
IDENTITY = ["identity", "applies", "residual", "tolerance", "state", "where", "passed", "note"]
FINDING = [
    *("kind", "severity", "where", "file", "line", "expected", "found", "unit", "explains", "fix"),
    *("other_file", "other_line", "note", "rivals", "known"),
]
UNUSABLE = ["file", "message", "kind", "where", "line"]


def document(result) -> dict:
    """Return the JSON of a result as a reader gets it; a bare NaN or Infinity fails, since it is no JSON."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(result.dumps(), parse_constant=refuse)


def test_json_has_exactly_the_fields_of_the_contract():
    """Every object of the document has its fields, in their order, and no other."""
    doc = document(samples.result(samples.agreeing(), samples.differing(), unusable=(samples.BAD,)))
    assert list(doc) == TOP
    assert doc["schema"] == "tautology/1"
    assert list(doc["unusable"][0]) == UNUSABLE
    for model in doc["models"]:
        assert list(model) == MODEL
        assert list(model["states"]) == STATES
        assert all(list(loss) == LOSS for loss in model["losses"])
        for engine in model["engines"]:
            assert list(engine) == ENGINE
            assert set(engine["seconds"]) == {"load", "compute"}
            assert all(list(row) == QUANTITY for row in engine["quantities"])
            assert all(list(row) == IDENTITY for row in engine["identities"])
            assert all(list(row) == FINDING for row in engine["findings"])


def test_a_missing_number_is_the_word_inf_and_digits_stay_a_number():
    """An answer that is missing has error "inf" and 0 digits; its place is null."""
    doc = document(samples.result(samples.differing()))
    rows = next(e for e in doc["models"][0]["engines"] if e["status"] == "differs")["quantities"]
    lost = next(row for row in rows if row["quantity"] == "acceleration")
    assert (lost["error"], lost["digits"], lost["where"]) == ("inf", 0.0, None)
    assert all(isinstance(row["digits"], (int, float)) for row in rows)


def test_a_residual_that_is_not_a_number_is_missing():
    """NaN and infinity are one: a reader needs one word for a number that is not there."""
    row = IdentityRow("columns", True, math.nan, 1e-12, None, None, False, "")
    assert row.residual == math.inf
    assert samples.quantities(tau={"error": math.nan, "passed": False})[0].error == math.inf


def test_findings_hold_numbers_lists_words_and_nothing():
    """What was expected and found keeps its kind; numpy's numbers and arrays become plain ones."""
    values = (np.float64(1.5), np.arange(3.0), "word", None, (1, 2.5), True)
    found = tuple(finding("mass", expected=value, found=value) for value in values)
    doc = document(samples.result(samples.model(samples.engine("mujoco", "native", "differs", findings=found))))
    read = [f["expected"] for f in doc["models"][0]["engines"][1]["findings"]]
    assert read == [1.5, [0.0, 1.0, 2.0], "word", None, [1, 2.5], True]


def test_a_live_model_has_no_file_and_no_hash():
    """Fields that do not apply are null, not empty."""
    doc = document(samples.result(samples.model(file="", sha256="")))
    assert doc["models"][0]["file"] is None
    assert doc["models"][0]["sha256"] is None


def test_a_file_name_that_is_no_unicode_still_makes_a_document():
    """Lone surrogates, as Python gives for such names, become escapes that UTF-8 can hold."""
    result = samples.result(samples.model(file="arm\udcff.urdf"))
    assert result.dumps().encode().find(rb"arm\\udcff.urdf") > 0
    assert result.quantities["model"][0] == r"arm\udcff.urdf"


@pytest.mark.parametrize(
    ("exits", "unusable", "code", "word"),
    [
        ([], False, 0, "agree"),
        ([0, 0], False, 0, "agree"),
        ([0, 1], False, 1, "differs"),
        ([1, 3, 0], False, 3, "crashed"),
        ([0, 3, 2], False, 2, "unusable"),
        ([0, 3], True, 2, "unusable"),
    ],
)
def test_the_highest_exit_code_wins_and_two_before_all(exits, unusable, code, word):
    """0 agree, 1 differs, 3 crashed, and 2 as soon as anything could not be used."""
    models = [samples.model(exit=exit_code) for exit_code in exits]
    result = samples.result(*models, unusable=(samples.BAD,) if unusable else ())
    assert (result.exit, result.verdict) == (code, word)
    assert document(result)["exit"] == code


def test_frames_have_fixed_columns():
    """The public frames are the JSON fields after model, engine, version and path."""
    result = samples.result(samples.agreeing(), samples.differing())
    keys = ["model", "engine", "version", "path"]
    assert list(result.quantities.columns) == [*keys, *QUANTITY]
    assert list(result.identities.columns) == [*keys, *IDENTITY]
    assert list(result.findings.columns) == [*keys, *FINDING]
    frames = result.frames()
    assert list(frames) == ["models", "lint", "quantities", "identities", "findings", "losses"]
    assert list(frames["models"].columns) == ["model", *(c for c in MODEL if c not in ("lint", "losses", "engines"))]
    assert list(frames["lint"].columns) == ["model", *FINDING]
    assert list(frames["losses"].columns) == ["model", *LOSS]


def test_frames_of_nothing_keep_their_columns():
    """A run in which no file could be used gives empty tables with the same columns."""
    full, empty = (samples.result(*models).frames() for models in ((samples.agreeing(),), ()))
    for name, frame in empty.items():
        assert list(frame.columns) == list(full[name].columns)
        assert len(frame) == 0


def test_lines_and_states_stay_whole_numbers_beside_missing_ones():
    """A line or a state that does not apply is missing; the others do not become 41.0."""
    result = samples.result(samples.differing())
    assert result.identities["state"].dtype == pd.Int64Dtype()
    assert result.identities["state"].isna().any()
    assert result.findings["line"][0] == 41


def test_the_same_file_twice_is_two_models_in_every_table():
    """Rows are not merged: what was asked twice is answered twice."""
    once, twice = samples.result(samples.agreeing()), samples.result(samples.agreeing(), samples.agreeing())
    for name, frame in once.frames().items():
        assert len(twice.frames()[name]) == 2 * len(frame)


def test_results_load_no_pandas_until_a_frame_is_asked_for():
    """Pandas takes as long to import as both engines."""
    code = "import sys, tautology.harness.results, tautology.harness.frames; assert 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_results_are_short_at_a_prompt():
    """Verdict, files and engines; the rows are in the frames."""
    result = samples.result(samples.differing(), samples.agreeing())
    first, *models = repr(result).splitlines()
    assert first == f"<Result of check: {result.verdict}, exit {result.exit}>"
    assert [line.strip() for line in models] == [repr(model) for model in result.models]
    assert f"<ModelResult {samples.FILE}: exit 1;" in models[0]
    assert "differs: mujoco native" in models[0]
    assert len(repr(result)) < 600
    unusable = samples.result(unusable=(samples.BAD,))
    assert "robots/bad.urdf" in repr(unusable)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (off_by(0.25, 3, 1e-9), "is off by 0.25 in state 3, 1e-09 is allowed"),
        (off_by(0.25, None, still=True), "is still off by 0.25"),
        (off_by(math.inf, 3, math.inf), "has no finite answer in state 3"),
        (off_by(math.nan, 3, still=True), "still has no finite answer in state 3"),
    ],
)
def test_an_answer_that_is_not_finite_is_off_by_no_number(words, said):
    """Nobody learns anything from `off by inf, inf is allowed`."""
    assert words == said
