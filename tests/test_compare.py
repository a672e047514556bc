"""Matching, alignment and comparison of two trees: representation is no difference, every parameter is one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from random_trees import random_inertia, random_rotation, random_transform, random_tree

from tautology.adapters.reference import Reference
from tautology.harness.diagnosis.accounts import accounts
from tautology.harness.diagnosis.closure import Observed, close
from tautology.harness.diagnosis.compare import compare
from tautology.harness.diagnosis.difference import patched, with_inertia, with_joint
from tautology.harness.diagnosis.inertias import grain, reasons
from tautology.harness.diagnosis.matching import match
from tautology.harness.diagnosis.translate import Translated
from tautology.harness.errors import RequestError
from tautology.harness.fusion import compose
from tautology.harness.spatial import inverse, rotation_about, rotation_from_rpy, transform
from tautology.harness.states import sample
from tautology.harness.tree import Body, Inertia, Joint, JointKind, Tree, world

SEEDS = range(6)
KINDS = [JointKind.FIXED, JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.BALL]
TOLERANCE = 1e-9


def drawn(seed: int, *, floating: bool = False) -> Tree:
    """Return a random tree of ten bodies with inertia everywhere."""
    return random_tree(np.random.default_rng(seed), 10, kinds=KINDS, floating_root=floating, massless=0.0)


def found(ours: Tree, theirs: Tree, **options) -> list[tuple[str, str | None]]:
    """Return kind and place of every difference."""
    comparison = compare(ours, theirs, match(ours, theirs, options.pop("names", None)), TOLERANCE, static=True)
    return [(d.kind, d.where) for d in comparison.differences]


def regauged(tree: Tree, rng: np.random.Generator) -> Tree:
    """Return the same robot with every body frame put elsewhere, also turned; joints keep their coordinates."""
    Gs = [np.eye(4), *(random_transform(rng) for _ in tree.bodies[1:])]
    bodies = [tree.bodies[0]]
    for i, body in enumerate(tree.bodies[1:], 1):
        G, joint = Gs[i], body.joint
        R, c = inverse(G)[:3, :3], body.inertia.com
        I = R @ body.inertia.I_com @ R.T
        moved = Inertia(body.inertia.mass, R @ c + inverse(G)[:3, 3], (I + I.T) / 2)
        written = replace(
            joint,
            T_parent_joint=inverse(Gs[body.parent]) @ joint.T_parent_joint,
            T_joint_body=joint.T_joint_body @ G,
        )
        bodies.append(replace(body, joint=written, inertia=moved))
    return replace(tree, bodies=tuple(bodies))


def renamed(tree: Tree) -> Tree:
    """Return the same robot under names that share no word with the old ones."""
    bodies = [
        replace(b, name=f"part {i}x", joint=replace(b.joint, name=f"axis {i}x")) if i else b
        for i, b in enumerate(tree.bodies)
    ]
    return replace(tree, bodies=tuple(bodies))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tree_is_itself(seed: int) -> None:
    """No difference to itself, to its merged self, nor to itself in another order of siblings."""
    tree = drawn(seed)
    assert found(tree, tree) == []
    assert found(tree, tree.fused()) == []
    children = [[i for i, b in enumerate(tree.bodies) if b.parent == k] for k in range(len(tree.bodies))]
    order = [0]
    for k in order:
        order.extend(reversed(children[k]))
    new = {old: i for i, old in enumerate(order)}
    bodies = [replace(tree.bodies[k], parent=new.get(tree.bodies[k].parent, -1)) for k in order]
    assert found(tree, replace(tree, bodies=tuple(bodies))) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_frames_are_a_choice(seed: int) -> None:
    """Other body origins and axes are no difference, and the dynamics translate to rounding."""
    rng = np.random.default_rng(seed)
    tree = drawn(seed, floating=bool(seed % 2))
    other = regauged(tree, rng)
    comparison = compare(tree, other, match(tree, other), TOLERANCE, static=True)
    assert [(d.kind, d.where) for d in comparison.differences] == []
    states = sample(tree, 6, seed)
    one, two = Reference(tree), Translated(tree, other, comparison.nodes, Reference)
    assert two.dofs == tree.dofs
    for name, arguments in {
        "inverse_dynamics": (states.q, states.v, states.a, states.wrenches),
        "mass_matrix": (states.q,),
        "poses": (states.q,),
        "velocities": (states.q, states.v),
        "potential_energy": (states.q,),
    }.items():
        x, y = getattr(one, name)(*arguments), getattr(two, name)(*arguments)
        np.testing.assert_allclose(y, x, rtol=0, atol=1e-11 * max(1, np.abs(x).max()), err_msg=name)


@pytest.mark.parametrize("seed", SEEDS)
def test_names_are_a_choice_and_a_map_settles_them(seed: int) -> None:
    """Structure finds renamed joints; a name map says which is which; wrong names are refused."""
    tree = drawn(seed)
    other = renamed(tree)
    assert found(tree, other) == []
    names = {a.joint.name: b.joint.name for a, b in zip(tree.bodies[1:], other.bodies[1:], strict=True)}
    assert not match(tree, other, names).doubtful
    with pytest.raises(RequestError, match="no joint or body 'nobody'"):
        match(tree, other, {"nobody": "axis 1x"})


def test_names_that_say_the_same_are_matched_first() -> None:
    """shoulder_pan_joint finds shoulder_pan, whatever the order."""
    bodies = [
        Body(f"{n}_link", 0, Joint(f"{n}_joint", JointKind.REVOLUTE), random_inertia(np.random.default_rng(i)))
        for i, n in enumerate(("shoulder_pan", "ElbowLift"))
    ]
    swapped = [
        replace(b, joint=replace(b.joint, name=n)) for b, n in zip(bodies, ("ShoulderPan", "elbow-lift"), strict=True)
    ]
    a, b = Tree("a", (world(), *bodies)), Tree("b", (world(), *reversed(swapped)))
    matching = match(a, b)
    pairs = {a.joints[i].name: b.joints[j].name for i, j in matching.joints.items()}
    assert pairs == {"shoulder_pan_joint": "ShoulderPan", "ElbowLift_joint": "elbow-lift"}
    assert not matching.doubtful


def test_twins_are_doubtful() -> None:
    """Two joints that nothing but their name tells apart are matched, and said to be doubtful."""
    inertia = random_inertia(np.random.default_rng(0))
    names = ("left", "right")
    a = Tree("a", (world(), *(Body(n, 0, Joint(f"{n} hip", JointKind.REVOLUTE), inertia) for n in names)))
    b = Tree("b", (world(), *(Body(n, 0, Joint(f"{n} axle", JointKind.REVOLUTE), inertia) for n in ("p", "q"))))
    assert match(a, b).doubtful


def changed_inertia(tree: Tree, name: str, **fields) -> Tree:
    """Return the tree with fields of one inertia replaced."""
    return with_inertia(tree, name, replace(tree.bodies[tree.index[name]].inertia, **fields))


def symmetric(I: np.ndarray) -> np.ndarray:
    """Return the symmetric part, which rounding has left."""
    return (I + I.T) / 2


PATTERNS = {
    "mass": lambda i, _: replace(i, mass=i.mass * 1.1),
    "com": lambda i, _: replace(i, com=i.com + np.array([0.01, 0, 0])),
    "inertia.value": lambda i, _: replace(i, I_com=i.I_com * 1.3),
    "inertia.rotation": lambda i, R: replace(i, I_com=symmetric(R @ i.I_com @ R.T)),
    "inertia.off_diagonal": lambda i, _: replace(i, I_com=np.diag(np.diag(i.I_com))),
    "inertia.sign": lambda i, _: replace(i, I_com=2 * np.diag(np.diag(i.I_com)) - i.I_com),
    "inertia.reference_point": lambda i, _: replace(
        i, I_com=i.I_com + i.mass * (i.com @ i.com * np.eye(3) - np.outer(i.com, i.com))
    ),
    "inertia.order": lambda i, _: replace(i, I_com=i.I_com[np.ix_([1, 2, 0], [1, 2, 0])].T.copy()),
}


@pytest.mark.parametrize("kind", PATTERNS)
@pytest.mark.parametrize("seed", SEEDS)
def test_inertia_patterns_are_named(seed: int, kind: str) -> None:
    """One body, one mistake: its kind, at its place, whether the body moves or is fixed to one that does."""
    rng = np.random.default_rng(seed)
    tree = drawn(seed)
    moving = [b.name for b, moves in zip(tree.bodies, tree.moving, strict=True) if moves]
    name = moving[int(rng.integers(len(moving)))]
    wrong = with_inertia(tree, name, PATTERNS[kind](tree.bodies[tree.index[name]].inertia, random_rotation(rng)))
    for other in (wrong, wrong.fused()):
        comparison = compare(tree, other, match(tree, other), TOLERANCE)
        assert len(comparison.differences) == 1, [(d.kind, d.where) for d in comparison.differences]
        d = comparison.differences[0]
        assert (kind, name) in [(x.kind, x.where) for x in (d, *d.rivals)]
        assert d.where == name


JOINT_CHANGES = {
    "joint.axis_sign": lambda j: {"axis": -j.axis},
    "joint.axis": lambda j: {"axis": rotation_about(np.eye(3)[int(abs(j.axis[0]) > 0.9)], np.asarray(0.2)) @ j.axis},
    "joint.placement": lambda j: {
        "T_parent_joint": j.T_parent_joint @ transform(np.eye(3), np.array([0.02, 0.01, 0.03]))
    },
    "joint.orientation": lambda j: {
        "T_parent_joint": j.T_parent_joint @ transform(rotation_from_rpy(np.array([0.2, -0.1, 0.3])), np.zeros(3))
    },
    "joint.zero": lambda j: {"ref": j.ref + 0.25},
    "armature": lambda _: {"armature": 0.7},
    "rotor": lambda _: {"rotor": 0.3},
    "damping": lambda _: {"damping": 0.3},
    "frictionloss": lambda _: {"friction": 0.3},
    "spring": lambda _: {"stiffness": 4.0},
}


@pytest.mark.parametrize("kind", JOINT_CHANGES)
@pytest.mark.parametrize("seed", SEEDS)
def test_joint_differences_are_named(seed: int, kind: str) -> None:
    """One joint, one mistake: its kind at its place, and nothing else on its children."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 8, kinds=[JointKind.REVOLUTE], massless=0.0)
    joint = tree.joints[int(rng.integers(1, len(tree.bodies)))]
    joint = replace(joint, T_joint_body=np.eye(4))
    tree = with_joint(tree, joint.name, T_joint_body=np.eye(4))
    other = with_joint(tree, joint.name, **JOINT_CHANGES[kind](joint))
    assert found(tree, other) == [(kind, joint.name)]


@pytest.mark.parametrize("seed", SEEDS)
def test_patches_make_the_other_robot(seed: int) -> None:
    """All differences of two unlike robots of one structure, put in, leave nothing; each share lies in 0 to 1."""
    rng = np.random.default_rng(seed)
    tree = drawn(seed, floating=bool(seed % 2))
    bodies = list(tree.bodies)
    for i in range(1, len(bodies), 2):
        joint = bodies[i].joint
        moved = joint.T_parent_joint @ random_transform(rng)
        bodies[i] = replace(bodies[i], inertia=random_inertia(rng), joint=replace(joint, T_parent_joint=moved))
    other = replace(tree, bodies=tuple(bodies), gravity=np.array([0.1, 0.2, -9.0]))
    comparison = compare(tree, other, match(tree, other), TOLERANCE, static=True)
    states = sample(tree, 12, seed)
    answers = Translated(tree, other, comparison.nodes, Reference)
    values = {
        "tau": answers.inverse_dynamics(states.q, states.v, states.a, states.wrenches),
        "gravity": answers.gravity_forces(states.q),
        "mass_matrix": answers.mass_matrix(states.q),
    }
    scales = {name: np.full_like(value, max(1, np.abs(value).max())) for name, value in values.items()}
    closed = close(tree, comparison.differences, Observed(states, tree.dofs, values, scales), Reference)
    assert closed.left.ratio < 1e-12
    assert all(0 <= share <= 1 for share in closed.shares)
    assert len(comparison.differences) >= 5
    assert found(patched(tree, comparison.differences), other) == []


def test_single_cause_explains_everything() -> None:
    """The share of the only difference is one."""
    tree = drawn(3)
    name = next(b.name for b, m in zip(tree.bodies, tree.moving, strict=True) if m)
    other = changed_inertia(tree, name, mass=9.0)
    comparison = compare(tree, other, match(tree, other), TOLERANCE)
    states = sample(tree, 12)
    tau = Reference(other).inverse_dynamics(states.q, states.v, states.a)
    observed = Observed(
        replace(states, wrenches=states.wrenches * 0), tree.dofs, {"tau": tau}, {"tau": np.ones_like(tau)}
    )
    assert close(tree, comparison.differences, observed, Reference).shares == pytest.approx((1.0,), abs=1e-12)


def hand_and_wrist(rng: np.random.Generator) -> tuple[list[tuple[Inertia, np.ndarray]], np.ndarray]:
    """Return a holder with two fixed members, and the placement of the last."""
    Ts = [np.eye(4), random_transform(rng), random_transform(rng)]
    return [(random_inertia(rng), T) for T in Ts], Ts[2]


@pytest.mark.parametrize("seed", SEEDS)
def test_merged_child_at_fault_is_named_with_its_own_mistake(seed: int) -> None:
    """A tensor and a centre of mass that lost the turn of their mount, told from the composite alone."""
    members, T = hand_and_wrist(np.random.default_rng(seed))
    hand = members[2][0]
    unturned = transform(np.eye(3), T[:3, 3])
    merged = compose([*members[:2], (hand, unturned)])
    best = accounts(members, [True] * 3, [False] * 3, merged, TOLERANCE)[0]
    assert [part.member for part in best.parts] == [2]
    assert {r.kind for part in best.parts for r in part.reasons} == {"com", "inertia.rotation"}


def test_left_out_members_are_named() -> None:
    """Of a base with six sensors, four rotors gone: the rotors are named, the sensors are not."""
    rng = np.random.default_rng(1)
    members = [(random_inertia(rng), np.eye(4))]
    members += [(replace(random_inertia(rng), mass=0.1), random_transform(rng)) for _ in range(6)]
    kept = [m for k, m in enumerate(members) if k not in (2, 3, 5)]
    best = accounts(members, [True] * 7, [False] * 7, compose(kept), TOLERANCE)[0]
    assert sorted(part.member for part in best.parts) == [2, 3, 5]
    assert {r.kind for part in best.parts for r in part.reasons} == {"body.missing"}


def test_rounding_of_a_sum_is_no_reason() -> None:
    """A heavy member does not make the digits of a light one a finding."""
    light, heavy = Inertia(1e-3, np.zeros(3), np.eye(3) * 1e-9), Inertia(1e3, np.ones(3), np.eye(3) * 10)
    g = grain([light, heavy], TOLERANCE)
    assert reasons(light, replace(light, mass=1e-3 + 1e-12), g) == ()


@pytest.mark.parametrize("kind", [JointKind.FIXED, JointKind.REVOLUTE])
@pytest.mark.parametrize("mass", [0.0, 0.3])
def test_of_a_body_without_mass_its_tensor_is_missing(kind: JointKind, mass: float) -> None:
    """A body is missing when its mass is; what the sentence tells is never 0 kg on both sides."""
    tensor = np.diag([1e-3, 2e-3, 2.5e-3])
    arm = Body("arm", 0, Joint("hinge", JointKind.REVOLUTE), Inertia(2.0, np.array([0.1, 0, 0]), np.eye(3)))
    foot = Body("foot", 1, Joint("sole", kind, axis=np.array([1.0, 0, 0])), Inertia(mass, np.zeros(3), tensor))
    ours, theirs = Tree("t", (world(), arm, foot)), Tree("t", (world(), arm))
    found = compare(ours, theirs, match(ours, theirs), 1e-9).differences
    told = {d.kind: (d.expected, d.found, d.unit) for d in found if d.where == "foot"}
    if mass:
        assert told == {"body.missing": (0.3, 0.0, "kg")}
    else:
        assert told == {"inertia.value": ([1e-3, 2e-3, 2.5e-3, 0, 0, 0], [0.0] * 6, "kg m^2")}


@pytest.mark.parametrize("shifted", ["pedestal", "joint"])
def test_a_pedestal_that_is_turned_about_the_next_axis_is_no_other_zero(shifted: str) -> None:
    """Both shift the zero alike; where the body below stands is what tells them apart."""

    def of(pedestal: float, zero: float) -> Tree:
        turned = [
            transform(rotation_about(np.array([0.0, 0.0, 1.0]), np.asarray(x)), np.zeros(3)) for x in (pedestal, zero)
        ]
        base = Body("base", 0, Joint("weld", JointKind.FIXED, T_parent_joint=turned[0]))
        up = Joint("pan", JointKind.REVOLUTE, T_parent_joint=turned[1], axis=np.array([0.0, 0.0, 1.0]))
        arm = Body("arm", 1, up, Inertia(2.0, np.array([0.1, 0.3, -0.2]), np.diag([0.2, 0.3, 0.4])))
        return Tree("pedestal", (world(), base, arm))

    ours = of(0.7, 0.4)
    if shifted == "pedestal":
        assert found(ours, of(0.0, 0.4)) == [("joint.orientation", "pan")]
    else:
        assert found(ours, of(0.7, 0.0)) == [("joint.zero", "pan")]


def test_an_origin_that_is_off_by_a_few_tolerances_is_no_other_zero() -> None:
    """As near as a shifted zero would have to be, and nothing is shifted."""

    def of(x: float) -> Tree:
        hinge = Joint("pan", JointKind.REVOLUTE, T_parent_joint=transform(np.eye(3), np.array([x, 0, 0])))
        arm = Body("arm", 0, hinge, Inertia(2.0, np.array([0.1, 0.3, -0.2]), np.diag([0.2, 0.3, 0.4])))
        return Tree("few", (world(), arm))

    ours = of(0.28)
    assert found(ours, of(0.28 * (1 + 2.5e-9)), tolerance=1e-9) == [("joint.placement", "pan")]
