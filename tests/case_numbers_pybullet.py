"""Numbers of the cases in PyBullet's own words: its calls with other flags, its M, its axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tautology.harness.streams import caught

if TYPE_CHECKING:
    from pathlib import Path

    from case_numbers import Side

    from tautology.harness.engine import Engine

BY_DEFAULT = "default of the loader"


def called(options: str) -> Engine:
    """Return PyBullet with other flags than those of the adapter."""
    from tautology.adapters.pybullet_ import BulletEngine, Call  # noqa: PLC0415  no engine is needed to collect
    from tautology.adapters.pybullet_model import FLAGS, pybullet  # noqa: PLC0415  as above

    return BulletEngine(
        Call({"flags=0": 0, "URDF_MERGE_FIXED_LINKS": FLAGS | pybullet.URDF_MERGE_FIXED_LINKS}[options])
    )


def raw(side: Side, _what: str) -> Any:
    """Return entries of M in the coordinates of PyBullet; of the file, in ours."""
    at = [int(k) for k in side.places]
    if side.held:
        # The same component of the base: ours is linear first.
        swapped = [3, 4, 5, 0, 1, 2] if side.case.entry["finding"] == "base.velocity_frame" else range(6)
        return side.answer("M")[tuple(swapped[k] if k < 6 else k for k in at)]
    frame = side.session._map.at(side.q)
    return side.session.model.bodies[0].mass_matrix(frame.q)[0][tuple(at)]


def axis(side: Side, _tail: str) -> Any:
    """Return an axis as `getJointInfo` has it."""
    name = side.places[0]
    if side.held:
        return side.held.joints[side.held.joint_index[name]].axis
    (link,) = (link for link in side.session.model.bodies[0].links if link.joint == name)
    return link.T_link_inertial[:3, :3].T @ link.axis


def velocities(side: Side, _tail: str) -> int:
    """Return the number of velocities; by default the root of a URDF floats."""
    if side.held:
        coupled = side.case.entry.get("finding") == "joint.mimic"
        return side.held.nv - (len(side.held.closures) if coupled else 0)
    if side.case.options != BY_DEFAULT:
        return side.session.model.nv
    from tautology.adapters.pybullet_model import Model  # noqa: PLC0415  as above

    model = Model()
    model.urdf(str(side.case.file), fixed=False)
    return len(model.bodies[0].mass_matrix(np.zeros((1, model.bodies[0].n)))[0])


def joints(side: Side, _tail: str) -> list[str]:
    """Return the names of the joints that move, in order."""
    if side.held:
        return [joint.name for joint in side.held.joints if joint.nv]
    return side.session.model.joint_names


def refuses(file: Path) -> str:
    """Return why PyBullet alone would not load a file."""
    from tautology.adapters.pybullet_model import Model, pybullet  # noqa: PLC0415  as above

    with caught([]), pytest.raises(pybullet.error) as refusal:
        Model().urdf(str(file), fixed=True)
    return str(refusal.value)


QUANTITIES = {"raw": raw, "axis": axis, "nv": velocities, "joints": joints, "refuses": refuses}
