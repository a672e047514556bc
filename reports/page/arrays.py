"""The arrays of a model as the page takes them: base64 of little-endian numbers, as wide as what is shown needs."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

# Quantities of which there is an error per dof, and per body.
PER_DOF: Final = ("tau", "bias", "gravity", "acceleration")
PER_BODY: Final = ("poses", "velocities")
TENTHS: Final = 10  # digits per dof and state are kept in tenths
MOST: Final = 17.0


def missing_views() -> list[str]:
    """Return the views that need the side file of arrays."""
    return [
        "residuals in the kinematic tree",
        "error of the mass matrix",
        "torque by term",
        "digits of agreement over the states",
    ]


def parted(arrays: Mapping[str, NDArray[Any]], letter: str) -> dict[int, dict[str, NDArray[Any]]]:
    """Return arrays by the number at the beginning of their key: `m0/tau` is `tau` of part 0 by the letter m."""
    parts: dict[int, dict[str, NDArray[Any]]] = {}
    for key, array in arrays.items():
        first, _, rest = key.partition("/")
        if rest and first[:1] == letter and first[1:].isdecimal():
            parts.setdefault(int(first[1:]), {})[rest] = array
    return parts


def array_data(arrays: Mapping[str, NDArray[Any]], engines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the arrays of a model.

    `terms` and `tau` are (N, nv) [N m | N] in full; of each engine `digits` (N,) per quantity, `matrix` (n, n) the
    largest error / scale of the mass matrix, `spread` (N, n) digits of each dof or body in tenths, and `worst` the
    largest ratio of error to the largest scale of its state of each dof or body, with the error and the state.

    Args:
        arrays: of this model alone, such as `e1/error/tau`.
        engines: of this model, as the document has them.
    """
    tau, own = arrays.get("tau"), parted(arrays, "e")
    return {
        "terms": {name: packed(array, "<f8") for name, array in _under(arrays, "terms")},
        "tau": None if tau is None else packed(tau, "<f8"),
        "engines": [_engine(own.get(k, {}), dict(_under(arrays, "scale")), k, engines) for k in range(len(engines))],
    }


def _under(arrays: Mapping[str, NDArray[Any]], folder: str) -> Iterator[tuple[str, NDArray[Any]]]:
    """Give names and arrays whose key begins with `folder`."""
    for key, array in arrays.items():
        first, _, name = key.partition("/")
        if first == folder:
            yield name, array


def _engine(
    own: Mapping[str, NDArray[Any]],
    scales: Mapping[str, NDArray[Any]],
    k: int,
    engines: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    matrix = own.get("mass_matrix_error")
    data: dict[str, Any] = {
        "digits": {name: packed(digits, "<f4") for name, digits in _under(own, "digits")},
        "matrix": None if matrix is None else packed(matrix, "<f4"),
        "spread": {},
        "worst": {},
    }
    reference: Mapping[str, Any] = next((engine for engine in engines if engine["engine"] == "reference"), {})
    for quantity in (*PER_DOF, *PER_BODY):
        places = "bodies" if quantity in PER_BODY else "dofs"
        error, scale = own.get(f"error/{quantity}"), scales.get(quantity)
        held = engines[k].get(places, ())
        if error is None or scale is None or not error.size or error.shape[1] != len(held):
            continue
        ratio = _ratio(error, _of_state(scale, reference.get(places, ()), held))
        state = ratio.argmax(0)
        at = np.arange(len(held))
        data["spread"][quantity] = packed(_tenths(ratio), "u1")
        data["worst"][quantity] = {
            "ratio": _plain(ratio[state, at]),
            "error": _plain(error[state, at]),
            "state": state.tolist(),
        }
    return data


def _of_state(scale: NDArray[Any], names: Sequence[str], held: Sequence[str]) -> NDArray[Any]:
    """Return the largest scale (N, 1) of each state, over the dofs or bodies that an engine holds.

    Args:
        scale: (N, n) in the order of the reference.
        names: of these n.
        held: of the engine; what the file lacks has no scale.
    """
    known = set(held)
    columns = [i for i, name in enumerate(names) if name in known] or slice(None)
    return scale[:, columns].max(axis=1, keepdims=True)


def _ratio(error: NDArray[Any], scale: NDArray[Any]) -> NDArray[Any]:
    """Return error / scale; zero where there is no error, infinite without an answer or beside a scale of zero."""
    with np.errstate(all="ignore"):
        ratio = np.where(error == 0, 0.0, error / scale)
    return np.where(np.isnan(ratio), np.inf, ratio)


def _tenths(ratio: NDArray[Any]) -> NDArray[Any]:
    """Return digits of agreement in tenths, rounded down."""
    with np.errstate(all="ignore"):
        digits = np.clip(-np.log10(ratio), 0.0, MOST)
    return np.floor(digits * TENTHS).astype(np.uint8)


def _plain(values: NDArray[Any]) -> list[float | str]:
    return [float(x) if np.isfinite(x) else "inf" for x in values]


def packed(values: NDArray[Any], kind: str) -> dict[str, Any]:
    """Return an array as its shape, the kind of its numbers and their bytes in base64."""
    if kind == "<f4":  # what is too large for it stays a number: infinity is an answer that is missing
        largest = float(np.finfo(np.float32).max)
        values = np.where(np.isfinite(values), np.clip(values, -largest, largest), values)
    data = np.ascontiguousarray(values, np.dtype(kind))
    return {"shape": list(data.shape), "kind": kind.strip("<"), "bytes": base64.b64encode(data.tobytes()).decode()}
