"""The command that looks for the version of an engine in which an answer changed."""

# ruff: noqa: TC001  typer reads the annotations when a command is made
from __future__ import annotations

from typing import Annotated

import typer

from .cli_options import Base, Count, Json, Memory, PathOption, Quiet, Seed, Timeout, Tolerance
from .cli_output import destinations, draw, sentences, write_out, writing

File = Annotated[str, typer.Argument(metavar="FILE", help="A URDF or MJCF file.", show_default=False)]
Engine = Annotated[str, typer.Option("--engine", metavar="NAME", help="Whose versions are asked.", show_default=False)]
First = Annotated[str, typer.Option("--from", metavar="VERSION", help="The first version.", show_default=False)]
Last = Annotated[str, typer.Option("--to", metavar="VERSION", help="The last version.", show_default=False)]


def bisect(
    file: File,
    *,
    engine: Engine,
    first: First,
    last: Last,
    path: PathOption = "native",
    base: Base = "auto",
    states: Count = 16,
    seed: Seed = 0,
    tolerance: Tolerance = 1e-9,
    json: Json = None,
    timeout: Timeout = 120.0,
    memory: Memory = 8192,
    quiet: Quiet = False,
) -> None:
    """Find every version of an engine, from one to another, in which its answer changed."""
    with sentences():
        from ..reports.bisection import bisection_report  # noqa: PLC0415
        from ..reports.progress import Bar  # noqa: PLC0415
        from .bisection import bisect as search  # noqa: PLC0415
        from .engine_terms import engine_term  # noqa: PLC0415
        from .replace import replacing  # noqa: PLC0415
        from .request import Request  # noqa: PLC0415

        for version in (first, last):
            engine_term(f"{engine}=={version}")
        outputs = destinations(json, reports={}, read=[file])
        with Bar(0 if quiet else 1) as bar:
            request = Request(
                None, path, base, states, seed, tolerance, bar, in_process=False, timeout=timeout, memory=memory
            )
            result = search(file, engine, first, last, request)
        if json == "-":
            write_out(result.dumps())
        else:
            draw(lambda console: bisection_report(result, console, quiet=quiet))
        if outputs.json:
            with writing(), replacing(outputs.json) as beside:
                beside.write_text(result.dumps(), encoding="utf-8")
    raise typer.Exit(result.exit)
