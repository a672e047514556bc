"""Constrained forward dynamics: two routes, Pinocchio's, MuJoCo's soft ones, redundant rows, refusals, drift."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from constrained_robots import assembled_crank, closed_four_bar, looped
from numpy.testing import assert_allclose

import tautology
from tautology.adapters import pinocchio_
from tautology.adapters.reference import Reference
from tautology.adapters.textbook import assembly, simulate
from tautology.adapters.textbook.constrained import (
    Baumgarte,
    Inconsistent,
    constrained_dynamics,
    constraint_matrix,
)
from tautology.adapters.textbook.constraints import rows_of
from tautology.harness.errors import RequestError
from tautology.harness.joint import JointKind
from tautology.harness.spatial import inverse, rotation_from_quaternion, transform
from tautology.harness.tree import Body, Closure, Inertia, Joint, Tree, world

LOOPS = [(seed, kind, floating) for seed in range(4) for kind in ("connect", "weld") for floating in (True, False)]


def by_pinocchio(tree, q, v, tau):
    """Return the acceleration (nv,) of `pin.constraintDynamics` for the one closure of a tree, and its force (6,)."""
    session = pinocchio_.ENGINE.neutral(replace(tree, closures=()))
    model, joints = session.model, {i: slot.joint for i, slot in session._pairs}
    x, y, f = session._map.q(q)[0], session._map.v(v)[0], session._map.v(tau)[0]
    pin.forwardKinematics(model, session.data, x)
    Ts = Reference(tree).all_poses(q)[0]

    def placed(body: int, T: np.ndarray):
        """Return a Pinocchio joint, and where a frame of a tree body stands in it."""
        i = tree.fusion.holder[body]
        j = joints.get(i, 0)
        return j, pin.SE3(inverse(session.data.oMi[j].homogeneous) @ Ts[body] @ T)

    closure = tree.closures[0]
    one, two = (tree.index[name] if name else 0 for name in closure.between)
    numbers = np.array(closure.numbers)
    if closure.kind == "connect":
        ends = (transform(np.eye(3), numbers[:3]), transform(np.eye(3), numbers[3:6]))
    else:
        ends = (transform(rotation_from_quaternion(numbers[6:10]), numbers[3:6]), transform(np.eye(3), numbers[:3]))
    kind = pin.ContactType.CONTACT_3D if closure.kind == "connect" else pin.ContactType.CONTACT_6D
    constraint = pin.RigidConstraintModel(kind, model, *placed(one, ends[0]), *placed(two, ends[1]), pin.LOCAL)
    data, contact = model.createData(), constraint.createData()
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    models.append(constraint)
    datas.append(contact)
    pin.initConstraintDynamics(model, data, models, datas)
    a = pin.constraintDynamics(model, data, x, y, f, models, datas, pin.ProximalSettings(1e-14, 0.0, 1))
    return a[session._map.v_to], (Ts[one] @ ends[0])[:3, :3] @ np.array(datas[0].contact_force.linear)


@pytest.mark.parametrize(("seed", "kind", "floating"), LOOPS)
def test_both_routes_are_pinocchio(seed, kind, floating) -> None:
    """KKT, constraint space and `pin.constraintDynamics` give one acceleration, and one force at the point."""
    tree, q, v, tau = looped(seed, kind, floating=floating)
    space = constrained_dynamics(tree, q, v, tau)
    kkt = constrained_dynamics(tree, q, v, tau, route="KKT")
    size = np.abs(space.a).max() + 1
    assert space.rank[0] == len(space.rows.names), "the draw is meant to have independent rows"
    assert_allclose(kkt.a, space.a, rtol=0, atol=1e-11 * size)
    assert_allclose(kkt.reactions, space.reactions, rtol=0, atol=1e-11 * np.abs(space.reactions).max())
    a, force = by_pinocchio(tree, q, v, tau)
    assert_allclose(a, space.a[0], rtol=0, atol=1e-11 * size)
    assert_allclose(force, space.reactions[0, :3], rtol=0, atol=1e-10 * np.abs(force).max())
    assert np.abs(space.rows.acceleration(space.a)).max() < 1e-10 * size


@pytest.mark.parametrize("seed", range(4))
def test_the_equations_hold_and_reactions_do_no_work(seed) -> None:
    """ID(q, v, a) = tau + J^T lambda with reference inverse dynamics; lambda . J v = 0; dE/dt = tau . v."""
    tree, q, v, tau = looped(seed, "weld")
    found = constrained_dynamics(tree, q, v, tau)
    reference = Reference(tree)
    needed = reference.inverse_dynamics(q, v, found.a)
    assert_allclose(needed, tau + found.rows.forces(found.reactions), atol=1e-11 * np.abs(needed).max())
    assert np.abs(found.power(v)).max() < 1e-10 * np.abs(found.reactions).max()


# --- Redundant rows ---------------------------------------------------------------------------------------------------
TURNS = {
    "in the xy-plane": None,
    "turned": transform(rotation_from_quaternion(np.array([0.8, 0.3, -0.4, 0.2])), np.ones(3)),
}


@pytest.mark.parametrize("turned", TURNS)
@pytest.mark.parametrize("route", ["constraint space", "KKT"])
def test_redundant_rows_leave_the_acceleration_and_not_the_reactions(route, turned) -> None:
    """A second pin on the axis of the first changes no acceleration; every in-plane reaction loses its one value."""
    one, q = closed_four_bar("connect", TURNS[turned])
    two, _ = closed_four_bar("two pins", TURNS[turned])
    v = assembly.consistent_velocity(one, q, np.array([[2.0, 0, 0]]))
    v *= 2 / v[0, 0]
    tau = np.array([[3.0, 0, 0]])
    single, double = (constrained_dynamics(tree, q, v, tau, route=route) for tree in (one, two))
    assert (single.rank, double.rank) == (np.array([2]), np.array([2]))
    assert len(single.rows.names) == 3
    assert_allclose(single.a, double.a, atol=1e-10)
    assert_allclose(single.rows.forces(single.reactions), double.rows.forces(double.reactions), atol=1e-10)
    W = constraint_matrix(Reference(two).mass_matrix(q), double.rows.J)[0]
    assert np.linalg.matrix_rank(W, tol=1e-10 * np.abs(W).max()) == 2
    assert not double.unique.any()
    if turned == "in the xy-plane":  # the row out of the plane moves nothing: its reaction is open, the others are not
        assert single.unique.tolist() == [[True, True, False]]
        assert_allclose(double.reactions[0, :2] + double.reactions[0, 3:5], single.reactions[0, :2], atol=1e-9)
        assert_allclose(single.reactions[0, 2], 0, atol=1e-12)


def test_the_four_bar_moves_as_its_one_coordinate_does() -> None:
    """The loop reduced by hand, from geometry and differences, has the same acceleration."""
    tree, q = closed_four_bar()
    h, rate = 1e-3, 2.0
    path = [assembled_crank(1 + k * h)[0] for k in (-2, -1, 0, 1, 2)]
    first = (path[0] - 8 * path[1] + 8 * path[3] - path[4]) / (12 * h)
    second = (-path[0] + 16 * path[1] - 30 * path[2] + 16 * path[3] - path[4]) / (12 * h * h)
    v, tau = (rate * first)[None], np.array([[3.0, -1, 2]])
    reference = Reference(tree)
    M, bias = reference.mass_matrix(q)[0], reference.inverse_dynamics(q, v, (rate**2 * second)[None])[0]
    crank = first @ (tau[0] - bias) / (first @ M @ first)
    found = constrained_dynamics(tree, q, v, tau)
    assert_allclose(found.a[0], first * crank + second * rate**2, rtol=2e-8)


# --- Inconsistent states ----------------------------------------------------------------------------------------------
def test_inconsistent_states_are_refused_with_their_residual() -> None:
    """Positions and velocities off the constraint are named with row and size; a drifted state needs to be allowed."""
    tree, q = closed_four_bar()
    rest = np.zeros((1, 3))
    with pytest.raises(Inconsistent, match=r"the position of state 0 .* 'pin\.[xy]' is off by") as off:
        constrained_dynamics(tree, q + np.array([[0, 1e-3, 0]]), rest, rest)
    assert off.value.what == "position"
    assert_allclose(off.value.residual, rows_of(tree, q + np.array([[0, 1e-3, 0]]), rest).position)
    with pytest.raises(Inconsistent, match="the velocity of state 0") as off:
        constrained_dynamics(tree, q, np.array([[1.0, 0, 0]]), rest)
    assert_allclose(off.value.residual, rows_of(tree, q, rest).velocity(np.array([[1.0, 0, 0]])))
    with pytest.raises(Inconsistent, match="position"):  # gains stabilise, they do not justify
        constrained_dynamics(tree, q + np.array([[0, 1e-3, 0]]), rest, rest, stabilisation=Baumgarte.of_time(0.1))
    constrained_dynamics(tree, q + np.array([[0, 1e-3, 0]]), rest, rest, tolerance=np.inf)


def test_rows_that_contradict_each_other_are_refused() -> None:
    """A joint that is to follow two laws has a residual that no acceleration removes."""
    tree, q = closed_four_bar()
    law = Closure("joint", "law", ("crank_joint", ""), (1.0,))
    tree = assembly.with_closures(tree, [law])
    rest = np.zeros((1, 3))
    assert_allclose(constrained_dynamics(tree, q, rest, rest).a, 0, atol=1e-12)
    support = (np.zeros((1, 4)), np.array([[0, 0, 1.0, 0]]))  # the pin is to leave the plane
    with pytest.raises(Inconsistent, match=r"the acceleration of state 0 .* 'pin\.z' is off by"):
        constrained_dynamics(tree, q, rest, rest, support=support)


def test_a_moving_support_does_work() -> None:
    """A crank that is driven by law at 2 rad/s and 0.5 rad/s^2 gets the power of its reaction; the energy shows it."""
    tree, q = closed_four_bar()
    tree = assembly.with_closures(tree, [Closure("joint", "motor", ("crank_joint", ""), (1.0,))])
    speed, acceleration = np.array([[0, 0, 0, 2.0]]), np.array([[0, 0, 0, 0.5]])
    J = rows_of(tree, q, np.zeros((1, 3))).J
    v = (np.linalg.pinv(J) @ speed[..., None])[..., 0]
    rest = np.zeros((1, 3))
    found = constrained_dynamics(tree, q, v, rest, support=(speed, acceleration))
    assert_allclose(found.a[0, 0], 0.5)
    reference = Reference(tree)
    M = reference.mass_matrix(q)
    rate = (v * reference.inverse_dynamics(q, v, found.a)).sum(-1)  # dE/dt = v . ID, gravity included
    assert_allclose(found.power(v), rate)
    assert abs(found.power(v)[0]) > 1
    assert M.shape == (1, 3, 3)


# --- Mimic ------------------------------------------------------------------------------------------------------------
CHAIN = """<robot name="fingers"><link name="l0"/>{}</robot>"""
LINK = """<link name="l{0}"><inertial><origin xyz="0.1 0.0{0} 0.02"/><mass value="0.{0}"/>
<inertia ixx="0.001" ixy="0.0001" ixz="0" iyy="0.002" iyz="0" izz="0.0015"/></inertial></link>
<joint name="j{0}" type="revolute"><parent link="l{1}"/><child link="l{0}"/><origin xyz="0.2 0 0.05" rpy="0.3 0 0.2"/>
<axis xyz="0 0.6 0.8"/><limit lower="-3" upper="3" effort="1" velocity="1"/>{2}</joint>"""


def test_nested_mimics_are_one_coordinate(tmp_path) -> None:
    """j3 = -2 j2 + 0.1 and j2 = 0.5 j1 - 0.3: the constrained acceleration is that of M and bias reduced by G."""
    mimics = (
        "",
        '<mimic joint="j1" multiplier="0.5" offset="-0.3"/>',
        '<mimic joint="j2" multiplier="-2" offset="0.1"/>',
    )
    file = tmp_path / "fingers.urdf"
    file.write_text(CHAIN.format("".join(LINK.format(k + 1, k, mimic) for k, mimic in enumerate(mimics))))
    tree = tautology.load(file)
    G = np.array([1, 0.5, -1.0])
    q = np.array([[0.7, 0.05, 0.0]])
    v, tau = 1.7 * G[None], np.array([[0.3, -0.2, 0.5]])
    assert_allclose(rows_of(tree, q, v).position, 0, atol=1e-16)
    found = constrained_dynamics(tree, q, v, tau)
    reference = Reference(tree)
    reduced = G @ (tau - reference.bias(q, v))[0] / (G @ reference.mass_matrix(q)[0] @ G)
    assert_allclose(found.a[0], reduced * G, rtol=1e-12)
    circular = assembly.with_closures(tree, [Closure("mimic", "back", ("j1", "j3"), (0.7, -1.0))])
    again = constrained_dynamics(circular, q, v, tau)  # j1 = 0.7 - j3 says once more what the two say
    assert (again.rank[0], again.unique.any()) == (2, False)
    assert_allclose(again.a, found.a, rtol=1e-10)


def test_kkt_needs_inertia_only_where_it_is_free() -> None:
    """A massless slider that mimics a heavy one: M is singular, its constrained motion is not."""
    heavy, light = (Joint(name, JointKind.PRISMATIC) for name in ("heavy", "light"))
    tree = Tree("two", (world(), Body("a", 0, heavy, Inertia(2.0)), Body("b", 0, light)))
    zero = np.zeros((1, 2))
    with pytest.raises(RequestError, match="is open"):
        constrained_dynamics(tree, zero, zero, zero, route="KKT")
    tree = assembly.with_closures(tree, [Closure("mimic", "light", ("light", "heavy"), (0.0, 3.0))])
    found = constrained_dynamics(tree, zero, zero, np.array([[0.0, 5.0]]), route="KKT")
    assert_allclose(found.a, [[-9.81 + 7.5, 3 * (-9.81 + 7.5)]])
    with pytest.raises(RequestError, match="not positive definite"):
        constrained_dynamics(tree, zero, zero, zero)
    with pytest.raises(RequestError, match="route 'direct' is unknown; known are constraint space, KKT"):
        constrained_dynamics(tree, zero, zero, zero, route="direct")
    with pytest.raises(RequestError, match="must be positive"):
        Baumgarte.of_time(0.0)


# --- Drift ------------------------------------------------------------------------------------------------------------
def swung(step: float, stabilisation: Baumgarte | None = None, seconds: float = 2.0):
    """Return the position residual (K + 1,) [m] and the energy drift [J] of a four-bar that falls from rest."""
    tree, q = closed_four_bar()

    def acceleration(q, v, tau):
        return constrained_dynamics(tree, q, v, tau, stabilisation=stabilisation, tolerance=np.inf).a

    mechanism = replace(simulate.of_tree(tree), acceleration=acceleration)
    path = simulate.simulate(mechanism, q, np.zeros((1, 3)), step, round(seconds / step))
    rest = np.zeros((len(path.t), 3))
    return np.abs(rows_of(tree, path.q[:, 0], rest).position).max(-1), np.abs(path.drift()).max()


def test_drift_falls_with_the_fourth_power_of_the_step() -> None:
    """Nothing brings an acceleration constraint back: the residual grows in time and with step^4, as the energy."""
    coarse, fine = swung(0.02), swung(0.01)
    assert coarse[0][-1] > 3 * coarse[0][len(coarse[0]) // 4] > 0
    assert 3.5 < np.log2(coarse[0].max() / fine[0].max()) < 5.5
    assert 3.5 < np.log2(coarse[1] / fine[1]) < 5.5


def test_stabilisation_holds_the_drift_down() -> None:
    """Baumgarte's gains keep the residual small; too fast ones for the step make the integration fail or worse."""
    free, held = swung(0.02)[0], swung(0.02, Baumgarte.of_time(0.1))[0]
    assert held[-20:].max() < free[-20:].max() / 10


# --- MuJoCo's soft constraints ----------------------------------------------------------------------------------------
SOFT = """<mujoco><option gravity="0 -9.81 0"/><worldbody>
<body name="crank"><joint name="q1" axis="0 0 1"/><inertial pos=".15 0 0" mass=".6" diaginertia=".001 .0045 .0045"/>
 <body name="coupler" pos=".3 0 0"><joint name="q2" axis="0 0 1"/>
  <inertial pos=".4 0 0" mass="1.6" diaginertia=".02 .085 .085"/><site name="one" pos=".8 0 0"/></body></body>
<body name="rocker" pos=".7 0 0"><joint name="q3" axis="0 0 1"/>
 <inertial pos=".3 0 0" mass="1.2" diaginertia=".01 .036 .036"/><site name="two" pos=".6 0 0"/></body></worldbody>
<equality>{}</equality></mujoco>"""
PIN = '<connect name="pin" site1="one" site2="two" {}/>'
GEAR = '<joint name="gear" joint1="q3" joint2="q1" polycoef="{} .4 .2 0 0" {}/>'
TAU = np.array([[3.0, 0, 0]])


def softly(tmp_path, kind: str, time_constant: float, impedance: float, off: float = 0.0):
    """Return tree, q, v, and of MuJoCo its acceleration (1, nv), regularisation and reference acceleration (m,)."""
    numbers = f'solref="{time_constant} 1" solimp="{impedance} {impedance} 0.001"'
    q = closed_four_bar()[1] + np.array([[0, off, 0]])
    gear = GEAR.format(q[0, 2] - 0.4 * q[0, 0] - 0.2 * q[0, 0] ** 2, numbers)
    file = tmp_path / "soft.xml"
    file.write_text(SOFT.format(PIN.format(numbers) if kind == "pin" else gear))
    tree, model = tautology.load(file), mujoco.MjModel.from_xml_path(str(file))
    v = assembly.consistent_velocity(tree, q, np.array([[2.0, 0, 0]]))
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q[0], v[0], TAU[0]
    mujoco.mj_forward(model, data)
    return tree, q, v, np.array([data.qacc]), np.array(data.efc_R), np.array(data.efc_aref)


@pytest.mark.parametrize("kind", ["pin", "gear"])
@pytest.mark.parametrize("off", [0.0, 0.01])
def test_with_its_compliance_and_reference_it_is_mujoco(kind, off, tmp_path) -> None:
    """With R and the reference acceleration that MuJoCo made of solref and solimp, both are one."""
    tree, q, v, a, R, aref = softly(tmp_path, kind, 0.02, 0.95, off)
    bias = rows_of(tree, q, v).bias
    support = (np.zeros_like(bias), aref + bias)
    found = constrained_dynamics(tree, q, v, TAU, compliance=R, support=support, tolerance=np.inf)
    assert_allclose(found.a, a, atol=1e-11)


@pytest.mark.parametrize("kind", ["pin", "gear"])
def test_where_the_constraint_holds_solimp_alone_makes_the_difference(kind, tmp_path) -> None:
    """The distance to the rigid acceleration is (1 - d) / d times one number, for any time constant of solref.

    MuJoCo 4.0 counts Jdot v of a connect, and leaves it out for the polynomial of joints: there J a = 0 is its limit.
    """
    apart = {}
    for time_constant in (0.005, 0.02, 0.1, 0.5):
        for d in (0.9, 0.99, 0.999, 0.9999):
            tree, q, v, a, _, _ = softly(tmp_path, kind, time_constant, d)
            bias = rows_of(tree, q, v).bias
            asked = bias if kind == "gear" else np.zeros_like(bias)
            rigid = constrained_dynamics(tree, q, v, TAU, support=(np.zeros_like(bias), asked))
            apart[time_constant, d] = np.abs(a - rigid.a).max()
        assert_allclose(apart[time_constant, 0.99], apart[0.005, 0.99], rtol=1e-6)
    assert 5 < apart[0.02, 0.99] / apart[0.02, 0.999] < 11
    assert 9.9 < apart[0.02, 0.999] / apart[0.02, 0.9999] < 10.1


def test_where_it_has_drifted_solref_is_baumgarte(tmp_path) -> None:
    """Off by 0.01 rad, MuJoCo is a rigid row with the gains d / (d T)^2 and 2 / (d T), less the share that gives way.

    One row: (W + R) lambda = gamma - J a_free, so that lambda is W / (W + R) of the rigid one, and
    a - a_free = W / (W + R) (a_rigid - a_free). Without the gains the rigid row is 1 / T^2 apart.
    """
    plain, d = [], 0.9999
    for time_constant in (0.005, 0.02, 0.1, 0.5):
        tree, q, v, *_ = softly(tmp_path, "gear", time_constant, d)
        tree = replace(
            tree, closures=(replace(tree.closures[0], numbers=(tree.closures[0].numbers[0] - 0.01, 0.4, 0.2)),)
        )
        gains = Baumgarte.of_time(d * time_constant)
        gains = replace(gains, position_gain=d * gains.position_gain)
        rows = rows_of(tree, q, v)
        # Without Jdot v, as MuJoCo here.
        plainly = {"support": (np.zeros_like(rows.bias), rows.bias), "tolerance": np.inf}
        pulled = constrained_dynamics(tree, q, v, TAU, stabilisation=gains, **plainly)
        rigid = constrained_dynamics(tree, q, v, TAU, **plainly)
        plain.append(np.abs(pulled.a - rigid.a).max() * time_constant**2)
        a, R = drifted(time_constant, d, q, v, tree.closures[0].numbers)
        reference = Reference(tree)
        W, free = constraint_matrix(reference.mass_matrix(q), rows.J), reference.forward_dynamics(q, v, TAU)
        share = R / (W[0, 0, 0] + R)
        assert 1e-5 < share < 1e-3
        assert_allclose(a, pulled.a - share * (pulled.a - free), rtol=0, atol=1e-11 * np.abs(pulled.a).max())
    assert_allclose(plain, plain[0], rtol=1e-12)


def drifted(time_constant: float, impedance: float, q, v, numbers) -> tuple[np.ndarray, float]:
    """Return MuJoCo's acceleration of the gear with another first coefficient, and the regularisation R of its row."""
    solver = f'solref="{time_constant} 1" solimp="{impedance} {impedance} 0.001"'
    model = mujoco.MjModel.from_xml_string(SOFT.format(GEAR.format(numbers[0], solver)))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_REFSAFE
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q[0], v[0], TAU[0]
    mujoco.mj_forward(model, data)
    return np.array([data.qacc]), float(data.efc_R[0])
