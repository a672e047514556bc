"""The joint that carries a body: what it lets move, in which coordinates, and what the file writes on it.

Coordinates `q | v` per kind (CONVENTIONS.md): revolute, continuous, prismatic 1 | 1; ball quaternion wxyz | omega;
planar x, y, theta | vx, vy, omega; floating position, quaternion wxyz | v, omega; velocities in child axes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from .errors import ShapeError, Source

if TYPE_CHECKING:
    from collections.abc import Mapping

Floats = NDArray[np.float64]

_NQ: Final[Mapping[str, int]] = {"fixed": 0, "ball": 4, "planar": 3, "floating": 7}
_NV: Final[Mapping[str, int]] = {"fixed": 0, "ball": 3, "planar": 3, "floating": 6}


class JointKind(StrEnum):
    """How a child may move against its parent."""

    FIXED = "fixed"
    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    BALL = "ball"
    PLANAR = "planar"
    FLOATING = "floating"

    @property
    def nq(self) -> int:
        """Number of position coordinates."""
        return _NQ.get(self, 1)

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return _NV.get(self, 1)

    @property
    def dof_suffixes(self) -> tuple[str, ...]:
        """Endings of the dof names: a joint with one dof lends its bare name."""
        return {
            "fixed": (),
            "ball": (".wx", ".wy", ".wz"),
            "planar": (".vx", ".vy", ".wz"),
            "floating": (".vx", ".vy", ".vz", ".wx", ".wy", ".wz"),
        }.get(self.value, ("",))


def frozen(value: object, shape: tuple[int, ...], name: str) -> Floats:
    """Return a read-only float64 copy of `value`, of exactly this shape.

    Raises:
        ShapeError: another shape; the message names the field.
    """
    array = np.array(value, dtype=np.float64)
    if array.shape != shape:
        raise ShapeError(f"{name} has shape {array.shape}; expected {shape}")
    # On bytes: an array that owns its memory can be made writeable again.
    return np.ndarray(shape, np.float64, array.tobytes())


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """The joint that carries one body: T_parent_body(q) = T_parent_joint @ motion(q - ref) @ T_joint_body.

    Attributes:
        name: as in the file, or a stable invented name.
        kind: see `JointKind`.
        axis: (3,) unit vector in joint axes: of rotation, of translation, or the normal of a planar joint.
        T_parent_joint: (4, 4) placement of the joint in the parent body.
        T_joint_body: (4, 4) placement of the child body on the moving side; identity in URDF, minus the anchor in MJCF.
        ref: [rad | m] coordinate at which a hinge or slide is undisplaced.
        lower: [rad | m] position limit of a one-dof joint; -inf when there is none.
        upper: [rad | m] position limit of a one-dof joint; inf when there is none.
        speed: [rad/s | m/s] speed limit, inf when there is none.
        effort: [N m | N] effort limit, inf when there is none.
        damping: (nv,) [N m s/rad | N s/m] viscous coefficient.
        friction: (nv,) [N m | N] dry friction.
        armature: (nv,) [kg m^2 | kg] reflected inertia written on the joint.
        rotor: (nv,) [kg m^2 | kg] reflected inertia of actuators, gear squared times actuator armature.
        stiffness: [N m/rad | N/m] spring.
        rest: (nq,) coordinate at which the spring is at rest.
        actuated: whether an actuator or transmission drives it.
        sources: file and line by field name; the key "element" is the joint itself.
    """

    name: str
    kind: JointKind
    axis: Floats = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    T_parent_joint: Floats = field(default_factory=lambda: np.eye(4))
    T_joint_body: Floats = field(default_factory=lambda: np.eye(4))
    ref: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf
    speed: float = np.inf
    effort: float = np.inf
    damping: Floats | float = 0.0
    friction: Floats | float = 0.0
    armature: Floats | float = 0.0
    rotor: Floats | float = 0.0
    stiffness: float = 0.0
    rest: Floats | None = None
    actuated: bool = False
    sources: Mapping[str, Source] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("damping", "friction", "armature", "rotor"):
            value = np.broadcast_to(np.asarray(getattr(self, name), float), (self.kind.nv,))
            object.__setattr__(self, name, frozen(value, (self.kind.nv,), f"{name} of joint {self.name!r}"))
        rest = self.neutral if self.rest is None else self.rest
        object.__setattr__(self, "rest", frozen(rest, (self.kind.nq,), f"rest of joint {self.name!r}"))
        for name, shape in (("axis", (3,)), ("T_parent_joint", (4, 4)), ("T_joint_body", (4, 4))):
            object.__setattr__(self, name, frozen(getattr(self, name), shape, f"{name} of joint {self.name!r}"))
        object.__setattr__(self, "sources", MappingProxyType(dict(self.sources)))

    @property
    def nq(self) -> int:
        """Number of position coordinates."""
        return self.kind.nq

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return self.kind.nv

    @property
    def neutral(self) -> Floats:
        """(nq,) coordinates at which the joint is undisplaced: `ref`, identity quaternions, zero elsewhere."""
        q = np.full(self.nq, self.ref)
        if self.kind is JointKind.BALL:
            q = np.array([1.0, 0, 0, 0])
        elif self.kind is JointKind.FLOATING:
            q = np.array([0.0, 0, 0, 1, 0, 0, 0])
        return q

    @property
    def reflected(self) -> Floats:
        """(nv,) [kg m^2 | kg] all reflected inertia, which multiplies the acceleration of this joint alone."""
        return np.asarray(self.armature) + np.asarray(self.rotor)

    @property
    def dofs(self) -> tuple[str, ...]:
        """Names of the degrees of freedom."""
        return tuple(self.name + suffix for suffix in self.kind.dof_suffixes)

    def source(self, name: str = "element") -> Source:
        """Return file and line of a field, else of the joint."""
        return self.sources.get(name) or self.sources.get("element") or Source()
