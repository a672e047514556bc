"""A tree as a file, URDF or MJCF: lossless for what the format can hold, every other thing named."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..errors import RequestError
from ..replace import replacing
from .document import Exported
from .mjcf import write_mjcf
from .urdf import write_urdf

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..tree import Tree

__all__ = ["FORMATS", "Exported", "export", "write_mjcf", "write_urdf"]

FORMATS: Final[Mapping[str, Callable[[Tree], Exported]]] = {"urdf": write_urdf, "mjcf": write_mjcf}
_ENDINGS: Final = {".urdf": "urdf", ".xml": "mjcf", ".mjcf": "mjcf"}


def export(tree: Tree, path: str | os.PathLike[str], file_format: str | None = None) -> Exported:
    """Write a tree to a file, whole or not at all, and return what was written and what was lost.

    Args:
        tree: what to write.
        path: where to; a file that is there is replaced, a device or a pipe is written to.
        file_format: "urdf" or "mjcf"; without it the ending decides, `.urdf`, or `.xml` and `.mjcf`.

    Raises:
        RequestError: the format is another one, or the ending tells none.
        TreeError: a number that has to be written is not finite.
        OSError: the file cannot be written; the error names `path`.
    """
    chosen = file_format or _ENDINGS.get(Path(path).suffix.lower())
    if chosen is None:
        raise RequestError(f"{os.fspath(path)}: the ending tells no format; end it in .urdf or .xml (MJCF)")
    if chosen not in FORMATS:
        raise RequestError(f"format {chosen!r} does not exist; choose one of {', '.join(FORMATS)}")
    exported = FORMATS[chosen](tree)
    with replacing(Path(path)) as beside:
        beside.write_bytes(exported.text.encode())
    return exported
