"""A compiled MuJoCo model with the names and lines of its elements."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ..errors import Source
from ..spatial import rotation_from_quaternion, transform
from .mjcf_lines import Place
from .mjcf_names import invent_names

if TYPE_CHECKING:
    from ..tree import Floats
    from .mjcf_lines import Flat

MjSpec: TypeAlias = Any
MjModel: TypeAlias = Any

JOINT, JOINT_IN_PARENT, SLIDER_CRANK, TENDON, SITE, BODY, SO3 = range(7)  # mjtTrn
WRAP_JOINT, WRAP_PULLEY, WRAP_SITE = 1, 2, 3  # mjtWrap; geoms are beyond
# The flags of <option> that switch dry friction and equalities off.
FRICTION_OFF: Final = ("frictionloss", "constraint")
EQUALITY_OFF: Final = ("equality", "constraint")


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Where the elements of a model stand: kind and MuJoCo's number to place; empty for a live model."""

    flat: Flat | None = None
    places: dict[tuple[str, int], Place] = field(default_factory=dict[tuple[str, int], Place])

    @property
    def file(self) -> Source:
        """The main file, without a line."""
        return Source(self.flat.document.file) if self.flat else Source()

    def place(self, kind: str, number: int) -> Place | None:
        """Return the element, or None when no file says."""
        return self.places.get((kind, number))

    def source(self, kind: str, number: int) -> Source:
        """Return file and line, else the file alone."""
        place = self.place(kind, number)
        return place.source if place else self.file


@dataclass(frozen=True, eq=False)
class Compiled:
    """A compiled model.

    Attributes:
        model: what MuJoCo computes with.
        spec: what it was compiled from, with the compiled numbers of its elements; None for a live MjModel.
        lines: where the elements stand.
        off: what `<flag>` disables: "spring", "damper", "equality", ...
    """

    model: MjModel
    spec: MjSpec | None = None
    lines: Lines = field(default_factory=Lines)
    off: frozenset[str] = frozenset()

    @property
    def passive(self) -> bool:
        """Whether MuJoCo computes passive forces at all: without springs and dampers it leaves out the others too."""
        return not {"spring", "damper"} <= self.off

    def flag(self, *names: str) -> Source | None:
        """Return where the first of these is disabled, None when none is; the file alone when no line says so."""
        off = [name for name in names if name in self.off]
        return self._whole.get(f"option/flag@{off[0]}", self.lines.file) if off else None

    @cached_property
    def _whole(self) -> dict[str, Source]:
        return self.lines.flat.whole() if self.lines.flat else {}

    @cached_property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of all bodies and of all joints, those that the model does not have invented."""
        model = self.model
        joints = [
            (self.name("jnt", j), int(model.jnt_bodyid[j]), int(model.jnt_type[j])) for j in range(int(model.njnt))
        ]
        return invent_names([self.name("body", i) for i in range(int(model.nbody))], joints)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of all bodies."""
        return self.names[0]

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of all joints."""
        return self.names[1]

    @property
    def title(self) -> str:
        """The name of the model."""
        return self._text(0)

    def name(self, kind: str, number: int) -> str:
        """Return the name of an element, "" for none; kinds as MjModel spells them: body, jnt, tendon, eq, ..."""
        return self._text(int(getattr(self.model, f"name_{kind}adr")[number]))

    def _text(self, start: int) -> str:
        names: bytes = self.model.names
        return names[start : names.index(b"\0", start)].decode(errors="replace")

    def T_parent_body(self, i: int) -> Floats:
        """Return the placement of body i in its parent when its joints are undisplaced: (4, 4)."""
        R = rotation_from_quaternion(np.array(self.model.body_quat[i]))
        return np.asarray(transform(R, self.model.body_pos[i]), np.float64)

    def axes(self, i: int) -> Floats:
        """Return R_body_inertial of body i: (3, 3)."""
        return np.asarray(rotation_from_quaternion(np.array(self.model.body_iquat[i])), np.float64)

    def tensor(self, i: int) -> Floats:
        """Return R diag(principal moments) R^T of body i: (3, 3) [kg m^2] about the centre of mass, in body axes."""
        R = self.axes(i)
        I = np.asarray(R @ np.diag(self.model.body_inertia[i]) @ R.T, np.float64)
        return (I + I.T) / 2

    def fixed_tendon(self, t: int) -> dict[int, float]:
        """Return joint number to coefficient of a fixed tendon; empty for a spatial one."""
        model = self.model
        wraps = range(int(model.tendon_adr[t]), int(model.tendon_adr[t] + model.tendon_num[t]))
        return {int(model.wrap_objid[w]): float(model.wrap_prm[w]) for w in wraps if model.wrap_type[w] == WRAP_JOINT}

    def reflected(self, a: int) -> float:
        """Return armature times gear squared of actuator a: [kg m^2 | kg]; the gear is the first of its six numbers."""
        gear = float(self.model.actuator_gear[self.model.actuator_outadr[a], 0])
        return float(self.model.actuator_armature[a]) * gear * gear

    def tendon_name(self, t: int) -> str:
        """Return the name of a tendon, else one made of its number."""
        return self.name("tendon", t) or f"tendon{t}"

    def tendon_armature(self, t: int) -> float:
        """Return the armature of a tendon, with that of the actuators that pull it times gear squared."""
        model = self.model
        pulling = [
            self.reflected(a)
            for a in range(int(model.nactuator))
            if model.actuator_trntype[a] == TENDON and model.actuator_trnid[a, 0] == t
        ]
        return float(model.tendon_armature[t]) + sum(pulling)
