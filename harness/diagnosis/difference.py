"""A difference is one parameter in which another robot departs from ours, with the means to put it into our tree.

`compare` (read-back, pairs of files) and `infer` (residuals alone) both give differences; closure applies them to the
expected tree and computes everything again, so that what a difference explains is measured and never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from ..errors import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..tree import Body, Inertia, Joint, TendonInertia, Tree

WHOLE: Final = 0  # body index of a difference that concerns the whole robot


@dataclass(frozen=True, eq=False)
class Difference:
    """One parameter, ours and theirs.

    Attributes:
        kind: a key of `harness.findings.KINDS`.
        where: name of body, joint or element in the expected tree; None for the whole robot.
        expected: our value, a number, a list or a word.
        found: theirs, in our frames.
        unit: of both.
        apply: puts the found value into a tree: expected tree in, patched tree out; the same tree when the difference
            touches no answer (a name, an order, damping).
        source: file and line of the element in the expected file.
        other: file and line in the other file, when there is one.
        note: what else the reader should know: a doubtful match, the pattern that was recognised.
        rivals: differences that explain the same, and that no motion can tell from this one.
    """

    kind: str
    where: str | None
    expected: Any
    found: Any
    unit: str
    apply: Callable[[Tree], Tree]
    source: Source = field(default_factory=Source)
    other: Source = field(default_factory=Source)
    note: str = ""
    rivals: tuple[Difference, ...] = ()


def unchanged(tree: Tree) -> Tree:
    """Return the tree itself: the patch of a difference that touches no answer."""
    return tree


def patched(tree: Tree, differences: Iterable[Difference]) -> Tree:
    """Return the tree with every found value put in."""
    for difference in differences:
        tree = difference.apply(tree)
    return tree


def with_body(tree: Tree, name: str, change: Callable[[Body], Body]) -> Tree:
    """Return the tree with one body changed, found by name."""
    at = tree.index[name]
    bodies = list(tree.bodies)
    bodies[at] = change(bodies[at])
    # A joint of another kind has other coordinates: the home of the file is none of the patched robot.
    return replace(tree, bodies=tuple(bodies), home=None)


def with_inertia(tree: Tree, name: str, inertia: Inertia) -> Tree:
    """Return the tree with the inertia of one body replaced."""
    return with_body(tree, name, lambda body: replace(body, inertia=inertia))


def with_joint(tree: Tree, name: str, **fields: Any) -> Tree:
    """Return the tree with fields of one joint replaced, found by joint name."""
    at = tree.joint_index[name]
    joint: Joint = replace(tree.joints[at], **fields)
    return with_body(tree, tree.bodies[at].name, lambda body: replace(body, joint=joint))


def with_tendons(tree: Tree, tendons: tuple[TendonInertia, ...]) -> Tree:
    """Return the tree with other fixed tendons."""
    return replace(tree, tendons=tendons)
