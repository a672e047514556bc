"""Sessions that cannot answer everything: a call that is not there says why."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from .errors import EngineUnsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Concatenate

# Where the quantity of a call has another name than the call.
QUANTITY_OF: Final[Mapping[str, str]] = {
    "inverse_dynamics": "tau",
    "gravity_forces": "gravity",
    "forward_dynamics": "acceleration",
}

P = ParamSpec("P")
R = TypeVar("R")
L = TypeVar("L", bound="Lacking")


def unless_lacking(call: Callable[Concatenate[L, P], R]) -> Callable[Concatenate[L, P], R]:
    """Return a call that raises `EngineUnsupported` with the reason where the session at hand lacks it."""
    quantity = QUANTITY_OF.get(call.__name__, call.__name__)

    @wraps(call)
    def asked(self: L, *args: P.args, **kwargs: P.kwargs) -> R:
        if quantity in self.lacks:
            raise EngineUnsupported(self.lacks[quantity])
        return call(self, *args, **kwargs)

    return asked


class Lacking:
    """A session that leaves out what its engine has not; `lacks` holds the reasons, by quantity or identity."""

    lacks: Mapping[str, str]

    def __getattr__(self, name: str) -> Any:
        """Return a call that raises `EngineUnsupported` with the reason."""
        reason = None if name.startswith("_") or name == "lacks" else self.lacks.get(QUANTITY_OF.get(name, name))
        if reason is None:
            raise AttributeError(f"{type(self).__name__} has no {name!r}, and `lacks` does not say why")

        def unsupported(*_: Any, **__: Any) -> Any:
            raise EngineUnsupported(reason)

        return unsupported
