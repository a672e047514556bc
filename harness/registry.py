"""Which engines there are, which are installed, and how an adapter is loaded."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

from ..adapters import CARDS
from .engine import EngineCard
from .engine_terms import engine_term
from .errors import EngineAbsent, EngineBroken, RequestError, told

if TYPE_CHECKING:
    from types import ModuleType

    from .engine import Engine

GROUP = "tautology.engines"  # entry points of third-party adapters; each names an EngineCard


@dataclass(frozen=True)
class Registered:
    """What is known of all engines.

    Attributes:
        cards: by name, our own first.
        faults: entry point to the sentence that says why it gives no engine.
    """

    cards: Mapping[str, EngineCard]
    faults: Mapping[str, str]


def cards() -> dict[str, EngineCard]:
    """Return the card of every known engine by name, our own first, then those of installed packages."""
    return dict(_registered(tuple(sys.path)).cards)


def faults() -> dict[str, str]:
    """Return the entry points of other packages that give no engine, each with a sentence that says why."""
    return dict(_registered(tuple(sys.path)).faults)


@cache
def _registered(_path: tuple[str, ...]) -> Registered:
    """Return all cards; the search path is what they depend on."""
    found = {card.name: card for card in CARDS}
    faults: dict[str, str] = {}
    for point in metadata.entry_points(group=GROUP):
        package = point.dist.name if point.dist else "unknown"
        place = f"entry point {point.name!r} ({point.value}) of the package {package!r}"
        try:
            card = point.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001  somebody else's module: it may raise anything
            faults[point.name] = f"{place} cannot be loaded: {told(error)}"
            continue
        if wrong := _wrong(card):
            faults[point.name] = f"{place} {wrong}"
        elif card.name in found:
            owner = "an engine of tautology" if found[card.name] in CARDS else "another package's engine"
            faults[point.name] = f"{place} is called {card.name!r}, which is {owner}; give it another name"
        else:
            found[card.name] = card
    return Registered(found, faults)


def _wrong(card: object) -> str:
    """Return what is wrong with what should be the card of an engine, or ""."""
    if not isinstance(card, EngineCard):
        return f"is of type {type(card).__name__}; it must be a harness.engine.EngineCard"
    for name in ("name", "module", "distribution", "install", "licence", "answers", "imports"):
        if not isinstance(getattr(card, name), str):
            return f"has no text as {name}: {getattr(card, name)!r}"
    for name in ("formats", "conventions", "limits"):
        lines: Any = getattr(card, name)
        if not isinstance(lines, tuple) or not all(isinstance(line, str) for line in lines):
            return f"has no tuple of texts as {name}: {lines!r}"
    ledger: Any = card.ledger
    if not isinstance(ledger, Mapping):
        return f"has no mapping of texts as ledger: {ledger!r}"
    if not card.module or not card.distribution:
        return "says no module or no distribution"
    try:
        term = engine_term(card.name)
    except RequestError:
        return f"is called {card.name!r}; a name has letters, digits, '_', '.' and '-', and begins with a letter"
    return f"is called {card.name!r}, which is read as an engine and its version" if term.elsewhere else ""


def version(card: EngineCard) -> str | None:
    """Return the installed version of an engine without importing it; None when it is not installed."""
    return _version(card.distribution, tuple(sys.path))


@cache
def _version(distribution: str, _path: tuple[str, ...]) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def engines() -> dict[str, str | None]:
    """Return every known engine with its installed version, None for those that are absent."""
    return {name: version(card) for name, card in cards().items()}


def card_of(name: str) -> EngineCard:
    """Return the card of an engine.

    Raises:
        RequestError: no such engine; the message lists those that exist.
    """
    known = cards()
    if name not in known and (fault := faults().get(name)):
        raise RequestError(fault)
    if name not in known:
        raise RequestError(f"there is no engine {name!r}; known engines: {', '.join(known)}")
    return known[name]


def adapter(name: str) -> Engine:
    """Import an adapter and return its engine.

    Raises:
        RequestError: no such engine.
        EngineAbsent: the engine is not installed; the message holds the install line.
        EngineBroken: the adapter cannot be imported, or has no `ENGINE`.
    """
    card = card_of(name)
    if version(card) is None:
        raise EngineAbsent(f"engine {name!r} is not installed; install it with: {card.install}")
    package = __package__.rpartition(".")[0] if __package__ else "tautology"
    module = f"{package}.{card.module}" if card in CARDS else card.module
    try:
        adapter = import_module(module)
    except (Exception, SystemExit) as error:
        raise EngineBroken(f"the adapter of {name!r}, {card.module}, cannot be imported: {told(error)}") from error
    engine = getattr(adapter, "ENGINE", None)
    if not all(callable(getattr(engine, path, None)) for path in ("native", "neutral")):
        raise EngineBroken(f"the adapter of {name!r}, {card.module}, has no ENGINE with `native` and `neutral`")
    return engine  # pyright: ignore[reportReturnType]  what an engine is has just been looked at


def beside(name: str, part: str) -> ModuleType:
    """Import what stands beside the adapter of an engine of ours: `mujoco_apis` beside `mujoco_` is the part "apis".

    Raises:
        RequestError: no such engine.
        EngineAbsent: the engine is not installed; the message holds the install line.
        EngineBroken: the adapter cannot be imported.
    """
    adapter(name)
    package = __package__.rpartition(".")[0] if __package__ else "tautology"
    return import_module(f"{package}.{card_of(name).module}{part}")
