"""What older versions of MuJoCo, from 2.3.7 on, call otherwise or do not have; all else is written for the newest.

Every name here asks the module what it can do, never for its number, and does with the newest version exactly what the
call of the same meaning does there.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .mujoco_map import mujoco

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..harness.tree import Floats
    from .mujoco_map import MjModel

# Whether a model can be edited before it is compiled, with all that is edited here; if not, its text is (3.3.6).
EDITABLE: Final = hasattr(mujoco, "MjSpec") and hasattr(getattr(mujoco.MjSpec(), "compiler", None), "meshdir")
# The flag under which `mj_inverse` answers for the next step; 0 where there is none (2.3.7).
DISCRETE: Final = int(getattr(mujoco.mjtEnableBit, "mjENBL_INVDISCRETE", 0))
# What makes each part of the passive forces: the numbers of a model, and of its options.
PASSIVE: Final = {
    "qfrc_damper": (("dof_damping", "tendon_damping"), ()),
    "qfrc_spring": (("jnt_stiffness", "tendon_stiffness"), ()),
    "qfrc_fluid": ((), ("density", "viscosity")),
}

# What names are called here, and the counts of the rows of a field.
OLDER: Final = {"nactuator": "nu", "eq_active0": "eq_active"}
SIZES: Final = {"jnt": "njnt", "dof": "nv", "tendon": "ntendon", "actuator": "nu", "eq": "neq"}


def _crb_with_tendons(m: MjModel, d: Any) -> None:
    """Compute M as `mj_makeM` does, which is not there before 3.3.3."""
    if Whole(m).tendon_armature.any():
        mujoco.mj_fwdPosition(m, d)  # no other call adds tendons (3.3.1, 3.3.2)
    else:
        mujoco.mj_crb(m, d)


def _full_of_stored(m: MjModel, d: Any, dst: Floats) -> None:
    """Write M into `dst`; up to 3.9 the call takes what is stored, which then is `qM` and in another order `M`."""
    mujoco.mj_fullM(m, dst, d.qM)


make_inertia: Final = getattr(mujoco, "mj_makeM", _crb_with_tendons)
full_inertia: Final = mujoco.mj_fullM if "MjData" in mujoco.mj_fullM.__doc__ else _full_of_stored


def spec_of(path: str) -> Any:
    """Return `MjSpec.from_file`; 3.4.0 takes a URDF as text alone, whatever it holds."""
    try:
        return mujoco.MjSpec.from_file(path)
    except (ValueError, mujoco.FatalError) as error:
        if "find decoder" not in str(error) or not path.endswith(".urdf"):
            raise
    spec = mujoco.MjSpec.from_string(Path(path).read_text(encoding="utf-8"))
    spec.modelfiledir = str(Path(path).parent)
    return spec


def couplings(m: MjModel) -> set[tuple[int, int]]:
    """Return the dofs (i, j), i >= j, whose common inertia has a place in M."""
    if hasattr(m, "M_colind"):
        rows = np.repeat(np.arange(m.nv), m.M_rownnz)
        return set(zip(rows.tolist(), m.M_colind.tolist(), strict=True))
    return {(i, j) for i in range(m.nv) for j in _up(m, i)}


def _up(m: MjModel, dof: int) -> Iterator[int]:
    """Yield a dof and those that it rides on."""
    while dof >= 0:
        yield dof
        dof = int(m.dof_parentid[dof])


def without(m: MjModel, part: str) -> MjModel:
    """Return a copy of a model without what makes one part of its passive forces, a key of `PASSIVE`."""
    twin = copy.copy(m)
    fields, options = PASSIVE[part]
    for name in fields:
        getattr(twin, name)[:] = 0
    for name in options:
        setattr(twin.opt, name, 0)
    return twin


class Whole:
    """A compiled model as the newest version shows it: what this version does not have is zero.

    It is for reading alone; calls take the model itself.
    """

    def __init__(self, m: MjModel) -> None:
        self._model = m

    def __getattr__(self, name: str) -> Any:
        m = self._model
        if hasattr(m, name):
            return getattr(m, name)
        if name in OLDER:
            return getattr(m, OLDER[name])
        if name == "actuator_outadr":  # one actuator had one output
            return np.arange(m.nu)
        size = SIZES.get(name.partition("_")[0])
        if name == "nflex":
            return 0
        if size is None:
            raise AttributeError(name)
        return np.zeros((getattr(m, size), 2) if name.endswith("poly") else getattr(m, size))
