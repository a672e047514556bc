"""Turns in angles: roll, pitch and yaw, and whether one turn is another in the wrong unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..spatial import rotation_about, rotation_from_rpy

if TYPE_CHECKING:
    from ..tree import Floats

DEGREE: Final = np.pi / 180


def rpy_of(R: Floats) -> list[float]:
    """Return roll, pitch, yaw [rad] about fixed axes; yaw 0 where pitch is a quarter turn."""
    pitch = float(np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0])))
    if np.hypot(R[0, 0], R[1, 0]) < 1e-12:
        return [float(np.arctan2(-R[1, 2], R[1, 1])), pitch, 0.0]
    return [float(np.arctan2(R[2, 1], R[2, 2])), pitch, float(np.arctan2(R[1, 0], R[0, 0]))]


def in_degrees(R: Floats, Q: Floats) -> bool:
    """Return whether one turn is the other with its angles read in degrees, or the reverse.

    Tried as fixed-axis roll, pitch, yaw, as turns about moving x, y, z, and as axis and angle.
    """
    size = max(float(np.abs(R - np.eye(3)).max()), float(np.abs(Q - np.eye(3)).max()))
    grain = 1e-5 * size  # files write degrees with few digits, and a wrong unit multiplies what is cut off
    pairs = ((R, Q, DEGREE), (R, Q, 1 / DEGREE), (Q, R, DEGREE), (Q, R, 1 / DEGREE))
    return size > 0 and any(np.abs(T - other).max() < grain for A, other, k in pairs for T in _turned_by(A, k))


def _turned_by(R: Floats, k: float) -> list[Floats]:
    """Return the turns whose angles are those of R times k."""
    fixed = np.array(rpy_of(R)) * k
    moving = -np.array(rpy_of(R.T)) * k
    vee = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    sine = float(np.linalg.norm(vee))
    angle = float(np.arctan2(sine, (np.trace(R) - 1) / 2)) * k
    turns = [rotation_from_rpy(fixed), rotation_from_rpy(-moving).T]
    if sine > 0:
        turns.append(rotation_about(vee / sine, np.asarray(angle)))
    return [np.asarray(T, np.float64) for T in turns]
