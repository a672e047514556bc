"""The neutral description of a robot: a tree of bodies, each attached to its parent by one joint.

A `Tree` is what a file says, engine-free. Body 0 is the world, `parent < i` for every other body, bodies stand in
depth-first order with siblings in document order, and every link of the file stays a body: a fixed joint is a joint
without degrees of freedom, so that every line of the file keeps its place. Several MJCF joints on one body are joints
in series through massless bodies. Loops are `Closure`s beside the tree, and what the tree cannot hold is a `Loss`.

Coordinates `q | v` per joint kind (CONVENTIONS.md): revolute, continuous, prismatic 1 | 1; ball quaternion wxyz |
omega; planar x, y, theta | vx, vy, omega; floating position, quaternion wxyz | v, omega; velocities in child axes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from .errors import ShapeError, Source, TreeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .fusion import Fusion

Floats = NDArray[np.float64]

STANDARD_GRAVITY: Final = (0.0, 0.0, -9.81)


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
    array.flags.writeable = False
    return array


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


@dataclass(frozen=True, slots=True)
class Closure:
    """A relation that the open tree does not have: mimic, or an MJCF equality. The checks run on the open tree.

    Attributes:
        kind: "mimic", "joint", "connect", "weld", "tendon", ...
        name: as in the file, or invented.
        between: names of the two joints or bodies; the second may be empty (the world, or a constant).
        numbers: mimic: (offset, multiplier) of first = offset + multiplier * second; joint: polynomial coefficients;
            connect: anchor (3,); weld: as the format has them.
        active: whether the file switches it on.
        source: file and line.
    """

    kind: str
    name: str
    between: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    active: bool = True
    source: Source = field(default_factory=Source)


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
    """

    element: str
    where: str | None
    source: Source
    touches_dynamics: bool
    note: str
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that a tree came from: path as given, format ("urdf", "mjcf" or "tree"), sha256 of its bytes."""

    path: str = ""
    format: str = "tree"
    sha256: str = ""


def world() -> Body:
    """Return body 0."""
    return Body("world", -1, Joint("world", JointKind.FIXED))


@dataclass(frozen=True, eq=False)
class Tree:
    """A robot. Bodies given in any order with valid parents are sorted depth-first, siblings as given.

    Attributes:
        name: of the robot.
        bodies: body 0 is the world.
        gravity: (3,) [m/s^2] in world axes.
        home: (nq,) a configuration that the file declares, or None.
        closures, tendons, losses, medium, origin: see there.
        sources: file and line of what concerns the whole robot: "gravity", "medium", "angle" (the unit of angles).
        sources: file and line of what concerns the whole tree: "gravity", "medium", "home", and in MJCF the attributes
            of `<compiler>` and `<option>`, as "compiler@settotalmass", and the first "include".

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
        faults = _parent_faults(bodies)
        if not faults:
            object.__setattr__(self, "bodies", _depth_first(bodies))
            faults = _name_faults(self.bodies) + _number_faults(self.bodies)
            if not np.isfinite(self.gravity).all():
                faults.append(_Fault(f"gravity is not finite: {self.gravity}", source=self.sources.get("gravity")))
        if faults:
            first = faults[0]
            message = f"tree {self.name!r}: " + "; ".join(fault.message for fault in faults)
            raise TreeError(message, first.where, first.source)
        if self.home is not None:
            object.__setattr__(self, "home", frozen(self.home, (self.nq,), "home"))

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
    def base(self) -> str:
        """`"free"` when a body floats and nothing with inertia stands between it and the world, else `"fixed"`."""
        return "free" if any(self._hangs_on_nothing(i) for i in self.floating_roots) else "fixed"

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


@dataclass(frozen=True, slots=True)
class _Fault:
    """What is wrong with a tree, and where."""

    message: str
    where: str | None = None
    source: Source | None = None


def _parent_faults(bodies: tuple[Body, ...]) -> list[_Fault]:
    if not bodies or bodies[0].parent != -1:
        return [_Fault("body 0 must be the world, with parent -1")]
    faults = [
        _Fault(f"body {b.name!r} has parent {b.parent}; there are {len(bodies)} bodies", b.name, b.source())
        for b in bodies[1:]
        if not 0 <= b.parent < len(bodies)
    ]
    if not faults and len(_order(bodies)) < len(bodies):
        reached = set(_order(bodies))
        lost = [b for i, b in enumerate(bodies) if i not in reached]
        names = ", ".join(b.name for b in lost[:5])
        message = f"bodies {names} are their own ancestors: no chain of parents leads to the world"
        faults.append(_Fault(message, lost[0].name, lost[0].source()))
    return faults


def _name_faults(bodies: tuple[Body, ...]) -> list[_Fault]:
    faults: list[_Fault] = []
    for what, named in (("body", bodies), ("joint", [b.joint for b in bodies[1:]])):
        seen: set[str] = set()
        twice = [x for x in named if x.name in seen or seen.add(x.name)]
        faults += [_Fault(f"{what} name {x.name!r} stands twice", x.name, x.source()) for x in twice]
    plain = {b.joint.name: b.joint for b in bodies if b.joint.nv == 1}
    for several in (b.joint for b in bodies if b.joint.nv > 1):
        for joint in (plain[dof] for dof in several.dofs if dof in plain):
            message = f"joint {joint.name!r} is called like a dof of joint {several.name!r}; rename one of them"
            faults.append(_Fault(message, joint.name, joint.source()))
    return faults


def _sound(bodies: tuple[Body, ...]) -> bool:
    """Return whether no number is at fault, all bodies at once: patched trees are made by the hundred."""
    inertias, joints = [b.inertia for b in bodies], [b.joint for b in bodies]
    I = np.array([i.I_com for i in inertias])
    placements = np.array([T for j in joints for T in (j.T_parent_joint, j.T_joint_body)])
    scalars = [x for i, j in zip(inertias, joints, strict=True) for x in (i.mass, j.ref, *i.com, *j.reflected)]
    axes = np.array([j.axis for j in joints])
    if not (np.isfinite(I).all() and np.isfinite(placements).all() and np.isfinite(scalars).all()):
        return False
    if not np.isfinite(placements).all():
        return False
    lengths = np.sqrt((axes * axes).sum(1)) - 1
    moving = np.array([j.nv > 0 for j in joints])
    asymmetry = np.abs(I - I.transpose(0, 2, 1)).max((1, 2))
    sizes = np.maximum(np.abs(I).max((1, 2)), 1e-300)
    return bool(np.isfinite(axes).all() and (np.abs(lengths[moving]) <= 1e-12).all()) and bool(
        (asymmetry <= 1e-12 * sizes).all()
    )


def _number_faults(bodies: tuple[Body, ...]) -> list[_Fault]:
    faults: list[_Fault] = []
    if _sound(bodies):
        return faults
    for b in bodies[1:]:
        numbers: list[Any] = [b.inertia.mass, b.inertia.com, b.inertia.I_com, b.joint.T_parent_joint, b.joint.axis]
        numbers += [b.joint.T_joint_body, b.joint.reflected, b.joint.ref]
        if not all(np.isfinite(x).all() for x in numbers):
            message = f"body {b.name!r} or its joint holds a number that is not finite"
            faults.append(_Fault(message, b.name, b.source()))
        if b.joint.nv and abs(np.linalg.norm(b.joint.axis) - 1) > 1e-12:
            message = f"axis of joint {b.joint.name!r} is no unit vector: {b.joint.axis}"
            faults.append(_Fault(message, b.joint.name, b.joint.source("axis")))
        asymmetry = np.abs(b.inertia.I_com - b.inertia.I_com.T).max()
        if asymmetry > 1e-12 * max(np.abs(b.inertia.I_com).max(), 1e-300):
            faults.append(_Fault(f"tensor of body {b.name!r} is not symmetric", b.name, b.source("inertia")))
    return faults


def _order(bodies: tuple[Body, ...]) -> list[int]:
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


def _depth_first(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    order = _order(bodies)
    if order == list(range(len(bodies))):
        return bodies
    new = {old: i for i, old in enumerate(order)}
    return tuple(replace(bodies[old], parent=-1 if old == 0 else new[bodies[old].parent]) for old in order)
