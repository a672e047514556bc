"""Tree to URDF: every body a link, every joint a joint, in the order of the tree.

A link frame of URDF is the moving side of its joint: where a tree has a body frame elsewhere (an MJCF anchor), the link
frame moves there, and with it the inertia and whatever hangs on the link. `ref` goes into the placement of the joint,
so that every coordinate keeps its meaning. A single body that is fixed at the origin of the world becomes the root
link; otherwise the world is a link itself, the root of the file, and floating joints stand as joints of type
`floating`. Ball joints are written as `spherical`, which MuJoCo reads.

Source: http://wiki.ros.org/urdf/XML; urdfdom, urdf_parser/src, for what is required.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ..tree import Inertia
from .document import Exported, Losses, Writer
from .frames import is_identity, rpy_from_rotation, seated
from .names import plain, spelled
from .urdf_joints import joint_type, write_joint
from .urdf_losses import lose_bodies, lose_names, lose_surroundings
from .urdf_mimics import mimics_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tree import Body, Floats, Tree

_TENSOR: Final = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}


def write_urdf(tree: Tree, *, principal: bool = False) -> Exported:
    """Return a tree as a URDF document, and what it does not hold.

    Args:
        tree: the robot.
        principal: whether every link has an `<inertial>`, on principal axes: for readers that make one up where none
            is, and turn tensors more coarsely than float64 can.

    Raises:
        TreeError: a number that has to be written is not finite.
    """
    writer, losses = Writer(), Losses()
    bodies = _on_joints(tree, losses)
    root = _root(bodies)
    links = spelled(body.name for body in tree.bodies)
    joints = spelled(body.joint.name for body in tree.bodies[1:])
    lose_surroundings(tree, losses)
    lose_bodies(tree, losses)
    lose_names(tree, root, links, joints, losses)
    mimics = mimics_of(tree, losses)
    hung = [body for body in bodies[1:] if root == 0 or body.parent > 0]
    with writer.inside("robot", name=plain(tree.name)):
        for body in bodies if root == 0 else bodies[1:]:
            _link(writer, links[body.name], body.inertia if body.parent >= 0 else Inertia(), principal=principal)
        for body in hung:
            joint, mimic = body.joint, mimics.get(body.joint.name)
            with writer.inside("joint", name=joints[joint.name], type=joint_type(joint)):
                writer.leaf("parent", link=links[bodies[body.parent].name])
                writer.leaf("child", link=links[body.name])
                write_joint(writer, joint, losses)
                if mimic:
                    relation = {"multiplier": mimic.multiplier, "offset": mimic.offset}
                    writer.leaf("mimic", joint=joints[mimic.other], **relation)
        for body in hung:
            if body.joint.actuated:
                _transmission(writer, joints[body.joint.name])
    return Exported(writer.text, losses.all())


def _on_joints(tree: Tree, losses: Losses) -> Sequence[Body]:
    """Return the bodies with their frames on their joints; a fixed joint takes both placements into one."""
    moved = {i for i, b in enumerate(tree.bodies) if b.joint.nv and not is_identity(b.joint.T_joint_body)}
    for i in sorted(moved):
        body = tree.bodies[i]
        note = (
            f"the link frame stands on joint {body.joint.name!r}: what was at the origin of body {body.name!r} is at "
            f"{_words(body.joint.T_joint_body[:3, 3])}"
        )
        losses.add("joint@pos", body.name, body.joint.source("T_joint_body"), note, touches=False)
    return [_fixed_at_once(body) for body in seated(tree.bodies, moved)]


def _fixed_at_once(body: Body) -> Body:
    joint = body.joint
    if joint.nv or is_identity(joint.T_joint_body):
        return body
    T_parent_body = joint.T_parent_joint @ joint.T_joint_body
    return replace(body, joint=replace(joint, T_parent_joint=T_parent_body, T_joint_body=np.eye(4)))


def _root(bodies: Sequence[Body]) -> int:
    """Return the body that becomes the root link: the only one on the world if it is fixed there, else the world."""
    grounded = [i for i, body in enumerate(bodies) if body.parent == 0]
    if len(grounded) != 1:
        return 0
    joint = bodies[grounded[0]].joint
    return grounded[0] if joint.nv == 0 and is_identity(joint.T_parent_joint) else 0


def _link(writer: Writer, name: str, inertia: Inertia, *, principal: bool) -> None:
    if inertia.is_zero and not principal:
        writer.leaf("link", name=name)
        return
    rpy, tensor = _on_principal_axes(inertia.I_com) if principal else (None, inertia.I_com)
    with writer.inside("link", name=name), writer.inside("inertial"):
        writer.leaf("origin", xyz=inertia.com, rpy=rpy)
        writer.leaf("mass", value=inertia.mass)
        writer.leaf("inertia", **{key: tensor[at] for key, at in _TENSOR.items()})


def _on_principal_axes(I: Floats) -> tuple[Floats | None, Floats]:
    """Return roll, pitch and yaw of the principal axes of a tensor, None where it is diagonal, and the tensor there."""
    if not (I - np.diag(np.diag(I))).any():
        return None, I
    moments, R = np.linalg.eigh(I)
    R[:, 2] *= np.linalg.det(R)  # right-handed
    return rpy_from_rotation(R), np.diag(moments)


def _transmission(writer: Writer, joint: str) -> None:
    with writer.inside("transmission", name=f"{joint}_transmission"):
        writer.leaf("type", "transmission_interface/SimpleTransmission")
        with writer.inside("joint", name=joint):
            writer.leaf("hardwareInterface", "hardware_interface/EffortJointInterface")
        writer.leaf("actuator", name=f"{joint}_motor")


def _words(p: Floats) -> str:
    return "(" + ", ".join(f"{x:.6g}" for x in p) + ")"
