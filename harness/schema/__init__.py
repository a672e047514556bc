"""The JSON Schema (2020-12) of the documents that `check`, `diff`, `bisect` and `selftest` write."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final

NAME: Final = "tautology-1.json"


def document() -> dict[str, Any]:
    """Return the schema; fields are only ever added, so that it leaves every object open."""
    return json.loads(files(__name__).joinpath(NAME).read_text(encoding="utf-8"))
