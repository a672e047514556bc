"""Contacts that push and slip: complementarity, Coulomb's law, the polyhedral cone of an engine, Painleve's rod."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tautology.adapters.reference import Reference
from tautology.adapters.textbook import assembly, floating
from tautology.adapters.textbook.constrained import constrained_dynamics
from tautology.adapters.textbook.contact import Contact, Law, land
from tautology.adapters.textbook.unilateral import modes
from tautology.harness.errors import RequestError
from tautology.harness.joint import JointKind
from tautology.harness.tree import Body, Inertia, Joint, Tree, world

UP, AHEAD = np.array([0, 0, 1.0]), np.array([1.0, 0, 0])
G = 9.81


def block(mass: float = 2.0, slope: float = 0.0) -> Tree:
    """Return a block that slides along x and z of a plane, gravity tilted by the angle of the plane."""
    slider = Joint("x", JointKind.PRISMATIC, axis=AHEAD)
    held = Body("slider", 0, slider)
    lifted = Body("block", 1, Joint("z", JointKind.PRISMATIC, axis=UP), Inertia(mass))
    return Tree("block", (world(), held, lifted), gravity=G * np.array([np.sin(slope), 0, -np.cos(slope)]))


FLOOR = Contact("block", np.zeros(3), UP, np.zeros(3))


# --- Complementarity --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("lift", [-5.0, 0.0, 19.0, 19.62, 25.0])
def test_force_and_normal_acceleration_complement_each_other(lift: float) -> None:
    """A block of 2 kg that is lifted: it presses with m g - F, or it parts with F / m - g, and never both."""
    (found,) = modes(block(), [FLOOR], np.zeros(2), np.zeros(2), np.array([0, lift]))
    assert_allclose(found.forces, [max(0.0, 2 * G - lift)], atol=1e-12)
    assert_allclose(found.parting, [max(0.0, lift / 2 - G)], atol=1e-12)
    assert_allclose(found.a[1], found.parting[0], atol=1e-12)
    assert found.forces[0] * found.parting[0] == 0


def test_what_is_apart_carries_nothing_and_what_approaches_is_refused() -> None:
    """An open gap and a parting contact have no force; the rule of accelerations says nothing of an impact."""
    push = np.array([0, -3.0])
    for q, v in ((np.array([0, 0.1]), np.zeros(2)), (np.zeros(2), np.array([0, 0.5]))):
        (found,) = modes(block(), [FLOOR], q, v, push)
        assert (found.pushing, found.forces[0], found.parting[0]) == ((), 0, np.inf)
        assert_allclose(found.a, [0, -G - 1.5])
    for q, v in ((np.zeros(2), np.array([0, -0.5])), (np.array([0, -0.1]), np.zeros(2))):
        with pytest.raises(RequestError, match="an approaching contact needs a law of impact"):
            modes(block(), [FLOOR], q, v, push)
    with pytest.raises(RequestError, match="11 contacts at once"):
        modes(block(), [FLOOR] * 11, np.zeros(2), np.zeros(2), push)


def test_of_two_feet_one_may_part() -> None:
    """A plate on two points, pushed down beyond one of them, tips over it: the other parts; inside, both push."""
    inertia = Inertia(3.0, np.zeros(3), np.diag([0.1, 0.4, 0.4]))
    bodies = (Body("plate_z", 0, Joint("z", JointKind.PRISMATIC, axis=UP)),)
    plate = Body("plate", 1, Joint("tilt", JointKind.REVOLUTE, axis=np.array([0, 1.0, 0])), inertia)
    tree = Tree("plate", (world(), *bodies, plate))
    feet = [Contact("plate", np.array([x, 0, 0]), UP, np.zeros(3)) for x in (-0.5, 0.5)]
    pushed = 40.0
    for at, pushing in ((0.2, (0, 1)), (1.4, (1,))):
        tau = np.array([-pushed, pushed * at])  # a turn about y lowers what is ahead
        (found,) = modes(tree, feet, np.zeros(2), np.zeros(2), tau)
        assert found.pushing == pushing
        assert ((found.forces > 0) == (found.parting == 0)).all()
        if pushing == (0, 1):
            assert_allclose(found.forces.sum(), 3 * G + pushed)
            assert_allclose(found.forces[1] - found.forces[0], pushed * at / 0.5)
        else:
            # About the foot ahead: weight behind it, the push before it.
            turning = (pushed * (at - 0.5) - 3 * G * 0.5) / (0.4 + 3 * 0.25)
            assert_allclose(found.a, [0.5 * turning, turning])


def test_a_compliant_contact_comes_to_rest_with_the_rigid_force() -> None:
    """With a damper, the block settles where the spring carries what the rigid contact carries."""
    pushed = np.array([0, 4.0])
    (rigid,) = modes(block(), [FLOOR], np.zeros(2), np.zeros(2), pushed)
    path = land(block(), [FLOOR], Law(5e3, 150.0), np.zeros(2), np.zeros(2), 2e-3, 250, drive=lambda *_: pushed)
    assert_allclose(path.forces[-1], rigid.forces, rtol=1e-6)


def test_a_foot_that_is_welded_may_be_pulled_and_a_contact_may_not() -> None:
    """A crouching humanoid that pulls its trunk down with its knee: the weld of its foot holds on, as no floor does."""
    humanoid = floating.humanoid()
    q = np.array(humanoid.neutral)
    for side in ("left", "right"):
        for name, angle in (("thigh", -0.6), ("shin", 1.2), ("ankle", -0.6)):
            q[humanoid.q_slices[humanoid.index[f"{side}_{name}"]]] = angle
    weld = assembly.welded(humanoid, q, "left_foot", "left_foot", "")
    tree = assembly.with_closures(humanoid, [weld])
    reference = Reference(tree)
    rest = np.zeros((1, 30))
    tau = np.zeros((1, 30))
    knee = tree.v_slices[tree.index["left_shin"]]
    pushes = []
    for torque in (-400.0, 0.0, 400.0):
        tau[0, knee] = torque
        held = constrained_dynamics(tree, q[None], rest, tau)
        # The weld carries what the whole momentum needs beyond the weight.
        needed = floating.momentum_rate(tree, q[None], rest, held.a)[0, 5] + reference.tree.moving_mass * G
        row = next(k for k, name in enumerate(held.rows.names) if name.endswith(".z"))
        assert_allclose(np.abs(held.reactions[0, row]), np.abs(needed), rtol=1e-8)
        pushes.append(needed)
    assert min(pushes) < 0 < max(pushes)


# --- Coulomb's law ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("speed", [0.7, -0.2])
def test_slip_is_braked_by_mu_times_the_normal_force(speed: float) -> None:
    """On a plane of 20 degrees: a = g (sin - sgn(v) mu cos), lambda_t = -mu lambda_n v / |v|."""
    slope, mu = np.radians(20.0), 0.3
    (found,) = modes(block(2.0, slope), [FLOOR], np.zeros(2), np.array([speed, 0]), np.zeros(2), mu)
    normal = 2 * G * np.cos(slope)
    assert_allclose(found.forces, [normal])
    assert_allclose(found.friction[0], [-mu * normal * np.sign(speed), 0, 0], atol=1e-12)
    assert_allclose(found.a[0], G * (np.sin(slope) - np.sign(speed) * mu * np.cos(slope)))


def test_what_sticks_is_held_by_less_than_the_cone_allows_and_the_law_gives_no_direction() -> None:
    """Held points need tan(slope) of the normal force, whatever mu is; at rest the law of slip is refused."""
    slope = np.radians(20.0)
    tree = block(2.0, slope)
    held = assembly.with_closures(tree, [assembly.connected(tree, np.zeros(2), "contact", "block", "", np.zeros(3))])
    found = constrained_dynamics(held, np.zeros((1, 2)), np.zeros((1, 2)), np.zeros((1, 2)))
    assert_allclose(found.a, 0, atol=1e-12)
    tangential, normal = found.reactions[0, 0], found.reactions[0, 2]
    assert_allclose(abs(tangential / normal), np.tan(slope))
    for mu, sticks in ((0.3, False), (0.5, True)):
        assert (abs(tangential) <= mu * abs(normal)) == sticks
    with pytest.raises(RequestError, match="sticks: Coulomb's law gives no direction of slip"):
        modes(tree, [FLOOR], np.zeros(2), np.zeros(2), np.zeros(2), 0.3)


def test_a_polyhedral_cone_is_another_law() -> None:
    """MuJoCo on its two cones: pulled along the diagonal by 0.85 mu N a body sticks on one, and slides on the other."""
    mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo: pip install 'tautology[mujoco]'")
    mu, ahead = 0.5, {}
    for cone in ("elliptic", "pyramidal"):
        text = f"""<mujoco><option cone="{cone}" timestep="0.001" impratio="100"/><worldbody>
        <geom type="plane" size="5 5 .1" condim="3" friction="{mu} 0 0"/>
        <body pos="0 0 .1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
        <joint type="slide" axis="0 0 1"/><geom type="sphere" size=".1" mass="1" condim="3" friction="{mu} 0 0"/>
        </body></worldbody></mujoco>"""
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)
        for direction, angle in (("axis", 0.0), ("diagonal", np.pi / 4)):
            mujoco.mj_resetData(model, data)
            for _ in range(300):
                data.qfrc_applied[:2] = 0.85 * mu * G * np.array([np.cos(angle), np.sin(angle)])
                mujoco.mj_step(model, data)
            ahead[cone, direction] = np.hypot(*data.qvel[:2]) / (300 * model.opt.timestep)
    # |f_x| + |f_y| <= mu N on the pyramid: along the diagonal it holds mu N / sqrt(2) alone.
    assert max(ahead["elliptic", "axis"], ahead["elliptic", "diagonal"], ahead["pyramidal", "axis"]) < 0.05
    assert_allclose(ahead["pyramidal", "diagonal"], mu * G * (0.85 - np.sqrt(0.5)), rtol=0.1)


def test_rigid_friction_may_have_no_motion_or_two() -> None:
    """Painleve's rod: where 1 + 3 cos (cos - mu sin) < 0, a slow rod has no motion, a fast one two."""
    m, half, theta, mu = 1.2, 0.5, np.arctan(2.0), 1.6
    slide = (
        Body("x", 0, Joint("x", JointKind.PRISMATIC, axis=AHEAD)),
        Body("z", 1, Joint("z", JointKind.PRISMATIC, axis=UP)),
    )
    inertia = Inertia(m, np.zeros(3), np.diag([1e-3, m * half**2 / 3, m * half**2 / 3]))
    rod = Body("rod", 2, Joint("tilt", JointKind.REVOLUTE, axis=np.array([0, -1.0, 0])), inertia)
    tree = Tree("rod", (world(), *slide, rod))
    c, s = np.cos(theta), np.sin(theta)
    tip = Contact("rod", np.array([-half, 0, 0]), UP, np.zeros(3))

    def state(spin: float, slip: float) -> tuple[np.ndarray, np.ndarray]:
        q = np.array([0, half * s, theta])
        return q, np.array([slip - half * s * spin, half * c * spin, spin])

    def b(spin: float) -> float:
        return half * s * spin**2 - G

    # What a force at the tip makes of the acceleration of the tip: negative, where friction turns the rod down.
    assert (1 + 3 * c * c - 3 * mu * c * s) / m < 0
    counts = {}
    for name, spin in (("slow", 0.0), ("fast", 8.0)):
        for slip in (-1.0, 1.0):
            found = modes(tree, [tip], *state(spin, slip), np.zeros(3), mu)
            counts[name, slip] = len(found)
            for mode in found:
                towards = (1 + 3 * c * c + np.sign(slip) * 3 * mu * c * s) / m
                assert_allclose(mode.parting[0], towards * mode.forces[0] + b(spin), atol=1e-9)
    assert b(8.0) > 0 > b(0.0)
    assert counts == {("slow", -1.0): 0, ("fast", -1.0): 2, ("slow", 1.0): 1, ("fast", 1.0): 1}
    # With less friction every state has one motion.
    for spin, slip in ((0.0, 1.0), (8.0, -1.0), (0.0, -1.0)):
        assert len(modes(tree, [tip], *state(spin, slip), np.zeros(3), 0.5)) == 1


def test_an_open_branch_does_not_feel_a_contact_of_another() -> None:
    """Contacts on one of two blocks leave the other in free fall."""
    one = block()
    second = [
        replace(b, name=f"other_{b.name}", joint=replace(b.joint, name=f"other_{b.joint.name}")) for b in one.bodies[1:]
    ]
    second = [replace(b, parent=b.parent + 2 if b.parent else 0) for b in second]
    both = replace(one, bodies=(*one.bodies, *second))
    (found,) = modes(both, [FLOOR], np.zeros(4), np.zeros(4), np.zeros(4))
    assert_allclose(found.a, [0, 0, 0, -G], atol=1e-12)
