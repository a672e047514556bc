"""A finalized Newton model as a tree: links, inertias, joints, armature, damping, friction, limits as it has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..harness.errors import EngineUnsupported
from ..harness.exporters.names import distinct
from ..harness.spatial import inverse
from ..harness.tree import Body, Inertia, Joint, JointKind, Tree, world
from .newton_joints import TYPE, placed, tail

if TYPE_CHECKING:
    from ..harness.spatial import Array
    from ..harness.tree import Floats
    from .newton_batch import Batch
    from .newton_build import Opened

NO_LIMIT = 1e9  # Newton writes 1e10 where there is none
NOTHING = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))


def tree_of(batch: Batch, opened: Opened, tree: Tree, gravity: Floats) -> Tree:
    """Return the robot that a model holds, its bodies and joints called as in the tree where both have them.

    Raises:
        EngineUnsupported: a joint that no tree can hold.
    """
    names = {b: tree.bodies[i].name for i, b in opened.held.items()}
    types, parents = batch.first("joint_type").astype(int), batch.first("joint_parent").astype(int)
    X_p, X_c = placed(batch.first("joint_X_p")), placed(batch.first("joint_X_c"))
    starts = batch.model.joint_qd_start.numpy()
    masses, coms, tensors = batch.first("body_mass"), batch.first("body_com"), batch.first("body_inertia")
    bodies, number = [world()], {-1: 0}
    taken: tuple[set[str], set[str]] = ({"world"}, {"world"})
    for j in batch.tree_joints:
        child = int(batch.child[j])
        row = list(opened.rows.get(j, ()))
        dofs = _Dofs(batch, int(starts[j]), int(starts[j + 1]), batch.first("joint_dof_dim")[j].astype(int).tolist())
        parts = _parts(types[j], dofs, tree, row, X_p[j], inverse(X_c[j]))
        parent = number[int(parents[j])]
        for k, (part, i) in enumerate(parts):
            last = k == len(parts) - 1
            own = names.get(child, tail(opened.builder.body_label[child])) if last else ""
            own = own or (tree.bodies[i].name if i else f"{names.get(child, child)} {k}")
            label = tree.joints[i].name if i else tail(opened.builder.joint_label[j])
            own, label = distinct(own, taken[0]), distinct(label, taken[1])
            taken[0].add(own)
            taken[1].add(label)
            inertia = Inertia(float(masses[child]), coms[child], _symmetric(tensors[child])) if last else NOTHING
            bodies.append(Body(own, parent, Joint(label, **part), inertia))
            parent = len(bodies) - 1
        number[child] = parent
    return Tree(tree.name, tuple(bodies), gravity=gravity)


class _Dofs:
    """What Newton writes at the dofs of one joint."""

    def __init__(self, batch: Batch, start: int, stop: int, dims: list[int]) -> None:
        self.linear, self.angular = dims
        axes = batch.first("joint_axis")[start:stop]
        self.axes = axes / np.linalg.norm(axes, axis=1, keepdims=True)
        self._values = {
            "armature": batch.first("joint_armature")[start:stop],
            "damping": batch.first("joint_damping")[start:stop],
            "friction": batch.first("joint_friction")[start:stop],
            "lower": batch.first("joint_limit_lower")[start:stop],
            "upper": batch.first("joint_limit_upper")[start:stop],
        }

    def at(self, k: int) -> dict[str, Any]:
        """Return the fields of a joint with one dof."""
        values = {name: float(x[k]) for name, x in self._values.items()}
        values["lower"] = values["lower"] if values["lower"] > -NO_LIMIT else -np.inf
        values["upper"] = values["upper"] if values["upper"] < NO_LIMIT else np.inf
        return values

    def all(self) -> dict[str, Any]:
        """Return the fields of a joint with several dofs."""
        return {name: self._values[name] for name in ("armature", "damping", "friction")}


def _parts(
    kind: int, dofs: _Dofs, tree: Tree, row: list[int], X_p: Array, X_c: Array
) -> list[tuple[dict[str, Any], int | None]]:
    """Return the joints in a row that one of Newton is, each with the body of the tree whose joint it is."""
    ends: dict[str, Any] = {"T_parent_joint": X_p, "T_joint_body": X_c}
    own = tree.joints[row[0]] if row else None
    if kind == int(TYPE.FIXED):
        return [({"kind": JointKind.FIXED, **ends}, None)]
    if kind == int(TYPE.FREE):
        # Newton's pose is absolute, and mapped: it says the same as the tree's.
        ends = {"T_parent_joint": own.T_parent_joint, "T_joint_body": own.T_joint_body} if own else ends
        return [({"kind": JointKind.FLOATING, **ends, **dofs.all()}, row[0] if row else None)]
    if kind == int(TYPE.BALL):
        return [({"kind": JointKind.BALL, **ends, **dofs.all()}, row[0] if row else None)]
    if own is not None and own.kind is JointKind.PLANAR:
        return [({"kind": JointKind.PLANAR, "axis": dofs.axes[2], **ends, **dofs.all()}, row[0])]
    if kind not in (int(TYPE.REVOLUTE), int(TYPE.PRISMATIC), int(TYPE.D6)):
        raise EngineUnsupported(f"joint type {TYPE(kind).name} is none that a tree holds")
    slides = [i for i in row if tree.joints[i].kind is JointKind.PRISMATIC]
    ordered: list[int | None] = [*slides, *(i for i in row if i not in slides)]
    count = dofs.linear + dofs.angular
    ordered += [None] * (count - len(ordered))
    parts: list[tuple[dict[str, Any], int | None]] = []
    for k, i in enumerate(ordered[:count]):
        turns = k >= dofs.linear
        endless = turns and i is not None and tree.joints[i].kind is JointKind.CONTINUOUS
        one = JointKind.CONTINUOUS if endless else JointKind.REVOLUTE if turns else JointKind.PRISMATIC
        part: dict[str, Any] = {"kind": one, "axis": dofs.axes[k], **dofs.at(k)}
        if i is not None:
            part["ref"] = tree.joints[i].ref  # Newton's coordinate is q - ref, and mapped
        part |= {"T_parent_joint": X_p} if k == 0 else {}
        part |= {"T_joint_body": X_c} if k == count - 1 else {}
        parts.append((part, i))
    return parts


def _symmetric(I: Floats) -> Floats:
    return (I + I.T) / 2
