"""A URDF through adam's own reader, and why it would not take one; a tree through a URDF that is written for it."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from xml.etree import ElementTree as ET

import numpy as np
from adam.numpy import KinDynComputations

from ..harness.errors import EngineRefused, EngineUnsupported, ReadError, Source, told
from ..harness.exporters.urdf import write_urdf
from ..harness.importers.xml import read_xml
from ..harness.limits import require_depth
from ..harness.tree import Body, Joint, JointKind, Tree, world
from .adam_tree import unit_axis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..harness.engine import Given
    from ..harness.importers.xml import Element

Computations: TypeAlias = Any
TURNING: Final = (JointKind.REVOLUTE, JointKind.CONTINUOUS)
# `Tree.get_children` calls itself once per link, to Python's limit of 1,000; M takes the square of that in time.
DEPTH: Final = (300, "adam")


def load(given: Given, tree: Tree) -> tuple[Computations, tuple[str, ...]]:
    """Return adam's computations of a file, with the gravity of the tree, and what its reader said on the way.

    Raises:
        EngineRefused: adam raises while it reads the file, or at its first calls, in its words.
        EngineUnsupported: another format than URDF.
    """
    if given.format != "urdf":
        raise EngineUnsupported(f"adam's adapter has no importer for {given.format}; it reads URDF")
    said = io.StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(said):
            engine = _asked(given.path, tree)
    except (Exception, SystemExit) as error:
        raise _refusal(given, error) from error
    return engine, tuple(_notes(said.getvalue()))


def build(tree: Tree, base: int) -> tuple[Computations, dict[int, str]]:
    """Return adam's computations of what hangs on the base, and the link of each body.

    Raises:
        EngineUnsupported: a joint that adam has not, or a robot beside the floating one.
    """
    members = _members(tree, base)
    _require(tree, base, members)
    text = _complete(write_urdf(_piece(tree, base, members)).text)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        engine = _asked(text, tree)
    return engine, {i: f"b{i}" for i in members}


def of_unit_axes(path: str, tree: Tree) -> Computations:
    """Return adam's computations of a file that it has read before, every axis brought to length one."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        engine = KinDynComputations(path, gravity=np.array([*tree.gravity, 0.0, 0.0, 0.0]))
    model = engine.rbdalgos.model
    for joint in model.joints.values():
        if joint.type != "fixed":
            joint.axis = joint.math.asarray(unit_axis(joint))
    engine.rbdalgos = type(engine.rbdalgos)(model, engine.rbdalgos.math)  # which keeps motion subspaces from its start
    return engine


def _asked(description: str, tree: Tree) -> Computations:
    """Return the computations, which have answered once: some joints, and robots without any, no reader refuses."""
    engine = KinDynComputations(description, gravity=np.array([*tree.gravity, 0.0, 0.0, 0.0]))
    with np.errstate(all="ignore"):  # it divides by the total mass on the way
        engine.mass_matrix(np.eye(4), np.zeros(engine.NDoF))
    for name in (*engine.rbdalgos.model.links, *engine.rbdalgos.model.frames):
        engine.forward_kinematics(name, np.eye(4), np.zeros(engine.NDoF))
    engine.jacobian(engine.rbdalgos.root_link, np.eye(4), np.zeros(engine.NDoF))
    return engine


def _members(tree: Tree, base: int) -> list[int]:
    """Return the bodies that hang on the base, itself first; the world only as a base."""
    within = {base}
    for i, parent in enumerate(tree.parents[1:], 1):
        if parent in within:
            within.add(i)
    return sorted(within)


def _require(tree: Tree, base: int, members: Sequence[int]) -> None:
    for i in members:
        joint = tree.joints[i]
        if i != base and joint.nv and joint.kind not in TURNING:
            slides = joint.kind is JointKind.PRISMATIC
            why = ", whose motion subspace its NumPy backend cannot stack" if slides else ""
            raise EngineUnsupported(
                f"joint {joint.name!r} is {joint.kind.value}{why}; adam has fixed, revolute and continuous joints, and "
                "a floating root"
            )
    for i in sorted(set(range(len(tree.bodies))) - set(members)):
        body = tree.bodies[i]
        if body.joint.nv or not body.inertia.is_zero:
            raise EngineUnsupported(
                f"{body.name!r} stands beside the floating root {tree.bodies[base].name!r}; a model of adam is one "
                "tree of links, and has no ground"
            )
    if not any(tree.joints[i].nv for i in members if i != base):
        raise EngineUnsupported(f"{tree.name!r} has no joint that turns; adam's kinematics raise without one")
    require_depth(tree, *DEPTH)


def _piece(tree: Tree, base: int, members: Sequence[int]) -> Tree:
    """Return the base and what hangs on it as a tree that is fixed, with names that any reader takes."""
    at = {body: k for k, body in enumerate(members, 1)}
    root = Body(f"b{base}", 0, Joint(f"j{base}", JointKind.FIXED), tree.bodies[base].inertia)
    bodies = [world(), root]
    for i in members:
        if i == base:
            continue
        body, joint = tree.bodies[i], tree.joints[i]
        bare = Joint(
            f"j{i}",
            joint.kind,
            axis=joint.axis,
            T_parent_joint=joint.T_parent_joint,
            T_joint_body=joint.T_joint_body,
            ref=joint.ref,
        )
        bodies.append(Body(f"b{i}", at[body.parent], bare, body.inertia))
    return Tree("written", tuple(bodies))


def _complete(text: str) -> str:
    """Return the URDF with every origin and axis in it: adam's reader takes no default of the format."""
    root = ET.fromstring(text)  # noqa: S314  our own text
    for element in [*root.iter("joint"), *root.iter("inertial")]:
        if element.find("origin") is None:
            element.insert(0, ET.Element("origin"))
    for origin in root.iter("origin"):
        for name in ("xyz", "rpy"):
            if origin.get(name) is None:
                origin.set(name, "0 0 0")
    return ET.tostring(root, encoding="unicode")


def _notes(said: str) -> Iterator[str]:
    """Yield what the reader said; of unknown elements the tags, once."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    unknown = dict.fromkeys(
        name for line in lines for name in re.findall(r'^Unknown (?:tag|attribute) "([^"]+)"', line)
    )
    if unknown:
        yield f"adam said that it does not know {', '.join(unknown)}"
    for line in dict.fromkeys(lines):
        if not line.startswith(("Unknown tag", "Unknown attribute", "joints_name_list is None")):
            yield f"adam said: {line}"


def _without(tag: str, child: str) -> Callable[[Element], Iterator[Element]]:
    """Return a search for elements of the robot that lack a child."""

    def search(root: Element) -> Iterator[Element]:
        for element in root.all(tag):
            inertial = element.first("inertial") if tag == "link" else element
            if inertial is not None and inertial.first(child) is None and element.get("type") != "fixed":
                yield element

    return search


def _originless(root: Element) -> Iterator[Element]:
    """Yield joints without an origin, then links whose inertial has none: adam reads joints first."""
    yield from (joint for joint in root.all("joint") if joint.first("origin") is None)
    yield from _without("link", "origin")(root)


def _of_type(*types: str) -> Callable[[Element], Iterator[Element]]:
    return lambda root: (joint for joint in root.all("joint") if joint.get("type") in types)


# Words that name nothing, and the elements of the file that they are about.
MEANT: Final[Mapping[str, Callable[[Element], Iterator[Element]]]] = {
    "has no attribute 'xyz'": _originless,
    "has no attribute 'ixx'": _without("link", "inertia"),
    "object is not subscriptable": _without("joint", "axis"),
    "all the input array": _of_type("prismatic"),
    "'NoneType' object has no attribute": _of_type("planar", "floating"),
}
# Words of what is against the format; all else the format allows.
MALFORMED: Final = ("ParseError", "only one root", "'ixx'", "Invalid", "Required", "could not convert")
NAMED: Final = re.compile(r"/(?:link|joint)\[@name='([^']+)'\]")


def _refusal(given: Given, error: BaseException) -> EngineRefused:
    """Return the refusal in adam's words, at the element that they are about."""
    words = told(error)
    where, source = None, Source()
    try:
        root = read_xml(given.path).root
    except ReadError as unreadable:
        source = unreadable.source
    else:
        search = next((search for said, search in MEANT.items() if said in words), None)
        element = next(search(root), None) if search is not None else _named(root, words)
        if element is not None:
            where, source = element.get("name"), element.source
    kind = "refused.malformed" if any(word in words for word in MALFORMED) else "refused.unsupported"
    return EngineRefused(f"adam would not load {given.path}: {words}", kind, where, source)


def _named(root: Element, words: str) -> Element | None:
    """Return the link or joint that the words name."""
    names = NAMED.findall(words)
    elements = (element for tag in ("link", "joint") for element in root.all(tag))
    return next((element for element in elements if element.get("name") in names), None)
