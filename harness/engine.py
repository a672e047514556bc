"""The contract of an engine: how it is opened, what a session answers, and in which coordinates.

Every answer is canonical (CONVENTIONS.md): `q | v` in the layout of `harness.tree`, body twists angular first in body
axes about the body origin, wrenches moment first acting on the body in its own frame, spatial base accelerations.
Only the adapter converts. `inverse_dynamics`, `mass_matrix`, `kinetic_energy` and `forward_dynamics` contain reflected
inertia (armature, rotor, fixed-tendon armature) whether or not the engine's own calls do; `bias` and `gravity_forces`
contain none; damping, friction, springs, gravity compensation, fluid, limits and contacts are in no answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .findings import Finding
    from .tree import Tree

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Given:
    """What the user handed over, for the native path.

    Attributes:
        format: "urdf", "mjcf", "tree", "pinocchio" or "mujoco".
        path: the file, or "" for a live object.
        live: a `Tree`, `pinocchio.Model`, `mujoco.MjModel`, `mujoco.MjSpec`, or None for a file.
        freed: true when `--base free` put a floating joint where the file welds the root.
    """

    format: str
    path: str = ""
    live: Any = None
    freed: bool = False


@dataclass(frozen=True, slots=True)
class EngineCard:
    """What is known of an engine without importing it.

    Attributes:
        name: as in `--engine`.
        module: the adapter module, "package.module".
        distribution: PyPI name, whose installed version is the engine's.
        install: the line that installs it.
        licence: SPDX identifier.
        formats: formats of the native path.
        answers: what it computes, in one line.
        conventions: one sentence per convention that the adapter maps.
        ledger: engine call to the terms that it contains, in one line each.
        imports: the module that it is imported as; its name when empty.
        limits: what it cannot do on the neutral path, one line each, as `tautology selftest` finds it, with the reason
            after a colon: "ball joints: URDF has none".
        eps: of the arithmetic that it computes in.
        first: what takes long when it loads a model, in a phrase of up to 36 letters that progress shows.
    """

    name: str
    module: str
    distribution: str
    install: str
    licence: str
    formats: tuple[str, ...]
    answers: str
    conventions: tuple[str, ...]
    ledger: Mapping[str, str] = field(default_factory=dict)
    imports: str = ""
    limits: tuple[str, ...] = ()
    eps: float = float(np.finfo(np.float64).eps)
    first: str = ""


class Session(Protocol):
    """An opened model. Arrays of N states go in, canonical arrays come out; nothing that goes in is changed.

    Arguments, everywhere: q (N, nq), v, a, tau (N, nv) over *all* coordinates of the tree; wrenches (N, nb, 6), one row
    per tree body, zero on bodies that are fixed to another (`Tree.fusion` has moved them); gravity (3,) [m/s^2] in
    world axes instead of the model's own. Let n = len(dofs). N may be 0 or 1; arrays of another robot end in an error.
    """

    @property
    def dofs(self) -> tuple[str, ...]:
        """Dofs of the tree that the engine has too, canonical names in canonical order."""
        ...

    @property
    def extra_dofs(self) -> tuple[str, ...]:
        """Dofs of the engine that the tree does not have; held at their zero, at rest."""
        ...

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the tree's bodies whose frames the engine still holds, without the world."""
        ...

    @property
    def total_mass(self) -> float:
        """[kg] of all bodies that the engine holds."""
        ...

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What loading alone revealed: order, coordinates, fused bodies, terms booked elsewhere."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the file before the engine saw it, one sentence each."""
        ...

    @property
    def lacks(self) -> Mapping[str, str]:
        """Quantity or identity that this session cannot answer, or cannot fail, to the reason."""
        ...

    def inverse_dynamics(
        self, q: Floats, v: Floats, a: Floats, wrenches: Floats | None = None, gravity: Floats | None = None
    ) -> Floats:
        """Return tau = M a + bias - sum J^T f: (N, n) [N m | N]."""
        ...

    def bias(self, q: Floats, v: Floats, gravity: Floats | None = None) -> Floats:
        """Return the joint efforts at zero canonical acceleration, without wrenches: (N, n) [N m | N]."""
        ...

    def gravity_forces(self, q: Floats) -> Floats:
        """Return dU/dq, the efforts that hold the robot still: (N, n) [N m | N]."""
        ...

    def mass_matrix(self, q: Floats) -> Floats:
        """Return M with reflected inertia: (N, n, n)."""
        ...

    def forward_dynamics(self, q: Floats, v: Floats, tau: Floats, wrenches: Floats | None = None) -> Floats:
        """Return the canonical acceleration under `tau`: (N, n)."""
        ...

    def poses(self, q: Floats) -> Floats:
        """Return T_world_body of every body of `bodies`: (N, len(bodies), 4, 4)."""
        ...

    def velocities(self, q: Floats, v: Floats) -> Floats:
        """Return the twist of every body of `bodies` relative to the world, in body axes: (N, len(bodies), 6)."""
        ...

    def kinetic_energy(self, q: Floats, v: Floats) -> Floats:
        """Return the kinetic energy, reflected inertia included, from body velocities: (N,) [J]."""
        ...

    def potential_energy(self, q: Floats) -> Floats:
        """Return -sum m g.c over the moving bodies, zero at the world origin: (N,) [J]."""
        ...

    def center_of_mass(self, q: Floats) -> Floats:
        """Return the centre of mass of the moving bodies in the world: (N, 3) [m]."""
        ...

    def momentum(self, q: Floats, v: Floats) -> Floats:
        """Return the momentum of each mechanism with a floating root, (n, f) in world axes about the world origin.

        Reflected inertia is left out. Shape (N, R, 6), roots in the order of the tree.
        """
        ...

    def generalized_forces(self, q: Floats, wrenches: Floats) -> Floats:
        """Return sum J^T f from the engine's own Jacobians: (N, n) [N m | N]."""
        ...

    def describe(self) -> Tree:
        """Return the robot that the engine holds, in its own bodies and joints, merged as it merged them.

        Raises:
            EngineUnsupported: the engine does not tell.
        """
        ...


class Engine(Protocol):
    """One engine; every adapter module has `ENGINE`, an instance."""

    def native(self, given: Given, tree: Tree) -> Session:
        """Open the file as the engine's own importer reads it; `tree` tells names, order and lines.

        The world alone may stand for a tree that we could not read: all that the engine holds is then beyond it.

        Raises:
            EngineRefused: the engine will not load it.
            EngineUnsupported: it has no importer for this format.
        """
        ...

    def neutral(self, tree: Tree) -> Session:
        """Build the engine's model from the tree through its model-building API.

        Raises:
            EngineUnsupported: the engine cannot hold such a tree, known before it is called.
        """
        ...
