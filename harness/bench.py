"""The engines that take part in a run."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import registry
from .callables import CallableEngine
from .errors import EngineAbsent, RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .engine import Engine


@dataclass(frozen=True)
class Bench:
    """An engine that takes part."""

    name: str
    version: str
    engine: Engine


def gather(engines: Sequence[str | Callable[..., Any]] | Callable[..., Any] | str | None) -> list[Bench]:
    """Return the engines that take part, the reference first.

    Raises:
        RequestError: an unknown engine, or none beside the reference.
        EngineAbsent: a named engine is not installed.
    """
    cards = registry.cards()
    if isinstance(engines, str) or callable(engines):
        engines = [engines]
    if engines is None:
        engines = [name for name, card in cards.items() if registry.version(card) is not None]
    bench = [Bench("reference", registry.version(cards["reference"]) or "0", registry.adapter("reference"))]
    for engine in engines:
        if isinstance(engine, str):
            if engine not in {b.name for b in bench}:
                bench.append(Bench(engine, _version(engine), registry.adapter(engine)))
        elif not isinstance(engine, CallableEngine) and not callable(engine):
            raise RequestError(f"{engine!r} is no engine; give the name of one, or a callable (q, v, a) -> tau")
        else:
            name = getattr(engine, "__name__", "callable")
            own = engine if isinstance(engine, CallableEngine) else CallableEngine(engine, name=name)
            bench.append(Bench(own.name, "", own))
    if len(bench) == 1:
        lines = [f"{card.name}: {card.install}" for card in cards.values() if card.name != "reference"]
        raise RequestError("no engine beside the reference takes part; install one: " + "; ".join(lines))
    return bench


def _version(name: str) -> str:
    card = registry.card_of(name)
    installed = registry.version(card)
    if installed is None:
        raise EngineAbsent(f"engine {name!r} is not installed; install it with: {card.install}")
    return installed


def versions(bench: Sequence[Bench]) -> dict[str, str]:
    """Return the versions that a result depends on."""
    own = {"tautology": bench[0].version, "python": platform.python_version(), "numpy": np.__version__}
    return own | {b.name: b.version for b in bench[1:] if b.version}
