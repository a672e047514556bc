"""The calls into Newton: copies of one robot as worlds of one model, so that a launch answers for as many states.

Everything is float32 on the CPU. `eval_mass_matrix` and the Jacobian have a free joint in axes of its fixed side;
`eval_inverse_dynamics_force` and `_passive` answer with its wrench in world axes: `_anchored` turns that back.
Source: newton/_src/sim/articulation.py and inverse_dynamics.py.
"""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import warp as _warp

from ..harness.streams import caught
from .newton_joints import TYPE, newton, placed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from ..harness.tree import Floats

wp: Any = _warp

MOST: Final = 64  # states in one launch
ENTRIES: Final = 1 << 24  # of the Jacobians of all states: 64 MB


@contextmanager
def listening(said: list[str]) -> Generator[None]:
    """Append to `said` what Newton warns of, logs or prints; Warp tells of neither start nor compiled kernels."""
    logger, handler = logging.getLogger("newton"), _Kept(said)
    level, propagate = wp.config.log_level, logger.propagate
    wp.config.log_level, logger.propagate = wp.LOG_WARNING, False
    logger.addHandler(handler)
    words: list[str] = []
    try:
        with caught(words), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            yield
    finally:
        wp.config.log_level, logger.propagate = level, propagate
        logger.removeHandler(handler)
    said += [str(warning.message) for warning in warned]
    said += [line for line in words if "CUDA" not in line]


class _Kept(logging.Handler):
    """Keeps what is logged as a warning or worse."""

    def __init__(self, said: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.said = said

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


with listening([]):
    wp.init()  # tells of itself, and that there is no GPU


class Batch:
    """One robot in as many worlds as states are asked at once.

    Args:
        builder: of Newton, with the robot in it.
        checked: whether Newton may correct inertias, as it does by default.

    Attributes:
        model: the finalized model; its first world is the robot.
        nq, nv: coordinates of one world.
        tree_joints: all joints but those that close a loop, which its calls leave open.
        neutral: (nq,) positions that the builder starts with.
    """

    def __init__(self, builder: Any, *, checked: bool) -> None:
        self.nq, self.nv = int(builder.joint_coord_count), int(builder.joint_dof_count)
        self.bodies, self.joints = int(builder.body_count), int(builder.joint_count)
        self.neutral = np.array(builder.joint_q, np.float64).reshape(self.nq)
        self.size = int(np.clip(ENTRIES // max(1, 6 * self.joints * self.nv), 1, MOST))
        worlds = newton.ModelBuilder(gravity=builder.gravity)
        worlds.replicate(builder, self.size)
        self.model = worlds.finalize(device="cpu", skip_validation_inertia=not checked)
        self._state = self.model.state()
        self._gravity = self.model.gravity.numpy().copy()
        X_p = placed(self.model.joint_X_p.numpy()[: self.joints])
        types, parents = (x.numpy()[: self.joints] for x in (self.model.joint_type, self.model.joint_parent))
        starts = self.model.joint_qd_start.numpy()
        free = np.flatnonzero(types == int(TYPE.FREE))
        self._free = [(int(starts[j]), int(parents[j]), X_p[j, :3, :3]) for j in free]
        ends = self.model.articulation_end.numpy()
        firsts = self.model.articulation_start.numpy()[: len(ends)]
        count = len(ends) // self.size
        self._blocks = [(int(starts[a]), int(starts[b])) for a, b in zip(firsts[:count], ends[:count], strict=True)]
        self._joint_blocks = [(int(a), int(b)) for a, b in zip(firsts[:count], ends[:count], strict=True)]
        self.child = self.model.joint_child.numpy()[: self.joints]
        self.tree_joints = [j for j, a in enumerate(self.model.joint_articulation.numpy()[: self.joints]) if a >= 0]

    def first(self, name: str) -> Floats:
        """Return an array of the model, of the first world alone."""
        whole = getattr(self.model, name).numpy()
        return np.asarray(whole[: len(whole) // self.size], np.float64)

    def motions(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Return `eval_fk`: poses (N, bodies, 4, 4), and velocities (N, bodies, 6) of centres, in world axes."""

        def motions() -> tuple[Floats, Floats]:
            return self._poses(), self._per_world(self._state.body_qd)

        return self._asked(motions, q, v)

    def inertia(self, q: Floats) -> Floats:
        """Return `eval_mass_matrix`, armature in it: (N, nv, nv)."""

        def inertia() -> Floats:
            H = newton.eval_mass_matrix(self.model, self._state)
            return self._square(H.numpy())

        return self._asked(inertia, q)

    def efforts(self, q: Floats, v: Floats, a: Floats | None = None, gravity: Floats | None = None) -> Floats:
        """Return `eval_inverse_dynamics_force`, or without a its part `eval_inverse_dynamics_passive`: (N, nv)."""
        model, state = self.model, self._state

        def efforts(*accelerations: Any) -> Floats:
            own, coriolis, tau = (wp.zeros(model.joint_dof_count, dtype=float, device="cpu") for _ in range(3))
            M = newton.eval_mass_matrix(model, state) if accelerations else None
            newton.eval_inverse_dynamics_passive(model, state, gravity_force=own, coriolis_force=coriolis)
            if M is None:
                return self._anchored(self._per_world(own) + self._per_world(coriolis))
            newton.eval_inverse_dynamics_force(
                model,
                state,
                mass_matrix=M,
                joint_qdd=self._array(accelerations[0]),
                coriolis_force=coriolis,
                gravity_force=own,
                joint_f=tau,
            )
            return self._anchored(self._per_world(tau))

        if gravity is not None:
            model.set_gravity(gravity)
        try:
            return self._asked(efforts, q, v, *([] if a is None else [a]))
        finally:
            model.gravity.assign(self._gravity)

    def jacobian_efforts(self, q: Floats, pushes: Floats) -> Floats:
        """Return the sum of J^T f with `eval_jacobian`, (N, nv).

        Args:
            q: (N, nq).
            pushes: (N, bodies, 6) [N, N m] force, then moment about the centre of mass, in world axes.
        """

        def efforts(f: Floats) -> Floats:
            J = newton.eval_jacobian(self.model, self._state).numpy().astype(np.float64)
            out = np.zeros((self.size, self.nv))
            J = J.reshape(self.size, len(self._blocks), -1, J.shape[-1])
            for k, ((a, b), (i, j)) in enumerate(zip(self._blocks, self._joint_blocks, strict=True)):
                rows = f[:, self.child[i:j]].reshape(self.size, 1, -1)
                out[:, a:b] = (rows @ J[:, k, : 6 * (j - i), : b - a])[:, 0]
            return out

        return self._asked(efforts, q, None, pushes)

    def _asked(self, call: Callable[..., Any], q: Floats, v: Floats | None = None, *more: Floats) -> Any:
        """Return what a call answers to N states, in launches of one size, after `eval_fk` of each."""
        parts: list[Any] = []
        for start in range(0, max(len(q), 1), self.size):
            stop = min(start + self.size, len(q))
            positions = np.tile(self.neutral, (self.size, 1))
            positions[: stop - start] = q[start:stop]
            velocities = np.zeros((self.size, self.nv))
            if v is not None:
                velocities[: stop - start] = v[start:stop]
            self._state.joint_q.assign(positions.astype(np.float32).ravel())
            self._state.joint_qd.assign(velocities.astype(np.float32).ravel())
            newton.eval_fk(self.model, self._state.joint_q, self._state.joint_qd, self._state)
            padded = [np.zeros((self.size, *x.shape[1:])) for x in more]
            for x, own in zip(padded, more, strict=True):
                x[: stop - start] = own[start:stop]
            answer = call(*padded)
            several = isinstance(answer, tuple)
            parts.append([x[: stop - start] for x in (answer if several else (answer,))])
        whole = [np.concatenate(x) for x in zip(*parts, strict=True)]
        return whole[0] if len(whole) == 1 else tuple(whole)

    def _array(self, x: Floats) -> Any:
        return wp.array(x.astype(np.float32).ravel(), dtype=float, device="cpu")

    def _per_world(self, x: Any) -> Floats:
        values = x.numpy().astype(np.float64)
        return values.reshape(self.size, -1, *values.shape[1:]) if values.ndim > 1 else values.reshape(self.size, -1)

    def _poses(self) -> Floats:
        return placed(self._per_world(self._state.body_q))

    def _square(self, H: Floats) -> Floats:
        """Return one matrix per world of those of all articulations."""
        M = np.zeros((self.size, self.nv, self.nv))
        H = H.reshape(self.size, len(self._blocks), *H.shape[1:])
        for k, (a, b) in enumerate(self._blocks):
            M[:, a:b, a:b] = H[:, k, : b - a, : b - a]
        return M

    def _anchored(self, tau: Floats) -> Floats:
        """Return efforts with those of free joints in axes of their fixed side."""
        Ts = self._poses() if self._free else np.zeros(0)
        for at, parent, R_p in self._free:
            R = R_p if parent < 0 else Ts[:, parent, :3, :3] @ R_p
            for part in (slice(at, at + 3), slice(at + 3, at + 6)):
                tau[:, part] = (tau[:, None, part] @ R)[:, 0]
        return tau
