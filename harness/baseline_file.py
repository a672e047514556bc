"""Read a baseline back; nothing in the file is executed, and whatever is wrong with it is one sentence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from .baseline import SAME, SCHEMA, Baseline, FrozenEngine
from .errors import HarnessError, ReadError, Source
from .reading import LARGEST_RESULT, read_whole
from .states import States

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def read_baseline(path: Path) -> Baseline:
    """Return the baseline of a file.

    Raises:
        ReadError: it cannot be read, or is none.
    """
    try:
        document = json.loads(read_whole(path, LARGEST_RESULT).decode())
    except OSError as error:
        raise _refused(path, f"cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"is no baseline: {error}") from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise _refused(path, f"is no baseline: it does not say schema {SCHEMA!r}; `tautology freeze` makes one")
    try:
        return _baseline(document)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, HarnessError) as error:
        words = f"is damaged ({type(error).__name__}: {error}); mend it, or freeze the model anew"
        raise _refused(path, words) from error


def _refused(path: Path, words: str) -> ReadError:
    return ReadError(words, Source(str(path)))


def _baseline(document: Mapping[str, Any]) -> Baseline:
    joints = tuple((str(name), int(nq)) for name, nq in document["joints"].items())
    dofs, bodies = tuple(document["dofs"]), tuple(document["bodies"])
    states = _states(document["states"], sum(nq for _, nq in joints), dofs, bodies)
    return Baseline(
        file=str(document["file"]),
        sha256=str(document["sha256"]),
        name=str(document["robot"]),
        versions=dict(document["versions"]),
        request={key: document["request"][key] for key in ("engines", "path", "base", "tolerance")},
        joints=joints,
        dofs=dofs,
        bodies=bodies,
        states=states,
        lint=tuple(_row(row) for row in document["lint"]),
        engines={label: _engine(engine, dofs, bodies) for label, engine in document["engines"].items()},
    )


def _states(given: Mapping[str, Any], nq: int, dofs: tuple[str, ...], bodies: tuple[str, ...]) -> States:
    count = len(given["strata"])
    widths = {"q": nq, "v": len(dofs), "a": len(dofs), "tau": len(dofs)}
    arrays = {
        name: np.array([given[name][str(n)] for n in range(count)], np.float64).reshape(count, width)
        for name, width in widths.items()
    }
    wrenches = np.zeros((count, len(bodies), 6))
    for n, rows in given["wrenches"].items():
        for body, wrench in rows.items():
            wrenches[int(n), bodies.index(body)] = wrench
    return States(**arrays, wrenches=wrenches, strata=tuple(given["strata"]), seed=int(given["seed"]))


def _engine(given: Mapping[str, Any], dofs: tuple[str, ...], bodies: tuple[str, ...]) -> FrozenEngine:
    has = {"dofs": dofs, "bodies": bodies[1:]}
    if not given["answers"]:
        has = {"dofs": (), "bodies": ()}
    named = {name: x if given.get(name, "all") == "all" else tuple(given[name]) for name, x in has.items()}
    return FrozenEngine(
        version=str(given["version"]),
        status=str(given["status"]),
        failed=tuple(given["failed"]),
        conventions={kind: list(places) for kind, places in given["conventions"].items()},
        findings=tuple(_row(row) for row in given["findings"]),
        dofs=named["dofs"],
        bodies=named["bodies"],
        answers={
            quantity: SAME if some == SAME else {label: [float(x) for x in line] for label, line in some.items()}
            for quantity, some in given["answers"].items()
        },
    )


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "kind": row["kind"], "severity": row["severity"], "where": row["where"]}
