"""Hostile and clumsy input: one sentence with file and line, exit 2, nothing half-written, no verdict lost."""

from __future__ import annotations

import io
import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import urdf_texts
from typer.testing import CliRunner

from tautology.harness import run
from tautology.harness.cli import app
from tautology.harness.errors import (
    EngineUnsupported,
    HarnessError,
    ReadError,
    RequestError,
    ShapeError,
    Source,
    TreeError,
)
from tautology.harness.importers import mjcf_spec
from tautology.harness.importers.mjcf import read_mjcf
from tautology.harness.importers.urdf import parse_urdf
from tautology.harness.load import load, open_model
from tautology.harness.request import Request
from tautology.harness.run import check, check_files
from tautology.harness.states import States, sample
from tautology.harness.tree import Body, Inertia, Joint, JointKind, Tree, world

RUNNER = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"})
ARM = str(Path(__file__).parents[1] / "models" / "tau_arm.urdf")
# The smallest robot that moves, with a second body for mistakes.
TWO = """<robot name="two">
  <link name="base"/>
  <link name="rod">
    <inertial><origin xyz="0.1 0.2 0.3"/><mass value="1.5"/>
      <inertia ixx="0.2" ixy="0" ixz="0" iyy="0.3" iyz="0" izz="0.4"/></inertial>
  </link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><origin xyz="0 0 0.4"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>
"""
BALLS = """<mujoco model="balls">
  <worldbody>
    <body name="ball">
      <joint name="hinge"/>
      <geom size="0.1"/>
    </body>
  </worldbody>
</mujoco>
"""


def written(folder: Path, text: str | bytes, name: str = "robot.urdf") -> str:
    """Write a file and return its path."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def refused(path: str) -> ReadError:
    """Return why a file is refused."""
    with pytest.raises(ReadError) as caught:
        load(path)
    return caught.value


def callable_result(function: Any) -> tuple[Any, Any]:
    """Return the result of a user's function on the arm, and the row of its tau."""
    result = check(ARM, engines=function, path="neutral", states=4)
    answer = result.models[0].engines[-1]
    return answer, answer.quantities[0]


# Files


def test_a_path_that_is_no_utf8_is_refused_before_an_engine_trips_over_it(tmp_path: Path) -> None:
    """The engines take text alone."""
    path = os.fsdecode(os.fsencode(str(tmp_path)) + b"/arm\xff.urdf")
    Path(path).write_text(TWO)
    assert "no engine can open a path that is not in UTF-8" in str(refused(path))
    result = check_files([path], Request(engines=("mujoco",)))
    assert (result.exit, len(result.unusable)) == (2, 1)
    assert json.loads(result.dumps())["unusable"][0]["kind"] == "refused.malformed"


def test_an_empty_path_is_named_as_such() -> None:
    """A shell variable that is not set."""
    assert str(refused("")) == "the path of the file is empty"


def test_names_in_another_encoding_are_refused_in_words(tmp_path: Path) -> None:
    """MuJoCo and Pinocchio hand over the bytes of a name, which are no text then."""
    head = '<?xml version="1.0" encoding="iso-8859-1"?>\n'
    mjcf = written(tmp_path, (head + BALLS.replace("ball", "bäll")).encode("latin-1"), "balls.xml")
    assert str(refused(mjcf)).startswith(f"{mjcf}:1: a name is not in UTF-8")
    pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    urdf = written(tmp_path, (head + TWO.replace("rod", "röd")).encode("latin-1"))
    for native in check(urdf, engines=("pinocchio", "mujoco"), path="native", states=2).models[0].engines[1:]:
        (reason,) = native.findings
        assert (native.status, reason.kind) == ("refused", "refused.malformed")
        assert native.message == f"a name in the file is not in UTF-8, the one encoding that {native.engine} reads"
        assert reason.fix == "save the file as UTF-8"


def test_the_name_of_a_robot_in_another_encoding_is_no_obstacle(tmp_path: Path) -> None:
    """It is compared with nothing."""
    pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    text = '<?xml version="1.0" encoding="iso-8859-1"?>\n' + TWO.replace('"two"', '"röbot"')
    model = check(written(tmp_path, text.encode("latin-1")), engines=("pinocchio", "mujoco"), states=2).models[0]
    assert model.name == "röbot"
    assert {engine.status for engine in model.engines} == {"agree"}


@pytest.mark.parametrize("kind", ["floating", "planar", "ball"])
def test_a_joint_that_is_called_like_a_dof_of_another_is_refused(kind: str, tmp_path: Path) -> None:
    """Two dofs of one name would be mistaken for each other in every answer."""
    dof = {"floating": "root.vx", "planar": "root.wz", "ball": "root.wy"}[kind]
    root = f'<joint name="root" type="{kind}"><parent link="ground"/><child link="base"/></joint>'
    text = TWO.replace('<link name="base"/>', f'<link name="ground"/>{root}<link name="base"/>')
    error = refused(written(tmp_path, text.replace('"hinge"', f'"{dof}"')))
    assert (error.where, error.source.line) == (dof, 7)
    assert f"joint '{dof}' is called like a dof of joint 'root'" in str(error)
    assert load(written(tmp_path, text.replace('"hinge"', '"root.vx.y"'))).nv == JointKind(kind).nv + 1


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ('<body name="ball">', '<body name="ball" quat="1e300 0 1e300 0">', 3, "number that is not finite"),
        ('name="hinge"', 'name="hinge" axis="1e300 1e300 0"', 4, "no unit vector"),
        ("</worldbody>", '</worldbody>\n<keyframe>\n<key qpos="1 2"/></keyframe>', 9, "invalid qpos size"),
    ],
    ids=["quaternion overflows", "axis overflows", "keyframe of another size"],
)
def test_what_mujoco_compiles_to_nonsense_has_its_line(
    old: str, new: str, line: int, words: str, tmp_path: Path
) -> None:
    """MuJoCo itself gives no line for these."""
    path = written(tmp_path, BALLS.replace(old, new), "robot.xml")
    result = check_files([path], Request(engines=("mujoco",)))
    assert result.unusable[0].message.startswith(f"{path}:{line}: ")
    assert words in result.unusable[0].message


def test_memory_that_mujoco_does_not_get_is_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It raises `RuntimeError` then, which must not look like a fault of ours."""

    def starve(_spec: object) -> None:
        raise RuntimeError("Caught an unknown exception!")

    monkeypatch.setattr(mjcf_spec, "compile_readable", starve)
    path = written(tmp_path, BALLS, "robot.xml")
    assert "MuJoCo refuses this model: Caught an unknown exception!" in str(refused(path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["pipe.stl", "meshes/pipe.stl"])
def test_a_mesh_that_is_a_pipe_is_left_out_instead_of_waited_for(name: str, tmp_path: Path) -> None:
    """In both formats; MuJoCo would wait for ever."""
    (tmp_path / "meshes").mkdir()
    os.mkfifo(tmp_path / name)
    asset = '<compiler meshdir="meshes"/><asset><mesh name="m" file="pipe.stl"/></asset>\n<worldbody>'
    text = BALLS.replace("<worldbody>", asset).replace("</body>", '<geom type="mesh" mesh="m"/></body>')
    tree = read_mjcf(written(tmp_path, text, "robot.xml"))
    assert [loss.where for loss in tree.losses if "no regular file" in loss.note] == ["m"]
    shape = f'<collision><geometry><mesh filename="{name}"/></geometry></collision></link>\n  <joint'
    path = written(tmp_path, TWO.replace("</link>\n  <joint", shape))
    native = check(path, engines=("mujoco",), path="native", states=2).models[0].engines[-1]
    assert native.status == "agree"
    assert "no regular file" in native.message


# Trees


def rod(**changes: Any) -> Joint:
    """Return the joint of a body of a hand-built tree."""
    return Joint("hinge", JointKind.REVOLUTE, **changes)


@pytest.mark.parametrize(
    ("joint", "words"),
    [
        (rod(axis=np.array([0, 0, 3.0])), "no unit vector"),
        (rod(T_parent_joint=np.full((4, 4), np.nan)), "not finite"),
    ],
    ids=["long axis", "nan"],
)
def test_a_tree_that_is_no_robot_names_body_and_line(joint: Joint, words: str) -> None:
    """The first fault has a place, for whoever made the tree from a file."""
    joint = replace(joint, sources={"element": Source("a.urdf", 7)})
    body = Body("rod", 0, joint, Inertia(1.0), sources={"element": Source("a.urdf", 7)})
    with pytest.raises(TreeError, match=words) as caught:
        Tree("t", (world(), body))
    assert caught.value.where in ("rod", "hinge")
    assert caught.value.source == Source("a.urdf", 7)


def test_gravity_is_finite() -> None:
    """Also that of a live model, which nobody has read from a text."""
    with pytest.raises(TreeError, match="gravity is not finite"):
        Tree("t", (world(),), gravity=np.array([0, 0, np.nan]))


# States


def states_of(folder: Path, **changes: Any) -> Path:
    """Write a file of states with some of its arrays replaced."""
    content: dict[str, Any] = {name: getattr(sample(load(ARM), 4), name) for name in ("q", "v", "a", "tau", "wrenches")}
    meta = {"schema": "tautology-states/1", "seed": 0, "strata": ["random"] * 4, "sha256": ""} | changes.pop("meta", {})
    path = folder / "states.npz"
    with path.open("wb") as file:
        np.savez(file, meta=np.array(json.dumps(meta)), **(content | changes))
    return path


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, ("sprung",))


BAD_STATES: dict[str, tuple[dict[str, Any], str]] = {
    "pickled array": ({"q": np.array([Trap()], dtype=object)}, "allow_pickle"),
    "complex": ({"q": np.zeros((4, 7), complex)}, "no real numbers"),
    "words": ({"q": np.array([["a"] * 7] * 4)}, "no real numbers"),
    "truth values": ({"v": np.zeros((4, 7), bool)}, "no real numbers"),
    "nan": ({"q": np.full((4, 7), np.nan)}, "not finite"),
    "infinite": ({"tau": np.full((4, 7), np.inf)}, "not finite"),
    "too few": ({"v": np.zeros((3, 7))}, "expected 4 states"),
    "no states": ({"meta": {"strata": []}}, "no state"),
    "another schema": ({"meta": {"schema": "other/9"}}, "other/9"),
    "strata are lists": ({"meta": {"strata": [[1]] * 4}}, "strata"),
    "strata is a number": ({"meta": {"strata": 5}}, "no file of states"),
    "seed is infinite": ({"meta": {"seed": float("inf")}}, "infinity"),
}


@pytest.mark.parametrize("name", BAD_STATES)
def test_files_of_states_that_are_none_are_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stands in them; nothing is unpickled."""
    monkeypatch.chdir(tmp_path)
    changes, words = BAD_STATES[name]
    path = states_of(tmp_path, **changes)
    with pytest.raises(ReadError) as caught:
        States.load(path)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")
    assert not (tmp_path / "sprung").exists()


def test_other_files_are_no_states(tmp_path: Path) -> None:
    """Cut, pickled, of one array, with a header that promises more than there is, a folder, a pipe."""
    good = states_of(tmp_path).read_bytes()
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**14,)})
    single = io.BytesIO()
    np.save(single, np.zeros(3))
    for data in (good[:300], good[300:], pickle.dumps(Trap()), single.getvalue(), header.getvalue(), b""):
        with pytest.raises(ReadError, match="is no file of states"):
            States.load(written(tmp_path, data, "other.npz"))
    with pytest.raises(ReadError, match="no regular file"):
        States.load(tmp_path)
    with pytest.raises(ReadError, match="not there"):
        States.load(tmp_path / "gone.npz")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_states_are_not_waited_for(tmp_path: Path) -> None:
    """A pipe that nobody writes to."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ReadError, match="no regular file"):
        States.load(tmp_path / "pipe")


def test_states_of_another_robot_are_told_from_a_bad_file(tmp_path: Path) -> None:
    """In the row of the file that they were asked for."""
    states = sample(load(ARM), 4)
    path = written(tmp_path, TWO)
    row = check_files([path], Request(engines=("mujoco",), states=states)).unusable[0]
    assert row.message == f"{path}: these states are of another robot: q is (7,) per state; 'two' needs (1,)"
    with pytest.raises(ShapeError):
        check(path, engines=("mujoco",), states=states)


@pytest.mark.parametrize("length", [0.0, 2.0, 1 + 1e-6])
def test_quaternions_of_states_have_length_one(length: float) -> None:
    """Engines normalise them, or not: the same states would be two."""
    tree = load(ARM, "free")
    states = sample(tree, 4)
    states.require(tree)
    q = states.q.copy()
    q[2, 3:7] *= length
    with pytest.raises(RequestError, match=f"state 2: the quaternion of joint 'root_joint' has length {length:.6g}"):
        replace(states, q=q).require(tree)


@pytest.mark.parametrize("count", [10**6, 10**30])
def test_states_that_fill_the_memory_are_refused_at_once(count: int) -> None:
    """With the number that fits."""
    with pytest.raises(RequestError, match=r"do not fit into memory; \d+ are the most for 'tau_arm'"):
        check(ARM, states=count)


@pytest.mark.parametrize("change", [('xyz="0 0 0.4"', 'xyz="1e160 0 0"'), ('"1.5"', '"1.7e308"')], ids=["far", "heavy"])
def test_robots_beyond_doubles_are_refused(change: tuple[str, str]) -> None:
    """No state could be drawn for them."""
    with pytest.raises(RequestError, match="masses or lengths of 'two' are too large"):
        sample(parse_urdf(TWO.replace(*change).encode(), "two.urdf"), 8)


def test_large_numbers_are_judged_in_silence(tmp_path: Path) -> None:
    """Squares of a mass of 1e300 overflow in scales that the verdict survives; warnings are errors here."""
    heavy = check(written(tmp_path, TWO.replace('"1.5"', '"1e300"')), engines=("mujoco",), path="neutral", states=8)
    assert heavy.verdict == "agree"


# Requests


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"states": 2.5}, "states is 2.5; give a number of states, or States"),
        ({"states": "many"}, "states is 'many'"),
        ({"states": True}, "states is True"),
        ({"seed": None}, "seed is None; give a whole number"),
        ({"tolerance": "1e-9"}, "tolerance is '1e-9'; give a number"),
        ({"engines": [3]}, "3 is no engine; give the name of one, or a callable"),
        ({"engines": "mojoco"}, "no engine 'mojoco'"),
    ],
    ids=str,
)
def test_requests_of_another_type_are_refused_in_words(request_: dict[str, Any], words: str) -> None:
    """Instead of a `TypeError` from somewhere inside."""
    with pytest.raises(RequestError) as caught:
        check(ARM, **request_)
    assert words in str(caught.value)


def test_one_engine_needs_no_list() -> None:
    """A string is not taken letter by letter; numbers of numpy are numbers."""
    result = check(ARM, engines="mujoco", path="neutral", states=np.int64(3), tolerance=np.float64(1e-9))
    assert {answer.engine for answer in result.models[0].engines} == {"reference", "mujoco"}


def test_a_fault_of_our_own_costs_one_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The verdicts on the others stand, and the message says where to look."""
    bad = written(tmp_path, TWO)

    def opening(model: Any, *arguments: Any) -> Any:
        if model == bad:
            raise ZeroDivisionError("a fault")
        return open_model(model, *arguments)

    monkeypatch.setattr(run, "open_model", opening)
    result = check_files([bad, ARM], Request(engines=("mujoco",), path="neutral", states=2))
    assert (result.exit, [model.exit for model in result.models]) == (2, [0])
    row = result.unusable[0]
    assert row.kind == "internal"
    assert row.message.startswith(f"{bad}: internal error, please report it with the file: ZeroDivisionError at ")


def test_what_cannot_be_diagnosed_is_unexplained(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that holds no robot makes the file neither unusable nor the engine right."""

    def fail(*_arguments: object, **_options: object) -> None:
        raise TreeError("tree 'x': axis of joint 'j' is no unit vector")

    monkeypatch.setattr(run, "diagnose", fail)
    native = check(ARM, engines="mujoco", path="native", states=2).models[0].engines[-1]
    unexplained = [finding for finding in native.findings if finding.kind == "unexplained"]
    assert native.status == "differs"
    assert "could not be compared with the file: tree 'x'" in unexplained[0].fix


def test_the_reference_is_not_diagnosed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its own rounding fails, reading back its own tree explains nothing, and asks for an M of any size."""
    asked: list[str] = []
    agreement, diagnose = run.agreement.agreement, run.diagnose

    def fail(*arguments: Any, **options: Any) -> Any:
        first, *others = agreement(*arguments, **options)
        return (replace(first, passed=False), *others)

    def note(session: Any, engine: str, *arguments: Any, **options: Any) -> Any:
        asked.append(engine)
        return diagnose(session, engine, *arguments, **options)

    monkeypatch.setattr(run.agreement, "agreement", fail)
    monkeypatch.setattr(run, "diagnose", note)
    result = check(ARM, engines="mujoco", path="neutral", states=2)
    assert [answer.status for answer in result.models[0].engines] == ["differs", "differs"]
    assert asked == ["mujoco"]


# Functions of the user


def exits(_q: Any, _v: Any, _a: Any) -> None:
    """Leave the process, as some engines do."""
    sys.exit(7)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (exits, "raised SystemExit: 7"),
        (lambda: 0, "raised TypeError"),
        (lambda q, _v, _a: q / "x", "raised "),
        (lambda _q, _v, _a: None, "answered None of shape ()"),
        (lambda _q, _v, _a: 1.0, "float64 of shape (); expected 7 numbers"),
        (lambda _q, v, _a: v[:3], "shape (3,)"),
        (lambda _q, v, _a: v[:, None], "shape (7, 1)"),
        (lambda _q, v, _a: v + 1j, "complex128"),
        (lambda _q, _v, _a: "tau", "'tau'"),
    ],
    ids=["exits", "takes nothing", "raises", "None", "scalar", "short", "column", "complex", "word"],
)
def test_functions_that_fail_differ_with_the_reason(function: Any, words: str) -> None:
    """A run with a function that never answers ends with a verdict."""
    answer, tau = callable_result(function)
    assert (answer.status, tau.passed) == ("differs", False)
    assert words in tau.note
    assert json.loads(json.dumps(answer.status)) == "differs"


def test_functions_may_keep_and_spoil_what_they_get() -> None:
    """Arguments are theirs, and what they answer is copied."""
    from tautology.adapters.reference import Reference  # noqa: PLC0415  the right answer

    reference, buffer = Reference(load(ARM)), np.zeros(7)

    def spoil(q: Any, v: Any, a: Any) -> Any:
        buffer[:] = reference.inverse_dynamics(q[None], v[None], a[None])[0]
        q[:], v[:], a[:] = 9, 9, 9
        return buffer

    assert callable_result(spoil)[0].status == "agree"


def test_functions_with_dofs_of_another_robot_are_a_request_that_cannot_be_met() -> None:
    """Exit 2, not a crash of an engine."""
    from tautology.harness.callables import CallableEngine  # noqa: PLC0415  what a user wraps a function in

    with pytest.raises(RequestError, match="callable has dofs"):
        check(ARM, engines=[CallableEngine(lambda _q, _v, a: a, dofs=("x",))], path="neutral", states=2)


def test_contacts_that_mujoco_cannot_hold_are_no_fault(tmp_path: Path) -> None:
    """Its inverse dynamics needs memory for them; ours does not, and agrees."""
    from tautology.adapters.mujoco_ import ENGINE  # noqa: PLC0415  needs mujoco

    bodies = "".join(f'<body><joint name="j{i}"/><geom type="box" size="0.1 0.2 0.3"/></body>' for i in range(12))
    text = f'<mujoco><size memory="20K"/><worldbody>{bodies}</worldbody></mujoco>'
    opened = open_model(written(tmp_path, text, "crowd.xml"))
    states = sample(opened.tree, 2)
    session: Any = ENGINE.native(opened.given, opened.tree)
    with pytest.raises(EngineUnsupported, match=r"mj_inverse: .*out of memory"):
        session.ledger(states.q.copy(), states.v.copy(), states.a.copy())


# The command line


def test_nothing_is_left_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo warns of limits that are equal, and would write MUJOCO_LOG.TXT."""
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, TWO.replace('lower="-1" upper="1"', 'lower="1" upper="1"'))
    native = check(path, engines="mujoco", path="native", states=2).models[0].engines[-1]
    assert "MuJoCo warns" in native.message
    assert [path.name for path in tmp_path.iterdir()] == ["robot.urdf"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "{two}", "--json", "{two}"],
        ["check", "{two}", "{folder}/./robot.urdf", "--json", "{link}"],
        ["check", "{two}", "--save-states", "{two}"],
        ["check", "{two}", "--states-file", "{two}", "--save-states", "{two}"],
        ["diff", "{two}", "{two}", "--json", "{two}"],
    ],
    ids=["json", "json by a link", "states", "states of states", "diff"],
)
def test_a_file_that_is_read_is_not_written(arguments: list[str], tmp_path: Path) -> None:
    """A slip of the keyboard must not cost the model."""
    two, link = written(tmp_path, TWO), tmp_path / "link.json"
    link.symlink_to(two)
    ended = RUNNER.invoke(app, [word.format(two=two, link=link, folder=tmp_path) for word in arguments])
    assert ended.exit_code == 2
    assert "is a file that is read; write to another one" in ended.stderr
    assert Path(two).read_text() == TWO


def test_one_file_cannot_hold_two_outputs(tmp_path: Path) -> None:
    """However it is spelled."""
    two = written(tmp_path, TWO)
    options = ["--json", f"{tmp_path}/out", "--save-states", f"{tmp_path}/./out"]
    ended = RUNNER.invoke(app, ["check", two, *options])
    assert (ended.exit_code, "write to two files" in ended.stderr) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["robot.urdf"]


@pytest.mark.parametrize("option", ["--json", "--csv", "--states-file", "--save-states"])
def test_an_empty_name_is_no_name(option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--csv "$UNSET"` must not fill the working folder."""
    monkeypatch.chdir(tmp_path)
    ended = RUNNER.invoke(app, ["check", ARM, option, ""])
    assert ended.exit_code == 2
    assert "the name is empty" in ended.stderr
    assert list(tmp_path.iterdir()) == []


MAIN = [sys.executable, "-c", "from tautology.harness.cli import main; main()"]


def shell(redirection: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command with a standard stream redirected as a shell does it."""
    script = f'"$@" {redirection}'
    command = ["/bin/sh", "-c", script, "sh", *MAIN, *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.skipif(not os.path.exists("/bin/sh"), reason="this system has no shell")  # noqa: PTH110
def test_closed_streams_change_no_verdict(tmp_path: Path) -> None:
    """And no file that is opened takes their place, for an engine to write into."""
    two = written(tmp_path, TWO)
    out = tmp_path / "out.json"
    run_ = shell(">&- 2>&- <&-", "check", two, "--engine", "pinocchio", "--states", "2", "--json", str(out))
    assert run_.returncode == 0
    assert json.loads(out.read_text())["exit"] == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")  # noqa: PTH110
@pytest.mark.parametrize(
    ("redirection", "arguments", "said"),
    [
        (">/dev/full", ("--help",), "cannot write the output: No space left on device\n"),
        (">/dev/full", ("--version",), "cannot write the output: No space left on device\n"),
        ("2>/dev/full", ("check", "nowhere.urdf"), ""),
    ],
    ids=["help", "version", "errors"],
)
def test_a_full_disk_is_exit_2(redirection: str, arguments: tuple[str, ...], said: str) -> None:
    """Python's own exit code 1 would say `differs`."""
    ended = shell(redirection, *arguments)
    assert (ended.returncode, ended.stderr) == (2, said)


def test_the_sample_robots_are_sound(tmp_path: Path) -> None:
    """What the faults are planted in has none itself."""
    for text, name in ((TWO, "two.urdf"), (BALLS, "balls.xml"), (urdf_texts.GOOD, "good.urdf")):
        assert load(written(tmp_path, text, name)).nv > 0
    with pytest.raises(HarnessError):
        load(tmp_path)
