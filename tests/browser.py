"""A real browser for the tests of the HTML report: Chromium, driven by playwright, without network or profile."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

REQUIRED: Final = "TAUTOLOGY_BROWSER_REQUIRED"  # set where a missing browser is a failure, not a reason to skip
NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
SETTLED: Final = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def missing(reason: str) -> None:
    """Skip the test, or fail where a browser is required."""
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(f"{reason}, and {REQUIRED} is set")
    pytest.skip(reason)


@contextmanager
def launched() -> Iterator[Browser]:
    """Give a browser with a profile of its own, which is gone afterwards."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing(f"no browser here: none of {', '.join(NAMES)} is on the path")
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415  absent where the browser tests are skipped
    except ModuleNotFoundError:
        missing("playwright is not installed")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@dataclass
class Opened:
    """A page that was opened from a file.

    Attributes:
        page: of playwright.
        faults: what the console said, errors that were thrown, dialogs, and requests beside the file itself.
    """

    page: Page
    faults: list[str] = field(default_factory=list)

    def settle(self) -> None:
        """Wait until what was asked for is drawn."""
        self.page.evaluate(SETTLED)

    def script(self, text: str) -> Any:
        """Return what a script gives."""
        return self.page.evaluate(text)

    def until(self, text: str, seconds: float = 20.0) -> None:
        """Wait until a script gives something true; playwright's own way would need `eval`, which the page forbids."""
        end = time.monotonic() + seconds
        while not self.script(text):
            assert time.monotonic() < end, f"never came: {text}"
            self.page.wait_for_timeout(50)

    def unfold(self) -> None:
        """Open everything that can be opened, also what stands inside."""
        for _ in range(2):
            self.script("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
            self.page.wait_for_timeout(200)
            self.settle()


@contextmanager
def opened(
    browser: Browser, file: Path, *, width: int = 1280, scheme: str = "light", height: int = 800
) -> Iterator[Opened]:
    """Give the page of a file, once its first table or its last heading is there."""
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    context.set_default_timeout(20_000)
    page = context.new_page()
    made = Opened(page)
    address = file.resolve().as_uri()

    def asked(request: Any) -> None:
        if request.url != address:
            made.faults.append(f"request {request.url[:200]}")

    def dialog(box: Any) -> None:
        made.faults.append(f"dialog {box.message}")
        box.dismiss()

    page.on("console", lambda message: made.faults.append(f"console {message.type}: {message.text[:300]}"))
    page.on("pageerror", lambda error: made.faults.append(f"error {str(error)[:300]}"))
    page.on("request", asked)
    page.on("dialog", dialog)
    page.goto(address)
    page.wait_for_selector("#claims h2")
    made.settle()
    yield made
    context.close()
