"""Names that an XML file can hold: not empty, of characters that XML allows, not reserved, distinct."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

# XML 1.0, production 2 (Char). No escape helps: &#0; is as malformed as the character itself.
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def plain(name: str) -> str:
    """Return the name with "_" for each character that no XML document can hold."""
    return _NOT_XML.sub("_", name)


def spelled(names: Iterable[str], reserved: Collection[str] = ()) -> dict[str, str]:
    """Return how a file spells each of these names, which are distinct.

    A name that can stay stays. Another one becomes the nearest that the file can hold, "unnamed" if it is empty, with a
    number behind it where that is taken.

    Args:
        names: of one kind of element.
        reserved: names that the format keeps for itself.
    """
    names = list(names)
    result = {name: name for name in names if name and name == plain(name) and name not in reserved}
    taken = {*result, *reserved}
    for name in names:
        if name not in result:
            result[name] = distinct(plain(name) or "unnamed", taken)
            taken.add(result[name])
    return result


def distinct(name: str, taken: Collection[str]) -> str:
    """Return the name, with the first number behind it that makes it distinct where it is taken."""
    candidates = (name if i == 1 else f"{name}_{i}" for i in count(1))
    return next(candidate for candidate in candidates if candidate not in taken)
