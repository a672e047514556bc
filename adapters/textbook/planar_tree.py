"""A planar chain laid into space: a tree whose axes are all z, whose links lie along x.

Source: the embedding by which a planar recursion is held against a spatial one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...harness.joint import Floats, JointKind
from ...harness.spatial import transform
from ...harness.tree import Body, Inertia, Joint, Tree, world
from .inputs import agree

if TYPE_CHECKING:
    from ...harness.spatial import Array
    from .planar import PlanarChain

TIP = "tip"


def embedded(chain: PlanarChain, name: str = "planar chain", other_moments: Array | None = None) -> Tree:
    """Return the chain as a spatial tree in the xy-plane, its gravity (g_x, g_y, 0); the last body is its tip.

    Args:
        chain: the links.
        name: of the tree.
        other_moments: (n, 2) [kg m^2] about the x and y axes of every link, which no planar motion feels; zero by
            default, as for links of which only the moment about z is known.

    Raises:
        ShapeError: there are moments of another number of links.
    """
    others = np.zeros((chain.n, 2)) if other_moments is None else other_moments
    agree(chain.told, other_moments=(others, chain.n, 2))
    bodies = [world()]
    reach = 0.0
    for i in range(chain.n):
        joint = Joint(f"joint_{i + 1}", JointKind.REVOLUTE, T_parent_joint=_along_x(reach))
        I_com = np.diag([*others[i], chain.moments[i]])
        inertia = Inertia(chain.masses[i], np.array([chain.centres[i], 0.0, 0.0]), I_com)
        bodies.append(Body(f"link_{i + 1}", i, joint, inertia))
        reach = float(chain.lengths[i])
    held = Joint("tip_joint", JointKind.FIXED, T_parent_joint=_along_x(reach))
    bodies.append(Body(TIP, chain.n, held, Inertia(chain.tip_mass)))
    return Tree(name, tuple(bodies), gravity=np.array([*chain.gravity, 0.0]))


def tip_wrenches(chain: PlanarChain, q: Array, tip_force: Array) -> Array:
    """Return the wrenches (N, n + 2, 6) on the bodies of `embedded` when its tip pushes its surroundings.

    Args:
        chain: the links.
        q: (N, n) [rad].
        tip_force: (N, 2) [N] of the tip on the surroundings, in the axes of the plane: the tip feels the opposite.

    Raises:
        ShapeError: q has another number of joints, or there are other numbers of states.
    """
    agree(chain.told, q=(q, "N", chain.n), tip_force=(tip_force, "N", 2))
    theta = q.sum(-1)
    c, s, (x, y) = np.cos(theta), np.sin(theta), -tip_force.T
    wrenches = np.zeros((len(q), chain.n + 2, 6), np.result_type(q, tip_force))
    wrenches[:, -1, 3], wrenches[:, -1, 4] = c * x + s * y, c * y - s * x
    return wrenches


def _along_x(distance: float) -> Floats:
    return transform(np.eye(3), np.array([distance, 0.0, 0.0])).astype(float)
