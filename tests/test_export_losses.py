"""What a format cannot hold is named, each thing where it was left out, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tautology.harness.errors import ReadError, Source, TreeError
from tautology.harness.exporters import Exported, export, write_mjcf, write_urdf
from tautology.harness.load import load
from tautology.harness.spatial import rotation_about, transform
from tautology.harness.tree import Body, Closure, Inertia, Joint, JointKind, Medium, TendonInertia, Tree, world

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIMITS: dict[str, Any] = {"lower": -1.0, "upper": 2.0, "effort": 3.0}
SOLID = Inertia(1.5, [0.1, -0.2, 0.3], [[0.03, 0.002, -0.003], [0.002, 0.04, 0.001], [-0.003, 0.001, 0.05]])
SHIFT = transform(np.eye(3), np.array([0.1, 0.2, 0.3]))
TURN = transform(rotation_about(np.array([0.6, 0, 0.8]), np.array(0.7)), np.zeros(3))


def arm(**changes: Any) -> Tree:
    """Return a base and three links, two hinges and a slide; `forearm` and its joint `elbow` have the changes."""
    tree = {name: changes.pop(name) for name in ("gravity", "closures", "tendons", "medium", "home") if name in changes}
    body = {name: changes.pop(name) for name in ("inertia", "gravcomp") if name in changes}
    kind = changes.pop("kind", JointKind.REVOLUTE)
    one_dof = kind in (JointKind.REVOLUTE, JointKind.PRISMATIC)
    elbow = Joint("elbow", kind, **{"T_parent_joint": SHIFT, **(LIMITS if one_dof else {}), **changes})
    forearm = Body("forearm", 2, elbow, **{"inertia": SOLID, **body})
    bodies = (
        world(),
        Body("base", 0, Joint("root_joint", JointKind.FIXED), SOLID),
        Body("upper", 1, Joint("shoulder", JointKind.REVOLUTE, **LIMITS), SOLID),
        forearm,
        Body("hand", 3, Joint("wrist", JointKind.PRISMATIC, T_parent_joint=SHIFT, **LIMITS), SOLID),
    )
    return Tree("arm", bodies, **tree)


def dress(tree: Tree, change: Callable[[Joint], Joint]) -> Tree:
    """Return the tree with every moving joint changed."""
    return replace(
        tree, bodies=tuple(replace(b, joint=change(b.joint) if b.joint.nv else b.joint) for b in tree.bodies)
    )


def urdf(tree: Tree) -> Exported:
    """Write a tree whose joints have speed limits, which the format demands."""
    return write_urdf(dress(tree, lambda joint: replace(joint, speed=min(joint.speed, 5.0))))


def mjcf(tree: Tree) -> Exported:
    """Write a tree whose fixed joints have the names that the format's reader gives them."""
    named = [replace(b, joint=replace(b.joint, name=f"{b.name}_fixed")) if not b.joint.nv else b for b in tree.bodies]
    return write_mjcf(replace(tree, bodies=tuple(named)))


def test_an_arm_that_both_formats_hold_loses_nothing() -> None:
    """The tree that every case below changes in one thing."""
    assert urdf(arm()).losses == mjcf(arm()).losses == ()


NO_GRAVITY: dict[str, Any] = {"gravity": np.zeros(3)}
BELT: dict[str, Any] = {"tendons": (TendonInertia("belt", 0.3, {"shoulder": 1.5, "elbow": -0.5}),)}
CONNECT: dict[str, Any] = {"closures": (Closure("connect", "loop", ("upper", "hand"), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)),)}
SECOND: dict[str, Any] = {
    "closures": (
        Closure("mimic", "elbow", ("elbow", "shoulder"), (0.0, 1.0)),
        Closure("mimic", "again", ("elbow", "wrist"), (0.0, 1.0)),
    )
}
BENT: dict[str, Any] = {"closures": (Closure("joint", "bent", ("elbow", "shoulder"), (0.0, 1.0, 0.5, 0.0, 0.0)),)}
OFF: dict[str, Any] = {"closures": (Closure("mimic", "off", ("elbow", "shoulder"), (0.0, 1.0), active=False),)}

URDF_LOSSES: dict[str, tuple[dict[str, Any], str, str | None, bool]] = {
    "gravity": (NO_GRAVITY, "option@gravity", None, True),
    "medium": ({"medium": Medium(1.2)}, "option@density", None, True),
    "home": ({"home": np.array([0.1, 0.2, 0.3])}, "key", None, False),
    "tendon": (BELT, "fixed@armature", "belt", True),
    "loop": (CONNECT, "equality", "loop", True),
    "second mimic": (SECOND, "equality", "again", True),
    "polynomial": (BENT, "equality", "bent", True),
    "mimic switched off": (OFF, "equality", "off", False),
    "gravity compensation": ({"gravcomp": 0.5}, "body@gravcomp", "forearm", True),
    "negative mass": ({"inertia": replace(SOLID, mass=-1.0)}, "mass", "forearm", True),
    "armature": ({"armature": 0.1}, "joint@armature", "elbow", True),
    "rotor": ({"rotor": 0.1}, "joint@rotor", "elbow", True),
    "spring": ({"stiffness": 2.0}, "joint@stiffness", "elbow", True),
    "zero": ({"ref": 0.3}, "joint@ref", "elbow", False),
    "anchor": ({"T_joint_body": SHIFT}, "joint@pos", "forearm", False),
    "no effort limit": ({"effort": np.inf}, "limit", "elbow", False),
    "half a range": ({"lower": -np.inf}, "limit", "elbow", False),
    "no range": ({"lower": -np.inf, "upper": np.inf}, "joint@type", "elbow", False),
    "range of a continuous joint": (
        {"kind": JointKind.CONTINUOUS, "effort": 1, "lower": -1},
        "limit@lower",
        "elbow",
        False,
    ),
    "ball": ({"kind": JointKind.BALL, "effort": 3.0}, "joint@type", "elbow", True),
    "planar": ({"kind": JointKind.PLANAR, "axis": np.array([0.6, 0, 0.8]), "effort": 1}, "joint@type", "elbow", True),
    "floating on a moving link": ({"kind": JointKind.FLOATING, "effort": 1.0}, "joint@type", "elbow", True),
    "damping": ({"kind": JointKind.PLANAR, "effort": 1, "damping": [1, 1, 2]}, "dynamics@damping", "elbow", True),
    "friction": ({"kind": JointKind.PLANAR, "effort": 1, "friction": [1, 2, 2]}, "dynamics@friction", "elbow", True),
    "no rotation": ({"T_parent_joint": np.diag([1.0, 1.1, 1, 1])}, "origin@rpy", "elbow", True),
}


@pytest.mark.parametrize("case", URDF_LOSSES)
def test_urdf_names_what_it_cannot_hold(case: str) -> None:
    """One loss for one thing, with its place."""
    changes, element, where, touches = URDF_LOSSES[case]
    found = urdf(arm(**changes)).losses
    assert [(loss.element, loss.where, loss.touches_dynamics) for loss in found] == [(element, where, touches)]


FLAT = Inertia(1.0, [0, 0, 0], [[0.1, 0.01, 0], [0.01, 0.1, 0], [0, 0, 0.5]])
INDEFINITE = Inertia(1.0, [0, 0, 0], [[0.1, 0.2, 0], [0.2, 0.1, 0], [0, 0, 0.2]])
SLIDES: dict[str, Any] = {"kind": JointKind.PLANAR}
WELD: dict[str, Any] = {"closures": (Closure("weld", "weld", ("upper", "hand"), (1.0, 2.0)),)}
FLEX: dict[str, Any] = {"closures": (Closure("flex", "cloth", ("cloth",)),)}

MJCF_LOSSES: dict[str, tuple[dict[str, Any], str, str | None, bool]] = {
    "speed": ({"speed": 2.0}, "joint@speed", "elbow", False),
    "no range": ({"lower": -np.inf, "upper": np.inf}, "joint@type", "elbow", False),
    "half a range": ({"upper": np.inf}, "joint@lower", "elbow", False),
    "a range of zero": ({"lower": 0.5, "upper": 0.5}, "joint@lower", "elbow", False),
    "no effort": ({"effort": 0.0}, "joint@effort", "elbow", False),
    "effort of a ball": ({"kind": JointKind.BALL, "effort": 1.0}, "joint@effort", "elbow", False),
    "rotor without an actuator": ({"rotor": 0.1}, "joint@rotor", "elbow", False),
    "unequal armature": ({"kind": JointKind.BALL, "armature": [1, 1, 2]}, "joint@armature", "elbow", True),
    "unequal damping": ({"kind": JointKind.BALL, "damping": [1, 2, 2]}, "joint@damping", "elbow", True),
    "spring at rest elsewhere": (
        {"kind": JointKind.BALL, "stiffness": 1.0, "rest": [0.6, 0.8, 0, 0]},
        "joint@stiffness",
        "elbow",
        True,
    ),
    "planar": (SLIDES, "joint@type", "elbow", False),
    "floating further down": ({"kind": JointKind.FLOATING}, "joint@type", "elbow", False),
    "turned ball": ({"kind": JointKind.BALL, "T_joint_body": TURN}, "body@pos", "forearm", False),
    "triangle": ({"inertia": FLAT}, "inertial", "forearm", True),
    "indefinite": ({"inertia": INDEFINITE}, "inertial", "forearm", True),
    "negative mass": ({"inertia": replace(SOLID, mass=-1.0)}, "inertial", "forearm", True),
    "point": ({"inertia": Inertia(1.0)}, "inertial", "forearm", True),
    "weld of other numbers": (WELD, "equality", "weld", True),
    "flex": (FLEX, "equality", "cloth", True),
    "no rotation": ({"T_parent_joint": np.diag([1.0, 1.1, 1, 1])}, "body@quat", "forearm", True),
}


@pytest.mark.parametrize("case", MJCF_LOSSES)
def test_mjcf_names_what_it_cannot_hold(case: str, tmp_path: Path) -> None:
    """One loss for one thing, with its place; MuJoCo refuses the file exactly when an inertia is named."""
    changes, element, where, touches = MJCF_LOSSES[case]
    exported = mjcf(arm(**changes))
    found = [(loss.element, loss.where, loss.touches_dynamics) for loss in exported.losses]
    assert found == [(element, where, touches)]
    path = tmp_path / "arm.xml"
    path.write_text(exported.text, encoding="utf-8")
    if element == "inertial":
        with pytest.raises(ReadError, match=r"inertia|mass"):
            load(path)
    else:
        assert load(path).nv == arm(**changes).nv


@pytest.mark.parametrize(
    ("changes", "elements"),
    [
        ({"armature": 0.2}, {"joint@armature"}),
        ({"friction": 0.2}, {"joint@friction"}),
        ({"damping": 0.2}, set()),
        ({"damping": [1, 2, 2]}, {"joint@damping"}),
        ({"stiffness": 2.0}, {"joint@stiffness"}),
    ],
    ids=["armature", "friction", "equal damping", "unequal damping", "spring"],
)
@pytest.mark.parametrize("kind", [JointKind.PLANAR, JointKind.FLOATING])
def test_slides_change_what_acts_along_axes(kind: JointKind, changes: dict[str, Any], elements: set[str]) -> None:
    """What stands for a planar or floating joint acts along joint axes; equal damping is the same in any axes."""
    if isinstance(changes.get("damping"), list) and kind is JointKind.FLOATING:
        changes = {"damping": [1, 2, 2, 1, 1, 1]}
    found = mjcf(arm(kind=kind, **changes)).losses
    assert {loss.element for loss in found} == {"joint@type"} | elements
    assert all(loss.touches_dynamics == (loss.element != "joint@type") for loss in found)


def test_losses_point_at_the_file_that_the_tree_came_from() -> None:
    """The source of a loss is that of the field that is lost."""
    sources = {"element": Source("arm.xml", 7), "armature": Source("arm.xml", 3)}
    tree = arm(armature=0.1, stiffness=1.0, sources=sources)
    assert {loss.element: loss.source.line for loss in urdf(tree).losses} == {"joint@armature": 3, "joint@stiffness": 7}


@pytest.mark.parametrize("write", [write_urdf, write_mjcf])
@pytest.mark.parametrize(
    "changes", [{"damping": np.nan}, {"upper": np.nan}, {"friction": np.inf}], ids=["damping", "range", "friction"]
)
def test_numbers_that_no_file_holds_are_refused(write: Callable[[Tree], Exported], changes: dict[str, Any]) -> None:
    """The message says which number of what."""
    with pytest.raises(TreeError, match="finite numbers only"):
        write(arm(**changes))


def test_fixed_joints_and_roots_lose_their_names(tmp_path: Path) -> None:
    """MJCF has no fixed joints to name; the root link of a URDF has no joint."""
    tree = arm()
    assert [(loss.element, loss.where) for loss in write_mjcf(tree).losses] == [("joint@name", "root_joint")]
    own = replace(
        tree, bodies=(world(), replace(tree.bodies[1], joint=Joint("mount", JointKind.FIXED)), *tree.bodies[2:])
    )
    assert [(loss.element, loss.where) for loss in urdf(own).losses] == [("joint@name", "mount")]
    export(own, tmp_path / "arm.urdf")
    assert load(tmp_path / "arm.urdf").joints[1].name == "root_joint"


def elements(exported: Exported) -> list[tuple[str, str | None]]:
    """Return element and place of every loss."""
    return [(loss.element, loss.where) for loss in exported.losses]


def test_the_inertia_of_the_world_is_named() -> None:
    """A fused tree has some; it moves nothing."""
    tree = arm()
    heavy = replace(tree, bodies=(replace(world(), inertia=SOLID), *tree.bodies[1:]))
    assert elements(urdf(heavy)) == elements(mjcf(heavy)) == [("inertial", "world")]


def test_names_of_robots_and_relations_are_named() -> None:
    """A robot, two equalities of one name, a tendon: what another name has is said."""
    closures = tuple(Closure("joint", "twin", ("elbow", other), (0.0, 1.0)) for other in ("shoulder", "wrist"))
    belt = TendonInertia("belt\x00", 0.3, {"shoulder": 1.0})
    tree = replace(arm(closures=closures, tendons=(belt,)), name="arm\x00")
    assert elements(mjcf(tree)) == [("mujoco@model", "arm\x00"), ("fixed@name", "belt\x00"), ("equality@name", "twin")]
    assert ("robot@name", "arm\x00") in elements(urdf(tree))


def test_tendons_over_other_joints_are_named() -> None:
    """A fixed tendon of MuJoCo takes joints of one dof, and closures of such a tendon go with it."""
    belt = TendonInertia("belt", 0.3, {"shoulder": 1.0, "elbow": 1.0})
    tight = Closure("tendon", "tight", ("belt", ""), (0.1,))
    tree = arm(kind=JointKind.BALL, tendons=(belt,), closures=(tight,))
    assert elements(mjcf(tree)) == [("fixed@armature", "belt"), ("equality", "tight")]


def test_a_driven_fixed_joint_is_named() -> None:
    """Files have transmissions on fixed joints; MJCF has no such joint to drive."""
    tree = arm()
    base = replace(tree.bodies[1], joint=replace(tree.joints[1], actuated=True))
    driven = replace(tree, bodies=(world(), base, *tree.bodies[2:]))
    assert elements(mjcf(driven)) == [("joint@actuated", "base_fixed")]


def test_a_moving_link_named_world_is_named() -> None:
    """MuJoCo refuses it in a URDF, and keeps the name for itself in MJCF."""
    tree = arm()
    bodies = (replace(world(), name="universe"), *tree.bodies[1:4], replace(tree.bodies[4], name="world"))
    moving = replace(tree, bodies=bodies)
    assert elements(urdf(moving)) == [("link@name", "world")]
    assert elements(mjcf(moving)) == [("body@name", "world")]
