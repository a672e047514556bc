"""Functions of the user as engines: whatever they are called, raise or answer, a verdict of their own comes of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tautology.adapters.reference import Reference
from tautology.harness.callables import LONGEST_NAME, CallableEngine
from tautology.harness.checks.conduct import _prime
from tautology.harness.checks.identities import identities
from tautology.harness.checks.truth import Truth
from tautology.harness.errors import told
from tautology.harness.load import load
from tautology.harness.run import check
from tautology.harness.states import sample

if TYPE_CHECKING:
    from collections.abc import Callable

ARM = str(Path(__file__).parents[1] / "models" / "tau_arm.urdf")
TREE = load(ARM)
REFERENCE = Reference(TREE)
ORDER = [1, 0, 2, 3, 4, 5, 6]


def right(q: Any, v: Any, a: Any) -> Any:
    """Return the right answer."""
    return REFERENCE.inverse_dynamics(q[None], v[None], a[None])[0]


def wrong(q: Any, v: Any, a: Any) -> Any:
    """Return half as much again."""
    return 1.5 * right(q, v, a)


def called(name: Any, function: Callable[..., Any] = wrong) -> Callable[..., Any]:
    """Return a function that says that it has this name."""

    def other(q: Any, v: Any, a: Any) -> Any:
        return function(q, v, a)

    # As of a class with an attribute that Python does not check.
    return type("Named", (), {"__name__": name, "__call__": staticmethod(other)})()


def rows(*engines: Any, states: int = 4) -> dict[tuple[str, str], str]:
    """Return engine and path, which no two rows share, to status."""
    found = check(ARM, engines=list(engines), states=states).models[0].engines
    assert len({(row.engine, row.path) for row in found}) == len(found)
    return {(row.engine, row.path): row.status for row in found}


@pytest.mark.parametrize("name", ["reference", "mujoco", "pinocchio"])
def test_a_function_that_is_called_like_an_engine_has_rows_of_its_own(name: str) -> None:
    """Alone and beside that engine it is the function that is judged."""
    alone = check(ARM, engines=called(name), states=4)
    assert (alone.verdict, alone.exit) == ("differs", 1)
    own = f"{name} (callable)"
    assert rows(called(name))[own, "neutral"] == "differs"
    both = rows("mujoco", called(name))
    assert (both[own, "neutral"], both["reference", "neutral"], both["mujoco", "neutral"]) == (
        *("differs", "agree", "agree"),
    )
    assert rows(CallableEngine(right, name=name))[own, "neutral"] == "agree"


def test_functions_of_one_name_are_told_apart() -> None:
    """Two lambdas, say."""
    found = rows(called("mine"), called("mine", right), called("mine", right))
    assert [found[name, "neutral"] for name in ("mine", "mine (callable)", "mine (callable 2)")] == [
        *("differs", "agree", "agree"),
    ]


@pytest.mark.parametrize("name", [3, None, "", b"x", ["y"]], ids=repr)
def test_a_name_that_is_no_word_is_replaced(name: Any) -> None:
    """Anybody may set `__name__`."""
    assert rows(called(name))["callable", "neutral"] == "differs"


def test_a_long_name_is_cut() -> None:
    """A row has a heading, no chapter."""
    (long,) = {name for name, _ in rows(called("n" * 100_000)) if name != "reference"}
    assert len(long) == LONGEST_NAME


class Own(BaseException):
    """What no `except Exception` catches."""


class Mute(Exception):
    """What cannot say what it is."""

    def __str__(self) -> str:
        """Fail."""
        raise ValueError("no words")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Own("boo"), "raised Own: boo"),
        (GeneratorExit(), "raised GeneratorExit"),
        (Mute(), "raised Mute: (its words raise ValueError)"),
        (ValueError("\x1b[31m" + "m" * 100_000 + "\n\nTraceback"), r"raised ValueError: \x1b[31mmmm"),
    ],
    ids=["BaseException", "GeneratorExit", "mute", "long"],
)
def test_whatever_a_function_raises_is_a_short_reason(error: BaseException, words: str) -> None:
    """On one line, without what a terminal would obey."""

    def fails(*_: Any) -> None:
        raise error

    result = check(ARM, engines=fails, path="neutral", states=2)
    tau = result.models[0].engines[-1].quantities[0]
    assert (result.verdict, tau.passed) == ("differs", False)
    assert words in tau.note
    assert len(tau.note) < 400
    assert tau.note.isprintable()


def test_an_interrupt_ends_the_run() -> None:
    """Ctrl-C while a function works is meant for the run."""

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(ARM, engines=interrupted, path="neutral", states=2)


def test_what_was_raised_is_told_on_one_line() -> None:
    """The end of long words is left out."""
    assert told(ValueError("a\n b")) == "ValueError: a b"
    assert told(ValueError()) == "ValueError"
    assert len(told(ValueError("x" * 500), 50)) == 50


@pytest.mark.parametrize("states", [1, 2, 7, 8, 15])
@pytest.mark.parametrize("period", [2, 3, 4, 5])
def test_a_function_that_errs_at_every_few_calls_is_not_repeatable(period: int, states: int) -> None:
    """Whether or not the number of states is a multiple of it: 0.1 % off."""
    calls = 0

    def now_and_then(q: Any, v: Any, a: Any) -> Any:
        nonlocal calls
        calls += 1
        return right(q, v, a) * (1 + 1e-3 * (calls % period == 0))

    drawn = sample(TREE, states)
    session = CallableEngine(now_and_then).neutral(TREE)
    truth = Truth(TREE, drawn, Reference(TREE, np.longdouble), REFERENCE)
    found = {row.identity: row for row in identities(session, TREE, drawn, truth, "neutral")}
    assert not found["repeatability"].passed


@pytest.mark.parametrize(("count", "prime"), [(1, 11), (11, 13), (64, 67), (89, 97)])
def test_the_next_prime(count: int, prime: int) -> None:
    """Larger than the number of states."""
    assert _prime(count) == prime


@pytest.mark.parametrize("told_by", ["attribute", "wrapped"])
def test_the_order_of_dofs_can_be_told(told_by: str) -> None:
    """A function with another order of joints is asked in it, coordinates of position included."""
    tree = load(Path(ARM).with_name("tau_walker.urdf"))
    reference = Reference(tree)
    joints = [*reversed([j for j in tree.joints if j.nv])]
    dofs = [dof for joint in joints for dof in joint.dofs]
    at = {joint.name: (a, b) for joint, a, b in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True)}

    def reordered(q: Any, v: Any, a: Any) -> Any:
        mine = {"q": np.zeros(tree.nq), "v": np.zeros(tree.nv), "a": np.zeros(tree.nv)}
        begin_q = begin_v = 0
        for joint in joints:
            q_at, v_at = at[joint.name]
            mine["q"][q_at] = q[begin_q : begin_q + joint.nq]
            mine["v"][v_at], mine["a"][v_at] = (x[begin_v : begin_v + joint.nv] for x in (v, a))
            begin_q, begin_v = begin_q + joint.nq, begin_v + joint.nv
        tau = reference.inverse_dynamics(*(mine[name][None] for name in "qva"))[0]
        return np.concatenate([tau[at[joint.name][1]] for joint in joints])

    engine: Any = reordered
    if told_by == "attribute":
        reordered.dofs = dofs  # type: ignore[attr-defined]
    else:
        engine = CallableEngine(reordered, dofs=dofs)
    result = check(tree, engines=[engine], states=6)
    assert [e.status for e in result.models[0].engines if e.path == "neutral"] == ["agree", "agree"]


def changed(**fields: Callable[[Any], Any]) -> Any:
    """Return inverse dynamics of the arm with other fields of its elbow."""
    at = TREE.joint_index["elbow"]
    bodies = list(TREE.bodies)
    joint = replace(bodies[at].joint, **{name: make(getattr(bodies[at].joint, name)) for name, make in fields.items()})
    bodies[at] = replace(bodies[at], joint=joint)
    other = Reference(replace(TREE, bodies=tuple(bodies)))
    return lambda q, v, a: other.inverse_dynamics(q[None], v[None], a[None])[0]


def farther(T: Any) -> Any:
    """Return a placement 2 cm farther out."""
    moved = T.copy()
    moved[0, 3] += 0.02
    return moved


@pytest.mark.parametrize(
    ("function", "kind", "where"),
    [
        (changed(axis=np.negative), "joint.axis_sign", "elbow"),
        (changed(T_parent_joint=farther), "joint.placement", "upper_to_elbow"),
        (lambda q, v, a: right(q + 0.3 * (np.arange(7) == 1), v, a), "joint.zero", "shoulder"),
        (lambda q, v, a: right(q[ORDER], v[ORDER], a[ORDER])[ORDER], "joint.order", None),
        (lambda q, v, a: right(q, v, a) + 0.4 * v * (np.arange(7) == 2), "damping", "elbow"),
    ],
    ids=["axis", "placement", "zero", "order", "damping"],
)
def test_what_is_wrong_with_a_function_is_named(function: Any, kind: str, where: str | None) -> None:
    """Wrenches come from the tree of the file: they do not stand between a function and its reason.

    Of the fixed joint before the elbow and the elbow itself no motion tells which one is elsewhere.
    """
    row = check(ARM, engines=[function], path="neutral", states=32).models[0].engines[1]
    (found,) = (f for f in row.findings if f.kind == kind)
    assert found.where == where
    assert found.explains == pytest.approx(1, abs=1e-6)
    assert found.severity == ("convention" if kind == "joint.order" else "model")
    assert row.status == "differs"
