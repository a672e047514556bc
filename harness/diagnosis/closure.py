"""Put the found values into our tree, compute everything again, and say what that explains and what is left.

The share of a difference is one minus the ratio of the squared scaled residuals with and without its value put in;
where neither efforts nor M show it, as where a robot stands, that of the poses of the bodies. What is left after all
values are put in stands at rounding level, or it is unexplained.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from ..findings import KINDS, Finding, Severity
from .alignment import home_coordinates
from .difference import Difference, patched, unchanged
from .wrench_frames import STILL, where_they_act

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..spatial import Array
    from ..states import States
    from ..tree import Floats, Tree

SHARED: Final = 6  # states on which shares are measured; what is left is measured on all
# Terms that no compared answer contains, and relations that are left open: an engine that does not keep them computes
# the same robot.
BESIDE: Final = ("damping", "frictionloss", "spring", "gravcomp", "fluid", "joint.mimic")
NOISE: Final = 1e-28  # mean squared residual that is rounding and no more: nothing can explain a share of it
UNSEEN: Final = 1e-6  # share of a residual below which a difference does not show in it
EFFORTS: Final = ("tau", "bias", "gravity")


class Dynamics(Protocol):
    """What closure asks of the reference."""

    def inverse_dynamics(self, q: Array, v: Array, a: Array, wrenches: Array | None = None) -> Array:
        """Return tau (N, nv)."""
        ...

    def mass_matrix(self, q: Array) -> Array:
        """Return M (N, nv, nv)."""
        ...

    def poses(self, q: Array) -> Array:
        """Return T_world_body (N, nb - 1, 4, 4)."""
        ...


@dataclass(frozen=True, eq=False)
class Observed:
    """What an engine answered at the frozen states.

    Attributes:
        states: that were asked, of our tree.
        dofs: names of the common dofs, in canonical order.
        values: "tau", "bias", "gravity" (N, n) and "mass_matrix" (N, n, n), as far as answered.
        scales: of the same shapes.
        poses: body name to T_world_body (N, 4, 4), as far as answered.
        still: of a pose: two frames that move together, or are one, to the arithmetic of the engine.
    """

    states: States
    dofs: tuple[str, ...]
    values: Mapping[str, Floats]
    scales: Mapping[str, Floats]
    poses: Mapping[str, Floats] = field(default_factory=dict)
    still: float = STILL


@dataclass(frozen=True)
class Left:
    """The worst residual after everything found was put in.

    Attributes:
        ratio: error over scale; 0 when nothing could be compared.
        error: absolute.
        quantity, state, where: its place.
    """

    ratio: float
    error: float
    quantity: str
    state: int | None
    where: str | None


NOTHING_LEFT: Final = Left(0.0, 0.0, "", None, None)


@dataclass(frozen=True)
class Closed:
    """What differences explain.

    Attributes:
        shares: one per difference, in their order.
        left: what all of them do not explain.
        together: by kind, the share of all differences of that kind put in at once; of the kinds that were asked.
    """

    shares: tuple[float, ...]
    left: Left
    together: Mapping[str, float] = field(default_factory=dict)


def close(
    tree: Tree,
    differences: Sequence[Difference],
    observed: Observed,
    make: Callable[[Tree], Dynamics],
    *,
    files: bool = False,
) -> Closed:
    """Measure what every difference explains, and what all of them leave.

    Args:
        tree: the expected robot.
        differences: that were found.
        observed: the engine's answers.
        make: returns the reference of a tree.
        files: whether the differences are those of two files; shares are then of M as well, since terms such as
            armature hardly show in the efforts, and the differences of each kind are measured together too.
    """
    few = _first(observed, SHARED)
    before = mean_square(residuals(tree, tree, few, make, matrix=files))
    displaced = _displaced(tree, tree, few, make)

    def share(some: Sequence[Difference]) -> float:
        touching = [d for d in some if d.apply is not unchanged]
        if not touching:
            return 0.0
        changed = patched(tree, touching)
        after = mean_square(residuals(tree, changed, few, make, matrix=files)) if before > NOISE else before
        if abs(after - before) > UNSEEN * before or displaced <= NOISE:
            return float(np.clip(1 - after / before, 0, 1)) if before > NOISE else 0.0
        return float(np.clip(1 - _displaced(tree, changed, few, make) / displaced, 0, 1))

    shares = tuple(share([d]) for d in differences)
    together: dict[str, float] = {}
    for kind in dict.fromkeys(d.kind for d in differences) if files else ():
        alike = [k for k, d in enumerate(differences) if d.kind == kind]
        together[kind] = share([differences[k] for k in alike]) if len(alike) > 1 else shares[alike[0]]
    left = worst(residuals(tree, patched(tree, differences), observed, make, matrix=True), observed)
    return Closed(shares, left, together)


def _first(observed: Observed, count: int) -> Observed:
    """Return the observations at a few states that move: the last ones, which are of the richest strata."""
    s = observed.states
    at = np.linspace(0, len(s) - 1, min(count, len(s))).astype(int)
    picked = replace(
        s, **{n: getattr(s, n)[at] for n in ("q", "v", "a", "tau", "wrenches")}, strata=tuple(s.strata[i] for i in at)
    )
    return replace(
        observed,
        states=picked,
        values={name: value[at] for name, value in observed.values.items()},
        scales={name: scale[at] for name, scale in observed.scales.items()},
        poses={name: T[at] for name, T in observed.poses.items()},
    )


def _displaced(ours: Tree, tree: Tree, observed: Observed, make: Callable[[Tree], Dynamics]) -> float:
    """Return the mean square of what the poses of moving bodies depart by, [m] and entries of R alike."""
    there = [name for name in observed.poses if name in tree.index and tree.moving[tree.index[name]]]
    if not there:
        return 0.0
    Ts = np.asarray(make(tree).poses(_coordinates(ours, tree, observed)[0]), float)
    off = [observed.poses[name] - Ts[:, tree.index[name] - 1] for name in there]
    return mean_square({"poses": np.stack(off)})


def residuals(
    ours: Tree, tree: Tree, observed: Observed, make: Callable[[Tree], Dynamics], *, matrix: bool = False
) -> dict[str, Floats]:
    """Return (observed - computed) / scale for efforts, and for M when asked or when nothing else was answered.

    Args:
        ours: the tree whose coordinates the states are in.
        tree: a patched one; joints that it lacks are left out, joints that it has beyond are at rest.
        observed: the engine's answers.
        make: returns the reference of a tree.
        matrix: whether M is compared too.
    """
    q, v, a, wrenches = _coordinates(ours, tree, observed)
    at = [tree.dofs.index(name) for name in observed.dofs]
    reference, rest = make(tree), np.zeros_like(v)
    if "tau" in observed.values:
        Ts = np.asarray(reference.poses(q), np.float64)
        wrenches = where_they_act(Ts, tree, observed.poses, wrenches, observed.still)
    asked = [name for name in EFFORTS if name in observed.values]
    count = len(q)
    found: dict[str, Floats] = {}
    if asked and observed.dofs:
        # One recursion over all questions: only tau is asked under the wrenches.
        motions = {"tau": (v, a, wrenches), "bias": (v, rest, wrenches * 0), "gravity": (rest, rest, wrenches * 0)}
        stacked = [np.concatenate([motions[name][k] for name in asked]) for k in range(3)]
        efforts = np.asarray(reference.inverse_dynamics(np.tile(q, (len(asked), 1)), *stacked), float)[:, at]
        for k, name in enumerate(asked):
            found[name] = _scaled(observed, name, efforts[k * count : (k + 1) * count])
    if "mass_matrix" in observed.values and observed.dofs and (matrix or not asked):
        M = np.asarray(reference.mass_matrix(q), float)[:, at][:, :, at]
        found["mass_matrix"] = _scaled(observed, "mass_matrix", M)
    return found


def _scaled(observed: Observed, name: str, computed: Floats) -> Floats:
    value, scale = observed.values[name], observed.scales[name]
    with np.errstate(invalid="ignore", over="ignore"):
        # A robot that is a thousand times as large rounds a thousand times as coarsely: its own size counts too.
        size = np.maximum(scale, np.abs(computed))
        error = value - computed
    return np.where(np.isfinite(error), error / np.where(size > 0, size, 1.0), np.inf)


def _coordinates(ours: Tree, tree: Tree, observed: Observed) -> tuple[Floats, Floats, Floats, Floats]:
    """Return q, v, a and wrenches of our states in the coordinates of a patched tree.

    A joint that became another one, and is not answered for in our coordinates, is at rest at home.
    """
    states = observed.states
    kinds = {joint.name: joint.kind for joint in ours.joints}
    other = {
        joint.name
        for joint in tree.joints
        if joint.nv and kinds.get(joint.name) not in (None, joint.kind) and not set(joint.dofs) <= set(observed.dofs)
    }
    if tree.dofs == ours.dofs and tuple(tree.index) == tuple(ours.index) and not other:
        return states.q, states.v, states.a, states.wrenches
    count = len(states)
    home = home_coordinates(tree)
    q = np.tile(tree.neutral, (count, 1))
    v, a = np.zeros((count, tree.nv)), np.zeros((count, tree.nv))
    wrenches = np.zeros((count, len(tree.bodies), 6))
    for i, body in enumerate(tree.bodies):
        if body.name in ours.index:
            wrenches[:, i] = states.wrenches[:, ours.index[body.name]]
        k = ours.joint_index.get(body.joint.name)
        if body.joint.name in other:
            q[:, tree.q_slices[i]] = home[tree.q_slices[i]]
        elif k is not None and ours.joints[k].kind.nq == body.joint.nq:
            q[:, tree.q_slices[i]] = states.q[:, ours.q_slices[k]]
            v[:, tree.v_slices[i]] = states.v[:, ours.v_slices[k]]
            a[:, tree.v_slices[i]] = states.a[:, ours.v_slices[k]]
    return q, v, a, wrenches


def in_coordinates(ours: Tree, tree: Tree, observed: Observed) -> Observed:
    """Return what was observed at the states of our tree, with the states in the coordinates of a patched one."""
    q, v, a, wrenches = _coordinates(ours, tree, observed)
    states = replace(observed.states, q=q, v=v, a=a, tau=np.zeros_like(v), wrenches=wrenches)
    return replace(observed, states=states)


def mean_square(found: Mapping[str, Floats]) -> float:
    """Return the mean squared residual, each quantity counting alike."""
    means = [float(np.mean(np.square(np.clip(r, -1e150, 1e150)))) for r in found.values() if r.size]
    return sum(means) / len(means) if means else 0.0


def worst(found: Mapping[str, Floats], observed: Observed) -> Left:
    """Return the largest scaled residual with its place."""
    left = Left(0.0, 0.0, "", None, None)
    for name, residual in found.items():
        if not residual.size:
            continue
        at = np.unravel_index(int(np.abs(residual).argmax()), residual.shape)
        ratio = float(np.abs(residual[at]))
        if ratio > left.ratio:
            where = ", ".join(observed.dofs[i] for i in at[1:])
            left = Left(ratio, ratio * float(observed.scales[name][at]), name, int(at[0]), where)
    return left


def finding_of(difference: Difference, share: float | None, fix: str, *, engine: bool) -> Finding:
    """Return a difference as a finding.

    Args:
        difference: with its place in our file.
        share: what it explains, or None when there was nothing to explain.
        fix: one sentence.
        engine: whether an engine read our file; then terms beside the answers are conventions of that engine, and so is
            a term that its answers count as the file says it.
    """
    severity: Severity = KINDS[difference.kind]
    if engine and difference.kind in BESIDE and not (share and _unlike(difference)):
        severity = "convention"
    source, other = difference.source, difference.other
    return Finding(
        kind=difference.kind,
        severity=severity,
        where=difference.where,
        file=source.file or None,
        line=source.line or None,
        expected=_plain(difference.expected),
        found=_plain(difference.found),
        unit=difference.unit,
        explains=share,
        fix=fix,
        other_file=(other.file or None) if not engine else None,
        other_line=(other.line or None) if not engine else None,
        note=difference.note,
        rivals=tuple(f"{rival.kind} at {rival.where}" for rival in difference.rivals),
    )


def _unlike(difference: Difference) -> bool:
    """Return whether the numbers of a term are not those of the file, as far as they can be compared."""
    try:
        ours, theirs = (np.asarray(value, float) for value in (difference.expected, difference.found))
    except (TypeError, ValueError):  # one of them is a word
        return False
    return ours.shape != theirs.shape or not np.allclose(ours, theirs, rtol=1e-6, atol=1e-9)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
