"""A sweep: how far it is, what came of it in two tables, and its page."""

from __future__ import annotations

import json
import sys
from collections import Counter as Tally
from typing import TYPE_CHECKING, Any, Self

from ..harness.saved import Saved
from .files import made, replacing
from .revived import check_result
from .verdict import standing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

STATUSES = ("agree", "differs", "refused", "unsupported", "crashed", "timeout", "absent")
MOST_KINDS = 20


class Counter:
    """How many models are finished, and how long the rest will take, on stderr while it is a terminal.

    Args:
        models: how many there are.
        done: of them, before.
        shown: whether anybody wants to see it.
    """

    def __init__(self, models: int, done: int, *, shown: bool) -> None:
        self._models, self._done, self._shown = models, done, shown and sys.stderr.isatty()
        self._progress: Progress | None = None
        self._worst = Tally[str]()

    def __enter__(self) -> Self:
        if self._shown:
            from rich.console import Console  # noqa: PLC0415
            from rich.progress import (  # noqa: PLC0415  # noqa: PLC0415
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )

            words = TextColumn("{task.description}", markup=False)
            columns = (
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
            )
            self._progress = Progress(*columns, words, console=Console(stderr=True), transient=True)
            self._progress.add_task("", total=self._models, completed=self._done)
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress:
            self._progress.stop()

    def __call__(self, line: Mapping[str, Any]) -> None:
        """Take note of a finished model."""
        if self._progress:
            words = {0: "agree", 1: "differ", 2: "cannot be used", 3: "crashed"}
            self._worst[words[line["exit"]]] += 1
            said = ", ".join(f"{count} {word}" for word, count in self._worst.most_common())
            self._progress.update(self._progress.task_ids[0], advance=1, description=said)


def index_page(document: Mapping[str, Any], folder: Path) -> Path:
    """Write the document of all models and the page that shows it.

    Args:
        document: of `check`, for all models.
        folder: of the sweep.

    Raises:
        OSError: they cannot be written.
    """
    with replacing(folder / "index.json") as beside:
        beside.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    with replacing(folder / "index.html") as beside:
        beside.write_text(made("html", Saved(document, None)), encoding="utf-8", newline="\n")
    return folder / "index.html"


def sweep_line(document: Mapping[str, Any], page: Path, console: Console) -> None:
    """Print how many models stand how."""
    counts = _standings(document)
    said = ", ".join(f"{count} {word}" for word, count in counts.most_common())
    console.print(f"{sum(counts.values())} models: {said}; {page}", soft_wrap=True)


def sweep_report(document: Mapping[str, Any], page: Path, console: Console) -> None:
    """Print engines by verdict, findings by kind, and what could not be used."""
    tallies: dict[tuple[str, str], Tally[str]] = {}
    kinds: dict[tuple[str, str], set[str]] = {}
    for model in document["models"]:
        for engine in model["engines"]:
            name = f"{engine['engine']} {engine['version']}".strip()
            tallies.setdefault((name, engine["path"]), Tally())[engine["status"]] += 1
            for finding in engine["findings"]:
                if finding["severity"] != "convention":
                    kinds.setdefault((finding["kind"], name), set()).add(model["file"] or model["name"])
    console.print(_by_verdict(tallies))
    if kinds:
        console.print(_by_kind(kinds))
    if document["unusable"]:
        console.print("\nCannot be used")
        for row in document["unusable"]:
            console.print(f"  {row['message']}", soft_wrap=True)
    console.print()
    sweep_line(document, page, console)


def _by_verdict(tallies: Mapping[tuple[str, str], Tally[str]]) -> Table:
    """Return how many models each engine judged how, on each path."""
    table = _table("Models by verdict", "engine", "path")
    shown = [status for status in STATUSES if any(tally[status] for tally in tallies.values())]
    for status in shown:
        table.add_column(status, justify="right")
    for (engine, path), tally in tallies.items():
        table.add_row(engine, path, *(str(tally[status] or "-") for status in shown))
    return table


def _by_kind(kinds: Mapping[tuple[str, str], set[str]]) -> Table:
    """Return in how many models each engine showed which kind of finding."""
    table = _table("\nFindings by kind", "kind", "engine")
    table.add_column("models", justify="right")
    table.add_column("such as", overflow="ellipsis", no_wrap=True, max_width=30)
    most = sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
    for (kind, engine), files in most[:MOST_KINDS]:
        table.add_row(kind, engine, str(len(files)), min(files).rpartition("/")[2])
    if len(most) > MOST_KINDS:
        table.caption = f"and {len(most) - MOST_KINDS} more, in the page"
    return table


def _table(title: str, *columns: str) -> Table:
    from rich.table import Table  # noqa: PLC0415

    return Table(*columns, title=title, title_justify="left", caption_justify="left", box=None, pad_edge=False)


def _standings(document: Mapping[str, Any]) -> Tally[str]:
    result = check_result(document)
    counts = Tally(standing(model) for model in result.models)
    if result.unusable:
        counts["unusable"] = len(result.unusable)
    return counts
