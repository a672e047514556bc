"""URDF to tree: every link a body, every joint a joint, every number with its line.

The root link becomes body 1, on a fixed joint of its own; siblings stand in the order of their joints in the file.
Meshes are never opened. Tensors are taken as written, physical or not. Shapes and materials are no part of the tree;
whatever else it cannot hold is a `Loss` (`urdf_losses`).

Source: http://wiki.ros.org/urdf/XML; urdfdom 6.0, urdf_parser/src, for defaults and for `quat_xyzw` of version 1.1.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, count
from shlex import quote
from typing import TYPE_CHECKING

from ..errors import ReadError, TreeError
from ..tree import Body, Joint, JointKind, Origin, Tree, world
from .fields import malformed
from .urdf_joints import Connection, read_joint, read_mimic
from .urdf_links import Link, knows_quaternions, read_link
from .urdf_losses import losses_of
from .urdf_structure import check_names, root_of
from .xml import Document, Element, FilePath, parse_xml, read_xml

if TYPE_CHECKING:
    from collections.abc import Container, Sequence


def read_urdf(path: FilePath) -> Tree:
    """Return the robot of a URDF file.

    Raises:
        ReadError: the file cannot be read, is no XML, or breaks the rules of the format.
    """
    return tree_of_document(read_xml(path))


def parse_urdf(text: bytes, file: str) -> Tree:
    """Return the robot of a URDF document; `file` is the name that sources and errors carry.

    Raises:
        ReadError: the text is no XML, or breaks the rules of the format.
    """
    return tree_of_document(parse_xml(text, file))


def tree_of_document(document: Document) -> Tree:
    """Return the robot of a URDF document.

    Raises:
        ReadError: it breaks the rules of the format.
    """
    root = document.root
    name = _robot_name(root)
    _refuse_macros(document)
    link_elements, joint_elements = root.all("link"), root.all("joint")
    quaternions, actuated = knows_quaternions(root), _actuated(root)
    links = [read_link(element, quaternions=quaternions) for element in link_elements]
    connections = [read_joint(element, quaternions=quaternions, actuated=actuated) for element in joint_elements]
    check_names(link_elements)
    check_names(joint_elements)
    if not links:
        raise malformed(f"robot {name!r} has no <link>", root.source)
    joints = {c.joint.name: c.joint for c in connections}
    mimics = [read_mimic(element, joints) for element in joint_elements]
    try:
        return Tree(
            name,
            tuple(_bodies(links, connections)),
            closures=tuple(mimic for mimic in mimics if mimic),
            losses=losses_of(root, joints, quaternions=quaternions),
            origin=Origin(document.file, "urdf", document.sha256),
        )
    except TreeError as error:
        source = error.source if error.source.file else root.source
        raise ReadError(str(error), source, error.where) from error


def expansion(file: str) -> str:
    """Return the command that expands a xacro file, ready for a shell: xacro arm.urdf.xacro > arm.urdf."""
    stem = file.removesuffix(".xacro").removesuffix(".urdf")
    target = f"{stem}.urdf" if file.endswith(".xacro") else f"{stem}.expanded.urdf"
    return f"xacro {quote(file)} > {quote(target)}"


def _robot_name(root: Element) -> str:
    if root.tag != "robot":
        raise malformed(f"the root element is <{root.tag}>; that of a URDF is <robot>", root.source)
    name = root.get("name")
    if name is None:
        raise malformed("<robot> has no attribute 'name'; give the robot a name", root.source)
    return name


def _refuse_macros(document: Document) -> None:
    for element in document.root.walk():
        if element.tag.startswith("xacro:"):
            message = f"<{element.tag}> is a macro; expand the file first: {expansion(document.file)}"
            raise ReadError(message, element.source, kind="refused.unsupported")


def _actuated(root: Element) -> set[str]:
    """Return the names of the joints that a transmission or a command interface drives."""
    joints = [joint for transmission in root.all("transmission") for joint in transmission.all("joint")]
    controlled = [joint for control in root.all("ros2_control") for joint in control.all("joint")]
    joints += [joint for joint in controlled if joint.first("command_interface")]
    return {name for joint in joints if (name := joint.get("name"))}


def _bodies(links: Sequence[Link], connections: Sequence[Connection]) -> list[Body]:
    """Return the world, the root link and the children, in the order of the joint elements; the tree sorts them.

    Raises:
        ReadError: see `root_of`.
    """
    root = root_of(links, connections)
    by_name = {link.name: link for link in links}
    index = {root.name: 1} | {c.child: i for i, c in enumerate(connections, 2)}
    anchor = _unique({c.joint.name for c in connections}, "root_joint")
    base = Joint(anchor, JointKind.FIXED, sources={"element": root.sources["element"]})
    ground = replace(world(), name=_unique(by_name, "world", "universe"))
    bodies = [ground, Body(root.name, 0, base, root.inertia, sources=root.sources)]
    for c in connections:
        link = by_name[c.child]
        bodies.append(Body(link.name, index[c.parent], c.joint, link.inertia, sources=link.sources))
    return bodies


def _unique(taken: Container[str], *names: str) -> str:
    """Return the first name that is free, else the last one with the first number that makes it so."""
    numbered = (f"{names[-1]}_{i}" for i in count(2))
    return next(name for name in chain(names, numbered) if name not in taken)
