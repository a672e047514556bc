"""Engine adapters, one engine per file; `reference` is the native engine.

The cards say what is known of an engine without importing it, so that `tautology engines` stays fast.
"""

from __future__ import annotations

from ..harness.engine import EngineCard

REFERENCE = EngineCard(
    name="reference",
    module="adapters.reference",
    distribution="tautology",
    install="pip install tautology",
    licence="Apache-2.0",
    formats=(),
    answers="RNEA, CRBA, ABA, energies, momentum, Jacobians: in float64 and longdouble",
    conventions=(),
    ledger={"inverse_dynamics": "rigid + armature + rotor + tendon armature", "mass_matrix": "the same"},
)

PINOCCHIO = EngineCard(
    name="pinocchio",
    module="adapters.pinocchio_",
    distribution="pin",
    install="pip install 'pin>=4.0,<5'",
    licence="BSD-2-Clause",
    formats=("urdf", "mjcf", "pinocchio"),
    answers="rnea, crba, aba, energies, momentum, Jacobians; up to 250 dofs",
    conventions=(
        "quaternions are x, y, z, w",
        "continuous and planar angles are cosine and sine",
        "twists and wrenches are linear first; base velocity and acceleration are in base axes, spatial",
        "joints of a URDF stand depth-first, siblings sorted by joint name",
        "external wrenches act on the body, in the axes and at the origin of its joint frame",
        "fixed links are merged into their holder; what is welded to the world is in no energy and no centre of mass",
        "several MJCF joints on one body are one composite joint",
    ),
    ledger={
        "rnea": "rigid + armature",
        "nonLinearEffects, computeGeneralizedGravity": "rigid",
        "crba, aba": "rigid + armature",
        "computeKineticEnergy": "rigid + armature, but not that of revolute joints on slanted axes",
        "in no call": "damping, friction, springs, rotorInertia, tendon armature (added by the neutral path)",
    },
)

MUJOCO = EngineCard(
    name="mujoco",
    module="adapters.mujoco_",
    distribution="mujoco",
    install="pip install 'mujoco>=4.0,<5'",
    licence="Apache-2.0",
    formats=("urdf", "mjcf", "mujoco"),
    answers="mj_rne, mj_makeM, mj_solveM, energies, momentum, Jacobians; up to 1,023 moving bodies in a row",
    conventions=(
        "base velocity is linear first: linear in world axes, angular in base axes; base acceleration is ordinary",
        "the pose of a free joint is absolute, quaternions are w, x, y, z",
        "a planar joint is two slides and a hinge, a floating joint below another body three slides and a ball",
        "joints stand depth-first, siblings in document order; links without a dof are merged away (fusestatic, URDF)",
        "mj_rne takes no external wrenches: mj_applyFT maps them to efforts; mj_jacBody does so once more, as a check",
        "masses and tensors of the neutral path are written into the compiled model, so that none is refused",
    ),
    ledger={
        "mj_rne": "rigid alone",
        "mj_crb": "rigid + armature of joints and their actuators; it multiplies qacc, also on free joints",
        "mj_makeM, mj_factorM, mj_solveM": "mj_crb + tendon armature, without coupling between branches",
        "mj_objectVelocity, mj_subtreeVel": "rigid; the adapter adds armature to the kinetic energy, none to momentum",
        "added by the adapter": "armature to tau; on the neutral path tendon armature to tau, M and energy",
        "mj_inverse": "mj_rne, armature, damping, friction, springs, gravcomp, fluid, limits, contacts; for the ledger",
        "mj_inverse, invdiscrete": "mj_inverse for the next step: implicit damping times the step more",
        "in no answer": "damping, friction, springs, gravcomp, fluid, limits, contacts, inertia of spatial tendons",
    },
)

DART = EngineCard(
    name="dart",
    module="adapters.dart_",
    distribution="dartpy",
    install="pip install 'dartpy>=6.20'",
    licence="BSD-2-Clause",
    formats=("urdf", "mjcf"),
    answers="computeInverseDynamics, getMassMatrix, computeForwardDynamics, energies, Jacobians; up to 500 dofs",
    conventions=(
        "ball and free joints have exponential coordinates; their velocities are not the derivatives of these",
        "base velocity is angular first, both parts in world axes; base acceleration is ordinary",
        "planar joints have their velocity in joint axes, along axes of their own in the plane",
        "twists and wrenches are angular first in body axes, as ours; setExtForce takes world axes unless told",
        "joints of a URDF stand depth-first, siblings sorted by joint name; every link stays a body",
        "the root of a URDF floats by default and is welded here; a link without <inertial> has 1 kg and unit tensor",
        "a URDF is read without its meshes, since DART returns None where one cannot be read",
    ),
    ledger={
        "computeInverseDynamics": "rigid; damping and springs only when asked for, at the next time step",
        "getCoriolisAndGravityForces, getGravityForces, getMassMatrix": "rigid",
        "computeForwardDynamics": "rigid, damping and springs at the next time step; asked of a copy without these",
        "added by the adapter": "armature, rotors and tendon armature, on the neutral path",
        "in no call": "dry friction, armature",
    },
    imports="dartpy",
)

IDYNTREE = EngineCard(
    name="idyntree",
    module="adapters.idyntree_",
    distribution="idyntree",
    install="pip install 'idyntree>=15.1'",
    licence="BSD-3-Clause",
    formats=("urdf",),
    answers="inverseDynamics, getFreeFloatingMassMatrix, ArticulatedBodyAlgorithm (free base), momentum, Jacobians",
    conventions=(
        "every model floats: generalized vectors have six rows of the base in front, left out where the base is fixed",
        "base velocity is MIXED, linear first: of the base origin, in world axes; base acceleration is ordinary",
        "BODY_FIXED and INERTIAL_FIXED are the other representations, in base axes and about the world origin",
        "gravity is part of every state, and what the memory held until it is set: it is set to the model's",
        "external wrenches act on links, linear first, in the representation of the velocities",
        "joints stand in the order of a traversal of its own; mimic joints stay open",
        "a massless root with one fixed child, and massless fixed leaves, become frames of their neighbour",
        "a link with a mass and no <inertia> takes the tensor of the link before it; a tensor without mass is dropped",
    ),
    ledger={
        "inverseDynamics, generalizedBiasForces, getFreeFloatingMassMatrix, ArticulatedBodyAlgorithm": "rigid",
        "added by the adapter": "armature, rotors and tendon armature, on the neutral path",
        "in no call": "damping, friction, limits (kept in the model), armature",
    },
    limits=(
        "planar joints: iDynTree has none",
        "floating joint below another body: iDynTree has one floating joint, at the root",
    ),
)

DRAKE = EngineCard(
    name="drake",
    module="adapters.drake_",
    distribution="drake",
    imports="pydrake",
    install="pip install 'drake>=1.51'",
    licence="BSD-3-Clause",
    formats=("urdf", "mjcf"),
    answers="CalcInverseDynamics, CalcBiasTerm, CalcMassMatrix, forward dynamics, energies, momentum, Jacobians",
    conventions=(
        "base velocity is angular first, both parts in world axes of the body origin; base acceleration is ordinary",
        "a floating pose is quaternion w, x, y, z, then position, absolute where no joint carries the body",
        "a ball is roll, pitch, yaw, its velocity in parent axes; a planar velocity is along the axes of the plane",
        "a root link floats by default: the adapter welds it where the file has it stand",
        "CalcInverseDynamics and CalcBiasTerm contain no gravity; CalcGravityGeneralizedForces is minus dU/dq",
        "external wrenches are SpatialForce on a body, moment first, in axes of any frame",
        "what the default parser repairs is a finding, what SetStrictParsing would refuse a note",
    ),
    ledger={
        "CalcInverseDynamics": "rigid + rotor, no gravity; with MultibodyForces what these hold",
        "CalcBiasTerm": "rigid, no gravity",
        "CalcMassMatrix, CalcKineticEnergy": "rigid + rotor",
        "CalcTimeDerivatives": "all of it: rotor, gravity, damping, springs; damping is set to zero here",
        "CalcForceElementsContribution": "gravity, damping, springs",
        "added by the adapter": "neutral path: armature of joints with several dofs, tendon armature",
        "in no call": "friction, armature of MJCF joints without an actuator, tendons",
    },
)

MJX = EngineCard(
    name="mjx",
    module="adapters.mjx_",
    distribution="mujoco-mjx",
    install="pip install 'mujoco-mjx>=3.17' 'jax>=0.10'",
    licence="Apache-2.0",
    formats=("urdf", "mjcf", "mujoco"),
    answers="rne, crb, factor_m and solve_m, energies, momentum, Jacobians, compiled once per model for 64 states",
    conventions=(
        "mjx.put_model takes what MuJoCo's compiler made of the file: frames, order and coordinates are MuJoCo's",
        "single precision unless jax_enable_x64: the adapter asks for double within its own calls alone, on the CPU",
        "mjx.rne takes no external wrenches: mjx.xfrc_accumulate maps those at centres of mass to efforts",
        "M of less than 60 dofs is dense: a tendon couples joints of different branches",
    ),
    ledger={
        "mjx.rne": "rigid alone",
        "mjx.crb": "rigid + armature of joints; it multiplies qacc, also on free joints",
        "mjx.tendon_armature": "adds the inertia of tendons to M",
        "added by the adapter": "armature to tau and energy; on the neutral path tendon armature to tau, M and energy",
        "in no call": "armature of actuators",
    },
    imports="mujoco.mjx",
    first="compiles this model, some seconds",
)

PYBULLET = EngineCard(
    name="pybullet",
    module="adapters.pybullet_",
    distribution="pybullet",
    install="pip install 'pybullet>=3.2.7' # no wheel beyond Python 3.11: there it takes a C++ compiler",
    licence="Zlib",
    formats=("urdf", "mjcf"),
    answers="calculateInverseDynamics, calculateMassMatrix, calculateJacobian, poses and velocities of links",
    conventions=(
        "loadURDF takes the inertia of the file with URDF_USE_INERTIA_FROM_FILE alone, else that of the shapes",
        "a root link floats by default: the adapter welds it with useFixedBase, and it has no mass then",
        "inverse dynamics and Jacobians of a fixed base are in the axes of its inertial frame, gravity included",
        "a floating base moves in and about its inertial frame, angular first; quaternions are x, y, z, w",
        "velocities of links are those of centres of mass, in world axes; link frames follow from inertial frames",
        "external wrenches act through calculateJacobian, about link origins",
        "the neutral path goes through a URDF on principal axes, and sets gravity in the inertial frame of the base",
    ),
    ledger={
        "calculateInverseDynamics, calculateMassMatrix": "rigid alone",
        "added by the adapter": "neutral path: armature of joints and tendons to tau, M and energy",
        "in no call": "armature, damping, friction, limits",
    },
    limits=(
        "ball joints: PyBullet has no inverse dynamics of spherical joints",
        "planar joints: PyBullet has none",
        "floating joint below another body: PyBullet floats bases alone",
        "efforts with a floating base: calculateInverseDynamics leaves the acceleration of the base out",
    ),
)

NEWTON = EngineCard(
    name="newton",
    module="adapters.newton_",
    distribution="newton",
    install="pip install 'newton>=1.8'",
    licence="Apache-2.0",
    formats=("urdf", "mjcf"),
    answers="eval_inverse_dynamics_force, eval_mass_matrix, eval_fk, eval_jacobian: in float32, on the CPU",
    conventions=(
        "base velocity is that of the centre of mass, linear first, in world axes; base acceleration is ordinary",
        "quaternions are x, y, z, w; the velocity of a ball is in parent axes, of a planar joint along the plane",
        "all MJCF joints of one body are one D6 joint, slides before hinges; coordinates are q - ref",
        "gravity is 9.81 down whatever an MJCF says, unless its flag disables it: the harness names the difference",
        "inverse dynamics takes no wrenches: the transpose of eval_jacobian maps those at centres of mass",
        "tensors that no body can have are corrected when a model is finalized; the neutral path skips that",
    ),
    ledger={
        "eval_mass_matrix, eval_inverse_dynamics_force": "rigid + armature",
        "eval_inverse_dynamics_passive": "rigid",
        "added by the adapter": "neutral path: armature of joints with several dofs, tendon armature",
        "in no call": "damping, friction, springs, tendons",
    },
    eps=2.0**-23,
    first="compiles its kernels once, 20 s",
)

ADAM = EngineCard(
    name="adam",
    module="adapters.adam_",
    distribution="adam-robotics",
    install="pip install 'adam-robotics>=0.5'",
    licence="BSD-3-Clause",
    formats=("urdf",),
    answers="mass_matrix, bias_force, aba (free base), centroidal momentum, Jacobians; NumPy backend, stacks of states",
    conventions=(
        "every model floats: generalized vectors have six rows of the root in front, left out where the root is fixed",
        "root velocity is MIXED, linear first: of the link origin, in world axes; its acceleration is ordinary",
        "gravity is 9.80665 in single precision by default: the model's is handed over",
        "joints stand in the order in which the file writes them; mimic joints stay open",
        "axes are taken at the length that they are written in",
        "a URDF must write every origin of a joint or an inertial and every axis: adam raises where one is left out",
        "inverse dynamics with accelerations is M a and the bias, put together by the adapter",
    ),
    ledger={
        "mass_matrix, bias_force, gravity_term, aba": "rigid",
        "added by the adapter": "armature, rotors and tendon armature, on the neutral path",
        "in no call": "damping, friction, limits, armature",
    },
    imports="adam",
    limits=(
        "prismatic joints: the motion subspace of one cannot be stacked in the NumPy backend",
        "ball joints: adam has none",
        "planar joints: adam has none",
        "floating joint below another body: adam has one floating joint, at the root",
    ),
)

URDFPY = EngineCard(
    name="urdfpy",
    module="adapters.urdfpy_",
    distribution="urchin",
    imports="urchin",
    install="pip install 'urchin>=0.0.29'",
    licence="MIT",
    formats=("urdf",),
    answers="poses of links and the numbers of the file, by the urdfpy API; no dynamics",
    conventions=(
        "urchin is the maintained fork of urdfpy, which cannot be imported on Python 3.10 or newer",
        "poses are in the base link; a floating joint takes a pose",
        "link_fk places a follower by its leader: the adapter takes <mimic> out after loading",
        "meshes are opened when they are shown, and not here",
    ),
    ledger={"in no call": "dynamics"},
    limits=(
        "ball joints: urchin places no link by such a joint",
        "planar joints: urchin places no link by such a joint",
        "dynamics: urchin computes none",
    ),
)

YOURDFPY = EngineCard(
    name="yourdfpy",
    module="adapters.yourdfpy_",
    distribution="yourdfpy",
    install="pip install 'yourdfpy>=0.0.60'",
    licence="MIT",
    formats=("urdf",),
    answers="poses of links and the numbers of the file; no dynamics",
    conventions=(
        "poses are in the base link; planar and floating joints do not move",
        "update_cfg places a follower by its leader: the adapter takes <mimic> out after loading",
        "load_meshes=False: no mesh is opened",
        "a joint that moves by less than 1e-8 keeps its pose: the adapter moves each elsewhere first",
    ),
    ledger={"in no call": "dynamics"},
    limits=(
        "ball joints: yourdfpy places no link by such a joint",
        "planar joints: yourdfpy places no link by such a joint",
        "floating base: yourdfpy places links from their base",
        "floating joint below another body: yourdfpy places no link by such a joint",
        "dynamics: yourdfpy computes none",
    ),
)

CARDS = (REFERENCE, PINOCCHIO, MUJOCO, DART, IDYNTREE, DRAKE, MJX, PYBULLET, NEWTON, ADAM, URDFPY, YOURDFPY)
