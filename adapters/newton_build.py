"""A Newton builder from a tree: every body a link, every joint with X_p and X_c, inertias as they are.

Newton corrects tensors that no body can have while it finalizes a model; here it is told not to. What a joint with
several dofs has of armature, and tendons, are added outside: Newton's axes are those of the fixed side.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..harness.errors import EngineUnsupported
from ..harness.reflected import reflected_beyond_one_dof, tendons_outside
from ..harness.spatial import inverse, rotation_z_to
from ..harness.tree import JointKind
from .newton_joints import TYPE, newton, written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..harness.findings import Finding
    from ..harness.tree import Floats, Joint, Tree

X, Y, Z = np.eye(3)


@dataclass(frozen=True, eq=False)
class Opened:
    """A builder, and how it relates to the tree.

    Attributes:
        builder: of Newton.
        held: tree body to Newton body.
        rows: Newton joint to the tree bodies in a row whose joints it is.
        checked: whether Newton may correct inertias.
        outside: (nv, nv) reflected inertia in coordinates of the tree that the model does not hold, or None.
        extra_dofs, findings, notes: see `harness.engine.Session`.
    """

    builder: Any
    held: Mapping[int, int]
    rows: Mapping[int, Sequence[int]]
    checked: bool
    outside: Floats | None = None
    extra_dofs: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: list[str] = field(default_factory=list[str])


def build(tree: Tree) -> Opened:
    """Return the builder of `tree`.

    Raises:
        EngineUnsupported: nothing moves, and Newton evaluates articulations alone.
    """
    if not tree.nv:
        raise EngineUnsupported(f"{tree.name!r} has no joint that moves; Newton's calls answer for articulations")
    builder = newton.ModelBuilder(gravity=tuple(tree.gravity.tolist()))
    joints: list[int] = []
    for body in tree.bodies[1:]:
        link = builder.add_link(
            mass=body.inertia.mass,
            com=body.inertia.com.tolist(),
            inertia=body.inertia.I_com.ravel().tolist(),
            label=body.name,
            lock_inertia=True,
        )
        joints.append(_added(builder, body.joint, body.parent - 1, link))
    builder.add_articulation(joints)
    moving = {i: i - 1 for i in range(1, len(tree.bodies))}
    rows = {i - 1: [i] for i in moving if tree.joints[i].nv}
    return Opened(
        builder,
        moving,
        rows,
        checked=False,
        findings=tendons_outside(tree, "Newton"),
        outside=reflected_beyond_one_dof(tree),
    )


def _added(builder: Any, joint: Joint, parent: int, link: int) -> int:
    """Return the number of a joint that was added to a builder."""
    kind, axes = _axes(joint)
    linear, angular = (
        [newton.ModelBuilder.JointDofConfig(axis=n.tolist(), armature=k) for n, k in some] for some in axes
    )
    return int(
        builder.add_joint(
            kind,
            parent,
            link,
            linear_axes=linear,
            angular_axes=angular,
            label=joint.name,
            parent_xform=written(joint.T_parent_joint),
            child_xform=written(inverse(joint.T_joint_body)),
        )
    )


def _axes(joint: Joint) -> tuple[Any, tuple[list[tuple[Floats, float]], list[tuple[Floats, float]]]]:
    """Return Newton's type, and the linear and angular axes with their armature."""
    if joint.kind is JointKind.FIXED:
        return TYPE.FIXED, ([], [])
    if joint.kind is JointKind.FLOATING:
        return TYPE.FREE, ([(X, 0.0), (Y, 0.0), (Z, 0.0)], [(X, 0.0), (Y, 0.0), (Z, 0.0)])
    if joint.kind is JointKind.BALL:
        return TYPE.BALL, ([], [(X, 0.0), (Y, 0.0), (Z, 0.0)])
    if joint.kind is JointKind.PLANAR:
        B = np.asarray(rotation_z_to(joint.axis), np.float64)
        return TYPE.D6, ([(B[:, 0], 0.0), (B[:, 1], 0.0)], [(B[:, 2], 0.0)])
    one = [(joint.axis, float(joint.reflected[0]))]
    return (TYPE.PRISMATIC, (one, [])) if joint.kind is JointKind.PRISMATIC else (TYPE.REVOLUTE, ([], one))
