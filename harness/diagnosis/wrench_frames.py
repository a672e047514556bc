"""Where wrenches act on a patched tree: an engine may have a frame elsewhere, or a body on another joint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..spatial import inverse, motion_transform

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tree import Floats, Tree

STILL: Final = 1e-9  # of a pose: two frames that move together, or are one


def where_they_act(Ts: Floats, tree: Tree, poses: Mapping[str, Floats], wrenches: Floats, still: float) -> Floats:
    """Return the wrenches in the frames of a patched tree.

    A wrench acts in the frame of its body. An engine may have that elsewhere on the same rigid piece, or on another: a
    body of that name that hangs on another joint moves as another body of the patched tree does.

    Args:
        Ts: (N, n, 4, 4) poses of its bodies but the world.
        tree: the patched one.
        poses: body name to (N, 4, 4), as the engine answers.
        wrenches: (N, n + 1, 6) in the frames of the engine's bodies.
        still: what counts as standing still, of a pose.
    """
    moved = wrenches
    for i in np.flatnonzero(wrenches.any((0, 2))):
        frame = poses.get(tree.bodies[i].name)
        at, T = (i, None) if frame is None else _moving_along(Ts, frame, int(i), still)
        if T is not None and (at != i or np.abs(T - np.eye(4)).max() > still * max(1.0, float(np.abs(T).max()))):
            moved = wrenches.copy() if moved is wrenches else moved
            moved[:, i] -= wrenches[:, i]
            moved[:, at] += (wrenches[:, i, None] @ motion_transform(inverse(T)))[:, 0]
    return moved


def _moving_along(Ts: Floats, frame: Floats, i: int, still: float) -> tuple[int, Floats | None]:
    """Return the body of a patched tree on which an observed frame stands still, the body i before others.

    Args:
        Ts: (N, n, 4, 4) poses of its bodies but the world.
        frame: (N, 4, 4) poses of the frame.
        i: the body that is called like it.
        still: what counts as standing still, of a pose.

    Returns:
        its index, or the world's; and (N, 4, 4) the frame in it, None where it stands still on no body.
    """
    world = np.broadcast_to(np.eye(4), frame.shape)
    for k in (i, *(k for k in range(Ts.shape[1] + 1) if k != i)):
        T = np.asarray(inverse(Ts[:, k - 1] if k else world) @ frame, np.float64)
        if np.abs(T - T[0]).max() <= still * max(1.0, float(np.abs(T).max())):
            return k, T
    return i, None
