"""The tables of a result as Parquet files, for pandas, DuckDB and whoever else reads columns."""

from __future__ import annotations

import json
import math
from contextlib import ExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from ..harness.errors import RequestError
from .parquet_answers import answers
from .parquet_columns import CHECK, DIFF, schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ..harness.saved import Saved
    from .parquet_columns import Column

INSTALL: Final = "pip install 'tautology[frames]'"


def require_parquet() -> None:
    """Make sure that Parquet can be written.

    Raises:
        RequestError: pyarrow is not installed.
    """
    if find_spec("pyarrow") is None:
        raise RequestError(f"--frames writes Parquet with pyarrow, which is not installed: {INSTALL}")


def write_frames(saved: Saved, folder: Path, *, per_dof: bool = False) -> None:
    """Write one file per table into a folder, all or none; those of an earlier result are replaced.

    Args:
        saved: a result of `check` or `diff`.
        folder: made when it is not there.
        per_dof: also a row of `answers` per dof or body, beside the one per state.

    Raises:
        RequestError: pyarrow is not installed.
        OSError: a file cannot be written.
    """
    require_parquet()
    from .files import replacing  # noqa: PLC0415  it names this module

    tables = DIFF if saved.document["command"] == "diff" else CHECK
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        for name, columns in tables.items():
            beside = stack.enter_context(replacing(folder / f"{name}.parquet"))
            if name == "answers":
                _write(beside, columns, answers(saved, columns, per_dof=per_dof), missing=saved.arrays is None)
            else:
                _write(beside, columns, iter([_table(list(_rows(saved.document, name)), columns)]))


def _write(path: Path, columns: Mapping[str, Column], tables: Iterator[Any], *, missing: bool = False) -> None:
    """Write tables one after the other, so that the largest of them fits into memory."""
    from pyarrow import parquet  # noqa: PLC0415

    form = schema(columns)
    if missing:
        note = b"the result was saved without the arrays of its states: there is nothing to write"
        form = form.with_metadata({**(form.metadata or {}), b"tautology.missing": note})
    few = [name for name, (kind, _, _) in columns.items() if kind == "word"]  # numbers have no words to look up
    options: dict[str, Any] = {"compression": "zstd", "use_dictionary": few}
    with parquet.ParquetWriter(path, form, **options) as writer:
        for table in tables:
            writer.write_table(table.replace_schema_metadata(form.metadata))


def _table(rows: list[dict[str, Any]], columns: Mapping[str, Column]) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    form = schema(columns)
    cells = {name: [_cell(row.get(name), columns[name][0]) for row in rows] for name in columns}
    return pa.table([pa.array(cells[field.name], field.type) for field in form], schema=form)


def _cell(value: Any, kind: str) -> Any:
    if kind == "json":
        return None if value is None else json.dumps(value, ensure_ascii=False)
    if kind == "number" and isinstance(value, str):  # JSON has no infinity
        return float(value)
    return value


def _rows(document: Mapping[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """Give the rows of one table, with keys for all of its columns."""
    if document["command"] == "diff":
        yield from _pair_rows(document, name)
        return
    for model in document["models"]:
        label = {"model": model["file"] or model["name"]}
        if name == "models":
            states = model["states"]
            yield {
                **model,
                **label,
                "states": states["count"],
                "seed": states["seed"],
                "states_sha256": states["sha256"],
            }
        elif name in ("lint", "losses"):
            yield from (label | _valued(row) for row in model[name])
        else:
            for engine in model["engines"]:
                who = label | {key: engine[key] for key in ("engine", "version", "path")}
                if name == "engines":
                    yield {**engine, **engine["seconds"], **who}
                    continue
                yield from (who | _valued(row) for row in engine[name])


def _pair_rows(document: Mapping[str, Any], name: str) -> Iterator[dict[str, Any]]:
    a, b = document["files"]
    version = document["versions"].get("tautology", "")
    who = {"model": a, "other": b, "engine": "reference", "version": version, "path": "neutral"}
    if name == "models":
        yield from ({**model, "model": model["file"] or model["name"]} for model in document["models"])
    elif name == "matched":
        for what, key in (("joint", "joints"), ("body", "bodies")):
            yield from ({"what": what, "a": a, "b": b} for a, b in document["matched"][key])
    elif name == "losses":
        for side, model in zip("ab", document["models"], strict=True):
            yield from ({"side": side, **loss} for loss in model["losses"])
    else:
        yield from (who | _valued(row) for row in document[name])


def _valued(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with the values of a finding as numbers too, where they are."""
    numbers = {
        f"{name}_value": float(row[name])
        for name in ("expected", "found")
        if isinstance(row.get(name), (int, float)) and not isinstance(row[name], bool) and math.isfinite(row[name])
    }
    return {**row, **numbers}
