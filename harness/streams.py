"""What an engine writes past Python's own streams, caught at the file descriptors."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence


@contextmanager
def caught(said: list[str], streams: Sequence[int] = (1, 2)) -> Generator[None]:
    """Append to `said` the lines, without colours and blank ones, that anything writes to these file descriptors.

    Python's own streams are flushed on both ends, so that what was written before does not count.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    kept = [(stream, os.dup(stream)) for stream in streams]
    with tempfile.TemporaryFile() as file:
        try:
            for stream in streams:
                os.dup2(file.fileno(), stream)
            yield
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            for stream, own in kept:
                os.dup2(own, stream)
                os.close(own)
            file.seek(0)
            text = re.sub(r"\x1b\[[0-9;]*m", "", file.read().decode(errors="replace"))
            said += [line.strip() for line in text.splitlines() if line.strip()]
