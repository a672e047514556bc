"""What is wrong with the bodies of a tree: parents that lead nowhere, names that stand twice, numbers that are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .body import order_of

if TYPE_CHECKING:
    from .body import Body
    from .errors import Source


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a tree, and where."""

    message: str
    where: str | None = None
    source: Source | None = None


def parent_faults(bodies: tuple[Body, ...]) -> list[Fault]:
    """Return what keeps bodies from being a tree; what follows is only asked of bodies without such faults."""
    if not bodies or bodies[0].parent != -1:
        return [Fault("body 0 must be the world, with parent -1")]
    faults = [
        Fault(f"body {b.name!r} has parent {b.parent}; there are {len(bodies)} bodies", b.name, b.source())
        for b in bodies[1:]
        if not 0 <= b.parent < len(bodies)
    ]
    if not faults and len(order_of(bodies)) < len(bodies):
        reached = set(order_of(bodies))
        lost = [b for i, b in enumerate(bodies) if i not in reached]
        names = ", ".join(b.name for b in lost[:5])
        message = f"bodies {names} are their own ancestors: no chain of parents leads to the world"
        faults.append(Fault(message, lost[0].name, lost[0].source()))
    return faults


def name_faults(bodies: tuple[Body, ...]) -> list[Fault]:
    """Return the names that stand twice, dofs of joints with several of them included."""
    faults: list[Fault] = []
    for what, named in (("body", bodies), ("joint", [b.joint for b in bodies[1:]])):
        seen: set[str] = set()
        twice = [x for x in named if x.name in seen or seen.add(x.name)]
        faults += [Fault(f"{what} name {x.name!r} stands twice", x.name, x.source()) for x in twice]
    plain = {b.joint.name: b.joint for b in bodies if b.joint.nv == 1}
    for several in (b.joint for b in bodies if b.joint.nv > 1):
        for joint in (plain[dof] for dof in several.dofs if dof in plain):
            message = f"joint {joint.name!r} is called like a dof of joint {several.name!r}; rename one of them"
            faults.append(Fault(message, joint.name, joint.source()))
    return faults


def _sound(bodies: tuple[Body, ...]) -> bool:
    """Return whether no number is at fault, all bodies at once: patched trees are made by the hundred."""
    inertias, joints = [b.inertia for b in bodies], [b.joint for b in bodies]
    I = np.array([i.I_com for i in inertias])
    placements = np.array([T for j in joints for T in (j.T_parent_joint, j.T_joint_body)])
    scalars = [x for i, j in zip(inertias, joints, strict=True) for x in (i.mass, j.ref, *i.com, *j.reflected)]
    axes = np.array([j.axis for j in joints])
    if not (np.isfinite(I).all() and np.isfinite(placements).all() and np.isfinite(scalars).all()):
        return False
    lengths = np.sqrt((axes * axes).sum(1)) - 1
    moving = np.array([j.nv > 0 for j in joints])
    asymmetry = np.abs(I - I.transpose(0, 2, 1)).max((1, 2))
    sizes = np.maximum(np.abs(I).max((1, 2)), 1e-300)
    return bool(np.isfinite(axes).all() and (np.abs(lengths[moving]) <= 1e-12).all()) and bool(
        (asymmetry <= 1e-12 * sizes).all()
    )


def number_faults(bodies: tuple[Body, ...]) -> list[Fault]:
    """Return numbers that are not finite, axes that are no unit vectors, tensors that are not symmetric."""
    faults: list[Fault] = []
    if _sound(bodies):
        return faults
    for b in bodies[1:]:
        numbers: list[Any] = [b.inertia.mass, b.inertia.com, b.inertia.I_com, b.joint.T_parent_joint, b.joint.axis]
        numbers += [b.joint.T_joint_body, b.joint.reflected, b.joint.ref]
        if not all(np.isfinite(x).all() for x in numbers):
            message = f"body {b.name!r} or its joint holds a number that is not finite"
            faults.append(Fault(message, b.name, b.source()))
        if b.joint.nv and abs(np.linalg.norm(b.joint.axis) - 1) > 1e-12:
            message = f"axis of joint {b.joint.name!r} is no unit vector: {b.joint.axis}"
            faults.append(Fault(message, b.joint.name, b.joint.source("axis")))
        asymmetry = np.abs(b.inertia.I_com - b.inertia.I_com.T).max()
        if asymmetry > 1e-12 * max(np.abs(b.inertia.I_com).max(), 1e-300):
            faults.append(Fault(f"tensor of body {b.name!r} is not symmetric", b.name, b.source("inertia")))
    return faults
