"""Find model files among files, folders and patterns."""

from __future__ import annotations

import os
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence

ENDINGS: Final = (".urdf", ".xml", ".mjcf")
ROOTS: Final = (b"<robot", b"<mujoco>", b"<mujoco ", b"<mujoco\n", b"<mujoco\r", b"<mujoco\t")
SNIFFED: Final = 1 << 16  # [bytes] in which the root element of a file begins


def collect(paths: Sequence[str]) -> list[str]:
    """Return the model files among files, folders and patterns, each once, in order.

    In a folder, everything that ends like a model and whose root element is one; a file is taken as it is named.

    Raises:
        RequestError: a path is nothing, or nothing is found.
    """
    found: dict[str, str] = {}
    for path in paths:
        named = [path] if Path(path).exists() else sorted(glob(path, recursive=True))  # noqa: PTH207  as shells do
        if not named:
            raise RequestError(f"there is no file or folder {path!r}, and nothing fits it as a pattern")
        for one in named:
            files = [one] if not Path(one).is_dir() else _models(one)
            found |= {os.path.realpath(file): file for file in files if os.path.realpath(file) not in found}
    if not found:
        raise RequestError(f"no URDF or MJCF file in {', '.join(paths)}")
    return list(found.values())


def _models(folder: str) -> list[str]:
    """Return the model files below a folder."""
    files = sorted(str(file) for file in Path(folder).rglob("*") if file.suffix.lower() in ENDINGS and file.is_file())
    return [file for file in files if _is_model(file)]


def _is_model(file: str) -> bool:
    """Return whether a file looks like a model; one that cannot be read is left to be reported."""
    try:
        with Path(file).open("rb") as stream:
            head = stream.read(SNIFFED)
    except OSError:
        return True
    return any(root in head for root in ROOTS)
