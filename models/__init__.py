"""Robots with known answers, as URDF and as MJCF wherever both formats can say them.

`catalogue.toml` says of each where it comes from, what is known of it in closed form, which engine refuses it and why,
and its worked numbers. States are written in file order (depth first, siblings in document order): a scalar joint has
one coordinate, a ball a quaternion wxyz and an angular velocity in its own axes, a floating joint a position and a
quaternion wxyz, and a linear, then an angular velocity in its own axes.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parent


def path(name: str) -> Path:
    """Where a bundled file lies, `path("tau_arm.urdf")`.

    Args:
        name: file name with its ending.

    Returns:
        The absolute path.

    Raises:
        FileNotFoundError: there is no such file among the models.
    """
    found = _FOLDER / name
    if not found.is_file():
        known = sorted(file.name for file in _FOLDER.iterdir() if file.suffix in {".urdf", ".xml", ".toml"})
        raise FileNotFoundError(f"no model {name!r}; there are {', '.join(known)}")
    return found


def catalogue() -> dict[str, Any]:
    """What `catalogue.toml` holds: `catalogue()["model"]` is a list with one entry per robot."""
    return tomllib.loads(path("catalogue.toml").read_text(encoding="utf-8"))
