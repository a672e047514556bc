"""What each inverse-dynamics call of MuJoCo returns at one state, and the identity of `mj_inverse`, term by term.

Nothing here is an answer of the adapter: `tautology explain apis` takes the calls apart by differences.
Source: MuJoCo documentation, API reference, "Sub-components"; Computation, "Inverse dynamics".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..harness.engine import Given
from ..harness.exporters import write_mjcf
from .mujoco_build import build, quiet
from .mujoco_load import load
from .mujoco_map import CoordinateMap, mujoco
from .mujoco_versions import DISCRETE, full_inertia, make_inertia

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..harness.tree import Floats, Tree
    from .mujoco_map import MjModel

STEP: Final = 1e-4  # of central differences, whose error is about its square
RADIUS: Final = 0.05  # m, of the spheres that touch the floor
LIFT: Final = 0.02  # m/rad or 1: the least that some joint lifts a body by, which can stand on the floor then
DEPTH: Final = 0.01  # m, by which the lowest of them is in it
TERMS: Final = ("M a", "qfrc_bias", "qfrc_passive", "qfrc_constraint")


def apis(tree: Tree, q: Floats, v: Floats, a: Floats) -> dict[str, Floats]:
    """Return call to joint efforts (nv,) in tree coordinates, zero at dofs that MuJoCo has not; matrices times a.

    Args:
        tree: the model is built from it, with damping, dry friction and springs where joints have them.
        q: (nq,).
        v: (nv,).
        a: (nv,) canonical acceleration; MuJoCo is handed its own, with omega x v in it where a base floats.
    """
    opened = build(tree)
    model = opened.model
    for seat in opened.seats:
        joint, at = tree.joints[seat.body], slice(seat.v, seat.v + tree.joints[seat.body].nv)
        model.dof_damping[at], model.dof_frictionloss[at] = joint.damping, joint.friction
        if joint.nv == 1:
            j = int(model.dof_jntid[seat.v])
            model.jnt_stiffness[j], model.qpos_spring[seat.q] = joint.stiffness, np.asarray(joint.rest)[0]
    coordinates = CoordinateMap(model, tree, opened.seats)
    frame = coordinates.at(q[None])
    qvel, qacc = frame.to_engine(v[None])[0], (frame.to_engine(a[None]) + frame.beta(v[None]))[0]
    # `mj_crb` and `mj_makeM` have reflected inertia multiply the acceleration that they are handed: here the tree's.
    Ta = frame.to_engine(a[None])[0]
    data, out = mujoco.MjData(model), np.zeros(model.nv)
    found: dict[str, Floats] = {}
    data.qpos[:], data.qvel[:], data.qacc[:] = frame.qpos[0], qvel, qacc
    with quiet():
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
    data.qacc[:] = qacc
    for flag in (1, 0):
        mujoco.mj_rne(model, data, flag, out)
        found[f"mj_rne, flg_acc={flag}"] = out.copy()
    found["qfrc_bias"] = np.array(data.qfrc_bias)
    M = np.zeros((model.nv, model.nv))
    for name, call in (("mj_crb", mujoco.mj_crb), ("mj_makeM", make_inertia)):
        call(model, data)
        full_inertia(model, data, M)
        found[f"{name}, M a"] = M @ Ta
    found["qfrc_passive"] = np.array(data.qfrc_passive)
    for name, flag in (("mj_inverse", 0), ("mj_inverse, invdiscrete", DISCRETE)):
        if name == "mj_inverse" or flag:
            model.opt.enableflags = flag
            data.qacc[:] = qacc
            with quiet():
                mujoco.mj_inverse(model, data)
            found[name] = np.array(data.qfrc_inverse)
    return {name: _in_tree(tree, coordinates, frame.to_tree(x[None])[0]) for name, x in found.items()}


def _in_tree(tree: Tree, coordinates: CoordinateMap, x: Floats) -> Floats:
    out = np.zeros(tree.nv)
    out[coordinates.v_from] = x
    return out


def identity(tree: Tree, q: Floats, v: Floats, a: Floats) -> list[dict[str, Any]]:
    """Return the terms of mj_inverse = M a + bias - passive - constraint, with contacts off and on, for each flag.

    The model is the tree as MJCF, with a sphere without mass at every body and a floor that the lowest one touches.

    Args:
        tree: of the robot.
        q: (nq,).
        v: (nv,).
        a: (nv,).

    Returns:
        A record per case: `contacts` (bool), `invdiscrete` (bool), `count` of contacts, `dofs`, each of `TERMS` and
        `mj_inverse` (nv,) in MuJoCo's coordinates, `implicit` (nv,) timestep times damping times a, and `tendons` the
        largest element that `mj_makeM` has beyond `mj_crb`.

    Raises:
        EngineRefused: MuJoCo does not take the model as MJCF.
        EngineUnsupported: it cannot hold it.
    """
    model, opened = _on_the_floor(tree, q)
    frame = CoordinateMap(model, tree, opened.seats).at(q[None])
    qvel, qacc = frame.to_engine(v[None])[0], (frame.to_engine(a[None]) + frame.beta(v[None]))[0]
    found: list[dict[str, Any]] = []
    contact = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    flags = int(model.opt.disableflags)
    for touching in (False, True):
        model.opt.disableflags = flags & ~contact if touching else flags | contact
        for discrete in (False, True) if DISCRETE else (False,):
            model.opt.enableflags = DISCRETE if discrete else 0
            data = mujoco.MjData(model)
            data.qpos[:], data.qvel[:], data.qacc[:] = frame.qpos[0], qvel, qacc
            with quiet():
                mujoco.mj_inverse(model, data)
            inverse, M = np.array(data.qfrc_inverse), np.zeros((model.nv, model.nv))
            crb = np.zeros_like(M)
            mujoco.mj_crb(model, data)
            full_inertia(model, data, crb)
            make_inertia(model, data)
            full_inertia(model, data, M)
            parts = (M @ qacc, *(np.array(getattr(data, name)) for name in TERMS[1:]))
            found.append(
                {
                    "contacts": touching,
                    "invdiscrete": discrete,
                    "count": int(data.ncon),
                    "rows": int(data.nefc),
                    **dict(zip(TERMS, parts, strict=True)),
                    "mj_inverse": inverse,
                    "implicit": float(model.opt.timestep) * np.array(model.dof_damping) * qacc,
                    "tendons": float(np.abs(M - crb).max()),
                }
            )
    return found


def _heights(model: MjModel, data: Any) -> Iterator[float]:
    """Yield the heights of the bodies that some joint can lift."""
    moves = np.zeros((3, model.nv))
    for b in range(1, model.nbody):
        mujoco.mj_jacBody(model, data, moves, None, b)
        if np.abs(moves[2]).max(initial=0) > LIFT:
            yield float(data.xpos[b, 2])


def _on_the_floor(tree: Tree, q: Floats) -> tuple[Any, Any]:
    """Return the compiled model with floor and spheres, and how the model without them relates to the tree."""
    text = write_mjcf(tree).text
    with quiet():
        plain = mujoco.MjSpec.from_string(text)
        opened = load(Given("mujoco", live=plain), tree)
        data = mujoco.MjData(opened.model)
        data.qpos[:] = CoordinateMap(opened.model, tree, opened.seats).at(q[None]).qpos[0]
        mujoco.mj_kinematics(opened.model, data)
        mujoco.mj_comPos(opened.model, data)
        lowest = min(_heights(opened.model, data), default=0.0)
        spec = mujoco.MjSpec.from_string(text)
        for body in spec.bodies[1:]:
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[RADIUS, 0, 0], mass=0, contype=1, conaffinity=0)
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_PLANE,
            size=[1, 1, 1],
            pos=[0, 0, lowest - RADIUS + DEPTH],
            contype=0,
            conaffinity=1,
        )
        return spec.compile(), opened


def carried(tree: Tree, q: Floats) -> tuple[Floats, Floats, float]:
    """Return the pose of the floating base after `mj_integratePos` by plus and minus one small step of each velocity.

    Args:
        tree: with a floating root.
        q: (nq,).

    Returns:
        (6, 4, 4), (6, 4, 4), one per velocity of the free joint in MuJoCo's order, and the step.
    """
    opened = build(tree)
    model, data = opened.model, mujoco.MjData(opened.model)
    root = tree.floating_roots[0]
    seat = next(s for s in opened.seats if s.body == root)
    start = CoordinateMap(model, tree, opened.seats).at(q[None]).qpos[0]
    poses = np.tile(np.eye(4), (2, 6, 1, 1))
    for side, sign in enumerate((1.0, -1.0)):
        for k in range(6):
            qvel, data.qpos[:] = np.eye(1, model.nv, seat.v + k)[0], start
            mujoco.mj_integratePos(model, data.qpos, qvel, sign * STEP)
            mujoco.mj_kinematics(model, data)
            poses[side, k, :3, :3] = data.xmat[opened.held[root]].reshape(3, 3)
            poses[side, k, :3, 3] = data.xpos[opened.held[root]]
    return poses[0], poses[1], STEP
