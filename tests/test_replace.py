"""What is written: whole or not at all, beside the target; what is no file is written to; what is read has an end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from tautology.harness import name_map, saved
from tautology.harness.cli import app
from tautology.harness.errors import ReadError
from tautology.harness.exporters import export
from tautology.harness.load import load
from tautology.harness.name_map import read_map
from tautology.harness.replace import BESIDE, replacing
from tautology.harness.saved import Saved
from tautology.harness.states import States

if TYPE_CHECKING:
    from collections.abc import Callable

RUNNER = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"})
ARM = str(Path(__file__).parents[1] / "models" / "tau_arm.urdf")
LONG = "n" * 300
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


@pytest.fixture
def pipe(tmp_path: Path) -> tuple[Path, Callable[[], bytes]]:
    """A named pipe in a folder of its own, and what came through it in the end."""
    path, read = tmp_path / "pipe", list[bytes]()
    os.mkfifo(path)
    # A daemon: a reader whose pipe was replaced would wait for ever.
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    reader.start()

    def content() -> bytes:
        reader.join(timeout=10)
        return read[0]

    return path, content


@needs_pipes
def test_an_exported_robot_goes_through_a_pipe(pipe: tuple[Path, Callable[[], bytes]]) -> None:
    """`export -o >(...)`: the pipe stays, nothing lies beside it, and nobody reads it again."""
    path, content = pipe
    run = RUNNER.invoke(app, ["export", ARM, "--format", "mjcf", "-o", str(path)])
    assert run.exit_code == 0, run.stderr
    assert path.is_fifo()
    assert content().endswith(b"</mujoco>\n")
    assert [file.name for file in path.parent.iterdir()] == ["pipe"]
    assert "cannot be read back" not in run.stdout


@needs_pipes
def test_a_document_in_a_pipe_has_no_arrays_beside_it(pipe: tuple[Path, Callable[[], bytes]]) -> None:
    """`--json /dev/stdout` must not make /dev/stdout.arrays.npz."""
    path, content = pipe
    run = RUNNER.invoke(app, ["check", ARM, "--states", "2", "--engine", "mujoco", "--in-process", "--json", str(path)])
    assert run.exit_code == 0, run.stderr
    assert "arrays" not in json.loads(content())
    assert [file.name for file in path.parent.iterdir()] == ["pipe"]


@pytest.mark.skipif(os.name != "posix", reason="processes are told by signals")
def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """The next one that writes there takes it away, and leaves alone what others write or call alike."""
    code = (
        "import os, signal, sys; from pathlib import Path; from tautology.harness.replace import replacing\n"
        "with replacing(Path(sys.argv[1])) as beside:\n"
        "    beside.write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    target = tmp_path / "robot.urdf"
    killed = subprocess.run([sys.executable, "-c", code, str(target)], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert BESIDE.fullmatch(left.name)
    alive = left.with_name(left.name.replace(f"-{left.name.split('-')[2]}-", f"-{os.getppid()}-"))
    elsewhere = left.with_name(left.name.replace(left.name.split("-")[1], "0" * 8))
    others = {alive, elsewhere, tmp_path / ".tautology-notes"}
    for file in others:
        file.touch()
    export(load(ARM), target)
    assert set(tmp_path.iterdir()) == {target} | others


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    """Nobody knows the name of the file beside it."""
    target = tmp_path / "robot.urdf"
    written = replacing(target)
    beside = written.__enter__()
    error = FileNotFoundError(2, "gone", str(beside))
    with pytest.raises(OSError, match="gone") as caught:
        written.__exit__(FileNotFoundError, error, None)
    assert caught.value.filename == str(target)


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", ARM, "--json", "."],
        ["check", ARM, "--json", "/"],
        ["check", ARM, "--json", LONG],
        ["check", ARM, "--csv", LONG],
        ["check", ARM, "--save-states", LONG],
        ["check", ARM, "--states-file", LONG],
        ["check", ARM, "--baseline", LONG],
        ["check", LONG],
        ["diff", ARM, LONG],
        ["diff", ARM, ARM, "--map", LONG],
        ["diff", ARM, ARM, "--map", f"a={LONG}"],
        ["export", ARM, "-o", f"{LONG}.xml"],
        ["freeze", ARM, "-o", LONG],
        ["report", LONG, "--html", "page.html"],
    ],
    ids=lambda arguments: " ".join(word[:20] for word in arguments if word != ARM),
)
def test_a_name_that_no_file_can_have_is_one_sentence(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever a name is given."""
    monkeypatch.chdir(tmp_path)
    run = RUNNER.invoke(app, [*arguments, *(["--engine", "mujoco"] if arguments[0] == "check" else [])])
    assert run.exit_code == 2
    assert run.stderr.count("\n") == 1
    assert "internal error" not in run.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_fills_the_memory_is_refused_by_its_size(tmp_path: Path) -> None:
    """Before a byte of it is read: a sparse file takes no disk."""
    path = tmp_path / "huge.urdf"
    with path.open("wb") as file:
        file.truncate(20_000_000_000)
    with pytest.raises(ReadError, match=r"huge\.urdf: this is larger than 256 MB, the most that is read"):
        load(path)


@needs_pipes
@pytest.mark.parametrize(
    ("module", "limit", "read"),
    [
        (name_map, "LARGEST_TEXT", lambda path: read_map([str(path)])),
        (saved, "LARGEST_RESULT", Saved.read),
    ],
    ids=["map", "result"],
)
def test_what_has_no_end_is_not_read_for_ever(
    module: object, limit: str, read: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe is read, as `--map <(...)` gives one, but only so far."""
    monkeypatch.setattr(module, limit, 10)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    threading.Thread(target=lambda: path.write_bytes(b"a=b\n" * 20), daemon=True).start()
    with pytest.raises(ReadError, match="larger than 0 MB"):
        read(path)


@needs_pipes
def test_a_map_may_come_through_a_pipe(tmp_path: Path) -> None:
    """It is read once."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    threading.Thread(target=lambda: path.write_bytes(b"a=b\n"), daemon=True).start()
    assert read_map([str(path)]) == {"a": "b"}


def test_states_are_read_from_files_alone(tmp_path: Path) -> None:
    """A name that is too long is no regular file either."""
    with pytest.raises(ReadError, match="File name too long"):
        States.load(tmp_path / LONG)
