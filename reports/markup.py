"""GitHub's Markdown: names and words that come out of model files, shown as they are and never obeyed."""

from __future__ import annotations

import re
from typing import Final

from .text import sentence, shortened

NAME: Final = 100  # characters of one name
WORDS: Final = 400  # characters of what an engine or a fix says
BREAK: Final = "&#8203;"  # a blank of no width, which keeps GitHub from making a link
# In the order in which they are applied: entities first, since what follows writes some.
PROSE: Final = (
    (re.compile(r"&"), "&amp;"),
    (re.compile(r"<"), "&lt;"),
    (re.compile(r">"), "&gt;"),
    (re.compile(r"([\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_]))"), r"\\\1"),  # inside a word _ is no markup
    (re.compile(r"@(?=\w)"), "@" + BREAK),
    (re.compile(r"(?<!&)#(?=\w)"), "#" + BREAK),
    (re.compile(r"\b(gh-)(?=\d)", re.IGNORECASE), r"\1" + BREAK),
    (re.compile(r"\b(www)\.", re.IGNORECASE), r"\1" + BREAK + "."),
    # An address, or an emoji: two of them are numbers, and may be lines of a file.
    (re.compile(r":(?=//|(?:100|1234|[\w+-]*[a-z+-][\w+-]*):)", re.IGNORECASE), ":" + BREAK),
)


def prose(text: object, width: int = WORDS) -> str:
    """Return words on one line in which nothing is markup, a mention, a reference to an issue, a link or an emoji."""
    words = sentence(text)
    words = words if len(words) <= width else words[: width - 1] + "…"
    for pattern, instead in PROSE:
        words = pattern.sub(instead, words)
    return words


def code(name: object, width: int = NAME) -> str:
    """Return a name between backticks, where GitHub obeys nothing, also inside a table.

    A name with a bar would end a cell of a table: it stands in a `<code>` element, every sign of it as an entity.
    """
    text = shortened(name, width)
    if not text.strip():
        return "(no name)"
    if "|" in text:
        return "<code>" + "".join(c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in text) + "</code>"
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text.startswith(("`", " ")) or text.endswith(("`", " ")) else ""
    return f"{fence}{pad}{text}{pad}{fence}"
