"""What a result can hold of every state: errors, scales, digits, efforts by term; kept when somebody will read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from .joint import JointKind
from .spatial import quaternion_product

if TYPE_CHECKING:
    from .spatial import Array
    from .states import States
    from .tree import Floats, Joint, Tree


class Reference(Protocol):
    """The calls of the native reference that tell terms apart; see `adapters.reference.Reference`."""

    def inverse_dynamics(  # noqa: D102
        self, q: Array, v: Array, a: Array, wrenches: Array | None = None, *, armature: bool = True
    ) -> Array: ...
    def bias(self, q: Array, v: Array) -> Array: ...  # noqa: D102
    def gravity_forces(self, q: Array) -> Array: ...  # noqa: D102
    def generalized_forces(self, q: Array, wrenches: Array) -> Array: ...  # noqa: D102
    def all_poses(self, q: Array) -> Array: ...  # noqa: D102


class Recorder:
    """The arrays of one engine with one model.

    Attributes:
        arrays: key to errors, digits and the like, of the engine.
        scales: quantity to the scales of the truth, of this engine's dofs and bodies.
        answers: quantity to the answer itself and its scale, (N, ...) both.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, Floats] = {}
        self.scales: dict[str, Floats] = {}
        self.answers: dict[str, tuple[Floats, Floats]] = {}

    def record(self, quantity: str, answer: Floats, error: Floats, scale: Floats, digits: Floats) -> None:
        """Keep one answer, and how far it is off.

        Args:
            quantity: a key of `harness.results.QUANTITIES`.
            answer: (N, ...).
            error: (N, ...) absolute; inf where there is no finite answer.
            scale: (N, ...) of the same shape.
            digits: (N,) of each state.
        """
        self.answers[quantity] = answer, scale
        self.arrays[f"digits/{quantity}"] = digits
        if quantity == "mass_matrix":
            with np.errstate(all="ignore"):
                share = np.where(error > 0, error / scale, 0)
            self.arrays["mass_matrix_error"] = share.max(0)
            return
        self.arrays[f"error/{quantity}"] = _by_place(quantity, error)
        self.scales[quantity] = _by_place(quantity, scale)


def _by_place(quantity: str, x: Floats) -> Floats:
    """Return one number per state and dof, per state and body, or per state."""
    if quantity in ("poses", "velocities"):
        return x.max(tuple(range(2, x.ndim)))
    return x.max(-1) if quantity == "center_of_mass" else x


def terms(reference: Reference, tree: Tree, states: States) -> dict[str, Floats]:
    """Return the joint efforts by term, (N, nv) [N m | N] each.

    tau = gravity + velocity + inertia + armature + wrenches; `passive` (damping, dry friction, springs, less gravity
    compensation) is in no canonical effort.

    Args:
        reference: of this tree.
        tree: the robot.
        states: at which the terms are taken.
    """
    q, v, a = states.q, states.v, states.a
    gravity, bias = reference.gravity_forces(q), reference.bias(q, v)
    rigid, whole = reference.inverse_dynamics(q, v, a, armature=False), reference.inverse_dynamics(q, v, a)
    loaded = reference.inverse_dynamics(q, v, a, states.wrenches)
    efforts = {
        "gravity": gravity,
        "velocity": bias - gravity,
        "inertia": rigid - bias,
        "armature": whole - rigid,
        "wrenches": loaded - whole,
        "passive": passive(reference, tree, states),
    }
    return {name: np.asarray(effort, np.float64) for name, effort in efforts.items()}


def passive(reference: Reference, tree: Tree, states: States) -> Floats:
    """Return the efforts (N, nv) [N m | N] of damping, dry friction and springs, less gravity compensation."""
    v = states.v
    damping = np.concatenate([np.ravel(joint.damping) for joint in tree.joints])
    friction = np.concatenate([np.ravel(joint.friction) for joint in tree.joints])
    efforts = damping * v + friction * np.sign(v)
    for joint, at_q, at_v in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
        if joint.stiffness:
            efforts[:, at_v] += joint.stiffness * _stretch(joint, states.q[:, at_q])
    if any(body.gravcomp for body in tree.bodies):
        efforts -= reference.generalized_forces(states.q, _held_weight(reference, tree, states.q))
    return efforts


def _stretch(joint: Joint, q: Floats) -> Floats:
    """Return how far the spring of a joint is from rest, (N, nv); a spring acts on hinges, slides and balls."""
    rest = np.asarray(joint.rest)
    if joint.kind is JointKind.BALL:
        turn = quaternion_product(rest * np.array([1.0, -1, -1, -1]), q)
        turn = np.where(turn[:, :1] < 0, -turn, turn)
        sine = np.linalg.norm(turn[:, 1:], axis=1, keepdims=True)
        angle = 2 * np.arctan2(sine, turn[:, :1])
        return turn[:, 1:] * np.where(sine > 0, angle / np.where(sine > 0, sine, 1), 2)
    return q - rest if joint.nv == 1 else np.zeros((len(q), joint.nv))


def _held_weight(reference: Reference, tree: Tree, q: Floats) -> Floats:
    """Return the wrenches (N, nb, 6) with which gravity compensation holds the bodies, in body axes."""
    R = np.asarray(reference.all_poses(q)[..., :3, :3], np.float64)
    share = np.array([-body.gravcomp * body.inertia.mass for body in tree.bodies])
    force = (tree.gravity @ R) * share[:, None]
    com = np.stack([body.inertia.com for body in tree.bodies])
    return np.concatenate([np.cross(com, force), force], axis=-1)
