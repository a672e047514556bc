"""Why DART would not load a file: its words, and the element that they are about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ..harness.errors import EngineRefused, Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..harness.engine import Given
    from ..harness.tree import Tree

# Words that say that the file is well-formed and DART or its parser does not have what it asks for.
UNSUPPORTED: Final = ("no known type", "not supported", "unsupported", "Unsupported")


def refusal(given: Given, tree: Tree, said: Sequence[str], error: Exception | None) -> EngineRefused:
    """Return the refusal in DART's words, at the link or joint that they name.

    Args:
        given: what was handed over.
        tree: of the same file.
        said: lines of the streams.
        error: what was raised, if anything was: the parsers return None and leave the reason on the error stream.
    """
    words = "; ".join([*([str(error).strip()] if error else []), *said]) or "no reason was given"
    if "mesh" in words.lower() and "Failed loading mesh" in words:
        kind = "refused.mesh"
    elif given.format == "mjcf" or any(word in words for word in UNSUPPORTED):
        kind = "refused.unsupported"
    else:
        kind = "refused.malformed"
    where, source = _named(words, tree) or (None, Source())
    return EngineRefused(f"DART would not load {given.path}: {words}", kind, where, source)


def _named(words: str, tree: Tree) -> tuple[str, Source] | None:
    """Return the first link or joint that the words name."""
    for name in re.findall(r"""[\['"]([^\]'"]+)[\]'"]""", words):
        body = tree.joint_index.get(name) or tree.index.get(name)
        if body:
            return name, (tree.joints[body] if name in tree.joint_index else tree.bodies[body]).source()
    return None
