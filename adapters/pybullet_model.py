"""A physics client of PyBullet: the multibodies that it loads, and what it says."""

from __future__ import annotations

import re
import weakref
from typing import TYPE_CHECKING, Final

import numpy as np

from ..harness.errors import EngineUnsupported
from .pybullet_multibody import Multibody, pybullet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..harness.tree import Floats

# Positions of more dofs get lost on their way through the same memory, without a word.
MOST_DOFS: Final = 128
# Shapes have no part in any answer, once the inertia is that of the file; their files are looked for all the same.
FLAGS: Final = (
    pybullet.URDF_USE_INERTIA_FROM_FILE | pybullet.URDF_IGNORE_VISUAL_SHAPES | pybullet.URDF_IGNORE_COLLISION_SHAPES
)
# Where in its own sources a message comes from.
_PLACE: Final = re.compile(r"b3(?:Warning|Error|Printf)\[[^\]]*\]:|\n")


def spoken(said: Sequence[str]) -> list[str]:
    """Return what was said, each once: the names that follow a statement by themselves are put behind it."""
    found: list[str] = []
    for words in _PLACE.split("\n".join(said)):
        one = " ".join(words.split())
        if one and " " not in one and found:
            found[-1] = f"{found[-1].rstrip(' :')}: {one}"
        elif one:
            found.append(one)
    return list(dict.fromkeys(found))


def require_dofs(model: Model) -> None:
    """Refuse more dofs than PyBullet's calls take.

    Raises:
        EngineUnsupported: a multibody has more.
    """
    most = max((body.n for body in model.bodies), default=0)
    if most > MOST_DOFS:
        raise EngineUnsupported(f"{most} dofs; PyBullet's calls lose the positions of all beyond {MOST_DOFS}")


class Model:
    """One physics client, in this process and without a window, that ends with this object.

    Attributes:
        client: its number.
        bodies: the multibodies that were loaded.
    """

    def __init__(self) -> None:
        self.client = pybullet.connect(pybullet.DIRECT)
        weakref.finalize(self, _end, self.client)
        # It would keep the text of a file, whatever becomes of that, and complain of an empty one at its end.
        pybullet.setPhysicsEngineParameter(enableFileCaching=0, physicsClientId=self.client)
        self.bodies: list[Multibody] = []

    def urdf(self, path: str, *, fixed: bool, flags: int = FLAGS) -> None:
        """Load a file.

        Raises:
            pybullet.error: it would not.
        """
        uid = pybullet.loadURDF(path, useFixedBase=fixed, flags=flags, physicsClientId=self.client)
        self.bodies.append(Multibody(self.client, uid))

    def mjcf(self, path: str, flags: int = FLAGS) -> None:
        """Load a file, each body of its world as a multibody.

        Raises:
            pybullet.error: it would not.
        """
        uids = pybullet.loadMJCF(path, flags=flags, physicsClientId=self.client)
        self.bodies += [Multibody(self.client, uid) for uid in uids]

    def prepare(self) -> None:
        """Let PyBullet copy its multibodies for inverse dynamics, which is where it says what it thinks of them.

        Raises:
            SystemError: it has no inverse dynamics of one of them.
            EngineUnsupported: it has more dofs than its calls take.
        """
        require_dofs(self)
        for body in self.bodies:
            if body.n == body.nq:
                body.mass_matrix(np.zeros((1, body.n)))

    @property
    def nv(self) -> int:
        """Velocities of all multibodies."""
        return sum(body.nv for body in self.bodies)

    @property
    def floating(self) -> bool:
        """Whether a base floats."""
        return any(body.floating for body in self.bodies)

    @property
    def joint_names(self) -> list[str]:
        """Names of the joints that move, in the order of their velocities."""
        return [link.joint for body in self.bodies for link in body.links if link.v]

    def set_gravity(self, gravity: Floats) -> None:
        """Set the vector (3,) [m/s^2] that inverse dynamics takes in the axes of the base inertial frame."""
        pybullet.setGravity(*np.asarray(gravity, float).tolist(), physicsClientId=self.client)


def _end(client: int) -> None:
    if pybullet.isConnected(client):
        pybullet.disconnect(client)
