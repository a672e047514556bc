"""A client of PyBullet with the multibodies of a tree, through URDFs that are written into a temporary folder.

One multibody for each root that floats, and one for all that stands on the world. Links are written on their principal
axes, since PyBullet finds those of a full tensor to some nine digits only.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import numpy as np

from ..harness.errors import EngineUnsupported
from ..harness.exporters.urdf import write_urdf
from ..harness.streams import caught
from ..harness.tree import Body, Inertia, Joint, JointKind, Tree, world
from .pybullet_model import Model, pybullet, spoken
from .pybullet_session import Held

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..harness.tree import Floats

EPS: Final = float(np.finfo(np.float64).eps)
THINNEST: Final = 1e-12  # of the largest moment: what rounding makes of the moments of a rod or a plate


def build(tree: Tree) -> tuple[Model, Held]:
    """Return the client and what of the tree is where in it.

    Raises:
        EngineUnsupported: a joint, an inertia or a root that PyBullet cannot hold.
    """
    _require_joints(tree)
    inertias = _inertias(tree)
    model, links = Model(), dict[int, tuple[int, int]]()
    roots = [0, *tree.floating_roots]
    top = tree.roots
    with TemporaryDirectory() as folder:
        for root in roots:
            inside = [i for i in range(1, len(tree.bodies)) if (top[i] if top[i] in roots else 0) == root]
            if inside:
                path = Path(folder, f"piece{root}.urdf")
                path.write_text(write_urdf(_piece(tree, inertias, inside, root), principal=True).text, encoding="utf-8")
                _load(model, path, fixed=not root)
                at = {link.name: k for k, link in enumerate(model.bodies[-1].links)}
                links |= {i: (len(model.bodies) - 1, at[_name(i)]) for i in inside}
    for i, (b, k) in links.items():
        model.bodies[b].hold(k, _moments(inertias[i]))
    for b, body in enumerate(model.bodies):
        own = {k: i for i, (at, k) in links.items() if at == b}
        body.rename({k: (tree.bodies[i].name, tree.joints[i].name) for k, i in own.items()})
    _prepare(model)
    seated = {i: tree.joints[i].T_joint_body for i in links if tree.joints[i].nv}
    joints = {i: links[i] for i, joint in enumerate(tree.joints) if joint.nv}
    return model, Held(dict(sorted(links.items())), joints, seated)


def _load(model: Model, path: Path, *, fixed: bool) -> None:
    said: list[str] = []
    try:
        with caught(said):
            model.urdf(str(path), fixed=fixed)
    except pybullet.error as error:
        raise EngineUnsupported(
            f"PyBullet would not load the tree as a URDF: {'; '.join([str(error), *said])}"
        ) from error


def _prepare(model: Model) -> None:
    said: list[str] = []
    try:
        with caught(said):
            model.prepare()
    except SystemError as error:
        words = "; ".join(spoken(said))
        raise EngineUnsupported(f"PyBullet has no inverse dynamics of the tree: {words}") from error


def _name(i: int) -> str:
    return f"body{i}"


def _piece(tree: Tree, inertias: Sequence[Inertia], inside: Sequence[int], root: int) -> Tree:
    """Return some bodies as a tree of their own, under names that any file holds; a floating root as its base."""
    new = {0: 0} | {i: k for k, i in enumerate(inside, 1)}
    bodies = [world()]
    for i in inside:
        inertia, above = inertias[i], tree.parents[i]
        joint = replace(tree.joints[i], name=f"joint{i}", armature=0.0, rotor=0.0, stiffness=0.0)
        if i == root:
            # The link frame is the moving side of the joint, as everywhere in a URDF.
            inertia, joint = _shifted(inertia, tree.joints[i].T_joint_body), Joint(joint.name, JointKind.FIXED)
        elif root and above == root:
            joint = replace(joint, T_parent_joint=tree.joints[root].T_joint_body @ joint.T_parent_joint)
        bodies.append(Body(_name(i), 0 if i == root else new[above], joint, inertia))
    return Tree("piece", tuple(bodies))


def _shifted(inertia: Inertia, T: Floats) -> Inertia:
    """Return an inertia in the axes and from the origin of a frame in which its body stands at T."""
    R = T[:3, :3]
    I = R @ inertia.I_com @ R.T
    return replace(inertia, com=R @ inertia.com + T[:3, 3], I_com=(I + I.T) / 2, axes=np.eye(3))


def _moments(inertia: Inertia) -> Floats:
    return np.asarray(np.linalg.eigvalsh(inertia.I_com), np.float64)


def _require_joints(tree: Tree) -> None:
    """Raise before PyBullet is handed a joint that it has no place for, or that ends it.

    Raises:
        EngineUnsupported: there is one.
    """
    for body, joint in zip(tree.bodies[1:], tree.joints[1:], strict=True):
        if joint.kind is JointKind.PLANAR:
            raise EngineUnsupported(f"joint {joint.name!r} is planar; PyBullet has none of this kind")
        if joint.kind is JointKind.FLOATING and tree.moving[body.parent]:
            raise EngineUnsupported(f"joint {joint.name!r} floats below a moving body; PyBullet floats bases alone")
        if joint.kind is JointKind.BALL:
            raise EngineUnsupported(f"joint {joint.name!r} is a ball; PyBullet has no inverse dynamics of this kind")


def _inertias(tree: Tree) -> list[Inertia]:
    """Return the inertia of every body as it is written.

    Where one of the bodies on a holder has what no body can have, the holder has that of all, if that can be.

    Raises:
        EngineUnsupported: it cannot, or a base that floats has no mass.
    """
    inertias = [body.inertia for body in tree.bodies]
    floor = EPS * max((float(np.abs(inertia.I_com).max()) for inertia in inertias), default=0.0)
    for h, whole in zip(dict.fromkeys(tree.fusion.holder), tree.fusion.tree.bodies, strict=True):
        members = [i for i, holder in enumerate(tree.fusion.holder) if holder == h]
        floats = tree.joints[h].kind is JointKind.FLOATING
        faults = [fault for i in members if (fault := _fault(tree.bodies[i].name, inertias[i], floor))]
        faults += _weightless(tree.bodies[h].name, inertias[h]) if floats else []
        if faults and h:
            if _fault(tree.bodies[h].name, whole.inertia, floor) or (floats and whole.inertia.mass <= 0):
                raise EngineUnsupported(faults[0])
            for i in members:
                inertias[i] = whole.inertia if i == h else Inertia()
        elif faults:
            for i in members:  # the world bears them, whatever they are
                inertias[i] = Inertia()
    return inertias


def _weightless(name: str, inertia: Inertia) -> list[str]:
    """Return why PyBullet cannot float a base, if it cannot."""
    told = f"body {name!r} floats and has no mass; PyBullet holds such a base fixed"
    return [] if inertia.mass > 0 else [told]


def _fault(name: str, inertia: Inertia, floor: float) -> str:
    """Return why PyBullet cannot hold an inertia, "" if it can; below `floor` moments are rounding."""
    a, b, c = _moments(inertia)
    if inertia.mass < 0:
        return f"body {name!r} has a mass of {inertia.mass:g} kg; PyBullet has none below zero"
    slack = max(THINNEST * c, floor)
    if a < -slack or c > a + b + slack:
        told = f"the principal moments {a:.6g}, {b:.6g}, {c:.6g} kg m^2 of body {name!r} are those of no body"
        return f"{told}; PyBullet sets such a tensor to zero"
    return ""
