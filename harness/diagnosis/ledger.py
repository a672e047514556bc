"""The term ledger: what each call of an engine holds beyond the canonical effort, term by term.

A term that one call has and another has not is a convention of the calls, not another robot. A term that is in the very
answers that are compared is subtracted before what is left is called unexplained.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, runtime_checkable

import numpy as np

from ..findings import finding
from ..fixes import fix
from ..tree import JointKind
from .closure import mean_square, residuals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..errors import Source
    from ..findings import Finding
    from ..states import States
    from ..tree import Floats, Tree
    from .closure import Dynamics, Observed

Terms: TypeAlias = "Mapping[str, Floats]"

COMPARED: Final = ("tau", "bias", "gravity", "mass_matrix")  # the calls whose answers are compared with the reference
# Terms of single joints, with the field of the joint that says them.
OF_JOINTS: Final = {
    "armature": "armature",
    "damping": "damping",
    "frictionloss": "friction",
    "spring": "stiffness",
    "integrator": "damping",
}


@runtime_checkable
class Booked(Protocol):
    """A session that tells its calls apart."""

    @property
    def dofs(self) -> tuple[str, ...]:
        """See `harness.engine.Session`."""
        ...

    def ledger(self, q: Floats, v: Floats, a: Floats) -> Mapping[str, Terms]:
        """Return, per call, the efforts (N, n) that it holds beyond the canonical ones, by finding kind.

        "tau" is the session's own `inverse_dynamics` without wrenches, "bias", "gravity" and "mass_matrix" (N, n, n)
        its other answers; other names are those of the engine.
        """
        ...


FEW: Final = 8  # states at which it is asked which terms a call holds


def entries(session: object, states: States) -> Mapping[str, Terms]:
    """Return the ledger; empty when the session keeps none.

    Which terms a call holds shows at a few states of every kind, such as those at the limits of joints; only the terms
    of the compared call are wanted at all of them.
    """
    if not isinstance(session, Booked):
        return {}
    few = _some(states)
    try:
        calls = dict(session.ledger(states.q[few], states.v[few], states.a[few]))
    except (Exception, SystemExit):  # noqa: BLE001  engines raise anything; a user's function has no ledger
        return {}
    compared = [name for name in COMPARED if calls.get(name)]
    if compared:
        whole = session.ledger(states.q.copy(), states.v.copy(), states.a.copy())
        calls |= {name: whole[name] for name in compared}
    return calls


def compared_terms(ledger: Mapping[str, Terms]) -> dict[str, Terms]:
    """Return the terms of the calls that are compared."""
    return {name: ledger[name] for name in COMPARED if ledger.get(name)}


def _some(states: States) -> list[int]:
    """Return a few states, evenly spread, and the first and last of every stratum."""
    count = len(states)
    spread = np.linspace(0, count - 1, min(FEW, count)).astype(int).tolist()
    first = {name: states.strata.index(name) for name in states.counts}
    last = {name: i for i, name in enumerate(states.strata)}
    return sorted({*spread, *first.values(), *last.values()})


def taken_out(
    terms: Mapping[str, Terms], observed: Observed, tree: Tree, make: Callable[[Tree], Dynamics]
) -> tuple[Mapping[str, float], Observed]:
    """Return the share of the residual that each term explains, and the observations without all of them.

    Args:
        terms: of the compared calls.
        observed: the engine's answers.
        tree: the expected robot.
        make: returns the reference of a tree.
    """
    terms = {name: held for name, held in terms.items() if name in observed.values}
    if not terms:
        return {}, observed
    before, shares, rest = mean_square(residuals(tree, tree, observed, make)), {}, observed
    for kind in dict.fromkeys(kind for held in terms.values() for kind in held):
        own = {name: held[kind] for name, held in terms.items() if kind in held}
        after = mean_square(residuals(tree, tree, _less(observed, own), make))
        shares[kind] = float(np.clip(1 - after / before, 0, 1)) if before else 0.0
        rest = _less(rest, own)
    return shares, rest


def _less(observed: Observed, terms: Terms) -> Observed:
    return replace(observed, values={**observed.values, **{k: observed.values[k] - term for k, term in terms.items()}})


def conventions(ledger: Mapping[str, Terms], dofs: Sequence[str], engine: str, tree: Tree) -> Iterator[Finding]:
    """Yield the terms that calls other than the compared one hold, each at the elements that say them.

    Args:
        ledger: from `entries`.
        dofs: of the session, names of the columns.
        engine: its name.
        tree: the robot of the file.
    """
    joints = np.array([tree.joint_of_dof[tree.dofs.index(dof)] for dof in dofs], int)
    told: set[tuple[str, str]] = set()
    for call, terms in ledger.items():
        if call in COMPARED:
            continue
        for kind, efforts in terms.items():
            for where, source, columns in _places(kind, efforts, joints, tree):
                if (kind, where) in told:
                    continue
                told.add((kind, where))
                largest = efforts[:, columns].ravel()[np.abs(efforts[:, columns]).argmax()]
                slides = tree.joints[joints[columns[0]]].kind is JointKind.PRISMATIC
                values: dict[str, Any] = {"expected": 0.0, "found": float(largest), "unit": "N" if slides else "N m"}
                said = fix(kind, where=where, format=tree.origin.format, engine=engine, source=source, **values)
                yield finding(kind, source, where=where, **values, severity="convention", fix=f"for {call}: {said}")


def _places(
    kind: str, efforts: Floats, joints: np.ndarray[tuple[int], np.dtype[np.int_]], tree: Tree
) -> Iterator[tuple[str, Source, list[int]]]:
    """Yield name, line and columns of every element that a term comes from."""
    loaded = np.abs(efforts).max(0, initial=0)
    if not loaded.any():
        return
    columns = np.flatnonzero(loaded)
    if kind in OF_JOINTS:
        for i in dict.fromkeys(joints[columns].tolist()):
            yield tree.joints[i].name, tree.joints[i].source(OF_JOINTS[kind]), np.flatnonzero(joints == i).tolist()
    elif kind == "gravcomp":
        for body in tree.bodies:
            if body.gravcomp:
                yield body.name, body.source("gravcomp"), columns.tolist()
    else:
        # Fluid and constraints are of the whole robot: the joint that has most of it stands for all.
        joint = tree.joints[joints[loaded.argmax()]]
        source = tree.sources.get("medium") if kind == "fluid" else joint.source("upper")
        yield joint.name, source or joint.source(), columns.tolist()
