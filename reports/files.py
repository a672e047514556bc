"""Results as files: JSON and CSV, whole or not at all."""

from __future__ import annotations

import errno
import json
import secrets
import shutil
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    import pandas as pd


@contextmanager
def replacing(path: Path) -> Generator[Path]:
    """Give a path to write to; when the block ends well, what was written there takes the place of `path`.

    The other path lies beside the target, so that the last step is a rename: a reader sees the old file or the new one.
    A device or a pipe cannot be replaced, and is written to as it is.

    Raises:
        OSError: `path` is a directory, or nothing can be written beside it; the error names `path`.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        yield path
        return
    target = path.resolve()  # a link stays a link
    beside = target.parent / f".tautology-{secrets.token_hex(6)}"
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a directory")
        beside.open("x").close()
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error
    try:
        yield beside
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


class Saved(Protocol):
    """A result of any command, as far as it is written to files."""

    def dumps(self) -> str:
        """Return the JSON document."""
        ...

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the tables by name."""
        ...


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where a result is to go.

    Attributes:
        json: file of the JSON document.
        csv: folder of one CSV file per frame: models, lint, quantities, identities, findings, losses. Lists, such as
            dofs or the numbers of a finding, stand as JSON in their cell.
        states: file of the frozen states.
    """

    json: Path | None = None
    csv: Path | None = None
    states: Path | None = None

    def require(self) -> None:
        """Try whether everything can be written, and leave no trace.

        Raises:
            OSError: something cannot; the error names it.
        """
        for path in (self.json, self.states):
            if path:
                _try(path, path)
        if self.csv:
            there = next(folder for folder in (self.csv, *self.csv.absolute().parents) if folder.exists())
            _try(there / f"{secrets.token_hex(6)}.csv", self.csv)

    def write(self, result: Saved) -> None:
        """Write document and tables; of the tables all or none.

        Raises:
            OSError: a file cannot be written.
        """
        if self.json:
            with replacing(self.json) as beside:
                beside.write_text(result.dumps(), encoding="utf-8")
        if self.csv:
            self.csv.mkdir(parents=True, exist_ok=True)
            with ExitStack() as stack:
                for name, frame in result.frames().items():
                    beside = stack.enter_context(replacing(self.csv / f"{name}.csv"))
                    frame.map(_cell).to_csv(beside, index=False, encoding="utf-8", lineterminator="\n")


class _Tried(Exception):
    """Ends a trial before anything is replaced."""


def _try(path: Path, named: Path) -> None:
    """Try whether `path` can be written; the OSError of a failure names `named`."""
    try:
        with suppress(_Tried), replacing(path):
            raise _Tried
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(named)) from error


def _cell(item: Any) -> Any:
    if hasattr(item, "tolist"):
        item = item.tolist()
    return json.dumps(item, ensure_ascii=False) if isinstance(item, (list, tuple, dict)) else item
