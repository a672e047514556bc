"""Random trees: every joint kind anywhere, massless bodies, branching; from a seeded generator that is passed in."""

from __future__ import annotations

import numpy as np

from tautology.harness.spatial import rotation_from_quaternion, transform, unit
from tautology.harness.tree import Body, Inertia, Joint, JointKind, TendonInertia, Tree, world

MOVING = [kind for kind in JointKind if kind is not JointKind.FIXED]
ONE_DOF = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC)


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    """Return a rotation matrix, uniform on SO(3)."""
    return rotation_from_quaternion(rng.normal(size=4))


def random_transform(rng: np.random.Generator) -> np.ndarray:
    """Return a rigid transform with an offset of up to half a metre per axis."""
    return transform(random_rotation(rng), rng.uniform(-0.5, 0.5, 3))


def random_inertia(rng: np.random.Generator) -> Inertia:
    """Return a physical inertia with three distinct moments in turned axes and an offset centre of mass."""
    R = random_rotation(rng)
    spread = rng.uniform(0.01, 0.1, 3)  # second moments: the tensor then satisfies the triangle inequality
    mass = rng.uniform(0.1, 5)
    I = R @ np.diag(spread.sum() - spread) @ R.T * mass
    return Inertia(mass, rng.uniform(-0.2, 0.2, 3), (I + I.T) / 2)


def random_joint(rng: np.random.Generator, name: str, kind: JointKind, *, armature: bool = False) -> Joint:
    """Return a joint of this kind, turned and offset, with a shifted zero where the kind has one."""
    anchored = kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.BALL)
    limited = kind in (JointKind.REVOLUTE, JointKind.PRISMATIC)
    return Joint(
        name,
        kind,
        axis=unit(rng.normal(size=3)) if rng.random() < 0.7 else np.eye(3)[rng.integers(3)] * rng.choice([-1, 1]),
        T_parent_joint=random_transform(rng),
        T_joint_body=transform(np.eye(3), rng.uniform(-0.1, 0.1, 3)) if anchored and rng.random() < 0.3 else np.eye(4),
        ref=rng.uniform(-1, 1) if kind in ONE_DOF and rng.random() < 0.3 else 0.0,
        lower=rng.uniform(-2, -0.1) if limited else -np.inf,
        upper=rng.uniform(0.1, 2) if limited else np.inf,
        armature=rng.uniform(0, 0.5) if armature and rng.random() < 0.5 else 0.0,
    )


def random_tree(
    rng: np.random.Generator,
    count: int,
    *,
    kinds: list[JointKind] | None = None,
    floating_root: bool = False,
    armature: bool = False,
    massless: float = 0.1,
    tendons: bool = False,
) -> Tree:
    """Return a tree of `count` bodies beside the world, with random gravity.

    A massless body never is a leaf behind a moving joint, so that M stays regular: such bodies get inertia at the end.
    """
    kinds = list(JointKind) if kinds is None else kinds
    bodies = [world()]
    for i in range(1, count + 1):
        parent = 0 if i == 1 else int(rng.integers(max(0, i - 4), i))
        kind = JointKind.FLOATING if i == 1 and floating_root else kinds[int(rng.integers(len(kinds)))]
        joint = random_joint(rng, f"joint{i}", kind, armature=armature)
        inertia = Inertia() if rng.random() < massless else random_inertia(rng)
        bodies.append(Body(f"body{i}", parent, joint, inertia))
    parents = {body.parent for body in bodies}
    for i, body in enumerate(bodies[1:], 1):
        # Neither leaves nor bodies on joints with several dofs may be without inertia of their own.
        if body.inertia.is_zero and (i not in parents or body.joint.nv > 1 or _fixed_below(bodies, i)):
            bodies[i] = Body(body.name, body.parent, body.joint, random_inertia(rng))
    movers = [b.joint.name for b in bodies[1:] if b.joint.kind in ONE_DOF]
    belts = ()
    if tendons and len(movers) >= 2:
        belts = (TendonInertia("belt", 0.3, {movers[0]: 1.5, movers[-1]: -0.5}),)
    return Tree("random", tuple(bodies), gravity=rng.uniform(-10, 10, 3), tendons=belts)


def _fixed_below(bodies: list[Body], i: int) -> bool:
    """Return whether all children of body i are massless too or a chain could slide freely: keep it simple and safe."""
    return all(b.inertia.is_zero for b in bodies[1:] if b.parent == i)
