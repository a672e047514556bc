"""What an adapter made of all specimens: a line for each, what is wrong, what it cannot, whether its card says so."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from rich.padding import Padding
from rich.text import Text

from .text import counted, listed, sentence, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, RenderableType

    from ..harness.selftest import Fault, SelfTest, Trial

STYLES: Final = {
    "right": "green",
    "cannot": "yellow",
    "wrong": "bold red",
    "crashed": "bold red",
    "timeout": "bold red",
}
VERDICTS: Final = ("KEEPS", "BREAKS", "", "CRASHES")  # by exit code; 2 is an error that came before
WIDTH: Final = 34  # characters of the longest concern
MOST: Final = 4  # faults of one specimen that are shown


def selftest_report(result: SelfTest, console: Console, *, quiet: bool = False, verbose: bool = False) -> None:
    """Print the verdict, then every specimen, what is wrong, and the limits; the verdict alone, on one line."""
    console.print(verdict_line(result), soft_wrap=quiet)
    if quiet:
        return
    console.print()
    console.print(Text(f"{'specimen':<{WIDTH}} {'status':<8}{'worst':>8}  of", "bold"))
    for trial in result.trials:
        console.print(_row(trial), soft_wrap=True)
    console.print()
    console.print(
        Text("worst: the largest error of all answers in tolerances, up to 1 is right; of: what it is of", "dim")
    )
    for line in (*_wrong(result, verbose), *_cannot(result), *_card(result)):
        console.print(line)


def verdict_line(result: SelfTest) -> Text:
    """Return the verdict in a sentence."""
    style = "bold green" if result.exit == 0 else "bold red"
    line = Text().append(VERDICTS[result.exit], style).append(f"  {shown(result.engine)} {shown(result.version)}")
    parts = [
        f"{status} in {_in(result, status)}"
        for status in ("crashed", "timeout", "wrong", "right")
        if any(trial.status == status for trial in result.trials)
    ]
    if cannot := [trial for trial in result.trials if trial.status == "cannot"]:
        parts.append(f"cannot hold {len(cannot)}")
    if result.judged and (result.undeclared or result.untrue):
        parts.append("its card does not tell the truth")
    return line.append(f": {', '.join(parts)}; seed {result.seed}.")


def _in(result: SelfTest, status: str) -> str:
    """Return how many specimens end so, and which ones when they are few."""
    concerns = [trial.concern for trial in result.trials if trial.status == status]
    if len(concerns) == len(result.trials):
        return f"all {len(concerns)} specimens"
    count = f"{len(concerns)} of {counted(len(result.trials), 'specimen')}"
    return count if status == "right" else f"{count} ({listed(concerns, 3)})"


def _row(trial: Trial) -> Text:
    line = Text(f"{trial.concern:<{WIDTH}} ").append(f"{trial.status:<8}", STYLES[trial.status])
    return line.append(f"{_size(trial.worst):>8}  {shown(trial.at)}") if trial.held else line


def _size(tolerances: float) -> str:
    return f"{tolerances:.2g}" if math.isfinite(tolerances) else "-"


def _wrong(result: SelfTest, verbose: bool) -> Iterator[RenderableType]:
    """Give what is wrong in several specimens alike, then specimen by specimen."""
    places: dict[Fault, list[str]] = {}
    for trial in result.trials:
        for fault in trial.faults:
            places.setdefault(fault, []).append(trial.concern)
    several = {fault: concerns for fault, concerns in places.items() if len(concerns) > 1}
    if several:
        yield Text("\n").append("in several specimens", "bold").append(": wrong")
    for fault, concerns in several.items():
        yield _line(f"{_fault(fault)} (in {listed(concerns, 3)})", 2)
    for trial in result.trials:
        own = [fault for fault in trial.faults if fault not in several]
        if not own and trial.status not in ("crashed", "timeout"):
            continue
        yield Text("\n").append(trial.concern, "bold").append(f": {trial.status}")
        if trial.words:
            yield _line(sentence(trial.words), 2)
        count = len(own) if verbose else MOST
        for fault in own[:count]:
            yield _line(_fault(fault), 2)
        if len(own) > count:
            yield _line(f"and {len(own) - count} more; --verbose shows them", 2)


def _fault(fault: Fault) -> str:
    size = f" {fault.size:.2g} tolerances" if math.isfinite(fault.size) and fault.size else ""
    return f"{shown(fault.what)}:{size}{' ' if fault.words else ''}{sentence(fault.words)}"


def _cannot(result: SelfTest) -> Iterator[RenderableType]:
    """Give what the engine cannot do, in words that its card can have."""
    if result.limits:
        yield Text("\n").append("cannot", "bold")
    for line in result.lines():
        yield _line(sentence(line), 2)


def _card(result: SelfTest) -> Iterator[RenderableType]:
    """Give what the card leaves out, and what it declares in vain."""
    if not (result.undeclared or result.untrue):
        return
    yield Text("\n").append("its card" if result.judged else "its card, which is not held to this run", "bold")
    for limit in result.undeclared:
        yield _line(f"does not declare {shown(limit)!r}: add it to `limits`", 2)
    for limit in result.untrue:
        yield _line(f"declares {shown(limit)!r}, which it can: take it out of `limits`", 2)


def _line(text: str, indent: int) -> RenderableType:
    return Padding(Text(text), (0, 0, 0, indent))
