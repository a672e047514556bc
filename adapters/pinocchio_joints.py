# pyright: reportAttributeAccessIssue=false
"""The primitive joints of a `pinocchio.Model`, and the map from canonical coordinates to Pinocchio's.

Pinocchio's quaternions are x, y, z, w, and it holds unbounded rotations, the planar one included, as cosine and sine.
Its velocities are in the axes of the moving side, linear first for a free flyer, as the canonical ones: only their
columns change places.
Source: Pinocchio documentation, joint models of `pinocchio/multibody/joint`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pinocchio as pin

from ..harness.errors import ReadError, Source
from ..harness.seats import require_columns
from ..harness.tree import JointKind
from .pinocchio_versions import subspace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from ..harness.tree import Floats, Tree

PinModel: TypeAlias = Any
SE3: TypeAlias = Any

WHOLE = {
    "JointModelFreeFlyer": JointKind.FLOATING,
    "JointModelSpherical": JointKind.BALL,
    "JointModelPlanar": JointKind.PLANAR,
}
QUAT_XYZW_FROM_WXYZ = (1, 2, 3, 0)


@dataclass(frozen=True, eq=False)
class Slot:
    """One primitive joint of a Pinocchio model; composites and joints of several angles are several slots.

    Attributes:
        joint: index of the Pinocchio joint.
        name: its name, with ".k" behind it when the joint has several slots; unique in the model.
        kind: the same joint in the words of the tree.
        axis: (3,) in joint axes.
        placement: of this joint behind the slot before it, else in the parent joint.
        q, v: first coordinate in Pinocchio's q and v.
    """

    joint: int
    name: str
    kind: JointKind
    axis: Floats
    placement: SE3
    q: int
    v: int
    unbounded: bool = False

    @property
    def nv(self) -> int:
        """Number of velocity coordinates, the same as that of the tree's joint."""
        return self.kind.nv


def slots(model: PinModel) -> list[Slot]:
    """Return the primitive joints of a model, in Pinocchio's order.

    Raises:
        ReadError: a joint that no tree can hold: a screw, an ellipsoid, a mimicking joint.
    """
    result: list[Slot] = []
    names: set[str] = set()
    for j in range(1, model.njoints):
        parts = list(_parts(model, j, model.joints[j], model.jointPlacements[j]))
        for k, (kind, axis, placement, q, v, unbounded) in enumerate(parts):
            name = unique(model.names[j] if len(parts) == 1 else f"{model.names[j]}.{k}", names)
            result.append(Slot(j, name, kind, axis, placement, q, v, unbounded))
    return result


def _parts(
    model: PinModel, j: int, joint: Any, placement: SE3
) -> Iterator[tuple[JointKind, Floats, SE3, int, int, bool]]:
    """Yield kind, axis, placement, first q, first v and unboundedness of each primitive of one joint model."""
    if joint.shortname() == "JointModelComposite":
        composite = joint.extract()
        for k, (part, inner) in enumerate(zip(composite.joints, composite.jointPlacements, strict=True)):
            yield from _parts(model, j, part, placement * inner if k == 0 else inner)
        return
    kind = WHOLE.get(joint.shortname())
    if kind is not None:
        yield kind, np.array([0.0, 0, 1]), placement, joint.idx_q, joint.idx_v, False
        return
    # All other joints are products of turns and shifts about the columns of S at zero (Euler angles, universal,
    # translation): S is the one thing that every joint model shows, also where it hides its axis.
    columns = subspace(model, joint).T
    mixed = any(column[:3].any() and column[3:].any() for column in columns)
    if mixed or joint.nv == 0:
        found = joint.shortname().removeprefix("JointModel")
        raise ReadError(
            f"joint {model.names[j]!r} is a {found}; supported: revolute, unbounded, prismatic, spherical, planar, "
            "free flyer, universal, translation, Euler angles, composites of these (load a URDF with mimic=False)",
            Source(),
            where=model.names[j],
            kind="refused.unsupported",
        )
    unbounded = joint.nq > joint.nv
    turning = JointKind.CONTINUOUS if unbounded else JointKind.REVOLUTE
    for k, column in enumerate(columns):
        # The URDF parser takes an axis of length zero: such a joint moves nothing, and its name alone tells its kind.
        turns = column[3:].any() if column.any() else "Revolute" in joint.shortname()
        kind = turning if turns else JointKind.PRISMATIC
        axis = column[3:] if turns else column[:3]
        yield kind, axis, placement if k == 0 else pin.SE3.Identity(), joint.idx_q + k, joint.idx_v + k, unbounded


def unique(name: str, taken: set[str]) -> str:
    """Return `name`, or `name#2`, `name#3`, ... when it is taken, and take it."""
    count, result = 1, name
    while result in taken:
        count += 1
        result = f"{name}#{count}"
    taken.add(result)
    return result


class CoordinateMap:
    """Canonical coordinates of N states to Pinocchio's; dofs that only one side has are left out, or rest at zero.

    Attributes:
        v_from: indices of the dofs that both have in canonical v, ascending.
        v_to: where each of them stands in Pinocchio's v.
    """

    def __init__(self, model: PinModel, tree: Tree, pairs: Sequence[tuple[int, Slot]], *, shifted: bool) -> None:
        self._neutral, self._nv, self._nq = pin.neutral(model), model.nv, tree.nq
        copies: list[tuple[int, int, float]] = []  # to, from, shift
        turns: list[tuple[int, int]] = []  # to (cosine, sine behind it), from
        velocities: list[tuple[int, int]] = []
        for i, slot in sorted(pairs, key=lambda pair: pair[0]):
            joint, q = tree.joints[i], tree.q_slices[i].start
            velocities += [(slot.v + k, tree.v_slices[i].start + k) for k in range(joint.nv)]
            straight = {JointKind.FLOATING: 3, JointKind.PLANAR: 2, JointKind.BALL: 0}.get(slot.kind, 1)
            if slot.kind in (JointKind.FLOATING, JointKind.BALL):
                quat = enumerate(QUAT_XYZW_FROM_WXYZ)
                copies += [(slot.q + straight + k, q + straight + wxyz, 0.0) for k, wxyz in quat]
            elif slot.kind is JointKind.PLANAR or slot.unbounded:
                straight = 2 if slot.kind is JointKind.PLANAR else 0
                turns.append((slot.q + straight, q + straight))
            copies += [(slot.q + k, q + k, joint.ref if shifted else 0.0) for k in range(straight)]
        self._q_to, self._q_from = _indices(to for to, _, _ in copies), _indices(f for _, f, _ in copies)
        self._shift = np.array([shift for _, _, shift in copies])
        self._turn_to, self._turn_from = _indices(to for to, _ in turns), _indices(f for _, f in turns)
        self.v_to, self.v_from = _indices(to for to, _ in velocities), _indices(f for _, f in velocities)

    def q(self, q: Floats) -> Floats:
        """Return Pinocchio's positions (N, model.nq) of canonical ones (N, nq).

        Raises:
            ShapeError: they are of another robot.
        """
        require_columns(q, self._nq, "q")
        out = np.tile(self._neutral, (len(q), 1))
        out[:, self._q_to] = q[:, self._q_from] - self._shift
        angles = q[:, self._turn_from]
        out[:, self._turn_to], out[:, self._turn_to + 1] = np.cos(angles), np.sin(angles)
        return out

    def v(self, v: Floats) -> Floats:
        """Return Pinocchio's (N, model.nv) of canonical velocities, accelerations or efforts (N, nv)."""
        out = np.zeros((len(v), self._nv))
        out[:, self.v_to] = v[:, self.v_from]
        return out


def _indices(numbers: Iterable[int]) -> NDArray[np.intp]:
    return np.array(list(numbers), np.intp)
