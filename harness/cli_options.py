"""The options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand


def _named(text: str) -> str:
    """Refuse an empty name, such as that of a shell variable that is not set."""
    if not text:
        raise typer.BadParameter("the name is empty")
    return text


def _path(text: str) -> Path:
    return Path(_named(text))


class Command(TyperCommand):
    """A command whose line of usage names its arguments as its table of arguments does: FILE, not {FILE}."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the line of usage."""
        pieces = super().collect_usage_pieces(ctx)
        return [piece[1:-1] if piece.startswith("{") and piece.endswith("}") else piece for piece in pieces]


Files = Annotated[list[str], typer.Argument(metavar="FILE...", help="URDF or MJCF files.", show_default=False)]
SavedResult = Annotated[
    str, typer.Argument(metavar="RESULT", help="JSON that `check` or `diff` saved.", show_default=False)
]
Engines = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="Ask this engine, NAME==VERSION or NAME@PYTHON; repeatable. Default: all installed.",
    ),
]
PathOption = Annotated[
    str,
    typer.Option(
        metavar="native|neutral|both",
        help="native: the engine reads the file itself; neutral: it is built from our tree.",
    ),
]
Base = Annotated[
    str,
    typer.Option(
        metavar="auto|fixed|free",
        help="How the root is held. auto: as the file says; free: floating; fixed: as the file says, and a file whose "
        "robot floats is refused.",
    ),
]
Count = Annotated[int, typer.Option("--states", metavar="N", min=1, help="Number of frozen states to draw.")]
Seed = Annotated[int, typer.Option(metavar="S", min=0, help="Seed of the draw.")]
StatesFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Ask the states of this file instead.", show_default=False, parser=_path),
]
SaveStates = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the states that were asked.", show_default=False, parser=_path),
]
Tolerance = Annotated[float, typer.Option(metavar="R", help="Relative; below it two robots are the same.")]
Json = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the result as JSON; - for stdout, in place of the report.",
        parser=_named,
    ),
]
Csv = Annotated[
    Path | None,
    typer.Option("--csv", metavar="DIR", help="Write one CSV file per table.", show_default=False, parser=_path),
]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write one page for the browser.", show_default=False, parser=_path),
]
Markdown = Annotated[
    Path | None,
    typer.Option(
        "--markdown", metavar="FILE", help="Write a comment for a pull request.", show_default=False, parser=_path
    ),
]
JUnit = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Write test results as XML.", show_default=False, parser=_path),
]
Sarif = Annotated[
    Path | None,
    typer.Option("--sarif", metavar="FILE", help="Write findings for code scanning.", show_default=False, parser=_path),
]
Frames = Annotated[
    Path | None,
    typer.Option(
        "--frames",
        metavar="DIR",
        help="Write tables as Parquet, one row per state and quantity.",
        show_default=False,
        parser=_path,
    ),
]
PerDof = Annotated[bool, typer.Option("--per-dof", help="Tables of --frames have a row per dof, too.")]
Timeout = Annotated[float, typer.Option(metavar="SECONDS", help="For one call of an engine, or for loading one model.")]
Memory = Annotated[
    int, typer.Option(metavar="MB", min=0, help="That the process of an engine may take; 0 for no limit.")
]
InProcess = Annotated[
    bool, typer.Option("--in-process", help="Ask engines in this process, for debugging: one that crashes ends all.")
]
Baseline = Annotated[
    Path | None,
    typer.Option(
        "--baseline",
        metavar="FILE",
        help="Ask what `freeze` asked, and say what changed.",
        show_default=False,
        parser=_path,
    ),
]
Accept = Annotated[bool, typer.Option("--accept", help="Renew the baseline: what changed is right.")]
Frozen = Annotated[
    Path,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Where to; what is there is replaced.", show_default=False, parser=_path
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the verdict only, a line per file.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print every quantity, identity, finding and loss.")]
