"""Left and right links whose tensors are mirror images but for the signs of products of inertia.

A mirror g = diag(-1, 1, 1) and its like maps a centre of mass c to g c and a tensor I to g I g. Whoever copies the
numbers of the left link to the right one and flips the centre of mass alone leaves products of inertia with the wrong
sign: each moment looks right, and the robot does not.
"""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np

from .fault import fault
from .lint_size import poses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..findings import Finding
    from ..tree import Body, Floats, Inertia, Tree

SIDES: Final = {
    "left": "right",
    "l": "r",
    "lf": "rf",
    "lh": "rh",
    "lb": "rb",
    "fl": "fr",
    "hl": "hr",
    "bl": "br",
    "rl": "rr",
    "ml": "mr",
}
TOKENS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[A-Z]|[^A-Za-z]+")
# Two numbers written for mirrored parts are the same when they agree so far, relative to the largest of their kind: a
# product of inertia below this share of the largest moment is what a mesh that is not quite symmetric leaves.
ALIKE: Final = 0.01
SIGNS: Final = tuple(np.diag(signs) for signs in product((1.0, -1.0), repeat=3))
SIX: Final = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
PLANES: Final = (np.diag([1.0, -1, 1]), np.diag([-1.0, 1, 1]), np.diag([1.0, 1, -1]))


def mirrors(tree: Tree) -> Iterator[Finding]:
    """Yield right links whose products of inertia have another sign than the mirror image of the left link."""
    found = list(pairs(tree))
    Ts_world_body = poses(tree) if found else []
    for left, right in found:
        a, b = tree.bodies[left].inertia, tree.bodies[right].inertia
        # A mirror plane of the world, as it looks from link to link when the robot is at rest.
        R_left, R_right = Ts_world_body[left][:3, :3], Ts_world_body[right][:3, :3]
        maps = [R_right.T @ S @ R_left for S in PLANES] + list(SIGNS)
        expected = _expected(a, b, maps)
        if expected is not None:
            yield _fault(tree, tree.bodies[left], tree.bodies[right], expected)


def pairs(tree: Tree) -> Iterator[tuple[int, int]]:
    """Yield the indices of links that are called left and right, by their names alone."""
    for i, body in enumerate(tree.bodies[1:], 1):
        for name in _other_side(body.name):
            if name in tree.index:
                yield i, tree.index[name]
                break


def _other_side(name: str) -> Iterator[str]:
    """Yield what the right link of a left one may be called: all sides swapped, then one, then a first letter l."""
    tokens = TOKENS.findall(name)
    at = [k for k, token in enumerate(tokens) if token.lower() in SIDES]
    for chosen in [at, *([k] for k in at)] if at else []:
        yield "".join(_swapped(token) if k in chosen else token for k, token in enumerate(tokens))
    for k, token in enumerate(tokens):
        if len(token) > 1 and token[0] in "lL":
            yield "".join([*tokens[:k], ("r" if token[0] == "l" else "R") + token[1:], *tokens[k + 1 :]])


def _swapped(token: str) -> str:
    """Return a side swapped, in the case in which it is written."""
    other = SIDES[token.lower()]
    return other.upper() if token.isupper() else other.capitalize() if token.istitle() else other


def _expected(a: Inertia, b: Inertia, maps: list[Floats]) -> Floats | None:
    """Return the tensor (3, 3) that the right link should have, None when nothing is wrong or nothing can be said."""
    if not 0 < a.mass < np.inf or abs(a.mass - b.mass) > ALIKE * a.mass:
        return None
    reach = max(np.abs(a.com).max(), np.abs(b.com).max())
    images = [g @ a.I_com @ g.T for g in maps if np.abs(g @ a.com - b.com).max() <= ALIKE * reach]
    if not images or any(_alike(image, b.I_com, np.abs(b.I_com).max()) for image in images):
        return None
    for image in images:
        products = np.abs(_products(image))
        same = _alike(np.diag(image), np.diag(b.I_com), np.abs(b.I_com).max())
        if same and _alike(products, np.abs(_products(b.I_com)), products.max()):
            return image
    return None


def _alike(x: Floats, y: Floats, size: float) -> bool:
    return bool(np.abs(x - y).max() <= ALIKE * size)


def _products(I: Floats) -> Floats:
    return I[(0, 0, 1), (1, 2, 2)]


def _fault(tree: Tree, left: Body, right: Body, expected: Floats) -> Finding:
    # URDF writes a tensor in the axes of its inertial frame. What MJCF wrote is not known: fullinertia is in body axes.
    R = right.inertia.axes if tree.origin.format == "urdf" else np.eye(3)
    wanted, found = ([float((R.T @ I @ R)[at]) for at in SIX] for I in (expected, right.inertia.I_com))
    source = left.source("inertia")
    note = f"xx yy zz xy xz yz; mirror image of {left.name!r}" + (f", line {source.line}" if source.line else "")
    return fault(tree, "lint.mirror", right.name, right.source("inertia"), wanted, found, "kg m^2", note)
