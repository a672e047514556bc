"""The start of an engine's process: limits, then the package from its folder, then `worker_server`.

Run by path with the interpreter that has the engine, which knows nothing of this package.

Usage: python worker_child.py READ WRITE LIFE ENGINE MEGABYTES
"""

from __future__ import annotations

import os
import sys

if sys.path[:1] == [os.path.dirname(os.path.abspath(__file__))]:  # noqa: PTH100, PTH120  nothing else is imported yet
    del sys.path[0]  # an engine that imports `load`, say, means another one than that in this folder

import importlib
import importlib.util
import resource
import shutil
import signal
from pathlib import Path

PACKAGE = "tautology"


def adopt() -> None:
    """Make the package importable from its folder, whatever that is called and wherever this interpreter looks."""
    root = Path(__file__).resolve().parents[1]
    spec = importlib.util.spec_from_file_location(PACKAGE, root / "__init__.py", submodule_search_locations=[str(root)])
    assert spec is not None  # noqa: S101  the file is there: this one lies beside it
    assert spec.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)


def limit(megabytes: int) -> None:
    """Let this process take no more memory than that; 0 is no limit."""
    if megabytes:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_with_parent(life: int, *others: int) -> None:
    """Let a process beside this one end both when nobody holds the other end of `life` any more.

    That is so when the harness is gone, however it went; and an engine may be in an endless loop then. The folder of
    temporary files that the harness made for it goes, too.
    """
    if os.fork():
        os.close(life)
        return
    for descriptor in others:
        os.close(descriptor)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    os.read(life, 1)
    shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    reading, writing, life = (int(descriptor) for descriptor in sys.argv[1:4])
    end_with_parent(life, reading, writing)
    limit(int(sys.argv[5]))
    adopt()
    importlib.import_module(f"{PACKAGE}.harness.worker_server").serve(reading, writing, sys.argv[4])
