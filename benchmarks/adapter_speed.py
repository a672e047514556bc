"""What the adapters of optional engines add to the bare calls: M and tau of 256 states at once.

Run: python benchmarks/adapter_speed.py [--engine NAME]... [--robot FILE]... [--states 256] [--repeats 15]

Both sides hold the same robot and are timed in turn within one process; the table has the median of each, and the
median of the paired ratios. Bare is what a careful user writes: arrays of states in the engine's own order and
coordinates go in, an array comes out, and between them stand the engine's calls alone. The adapter takes states of the
tree and answers in the tree's coordinates. MJX and Newton are warmed up first: compiling is not counted.
"""

# ruff: noqa: SLF001  bare calls take what the adapter has prepared: the engine's own order and coordinates
from __future__ import annotations

import argparse
import statistics
import time
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tautology.harness import registry
from tautology.harness.errors import EngineRefused
from tautology.harness.load import open_model
from tautology.harness.states import sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from tautology.harness.load import Loaded
    from tautology.harness.states import States

ROBOTS = ("ur5_robot.urdf", "g1_29dof_rev_1_0.urdf")
Bare = tuple["Callable[[], Any]", "Callable[[], Any]"]


def robot_file(name: str) -> Path:
    """Return a file of the package example-robot-data, wherever it is installed."""
    files = metadata.files("example-robot-data") or []
    return next(Path(str(f.locate())) for f in files if f.name == name)


def drake(session: Any, states: States) -> Bare:
    """Return `CalcMassMatrix` and `CalcInverseDynamics` less gravity in loops."""
    from pydrake.multibody.tree import MultibodyForces  # noqa: PLC0415

    plant = session.model
    context, nv = plant.CreateDefaultContext(), plant.num_velocities()
    frame = session._map.at(states.q, states.v)
    X, A, none = np.hstack([frame.q, frame.v]), frame.acceleration(states.a), MultibodyForces(plant)

    def M() -> np.ndarray:
        out = np.empty((len(X), nv, nv))
        for k, x in enumerate(X):
            plant.SetPositionsAndVelocities(context, x)
            out[k] = plant.CalcMassMatrix(context)
        return out

    def tau() -> np.ndarray:
        out = np.empty((len(X), nv))
        for k, x in enumerate(X):
            plant.SetPositionsAndVelocities(context, x)
            out[k] = plant.CalcInverseDynamics(context, A[k], none) - plant.CalcGravityGeneralizedForces(context)
        return out

    return M, tau


def dart(session: Any, states: States) -> Bare:
    """Return `getMassMatrix` and `computeInverseDynamics` in loops."""
    skeleton = session.model
    frame = session._map.at(states.q, states.v)
    q, v, a, n = frame.q, frame.v, frame.acceleration(states.a), skeleton.getNumDofs()

    def M() -> np.ndarray:
        out = np.empty((len(q), n, n))
        for k in range(len(q)):
            skeleton.setPositions(q[k])
            out[k] = skeleton.getMassMatrix()
        return out

    def tau() -> np.ndarray:
        out = np.empty((len(q), n))
        for k in range(len(q)):
            skeleton.setPositions(q[k])
            skeleton.setVelocities(v[k])
            skeleton.setAccelerations(a[k])
            skeleton.computeInverseDynamics()
            out[k] = skeleton.getForces()
        return out

    return M, tau


def idyntree(session: Any, states: States) -> Bare:
    """Return `getFreeFloatingMassMatrix` and `inverseDynamics` in loops, arrays handed over as they are."""
    import idyntree.bindings as idt  # noqa: PLC0415

    frame = session._map.at(states.q, states.v)
    q, v = frame.q[:, 16:].copy(), frame.v[:, 6:].copy()
    a, n = frame.acceleration(states.a)[:, 6:].copy(), q.shape[1]
    engine = idt.KinDynComputations()
    engine.loadRobotModel(session.model)
    pose, rest, gravity = np.eye(4), np.zeros(6), np.array([0, 0, -9.81])
    loads, efforts = idt.LinkWrenches(session.model), idt.FreeFloatingGeneralizedTorques(session.model)
    loads.zero()

    def M() -> np.ndarray:
        out, held, still = np.empty((len(q), n, n)), idt.MatrixDynSize(6 + n, 6 + n), np.zeros(n)
        for k in range(len(q)):
            engine.setRobotState(pose, q[k], rest, still, gravity)
            engine.getFreeFloatingMassMatrix(held)
            out[k] = held.toNumPy()[6:, 6:]
        return out

    def tau() -> np.ndarray:
        out = np.empty((len(q), n))
        for k in range(len(q)):
            engine.setRobotState(pose, q[k], rest, v[k], gravity)
            engine.inverseDynamics(rest, a[k], loads, efforts)
            out[k] = efforts.jointTorques().toNumPy()
        return out

    return M, tau


def pybullet(session: Any, states: States) -> Bare:
    """Return `calculateMassMatrix` and `calculateInverseDynamics` in loops."""
    from tautology.adapters.pybullet_model import pybullet as api  # noqa: PLC0415

    body, client = session.model.bodies[0], session.model.client
    frame = session._map.at(states.q, states.v)
    q, v, a = frame.q, frame.v, frame.acceleration(states.a)

    def M() -> np.ndarray:
        out = np.empty((len(q), body.nv, body.nv))
        for k in range(len(q)):
            out[k] = api.calculateMassMatrix(body.uid, q[k].tolist(), physicsClientId=client)
        return out

    def tau() -> np.ndarray:
        out = np.empty((len(q), body.nv))
        for k in range(len(q)):
            state = q[k].tolist(), v[k].tolist(), a[k].tolist()
            out[k] = api.calculateInverseDynamics(body.uid, *state, physicsClientId=client)
        return out

    return M, tau


def adam(session: Any, states: States) -> Bare:
    """Return `mass_matrix` and, with it, `bias_force`, of a stack of states."""
    model = session.model
    frame = session._map.at(states.q, states.v)
    s, v = frame.q[:, 16:], frame.v[:, 6:]
    a = frame.acceleration(states.a)[:, 6:, None]
    poses, rest = np.tile(np.eye(4), (len(s), 1, 1)), np.zeros((len(s), 6))

    def M() -> np.ndarray:
        return model.mass_matrix(poses, s)

    def tau() -> np.ndarray:
        inertial = (model.mass_matrix(poses, s)[:, 6:, 6:] @ a)[..., 0]
        return inertial + model.bias_force(poses, s, rest, v)[:, 6:]

    return M, tau


def mjx(session: Any, states: States) -> Bare:
    """Return `crb` and `rne`, each compiled once for 64 states, with XLA's options as the adapter sets them."""
    import jax  # noqa: PLC0415
    from mujoco import mjx as api  # noqa: PLC0415

    from tautology.adapters import mjx_calls  # noqa: PLC0415

    frame = session._map.at(states.q)
    q, v, a = frame.qpos, frame.to_engine(states.v), frame.to_engine(states.a)
    model, blank = session._calls._model, session._calls._blank
    parts = [slice(k, k + 64) for k in range(0, len(q), 64)]

    def placed(**state: Any) -> Any:
        return api.com_pos(model, api.kinematics(model, blank.replace(**state)))

    def inertia(q: Any) -> Any:
        return api.full_m(model, api.tendon_armature(model, api.crb(model, api.tendon(model, placed(qpos=q)))))

    def efforts(q: Any, v: Any, a: Any) -> Any:
        moved = api.com_vel(model, placed(qpos=q, qvel=v, qacc=a))
        return api.rne(model, moved, flg_acc=True).qfrc_bias

    options = dict(mjx_calls.OPTIONS)
    compiled = [jax.jit(jax.vmap(f), compiler_options=options) for f in (inertia, efforts)]

    def M() -> np.ndarray:
        with mjx_calls._double():
            return np.concatenate([np.asarray(compiled[0](q[part])) for part in parts])

    def tau() -> np.ndarray:
        with mjx_calls._double():
            return np.concatenate([np.asarray(compiled[1](q[part], v[part], a[part])) for part in parts])

    return M, tau


def newton(session: Any, states: States) -> Bare:
    """Return `eval_mass_matrix` and `eval_inverse_dynamics_force` over the copies of the robot that one model holds."""
    import newton as api  # noqa: PLC0415
    import warp as wp  # noqa: PLC0415

    batch = session._batch
    frame = session._map.at(states.q, states.v)
    parts = [slice(k, k + batch.size) for k in range(0, len(frame.q), batch.size)]
    q, v, a = (
        [np.ascontiguousarray(x[part], np.float32).ravel() for part in parts]
        for x in (frame.q, frame.v, frame.acceleration(states.a))
    )
    model, state = batch.model, batch._state

    def place(q: np.ndarray, v: np.ndarray) -> None:
        state.joint_q.assign(q)
        state.joint_qd.assign(v)
        api.eval_fk(model, state.joint_q, state.joint_qd, state)

    def M() -> list[np.ndarray]:
        out: list[np.ndarray] = []
        for k in range(len(parts)):
            place(q[k], 0 * v[k])
            out.append(api.eval_mass_matrix(model, state).numpy())
        return out

    def tau() -> list[np.ndarray]:
        out: list[np.ndarray] = []
        for k in range(len(parts)):
            place(q[k], v[k])
            g, c, t = (wp.zeros(model.joint_dof_count, dtype=float, device="cpu") for _ in range(3))
            H = api.eval_mass_matrix(model, state)
            api.eval_inverse_dynamics_passive(model, state, gravity_force=g, coriolis_force=c)
            api.eval_inverse_dynamics_force(
                model,
                state,
                mass_matrix=H,
                joint_qdd=wp.array(a[k], dtype=float, device="cpu"),
                coriolis_force=c,
                gravity_force=g,
                joint_f=t,
            )
            out.append(t.numpy())
        return out

    return M, tau


BARE: dict[str, Callable[[Any, States], Bare]] = {
    "drake": drake,
    "idyntree": idyntree,
    "dart": dart,
    "pybullet": pybullet,
    "adam": adam,
    "mjx": mjx,
    "newton": newton,
}


def seconds(call: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compare(bare: Callable[[], object], ours: Callable[[], object], count: int, repeats: int) -> str:
    """Return two columns of microseconds per state and the median of the paired ratios."""
    bare(), ours()
    pairs = [(seconds(bare), seconds(ours)) for _ in range(repeats)]
    a, b = (statistics.median(side) / count * 1e6 for side in zip(*pairs, strict=True))
    return f"{a:.1f} | {b:.1f} | {statistics.median(y / x for x, y in pairs):.2f}"


def opened(engine: str, model: Loaded) -> Any:
    """Return the session of the native path, of the neutral one where the engine refuses the file."""
    try:
        return registry.adapter(engine).native(model.given, model.tree)
    except EngineRefused:
        return registry.adapter(engine).neutral(model.tree)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", action="append", choices=BARE)
    parser.add_argument("--robot", action="append")
    parser.add_argument("--states", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=15)
    asked = parser.parse_args()
    print("| engine | robot | M: bare [us] | adapter [us] | ratio | tau: bare [us] | adapter [us] | ratio |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for engine in asked.engine or BARE:
        card = registry.card_of(engine)
        if registry.version(card) is None:
            print(f"{engine} is not installed: {card.install}")
            continue
        for robot in asked.robot or [str(robot_file(name)) for name in ROBOTS]:
            model = open_model(robot)
            states = sample(model.tree, asked.states)
            session = opened(engine, model)
            M, tau = BARE[engine](session, states)
            cells = (
                compare(M, lambda s=session, x=states: s.mass_matrix(x.q), asked.states, asked.repeats),
                compare(
                    tau, lambda s=session, x=states: s.inverse_dynamics(x.q, x.v, x.a), asked.states, asked.repeats
                ),
            )
            print(f"| {engine} | {Path(robot).stem} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
