"""What the page says of the results of `sample_documents.GOLDEN`, as texts that were read and found right.

After a change that is meant: `python tests/page_texts.py` writes them anew; read what `git diff` says of them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from browser import launched, opened
from sample_documents import DOCUMENTS, GOLDEN

from tautology.reports.page import html

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FOLDER = Path(__file__).parent / "golden"
# A line per heading, paragraph, entry and row, in the order of the page; cells between bars.
LINES = """() => {
    const parts = "h1, h2, h3, h4, p, li, summary, dl > div, figcaption, .tabulator-headers, .tabulator-row";
    const cells = ".tabulator-col-title, .tabulator-cell";
    const said = (part) => part.textContent.replace(/\\s+/g, " ").trim();
    const line = (part) => {
        const inside = [...part.querySelectorAll(cells)];
        if (inside.length) return "| " + inside.map(said).join(" | ") + " |";
        if (part.matches("dl > div")) return [...part.children].map(said).join(": ");
        const marks = {H1: "# ", H2: "\\n## ", H3: "\\n### ", H4: "\\n#### ", SUMMARY: "\\n> "};
        return (marks[part.tagName] ?? "") + said(part);
    };
    return [...document.querySelectorAll("main *")]
        .filter((part) => part.matches(parts) && !part.querySelector(parts) && !part.closest("noscript, .unseen"))
        .map(line).filter((text) => text.trim()).join("\\n") + "\\n";
}"""


def text(browser: Browser, name: str) -> str:
    """Return what the page of a golden result says before anything is opened."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        file.write_text(html(DOCUMENTS[GOLDEN[name]]), encoding="utf-8")
        with opened(browser, file, height=4000) as made:
            return made.script(LINES)


if __name__ == "__main__":
    with launched() as chromium:
        for golden in GOLDEN:
            (FOLDER / f"{golden}.page.txt").write_text(text(chromium, golden), encoding="utf-8", newline="\n")
