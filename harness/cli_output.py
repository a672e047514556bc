"""What every command does alike: errors as one sentence and an exit code, text in one piece, what cannot be written."""

from __future__ import annotations

import sys
import traceback
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from .errors import HarnessError, RequestError, internal

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from rich.console import Console

    from ..reports.files import Outputs

NARROWEST: Final = 20  # characters
WIDEST: Final = 500  # characters


@contextmanager
def sentences() -> Generator[None]:
    """Turn whatever ends a command early into one sentence on stderr and an exit code."""
    try:
        yield
    except HarnessError as error:
        say(str(error))
        raise typer.Exit(2) from None
    except Exception as error:  # noqa: BLE001  a fault of our own is no verdict on a robot: exit 2, not Python's 1
        if sys.flags.dev_mode:
            traceback.print_exc()
        say(internal(error))
        raise typer.Exit(2) from None


@contextmanager
def writing() -> Generator[None]:
    """Say what could not be written.

    Raises:
        HarnessError: something could not.
    """
    try:
        yield
    except OSError as error:
        raise HarnessError(f"cannot write {error.filename or 'the output'}: {error.strerror or error}") from error


@contextmanager
def undamaged(file: str) -> Generator[None]:
    """Say that a result lacks what every result has.

    Raises:
        RequestError: it does.
    """
    try:
        yield
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        if sys.flags.dev_mode:
            raise
        raise RequestError(f"{file} is damaged, or was saved by another version: {error!r} is missing") from error


def destinations(
    json: str | None = None,
    csv: Path | None = None,
    states: Path | None = None,
    *,
    reports: Mapping[str, Path | None],
    per_dof: bool = False,
    read: Sequence[str],
) -> Outputs:
    """Return where a result is to go, when all of it can be written and nothing that is read would be replaced.

    Raises:
        RequestError: a file is named both to be read and to be written, or twice to be written.
        HarnessError: something cannot be written.
    """
    from ..reports.files import Outputs  # noqa: PLC0415

    wanted = {report: path for report, path in reports.items() if path}
    outputs = Outputs(Path(json) if json and json != "-" else None, csv, states, wanted, per_dof)
    seen: set[Path] = set()
    with writing():
        for path in outputs.files:
            if any(same_file(file, path) for file in read):
                raise RequestError(f"{path} is a file that is read; write to another one")
            if path.resolve() in seen:
                raise RequestError(f"{path} cannot hold two outputs; write to two files")
            seen.add(path.resolve())
        outputs.require()
    return outputs


def same_file(file: str | Path, output: Path) -> bool:
    """Return whether what is written would replace what is read; a name that no file can have is none of another."""
    with suppress(OSError, ValueError):
        return output.exists() and Path(file).exists() and output.samefile(file)
    return False


def say(message: str) -> None:
    """Print a message for the person who asked; that it cannot be read changes no exit code."""
    from ..reports.text import sentence  # noqa: PLC0415

    with suppress(OSError):
        typer.echo(sentence(message), err=True)


def write_out(text: str) -> None:
    """Write to stdout; that a reader has gone away is no error.

    Raises:
        HarnessError: nothing more fits there.
    """
    with writing(), suppress(BrokenPipeError):
        sys.stdout.write(text)
        sys.stdout.flush()


def readable(width: int) -> int:
    """Return a width at which text can be read, and is broken into lines in no time [characters]."""
    return min(max(width, NARROWEST), WIDEST)


def draw(drawing: Callable[[Console], None]) -> None:
    """Print what is drawn on a console, in one piece and without the blanks with which tables fill their lines.

    Raises:
        HarnessError: nothing more fits on stdout.
    """
    from rich.console import Console  # noqa: PLC0415

    console = Console(highlight=False, markup=False, emoji=False)
    console.width = readable(console.width)
    with writing(), console.capture() as text:
        drawing(console)
    write_out("\n".join(line.rstrip(" ") for line in text.get().split("\n")))
