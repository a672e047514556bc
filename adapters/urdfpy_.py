"""The urdfpy API through urchin, its maintained fork (MIT): poses of links, and the numbers that it reads.

urdfpy itself pins networkx 2.2 and cannot be imported on Python 3.10 or newer. What urchin does:

- `URDF.load(file, lazy_load_meshes=True)` opens no mesh, but the textures of materials.
- A link without `<inertial>` has 1 kg and 1 kg m^2. An axis is normalised; one of zero length becomes x.
- `link_fk` has poses in the base link, and no base that floats. A `<mimic>` is applied inside of it: the coordinate of
  the follower is not looked at. A floating joint takes a pose; a planar one two shifts, which its origin turns twice.
- A transmission without what urchin demands of it refuses the file.

Source: urchin 0.0.30, urchin/urdf.py, joint.py, link.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
import urchin

from ..harness.kinematic import KinematicSession, opened_couplings, require_placeable
from ..harness.parsers import parsed, written
from ..harness.tree import Joint, JointKind
from ..harness.urdf_objects import Hung, tree_of, turned_inertia

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..harness.engine import Engine, Given
    from ..harness.findings import Finding
    from ..harness.tree import Floats, Tree

NAME: Final = "urchin"
KINDS: Final = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.FLOATING)


def load(path: str) -> Any:
    """Return the robot of a file, whose meshes stay where they are."""
    return urchin.URDF.load(path, lazy_load_meshes=True)


def read_back(robot: Any) -> Tree:
    """Return what urchin read as a tree."""
    links = [
        (link.name, turned_inertia(link.inertial.mass, link.inertial.origin, link.inertial.inertia))
        for link in robot.links
    ]
    return tree_of(robot.name, links, [_hung(joint) for joint in robot.joints])


def _hung(joint: Any) -> Hung:
    kind, limit, dynamics = JointKind(joint.joint_type), joint.limit, joint.dynamics
    ranged: Any = limit if kind in (JointKind.REVOLUTE, JointKind.PRISMATIC) else None
    own = Joint(
        joint.name,
        kind,
        axis=joint.axis,
        T_parent_joint=joint.origin,
        lower=(ranged.lower or 0.0) if ranged is not None else -np.inf,
        upper=(ranged.upper or 0.0) if ranged is not None else np.inf,
        speed=limit.velocity if limit is not None and kind.nv == 1 else np.inf,
        effort=limit.effort if limit is not None and kind.nv == 1 else np.inf,
        damping=(dynamics.damping or 0.0) if dynamics else 0.0,
        friction=(dynamics.friction or 0.0) if dynamics else 0.0,
    )
    mimic = joint.mimic
    relation = (mimic.joint, float(mimic.multiplier), float(mimic.offset)) if mimic else None
    return Hung(own, joint.parent, joint.child, relation)


class _UrdfpyEngine:
    """The urdfpy API as an engine of the harness."""

    def native(self, given: Given, tree: Tree) -> KinematicSession:
        """Open a URDF.

        Raises:
            EngineRefused: urchin would not load it, in its words.
            EngineUnsupported: another format, a base that should be freed, or a planar joint.
        """
        robot, notes = parsed(load, given, tree, NAME)
        require_placeable(tree, NAME, KINDS)
        held = read_back(robot)
        for joint in robot.joints:
            joint.mimic = None
        return _session(robot, tree, held, opened_couplings(tree, held.closures, NAME), notes)

    def neutral(self, tree: Tree) -> KinematicSession:
        """Write the tree as a URDF, and read that.

        Raises:
            EngineUnsupported: a joint without a place.
        """
        require_placeable(tree, NAME, KINDS)
        robot = written(load, tree, NAME)
        return _session(robot, tree, read_back(robot))


def _session(
    robot: Any, tree: Tree, held: Tree, findings: Sequence[Finding] = (), notes: Sequence[str] = ()
) -> KinematicSession:
    def place(coordinates: Mapping[str, float | Floats]) -> Mapping[str, Floats]:
        return robot.link_fk(dict(coordinates), use_names=True)

    actuated = [joint.name for joint in robot.actuated_joints]
    return KinematicSession(tree, held, place, NAME, actuated, findings=findings, notes=notes)


# Its sessions have the calls that they lack by `Lacking` alone.
ENGINE = cast("Engine", _UrdfpyEngine())
