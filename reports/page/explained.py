"""A topic as a page for the browser: the look of the report, no script, nothing loaded, every name escaped."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..explained import cell
from ..text import shown
from .drawn import picture

if TYPE_CHECKING:
    from collections.abc import Iterator

MORE: Final = """\
.sides td.figure, .sides th.figure { text-align: right; }
.sides td.figure { white-space: nowrap; }
.drawn { display: block; width: 100%; max-width: 760px; height: auto; background: var(--raised); }
.drawn text { fill: var(--text); font-size: 12px; paint-order: stroke; stroke: var(--raised); stroke-width: 4px; }
.keys { display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem; margin: 0.3rem 0; padding: 0; list-style: none; }
.key { display: inline-block; width: 1.9rem; height: 0.4rem; margin-right: 0.4rem; vertical-align: middle; }
.sides td.long { min-width: 18rem; max-width: 40rem; }
@media (max-width: 600px) { .drawn text { font-size: 18px; } }
"""
SENTENCE: Final = 40  # characters
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def explained_page(found: Any) -> str:
    """Return a topic as one HTML document.

    Args:
        found: `harness.explain.record.Explanation`.
    """
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    parts = "".join(f'<li><a href="#s{k}">{_text(s.title)}</a></li>' for k, s in enumerate(found.sections))
    return f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{_text(f"{found.topic}: {found.question}")}</title>
<style>
{style}{MORE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header class="bar">
<p class="brand">tautology explain {_text(found.topic)}</p>
<nav aria-label="Parts of the page"><ul>{parts}</ul></nav>
</header>
<main id="main" tabindex="-1">
<div class="verdict agree"><h1>{_text(found.question)}</h1></div>
<p><bdi>{_text(found.answer)}</bdi></p>
<p class="origin"><bdi>{_text(found.model)}</bdi></p>
<div id="content">
{"".join(_sections(found))}</div>
</main>
<footer><p>Made by tautology. This file holds everything it shows and loads nothing.</p></footer>
</body>
</html>
"""


def _text(words: object) -> str:
    return escape(shown(words))


def _sections(found: Any) -> Iterator[str]:
    for k, section in enumerate(found.sections):
        yield f'<section id="s{k}"><h2>{_text(section.title)}</h2>\n'
        yield "".join(f"<p>{_text(words)}</p>\n" for words in section.sentences)
        yield "".join(map(picture, section.pictures))
        yield "".join(map(_table, section.tables))
        yield "</section>\n"


def _table(table: Any) -> str:
    """Return a table; a wide one scrolls by itself."""
    kinds = [
        ' class="figure"' if any(isinstance(row[k], int | float) for row in table.rows) else ""
        for k in range(len(table.columns))
    ]
    head = "".join(
        f'<th scope="col"{kind}>{_text(column.name)}</th>' for column, kind in zip(table.columns, kinds, strict=True)
    )
    body = "".join(f"<tr>{_row(row, table, kinds)}</tr>\n" for row in table.rows)
    note = f'<p class="described">{_text(table.note)}</p>\n' if table.note else ""
    return (
        f'<div class="scroller" tabindex="0" role="group" aria-label="{_text(table.title)}"><table class="sides">'
        f"<caption>{_text(table.title)}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n{note}"
    )


def _row(row: Any, table: Any, kinds: list[str]) -> str:
    cells = [_text(cell(x, column.digits)) for x, column in zip(row, table.columns, strict=True)]
    return "".join(
        f'<th scope="row">{words}</th>' if k < table.keys else f"<td{kind or _long(words)}>{words}</td>"
        for k, (words, kind) in enumerate(zip(cells, kinds, strict=True))
    )


def _long(words: str) -> str:
    """Return the class of a cell that is a sentence, which a narrow screen would break word by word."""
    return ' class="long"' if len(words) > SENTENCE else ""
