"""In which version of an engine the answer changed: every version of a range on the same frozen states.

Good, bad, and good again is the usual history of a fault, so no version is passed over by halving. Each one is held
against the last one that changed, so that small steps in one direction add up.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from . import registry
from .bench import Bench, gather, mjcf_reader, versions
from .engine_terms import EngineTerm
from .environments import versions_between
from .errors import RequestError
from .load import open_model
from .plain import plain, to_text
from .results import QUANTITIES, ModelResult
from .run import check_loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .findings import Finding
    from .load import Loaded
    from .request import Request
    from .results import EngineResult
    from .tree import Floats

AT_A_TIME: Final = 2
EXITS: Final = {"crashed": 3, "timeout": 3}


@dataclass(frozen=True)
class Moved:
    """How far one quantity moved from one version to another, at its worst entry.

    Attributes:
        quantity: a key of `harness.results.QUANTITIES`.
        unit: of `size`.
        size: largest change, where change over scale is worst; inf where one of two answers is not finite.
        relative: the same over the scale of the reference at that place.
        state: of that entry.
    """

    quantity: str
    unit: str
    size: float
    relative: float
    state: int


@dataclass(frozen=True)
class Change:
    """A version whose answer is not that of the one before.

    Attributes:
        path: "native" or "neutral".
        before, after: versions, one after the other.
        moved: what moved by more than the tolerance since the last change, the most first; empty without answers.
        words: why one of the two has no answers, or "".
        findings_before, findings_after: why either differs from the file; conventions left out.
    """

    path: str
    before: str
    after: str
    moved: tuple[Moved, ...]
    words: str
    findings_before: tuple[Finding, ...]
    findings_after: tuple[Finding, ...]


@dataclass(frozen=True)
class Bisection:
    """What the versions of a range say of one file.

    Attributes:
        file: as it was given.
        engine: its name.
        tolerance: relative; a smaller change is none.
        versions: what the answers depend on beside the engine.
        states: how many, and the seed and the hash of the draw.
        rows: version by version, one per path, in the order of the range.
        changes: path by path, in the same order.
    """

    file: str
    engine: str
    tolerance: float
    versions: Mapping[str, str]
    states: Mapping[str, Any]
    rows: tuple[EngineResult, ...]
    changes: tuple[Change, ...]

    @property
    def exit(self) -> int:
        """Exit code: 3 when a version crashed or hung, 2 when none could be had, 1 when the answer changed, else 0."""
        if all(row.status == "absent" for row in self.rows):
            return 2
        return max(int(bool(self.changes)), *(EXITS.get(row.status, 0) for row in self.rows))

    def to_json(self) -> dict[str, Any]:
        """Return the JSON document of the schema tautology/1 as plain Python."""
        return {
            "schema": "tautology/1",
            "command": "bisect",
            "exit": self.exit,
            "versions": dict(self.versions),
            "file": self.file,
            "engine": self.engine,
            "tolerance": self.tolerance,
            "states": plain(self.states),
            "rows": [
                {"version": r.version, "path": r.path, "status": r.status, "message": plain(r.message)}
                | {"findings": [plain(asdict(f)) for f in grave(r)]}
                for r in self.rows
            ],
            "changes": [plain(asdict(change)) for change in self.changes],
        }

    def dumps(self) -> str:
        """Return the JSON text; infinities are the string "inf"."""
        return to_text(self.to_json())


def bisect(file: str, engine: str, first: str, last: str, request: Request) -> Bisection:
    """Ask every version of an engine from `first` to `last`, each in an environment of its own, two at a time.

    Args:
        file: a model file.
        engine: its name.
        first: version at which the range begins.
        last: version at which it ends.
        request: what is asked of each version; its engines are not looked at.

    Raises:
        ReadError: the file cannot be used.
        RequestError: there is no such engine, or no version of it in the range.
    """
    if engine == "reference":
        raise RequestError("the reference is no engine whose versions can be asked; give --engine mujoco, for one")
    asked = versions_between(engine, first, last)
    loaded = open_model(file, request.base, mjcf_reader(request.limits))
    done: list[str] = []

    def one(version: str) -> ModelResult:
        model = _asked(loaded, EngineTerm(engine, version), request)
        done.append(version)
        if request.progress:
            request.progress(f"{engine} {version}", len(done) / (len(asked) + 1))
        return model

    models = _of_all(asked, one)
    rows = [row for model in models for row in model.engines if row.engine != "reference"]
    paths = list(dict.fromkeys(row.path for row in rows))
    changes = [c for path in paths for c in changes_of([r for r in rows if r.path == path], request.tolerance)]
    own = versions([Bench("reference", registry.version(registry.card_of("reference")) or "0")])
    return Bisection(file, engine, request.tolerance, own, models[0].states, tuple(rows), tuple(changes))


def _of_all(asked: Sequence[str], one: Callable[[str], ModelResult]) -> list[ModelResult]:
    """Return what `one` says of all versions; a program that is interrupted does not wait for the threads.

    Raises:
        Exception: what `one` raised first; the others end what they are at.
    """
    left, found, failed = deque(enumerate(asked)), dict[int, ModelResult](), list[Exception]()

    def work() -> None:
        with suppress(IndexError):  # nothing is left
            while not failed:
                at, version = left.popleft()
                try:
                    found[at] = one(version)
                except Exception as error:  # noqa: BLE001  it is raised again where somebody sees it
                    failed.append(error)

    threads = [Thread(target=work, daemon=True) for _ in range(AT_A_TIME)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return [found[at] for at in range(len(asked))]


def _asked(loaded: Loaded, term: EngineTerm, request: Request) -> ModelResult:
    """Return what one version says; its process ends then."""
    wanted = replace(request, engines=(str(term),), answers=True, progress=None, in_process=False)
    bench = gather(wanted.engines, wanted.limits)
    try:
        return check_loaded(loaded, wanted, bench)
    finally:
        for b in bench:
            if b.worker is not None:
                b.worker.stop()


def changes_of(rows: Sequence[EngineResult], tolerance: float) -> list[Change]:
    """Return where the answer changes along versions of one engine on one path; what could not be had is passed over.

    Args:
        rows: in the order of the versions, with their answers.
        tolerance: relative to the scale of the reference.
    """
    changes: list[Change] = []
    had = [row for row in rows if row.status != "absent"]
    held = had[0] if had else None  # the version that the answers are held against
    for before, after in pairwise(had):
        moved, words = moves(held or before, after, tolerance), _words(held or before, after)
        if moved or words:
            held = after
            changes.append(Change(after.path, before.version, after.version, moved, words, grave(before), grave(after)))
    return changes


def moves(before: EngineResult, after: EngineResult, tolerance: float) -> tuple[Moved, ...]:
    """Return the quantities that both answer and that moved by more than the tolerance, the most first."""
    found: list[Moved] = []
    for quantity, (old, scale) in before.answers.items():
        new, _ = after.answers.get(quantity, (old, scale))
        if new.shape == old.shape and (worst := _worst(quantity, old, new, scale)).relative > tolerance:
            found.append(worst)
    return tuple(sorted(found, key=lambda m: -m.relative))


def _worst(quantity: str, old: Floats, new: Floats, scale: Floats) -> Moved:
    with np.errstate(all="ignore"):
        size = np.abs(new - old)
        size[~np.isfinite(new) & ~np.isfinite(old)] = 0  # none of the two has one
        size[~np.isfinite(size)] = np.inf
        relative = np.where(size > 0, size / scale, 0)
    at = np.unravel_index(int(relative.argmax()), relative.shape)
    return Moved(quantity, QUANTITIES[quantity], float(size[at]), float(relative[at]), int(at[0]))


def _words(before: EngineResult, after: EngineResult) -> str:
    """Return why two versions are not the same whatever they answer: one is refused, or has another set of dofs."""
    if bool(before.answers) != bool(after.answers):
        silent = after if before.answers else before
        return f"{silent.version} {silent.status}: {silent.message}"
    if not before.answers and before.status != after.status:
        return f"{before.version} {before.status}, {after.version} {after.status}: {after.message}"
    for what, one, two in (("dofs", before.dofs, after.dofs), ("bodies", before.bodies, after.bodies)):
        if one != two:
            return f"it holds other {what}: {_apart(one, two)}"
    return ""


def _apart(one: Sequence[str], two: Sequence[str]) -> str:
    gone, new = [name for name in one if name not in two], [name for name in two if name not in one]
    parts = [f"without {', '.join(gone)}"] if gone else []
    parts += [f"with {', '.join(new)}"] if new else []
    return "; ".join(parts) or "in another order"


def grave(row: EngineResult) -> tuple[Finding, ...]:
    """Return the findings of an engine that are no mere conventions."""
    return tuple(f for f in row.findings if f.severity != "convention")
