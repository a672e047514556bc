"""Baselines on the command line: `freeze`, and what `check --baseline` does beyond `check`."""

# ruff: noqa: TC001  typer reads the annotations when a command is made
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from .cli_options import (
    Base,
    Engines,
    Frozen,
    InProcess,
    Memory,
    PathOption,
    Seed,
    StatesFile,
    Timeout,
    Tolerance,
)
from .cli_output import draw, same_file, say, sentences, writing
from .errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from .baseline import Baseline
    from .request import Request as Asked
    from .results import Result

Model = Annotated[str, typer.Argument(metavar="FILE", help="URDF or MJCF.", show_default=False)]
Count = Annotated[int, typer.Option("--states", metavar="N", min=1, help="Number of states to freeze.")]


def freeze(
    file: Model,
    *,
    output: Frozen,
    engine: Engines = None,
    path: PathOption = "both",
    base: Base = "auto",
    states: Count = 12,  # one of every stratum
    seed: Seed = 0,
    states_file: StatesFile = None,
    tolerance: Tolerance = 1e-9,
    timeout: Timeout = 120.0,
    memory: Memory = 8192,
    in_process: InProcess = False,
) -> None:
    """Write down states and what every engine answers there, so that `check --baseline` sees what changes."""
    with sentences():
        from ..reports.baseline import frozen_report  # noqa: PLC0415
        from ..reports.console import verdicts  # noqa: PLC0415
        from .baseline_run import freeze as frozen  # noqa: PLC0415
        from .request import Request  # noqa: PLC0415
        from .states import States  # noqa: PLC0415

        if any(same_file(read, output) for read in (file, states_file) if read):
            raise RequestError(f"{output} is a file that is read; write to another one")
        request = Request(
            engines=engine or None,
            path=path,
            base=base,
            states=states if states_file is None else States.load(states_file),
            seed=seed,
            tolerance=tolerance,
            in_process=in_process,
            timeout=timeout,
            memory=memory,
        )
        result, baseline = frozen(file, request)
        if baseline is None:
            for row in result.unusable:
                say(row.message)
            draw(lambda console: verdicts(result, console))
            say(f"{output} is not written: not all engines answered or refused")
        else:
            size = write(output, baseline)
            draw(lambda console: frozen_report(result.models[0], str(output), size, console))
    if baseline is None:
        raise typer.Exit(result.exit)


def write(file: Path, baseline: Baseline) -> int:
    """Write a baseline, whole or not at all, and return its size in bytes.

    Raises:
        HarnessError: it cannot be written.
    """
    from ..reports.files import replacing  # noqa: PLC0415
    from .baseline import written  # noqa: PLC0415

    text = written(baseline).encode()
    with writing(), replacing(file) as beside:
        beside.write_bytes(text)
    return len(text)


def compared(files: Sequence[str], file: Path, request: Asked, frozen: Mapping[str, bool], *, accept: bool) -> Result:
    """Return the check of a file against its baseline, which is renewed when that was asked.

    Args:
        files: one model.
        file: the baseline.
        request: how to ask.
        frozen: option to whether it was given, of those that the baseline has its own word for.
        accept: whether to renew.

    Raises:
        HarnessError: the request cannot be met, or something cannot be read or written.
    """
    from .baseline_file import read_baseline  # noqa: PLC0415
    from .baseline_run import accepted, check_against  # noqa: PLC0415
    from .request import Request  # noqa: PLC0415

    if len(files) > 1:
        raise RequestError(f"a baseline is of one model; {len(files)} files were given")
    for option, given in frozen.items():
        if given:
            raise RequestError(f"{option} is frozen in {file}; leave it out, or freeze anew")
    if accept and request.engines:
        raise RequestError("--accept renews what all engines said; leave out --engine")
    if same_file(files[0], file):
        raise RequestError(f"{file} is the model itself")
    baseline = read_baseline(file)
    if request.tolerance == Request.tolerance:  # nobody gave another
        request = replace(request, tolerance=baseline.request["tolerance"])
    result, renewed = check_against(files[0], baseline, str(file), request)
    if accept and renewed is not None:
        write(file, renewed)
        return accepted(result)
    if accept:
        say(f"{file} is not renewed: not all engines answered or refused")
    return result
