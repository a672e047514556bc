"""Draw the figures of the lessons: `python docs/figures.py` writes all of docs/figures/, from numbers computed here.

`python docs/figures.py FOLDER [.png] [NAME ...]` writes them elsewhere, in another format, or only some.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from figure_look import save

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

FOLDER = Path(__file__).parent / "figures"
# Every module figures_*.py beside this one has a dict FIGURES, from name of the figure to the function that draws it.
FIGURES: dict[str, Callable[[], Figure]] = {
    name: draw
    for module in sorted(Path(__file__).parent.glob("figures_*.py"))
    for name, draw in importlib.import_module(module.stem).FIGURES.items()
}


def main(folder: Path, suffix: str, names: list[str]) -> None:
    """Write figures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or FIGURES:
        save(FIGURES[name](), folder / f"{name}{suffix}")


if __name__ == "__main__":
    given = sys.argv[1:]
    formats = [word for word in given if word in (".svg", ".png")]
    rest = [word for word in given if word not in formats]
    main(Path(rest[0]) if rest else FOLDER, formats[0] if formats else ".svg", rest[1:])
