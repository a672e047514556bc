"""The command that checks whole collections."""

# ruff: noqa: TC001  typer reads the annotations when a command is made
from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from .cli_options import Base, Count, Engines, Memory, PathOption, Seed, Timeout, Tolerance
from .cli_output import draw, sentences, writing

Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...", help="Files, folders and patterns such as 'robots/**/*.urdf'.", show_default=False
    ),
]
Folder = Annotated[
    Path, typer.Option("--output", "-o", metavar="DIR", help="Of the results; what is finished there is not repeated.")
]
Jobs = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Models at a time. Default: as many as processors.", show_default=False),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask", metavar="ADDRESS", help="Of the scheduler of a dask cluster that checks.", show_default=False
    ),
]
Restart = Annotated[bool, typer.Option("--restart", help="Forget what is finished.")]
Short = Annotated[bool, typer.Option("--quiet", "-q", help="Print the verdict only, on one line.")]


def sweep(
    paths: Paths,
    *,
    output: Folder = Path("tautology-sweep"),
    jobs: Jobs = None,
    dask: Dask = None,
    restart: Restart = False,
    engine: Engines = None,
    path: PathOption = "both",
    base: Base = "auto",
    states: Count = 64,
    seed: Seed = 0,
    tolerance: Tolerance = 1e-9,
    timeout: Timeout = 120.0,
    memory: Memory = 8192,
    quiet: Short = False,
) -> None:
    """Check whole collections: in parallel, a line of JSON per model, resumed where it was stopped."""
    with sentences():
        from ..reports.sweep import Counter, index_page, sweep_line, sweep_report  # noqa: PLC0415
        from .bench import gather, versions  # noqa: PLC0415
        from .collect import collect  # noqa: PLC0415
        from .pools import cluster, processes  # noqa: PLC0415
        from .request import Request  # noqa: PLC0415
        from .sweep import AHEAD, Sweep, whole  # noqa: PLC0415

        files = collect(paths)
        request = Request(
            engines=tuple(engine) if engine else None,
            path=path,
            base=base,
            states=states,
            seed=seed,
            tolerance=tolerance,
            in_process=False,
            timeout=timeout,
            memory=memory,
        )
        count = jobs or os.cpu_count() or 1
        pool, ahead = cluster(dask) if dask else (processes(count), count)
        folder = Sweep(output, request, versions(gather(request.engines, request.limits)))
        with writing():
            done = folder.begin(restart=restart)
            rest = [file for file in files if file not in done]
            with Counter(len(files), len(files) - len(rest), shown=not quiet) as counter:
                folder.run(rest, pool, AHEAD * ahead, counter)
            lines = dict(folder.finished())
            document = whole([lines[file] for file in files])
            page = index_page(document, output)
        draw(lambda console: (sweep_line if quiet else sweep_report)(document, page, console))
    raise typer.Exit(document["exit"])
