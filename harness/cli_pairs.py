"""The commands that take a robot beyond one file: compare two files, write the same robot in the other format."""

# ruff: noqa: TC001  typer reads the annotations when a command is made
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .cli_options import (
    Base,
    Count,
    Csv,
    Frames,
    Html,
    InProcess,
    Json,
    JUnit,
    Markdown,
    Memory,
    Sarif,
    Seed,
    Timeout,
    Tolerance,
)
from .cli_output import destinations, draw, same_file, sentences, write_out, writing
from .errors import HarnessError, RequestError

if TYPE_CHECKING:
    from collections.abc import Callable

    from .tree import Tree

First = Annotated[str, typer.Argument(metavar="FILE_A", help="URDF or MJCF, taken as expected.", show_default=False)]
Second = Annotated[str, typer.Argument(metavar="FILE_B", help="URDF or MJCF, the other.", show_default=False)]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="A=B|FILE",
        help="This joint or body of FILE_A is that one of FILE_B; or a text file of such lines. Repeatable.",
        show_default=False,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KIND",
        help="Findings of this kind do not count, such as armature; repeatable. `explain` lists the kinds; unexplained "
        "always counts.",
        show_default=False,
    ),
]
Short = Annotated[bool, typer.Option("--quiet", "-q", help="Print the verdict only, on one line.")]
Every = Annotated[bool, typer.Option("--verbose", "-v", help="Print every quantity, finding, name and loss.")]
Source = Annotated[str, typer.Argument(metavar="FILE", help="URDF or MJCF.", show_default=False)]
Target = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="FILE", help="Where to; what is there is replaced.", show_default=False),
]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="urdf|mjcf", help="Default: by the ending, .urdf or .xml.", show_default=False),
]

EveryLoss = Annotated[bool, typer.Option("--verbose", "-v", help="Print every loss, one by one.")]


def diff(
    file_a: First,
    file_b: Second,
    *,
    base: Base = "auto",
    name_map: Map = None,
    ignore: Ignore = None,
    states: Count = 64,
    seed: Seed = 0,
    tolerance: Tolerance = 1e-9,
    json: Json = None,
    csv: Csv = None,
    html: Html = None,
    markdown: Markdown = None,
    junit: JUnit = None,
    sarif: Sarif = None,
    frames: Frames = None,
    timeout: Timeout = 120.0,
    memory: Memory = 8192,
    in_process: InProcess = False,
    quiet: Short = False,
    verbose: Every = False,
) -> None:
    """Check whether two files are the same robot, in any pairing of URDF and MJCF.

    Compared: bodies, joints, passive forces, closures, and whatever else touches the smooth, unforced dynamics.

    Not compared: limits, gears, gains and ranges of actuators, contact, sensors, shapes, settings of a simulation.
    """
    with sentences():
        from ..reports.pairs import pair_line, pair_report  # noqa: PLC0415
        from .diff import diff as compare  # noqa: PLC0415
        from .name_map import read_map  # noqa: PLC0415

        reports = {"html": html, "markdown": markdown, "junit": junit, "sarif": sarif, "frames": frames}
        outputs = destinations(json, csv, reports=reports, read=[file_a, file_b])
        result = compare(
            file_a,
            file_b,
            base=base,
            names=read_map(name_map or ()),
            ignore=ignore or (),
            states=states,
            seed=seed,
            tolerance=tolerance,
            read_mjcf=_reader(in_process, timeout, memory),
        )
        if json == "-":
            write_out(result.dumps())
        else:
            draw(lambda c: pair_line(result, c) if quiet else pair_report(result, c, verbose=verbose))
        with writing():
            outputs.write(result)
    raise typer.Exit(result.exit)


def export(
    file: Source,
    *,
    output: Target,
    file_format: Format = None,
    base: Base = "auto",
    timeout: Timeout = 120.0,
    memory: Memory = 8192,
    in_process: InProcess = False,
    verbose: EveryLoss = False,
) -> None:
    """Write the robot of a file in the other format, or in the same one, and name what is lost."""
    with sentences():
        from ..reports.exported import Exported, export_report, size  # noqa: PLC0415
        from .exporters import export as write  # noqa: PLC0415
        from .load import open_model  # noqa: PLC0415
        from .replace import is_device  # noqa: PLC0415

        read_mjcf = _reader(in_process, timeout, memory)
        tree = open_model(file, base, read_mjcf).tree
        if same_file(file, output):
            raise RequestError(f"{output} is the file that is read; write to another one")
        with writing():
            again = not is_device(output)
            exported = write(tree, output, file_format)
        robot = size(len(tree.bodies) - 1, tree.nv, tree.total_mass)
        unread = _unread(str(output), base, read_mjcf) if again else ""  # what went through a pipe is gone
        report = Exported(file, str(output), robot, base, tree.losses, exported.losses, unread)
        draw(lambda c: export_report(report, c, verbose=verbose))


def _reader(in_process: bool, timeout: float, memory: int) -> Callable[[str], Tree] | None:
    """Return what reads MJCF: MuJoCo, in a process of its own unless it is asked for in this one.

    Raises:
        RequestError: a limit is out of range.
    """
    from .bench import mjcf_reader  # noqa: PLC0415
    from .request import Request  # noqa: PLC0415

    return mjcf_reader(Request(in_process=in_process, timeout=timeout, memory=memory).limits)


def _unread(file: str, base: str, read_mjcf: Callable[[str], Tree] | None) -> str:
    """Return why a file that was written cannot be read back, or "": MuJoCo refuses, say, a mass of zero that moves."""
    from .load import open_model  # noqa: PLC0415

    try:
        open_model(file, base, read_mjcf)
    except HarnessError as error:
        return str(error)
    return ""
