"""Masses and tensors that are out of proportion: a slip of units, or a number that was left as it came.

Nothing is denser than osmium, and of all bodies of one mass and density the ball has the smallest tensor: that bounds
the radius of gyration from below. From above it is bounded by the robot: what would be lighter than air if its mass
filled a ball of that radius of gyration, and is far larger than what surrounds it, is no link.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from .fault import fault
from .lint_tensors import ROUNDING, moments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..findings import Finding
    from ..tree import Body, Floats, Tree

OSMIUM: Final = 22590.0  # [kg/m^3] Arblaster 1995, Platinum Metals Review 39(4), 164
AIR: Final = 1.225  # [kg/m^3] at sea level, ISO 2533:1975
# [kg] A nanogram: not even the placeholders of those who need a number weigh less. A hundred tonnes: nor more.
LEAST: Final = 1e-12
MOST: Final = 1e5
# How far a radius of gyration may exceed the reach of its robot, and that of its link and the links next to it. Over
# 1,350 models (example-robot-data and the assets of PyBullet, dm_control and Gymnasium) sound links stay below 1.3 and
# 4.8; a tensor in kg cm^2 makes it 100, one in kg mm^2 1,000 times too large.
ROBOT: Final = 1.5
LINK: Final = 10.0


def masses(tree: Tree) -> Iterator[Finding]:
    """Yield masses above zero that no part of a robot has."""
    for body in tree.bodies[1:]:
        mass = body.inertia.mass
        if 0 < mass < LEAST:
            yield fault(tree, "lint.mass", body.name, body.source("mass"), f"at least {LEAST:g} kg", mass, "kg")
        elif mass > MOST:
            yield fault(tree, "lint.mass", body.name, body.source("mass"), f"at most {MOST:g} kg", mass, "kg")


def sizes(tree: Tree) -> Iterator[Finding]:
    """Yield tensors that are too small or too large for their mass and for the reach of the robot."""
    reach = _Reach(tree)
    for i, body in enumerate(tree.bodies[1:], 1):
        A, B, C = moments(body)
        mass = body.inertia.mass
        if not mass > 0 or A < -ROUNDING * C or C <= 0:
            continue  # no size, or none that means anything
        k = float(np.sqrt((A / mass + B / mass + C / mass) / 2))
        least = np.sqrt(3 / 5) * float(np.cbrt(mass / OSMIUM / (4 / 3 * np.pi)))
        most = min(ROBOT * reach.robot[i], LINK * reach.link[i])
        if k < least:
            yield _fault(tree, body, f"at least {least:.3g} m, as of a ball of osmium", k)
        elif 0 < most < k and mass < _ball_mass(AIR, np.sqrt(5 / 3) * k):
            yield _fault(tree, body, f"at most {most:.3g} m, by the reach of the robot around it", k)


def _fault(tree: Tree, body: Body, expected: str, k: float) -> Finding:
    expected = f"radius of gyration {expected}"
    return fault(tree, "lint.tensor_size", body.name, body.source("inertia"), expected, k, "m")


def _ball_mass(density: float, radius: float) -> float:
    """Return the mass of a ball [kg]."""
    return float(4 / 3 * np.pi * density * np.float64(radius) ** 3)


class _Reach:
    """How far a robot reaches, by body: [m], zero where joints say nothing about it.

    Attributes:
        robot: of the mechanism that the body belongs to: the longest chain of joint offsets, or the diagonal of the box
            around joint origins and centres of mass at rest, whichever is larger. Zero for a body that is alone.
        link: of the body and its neighbours: the longest of the offsets to their joints and centres of mass.
    """

    def __init__(self, tree: Tree) -> None:
        count = len(tree.bodies)
        Ts_world_body = poses(tree)
        top, chain = [0] * count, [0.0] * count
        offset = [0.0] * count
        for i, body in enumerate(tree.bodies[1:], 1):
            top[i] = top[body.parent] or i
            if top[i] != i:  # where a mechanism stands in the world is no size of it
                offset[i] = float(np.linalg.norm((body.joint.T_parent_joint @ body.joint.T_joint_body)[:3, 3]))
            chain[i] = chain[body.parent] + offset[i]
        own = [max(offset[i], float(np.linalg.norm(b.inertia.com))) for i, b in enumerate(tree.bodies)]
        for i, body in enumerate(tree.bodies[1:], 1):
            own[body.parent] = max(own[body.parent], offset[i])
        self.robot, self.link = [0.0] * count, list(own)
        for i, body in enumerate(tree.bodies[1:], 1):
            if body.parent:
                self.link[i] = max(self.link[i], own[body.parent])
                self.link[body.parent] = max(self.link[body.parent], own[i])
        for mechanism in set(top) - {0}:
            members = [i for i in range(count) if top[i] == mechanism]
            if any(offset[i] for i in members):
                coms = [_apply(Ts_world_body[i], tree.bodies[i].inertia.com) for i in members]
                points = np.array([Ts_world_body[i][:3, 3] for i in members] + coms)
                size = max(float(np.linalg.norm(np.ptp(points, axis=0))), *(chain[i] for i in members))
                for i in members:
                    self.robot[i] = size


def _apply(T: Floats, p: Floats) -> Floats:
    return T[:3, :3] @ p + T[:3, 3]


def poses(tree: Tree) -> list[Floats]:
    """Return T_world_body (4, 4) of every body with all joints undisplaced."""
    Ts: list[Floats] = [np.eye(4)]
    for body in tree.bodies[1:]:
        Ts.append(Ts[body.parent] @ body.joint.T_parent_joint @ body.joint.T_joint_body)
    return Ts
