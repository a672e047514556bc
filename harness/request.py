"""What is asked of every model, and what may not be asked."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Final

from .errors import RequestError
from .states import States

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PATHS: Final = ("native", "neutral")


@dataclass(frozen=True)
class Request:
    """What is asked of every model.

    Attributes:
        engines: names and callables, or one of them; None for every installed engine. The reference always answers too.
        path: "native", "neutral" or "both".
        base: "auto", "fixed" or "free".
        states: how many to draw, or states drawn before.
        seed: of the draw.
        tolerance: relative; below it two robots are the same.
        progress: called with what is being done and the share that is done, or None.
        arrays: whether the result keeps errors and efforts of every state, for reports that draw them.
    """

    engines: Sequence[str | Callable[..., Any]] | Callable[..., Any] | str | None = None
    path: str = "both"
    base: str = "auto"
    states: int | States = 64
    seed: int = 0
    tolerance: float = 1e-9
    progress: Callable[[str, float], None] | None = None
    arrays: bool = False

    def __post_init__(self) -> None:
        asked: tuple[tuple[str, object, tuple[type, ...], str], ...] = (
            ("states", self.states, (Integral, States), "a number of states, or States"),
            ("seed", self.seed, (Integral,), "a whole number"),
            ("tolerance", self.tolerance, (Real,), "a number"),
        )
        for what, value, kinds, allowed in asked:
            if isinstance(value, bool) or not isinstance(value, kinds):
                raise RequestError(f"{what} is {value!r}; give {allowed}")
        for what, value, allowed in (
            ("path", self.path, (*PATHS, "both")),
            ("base", self.base, ("auto", "fixed", "free")),
        ):
            if value not in allowed:
                raise RequestError(f"{what} {value!r} is not one of {', '.join(allowed)}")
        if not 0 < self.tolerance < 1:
            raise RequestError(f"tolerance {self.tolerance} is not between 0 and 1")
