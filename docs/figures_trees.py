"""Figures of lessons 6 to 8: terms of the engines' calls, a base that floats, trees and their branches."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import pinocchio as pin
from figure_look import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, RED, SKY, arrow, panels

from tautology import load, models
from tautology.adapters.reference import Reference
from tautology.adapters.textbook import counting, floating, lie
from tautology.adapters.textbook.parts import parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

# The lesson holds the model and the ledger; here they are read, so that page and figure cannot differ.
PAGE = (Path(__file__).parent / "lessons" / "06-an-algorithm-is-not-an-api.md").read_text(encoding="utf-8")
Q, V, A = np.array([-0.6, -0.7]), np.array([-1.5, 2.2]), np.array([2.0, -3.0])
COLORS = (ORANGE, RED, GREEN, BLUE, SKY, INK, PURPLE, GREY)


def _calls(text: str) -> tuple[dict[str, np.ndarray], Any, Any]:
    """Return what every call of lesson 6 answers, and MuJoCo's model and data of `mj_inverse`."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "arm.xml"
        file.write_text(text, encoding="utf-8")
        robot = pin.buildModelFromMJCF(str(file))
    scratch, model = robot.createData(), mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc[:] = Q, V, A
    mujoco.mj_inverse(model, data)
    found = {
        "pin.rnea": pin.rnea(robot, scratch, Q, V, A).copy(),
        "pin.nonLinearEffects": pin.nonLinearEffects(robot, scratch, Q, V).copy(),
        "pin.computeGeneralizedGravity": pin.computeGeneralizedGravity(robot, scratch, Q).copy(),
    }
    for flag in (0, 1):
        found[f"mj_rne, flg_acc={flag}"] = np.zeros(2)
        mujoco.mj_rne(model, data, flag, found[f"mj_rne, flg_acc={flag}"])
    found |= {f"qfrc_{k}": np.array(getattr(data, f"qfrc_{k}")) for k in ("bias", "passive", "constraint", "inverse")}
    return found, model, data


def _terms(model: Any, data: Any) -> dict[str, np.ndarray]:
    """Return the terms of lesson 6, in the order of its ledger."""
    rigid, rest, weightless = Reference(load(model)), np.zeros((1, 2)), np.zeros(3)
    force, jacobian, contact = np.zeros(6), np.zeros((3, 2)), data.contact[0]
    mujoco.mj_contactForce(model, data, 0, force)
    mujoco.mj_jac(model, data, jacobian, None, contact.pos, model.body("lower").id)
    return {
        "M a": rigid.inverse_dynamics(Q[None], rest, A[None], gravity=weightless, armature=False)[0],
        "armature": model.dof_armature * A,
        "velocity, c": rigid.bias(Q[None], V[None], gravity=weightless)[0],
        "gravity, g": rigid.gravity_forces(Q[None])[0],
        "damping": model.dof_damping * V,
        "dry friction": model.dof_frictionloss * np.sign(V),
        "spring": model.jnt_stiffness * (Q - model.qpos_spring),
        "contact": -jacobian.T @ (force[0] * contact.frame[:3]),
    }


def ledger() -> Figure:
    """Lesson 6: each call as a sum of terms, head to tail, and what it returned."""
    found, model, data = _calls("".join(re.findall(r"^<mujoco.*?^</mujoco>$", PAGE, re.MULTILINE | re.DOTALL)))
    names, terms = zip(*_terms(model, data).items(), strict=True)
    lines = re.findall(r"^.{30}(?: +[-+.]){8}$", PAGE, re.MULTILINE)
    marks = {line[:30].strip(): line[30:].split() for line in lines}
    figure, axes = panels(1, width=9.0, height=5.2)
    for row, call in enumerate(found):
        at, kept = 0.0, [k for k, mark in enumerate(marks[call]) if mark != "."]
        for place, k in enumerate(kept):
            part, y = {"+": 1, "-": -1}[marks[call][k]] * terms[k][1], row + 0.1 * (place - (len(kept) - 1) / 2)
            axes.barh(y, part, 0.1, left=at, color=COLORS[k])
            at += part
        axes.plot(found[call][1], row + 0.05 * (len(kept) - 1), "D", color="white", mec=INK, mew=1.2, ms=6, zorder=5)
        axes.axhline(row + 0.5, color=GREY, lw=0.4, alpha=0.6, zorder=0)
    axes.axvline(0, color=GREY, lw=0.8, zorder=0)
    axes.set(yticks=range(len(found)), yticklabels=list(found), xlabel="torque of the elbow [N m]")
    axes.set(xlim=(-0.75, 1.12), ylim=(len(found) - 0.5, -0.5))
    handles = [axes.barh(0, 0, color=color) for color in COLORS]
    handles += axes.plot([], [], "D", color="white", mec=INK, mew=1.2, ms=6)
    figure.legend(handles, [*names, "what the call returned"], loc="outside upper center", ncols=5)
    return figure


def floating_base() -> Figure:
    """Lesson 7: two motions that are called zero, and where the ground must push a humanoid on one foot."""
    figure, (left, right) = panels(2, width=9.0, height=4.4)
    speed, turn = 1.0, 2.0
    times = np.linspace(0, np.pi / turn, 61)
    spatial = lie.exponential(lie.hat(np.array([0, 0, turn, speed, 0, 0])) * times[:, None, None])
    straight = lie.exponential(lie.hat(np.array([0, 0, turn, 0, 0, 0])) * times[:, None, None])
    straight[:, 0, 3] = speed * times
    box = 0.1 * np.array([[1, 0.5], [1, -0.5], [-1, -0.5], [-1, 0.5], [1, 0.5]])
    for poses, color, name in (
        (spatial, GREEN, "zero spatial acceleration\n(base axes: Pinocchio, PyBullet)"),
        (straight, BLUE, "zero ordinary acceleration\n(world axes: MuJoCo, Drake, DART)"),
    ):
        left.plot(*poses[:, :2, 3].T, color=color, label=name)
        for T in poses[::15]:
            left.plot(*(T[:2, :2] @ box.T + T[:2, 3:]), color=color, lw=1)
            arrow(left, T[:2, 3], 0.14 * T[:2, 0], color, width=1.0)
    left.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", xlim=(-0.25, 1.85), ylim=(-0.3, 1.75))
    left.set_title("1 m/s and 2 rad/s, and all accelerations zero")
    left.legend(loc="upper right")
    robot = floating.humanoid()
    q, still = np.array(robot.neutral)[None], np.zeros((1, 30))
    q[:, 2] = 0.9
    points = Reference(robot).all_poses(q)[0, :, 1:3, 3]
    for i, parent in enumerate(robot.parents):
        if parent > 0:
            right.plot(*points[[parent, i]].T, color=GREY, lw=5, alpha=0.55, solid_capstyle="round", zorder=1)
    head, foot = points[robot.index["head"]], points[robot.index["left_foot"]]
    right.plot(head[0], head[1] + 0.12, "o", color=GREY, ms=17, alpha=0.55)
    sole = foot[1] - 0.08  # below the ankle
    right.plot(foot[0] + np.array([-0.05, 0.05]), [sole, sole], color=INK, lw=4, solid_capstyle="butt")
    right.plot([-0.55, 0.75], [sole, sole], color=INK, lw=0.8, zorder=0)
    centre, scale = Reference(robot).center_of_mass(q)[0, 1:], 0.5 / (9.81 * robot.total_mass)
    (wrench,) = floating.in_world(robot, q, floating.residual_wrench(robot, q, still, still))
    arrow(right, centre, scale * floating.gravity_wrench(robot, q)[0, 4:], BLUE, "weight")
    acts = np.array([wrench[0] / wrench[5], sole])
    right.plot([acts[0]] * 2, [sole, 1.75], color=RED, lw=0.9, ls=":")
    arrow(right, acts, scale * wrench[4:], RED, "what the ground must give, to stand still")
    right.plot(*centre, "o", color=BLUE, ms=5)
    moment = wrench[5] * (foot[0] - acts[0])
    right.annotate(
        f"sole, {100 * (foot[0] - acts[0]):.0f} cm aside:\na weld must pull\nwith {moment:.1f} N m",
        (foot[0] + 0.05, sole),
        (0.97, 0.25),
        arrowprops={"arrowstyle": "-", "color": INK, "lw": 0.8},
        fontsize=8.5,
    )
    right.set(
        aspect="equal", xlabel="y [m]", ylabel="z [m]", xlim=(-0.75, 1.0), ylim=(-0.2, 2.05), xticks=(-0.5, 0, 0.5)
    )
    right.set_title("a humanoid on its left foot, seen from the back")
    right.invert_xaxis()
    right.legend(loc="upper left")
    return figure


def branches() -> Figure:
    """Lesson 8: which joints feel a load, which bodies couple, what forward dynamics costs."""
    figure, (left, middle, right) = panels(3, width=11.5, height=4.0)
    _draw_tree(left)
    humanoid = floating.humanoid()
    q = np.array(humanoid.neutral)[None]
    q[:, 7:] = np.random.default_rng(0).uniform(-1, 1, 24)
    M = np.abs(Reference(humanoid).mass_matrix(q)[0])
    image = middle.imshow(np.log10(np.where(M > 0, M, np.nan)), cmap="viridis_r", vmin=-4, vmax=2)
    blocks = {"pelvis": (0, 6), "waist": (6, 9), "neck": (9, 10), "left\narm": (10, 14), "right\narm": (14, 18)}
    blocks |= {"left leg": (18, 24), "right leg": (24, 30)}
    for start, _ in blocks.values():
        middle.axhline(start - 0.5, color=GREY, lw=0.5)
        middle.axvline(start - 0.5, color=GREY, lw=0.5)
    middle.set_yticks([(start + end - 1) / 2 for start, end in blocks.values()], list(blocks), fontsize=8)
    middle.set_xticks([])
    middle.tick_params(length=0)
    lines = [_line(humanoid.parents, i) for i in humanoid.joint_of_dof]
    apart = sum(i[-1] not in j and j[-1] not in i for i in lines for j in lines)
    middle.set_title(f"M of a humanoid: {apart} of {M.size} entries\nare zero in every pose")
    figure.colorbar(image, ax=middle, shrink=0.75, label="log10 of the entry, SI units")
    sizes = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48]
    drawn = {
        counting.WALKER_ORIN: (PURPLE, "columns and solve"),
        counting.CRBA_SOLVE: (ORANGE, "composite bodies and solve"),
        counting.ABA: (GREEN, "articulated bodies"),
        counting.RNEA: (BLUE, "recursion, inverse dynamics"),
    }
    for name, tallies in counting.spatial_counts(sizes, list(drawn)).items():
        color, label = drawn[name]
        right.loglog(sizes, [tally.total for tally in tallies], "o-", ms=3.5, color=color, label=label)
    right.set(xlabel="joints n of a chain in space", ylabel="scalar operations", ylim=(100, 3e7))
    right.set_xticks([1, 2, 4, 8, 16, 32], labels=["1", "2", "4", "8", "16", "32"])
    right.set_xticks([], minor=True)
    right.set_title("forward dynamics, and inverse below it")
    right.legend(loc="upper left")
    return figure


def _line(parents: tuple[int, ...], body: int) -> list[int]:
    """Return the bodies from the ground to one."""
    return [*(_line(parents, parents[body]) if parents[body] else []), body]


def _draw_tree(axes: Any) -> None:
    """Draw the tree with parents (0, 1, 1, 3), and the efforts that a load on body 4 adds."""
    tree = load(models.path("branched_tree.urdf"))
    body = [tree.index["base"], *(tree.index[f"body_{k}"] for k in (1, 2, 3, 4))]
    wrenches = np.zeros((1, len(tree.bodies), 6))
    wrenches[0, body[4]] = 0.15, 0.05, -0.35, -2.2, 0.8, 1.9
    q, rest = np.array([[0.4, -0.7, 0.15, 1.1]]), np.zeros((1, 4))
    added = parts(Reference(tree), q, rest, rest, wrenches).load[0, body[4]]
    places = np.array([[0.0, 0.0], [0.0, 1.0], [-0.9, 2.0], [0.9, 2.0], [0.9, 3.0]])
    axes.plot([-0.5, 0.5], [0, 0], color=INK, lw=3, solid_capstyle="butt")
    for k in range(1, 5):
        parent, place = places[body.index(tree.parents[body[k]])], places[k]
        along, feels = place - parent, bool(added[k - 1] != 0)
        aside = 0.07 * np.array([-along[1], along[0]]) / np.hypot(*along)
        arrow(axes, parent + 0.24 * along + aside, 0.44 * along, BLUE, "motion, outward" if k == 1 else None)
        color, name = (RED, "the load, inward") if feels else (GREY, "nothing of the load")
        arrow(axes, place - 0.24 * along - aside, -0.44 * along, color, name if k < 3 else None)
        unit = "N" if tree.joints[body[k]].kind == "prismatic" else "N m"
        words = f"joint {k}: {added[k - 1]:+.3f} {unit}" if feels else f"joint {k}: 0"
        middle = (parent + place) / 2
        left, aside = along[0] < 0, 0.16 + 0.2 * abs(along[0])
        x = middle[0] + (-aside if left else aside)
        axes.text(x, middle[1], words, fontsize=8.5, va="center", ha="right" if left else "left")
        axes.plot(*place, "o", color="white", mec=INK, ms=19, zorder=4)
        axes.text(*place, str(k), ha="center", va="center", zorder=5)
    arrow(axes, (1.75, 3.25), (-0.6, -0.18), RED, width=2.6)
    axes.text(1.8, 3.27, "load", va="center", fontsize=8.5)
    axes.set(xlim=(-2.1, 2.4), ylim=(-0.15, 4.5), title="parents (0, 1, 1, 3), with a load on body 4")
    axes.axis("off")
    axes.legend(loc="upper left")


FIGURES: dict[str, Callable[[], Figure]] = {
    "06-an-algorithm-is-not-an-api": ledger,
    "07-a-base-that-floats": floating_base,
    "08-trees-and-branches": branches,
}
