"""Tables as Parquet: documented columns, the same numbers as the result, read back by pandas and DuckDB."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from engines_at_hand import ASK_CORE, CORE
from pyarrow import parquet
from sample_documents import DOCUMENTS, HOSTILE, hostile, saved, with_arrays

import tautology
from tautology import models
from tautology.harness.errors import RequestError
from tautology.harness.saved import Saved
from tautology.reports import parquet as module
from tautology.reports.parquet import require_parquet, write_frames
from tautology.reports.parquet_columns import CHECK, DIFF

if TYPE_CHECKING:
    from tautology.reports.parquet_columns import Column

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "frames.md").read_text(encoding="utf-8")
TYPES = {"word": "text", "words": "text", "json": "JSON text", "names": "list of text"}
TYPES |= {"number": "float64", "whole": "int64", "flag": "bool"}


def columns_table(columns: dict[str, Column]) -> str:
    """Return the table of the page on frames that stands for these columns."""
    rows = [
        f"| `{name}` | {TYPES[kind]} | {unit or '-'} | {meaning} |" for name, (kind, unit, meaning) in columns.items()
    ]
    return "\n".join(["| column | type | unit | meaning |", "|---|---|---|---|", *rows])


@pytest.mark.parametrize("table", [*(f"check: {name}" for name in CHECK), *(f"diff: {name}" for name in DIFF)])
def test_every_column_is_documented(table: str) -> None:
    """The page holds the table of columns; after a change that is meant, copy it from here."""
    command, name = table.split(": ")
    assert columns_table({"check": CHECK, "diff": DIFF}[command][name]) in PAGE


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_ending_has_its_tables(name: str, tmp_path: Path) -> None:
    """With the columns that are promised, in their order, each with type, unit and meaning."""
    made = DOCUMENTS[name]
    tables = DIFF if made.document["command"] == "diff" else CHECK
    write_frames(made, tmp_path / "frames")
    assert {file.name for file in (tmp_path / "frames").iterdir()} == {f"{table}.parquet" for table in tables}
    for table, columns in tables.items():
        form = parquet.read_schema(tmp_path / "frames" / f"{table}.parquet")
        assert form.names == list(columns)
        for field in form:
            kind, unit, meaning = columns[field.name]
            assert field.metadata[b"unit"].decode() == unit
            assert field.metadata[b"meaning"].decode() == meaning
            assert (field.type == pa.float64()) == (kind == "number")


@pytest.mark.parametrize("file", ["desk_lamp.urdf", "tau_arm.xml"])
def test_the_tables_say_what_the_result_says(file: str, tmp_path: Path) -> None:
    """Row by row the frames of the result; lists and words as JSON, infinities as such."""
    result = tautology.check(models.path(file), engines=CORE, states=8)
    write_frames(Saved.of(result), tmp_path)
    for name, frame in result.frames().items():
        back = pd.read_parquet(tmp_path / f"{name}.parquet")
        assert len(back) == len(frame)
        shared = [column for column in frame.columns if column in back.columns and column not in ("expected", "found")]
        assert len(shared) >= 6
        for column in shared:
            ours, theirs = frame[column].tolist(), back[column].tolist()
            if column in ("states", "dofs", "closures", "rivals"):
                continue
            same = [b is None or pd.isna(b) if pd.isna(a) else a == b for a, b in zip(ours, theirs, strict=True)]
            assert all(same), (name, column)


def test_a_missing_answer_is_infinite(tmp_path: Path) -> None:
    """JSON says "inf"; a number of a column says it itself."""
    write_frames(DOCUMENTS["differing"], tmp_path)
    rows = pd.read_parquet(tmp_path / "quantities.parquet")
    failed = rows[(rows.quantity == "acceleration") & ~rows.passed]
    assert failed.error.tolist() == [np.inf]


def test_values_of_findings_are_numbers_where_they_are_one(tmp_path: Path) -> None:
    """A mass is, a tensor and a word are not: these stand as JSON."""
    write_frames(DOCUMENTS["differing"], tmp_path)
    rows = pd.read_parquet(tmp_path / "findings.parquet").set_index("kind")
    mass = rows.loc["mass.default"].iloc[0]
    assert (mass.expected, mass.found, mass.expected_value, mass.found_value) == ("0.0", "6.0", 0.0, 6.0)
    turned = rows.loc["inertia.rotation"]
    assert turned.expected == "[0.1, 0.1000000001, 0.1]"
    assert np.isnan(turned.expected_value)


def test_engines_that_gave_no_answer_have_a_row(tmp_path: Path) -> None:
    """They are in no other table: who crashed or refused, in which words, and what is known to differ."""
    write_frames(DOCUMENTS["crashed"], tmp_path)
    rows = pd.read_parquet(tmp_path / "engines.parquet").set_index(["engine", "path"])
    crashed = rows.loc[("pinocchio", "native")]
    assert (crashed.status, crashed.message) == ("crashed", "while loading: RuntimeError: bad_alloc")
    assert (crashed["load"], crashed["compute"]) == (0.01, 0.25)
    write_frames(DOCUMENTS["known"], tmp_path)
    rows = pd.read_parquet(tmp_path / "engines.parquet")
    assert rows[rows.status == "differs"].known.tolist() == ["waits for the supplier (until 2027-06-30)"]
    assert set(pd.read_parquet(tmp_path / "findings.parquet").query("kind == 'mass.default'").known) == set(
        rows[rows.status == "differs"].known
    )


def test_answers_have_a_row_per_state_and_quantity(tmp_path: Path) -> None:
    """Error and scale the largest of the state, digits as they were kept; strata in the order of the states."""
    write_frames(with_arrays(5, per_place={"wrist": 1e-3, "elbow": 2e-2, "shoulder": 0.0}), tmp_path)
    rows = pd.read_parquet(tmp_path / "answers.parquet")
    assert len(rows) == 5 * 5 * 10  # engines and paths, states, quantities
    assert rows.dof.isna().all()
    assert rows.body.isna().all()
    tau = rows[(rows.engine == "mujoco") & (rows.path == "native") & (rows.quantity == "tau")]
    assert tau.error.tolist() == [2e-2] * 5
    assert tau.scale.tolist() == [3.0] * 5
    assert tau.state.tolist() == list(range(5))
    assert tau.stratum.tolist() == ["zero", *["random"] * 4]
    assert set(tau.unit) == {"N m | N"}
    nulls = "select count(*) from read_parquet(?) where error is null"  # null, not NaN
    with duckdb.connect() as base:
        assert base.execute(nulls, [str(tmp_path / "answers.parquet")]).fetchall() == [(5 * 5,)]
    M = rows[rows.quantity == "mass_matrix"]
    assert M.error.isna().all()
    assert (M.digits == 15.0).all()


def test_answers_per_dof_go_by_name(tmp_path: Path) -> None:
    """An engine with another order of dofs has the scale of each dof; digits divide by the largest of the state."""
    made = with_arrays(5, per_place={"wrist": 1e-3, "elbow": 2e-2, "shoulder": 0.0})
    write_frames(made, tmp_path, per_dof=True)
    rows = pd.read_parquet(tmp_path / "answers.parquet")
    at = rows[(rows.engine == "mujoco") & (rows.path == "native") & (rows.state == 2)]
    tau = at[(at.quantity == "tau") & at.dof.notna()].set_index("dof")
    assert tau.error.to_dict() == {"wrist": 1e-3, "elbow": 2e-2, "shoulder": 0.0}
    assert tau.scale.to_dict() == {"wrist": 3.0, "elbow": 2.0, "shoulder": 1.0}
    wanted = {"wrist": -np.log10(1e-3 / 3), "elbow": -np.log10(2e-2 / 3), "shoulder": 17.0}
    assert tau.digits.to_dict() == pytest.approx(wanted)
    assert tau.body.isna().all()
    poses = at[(at.quantity == "poses") & at.body.notna()]
    assert poses.body.tolist() == ["fore"]
    assert poses.dof.isna().all()
    assert poses.scale.tolist() == [1.0]
    whole = rows[rows.dof.isna() & rows.body.isna()]
    assert len(whole) == 5 * 5 * 10


def test_the_worst_state_of_the_answers_is_that_of_the_result(tmp_path: Path) -> None:
    """Least digits over the states are those of the row of the quantity, of every engine."""
    result = tautology.check(models.path("desk_lamp.urdf"), engines=CORE, states=12, seed=3)
    assert result.arrays == {}
    command = [sys.executable, "-m", "tautology", "check", str(models.path("desk_lamp.urdf")), *ASK_CORE]
    subprocess.run(
        [*command, "--states", "12", "--seed", "3", "--frames", "f", "-q"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    query = "select engine, path, quantity, min(digits) as digits from 'f/answers.parquet' group by all"
    with duckdb.connect() as base:
        answers = base.execute(query.replace("'f/", f"'{tmp_path}/f/")).df()
    rows = result.quantities.merge(answers, on=["engine", "path", "quantity"], suffixes=("", "_least"))
    assert len(rows) == 50
    assert rows.digits.to_numpy() == pytest.approx(rows.digits_least.to_numpy())


def test_without_arrays_the_answers_are_empty_and_say_why(tmp_path: Path) -> None:
    """An older table in the folder must not be taken for one of this result."""
    write_frames(with_arrays(), tmp_path)
    assert parquet.read_metadata(tmp_path / "answers.parquet").num_rows > 0
    write_frames(DOCUMENTS["differing"], tmp_path)
    assert parquet.read_metadata(tmp_path / "answers.parquet").num_rows == 0
    form = parquet.read_schema(tmp_path / "answers.parquet")
    assert b"without the arrays" in form.metadata[b"tautology.missing"]


def test_the_same_result_has_the_same_bytes(tmp_path: Path) -> None:
    """No time stamps, no order of chance."""
    for folder in ("a", "b"):
        write_frames(with_arrays(), tmp_path / folder, per_dof=True)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_all_tables_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When writing fails on the way, what was there before is untouched, and nothing lies about."""
    write_frames(DOCUMENTS["agreeing"], tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "answers", full)
    with pytest.raises(OSError, match="No space left"):
        write_frames(DOCUMENTS["differing"], tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_without_pyarrow_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Parquet is an extra."""
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    with pytest.raises(RequestError, match=r"pip install 'tautology\[frames\]'"):
        require_parquet()
    with pytest.raises(RequestError, match="pyarrow"):
        write_frames(DOCUMENTS["agreeing"], tmp_path / "f")
    assert not (tmp_path / "f").exists()


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_hostile_name_is_a_value(name: str, tmp_path: Path) -> None:
    """A column holds any text: what was in the document comes back as it was."""
    made = saved(hostile(name))
    write_frames(made, tmp_path)
    back = pd.read_parquet(tmp_path / "findings.parquet")
    told = [f["where"] for engine in made.document["models"][0]["engines"] for f in engine["findings"]]
    assert back["where"].tolist() == told


def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    """As they stand there, one after the other, in a folder with the frames of the desk lamp."""
    shell = re.findall(r"^```sh\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)[0]
    assert shell.split() == ["tautology", "check", "robot.urdf", "--frames", "frames"]
    (tmp_path / "robot.urdf").write_bytes(Path(models.path("desk_lamp.urdf")).read_bytes())
    command = [sys.executable, "-m", *shell.split()]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    printed = []
    for block in blocks:
        ran = subprocess.run(
            [sys.executable, "-W", "error", "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        printed.append(ran.stdout)
    assert all("mujoco" in text for text in printed)
    assert "shade" in printed[1]
