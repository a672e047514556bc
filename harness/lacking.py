"""Sessions that cannot answer everything: a call that is not there says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .errors import EngineUnsupported

if TYPE_CHECKING:
    from collections.abc import Mapping

# Where the quantity of a call has another name than the call.
QUANTITY_OF: Final[Mapping[str, str]] = {
    "inverse_dynamics": "tau",
    "gravity_forces": "gravity",
    "forward_dynamics": "acceleration",
}


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
