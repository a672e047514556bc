"""Stable names for MJCF bodies and joints that have none, and for those that only the tree has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# mjtJoint, the same in every version.
FREE, BALL, SLIDE, HINGE = range(4)
_WORDS: Final = {FREE: "free", BALL: "ball", SLIDE: "slide", HINGE: "hinge"}


def distinct(name: str, taken: set[str]) -> str:
    """Return the name, with a number behind it when it is taken, and take it."""
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    taken.add(candidate)
    return candidate


def invent_names(
    bodies: Sequence[str], joints: Iterable[tuple[str, int, int]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of all bodies and joints, given or invented.

    The fourth body is `body3`, counted depth-first with the world as 0; a hinge of the body `arm` is `arm_hinge`, its
    second unnamed one `arm_hinge_2`; likewise `_slide`, `_ball`, `_free`.

    Args:
        bodies: names in depth-first order, "" for none.
        joints: name or "", index of the body, and mjtJoint of each joint in order.
    """
    joints = list(joints)
    taken = set(bodies)
    all_bodies = [name or distinct(f"body{i}", taken) for i, name in enumerate(bodies)]
    taken = {name for name, _, _ in joints}
    all_joints = [name or distinct(f"{all_bodies[body]}_{_WORDS[kind]}", taken) for name, body, kind in joints]
    return tuple(all_bodies), tuple(all_joints)
