"""Results out of saved documents: the same objects that a run hands over, so that every report says the same words."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from ..harness.diff_result import Compared, DiffResult
from ..harness.errors import Source
from ..harness.findings import Finding
from ..harness.results import EngineResult, IdentityRow, ModelResult, QuantityRow, Result, Unusable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..harness.tree import Loss

T = TypeVar("T")
NUMBERS: Final = ("error", "scale", "tolerance", "residual", "digits", "explains")  # "inf" where there is none


@dataclass(frozen=True, slots=True)
class Lost:
    """A loss as a document has it; fields as in `harness.tree.Loss`."""

    element: str
    where: str | None
    source: Source
    touches_dynamics: bool
    note: str


def check_result(document: Mapping[str, Any]) -> Result:
    """Return what a document of `check` was made from; fields that this version does not know are passed over."""
    models = tuple(_model(model) for model in document["models"])
    unusable = tuple(_made(Unusable, row) for row in document["unusable"])
    lists = {name: tuple(document[name]) for name in ("tolerances", "notes") if name in document}
    # What changed against a baseline stays in the document, as trees do.
    rows = {name: value for name, value in document.items() if name != "baseline"}
    return _made(Result, rows, models=models, unusable=unusable, **lists)


def diff_result(document: Mapping[str, Any]) -> DiffResult:
    """Return what a document of `diff` was made from."""
    a, b = (_made(Compared, _strings(side), losses=_losses(side)) for side in document["models"])
    names = ("matched", "unmatched", "frames_only")
    lists = {name: {key: _tuples(value) for key, value in document[name].items()} for name in names}
    return _made(
        DiffResult,
        document,
        models=(a, b),
        rows=_rows(QuantityRow, document["quantities"]),
        reasons=_rows(Finding, document["findings"]),
        doubtful=tuple(document["doubtful"]),
        ignored=tuple(document["ignored"]),
        **lists,
    )


def _model(model: Mapping[str, Any]) -> ModelResult:
    engines = tuple(
        _made(
            EngineResult,
            engine,
            conventions=tuple(engine["conventions"]),
            quantities=_rows(QuantityRow, engine["quantities"]),
            identities=_rows(IdentityRow, engine["identities"]),
            findings=_rows(Finding, engine["findings"]),
        )
        for engine in model["engines"]
    )
    lint = _rows(Finding, model["lint"])
    # The trees stay in the document: no sentence of a report is made of them.
    return _made(ModelResult, _strings(model), lint=lint, losses=_losses(model), engines=engines, tree=None)


def _strings(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a robot: what no file has is null in the document, and empty in a result."""
    lists = {name: tuple(model[name]) for name in ("dofs", "closures")}
    return {**model, **lists, "file": model["file"] or "", "sha256": model["sha256"] or ""}


def _losses(model: Mapping[str, Any]) -> tuple[Loss, ...]:
    made = [
        Lost(x["element"], x["where"], Source(x["file"] or "", x["line"] or 0), x["touches_dynamics"], x["note"])
        for x in model["losses"]
    ]
    return cast("tuple[Loss, ...]", tuple(made))


def _rows(kind: type[T], rows: Sequence[Mapping[str, Any]]) -> tuple[T, ...]:
    return tuple(_made(kind, row, **_special(row)) for row in rows)


def _special(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that JSON holds otherwise: infinities, and names that are a tuple."""
    numbers = {name: math.inf for name in NUMBERS if isinstance(row.get(name), str)}
    return numbers | ({"rivals": tuple(row["rivals"])} if "rivals" in row else {})


def _made(kind: type[T], row: Mapping[str, Any], **others: Any) -> T:
    known = {field.name for field in fields(cast("Any", kind))}
    return kind(**{name: value for name, value in row.items() if name in known} | others)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
