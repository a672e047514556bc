"""A body of a tree with its inertia and the joint that carries it, and the order in which bodies stand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from .errors import Source
from .joint import Floats, Joint, JointKind, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, eq=False)
class Inertia:
    """Mass, centre of mass and tensor of one body, as the file says them: they need not be physical.

    Attributes:
        mass: [kg].
        com: (3,) [m] centre of mass in body axes, from the body origin.
        I_com: (3, 3) [kg m^2] tensor about the centre of mass in body axes.
        axes: (3, 3) R_body_inertial, the axes in which the file writes the tensor; no parameter of the robot, but
            what a mistake of a reader is made in.
    """

    mass: float = 0.0
    com: Floats = field(default_factory=lambda: np.zeros(3))
    I_com: Floats = field(default_factory=lambda: np.zeros((3, 3)))
    axes: Floats = field(default_factory=lambda: np.eye(3))

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", float(self.mass))
        object.__setattr__(self, "com", frozen(self.com, (3,), "com"))
        object.__setattr__(self, "I_com", frozen(self.I_com, (3, 3), "I_com"))
        object.__setattr__(self, "axes", frozen(self.axes, (3, 3), "axes"))

    @property
    def is_zero(self) -> bool:
        """True when the body resists no motion at all."""
        return self.mass == 0 and not self.I_com.any()


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """One link, with the joint that carries it.

    Attributes:
        name: as in the file, or a stable invented name.
        parent: index of the parent body; -1 for the world.
        joint: what attaches it to the parent.
        inertia: in body axes.
        gravcomp: share of its weight that MuJoCo's gravity compensation carries; in no canonical quantity.
        sources: file and line by field: "element", "inertial", "mass", "com", "inertia"; "shapes" when the inertia was
            made of shapes.
    """

    name: str
    parent: int
    joint: Joint
    inertia: Inertia = field(default_factory=Inertia)
    gravcomp: float = 0.0
    sources: Mapping[str, Source] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", MappingProxyType(dict(self.sources)))

    def source(self, name: str = "element") -> Source:
        """Return file and line of a field, else of its `<inertial>`, else of the body."""
        inertial = self.sources.get("inertial") if name in ("mass", "com", "inertia") else None
        return self.sources.get(name) or inertial or self.sources.get("element") or Source()


def world() -> Body:
    """Return body 0."""
    return Body("world", -1, Joint("world", JointKind.FIXED))


def order_of(bodies: tuple[Body, ...]) -> list[int]:
    """Return the depth-first order, by a stack: chains of 10,000 bodies are no deeper than others."""
    children: list[list[int]] = [[] for _ in bodies]
    for i, body in enumerate(bodies[1:], 1):
        children[body.parent].append(i)
    order: list[int] = []
    stack = [0]
    while stack:
        i = stack.pop()
        order.append(i)
        stack.extend(reversed(children[i]))
    return order


def depth_first(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    """Return the bodies in depth-first order, siblings as given, each with the new index of its parent."""
    order = order_of(bodies)
    if order == list(range(len(bodies))):
        return bodies
    new = {old: i for i, old in enumerate(order)}
    return tuple(replace(bodies[old], parent=-1 if old == 0 else new[bodies[old].parent]) for old in order)
