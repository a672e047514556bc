"""Whether other versions of engines can be had here: uv, and an index of packages that answers."""

from __future__ import annotations

from functools import cache

import pytest

from tautology.harness import environments
from tautology.harness.errors import RequestError


@cache
def unreachable() -> str:
    """Return why no version can be had, or an empty string."""
    try:
        environments.versions_between("mujoco", "4.0.0", "4.0.0")
    except RequestError as error:
        return str(error)
    return ""


def require_index() -> None:
    """Skip the test when no version can be had; that one of them cannot is no reason to skip."""
    if unreachable():
        pytest.skip(f"other versions need uv and a package index that answers: {unreachable()}")
