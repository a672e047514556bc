"""Which engines there are, which are installed, and how an adapter is loaded."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module, metadata
from typing import TYPE_CHECKING

from ..adapters import CARDS
from .errors import EngineAbsent, RequestError

if TYPE_CHECKING:
    from .engine import Engine, EngineCard

GROUP = "tautology.engines"  # entry points of third-party adapters; each names an EngineCard


def cards() -> dict[str, EngineCard]:
    """Return the card of every known engine by name, our own first, then those of installed packages."""
    return dict(_cards(tuple(sys.path)))


@cache
def _cards(_path: tuple[str, ...]) -> dict[str, EngineCard]:
    """Return all cards; the search path is what they depend on."""
    found = {card.name: card for card in CARDS}
    for point in metadata.entry_points(group=GROUP):
        card: EngineCard = point.load()
        found.setdefault(card.name, card)
    return found


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
    if name not in known:
        raise RequestError(f"there is no engine {name!r}; known engines: {', '.join(known)}")
    return known[name]


def adapter(name: str) -> Engine:
    """Import an adapter and return its engine.

    Raises:
        RequestError: no such engine.
        EngineAbsent: the engine is not installed; the message holds the install line.
    """
    card = card_of(name)
    if version(card) is None:
        raise EngineAbsent(f"engine {name!r} is not installed; install it with: {card.install}")
    package = __package__.rpartition(".")[0] if __package__ else "tautology"
    own = card.module.startswith("adapters.")
    return import_module(f"{package}.{card.module}" if own else card.module).ENGINE
