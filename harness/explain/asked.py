"""What a topic is asked on: a tree, what was handed over, one or a few states, and the engines that are at hand."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import EngineAbsent, HarnessError, RequestError, told
from ..registry import adapter, card_of, version
from ..states import States, sample

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from ...adapters.reference import Reference
    from ..engine import Given, Session
    from ..tree import Tree


@dataclass(frozen=True, slots=True)
class Opened:
    """An engine that holds the robot.

    Attributes:
        name: of the engine.
        version: that is installed.
        session: built from the tree, so that the engine's own reading of a file is no part of the lesson.
    """

    name: str
    version: str
    session: Session


@dataclass(frozen=True, slots=True)
class Asked:
    """The robot of a topic.

    Attributes:
        tree: of the robot.
        given: what was handed over.
        seed: of the states.
        absent: sentences about engines that could not be asked; topics add to it.
    """

    tree: Tree
    given: Given
    seed: int = 0
    absent: list[str] = field(default_factory=list[str])

    @property
    def model(self) -> str:
        """Name, base and size in a line."""
        tree = self.tree
        base = "floating base" if tree.base == "free" else "fixed base"
        return f"{tree.name}: {base}, {len(tree.bodies) - 1} bodies, {tree.nv} dofs"

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
        """Return the engines that can answer for the robot; the others go to `absent`, a sentence each.

        Args:
            names: of engines.
            quantities: that a session must not lack, as `Session.lacks` names them.
        """
        found: list[Opened] = []
        for name in names:
            with self.trying(name):
                session = adapter(name).neutral(self.tree)
                if lacking := [quantity for quantity in quantities if quantity in session.lacks]:
                    self.absent.append(f"{name} cannot be asked on this model: {session.lacks[lacking[0]]}")
                    continue
                found.append(Opened(name, version(card_of(name)) or "", session))
        return found

    def beside(self, names: Sequence[str], part: str) -> Iterator[tuple[str, Any]]:
        """Yield the engines that are installed, each with the module `part` beside its adapter, `mujoco_apis`."""
        for name in names:
            module: Any = None
            with self.trying(name):
                adapter(name)
                module = import_module(f"...{card_of(name).module}{part}", __package__)
            if module is not None:
                yield name, module

    @contextmanager
    def trying(self, name: str) -> Generator[None]:
        """Ask an engine; what it raises becomes a sentence of `absent`, and the topic goes on without it."""
        try:
            yield
        except EngineAbsent:
            self.absent.append(f"{name} is not installed; install it with: {card_of(name).install}")
        except HarnessError as error:
            self.absent.append(f"{name} cannot be asked on this model: {error}")
        except Exception as error:  # noqa: BLE001  an engine may raise anything
            self.absent.append(f"{name} failed on this model: {told(error)}")
