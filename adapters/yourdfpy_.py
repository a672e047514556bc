"""yourdfpy (MIT): poses of links, and the numbers that it reads.

- `URDF.load(file, load_meshes=False)` opens no mesh.
- A link without `<inertial>` has none. An axis is not normalised, but turns are; a slide goes as far as it is long.
- `update_cfg` and `get_transform` have poses in the base link, and no base that floats. A `<mimic>` is applied there:
  the coordinate of the follower is not looked at.
- Planar and floating joints do not move.
- trimesh, which multiplies the poses, keeps that of a joint which moves by less than 1e-8, so that an answer depends on
  what was asked before, and leaves out one so near to the identity. Every joint is moved elsewhere first.

Source: yourdfpy 0.0.60, yourdfpy/urdf.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
import yourdfpy

from ..harness.findings import finding
from ..harness.kinematic import KinematicSession, opened_couplings, require_placeable
from ..harness.parsers import parsed, written
from ..harness.tree import Inertia, Joint, JointKind
from ..harness.urdf_objects import Hung, tree_of, turned_inertia

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..harness.engine import Engine, Given
    from ..harness.findings import Finding
    from ..harness.tree import Floats, Tree

NAME: Final = "yourdfpy"
KINDS: Final = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC)
UNIT: Final = 1e-9  # an axis is as long as a unit vector
ELSEWHERE: Final = 1.0  # [rad | m] beyond what is asked: no joint that moves so far keeps its pose


def load(path: str) -> Any:
    """Return the robot of a file, without meshes."""
    return yourdfpy.URDF.load(path, load_meshes=False)


def read_back(robot: Any) -> Tree:
    """Return what yourdfpy read as a tree; planar and floating joints are fixed there."""
    links = [(link.name, _inertia(link.inertial)) for link in robot.robot.links]
    return tree_of(robot.robot.name, links, [_hung(joint) for joint in robot.robot.joints])


def _inertia(inertial: Any) -> Inertia:
    if inertial is None:
        return Inertia()
    origin = np.eye(4) if inertial.origin is None else inertial.origin
    tensor = np.zeros((3, 3)) if inertial.inertia is None else inertial.inertia
    return turned_inertia(inertial.mass or 0.0, origin, tensor)


def _hung(joint: Any) -> Hung:
    kind = JointKind(joint.type) if joint.type in KINDS else JointKind.FIXED
    limit, dynamics, length = joint.limit, joint.dynamics, float(np.linalg.norm(joint.axis))
    ranged: Any = limit if kind in (JointKind.REVOLUTE, JointKind.PRISMATIC) else None
    own = Joint(
        joint.name,
        kind,
        axis=joint.axis / length if length else np.array([1.0, 0.0, 0.0]),
        T_parent_joint=np.eye(4) if joint.origin is None else joint.origin,
        lower=(ranged.lower or 0.0) if ranged is not None else -np.inf,
        upper=(ranged.upper or 0.0) if ranged is not None else np.inf,
        speed=_or_none(limit.velocity) if limit is not None and kind.nv else np.inf,
        effort=_or_none(limit.effort) if limit is not None and kind.nv else np.inf,
        damping=(dynamics.damping or 0.0) if dynamics else 0.0,
        friction=(dynamics.friction or 0.0) if dynamics else 0.0,
    )
    mimic = joint.mimic
    relation = (mimic.joint, float(mimic.multiplier), float(mimic.offset)) if mimic else None
    return Hung(own, joint.parent, joint.child, relation)


def _or_none(limit: float | None) -> float:
    return np.inf if limit is None else limit


class _YourdfpyEngine:
    """yourdfpy as an engine of the harness."""

    def native(self, given: Given, tree: Tree) -> KinematicSession:
        """Open a URDF.

        Raises:
            EngineRefused: yourdfpy would not load it, in its words.
            EngineUnsupported: another format, or a base that should be freed.
        """
        robot, notes = parsed(load, given, tree, NAME)
        held = read_back(robot)
        return _session(robot, tree, held, (*opened_couplings(tree, held.closures, NAME), *_axes(robot, tree)), notes)

    def neutral(self, tree: Tree) -> KinematicSession:
        """Write the tree as a URDF, and read that.

        Raises:
            EngineUnsupported: a joint that does not move.
        """
        require_placeable(tree, NAME, KINDS)
        robot = written(load, tree, NAME)
        return _session(robot, tree, read_back(robot))


def _axes(robot: Any, tree: Tree) -> Iterator[Finding]:
    """Yield the slides that go as far as their axes are long."""
    for joint in robot.robot.joints:
        i = tree.joint_index.get(joint.name)
        if joint.type == "prismatic" and i and abs(np.linalg.norm(joint.axis) - 1) > UNIT:
            own = tree.joints[i]
            yield finding(
                "joint.axis",
                own.source("axis"),
                where=own.name,
                expected=own.axis.tolist(),
                found=joint.axis.tolist(),
                fix="write the axis with length 1: yourdfpy multiplies it with the coordinate as it is",
            )


def _session(
    robot: Any, tree: Tree, held: Tree, findings: Sequence[Finding] = (), notes: Sequence[str] = ()
) -> KinematicSession:
    for joint in robot.robot.joints:
        joint.mimic = None
    # What follows another joint has no coordinate of its own until the robot is taken up anew.
    opened = yourdfpy.URDF(robot.robot, load_meshes=False)
    links = [link.name for link in opened.robot.links]

    def place(coordinates: Mapping[str, float | Floats]) -> Mapping[str, Floats]:
        opened.update_cfg({name: coordinate + ELSEWHERE for name, coordinate in coordinates.items()})
        opened.update_cfg(dict(coordinates))
        return {name: opened.get_transform(name) for name in links}

    return KinematicSession(tree, held, place, NAME, opened.actuated_joint_names, findings=findings, notes=notes)


# Its sessions have the calls that they lack by `Lacking` alone.
ENGINE = cast("Engine", _YourdfpyEngine())
