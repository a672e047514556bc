"""Draw the figures of the lessons: `python docs/figures.py` writes all of docs/figures/, from numbers computed here."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from figure_look import save

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

# Every module figures_*.py beside this one has a dict FIGURES, from name of the figure to the function that draws it.
FIGURES: dict[str, Callable[[], Figure]] = {
    name: draw
    for module in sorted(Path(__file__).parent.glob("figures_*.py"))
    for name, draw in importlib.import_module(module.stem).FIGURES.items()
}


def main() -> None:
    """Write figures into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="the figures to draw, all if none is named")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "figures")
    parser.add_argument("--format", choices=("svg", "png"), default="svg")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(FIGURES):
        parser.error(f"no figure {', '.join(sorted(unknown))}; there are {', '.join(FIGURES)}")
    asked.folder.mkdir(parents=True, exist_ok=True)
    for name in asked.names or FIGURES:
        save(FIGURES[name](), asked.folder / f"{name}.{asked.format}")


if __name__ == "__main__":
    main()
