"""A `mujoco.MjModel` built from a tree: one MuJoCo body per moving body, with whatever mass and tensor the tree says.

The MuJoCo body stands on the moving side of its joint, so that no joint needs an anchor. MuJoCo has a free joint at the
top level only: further down, three slides and a ball stand for it, and two slides and a hinge for a planar joint.
The compiler refuses bodies without mass and tensors that no body can have; what it compiles are placeholders, and the
numbers are written into the model afterwards, which none of the calls that are used here looks at twice.
"""

from __future__ import annotations

import copy
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..harness.errors import EngineUnsupported
from ..harness.spatial import quaternion_from_rotation, rotation_z_to
from ..harness.tree import JointKind
from .mujoco_map import BALL, FREE, HINGE, SLIDE, MjModel, Seat, mujoco, seats
from .mujoco_text import ELSEWHERE, Row, compiled_text
from .mujoco_versions import EDITABLE, full_inertia, make_inertia

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from ..harness.findings import Finding
    from ..harness.spatial import Array
    from ..harness.tree import Floats, Inertia, Joint, Tree

MOST_LEVELS = 1023  # below the world; the compiler counts 1,024 and stops
# What the compiler needs: it solves with M for every dof (measured from 500 to 3,000), and looks through all bodies for
# each one that is added (10,000).
SECONDS_PER_DOF_AND_ENTRY, SECONDS_PER_BODY_SQUARED = 2.5e-9, 1e-7
MOST_SECONDS = 25.0
# How a warning ends, for whoever simulates: nothing here goes on in time.
TIME: Final = re.compile(r"\s*(Check model\.\s*)?Time = \S+\s*$")


@dataclass(frozen=True, eq=False)
class Opened:
    """A model, and how it relates to the tree.

    Attributes:
        model: owned by whoever holds this.
        held: tree body to MuJoCo body, for those that MuJoCo holds.
        seats: of the tree's joints.
        Ts_held_body: tree body to its placement (4, 4) in the MuJoCo body, where it is not the identity.
        added: (nv,) or (nv, nv) reflected inertia in tree coordinates that the model cannot hold, or None.
        canonical: whether the armature in the model multiplies the acceleration of the tree, as it should, or MuJoCo's.
        extra_dofs, findings, notes: see `harness.engine.Session`.
    """

    model: MjModel
    held: Mapping[int, int]
    seats: list[Seat]
    Ts_held_body: Mapping[int, Floats] = field(default_factory=dict[int, Any])
    added: Floats | None = None
    canonical: bool = False
    extra_dofs: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


@contextmanager
def quiet() -> Generator[list[str]]:
    """Collect MuJoCo's warnings, which it would write to stderr and to MUJOCO_LOG.TXT in the working folder."""
    words: list[str] = []
    before = mujoco.get_mju_user_warning()

    def keep(said: str) -> None:
        words.append(TIME.sub("", said))

    mujoco.set_mju_user_warning(keep)
    try:
        yield words
    finally:
        mujoco.set_mju_user_warning(before)


def require_size(tree: Tree) -> None:
    """Check that MuJoCo's compiler can hold the moving bodies of a tree.

    Raises:
        EngineUnsupported: it cannot, or not within half a minute.
    """
    level, depth = [0], [0]
    for body in tree.fused().bodies[1:]:
        level.append(level[body.parent] + 1)
        depth.append(depth[body.parent] + body.joint.nv)
    if max(level) > MOST_LEVELS:
        raise EngineUnsupported(
            f"{tree.name!r} has {max(level)} moving bodies in a row; MuJoCo allows {MOST_LEVELS} levels below the world"
        )
    bodies = tree.fused().bodies
    entries = sum(d * body.joint.nv for d, body in zip(depth, bodies, strict=True))
    seconds = SECONDS_PER_DOF_AND_ENTRY * tree.nv * entries + SECONDS_PER_BODY_SQUARED * len(bodies) ** 2
    if seconds > MOST_SECONDS:
        raise EngineUnsupported(
            f"{tree.name!r} has {len(bodies) - 1} moving bodies and {tree.nv} dofs, up to {max(depth)} in a row; "
            f"MuJoCo's compiler would take about {seconds:.0f} s and is given up to {MOST_SECONDS:.0f} s"
        )


def build(tree: Tree) -> Opened:
    """Return the model of `tree`.

    Raises:
        EngineUnsupported: see `require_size`, and before 3.3.7 `compiled_text`.
    """
    require_size(tree)
    fusion = tree.fusion
    with quiet():
        model = _compiled(fusion.tree) if EDITABLE else compiled_text(_rows(fusion.tree))
    model.opt.gravity[:] = tree.gravity
    _write_inertias(model, fusion.tree)
    kept = [i for i, holder in enumerate(fusion.holder) if holder == i]
    found, _ = seats(model, tree, [((i,), b) for b, i in enumerate(kept) if b])
    Ts = {i: tree.joints[i].T_joint_body for i in kept if not np.array_equal(tree.joints[i].T_joint_body, np.eye(4))}
    added = _write_armature(model, tree, found)
    held = {i: b for b, i in enumerate(kept) if b}
    return Opened(model, held, found, Ts, added, canonical=True)


def _compiled(tree: Tree) -> MjModel:
    """Return the compiled bodies and joints of a fused tree, with placeholders for inertias."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    frames: list[Any] = [spec.worldbody]
    for row in _rows(tree):
        body = frames[row.parent].add_body(
            pos=row.pos, quat=row.quat_wxyz, mass=1, ipos=ELSEWHERE, inertia=(1, 1, 1), explicitinertial=True
        )
        for kind, axis in row.joints:
            body.add_joint(type=mujoco.mjtJoint(kind), axis=axis, ref=row.ref)
        frames.append(body)
    return spec.compile()


def _rows(tree: Tree) -> Iterator[Row]:
    """Yield the bodies of a fused tree as MuJoCo has them."""
    for body in tree.bodies[1:]:
        T = tree.joints[body.parent].T_joint_body @ body.joint.T_parent_joint
        joints = _primitives(body.joint, top=body.parent == 0)
        yield Row(body.parent, T[:3, 3], quaternion_from_rotation(T[:3, :3]), joints, body.joint.ref)


def _primitives(joint: Joint, *, top: bool) -> list[tuple[int, Array]]:
    """Return types and axes of the MuJoCo joints that stand for a joint."""
    x, y, z = np.eye(3)
    if joint.kind is JointKind.FLOATING:
        return [(FREE, z)] if top else [(SLIDE, x), (SLIDE, y), (SLIDE, z), (BALL, z)]
    if joint.kind is JointKind.PLANAR:
        B = rotation_z_to(joint.axis)
        return [(SLIDE, B[:, 0]), (SLIDE, B[:, 1]), (HINGE, B[:, 2])]
    kinds = {JointKind.BALL: BALL, JointKind.PRISMATIC: SLIDE}
    return [(kinds.get(joint.kind, HINGE), joint.axis)]


def _write_inertias(model: MjModel, tree: Tree) -> None:
    """Write masses, centres and tensors of the fused tree into the compiled model."""
    model.body_mass[:] = [body.inertia.mass for body in tree.bodies]
    for b, body in enumerate(tree.bodies[1:], 1):
        T = body.joint.T_joint_body
        moments, axes = principal(body.inertia)
        model.body_ipos[b] = T[:3, :3] @ body.inertia.com + T[:3, 3]
        model.body_iquat[b] = quaternion_from_rotation(T[:3, :3] @ axes)
        model.body_inertia[b] = moments
    total = model.body_mass.copy()
    for b in range(len(tree.bodies) - 1, 0, -1):
        total[tree.parents[b]] += total[b]
    model.body_subtreemass[:] = total
    forget_shortcuts(model)


def forget_shortcuts(model: MjModel) -> None:
    """Clear what the compiler has concluded from the inertias."""
    model.body_simple[:] = 0
    model.body_sameframe[:] = 0
    model.dof_simplenum[:] = 0


def principal(inertia: Inertia) -> tuple[Floats, Floats]:
    """Return moments (3,) and axes (3, 3), a rotation, with I_com = axes diag(moments) axes^T; moments of any sign."""
    I = inertia.I_com
    if not (I - np.diag(np.diag(I))).any():
        return np.diag(I), np.eye(3)
    moments, axes = np.linalg.eigh(I)
    return moments, axes * np.array([np.sign(np.linalg.det(axes)), 1, 1])


def _write_armature(model: MjModel, tree: Tree, found: list[Seat]) -> Floats | None:
    """Write reflected inertia into the model; return what has no place there, in coordinates of the tree.

    Where linear velocities turn with the joint, MuJoCo's armature in its own axes is the same only if it is equal along
    all of them. Tendons are left out: MuJoCo drops the coupling of joints on different branches.
    """
    added = np.zeros(tree.nv)
    for seat in found:
        joint = tree.joints[seat.body]
        reflected = joint.reflected.copy()
        linear = {JointKind.FLOATING: 3, JointKind.PLANAR: 2}.get(joint.kind, 0)
        if linear and np.ptp(reflected[:linear]):
            added[tree.v_slices[seat.body]][:linear] = reflected[:linear]
            reflected[:linear] = 0
        model.dof_armature[seat.v : seat.v + joint.nv] = reflected
    if not tree.tendons:
        return added if added.any() else None
    K = np.diag(added)
    for tendon in tree.tendons:
        c = np.zeros(tree.nv)
        for name, coefficient in tendon.coefficients.items():
            c[tree.v_slices[tree.joint_index[name]]] = coefficient
        K += tendon.armature * np.outer(c, c)
    return K


def reflected_inertia(model: MjModel) -> Floats:
    """Return what `mj_makeM` adds to the inertia of the bodies, in MuJoCo's axes: (nv,), or (nv, nv) with tendons.

    It is asked of the same model without mass, so that joints, actuators and fixed tendons are counted as MuJoCo does.
    """
    twin = copy.copy(model)
    twin.body_mass[:] = 0
    twin.body_inertia[:] = 0
    forget_shortcuts(twin)
    data = mujoco.MjData(twin)
    for stage in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_tendon, make_inertia):
        stage(twin, data)
    M = np.zeros((twin.nv, twin.nv))
    full_inertia(twin, data, M)
    diagonal = np.diag(M).copy()
    return M if np.count_nonzero(M) > np.count_nonzero(diagonal) else diagonal
