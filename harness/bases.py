"""How engines write the velocity and the acceleration of a floating base.

With V = (v, omega) of the tree, in base axes about the base origin, an engine has u = T V and u' = T V' + beta. V' is
the spatial acceleration, the derivative of V in base axes, so beta is the derivative of T along the motion, times V:
what the axes turn, and the point moves, away in the meantime. Efforts and inertia follow: tau = T' tau_engine and
M = T' M_engine T.
Source: Featherstone 2008, Rigid Body Dynamics Algorithms, section 2.11, on spatial and ordinary acceleration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from .findings import finding
from .spatial import skew

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .findings import Finding
    from .tree import Body, Floats

Axes: TypeAlias = Literal["body", "world"]

SWAPPED: Final = [3, 4, 5, 0, 1, 2]


@dataclass(frozen=True)
class BaseConvention:
    """One way to write the motion of a floating base.

    Attributes:
        linear: the axes of the linear velocity, which is that of the point of the base that `matrices` is given;
            "inertial": of the point that passes the world origin, in world axes.
        angular: the axes of the angular velocity.
        angular_first: whether the angular part stands first.
        quaternion: order of the quaternion, "wxyz" or "xyzw"; "" where the engine has other coordinates.
    """

    linear: Literal["body", "world", "inertial"] = "body"
    angular: Axes = "body"
    angular_first: bool = False
    quaternion: str = ""

    @property
    def ordinary(self) -> bool:
        """Whether accelerations are ordinary ones, with omega x v in them, and not spatial."""
        return self.linear == "world"

    def matrices(self, T_world_base: Floats, V: Floats, T_base_point: Floats | None = None) -> tuple[Floats, Floats]:
        """Return T (N, 6, 6) and beta (N, 6).

        Args:
            T_world_base: (N, 4, 4) pose of the base.
            V: (N, 6) velocity of the base, linear first, in its own axes.
            T_base_point: (4, 4) where the engine's own frame stands in the base; None for the base frame itself.
        """
        R, p = T_world_base[:, :3, :3], T_world_base[:, :3, 3]
        point = np.eye(4) if T_base_point is None else T_base_point
        own, c = point[:3, :3].T, point[:3, 3]
        turned = {"body": np.broadcast_to(own, R.shape), "world": R, "inertial": R}
        linear, angular = turned[self.linear], turned[self.angular]
        T, beta = np.zeros((len(R), 6, 6)), np.zeros((len(R), 6))
        T[:, :3, :3], T[:, 3:, 3:] = linear, angular
        T[:, :3, 3:] = skew(p) @ R if self.linear == "inertial" else -linear @ skew(c)
        if self.ordinary:
            v, omega = V[:, :3], V[:, 3:]
            beta[:, :3] = (R @ np.cross(omega, v + np.cross(omega, c))[..., None])[..., 0]
        return (T[:, SWAPPED], beta[:, SWAPPED]) if self.angular_first else (T, beta)

    def findings(self, body: Body, engine: str) -> Iterator[Finding]:
        """Yield what an adapter maps for a floating base that is written so.

        Args:
            body: the base.
            engine: its name, as it stands in a sentence.
        """
        told: list[tuple[str, str, str, str]] = []
        if self.quaternion:
            same = self.quaternion == "wxyz"
            fix = "nothing: the order is the same" if same else f"hand {engine} the quaternion as {self.quaternion}"
            told.append(("base.quaternion_order", "w, x, y, z", ", ".join(self.quaternion), fix))
        if (self.linear, self.angular) != ("body", "body"):
            found = {
                "body": "linear part in body axes",
                "world": "linear part in world axes",
                "inertial": "linear part at the world origin",
            }[self.linear] + f", angular part in {self.angular} axes"
            fix = f"turn the velocity by the rotation of the base before {engine} sees it"
            told.append(("base.velocity_frame", "both parts in base axes", found, fix))
        if self.angular_first:
            fix = f"hand {engine} the angular part first"
            told.append(("base.component_order", "linear first", "angular first", fix))
        ordinary = "add omega x v to the linear acceleration, then turn it"
        told.append(
            ("base.acceleration", "spatial", "ordinary: omega x v more", ordinary)
            if self.ordinary
            else ("base.acceleration", "spatial", "spatial", f"nothing: {engine} takes the spatial acceleration")
        )
        for kind, expected, found, fix in told:
            yield finding(kind, body.source(), where=body.name, expected=expected, found=found, fix=fix)


# Pinocchio's free flyer; iDynTree's BODY_FIXED_REPRESENTATION.
BODY: Final = BaseConvention()
# MuJoCo's free joint.
HYBRID: Final = BaseConvention("world", "body", quaternion="wxyz")
# iDynTree's MIXED_REPRESENTATION, its default, and adam's.
MIXED: Final = BaseConvention("world", "world")
# iDynTree's INERTIAL_FIXED_REPRESENTATION.
INERTIAL: Final = BaseConvention("inertial", "world")
# Drake's quaternion floating joint.
DRAKE: Final = BaseConvention("world", "world", angular_first=True, quaternion="wxyz")
# DART's free joint, whose pose is six exponential coordinates.
DART: Final = BaseConvention("world", "world", angular_first=True)
# Newton's free joint: of the centre of mass.
NEWTON: Final = BaseConvention("world", "world", quaternion="xyzw")
# PyBullet's mass matrix: in the inertial frame of the base.
BULLET: Final = BaseConvention(angular_first=True, quaternion="xyzw")
