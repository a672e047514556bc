"""Words of our tables as Markdown: they name elements of XML, and some stand in cells of a table."""

from __future__ import annotations

SIGNS = str.maketrans({"<": "&lt;", "|": "&#124;", "*": "&#42;", "`": "&#96;"})


def prose(text: str) -> str:
    """Return a text in which nothing is markup."""
    return text.translate(SIGNS)
