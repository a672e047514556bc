"""What a topic is asked on: a tree, what was handed over, one or a few states, and the engines that are at hand."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..bench import gather
from ..errors import EngineAbsent, HarnessError, RequestError, told
from ..registry import adapter, beside, card_of
from ..remote import RemoteEngine, RemoteSession
from ..states import States, sample
from ..stopwatch import least_seconds
from ..workers import EngineDied
from .record import Section, Table, columns

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from ...adapters.reference import Reference
    from ..engine import Engine, Given, Session
    from ..tree import Floats, Tree
    from ..workers import Limits

FINAL: Final = ("not installed", "crashed", "no answer")  # who is one of these is not asked again
SENTENCES: Final = {
    "not installed": "{name} is not installed; install it with: {words}",
    "crashed": "{name} crashed on {model}: {words}",
    "no answer": "{name} did not answer on {model}: {words}",
    "cannot": "{name} cannot be asked on {model}: {words}",
    "failed": "{name} failed on {model}: {words}",
}


@dataclass(frozen=True, slots=True)
class Opened:
    """An engine that holds the robot.

    Attributes:
        name: of the engine.
        session: built from the tree, so that the engine's own reading of a file is no part of the lesson.
    """

    name: str
    session: Session


@dataclass(frozen=True, slots=True)
class Roll:
    """What became of every engine that a topic wanted.

    Attributes:
        engines: name to the engine, here or in a process of its own.
        versions: name to the version that is installed.
        left_out: name to status, model and words of those that did not answer; what came first stands.
    """

    engines: dict[str, Engine] = field(default_factory=dict[str, Any])
    versions: dict[str, str] = field(default_factory=dict[str, str])
    left_out: dict[str, tuple[str, str, str]] = field(default_factory=dict[str, tuple[str, str, str]])

    def note(self, name: str, status: str, model: str, words: str) -> None:
        """Note why an engine does not answer on a model."""
        if name not in self.left_out or (status in FINAL and not self.gone(name)):
            self.left_out[name] = (status, model, words)

    def gone(self, name: str) -> bool:
        """Whether an engine need not be asked again."""
        return name in self.left_out and self.left_out[name][0] in FINAL

    @property
    def sentences(self) -> tuple[str, ...]:
        """One per engine that is left out."""
        return tuple(
            SENTENCES[status].format(name=name, model=model, words=words)
            for name, (status, model, words) in self.left_out.items()
        )

    def section(self) -> Section | None:
        """Return a row per engine that was wanted, or None where none was."""
        said = dict(zip(self.left_out, self.sentences, strict=True))
        names = dict.fromkeys([*self.versions, *said])
        if not names:
            return None
        rows = tuple(
            (name, self.versions.get(name), self.left_out[name][0] if name in said else "answered", said.get(name, ""))
            for name in names
        )
        table = Table("What became of the engines", columns("engine", "version", "status", "why"), rows)
        return Section("Engines", tables=(table,))


@dataclass(frozen=True, slots=True)
class Asked:
    """The robot of a topic.

    Attributes:
        tree: of the robot.
        given: what was handed over.
        seed: of the states.
        limits: of the process of every engine; None to ask engines in this process.
        roll: of the engines; robots of one topic share it.
    """

    tree: Tree
    given: Given
    seed: int = 0
    limits: Limits | None = None
    roll: Roll = field(default_factory=Roll)

    @property
    def model(self) -> str:
        """Name, base and size in a line."""
        tree = self.tree
        base = "floating base" if tree.base == "free" else "fixed base"
        bodies = len(tree.bodies) - 1
        counts = f"{bodies} {'body' if bodies == 1 else 'bodies'}, {tree.nv} {'dof' if tree.nv == 1 else 'dofs'}"
        return f"{tree.name}: {base}, {counts}"

    @property
    def absent(self) -> tuple[str, ...]:
        """Sentences about engines that could not be asked."""
        return self.roll.sentences

    def states(self, count: int) -> States:
        """Return random states of one stratum, everything moving: joints within their limits, wrenches on all bodies.

        Raises:
            RequestError: the robot has no dof.
        """
        if not self.tree.nv:
            raise RequestError(f"{self.tree.name!r} cannot move: no joint has a dof, so there is nothing to explain")
        drawn = sample(self.tree, 8 * count + 64, self.seed)
        kept = [k for k, name in enumerate(drawn.strata) if name == "random"][:count]
        q, v, a, tau, wrenches = (x[kept] for x in (drawn.q, drawn.v, drawn.a, drawn.tau, drawn.wrenches))
        return States(q, v, a, tau, wrenches, ("random",) * len(kept), self.seed)

    def reference(self) -> Reference:
        """Return the native engine on this robot."""
        from ...adapters.reference import Reference  # noqa: PLC0415  loaded when a topic is asked

        return Reference(self.tree)

    def opened(self, names: Sequence[str], quantities: Sequence[str] = ("tau",)) -> list[Opened]:
        """Return the engines that can answer for the robot; the others are noted.

        Args:
            names: of engines.
            quantities: that a session must not lack, as `Session.lacks` names them.
        """
        found: list[Opened] = []
        for name, engine in self._engines(names):
            with self.trying(name):
                session = engine.neutral(self.tree)
                if lacking := [quantity for quantity in quantities if quantity in session.lacks]:
                    self.leave_out(name, str(session.lacks[lacking[0]]))
                    continue
                found.append(Opened(name, session))
        return found

    def beside(self, names: Sequence[str], part: str) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Yield the engines that are installed, each with what asks a function of the module `part` beside its adapter.

        That takes the name of the function and its arguments: `ask("apis", tree, q, v, a)`.
        """
        for name, engine in self._engines(names):
            if isinstance(engine, RemoteEngine):
                yield name, partial(engine.beside, part)
                continue
            module: Any = None
            with self.trying(name):
                module = beside(name, part)
            if module is not None:
                yield name, partial(_asked_here, module)

    def leave_out(self, name: str, words: str) -> None:
        """Note that an engine cannot be asked on this model."""
        self.roll.note(name, "cannot", self.tree.name, words)

    @contextmanager
    def trying(self, name: str) -> Generator[None]:
        """Ask an engine; what it raises becomes a row, and the topic goes on without it."""
        model, note = self.tree.name, self.roll.note
        try:
            yield
        except EngineAbsent:
            note(name, "not installed", model, card_of(name).install)
        except EngineDied as death:
            note(name, "no answer" if death.status == "timeout" else "crashed", model, str(death))
        except HarnessError as error:
            note(name, "cannot", model, str(error))
        except Exception as error:  # noqa: BLE001  an engine may raise anything
            note(name, "failed", model, told(error))

    def _engines(self, names: Sequence[str]) -> Iterator[tuple[str, Engine]]:
        """Yield the engines that are at hand; their processes start side by side."""
        for name in names:
            if name not in self.roll.engines and not self.roll.gone(name):
                with self.trying(name):
                    self.roll.engines[name] = self._engine(name)
        for name in names:
            if name in self.roll.engines and not self.roll.gone(name):
                yield name, self.roll.engines[name]

    def _engine(self, name: str) -> Engine:
        if name == "reference":
            return adapter(name)
        bench = gather([name], self.limits)[-1]
        self.roll.versions[name] = bench.version
        if bench.failed is not None:
            raise bench.failed
        if bench.worker is not None:
            return RemoteEngine(bench.worker)
        return adapter(name)


def seconds(session: Session, method: str, **arguments: Floats) -> float:
    """Return the least processor time of an answer, in whichever process the engine is [s]."""
    if isinstance(session, RemoteSession):
        return session.seconds(method, **arguments)
    return least_seconds(partial(getattr(session, method), **arguments))


def _asked_here(module: Any, function: str, *arguments: Any) -> Any:
    return getattr(module, function)(*arguments)
