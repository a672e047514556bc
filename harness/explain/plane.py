"""The plane in which a robot moves, when there is one, and its vectors as drawings in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..tree import JointKind
from .record import Drawing, Mark

if TYPE_CHECKING:
    from ...adapters.reference import Motion
    from ..tree import Floats, Tree
    from .passes import Passes

FLAT: Final = 1e-9  # of a unit vector: directions are parallel or normal to the plane below it
LONGEST: Final = 0.45  # of the extent of the robot: the longest arrow of a kind
TURNS: Final = (JointKind.REVOLUTE, JointKind.CONTINUOUS)


@dataclass(frozen=True, eq=False)
class Plane:
    """A plane that no body leaves.

    Attributes:
        normal: (3,) unit vector in world axes.
        axes: (2, 3) unit vectors across and up; up is against gravity where gravity lies in the plane.
    """

    normal: Floats
    axes: Floats

    def flat(self, x: Floats) -> Floats:
        """Return vectors (..., 3) of the world in the axes of the plane, (..., 2)."""
        return x @ self.axes.T


def plane_of(tree: Tree, motion: Motion) -> Plane | None:
    """Return the plane of a tree at one state; None where bodies may leave any one plane.

    Args:
        tree: of the robot.
        motion: of its reference at one state.
    """
    R = np.asarray(motion.R_world_body[0], np.float64)
    turning: list[Floats] = []
    sliding: list[Floats] = []
    for b, joint in enumerate(tree.joints):
        if joint.nv == 0:
            continue
        if joint.kind not in (*TURNS, JointKind.PRISMATIC):
            return None
        axis = R[b] @ np.asarray(joint.T_joint_body)[:3, :3].T @ np.asarray(joint.axis)
        (turning if joint.kind in TURNS else sliding).append(axis)
    if not turning:
        return None
    normal = turning[0]
    if any(np.abs(np.cross(normal, x)).max() > FLAT for x in turning) or any(abs(normal @ x) > FLAT for x in sliding):
        return None
    up = -tree.gravity + (tree.gravity @ normal) * normal
    if np.linalg.norm(up) < FLAT:
        up = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    up = up / np.linalg.norm(up)
    # The robot is seen from where its first joint turns counterclockwise.
    return Plane(normal, np.stack([np.cross(up, normal), up]).astype(np.float64))


def drawings(tree: Tree, plane: Plane, done: Passes) -> tuple[Drawing, ...]:
    """Return the outward and the inward pass as vectors in the plane."""
    p, c = plane.flat(done.joints), plane.flat(done.c)
    moving = [b for b in range(1, len(tree.bodies)) if tree.moving[b] and tree.bodies[b].inertia.mass]
    joints = [b for b, joint in enumerate(tree.joints) if joint.nv]
    robot = _robot(tree, p, c)
    extent = max(float(np.ptp(np.concatenate([p, c]), axis=0).max()), 1e-9)
    outward = (
        *_arrows(c, plane.flat(done.v_com), moving, extent, 1),
        *_arrows(c, plane.flat(done.a_com), moving, extent, 2),
    )
    inward = (
        *_arrows(c, plane.flat(done.own), moving, extent, 1),
        *_arrows(p, plane.flat(done.force), joints, extent, 2),
    )
    names = [tree.bodies[b].name for b in moving]
    about = done.moment + np.cross(done.p - done.joints, done.force)
    return (
        Drawing(
            "Outward pass: velocities and accelerations of the centres of mass",
            (*robot, *outward),
            (
                f"velocity of the centre of mass{_longest(done.v_com, moving, 'm/s')}",
                f"its acceleration, without gravity{_longest(done.a_com, moving, 'm/s^2')}",
            ),
            "; ".join(
                f"{name}: {np.linalg.norm(done.v_com[b]):.3g} m/s, {np.linalg.norm(done.a_com[b]):.3g} m/s^2"
                for name, b in zip(names, moving, strict=True)
            )
            + " at the centres of mass.",
        ),
        Drawing(
            "Inward pass: force that each body needs, and force through each joint",
            (*robot, *inward),
            (
                f"m (a_C - g) of the body alone{_longest(done.own, moving, 'N')}",
                f"force of the joint on its child{_longest(done.force, joints, 'N')}",
            ),
            "; ".join(
                f"{tree.bodies[b].joint.name}: {np.linalg.norm(done.force[b]):.3g} N, "
                f"moment {about[b] @ plane.normal:.3g} N m"
                for b in joints
            )
            + " through the joints.",
        ),
    )


def _robot(tree: Tree, p: Floats, c: Floats) -> tuple[Mark, ...]:
    """Return links from joint to joint, dashed lines to centres of mass that are elsewhere, and joints."""
    marks: list[Mark] = []
    for b, body in enumerate(tree.bodies):
        if b and tree.moving[body.parent] and np.ptp([p[body.parent], p[b]], axis=0).max() > 0:
            marks.append(Mark((_point(p[body.parent]), _point(p[b]))))
        if b and body.inertia.mass and tree.moving[b]:
            marks.append(Mark((_point(p[b]), _point(c[b])), "dashed", body.name))
    joints = tuple(_point(p[b]) for b, joint in enumerate(tree.joints) if joint.nv)
    return (*marks, Mark(joints, "dot"))


def _arrows(at: Floats, vectors: Floats, chosen: list[int], extent: float, group: int) -> tuple[Mark, ...]:
    """Return an arrow at each chosen body, all to one scale."""
    longest = max((float(np.linalg.norm(vectors[b])) for b in chosen), default=0.0)
    if not longest:
        return ()
    scale = LONGEST * extent / longest
    return tuple(Mark((_point(at[b]), _point(at[b] + scale * vectors[b])), "arrow", "", group) for b in chosen)


def _longest(vectors: Floats, chosen: list[int], unit: str) -> str:
    """Return what the longest arrow of a kind stands for; all of that kind have its scale."""
    return f", longest {max(np.linalg.norm(vectors[b]) for b in chosen):.3g} {unit}" if chosen else ""


def _point(x: Floats) -> tuple[float, float]:
    return float(x[0]), float(x[1])
