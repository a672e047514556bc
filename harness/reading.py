"""Files that are read whole: only so large, and in words where that cannot be."""

from __future__ import annotations

import os
from typing import Final

from .errors import ReadError, Source

# Large models take a few megabytes; XML becomes some fifty times as large in memory.
LARGEST_MODEL: Final = 256_000_000  # [bytes]
LARGEST_RESULT: Final = 1_000_000_000  # [bytes]
LARGEST_TEXT: Final = 16_000_000  # [bytes]


def read_whole(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the bytes of a file, or of a pipe until it ends.

    Args:
        path: what to read, spelled as the caller spelled it.
        most: how many bytes are read [bytes].

    Raises:
        ReadError: there are more; a device may have no end.
        OSError, ValueError: it cannot be opened or read.
    """
    with open(path, "rb") as stream:  # noqa: PTH123  Path would change the spelling of the path
        if os.fstat(stream.fileno()).st_size > most:  # of a sparse file, too, before memory is taken
            raise _too_large(path, most)
        data = stream.read(most + 1)
    if len(data) > most:
        raise _too_large(path, most)
    return data


def _too_large(path: str | os.PathLike[str], most: int) -> ReadError:
    return ReadError(f"this is larger than {most / 1e6:,.0f} MB, the most that is read", Source(os.fspath(path)))
