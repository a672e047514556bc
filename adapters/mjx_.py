"""MJX, MuJoCo in XLA: `mjx.rne`, `mjx.crb`, factor_m and solve_m, on what `mjx.put_model` makes of a MuJoCo model.

MJX reads no file: MuJoCo's compiler does, with all its defaults, and `put_model` refuses what it cannot hold (flex,
some collisions, sensors, integrators). Coordinates, frames, order of joints and bodies, armature and tendons are
therefore those of `mujoco_`, whose session asks `MjxCalls` here. What differs:

- M of less than 60 dofs is dense, so that a fixed tendon couples joints on different branches, too;
- armature of actuators is in no call;
- with numbers of single precision unless `jax_enable_x64`: the adapter asks for double within its own calls alone;
- `mjx.xfrc_accumulate` maps wrenches at the centre of mass to efforts; `mjx.jac` does so once more, as a check.

Source: MuJoCo documentation, MuJoCo XLA (MJX), "Feature Parity".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .mjx_calls import MjxCalls
from .mujoco_ import MujocoSession
from .mujoco_build import build, require_size
from .mujoco_load import load

if TYPE_CHECKING:
    from ..harness.engine import Given
    from ..harness.tree import Floats, Tree
    from .mujoco_build import Opened


class MjxSession(MujocoSession):
    """One model in MJX; see `mujoco_.MujocoSession`."""

    def __init__(self, opened: Opened, tree: Tree) -> None:
        super().__init__(opened, tree, MjxCalls(opened.model, tree.origin.path))

    def ledger(self, q: Floats, v: Floats, a: Floats) -> dict[str, dict[str, Floats]]:
        """Return what "tau" and `mjx.rne` hold beyond the canonical effort."""
        calls = super().ledger(q, v, a)
        return {call: calls[call] for call in ("tau", MjxCalls.RNE)}


class _MjxEngine:
    """MJX as an engine of the harness."""

    def native(self, given: Given, tree: Tree) -> MjxSession:
        """Open the file with MuJoCo's importer and its defaults and put it into MJX.

        Raises:
            EngineRefused: MuJoCo would not load it, or MJX would not take it.
            EngineUnsupported: another format, a model that MuJoCo cannot hold, or nothing moves.
        """
        require_size(tree)
        return MjxSession(load(given, tree), tree)

    def neutral(self, tree: Tree) -> MjxSession:
        """Build the model from the tree.

        Raises:
            EngineUnsupported: a size that MuJoCo cannot hold, or nothing moves.
        """
        return MjxSession(build(tree), tree)


ENGINE = _MjxEngine()
