"""Who hangs on whom in a URDF: one root, one parent for every other link, no loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .fields import Owner, malformed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..errors import ReadError
    from .urdf_joints import Connection
    from .urdf_links import Link
    from .xml import Element


def check_names(elements: Sequence[Element]) -> None:
    """Refuse two links or two joints of one name.

    Raises:
        ReadError: at the second of them.
    """
    seen: dict[tuple[str, str | None], Element] = {}
    for element in elements:
        first = seen.setdefault((element.tag, element.get("name")), element)
        if first is not element:
            owner = Owner(element.tag, str(element.get("name")))
            raise malformed(f"the name of {owner} stands already on line {first.source.line}", element.source, owner)


def root_of(links: Sequence[Link], connections: Sequence[Connection]) -> Link:
    """Return the one link without a parent.

    Raises:
        ReadError: a joint connects an unknown link, a link has two parents, joints form a loop, or there is not
            exactly one root.
    """
    names = {link.name for link in links}
    arrival: dict[str, Connection] = {}
    for c in connections:
        for link, element in ((c.parent, c.parent_element), (c.child, c.child_element)):
            if link not in names:
                owner = Owner("joint", c.joint.name)
                raise malformed(
                    f"<{element.tag}> of {owner} is {link!r}, and there is no such link", element.source, owner
                )
    for c in connections:
        first = arrival.setdefault(c.child, c)
        if first is not c:
            raise _two_parents(first, c)
    _refuse_loops(connections)
    roots = [link for link in links if link.name not in arrival]
    if len(roots) > 1:
        first, second = roots[:2]
        line, owner = first.sources["element"].line, Owner("link", second.name)
        message = f"{owner} is no child of any joint, and neither is {first.name!r} (line {line}); a robot has one root"
        raise malformed(message, second.sources["element"], owner)
    return roots[0]


def _two_parents(first: Connection, second: Connection) -> ReadError:
    owner = Owner("link", second.child)
    message = (
        f"{owner} is the child of joint {second.joint.name!r} and of joint {first.joint.name!r} "
        f"(line {first.joint.source().line}); a link has one parent, and loops are no part of the format"
    )
    return malformed(message, second.joint.source(), owner)


def _refuse_loops(connections: Sequence[Connection]) -> None:
    """Refuse the first joint, in document order, that connects two links which are connected already."""
    group: dict[str, str] = {}

    def leader(link: str) -> str:
        while (above := group.get(link, link)) != link:
            group[link] = group.get(above, above)  # halve the way for the next time
            link = above
        return link

    for c in connections:
        parent, child = leader(c.parent), leader(c.child)
        if parent == child:
            owner = Owner("joint", c.joint.name)
            message = f"{owner} closes a loop: {c.parent!r} hangs on {c.child!r} already; the joints must form a tree"
            raise malformed(message, c.joint.source(), owner)
        group[child] = parent
