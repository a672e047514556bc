"""The table of answers: how far every engine is off in every state, and on request in every dof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..harness.results import QUANTITIES
from .parquet_columns import schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from ..harness.saved import Saved
    from .parquet_columns import Column

    Floats = NDArray[np.float64]

BODIES: Final = ("poses", "velocities")
MOST: Final = 17.0  # digits at zero error


def answers(saved: Saved, columns: Mapping[str, Column], *, per_dof: bool) -> Iterator[Any]:
    """Give one Arrow table per engine, path and model.

    Args:
        saved: a result of `check`; without arrays there is nothing to give.
        columns: of the table.
        per_dof: also a row per dof or body.
    """
    arrays = saved.arrays
    if arrays is None:
        return
    form = schema(columns)
    for i, model in enumerate(saved.document["models"]):
        strata = _Words.of([name for name, count in model["states"]["strata"].items() for _ in range(count)])
        label = model["file"] or model["name"]
        reference = next((engine for engine in model["engines"] if engine["engine"] == "reference"), {})
        for k, engine in enumerate(model["engines"]):
            who = {"model": label} | {key: engine[key] for key in ("engine", "version", "path")}
            parts = [
                part
                for quantity in QUANTITIES
                if f"m{i}/e{k}/digits/{quantity}" in arrays
                for part in _parts(
                    quantity,
                    {name: arrays.get(f"m{i}/e{k}/{name}/{quantity}") for name in ("digits", "error")}
                    | {"scale": _scale(arrays.get(f"m{i}/scale/{quantity}"), quantity, reference, engine)},
                    _names(engine, quantity),
                    strata,
                    per_dof=per_dof,
                )
            ]
            if parts:
                yield _table(form, who, parts)


class _Words:
    """A column of few words: the index of each row, -1 where there is none, and the words."""

    def __init__(self, index: NDArray[np.int32], words: Sequence[str]) -> None:
        self.index, self.words = index, words

    @classmethod
    def of(cls, rows: Sequence[str]) -> _Words:
        words = list(dict.fromkeys(rows))
        at = {word: n for n, word in enumerate(words)}
        return cls(np.array([at[word] for word in rows], np.int32), words)

    @classmethod
    def none(cls, count: int) -> _Words:
        return cls(np.full(count, -1, np.int32), [])


Part = dict[str, Any]


def _parts(
    quantity: str, arrays: Mapping[str, Floats | None], names: Sequence[str], strata: _Words, *, per_dof: bool
) -> Iterator[Part]:
    """Give the rows of one quantity as columns: those of whole states, then those of dofs or bodies."""
    digits, error, scale = arrays["digits"], arrays["error"], arrays["scale"]
    if digits is None:
        return
    count = len(digits)
    states = np.arange(count)
    drawn = strata if len(strata.index) == count else _Words.none(count)
    shared = {"quantity": quantity, "unit": QUANTITIES[quantity]}
    nothing = np.full(count, np.nan)
    yield shared | {
        "state": states,
        "stratum": drawn,
        "dof": _Words.none(count),
        "body": _Words.none(count),
        "error": nothing if error is None else _largest(error),
        "scale": nothing if scale is None else _largest(scale),
        "digits": digits,
    }
    if not per_dof or error is None or error.ndim != 2:
        return
    width = error.shape[1]
    if len(names) != width or not width:
        return
    own = _Words(np.tile(np.arange(width, dtype=np.int32), count), names)
    none = _Words.none(count * width)
    yield shared | {
        "state": np.repeat(states, width),
        "stratum": _Words(np.repeat(drawn.index, width), drawn.words),
        "dof": none if quantity in BODIES else own,
        "body": own if quantity in BODIES else none,
        "error": error.ravel(),
        "scale": np.full(count * width, np.nan) if scale is None else scale.ravel(),
        "digits": np.full(count * width, np.nan) if scale is None else _digits(error, scale).ravel(),
    }


def _names(engine: Mapping[str, Any], quantity: str) -> list[str]:
    return list(engine.get("bodies" if quantity in BODIES else "dofs", ()))


def _scale(
    scale: Floats | None, quantity: str, reference: Mapping[str, Any], engine: Mapping[str, Any]
) -> Floats | None:
    """Return the scales, which stand in the order of the reference, in that of an engine.

    An engine may lack bodies of the file, and hold dofs in another order; None where it has some that the file lacks.
    """
    if scale is None or scale.ndim == 1:
        return scale
    at = {name: n for n, name in enumerate(_names(reference, quantity))}
    wanted = _names(engine, quantity)
    if len(at) != scale.shape[1] or not at.keys() >= set(wanted):
        return None
    return scale[:, [at[name] for name in wanted]]


def _largest(x: Floats) -> Floats:
    """Return the largest of each state, (N,)."""
    return x if x.ndim == 1 else x.max(axis=1, initial=0.0)


def _digits(error: Floats, scale: Floats) -> Floats:
    """Return digits (N, n) of agreement, with the largest scale of each state."""
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = -np.log10(error / scale.max(axis=1, keepdims=True))
    return np.where(error == 0, MOST, np.clip(np.nan_to_num(digits, nan=0.0), 0.0, MOST))


def _table(form: Any, who: Mapping[str, str], parts: Sequence[Part]) -> Any:
    """Put parts below each other."""
    import pyarrow as pa  # noqa: PLC0415

    counts = [len(part["state"]) for part in parts]
    total = sum(counts)
    made: dict[str, Any] = {name: _few(np.zeros(total, np.int32), [word]) for name, word in who.items()}
    for name in ("quantity", "unit"):
        words = _Words.of([part[name] for part in parts])
        made[name] = _few(np.repeat(words.index, counts), words.words)
    for name in ("stratum", "dof", "body"):
        made[name] = _joined([part[name] for part in parts])
    made["state"] = pa.array(np.concatenate([part["state"] for part in parts]))
    for name in ("error", "scale", "digits"):
        column = np.concatenate([part[name] for part in parts])
        made[name] = pa.array(column, mask=np.isnan(column))
    return pa.table([made[field.name] for field in form], schema=form)


def _few(index: NDArray[np.int32], words: Sequence[str]) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    indices = pa.array(index, pa.int32(), mask=index < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(list(words), pa.string()))


def _joined(columns: Sequence[_Words]) -> Any:
    """Return columns of words below each other, each with words of its own, over the words of all."""
    words = list(dict.fromkeys(word for column in columns for word in column.words))
    at = {word: n for n, word in enumerate(words)}
    parts: list[NDArray[np.int32]] = []
    for column in columns:
        moved = np.array([*(at[word] for word in column.words), -1], np.int32)
        parts.append(moved[column.index])  # -1 is the last: none
    return _few(np.concatenate(parts), words)
