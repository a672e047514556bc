"""Engines in processes of their own: what crashes, hangs, floods or fills the memory becomes a result of that engine.

One protocol for every interpreter (`wire`, `worker_child`). A process is started once per engine and asked for every
model; one that died is started anew for the next.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from . import wire
from .errors import EngineAbsent, HarnessError

if TYPE_CHECKING:
    from collections.abc import Mapping

CHILD: Final = Path(__file__).with_name("worker_child.py")
KEPT: Final = 64 << 10  # [bytes] of what an engine printed
SHOWN: Final = 600  # [characters] of that in a message
ERRORS: Final = {cls.__name__: cls for cls in (HarnessError, *HarnessError.__subclasses__())}


class EngineDied(HarnessError):
    """The process of an engine ended, or did not answer in time.

    Attributes:
        status: "crashed" or "timeout".
    """

    def __init__(self, message: str, status: Literal["crashed", "timeout"]) -> None:
        super().__init__(message)
        self.status: Literal["crashed", "timeout"] = status


class RemoteError(Exception):
    """What an engine raised in its process; its class carries the name of that error."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What an engine may take.

    Attributes:
        seconds: for one call, or for loading one model.
        megabytes: of address space; 0 for no limit.
    """

    seconds: float = 120.0
    megabytes: int = 8192


class Worker:
    """The process of one engine.

    Args:
        engine: its name.
        python: the interpreter that has it.
        limits: what it may take.
        alive: called while an answer is waited for.
    """

    def __init__(self, engine: str, python: str = sys.executable, limits: Limits | None = None) -> None:
        self.engine, self.python, self.limits = engine, python, limits or Limits()
        self.output: deque[bytes] = deque()
        self.starts = 0
        self.given_up = False
        self._held = 0
        self._version = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._write = self._read = self._life = -1
        self._folder = ""
        self._drain: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether there is a process."""
        return self._process is not None

    @property
    def version(self) -> str:
        """The version of the engine, as its distribution says.

        Raises:
            EngineAbsent: the interpreter cannot start, or cannot import the engine; with its words.
        """
        if not self._version:
            try:
                self.ask({"do": "close", "session": 0})
            except EngineAbsent:
                raise
            except (HarnessError, RemoteError) as error:
                self.stop()
                raise EngineAbsent(f"{self.engine} does not start in {self.python}: {error}") from error
        return self._version

    def start(self) -> None:
        """Start the process, and let it import the engine while others work; nothing when it runs already."""
        if self._process is not None:
            return
        theirs_in, self._write = os.pipe()
        self._read, theirs_out = os.pipe()
        theirs_life, self._life = os.pipe()
        theirs = (theirs_in, theirs_out, theirs_life)
        command = [self.python, "-X", "utf8", str(CHILD), *map(str, theirs), self.engine, str(self.limits.megabytes)]
        # What is set for our interpreter, such as a search path, means something else to another one.
        ours = self.python == sys.executable
        environment = {k: v for k, v in os.environ.items() if ours or not k.startswith("PYTHON")}
        environment["MUJOCO_GL"] = "disable"  # nothing is drawn: the library of windows is not loaded
        # Engines compute side by side: threads of the linear algebra of one wait in loops for a core that another has.
        environment.setdefault("OPENBLAS_NUM_THREADS", "1")
        try:
            # A process that is killed leaves its temporary files behind: they are in one folder, which goes with it.
            environment["TMPDIR"] = self._folder = tempfile.mkdtemp(prefix="tautology-")
            self._process = subprocess.Popen(  # noqa: S603  our own file, by an interpreter that the user named
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=theirs,
                env=environment,
                start_new_session=True,  # Ctrl-C is for us: we end the engines
            )
        except OSError as error:
            self._close()
            raise EngineAbsent(f"{self.python} cannot be started: {error.strerror or error}") from error
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        self.starts += 1
        self.output.clear()
        self._held, self._version = 0, ""
        self._drain = threading.Thread(target=self._collect, args=(self._process.stdout,), daemon=True)
        self._drain.start()
        with contextlib.suppress(wire.Closed):
            wire.send(self._write, {"do": "start"})

    def ask(self, request: Mapping[str, Any]) -> Any:
        """Return the reply to one request.

        Raises:
            EngineDied: there was none.
            EngineAbsent: the interpreter cannot be started.
            HarnessError: of the kind that was raised in the process.
            RemoteError: whatever else was raised there.
        """
        if self.given_up:
            raise EngineDied("was interrupted", "crashed")
        self.start()
        deadline = time.monotonic() + self.limits.seconds
        try:
            if not self._version:
                self._version = taken(wire.receive(self._read, deadline))["version"] or "unknown"
            wire.send(self._write, request, deadline)
            reply = wire.receive(self._read, deadline)
        except wire.Closed:
            raise EngineDied(self._obituary(), "crashed") from None
        except wire.Late:
            self.stop()
            words = f"gave no answer within {self.limits.seconds:g} s{self._last_words()}"
            raise EngineDied(words, "timeout") from None
        except BaseException:
            self.stop()  # half a frame may be under way: the next answer would be of another question
            raise
        return taken(reply)

    def kill(self) -> None:
        """End the process for good, for whoever waits for its answer in another thread: nothing is started again."""
        self.given_up = True
        process = self._process
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            shutil.rmtree(self._folder, ignore_errors=True)  # nobody may come by to close it

    def stop(self) -> None:
        """End the process and whatever it started."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self._close()

    def _close(self) -> None:
        for descriptor in (self._read, self._write, self._life):
            os.close(descriptor)
        self._read = self._write = self._life = -1
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._drain is not None:
            self._drain.join(1.0)

    def _obituary(self) -> str:
        """Return how the process ended."""
        process, self._process = self._process, None
        assert process is not None  # noqa: S101  somebody has just asked it
        try:
            code = process.wait(2.0)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
        self._close()
        if code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
            return f"ended by {name}{self._last_words()}"
        return f"ended with exit code {code}{self._last_words()}"

    def _collect(self, stream: Any) -> None:
        """Keep the end of what the engine prints."""
        with stream:
            while chunk := os.read(stream.fileno(), 1 << 16):
                self.output.append(chunk)
                self._held += len(chunk)
                while self._held - len(self.output[0]) >= KEPT:
                    self._held -= len(self.output.popleft())

    @property
    def printed(self) -> str:
        """The end of what the engine has printed since it was started."""
        return b"".join(self.output).decode("utf-8", "backslashreplace")

    def _last_words(self) -> str:
        text = self.printed.strip()
        if not text:
            return ""
        return f"; it printed: {'... ' if len(text) > SHOWN else ''}{text[-SHOWN:]}"


def taken(reply: Mapping[str, Any]) -> Any:
    """Return a reply, or raise the error that it tells of."""
    if "error" not in reply:
        return reply
    name, message, fields = reply["error"], reply["message"], reply["fields"]
    if not reply["own"]:
        raise type(name, (RemoteError,), {})(message)
    cls = ERRORS.get(name, HarnessError)
    error: HarnessError = cls.__new__(cls)  # the words are made already
    Exception.__init__(error, message)
    for key, value in fields.items():
        setattr(error, key, value)
    raise error
