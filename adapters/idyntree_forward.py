# pyright: reportAttributeAccessIssue=false
"""`ArticulatedBodyAlgorithm`: forward dynamics of a floating base.

It has no gravity: the base acceleration that it returns is the proper one, to which gravity is added. Twists, wrenches
and accelerations are in link axes at the link origin, linear first, accelerations spatial, whatever representation
`KinDynComputations` is set to. Of a model with a spherical joint it returns False, and no word why.
Source: header Dynamics.h of 15.1; Featherstone 2008, section 9.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..harness.base_links import POSE, TWIST
from .idyntree_bindings import idt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..harness.seats import CoordinateMap
    from ..harness.tree import Floats
    from .idyntree_build import Model

SWAP_HALVES = [3, 4, 5, 0, 1, 2]


class Forward:
    """The algorithm with its buffers.

    Args:
        model: of the session.
        coordinates: its map in BODY_FIXED representation.
    """

    def __init__(self, model: Model, coordinates: CoordinateMap) -> None:
        self._model, self._map = model, coordinates
        self._traversal = idt.Traversal()
        model.computeFullTreeTraversal(self._traversal)
        self._buffers = idt.ArticulatedBodyAlgorithmInternalBuffers(model)

    def __call__(
        self, q: Floats, v: Floats, tau: Floats, gravity: Floats, loads: tuple[Sequence[int], Floats] | None = None
    ) -> Floats:
        """Return the tree's accelerations (N, n).

        Args:
            q: (N, nq) of the tree.
            v: (N, nv) of the tree.
            tau: (N, nv) of the tree.
            gravity: (3,) [m/s^2] in world axes.
            loads: links, and wrenches (N, k, 6) on them, moment first in link axes.
        """
        frame, model = self._map.at(q, v), self._model
        efforts, velocities = frame.engine_efforts(tau), frame.v
        links, wrenches = loads if loads is not None else ((), np.zeros((len(q), 0, 6)))
        position, velocity = idt.FreeFloatingPos(model), idt.FreeFloatingVel(model)
        acceleration, torques = idt.FreeFloatingAcc(model), idt.JointDOFsDoubleArray(model)
        external = idt.LinkWrenches(model)
        external.zero()
        base, slots = external(model.getDefaultBaseLink()), [external(link) for link in links]
        pose, s = position.worldBasePos, position.jointPos
        twist, ds = velocity.baseVel, velocity.jointVel
        out = np.empty((len(q), self._map.nv))
        for k in range(len(q)):
            pose.fromHomogeneousTransform(idt.Matrix4x4.FromPython(frame.q[k, :POSE].reshape(4, 4).copy()))
            _fill(s, frame.q[k, POSE:])
            _fill(twist, velocities[k, :TWIST])
            _fill(ds, velocities[k, TWIST:])
            _fill(torques, efforts[k, TWIST:])
            base.zero()
            for slot, wrench in zip(slots, wrenches[k], strict=True):
                _fill(slot, wrench[SWAP_HALVES])
            # What a floating joint is driven with acts on the base link from outside.
            _fill(base, base.toNumPy() + efforts[k, :TWIST])
            idt.ArticulatedBodyAlgorithm(
                model, self._traversal, position, velocity, external, torques, self._buffers, acceleration
            )
            out[k] = [*acceleration.baseAcc.toNumPy(), *acceleration.jointAcc.toNumPy()]
        out[:, :3] += gravity @ frame.q[:, :POSE].reshape(-1, 4, 4)[:, :3, :3]
        return frame.tree_acceleration(out)


def _fill(vector: Any, values: Floats) -> None:
    for at, value in enumerate(values.tolist()):
        vector.setVal(at, value)
