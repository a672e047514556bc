"""Pairs of files: a robot, and the same robot with defects, or with none, each written in its own way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from defects_inertials import INERTIALS
from defects_joints import JOINTS
from defects_mjcf import Mjcf
from defects_plant import SIZES, Plant
from defects_rewrites import REWRITES
from defects_spelling import turned_inertials
from defects_structure import STRUCTURE
from defects_sums import as_told
from defects_terms import TERMS
from defects_urdf import Urdf

if TYPE_CHECKING:
    from collections.abc import Callable

    from defects_files import File
    from defects_robots import Robot

PLANTERS: dict[str, Callable[[File, Any, float], Plant | None]] = {**INERTIALS, **JOINTS, **STRUCTURE, **TERMS}
# Defects whose name depends on which file is the expected one.
ONE_WAY = ("body.missing", "mass.default", "joint.missing", "joint.extra", "joint.extra freed")
TRIES = 200


@dataclass
class Pair:
    """Two files.

    Attributes:
        a, b: the files.
        names: keys of `PLANTERS` of what was planted.
        plants: what was planted in one of them.
        reversed: whether in `a`.
        size: of the defects, relative.
        rewrites: how `a` and `b` were written over.
        robot: its name.
    """

    a: File
    b: File
    names: list[str]
    plants: list[Plant]
    reversed: bool
    size: float
    rewrites: tuple[list[str], list[str]]
    robot: str


def make(rng: Any, draw: Callable[[Any], Robot], wanted: list[str]) -> Pair:
    """Return a pair with these defects.

    Args:
        rng: generator.
        draw: returns a robot.
        wanted: keys of `PLANTERS`, none for a clean pair; "" is any, drawn anew until both fit one robot.

    Raises:
        RuntimeError: none of many robots can have them.
    """
    for _ in range(TRIES):
        names = [name or str(rng.choice(list(PLANTERS))) for name in wanted]
        robot = draw(rng)
        formats = list(robot.texts)
        a, b = (open_text(robot.texts[str(rng.choice(formats))]) for _ in range(2))
        size = float(rng.choice(SIZES))
        if "inertia.rotation" in names or rng.random() < 0.3:
            turned_inertials(b, rng, all_of_them=True)
        sound = b.copy()
        plants = _plants(b, rng, size, names)
        if plants is None:
            continue
        defective = b.copy()
        done = tuple(_rewrite(file, rng, plants, clean=not names) for file in (a, b))
        told = [as_told(planted, sound, defective, (a, b)) for planted in plants]
        if None in told:
            continue
        plants = [planted for planted in told if planted is not None]
        for planted in plants:
            if planted.late is not None:
                planted.late(b)
        swap = bool(rng.random() < 0.25) and not any(n in ONE_WAY for n in names)
        pair = (b, a) if swap else (a, b)
        return Pair(*pair, names, plants, swap, size, (done[::-1] if swap else done), robot.name)  # type: ignore[arg-type]
    raise RuntimeError(f"no robot can have {wanted}")


def _plants(file: File, rng: Any, size: float, names: list[str]) -> list[Plant] | None:
    """Plant all of them in different fields; None when the robot cannot have them."""
    plants: list[Plant] = []
    touched: set[str] = set()
    for name in names:
        before = file.copy()
        found = PLANTERS[name](file, rng, size)
        if found is None or touched & found.touched:
            file.__dict__.update(before.__dict__)
            return None
        touched |= found.touched
        plants.append(found)
    return plants


def _rewrite(file: File, rng: Any, plants: list[Plant], *, clean: bool) -> list[str]:
    """Write a file over in some ways; returns which."""
    count = int(rng.integers(1, 5)) if clean else int(rng.choice([0, 0, 1, 2]))
    chosen = set(rng.permutation(list(REWRITES))[:count].tolist())
    if any(planted.late for planted in plants):
        chosen -= {"other spelling of turns"}
    if any(planted.kind.startswith("units.") for planted in plants):
        # A unit shows in the numbers that both files write for one thing: other frames have other numbers.
        chosen -= {"other body origins", "frames around"}
    if any(field.endswith(".kind") for planted in plants for field in planted.touched):
        # Another type under another name is a joint less and a joint more: nothing says that it is the same one.
        chosen -= {"other names"}
    done: list[str] = []
    for name, rewrite in REWRITES.items():
        if name in chosen:
            before = file.texts("x")
            rewrite(file, rng)
            if file.texts("x") != before:
                done.append(name)
    return done


def texts(file: File, stem: str) -> tuple[str, dict[str, str]]:
    """Return the name of the main file and all texts by name."""
    name = f"{stem}.{'urdf' if file.format == 'urdf' else 'xml'}"
    return name, file.texts(name)


def rng_of(seed: int, number: int) -> Any:
    """Return the generator of one pair."""
    return np.random.default_rng([seed, number])


def open_text(text: str) -> File:
    """Return a document by its root element."""
    return Urdf(text) if "<robot" in text[:400] else Mjcf(text)
