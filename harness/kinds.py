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


def text(word: str) -> KindText:
    """Return the text of one kind, whatever the case of its letters; a beginning that one kind alone has is enough.

    Raises:
        RequestError: no kind, or several kinds begin so; the message names those, else the nearest.
    """
    known, lower = texts(), word.lower()
    fitting = [lower] if lower in known else [kind for kind in known if lower and kind.startswith(lower)]
    if len(fitting) > 1:
        raise RequestError(f"{len(fitting)} kinds begin with {word!r}: {', '.join(fitting)}; give one of them")
    if not fitting:
        raise unknown(word)
    return known[fitting[0]]


def unknown(word: str) -> RequestError:
    """Return the error of a kind that does not exist, which names the nearest ones."""
    near = get_close_matches(word.lower(), KINDS, 3)
    words = " or ".join([", ".join(near[:-1]), near[-1]] if len(near) > 1 else near)
    meant = f" did you mean {words}?" if near else ""
    return RequestError(f"there is no kind {word!r};{meant} `tautology explain` lists all kinds")
