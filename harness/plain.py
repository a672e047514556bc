"""Values in the types of JSON, for every reader of it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def to_text(document: Mapping[str, Any]) -> str:
    """Return a JSON document as text, for every JSON reader."""
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def plain(value: Any) -> Any:
    """Return `value` in the types of JSON; a number that is not finite becomes a string."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float)) else unicode(str(value))


def unicode(text: str) -> str:
    """Return text that UTF-8 can hold: a file name that is no Unicode has lone surrogates, which no reader takes."""
    return text.encode("utf-8", "backslashreplace").decode()
