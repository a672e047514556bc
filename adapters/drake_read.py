# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false
"""A file as Drake's parser reads it by default, the root welded where the file does not let it float.

Without a scene graph no mesh of a URDF is opened. What the parser repairs or leaves out it says in the log; with
`SetStrictParsing` it would refuse instead, which is told as a note.
"""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import BodyIndex

from ..harness.errors import EngineRefused, EngineUnsupported
from ..harness.findings import finding
from ..harness.importers.xml import read_bytes, read_xml
from ..harness.tree import JointKind
from .drake_build import Opened
from .drake_findings import said, welded
from .drake_joints import fits
from .drake_refusals import refusal

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from ..harness.engine import Given
    from ..harness.errors import Source
    from ..harness.findings import Finding
    from ..harness.tree import Floats, Tree
    from .drake_build import DrakeBody, Plant
    from .drake_joints import DrakeJoint

SUFFIX = {"urdf": ".urdf", "mjcf": ".xml"}
TEXT = re.compile(r"^<literal-string>\.\w+")
# What is taken out where mesh files cannot be read: the assets, and the shapes that are made of them.
MESH_ASSET = re.compile(r"<mesh\b[^>]*?(/>|>\s*</mesh\s*>)", re.DOTALL)
MESH_GEOM = re.compile(r"<geom\b[^>]*?\bmesh\s*=[^>]*?(/>|>\s*</geom\s*>)", re.DOTALL)


def load(given: Given, tree: Tree) -> Opened:
    """Return the plant of a file, with its joints and bodies matched to those of `tree`.

    Raises:
        EngineRefused: Drake would not load it, in its words.
        EngineUnsupported: another format.
    """
    if given.format not in SUFFIX:
        raise EngineUnsupported(f"Drake has no importer for {given.format}; it reads URDF and MJCF")
    heard: list[str] = []
    findings: list[Finding] = []
    with _log(heard):
        try:
            plant = _parsed(given)
        except (Exception, SystemExit) as error:  # noqa: BLE001  a failed precondition ends the interpreter
            refused = refusal(given, tree, error)
            plant = _without_meshes(given, refused)
            findings.append(_mesh(refused))
        names = _weld(plant, given, tree)
        try:
            plant.Finalize()
        except (Exception, SystemExit) as error:
            raise refusal(given, tree, error) from error
    # What is handed over as text has a made-up name in the log.
    heard = list(dict.fromkeys(TEXT.sub(given.path, line) for line in heard))
    joints = _joints(plant, tree)
    matched = {joint.index() for joint in joints.values()}
    extra = tuple(dof for joint in _all_joints(plant) if joint.index() not in matched for dof in _dofs(joint))
    findings += [*welded(tree, names), *said(heard, tree)]
    notes = [f"the meshes were taken out: {f.found}" for f in findings if f.kind == "refused.mesh"]
    notes += [f"Drake said: {' '.join(line.split())}" for line in heard]
    if heard and not any(f.kind == "refused.mesh" for f in findings) and (words := _strict(given)):
        notes.append(f"with SetStrictParsing Drake refuses the file: {words}")
    return Opened(
        plant,
        joints,
        _held(plant, tree),
        native=True,
        extra_dofs=extra,
        findings=tuple(findings),
        notes=tuple(notes),
        reads=_rotors(plant, tree),
    )


def _parsed(given: Given, *, strict: bool = False) -> Plant:
    """Call the parser, every default as it is."""
    plant = MultibodyPlant(0.0)
    parser: Any = Parser(plant)
    if strict:
        parser.SetStrictParsing()
    if given.path.lower().endswith(SUFFIX[given.format]):
        parser.AddModels(given.path)
    else:
        text = read_bytes(given.path).decode("utf-8-sig", errors="replace")
        parser.AddModels(file_contents=text, file_type=SUFFIX[given.format][1:])
    return plant


def _strict(given: Given) -> str:
    """Return why strict parsing would refuse the file, "" when it would not."""
    with _log([]):
        try:
            _parsed(given, strict=True)
        except (Exception, SystemExit) as error:  # noqa: BLE001  as above
            words = " ".join(str(error).split())
            return words.removeprefix(f"{given.path}:")
    return ""


def _without_meshes(given: Given, refused: EngineRefused) -> Plant:
    """Return the plant of an MJCF whose mesh files cannot be read, without them.

    Raises:
        EngineRefused: it was refused for something else, or is refused even so.
    """
    if refused.kind != "refused.mesh" or given.format != "mjcf" or _needs_meshes(given):
        raise refused
    text = read_bytes(given.path).decode("utf-8-sig", errors="replace")
    for pattern in (MESH_ASSET, MESH_GEOM):
        text = pattern.sub(lambda found: "\n" * found[0].count("\n"), text)
    plant = MultibodyPlant(0.0)
    try:
        parser: Any = Parser(plant)
        parser.AddModels(file_contents=text, file_type="xml")
    except (Exception, SystemExit):  # noqa: BLE001  as above
        raise refused from None
    return plant


def _needs_meshes(given: Given) -> bool:
    """Return whether a body of an MJCF has its inertia from meshes, or another file may name some."""
    for element in read_xml(given.path).root.walk():
        if element.tag == "include":
            return True
        meshes = any(geom.get("mesh") or geom.get("type") == "mesh" for geom in element.all("geom"))
        if element.tag == "body" and meshes and element.first("inertial") is None:
            return True
    return False


def _mesh(refused: EngineRefused) -> Finding:
    return finding(
        "refused.mesh",
        refused.source,
        where=refused.where,
        expected="a file that Drake can read",
        found=str(refused),
        severity="convention",
        fix="make the file readable, or take the meshes out, as here",
    )


def _weld(plant: Plant, given: Given, tree: Tree) -> list[str]:
    """Weld to the world what stands on it in the file; return the names of the links."""
    floats = {body.name for body in tree.bodies[1:] if body.joint.kind is JointKind.FLOATING}
    if given.freed or given.format != "urdf":
        return []
    carried = {joint.child_body().index() for joint in _all_joints(plant)}
    # A link "world" is Drake's world, also where it hangs on others: these hang on it then.
    carried |= {joint.parent_body().index() for joint in _all_joints(plant) if joint.child_body().index() == 0}
    roots = [plant.get_body(BodyIndex(k)) for k in range(1, plant.num_bodies())]
    roots = [body for body in roots if body.index() not in carried and body.name() not in floats]
    for body in roots:
        plant.WeldFrames(plant.world_frame(), body.body_frame())
    return [body.name() for body in roots]


def _all_joints(plant: Plant) -> Iterator[DrakeJoint]:
    return map(plant.get_joint, plant.GetJointIndices())


def _dofs(joint: DrakeJoint) -> list[str]:
    """Return the names of the dofs of a joint that the tree does not have."""
    if joint.num_velocities() == 1:
        return [joint.name()]
    return [f"{joint.name()}.{joint.velocity_suffix(k)}" for k in range(joint.num_velocities())]


def _joints(plant: Plant, tree: Tree) -> dict[int, DrakeJoint]:
    """Return tree body to Drake's joint, of the joints with dofs that both have.

    By name; else, for joints that have none in the file, by the body that they carry. A body that floats in Drake
    floats in the tree only where nothing above it moves.
    """
    found: dict[int, DrakeJoint] = {}
    for theirs in _all_joints(plant):
        if not theirs.num_velocities():
            continue
        body = tree.index.get(theirs.child_body().name(), 0)
        for i in (0 if theirs.is_ephemeral() else tree.joint_index.get(theirs.name(), 0), body):
            grounded = not theirs.is_ephemeral() or not tree.moving[tree.parents[i]]
            if i and i not in found and grounded and fits(tree.joints[i], theirs):
                found[i] = theirs
                break
    return dict(sorted(found.items()))


def _rotors(plant: Plant, tree: Tree) -> dict[tuple[str, str], Source]:
    """Return the joints whose transmission has a `drake:rotor_inertia`, with the line of it."""
    if tree.origin.format != "urdf":
        return {}
    lines = {loss.where: loss.source for loss in tree.losses if loss.element == "drake:rotor_inertia"}
    motors = [plant.get_joint_actuator(k) for k in plant.GetJointActuatorIndices()]
    return {("rotor", motor.joint().name()): lines[motor.name()] for motor in motors if motor.name() in lines}


def _held(plant: Plant, tree: Tree) -> dict[int, tuple[DrakeBody, Floats | None]]:
    """Return tree body to Drake's body of the same name; a link that is called as the world is the world."""
    found: dict[int, tuple[DrakeBody, Floats | None]] = {}
    for k in range(plant.num_bodies()):
        body = plant.get_body(BodyIndex(k))
        i = tree.index.get(body.name(), 0)
        if i and i not in found:
            found[i] = body, None
    return found


@contextmanager
def _log(heard: list[str]) -> Generator[None]:
    """Collect what Drake says in its log, and keep it off the terminal."""
    logger = logging.getLogger("drake")
    kept = logger.handlers[:], logger.propagate, logger.level
    logger.handlers[:], logger.propagate = [_Listener(heard)], False
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.handlers[:], logger.propagate = kept[:2]
        logger.setLevel(kept[2])


class _Listener(logging.Handler):
    """Writes down what is said."""

    def __init__(self, heard: list[str]) -> None:
        super().__init__()
        self.heard = heard

    def emit(self, record: Any) -> None:
        """Keep the words."""
        self.heard.append(record.getMessage())
