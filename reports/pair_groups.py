"""Findings between two files, put together where they are one to a reader: one value on many joints, lost digits."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from ..harness.diff_result import DiffResult
    from ..harness.findings import Finding

WRITTEN: Final = 1e-5  # a value that departs by less of itself was written with fewer digits in one of the files
NOISE: Final = 1e-9  # of the largest number beside it: left by turning a tensor or a placement into other axes
# Kinds of bodies, by the beginning of their name; those of lengths and angles may be of a body or of a joint.
OF_BODIES: Final = ("mass", "com", "inertia", "body", "gravcomp")
EITHER: Final = ("units", "unexplained", "feature")
OF_ALL: Final = ("gravity", "fluid", "base", "armature.tendon")
WHOLE: Final = {"gravity": "gravity", "fluid": "the medium", "base": "the base", "armature": "a tendon"}


@dataclass(frozen=True)
class Group:
    """Findings of one kind that say the same.

    Attributes:
        kind: of all of them.
        findings: the most telling first.
        share: 0 to 1, what they explain: together when `measured`, else the largest of them.
        measured: whether the share was measured with all of them put in.
        digits: whether they are there since one file was written with fewer digits.
    """

    kind: str
    findings: tuple[Finding, ...]
    share: float
    measured: bool
    digits: bool = False

    @property
    def first(self) -> Finding:
        """The most telling one."""
        return self.findings[0]


def groups(result: DiffResult) -> list[Group]:
    """Return what differs, grouped: what is more than digits first, then by what it explains."""
    times = Counter(f.kind for f in result.counted)
    parts: dict[tuple[Any, ...], list[Finding]] = {}
    for f in result.counted:
        parts.setdefault(_key(f), []).append(f)
    found = [_group(some, times, result) for some in parts.values()]
    # Whether the base is fixed or free decides how everything else is compared.
    return sorted(found, key=lambda group: (group.digits, group.kind != "base.fixed_or_free", -group.share))


def _group(some: Sequence[Finding], times: Counter[str], result: DiffResult) -> Group:
    kind = some[0].kind
    whole = len(some) == times[kind] and kind in result.together
    share = result.together[kind] if whole else max(f.explains or 0.0 for f in some)
    return Group(kind, tuple(some), share, whole or len(some) == 1, apart(some[0]) < WRITTEN)


def _key(f: Finding) -> tuple[Any, ...]:
    """Return what findings of one group have in common."""
    if apart(f) < WRITTEN:
        return (f.kind, "digits")
    if f.kind == "body.missing":
        return (f.kind, _number(f.expected) > _number(f.found))
    if isinstance(f.expected, (int, float)) and isinstance(f.found, (int, float)):
        return (f.kind, f.expected, f.found, f.unit, f.rivals, f.note)
    return (f.kind, f.where)


def _number(x: Any) -> float:
    return float(x) if isinstance(x, (int, float)) else 0.0


def apart(f: Finding) -> float:
    """Return by how much of itself a value departs; infinity for words.

    Angles and unit vectors have a size of their own: a turn of 1e-8 rad is small beside one radian.
    """
    x, y = flat(f.expected), flat(f.found)
    if not x or len(x) != len(y):
        return math.inf
    size = max(abs(number) for number in (*x, *y))
    if f.unit in ("rad", "1"):
        size = max(size, 1.0)
    return max(abs(p - q) for p, q in zip(x, y, strict=True)) / size if size else 0.0


def flat(x: Any) -> list[float]:
    """Return the numbers of a value; none when a part of it is no number."""
    if isinstance(x, (list, tuple)):
        parts = [flat(item) for item in x]
        return [number for part in parts for number in part] if all(parts) else []
    return [float(x)] if isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x) else []


def tidy(f: Finding) -> tuple[Any, Any]:
    """Return both values with what is rounding beside the largest of them set to zero."""
    size = max(map(abs, (*flat(f.expected), *flat(f.found))), default=0.0)

    def clean(x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return [clean(item) for item in x]
        return 0.0 if isinstance(x, float) and abs(x) < NOISE * size else x

    lists = isinstance(f.expected, (list, tuple)) and isinstance(f.found, (list, tuple))
    cleaned = (clean(f.expected), clean(f.found)) if lists else (f.expected, f.found)
    return cleaned if cleaned[0] != cleaned[1] else (f.expected, f.found)


def places(found: Sequence[Group], joints: Container[str]) -> tuple[set[str], set[str], set[str]]:
    """Return the names of bodies and of joints that differ, and what of the whole robot differs.

    Args:
        found: groups of findings.
        joints: names of joints of A.
    """
    bodies_: set[str] = set()
    joints_: set[str] = set()
    whole: set[str] = set()
    for f in (f for group in found for f in group.findings):
        if f.where is None or f.kind.startswith(OF_ALL):
            whole.add(WHOLE.get(f.kind.partition(".")[0], f.kind))
        elif f.kind.startswith(OF_BODIES) or (f.kind.startswith(EITHER) and f.where not in joints):
            bodies_.add(f.where)
        else:
            joints_.add(f.where)
    return bodies_, joints_, whole
