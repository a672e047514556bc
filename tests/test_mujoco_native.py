"""MuJoCo reads URDF: joints by name, meshes, fused links, inferred inertia, its words when it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from against_reference import assert_agrees, drawn
from example_robots import EXAMPLE_ROBOTS

from tautology.adapters.mujoco_ import ENGINE
from tautology.adapters.reference import Reference
from tautology.harness.engine import Given
from tautology.harness.errors import EngineRefused, EngineUnsupported
from tautology.harness.load import open_model
from tautology.harness.states import sample
from tautology.harness.tree import JointKind

INERTIAL = (
    '<inertial><mass value="{}"/><origin xyz=".1 -.2 .3" rpy=".1 .2 .3"/>'
    '<inertia ixx="1" iyy="2" izz="2.5" ixy=".1" ixz="0" iyz="0"/></inertial>'
)
LIMITS = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
SHELL = '<collision><geometry><mesh filename="package://nowhere/shell.stl"/></geometry></collision>'
BOX = '<collision><origin xyz="0 0 .1"/><geometry><box size=".1 .2 .3"/></geometry></collision>'


def link(name: str, mass: float = 1, inside: str = "") -> str:
    """Return a link with a turned, full tensor, one line."""
    return f'<link name="{name}">{INERTIAL.format(mass)}{inside}</link>\n'


def bare(name: str, inside: str = "") -> str:
    """Return a link without `<inertial>`, one line."""
    return f'<link name="{name}">{inside}</link>\n'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    """Return a turned and shifted joint, one line."""
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz=".1 .2 .3" rpy=".3 .2 .1"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>\n'


def opened(folder: Path, *elements: str, base: str = "auto"):
    """Open a URDF, an element a line behind the first, from a path with a blank and a letter beyond ASCII."""
    path = folder / "ein bär.urdf"
    path.write_text('<robot name="bear">\n' + "".join(elements) + "</robot>\n", encoding="utf-8")
    return open_model(path, base)


def native(model):
    """Return MuJoCo's own reading of an opened model."""
    return ENGINE.native(model.given, model.tree)


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("stem", ["panda", "a1", "g1_29dof_rev_1_0", "talos_reduced", "solo12", "ur5_robot"])
def test_real_robots_are_read_as_the_tree_has_them(stem: str, base: str) -> None:
    """Joints by name, meshes taken out and said to be, fused links, a free base where MuJoCo can have one."""
    (path,) = [path for path in EXAMPLE_ROBOTS.values() if path.stem == stem]
    model = open_model(path, base)
    if (stem, base) == ("ur5_robot", "free"):
        with pytest.raises(EngineUnsupported, match="called 'world'"):
            native(model)
        return
    session = native(model)
    assert session.dofs == model.tree.dofs
    assert session.extra_dofs == ()
    assert {f.severity for f in session.findings} <= {"convention"}
    assert bool(session.notes) == (stem != "a1")
    assert_agrees(session, model.tree, 3)


def test_every_joint_type_of_urdf_is_found_and_told(tmp_path: Path) -> None:
    """Floating with an origin, planar with a slanted normal, ball, slide and wheel; siblings as the file has them."""
    slanted = '<axis xyz="1 2 -3"/>'
    model = opened(
        tmp_path,
        *(link(name, 1 + k) for k, name in enumerate("abcdefg")),
        joint("float", "floating", "a", "b"),
        joint("z", "planar", "b", "c", slanted),
        joint("y", "spherical", "b", "d"),
        joint("x", "prismatic", "d", "e", slanted + LIMITS),
        joint("w", "continuous", "e", "f", slanted),
        joint("weld", "fixed", "e", "g"),
    )
    session = native(model)
    assert session.dofs == model.tree.dofs
    assert session.bodies == tuple("bcdef")
    assert_agrees(session, model.tree)
    assert {(f.kind, f.where, f.line, f.severity) for f in session.findings} == {
        ("base.quaternion_order", "b", 3, "convention"),
        ("base.velocity_frame", "b", 3, "convention"),
        ("base.acceleration", "b", 3, "convention"),
        ("joint.coordinates", "float", 9, "convention"),
        ("joint.coordinates", "z", 10, "convention"),
        ("joint.type", "z", 10, "convention"),
        ("wrench.frame", "b", 3, "convention"),
        ("body.root_fused", "a", 2, "convention"),
        ("body.fused", "g", 14, "convention"),
    }


def test_a_freed_root_is_held_with_everything_on_it(tmp_path: Path) -> None:
    """Nothing vanishes into the world, and the base moves as the tree says."""
    elements = (link("base", 3), link("arm"), joint("turn", "continuous", "base", "arm"))
    welded, free = opened(tmp_path, *elements), opened(tmp_path, *elements, base="free")
    assert native(welded).total_mass == 1
    session = native(free)
    assert session.total_mass == 4
    assert session.dofs == free.tree.dofs
    assert_agrees(session, free.tree)


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (link("arm", 0), "refused.nonphysical", "larger than mjMINVAL"),
        (bare("arm"), "refused.nonphysical", "larger than mjMINVAL"),
        (link("arm").replace('iyy="2"', 'iyy=".2"'), "refused.nonphysical", r"A \+ B >= C"),
        (link("arm").replace('iyy="2"', 'iyy="-.1"'), "refused.nonphysical", "positive eigenvalues"),
        (bare("arm", SHELL), "refused.mesh", "cannot be read: Error opening file"),
        (link("arm").replace("<inertia ", "<oops "), "refused.malformed", "missing element: 'inertia'"),
    ],
    ids=["no mass", "no inertial", "triangle", "indefinite", "mesh", "no tensor"],
)
def test_refusal_has_the_words_of_the_engine_and_the_place(tmp_path: Path, body: str, kind: str, words: str) -> None:
    """Body, line and kind are there, on the native path alone: built from the tree the same robot answers."""
    model = opened(tmp_path, link("base"), body, joint("turn", "continuous", "base", "arm"))
    with pytest.raises(EngineRefused, match=words) as refusal:
        native(model)
    assert (refusal.value.kind, refusal.value.where, refusal.value.source.line) == (kind, "arm", 3)
    assert refusal.value.source.file.endswith("ein bär.urdf")
    assert "remain so" not in str(refusal.value)
    assert_agrees(ENGINE.neutral(model.tree), model.tree)


def test_a_line_of_the_inertial_is_that_of_the_number_at_fault(tmp_path: Path) -> None:
    """No mass: the line of <mass>. A bad tensor: that of <inertia>. Neither mass nor tensor: that of <inertial>."""
    for mass, tensor, line in ((0, "1", 5), (1, ".1", 6), (0, "0", 4)):
        broken = (
            '<link name="arm">\n<inertial>\n<mass value="{}"/>\n<inertia ixx="{}" iyy="{}" izz="{}" '
            'ixy="0" ixz="0" iyz="0"/></inertial></link>\n'
        ).format(mass, tensor, tensor, tensor if mass == 0 else "9")
        model = opened(tmp_path, link("base"), broken, joint("turn", "continuous", "base", "arm"))
        with pytest.raises(EngineRefused) as refusal:
            native(model)
        assert refusal.value.source.line == line


def test_a_floating_joint_inside_is_refused_as_unsupported(tmp_path: Path) -> None:
    """MuJoCo frees bodies of the world alone; the neutral path has slides and a ball instead."""
    model = opened(
        tmp_path,
        *(link(name) for name in "abc"),
        joint("turn", "continuous", "a", "b"),
        joint("float", "floating", "b", "c"),
    )
    with pytest.raises(EngineRefused, match="only be used on top level") as refusal:
        native(model)
    assert (refusal.value.kind, refusal.value.where, refusal.value.source.line) == ("refused.unsupported", "float", 6)
    session = ENGINE.neutral(model.tree)
    assert_agrees(session, model.tree)
    assert ("joint.coordinates", "float", 6) in {(f.kind, f.where, f.line) for f in session.findings}


def test_a_mesh_that_is_not_there_is_taken_out_and_said(tmp_path: Path) -> None:
    """With <inertial> a mesh is never needed, and shapes beside it stay; the file of the user stays as it is."""
    model = opened(tmp_path, link("base"), link("arm", 1, SHELL + BOX), joint("turn", "continuous", "base", "arm"))
    before = Path(model.given.path).read_bytes()
    session = native(model)
    (note,) = session.notes
    assert "1 file was taken out that MuJoCo cannot read" in note
    assert "nowhere/shell.stl" in note
    assert session.model.ngeom == 1
    assert_agrees(session, model.tree)
    assert Path(model.given.path).read_bytes() == before


def test_inertia_that_shapes_or_a_missing_mesh_would_give_is_a_finding(tmp_path: Path) -> None:
    """Links without <inertial>: 6 kg of box at the density of water, and a mesh whose volume nobody knows."""
    model = opened(
        tmp_path,
        *(link("base"), bare("boxed", BOX), link("arm"), bare("tool", SHELL)),
        joint("turn", "continuous", "base", "boxed"),
        joint("bend", "continuous", "boxed", "arm"),
        joint("weld", "fixed", "arm", "tool"),
    )
    told = {f.where: f for f in native(model).findings if f.kind == "mass.default"}
    assert {(f.where, f.line, f.severity) for f in told.values()} == {("boxed", 3, "model"), ("tool", 5, "model")}
    assert told["boxed"].found == pytest.approx(6)
    assert (told["boxed"].expected, told["tool"].expected) == (0, 0)


def test_a_tensor_without_mass_on_a_fixed_link_is_lost_and_named(tmp_path: Path) -> None:
    """MuJoCo merges masses, and a tensor only along with one: the difference in M is that tensor."""
    model = opened(
        tmp_path,
        *(link("base"), link("arm"), link("foot", 0)),
        joint("turn", "continuous", "base", "arm", '<axis xyz="0 0 1"/>'),
        joint("weld", "fixed", "arm", "foot").replace(' rpy=".3 .2 .1"', ""),
    )
    session, q = native(model), np.zeros((1, 1))
    (lost,) = [f for f in session.findings if f.kind == "inertia.value"]
    assert (lost.where, lost.line) == ("foot", 4)
    xx, yy, zz, xy, xz, yz = lost.expected
    np.testing.assert_allclose([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], model.tree.bodies[-1].inertia.I_com)
    np.testing.assert_allclose(Reference(model.tree).mass_matrix(q) - session.mass_matrix(q), [[[zz]]], rtol=1e-12)


def test_dofs_that_only_the_engine_has_are_held_at_rest(tmp_path: Path) -> None:
    """Against a tree in which one joint is welded, the engine's dof rests at zero and stays out of every answer."""
    model = opened(
        tmp_path,
        *(link(name, 2) for name in ("base", "arm", "hand")),
        joint("a", "prismatic", "base", "arm", LIMITS),
        joint("b", "continuous", "arm", "hand"),
    )
    bodies = list(model.tree.bodies)
    welded = replace(bodies[2].joint, kind=JointKind.FIXED, damping=(), friction=(), armature=(), rotor=(), rest=None)
    bodies[2] = replace(bodies[2], joint=welded)
    tree = replace(model.tree, bodies=tuple(bodies))
    session = ENGINE.native(model.given, tree)
    assert (session.dofs, session.extra_dofs) == (("b",), ("a",))
    states = sample(tree, 4, 1)
    q, v, a, tau = states.q, states.v, states.a, states.tau
    wanted = Reference(tree)
    np.testing.assert_allclose(session.inverse_dynamics(q, v, a), wanted.inverse_dynamics(q, v, a), rtol=0, atol=1e-12)
    np.testing.assert_allclose(session.mass_matrix(q), wanted.mass_matrix(q), rtol=0, atol=1e-12)
    found = session.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(found, wanted.forward_dynamics(q, v, tau), rtol=0, atol=1e-11)


def test_dofs_that_the_engine_lacks_are_left_out(tmp_path: Path) -> None:
    """Against a tree in which a welded link turns, the session has one dof less, and no frame of that link."""
    model = opened(
        tmp_path,
        *(link(name, 2) for name in ("base", "arm", "hand")),
        joint("a", "continuous", "base", "arm"),
        joint("b", "fixed", "arm", "hand"),
    )
    bodies = list(model.tree.bodies)
    loose = replace(
        bodies[3].joint, kind=JointKind.CONTINUOUS, damping=0.0, friction=0.0, armature=0.0, rotor=0.0, rest=None
    )
    bodies[3] = replace(bodies[3], joint=loose)
    session = ENGINE.native(model.given, replace(model.tree, bodies=tuple(bodies)))
    assert (session.dofs, session.bodies) == (("a",), ("arm",))
    q = np.zeros((2, 2))
    found = session.inverse_dynamics(q, q + 1, q + 2)
    np.testing.assert_allclose(found, Reference(model.tree).inverse_dynamics(*(x[:, :1] for x in (q, q + 1, q + 2))))


def test_a_floating_root_that_the_engine_lacks_has_no_momentum(tmp_path: Path) -> None:
    """It is said, instead of the momentum of another body."""
    elements = (link("base", 2), link("arm"), joint("turn", "continuous", "base", "arm"))
    free = opened(tmp_path, *elements, base="free").tree
    session = ENGINE.native(opened(tmp_path, *elements).given, free)
    assert session.dofs == ("turn",)
    assert "floating root" in session.lacks["momentum"]


def test_other_formats_have_no_native_path() -> None:
    """A tree or a Pinocchio model is nothing that MuJoCo reads."""
    with pytest.raises(EngineUnsupported, match="no importer for tree"):
        ENGINE.native(Given("tree"), drawn(0))
