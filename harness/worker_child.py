"""The start of an engine's process: limits, then the package from its folder, then `worker_server`.

Run by path with the interpreter that has the engine, which knows nothing of this package.

Usage: python worker_child.py READ WRITE ENGINE MEGABYTES
"""

from __future__ import annotations

import os
import sys

if sys.path[:1] == [os.path.dirname(os.path.abspath(__file__))]:  # noqa: PTH100, PTH120  nothing else is imported yet
    del sys.path[0]  # an engine that imports `load`, say, means another one than that in this folder

import ctypes
import importlib
import importlib.util
import resource
import signal
from pathlib import Path

PACKAGE = "tautology"
PR_SET_PDEATHSIG = 1  # of prctl(2)


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


def end_with_parent() -> None:
    """Let the system end this process when the one that started it is gone, even in the middle of an endless loop."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    end_with_parent()
    limit(int(sys.argv[4]))
    adopt()
    importlib.import_module(f"{PACKAGE}.harness.worker_server").serve(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
