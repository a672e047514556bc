"""What is asked of every model, and what may not be asked."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Final

from .errors import RequestError
from .states import States
from .workers import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .known import Known

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
        identities: whether the identities inside each engine are checked, which takes most of the time.
        arrays: whether the result keeps errors and efforts of every state, for reports that draw them.
        answers: whether the result keeps what every engine answered, for a baseline.
        reasons: whether it is looked for why answers depart, which can take longer than all answers.
        known: differences that do not count.
        in_process: whether engines are asked in this process, where one that crashes ends all; else each has its own.
        timeout: [s] for one call of an engine, or for loading one model.
        memory: [MB] that the process of an engine may take; 0 for no limit.
    """

    engines: Sequence[str | Callable[..., Any]] | Callable[..., Any] | str | None = None
    path: str = "both"
    base: str = "auto"
    states: int | States = 64
    seed: int = 0
    tolerance: float = 1e-9
    progress: Callable[[str, float], None] | None = None
    identities: bool = True
    arrays: bool = False
    answers: bool = False
    reasons: bool = True
    known: tuple[Known, ...] = ()
    in_process: bool = True
    timeout: float = 120.0
    memory: int = 8192

    def __post_init__(self) -> None:
        asked: tuple[tuple[str, object, tuple[type, ...], str], ...] = (
            ("states", self.states, (Integral, States), "a number of states, or States"),
            ("seed", self.seed, (Integral,), "a whole number"),
            ("tolerance", self.tolerance, (Real,), "a number"),
            ("timeout", self.timeout, (Real,), "seconds"),
            ("memory", self.memory, (Integral,), "megabytes"),
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
        if not 0 < self.timeout < inf:
            raise RequestError(f"timeout {self.timeout} is not a number of seconds above 0")
        if self.memory < 0:
            raise RequestError(f"memory {self.memory} is below 0; 0 stands for no limit")

    @property
    def limits(self) -> Limits | None:
        """What the process of an engine may take; None when engines are asked in this process."""
        return None if self.in_process else Limits(float(self.timeout), int(self.memory))
