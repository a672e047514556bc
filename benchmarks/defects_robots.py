"""Robots to plant defects in: random ones, serial, branching or with left and right limbs, and those of a package."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np

import tautology
from tautology.harness.errors import HarnessError
from tautology.harness.exporters import write_mjcf, write_urdf
from tautology.harness.spatial import exp_so3, rotation_from_quaternion, transform, unit
from tautology.harness.tree import Body, Closure, Inertia, Joint, JointKind, Medium, TendonInertia, Tree, world

PACKAGE = "example-robot-data"
MOST_DOFS = 40  # of a real robot; larger ones say nothing new and cost minutes
ONE_DOF = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC)


@dataclass(frozen=True)
class Robot:
    """A robot as text: exported files by format, only those that hold all of it."""

    name: str
    texts: dict[str, str]
    real: bool


def random_inertia(rng: Any, size: float) -> Inertia:
    """Return a body with three distinct moments in turned axes, its centre of mass off its frame."""
    spread = size**2 * rng.uniform(0.05, 1, 3)
    R = rotation_from_quaternion(rng.normal(size=4))
    mass = float(10 ** rng.uniform(-0.7, 1))
    I = mass * (R @ np.diag(spread.sum() - spread) @ R.T)
    return Inertia(mass, rng.uniform(-1, 1, 3) * size, (I + I.T) / 2)


class Maker:
    """Grows a tree body by body."""

    def __init__(self, rng: Any, plain: bool) -> None:
        self.rng, self.plain = rng, plain
        self.bodies: list[Body] = [world()]

    def add(self, name: str, parent: int, kind: JointKind, inertia: Inertia | None = None) -> int:
        """Add a body with a random placement; returns its index."""
        rng = self.rng
        turned = rng.random() < 0.7
        R = rotation_from_quaternion(rng.normal(size=4)) if turned else np.eye(3)
        p = rng.uniform(-0.4, 0.4, 3)
        axis = unit(rng.normal(size=3)) if rng.random() < 0.5 else np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
        self.put(name, parent, kind, transform(R, p), axis, inertia or random_inertia(rng, 0.15))
        return len(self.bodies) - 1

    def put(self, name: str, parent: int, kind: JointKind, T: Any, axis: Any, inertia: Inertia) -> None:
        """Add a body where it is told to stand."""
        rng, fields = self.rng, {}
        if kind in ONE_DOF:
            fields = {"axis": axis, "damping": float(rng.choice([0, rng.uniform(0.01, 1)]))}
            fields["friction"] = float(rng.choice([0, rng.uniform(0.01, 1)]))
            if kind is not JointKind.CONTINUOUS:
                fields |= {"lower": -float(rng.uniform(0.2, 2.5)), "upper": float(rng.uniform(0.2, 2.5))}
            fields |= {"effort": 50.0, "speed": 3.0} if self.plain else self._terms()
        if kind is JointKind.FLOATING:
            T = np.eye(4)  # MJCF counts its coordinates from the world
        joint = Joint(
            name.replace("link", "joint") if "link" in name else f"{name}_joint", kind, T_parent_joint=T, **fields
        )
        self.bodies.append(Body(name, parent, joint, inertia))

    def _terms(self) -> dict[str, Any]:
        """Return what only MJCF can say of a joint."""
        rng = self.rng
        terms: dict[str, Any] = {"armature": float(rng.choice([0, rng.uniform(0.01, 0.3)]))}
        if rng.random() < 0.4:
            terms |= {"rotor": float(rng.uniform(0.01, 0.3)), "actuated": True}
        if rng.random() < 0.3:
            terms |= {"stiffness": float(rng.uniform(1, 50)), "rest": [float(rng.uniform(-1, 1))]}
        if rng.random() < 0.3:
            terms["ref"] = float(rng.uniform(-1, 1))
        if rng.random() < 0.3:
            terms["T_joint_body"] = transform(np.eye(3), rng.uniform(-0.1, 0.1, 3))
        return terms

    def kind(self) -> JointKind:
        """Return a joint kind, mostly turning ones; balls where the format has them."""
        kinds = [JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.FIXED]
        weights = [0.45, 0.15, 0.15, 0.15 + 0.1 * self.plain]
        if not self.plain:
            kinds, weights = [*kinds, JointKind.BALL], [*weights, 0.1]
        return kinds[int(self.rng.choice(len(kinds), p=weights))]

    def chain(self, prefix: str, parent: int, count: int) -> int:
        """Add a serial limb; now and then a frame without mass."""
        for k in range(count):
            if self.rng.random() < 0.15:
                self.add(f"{prefix}_frame{k}", parent, JointKind.FIXED, Inertia())
            parent = self.add(f"{prefix}_link{k}", parent, JointKind.REVOLUTE if k == 0 else self.kind())
        return parent

    def mirrored(self, first: int, old: str, new: str, parent: int) -> None:
        """Add the mirror image, across the plane y = 0 of the parent, of the bodies from `first` on."""
        Y = np.diag([1.0, -1, 1])
        count = len(self.bodies)
        for i in range(first, count):
            body = self.bodies[i]
            I = body.inertia
            above = parent if body.parent < first else body.parent + count - first
            T = np.eye(4)
            T[:3, :3] = Y @ body.joint.T_parent_joint[:3, :3] @ Y
            T[:3, 3] = Y @ body.joint.T_parent_joint[:3, 3]
            mirror = Inertia(I.mass, Y @ I.com, Y @ I.I_com @ Y)
            # An axis is a pseudo-vector of a turn and a vector of a slide; here both turn alike.
            self.put(body.name.replace(old, new), above, body.joint.kind, T, Y @ body.joint.axis, mirror)


def random_tree(rng: Any, *, plain: bool) -> Tree:
    """Return a random robot.

    Args:
        rng: generator.
        plain: only what URDF and MJCF can both hold.
    """
    maker = Maker(rng, plain)
    free = bool(rng.random() < 0.35)
    base = maker.add("base_link", 0, JointKind.FLOATING if free else JointKind.FIXED)
    if not free:
        body = maker.bodies[base]
        maker.bodies[base] = Body(body.name, 0, Joint(body.joint.name, JointKind.FIXED), body.inertia)
    shape = rng.choice(["serial", "branching", "limbs"])
    if shape == "serial":
        maker.chain("arm", base, int(rng.integers(4, 8)))
    elif shape == "branching":
        ends = [base]
        for k in range(int(rng.integers(2, 4))):
            ends.append(maker.chain(f"branch{k}", int(rng.choice(ends)), int(rng.integers(2, 4))))
    else:
        torso = maker.add("torso_link", base, JointKind.REVOLUTE)
        for limb in ("arm", "leg")[: int(rng.integers(1, 3))]:
            first = len(maker.bodies)
            maker.chain(f"left_{limb}", torso, int(rng.integers(2, 4)))
            maker.mirrored(first, "left", "right", torso)
    return _finished(rng, maker.bodies, plain)


def _finished(rng: Any, bodies: list[Body], plain: bool) -> Tree:
    """Return the tree with what couples joints, and its surroundings."""
    movers = [b.joint.name for b in bodies[1:] if b.joint.kind in ONE_DOF]
    closures, tendons = (), ()
    if rng.random() < 0.3 and len(movers) > 1:
        relation = (0.0 if rng.random() < 0.5 else float(rng.uniform(-1, 1)), float(rng.uniform(0.5, 2)))
        closures = (Closure("mimic", movers[-1], (movers[-1], movers[0]), relation),)
    gravity, medium = np.array([0, 0, -9.81]), Medium()
    if not plain:
        if rng.random() < 0.4 and len(movers) > 1:
            tendons = (TendonInertia("belt", float(rng.uniform(0.05, 0.5)), {movers[0]: 1.0, movers[-1]: -0.7}),)
        medium = Medium(1.2, 1.8e-5) if rng.random() < 0.3 else medium
        if rng.random() < 0.3:
            gravity = rotation_from_quaternion(exp_so3(rng.normal(size=3) * 0.3)) @ gravity
    return Tree("robot", tuple(bodies), gravity, closures, tendons, medium=medium)


def random_robot(rng: Any) -> Robot:
    """Return a random robot as text, half of them in both formats."""
    if rng.random() < 0.5:
        tree = random_tree(rng, plain=True)
        return Robot("random", {"urdf": write_urdf(tree).text, "mjcf": write_mjcf(tree).text}, real=False)
    return Robot("random", {"mjcf": write_mjcf(random_tree(rng, plain=False)).text}, real=False)


@cache
def real_robots() -> list[Robot]:
    """Return the URDFs of the package that have a dof, as exported; MJCF where MuJoCo can hold the robot whole."""
    package = distribution(PACKAGE)
    robots: list[Robot] = []
    for file in sorted(package.files or (), key=str):
        if file.suffix != ".urdf":
            continue
        try:
            tree = tautology.load(Path(str(package.locate_file(file))))
        except HarnessError:
            continue  # the package has a file without a name of its robot
        if not 0 < tree.nv <= MOST_DOFS:
            continue
        texts = {"urdf": write_urdf(tree).text}
        mjcf = write_mjcf(tree)
        if not any(loss.touches_dynamics for loss in mjcf.losses):
            texts["mjcf"] = mjcf.text
        robots.append(Robot(file.stem, texts, real=True))
    return robots


def any_robot(rng: Any, real: float) -> Robot:
    """Return a real robot with this probability, else a random one."""
    robots = real_robots() if rng.random() < real else []
    return robots[int(rng.integers(len(robots)))] if robots else random_robot(rng)
