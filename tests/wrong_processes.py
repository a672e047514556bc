"""Engines that are wrong on purpose in ways that only a process of their own survives; found by their entry points."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tautology.adapters.reference import Reference
from tautology.harness.engine import EngineCard

AT = 5  # the state at which `notanumber` answers none
MARK = 0.123456789  # the first coordinate of the state at which `segfault` ends


def segfault(q, answer):
    """End by SIGSEGV at one state, with a word before."""
    os.write(1, b"about to touch a null pointer\n")
    if np.isclose(q[:, 0], MARK, rtol=0, atol=1e-12).any():
        os.kill(os.getpid(), signal.SIGSEGV)
    return answer


def killed(_q, _answer):
    """End by SIGKILL, as the system ends who takes too much."""
    os.kill(os.getpid(), signal.SIGKILL)


def endless(_q, _answer):
    """Never answer."""
    while True:
        pass


def hungry(_q, _answer):
    """Ask for 30 GB."""
    return np.ones(30 << 30, np.uint8)


def flood(q, answer):
    """Print 100 MB on both streams, past Python's own, once per question at the first state of a run."""
    if not q[0].any():
        for _ in range(50):
            os.write(1, b"x" * (1 << 20))
            os.write(2, b"y" * (1 << 20))
    return answer


def leaves(_q, _answer):
    """Leave the process with a code of its own."""
    os.write(2, b"fatal: bad joint\n")
    os._exit(7)


def exits(_q, _answer):
    """Raise SystemExit, as some engines do."""
    sys.exit("precondition failed")


def writes(q, answer):
    """Write into what was given."""
    q[:] = 0
    return answer


def notanumber(_q, answer):
    """Answer NaN at one state."""
    answer[min(AT, len(answer) - 1)] = np.nan
    return answer


def short(_q, answer):
    """Answer an array of another shape."""
    return answer[:, :-1]


def nothing(_q, _answer):
    """Answer nothing."""


def thing(_q, _answer):
    """Answer what cannot be sent."""
    return object()


def slow(_q, answer):
    """Write a temporary file, say who works, and take a minute."""
    Path(tempfile.mkdtemp(), "robot.urdf").touch()
    Path(os.environ["SLOW_PID"]).write_text(str(os.getpid()))
    time.sleep(60)
    return answer


def aborts(*_):
    """End while loading."""
    os.kill(os.getpid(), signal.SIGABRT)


ANSWERING = (segfault, killed, endless, hungry, flood, leaves, exits, writes, notanumber, short, nothing, thing, slow)


class Session(Reference):
    """The reference, whose inverse dynamics is spoiled."""

    spoil = None

    def inverse_dynamics(self, q, v, a, wrenches=None, gravity=None, **more):
        """Answer, then spoil."""
        return self.spoil(q, super().inverse_dynamics(q, v, a, wrenches, gravity, **more))


class Engine:
    """An engine that opens the tree on both paths."""

    def __init__(self, spoil):
        self.spoil = spoil

    def native(self, _given, tree):
        """Open the tree in place of the file."""
        return self.neutral(tree)

    def neutral(self, tree):
        """Open the tree."""
        session = Session(tree)
        session.spoil = self.spoil
        return aborts() if self.spoil is aborts else session


ENGINES = {spoil.__name__: Engine(spoil) for spoil in (*ANSWERING, aborts)}


def card(name):
    """Return the card of one of them."""
    return EngineCard(name, f"wrong_{name}", "tautology", "", "MIT", ("urdf",), "", ())


def install(folder: Path) -> None:
    """Write the modules and entry points of all of them into a folder, for a search path."""
    here = Path(__file__).parent
    lines = ["[tautology.engines]"]
    for name in ENGINES:
        text = f"import sys; sys.path.insert(0, {str(here)!r})\nimport wrong_processes as w\n"
        (folder / f"wrong_{name}.py").write_text(f"{text}ENGINE = w.ENGINES[{name!r}]\nCARD = w.card({name!r})\n")
        lines.append(f"{name} = wrong_{name}:CARD")
    info = folder / "wrong_engines-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: wrong-engines\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


def known(tmp_path_factory, monkeypatch):
    """Make the wrong engines known here and in the processes that are started."""
    folder = tmp_path_factory.mktemp("engines")
    install(folder)
    monkeypatch.syspath_prepend(folder)
    # The package itself is found from its folder; what the tests import is found by the search path.
    monkeypatch.setenv("PYTHONPATH", str(folder))
