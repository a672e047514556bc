"""The process of one engine: it opens models and answers calls until the other side goes away.

Of third-party packages it needs numpy and the engine alone. Frames come and go on two private descriptors, so that what
an engine prints meets nobody.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from .errors import HarnessError
from .registry import adapter, beside, card_of, version
from .wire import Closed, receive, send

if TYPE_CHECKING:
    from collections.abc import Mapping

# What a session tells once, when it is opened.
TOLD: Final = ("dofs", "extra_dofs", "bodies", "total_mass", "findings", "notes", "lacks")


def serve(reading: int, writing: int, engine: str) -> NoReturn:
    """Answer frames until there are none.

    Args:
        reading: descriptor of the requests.
        writing: descriptor of the replies.
        engine: its name.
    """
    server = Server(engine)
    while True:
        try:
            request = receive(reading)
        except Closed:
            break
        try:
            reply = server.answer(request)
        except (Exception, SystemExit) as error:  # noqa: BLE001  engines raise anything, and some leave the process
            reply = failure(error)
        try:
            send(writing, reply)
        except Closed:
            break
        except (TypeError, ValueError) as error:  # it answered what is no array
            send(writing, failure(error))
    sys.stdout.flush()
    os._exit(0)  # an engine that fails while it is torn down has answered all the same


class Server:
    """Sessions of one engine."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.sessions: dict[int, Any] = {}

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the reply to one request."""
        return getattr(self, f"do_{request['do']}")(request)

    def do_start(self, _: Mapping[str, Any]) -> dict[str, Any]:
        """Import the adapter and its engine."""
        self.adapter = adapter(self.engine)
        return {"version": version(card_of(self.engine))}

    def do_read(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Read a model file whose reader is an engine."""
        from .load import open_model  # noqa: PLC0415

        enter(request["folder"])
        return {"tree": open_model(request["file"], "auto").tree}

    def do_open(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Open a model on one path."""
        given, tree = request.get("given"), request["tree"]
        enter(request["folder"])
        session = self.adapter.neutral(tree) if given is None else self.adapter.native(given, tree)
        self.sessions[request["session"]] = session
        return {"told": {name: getattr(session, name) for name in TOLD}, "booked": hasattr(session, "ledger")}

    def do_call(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Ask a session; arguments that it wrote into go back with the answer."""
        arguments = {name: np.array(x) if isinstance(x, np.ndarray) else x for name, x in request["arguments"].items()}
        answer = getattr(self.sessions[request["session"]], request["method"])(**arguments)
        given = request["arguments"]
        changed = {
            name: x
            for name, x in arguments.items()
            if isinstance(x, np.ndarray) and (x.shape != given[name].shape or x.tobytes() != given[name].tobytes())
        }
        return {"answer": answer, "changed": changed}

    def do_time(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Time what a session is asked, without the way to and from this process."""
        from .stopwatch import least_seconds  # noqa: PLC0415

        ask, arguments = getattr(self.sessions[request["session"]], request["method"]), request["arguments"]
        return {"seconds": least_seconds(lambda: ask(**arguments))}

    def do_beside(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Ask a function of a module beside the adapter."""
        function = getattr(beside(self.engine, request["part"]), request["function"])
        return {"answer": function(*request["arguments"])}

    def do_close(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Forget a session."""
        self.sessions.pop(request["session"], None)
        return {}


def enter(folder: str) -> None:
    """Go to the folder that the paths of a request start from."""
    if folder:
        os.chdir(folder)


def failure(error: BaseException) -> dict[str, Any]:
    """Return an error as plain values; those of this package by their own fields."""
    named = {key: getattr(error, key) for key in ("kind", "where", "source") if hasattr(error, key)}
    own = isinstance(error, HarnessError)
    return {"error": type(error).__name__, "own": own, "message": str(error), "fields": named if own else {}}
