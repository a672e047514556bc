"""A rule of SARIF per kind of finding, with the texts that `tautology explain` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..harness.kinds import texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..harness.kinds import KindText

LEVELS: Final[Mapping[str, str]] = {"model": "error", "refusal": "error", "convention": "note"}


def rules(used: Iterable[str]) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Return a rule for every kind, and its index by kind.

    Args:
        used: kinds of a result, which may be of a later version: of those that have no text here, the name alone.
    """
    known = texts()
    made = [_rule(text) for text in known.values()]
    made += [{"id": kind, "shortDescription": {"text": kind}} for kind in sorted(set(used) - known.keys())]
    return made, {rule["id"]: n for n, rule in enumerate(made)}


def _rule(text: KindText) -> dict[str, Any]:
    lint = text.kind.startswith("lint.")
    level = "warning" if lint and text.severity == "model" else LEVELS[text.severity]
    causes = [f"{engine}: {words}" for engine, words in text.causes.items()]
    plain = [text.means, f"In numbers: {text.numbers}", *causes, f"Fix: {text.fix}"]
    marked = [
        _escaped(text.means),
        f"**In numbers**: {_escaped(text.numbers)}",
        "\n".join(f"- **{engine}**: {_escaped(words)}" for engine, words in text.causes.items()),
        f"**Fix**: {_escaped(text.fix)}",
    ]
    return {
        "id": text.kind,
        "shortDescription": {"text": text.means},
        "fullDescription": {"text": f"{text.means} {text.numbers}"[:1000]},
        "help": {"text": "\n".join(plain), "markdown": "\n\n".join(part for part in marked if part)},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": ["robot model", text.severity], "precision": "very-high"},
    }


def _escaped(words: str) -> str:
    """Return a text of ours in which tags of XML, stars and underscores are no markup."""
    for sign in "\\`*_[]":
        words = words.replace(sign, f"\\{sign}")
    return words.replace("<", "&lt;")
