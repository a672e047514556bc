"""The command `tautology`.

What a command needs is imported inside it, so that `--help` and `engines` load neither an engine nor pandas.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import cli_baseline, cli_explain, cli_pairs, cli_selftest, cli_sweep, cli_versions
from .cli_options import (
    Accept,
    Base,
    Baseline,
    Command,
    Count,
    Csv,
    Engines,
    Files,
    Frames,
    Html,
    InProcess,
    Json,
    JUnit,
    Markdown,
    Memory,
    PathOption,
    PerDof,
    Quiet,
    Sarif,
    SavedResult,
    SaveStates,
    Seed,
    StatesFile,
    Timeout,
    Tolerance,
    Verbose,
)
from .cli_output import destinations, draw, readable, say, sentences, undamaged, write_out, writing
from .errors import RequestError

if TYPE_CHECKING:
    from .results import Result
    from .states import States

app = typer.Typer(
    name="tautology",
    help="Is a robot model the same robot in every physics engine?",
    epilog="Exit codes: 0 all agree, 1 something differs or is refused, 2 the request or a file cannot be used, "
    "3 an engine crashed or hung.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line."""
    _open_closed_streams()
    if (columns := os.environ.get("COLUMNS", "")).isdecimal():  # help and errors are drawn by others
        os.environ["COLUMNS"] = str(readable(int(columns[:9])))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A name that the terminal's encoding cannot show is shown escaped.
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = _warn
    try:
        app(prog_name="tautology")
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(130)
    except OSError as error:  # of --help and --version; commands say such things themselves
        say(f"cannot write the output: {error.strerror}")
        sys.exit(2)


def _open_closed_streams() -> None:
    """Put the null device where the caller closed a standard stream: else the next file that is opened takes its place.

    An engine that writes to descriptor 1 or 2 would then write into that file.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as a sentence, without the line of source that Python adds."""
    say(f"warning: {message}")


def _version(wanted: bool) -> None:
    if wanted:
        from . import registry  # noqa: PLC0415

        typer.echo(f"tautology {registry.version(registry.card_of('reference')) or 'not installed'}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Hold the options that belong to no command."""


@app.command(cls=Command)
def check(
    files: Files,
    *,
    engine: Engines = None,
    path: PathOption = "both",
    base: Base = "auto",
    states: Count = 64,
    seed: Seed = 0,
    states_file: StatesFile = None,
    save_states: SaveStates = None,
    tolerance: Tolerance = 1e-9,
    json: Json = None,
    csv: Csv = None,
    html: Html = None,
    markdown: Markdown = None,
    junit: JUnit = None,
    sarif: Sarif = None,
    frames: Frames = None,
    per_dof: PerDof = False,
    timeout: Timeout = 120.0,
    memory: Memory = 8192,
    in_process: InProcess = False,
    baseline: Baseline = None,
    accept: Accept = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Check whether all engines read and compute a robot alike."""
    with sentences():
        if not in_process:
            _start_engines(engine or None, timeout, memory)
        from ..reports.progress import Bar  # noqa: PLC0415
        from .request import Request  # noqa: PLC0415
        from .run import check_files  # noqa: PLC0415
        from .settings import settings  # noqa: PLC0415
        from .states import States  # noqa: PLC0415

        _require_sense(len(files), accept=accept and not baseline, save_states=save_states is not None)
        read = [*files, *(str(file) for file in (states_file, baseline) if file)]
        reports = {"html": html, "markdown": markdown, "junit": junit, "sarif": sarif, "frames": frames}
        outputs = destinations(json, csv, save_states, reports=reports, per_dof=per_dof, read=read)
        drawn = states if states_file is None else States.load(states_file)
        with Bar(0 if quiet else len(files)) as bar:
            request = Request(
                engines=engine or None,
                path=path,
                base=base,
                states=drawn,
                seed=seed,
                tolerance=tolerance,
                progress=bar,
                arrays=outputs.draws_states,
                in_process=in_process,
                timeout=timeout,
                memory=memory,
                known=settings(Path()).known,
            )
            if baseline:
                frozen = {"--path": path != "both", "--base": base != "auto", "--states": states != 64}
                frozen |= {"--seed": seed != 0, "--states-file": bool(states_file), "--save-states": bool(save_states)}
                result = cli_baseline.compared(files, baseline, request, frozen, accept=accept)
            else:
                result = check_files(files, request)
        for message in (*(row.message for row in result.unusable), *result.notes):
            say(message)
        _report(result, as_json=json == "-", quiet=quiet, verbose=verbose)
        with writing():
            outputs.write(result)
        if save_states and result.models:
            _save(save_states, files[0], base, drawn, seed)
    raise typer.Exit(result.exit)


@app.command(cls=Command)
def report(
    result: SavedResult,
    *,
    csv: Csv = None,
    html: Html = None,
    markdown: Markdown = None,
    junit: JUnit = None,
    sarif: Sarif = None,
    frames: Frames = None,
    per_dof: PerDof = False,
) -> None:
    """Make reports of a result that `check` or `diff` saved with --json, the same bytes as at once."""
    with sentences():
        from .saved import Saved  # noqa: PLC0415

        reports = {"html": html, "markdown": markdown, "junit": junit, "sarif": sarif, "frames": frames}
        if not any((csv, *reports.values())):
            raise RequestError("no report was asked for; give --html, --markdown, --junit, --sarif, --csv or --frames")
        outputs = destinations(None, csv, reports=reports, per_dof=per_dof, read=[result])
        saved = Saved.read(result)
        with writing(), undamaged(result):
            outputs.write_reports(saved)


app.command(cls=Command)(cli_baseline.freeze)
app.command(cls=Command)(cli_sweep.sweep)
app.command(cls=Command)(cli_pairs.diff)
app.command(cls=Command)(cli_pairs.export)
app.command(cls=Command)(cli_versions.bisect)
app.command(cls=Command)(cli_selftest.selftest)
app.command(cls=Command)(cli_explain.explain)


@app.command(cls=Command)
def engines() -> None:
    """List the engines: version, licence, what each answers and what it cannot, its conventions."""
    with sentences():
        from ..reports.engines import engine_list  # noqa: PLC0415
        from . import registry  # noqa: PLC0415

        cards = [(card, registry.version(card)) for card in registry.cards().values()]
        faults = registry.faults().values()
        draw(lambda console: engine_list(cards, console, faults))


@app.command(cls=Command)
def tolerances() -> None:
    """List what is allowed of every quantity and identity, and why."""
    with sentences():
        from ..reports.engines import tolerance_table  # noqa: PLC0415
        from .checks.tolerances import TABLE  # noqa: PLC0415

        draw(lambda console: tolerance_table(TABLE, console))


def _require_sense(files: int, *, accept: bool, save_states: bool) -> None:
    """Refuse options that mean nothing together.

    Args:
        files: how many were given.
        accept: whether a baseline is to be renewed, and none is named.
        save_states: whether the states are to be written.

    Raises:
        RequestError: they do.
    """
    if accept:
        raise RequestError("--accept renews a baseline; name it with --baseline")
    if save_states and files > 1:
        raise RequestError(f"--save-states holds the states of one model; {files} files were given")


def _start_engines(engines: list[str] | None, timeout: float, memory: int) -> None:
    """Start the processes of the engines, which load while we do."""
    from .bench import gather  # noqa: PLC0415
    from .workers import Limits  # noqa: PLC0415

    gather(engines, Limits(timeout, memory))
    sys.setswitchinterval(1e-3)  # one engine's answer waits less for the arithmetic on another's


def _report(result: Result, *, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Print what a person reads, or the document."""
    if as_json:
        write_out(result.dumps())
        return
    from ..reports.baseline import comparison_report  # noqa: PLC0415
    from ..reports.console import report, verdicts  # noqa: PLC0415
    from .checks.tolerances import TRUTH_NOTE  # noqa: PLC0415

    notes = [TRUTH_NOTE] if TRUTH_NOTE else []
    if comparison := result.baseline:
        draw(lambda console: comparison_report(comparison, console, quiet=quiet))
        quiet = quiet or not (comparison.changes or verbose)  # of what did not change one line is enough
    draw(lambda console: verdicts(result, console) if quiet else report(result, console, verbose=verbose, notes=notes))


def _save(file: Path, model: str, base: str, drawn: int | States, seed: int) -> None:
    """Write the states that were asked: the same seed draws them again.

    Raises:
        HarnessError: `file` cannot be written.
    """
    from ..reports.files import replacing  # noqa: PLC0415
    from .load import open_model  # noqa: PLC0415
    from .states import sample  # noqa: PLC0415

    states = sample(open_model(model, base).tree, drawn, seed) if isinstance(drawn, int) else drawn
    with writing(), replacing(file) as beside:
        states.save(beside)
