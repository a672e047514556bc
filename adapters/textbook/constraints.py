"""What closures ask of the motion of a tree: rows phi(q) = 0, their Jacobian J, and the velocity part of phi''.

    phi(q) = 0,    phi' = J v = 0,    phi'' = J a + Jdot v = 0

    mimic    q1 - offset - multiplier q2                            in the coordinates of the file
    joint    (q1 - ref1) - sum c_k (q2 - ref2)^k, k = 0 .. 4        without q2: (q1 - ref1) - c0
    connect  (p1 + R1 a1) - (p2 + R2 a2)                            world axes
    weld     the same of its anchor, and s vec(conj(h2) h1 r)       h: orientation, r: that of body 2 in body 1

Rows of `connect` and `weld` are those of MuJoCo, so that reactions can be held against it. The rotation rows of a weld
are s sin(angle / 2) times the axis of what is left of the turn between the bodies: half the angle, near zero.

Source: Featherstone 2008, Rigid Body Dynamics Algorithms, chapter 8; MuJoCo documentation, Computation, Equality.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ...harness.errors import RequestError
from ...harness.joint import JointKind
from ...harness.spatial import inverse, motion_transform, quaternion_from_rotation, quaternion_product
from ..reference import Motion, Reference, composite
from .inputs import agree, finite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...harness.spatial import Array
    from ...harness.tree import Closure, Tree

SIZES: Final = {"mimic": (2,), "joint": (1, 2, 3, 4, 5), "connect": (6,), "weld": (11,)}
AXES: Final = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class Rows:
    """m constraint rows at N states of a tree.

    Attributes:
        names: (m,) of the rows: the closure, and for closures with several rows what each holds, "pin.x", "pin.turn_x".
        closures: (m,) name of the closure of each row.
        units: (m,) of `position`.
        position: (N, m) phi.
        J: (N, m, nv) its Jacobian in the velocity coordinates of the tree.
        bias: (N, m) Jdot v.
        magnitude: (N, m, nv) size of the terms that J is the difference of: a row that is small against it is rounding.
    """

    names: tuple[str, ...]
    closures: tuple[str, ...]
    units: tuple[str, ...]
    position: Array
    J: Array
    bias: Array
    magnitude: Array

    def velocity(self, v: Array) -> Array:
        """Return J v, (N, m) of (N, nv)."""
        return (self.J @ v[..., None])[..., 0]

    def acceleration(self, a: Array) -> Array:
        """Return J a + Jdot v, (N, m) of (N, nv)."""
        return self.velocity(a) + self.bias

    def forces(self, reactions: Array) -> Array:
        """Return the generalized forces J^T lambda, (N, nv) of (N, m)."""
        return (self.J.swapaxes(-1, -2) @ reactions[..., None])[..., 0]


@dataclass(frozen=True, eq=False)
class _Block:
    """The rows of one closure; see `Rows`."""

    labels: tuple[str, ...]
    units: tuple[str, ...]
    position: Array
    J: Array
    bias: Array
    magnitude: Array


def rows_of(tree: Tree, q: Array, v: Array, closures: Sequence[Closure] | None = None) -> Rows:
    """Return the rows of the closures that are switched on, in their order.

    Args:
        tree: that they are about.
        q: (N, nq).
        v: (N, nv).
        closures: those of the tree by default.

    Raises:
        ShapeError: an array has another number of coordinates or states.
        RequestError: a closure has no such rows, names what the tree has not, or holds numbers that are none.
    """
    asked = [c for c in (tree.closures if closures is None else closures) if c.active]
    q, v = np.asarray(q, np.float64), np.asarray(v, np.float64)
    agree(repr(tree.name), q=(q, "N", tree.nq), v=(v, "N", tree.nv))
    kinematics = _Kinematics(tree, q, v)
    blocks = [_block(kinematics, closure) for closure in asked]
    names, owners = list[str](), list[str]()
    for closure, block in zip(asked, blocks, strict=True):
        names.extend(closure.name + label for label in block.labels)
        owners.extend([closure.name] * len(block.labels))
    empty = _Block((), (), np.zeros((len(q), 0)), np.zeros((len(q), 0, tree.nv)), np.zeros((len(q), 0)), np.zeros(0))
    parts = [empty, *blocks]
    return Rows(
        tuple(names),
        tuple(owners),
        tuple(unit for block in blocks for unit in block.units),
        np.concatenate([part.position for part in parts], axis=1),
        np.concatenate([part.J for part in parts], axis=1),
        np.concatenate([part.bias for part in parts], axis=1),
        np.concatenate([empty.J, *(block.magnitude for block in blocks)], axis=1),
    )


class _Kinematics:
    """Bodies of a tree at N states: their motion at a = 0, and their Jacobians in world axes."""

    def __init__(self, tree: Tree, q: Array, v: Array) -> None:
        self.tree, self.q, self.v = tree, q, v
        self._reference = Reference(tree)
        self._found: dict[int, Array] = {}
        self._motion: Motion | None = None
        self._of_segments: list[Array] | None = None

    @property
    def motion(self) -> Motion:
        """See `Motion`; only closures of bodies need it."""
        if self._motion is None:
            self._motion = self._reference.motion(self.q, self.v, np.zeros_like(self.v))
        return self._motion

    def jacobian(self, body: int) -> Array:
        """Return J (N, 6, nv), with (omega, v of the origin) = J v in world axes."""
        if body not in self._found:
            model = self._reference.model
            if self._of_segments is None:
                self._of_segments = composite.jacobians(model, np.ascontiguousarray(self.q.T))
            J = motion_transform(inverse(model.Ts_segment_body[body])) @ self._of_segments[model.holder[body]]
            R = self.motion.R_world_body[:, body]
            self._found[body] = np.concatenate([R @ J[:, :3], R @ J[:, 3:]], axis=1)
        return self._found[body]

    def body(self, closure: Closure, end: int) -> int:
        """Return the index of a body that a closure names; "" is the world."""
        name = closure.between[end] if end < len(closure.between) else ""
        if name and name not in self.tree.index:
            raise RequestError(f"{_told(closure)} names the body {name!r}, which {self.tree.name!r} has not")
        return self.tree.index[name] if name else 0

    def joint(self, closure: Closure, end: int) -> tuple[int, int, float, str] | None:
        """Return (index in q, index in v, ref, unit) of a joint that a closure names; None for a constant."""
        name = closure.between[end] if end < len(closure.between) else ""
        if not name:
            return None
        i = self.tree.joint_index.get(name)
        if i is None:
            raise RequestError(f"{_told(closure)} names the joint {name!r}, which {self.tree.name!r} has not")
        joint = self.tree.joints[i]
        if joint.nv != 1:
            raise RequestError(f"{_told(closure)}: joint {name!r} is {joint.kind}; it has no single coordinate")
        unit = "m" if joint.kind is JointKind.PRISMATIC else "rad"
        return self.tree.q_slices[i].start, self.tree.v_slices[i].start, joint.ref, unit


def _told(closure: Closure) -> str:
    place = f"{closure.source}: " if closure.source.file else ""
    return f"{place}closure {closure.name!r} ({closure.kind})"


def _block(kinematics: _Kinematics, closure: Closure) -> _Block:
    allowed = SIZES.get(closure.kind)
    if allowed is None:
        raise RequestError(f"{_told(closure)}: its rows are not known here; known are {', '.join(SIZES)}")
    if len(closure.numbers) not in allowed:
        sizes = " or ".join(map(str, allowed))
        raise RequestError(f"{_told(closure)} has {len(closure.numbers)} numbers; needed: {sizes}")
    finite(_told(closure), numbers=closure.numbers)
    if closure.kind in ("mimic", "joint"):
        return _coupling(kinematics, closure)
    if closure.kind == "connect":
        return _connect(kinematics, closure, np.array(closure.numbers[:3]), np.array(closure.numbers[3:]))
    return _weld(kinematics, closure)


def _coupling(kinematics: _Kinematics, closure: Closure) -> _Block:
    """Return the row q1 - ref1 - P(q2 - ref2) = 0; a mimic counts from the zeros of the file, not from `ref`."""
    one = kinematics.joint(closure, 0)
    if one is None:
        raise RequestError(f"{_told(closure)} names no first joint")
    two = kinematics.joint(closure, 1)
    q, v = kinematics.q, kinematics.v
    by_file = closure.kind == "mimic"
    P = np.polynomial.Polynomial(closure.numbers)
    J, bias = np.zeros((len(q), 1, v.shape[1])), np.zeros((len(q), 1))
    J[:, 0, one[1]] = 1
    magnitude = np.abs(J)
    x = np.zeros(len(q))
    if two is not None:
        x = q[:, two[0]] - (0.0 if by_file else two[2])
        slope = np.asarray(P.deriv()(x))
        J[:, 0, two[1]] -= slope
        magnitude[:, 0, two[1]] += np.abs(slope)
        bias[:, 0] = -np.asarray(P.deriv(2)(x)) * v[:, two[1]] ** 2
    position = q[:, one[0]] - (0.0 if by_file else one[2]) - np.asarray(P(x))
    return _Block(("",), (one[3],), position[:, None], J, bias, magnitude)


def _connect(kinematics: _Kinematics, closure: Closure, anchor1: Array, anchor2: Array) -> _Block:
    """Return the three rows of two points of two bodies that coincide, in world axes."""
    motion = kinematics.motion
    position, J, bias, squares = [], [], [], []
    for end, anchor in enumerate((anchor1, anchor2)):
        i = kinematics.body(closure, end)
        r = motion.R_world_body[:, i] @ anchor
        omega = motion.omega[:, i]
        turning = kinematics.jacobian(i)
        point = turning[:, 3:] - np.cross(r[:, :, None], turning[:, :3], axis=1)
        # The linear part of a spatial acceleration is not that of the point: omega x v is missing in it.
        curving = np.cross(omega, motion.v_origin[:, i] + np.cross(omega, r))
        position.append(motion.p_world_body[:, i] + r)
        J.append(point)
        bias.append(motion.a_origin[:, i] + np.cross(motion.alpha[:, i], r) + curving)
        squares.append((turning[:, 3:] ** 2).sum(1) + (turning[:, :3] ** 2).sum(1) * (r**2).sum(1)[:, None])
    size = np.sqrt(squares[0] + squares[1])
    labels = tuple(f".{axis}" for axis in AXES)
    magnitude = np.repeat(size[:, None], 3, axis=1)
    return _Block(labels, ("m",) * 3, position[0] - position[1], J[0] - J[1], bias[0] - bias[1], magnitude)


def _weld(kinematics: _Kinematics, closure: Closure) -> _Block:
    """Return the six rows of two bodies that stand as one.

    h' = (0, omega) h / 2 on both sides gives, with d = omega1 - omega2 and e = conj(h2) h1 r,
    e' = conj(h2) d h1 r / 2 and e'' = conj(h2) (d' + (d omega1 - omega2 d) / 2) h1 r / 2.
    """
    numbers = np.array(closure.numbers)
    if not numbers[6:10].any():
        raise RequestError(f"{_told(closure)}: its quaternion is zero, which turns nothing")
    anchors = _connect(kinematics, closure, numbers[3:6], numbers[:3])
    r, scale = numbers[6:10] / np.sqrt((numbers[6:10] ** 2).sum()), numbers[10]
    motion = kinematics.motion
    one, two = kinematics.body(closure, 0), kinematics.body(closure, 1)
    h1 = np.stack([quaternion_from_rotation(R) for R in motion.R_world_body[:, one]])
    h2 = np.stack([quaternion_from_rotation(R) for R in motion.R_world_body[:, two]]) * [1, -1, -1, -1]
    h1 = quaternion_product(h1, r)
    rest = quaternion_product(h2, h1)
    h1 = np.where(rest[:, :1] < 0, -h1, h1)  # the same turn, told the short way

    def between(middle: Array) -> Array:
        """Return s vec(conj(h2) middle h1 r) / 2 for middle (N, 4)."""
        return scale / 2 * quaternion_product(quaternion_product(h2, middle), h1)[:, 1:]

    E = np.stack([between(_pure(np.broadcast_to(axis, h1[:, 1:].shape))) for axis in np.eye(3)], axis=-1)
    J1, J2 = kinematics.jacobian(one)[:, :3], kinematics.jacobian(two)[:, :3]
    omega1, omega2 = _pure(motion.omega[:, one]), _pure(motion.omega[:, two])
    d = omega1 - omega2
    products = quaternion_product(d, omega1) - quaternion_product(omega2, d)
    bias = between(_pure(motion.alpha[:, one] - motion.alpha[:, two]) + products / 2)
    size = abs(scale) / 2 * np.sqrt((J1**2).sum(1) + (J2**2).sum(1))
    return _Block(
        (*anchors.labels, *(f".turn_{axis}" for axis in AXES)),
        (*anchors.units, *("rad/2",) * 3),
        np.concatenate([anchors.position, 2 * between(np.broadcast_to([1.0, 0, 0, 0], h1.shape))], axis=1),
        np.concatenate([anchors.J, E @ (J1 - J2)], axis=1),
        np.concatenate([anchors.bias, bias], axis=1),
        np.concatenate([anchors.magnitude, np.repeat(size[:, None], 3, axis=1)], axis=1),
    )


def _pure(omega: Array) -> Array:
    """Return the quaternion (0, omega), (N, 4) of (N, 3)."""
    return np.concatenate([np.zeros_like(omega[:, :1]), omega], axis=1)
