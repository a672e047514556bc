"""Results as files: JSON and CSV, whole or not at all."""

from __future__ import annotations

import errno
import json
import secrets
import shutil
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    import pandas as pd

    from ..harness.results import Result


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


def require_writable(path: Path) -> None:
    """Try whether `path` can be written, and leave no trace.

    Raises:
        OSError: it cannot; the error names `path`.
    """
    with suppress(_Tried), replacing(path):
        raise _Tried


def require_folder(folder: Path) -> None:
    """Try whether files can be written into `folder`, which need not exist yet, and leave no trace.

    Raises:
        OSError: they cannot; the error names `folder`.
    """
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    try:
        require_writable(there / f"{secrets.token_hex(6)}.csv")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(folder)) from error


class _Tried(Exception):
    """Ends a trial before anything is replaced."""


def write_json(result: Result, path: Path) -> None:
    """Write the JSON document of RESULT.

    Raises:
        OSError: `path` cannot be written.
    """
    with replacing(path) as beside:
        beside.write_text(result.dumps(), encoding="utf-8")


def write_csv(result: Result, folder: Path) -> None:
    """Write one file per frame: models, quantities, identities, findings, losses; all of them or none.

    Lists, such as dofs or the numbers of a finding, stand as JSON in their cell.

    Raises:
        OSError: the folder or a file in it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        for name, frame in result.frames().items():
            beside = stack.enter_context(replacing(folder / f"{name}.csv"))
            _flat(frame).to_csv(beside, index=False, encoding="utf-8", lineterminator="\n")


def _flat(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.map(_cell)


def _cell(item: Any) -> Any:
    if hasattr(item, "tolist"):
        item = item.tolist()
    return json.dumps(item, ensure_ascii=False) if isinstance(item, (list, tuple, dict)) else item


def describe(error: OSError) -> str:
    """Return one sentence for a failed write."""
    reason = error.strerror or str(error)
    return f"cannot write {error.filename or 'the output'}: {reason[:1].lower()}{reason[1:]}"
