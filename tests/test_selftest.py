"""`tautology selftest`: sound adapters keep the contract, and each wrong one is found where it is wrong."""

from __future__ import annotations

import json
from io import StringIO

import numpy as np
import pytest
import wrong_adapters
from rich.console import Console
from typer.testing import CliRunner

from tautology.adapters.reference import Reference
from tautology.harness import bench, registry, selftest
from tautology.harness.cli import app
from tautology.harness.contract import CALLS, conduct
from tautology.harness.errors import EngineBroken
from tautology.harness.request import Request
from tautology.harness.run import check
from tautology.harness.selftest import selftest as tried
from tautology.harness.specimens import CONCERNS, mixtures, specimens
from tautology.harness.states import sample
from tautology.harness.tree import JointKind
from tautology.reports.selftest import selftest_report

RUNNER = CliRunner()
FEW = ("revolute joints", "ball joints", "planar joints", "floating base")


@pytest.fixture(autouse=True)
def adapters(tmp_path_factory, monkeypatch):
    """Make the wrong adapters known, and end the processes that were started."""
    names = (*wrong_adapters.ENGINES, *wrong_adapters.UNLOADABLE)
    wrong_adapters.known(names, tmp_path_factory.mktemp("adapters"), monkeypatch)
    yield
    bench.stop_workers()


@pytest.fixture
def few(monkeypatch):
    """Ask for a few specimens: the full set takes seconds."""
    chosen = {concern: CONCERNS[concern] for concern in FEW}
    monkeypatch.setattr(selftest, "CONCERNS", chosen)
    monkeypatch.setattr(selftest, "specimens", lambda seed: [s for s in specimens(seed) if s.concern in chosen])
    monkeypatch.setattr(selftest, "mixtures", lambda held, seed: mixtures(held, seed)[:1])


def asked(engine, **more):
    """Return what comes of an engine in this process."""
    return tried(engine, Request(**{"in_process": True} | more))


def faults(result):
    """Return what is wrong in any specimen."""
    return {fault.what for trial in result.trials for fault in trial.faults}


def words(result):
    """Return what is said of everything that is wrong."""
    return " | ".join(fault.words for trial in result.trials for fault in trial.faults)


def printed(result, **more):
    """Return the report at 80 columns."""
    console = Console(file=StringIO(), width=80, highlight=False, markup=False)
    selftest_report(result, console, **more)
    return console.file.getvalue()


@pytest.mark.parametrize("engine", ["reference", "pinocchio", "mujoco"])
def test_our_own_adapters_keep_the_contract(engine):
    """Every specimen is held and answered right, and nothing is left to declare."""
    result = tried(engine, Request(in_process=engine == "reference", seed=1))
    assert result.exit == 0, printed(result)
    assert {trial.concern for trial in result.trials} > set(CONCERNS)
    assert all(trial.status == "right" and 0 < trial.worst < 1 for trial in result.trials)
    assert result.undeclared == result.untrue == ()


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("engine", "what", "said"),
    [
        ("sign", "tau", "at joint"),
        ("sign", "load_duality", ""),
        ("shape", "bias", "expected numbers of (16, 5)"),
        ("shape", "contract", "bias of 1 state: bias answered float64 of shape (1, 6)"),
        ("rewrites", "inputs_unchanged", "velocities(v)"),
        ("notone", "contract", "poses of 1 state: poses answered float64 of shape (5, 4, 4)"),
        ("notnone", "contract", "mass_matrix of 0 states: mass_matrix raised ValueError"),
        ("anysize", "contract", "poses: answers q (2, 6), though the tree has 5 positions"),
        ("renames", "contract", "dofs: they are joint1_, joint2_"),
        ("heavy", "contract", "describe: mass at body5: expected "),
        ("notree", "contract", "describe: answers no Tree"),
        ("unknownkey", "contract", "'torque' is neither a quantity nor an identity"),
        ("empty", "contract", "the session is none: AttributeError"),
        ("raises", "contract", "neutral raised KeyError"),
    ],
)
def test_a_wrong_adapter_is_found_where_it_is_wrong(engine, what, said):
    """Each in its quantity, identity or part of the contract, in its own words; that is exit 1."""
    result = asked(engine)
    assert result.exit == 1
    assert what in faults(result)
    assert said in words(result), words(result)
    assert result.trials[0].status == "wrong"
    text = printed(result)
    assert text.startswith("BREAKS")
    assert max(map(len, text.split("\n"))) <= 80


@pytest.mark.usefixtures("few")
def test_a_sign_error_is_measured_in_tolerances_and_diagnosed_nowhere_else():
    """Only what wrenches enter is wrong; the report names the quantity and the specimen."""
    result = asked("sign")
    assert not faults(result) & {"bias", "gravity", "mass_matrix", "poses", "contract"}
    assert all(trial.worst > 1e6 for trial in result.trials)
    assert "tau: " in printed(result)
    assert "tolerances" in printed(result)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("engine", "status", "said"), [("crashes", "crashed", "SIGSEGV"), ("hangs", "timeout", "3 s")])
def test_a_crash_costs_one_specimen(engine, status, said):
    """In a process of its own, what follows is asked all the same; that is exit 3, and the card is not judged."""
    result = tried(engine, Request(in_process=False, timeout=3.0))
    rows = {trial.concern: trial for trial in result.trials}
    assert rows["ball joints"].status == status
    assert said in rows["ball joints"].words
    assert rows["planar joints"].status == "right"
    assert result.exit == 3
    assert not result.judged
    assert "CRASHES" in printed(result)


@pytest.mark.usefixtures("few")
def test_a_crash_that_frozen_states_do_not_see_is_one():
    """An engine that takes arrays of another robot and ends by them crashes, however right its answers are."""
    result = tried("fragile", Request(in_process=False))
    assert {trial.status for trial in result.trials if trial.concern in FEW} == {"crashed"}
    assert all("poses: ended by SIGSEGV" in trial.words for trial in result.trials)
    assert result.exit == 3


@pytest.mark.usefixtures("few")
def test_a_true_card_is_exit_0():
    """What is lacking everywhere is one limit, a kind of joint another; reasons may stand behind a colon."""
    result = asked("true")
    assert result.exit == 0, printed(result)
    assert result.limits == {
        "planar joints": "a planar joint is unknown to it",
        "external wrenches": "it takes no wrenches",
        "kinetic energy": "it has no energies",
        "reading back": "it keeps its numbers to itself",
    }
    assert "planar joints: a planar joint is unknown to it" in printed(result)
    assert JointKind.PLANAR not in {joint.kind for s in mixtures(["ball joints"]) for joint in s.tree.joints}


@pytest.mark.usefixtures("few")
def test_calls_that_are_lacking_together_are_one_limit():
    """Those with inverse dynamics, for the same reason; what is lacking with one kind of base is told by the base."""
    result = asked("fixedonly")
    assert result.exit == 0, printed(result)
    assert list(result.limits) == ["efforts with a floating base", "kinetic energy", "potential energy"]


@pytest.mark.usefixtures("few")
def test_a_card_that_leaves_out_a_limit_lies():
    """The line to add is shown."""
    result = asked("silent")
    assert (result.undeclared, result.untrue, result.exit) == (("planar joints",), (), 1)
    assert "does not declare 'planar joints'" in printed(result)


@pytest.mark.usefixtures("few")
def test_a_card_that_declares_what_it_can_lies():
    """Too much modesty is a lie, too."""
    result = asked("boasts")
    assert (result.undeclared, result.untrue, result.exit) == ((), ("ball joints",), 1)
    assert "declares 'ball joints', which it can" in printed(result)


@pytest.mark.parametrize(("engine", "said"), [("noengine", "has no ENGINE"), ("nomodule", "cannot be imported")])
@pytest.mark.parametrize("in_process", [True, False])
def test_an_adapter_that_does_not_load_is_a_sentence(engine, said, in_process):
    """Whether it lacks a module or its `ENGINE`."""
    (registry_path,) = {wrong_adapters.UNLOADABLE[engine]}
    with pytest.raises(EngineBroken, match=said) as raised:
        tried(engine, Request(in_process=in_process))
    assert registry_path in str(raised.value)


def test_an_adapter_that_does_not_load_harms_nobody_else():
    """In a check it is a crashed engine with a reason; the others answer."""
    models = check(specimens()[0].tree, engines=["nomodule", "mujoco"], path="neutral", states=4).models
    rows = {row.engine: row for row in models[0].engines}
    assert rows["nomodule"].status == "crashed"
    assert "cannot be imported" in rows["nomodule"].message
    assert rows["mujoco"].status == "agree"


@pytest.mark.usefixtures("few")
def test_the_command_prints_writes_and_ends(tmp_path):
    """A table at 80 columns, a document, and the exit code of the result."""
    file = tmp_path / "selftest.json"
    ran = RUNNER.invoke(app, ["selftest", "silent", "--in-process", "--json", str(file)], env={"COLUMNS": "80"})
    assert ran.exit_code == 1
    assert "ball joints                        right" in ran.stdout
    document = json.loads(file.read_text())
    assert (document["command"], document["exit"], document["engine"]) == ("selftest", 1, "silent")
    assert [row["status"] for row in document["specimens"]] == ["right", "right", "cannot", "right", "right"]
    assert document["card"] == {"judged": True, "undeclared": ["planar joints"], "untrue": []}
    quiet = RUNNER.invoke(app, ["selftest", "silent", "--in-process", "-q"])
    assert quiet.stdout.count("\n") == 1
    out = RUNNER.invoke(app, ["selftest", "silent", "--in-process", "--json", "-"])
    assert [row["worst"] for row in json.loads(out.stdout)["specimens"]] == [r["worst"] for r in document["specimens"]]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["selftest", "nobody"], "known engines: reference"),
        (["selftest", "mujoco=3"], "names no engine"),
        (["selftest", "noengine"], "has no ENGINE"),
        (["selftest", "mujoco==3.3.7", "--in-process"], "leave out --in-process"),
        (["selftest", "sound", "--timeout", "0"], "timeout"),
    ],
)
def test_a_request_that_cannot_be_met_is_one_sentence(arguments, said):
    """Exit 2, and nothing on stdout."""
    ran = RUNNER.invoke(app, arguments)
    assert ran.exit_code == 2
    assert ran.stdout == ""
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr


def test_an_absent_engine_is_told_with_its_install_line(monkeypatch):
    """Exit 2."""
    monkeypatch.setattr(registry, "version", lambda card: None if card.name == "mujoco" else "1")
    ran = RUNNER.invoke(app, ["selftest", "mujoco"])
    assert (ran.exit_code, ran.stderr) == (
        2,
        "engine 'mujoco' is not installed; install it with: pip install 'mujoco>=4.0,<5'\n",
    )


def test_specimens_are_the_same_for_the_same_seed():
    """Each depends on the seed and its own name; another seed draws other numbers."""
    first, again, other = specimens(0), specimens(0), specimens(1)
    for a, b, c in zip(first, again, other, strict=True):
        assert a.concern == b.concern == c.concern
        assert [x.joint.T_parent_joint.tobytes() for x in a.tree.bodies] == [
            x.joint.T_parent_joint.tobytes() for x in b.tree.bodies
        ]
        assert (a.tree.joints[1].T_parent_joint != c.tree.joints[1].T_parent_joint).any()


@pytest.mark.parametrize("seed", range(5))
def test_a_specimen_has_what_it_is_called_after(seed):
    """And its mass matrix can be inverted, so that forward dynamics is asked."""
    trees = {s.concern: s.tree for s in (*specimens(seed), *mixtures(CONCERNS, seed))}
    for concern, tree in trees.items():
        q = sample(tree, 16, seed).q
        assert np.linalg.cond(Reference(tree).mass_matrix(q)).max() < 1e7, concern
    for kind in JointKind:
        if kind is not JointKind.FLOATING:
            assert kind in {joint.kind for joint in trees[f"{kind.value} joints"].joints[1:]}
    assert trees["floating base"].base == "free"
    assert trees["floating joint below another body"].base == "fixed"
    assert all(joint.armature.all() for joint in trees["armature"].joints[1:])
    assert all(joint.ref for joint in trees["reference position"].joints[1:])
    assert not any(np.array_equal(joint.T_joint_body, np.eye(4)) for joint in trees["anchors"].joints[1:])
    assert any(body.inertia.is_zero for body in trees["massless links"].bodies[1:])
    assert abs(trees["gravity that is not along z"].gravity[:2]).all()
    assert (len(trees["tree of 40 bodies"].bodies), trees["chain of 30 joints"].nv) == (41, 30)
    assert len({trees["tree of 40 bodies"].parents.count(i) for i in range(41)}) > 2
    assert len(trees["several mechanisms"].fused().bodies) == 5
    assert {body.parent for body in trees["several mechanisms"].bodies[1:]} == {0, 1, 3}


def test_every_call_of_a_session_is_asked():
    """A call that is not in the table would be in no contract."""
    tree = specimens()[6].tree  # a floating base: momentum means something
    kept = conduct(Reference(tree), tree, sample(tree, 4))
    assert kept.faults == ()
    assert set(kept.asked) == {*CALLS, "reading back"}
