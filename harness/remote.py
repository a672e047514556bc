"""An engine in a process of its own, asked as if it were here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import HarnessError
from .workers import EngineDied, RemoteError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .engine import Given
    from .findings import Finding
    from .tree import Floats, Tree
    from .workers import Worker


def present_folder() -> str:
    """Return the folder that relative paths start from, now: a process that lives on was started in another one."""
    try:
        return str(Path.cwd())
    except OSError:  # it was removed
        return ""


class RemoteEngine:
    """An engine as the harness asks it, in a process of its own."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self._sessions = 0

    def native(self, given: Given, tree: Tree) -> RemoteSession:
        """Open a file; see `harness.engine.Engine`."""
        return self._open(given=given, tree=tree)

    def neutral(self, tree: Tree) -> RemoteSession:
        """Build a model; see `harness.engine.Engine`."""
        return self._open(tree=tree)

    def beside(self, part: str, function: str, *arguments: Any) -> Any:
        """Return what a function of a module beside the adapter answers; see `harness.registry.beside`."""
        asked = {"do": "beside", "part": part, "function": function, "arguments": list(arguments)}
        return self.worker.ask(asked)["answer"]

    def _open(self, **model: Any) -> RemoteSession:
        self._sessions += 1
        opening = {**model, "do": "open", "session": self._sessions, "folder": present_folder()}
        reply = self.worker.ask(opening)
        kind = BookedSession if reply["booked"] else RemoteSession
        return kind(self.worker, opening, reply["told"])


class RemoteSession:
    """A model that is open in another process; answers as `harness.engine.Session` says.

    Attributes:
        died: how the process ended while it was asked, or None.
    """

    dofs: tuple[str, ...]
    extra_dofs: tuple[str, ...]
    bodies: tuple[str, ...]
    total_mass: float
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    lacks: Mapping[str, str]

    def __init__(self, worker: Worker, opening: Mapping[str, Any], told: Mapping[str, Any]) -> None:
        self._worker, self._opening, self._start = worker, opening, worker.starts
        self.died: EngineDied | None = None
        for name, value in told.items():
            setattr(self, name, value)

    def inverse_dynamics(
        self, q: Floats, v: Floats, a: Floats, wrenches: Floats | None = None, gravity: Floats | None = None
    ) -> Floats:
        """See `harness.engine.Session`."""
        return self._call("inverse_dynamics", q=q, v=v, a=a, wrenches=wrenches, gravity=gravity)

    def bias(self, q: Floats, v: Floats, gravity: Floats | None = None) -> Floats:
        """See `harness.engine.Session`."""
        return self._call("bias", q=q, v=v, gravity=gravity)

    def gravity_forces(self, q: Floats) -> Floats:
        """See `harness.engine.Session`."""
        return self._call("gravity_forces", q=q)

    def mass_matrix(self, q: Floats) -> Floats:
        """See `harness.engine.Session`."""
        return self._call("mass_matrix", q=q)

    def forward_dynamics(self, q: Floats, v: Floats, tau: Floats, wrenches: Floats | None = None) -> Floats:
        """See `harness.engine.Session`."""
        return self._call("forward_dynamics", q=q, v=v, tau=tau, wrenches=wrenches)

    def poses(self, q: Floats) -> Floats:
        """See `harness.engine.Session`."""
        return self._call("poses", q=q)

    def velocities(self, q: Floats, v: Floats) -> Floats:
        """See `harness.engine.Session`."""
        return self._call("velocities", q=q, v=v)

    def kinetic_energy(self, q: Floats, v: Floats) -> Floats:
        """See `harness.engine.Session`."""
        return self._call("kinetic_energy", q=q, v=v)

    def potential_energy(self, q: Floats) -> Floats:
        """See `harness.engine.Session`."""
        return self._call("potential_energy", q=q)

    def center_of_mass(self, q: Floats) -> Floats:
        """See `harness.engine.Session`."""
        return self._call("center_of_mass", q=q)

    def momentum(self, q: Floats, v: Floats) -> Floats:
        """See `harness.engine.Session`."""
        return self._call("momentum", q=q, v=v)

    def generalized_forces(self, q: Floats, wrenches: Floats) -> Floats:
        """See `harness.engine.Session`."""
        return self._call("generalized_forces", q=q, wrenches=wrenches)

    def describe(self) -> Tree:
        """See `harness.engine.Session`."""
        return self._call("describe")

    def seconds(self, method: str, **arguments: Floats) -> float:
        """Return the least processor time of an answer in its process, without the way there and back [s]."""
        if self.died is not None:
            raise self.died
        request = {"do": "time", "session": self._opening["session"], "method": method, "arguments": arguments}
        try:
            return float(self._worker.ask(request)["seconds"])
        except EngineDied as death:
            self.died = EngineDied(f"{method}: {death}", death.status)
            raise self.died from None

    def _call(self, method: str, **arguments: Floats | None) -> Any:
        if self.died is not None:
            raise self.died
        request = {"do": "call", "session": self._opening["session"], "method": method, "arguments": arguments}
        try:
            reply = self._worker.ask(request)
        except EngineDied as death:
            self.died = EngineDied(f"{method}: {death}{self._state(method, arguments, death)}", death.status)
            raise self.died from None
        for name, array in reply["changed"].items():
            given = arguments[name]
            if given is not None and given.shape == array.shape:
                given[...] = array  # as the engine did, for whoever looks for it
        return reply["answer"]

    def _state(self, method: str, arguments: Mapping[str, Floats | None], death: EngineDied) -> str:
        """Return at which state the process ends, found by halving in new processes; nothing when it cannot be told."""
        q = arguments.get("q")
        count = 0 if q is None else len(q)
        if death.status != "crashed" or not count:
            return ""
        low, high = 0, count
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._ends(method, arguments, low, middle) else (middle, high)
        return f" (at state {low})" if self._ends(method, arguments, low, high) else ""

    def _ends(self, method: str, arguments: Mapping[str, Floats | None], low: int, high: int) -> bool:
        """Return whether a new process ends at these states."""
        few = {name: x[low:high] if name != "gravity" and x is not None else x for name, x in arguments.items()}
        request = {"do": "call", "session": self._opening["session"], "method": method, "arguments": few}
        try:
            if self._worker.starts != self._start or not self._worker.running:
                self._start = self._worker.starts + (not self._worker.running)
                self._worker.ask(self._opening)
            self._worker.ask(request)
        except EngineDied:
            return True
        except (HarnessError, RemoteError):
            return False
        return False


class BookedSession(RemoteSession):
    """A session that tells its calls apart; see `harness.diagnosis.ledger.Booked`."""

    def ledger(self, q: Floats, v: Floats, a: Floats) -> Mapping[str, Mapping[str, Floats]]:
        """Return, per call, the efforts that it holds beyond the canonical ones, by finding kind."""
        return self._call("ledger", q=q, v=v, a=a)
