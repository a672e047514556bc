"""A progress bar on stderr for a run that takes longer than a second, gone when the run ends."""

from __future__ import annotations

import sys
from threading import Lock, Timer
from typing import TYPE_CHECKING, Self

from .text import shortened

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress

PATIENCE = 1.0  # [s]
WIDTH = 40  # characters of what is being done


class Bar:
    """Called with what is being done and the share of the present model that is done; a new model begins at share 0.

    Args:
        models: how many there are.
    """

    def __init__(self, models: int) -> None:
        self._models, self._begun, self._lock = models, 0, Lock()
        self._what, self._share = "", 0.0
        self._progress: Progress | None = None
        self._timer = Timer(PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._models = 0  # a timer that has just fired finds nothing to show
            if self._progress:
                self._progress.stop()

    def __call__(self, what: str, share: float) -> None:
        """Take note of how far the run is."""
        with self._lock:
            self._begun += share == 0
            self._what, self._share = shortened(what, WIDTH), (max(self._begun - 1, 0) + share) / max(self._models, 1)
            self._update()

    def _show(self) -> None:
        # Imported late: most runs are over before a bar is due.
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        columns = (BarColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        with self._lock:
            if self._models:
                self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
                self._progress.add_task(self._what, total=1.0)
                self._progress.start()
                self._update()

    def _update(self) -> None:
        if self._progress:
            task = self._progress.task_ids[0]
            self._progress.update(task, completed=self._share, description=self._what)
