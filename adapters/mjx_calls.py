# pyright: reportAttributeAccessIssue=false
"""The calls into MJX: its stages compiled once each, over batches of one size, in MuJoCo's own coordinates.

Double precision and the CPU hold inside these calls alone (`_double`): whoever has jax in the same process keeps their
own settings. XLA's fusion is off: along a chain of bodies it computes each placement anew for every body that hangs on
it, which doubles the work per link (64 states of a UR5: 0.7 s instead of 0.7 ms).
Source: MuJoCo documentation, MuJoCo XLA (MJX); `mujoco/mjx/_src/smooth.py`.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if "jax" not in sys.modules:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")  # nobody else uses it here: look for no accelerator

import jax as _jax
from mujoco import mjx as _mjx
from mujoco.mjx._src import smooth as _smooth

from ..harness.errors import EngineRefused, EngineUnsupported, Source
from .mujoco_calls import BODY, Calls
from .mujoco_versions import Whole

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from ..harness.tree import Floats
    from .mujoco_map import MjModel

# Their members come from modules without types.
jax: Any = _jax
mjx: Any = _mjx
smooth: Any = _smooth  # solve_m is public nowhere else

BATCH: Final = 64  # states at once: what is asked with other numbers of states compiles nothing anew
OPTIONS: Final[Mapping[str, Any]] = {"xla_cpu_use_fusion_emitters": False, "xla_backend_optimization_level": 0}
PLACED: Final = ("qpos", "xpos", "xquat", "xmat", "xipos", "ximat", "xanchor", "xaxis", "site_xpos", "site_xmat")
POSITION: Final = (*PLACED, "subtree_com", "cdof", "_impl.cinert")
VELOCITY: Final = ("cvel", "cdof_dot")
VARIED: Final = ("opt.gravity", "body_mass", "body_inertia")  # of the model: arguments of a stage, all else is constant
INERTIA: Final = "_impl.M"  # dense, or its entries alone where MJX keeps it sparse


@contextmanager
def _double() -> Generator[None]:
    """Compute in double precision on the CPU, in this thread, for a while."""
    with jax.enable_x64(True), jax.default_device(jax.devices("cpu")[0]):
        yield


class MjxCalls(Calls):
    """One model on both sides: MuJoCo's own, from which it is read back, and MJX's, which answers.

    Args:
        model: owned from here on. What MJX leaves out of it is taken out.
        file: of the model, for a refusal.

    Raises:
        EngineRefused: `mjx.put_model` or `mjx.make_data` would not take it.
        EngineUnsupported: nothing moves.
    """

    LACKS: Mapping[str, str] = MappingProxyType(
        {
            "symmetry": "MJX mirrors one triangle: that both are equal shows only what the adapter hands on",
            "load_invariance": "mjx.rne takes no wrenches: the adapter subtracts mjx.xfrc_accumulate afterwards",
        }
    )
    WRENCHES = "move the wrench to the centre of mass and turn it into world axes for xfrc_applied"
    RNE = "mjx.rne"

    def __init__(self, model: MjModel, file: str = "") -> None:
        if not model.nv:
            raise EngineUnsupported("no joint moves; the stages of MJX go along dofs, and need one")
        with _double():
            try:  # with the options of the file, of which both refuse some
                mjx.put_model(model)
                mjx.make_data(model)
            except NotImplementedError as refusal:
                words = f"MJX does not implement: {refusal}"
                raise EngineRefused(words, "refused.unsupported", None, Source(file)) from refusal
            super().__init__(model)
            Whole(model).actuator_armature[:] = 0  # MJX does not know it
            self._model, self._blank = mjx.put_model(model), mjx.make_data(model)
        self._compiled: dict[str, Callable[..., Any]] = {}

    def couplings(self) -> set[tuple[int, int]]:
        """Return the pairs of dofs that M has a place for: all, unless MJX keeps it sparse."""
        if mjx.is_sparse(self._model):
            return super().couplings()
        return {(i, j) for i in range(self.model.nv) for j in range(i + 1)}

    def reflected_inertia(self) -> Floats:
        """Return `mjx.crb` and `mjx.tendon_armature` of the same model without mass, (nv,) or (nv, nv)."""
        with _double():
            bare = self._model.replace(body_mass=0 * self._model.body_mass, body_inertia=0 * self._model.body_inertia)
        M = self._inertia(self.model.qpos0[None], bare)[0]
        diagonal = np.diag(M).copy()
        return M if np.count_nonzero(M) > np.count_nonzero(diagonal) else diagonal

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
        """Return `mjx.rne` minus `mjx.xfrc_accumulate`, (N, nv); see `Calls.inverse_dynamics`."""
        model = None
        if gravity is not None:
            with _double():
                model = self._model.replace(opt=self._model.opt.replace(gravity=jax.numpy.asarray(gravity)))
        asked = (qpos, qvel, qacc) if loads is None else (qpos, qvel, qacc, self._spread(loads, bodies))

        def efforts(q: Any, v: Any, a: Any, *forces: Any) -> Any:
            tau = self._stage("rne", _rne, {}, q, v, a, model=model)
            return tau - self._stage("push", _push, self._placed(q), *forces) if forces else tau

        return self._batched(efforts, *asked)

    def inertia(self, qpos: Floats) -> Floats:
        """Return `mjx.full_m` of `mjx.crb` and `mjx.tendon_armature`, (N, nv, nv)."""
        return self._inertia(qpos)

    def solve(self, qpos: Floats, efforts: Floats) -> Floats:
        """Return M^-1 times efforts (N, nv) by `mjx` factor_m and solve_m."""

        def solve(q: Any, b: Any) -> Any:
            return self._stage("solve", _solve, self._stage("inertia", _inertia, {}, q), b)

        return self._batched(solve, qpos, efforts)

    def jacobian_efforts(self, qpos: Floats, loads: Floats, bodies: Sequence[int]) -> Floats:
        """Return the sum of J^T f with `mjx.jac`, (N, nv); loads as in `inverse_dynamics`."""

        def efforts(q: Any, f: Any) -> Any:
            return self._stage("jacobian", _jacobian, self._placed(q), f)

        return self._batched(efforts, qpos, self._spread(loads, bodies))

    def poses(self, qpos: Floats, bodies: Sequence[int]) -> Floats:
        """Return `xpos` and `xmat` as T_world_body, (N, k, 4, 4)."""
        positions, turns = self._read(qpos, "xpos", "xmat")
        Ts = np.zeros((len(qpos), len(bodies), 4, 4))
        Ts[..., 3, 3] = 1
        Ts[..., :3, :3], Ts[..., :3, 3] = turns[:, bodies], positions[:, bodies]
        return Ts

    def velocities(self, qpos: Floats, qvel: Floats, kind: int, bodies: Sequence[int]) -> Floats:
        """Return `cvel` moved to FRAME (body frames) or BODY (centres, principal axes), in its own axes, (N, k, 6)."""
        at, axes = ("xipos", "ximat") if kind == BODY else ("xpos", "xmat")
        points, turns, centers, cvel = self._read(qpos, at, axes, "subtree_com", "cvel", qvel=qvel)
        twists, lever = cvel[:, bodies], (points - centers[:, self.model.body_rootid])[:, bodies]
        twists = np.stack([twists[..., :3], twists[..., 3:] + np.cross(twists[..., :3], lever)], axis=2)
        return (twists @ turns[:, bodies]).reshape(len(qpos), len(bodies), 6)

    def momenta(self, qpos: Floats, qvel: Floats, bodies: Sequence[int]) -> Floats:
        """Return `mjx.subtree_vel`, moved from each subtree's centre of mass to the world origin, (N, k, 6)."""

        def momenta(q: Any, v: Any) -> Any:
            placed = self._placed(q)
            return self._stage("momentum", _momentum, {**placed, **self._moved(placed, v)})

        linear, angular, center = np.moveaxis(self._batched(momenta, qpos, qvel), 1, 0)[:, :, bodies]
        force = linear * self.model.body_subtreemass[bodies, None]
        return np.concatenate([angular + np.cross(center, force), force], axis=-1)

    def mass_moments(self, qpos: Floats, bodies: Sequence[int]) -> Floats:
        """Return the sum of m xipos, (N, 3) [kg m]."""
        (centers,) = self._read(qpos, "xipos")
        return np.einsum("b,nbi->ni", self.model.body_mass[bodies], centers[:, bodies])

    def _inertia(self, qpos: Floats, model: Any = None) -> Floats:
        def inertia(q: Any) -> Any:
            held = self._stage("inertia", _inertia, {}, q, model=model)
            return self._stage("full", mjx.full_m, held) if mjx.is_sparse(self._model) else held[INERTIA]

        return self._batched(inertia, qpos)

    def _read(self, qpos: Floats, *fields: str, qvel: Floats | None = None) -> list[Floats]:
        """Return fields of MJX's data after the stages of position and, with qvel, of velocity."""

        def read(q: Any, *v: Any) -> Any:
            placed = self._placed(q)
            known = {**placed, **(self._moved(placed, *v) if v else {})}
            return [known[field] for field in fields]

        return self._batched(read, qpos) if qvel is None else self._batched(read, qpos, qvel)

    def _spread(self, loads: Floats, bodies: Sequence[int]) -> Floats:
        """Return the loads (N, k, 6) on `bodies` as loads on all, (N, nbody, 6)."""
        spread = np.zeros((len(loads), self.model.nbody, 6))
        spread[:, bodies] = loads
        return spread

    def _placed(self, q: Any) -> dict[str, Any]:
        return self._stage("placed", _placed, {}, q)

    def _moved(self, placed: Mapping[str, Any], v: Any) -> dict[str, Any]:
        return self._stage("moved", _moved, placed, v)

    def _stage(self, name: str, stage: Callable[..., Any], known: Mapping[str, Any], *x: Any, model: Any = None) -> Any:
        """Return what a stage of MJX makes of a batch, with the fields that earlier stages have set."""
        if name not in self._compiled:
            # The more is constant, the sooner a call is dispatched: a whole model handed over takes as long as a stage.
            constant, blank = self._model, self._blank

            def one(varied: Mapping[str, Any], known: Mapping[str, Any], *x: Any) -> Any:
                return stage(constant.tree_replace(varied), blank.tree_replace(known), *x)

            batch = jax.vmap(one, in_axes=(None, 0, *[0] * len(x)))
            self._compiled[name] = jax.jit(batch, compiler_options=dict(OPTIONS))
        return self._compiled[name](_fields(model or self._model, VARIED), known, *x)

    def _batched(self, call: Callable[..., Any], *arrays: Floats) -> Any:
        """Return what a call answers to arrays of N states, asked in batches of one size."""
        count, parts = len(arrays[0]), []
        with _double():
            for start in range(0, max(count, 1), BATCH):
                part = [_padded(x[start : start + BATCH], (BATCH, *x.shape[1:])) for x in arrays]
                parts.append(jax.tree.map(np.asarray, call(*part)))

        def joined(*x: Floats) -> Floats:
            return np.concatenate(x)[:count]

        return jax.tree.map(joined, *parts)


def _padded(x: Floats, shape: tuple[int, ...]) -> Floats:
    """Return x with zeros below, up to that shape: MJX takes a quaternion of zeros for no turn."""
    out = np.zeros(shape)
    out[: len(x)] = x
    return out


def _fields(d: Any, names: Sequence[str]) -> dict[str, Any]:
    return {name: attrgetter(name)(d) for name in names}


def _positioned(m: Any, d: Any, q: Any) -> Any:
    return mjx.com_pos(m, mjx.kinematics(m, d.replace(qpos=q)))


def _placed(m: Any, d: Any, q: Any) -> dict[str, Any]:
    return _fields(_positioned(m, d, q), POSITION)


def _moved(m: Any, d: Any, v: Any) -> dict[str, Any]:
    return _fields(mjx.com_vel(m, d.replace(qvel=v)), VELOCITY)


def _rne(m: Any, d: Any, q: Any, v: Any, a: Any) -> Any:
    moved = mjx.com_vel(m, _positioned(m, d.replace(qvel=v, qacc=a), q))
    return mjx.rne(m, moved, flg_acc=True).qfrc_bias


def _inertia(m: Any, d: Any, q: Any) -> Any:
    return _fields(mjx.tendon_armature(m, mjx.crb(m, mjx.tendon(m, _positioned(m, d, q)))), (INERTIA,))


def _solve(m: Any, d: Any, efforts: Any) -> Any:
    return smooth.solve_m(m, mjx.factor_m(m, d), efforts)


def _in_world(d: Any, loads: Any) -> tuple[Any, Any]:
    """Return forces and moments of loads (nbody, 6), moment first, in body axes, in world axes."""
    turned = jax.numpy.einsum("bij,bkj->bki", d.xmat, loads.reshape(-1, 2, 3))
    return turned[:, 1], turned[:, 0]


def _push(m: Any, d: Any, loads: Any) -> Any:
    force, moment = _in_world(d, loads)
    moment += jax.numpy.cross(d.xpos - d.xipos, force)  # it acts at the centre of mass
    return mjx.xfrc_accumulate(m, d.replace(xfrc_applied=jax.numpy.concatenate([force, moment], axis=1)))


def _jacobian(m: Any, d: Any, loads: Any) -> Any:
    force, moment = _in_world(d, loads)
    moving, turning = jax.vmap(mjx.jac, in_axes=(None, None, 0, 0))(m, d, d.xpos, np.arange(m.nbody))
    return jax.numpy.einsum("bvi,bi->v", moving, force) + jax.numpy.einsum("bvi,bi->v", turning, moment)


def _momentum(m: Any, d: Any) -> Any:
    fields = _fields(mjx.subtree_vel(m, d), ("_impl.subtree_linvel", "_impl.subtree_angmom", "subtree_com"))
    return jax.numpy.stack(list(fields.values()))
