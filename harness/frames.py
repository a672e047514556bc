"""Results as flat tables with fixed columns, for pandas, CSV and Parquet."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from .findings import Finding
from .plain import unicode
from .results import IdentityRow, ModelResult, QuantityRow, loss_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from .results import Result

NAMES: Final = ("models", "lint", "quantities", "identities", "findings", "losses")
KEYS: Final = ("model", "engine", "version", "path")
ROWS: Final[Mapping[str, type[Any]]] = {"quantities": QuantityRow, "identities": IdentityRow, "findings": Finding}
# Fields of a model that have a table of their own, or are none.
LISTS: Final = ("lint", "losses", "engines", "tree", "arrays")
LOSS: Final = ("element", "where", "file", "line", "touches_dynamics", "note")
# Columns of whole numbers that may be missing: without this, pandas would make them floats.
WHOLE: Final = ("line", "other_line", "state")


def frame(result: Result, name: str) -> pd.DataFrame:
    """Return one table: the JSON fields, after the columns that say where a row belongs.

    Args:
        result: of a check.
        name: one of `NAMES`.
    """
    if name in ROWS:
        columns = [*KEYS, *(f.name for f in fields(ROWS[name]))]
        rows = [
            [model.label, e.engine, e.version, e.path, *(getattr(row, c) for c in columns[len(KEYS) :])]
            for model in result.models
            for e in model.engines
            for row in getattr(e, name)
        ]
    elif name == "lint":
        columns = ["model", *(f.name for f in fields(Finding))]
        rows = [[model.label, *(getattr(f, c) for c in columns[1:])] for model in result.models for f in model.lint]
    elif name == "losses":
        columns = ["model", *LOSS]
        rows = [[model.label, *(loss_json(loss)[c] for c in LOSS)] for model in result.models for loss in model.losses]
    else:
        columns = ["model", *(f.name for f in fields(ModelResult) if f.name not in LISTS)]
        rows = [[model.label, *(getattr(model, c) for c in columns[1:])] for model in result.models]
    return table(columns, rows)


def table(columns: list[str], rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """Return rows as a frame, with text that UTF-8 can hold and whole numbers that stay so beside missing ones."""
    # Pandas takes as long to import as both engines: it is loaded when a frame is asked for.
    import pandas as pd  # noqa: PLC0415

    cells = [[unicode(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    made = pd.DataFrame(cells, columns=columns)
    return made.astype({c: "Int64" for c in WHOLE if c in columns})
