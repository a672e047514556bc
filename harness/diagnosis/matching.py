"""Which joint and body of one tree is which of the other: by the user's map, by name, by likeness, by structure.

Joints are matched first, since they carry the coordinates; the bodies that they carry follow, then fixed bodies by
name.
Structure means: below matched bodies, joints of the same kind, compared by where their axis lies and what they carry.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import RequestError
from ..tree import JointKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..tree import Floats, Tree

# Words that say what a thing is and not which one it is.
FILLING = frozenset({"joint", "link", "body", "jnt", "frame"})
ALIKE = (JointKind.REVOLUTE, JointKind.CONTINUOUS)
CLEAR = 0.5  # a structural match whose cost is above this share of the runner-up's is doubtful


@dataclass(frozen=True, eq=False)
class Matching:
    """Pairs of body indices, each in its own tree; a joint goes by the body that it carries.

    Attributes:
        joints: A to B, joints with a dof.
        bodies: A to B, every body, the world included.
        doubtful: indices in A whose match is by structure and could be another.
    """

    joints: Mapping[int, int]
    bodies: Mapping[int, int]
    doubtful: frozenset[int]


def match(a: Tree, b: Tree, names: Mapping[str, str] | None = None) -> Matching:
    """Match the joints and bodies of two trees.

    Args:
        a: the expected tree.
        b: the other tree.
        names: joint or body names of `a` to those of `b`, which win over everything else.

    Raises:
        RequestError: `names` names what is not there.
    """
    names = names or {}
    _require(names, a, b)
    moving_a = [i for i, joint in enumerate(a.joints) if joint.nv]
    moving_b = [i for i, joint in enumerate(b.joints) if joint.nv]
    pairs = {
        i: b.joint_index[names[a.joints[i].name]]
        for i in moving_a
        if names.get(a.joints[i].name) in b.joint_index and b.joints[b.joint_index[names[a.joints[i].name]]].nv
    }
    named = {a.index[x]: b.index[y] for x, y in names.items() if x in a.index and y in b.index}
    pairs |= {i: j for i, j in named.items() if i not in pairs and a.joints[i].nv and b.joints[j].nv}
    _by_name(pairs, [(i, a.joints[i].name) for i in moving_a], [(j, b.joints[j].name) for j in moving_b])
    doubtful = _by_structure(pairs, a, b)
    bodies = {0: 0} | named | {i: j for i, j in pairs.items() if i not in named}
    # A body that moves here and is welded there keeps its name: what differs then is its joint.
    _by_name(
        bodies, [(i, x.name) for i, x in enumerate(a.bodies) if i], [(j, y.name) for j, y in enumerate(b.bodies) if j]
    )
    return Matching(pairs, bodies, frozenset(doubtful))


def _require(names: Mapping[str, str], a: Tree, b: Tree) -> None:
    """Check that every name of the map exists."""
    for name, tree in [(x, a) for x in names] + [(y, b) for y in names.values()]:
        if name not in tree.index and name not in tree.joint_index:
            known = ", ".join([*tree.joint_index][:8])
            raise RequestError(f"{tree.origin.path or tree.name}: no joint or body {name!r}; joints are {known}, ...")


def _by_name(pairs: dict[int, int], of_a: Iterable[tuple[int, str]], of_b: Iterable[tuple[int, str]]) -> None:
    """Add pairs of equal names, then of names that are alike in one way only."""
    for key in (str, _stem):
        taken = set(pairs.values())
        left_a = _unique([(i, key(name)) for i, name in of_a if i not in pairs])
        left_b = _unique([(j, key(name)) for j, name in of_b if j not in taken])
        pairs |= {left_a[name]: left_b[name] for name in left_a.keys() & left_b.keys() if name}


def _unique(named: Sequence[tuple[int, str]]) -> dict[str, int]:
    """Return name to index for the names that stand once."""
    times = Counter(name for _, name in named)
    return {name: i for i, name in named if times[name] == 1}


def _stem(name: str) -> str:
    """Return the telling words of a name: `shoulder_pan_joint`, `ShoulderPan` and `shoulder-pan` are one."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return " ".join(word.lower() for word in words if word.lower() not in FILLING)


def _by_structure(pairs: dict[int, int], a: Tree, b: Tree) -> set[int]:
    """Add pairs below matched bodies, cheapest first, and return those that could be otherwise."""
    doubtful: set[int] = set()
    above_a, above_b = _holders(a), _holders(b)
    poses_a, poses_b = neutral_poses(a), neutral_poses(b)
    masses_a, masses_b = _carried(a), _carried(b)
    while True:
        matched = {0: 0} | pairs
        taken = set(pairs.values())
        costs: list[tuple[float, int, int]] = []
        for i in range(1, len(a.bodies)):
            if i in pairs or not a.joints[i].nv or above_a[i] not in matched:
                continue
            for j in range(1, len(b.bodies)):
                free = j not in taken and b.joints[j].nv and above_b[j] == matched[above_a[i]]
                if free and _same_kind(a.joints[i].kind, b.joints[j].kind):
                    cost = _cost(a, i, poses_a, b, j, poses_b) + _relative(masses_a[i], masses_b[j])
                    costs.append((cost, i, j))
        if not costs:
            return doubtful
        best = min(costs)
        runner_up = min((c for c, i, j in costs if (i == best[1]) != (j == best[2])), default=np.inf)
        if best[0] >= CLEAR * runner_up and runner_up < np.inf:
            doubtful.add(best[1])
        pairs[best[1]] = best[2]


def _same_kind(x: JointKind, y: JointKind) -> bool:
    return x is y or (x in ALIKE and y in ALIKE)


def _holders(tree: Tree) -> list[int]:
    """Return for every body the nearest body above it whose joint has a dof, 0 for none."""
    above = [0]
    for body in tree.bodies[1:]:
        above.append(body.parent if tree.joints[body.parent].nv else above[body.parent])
    return above


def neutral_poses(tree: Tree) -> Floats:
    """Return T_world_body (nb, 4, 4) with every joint undisplaced."""
    Ts = [np.eye(4)]
    for body in tree.bodies[1:]:
        Ts.append(Ts[body.parent] @ body.joint.T_parent_joint @ body.joint.T_joint_body)
    return np.stack(Ts)


def _carried(tree: Tree) -> Floats:
    """Return the mass that each joint carries, the whole subtree's."""
    masses = np.array([body.inertia.mass for body in tree.bodies])
    for i in range(len(tree.bodies) - 1, 0, -1):
        masses[tree.parents[i]] += masses[i]
    return masses


def _cost(a: Tree, i: int, poses_a: Floats, b: Tree, j: int, poses_b: Floats) -> float:
    """Return how far two joints lie apart in their worlds: origin over the reach, and axis."""
    lines = []
    for tree, k, poses in ((a, i, poses_a), (b, j, poses_b)):
        joint = tree.joints[k]
        T = poses[tree.parents[k]] @ joint.T_parent_joint
        lines.append((T[:3, 3], T[:3, :3] @ joint.axis))
    (p, n), (r, m) = lines
    reach = max(float(np.abs(poses_a[:, :3, 3]).max()), 1e-9)
    has_axis = a.joints[i].kind not in (JointKind.BALL, JointKind.FLOATING)
    return float(np.linalg.norm(p - r)) / reach + (1 - abs(float(n @ m)) if has_axis else 0.0)


def _relative(x: float, y: float) -> float:
    """Return |x - y| over the larger, 0 for two zeros."""
    return abs(x - y) / max(abs(x), abs(y), 1e-300)
