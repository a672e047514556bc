"""What the contract of an engine asks beside right numbers: names, shapes, what it lacks, errors, read-back.

`agreement` and `identities` judge what is answered at the frozen states; here is asked what nobody asks in a check.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from .checks.answers import AnswerMissing, Asked
from .diagnosis.compare import compare
from .diagnosis.matching import match
from .errors import EngineUnsupported, HarnessError, told
from .lacking import QUANTITY_OF
from .results import IDENTITIES, QUANTITIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .engine import Session
    from .states import States
    from .tree import Floats, Tree

# Every call of a session by what an engine without it lacks: words that can stand in `EngineCard.limits`.
CALLS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "inverse dynamics": ("inverse_dynamics", ("q", "v", "a")),
    "external wrenches": ("inverse_dynamics", ("q", "v", "a", "wrenches")),
    "gravity of a call": ("inverse_dynamics", ("q", "v", "a", "gravity")),
    "bias": ("bias", ("q", "v")),
    "generalized gravity": ("gravity_forces", ("q",)),
    "mass matrix": ("mass_matrix", ("q",)),
    "forward dynamics": ("forward_dynamics", ("q", "v", "tau")),
    "poses": ("poses", ("q",)),
    "velocities": ("velocities", ("q", "v")),
    "kinetic energy": ("kinetic_energy", ("q", "v")),
    "potential energy": ("potential_energy", ("q",)),
    "centre of mass": ("center_of_mass", ("q",)),
    "momentum": ("momentum", ("q", "v")),
    "forces from Jacobians": ("generalized_forces", ("q", "wrenches")),
}
READ_BACK: Final = "reading back"
LACKED: Final = frozenset({*QUANTITIES, *IDENTITIES, "momentum", "generalized_forces", "describe"})
# The neutral path adds reflected inertia outside an engine that has none: it then holds none.
OUTSIDE: Final = ("armature", "rotor")


@dataclass(frozen=True)
class Conduct:
    """How a session keeps the contract; nothing is asked of what is no session of this tree.

    Attributes:
        faults: sentences; each begins with the call or the attribute that it is about.
        lacks: what the engine has not, by words of `CALLS`, to its own words.
        asked: words of `CALLS` that mean something for this tree.
    """

    faults: tuple[str, ...]
    lacks: Mapping[str, str]
    asked: tuple[str, ...]


def conduct(session: Session, tree: Tree, states: States, tolerance: float = 1e-9) -> Conduct:
    """Ask a session of the neutral path whatever the frozen states do not.

    Args:
        session: opened from `tree`.
        tree: what it must hold.
        states: of the tree, at least two.
        tolerance: relative, of masses and of whatever is read back.
    """
    try:
        faults = [*_names(session, tree, tolerance), *_keys(session)]
    except (Exception, SystemExit) as error:  # noqa: BLE001  an adapter may hand out anything
        return Conduct((f"the session is none: {told(error)}",), {}, ())
    if faults:
        return Conduct(tuple(faults), {}, ())
    lacks: dict[str, str] = {}
    asked = Asked(session, tree)
    means = [words for words in CALLS if words != "momentum" or tree.floating_roots]
    for words in means:
        method, arguments = CALLS[words]
        for count in (1, 0):
            try:
                asked(method, **_question(arguments, states, count))
            except EngineUnsupported as limit:
                lacks[words] = str(limit)
                break
            except AnswerMissing as missing:
                faults.append(f"{_call(method, arguments)} of {counted(count)}: {missing}")
                break
    faults += [f"{c.method} changes its argument {c.argument} by {c.size:.3g}" for c in asked.changes[:1]]
    faults += _wrong_sizes(session, tree, states, lacks)
    try:
        faults += _read_back(session, tree, tolerance)
    except EngineUnsupported as limit:
        lacks[READ_BACK] = str(limit)
    if "inverse dynamics" in lacks:  # of what is not there at all, no argument is lacking
        for words in ("external wrenches", "gravity of a call"):
            lacks.pop(words, None)
            means.remove(words)
    return Conduct(tuple(faults), lacks, (*means, READ_BACK))


def counted(states: int) -> str:
    """Return "1 state"."""
    return f"{states} state{'' if states == 1 else 's'}"


def _call(method: str, arguments: tuple[str, ...]) -> str:
    extra = [name for name in arguments if name in ("wrenches", "gravity")]
    return f"{method} with {extra[0]}" if extra and method == "inverse_dynamics" else method


def _question(arguments: tuple[str, ...], states: States, count: int) -> dict[str, Floats | None]:
    """Return the arguments of a call at the last `count` states, which are none at rest; gravity is another one."""
    given: dict[str, Floats | None] = {}
    for name in arguments:
        given[name] = np.array([1.0, 2.0, -3.0]) if name == "gravity" else getattr(states, name)[len(states) - count :]
    return given


def _names(session: Session, tree: Tree, tolerance: float) -> Iterator[str]:
    """Yield what is wrong with the attributes: on the neutral path every dof of the tree is there, and none beyond."""
    if tuple(session.dofs) != tree.dofs:
        yield f"dofs: they are {_few(session.dofs)}; expected {_few(tree.dofs)}"
    if tuple(session.extra_dofs):
        yield f"extra_dofs: {_few(session.extra_dofs)} are not in the tree"
    if strange := [name for name in session.bodies if name not in tree.index or not tree.index[name]]:
        yield f"bodies: {_few(strange)} are no bodies of the tree"
    mass, least, most = float(session.total_mass), tree.moving_mass, tree.total_mass
    if not least * (1 - tolerance) <= mass <= most * (1 + tolerance):  # what stands still need not be held
        yield f"total_mass: {mass:.6g} kg; the tree has {most:.6g} kg, of which {least:.6g} kg can move"


def _few(names: tuple[str, ...] | list[str], most: int = 5) -> str:
    told_of = [*map(str, names[:most]), *([f"{len(names) - most} more"] if len(names) > most else [])]
    return ", ".join(told_of) or "none"


def _keys(session: Session) -> Iterator[str]:
    """Yield what is wrong with the reasons of what is lacking."""
    for key, reason in session.lacks.items():
        if key not in LACKED:
            yield f"lacks: {key!r} is neither a quantity nor an identity; known: {', '.join(sorted(LACKED))}"
        elif not isinstance(reason, str) or not reason.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
            yield f"lacks: {key!r} has no reason in words: {reason!r}"


def _wrong_sizes(session: Session, tree: Tree, states: States, lacks: Mapping[str, str]) -> Iterator[str]:
    """Yield the calls that answer arrays of another robot: they must end in an error, and the next call answer."""
    for words in ("inverse dynamics", "bias", "mass matrix", "poses"):
        method, names = CALLS[words]
        if words in lacks or QUANTITY_OF.get(method, method) in session.lacks:
            continue
        arrays = {name: np.array(getattr(states, name)[:2]) for name in names}
        wide = {**arrays, "q": np.hstack([arrays["q"], np.zeros((2, 1))])}
        short = {**arrays, names[-1]: arrays[names[-1]][:, :-1]}
        for given in (wide, short):
            shapes = ", ".join(f"{name} {x.shape}" for name, x in given.items())
            try:
                getattr(session, method)(**given)
            except (Exception, SystemExit):  # noqa: BLE001, S112  as it should be: any error will do
                continue
            yield f"{method}: answers {shapes}, though the tree has {tree.nq} positions and {tree.nv} dofs"
            break
        try:
            getattr(session, method)(**arrays)
        except (Exception, SystemExit) as error:  # noqa: BLE001  an engine may raise anything
            yield f"{method}: does not answer any more after arrays of wrong size: {told(error)}"


def _read_back(session: Session, tree: Tree, tolerance: float) -> Iterator[str]:
    """Return what `describe` says otherwise than the tree.

    Raises:
        EngineUnsupported: the engine does not tell.
    """
    if reason := session.lacks.get("describe"):
        raise EngineUnsupported(reason)
    try:
        held = session.describe()
    except EngineUnsupported:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  an engine may raise anything
        return iter((f"describe: raises {told(error)}",))
    try:
        # An engine that holds a joint as several of its own, or counts from another zero, is judged by its answers;
        # the frames of its bodies may be its own.
        same = _moving(held) == _moving(tree)
        differences = compare(tree, held, match(tree, held), tolerance).differences if same else ()
    except (HarnessError, AttributeError, TypeError) as error:
        return iter((f"describe: answers no Tree that can be compared: {told(error)}",))
    return iter(
        [
            f"describe: {d.kind} at {d.where}: expected {_told(d.expected)}, found {_told(d.found)} {d.unit}".rstrip()
            for d in differences
            if not d.kind.startswith(OUTSIDE)
        ]
    )


def _told(value: object) -> str:
    """Return a value in six digits, a list of them, or a word."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_told, value))}]"  # pyright: ignore[reportUnknownArgumentType]  of whatever is in it
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _moving(tree: Tree) -> dict[str, tuple[str, float]]:
    """Return kind and zero of every joint that moves; without limits a revolute one is continuous."""
    kinds = {joint.name: (joint.kind.value, joint.ref) for joint in tree.joints if joint.nv}
    return {name: ("revolute" if kind == "continuous" else kind, ref) for name, (kind, ref) in kinds.items()}
