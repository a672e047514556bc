"""Why Pinocchio would not load a file: its words, and the element that they are about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ..harness.errors import EngineRefused, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..harness.engine import Given
    from ..harness.importers.xml import Element
    from ..harness.tree import Tree

WORLD: Final = "universe"


def refusal(given: Given, tree: Tree, error: Exception, said: Sequence[str]) -> EngineRefused:
    """Return the refusal in Pinocchio's words, at the link, joint or element that they are about.

    Args:
        given: what was handed over.
        tree: of the same file.
        error: what was raised.
        said: lines of the error stream.
    """
    raised = str(error).strip().rpartition("message:\n")[2]
    words = "; ".join([raised, *said])
    # What Pinocchio's URDF parser will not have is against the format, except for joint types of newer versions of the
    # format; its MJCF parser knows only a part of MJCF.
    malformed = "no known type" not in words if given.format == "urdf" else "conversion of data" in words
    # What was raised ends the reading; of what was said, the last line: the parser goes on after the others.
    lines = (raised.replace(given.path, ""), *reversed(said))
    named = next(filter(None, (_named(line, tree) for line in lines)), None)
    where, source = named or _unread(words, given) or (None, Source())
    message = f"Pinocchio would not load {given.path}: {words}"
    return EngineRefused(message, "refused.malformed" if malformed else "refused.unsupported", where, source)


def require_names(given: Given, tree: Tree) -> None:
    """Refuse an MJCF joint that is called as Pinocchio calls the world: its parser may break the heap then.

    Raises:
        EngineRefused: there is one.
    """
    joint = tree.joints[tree.joint_index[WORLD]] if WORLD in tree.joint_index else None
    if given.format == "mjcf" and joint is not None and joint.nv:
        message = (
            f"Pinocchio's parser takes the joint {WORLD!r} of {given.path} for the world, and can end the process on "
            "it: give the joint another name"
        )
        raise EngineRefused(message, "refused.unsupported", joint.name, joint.source())


def _named(words: str, tree: Tree) -> tuple[str, Source] | None:
    """Return the first link or joint that the words name."""
    for name in re.findall(r"""[\['"]([^\]'"]+)[\]'"]""", words):
        body = tree.joint_index.get(name) or tree.index.get(name)
        if body:
            return name, (tree.joints[body] if name in tree.joint_index else tree.bodies[body]).source()
    return None


def _of_class_main(root: Element) -> Iterator[Element]:
    """Yield what names the top default class, which the parser knows under no name."""
    return (element for element in root.walk() if element.get("class") == "main" and element.tag != "default")


def _around_bodies(root: Element) -> Iterator[Element]:
    """Yield what holds the bodies of the world; the parser looks for a `<body>` right below `<worldbody>`."""
    return (child for world in root.all("worldbody") for child in world.children if child.tag in AROUND)


AROUND: Final = ("frame", "replicate", "include", "attach", "composite")
# Words that name nothing, and the elements of the file that they are about.
UNREAD: Final[Mapping[str, Callable[[Element], Iterator[Element]]]] = {
    "unordered_map::at": _of_class_main,
    "No such node (body)": _around_bodies,
}


def _unread(words: str, given: Given) -> tuple[str, Source] | None:
    """Return the element of an MJCF that the words are about without naming it."""
    # Only a refusal needs the XML.
    from ..harness.importers.xml import read_xml  # noqa: PLC0415

    for said, search in UNREAD.items():
        if given.format == "mjcf" and said in words:
            element = next(search(read_xml(given.path).root), None)
            if element is not None:
                return element.get("name") or element.tag, element.source
    return None
