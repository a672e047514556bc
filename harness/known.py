"""Known differences: listed with a reason, shown as such, and not counted; until they expire."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from .errors import RequestError
from .findings import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .findings import Finding
    from .results import EngineResult, ModelResult, Result

KEYS: Final = ("kind", "where", "engine", "file", "reason", "expires")
COUNTED: Final = ("differs", "refused")  # a crash is not a difference, and is never known
PATHS: Final = {"native", "neutral"}


@dataclass(frozen=True, slots=True)
class Known:
    """One known difference.

    Attributes:
        kind: of findings, or a glob of kinds.
        where: glob of bodies, joints and dofs; "*" also stands for a finding on the whole file.
        engine: name, or NAME==VERSION; "*" for any.
        file: glob of model files, matched from the right as `PurePath.match` does; "*" for any.
        reason: why it may stay.
        expires: the last day on which it is known, or None.
        source: the file and the entry that say so.
    """

    kind: str
    where: str
    engine: str
    file: str
    reason: str
    expires: dt.date | None
    source: str

    def __str__(self) -> str:
        """Return what it stands for, as a person wrote it."""
        words = [self.kind, *(f"{name} {x}" for name, x in (("at", self.where), ("in", self.engine)) if x != "*")]
        return " ".join([*words, *([f"of {self.file}"] if self.file != "*" else [])])

    def concerns(self, model: ModelResult, engine: EngineResult) -> bool:
        """Return whether file and engine are those of this entry."""
        name, _, version = self.engine.partition("==")
        mine = name in ("*", engine.engine) and (not version or version == engine.version)
        return mine and (self.file == "*" or PurePath(model.label).match(self.file))

    def matches(self, f: Finding) -> bool:
        """Return whether a finding is of this kind and place."""
        return fnmatchcase(f.kind, self.kind) and (self.where == "*" or fnmatchcase(f.where or "", self.where))

    def expired(self, today: dt.date) -> bool:
        """Return whether its last day is over."""
        return self.expires is not None and today > self.expires


def known_difference(entry: Mapping[str, Any], source: str) -> Known:
    """Return an entry of a settings file.

    Args:
        entry: table with `kind` and `reason`, and perhaps `where`, `engine`, `file` and `expires`.
        source: what messages call it.

    Raises:
        RequestError: a key is missing, does not exist or holds something else.
    """
    for key in entry:
        if key not in KEYS:
            raise RequestError(f"{source}: {key!r} does not exist; there are {', '.join(KEYS)}")
    for key in ("kind", "reason"):
        if key not in entry:
            raise RequestError(f"{source} has no {key}")
    for key in KEYS[:-1]:
        value = entry.get(key, "*")
        if not isinstance(value, str) or not value.strip():
            raise RequestError(f"{source}: {key} is {value!r}; give words")
    if not any(fnmatchcase(kind, entry["kind"]) for kind in KINDS):
        raise RequestError(f"{source}: there is no kind {entry['kind']!r}; `tautology explain` lists them")
    expires = _day(entry["expires"], source) if "expires" in entry else None
    words = {key: entry.get(key, "*") for key in KEYS[:-1]}
    return Known(**words, expires=expires, source=source)


def _day(value: object, source: str) -> dt.date:
    """Return a date; TOML has its own, and a string of the same form will do."""
    if isinstance(value, dt.datetime):
        return value.date()
    if isinstance(value, dt.date):
        return value
    try:
        return dt.date.fromisoformat(str(value))
    except ValueError:
        raise RequestError(f"{source}: expires is {value!r}; give a date such as 2027-06-30") from None


def with_known(result: Result, known: Sequence[Known], today: dt.date) -> Result:
    """Return a result in which known differences are marked, and do not count; and notes on entries that need care.

    An engine whose every grave finding is known is excused: its status stays, and the exit code passes over it.
    """
    if not known:
        return result
    used: set[Known] = set()
    models = tuple(_model(model, known, today, used) for model in result.models)
    notes = [*_expired(known, today, used), *_stale(known, result.models, used)]
    return replace(result, models=models, notes=(*result.notes, *notes))


def _model(model: ModelResult, known: Sequence[Known], today: dt.date, used: set[Known]) -> ModelResult:
    return excused(model, [_engine(engine, model, known, today, used) for engine in model.engines])


def excused(model: ModelResult, engines: Sequence[EngineResult]) -> ModelResult:
    """Return a model with these engines, its exit that of those which are not excused; 2 and 3 stay."""
    counted = any(engine.status in COUNTED and not engine.known for engine in engines)
    return replace(model, engines=tuple(engines), exit=int(counted) if model.exit == 1 else model.exit)


def _engine(
    engine: EngineResult, model: ModelResult, known: Sequence[Known], today: dt.date, used: set[Known]
) -> EngineResult:
    """Return an engine with its known findings marked."""
    mine = [entry for entry in known if entry.concerns(model, engine)]
    findings: list[Finding] = []
    for f in engine.findings:
        entries = [entry for entry in mine if f.severity != "convention" and entry.matches(f)]
        used.update(entries)
        valid = [entry for entry in entries if not entry.expired(today)]
        if valid:
            until = f" (until {valid[0].expires})" if valid[0].expires else ""
            findings.append(replace(f, known=valid[0].reason + until))
        elif entries:
            note = f"known until {entries[0].expires}, which is over: {entries[0].reason}"
            findings.append(replace(f, note="; ".join(filter(None, (f.note, note)))))
        else:
            findings.append(f)
    grave = [f for f in findings if f.severity != "convention"]
    reasons = tuple(dict.fromkeys(f.known for f in grave))
    every = engine.status in COUNTED and bool(grave) and all(reasons)
    return replace(engine, findings=tuple(findings), known=f"known: {'; '.join(reasons)}" if every else "")


def _expired(known: Sequence[Known], today: dt.date, used: set[Known]) -> list[str]:
    return [
        f"{entry.source} ({entry}) expired on {entry.expires}: it counts again; settle it or give it a new date"
        for entry in known
        if entry in used and entry.expired(today)
    ]


def _stale(known: Sequence[Known], models: Sequence[ModelResult], used: set[Known]) -> list[str]:
    """Return a note on every entry that matched nothing, though what it is about was asked on both paths."""
    notes: list[str] = []
    for entry in known:
        asked = [e.path for m in models for e in m.engines if e.engine != "reference" and entry.concerns(m, e)]
        if entry not in used and set(asked) >= PATHS:
            notes.append(
                f"{entry.source} ({entry}) matched nothing in this run: take it out, or say of which file it is"
            )
    return notes
