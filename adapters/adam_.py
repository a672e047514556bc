"""adam: `adam.numpy.KinDynComputations` on its own reading of a URDF, or on one that is written from our tree.

Coordinates: the state is the pose of the root link (4, 4), its velocity, and positions and velocities of the joints in
the order of the file; there is no fixed base. Every generalized vector and M have six rows of the root in front, which
are left out where the file welds it.
Frames: the velocity of the root is MIXED, linear first: of the link origin, in world axes; its acceleration is
ordinary. Wrenches, which only `aba` takes, are in the same representation, by the name of their frame.
Defaults: gravity is 9.80665 m/s^2, kept in single precision (9.806650161743164); the session hands over the model's.
The reader takes no default of URDF: a joint or an inertial without `<origin>`, a revolute joint without `<axis>` raise
an AttributeError or a TypeError. Axes are not normalised: an axis of length 2 turns by no rotation and makes M four
times too large; what that does to efforts and M is in the ledger, as the difference to unit axes. Prismatic joints
raise where their motion subspace is stacked. Mimic joints stay open.
Ledger: else all calls are rigid; damping, friction, limits and armature are in none.
Source: adam 0.5.0, `core/rbd_algorithms.py`, `model/std_factories`; the backends of JAX, PyTorch and CasADi run the
same algorithms, that of NumPy needs nothing else and takes stacks of states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..harness.base_links import BaseLink, static_pose
from ..harness.bases import MIXED
from ..harness.errors import Source
from ..harness.findings import finding
from ..harness.reflected import reflected_inertia, tendons_outside
from ..harness.revealed import order, wrenches
from ..harness.tree import JointKind
from .adam_load import TURNING, build, load, of_unit_axes
from .adam_session import AdamSession
from .adam_tree import unit_axis

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..harness.engine import Engine, Given
    from ..harness.findings import Finding
    from ..harness.tree import Tree

SORTED = "map dofs by joint name: adam takes the joints in the order in which the file writes them"
EXTERNAL = "aba: force, then moment, in world axes at the origin of the frame that is named (MIXED)"
MAPPED = "nothing: the harness maps it; in your own calls, turn wrenches to world axes, force first"
LENGTH = 1e-9  # how far that of an axis may be from one before answers depart


class _AdamEngine:
    """adam as an engine of the harness."""

    def native(self, given: Given, tree: Tree) -> AdamSession:
        """Open the file with adam's reader.

        Raises:
            EngineRefused: adam raises while it reads the file, in its words.
            EngineUnsupported: another format than URDF.
        """
        engine, notes = load(given, tree)
        model = engine.rbdalgos.model
        body = tree.index.get(engine.rbdalgos.root_link, 0)
        base = BaseLink(body, np.eye(4), _floats(tree, body), static_pose(tree, body))
        known = {*(node.name for node in model.tree), *model.frames}
        links = {i: body.name for i, body in enumerate(tree.bodies) if i and body.name in known}
        joints: dict[int, int] = {}
        extra: list[str] = []
        for j, name in enumerate(model.actuated_joints):
            i = tree.joint_index.get(name, 0)
            if tree.joints[i].kind in TURNING:
                joints[i] = j
            else:
                extra.append(name)
        axes = tuple(_axes(engine, tree))
        return AdamSession(
            engine,
            tree,
            base,
            links,
            joints,
            of_unit_axes=(lambda: of_unit_axes(given.path, tree)) if axes else None,
            extra_dofs=tuple(extra),
            findings=(*_revealed(tree, base, joints), *_defaults(tree, base), *axes),
            notes=notes,
        )

    def neutral(self, tree: Tree) -> AdamSession:
        """Write a URDF of the tree and hand it over as a string.

        Raises:
            EngineUnsupported: a joint that adam has not, or a robot beside the floating one.
        """
        body = tree.floating_roots[0] if tree.floating_roots else 0
        engine, links = build(tree, body)
        base = BaseLink(body, np.eye(4), bool(body), static_pose(tree, body))
        at = {name: j for j, name in enumerate(engine.rbdalgos.model.actuated_joints)}
        joints = {i: at[f"j{i}"] for i in links if f"j{i}" in at}
        return AdamSession(
            engine,
            tree,
            base,
            links,
            joints,
            written=True,
            outside=reflected_inertia(tree),
            findings=(*_revealed(tree, base, joints), *tendons_outside(tree, "adam")),
        )


def _floats(tree: Tree, body: int) -> bool:
    return body > 0 and tree.joints[body].kind is JointKind.FLOATING


def _revealed(tree: Tree, base: BaseLink, joints: Mapping[int, int]) -> Iterator[Finding]:
    """Yield what was found when joints and links were matched by name."""
    by_velocity = sorted(joints, key=lambda i: joints[i])
    yield from order(tree, [base.body, *by_velocity] if base.floats else by_velocity, SORTED)
    if base.floats:
        yield from MIXED.findings(tree.bodies[base.body], "adam")
    yield from wrenches(tree, EXTERNAL, MAPPED, "what the surroundings do to the body")


def _defaults(tree: Tree, base: BaseLink) -> Iterator[Finding]:
    """Yield what a caller gets who leaves out what the adapter hands over."""
    yield finding(
        "gravity.value",
        tree.sources.get("gravity"),
        expected=float(-tree.gravity[2]),
        found=float(np.float32(9.80665)),
        unit="m/s^2",
        severity="convention",
        fix="hand over gravity=[0, 0, -9.81, 0, 0, 0]: adam's own is 9.80665 in single precision",
    )
    if base.body and not base.floats:
        body = tree.bodies[base.body]
        yield finding(
            "base.fixed_or_free",
            body.source(),
            where=body.name,
            expected="fixed",
            found="six rows of a floating base in every vector and in M",
            severity="convention",
            fix="nothing: the root is held at rest and its six rows are left out; in your own calls, take [6:]",
        )


def _axes(engine: Any, tree: Tree) -> Iterator[Finding]:
    """Yield the axes that adam takes at their length."""
    for joint in engine.rbdalgos.model.joints.values():
        if joint.type == "fixed":
            continue
        axis = np.asarray(joint.axis.array, np.float64).ravel()
        if abs(np.linalg.norm(axis) - 1) > LENGTH:
            i = tree.joint_index.get(joint.name, 0)
            yield finding(
                "joint.axis",
                tree.joints[i].source("axis") if i else Source(),
                where=joint.name,
                expected=unit_axis(joint).tolist(),
                found=axis.tolist(),
                fix=f"write the axis of {joint.name!r} as a unit vector: adam does not make one of it",
            )


ENGINE: Engine = _AdamEngine()
