"""Figures of lessons 6 to 8: terms of the engines' calls, a base that floats, trees and their branches."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import pinocchio as pin
from figure_look import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, RED, SKY, panels

from tautology import load
from tautology.adapters.reference import Reference

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


FIGURES: dict[str, Callable[[], Figure]] = {"06-an-algorithm-is-not-an-api": ledger}
