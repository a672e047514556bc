"""Figures of lessons 9 and 10: a loop that is cut and closed, a landing, and two readings of one lamp."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from figure_look import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, RED, SKY, panels

import tautology
from tautology import models
from tautology.adapters.reference import Reference
from tautology.adapters.textbook import assembly, simulate
from tautology.adapters.textbook.constrained import Baumgarte, constrained_dynamics
from tautology.adapters.textbook.constraints import rows_of
from tautology.adapters.textbook.contact import Contact, Law, effective_mass, land
from tautology.harness.tree import Inertia

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from tautology.harness.states import States
    from tautology.harness.tree import Tree

FOUR_BAR, LAMP = "four_bar.xml", "desk_lamp.urdf"


def _started(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Return the state (1, 3), (1, 3) of the lesson: closed, the crank at 2 rad/s."""
    q = assembly.assembled(tree, np.array([[0.5, 0.0, 0.0]]))
    v = assembly.consistent_velocity(tree, q, np.array([[1.0, 0.0, 0.0]]))
    return q, 2 * v / v[0, 0]


def _fallen(tree: Tree, step: float, seconds: float, gains: Baumgarte | None) -> simulate.Trajectory:
    """Return the motion from the state of the lesson; `gains` None is the open tree."""
    mechanism = simulate.of_tree(tree)
    if gains is not None:

        def acceleration(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
            return constrained_dynamics(tree, q, v, tau, stabilisation=gains, tolerance=np.inf).a

        mechanism = replace(mechanism, acceleration=acceleration)
    return simulate.simulate(mechanism, *_started(tree), step, round(seconds / step))


def _branches(tree: Tree, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return crank with coupler (3, 2) and rocker (2, 2) in the upright plane, x and z of the world, at q (3,)."""
    T = Reference(tree).all_poses(q[None])[0]
    ends = tree.closures[0].numbers
    crank, coupler, rocker = (T[tree.index[name]] for name in ("crank", "coupler", "rocker"))
    cut = (coupler @ np.array([*ends[:3], 1]), rocker @ np.array([*ends[3:6], 1]))
    one = np.stack([crank[:3, 3], coupler[:3, 3], cut[0][:3]])
    two = np.stack([rocker[:3, 3], cut[1][:3]])
    return one[:, ::2], two[:, ::2]


def _soft(time_constant: float, impedance: float, off: float) -> float:
    """Return how far MuJoCo's acceleration is from the rigid one [rad/s^2], with a coupler that is off by `off` rad."""
    file = models.path(FOUR_BAR)
    tree, model = tautology.load(file), mujoco.MjModel.from_xml_path(str(file))
    model.eq_solref[:] = time_constant, 1
    model.eq_solimp[:, :2] = impedance
    q = _started(tree)[0] + np.array([[0, off, 0]])
    v = assembly.consistent_velocity(tree, q, np.array([[2.0, 0, 0]]))
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q[0], v[0]
    mujoco.mj_forward(model, data)
    rigid = constrained_dynamics(tree, q, v, np.zeros((1, 3)), tolerance=np.inf).a[0]
    return float(np.abs(data.qacc - rigid).max())


def closing_a_loop() -> Figure:
    """Lesson 9: open and closed after a while, drift by step, and how soft MuJoCo's closure is."""
    figure, (left, middle, right) = panels(3, width=12.5, height=3.9, width_ratios=(1, 1.1, 1.1))
    tree = tautology.load(models.path(FOUR_BAR))
    closed, opened = (_fallen(tree, 0.005, 0.2, gains) for gains in (Baumgarte(), None))
    one, two = _branches(tree, opened.q[-1, 0])
    left.plot(*np.stack([one[-1], two[-1]]).T, ":", color=INK, lw=1.8, zorder=5)
    gap = np.hypot(*(one[-1] - two[-1]))
    drawn = (("start", closed.q[0, 0], GREY), ("0.2 s later, closed", closed.q[-1, 0], BLUE))
    for label, q, color in (*drawn, (f"0.2 s later, open by {gap:.2f} m", opened.q[-1, 0], RED)):
        for k, branch in enumerate(_branches(tree, q)):
            left.plot(*branch.T, "o-", color=color, lw=3, ms=5, mfc="white", label=label if k == 0 else None)
    left.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", title="one mechanism, two models")
    left.set(xlim=(-0.45, 0.65), ylim=(-0.3, 0.95))
    left.legend(loc="upper left")
    ways: tuple[tuple[str, float, Baumgarte | None, str], ...] = (
        ("cut open", 0.01, None, RED),
        ("closed, step 0.02 s", 0.02, Baumgarte(), ORANGE),
        ("closed, step 0.01 s", 0.01, Baumgarte(), BLUE),
        ("step 0.02 s, Baumgarte, T = 0.1 s", 0.02, Baumgarte.of_time(0.1), GREEN),
    )
    for label, step, gains, color in ways:
        path = _fallen(tree, step, 1.0, gains)
        phi = np.linalg.norm(rows_of(tree, path.q[:, 0], path.v[:, 0]).position, axis=1)
        middle.semilogy(path.t[1:], phi[1:], color=color, label=label)
    middle.set(xlabel="time [s]", ylabel="distance of the two ends [m]", title="drift", ylim=(1e-10, 5e3))
    middle.legend(loc="upper left")
    times = np.geomspace(0.004, 0.5, 22)
    for impedance, color in ((0.9, ORANGE), (0.99, SKY), (0.9999, PURPLE)):
        for off, line in ((0.0, "-"), (1e-3, "--")):
            apart = [_soft(t, impedance, off) for t in times]
            where = "closed" if off == 0 else "off by 1 mrad"
            right.loglog(times, apart, line, color=color, label=f"d = {impedance}, {where}")
    right.set(xlabel="time constant of solref [s]", ylabel="from the rigid acceleration [rad/s²]", ylim=(5e-4, 5e4))
    right.set_title("MuJoCo's closures give way")
    right.legend(loc="upper right", ncols=1, fontsize=8)
    return figure


def _with_shade(lamp: Tree, inertia: Inertia) -> Tree:
    """Return the lamp with another inertia of its shade."""
    bodies = (replace(body, inertia=inertia) if body.name == "shade" else body for body in lamp.bodies)
    return replace(lamp, bodies=tuple(bodies))


def _of_cylinder() -> Inertia:
    """Return the inertia of the shade's collision shape at 1000 kg/m^3."""
    radius, height = 0.06, 0.12
    mass = 1000 * np.pi * radius**2 * height
    across = (3 * radius**2 + height**2) / 12
    return Inertia(mass, np.array([0.05, 0, 0.03]), mass * np.diag([across, across, radius**2 / 2]))


def _by_mujoco(states: States) -> np.ndarray:
    """Return the joint efforts of the lamp that MuJoCo reads from the file, (N, 2) [N m]."""
    model = mujoco.MjModel.from_xml_path(str(models.path(LAMP)))
    data, efforts = mujoco.MjData(model), []
    for q, v, a in zip(states.q, states.v, states.a, strict=True):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        tau = np.zeros(2)
        mujoco.mj_rne(model, data, 1, tau)
        efforts.append(tau)
    return np.stack(efforts)


def contact_and_sameness() -> Figure:
    """Lesson 10: three contact laws, what refinement says of them, and the residual of two readings of one file."""
    figure, (left, middle, right) = panels(3, width=12.5, height=3.9)
    lamp = tautology.load(models.path(LAMP))
    table = Contact("bulb", np.array([0.07, 0, 0.01]), np.array([0, 0, 1.0]), np.zeros(3))
    q, v, seconds = np.array([1.21, 0.2]), np.array([2.0, 0.5]), 0.016
    stiffness, mass = 2e4, effective_mass(lamp, table, np.array([[1.22, 0.2]]))[0]
    laws = {
        "spring": (Law(stiffness), BLUE),
        "spring and damper, cut off": (Law(stiffness, 0.4 * np.sqrt(stiffness * mass)), RED),
        "Hunt and Crossley": (Law(3e5, 4e5, 1.5, 1.5), GREEN),
    }
    steps = (32, 45, 64, 91, 128, 512)
    for name, (law, color) in laws.items():
        paths = [land(lamp, [table], law, q, v, seconds / n, n) for n in steps]
        left.plot(1e3 * paths[-1].t, paths[-1].forces[:, 0], color=color, label=name)
        h = 1e3 * seconds / np.array(steps[:-1])
        balance = [np.abs(path.unbalanced).max() / path.energy[0] for path in paths[:-1]]
        motion = [np.abs(path.v[-1] / paths[-1].v[-1] - 1).max() for path in paths[:-1]]
        middle.loglog(h, balance, "o-", ms=4, color=color)
        middle.loglog(h, motion, "s--", ms=4, color=color)
    left.set(xlabel="time [ms]", ylabel="force of the table [N]", title="a bulb hits the table", ylim=(-1, 46))
    left.legend(loc="upper right")
    middle.plot([], [], "o-", ms=4, color=GREY, label="energy from nowhere / energy")
    middle.plot([], [], "s--", ms=4, color=GREY, label="error of the speed afterwards")
    middle.set(xlabel="step [ms]", ylabel="relative", title="halving the step", ylim=(1e-10, 3))
    middle.set_xticks([0.125, 0.25, 0.5], labels=["0.125", "0.25", "0.5"])
    middle.set_xticks([], minor=True)
    middle.legend(loc="upper left")
    states = tautology.sample(lamp, 64, 0)
    found = _by_mujoco(states)
    cylinder = _of_cylinder()
    at_origin = Inertia(cylinder.mass, np.zeros(3), np.zeros((3, 3)))
    for name, tree, color in (
        ("the file: 0 kg", lamp, RED),
        ("1.357 kg at the origin of the shade", _with_shade(lamp, at_origin), ORANGE),
        ("1.357 kg, a cylinder", _with_shade(lamp, cylinder), BLUE),
    ):
        apart = np.abs(Reference(tree).inverse_dynamics(states.q, states.v, states.a) - found).max(-1)
        right.semilogy(np.sort(np.maximum(apart, 1e-17)), color=color, label=name)
    right.set(xlabel="state, by size of its difference", ylabel="largest difference of torque [N m]", ylim=(1e-17, 1e6))
    right.set_title("MuJoCo's lamp against a tree whose shade is")
    right.legend(loc="upper left")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "09-closing-a-loop": closing_a_loop,
    "10-contact-impact-and-the-case-for-sameness": contact_and_sameness,
}
