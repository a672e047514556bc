"""How far MuJoCo's soft constraints are from rigid ones: a four-bar over time constants of solref and solimp.

Prints a markdown table. Acceleration: largest difference at one state that satisfies the constraint, and at one that is
off by 1 mrad. Motion: MuJoCo's pin after one second of falling from rest (RK4, 0.1 ms), how far open it is at most.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import mujoco
import numpy as np

import tautology
from tautology.adapters.textbook import assembly
from tautology.adapters.textbook.constrained import constrained_dynamics

TEXT = """<mujoco><option gravity="0 -9.81 0" integrator="RK4" timestep="0.0001"/><worldbody>
<body name="crank"><joint name="q1" axis="0 0 1"/><inertial pos=".15 0 0" mass=".6" diaginertia=".001 .0045 .0045"/>
 <body name="coupler" pos=".3 0 0"><joint name="q2" axis="0 0 1"/>
  <inertial pos=".4 0 0" mass="1.6" diaginertia=".02 .085 .085"/><site name="one" pos=".8 0 0"/></body></body>
<body name="rocker" pos=".7 0 0"><joint name="q3" axis="0 0 1"/>
 <inertial pos=".3 0 0" mass="1.2" diaginertia=".01 .036 .036"/><site name="two" pos=".6 0 0"/></body></worldbody>
<equality><connect name="pin" site1="one" site2="two" solref="{} 1" solimp="{} {} 0.001"/></equality></mujoco>"""
TORQUE = np.array([[3.0, 0, 0]])


def measured(time_constant: float, impedance: float) -> tuple[float, float, float]:
    """Return the differences of accelerations [rad/s^2], where the pin is closed and where not, and its opening [m]."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "four_bar.xml"
        file.write_text(TEXT.format(time_constant, impedance, impedance), encoding="utf-8")
        tree, model = tautology.load(file), mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    closed = assembly.assembled(tree, np.array([[1.0, -0.3, 1.5]]))
    apart = []
    for off in (0.0, 1e-3):
        q = closed + np.array([[0, off, 0]])
        v = assembly.consistent_velocity(tree, q, np.array([[2.0, 0, 0]]))
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q[0], v[0], TORQUE[0]
        mujoco.mj_forward(model, data)
        rigid = constrained_dynamics(tree, q, v, TORQUE, tolerance=np.inf)
        apart.append(float(np.abs(data.qacc - rigid.a[0]).max()))
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = closed[0], 0, 0
    opening = 0.0
    for _ in range(10_000):
        mujoco.mj_step(model, data)
        opening = max(opening, float(np.linalg.norm(data.site_xpos[0] - data.site_xpos[1])))
    return apart[0], apart[1], opening


def main() -> None:
    """Print the table."""
    print(f"MuJoCo {mujoco.__version__}, four-bar, connect of sites\n")
    print("| solref T, s | solimp d | closed: difference, rad/s^2 | off by 1 mrad: difference, rad/s^2 | opening, mm |")
    print("|---|---|---|---|---|")
    for impedance in (0.9, 0.99, 0.9999):
        for time_constant in (0.002, 0.005, 0.02, 0.1, 0.5):
            closed, off, opening = measured(time_constant, impedance)
            print(f"| {time_constant} | {impedance} | {closed:.3g} | {off:.3g} | {1e3 * opening:.3g} |")


if __name__ == "__main__":
    main()
