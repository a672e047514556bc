"""What every kind of finding means, how it looks in numbers, what usually causes it in which engine, and what to do.

The texts stand in `kinds.toml`; `findings.KINDS` says which kinds there are.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import RequestError
from .findings import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .findings import Severity


@dataclass(frozen=True, slots=True)
class KindText:
    """One kind of finding, in words.

    Attributes:
        kind: a key of `KINDS`.
        severity: that it has when nothing else is said.
        means: what differs.
        numbers: how it shows in the residuals.
        causes: the usual cause by engine; "files" for those who write the files.
        fix: what to do, in general.
    """

    kind: str
    severity: Severity
    means: str
    numbers: str
    causes: Mapping[str, str]
    fix: str


@cache
def texts() -> Mapping[str, KindText]:
    """Return the text of every kind, in the order of `KINDS`."""
    written = tomllib.loads(Path(__file__).with_name("kinds.toml").read_text(encoding="utf-8"))
    return {kind: KindText(kind, severity, **written[kind]) for kind, severity in KINDS.items()}


def text(kind: str) -> KindText:
    """Return the text of one kind.

    Raises:
        RequestError: there is no such kind; the message lists those that exist, near ones first.
    """
    known = texts()
    if kind not in known:
        near = get_close_matches(kind, known, 3)
        meant = f" (did you mean {' or '.join(near)}?)" if near else ""
        raise RequestError(f"there is no kind {kind!r}{meant}; there are {', '.join(known)}")
    return known[kind]
