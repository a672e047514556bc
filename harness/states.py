"""Frozen states: what every engine is asked, drawn once from a seed, hashed, kept in one file with nothing pickled."""

from __future__ import annotations

import hashlib
import json
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .errors import ReadError, RequestError, ShapeError, Source
from .joint import Floats, Joint, JointKind, frozen
from .spatial import Array, exp_so3, quaternion_product

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .tree import Tree

SCHEMA: Final = "tautology-states/1"
ARRAYS: Final = ("q", "v", "a", "tau", "wrenches")
# The truth takes about 3 kB per body and state (measured from 3 to 10,000 bodies): 6 GB.
MOST_BODY_STATES: Final = 2_000_000
UNIT: Final = 1e-9  # how far the length of a quaternion of somebody else's states may be from 1
FAST: Final = 20.0  # [rad/s | m/s], the most that a fast state asks of a dof without a speed limit
NEAR: Final = 1e-7  # [rad | m], distance of a near-singular state from the singular one


@dataclass(frozen=True, eq=False, repr=False)
class States:
    """N frozen states of one tree; the arrays are read-only.

    Attributes:
        q: (N, nq) positions.
        v: (N, nv) velocities.
        a: (N, nv) accelerations.
        tau: (N, nv) [N m | N] joint efforts for forward dynamics.
        wrenches: (N, nb, 6) [N m, N] external wrenches on the bodies, moment first, in body axes about the body origin.
        strata: (N,) the name of each state's stratum.
        seed: of the draw.

    Raises:
        ShapeError: the arrays hold different numbers of states.
        RequestError: there is no state, or a number is not finite.
    """

    q: Floats
    v: Floats
    a: Floats
    tau: Floats
    wrenches: Floats
    strata: tuple[str, ...]
    seed: int = 0

    def __post_init__(self) -> None:
        count = len(self.strata)
        if not count:
            raise RequestError("there is no state; at least one is needed")
        for name in ARRAYS:
            array = np.asarray(getattr(self, name), np.float64)
            if array.shape[:1] != (count,):
                raise ShapeError(f"{name} has shape {array.shape}; expected {count} states")
            if not np.isfinite(array).all():
                raise RequestError(f"{name} of a state holds a number that is not finite")
            object.__setattr__(self, name, frozen(array, array.shape, name))

    def __len__(self) -> int:
        return len(self.strata)

    def __repr__(self) -> str:
        """Return how many states of which strata there are, and their sizes."""
        strata = ", ".join(f"{count} {name}" for name, count in self.counts.items())
        sizes = f"nq {self.q.shape[1]}, nv {self.v.shape[1]}, bodies {self.wrenches.shape[1] - 1}"
        return f"<States: {len(self)} ({strata}), seed {self.seed}; {sizes}>"

    @property
    def sha256(self) -> str:
        """Hash over the bytes of the arrays, in the order q, v, a, tau, wrenches."""
        digest = hashlib.sha256()
        for name in ARRAYS:
            digest.update(np.ascontiguousarray(getattr(self, name)).tobytes())
        return digest.hexdigest()

    @property
    def counts(self) -> Mapping[str, int]:
        """Number of states by stratum, in the order of appearance."""
        return {name: self.strata.count(name) for name in dict.fromkeys(self.strata)}

    def copies(self) -> States:
        """Return the same states in fresh, writeable arrays, for an engine that must not reach ours."""
        return States(self.q, self.v, self.a, self.tau, self.wrenches, self.strata, self.seed)

    def require(self, tree: Tree) -> None:
        """Check that these are states of `tree`.

        Raises:
            ShapeError: the sizes differ.
            RequestError: a quaternion is not of length 1.
        """
        wanted: dict[str, tuple[int, ...]] = {"q": (tree.nq,), "v": (tree.nv,), "a": (tree.nv,), "tau": (tree.nv,)}
        wanted["wrenches"] = (len(tree.bodies), 6)
        for name, shape in wanted.items():
            found = getattr(self, name).shape[1:]
            if found != shape:
                raise ShapeError(
                    f"these states are of another robot: {name} is {found} per state; {tree.name!r} needs {shape}"
                )
        for joint, place in zip(tree.joints, tree.q_slices, strict=True):
            if joint.kind in (JointKind.BALL, JointKind.FLOATING):
                lengths = np.linalg.norm(self.q[:, place.stop - 4 : place.stop], axis=1)
                n = int(np.abs(lengths - 1).argmax())
                if abs(lengths[n] - 1) > UNIT:
                    raise RequestError(
                        f"state {n}: the quaternion of joint {joint.name!r} has length {lengths[n]:.6g}; it must be 1"
                    )

    def save(self, path: str | Path) -> None:
        """Write one .npz file; the name is taken as it is."""
        meta = json.dumps({"schema": SCHEMA, "seed": self.seed, "strata": list(self.strata), "sha256": self.sha256})
        with Path(path).open("wb") as file:
            np.savez_compressed(file, meta=np.array(meta), **{name: getattr(self, name) for name in ARRAYS})

    @classmethod
    def load(cls, path: str | Path) -> States:
        """Read what `save` wrote.

        Raises:
            ReadError: no such file, not a file of states, or one whose arrays are not those that were hashed.
        """
        try:
            mode = Path(path).stat().st_mode
        except (OSError, ValueError) as error:
            gone = isinstance(error, FileNotFoundError)
            state = "is not there" if gone else f"cannot be read: {getattr(error, 'strerror', error)}"
            raise ReadError(f"the file of states {state}", Source(str(path))) from error
        if not stat.S_ISREG(mode):
            raise ReadError("the file of states is no regular file", Source(str(path)))
        try:
            content, sha256 = _content(Path(path))
            states = cls(**content)
        except Exception as error:  # what is no such file can break the readers of zip, numpy and JSON anywhere
            raise ReadError(
                f"is no file of states ({error}); write one with `States.save`", Source(str(path))
            ) from error
        if states.sha256 != sha256:
            raise ReadError(
                f"the states were changed after they were written (sha256 {states.sha256[:12]}, not {sha256[:12]}); "
                "write changed ones with `States.save`",
                Source(str(path)),
            )
        return states


def require_memory(tree: Tree, count: int) -> None:
    """Check that so many states of this tree can be computed at once.

    Raises:
        RequestError: they would fill the memory; the message says how many fit.
    """
    if count * len(tree.bodies) > MOST_BODY_STATES:
        most = MOST_BODY_STATES // len(tree.bodies)
        raise RequestError(f"{count} states do not fit into memory; {most} are the most for {tree.name!r}")


def _content(path: Path) -> tuple[dict[str, Any], str]:
    """Return the fields of states that `save` wrote, and their hash.

    Raises:
        ValueError: another schema, or an array that holds no real numbers; anything else from a file of another kind.
    """
    with path.open("rb") as file, np.load(file, allow_pickle=False) as content:
        meta = json.loads(str(content["meta"]))
        arrays = {name: content[name] for name in ARRAYS}
    if meta["schema"] != SCHEMA or not all(isinstance(name, str) for name in meta["strata"]):
        raise ValueError(f"schema {meta['schema']!r}, strata {meta['strata'][:3]!r}")
    for name, array in arrays.items():
        if array.dtype.kind not in "fiu":
            raise ValueError(f"{name} holds {array.dtype}, no real numbers")
    return {**arrays, "strata": tuple(meta["strata"]), "seed": int(meta["seed"])}, str(meta["sha256"])


def sample(tree: Tree, count: int = 64, seed: int = 0) -> States:
    """Draw frozen states of `tree` in named strata.

    zero: undisplaced, at rest, unloaded. home: the file's own configuration, or the middle of the limits. single: one
    dof excited at a time. random: inside the limits. limits: every limited joint at one of its ends. fast: up to the
    speed limit. near_singular: joints a hair from 0, quarter and half turns. base_orientation: everything random and
    the base turned anyhow, for a free base. A tree without dofs has `count` identical states.

    Args:
        tree: whose coordinates are drawn.
        count: number of states, at least 1.
        seed: of numpy's PCG64.

    Raises:
        RequestError: `count` is below 1, `seed` is negative, or the robot is too large for double precision.
    """
    if count < 1 or seed < 0:
        raise RequestError(f"{count} states with seed {seed}: at least 1 state and a seed of 0 or more are needed")
    rng = np.random.default_rng(seed)
    strata = _strata(tree, count)
    q = np.tile(tree.neutral, (count, 1))
    v, a = np.zeros((count, tree.nv)), np.zeros((count, tree.nv))
    tau, wrenches = np.zeros((count, tree.nv)), np.zeros((count, len(tree.bodies), 6))
    kept = [i for i, h in enumerate(tree.fusion.holder) if h == i]
    pairs = zip(kept, tree.fused().bodies, strict=True)
    loaded = [i for i, body in pairs if i and not body.inertia.is_zero]
    mass, reach = max(tree.moving_mass, 1e-3), _reach(tree)
    if not np.isfinite(mass * max(reach, 1) * 10):
        raise RequestError(f"the masses or lengths of {tree.name!r} are too large: no double holds its efforts")
    speeds = np.array([_speed(j) for j in tree.joints for _ in range(j.nv)])
    single = 0
    for n, stratum in enumerate(strata):
        if stratum == "zero":
            continue
        q[n] = _positions(tree, stratum, rng)
        if stratum == "home":
            continue
        weight = rng.uniform(-1, 1, tree.nv)
        if stratum == "single":
            weight = np.where(np.arange(tree.nv) == single % max(tree.nv, 1), np.sign(weight), 0.0)
            single += 1
        v[n] = weight * speeds * (1.0 if stratum == "fast" else 0.1)
        a[n] = (rng.uniform(-1, 1, tree.nv) if stratum != "single" else weight) * 5
        tau[n] = rng.uniform(-1, 1, tree.nv) * mass * reach * 10
        if stratum != "single":
            wrenches[n, loaded] = rng.uniform(-1, 1, (len(loaded), 6)) * mass * np.repeat([reach, 1.0], 3) * 10
    return States(q, v, a, tau, wrenches, strata, seed)


def _strata(tree: Tree, count: int) -> tuple[str, ...]:
    """Return the stratum of each state: the fixed ones first, then equal shares, what is left is random."""
    first = ("zero", "home")[:count]
    left = count - len(first)
    others = ("single", "limits", "fast", "near_singular") + (("base_orientation",) if tree.base == "free" else ())
    share = left // (2 * len(others))
    names = [name for name in others for _ in range(share)]
    return (*first, *["random"] * (left - len(names)), *names)


def _reach(tree: Tree) -> float:
    """Return a length of the size of the robot [m], at least 0.1: the longest chain of placements."""
    far = [0.0]
    with np.errstate(over="ignore"):  # a length may have no double: it is refused
        for body in tree.bodies[1:]:
            far.append(far[body.parent] + float(np.linalg.norm(body.joint.T_parent_joint[:3, 3])))
    return max(0.1, *far)


def _speed(joint: Joint) -> float:
    """Return the speed of a fast state: the file's limit where it is positive and below `FAST`."""
    return min(joint.speed, FAST) if joint.speed > 0 else FAST


def interval(joint: Joint) -> tuple[float, float]:
    """Return the interval from which a one-dof joint is sampled [rad | m].

    A rotation whose range is wider than two turns, empty or reversed is sampled as one turn, an unlimited slide as one
    metre to either side: files hold limits of 1e16, where q + h = q.
    """
    half = 1.0 if joint.kind is JointKind.PRISMATIC else np.pi
    widest = 2.0 if joint.kind is JointKind.PRISMATIC else 4 * np.pi
    lower, upper = float(joint.lower), float(joint.upper)  # a difference of two doubles may overflow to inf in peace
    if joint.kind is JointKind.CONTINUOUS or not upper > lower or not upper - lower <= widest:
        return joint.ref - half, joint.ref + half
    return lower, upper


def _positions(tree: Tree, stratum: str, rng: np.random.Generator) -> Floats:
    if stratum == "home" and tree.home is not None:
        return tree.home
    parts = [_position(joint, stratum, rng) for joint in tree.joints if joint.nq]
    return np.asarray(np.concatenate(parts), np.float64) if parts else np.zeros(0)


def _position(joint: Joint, stratum: str, rng: np.random.Generator) -> Array:
    if joint.kind in (JointKind.BALL, JointKind.FLOATING):
        turn = rng.normal(size=4)
        turn /= np.linalg.norm(turn)
        if stratum == "home":
            return joint.neutral
        if stratum == "near_singular":
            # A hair from the identity and from a half turn, where logarithms and square roots break.
            axis = rng.normal(size=3)
            angle = rng.choice([NEAR, np.pi - NEAR])
            turn = exp_so3(axis / np.linalg.norm(axis) * angle)
        elif joint.kind is JointKind.FLOATING and stratum != "base_orientation":
            # Small turns here, so that the stratum base_orientation shows what large ones change.
            turn = quaternion_product(exp_so3(rng.uniform(-0.5, 0.5, 3)), np.array([1.0, 0, 0, 0]))
        return turn if joint.kind is JointKind.BALL else np.concatenate([rng.uniform(-1, 1, 3), turn])
    if joint.kind is JointKind.PLANAR:
        return np.zeros(3) if stratum == "home" else rng.uniform([-1, -1, -np.pi], [1, 1, np.pi])
    lower, upper = interval(joint)
    if stratum == "home":
        return np.array([(lower + upper) / 2])
    if stratum == "limits":
        return np.array([rng.choice([lower, upper])])
    if stratum == "near_singular":
        turn = joint.ref + rng.choice([0.0, np.pi / 2, -np.pi / 2, np.pi]) * (joint.kind is not JointKind.PRISMATIC)
        return np.array([np.clip(turn, lower, upper) + rng.choice([-NEAR, NEAR])])
    return rng.uniform(lower, upper, 1)
