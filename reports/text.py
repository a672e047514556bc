"""Words and numbers as a terminal may show them: names come from model files, hostile text until escaped."""

from __future__ import annotations

import math
import re
from typing import Any, Final

ELLIPSIS: Final = "…"
# No path is longer than a word may be; a name may have megabytes, and a terminal breaks lines of it for minutes.
WORD: Final = 1_000  # characters
TEXT: Final = 10_000  # characters
NAME: Final = 80  # characters, of a robot's name in the heading of a report
LONG_WORD: Final = re.compile(rf"\S{{{WORD + 1},}}")
# A path up to its last slash, and what follows it, between blanks or quotes.
LONG_PATH: Final = re.compile(r"[^\s'\"]*/([^\s'\"/]*)")


def shown(text: object) -> str:
    r"""Return `text` with every character that a terminal would obey, or hide, as its escape: `\x1b`, `\u202e`.

    Words beyond `WORD` characters, and a text beyond `TEXT`, are cut in the middle.
    """
    words = LONG_WORD.sub(lambda m: _cut(m[0], WORD), _cut(str(text), TEXT))
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in words)


def sentence(text: object) -> str:
    """Return words of an engine or a reader on one line; line breaks become blanks, the rest as `shown`."""
    return shown(" ".join(str(text).split()))


def shortened(text: object, width: int) -> str:
    """Return `shown` text, cut to `width` characters in the middle, since names of a robot share their beginnings."""
    return _cut(shown(text), width)


def _cut(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    head = (width - 1) // 2
    return text[:head] + ELLIPSIS + text[len(text) - (width - 1 - head) :]


def path_tail(path: str, width: int) -> str:
    """Return a path, or as many of its last parts as fit into `width` characters; the last part always."""
    if len(path) <= width:
        return shown(path)
    parts = path.replace("\\", "/").split("/")
    tail = parts.pop()
    while parts and len(tail) + len(parts[-1]) + 3 <= width:
        tail = f"{parts.pop()}/{tail}"
    return shown(f"{ELLIPSIS}/{tail}" if parts else tail)


def brief(text: object, width: int = 40) -> str:
    """Return a `sentence` in which long paths, such as those of meshes, are told by their last part."""
    return LONG_PATH.sub(lambda m: m[0] if len(m[0]) <= width else f"{ELLIPSIS}/{m[1]}", sentence(text))


def value(x: Any, digits: int = 6) -> str:
    """Return a number, a list of numbers or a word, as a finding holds them."""
    if isinstance(x, bool) or x is None:
        return {True: "yes", False: "no", None: "nothing"}[x]
    if hasattr(x, "tolist"):
        return value(x.tolist(), digits)
    if isinstance(x, float):
        return f"{x + 0.0:.{digits}g}"  # minus zero is zero
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(value(item, digits) for item in x) + "]"
    return sentence(x)


def pair(expected: Any, found: Any) -> tuple[str, str]:
    """Return two values with as many digits as it takes to see that they differ; of equal ones, six."""
    for digits in (6, 9, 12, 15, 17):
        texts = value(expected, digits), value(found, digits)
        if texts[0] != texts[1]:
            return texts
    return value(expected), value(found)


def small(x: float) -> str:
    """Return an error or a tolerance in nine characters at most; infinity is an answer that is missing."""
    return "no answer" if not math.isfinite(x) else "0" if x == 0 else f"{x:.2e}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return `1 body`, `2 bodies`."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def listed(items: list[str], most: int = 0) -> str:
    """Return `a, b and c`; beyond `most` names, when given, `a, b and 7 more`."""
    if most and len(items) > most:
        items = [*items[:most], f"{len(items) - most} more"]
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
