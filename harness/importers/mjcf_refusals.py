"""What MuJoCo refuses, in its words, with the file and line of the element that is at fault."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ..errors import ReadError, Source
from .mjcf_assets import first_words

if TYPE_CHECKING:
    from .mjcf_lines import Flat, Place

_NONPHYSICAL: Final = re.compile(r"mass and inertia|A \+ B >= C|eigenvalues|fullinertia|negative mass")


def by_name(flat: Flat, kind: str, name: str) -> Place | None:
    """Return the keyframe or flexible body of that name, or the only one: MuJoCo keeps no line for these."""
    tags = {"key": ("key",), "flex": ("flexcomp", "flex")}.get(kind, ())
    places = [place for place in flat.places if place.element.tag in tags]
    return next((p for p in places if p.element.get("name") == name or len(places) == 1), None)


def refusal(words: str, flat: Flat | None) -> ReadError:
    """Return MuJoCo's refusal, its line number looked up in the merged document."""
    found = re.search(r"(?:^Element .*, line|Line number) ?=? ?(\d+)", words, re.MULTILINE)
    reason = first_words(words)
    place = flat.at(int(found[1])) if found and flat else None
    on_path = (_path_of_tendon(flat, reason) or _keyframe(flat, reason)) if flat else None
    kind = "refused.nonphysical" if _NONPHYSICAL.search(reason) else "refused.malformed"
    message = f"MuJoCo refuses this model: {reason}"
    if on_path:
        return ReadError(message, on_path.source, where=on_path.named(), kind=kind)
    if place is None or flat is None:
        return ReadError(message, Source(flat.document.file) if flat else Source(), where=_named(words), kind=kind)
    culprit = _culprit(place, reason, flat)
    return ReadError(message, culprit.source, where=_named(words) or place.named(), kind=kind)


def _path_of_tendon(flat: Flat, reason: str) -> Place | None:
    """Return the part of a tendon's path that MuJoCo counts instead of giving its line."""
    found = re.search(r"in tendon (\d+), wrap (\d+)", reason)
    tendons = [place for place in flat.places if place.parent and place.parent.element.tag == "tendon"]
    if not found or int(found[1]) >= len(tendons):
        return None
    tendon, wrap = tendons[int(found[1])], int(found[2])
    return tendon.children[wrap] if wrap < len(tendon.children) else tendon


def _keyframe(flat: Flat, reason: str) -> Place | None:
    """Return the keyframe that MuJoCo names instead of giving its line."""
    found = re.search(r"keyframe '(.*)':", reason)
    return by_name(flat, "key", found[1]) if found else None


def _named(words: str) -> str | None:
    found = re.search(r"^Element name '(.+)', id", words, re.MULTILINE)
    return found[1] if found else None


def _culprit(place: Place, reason: str, flat: Flat) -> Place:
    """Return the element inside a refused body that its fault comes from."""
    if _NONPHYSICAL.search(reason):
        return place.first("inertial") or place
    if "ball followed by rotation" in reason:
        turns = [child for child in place.children if _joint_type(child, flat) in ("ball", "hinge")]
        balls = [i for i, child in enumerate(turns) if _joint_type(child, flat) == "ball"]
        return turns[balls[0] + 1] if balls and balls[0] + 1 < len(turns) else place
    return place


def _joint_type(place: Place, flat: Flat) -> str | None:
    if place.element.tag != "joint":
        return None
    holder = place if "type" in place.element.attributes else flat.default(place, "type")
    return (holder.element.get("type") if holder else None) or "hinge"
