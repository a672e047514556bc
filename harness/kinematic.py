"""Sessions of readers that place links and compute no dynamics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from .errors import EngineUnsupported
from .findings import finding
from .lacking import Lacking
from .revealed import order
from .seats import require_columns
from .spatial import rotation_from_quaternion, transform
from .tree import JointKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .findings import Finding
    from .tree import Closure, Floats, Tree

    # Joint name to its coordinate, of a floating joint its pose (4, 4); link name to its pose (4, 4) in the base link.
    Place: TypeAlias = Callable[[Mapping[str, "float | Floats"]], Mapping[str, Floats]]

DYNAMIC: Final = (
    *("tau", "bias", "gravity", "mass_matrix", "acceleration", "velocities", "kinetic_energy", "potential_energy"),
    *("center_of_mass", "momentum", "generalized_forces"),
)


class KinematicSession(Lacking):
    """Poses of links, and the numbers that were read; see `harness.engine.Session`.

    Args:
        tree: whose coordinates go in.
        held: the robot as it was read, its base link at the origin of the world.
        place: returns where all links are.
        engine: its name, as it stands in a sentence.
        actuated: names of its joints, in its own order.
        findings, notes: see `harness.engine.Session`.
    """

    def __init__(
        self,
        tree: Tree,
        held: Tree,
        place: Place,
        engine: str,
        actuated: Sequence[str] = (),
        *,
        findings: Sequence[Finding] = (),
        notes: Sequence[str] = (),
    ) -> None:
        # No reader of URDF says of gravity what the file cannot.
        self.tree, self.model, self._place = tree, replace(held, gravity=tree.gravity), place
        self.lacks = dict.fromkeys(DYNAMIC, f"{engine} computes no dynamics")
        kinds = {joint.name: _turning(joint.kind) for joint in held.joints}
        moving = [(i, joint) for i, joint in enumerate(tree.joints) if joint.nv]
        self._joints = [i for i, joint in moving if kinds.get(joint.name) == _turning(joint.kind)]
        self.dofs = tuple(dof for i in self._joints for dof in tree.joints[i].dofs)
        own = set(self.dofs)
        self.extra_dofs = tuple(dof for dof in held.dofs if dof not in own)
        self._links = [i for i, body in enumerate(tree.bodies) if i and body.name in held.index]
        self.bodies = tuple(tree.bodies[i].name for i in self._links)
        self.total_mass = held.total_mass
        ordered = [tree.joint_index[name] for name in actuated if tree.joint_index.get(name) in self._joints]
        fix = f"hand {engine} the coordinates by joint name: its own order is another"
        self.findings, self.notes = (*findings, *order(tree, ordered, fix)), tuple(notes)

    def describe(self) -> Tree:
        """Return the robot as it was read."""
        return self.model

    def poses(self, q: Floats) -> Floats:
        """Return where the links are, their frames moved where the tree has them, (N, len(bodies), 4, 4)."""
        require_columns(q, self.tree.nq, "q")
        out = np.empty((len(q), len(self._links), 4, 4))
        Ts = [joint.T_joint_body if joint.nv else np.eye(4) for joint in self.tree.joints]
        for row, x in zip(out, q, strict=True):
            placed = self._place({self.tree.joints[i].name: self._coordinate(i, x) for i in self._joints})
            for k, i in enumerate(self._links):
                row[k] = placed[self.tree.bodies[i].name] @ Ts[i]
        return out

    def _coordinate(self, i: int, x: Floats) -> float | Floats:
        own = x[self.tree.q_slices[i]]
        if self.tree.joints[i].kind is JointKind.FLOATING:
            return np.asarray(transform(rotation_from_quaternion(own[3:]), own[:3]), np.float64)
        return float(own[0])


def _turning(kind: JointKind) -> JointKind:
    """Return the kind of a joint, its range left aside: a revolute joint without one is written as continuous."""
    return JointKind.REVOLUTE if kind is JointKind.CONTINUOUS else kind


def opened_couplings(tree: Tree, closures: Sequence[Closure], engine: str) -> list[Finding]:
    """Return the findings of joints that an engine moves by others, and that are moved by themselves here.

    Args:
        tree: the robot.
        closures: as the engine read them.
        engine: its name, as it stands in a sentence.
    """
    sources = {closure.name: closure.source for closure in tree.closures}
    return [
        finding(
            "joint.mimic",
            sources.get(closure.name),
            where=closure.between[0],
            expected=f"{closure.between[0]} moves by itself",
            found=f"{closure.numbers[1]:g} {closure.between[1]} + {closure.numbers[0]:g}",
            severity="convention",
            fix=f"nothing: {engine} places a follower by its leader, the harness takes the <mimic> out first",
        )
        for closure in closures
    ]


def require_placeable(tree: Tree, engine: str, kinds: Sequence[JointKind]) -> None:
    """Refuse joints that have no place, before the engine is called.

    Raises:
        EngineUnsupported: there is one, or the base floats.
    """
    if tree.floating_roots and JointKind.FLOATING not in kinds:
        raise EngineUnsupported(f"the base of {tree.name!r} floats; {engine} places links from their base")
    for joint in tree.joints:
        if joint.nv and joint.kind not in kinds:
            raise EngineUnsupported(f"joint {joint.name!r} is {joint.kind}; {engine} places no link by such a joint")
