"""The closed forms give the printed numbers, and every bundled model gives them in the engines too."""

import importlib
import xml.etree.ElementTree as ET

import closed_forms as cf
import numpy as np
import pytest
from numpy.testing import assert_allclose

from tautology import models

CATALOGUE = models.catalogue()["model"]
PLANAR = {
    "three links": cf.THREE_LINKS,
    "regrouped": cf.REGROUPED,
    "two rods": cf.TWO_RODS,
    "planar arm": cf.PLANAR_ARM,
    "cylinders": cf.CYLINDERS,
}
PLANAR_FILES = {
    "three links": ["three_planar_links.urdf"],
    "regrouped": ["three_planar_links_regrouped.urdf", "three_planar_links_regrouped.xml"],
    "two rods": ["two_rods.urdf", "two_rods.xml"],
    "planar arm": ["planar_arm.urdf", "planar_arm.xml", "planar_arm_zz_only.urdf"],
    "cylinders": ["three_cylinders.urdf", "three_cylinders.xml"],
}
THREE_LINKS_STATE = (cf.THREE_LINKS_Q, cf.THREE_LINKS_QD, cf.THREE_LINKS_QDD)


def engine_module(name):
    """The module of an engine, or a skip that says which one is absent."""
    return pytest.importorskip(name, reason=f"{name} is not installed")


# --- Plain readers of the bundled files: enough for these, no more ----------------------------------------------------
def numbers(text):
    """A vector out of an attribute."""
    return np.array([float(word) for word in text.split()])


def links_of(file):
    """The links of a bundled model for the Cartesian routes of closed_forms, read without any importer."""
    root = ET.parse(models.path(file)).getroot()  # noqa: S314
    return links_of_urdf(root) if file.endswith(".urdf") else links_of_mjcf(root)


def links_of_urdf(root):
    """Depth first, siblings in document order; the root link is fixed to the world."""
    joints = root.findall("joint")
    children = {joint.find("child").get("link") for joint in joints}
    links, places = [], {}

    def placement(element):
        origin = element.find("origin")
        given = {} if origin is None else origin.attrib
        return cf.rpy(*numbers(given.get("rpy", "0 0 0"))), numbers(given.get("xyz", "0 0 0"))

    def visit(name, joint, parent):
        inertial = next(link for link in root.findall("link") if link.get("name") == name).find("inertial")
        mass, com, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
        if inertial is not None:
            turned, com = placement(inertial)
            mass, tensor = float(inertial.find("mass").get("value")), inertial.find("inertia").attrib
            inertia = turned @ symmetric(tensor[k] for k in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")) @ turned.T
        R, p = (np.eye(3), np.zeros(3)) if joint is None else placement(joint)
        kind = "fixed" if joint is None else joint.get("type")
        axis = numbers("0 0 1" if kind in {"fixed", "floating"} else joint.find("axis").get("xyz"))
        places[name] = len(links)
        links.append(cf.Link(parent, kind, axis, R, p, mass=mass, com=com, inertia=inertia, name=name))
        for below in joints:
            if below.find("parent").get("link") == name:
                visit(below.find("child").get("link"), below, places[name])

    visit(next(link.get("name") for link in root.findall("link") if link.get("name") not in children), None, -1)
    return links


def links_of_mjcf(root):
    """Depth first; several joints of one body become massless links in series. Angles in radian, eulerseq zyx."""
    assert root.find("compiler").attrib == {"angle": "radian", "eulerseq": "zyx"}
    links = []

    def orientation(element):
        if "quat" in element.attrib:
            return cf.quaternion_rotation(numbers(element.get("quat")))
        return cf.rpy(*numbers(element.get("euler", "0 0 0"))[::-1])

    def visit(body, parent):
        inertial = body.find("inertial")
        held = {}
        if inertial is not None:
            turned = orientation(inertial)
            tensor = numbers(inertial.get("fullinertia", inertial.get("diaginertia", "") + " 0 0 0"))
            held = {
                "mass": float(inertial.get("mass")),
                "com": numbers(inertial.get("pos")),
                "inertia": turned @ symmetric(tensor) @ turned.T,
            }
        joints = body.findall("joint") + body.findall("freejoint") or [None]
        for joint in joints:
            first, last = joint is joints[0], joint is joints[-1]
            R, p = (orientation(body), numbers(body.get("pos", "0 0 0"))) if first else (np.eye(3), np.zeros(3))
            kind, given = "fixed", {} if joint is None else joint.attrib
            if joint is not None:
                kind = "floating" if joint.tag == "freejoint" else given.get("type", "hinge")
            links.append(
                cf.Link(
                    parent,
                    {"hinge": "revolute", "slide": "prismatic"}.get(kind, kind),
                    numbers(given.get("axis", "0 0 1")),
                    R,
                    p,
                    numbers(given.get("pos", "0 0 0")),
                    armature=float(given.get("armature", 0)),
                    name=body.get("name") if last else f"{body.get('name')} before {given['name']}",
                    **(held if last else {}),
                )
            )
            parent = len(links) - 1
        for below in body.findall("body"):
            visit(below, parent)

    for body in root.find("worldbody").findall("body"):
        visit(body, -1)
    return links


def symmetric(components):
    """Tensor of xx yy zz xy xz yz."""
    xx, yy, zz, xy, xz, yz = (float(x) for x in components)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def place(links, name):
    """Where a link of that name stands."""
    return next(i for i, link in enumerate(links) if link.name == name)


# --- Engines, asked in the coordinates of closed_forms.Link -----------------------------------------------------------
def mujoco_answers(file, q, v, a, wrenches):
    """MuJoCo: rigid-body terms of mj_rne, mass matrix of mj_makeM; a free joint is brought into body axes."""
    mujoco = engine_module("mujoco")
    model = mujoco.MjModel.from_xml_path(str(models.path(file)))
    data = mujoco.MjData(model)
    T, beta = np.eye(model.nv), np.zeros(model.nv)
    if mujoco.mjtJoint.mjJNT_FREE in model.jnt_type:
        T[:3, :3] = cf.quaternion_rotation(q[3:7])
        beta[:3] = T[:3, :3] @ np.cross(v[3:6], v[:3])

    def rne(rate):
        data.qpos, data.qvel = q, T @ rate
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        result = np.zeros(model.nv)
        mujoco.mj_rne(model, data, 0, result)
        return result

    gravity = T.T @ rne(np.zeros(model.nv))
    raw = rne(v)
    mujoco.mj_makeM(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    load = np.zeros(model.nv)
    for name, wrench in wrenches.items():
        body = model.body(name).id
        R = data.xmat[body].reshape(3, 3)
        n, f = R @ wrench[:3], R @ wrench[3:]
        mujoco.mj_applyFT(model, data, f[:, None], n[:, None], data.xpos[body][:, None].copy(), body, load)
    moving = model.body_weldid != 0
    bias = T.T @ (raw + M @ beta)
    return answers(T.T @ M @ T, gravity, bias, a=a, load=T.T @ load, moving_mass=model.body_mass[moving].sum())


def pinocchio_answers(file, q, v, a, wrenches):
    """Pinocchio: rnea and crba; quaternions are turned to xyzw."""
    pin = engine_module("pinocchio")
    build = pin.buildModelFromUrdf if file.endswith(".urdf") else pin.buildModelFromMJCF
    model = build(str(models.path(file)))
    data = model.createData()
    q = q.copy()
    for joint in model.joints:
        if joint.nq - joint.nv == 1:
            quat = slice(joint.idx_q + joint.nq - 4, joint.idx_q + joint.nq)
            q[quat] = np.roll(q[quat], -1)
    gravity = pin.computeGeneralizedGravity(model, data, q).copy()
    bias = pin.nonLinearEffects(model, data, q, v).copy()
    M = pin.crba(model, data, q).copy()
    forces = pin.StdVec_Force([pin.Force.Zero() for _ in range(model.njoints)])
    for name, wrench in wrenches.items():
        frame = model.frames[model.getFrameId(name)]
        forces[frame.parentJoint] += frame.placement.act(pin.Force(wrench[3:], wrench[:3]))
    load = bias - pin.rnea(model, data, q, v, np.zeros(model.nv), forces)
    return answers(M, gravity, bias, a=a, load=load, moving_mass=pin.computeTotalMass(model))


def cartesian_answers(file, q, v, a, wrenches):
    """The Cartesian routes of closed_forms, for comparison without any engine."""
    links = links_of(file)
    still, places = np.zeros(len(v)), {place(links, name): wrench for name, wrench in wrenches.items()}
    bias = cf.virtual_power_effort(links, q, v, still)
    parts = answers(
        cf.cartesian_mass_matrix(links, q),
        cf.virtual_power_effort(links, q, still, still),
        bias,
        a=a,
        load=bias - cf.virtual_power_effort(links, q, v, still, wrenches=places),
        moving_mass=sum(link.mass for i, link in enumerate(links) if moves(links, i)),
    )
    return parts | {"tau": cf.virtual_power_effort(links, q, v, a, wrenches=places)}


def moves(links, i):
    """Whether a joint stands between link i and the world."""
    return i >= 0 and (links[i].kind != "fixed" or moves(links, links[i].parent))


def answers(M, gravity, bias, *, a, load, moving_mass):
    """The quantities of the catalogue by name."""
    return {
        "mass_matrix": M,
        "gravity": gravity,
        "bias": bias,
        "velocity_product": bias - gravity,
        "inertial": M @ a,
        "tau": M @ a + bias - load,
        "moving_mass": moving_mass,
    }


ENGINES = {"mujoco": mujoco_answers, "pinocchio": pinocchio_answers, "cartesian": cartesian_answers}


def random_state(rng, links):
    """Configuration, velocity and acceleration of any tree, generic everywhere."""
    q = []
    for link in links:
        if link.kind == "floating":
            q.extend(rng.uniform(-1, 1, 3))
        if link.kind in {"ball", "floating"}:
            quat = rng.normal(size=4)
            q.extend(quat / np.linalg.norm(quat))
        elif link.kind != "fixed":
            q.extend(rng.uniform(-1, 1, 1) * (0.2 if link.kind == "prismatic" else 1.5))
    nv = sum(cf.SIZES[link.kind][1] for link in links)
    return np.array(q), rng.uniform(-2, 2, nv), rng.uniform(-3, 3, nv)


# --- The closed forms against the printed numbers, and against each other ---------------------------------------------
@pytest.mark.parametrize("arm", ["three links", "regrouped"])
def test_three_links_give_the_printed_efforts(arm):
    """Newton-Euler, and each Lagrangian part, to the last printed digit; the regrouped masses give the same."""
    assert_allclose(
        cf.planar_newton_euler(PLANAR[arm], *THREE_LINKS_STATE), cf.THREE_LINKS_TAU, rtol=0, atol=cf.PRINTED
    )
    M, velocity_product, gravity, _ = cf.planar_lagrangian(PLANAR[arm], *THREE_LINKS_STATE[:2])
    assert_allclose(gravity, cf.THREE_LINKS_GRAVITY, rtol=0, atol=cf.PRINTED)
    assert_allclose(velocity_product, cf.THREE_LINKS_VELOCITY_PRODUCT, rtol=0, atol=cf.PRINTED)
    assert_allclose(M @ cf.THREE_LINKS_QDD, cf.THREE_LINKS_INERTIAL, rtol=0, atol=cf.PRINTED)


def test_three_links_give_the_printed_spatial_vectors():
    """v_2, and the linear parts of c_2 and c_3; the first joint has neither."""
    v = cf.planar_origin_velocities(cf.THREE_LINKS.lengths, cf.THREE_LINKS_Q, cf.THREE_LINKS_QD)
    c = cf.planar_spatial_bias(cf.THREE_LINKS.lengths, cf.THREE_LINKS_Q, cf.THREE_LINKS_QD)
    assert_allclose(v[1], cf.THREE_LINKS_V2, rtol=0, atol=cf.PRINTED)
    assert_allclose(c[1:], [cf.THREE_LINKS_C2, cf.THREE_LINKS_C3], rtol=0, atol=cf.PRINTED)
    assert_allclose([v[0], c[0]], 0, rtol=0, atol=0)


def test_spatial_bias_is_the_bracket_of_body_and_joint_twist():
    """c_i = ad_{V_i} V_Ji with the full six-vectors."""
    v = cf.planar_origin_velocities(cf.THREE_LINKS.lengths, cf.THREE_LINKS_Q, cf.THREE_LINKS_QD)
    c = cf.planar_spatial_bias(cf.THREE_LINKS.lengths, cf.THREE_LINKS_Q, cf.THREE_LINKS_QD)
    for omega, rate, linear, bias in zip(np.cumsum(cf.THREE_LINKS_QD), cf.THREE_LINKS_QD, v, c, strict=True):
        result = cf.bracket(np.array([0, 0, omega, *linear]), np.array([0, 0, rate, 0, 0, 0]))
        assert_allclose(result, [0, 0, 0, *bias], rtol=0, atol=1e-15)


def test_bracket_exercise():
    """Only the linear y component is left, -v_x qd, which an angular cross product alone would miss."""
    joint = np.array([0.0, 0.0, cf.BRACKET_RATE, 0.0, 0.0, 0.0])
    assert_allclose(cf.bracket(cf.BRACKET_V, joint), cf.BRACKET_RESULT, rtol=0, atol=1e-16)


def test_bracket_is_the_commutator_of_twist_matrices():
    """[V^, W^] = (ad_V W)^ for generic twists."""
    v, w = np.random.default_rng(3).normal(size=(2, 6))
    A, B = cf.twist_matrix(v), cf.twist_matrix(w)
    assert_allclose(A @ B - B @ A, cf.twist_matrix(cf.bracket(v, w)), rtol=0, atol=1e-14)


def test_two_rods_give_the_printed_numbers():
    """Gravity, acceleration and sum at the printed state, where the velocity products vanish."""
    state = (cf.TWO_RODS_Q, cf.TWO_RODS_QD, cf.TWO_RODS_QDD)
    assert_allclose(cf.two_rods_gravity(cf.TWO_RODS_Q), cf.TWO_RODS_GRAVITY, rtol=0, atol=1e-14)
    product = cf.two_rods_velocity_product(cf.TWO_RODS_Q, cf.TWO_RODS_QD)
    assert_allclose(product, cf.TWO_RODS_VELOCITY_PRODUCT, rtol=0, atol=0)
    inertial = cf.two_rods_mass_matrix(cf.TWO_RODS_Q) @ cf.TWO_RODS_QDD
    assert_allclose(inertial, cf.TWO_RODS_INERTIAL, rtol=0, atol=cf.PRINTED)
    assert_allclose(cf.two_rods_effort(*state), cf.TWO_RODS_TAU, rtol=0, atol=cf.PRINTED)


@pytest.mark.parametrize("state", cf.TWO_RODS_STATES, ids=["folded", "overhead", "behind"])
def test_two_rods_closed_form_holds_away_from_the_printed_state(state):
    """Mass matrix, velocity products, gravity and potential against both planar routes."""
    q, qd, _ = state
    M, velocity_product, gravity, _ = cf.planar_lagrangian(PLANAR["two rods"], q, qd)
    assert_allclose(cf.two_rods_mass_matrix(q), M, rtol=0, atol=1e-14)
    assert_allclose(cf.two_rods_velocity_product(q, qd), velocity_product, rtol=0, atol=1e-11)
    assert_allclose(cf.two_rods_gravity(q), gravity, rtol=0, atol=1e-13)
    assert_allclose(cf.two_rods_effort(*state), cf.planar_newton_euler(PLANAR["two rods"], *state), rtol=0, atol=1e-13)
    h = 1e-30
    slope = [
        (cf.G * (1.5 * np.sin(q[0] + 1j * h * x) + 0.5 * np.sin(q[0] + q[1] + 1j * h * (x + y)))).imag / h
        for x, y in np.eye(2)
    ]
    assert_allclose(slope, gravity, rtol=0, atol=1e-13)
    links = links_of("two_rods.urdf")
    assert_allclose(cf.two_rods_potential(q), cf.potential_energy(links, q), rtol=0, atol=1e-13)


def test_cylinders_give_the_printed_efforts():
    """Axes along the links, m (3 r^2 + L^2) / 12 about z; neither thin rods nor another axis give these digits."""
    state = (cf.CYLINDERS_Q, cf.CYLINDERS_QD, cf.CYLINDERS_QDD)
    assert_allclose(cf.planar_newton_euler(cf.CYLINDERS, *state), cf.CYLINDERS_TAU, rtol=0, atol=cf.PRINTED)
    m, L = cf.CYLINDERS.masses, cf.CYLINDERS.lengths
    for other in (m * L**2 / 12, cf.cylinder_moments(m, L, cf.CYLINDERS_RADIUS)[0]):
        tau = cf.planar_newton_euler(cf.CYLINDERS._replace(moments=other), *state)
        assert np.abs(tau - cf.CYLINDERS_TAU).max() > 100 * cf.PRINTED


def test_column_robot_has_the_printed_matrix_and_bias():
    """M = [[5, 2], [2, 1]] and c = (3, 4): unit acceleration of joint 1 gives (8, 6), and (5, 2) without the bias."""
    M, bias = cf.column_robot_mass_matrix(cf.COLUMN_Q), cf.column_robot_bias(cf.COLUMN_Q, cf.COLUMN_QD)
    assert_allclose(M, cf.COLUMN_M, rtol=0, atol=1e-15)
    assert_allclose(bias, cf.COLUMN_BIAS, rtol=0, atol=1e-15)
    assert_allclose(M @ [1, 0] + bias, cf.COLUMN_UNIT_1, rtol=0, atol=1e-15)
    assert_allclose(cf.COLUMN_UNIT_1 - cf.COLUMN_BIAS, cf.COLUMN_M[:, 0], rtol=0, atol=0)


def test_column_robot_closed_form_holds_elsewhere():
    """Mass matrix and bias at a nonzero second angle against the Cartesian routes."""
    links, q, qd = links_of("column_test.urdf"), np.array([-0.8, 0.9]), np.array([1.3, -2.1])
    assert_allclose(cf.column_robot_mass_matrix(q), cf.cartesian_mass_matrix(links, q), rtol=0, atol=1e-14)
    assert_allclose(cf.column_robot_bias(q, qd), cf.lagrangian_effort(links, q, qd, np.zeros(2)), rtol=0, atol=1e-10)


def test_horizontal_rod_needs_half_its_weight_times_length():
    """The effort is m g l / 2 at rest; away from it, the planar recursion with one link."""
    m, length = cf.HORIZONTAL_ROD_M, cf.HORIZONTAL_ROD_L
    assert_allclose(cf.rod_effort(m, length), cf.HORIZONTAL_ROD_TAU, rtol=1e-15)
    rod = cf.PlanarChain(*(np.array([x]) for x in (length, m, length / 2, m * length**2 / 12)))
    q, qd, qdd = np.array([[0.7], [-1.9], [2.3]])
    assert_allclose(cf.rod_effort(m, length, 0.7, 2.3), cf.planar_newton_euler(rod, q, qd, qdd)[0], rtol=1e-14)


@pytest.mark.parametrize("arm", PLANAR)
def test_newton_euler_and_lagrangian_agree(arm):
    """Both planar routes at random states with tip forces."""
    rng = np.random.default_rng(20)
    for q, qd, qdd in rng.uniform(-2, 2, (20, 3, len(PLANAR[arm].lengths))):
        tip_force = rng.uniform(-5, 5, 2)
        M, velocity_product, gravity, tip = cf.planar_lagrangian(PLANAR[arm], q, qd, tip_force=tip_force)
        recursion = cf.planar_newton_euler(PLANAR[arm], q, qd, qdd, tip_force=tip_force)
        assert_allclose(recursion, M @ qdd + velocity_product + gravity + tip, rtol=0, atol=1e-10)


def test_regrouped_links_are_no_other_arm_to_any_motion():
    """Mass that slides between links 2 and 3 at equal sums changes no effort."""
    rng = np.random.default_rng(21)
    for q, qd, qdd in rng.uniform(-2, 2, (20, 3, 3)):
        given, regrouped = (cf.planar_newton_euler(PLANAR[arm], q, qd, qdd) for arm in ("three links", "regrouped"))
        assert_allclose(regrouped, given, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("arm", "file"), [(arm, file) for arm, files in PLANAR_FILES.items() for file in files])
def test_planar_models_are_the_planar_chains(arm, file):
    """The mounted model in space needs the efforts of the chain in the plane, whatever its other moments."""
    rng, links = np.random.default_rng(22), links_of(file)
    for q, qd, qdd in rng.uniform(-1.5, 1.5, (4, 3, len(PLANAR[arm].lengths))):
        expected = cf.planar_newton_euler(PLANAR[arm], q, qd, qdd)
        assert_allclose(cf.virtual_power_effort(links, q, qd, qdd), expected, rtol=0, atol=1e-10)


def test_zz_only_arm_is_the_planar_arm_without_its_other_moments():
    """Nothing but xx and yy tells the two files apart."""
    for bare, full in zip(links_of("planar_arm_zz_only.urdf"), links_of("planar_arm.urdf"), strict=True):
        assert_allclose(bare.inertia, np.diag([0, 0, full.inertia[2, 2]]), rtol=0, atol=0)
        for part in ("axis", "R", "p", "mass", "com"):
            assert_allclose(getattr(bare, part), getattr(full, part), rtol=0, atol=0)


def tip_wrench(q, tip_force):
    """Wrench on the last link of the planar arm: minus the force of the tip on the surroundings, acting at the tip."""
    force = -(cf.rpy(0, 0, q.sum()).T @ [*tip_force, 0.0])
    return np.concatenate([np.cross([cf.PLANAR_ARM.lengths[-1], 0, 0], force), force])


def test_embedded_arm_with_tip_force_needs_the_planar_efforts():
    """The force of the tip on the surroundings is minus a wrench on the last link, with its moment about the joint."""
    state = (cf.PLANAR_ARM_Q, cf.PLANAR_ARM_QD, cf.PLANAR_ARM_QDD)
    expected = cf.planar_newton_euler(cf.PLANAR_ARM, *state, tip_force=cf.PLANAR_ARM_TIP_FORCE)
    links = links_of("planar_arm.urdf")
    wrench = tip_wrench(cf.PLANAR_ARM_Q, cf.PLANAR_ARM_TIP_FORCE)
    tau = cf.virtual_power_effort(links, *state, wrenches={place(links, "link_3"): wrench})
    assert_allclose(tau, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("file", PLANAR_FILES["planar arm"][:1] + PLANAR_FILES["planar arm"][2:])
def test_spatial_recursion_gives_the_planar_efforts_with_tip_forces(file):
    """As the lesson does it: 300 random states and tip forces, with all moments or with zz alone."""
    rng = np.random.default_rng(25)
    for q, qd, qdd in rng.uniform(-2, 2, (300, 3, 3)):
        tip_force = rng.uniform(-5, 5, 2)
        expected = cf.planar_newton_euler(cf.PLANAR_ARM, q, qd, qdd, tip_force=tip_force)
        found = pinocchio_answers(file, q, qd, qdd, {"link_3": tip_wrench(q, tip_force)})["tau"]
        assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_branched_tree_file_is_the_tree_of_the_closed_forms():
    """Both files hold the links that closed_forms writes down, with the parents (0, 1, 1, 3) of the text."""
    assert tuple(link.parent + 1 for link in cf.BRANCHED) == cf.BRANCHED_PARENTS
    for file in ("branched_tree.urdf", "branched_tree.xml"):
        for read, given in zip(links_of(file)[1:], cf.BRANCHED, strict=True):
            assert (read.name, read.kind, read.parent) == (given.name, given.kind, given.parent + 1)
            for part in ("axis", "R", "p", "mass", "com", "inertia"):
                assert_allclose(getattr(read, part), getattr(given, part), rtol=0, atol=1e-15)


def test_branched_tree_by_lagrange_and_by_virtual_power():
    """Derivatives of energies and the balance of virtual powers give one effort."""
    state = (cf.BRANCHED_Q, cf.BRANCHED_QD, cf.BRANCHED_QDD)
    lagrange, virtual = cf.lagrangian_effort(cf.BRANCHED, *state), cf.virtual_power_effort(cf.BRANCHED, *state)
    assert_allclose(lagrange, virtual, rtol=0, atol=1e-10)


def test_branched_tree_couples_no_two_branches():
    """M is zero between body 2 and bodies 3 and 4; a leaf load reaches its own ancestors alone."""
    M = cf.cartesian_mass_matrix(cf.BRANCHED, cf.BRANCHED_Q)
    assert_allclose(M[1, 2:], 0, rtol=0, atol=1e-17)
    assert np.abs(M[0]).min() > 1e-3
    assert np.linalg.eigvalsh(M).min() > 0
    state = (cf.BRANCHED_Q, cf.BRANCHED_QD, cf.BRANCHED_QDD)
    free = cf.virtual_power_effort(cf.BRANCHED, *state)
    for body, reached in {0: [0], 1: [0, 1], 3: [0, 2, 3]}.items():
        loaded = cf.virtual_power_effort(cf.BRANCHED, *state, wrenches={body: cf.BRANCHED_WRENCHES[body]})
        assert np.flatnonzero(np.abs(loaded - free) > 1e-12).tolist() == reached


def test_virtual_power_route_gives_newton_euler_of_a_free_body():
    """One floating body: n = I alpha + omega x I omega + c x f, f = m (a + omega x v + ...) - m g, in body axes."""
    rng = np.random.default_rng(23)
    half = rng.normal(size=(3, 3))
    I, m, c = half @ half.T + np.eye(3), 1.7, rng.normal(size=3)
    body = cf.Link(-1, "floating", mass=m, com=c, inertia=I)
    q, v, a = random_state(rng, [body])
    R, w, al = cf.quaternion_rotation(q[3:]), v[3:], a[3:]
    f = m * (a[:3] + np.cross(w, v[:3]) + np.cross(al, c) + np.cross(w, np.cross(w, c)) - R.T @ cf.GRAVITY)
    n = I @ al + np.cross(w, I @ w) + np.cross(c, f)
    assert_allclose(cf.virtual_power_effort([body], q, v, a), [*f, *n], rtol=0, atol=1e-9)


def test_lagrangian_route_refuses_a_ball_joint():
    """A velocity that is no derivative of coordinates has no Lagrange equation of this form."""
    with pytest.raises(ValueError, match="scalar joints"):
        cf.lagrangian_effort([cf.Link(-1, "ball")], np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3))


# --- The bundled models -----------------------------------------------------------------------------------------------
def refuses(entry, file, engine):
    """Whether the catalogue says that an engine will not load a file."""
    return any(
        (r["file"], r["engine"]) == (file, engine) for r in [*entry.get("refused", []), *entry.get("differs", [])]
    )


def numbers_by_engine():
    """Every number of the catalogue with every file and every engine that reads it."""
    for entry in CATALOGUE:
        for file in entry["files"]:
            for number in entry["number"]:
                for engine in ENGINES:
                    if not refuses(entry, file, engine):
                        label = number["quantity"] + (" loaded" if "wrenches" in number else "")
                        yield pytest.param(file, engine, number, id=f"{file}-{engine}-{label}")


@pytest.mark.parametrize(("file", "engine", "number"), list(numbers_by_engine()))
def test_model_gives_the_numbers_of_the_catalogue(file, engine, number):
    """Every claimed number, from the file, in every engine that reads it."""
    wrenches = {name: np.array(wrench) for name, wrench in number.get("wrenches", {}).items()}
    q, v, a = (np.array(number[key], dtype=float) for key in "qva")
    found = ENGINES[engine](file, q, v, a, wrenches)[number["quantity"]]
    assert_allclose(found, number["values"], rtol=0, atol=number["tolerance"])


@pytest.mark.parametrize(
    ("file", "engine"),
    [
        (file, engine)
        for entry in CATALOGUE
        for file in entry["files"]
        for engine in ("mujoco", "pinocchio")
        if not refuses(entry, file, engine)
    ],
)
def test_model_agrees_with_the_cartesian_route(file, engine):
    """Mass matrix and effort at random states, from the file as a plain reader has it."""
    rng = np.random.default_rng(24)
    for _ in range(2):
        state = random_state(rng, links_of(file))
        expected, found = (ENGINES[route](file, *state, {}) for route in ("cartesian", engine))
        assert_allclose(found["mass_matrix"], expected["mass_matrix"], rtol=0, atol=1e-12)
        assert_allclose(found["tau"], expected["tau"], rtol=0, atol=1e-9)


def test_walker_base_carries_the_weight_of_all():
    """At rest the base needs R^T (0, 0, m g) and the moment of that about its origin; its linear inertia is m."""
    number = next(n for entry in CATALOGUE if entry["name"] == "tau_walker" for n in entry["number"] if any(n["v"]))
    links, q = links_of("tau_walker.urdf"), np.array(number["q"])
    mass, still = sum(link.mass for link in links), np.zeros(len(number["v"]))
    poses = cf.poses_along(links, q, still, still, 0.0)
    com = sum(b.mass * (p + R @ b.com) for b, (R, p) in zip(links, poses, strict=True)) / mass
    R = cf.quaternion_rotation(q[3:7])
    weight = -mass * (R.T @ cf.GRAVITY)
    found = cartesian_answers("tau_walker.urdf", q, still, still, {})
    assert_allclose(found["gravity"][:6], [*weight, *np.cross(R.T @ (com - q[:3]), weight)], rtol=0, atol=1e-9)
    assert_allclose(found["mass_matrix"][:3, :3], mass * np.eye(3), rtol=0, atol=1e-13)


def test_twins_are_the_same_robot():
    """URDF and MJCF of one model hold the same links; a floating root of URDF hangs on a link that MJCF has not."""
    for entry in CATALOGUE:
        if len(entry["files"]) == 2:
            urdf, mjcf = (links_of(file) for file in sorted(entry["files"]))
            extra = len(urdf) - len(mjcf)
            assert extra == (1 if urdf[1].kind == "floating" else 0)
            for one, other in zip(urdf[extra:], mjcf, strict=True):
                assert (one.name, one.kind, one.parent - extra) == (other.name, other.kind, other.parent)
                for part in ("axis", "R", "p", "mass", "com", "inertia", "armature"):
                    assert_allclose(getattr(one, part), getattr(other, part), rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    "refused",
    [pytest.param(r, id=f"{r['file']}-{r['engine']}") for entry in CATALOGUE for r in entry.get("refused", [])],
)
def test_refused_models_are_refused(refused):
    """Where the catalogue says that an engine refuses a file, it does, in these words."""
    assert refused["engine"] == "mujoco"
    mujoco = engine_module("mujoco")
    with pytest.raises(ValueError, match=refused["message"]):
        mujoco.MjModel.from_xml_path(str(models.path(refused["file"])))


def test_catalogue_names_every_file_once_and_says_where_it_comes_from():
    """No file without an entry, no entry without a file, a source, a licence, a closed form and a number."""
    listed = [file for entry in CATALOGUE for file in entry["files"]]
    folder = models.path("catalogue.toml").parent
    assert sorted(listed) == sorted(file.name for file in folder.iterdir() if file.suffix in {".urdf", ".xml"})
    for entry in CATALOGUE:
        assert {"name", "files", "source", "licence", "known", "number"} <= entry.keys()
        assert entry["licence"] == "Apache-2.0"
        assert len(entry["files"]) == 2 or entry["without_twin"]


def test_no_model_needs_a_mesh():
    """Every file stands alone: no mesh, no include, no asset."""
    for entry in CATALOGUE:
        for file in entry["files"]:
            tags = {element.tag for element in ET.parse(models.path(file)).iter()}  # noqa: S314
            assert not tags & {"mesh", "include", "asset", "texture", "hfield"}


def test_path_names_the_models_that_there_are():
    """An unknown name is an error that lists the known ones."""
    with pytest.raises(FileNotFoundError, match=r"no model 'tau_leg\.urdf'; there are .*tau_arm\.urdf"):
        models.path("tau_leg.urdf")


def test_closed_forms_import_nothing_of_ours():
    """What judges the project shares no line with it."""
    source = importlib.import_module("inspect").getsource(cf)
    imports = [line.split()[1] for line in source.splitlines() if line.lstrip().startswith(("import ", "from "))]
    assert set(imports) == {"__future__", "collections.abc", "dataclasses", "typing", "numpy"}
