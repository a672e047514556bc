"""The engines that take part in a run, each in a process of its own unless it is asked for in this one."""

from __future__ import annotations

import atexit
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import registry
from .callables import CallableEngine, named_engine
from .checks.tolerances import EPS
from .engine_terms import EngineTerm, engine_term
from .errors import EngineAbsent, EngineBroken, EngineUnsupported, ReadError, RequestError, Source
from .tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .engine import Engine, Given
    from .errors import HarnessError
    from .workers import Limits, Worker


@dataclass(frozen=True)
class Bench:
    """An engine that takes part.

    Attributes:
        name: of the engine.
        version: of the engine; "" for a callable.
        engine: in this process; None where it is loaded only when it must be.
        worker: its own process, or None.
        failed: why it could not be had, or None.
        term: what was asked for; None for what has no name of an engine.
    """

    name: str
    version: str
    engine: Engine | None = None
    worker: Worker | None = None
    failed: HarnessError | None = None
    term: EngineTerm | None = None

    @property
    def eps(self) -> float:
        """That of the arithmetic that the engine computes in."""
        return EPS if self.term is None else registry.card_of(self.name).eps

    def doing(self, model: str, path: str) -> str:
        """Return what progress shows while it reads and answers a model: what takes long, if its card knows."""
        first = "" if self.term is None else registry.card_of(self.name).first
        return f"{self.name} {first}" if first else f"{model}: {self.name}, {path} path"

    def opener(self, given: Given) -> Engine:
        """Return the engine that opens this model; a live object stays in the process that it is in.

        Raises:
            EngineAbsent: it could not be had.
            EngineBroken: its adapter does not load.
            EngineUnsupported: the model cannot reach it.
        """
        if self.failed is not None:
            raise self.failed
        if self.engine is not None:
            return self.engine
        if self.worker is None or (given.live is not None and not isinstance(given.live, Tree)):
            if self.term is not None and self.term.elsewhere:
                raise EngineUnsupported(f"a live model cannot be handed to {self.term}, which is another process")
            return registry.adapter(self.name)
        from .remote import RemoteEngine  # noqa: PLC0415

        return RemoteEngine(self.worker)


def gather(
    engines: Sequence[str | Callable[..., Any]] | Callable[..., Any] | str | None,
    limits: Limits | None = None,
) -> list[Bench]:
    """Return the engines that take part, the reference first; their processes start to load them at once.

    Args:
        engines: terms and callables; None for every installed engine. A callable that is called like an engine, or
            like one before it, gets a name of its own.
        limits: of every process; None to ask engines in this process.

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
    taken = {"reference"}
    for engine in engines:
        if isinstance(engine, str):
            if engine not in taken:
                taken.add(engine)
                bench.append(_named(engine_term(engine), limits))
        elif not isinstance(engine, CallableEngine) and not callable(engine):
            raise RequestError(f"{engine!r} is no engine; give the name of one, or a callable (q, v, a) -> tau")
        else:
            own = named_engine(engine, taken | cards.keys())
            taken.add(own.name)
            bench.append(Bench(own.name, "", own))
    if len(bench) == 1:
        lines = [f"{card.name}: {card.install}" for card in cards.values() if card.name != "reference"]
        raise RequestError("no engine beside the reference takes part; install one: " + "; ".join(lines))
    return bench


def _named(term: EngineTerm, limits: Limits | None) -> Bench:
    """Return an engine by its term."""
    card = registry.card_of(term.name)
    if not term.elsewhere:
        installed = registry.version(card)
        if installed is None:
            raise EngineAbsent(f"engine {term.name!r} is not installed; install it with: {card.install}")
        if limits is None:
            return _here(term, installed)
        return Bench(term.name, installed, worker=_worker(term, limits), term=term)
    if limits is None:
        raise RequestError(f"{term} is another process; leave out --in-process")
    try:
        worker = _worker(term, limits)
        return Bench(term.name, worker.version, worker=worker, term=term)
    except EngineAbsent as error:
        return Bench(term.name, term.version, failed=error, term=term)


def _here(term: EngineTerm, version: str) -> Bench:
    """Return an engine in this process; one whose adapter does not load breaks nobody else's answer."""
    try:
        return Bench(term.name, version, registry.adapter(term.name), term=term)
    except EngineBroken as error:
        return Bench(term.name, version, failed=error, term=term)


_workers: dict[tuple[EngineTerm, Limits], Worker] = {}


def _worker(term: EngineTerm, limits: Limits) -> Worker:
    """Return the process of an engine, which is started once and asked for every model."""
    from .workers import Worker  # noqa: PLC0415

    key = (term, limits)
    if key in _workers and _workers[key].given_up:
        _workers.pop(key).stop()
    if key not in _workers:
        if not _workers:
            atexit.register(stop_workers)
        if term.version:
            from .environments import python_of  # noqa: PLC0415

            _workers[key] = Worker(term.name, python_of(term.name, term.version), limits)
        else:
            _workers[key] = Worker(term.name, term.python, limits) if term.python else Worker(term.name, limits=limits)
    _workers[key].start()
    return _workers[key]


def mjcf_reader(limits: Limits | None) -> Callable[[str], Tree] | None:
    """Return what reads MJCF in the process of MuJoCo, whose compiler may crash; None to read it in this one."""
    if limits is None or registry.version(registry.card_of("mujoco")) is None:
        return None
    from .remote import present_folder  # noqa: PLC0415
    from .workers import EngineDied  # noqa: PLC0415

    def read(file: str) -> Tree:
        try:
            return _worker(EngineTerm("mujoco"), limits).ask({"do": "read", "file": file, "folder": present_folder()})[
                "tree"
            ]
        except EngineDied as death:
            raise ReadError(f"MuJoCo, which reads MJCF for every engine, {death}", Source(file)) from death

    return read


def stop_workers() -> None:
    """End the processes of all engines."""
    ended = list(_workers.values())
    _workers.clear()
    for worker in ended:
        worker.kill()  # all at once, then each is waited for
    for worker in ended:
        worker.stop()


def versions(bench: Sequence[Bench]) -> dict[str, str]:
    """Return the versions that a result depends on."""
    own = {"tautology": bench[0].version, "python": platform.python_version(), "numpy": np.__version__}
    names = ((str(b.term) if b.term and b.term.elsewhere else b.name, b.version) for b in bench[1:])
    return own | {name: version for name, version in names if version}
