"""Does an adapter keep the contract? Specimen by specimen on the neutral path, and its card held to its word."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from . import registry
from .bench import Bench, gather, versions
from .checks.tolerances import alike
from .contract import CALLS, READ_BACK, conduct
from .engine import Given
from .errors import EngineBroken, EngineUnsupported, told
from .load import Loaded
from .plain import plain, to_text
from .remote import RemoteSession
from .run import check_loaded
from .specimens import CONCERNS, MIXTURES, PARTS, mixtures, specimens
from .states import sample
from .workers import EngineDied

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .request import Request
    from .results import EngineResult, IdentityRow, QuantityRow
    from .specimens import Specimen

Status: TypeAlias = Literal["right", "cannot", "wrong", "crashed", "timeout"]

EXITS: Final[Mapping[str, int]] = {"right": 0, "cannot": 0, "wrong": 1, "crashed": 3, "timeout": 3}
STATES: Final = 16
BODY_STATES: Final = 240  # bodies times states of a large specimen: an adapter may be a loop in Python
CONTRACT: Final = "contract"  # what a fault of `conduct` is about


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong.

    Attributes:
        what: a quantity, an identity, the kind of a finding, or "contract".
        size: the worst error in tolerances; inf where there is no number.
        words: what is known of it.
    """

    what: str
    size: float
    words: str


@dataclass(frozen=True)
class Trial:
    """What an engine made of one specimen.

    Attributes:
        concern: of the specimen.
        base: of its tree, "fixed" or "free".
        status: "right", "cannot" (the engine says beforehand that it cannot hold it), "wrong", "crashed" or "timeout".
        worst: the largest error of all that was answered, in tolerances.
        at: the quantity or identity that it is of, "" without an answer.
        words: of the engine, where it cannot or crashed.
        faults: what is wrong, the worst first.
        lacks: what this engine has not, in words of `contract.CALLS`, to its own words.
        asked: words of `contract.CALLS` that were asked.
        seconds: that it took.
    """

    concern: str
    base: str
    status: Status
    worst: float = 0.0
    at: str = ""
    words: str = ""
    faults: tuple[Fault, ...] = ()
    lacks: Mapping[str, str] = field(default_factory=dict[str, str])
    asked: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def held(self) -> bool:
        """Whether the engine holds the tree, rightly or wrongly."""
        return self.status in ("right", "wrong")


@dataclass(frozen=True)
class SelfTest:
    """What an engine made of all specimens, and whether its card says so.

    Attributes:
        engine: the term that was asked for.
        version: of the engine.
        versions: what the answers depend on.
        trials: in the order of `specimens`, mixtures last.
        limits: what it cannot do, in words that can stand in `EngineCard.limits`, to the engine's own words.
        undeclared: limits that the card does not declare.
        untrue: limits that the card declares, and that are none.
        judged: whether the card is held to this: not of another version, and not after a crash.
        seed: of specimens and states.
    """

    engine: str
    version: str
    versions: Mapping[str, str]
    trials: tuple[Trial, ...]
    limits: Mapping[str, str]
    undeclared: tuple[str, ...]
    untrue: tuple[str, ...]
    judged: bool
    seed: int

    @property
    def exit(self) -> int:
        """Exit code: 3 when it crashed or hung, 1 when something is wrong or the card is, else 0."""
        card = int(self.judged and bool(self.undeclared or self.untrue))
        return max(card, *(EXITS[trial.status] for trial in self.trials))

    def lines(self) -> list[str]:
        """Return the limits as they can stand on the card: with the reason after a colon."""
        return [f"{limit}: {words}" if words else limit for limit, words in self.limits.items()]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON document of the schema tautology/1 as plain Python."""
        head = {"schema": "tautology/1", "command": "selftest", "exit": self.exit, "versions": dict(self.versions)}
        return head | {
            "engine": self.engine,
            "version": self.version,
            "seed": self.seed,
            "specimens": [plain(asdict(trial)) for trial in self.trials],
            "limits": plain(self.limits),
            "card": {"judged": self.judged, "undeclared": list(self.undeclared), "untrue": list(self.untrue)},
        }

    def dumps(self) -> str:
        """Return the JSON text; infinities are the string "inf"."""
        return to_text(self.to_json())


def selftest(engine: str, request: Request) -> SelfTest:
    """Ask an engine for every specimen on the neutral path.

    Args:
        engine: a term: NAME, NAME==VERSION or NAME@PYTHON.
        request: seed, process, limits and progress are taken from it.

    Raises:
        RequestError: an unknown engine.
        EngineAbsent: the engine is not installed, or its version cannot be had.
        EngineBroken: its adapter does not load.
    """
    bench = _bench(engine, request)
    b = bench[-1]
    card = registry.card_of(b.name)
    asked = replace(request, engines=[engine], path="neutral", reasons=False)
    report = request.progress or _silent
    trials: list[Trial] = []

    def tried(some: Sequence[Specimen]) -> None:
        for specimen in some:
            cannot = {trial.concern for trial in trials if trial.status == "cannot"}
            if cannot.intersection(PARTS.get(specimen.concern, ())):
                continue
            report(f"{engine}: {specimen.concern}", len(trials) / (len(CONCERNS) + MIXTURES))
            trials.append(_trial(bench, specimen, asked))

    tried(specimens(request.seed))
    tried(mixtures([trial.concern for trial in trials if trial.held], request.seed))
    limits = _limits(trials)
    declared = [line.partition(":")[0].strip() for line in card.limits]
    crashed = any(EXITS[trial.status] == 3 for trial in trials)
    return SelfTest(
        engine,
        b.version,
        versions(bench),
        tuple(trials),
        limits,
        undeclared=tuple(limit for limit in limits if limit not in declared),
        untrue=tuple(limit for limit in declared if limit not in limits),
        judged=not (crashed or (b.term is not None and b.term.elsewhere)),
        seed=request.seed,
    )


def _silent(what: str, share: float) -> None:
    """Report to nobody."""


def _bench(engine: str, request: Request) -> list[Bench]:
    """Return the reference and the engine, or the reference alone when it is asked for itself.

    Raises:
        RequestError, EngineAbsent, EngineBroken: as `selftest`.
    """
    if engine == "reference":
        return [Bench(engine, registry.version(registry.card_of(engine)) or "0", registry.adapter(engine))]
    bench = gather([engine], request.limits)
    if (failed := bench[-1].failed) is not None:
        raise failed
    return bench


def _trial(bench: Sequence[Bench], specimen: Specimen, request: Request) -> Trial:
    """Return what an engine makes of one specimen: how it behaves, then what it answers."""
    start, b, tree = time.perf_counter(), bench[-1], specimen.tree

    def end(status: Status, **more: Any) -> Trial:
        return Trial(specimen.concern, tree.base, status, seconds=time.perf_counter() - start, **more)

    given = Given("tree", live=tree)
    try:
        session = b.opener(given).neutral(tree)
    except EngineUnsupported as limit:
        return end("cannot", words=str(limit))
    except EngineDied as death:
        return end(death.status, words=f"while loading: {death}")
    except EngineBroken:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  an engine may raise anything
        words = f"neutral raised {told(error)}; a tree that it cannot hold is EngineUnsupported"
        return end("wrong", worst=inf, at=CONTRACT, faults=(Fault(CONTRACT, inf, words),))
    states = sample(tree, min(STATES, BODY_STATES // (len(tree.bodies) - 1)), request.seed)
    kept = conduct(session, tree, states, alike(request.tolerance, tree, b.eps))
    faults = tuple(Fault(CONTRACT, inf, words) for words in kept.faults)
    if (death := _death(session)) is not None:
        return end(death.status, words=str(death), faults=faults)
    told_of = {"lacks": kept.lacks, "asked": kept.asked}
    if not kept.asked:  # it is no session: whatever it answers belongs to nothing
        return end("wrong", worst=inf, at=CONTRACT, faults=faults)
    result = check_loaded(Loaded(tree, given), replace(request, states=states), bench).engines[-1]
    if result.status in ("crashed", "timeout"):
        return end(
            "timeout" if result.status == "timeout" else "crashed", words=result.message, faults=faults, **told_of
        )
    worst, at = _worst(result)
    faults += _faults(result)
    status: Status = "wrong" if faults or result.status != "agree" else "right"
    if any(fault.what == CONTRACT for fault in faults):
        worst, at = inf, CONTRACT
    return end(status, worst=worst, at=at, words=result.message, faults=faults, **told_of)


def _death(session: Any) -> EngineDied | None:
    return session.died if isinstance(session, RemoteSession) else None


def _rows(result: EngineResult) -> list[tuple[str, float, QuantityRow | IdentityRow]]:
    """Return name, error in tolerances and row of all that applies, the worst first."""
    sizes = [(row.quantity, row.error, row) for row in result.quantities if row.applies]
    sizes += [(row.identity, row.residual, row) for row in result.identities if row.applies]
    found = [(name, _ratio(size, row.tolerance), row) for name, size, row in sizes]
    return sorted(found, key=lambda row: -row[1])


def _ratio(size: float, tolerance: float) -> float:
    return 0.0 if size == 0 else size / tolerance if tolerance else inf


def _worst(result: EngineResult) -> tuple[float, str]:
    rows = _rows(result)
    return (rows[0][1], rows[0][0]) if rows else (0.0, "")


def _faults(result: EngineResult) -> tuple[Fault, ...]:
    """Return what is wrong in the answers, the worst first, and then what the adapter itself says of the robot."""
    found = [Fault(name, ratio, _place(row)) for name, ratio, row in _rows(result) if not row.passed]
    told_of = [f for f in result.findings if f.severity == "model" and f.kind != "unexplained"]
    return (*found, *(Fault(f.kind, 0.0, f"at {f.where}" if f.where else "") for f in told_of))


def _place(row: QuantityRow | IdentityRow) -> str:
    """Return where a row is worst, and what is known of it."""
    parts = [f"at {row.where}" if row.where else "", "" if row.state is None else f"in state {row.state}"]
    place = " ".join(part for part in parts if part)
    return f"{place}: {row.note}" if row.note and place else place or row.note


def _limits(trials: Sequence[Trial]) -> dict[str, str]:
    """Return what an engine cannot do, by concerns that it cannot hold and calls that it has not, to its words.

    What is lacking together with inverse dynamics, in the same place and for the same reason, is one limit.
    """
    found = {trial.concern: trial.words for trial in trials if trial.status == "cannot"}
    groups: dict[tuple[str, str], list[str]] = {}
    for call in (*CALLS, READ_BACK):
        asked = [trial for trial in trials if trial.held and call in trial.asked]
        for place, words in _places(call, asked):
            groups.setdefault((place, words), []).append(call)
    for (place, words), calls in groups.items():
        found |= {f"{call}{place}": words for call in _together(calls)}
    return found


def _places(call: str, asked: Sequence[Trial]) -> list[tuple[str, str]]:
    """Return where a call is lacking, "" for everywhere, each with the engine's words."""
    lacking = [trial for trial in asked if call in trial.lacks]
    if not lacking:
        return []
    bases = {"": None, " with a floating base": "free", " with a fixed base": "fixed"}
    for place, base in bases.items():
        if lacking == [trial for trial in asked if base in (None, trial.base)]:
            return [(place, lacking[0].lacks[call])]
    # A mixture lacks what one of its parts lacks.
    some = [trial for trial in lacking if trial.concern in CONCERNS] or lacking
    return [(f" with {trial.concern}", trial.lacks[call]) for trial in some]


def _together(calls: list[str]) -> list[str]:
    """Return calls that are lacking for one reason under one name, where inverse dynamics is among them."""
    if len(calls) > 1 and "inverse dynamics" in calls:
        return ["dynamics" if "mass matrix" in calls else "efforts"]
    return calls
