"""What a tree holds, as the JSON document says it: bodies and joints as the file, or an engine, reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .exporters.frames import rpy_from_rotation

if TYPE_CHECKING:
    from .tree import Body, Tree


def described(tree: Tree, of: Tree | None = None) -> dict[str, Any]:
    """Return bodies and joints, the world left out; joint i carries body i.

    Args:
        tree: as the file, or an engine, reads it; masses in kg, lengths in m, tensors in kg m^2 about the centre of
            mass in body axes, turns as rpy of fixed axes in rad, placements of joints in the parent body.
        of: the tree of the file, when `tree` is what an engine read: `merged` then names the body that holds each fixed
            body that the engine does not.
    """
    bodies = [_body(body, tree) for body in tree.bodies[1:]]
    joints = [_joint(body, tree) for body in tree.bodies[1:]]
    if of is None:
        return {"bodies": bodies, "joints": joints}
    holders = of.fusion.holder
    merged = {b.name: of.bodies[holders[i]].name for i, b in enumerate(of.bodies) if i and b.name not in tree.index}
    return {"bodies": bodies, "joints": joints, "merged": {a: b for a, b in merged.items() if a != b}}


def _body(body: Body, tree: Tree) -> dict[str, Any]:
    inertia, source = body.inertia, body.source()
    return {
        "name": body.name,
        "parent": tree.bodies[body.parent].name,
        "mass": inertia.mass,
        "com": inertia.com.tolist(),
        "inertia": inertia.I_com.tolist(),
        "gravcomp": body.gravcomp,
        "file": source.file or None,
        "line": source.line or None,
    }


def _joint(body: Body, tree: Tree) -> dict[str, Any]:
    joint = body.joint
    source, T = joint.source(), joint.T_parent_joint
    rest = np.asarray(joint.rest).tolist()
    return {
        "name": joint.name,
        "kind": str(joint.kind),
        "parent": tree.bodies[body.parent].name,
        "child": body.name,
        "axis": joint.axis.tolist(),
        "xyz": T[:3, 3].tolist(),
        "rpy": rpy_from_rotation(T[:3, :3]).tolist(),
        "ref": joint.ref,
        "lower": joint.lower,
        "upper": joint.upper,
        "damping": np.ravel(joint.damping).tolist(),
        "frictionloss": np.ravel(joint.friction).tolist(),
        "armature": joint.reflected.tolist(),
        "stiffness": joint.stiffness,
        "springref": rest if joint.stiffness else [],
        "file": source.file or None,
        "line": source.line or None,
        "dofs": list(joint.dofs),
    }
