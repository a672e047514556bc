"""The checks: they pass on right engines, every one is seen failing, and nothing that an engine does breaks them."""

from dataclasses import fields, replace

import numpy as np
import pytest
from miniatures import CATCHES, Lost, Miniature, OffBy, Raises
from random_trees import random_inertia, random_joint, random_tree

from tautology.adapters import mujoco_
from tautology.adapters.reference import Reference
from tautology.harness.checks.agreement import QUESTIONS, agreement
from tautology.harness.checks.identities import CHECKS, identities
from tautology.harness.checks.tolerances import DEEP, EPS, LEAST, ROUNDING, TABLE, rounding
from tautology.harness.checks.truth import Truth
from tautology.harness.errors import EngineUnsupported
from tautology.harness.results import IDENTITIES, QUANTITIES
from tautology.harness.spatial import rotation_from_rpy, transform
from tautology.harness.states import States, sample
from tautology.harness.tree import Body, Inertia, Joint, JointKind, Tree, world

COUNT = 24
SLANTED = transform(rotation_from_rpy(np.array([0.1, 0.2, 0.3])), np.array([0, 0, 0.1]))
SMALL = Inertia(0.1, np.array([0, 0, 0.05]), np.diag([1e-3, 1e-3, 1e-3]))
WALKER = 8  # a seed whose tree has every joint kind that the miniatures are wrong in


def truth_of(tree, states):
    """Return the truth of a tree at these states."""
    return Truth(tree, states, Reference(tree, np.longdouble), Reference(tree))


def failures(rows, name):
    """Return the names of the rows that fail."""
    return {getattr(row, name) for row in rows if not row.passed}


def row_of(rows, name):
    """Return the row of one quantity or identity."""
    return next(row for row in rows if name in (getattr(row, "quantity", None), getattr(row, "identity", None)))


@pytest.fixture(scope="module")
def walker():
    """A floating tree with a second floating joint inside, hinges, ball, planar joint, armature, tendon, fixed body."""
    tree = random_tree(np.random.default_rng(WALKER), 8, floating_root=True, armature=True, tendons=True)
    states = sample(tree, COUNT)
    return tree, states, truth_of(tree, states)


def pendulum():
    """A hinge about x through the origin, gravity along -z, 2 kg half a metre below."""
    joint = Joint("hinge", JointKind.REVOLUTE, axis=np.array([1.0, 0, 0]), armature=0.25)
    inertia = Inertia(2.0, np.array([0, 0, -0.5]), np.diag([0.1, 0.1, 0.1]))
    return Tree("pendulum", (world(), Body("bob", 0, joint, inertia)))


@pytest.mark.parametrize("miniature", CATCHES, ids=lambda miniature: miniature.__name__)
def test_checks_catch_what_is_wrong_and_nothing_else(walker, miniature):
    """The table of miniatures says exactly which rows fail on the neutral path."""
    tree, states, truth = walker
    quantities, laws = CATCHES[miniature]
    assert failures(agreement(miniature(tree), truth, states, "neutral", 1e-9), "quantity") == quantities
    assert failures(identities(miniature(tree), tree, states, truth, "neutral"), "identity") == laws


def test_every_check_is_seen_failing():
    """No quantity and no identity is without a miniature that it catches."""
    assert set().union(*(quantities for quantities, _ in CATCHES.values())) == set(QUANTITIES)
    assert set().union(*(laws for _, laws in CATCHES.values())) == set(IDENTITIES)


def test_the_walker_is_generic(walker):
    """Every miniature has something to be wrong about: joint kinds, armature, a tendon, regular M everywhere."""
    tree, _, truth = walker
    kinds = {JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.BALL, JointKind.PLANAR, JointKind.FIXED}
    assert kinds < {joint.kind for joint in tree.joints}
    assert tree.joints[1].reflected.any()
    assert tree.tendons
    assert truth.regular.all()


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_a_relative_error_of_1e_10_is_caught(walker, quantity):
    """On the neutral path the smallest planted error fails, in its own row alone; natively it is the same robot."""
    tree, states, truth = walker
    wrong = OffBy(tree, QUESTIONS[quantity][0])
    assert failures(agreement(wrong, truth, states, "neutral", 1e-9), "quantity") == {quantity}
    assert failures(agreement(wrong, truth, states, "native", 1e-9), "quantity") == set()


@pytest.mark.parametrize("path", ["neutral", "native"])
@pytest.mark.parametrize("seed", range(12))
def test_right_engines_pass(seed, path):
    """The reference in float64 agrees with itself in longdouble, and keeps every identity, on random trees."""
    rng = np.random.default_rng(seed)
    tree = random_tree(
        rng, int(rng.integers(1, 10)), floating_root=bool(seed % 2), armature=bool(seed % 3), tendons=True
    )
    states = sample(tree, 16, seed)
    truth = truth_of(tree, states)
    assert failures(agreement(Reference(tree), truth, states, path, 1e-9), "quantity") == set()
    assert failures(identities(Reference(tree), tree, states, truth, path), "identity") == set()


@pytest.mark.parametrize("change", ["heavier", "lighter", "longer", "weight"])
@pytest.mark.parametrize("seed", range(4))
def test_another_robot_keeps_its_own_identities(seed, change):
    """Natively an engine may hold much more mass, or less: it differs, and none of its identities fails for that."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 6, floating_root=bool(seed % 2), armature=True)
    other = _changed(tree, change, rng)
    states = sample(tree, 16, seed)
    truth = truth_of(tree, states)
    assert failures(agreement(Reference(other), truth, states, "native", 1e-9), "quantity")
    assert failures(identities(Reference(other), tree, states, truth, "native"), "identity") == set()


def _changed(tree, change, rng):
    if change == "weight":
        return replace(tree, gravity=tree.gravity * 100)
    bodies = list(tree.bodies)
    index = int(rng.integers(1, len(bodies)))
    if change == "longer":
        T = np.array(bodies[index].joint.T_parent_joint)
        T[:3, 3] *= 100
        bodies[index] = replace(bodies[index], joint=replace(bodies[index].joint, T_parent_joint=T))
    for i in [index] if change == "heavier" else range(1, len(bodies)) if change == "lighter" else []:
        I, factor = bodies[i].inertia, 1000 if change == "heavier" else 1e-6
        I = random_inertia(rng) if I.is_zero else I
        bodies[i] = replace(bodies[i], inertia=Inertia(I.mass * factor, I.com, I.I_com * factor))
    return replace(tree, bodies=tuple(bodies))


def test_inertia_that_the_file_lacks_fails_no_identity(walker):
    """An engine that invents masses for a massless file is held to its own size."""
    tree, _, _ = walker
    empty = replace(tree, bodies=tuple(replace(body, inertia=Inertia()) for body in tree.bodies))
    states = sample(empty, 12)
    truth = truth_of(empty, states)
    assert failures(agreement(Reference(tree), truth, states, "native", 1e-9), "quantity") >= {"tau", "gravity"}
    assert failures(identities(Reference(tree), empty, states, truth, "native"), "identity") == set()


@pytest.mark.parametrize("joint", ["joint2", "joint1", "joint4", "joint5"])
def test_common_dofs_are_compared_when_a_joint_is_lost(walker, joint):
    """A welded hinge, base, planar joint or ball leaves rows for the others, and identities that hold."""
    tree, states, truth = walker
    session = Lost(tree, joint)
    rows = agreement(session, truth, states, "native", 1e-9)
    assert {row.quantity for row in rows} == set(QUANTITIES)
    assert not row_of(rows, "tau").passed
    assert joint not in row_of(rows, "tau").where
    laws = identities(session, tree, states, truth, "native")
    assert failures(laws, "identity") == set()
    assert row_of(laws, "total_momentum").applies == (joint != "joint1")


def test_a_failed_row_names_state_and_place(walker):
    """The worst entry is named: two dofs for M, a dof for tau, a body for poses, nothing for energies."""
    tree, states, truth = walker

    class Planted(Miniature):
        def mass_matrix(self, q):
            M = self.right.mass_matrix(q)
            M[7, 2, 9] += 1e-3
            return M

        def inverse_dynamics(self, q, v, a, wrenches=None, gravity=None):
            tau = self.right.inverse_dynamics(q, v, a, wrenches, gravity)
            tau[5, 4] += 1e-3
            return tau

        def poses(self, q):
            T = self.right.poses(q)
            T[9, 3, 0, 3] += 1e-3
            return T

        def kinetic_energy(self, q, v):
            K = self.right.kinetic_energy(q, v)
            K[4] += 1e-3
            return K

    rows = agreement(Planted(tree), truth, states, "neutral", 1e-9)
    found = {row.quantity: (row.state, row.where) for row in rows if not row.passed}
    assert found == {
        "mass_matrix": (7, f"{tree.dofs[2]}, {tree.dofs[9]}"),
        "tau": (5, tree.dofs[4]),
        "poses": (9, tree.bodies[4].name),
        "kinetic_energy": (4, None),
    }
    assert row_of(rows, "tau").error == pytest.approx(1e-3, rel=1e-9)
    assert row_of(rows, "tau").tolerance == pytest.approx(100 * 2.0**-52 * row_of(rows, "tau").scale)


def test_a_missing_answer_is_an_infinite_error(walker):
    """An exception is told in the note, with no digit and no pass."""
    tree, states, truth = walker
    row = row_of(agreement(Raises(tree), truth, states, "neutral", 1e-9), "acceleration")
    assert (row.error, row.digits, row.passed) == (np.inf, 0.0, False)
    assert "ZeroDivisionError: 24 states are too many" in row.note
    law = row_of(identities(Raises(tree), tree, states, truth, "neutral"), "forward_inverse")
    assert (law.residual, law.passed) == (np.inf, False)
    assert "ZeroDivisionError" in law.note


def test_what_an_engine_refuses_does_not_apply(walker):
    """EngineUnsupported and `lacks` give rows that do not apply and say why."""
    tree, states, truth = walker

    class Modest(Miniature):
        def mass_matrix(self, q):  # noqa: ARG002
            raise EngineUnsupported("no M here")

    session = Modest(tree)
    session.lacks = {"velocities": "no frames here", "load_invariance": "cannot fail by construction"}
    rows = agreement(session, truth, states, "neutral", 1e-9)
    laws = identities(session, tree, states, truth, "neutral")
    assert {r.quantity: r.note for r in rows if not r.applies} == {
        "mass_matrix": "no M here",
        "velocities": "no frames here",
    }
    assert {r.identity: r.note for r in laws if not r.applies} == {
        **dict.fromkeys(["columns", "symmetry", "positive_definite", "kinetic_energy", "passivity"], "no M here"),
        "power_balance": "no frames here",
        "load_invariance": "cannot fail by construction",
    }
    assert all(r.passed for r in (*rows, *laws))


def test_a_robot_without_dofs_has_no_rows_of_dofs():
    """On a fixed base a single body agrees, and only what needs no dof applies."""
    rng = np.random.default_rng(0)
    joint = random_joint(rng, "weld", JointKind.FIXED)
    tree = Tree("stone", (world(), Body("stone", 0, joint, random_inertia(rng))))
    states = sample(tree, 3)
    truth = truth_of(tree, states)
    rows = agreement(Reference(tree), truth, states, "neutral", 1e-9)
    laws = identities(Reference(tree), tree, states, truth, "neutral")
    assert {r.quantity for r in rows} == {
        *("poses", "velocities", "kinetic_energy"),
        "potential_energy",
        "center_of_mass",
    }
    assert not row_of(rows, "center_of_mass").applies
    assert {r.identity for r in laws if r.applies} == {"repeatability", "inputs_unchanged"}
    assert all(r.passed for r in (*rows, *laws))


def test_singular_inertia_is_not_inverted():
    """A joint that moves no inertia: M is judged, what inverts it does not apply."""
    tree = pendulum()
    idle = Body("idle", 1, Joint("idle", JointKind.REVOLUTE), Inertia())
    tree = replace(tree, bodies=(*tree.bodies, idle))
    states = sample(tree, 8)
    truth = truth_of(tree, states)
    rows = agreement(Reference(tree), truth, states, "neutral", 1e-9)
    laws = identities(Reference(tree), tree, states, truth, "neutral")
    note = "M is singular in 8 of 8 states, first in state 0"
    assert {r.quantity: r.note for r in rows if not r.applies} == {"acceleration": note}
    assert {r.identity for r in laws if r.note == note} == {"positive_definite", "forward_inverse"}
    assert all(r.passed for r in (*rows, *laws))


def test_one_singular_state_is_enough():
    """A wrist whose first and third axis coincide at zero: what inverts M does not apply, and the state is named."""
    axes = (np.array([0.0, 0, 1]), np.array([0.0, 1, 0]), np.array([0.0, 0, 1]))
    inertias = (Inertia(), Inertia(), random_inertia(np.random.default_rng(0)))
    links = [
        Body(f"b{i}", i, Joint(f"j{i}", JointKind.CONTINUOUS, axis=axis), inertia)
        for i, (axis, inertia) in enumerate(zip(axes, inertias, strict=True))
    ]
    tree = Tree("wrist", (world(), *links))
    q = np.array([[0.3, 0.7, 0.1], [0.3, 0.0, 0.1], [-0.2, -1.1, 0.4]])
    states = States(q, q, q, q, np.zeros((3, 4, 6)), ("random",) * 3)
    truth = truth_of(tree, states)
    row = row_of(agreement(Reference(tree), truth, states, "neutral", 1e-9), "acceleration")
    assert (row.applies, row.note) == (False, "M is singular in 1 of 3 states, first in state 1")


@pytest.mark.parametrize("seed", range(4))
def test_right_engines_pass_without_gravity(seed):
    """In free fall scales may vanish where derivatives still carry the rounding of energies and momenta."""
    tree = replace(random_tree(np.random.default_rng(seed), 5, floating_root=bool(seed % 2)), gravity=np.zeros(3))
    drawn = sample(tree, 12, seed)
    still = np.zeros_like(drawn.a)
    coasting = States(drawn.q, drawn.v, still, still, 0 * drawn.wrenches, drawn.strata)
    starting = States(drawn.q, still, drawn.a, drawn.tau, drawn.wrenches, drawn.strata)
    for states in (drawn, coasting, starting):
        truth = truth_of(tree, states)
        assert failures(agreement(Reference(tree), truth, states, "neutral", 1e-9), "quantity") == set()
        assert failures(identities(Reference(tree), tree, states, truth, "neutral"), "identity") == set()


def test_a_single_slide_coasting_without_gravity_passes():
    """The only term of dM/dt is zero: rounding of M over the step is all that may be left."""
    joint = Joint("slide", JointKind.PRISMATIC, axis=np.array([1.0, 2, 3]) / np.sqrt(14))
    body = Body("cart", 0, joint, Inertia(3.7, np.array([0.1, 0.2, 0.3]), np.diag([1e-3, 2e-3, 2.5e-3])))
    tree = Tree("cart", (world(), body), gravity=np.zeros(3))
    states = States(np.full((1, 1), 0.7), np.full((1, 1), 1.3), *(np.zeros((1, 1)),) * 2, np.zeros((1, 2, 6)), ("one",))
    truth = truth_of(tree, states)
    assert failures(identities(Reference(tree), tree, states, truth, "neutral"), "identity") == set()


def test_a_light_dof_of_a_heavy_robot_passes():
    """The power of a finger of a milligram is lost in the rounding of the energy of a tonne."""
    arm = Joint("arm", JointKind.REVOLUTE, axis=np.array([1.0, 0, 0]))
    finger = Joint("finger", JointKind.REVOLUTE, axis=np.array([0, 1.0, 0]))
    heavy = Body("boom", 0, arm, Inertia(1e3, np.array([0.1, 0.2, 0.7]), np.eye(3)))
    light = Body("tip", 1, finger, Inertia(1e-6, np.array([0.01, 0, 0]), 1e-9 * np.eye(3)))
    tree = Tree("crane", (world(), heavy, light))
    q, v, a = np.array([[0.3, 0.4]]), np.array([[0.0, 1.1]]), np.array([[0.0, 2.0]])
    states = States(q, v, a, a, np.zeros((1, 3, 6)), ("single",))
    truth = truth_of(tree, states)
    assert failures(identities(Reference(tree), tree, states, truth, "neutral"), "identity") == set()


def test_pivots_tell_singular_from_ill_conditioned():
    """Units and small masses leave M regular; two collinear slides with one small mass between them do not."""
    for mass, regular in ((1e-3, True), (1e-9, True), (1e-14, False)):
        between = Body("between", 0, Joint("one", JointKind.PRISMATIC), Inertia(mass))
        end = Body("end", 1, Joint("two", JointKind.PRISMATIC), Inertia(1.0))
        tree = Tree("slides", (world(), between, end))
        assert truth_of(tree, sample(tree, 2)).regular.all() == regular


def test_above_500_dofs_only_the_linear_part_is_asked():
    """A long chain is judged by its efforts and energies; rows that need M say why they do not apply."""
    rng = np.random.default_rng(4)
    links = [Body(f"b{i}", i - 1, random_joint(rng, f"j{i}", JointKind.REVOLUTE), Inertia(1.0)) for i in range(1, 502)]
    tree = Tree("chain", (world(), *links))
    states = sample(tree, 2)
    truth = truth_of(tree, states)
    rows = agreement(Reference(tree), truth, states, "neutral", 1e-9)
    laws = identities(Reference(tree), tree, states, truth, "neutral")
    assert {r.quantity for r in rows if r.applies} == {"tau", "bias", "gravity", "kinetic_energy", "potential_energy"}
    applied = {r.identity for r in laws if r.applies}
    assert applied == {"affine", "power_balance", "repeatability", "inputs_unchanged"}
    assert all("501" in r.note for r in (*rows, *laws) if not r.applies)
    assert all(r.passed for r in (*rows, *laws))


def slanted_chain(count):
    """Links with hinges about x and y in turn, each placed by a turn that no other undoes."""
    joints = [
        Joint(f"j{i}", JointKind.REVOLUTE, T_parent_joint=SLANTED, axis=np.eye(3)[i % 2], lower=-1.0, upper=1.0)
        for i in range(count)
    ]
    return Tree("chain", (world(), *(Body(f"l{i}", i, joint, SMALL) for i, joint in enumerate(joints))))


def test_rounding_grows_with_the_joints_in_a_row():
    """What is allowed is the same for every robot up to 25 joints in a row, and grows with longer chains only."""
    bushy = Tree("bush", (world(), *(Body(f"l{i}", 0, Joint(f"j{i}", JointKind.REVOLUTE)) for i in range(300))))
    assert rounding(bushy) == rounding(slanted_chain(int(DEEP))) == ROUNDING * EPS
    assert rounding(slanted_chain(300)) == pytest.approx(300 * 4 * EPS)


def test_fixed_links_in_a_row_round_too():
    """A hinge at the end of 1,000 turned mounts, in MuJoCo, whose fused model holds their composite."""
    mounts = [Joint(f"m{i}", JointKind.FIXED, T_parent_joint=SLANTED) for i in range(1000)]
    bodies = [Body(f"l{i}", i, mount, SMALL) for i, mount in enumerate(mounts)]
    hinge = Joint("hinge", JointKind.REVOLUTE, T_parent_joint=SLANTED, axis=np.array([1.0, 0, 0]))
    tree = Tree("mounts", (world(), *bodies, Body("end", 1000, hinge, SMALL)))
    states = sample(tree, 16)
    truth = truth_of(tree, states)
    for session in (Reference(tree), mujoco_.ENGINE.neutral(tree)):
        assert not failures(agreement(session, truth, states, "neutral", 1e-9), "quantity")


@pytest.mark.parametrize("length", [0.1, 3.0, 12.0])
def test_a_light_link_on_a_heavy_boom_passes(length):
    """MuJoCo takes velocities at the COM of the mechanism: the energy of a far light link rounds with that distance."""
    tip = transform(np.eye(3), np.array([length, 0, 0]))
    up, down = Joint("swing", JointKind.REVOLUTE), Joint("finger", JointKind.REVOLUTE, np.eye(3)[1], tip)
    boom = Inertia(300.0, np.array([length / 2, 0, 0]), np.diag([0.1, 25, 25]) * length**2)
    light = Inertia(0.1, np.array([0.03, 0, 0]), np.diag([1e-6, 1e-5, 1e-5]))
    tree = Tree("crane", (world(), Body("boom", 0, up, boom), Body("finger", 1, down, light)))
    for seed in range(8):
        states = sample(tree, 64, seed)
        rows = agreement(mujoco_.ENGINE.neutral(tree), truth_of(tree, states), states, "neutral", 1e-9)
        assert not failures(rows, "quantity")


def test_deep_chains_agree_with_the_truth():
    """In float64 a chain of 3,500 joints keeps the tolerance, and would not keep that of short chains."""
    tree = slanted_chain(3500)
    states = sample(tree, 16)
    rows = agreement(Reference(tree), truth_of(tree, states), states, "neutral", 1e-9)
    assert not failures(rows, "quantity")
    assert max(row.error / row.tolerance for row in rows if row.applies) * rounding(tree) > ROUNDING * EPS


def test_a_scale_of_nothing_passes_only_the_last_numbers_of_a_double():
    """Without gravity, at rest, tau is exactly zero; a number that a double holds with all its digits fails."""
    tree = replace(pendulum(), gravity=np.zeros(3))
    states = States(*(np.zeros((1, 1)),) * 4, np.zeros((1, 2, 6)), ("zero",))
    truth = truth_of(tree, states)

    class Tiny(Miniature):
        def bias(self, q, v, gravity=None):
            return self.right.bias(q, v, gravity) + 1e-300

    assert failures(agreement(Reference(tree), truth, states, "native", 1e-9), "quantity") == set()
    row = row_of(agreement(Tiny(tree), truth, states, "native", 1e-9), "bias")
    assert (row.passed, row.digits) == (False, 0.0)
    assert 0 < row.scale < 100 * LEAST


def test_inputs_of_the_caller_are_never_reached(walker):
    """Whatever an engine does with its arguments, the frozen states keep their hash."""
    tree, states, truth = walker

    class Vandal(Miniature):
        def bias(self, q, v, gravity=None):
            answer = self.right.bias(q, v, gravity)
            q[:], v[:] = np.nan, np.nan
            return answer

    before = states.sha256
    agreement(Vandal(tree), truth, states, "neutral", 1e-9)
    row = row_of(identities(Vandal(tree), tree, states, truth, "neutral"), "inputs_unchanged")
    assert (row.residual, row.passed, row.where) == (np.inf, False, "bias(q)")
    assert states.sha256 == before


def test_the_table_of_tolerances_covers_every_row():
    """Every quantity and identity is judged by one line of the table, and every line has its reason."""
    judged = [row for line in TABLE for row in line.rows]
    assert set(judged) == {*QUANTITIES, *IDENTITIES}
    twice = {row for row in judged if judged.count(row) > 1}
    assert twice == {"kinetic_energy"}  # it is a quantity and an identity
    assert all(getattr(line, field.name) for line in TABLE for field in fields(line) if field.name != "rows")
    assert tuple(CHECKS) == IDENTITIES
