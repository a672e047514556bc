"""Models as text, for the versions of MuJoCo that cannot edit a model before they compile it.

A URDF is tried as it is. When MuJoCo refuses one that draws meshes, all mesh shapes are taken out: meshes are needed
for no dynamics, but where a link takes its inertia from one, and those links are named.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape, quoteattr

from ..harness.errors import EngineUnsupported
from ..harness.importers.mjcf_assets import Unreadable, first_words
from ..harness.importers.xml import read_xml
from .mujoco_map import BALL, FREE, HINGE, SLIDE, mujoco

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..harness.engine import Given
    from ..harness.importers.xml import Element
    from ..harness.spatial import Array
    from ..harness.tree import Floats
    from .mujoco_map import MjModel

# A centre of mass at the origin would make MuJoCo keep the diagonal of M alone for a free, ball or slide body without
# children, for good; any other place will do.
ELSEWHERE: Final = (0.1, 0.2, 0.3)
INERTIAL: Final = '<inertial pos="{} {} {}" mass="1" diaginertia="1 1 1"/>'.format(*ELSEWHERE)
WORDS: Final = {FREE: "free", BALL: "ball", SLIDE: "slide", HINGE: "hinge"}


@dataclass(frozen=True, eq=False)
class Row:
    """A MuJoCo body without its inertia.

    Attributes:
        parent: number of the body that holds it.
        pos: (3,) [m] in that body.
        quat_wxyz: (4,) likewise.
        joints: type and axis (3,) of each.
        ref: of the joint.
    """

    parent: int
    pos: Floats
    quat_wxyz: Array
    joints: Sequence[tuple[int, Array]]
    ref: float


def compiled_text(rows: Iterable[Row]) -> MjModel:
    """Return compiled bodies and joints, with placeholders for inertias.

    Raises:
        EngineUnsupported: this version would not compile them; its parser allows some 500 levels.
    """
    inside: list[list[str]] = [[]]
    opened, parents = [""], [0]
    for row in rows:
        joints = [
            f'<joint type="{WORDS[kind]}" axis="{_words(axis)}" ref="{_words([row.ref])}"/>'
            for kind, axis in row.joints
        ]
        opened.append(f'<body pos="{_words(row.pos)}" quat="{_words(row.quat_wxyz)}">{INERTIAL}{"".join(joints)}')
        parents.append(row.parent)
        inside.append([])
    for i in range(len(opened) - 1, 0, -1):
        inside[parents[i]].append(f"{opened[i]}{''.join(reversed(inside[i]))}</body>")
    compiler = '<compiler angle="radian" inertiafromgeom="false"/>'
    text = f"<mujoco>{compiler}<worldbody>{''.join(reversed(inside[0]))}</worldbody></mujoco>"
    try:
        return mujoco.MjModel.from_xml_string(text)
    except ValueError as error:
        words = " ".join(str(error).split())
        raise EngineUnsupported(f"MuJoCo {mujoco.__version__} would not build the model: {words}") from error


def _words(numbers: Iterable[float]) -> str:
    return " ".join(repr(float(x)) for x in numbers)


def compiled_file(given: Given, roots: Sequence[str]) -> tuple[MjModel, tuple[Unreadable, ...]]:
    """Return the model of a file, and the meshes that had to be taken out.

    Args:
        given: the file.
        roots: links to put on a free joint.

    Raises:
        ValueError: MuJoCo would not load it, in its words.
        EngineUnsupported: the base of an MJCF cannot be freed by this version.
    """
    if given.format != "urdf" and roots:
        raise EngineUnsupported(f"MuJoCo {mujoco.__version__} cannot free the base of an MJCF; 3.3.7 and later can")
    try:
        if not roots:
            return mujoco.MjModel.from_xml_path(given.path), ()
        words = "the file is handed over as text, with a free joint"
    except ValueError as error:
        words = str(error)
        if given.format != "urdf":
            raise
    robot = read_xml(given.path).root
    shapes = list(_mesh_shapes(robot))
    if not shapes and not roots:
        raise ValueError(words)
    text = Text(shape for _, shape, _ in shapes)
    text.write(robot, '<link name="world"/>' + "".join(map(_free_joint, roots)) if roots else "")
    return mujoco.MjModel.from_xml_string("".join(text.parts)), _taken_out(robot, shapes, first_words(words))


def _mesh_shapes(robot: Element) -> Iterator[tuple[Element, Element, str]]:
    """Yield link, shape and file of all shapes of a URDF that are meshes."""
    for link in robot.all("link"):
        for shape in (*link.all("visual"), *link.all("collision")):
            geometry = shape.first("geometry")
            mesh = geometry.first("mesh") if geometry else None
            if mesh is not None:
                yield link, shape, mesh.get("filename") or ""


def _taken_out(robot: Element, shapes: Sequence[tuple[Element, Element, str]], words: str) -> tuple[Unreadable, ...]:
    """Return the files of these shapes that MuJoCo would read: by default no visual ones."""
    compilers = [compiler for section in robot.all("mujoco") for compiler in section.all("compiler")]
    visual = any(compiler.get("discardvisual") == "false" for compiler in compilers)
    gone: dict[str, Unreadable] = {}
    for link, shape, file in shapes:
        if shape.tag == "visual" and not visual:
            continue
        name, before = link.get("name") or "", gone.get(file, Unreadable("mesh", file, file, words, ""))
        massive = ((name, ""),) if shape.tag == "collision" and link.first("inertial") is None else ()
        gone[file] = replace(before, massive=(*before.massive, *massive), bodies=(*before.bodies, name))
    return tuple(gone.values())


def _free_joint(root: str) -> str:
    """Return the joint that lets a link float: one that is called `world` is the world itself to MuJoCo."""
    name, link = quoteattr(f"{root} is free"), quoteattr(root)
    return f'<joint name={name} type="floating"><parent link="world"/><child link={link}/></joint>'


class Text:
    """A file written anew, without some elements, every other one on its line.

    Attributes:
        parts: of the text.
    """

    def __init__(self, gone: Iterable[Element]) -> None:
        self.parts: list[str] = []
        self._gone, self._line = {id(element) for element in gone}, 1

    def write(self, element: Element, more: str = "") -> None:
        """Add an element, and more text behind what is inside."""
        line = max(element.source.line, self._line)
        attributes = "".join(f" {name}={quoteattr(value)}" for name, value in element.attributes.items())
        self.parts.append("\n" * (line - self._line) + f"<{element.tag}{attributes}>{escape(element.text.strip())}")
        self._line = line + element.text.strip().count("\n")
        for child in element.children:
            if id(child) not in self._gone:
                self.write(child)
        self.parts.append(f"{more}</{element.tag}>")
