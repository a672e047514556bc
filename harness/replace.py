"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import platform
import re
import secrets
import shutil
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Generator

# `.tautology-`, the machine, the process, and what tells several files of one process apart.
BESIDE: Final = re.compile(r"\.tautology-(?P<machine>[0-9a-f]{8})-(?P<process>[0-9]+)-[0-9a-f]{12}")


@contextmanager
def replacing(path: Path) -> Generator[Path]:
    """Give a path to write to; when the block ends well, what was written there takes the place of `path`.

    The other path lies beside the target, so that the last step is a rename: a reader sees the old file or the new one.
    A device or a pipe cannot be replaced, and is written to as it is. What a process that was killed has left beside
    the target is removed.

    Raises:
        OSError: `path` is a directory, or cannot be written; the error names `path`.
    """
    if is_device(path):
        yield path
        return
    target = Path(os.path.realpath(path))  # a link stays a link
    beside = target.parent / f".tautology-{_machine()}-{os.getpid()}-{secrets.token_hex(6)}"
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a directory")
        _clear(target.parent)
        beside.open("x").close()
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error
    try:
        yield beside
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    except OSError as error:
        if error.filename != str(beside):
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from error  # nobody asked for the other name
    finally:
        beside.unlink(missing_ok=True)


def is_device(path: Path) -> bool:
    """Return whether `path` is there and is neither a file nor a directory: a device, a pipe or a socket.

    Raises:
        OSError: that cannot be told, as of a name that is too long.
    """
    return path.exists() and not path.is_file() and not path.is_dir()


@cache
def _machine() -> str:
    """Return what tells this machine, or this container, from others that may see the same folder."""
    space = ""
    with suppress(OSError):  # only Linux has spaces of process numbers
        space = os.readlink("/proc/self/ns/pid")  # noqa: PTH115  the target is no path
    return f"{crc32(f'{platform.node()} {space}'.encode()):08x}"


@cache
def _clear(folder: Path) -> None:
    """Remove what killed processes of this machine left in a folder; once, since folders may be large."""
    with suppress(OSError), os.scandir(folder) as entries:
        left = [entry.name for entry in entries if (name := BESIDE.fullmatch(entry.name)) and _stale(name)]
        for name in left:
            (folder / name).unlink(missing_ok=True)


def _stale(name: re.Match[str]) -> bool:
    """Return whether a file of that name was left by a process of this machine that is no more."""
    if name["machine"] != _machine():
        return False
    try:
        os.kill(int(name["process"]), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # of another user
        return False
    return False
