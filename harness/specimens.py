"""Specimen trees for an adapter: one concern each, so that whatever fails says what is wrong; seeded, so that it stays.

The moments of every body are distinct, its axes turned, its centre of mass and every joint displaced: a symmetric robot
hides mistakes. Where a concern is not about gravity, gravity is the standard one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from .spatial import rotation_from_quaternion, transform, unit
from .tree import STANDARD_GRAVITY, Body, Inertia, Joint, JointKind, TendonInertia, Tree, world

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from .tree import Floats

Parents: TypeAlias = Literal["chain", "tree"]

HINGE: Final = (JointKind.REVOLUTE,)
ONE_DOF: Final = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC)
LIMITED: Final = (JointKind.REVOLUTE, JointKind.PRISMATIC)
MIXTURES: Final = 3


@dataclass(frozen=True)
class Specimen:
    """A tree that asks one thing of an engine.

    Attributes:
        concern: what it asks for, in words that can follow "no": an engine that cannot hold it has that limit.
        tree: in which nothing else is unusual.
        mixture: whether it puts together what was asked for one by one.
    """

    concern: str
    tree: Tree
    mixture: bool = False


@dataclass(frozen=True)
class Grower:
    """What the joints and bodies of a tree may be.

    Attributes:
        rng: every number is drawn from it.
        kinds: of joints, drawn evenly.
        armature: whether joints have reflected inertia.
        anchored: whether bodies are displaced on the moving side of their joint.
        shifted: whether coordinates do not begin at zero.
        massless: share of links inside the tree that resist no motion.
    """

    rng: np.random.Generator
    kinds: tuple[JointKind, ...] = HINGE
    armature: bool = False
    anchored: bool = False
    shifted: bool = False
    massless: float = 0.0
    bodies: list[Body] = field(default_factory=lambda: [world()])

    def grow(self, count: int, parents: Parents = "tree", root: JointKind | None = None) -> Tree:
        """Return a tree of so many bodies beside the world; each hangs on the last one, or on one of the last four.

        Args:
            count: of bodies, at least 1.
            parents: "chain" or "tree".
            root: kind of the first joint, else as all the others.
        """
        while len(self.bodies) <= count:
            i = len(self.bodies)
            parent = i - 1 if parents == "chain" or i < 3 else int(self.rng.integers(max(1, i - 4), i))
            kind = root if root is not None and i == 1 else self.kinds[int(self.rng.integers(len(self.kinds)))]
            self.add(kind, parent)
        return self.tree()

    def add(self, kind: JointKind, parent: int) -> None:
        """Hang one body on another."""
        i = len(self.bodies)
        self.bodies.append(Body(f"body{i}", parent, self.joint(f"joint{i}", kind), self.inertia()))

    def tree(self, gravity: tuple[float, ...] | Floats = STANDARD_GRAVITY) -> Tree:
        """Return the tree, with links inside it that are without mass where that was asked for."""
        holders = {body.parent for body in self.bodies}
        bodies = list(self.bodies)
        for i, body in enumerate(bodies[1:], 1):
            # Whoever hangs on a massless link must have mass, or there would be a direction without inertia.
            inside = i in holders and body.joint.nv == 1 and not bodies[body.parent].inertia.is_zero
            if (inside or (body.parent == 0 and i in holders)) and self.rng.random() < self.massless:
                bodies[i] = replace(body, inertia=Inertia())
        return Tree("specimen", tuple(bodies), gravity=np.asarray(gravity, np.float64))

    def rotation(self) -> Floats:
        """Return a rotation, uniform on SO(3)."""
        return np.asarray(rotation_from_quaternion(self.rng.normal(size=4)), np.float64)

    def placement(self, R: Floats, reach: float) -> Floats:
        """Return (4, 4) with this rotation and up to so many metres per axis."""
        return np.asarray(transform(R, self.rng.uniform(-reach, reach, 3)), np.float64)

    def inertia(self) -> Inertia:
        """Return a physical inertia: a tensor of second moments satisfies the triangle inequality."""
        R, spread, mass = self.rotation(), self.rng.uniform(0.01, 0.1, 3), self.rng.uniform(0.1, 5)
        I = R @ np.diag(spread.sum() - spread) @ R.T * mass
        return Inertia(mass, self.rng.uniform(-0.2, 0.2, 3), (I + I.T) / 2)

    def joint(self, name: str, kind: JointKind) -> Joint:
        """Return a joint, turned and displaced."""
        rng = self.rng
        anchor = self.anchored and kind in (*ONE_DOF, JointKind.BALL)
        shifted = self.shifted and kind in ONE_DOF
        limited = kind in LIMITED
        return Joint(
            name,
            kind,
            axis=np.asarray(unit(rng.normal(size=3)), np.float64),
            T_parent_joint=self.placement(self.rotation(), 0.5),
            T_joint_body=self.placement(np.eye(3), 0.2) if anchor else np.eye(4),
            ref=rng.uniform(-1, 1) if shifted else 0.0,
            lower=rng.uniform(-2, -0.1) if limited else -np.inf,
            upper=rng.uniform(0.1, 2) if limited else np.inf,
            armature=rng.uniform(0.05, 0.5) if self.armature else 0.0,
        )


def _one_kind(kind: JointKind) -> Callable[[np.random.Generator], Tree]:
    return lambda rng: Grower(rng, (kind,)).grow(5)


def _floating_below(rng: np.random.Generator) -> Tree:
    """Return a chain in which a body floats against a link that moves itself."""
    grower = Grower(rng)
    for i, kind in enumerate((JointKind.REVOLUTE, JointKind.FLOATING, JointKind.REVOLUTE)):
        grower.add(kind, i)
    return grower.tree()


def _fixed_inside(rng: np.random.Generator) -> Tree:
    """Return a tree in which links are fixed to the world, to one another and to links that move."""
    grower, fixed, hinge = Grower(rng), JointKind.FIXED, JointKind.REVOLUTE
    for kind, parent in ((fixed, 0), (hinge, 1), (fixed, 2), (fixed, 3), (hinge, 4), (fixed, 5), (hinge, 2)):
        grower.add(kind, parent)
    return grower.tree()


def _several_mechanisms(rng: np.random.Generator) -> Tree:
    """Return two arms that both stand on the world."""
    grower = Grower(rng)
    for parent in (0, 1, 0, 3):
        grower.add(JointKind.REVOLUTE, parent)
    return grower.tree()


def _tendon(rng: np.random.Generator) -> Tree:
    """Return an arm whose first and last joint are coupled by the inertia of a tendon."""
    tree = Grower(rng).grow(4, "chain")
    names = [joint.name for joint in tree.joints[1:]]
    return replace(tree, tendons=(TendonInertia("tendon", 0.3, {names[0]: 1.5, names[-1]: -0.5}),))


def _tilted(rng: np.random.Generator) -> Tree:
    grower = Grower(rng)
    grower.grow(4)
    return grower.tree(rng.uniform(-10, 10, 3))


# What is asked for, in the order of a report, to what makes the tree.
CONCERNS: Final[dict[str, Callable[[np.random.Generator], Tree]]] = {
    "revolute joints": _one_kind(JointKind.REVOLUTE),
    "continuous joints": _one_kind(JointKind.CONTINUOUS),
    "prismatic joints": _one_kind(JointKind.PRISMATIC),
    "ball joints": _one_kind(JointKind.BALL),
    "planar joints": _one_kind(JointKind.PLANAR),
    "fixed joints": _fixed_inside,
    "floating base": lambda rng: Grower(rng).grow(5, root=JointKind.FLOATING),
    "floating joint below another body": _floating_below,
    "several mechanisms": _several_mechanisms,
    "gravity that is not along z": _tilted,
    "armature": lambda rng: Grower(rng, armature=True).grow(5),
    "armature of a floating base": lambda rng: Grower(rng, armature=True).grow(4, root=JointKind.FLOATING),
    "tendon armature": _tendon,
    "reference position": lambda rng: Grower(rng, shifted=True).grow(5),
    "anchors": lambda rng: Grower(rng, anchored=True).grow(5),
    "massless links": lambda rng: Grower(rng, massless=1.0).grow(8),
    "chain of 30 joints": lambda rng: Grower(rng).grow(30, "chain"),
    "tree of 40 bodies": lambda rng: Grower(rng).grow(40),
}
# What is asked only of an engine that holds its parts.
PARTS: Final[dict[str, tuple[str, ...]]] = {"armature of a floating base": ("armature", "floating base")}
KINDS: Final[dict[str, JointKind]] = {
    **{f"{kind.value} joints": kind for kind in JointKind if kind is not JointKind.FLOATING},
    "floating joint below another body": JointKind.FLOATING,
}


def specimens(seed: int = 0) -> tuple[Specimen, ...]:
    """Return one specimen per concern; each depends on the seed and on its own name alone."""
    return tuple(Specimen(concern, make(_rng(seed, concern))) for concern, make in CONCERNS.items())


def mixtures(held: Collection[str], seed: int = 0) -> tuple[Specimen, ...]:
    """Return random trees that put together whatever an engine holds one by one.

    Args:
        held: concerns that it holds.
        seed: of the draw.
    """
    kinds = tuple(kind for concern, kind in KINDS.items() if concern in held)
    return tuple(_mixture(kinds, held, seed, n) for n in range(1, MIXTURES + 1)) if kinds else ()


def _mixture(kinds: tuple[JointKind, ...], held: Collection[str], seed: int, n: int) -> Specimen:
    concern = f"mixture {n} of all that it holds"
    rng = _rng(seed, concern)
    free = n == MIXTURES and "floating base" in held
    grower = Grower(
        rng,
        kinds,
        armature="armature" in held and (not free or "armature of a floating base" in held),
        anchored="anchors" in held,
        shifted="reference position" in held,
        massless=0.3 if "massless links" in held else 0.0,
    )
    grower.grow(4 + 4 * n, root=JointKind.FLOATING if free else None)
    return Specimen(
        concern,
        grower.tree(rng.uniform(-10, 10, 3) if "gravity that is not along z" in held else STANDARD_GRAVITY),
        mixture=True,
    )


def _rng(seed: int, concern: str) -> np.random.Generator:
    return np.random.default_rng([seed, *concern.encode()])
