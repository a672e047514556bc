"""Third-party adapters that are wrong on purpose, each in one way, installed by entry points into a folder."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from tautology.adapters.reference import Reference
from tautology.harness.engine import EngineCard
from tautology.harness.errors import EngineUnsupported
from tautology.harness.lacking import Lacking
from tautology.harness.tree import JointKind


class Sound(Reference):
    """The reference under another name, for a session that is spoiled in one place."""


class SignError(Sound):
    """Wrenches enter with the wrong sign."""

    def inverse_dynamics(self, q, v, a, wrenches=None, gravity=None):
        """Answer under the opposite load."""
        return super().inverse_dynamics(q, v, a, None if wrenches is None else -wrenches, gravity)


class WrongShape(Sound):
    """One column too many."""

    def bias(self, q, v, gravity=None):
        """Answer n + 1 columns."""
        return np.pad(super().bias(q, v, gravity), ((0, 0), (0, 1)))


class Rewrites(Sound):
    """Velocities come back at rest."""

    def velocities(self, q, v):
        """Answer, then write into v."""
        answer = super().velocities(q, v)
        v[:] = 0
        return answer


class Crashes(Sound):
    """A robot with a ball joint ends the process."""

    def mass_matrix(self, q):
        """Answer for other robots."""
        if any(joint.kind is JointKind.BALL for joint in self.tree.joints):
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().mass_matrix(q)


class Hangs(Sound):
    """A robot with a ball joint is never answered."""

    def mass_matrix(self, q):
        """Answer for other robots."""
        while any(joint.kind is JointKind.BALL for joint in self.tree.joints):
            pass
        return super().mass_matrix(q)


class Fragile(Sound):
    """Arrays of another robot end the process."""

    def poses(self, q):
        """Answer for this robot."""
        if q.shape[1] != self.tree.nq:
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().poses(q)


class NotOne(Sound):
    """One state loses its first axis."""

    def poses(self, q):
        """Answer (n, 4, 4) for one state."""
        answer = super().poses(q)
        return answer[0] if len(answer) == 1 else answer


class NotNone(Sound):
    """No state at all is one too few."""

    def mass_matrix(self, q):
        """Answer by what no list of nothing has."""
        return np.stack(list(super().mass_matrix(q)))


class AnySize(Sound):
    """Coordinates beyond the last are left out without a word."""

    def poses(self, q):
        """Answer for the first columns."""
        return super().poses(q[:, : self.tree.nq])


class Renames(Sound):
    """Dofs have names of its own."""

    def __init__(self, tree):
        super().__init__(tree)
        self.dofs = tuple(f"{dof}_" for dof in tree.dofs)


class Heavy(Sound):
    """What it reads back weighs more than what it was given."""

    def describe(self):
        """Return a tree with a heavier last body."""
        *others, last = self.tree.bodies
        heavier = replace(last, inertia=replace(last.inertia, mass=2 * last.inertia.mass))
        return replace(self.tree, bodies=(*others, heavier))


class NoTree(Sound):
    """What it reads back is no tree."""

    def describe(self):
        """Return words."""
        return "a robot"


class UnknownKey(Sound):
    """A reason for what nobody asks for."""

    def __init__(self, tree):
        super().__init__(tree)
        self.lacks = {"torque": "it has none"}


class Empty:
    """No session at all."""


class Lacks(Lacking):
    """No kinetic energy, no wrenches, and no planar joints: as its card says, or not."""

    def __init__(self, tree):
        if any(joint.kind is JointKind.PLANAR for joint in tree.joints):
            raise EngineUnsupported("a planar joint is unknown to it")
        self.lacks = {"kinetic_energy": "it has no energies", "describe": "it keeps its numbers to itself"}
        self.session = Reference(tree)
        for name in ("dofs", "extra_dofs", "bodies", "total_mass", "findings", "notes", *CALLS):
            setattr(self, name, getattr(self.session, name))

    def inverse_dynamics(self, q, v, a, wrenches=None, gravity=None):
        """Take no wrenches."""
        if wrenches is not None:
            raise EngineUnsupported("it takes no wrenches")
        return self.session.inverse_dynamics(q, v, a, None, gravity)

    def forward_dynamics(self, q, v, tau, wrenches=None):
        """Take no wrenches."""
        if wrenches is not None:
            raise EngineUnsupported("it takes no wrenches")
        return self.session.forward_dynamics(q, v, tau)


CALLS = (
    *("bias", "gravity_forces", "mass_matrix", "poses", "velocities", "potential_energy", "center_of_mass"),
    *("momentum", "generalized_forces"),
)
TRUE = ("planar joints: a planar joint is unknown to it", "external wrenches", "kinetic energy", "reading back")


class FixedOnly(Sound):
    """Efforts of robots on a fixed base alone, energies of none."""

    def __init__(self, tree):
        super().__init__(tree)
        self.lacks = dict.fromkeys(("kinetic_energy", "potential_energy"), "it has no energies")
        if tree.base == "free":
            words = "it forgets the acceleration of the base"
            self.lacks |= dict.fromkeys(("tau", "bias", "gravity", "acceleration", "generalized_forces"), words)


class Raises:
    """A tree cannot be built for a reason that nobody gives."""

    def __init__(self, tree):
        raise KeyError(tree.dofs[0])


class Engine:
    """An engine that opens a tree on both paths."""

    def __init__(self, session):
        self.session = session

    def native(self, _given, tree):
        """Open the tree in place of the file."""
        return self.session(tree)

    def neutral(self, tree):
        """Open the tree."""
        return self.session(tree)


SESSIONS = {
    "sound": Sound,
    "sign": SignError,
    "shape": WrongShape,
    "rewrites": Rewrites,
    "crashes": Crashes,
    "hangs": Hangs,
    "fragile": Fragile,
    "notone": NotOne,
    "notnone": NotNone,
    "anysize": AnySize,
    "renames": Renames,
    "heavy": Heavy,
    "notree": NoTree,
    "unknownkey": UnknownKey,
    "empty": lambda _tree: Empty(),
    "raises": Raises,
    "true": Lacks,
    "silent": Lacks,
    "boasts": Sound,
    "fixedonly": FixedOnly,
}
ENGINES = {name: Engine(session) for name, session in SESSIONS.items()}
FIXED = ("efforts with a floating base: it forgets the base", "kinetic energy", "potential energy")
LIMITS = {"true": TRUE, "fixedonly": FIXED, "silent": TRUE[1:], "boasts": ("ball joints: it says so",)}
# Entry points that give no engine, to the text of their module.
BROKEN = {
    "noimport": "import a_module_that_is_not_there\n",
    "nocard": "CARDS = []\n",
    "othertype": "CARD = {'name': 'othertype'}\n",
    "leaves": "import sys\nsys.exit('no licence found')\n",
    "clash": "import wrong_adapters as w\nCARD = w.card('mujoco', 'wrong_adapter_sound')\n",
    "badfield": "import wrong_adapters as w\nCARD = w.card('badfield', 'x', formats='urdf')\n",
    "badname": "import wrong_adapters as w\nCARD = w.card('bad==1', 'x')\n",
}
# Cards of adapters that do not load: name to module.
UNLOADABLE = {"noengine": "wrong_adapter_noengine", "nomodule": "a_module_that_is_not_there"}


def card(name, module="", **more):
    """Return the card of one of them."""
    fields = {"formats": ("urdf",), "limits": LIMITS.get(name, ())} | more
    module = module or f"wrong_adapter_{name}"
    return EngineCard(name, module, "tautology", "pip install it", "MIT", answers="all", conventions=(), **fields)


def install(folder: Path, *names: str) -> None:
    """Write modules and entry points of these adapters, sound, wrong or broken, into a folder for the search path."""
    path = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\nimport wrong_adapters as w\n"
    lines = ["[tautology.engines]"]
    for name in names:
        if name in BROKEN:
            text = path + BROKEN[name]
        elif name in UNLOADABLE:
            text = f"{path}CARD = w.card({name!r}, {UNLOADABLE[name]!r})\n"
        else:
            text = f"{path}ENGINE = w.ENGINES[{name!r}]\nCARD = w.card({name!r})\n"
        (folder / f"wrong_adapter_{name}.py").write_text(text)
        lines.append(f"{name} = wrong_adapter_{name}:CARD")
    info = folder / "wrong_adapters-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: wrong-adapters\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


def known(names: tuple[str, ...], folder: Path, monkeypatch) -> None:
    """Make these adapters known here and in the processes that are started."""
    install(folder, *names)
    for name in [*sys.modules]:
        if name.startswith("wrong_adapter_"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))
