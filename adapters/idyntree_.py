# pyright: reportAttributeAccessIssue=false
"""iDynTree: `KinDynComputations` on its own reading of a URDF, or on a model built from our tree.

Coordinates: the state is the pose of the base link (4, 4), joint positions, base velocity and joint velocities; there
is no fixed base. Every generalized vector and M have six rows of the base in front, 6 + n: a base that the file welds
is held at its pose, at rest, and its rows are left out. Joints stand in the order of a traversal of its own.
Frames: base velocity and acceleration are MIXED by default, linear first: of the origin of the base link, in world
axes, ordinary acceleration. BODY_FIXED has both parts in link axes, INERTIAL_FIXED in world axes at the world origin,
both with spatial acceleration. Wrenches on links are in the same representation. In 15.1
`generalizedGravityForces` turns its base rows by the pose of an earlier state, unless another call has had the poses of
this one computed.
Defaults: gravity is an argument of every state, and whatever the memory held as long as no state has been set. A link
without `<inertial>` has no mass, a link with a mass and without `<inertia>` the tensor that stood in memory before:
that of the link before.
Massless leaf links on fixed joints become additional frames of their holder, and so does a massless root with one fixed
child, which is the base link then. Mimic joints stay open.
Ledger: all calls are rigid; damping, friction and limits are kept in the model and are in no call, armature it has not.
Source: headers of 15.1; Nori and others 2015, iCub whole-body control through force regulation on rigid non-coplanar
contacts, for the floating base and its representations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..harness.base_links import BaseLink, static_pose
from ..harness.bases import BODY, MIXED
from ..harness.findings import finding
from ..harness.reflected import reflected_inertia, tendons_outside
from ..harness.revealed import order, wrenches
from .idyntree_build import base_of, build
from .idyntree_load import base_in, load
from .idyntree_seats import seats_of
from .idyntree_session import IdyntreeSession

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ..harness.bases import BaseConvention
    from ..harness.engine import Engine, Given
    from ..harness.findings import Finding
    from ..harness.tree import Tree

SORTED = "map dofs by joint name: iDynTree numbers the joints in an order of its own"
FEXT = "force, then moment, in world axes at the link origin (MIXED)"
MAPPED = "nothing: the harness maps it; in your own calls, turn wrenches as the representation asks"


class _IdyntreeEngine:
    """iDynTree as an engine of the harness."""

    def native(self, given: Given, tree: Tree, representation: BaseConvention = MIXED) -> IdyntreeSession:
        """Open the file with iDynTree's importer.

        Raises:
            EngineRefused: iDynTree would not load it, in its words, or would take all memory.
            EngineUnsupported: another format than URDF.
        """
        model, notes = load(given, tree)
        base = base_in(model, tree)
        pairs, extra = seats_of(model, tree)
        return IdyntreeSession(
            model,
            tree,
            base,
            pairs,
            representation=representation,
            extra_dofs=extra,
            findings=tuple(_revealed(model, tree, base, pairs, representation, native=True)),
            notes=notes,
        )

    def neutral(self, tree: Tree, representation: BaseConvention = MIXED) -> IdyntreeSession:
        """Build the model from the tree.

        Raises:
            EngineUnsupported: a joint that iDynTree has not, or a robot beside the floating one.
        """
        model, body = build(tree), base_of(tree)
        base = BaseLink(body, np.eye(4), bool(body), static_pose(tree, body))
        pairs, _ = seats_of(model, tree)
        return IdyntreeSession(
            model,
            tree,
            base,
            pairs,
            outside=reflected_inertia(tree),
            representation=representation,
            findings=(
                *_revealed(model, tree, base, pairs, representation, native=False),
                *tendons_outside(tree, "iDynTree"),
            ),
        )


def _revealed(
    model: Any, tree: Tree, base: BaseLink, pairs: Mapping[int, int], representation: BaseConvention, *, native: bool
) -> Iterator[Finding]:
    """Yield what was found when joints and links were matched by name."""
    by_velocity = sorted(pairs, key=lambda i: model.getJoint(pairs[i]).getDOFsOffset())
    yield from order(tree, [base.body, *by_velocity] if base.floats else by_velocity, SORTED)
    if base.floats:
        body = tree.bodies[base.body]
        yield from representation.findings(body, "iDynTree")
        if representation is not BODY:
            yield finding(
                "base.velocity_frame",
                body.source(),
                where=body.name,
                expected="base rows of generalizedGravityForces at the pose of the state",
                found="base rows at the pose of the last state whose link poses were computed",
                fix="call getWorldTransform before generalizedGravityForces, or inverseDynamics at rest instead",
            )
    elif native and base.body:
        body = tree.bodies[base.body]
        yield finding(
            "base.fixed_or_free",
            body.source(),
            where=body.name,
            expected="fixed",
            found="six rows of a floating base in every vector and in M",
            severity="convention",
            fix="nothing: the base is held at rest and its six rows are left out; in your own calls, take [6:]",
        )
    yield from wrenches(tree, FEXT, MAPPED, "what the surroundings do to the body")


ENGINE: Engine = _IdyntreeEngine()
