"""The neutral description of a robot: a tree of bodies, each attached to its parent by one joint.

A `Tree` is what a file says, engine-free. Body 0 is the world, `parent < i` for every other body, bodies stand in
depth-first order with siblings in document order, and every link of the file stays a body: a fixed joint is a joint
without degrees of freedom, so that every line of the file keeps its place. Several MJCF joints on one body are joints
in series through massless bodies. Loops are `Closure`s beside the tree, and what the tree cannot hold is a `Loss`.

The parts are in `joint` (kinds of joint with their coordinates) and `body` (bodies with their inertia).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from .body import Body, Inertia, depth_first, world
from .errors import Source, TreeError
from .joint import Floats, Joint, JointKind, frozen
from .tree_faults import Fault, name_faults, number_faults, parent_faults

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .fusion import Fusion

__all__ = [
    "STANDARD_GRAVITY",
    "Body",
    "Closure",
    "Floats",
    "Inertia",
    "Joint",
    "JointKind",
    "Loss",
    "Medium",
    "Origin",
    "Said",
    "TendonInertia",
    "Tree",
    "world",
]

STANDARD_GRAVITY: Final = (0.0, 0.0, -9.81)


@dataclass(frozen=True, slots=True)
class Said:
    """One value of what no tree holds, so that two files can be held against each other in it.

    Attributes:
        name: of the value, as the format calls it.
        value: its numbers, or a word.
        joint: the joint that it is about, "" for none.
        body: the body that it is about, "" for none.
        point: whether the value is a point (3,) [m] of that body, in its axes from its origin.
    """

    name: str
    value: tuple[float, ...] | str
    joint: str = ""
    body: str = ""
    point: bool = False


@dataclass(frozen=True, slots=True)
class Closure:
    """A relation that the open tree does not have: mimic, or an MJCF equality. The checks run on the open tree.

    Attributes:
        kind: "mimic", "joint", "connect", "weld", "tendon", ...
        name: as in the file, or invented.
        between: names of the two joints or bodies; the second may be empty (the world, or a constant).
        numbers: mimic: (offset, multiplier) of first = offset + multiplier * second; joint: polynomial coefficients;
            connect: the anchor in both bodies (6,); weld: as the format has them, `importers.mjcf_terms.closures_of`.
        active: whether the file switches it on.
        source: file and line.
        says: what the lengths of its tendons depend on.
    """

    kind: str
    name: str
    between: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    active: bool = True
    source: Source = field(default_factory=Source)
    says: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class TendonInertia:
    """Reflected inertia of a fixed tendon, L = sum of coefficient times joint coordinate: M += armature * c c^T.

    Attributes:
        name: as in the file, or invented.
        armature: [kg] (or kg m^2, as the coefficients have it), actuator armature times gear squared included.
        coefficients: joint name to coefficient.
        source: file and line.
    """

    name: str
    armature: float
    coefficients: Mapping[str, float]
    source: Source = field(default_factory=Source)


@dataclass(frozen=True, slots=True)
class Medium:
    """The fluid around an MJCF model: density [kg/m^3], viscosity [Pa s], wind (3,) [m/s]; in no canonical quantity."""

    density: float = 0.0
    viscosity: float = 0.0
    wind: tuple[float, ...] = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that the file says and the tree cannot hold.

    Attributes:
        element: tag, or tag@attribute.
        where: name of the body, joint or element concerned.
        source: file and line.
        touches_dynamics: whether it changes the smooth dynamics of some engine.
        note: what it means for the reader.
        value: the number that it is about, when there is one: the length of an axis.
        says: the values by which two files are compared in it; none for what is no part of the smooth, unforced
            dynamics.
    """

    element: str
    where: str | None
    source: Source
    touches_dynamics: bool
    note: str
    value: float | None = None
    says: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that a tree came from: path as given, format ("urdf", "mjcf" or "tree"), sha256 of its bytes."""

    path: str = ""
    format: str = "tree"
    sha256: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A robot. Bodies given in any order with valid parents are sorted depth-first, siblings as given.

    Attributes:
        name: of the robot.
        bodies: body 0 is the world.
        gravity: (3,) [m/s^2] in world axes.
        home: (nq,) a configuration that the file declares, or None.
        closures, tendons, losses, medium, origin: see there.
        sources: file and line of what concerns the whole tree: "gravity", "medium", "home", "angle" (the unit of
            angles), and in MJCF the attributes of `<compiler>` and `<option>`, as "compiler@settotalmass", and the
            first "include".

    Raises:
        TreeError: see `faults`.
    """

    name: str
    bodies: tuple[Body, ...]
    gravity: Floats = field(default_factory=lambda: np.array(STANDARD_GRAVITY))
    closures: tuple[Closure, ...] = ()
    tendons: tuple[TendonInertia, ...] = ()
    losses: tuple[Loss, ...] = ()
    medium: Medium = field(default_factory=Medium)
    origin: Origin = field(default_factory=Origin)
    home: Floats | None = None
    sources: Mapping[str, Source] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "gravity", frozen(self.gravity, (3,), "gravity"))
        object.__setattr__(self, "sources", MappingProxyType(dict(self.sources)))
        bodies = tuple(self.bodies)
        faults = parent_faults(bodies)
        if not faults:
            object.__setattr__(self, "bodies", depth_first(bodies))
            faults = name_faults(self.bodies) + number_faults(self.bodies)
            if not np.isfinite(self.gravity).all():
                faults.append(Fault(f"gravity is not finite: {self.gravity}", source=self.sources.get("gravity")))
        if faults:
            first = faults[0]
            message = f"tree {self.name!r}: " + "; ".join(fault.message for fault in faults)
            raise TreeError(message, first.where, first.source)
        if self.home is not None:
            object.__setattr__(self, "home", frozen(self.home, (self.nq,), "home"))

    def __repr__(self) -> str:
        """Return name, base and size: the bodies are told one by one by `bodies`."""
        size = f"{len(self.bodies) - 1} bodies, {self.nv} dofs, {self.total_mass:.6g} kg, {self.base} base"
        return f"<Tree {self.name!r}: {size}{f', of {self.origin.path}' if self.origin.path else ''}>"

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """The joint of every body, in the same order; joint 0 is the world's."""
        return tuple(body.joint for body in self.bodies)

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """Parent index of every body."""
        return tuple(body.parent for body in self.bodies)

    @cached_property
    def q_slices(self) -> tuple[slice, ...]:
        """Where each body's joint has its positions in q."""
        return _slices(joint.nq for joint in self.joints)

    @cached_property
    def v_slices(self) -> tuple[slice, ...]:
        """Where each body's joint has its velocities in v."""
        return _slices(joint.nv for joint in self.joints)

    @cached_property
    def nq(self) -> int:
        """Number of position coordinates."""
        return self.q_slices[-1].stop

    @cached_property
    def nv(self) -> int:
        """Number of degrees of freedom."""
        return self.v_slices[-1].stop

    @cached_property
    def dofs(self) -> tuple[str, ...]:
        """Names of the degrees of freedom, in the order of v."""
        return tuple(dof for joint in self.joints for dof in joint.dofs)

    @cached_property
    def joint_of_dof(self) -> tuple[int, ...]:
        """Body index of the joint that owns each dof."""
        return tuple(i for i, joint in enumerate(self.joints) for _ in range(joint.nv))

    @cached_property
    def moving(self) -> tuple[bool, ...]:
        """Whether each body can move against the world."""
        result = [False]
        for body in self.bodies[1:]:
            result.append(result[body.parent] or body.joint.nv > 0)
        return tuple(result)

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """For every body the first moving body above it or itself, the root of its mechanism; 0 for static bodies."""
        result = [0]
        for i, body in enumerate(self.bodies[1:], 1):
            result.append(result[body.parent] or (i if self.moving[i] else 0))
        return tuple(result)

    @cached_property
    def floating_roots(self) -> tuple[int, ...]:
        """Bodies that float against the world, in their order: the roots of mechanisms without a base."""
        roots = sorted(set(self.roots) - {0})
        return tuple(i for i in roots if self.joints[i].kind is JointKind.FLOATING)

    @cached_property
    def neutral(self) -> Floats:
        """(nq,) every joint undisplaced."""
        return np.concatenate([joint.neutral for joint in self.joints])

    @cached_property
    def free_roots(self) -> tuple[int, ...]:
        """Floating roots with nothing between them and the world that has inertia."""
        return tuple(i for i in self.floating_roots if self._hangs_on_nothing(i))

    @cached_property
    def base(self) -> str:
        """`"free"` when there is a free root, else `"fixed"`."""
        return "free" if self.free_roots else "fixed"

    def _hangs_on_nothing(self, i: int) -> bool:
        """Return whether all bodies above body i are without inertia: a root link that only names the world."""
        while (i := self.parents[i]) > 0:
            if not self.bodies[i].inertia.is_zero:
                return False
        return True

    @cached_property
    def total_mass(self) -> float:
        """[kg] of all bodies."""
        return sum(body.inertia.mass for body in self.bodies)

    @cached_property
    def moving_mass(self) -> float:
        """[kg] of the bodies that can move."""
        return sum(body.inertia.mass for body, moves in zip(self.bodies, self.moving, strict=True) if moves)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Body name to index."""
        return {body.name: i for i, body in enumerate(self.bodies)}

    @cached_property
    def joint_index(self) -> Mapping[str, int]:
        """Joint name to index of the body that it carries; the world has none."""
        return {joint.name: i for i, joint in enumerate(self.joints) if i}

    @cached_property
    def fusion(self) -> Fusion:
        """The tree with every fixed body merged into its holder, and where each body went."""
        from .fusion import fuse  # noqa: PLC0415  fusion builds trees: the import runs the other way

        return fuse(self)

    def fused(self) -> Tree:
        """Return the merged tree with exact composite inertias, for engines that merge."""
        return self.fusion.tree

    def with_base(self, base: str) -> Tree:
        """Return the tree with its base as asked: "auto" and "fixed" as the file says, "free" with floating roots.

        A tree that floats already stays as it is; otherwise every fixed joint of a body on the world becomes a floating
        joint of the same placement.
        """
        if base != "free" or self.base == "free":
            return self
        roots = [i for i, b in enumerate(self.bodies) if b.parent == 0 and b.joint.kind is JointKind.FIXED]
        bodies = list(self.bodies)
        for i in roots:
            joint = bodies[i].joint
            freed = Joint(
                joint.name,
                JointKind.FLOATING,
                T_parent_joint=joint.T_parent_joint,
                T_joint_body=joint.T_joint_body,
                sources=joint.sources,
            )
            bodies[i] = replace(bodies[i], joint=freed)
        return replace(self, bodies=tuple(bodies), home=None)


def _slices(sizes: Iterable[int]) -> tuple[slice, ...]:
    return tuple(slice(a, b) for a, b in pairwise(np.cumsum([0, *sizes]).tolist()))
