"""tautology: is a robot model the same robot in every physics engine?

The public names are loaded when they are first used, so that `import tautology` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .harness.callables import CallableEngine
    from .harness.diff import diff
    from .harness.diff_result import DiffResult
    from .harness.errors import HarnessError
    from .harness.load import load
    from .harness.registry import engines
    from .harness.results import Result
    from .harness.run import check
    from .harness.states import States, sample
    from .harness.tree import Tree

__all__ = [
    "CallableEngine",
    "DiffResult",
    "HarnessError",
    "Result",
    "States",
    "Tree",
    "check",
    "diff",
    "engines",
    "load",
    "sample",
]

_HOMES = {
    "CallableEngine": ".harness.callables",
    "DiffResult": ".harness.diff_result",
    "HarnessError": ".harness.errors",
    "Result": ".harness.results",
    "States": ".harness.states",
    "Tree": ".harness.tree",
    "check": ".harness.run",
    "diff": ".harness.diff",
    "engines": ".harness.registry",
    "load": ".harness.load",
    "sample": ".harness.states",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its module (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    """Tell of the public names before they are loaded."""
    return sorted({*globals(), *__all__})
