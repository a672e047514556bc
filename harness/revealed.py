"""What loading alone reveals in any engine, as findings: the order of the joints, how it takes external wrenches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .findings import finding
from .wrenches import longest_lever

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .findings import Finding
    from .tree import Tree


def order(tree: Tree, bodies: Sequence[int], fix: str) -> list[Finding]:
    """Return the finding `joint.order`, at the first body whose children come in another order.

    Args:
        tree: the robot.
        bodies: of the tree, whose joints the engine has too, in the order of its velocities.
        fix: what sorts them, as a sentence.
    """
    engine = list(bodies)
    if engine == sorted(engine):
        return []
    place = dict(zip(engine, range(len(engine)), strict=True))
    first = [place.get(i, len(engine)) for i in range(len(tree.bodies))]  # of the joints of each sub-tree
    for i in range(len(tree.bodies) - 1, 0, -1):
        first[tree.parents[i]] = min(first[tree.parents[i]], first[i])
    where, last = 0, [-1] * len(tree.bodies)
    for i, parent in enumerate(tree.parents[1:], 1):
        if first[i] < last[parent]:
            where = parent
            break
        last[parent] = first[i] if first[i] < len(engine) else last[parent]
    return [
        finding(
            "joint.order",
            tree.bodies[where].source(),
            where=tree.bodies[where].name if where else None,
            expected=[tree.joints[i].name for i in sorted(engine)],
            found=[tree.joints[i].name for i in engine],
            fix=fix,
        )
    ]


def wrenches(tree: Tree, found: str, fix: str, sign: str = "") -> Iterator[Finding]:
    """Yield how an engine takes external wrenches, said at the body where it shows most.

    Args:
        tree: the robot.
        found: point, axes and order that the engine has.
        fix: what a caller has to do.
        sign: whose action on whom a wrench of the engine is; "" where nothing needs to be said.
    """
    body = longest_lever(tree)
    if body is None:
        return
    own = "moment, then force, in body axes at the body origin"
    yield finding("wrench.frame", body.source(), where=body.name, expected=own, found=found, fix=fix)
    if sign:
        own = "what the surroundings do to the body"
        same = "nothing: the sign is the same" if sign == own else "turn the sign of the wrench"
        yield finding("wrench.sign", body.source(), where=body.name, expected=own, found=sign, fix=same)
