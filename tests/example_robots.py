"""The URDFs of the package example-robot-data, found without importing it."""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

_package = distribution("example-robot-data")
_urdfs = [Path(str(_package.locate_file(file))) for file in _package.files or () if file.suffix == ".urdf"]

# "a1_description/a1" and so on; two robots share a file name, so the folder is part of the name.
EXAMPLE_ROBOTS = {f"{path.parents[1].name}/{path.stem}": path for path in sorted(_urdfs)}
NAMELESS = {name for name in EXAMPLE_ROBOTS if name.endswith("/ur3")}
