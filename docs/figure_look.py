"""How the figures of the lessons look, and how they are saved: the same bytes from the same numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from pathlib import Path

# Okabe and Ito 2008: told apart with every kind of colour vision.
INK, BLUE, ORANGE, GREEN, RED, PURPLE, SKY, GREY = (
    "#222222",
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d55e00",
    "#aa4499",
    "#56b4e9",
    "#8a8a8a",
)
STYLE = {
    "font.size": 9.5,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same outlines everywhere
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.6,
    "svg.hashsalt": "tautology",  # names of clip paths come from here and not from chance
    "svg.fonttype": "path",
}


def panels(columns: int, width: float = 9.0, height: float = 3.6, **more: Any) -> tuple[Figure, Any]:
    """Return a figure of one row and its axes, one object for one column, an array for several.

    Args:
        columns: number of panels.
        width: [in].
        height: [in].
        more: for `Figure.subplots`.
    """
    mpl.rcdefaults()
    mpl.rcParams.update(STYLE)
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    return figure, figure.subplots(1, columns, **more)


def arrow(axes: Any, start: Any, vector: Any, color: str, label: str | None = None, width: float = 1.8) -> None:
    """Draw a vector from a point, in the units of the axes; a label adds it to the legend."""
    end = (start[0] + vector[0], start[1] + vector[1])
    axes.annotate(
        "", end, start, arrowprops={"arrowstyle": "-|>", "color": color, "lw": width, "shrinkA": 0, "shrinkB": 0}
    )
    axes.plot(*end, alpha=0)  # limits do not see annotations
    if label is not None:
        axes.plot([], [], color=color, lw=width, label=label)


def save(figure: Figure, file: Path) -> None:
    """Write a figure; the format is that of the file's name."""
    more = {"metadata": {"Date": None}} if file.suffix == ".svg" else {"dpi": 110}
    figure.savefig(file, **more)
    if file.suffix == ".svg":
        text = _numbered(file.read_text(encoding="utf-8"))
        file.write_text("".join(f"{line.rstrip()}\n" for line in text.splitlines()), encoding="utf-8", newline="\n")


def _numbered(text: str) -> str:
    """Return an SVG whose names are numbers in order; matplotlib's hash the last digits of floats, which may differ."""
    names = dict.fromkeys(re.findall(r' id="((?:image|[a-zA-Z])[0-9a-f]{10})"', text))
    numbers = {name: f"n{k}" for k, name in enumerate(names)}
    return re.sub(r'(?<=["#])\w{11,15}(?=[")])', lambda match: numbers.get(match[0], match[0]), text)
