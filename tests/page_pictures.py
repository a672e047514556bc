"""Pictures of the HTML report for docs/screenshots: `python tests/page_pictures.py`, where there is a Chromium.

The robot is the bundled walker without the inertia of one shank, which MuJoCo then takes from its collision shape.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from browser import launched, opened
from engines_at_hand import CORE

import tautology
from tautology import models
from tautology.harness.saved import Saved
from tautology.reports.page import html

if TYPE_CHECKING:
    from browser import Opened
    from playwright.sync_api import Browser

FOLDER = Path(__file__).parents[1] / "docs" / "screenshots"
LARGEST = 300_000  # [bytes]
SHAPE = '<collision><origin xyz="0 0 -0.09"/><geometry><cylinder radius="0.02" length="0.18"/></geometry></collision>'
VIEWS = {"robot": "#robot", "matrix": "#matrix", "torque": "#torque", "states": "#states"}


def walker() -> str:
    """Return the walker, one shank of which has a shape and no inertia."""
    text = models.path("tau_walker.urdf").read_text(encoding="utf-8")
    link = r'(<link name="hind_right_shank">).*?(</link>)'
    changed, count = re.subn(link, rf"\1{SHAPE}\2", text, flags=re.DOTALL)
    if count != 1:
        raise LookupError("the walker has no link hind_right_shank")
    return changed


def pages(folder: Path) -> dict[str, Path]:
    """Write a page of a check and one of a comparison of two files, named as in the folder alone."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        Path("walker.urdf").write_text(walker(), encoding="utf-8")
        Path("walker.xml").write_text(models.path("tau_walker.xml").read_text(encoding="utf-8"), encoding="utf-8")
        results = {
            "check": tautology.check("walker.urdf", engines=CORE, arrays=True),
            "diff": tautology.diff("walker.urdf", "walker.xml"),
        }
    finally:
        os.chdir(here)
    made = {}
    for name, result in results.items():
        made[name] = folder / f"{name}.html"
        made[name].write_text(html(Saved.of(result)), encoding="utf-8")
    return made


def take(browser: Browser, files: dict[str, Path], scheme: str) -> None:
    """Take every picture in one colour scheme."""
    for name, file in files.items():
        with opened(browser, file, scheme=scheme) as made:
            keep(made, f"{name}-{scheme}", made.page.screenshot())
            for view, selector in VIEWS.items() if name == "check" else ():
                part = made.page.locator(selector)
                part.scroll_into_view_if_needed()
                made.script(f"document.querySelector('{selector}').scrollIntoView()")
                made.until(f"document.querySelector('{selector} figure svg')")
                made.settle()
                keep(made, f"{view}-{scheme}", part.screenshot())
        with opened(browser, file, scheme=scheme, width=400) as made:
            keep(made, f"{name}-narrow-{scheme}", made.page.screenshot())


def keep(made: Opened, name: str, picture: bytes) -> None:
    """Write a picture, when nothing went wrong on the page and it is small enough for a repository."""
    if made.faults or len(picture) > LARGEST:
        raise RuntimeError(f"{name}: {len(picture)} bytes, {made.faults}")
    (FOLDER / f"{name}.png").write_bytes(picture)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, launched() as chromium:
        written = pages(Path(place))
        for colours in ("light", "dark"):
            take(chromium, written, colours)
