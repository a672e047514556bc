"""What `tautology check` asks of the engines, as a plain script: the same engines, the same calls, in loops.

Run: python benchmarks/plain_script.py ROBOT.urdf COUNTS.json

COUNTS holds how often one `tautology check` makes each engine call (`check_speed.py` counts them). The script loads the
robot once per path, draws 100 states, and makes as many of the same calls, with the reading and writing of arrays that
they need. It compares nothing: it is the floor that the harness is measured against.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import mujoco as mj
import numpy as np
import pinocchio as pin

STATES = 100


def pinocchio_calls(path: str, counts: dict[str, int]) -> None:
    """Make Pinocchio's calls."""
    models = [pin.buildModelFromUrdf(path) for _ in range(2)]
    model, data = models[0], models[0].createData()
    rng = np.random.default_rng(0)
    q = np.stack([pin.integrate(model, pin.neutral(model), rng.uniform(-1, 1, model.nv)) for _ in range(STATES)])
    v, a = rng.uniform(-1, 1, (STATES, model.nv)), rng.uniform(-1, 1, (STATES, model.nv))
    out, matrices = np.zeros((STATES, model.nv)), np.zeros((STATES, model.nv, model.nv))
    frames = np.zeros((STATES, 6))
    local = pin.ReferenceFrame.LOCAL

    def velocity(n: int) -> None:
        frames[n] = pin.getFrameVelocity(model, data, 1, local).vector

    def store(name: str, target: np.ndarray, *arrays: np.ndarray) -> None:
        function = getattr(pin, name)
        for k in range(counts.get(f"pin.{name}", 0)):
            n = k % STATES
            target[n] = function(model, data, *(x[n] for x in arrays))

    for name, target, arrays in (
        ("rnea", out, (q, v, a)),
        ("nonLinearEffects", out, (q, v)),
        ("computeGeneralizedGravity", out, (q,)),
        ("aba", out, (q, v, a)),
        ("crba", matrices, (q,)),
        ("computeKineticEnergy", np.zeros(STATES), (q, v)),
        ("computePotentialEnergy", np.zeros(STATES), (q,)),
        ("centerOfMass", np.zeros((STATES, 3)), (q,)),
        ("computeJointJacobians", np.zeros((STATES, 6, model.nv)), (q,)),
    ):
        store(name, target, *arrays)
    for k in range(counts.get("pin.forwardKinematics", 0)):
        pin.forwardKinematics(model, data, q[k % STATES], v[k % STATES])
    for k in range(counts.get("pin.framesForwardKinematics", 0)):
        pin.framesForwardKinematics(model, data, q[k % STATES])
    for k in range(counts.get("pin.getFrameVelocity", 0)):
        velocity(k % STATES)
    for _ in range(counts.get("pin.getJointJacobian", 0)):
        pin.getJointJacobian(model, data, 1, local)


def mujoco_calls(path: str, counts: dict[str, int]) -> None:
    """Make MuJoCo's calls; the mesh geometry that it cannot read is taken out first."""
    models = []
    for _ in range(2):
        spec = mj.MjSpec.from_file(path)
        for element in [*spec.geoms, *spec.meshes]:
            spec.delete(element)
        models.append(spec.compile())
    model, data = models[0], mj.MjData(models[0])
    rng = np.random.default_rng(0)
    q, v, a = (rng.uniform(-1, 1, (STATES, model.nv)) for _ in range(3))
    out, M, row, twist = np.zeros(model.nv), np.zeros((model.nv, model.nv)), np.zeros((1, model.nv)), np.zeros(6)
    jacobian, force, point = np.zeros((3, model.nv)), np.zeros(3), np.zeros(3)
    kept = np.zeros((STATES, model.nv))

    def position(n: int) -> None:
        data.qpos[:] = q[n]
        mj.mj_kinematics(model, data)
        mj.mj_comPos(model, data)

    def times(name: str) -> range:
        return range(counts.get(f"mj.{name}", 0))

    for k in times("mj_kinematics"):
        position(k % STATES)
    for k in times("mj_comVel"):
        data.qvel[:] = v[k % STATES]
        mj.mj_comVel(model, data)
    for k in times("mj_rne"):
        data.qacc[:] = a[k % STATES]
        mj.mj_rne(model, data, 1, out)
        kept[k % STATES] = out
    for k in times("mj_inverse"):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[k % STATES], v[k % STATES], a[k % STATES]
        mj.mj_inverse(model, data)
        kept[k % STATES] = data.qfrc_inverse
    for _ in times("mj_makeM"):
        mj.mj_tendon(model, data)
        mj.mj_makeM(model, data)
    for _ in times("mj_fullM"):
        mj.mj_fullM(model, data, M)
    for _ in times("mj_factorM"):
        mj.mj_factorM(model, data)
    for k in times("mj_solveM"):
        mj.mj_solveM(model, data, row, kept[None, k % STATES])
    for _ in times("mj_objectVelocity"):
        mj.mj_objectVelocity(model, data, mj.mjtObj.mjOBJ_XBODY, 1, twist, 1)
    for _ in times("mj_applyFT"):
        mj.mj_applyFT(model, data, force, force, point, 1, out)
    for _ in times("mj_jacBody"):
        mj.mj_jacBody(model, data, jacobian, jacobian, 1)
    for _ in times("mj_subtreeVel"):
        mj.mj_subtreeVel(model, data)


if __name__ == "__main__":
    wanted = json.loads(Path(sys.argv[2]).read_text())
    pinocchio_calls(sys.argv[1], wanted)
    mujoco_calls(sys.argv[1], wanted)
    print(sum(wanted.values()), "engine calls")
