"""The ten inertial parameters of a body: tau is linear in (m, m c, I about the body origin).

Source: Atkeson, An and Hollerbach 1986, Estimation of inertial parameters of manipulator loads and links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..spatial import skew
from ..tree import Inertia
from .tensor_patterns import SIX

if TYPE_CHECKING:
    from ..tree import Floats

NAMES: Final = ("m", "m cx", "m cy", "m cz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
UNITS: Final = ("kg", "kg m", "kg m", "kg m", *["kg m^2"] * 6)
TENSOR: Final = slice(4, 10)
_ROWS, _COLUMNS = (list(index) for index in zip(*SIX, strict=True))


def vector(inertia: Inertia) -> Floats:
    """Return (m, m c, I_O) of (10,), I_O = I_com - m [c]^2 as xx yy zz xy xz yz."""
    c = inertia.com
    return about_origin(inertia.mass, c, inertia.I_com)


def about_origin(mass: float, com: Floats, I_com: Floats) -> Floats:
    """Return the ten parameters of a mass, a centre and a tensor about it."""
    I = I_com - mass * (skew(com) @ skew(com))
    return np.concatenate([[mass], mass * com, six(I)])


def inertia_of(parameters: Floats, com: Floats) -> Inertia:
    """Return the inertia of ten parameters; a massless body keeps the centre `com`, which means nothing for it."""
    mass = float(parameters[0])
    if mass:
        com = parameters[1:4] / mass
    I = tensor(parameters[TENSOR]) + mass * (skew(com) @ skew(com))
    return Inertia(mass, com, (I + I.T) / 2)


def six(I: Floats) -> Floats:
    """Return xx yy zz xy xz yz of (..., 3, 3)."""
    return np.asarray(I[..., _ROWS, _COLUMNS], np.float64)


def tensor(values: Floats) -> Floats:
    """Return the symmetric (..., 3, 3) of xx yy zz xy xz yz (..., 6)."""
    I = np.zeros((*values.shape[:-1], 3, 3))
    I[..., _ROWS, _COLUMNS] = values
    I[..., _COLUMNS, _ROWS] = values
    return I


def transport(T: Floats) -> Floats:
    """Return L (10, 10): parameters in the frame in which a body stands at T, from those in its own frame.

    m' = m, h' = R h + m p, I' = R I R^T - [p][Rh] - [Rh][p] - m [p]^2.
    """
    R, p = T[:3, :3], T[:3, 3]
    P = skew(p)
    L = np.zeros((10, 10))
    L[0, 0] = 1
    L[1:4, 0] = p
    L[1:4, 1:4] = R
    L[TENSOR, 0] = six(-P @ P)
    for k in range(3):
        H = skew(R[:, k])
        L[TENSOR, 1 + k] = six(-(P @ H) - H @ P)
    for k in range(6):
        L[TENSOR, 4 + k] = six(R @ tensor(np.eye(6)[k]) @ R.T)
    return L
