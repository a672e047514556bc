"""Textbook closed forms and routes without spatial vectors, from which expected numbers come.

Imports numpy alone, and nothing of this project: what is computed here shares no line with what it judges.
Three routes to joint efforts stand side by side:

    planar_newton_euler         forces and moments of planar links, written in world axes
    planar_lagrangian           centre-of-mass Jacobians and Christoffel symbols of planar links
    lagrangian_effort,          any tree, from Cartesian positions alone: derivatives of the energies for scalar
    virtual_power_effort        joints, and the principle of virtual power for every joint

Angles are in rad, lengths in m, masses in kg; planar gravity acts along -y unless said otherwise. Wrenches are
moment first, of the surroundings on the body, about the body origin in body axes. `PRINTED` is half a unit of the last
digit of a number printed with six decimals.

Sources, by the names used below:
    Recursive Algorithms: chapter 7, "Recursive Algorithms", of "The Geometry of Motion", affinedrift.com, with the
        worked example of three planar links, the two uniform rods and the cylinder chain.
    Recursive Newton-Euler: the lesson "Recursive Newton-Euler" of a bilingual (Chinese and English) robotics course,
        with the planar recursion with tip force and its embedding in space.
    Mass matrix lecture: lecture "Recursive inverse dynamics and the mass matrix", with the worked column test.
    Luh, Walker and Paul 1980, "On-Line Computational Scheme for Mechanical Manipulators".
    Featherstone 2008, "Rigid Body Dynamics Algorithms".
    Lynch and Park 2017, "Modern Robotics: Mechanics, Planning, and Control".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Array = np.ndarray

G = 9.81
GRAVITY = np.array([0.0, 0.0, -G])
PRINTED = 5e-7


class PlanarChain(NamedTuple):
    """Links in a plane, n of them.

    Each (n,): joint to joint [m], mass [kg], joint to centre of mass along the link [m], and moment about the centre of
    mass [kg m^2].
    """

    lengths: Array
    masses: Array
    centres: Array
    moments: Array


def cylinder_moments(mass: Array, length: Array, radius: float) -> tuple[Array, Array]:
    """Axial m r^2 / 2 and transverse m (3 r^2 + L^2) / 12 moments of a uniform solid cylinder about its centre.

    Source: any mechanics text; used by Recursive Algorithms, Python example.
    """
    return mass * radius**2 / 2, mass * (3 * radius**2 + length**2) / 12


# --- Three planar links (Recursive Algorithms, worked example) -------------------------------------------------------
# The third link is a point mass at the end of a massless rod; the first two moments are rounded.
THREE_LINKS = PlanarChain(
    lengths=np.array([1.0, 0.8, 0.6]),
    masses=np.array([1.0, 0.5, 0.2]),
    centres=np.array([0.5, 0.4, 0.6]),
    moments=np.array([0.083, 0.027, 0.0]),
)
THREE_LINKS_Q = np.array([0.524, 0.785, 0.0])
THREE_LINKS_QD = np.array([0.5, 0.3, 0.2])
THREE_LINKS_QDD = np.array([1.0, 0.5, 0.1])
# As printed, six decimals.
THREE_LINKS_TAU = np.array([13.904004, 2.408379, 0.669970])
THREE_LINKS_GRAVITY = np.array([11.411202, 1.218713, 0.304678])
THREE_LINKS_VELOCITY_PRODUCT = np.array([-0.162853, 0.084819, 0.021205])
THREE_LINKS_INERTIAL = np.array([2.655655, 1.104846, 0.344087])
THREE_LINKS_V2 = np.array([0.353413, 0.353694, 0.0])
THREE_LINKS_C2 = np.array([0.106108, -0.106024, 0.0])
THREE_LINKS_C3 = np.array([0.198739, -0.070683, 0.0])

# The same efforts from another mass distribution: mass slides between links 2 and 3 at equal sums
# (link 3: m c and I + m c^2; link 2: m c + L m_3 and I + m c^2 + L^2 m_3; link 1: m_2 + m_3), so no motion about these
# three axes tells the two arms apart, while every link of this one has inertia about every axis.
REGROUPED = PlanarChain(
    lengths=THREE_LINKS.lengths,
    masses=np.array([1.0, 0.4, 0.3]),
    centres=np.array([0.5, 0.3, 0.4]),
    moments=np.array([0.083, 0.007, 0.024]),
)

# --- Three uniform solid cylinders (Recursive Algorithms, Python example), state of the three links ------------------
# The axes lie along the links.
CYLINDERS_RADIUS = 0.025
CYLINDERS = PlanarChain(
    lengths=THREE_LINKS.lengths,
    masses=THREE_LINKS.masses,
    centres=THREE_LINKS.lengths / 2,
    moments=cylinder_moments(THREE_LINKS.masses, THREE_LINKS.lengths, CYLINDERS_RADIUS)[1],
)
CYLINDERS_Q = THREE_LINKS_Q
CYLINDERS_QD = THREE_LINKS_QD
CYLINDERS_QDD = THREE_LINKS_QDD
CYLINDERS_TAU = np.array([13.447676, 1.977061, 0.315835])

# --- Two uniform rods of unit length and mass (Recursive Algorithms, validation) -------------------------------------
TWO_RODS = PlanarChain(
    lengths=np.array([1.0, 1.0]),
    masses=np.array([1.0, 1.0]),
    centres=np.array([0.5, 0.5]),
    moments=np.array([1 / 12, 1 / 12]),
)
TWO_RODS_Q = np.array([0.0, 0.0])
TWO_RODS_QD = np.array([1.0, 0.5])
TWO_RODS_QDD = np.array([0.5, 0.2])
TWO_RODS_TAU = np.array([21.12, 5.388333])
TWO_RODS_GRAVITY = np.array([19.62, 4.905])
TWO_RODS_VELOCITY_PRODUCT = np.array([0.0, 0.0])
TWO_RODS_INERTIAL = np.array([1.5, 0.483333])
# Nonsymmetric states (q, qd, qdd), ours: at nonzero relative angle the velocity products do not vanish.
TWO_RODS_STATES = (
    (np.array([0.3, -0.8]), np.array([1.1, -0.4]), np.array([0.6, -0.9])),
    (np.array([-1.2, 2.1]), np.array([-0.7, 1.9]), np.array([-1.3, 0.2])),
    (np.array([2.4, 0.9]), np.array([0.5, 2.2]), np.array([0.1, 1.7])),
)

# --- The bracket exercise (Recursive Algorithms, tier 1) --------------------------------------------------------------
BRACKET_V = np.array([0.0, 0.0, 0.5, 0.4, 0.0, 0.0])
BRACKET_RATE = 0.2
BRACKET_RESULT = np.array([0.0, 0.0, 0.0, 0.0, -0.08, 0.0])

# --- The column test (Mass matrix lecture); the robot that has these numbers is ours ---------------------------------
COLUMN_M = np.array([[5.0, 2.0], [2.0, 1.0]])
COLUMN_BIAS = np.array([3.0, 4.0])
COLUMN_UNIT_1 = np.array([8.0, 6.0])
COLUMN_Q = np.array([0.3, 0.0])
COLUMN_QD = np.array([4.0, -2.0])
COLUMN_L1 = 1.0
COLUMN_MASSES = np.array([2.0, 1.25])
COLUMN_C1 = 0.5
COLUMN_C2 = np.array([0.8, 0.2])
COLUMN_IZZ = np.array([0.25, 0.15])

# --- A single uniform rod held horizontally (Recursive Newton-Euler, sanity check), dimensions ours -------------------
HORIZONTAL_ROD_M = 2.4
HORIZONTAL_ROD_L = 1.5
HORIZONTAL_ROD_TAU = 17.658

# --- The planar arm that is embedded in space (Recursive Newton-Euler, numerical check), dimensions ours -------------
PLANAR_ARM = PlanarChain(
    lengths=np.array([0.9, 0.8, 0.6]),
    masses=np.array([1.2, 0.75, 0.3]),
    centres=np.array([0.45, 0.4, 0.3]),
    moments=np.array([0.081, 0.04, 0.009]),
)
PLANAR_ARM_Q = np.array([0.4, -0.9, 1.3])
PLANAR_ARM_QD = np.array([0.7, -0.5, 1.1])
PLANAR_ARM_QDD = np.array([0.3, 0.8, -0.6])
# Of the tip on the surroundings, in the axes of the plane.
PLANAR_ARM_TIP_FORCE = np.array([3.0, -2.0])


# --- Planar chains ----------------------------------------------------------------------------------------------------
def planar_newton_euler(
    chain: PlanarChain,
    q: Array,
    qd: Array,
    qdd: Array,
    *,
    g: float = G,
    tip_force: Sequence[float] = (0.0, 0.0),
) -> Array:
    """Joint efforts of a planar chain by forces and moments in world axes.

    Outward from A_1 = (0, g):   A_Ci = A_i + alpha_i c_i e_i' - omega_i^2 c_i e_i,   the same with L_i for A_{i+1}
    inward from f_{n+1} = F_tip: f_i = f_{i+1} + m_i A_Ci
                                 mu_i = mu_{i+1} + I_i alpha_i + c_i e_i x m_i A_Ci + L_i e_i x f_{i+1}

    Args:
        chain: the links.
        q: (n,) [rad] relative joint angles, from +x.
        qd: (n,) [rad/s] their rates.
        qdd: (n,) [rad/s^2] the rates of those.
        g: [m/s^2] gravity along -y.
        tip_force: (2,) [N] of the tip on the surroundings, in world axes.

    Returns:
        (n,) [N m] joint efforts.
    Source: Recursive Newton-Euler; Recursive Algorithms, "An Independent Cartesian Recursion"; Luh, Walker, Paul 1980.
    """
    lengths, masses, centres, moments = chain
    theta, omega, alpha = np.cumsum(q), np.cumsum(qd), np.cumsum(qdd)
    along = np.stack([np.cos(theta), np.sin(theta)], axis=1)
    across = np.stack([-np.sin(theta), np.cos(theta)], axis=1)
    joint_acceleration = np.array([0.0, g])
    forces = []
    for i in range(len(q)):
        turn = alpha[i] * across[i] - omega[i] ** 2 * along[i]
        forces.append(masses[i] * (joint_acceleration + centres[i] * turn))
        joint_acceleration = joint_acceleration + lengths[i] * turn
    tau = np.zeros(len(q))
    force, moment = np.array(tip_force, dtype=float), 0.0
    for i in reversed(range(len(q))):
        arms = centres[i] * cross2(along[i], forces[i]) + lengths[i] * cross2(along[i], force)
        moment += moments[i] * alpha[i] + arms
        force = force + forces[i]
        tau[i] = moment
    return tau


def cross2(a: Array, b: Array) -> float:
    """Planar cross product a_x b_y - a_y b_x."""
    return float(a[0] * b[1] - a[1] * b[0])


def planar_centres(lengths: Array, centres: Array, q: Array) -> Array:
    """Centres of mass (n, 2) of a planar chain: c_i e_i + sum over j < i of L_j e_j."""
    theta = np.cumsum(q)
    along = np.stack([np.cos(theta), np.sin(theta)], axis=1)
    joints = np.cumsum(lengths[:, None] * along, axis=0) - lengths[:, None] * along
    return joints + centres[:, None] * along


def planar_lagrangian(
    chain: PlanarChain,
    q: Array,
    qd: Array,
    *,
    g: float = G,
    tip_force: Sequence[float] = (0.0, 0.0),
) -> tuple[Array, Array, Array, Array]:
    """Parts of the joint efforts of a planar chain, by differentiating Cartesian positions and M.

    M = sum_i m_i J_ci^T J_ci + I_i J_wi^T J_wi
    (C qd)_i = sum_jk (dM_ij/dq_k - 1/2 dM_jk/dq_i) qd_j qd_k
    G = sum_i m_i J_ci^T (0, g)

    Jacobians are complex-step derivatives, dM/dq fourth-order central differences.

    Returns:
        M (n, n), C qd (n,), G (n,), J_tip^T F_tip (n,); the effort is M qdd + C qd + G + J_tip^T F_tip.
    Source: Recursive Newton-Euler, Lagrangian comparison; Lynch and Park 2017, chapter 8.1.
    """
    lengths, masses, centres, moments = chain
    n = len(q)

    def mass_matrix(at: Array) -> Array:
        jacobian = _jacobian(lambda x: planar_centres(lengths, centres, x), at)
        spin = np.tril(np.ones((n, n)))
        return np.einsum("i,ixj,ixk->jk", masses, jacobian, jacobian) + np.einsum("i,ij,ik->jk", moments, spin, spin)

    dm = _gradient(mass_matrix, q)
    velocity_product = np.einsum("ijk,j,k->i", dm, qd, qd) - 0.5 * np.einsum("jki,j,k->i", dm, qd, qd)
    gravity = g * np.einsum("i,ij->j", masses, _jacobian(lambda x: planar_centres(lengths, centres, x), q)[:, 1])
    tip = _jacobian(lambda x: planar_centres(lengths, lengths, x)[-1:], q)[0].T @ np.asarray(tip_force, dtype=float)
    return mass_matrix(q), velocity_product, gravity, tip


def planar_origin_velocities(lengths: Array, q: Array, qd: Array) -> Array:
    """Velocities (n, 3) of the joint origins, each in the axes of its own link: the linear part of V_i.

    v_1 = 0,   v_{i+1} = R(q_{i+1})^T (v_i + omega_i L_i (0, 1))

    Source: Recursive Algorithms, worked example; Featherstone 2008, table 5.1.
    """
    omega = np.cumsum(qd)
    v = np.zeros((len(q), 3))
    for i in range(1, len(q)):
        x, y = v[i - 1, 0], v[i - 1, 1] + omega[i - 1] * lengths[i - 1]
        c, s = np.cos(q[i]), np.sin(q[i])
        v[i] = [c * x + s * y, -s * x + c * y, 0.0]
    return v


def planar_spatial_bias(lengths: Array, q: Array, qd: Array) -> Array:
    """Linear parts (n, 3) of c_i = ad_{V_i} V_Ji for links whose axes are all z: (v_y qd_i, -v_x qd_i, 0).

    Source: Recursive Algorithms, "Acceleration and the Spatial Velocity Product".
    """
    v = planar_origin_velocities(lengths, q, qd)
    return np.stack([v[:, 1] * qd, -v[:, 0] * qd, np.zeros(len(q))], axis=1)


# --- Two uniform rods -------------------------------------------------------------------------------------------------
def two_rods_mass_matrix(q: Array) -> Array:
    """M(q) = [[5/3 + cos q2, 1/3 + cos(q2)/2], [., 1/3]] for unit rods.

    Source: Recursive Algorithms, "Validation With Two Uniform Rods".
    """
    c = np.cos(q[1])
    return np.array([[5 / 3 + c, 1 / 3 + c / 2], [1 / 3 + c / 2, 1 / 3]])


def two_rods_velocity_product(q: Array, qd: Array) -> Array:
    """b_v = sin(q2)/2 (-2 qd1 qd2 - qd2^2, qd1^2) for unit rods.

    Source: Recursive Algorithms, "Validation With Two Uniform Rods".
    """
    return np.sin(q[1]) / 2 * np.array([-2 * qd[0] * qd[1] - qd[1] ** 2, qd[0] ** 2])


def two_rods_gravity(q: Array, g: float = G) -> Array:
    """G = g (3/2 cos q1 + 1/2 cos(q1 + q2), 1/2 cos(q1 + q2)) for unit rods, gravity along -y.

    Source: Recursive Algorithms, "Validation With Two Uniform Rods".
    """
    distal = np.cos(q[0] + q[1]) / 2
    return g * np.array([1.5 * np.cos(q[0]) + distal, distal])


def two_rods_potential(q: Array, g: float = G) -> float:
    """U = g (3/2 sin q1 + 1/2 sin(q1 + q2)) for unit rods.

    Source: Recursive Algorithms, "Validation With Two Uniform Rods".
    """
    return float(g * (1.5 * np.sin(q[0]) + 0.5 * np.sin(q[0] + q[1])))


def two_rods_effort(q: Array, qd: Array, qdd: Array, g: float = G) -> Array:
    """Effort M qdd + b_v + G of the unit rods."""
    return two_rods_mass_matrix(q) @ qdd + two_rods_velocity_product(q, qd) + two_rods_gravity(q, g)


# --- Single bodies and small robots -----------------------------------------------------------------------------------
def bracket(v: Array, w: Array) -> Array:
    """Lie bracket ad_V W of twists (angular first): (omega x omega', v x omega' + omega x v').

    Source: Recursive Algorithms, "Acceleration and the Spatial Velocity Product"; Lynch and Park 2017, chapter 8.2.
    """
    return np.concatenate([np.cross(v[:3], w[:3]), np.cross(v[3:], w[:3]) + np.cross(v[:3], w[3:])])


def twist_matrix(v: Array) -> Array:
    """Matrix of a twist, (4, 4): [[omega]x, v; 0, 0]. The commutator of two of them is the matrix of their bracket.

    Source: Lynch and Park 2017, chapter 3.3.
    """
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = np.cross(v[:3], np.eye(3)).T
    matrix[:3, 3] = v[3:]
    return matrix


def column_robot_mass_matrix(q: Array) -> Array:
    """M of two links on vertical axes whose second centre of mass stands aside of the link line.

    With h = m2 L1 (c_x cos q2 - c_y sin q2), J2 = I2 + m2 |c|^2 and J1 = I1 + m1 c1^2 + m2 L1^2:
    M = [[J1 + J2 + 2 h, J2 + h], [J2 + h, J2]], at q2 = 0 exactly [[5, 2], [2, 1]].

    Source: the worked matrix of Mass matrix lecture; the robot is ours.
    """
    (m1, m2), (i1, i2), (x, y) = COLUMN_MASSES, COLUMN_IZZ, COLUMN_C2
    h = m2 * COLUMN_L1 * (x * np.cos(q[1]) - y * np.sin(q[1]))
    j2 = i2 + m2 * (x**2 + y**2)
    j1 = i1 + m1 * COLUMN_C1**2 + m2 * COLUMN_L1**2
    return np.array([[j1 + j2 + 2 * h, j2 + h], [j2 + h, j2]])


def column_robot_bias(q: Array, qd: Array) -> Array:
    """Bias of the same robot: s (-2 qd1 qd2 - qd2^2, qd1^2) with s = m2 L1 (c_x sin q2 + c_y cos q2); no gravity part.

    At q2 = 0, s = 1/4, and qd = (4, -2) gives (3, 4).
    """
    x, y = COLUMN_C2
    s = COLUMN_MASSES[1] * COLUMN_L1 * (x * np.sin(q[1]) + y * np.cos(q[1]))
    return s * np.array([-2 * qd[0] * qd[1] - qd[1] ** 2, qd[0] ** 2])


def rod_effort(mass: float, length: float, q: float = 0.0, qdd: float = 0.0, g: float = G) -> float:
    """Effort at the end of a uniform rod, q from the horizontal: m l^2 / 3 qdd + m g l / 2 cos q.

    Source: Recursive Newton-Euler, sanity check (tau = m g l / 2 at rest) and parallel-axis remark.
    """
    return float(mass * length**2 / 3 * qdd + mass * g * length / 2 * np.cos(q))


# --- Trees in space, from Cartesian positions alone -------------------------------------------------------------------
@dataclass(frozen=True)
class Link:
    """A body with the joint that carries it; a list of these with parent < own place is a tree (parent -1: the world).

    `R` and `p` place the joint in the parent's axes; the joint turns about `anchor` (in link axes) or slides along
    `axis`. `inertia` is about the centre of mass, in link axes. Layouts: ball q = quaternion wxyz, v = omega in link
    axes; floating q = position and quaternion wxyz, v = linear then angular, in link axes.
    """

    parent: int
    kind: str
    axis: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    R: Array = field(default_factory=lambda: np.eye(3))
    p: Array = field(default_factory=lambda: np.zeros(3))
    anchor: Array = field(default_factory=lambda: np.zeros(3))
    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    armature: float = 0.0
    name: str = ""


SIZES = {"fixed": (0, 0), "revolute": (1, 1), "prismatic": (1, 1), "ball": (4, 3), "floating": (7, 6)}


def rpy(roll: float, pitch: float, yaw: float) -> Array:
    """Rotation Rz(yaw) Ry(pitch) Rx(roll): turns about fixed axes x, y, z.

    Source: URDF, element `origin`.
    """
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    turn_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    turn_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    turn_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return turn_z @ turn_y @ turn_x


def quaternion_rotation(quat_wxyz: Array) -> Array:
    """Rotation of a quaternion (w, u): (w^2 - u.u) 1 + 2 u u^T + 2 w [u]x over its squared norm."""
    w, u = quat_wxyz[0], np.asarray(quat_wxyz[1:])
    skew = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return ((w**2 - u @ u) * np.eye(3) + 2 * np.outer(u, u) + 2 * w * skew) / (w**2 + u @ u)


def turn(vector: Array) -> Array:
    """Rotation by a rotation vector, 1 + sin(t)/t [r]x + (1 - cos t)/t^2 [r]x^2, analytic in complex components.

    Source: Rodrigues' formula; Lynch and Park 2017, chapter 3.2.
    """
    r = np.asarray(vector)
    skew = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
    square = r @ r
    if abs(square) < 1e-8:
        first, second = 1 - square / 6, 0.5 - square / 24
    else:
        angle = np.sqrt(square + 0j) if np.iscomplexobj(r) else np.sqrt(square)
        first, second = np.sin(angle) / angle, (1 - np.cos(angle)) / square
    return np.eye(3) + first * skew + second * skew @ skew


def poses_along(links: Sequence[Link], q: Array, v: Array, a: Array, t: complex) -> list[tuple[Array, Array]]:
    """Link poses (R, p) in the world at time t of a motion with configuration q, velocity v, acceleration a at t = 0.

    Scalar joints: q + v t + a t^2/2. Ball: R(q) turn(omega t + alpha t^2/2), whose angular velocity and acceleration in
    link axes are omega and alpha at t = 0. Floating: also p + R (v t + (a + omega x v) t^2/2), since the component
    derivative a of v is not the ordinary acceleration.
    """
    poses: list[tuple[Array, Array]] = []
    iq = iv = 0
    for link in links:
        nq, nv = SIZES[link.kind]
        x, rate, change = q[iq : iq + nq], v[iv : iv + nv], a[iv : iv + nv]
        iq, iv = iq + nq, iv + nv
        step = rate * t + change * t**2 / 2
        R, shift = np.eye(3), np.zeros(3)
        if link.kind == "revolute":
            R = turn((x + step) * link.axis)
        elif link.kind == "prismatic":
            shift = (x + step) * link.axis
        elif link.kind == "ball":
            R = quaternion_rotation(x) @ turn(step)
        elif link.kind == "floating":
            R = quaternion_rotation(x[3:]) @ turn(step[3:])
            ordinary = change[:3] + np.cross(rate[3:], rate[:3])
            shift = x[:3] + quaternion_rotation(x[3:]) @ (rate[:3] * t + ordinary * t**2 / 2)
        shift = shift + link.anchor - R @ link.anchor
        R_parent, p_parent = poses[link.parent] if link.parent >= 0 else (np.eye(3), np.zeros(3))
        poses.append((R_parent @ link.R @ R, p_parent + R_parent @ (link.p + link.R @ shift)))
    return poses


def _motion(links: Sequence[Link], q: Array, v: Array, a: Array, t: float) -> list[tuple[Array, Array, Array, Array]]:
    """Per link at time t: R, velocities of origin and centre of mass (world), angular velocity (link axes)."""
    h = 1e-30
    moved = []
    for link, (R, p) in zip(links, poses_along(links, q, v, a, t + 1j * h), strict=True):
        spin = R.real.T @ (R.imag / h)
        omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        moved.append((R.real, p.imag / h, (p + R @ link.com).imag / h, omega))
    return moved


def virtual_power_effort(
    links: Sequence[Link],
    q: Array,
    v: Array,
    a: Array,
    *,
    gravity: Array = GRAVITY,
    wrenches: dict[int, Array] | None = None,
) -> Array:
    """Joint efforts of a tree with any joints, by the principle of virtual power and Cartesian derivatives.

    tau_j = sum over links of  dv_c/dv_j . m (a_c - g) + domega/dv_j . (I alpha + omega x I omega)
                               - dv_o/dv_j . f - domega/dv_j . n        + armature_j a_j

    Velocities are complex-step derivatives of positions, accelerations fourth-order differences of those.

    Args:
        links: the tree.
        q: (nq,) configuration, layout in `Link`.
        v: (nv,) velocity.
        a: (nv,) acceleration, the component derivatives of v.
        gravity: (3,) [m/s^2] in world axes.
        wrenches: per link index (6,) [N m | N] of the surroundings on the link, about its origin, in its axes.

    Returns:
        (nv,) [N m | N].
    Source: the argument of Recursive Algorithms, "Why RNEA Agrees With Lagrangian Mechanics".
    """
    h = 1e-3
    now = _motion(links, q, v, a, 0.0)
    before2, before1, after1, after2 = (_motion(links, q, v, a, t) for t in (-2 * h, -h, h, 2 * h))
    units = [_motion(links, q, unit, np.zeros_like(a), 0.0) for unit in np.eye(len(v))]
    tau = _armature(links) * a
    for i, link in enumerate(links):
        a_com, alpha = (
            (before2[i][k] - 8 * before1[i][k] + 8 * after1[i][k] - after2[i][k]) / (12 * h) for k in (2, 3)
        )
        R, omega = now[i][0], now[i][3]
        force = link.mass * (a_com - gravity)
        moment = link.inertia @ alpha + np.cross(omega, link.inertia @ omega)
        n, f = np.split(np.asarray((wrenches or {}).get(i, np.zeros(6)), dtype=float), 2)
        for j, unit in enumerate(units):
            _, v_origin, v_com, spin = unit[i]
            tau[j] += v_com @ force + spin @ moment - v_origin @ (R @ f) - spin @ n
    return tau


def cartesian_mass_matrix(links: Sequence[Link], q: Array) -> Array:
    """Mass matrix of a tree with any joints: sum of m J_c^T J_c + J_w^T I J_w, plus armature on the diagonal.

    Source: Recursive Algorithms, "Why RNEA Agrees With Lagrangian Mechanics"; Lynch and Park 2017, chapter 8.1.
    """
    nv = sum(SIZES[link.kind][1] for link in links)
    units = [_motion(links, q, unit, np.zeros(nv), 0.0) for unit in np.eye(nv)]
    M = np.diag(_armature(links))
    for i, link in enumerate(links):
        J_com = np.stack([unit[i][2] for unit in units], axis=1)
        J_spin = np.stack([unit[i][3] for unit in units], axis=1)
        M += link.mass * J_com.T @ J_com + J_spin.T @ link.inertia @ J_spin
    return M


def potential_energy(links: Sequence[Link], q: Array, gravity: Array = GRAVITY) -> float:
    """U = - sum over links of m g . c, in the field `gravity` (3,) of the world."""
    nv = sum(SIZES[link.kind][1] for link in links)
    poses = poses_along(links, q, np.zeros(nv), np.zeros(nv), 0.0)
    return float(-sum(b.mass * gravity @ (p + R @ b.com) for b, (R, p) in zip(links, poses, strict=True)))


def lagrangian_effort(links: Sequence[Link], q: Array, v: Array, a: Array, *, gravity: Array = GRAVITY) -> Array:
    """Joint efforts of a tree of fixed, revolute and prismatic joints, by Lagrange's equations.

    tau = M a + sum_jk (dM_ij/dq_k - 1/2 dM_jk/dq_i) v_j v_k + dU/dq

    M comes from Cartesian Jacobians, the derivatives are fourth-order central differences.

    Returns:
        (nv,) [N m | N].

    Raises:
        ValueError: a joint whose velocity is no derivative of its coordinates.
    Source: Lynch and Park 2017, chapter 8.1; Recursive Algorithms, "An Independent Cartesian Recursion".
    """
    if any(link.kind in {"ball", "floating"} for link in links):
        raise ValueError("lagrangian_effort takes scalar joints; use virtual_power_effort for ball and floating joints")
    dm = _gradient(lambda x: cartesian_mass_matrix(links, x), q)
    du = _gradient(lambda x: np.array(potential_energy(links, x, gravity)), q)
    velocity_product = np.einsum("ijk,j,k->i", dm, v, v) - 0.5 * np.einsum("jki,j,k->i", dm, v, v)
    return cartesian_mass_matrix(links, q) @ a + velocity_product + du


def _armature(links: Sequence[Link]) -> Array:
    return np.concatenate([np.full(SIZES[link.kind][1], link.armature) for link in links])


def _jacobian(function: Callable[[Array], Array], q: Array) -> Array:
    """Complex-step derivative of a real-analytic function; the last axis belongs to q."""
    h = 1e-30
    return np.stack([function(q + 1j * h * unit).imag / h for unit in np.eye(len(q))], axis=-1)


def _gradient(function: Callable[[Array], Array], q: Array) -> Array:
    """Fourth-order central difference; the last axis belongs to q."""
    h = 1e-3
    return np.stack(
        [
            (function(q - 2 * s) - 8 * function(q - s) + 8 * function(q + s) - function(q + 2 * s)) / (12 * h)
            for s in h * np.eye(len(q))
        ],
        axis=-1,
    )


# --- The branched tree with parents (0, 1, 1, 3) ----------------------------------------------------------------------
def _turned(diagonal: Sequence[float], *angles: float) -> Array:
    R = rpy(*angles)
    return R @ np.diag(diagonal) @ R.T


# Parents as the text counts them: bodies 1 to 4, base 0. The shape is that of Recursive Algorithms, figure 1; the
# dimensions are ours, with no two axes parallel and no inertial frame along its link.
BRANCHED_PARENTS = (0, 1, 1, 3)
BRANCHED = (
    Link(
        -1, "revolute", np.array([0.0, 0.6, 0.8]), rpy(0.2, -0.3, 0.5), np.array([0.1, -0.2, 0.4]),
        mass=2.1, com=np.array([0.06, -0.03, 0.15]),
        inertia=_turned((0.021, 0.034, 0.046), 0.7, -0.4, 1.1), name="body_1",
    ),
    Link(
        0, "revolute", np.array([0.48, 0.6, 0.64]), rpy(-0.6, 0.25, 0.15), np.array([0.15, 0.08, 0.3]),
        mass=0.9, com=np.array([-0.04, 0.12, 0.05]),
        inertia=_turned((0.006, 0.0085, 0.011), -0.5, 0.9, 0.3), name="body_2",
    ),
    Link(
        0, "prismatic", np.array([0.8, 0.0, -0.6]), rpy(0.4, 0.8, -0.7), np.array([-0.12, 0.05, 0.28]),
        mass=1.3, com=np.array([0.02, -0.07, 0.09]),
        inertia=_turned((0.009, 0.0125, 0.015), 0.3, -0.8, 0.6), name="body_3",
    ),
    Link(
        2, "revolute", np.array([-0.6, 0.64, 0.48]), rpy(-0.9, 0.1, 1.2), np.array([0.03, 0.2, -0.06]),
        mass=0.7, com=np.array([0.11, 0.02, -0.04]),
        inertia=_turned((0.0031, 0.0042, 0.0055), 1.3, 0.2, -0.5), name="body_4",
    ),
)  # fmt: skip
BRANCHED_Q = np.array([0.4, -0.7, 0.15, 1.1])
BRANCHED_QD = np.array([0.9, -1.3, 0.6, 1.7])
BRANCHED_QDD = np.array([-0.8, 1.1, 0.5, -1.4])
# On body 1 and on both leaves, moment first, about each body origin in body axes.
BRANCHED_WRENCHES = {
    0: np.array([0.3, -0.5, 0.2, 4.0, -1.0, 2.5]),
    1: np.array([-0.1, 0.25, 0.4, 1.5, 3.0, -2.0]),
    3: np.array([0.15, 0.05, -0.35, -2.2, 0.8, 1.9]),
}
