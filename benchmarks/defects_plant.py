"""What a planted defect is, which accounts of it are equal by theory, and how targets are chosen."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np
from defects_files import Written, six_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from defects_files import File

SAME = 1e-9  # relative; below it two robots are the same, as RESULTS defines the default tolerance
EVERY = ("mass", "com", "inertia", "placement", "kind", "axis", "zero", "terms", "spring", "gravcomp")
SIZES = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


@dataclass(frozen=True)
class Account:
    """One way to say what is wrong: a kind at a place.

    Attributes:
        kind: of FINDINGS.md.
        what: "body", "joint" (that carries the body `name`), "name" (of an element), "whole" (no place), or "any".
        name: as the exporter calls the body, or of an element.
    """

    kind: str
    what: str
    name: str = ""


@dataclass(frozen=True)
class Plant:
    """A defect in a file.

    Attributes:
        accounts: right answers; the first is what was planted, the others say the same by theory.
        touched: fields that were changed; two defects in one field would be one, or none.
        late: what is left to be done once all other text is written, or None.
    """

    accounts: tuple[Account, ...]
    touched: frozenset[str]
    late: Callable[[File], None] | None = field(default=None, compare=False)

    @property
    def kind(self) -> str:
        """What was planted."""
        return self.accounts[0].kind


def plant(kind: str, what: str, name: str, *fields: str, equal: tuple[Account, ...] = ()) -> Plant:
    """Return a defect of one element; fields are told apart by element."""
    return Plant((Account(kind, what, name), *equal), frozenset(f"{name}.{field}" for field in fields))


def pick(rng: Any, names: list[str]) -> str | None:
    """Return one of the names, None of none."""
    return names[int(rng.integers(len(names)))] if names else None


def direction(rng: Any) -> Any:
    """Return a random unit vector: along no axis of the robot."""
    n = rng.normal(size=3)
    return n / np.linalg.norm(n)


def physical(written: Written) -> bool:
    """Return whether a body can have this tensor, with room to spare: MuJoCo refuses others."""
    moments = np.linalg.eigvalsh(written.I_com)
    return bool(moments[0] > 1e-9 * moments[2] and (moments[0] + moments[1]) > moments[2] * (1 + 1e-9))


def weight(written: Written) -> float:
    """Return [kg m^2] the size of a tensor about the body origin."""
    return float(np.abs(written.I_com).max() + abs(written.mass) * (written.pos @ written.pos))


def classes(before: Written, after: Written) -> set[str]:
    """Return the kinds of inertia defect that lead from one tensor to the other: what nobody can tell apart.

    A flipped product in a tensor that has only one is half a turn as well; equal moments swapped are a quarter turn.
    The definitions are those of FINDINGS.md, taken in body axes and in the axes in which either file writes the tensor.
    """
    I, K = before.I_com, after.I_com
    grain = 4 * SAME * weight(before)
    found: set[str] = set()
    if np.abs(np.linalg.eigvalsh(I) - np.linalg.eigvalsh(K)).max() <= grain:
        found.add("inertia.rotation")
    c = before.pos
    steiner = before.mass * (c @ c * np.eye(3) - np.outer(c, c))
    if any(np.abs(I + k * steiner - K).max() <= grain for k in (1, -1)) and np.abs(steiner).max() > grain:
        found.add("inertia.reference_point")
    for R in (np.eye(3), before.R, after.R):
        x, y = six_of(R.T @ I @ R), six_of(R.T @ K @ R)
        if any(np.abs(x[list(p)] - y).max() <= grain for p in permutations(range(6))):
            found.add("inertia.order")
        if np.abs(x[:3] - y[:3]).max() <= grain:
            flips = (np.array(s) for s in product((1, -1), repeat=3) if min(s) < 0)
            if any(np.abs(x[3:] * s - y[3:]).max() <= grain for s in flips):
                found.add("inertia.sign")
            if min(np.abs(x[3:]).max(), np.abs(y[3:]).max()) <= grain:
                found.add("inertia.off_diagonal")
    return found
