"""The calls into MuJoCo, state by state, in MuJoCo's own coordinates, each after the stages that it needs.

Positions need `mj_kinematics` and `mj_comPos`, velocities `mj_comVel`: without them the calls answer for the state
before, in silence.
Source: MuJoCo documentation, API reference, "Sub-components" and "Support".
"""

from __future__ import annotations

from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from .mujoco_build import quiet, reflected_inertia
from .mujoco_map import mujoco
from .mujoco_versions import couplings, full_inertia, make_inertia

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from ..harness.tree import Floats
    from .mujoco_map import MjModel

BODY, FRAME = int(mujoco.mjtObj.mjOBJ_BODY), int(mujoco.mjtObj.mjOBJ_XBODY)


class Calls:
    """One model with its data.

    Args:
        model: owned from here on. Its integrator and flags are set so that no answer depends on them.

    Attributes:
        LACKS: see `harness.engine.Session.lacks`.
        WRENCHES: what to do with an external wrench.
        RNE: what its recursive Newton-Euler call is named.
    """

    LACKS: Mapping[str, str] = MappingProxyType(
        {
            "symmetry": "mj_fullM mirrors one triangle: that both are equal shows only what the adapter hands on",
            "load_invariance": "mj_rne takes no wrenches: the adapter subtracts those of mj_applyFT afterwards",
        }
    )
    WRENCHES = "nothing: the harness uses mj_applyFT, which takes the point; move the wrench for xfrc_applied"
    RNE = "mj_rne"

    def __init__(self, model: MjModel) -> None:
        model.opt.integrator, model.opt.enableflags = mujoco.mjtIntegrator.mjINT_EULER, 0
        if model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY:
            model.opt.gravity[:] = 0
        model.opt.disableflags = 0
        self.model, self.data = model, mujoco.MjData(model)
        self.warnings: list[str] = []
        # Once for all: only fixed tendons have inertia here, and their Jacobians do not change.
        for stage in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_tendon):
            stage(model, self.data)

    def reflected_inertia(self) -> Floats:
        """Return what `inertia` holds beside that of the bodies, see `mujoco_build.reflected_inertia`."""
        return reflected_inertia(self.model)

    def couplings(self) -> set[tuple[int, int]]:
        """Return the pairs of dofs, the larger first, that M has a place for."""
        return couplings(self.model)

    def states(self, qpos: Floats, qvel: Floats | None = None) -> Iterator[int]:
        """Yield each state after the stages that depend on position and, with qvel, on velocity."""
        m, d = self.model, self.data
        position, velocity = d.qpos, d.qvel
        for i, q in enumerate(qpos):
            position[:] = q
            mujoco.mj_kinematics(m, d)
            mujoco.mj_comPos(m, d)
            if qvel is not None:
                velocity[:] = qvel[i]
                mujoco.mj_comVel(m, d)
            yield i

    def inverse_dynamics(
        self,
        qpos: Floats,
        qvel: Floats,
        qacc: Floats,
        *,
        loads: Floats | None = None,
        bodies: Sequence[int] = (),
        gravity: Floats | None = None,
    ) -> Floats:
        """Return `mj_rne` minus `mj_applyFT`, (N, nv) [N m | N]: no reflected inertia, nothing passive.

        Args:
            qpos: (N, nq).
            qvel: (N, nv).
            qacc: (N, nv).
            loads: (N, k, 6) [N m, N] wrenches on `bodies`, moment first, in body axes about the body origin.
            bodies: (k,) MuJoCo's numbers.
            gravity: (3,) [m/s^2] in world axes instead of the model's own.
        """
        m, d, tau = self.model, self.data, np.zeros_like(qacc)
        acceleration = d.qacc
        with self._under(gravity):
            for i in self.states(qpos, qvel):
                acceleration[:] = qacc[i]
                mujoco.mj_rne(m, d, 1, tau[i])
                if loads is not None and bodies:
                    for b, (torque, force) in zip(bodies, self._in_world(-loads[i], bodies), strict=True):
                        mujoco.mj_applyFT(m, d, force, torque, d.xpos[b], b, tau[i])
        return tau

    def inertia(self, qpos: Floats) -> Floats:
        """Return `mj_makeM`, which is `mj_crb` and the inertia of tendons, (N, nv, nv)."""
        m, d = self.model, self.data
        M = np.zeros((len(qpos), m.nv, m.nv))
        for i in self.states(qpos):
            make_inertia(m, d)
            full_inertia(m, d, M[i])
        return M

    def solve(self, qpos: Floats, efforts: Floats) -> Floats:
        """Return M^-1 times efforts (N, nv) by `mj_factorM` and `mj_solveM`."""
        m, d, a = self.model, self.data, np.zeros_like(efforts)
        with quiet() as heard:
            for i in self.states(qpos):
                make_inertia(m, d)
                mujoco.mj_factorM(m, d)
                mujoco.mj_solveM(m, d, a[i : i + 1], efforts[i : i + 1])
        self.warnings += heard
        return a

    def jacobian_efforts(self, qpos: Floats, loads: Floats, bodies: Sequence[int]) -> Floats:
        """Return the sum of J^T f with `mj_jacBody`, (N, nv); loads as in `inverse_dynamics`."""
        m, d, efforts = self.model, self.data, np.zeros((len(qpos), self.model.nv))
        rows = np.zeros((6 * len(bodies), m.nv))
        J = rows.reshape(len(bodies), 2, 3, m.nv)
        for i in self.states(qpos):
            for b, (turning, moving) in zip(bodies, J, strict=True):
                mujoco.mj_jacBody(m, d, moving, turning, b)
            efforts[i] = self._in_world(loads[i], bodies).reshape(-1) @ rows
        return efforts

    def poses(self, qpos: Floats, bodies: Sequence[int]) -> Floats:
        """Return `xpos` and `xmat` as T_world_body, (N, k, 4, 4)."""
        d, Ts = self.data, np.zeros((len(qpos), len(bodies), 4, 4))
        Ts[..., 3, 3] = 1
        for i in self.states(qpos):
            Ts[i, :, :3, :3] = d.xmat[bodies].reshape(-1, 3, 3)
            Ts[i, :, :3, 3] = d.xpos[bodies]
        return Ts

    def velocities(self, qpos: Floats, qvel: Floats, kind: int, bodies: Sequence[int]) -> Floats:
        """Return `mj_objectVelocity` of FRAME (body frames) or BODY (principal frames) in its own axes, (N, k, 6)."""
        m, d, twists = self.model, self.data, np.zeros((len(qpos), len(bodies), 6))
        for i in self.states(qpos, qvel):
            for b, twist in zip(bodies, twists[i], strict=True):
                mujoco.mj_objectVelocity(m, d, kind, b, twist, 1)
        return twists

    def momenta(self, qpos: Floats, qvel: Floats, bodies: Sequence[int]) -> Floats:
        """Return `mj_subtreeVel`, moved from each subtree's centre of mass to the world origin, (N, k, 6)."""
        m, d, momenta = self.model, self.data, np.zeros((len(qpos), len(bodies), 6))
        for i in self.states(qpos, qvel):
            mujoco.mj_subtreeVel(m, d)
            for k, b in enumerate(bodies):
                force = d.subtree_linvel[b] * m.body_subtreemass[b]
                momenta[i, k] = [*(d.subtree_angmom[b] + np.cross(d.subtree_com[b], force)), *force]
        return momenta

    def mass_moments(self, qpos: Floats, bodies: Sequence[int]) -> Floats:
        """Return the sum of m xipos, (N, 3) [kg m]."""
        d, moments, mass = self.data, np.zeros((len(qpos), 3)), self.model.body_mass[bodies]
        for i in self.states(qpos):
            moments[i] = mass @ d.xipos[bodies]
        return moments

    def _in_world(self, loads: Floats, bodies: Sequence[int]) -> Floats:
        """Return moments and forces (k, 6) in body axes as (k, 2, 3) in world axes."""
        return loads.reshape(-1, 2, 3) @ self.data.xmat[bodies].reshape(-1, 3, 3).swapaxes(1, 2)

    @contextmanager
    def _under(self, gravity: Floats | None) -> Generator[None]:
        """Set another gravity while a call runs."""
        own = self.model.opt.gravity.copy()
        if gravity is not None:
            self.model.opt.gravity[:] = gravity
        try:
            yield
        finally:
            self.model.opt.gravity[:] = own
