"""Figures of lessons 1 to 5: a planar arm, its two passes, its columns, its swing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from figure_look import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, RED, SKY, arrow, panels

from tautology.adapters.textbook import (
    counting,
    exponentials,
    forward,
    planar,
    planar_lagrange,
    planar_tree,
    simulate,
)
from tautology.adapters.textbook.planar import PlanarChain

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

# Two rods and a massless one with a point mass at its end, in the state that the first two lessons work out.
THREE_LINKS = PlanarChain([1.0, 0.8, 0.6], [1.0, 0.5, 0.0], [0.5, 0.4, 0.3], [0.083, 0.027, 0.0], tip_mass=0.2)
Q, V, A = np.array([0.524, 0.785, 0.0]), np.array([0.5, 0.3, 0.2]), np.array([1.0, 0.5, 0.1])
ARM = planar.uniform_rods([0.9, 0.8, 0.6], [1.2, 0.75, 0.3])


def two_passes() -> Figure:
    """Lesson 1: accelerations outward, forces inward."""
    figure, (left, right) = panels(2, sharey=True)
    # Without gravity, so that the three parts are seen.
    chain = replace(THREE_LINKS, masses=np.array([1.0, 0.5, 0.2]), centres=np.array([0.5, 0.4, 0.6]), tip_mass=0.0)
    motion = planar.outward(replace(chain, gravity=np.zeros(2)), Q, V, A)
    joints, centres = planar.positions(chain, Q)
    for axes in (left, right):
        axes.plot(*joints.T, color=GREY, lw=5, alpha=0.45, solid_capstyle="round", zorder=1)
        axes.plot(*joints[:-1].T, "o", color="white", mec=INK, ms=7, zorder=4)
        axes.set(aspect="equal", xlabel="x [m]")
    names = ["inherited from the joint", "Euler, alpha x r", "centripetal", "sum: centre of mass"]
    for i, centre in enumerate(centres):
        at, scale = centre, 0.4
        parts = (motion.joints[i], motion.euler[i], motion.centripetal[i])
        for part, color, name in zip(parts, (BLUE, ORANGE, GREEN), names, strict=False):
            if np.abs(part).max() > 0:
                arrow(left, at, scale * part, color)
            at = at + scale * part
            if i == 0:
                left.plot([], [], color=color, label=name)
        arrow(left, centre, scale * motion.centres[i], RED, names[3] if i == 0 else None, width=1.1)
        left.plot(*centre, "o", color=INK, ms=4, zorder=5)
    left.set(title="outward: accelerations, without gravity", ylabel="y [m]")
    left.legend(loc="lower right")
    forces = planar.inward(chain, planar.outward(chain, Q, V, A))
    for i in range(3):
        arrow(right, joints[i], 0.07 * forces.forces[i], PURPLE, "force through the joint" if i == 0 else None)
        force, effort = np.hypot(*forces.forces[i]), forces.tau[i]
        right.annotate(
            f"joint {i + 1}: |f| = {force:.2f} N\ntau = {effort:.3f} N m",
            joints[i],
            (10, -16),
            textcoords="offset points",
            fontsize=8,
        )
    right.set(title="inward: forces and moments, with gravity")
    right.legend(loc="upper left")
    for axes in (left, right):
        axes.set(xlim=(-0.35, 2.3), ylim=(-0.4, 2.25))
    return figure


def two_roads() -> Figure:
    """Lesson 2: parts of the torque against the recursion, and the error of the differences against the step."""
    figure, (left, right) = panels(2)
    terms = planar_lagrange.by_christoffel(THREE_LINKS, Q, V)
    tau = planar.inverse_dynamics(THREE_LINKS, Q, V, A)
    # Head to tail, as vectors are added: the velocity part of joint 1 goes back.
    parts = {"gravity": (terms.gravity, BLUE), "velocity": (terms.velocity, GREEN), "inertia": (terms.M @ A, ORANGE)}
    for i in range(3):
        at = 0.0
        for k, (name, (part, color)) in enumerate(parts.items()):
            y = i + 0.24 * (k - 1)
            left.barh(y, part[i], 0.2, left=at, color=color, label=name if i == 0 else None)
            left.plot([at + part[i]] * 2, [y, y + 0.24], color=GREY, lw=0.7, zorder=0)
            at += part[i]
    left.plot(tau, np.arange(3) + 0.36, "D", color=INK, ms=6, label="recursion", zorder=5)
    left.set(yticks=range(3), yticklabels=["joint 1", "joint 2", "joint 3"], xlabel="torque [N m]")
    left.set_title("three parts, head to tail, and the recursion")
    left.invert_yaxis()
    left.legend(loc="lower right")
    steps = np.geomspace(4e-1, 1e-4, 34)
    errors = [np.abs(planar_lagrange.by_differences(THREE_LINKS, Q, V, h).efforts(A) - tau).max() for h in steps]
    right.loglog(steps, errors, "o-", color=RED, ms=3.5, label="energies by finite differences")
    right.loglog(
        steps[:16], errors[8] * (steps[:16] / steps[8]) ** 4, "--", color=GREY, label="fourth power of the step"
    )
    exact = max(np.abs(terms.efforts(A) - tau).max(), 1e-16)
    right.axhline(exact, color=BLUE, label="Christoffel symbols")
    right.set(xlabel="step [rad]", ylabel="difference from the recursion [N m]", ylim=(3e-17, 1))
    right.set_title("how near both roads come")
    right.legend(loc="upper left")
    return figure


def columns_of_m() -> Figure:
    """Lesson 3: M by columns, and what two mistakes make of it."""
    figure, axes = panels(3, height=3.1)
    q, v = np.array([[0.4, -0.9, 1.3]]), np.array([[0.7, -0.5, 1.1]])

    def recursion(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return planar.inverse_dynamics(ARM, q, v, a)

    M, bias = forward.columns(recursion, q, v)
    moved = iter(q + 0.02 * k for k in range(4))
    unfrozen, _ = forward.columns(lambda _, v, a: recursion(next(moved), v, a), q, v)
    shown = {
        "bias subtracted": M[0],
        "bias left in": M[0] + bias[0][:, None],
        "q moves 0.02 rad per call": unfrozen[0],
    }
    for place, (title, matrix) in zip(axes, shown.items(), strict=True):
        image = place.imshow(matrix, cmap="PuOr", vmin=-21, vmax=21)
        for (i, j), value in np.ndenumerate(matrix):
            place.text(j, i, f"{value:.3f}", ha="center", va="center", color="white" if abs(value) > 10 else INK)
        asymmetry = np.abs(matrix - matrix.T).max()
        told = "symmetric" if asymmetry < 1e-12 else f"not symmetric, by up to {asymmetry:.3f}"
        place.set(title=f"{title}:\n{told}", xticks=range(3), yticks=range(3), xlabel="column: joint that accelerates")
        place.set_xticklabels(["1", "2", "3"])
        place.set_yticklabels(["1", "2", "3"])
    axes[0].set_ylabel("row: joint that feels it")
    figure.colorbar(image, ax=axes, shrink=0.7, label="kg m²")
    return figure


def six_numbers() -> Figure:
    """Lesson 4: the velocity field of a twist, and the plane against space on 300 states."""
    figure, (left, right) = panels(2)
    q, v = np.array([0.4, 0.9, -1.3]), np.array([0.7, 0.5, -0.6])
    joints, _ = planar.positions(ARM, q)
    theta, omega = np.cumsum(q), np.cumsum(v)
    ends = np.zeros((4, 2))
    for i in range(3):
        ends[i + 1] = ends[i] + omega[i] * ARM.lengths[i] * np.array([-np.sin(theta[i]), np.cos(theta[i])])
    left.plot(*joints.T, color=GREY, lw=5, alpha=0.45, solid_capstyle="round", zorder=1)
    left.plot(*joints[:-1].T, "o", color="white", mec=INK, ms=7, zorder=4)
    for i, color in enumerate((BLUE, GREEN, ORANGE)):
        for k, s in enumerate(np.linspace(0, 1, 5)):
            at, velocity = (1 - s) * joints[i] + s * joints[i + 1], (1 - s) * ends[i] + s * ends[i + 1]
            arrow(left, at, 0.4 * velocity, color, f"link {i + 1}" if k == 0 else None, width=1.2)
        # v + omega x r = 0
        centre = joints[i] + np.array([-ends[i][1], ends[i][0]]) / omega[i]
        left.plot(*centre, "x", color=color, ms=8, mew=2.2, zorder=6)
    left.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title="a twist per link: velocities, a cross where zero")
    left.set_xlim(-0.75, 2.3)
    left.legend(loc="lower right")
    rng = np.random.default_rng(0)
    q, v, a = rng.uniform(-1, 1, (3, 300, 3))
    q, v, force = np.pi * q, 2 * v, rng.uniform(-5, 5, (300, 2))
    tip = -planar_tree.tip_wrenches(ARM, q, force)[:, -1]
    screws = exponentials.screws_of(planar_tree.embedded(ARM), planar_tree.TIP)
    flat = planar.inverse_dynamics(ARM, q, v, a, force)
    spatial = exponentials.inverse_dynamics(screws, q, v, a, tip)
    lagrange = planar_lagrange.by_christoffel(ARM, q, v).efforts(a, force)
    for name, found, color in (("products of exponentials", spatial, BLUE), ("Christoffel symbols", lagrange, ORANGE)):
        errors = np.maximum(np.abs(found - flat).max(-1), 1e-17)
        right.semilogy(np.sort(errors), color=color, label=name)
    right.axhline(3e-14, color=RED, ls="--", label="3e-14 N m")
    right.set(xlabel="state, by size of its difference", ylabel="largest difference [N m]", ylim=(1e-17, 3e-13))
    right.set_title("against the planar recursion, 300 states")
    right.legend(loc="lower right")
    return figure


def let_it_swing() -> Figure:
    """Lesson 5: a swing, its drift against the step, and the cost of each way."""
    figure, (left, middle, right) = panels(3, width=11.5)
    chain = simulate.of_chain(ARM)
    q, v = np.array([[0.4, -0.9, 1.3]]), np.array([[0.7, -0.5, 1.1]])
    path = simulate.simulate(chain, q, v, 0.01, 300, 0.3)
    points = planar.positions(ARM, path.q[:, 0])[0]
    for k in range(0, 301, 50):
        left.plot(*points[k].T, color=GREY, alpha=0.25 + 0.75 * k / 300, lw=2)
    left.plot(*points[:, -1].T, color=ORANGE, lw=1.2, label="path of the tip, 3 s")
    left.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title="swinging with friction")
    left.legend(loc="upper left", bbox_to_anchor=(-0.02, 1.0))
    left.set_ylim(-2.5, 1.9)
    counts = np.array([50, 100, 200, 400])
    for viscous, color, name in ((0.0, BLUE, "no friction"), (0.3, GREEN, "friction, work accounted for")):
        drift = [np.abs(simulate.simulate(chain, q, v, 1 / n, n, viscous).drift()).max() for n in counts]
        middle.loglog(1 / counts, drift, "o-", color=color, label=name)
    middle.loglog(
        1 / counts, drift[2] / 3 * (counts[2] / counts) ** 4, "--", color=GREY, label="fourth power of the step"
    )
    middle.set(xlabel="step [s]", ylabel="energy from nowhere in 1 s [J]", title="drift against step", ylim=(1e-10, 1))
    middle.set_xticks([0.002, 0.005, 0.01, 0.02], labels=["0.002", "0.005", "0.01", "0.02"])
    middle.set_xticks([], minor=True)
    middle.legend(loc="upper left")
    sizes = [1, 2, 3, 4, 6, 8, 12, 16, 24]
    drawn = {
        counting.LAGRANGE: (RED, "Christoffel, inverse", "n⁴"),
        counting.WALKER_ORIN: (PURPLE, "columns and solve, forward", "n³"),
        counting.COLUMNS: (SKY, "columns of M", "n²"),
        counting.RNEA: (BLUE, "recursion, inverse", "n"),
    }
    for name, tallies in counting.planar_counts(sizes, list(drawn)).items():
        color, label, power = drawn[name]
        right.loglog(sizes, [tally.total for tally in tallies], "o-", ms=3.5, color=color, label=f"{label}: {power}")
    right.set(xlabel="links n", ylabel="scalar operations", title="what each way costs", ylim=(20, 2e9))
    right.legend(loc="upper left")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "01-two-passes": two_passes,
    "02-two-roads": two_roads,
    "03-columns": columns_of_m,
    "04-six-numbers": six_numbers,
    "05-swing": let_it_swing,
}
