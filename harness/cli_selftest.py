"""The command that asks whether an adapter keeps the contract."""

# ruff: noqa: TC001  typer reads the annotations when a command is made
from __future__ import annotations

from typing import Annotated

import typer

from .cli_options import InProcess, Json, Memory, Seed, Timeout
from .cli_output import destinations, draw, sentences, write_out, writing

Engine = Annotated[
    str, typer.Argument(metavar="ENGINE", help="NAME, NAME==VERSION or NAME@PYTHON.", show_default=False)
]
Short = Annotated[bool, typer.Option("--quiet", "-q", help="Print the verdict only, on one line.")]
Every = Annotated[bool, typer.Option("--verbose", "-v", help="Print everything that is wrong.")]


def selftest(
    engine: Engine,
    *,
    seed: Seed = 0,
    json: Json = None,
    timeout: Timeout = 120.0,
    memory: Memory = 8192,
    in_process: InProcess = False,
    quiet: Short = False,
    verbose: Every = False,
) -> None:
    """Ask whether an adapter keeps the contract: small robots of one concern each, built through its neutral path.

    Exit codes: 0 all that it answers is right, 1 something is wrong or its card does not declare what it cannot do,
    2 it is not installed or does not load, 3 it crashed or hung.
    """
    with sentences():
        from ..reports.progress import Bar  # noqa: PLC0415
        from ..reports.selftest import selftest_report  # noqa: PLC0415
        from .replace import replacing  # noqa: PLC0415
        from .request import Request  # noqa: PLC0415
        from .selftest import selftest as tried  # noqa: PLC0415

        outputs = destinations(json, reports={}, read=[])
        with Bar(0 if quiet else 1) as bar:
            request = Request(seed=seed, progress=bar, in_process=in_process, timeout=timeout, memory=memory)
            result = tried(engine, request)
        if json == "-":
            write_out(result.dumps())
        else:
            draw(lambda console: selftest_report(result, console, quiet=quiet, verbose=verbose))
        if outputs.json:
            with writing(), replacing(outputs.json) as beside:
                beside.write_text(result.dumps(), encoding="utf-8")
    raise typer.Exit(result.exit)
