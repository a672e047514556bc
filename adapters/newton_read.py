"""What Newton's importers make of a file, every default as it is but for meshes, matched with our tree by name.

Meshes of a URDF are taken out; those of an MJCF give masses, and stay where Newton can read them.

Labels are paths: the name of the robot, or the bodies above, then the body; `-` in an MJCF becomes `_`. All MJCF joints
of one body are one joint of Newton, its slides first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ..harness.errors import EngineRefused, EngineUnsupported, Source
from ..harness.meshless import without_meshes
from ..harness.tree import JointKind
from .newton_batch import listening
from .newton_build import Opened
from .newton_joints import SUFFIXES, TYPE, newton, tail

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..harness.engine import Given
    from ..harness.tree import Tree

NONPHYSICAL: Final = re.compile(r"A \+ B >= C|nonnegative|inertia|mass", re.IGNORECASE)
UNSUPPORTED: Final = re.compile(r"unsupported|not supported|must have the world body as parent", re.IGNORECASE)
QUOTED: Final = re.compile(r"['\"]([^'\"]+)['\"]|: (\S+)$|Link (\S+) not found")
LINE: Final = re.compile(r"line (\d+)")


def load(given: Given, tree: Tree) -> Opened:
    """Return the builder of a file, its bodies and joints matched with those of `tree`.

    Raises:
        EngineRefused: Newton would not read it, in its words.
        EngineUnsupported: another format, or a model without a joint that moves.
    """
    if given.format not in ("urdf", "mjcf"):
        raise EngineUnsupported(f"Newton has no importer for {given.format}; it reads URDF and MJCF")
    notes: list[str] = []
    builder: Any = newton.ModelBuilder()
    freed = {"floating": True} if given.freed else {}
    try:
        with listening(notes):
            if given.format == "urdf":
                text, meshes = without_meshes(given.path)
                builder.add_urdf(text.strip() if meshes else given.path, **freed)
            else:
                meshes, builder = 0, _mjcf(given.path, freed, notes)
    except Exception as error:  # Newton's importers raise what their parts do: it becomes a refusal in their words
        raise refusal(error, tree) from error
    notes = [f"Newton says: {words}" for words in notes]
    if meshes:
        notes.insert(0, f"{meshes} shapes that are meshes were taken out before Newton read the file")
    if not builder.joint_dof_count:
        raise EngineUnsupported(
            f"Newton holds no joint of {tree.name!r} that moves; its calls answer for articulations"
        )
    held = _held(builder, tree)
    rows = _rows(builder, tree, held)
    extra = tuple(
        tail(builder.joint_label[j]) + suffix
        for j in _tree_joints(builder)
        if j not in rows
        for suffix in _suffixes(builder, j)
    )
    return Opened(builder, held, rows, checked=True, extra_dofs=extra, notes=notes)


def _mjcf(path: str, freed: Mapping[str, bool], notes: list[str]) -> Any:
    """Return the builder of an MJCF, whose meshes give masses; without them where Newton cannot read one."""
    builder: Any = newton.ModelBuilder()
    try:
        builder.add_mjcf(path, **freed)
    except Exception as error:  # noqa: BLE001  what reads meshes raises its own; the file is at fault if it raises again
        builder = newton.ModelBuilder()
        builder.add_mjcf(path, parse_meshes=False, **freed)
        notes.append(f"{error}; meshes, and the masses that they give, are left out")
    return builder


def _held(builder: Any, tree: Tree) -> dict[int, int]:
    """Return tree body to Newton body, by name, and by place where a body has none."""
    names = {name: i for i in range(1, len(tree.bodies)) for name in {tree.bodies[i].name, _plain(tree, i)}}
    held: dict[int, int] = {}
    for b, label in enumerate(builder.body_label):
        parts = str(label).split("/")
        found = next((i for k in range(len(parts)) if (i := names.get("/".join(parts[k:])))), None)
        if found is not None:
            held.setdefault(found, b)
    if tree.origin.format == "mjcf":
        _place(builder, tree, held)
    return held


def _place(builder: Any, tree: Tree, held: dict[int, int]) -> None:
    """Add the bodies without a name: those that hang on the same body are in the same order in both."""
    at = {-1: 0} | {b: i for i, b in held.items()}
    ends = [(builder.joint_parent[j], builder.joint_child[j]) for j in _tree_joints(builder)]
    waiting = [-1]
    while waiting:
        parent = waiting.pop()
        theirs = [child for above, child in ends if above == parent]
        ours = [_proper(tree, i) for i, above in enumerate(tree.parents) if above == at[parent]]
        if len(ours) == len(theirs) and all(at.get(b, i) == i for i, b in zip(ours, theirs, strict=True)):
            for i, b in zip(ours, theirs, strict=True):
                held[i], at[b] = b, i
        waiting += [b for b in theirs if b in at]


def _proper(tree: Tree, i: int) -> int:
    """Return the MJCF body that ends the row of joints that begins at tree body i."""
    while tree.parents.count(i) == 1:
        below = tree.parents.index(i)
        if not tree.bodies[i].name.startswith(tree.bodies[below].name + "/"):
            break
        i = below
    return i


def _plain(tree: Tree, i: int) -> str:
    return tree.bodies[i].name.replace("-", "_")


def _rows(builder: Any, tree: Tree, held: dict[int, int]) -> dict[int, list[int]]:
    """Return Newton joint to the tree bodies in a row whose joints it is, where all are of the same kind."""
    at = {b: i for i, b in held.items()}
    rows: dict[int, list[int]] = {}
    for j in _tree_joints(builder):
        i, wanted = at.get(builder.joint_child[j]), _kinds(builder, j)
        if i is None or not wanted:
            continue
        row = [i]
        while len(row) < len(wanted) and tree.parents[row[0]] and tree.joints[tree.parents[row[0]]].nv:
            row.insert(0, tree.parents[row[0]])
        kinds = [JointKind.REVOLUTE if k is JointKind.CONTINUOUS else k for k in (tree.joints[i].kind for i in row)]
        if sorted(kinds) == sorted(wanted):
            rows[j] = row
    return rows


def _tree_joints(builder: Any) -> list[int]:
    """Return the joints that carry a body: those of an `<equality>` close loops, and belong to no articulation."""
    return [j for j in range(builder.joint_count) if builder.joint_articulation[j] >= 0]


def _kinds(builder: Any, j: int) -> list[JointKind]:
    """Return the kinds of joint in a row that one of Newton stands for."""
    linear, angular = builder.joint_dof_dim[j]
    kind = int(builder.joint_type[j])
    if kind == int(TYPE.FREE):
        return [JointKind.FLOATING]
    if kind == int(TYPE.BALL):
        return [JointKind.BALL]
    return [JointKind.PRISMATIC] * int(linear) + [JointKind.REVOLUTE] * int(angular)


def _suffixes(builder: Any, j: int) -> tuple[str, ...]:
    """Return the endings of the dofs of a joint that no joint of the tree is."""
    kind, count = int(builder.joint_type[j]), sum(builder.joint_dof_dim[j])
    return SUFFIXES.get(kind) or (("",) if count == 1 else tuple(f".{k}" for k in range(count)))


def refusal(error: Exception, tree: Tree) -> EngineRefused:
    """Return Newton's refusal with the place that its words tell of."""
    words = str(error) or type(error).__name__
    kind = "refused.malformed"
    if UNSUPPORTED.search(words):
        kind = "refused.unsupported"
    elif NONPHYSICAL.search(words):
        kind = "refused.nonphysical"
    line = LINE.search(words)
    source = Source(tree.origin.path, int(line[1])) if line else Source(tree.origin.path)
    for match in QUOTED.finditer(words):
        name = tail(next(filter(None, match.groups())))
        if name in tree.index:
            body = tree.bodies[tree.index[name]]
            return EngineRefused(
                words, kind, name, body.source("inertia" if kind.endswith("nonphysical") else "element")
            )
        if name in tree.joint_index:
            return EngineRefused(words, kind, name, tree.joints[tree.joint_index[name]].source())
    return EngineRefused(words, kind, None, source)
