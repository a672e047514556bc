"""What loading alone reveals of Newton: the base, coordinates, the order of joints, wrenches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..harness.bases import NEWTON
from ..harness.findings import finding
from ..harness.revealed import order, wrenches
from ..harness.tree import JointKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..harness.findings import Finding
    from ..harness.tree import Tree
    from .newton_build import Opened

MAPPED: Final = "nothing: the harness maps it; in your own calls, use Newton's coordinates"


def conventions(opened: Opened, tree: Tree) -> Iterator[Finding]:
    """Yield what the adapter maps."""
    rows = [i for j in sorted(opened.rows) for i in opened.rows[j]]
    yield from order(tree, rows, "map dofs by joint label: Newton has slides before hinges on one body")
    for i in sorted(rows):
        joint, body = tree.joints[i], tree.bodies[i]
        values: tuple[str, str] | None = None
        if joint.kind is JointKind.FLOATING:
            yield from NEWTON.findings(body, "Newton")
        elif joint.kind is JointKind.BALL:
            values = ("quaternion w, x, y, z; velocity in child axes", "quaternion x, y, z, w; velocity in parent axes")
        elif joint.kind is JointKind.PLANAR:
            values = ("velocity in child axes", "velocity in axes of the plane")
        elif joint.ref:
            values = (f"{joint.ref:g} where it is undisplaced", "zero there")
        if values:
            expected, found = values
            yield finding(
                "joint.coordinates", joint.source(), where=joint.name, expected=expected, found=found, fix=MAPPED
            )
    found = "body_f: force, then moment, in world axes at the centre of mass; inverse dynamics takes none"
    yield from wrenches(tree, found, "map the wrench by the transpose of eval_jacobian, as here")
