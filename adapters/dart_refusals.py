"""Why DART would not load a file: its words, and the element that they are about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ..harness.errors import EngineRefused, ReadError, Source

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


def require_parsable_world(given: Given) -> None:
    """Refuse a site, a height field or a mesh right below `<worldbody>`: DART's parser ends the process there.

    Raises:
        EngineRefused: there is one.
    """
    # Only an MJCF needs the XML.
    from ..harness.importers.xml import read_xml  # noqa: PLC0415

    try:
        root = read_xml(given.path).root
    except ReadError as error:
        raise EngineRefused(str(error), error.kind, error.where, error.source) from error
    for world in root.all("worldbody"):
        shapes = [geom for geom in world.all("geom") if geom.get("type") in ("hfield", "mesh")]
        for element in (*world.all("site"), *shapes):
            message = (
                f"DART's parser ends the process on the <{element.tag}> of the world in {given.path}: take it out, or "
                "put it into a body"
            )
            raise EngineRefused(message, "refused.unsupported", element.get("name") or element.tag, element.source)


def _named(words: str, tree: Tree) -> tuple[str, Source] | None:
    """Return the first link or joint that the words name."""
    for name in re.findall(r"""[\['"]([^\]'"]+)[\]'"]""", words):
        body = tree.joint_index.get(name) or tree.index.get(name)
        if body:
            return name, (tree.joints[body] if name in tree.joint_index else tree.bodies[body]).source()
    return None
