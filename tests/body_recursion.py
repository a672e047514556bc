"""The recursion in body axes with parent-to-child transforms, for trees of scalar joints; and ways to spoil it.

X_i = Ad of the parent in the child,  V_i = X_i V_p + S_i v_i,  a_i = X_i a_p + S_i a_i + ad_{V_i} S_i v_i
f_i = I_i a_i + V_i x* (I_i V_i) - f_i_ext,  tau_i = S_i.f_i,  f_p += X_i^T f_i
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tautology.adapters.textbook import lie
from tautology.harness.joint import JointKind
from tautology.harness.spatial import inverse, motion_cross, motion_transform, spatial_inertia

if TYPE_CHECKING:
    from tautology.harness.tree import Tree


@dataclass
class Recursion:
    """One state of a tree, swept outward and inward.

    Attributes:
        T: placement of every body in its parent.
        X: motion transforms from parent to child.
        S, I: joint screws in body axes, spatial inertias.
        V, c, a: twists, velocity products and accelerations (with -g of the base).
        own: wrench of every body alone.
        f: wrench through every joint.
        tau: (nv,).
    """

    tree: Tree
    q: np.ndarray
    v: np.ndarray
    acc: np.ndarray
    loads: np.ndarray | None = None
    gravity: np.ndarray | None = None
    spoilt: str = ""
    T: list[np.ndarray] = field(default_factory=list)
    X: list[np.ndarray] = field(default_factory=list)
    S: list[np.ndarray] = field(default_factory=list)
    I: list[np.ndarray] = field(default_factory=list)
    V: list[np.ndarray] = field(default_factory=list)
    c: list[np.ndarray] = field(default_factory=list)
    a: list[np.ndarray] = field(default_factory=list)
    own: list[np.ndarray] = field(default_factory=list)
    f: list[np.ndarray] = field(default_factory=list)
    tau: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        tree, zero = self.tree, np.zeros(6)
        g = tree.gravity if self.gravity is None else self.gravity
        loads = np.zeros((len(tree.bodies), 6)) if self.loads is None else self.loads
        for i, body in enumerate(tree.bodies):
            joint, held = body.joint, body.inertia
            self.I.append(spatial_inertia(np.array(held.mass), held.com, held.I_com))
            if i == 0:
                self.T.append(np.eye(4))
                self.X.append(np.eye(6))
                self.S.append(zero)
                self.V.append(zero)
                self.c.append(zero)
                self.a.append(np.concatenate([np.zeros(3), -g]))
                self.own.append(zero)
                continue
            k, turning = tree.v_slices[i].start, joint.kind is not JointKind.PRISMATIC
            moved = joint.nv == 1
            screw = np.concatenate([joint.axis, zero[:3]] if turning else [zero[:3], joint.axis])
            motion = lie.screw_motion(screw, np.asarray(self.q[k] - joint.ref)) if moved else np.eye(4)
            self.T.append(joint.T_parent_joint @ motion @ joint.T_joint_body)
            X = motion_transform(inverse(self.T[i]))
            S = motion_transform(inverse(joint.T_joint_body)) @ screw if moved else zero
            rate, acceleration = (self.v[k], self.acc[k]) if moved else (0.0, 0.0)
            carried = np.eye(6) if self.spoilt == "velocities added in other axes" else X
            V = carried @ self.V[body.parent] + S * rate
            c = np.zeros(6) if self.spoilt == "no velocity product" else motion_cross(V) @ (S * rate)
            a = X @ self.a[body.parent] + S * acceleration + c
            dual = motion_cross(V) if self.spoilt == "no dual" else -motion_cross(V).T
            for name, value in (("X", X), ("S", S), ("V", V), ("c", c), ("a", a)):
                getattr(self, name).append(value)
            self.own.append(self.I[i] @ a + dual @ (self.I[i] @ V) - loads[i])
        self.f = [w.copy() for w in self.own]
        self.tau = np.zeros(tree.nv)
        for i in range(len(tree.bodies) - 1, 0, -1):
            if tree.joints[i].nv:
                self.tau[tree.v_slices[i]] = self.S[i] @ self.f[i]
            back = self.X[i].T
            if self.spoilt == "moments not shifted":
                back = back.copy()
                back[:3, 3:] = 0
            if self.spoilt == "inverse transpose":
                back = np.linalg.inv(self.X[i])
            self.f[tree.bodies[i].parent] = self.f[tree.bodies[i].parent] + back @ self.f[i]
