"""The verdict of a saved document, in the sentence that the terminal shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..pair_groups import groups
from ..pair_names import Names
from ..pairs import pair_verdict
from ..revived import check_result, diff_result
from ..verdict import model_line, overall_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.text import Text


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run, or one model, comes to.

    Attributes:
        status: one word or two, such as "differs" or "not compared".
        words: the sentence.
    """

    status: str
    words: str


def verdicts(document: Mapping[str, Any]) -> tuple[Verdict, list[Verdict]]:
    """Return the verdict on a whole document, and on each model of a check."""
    if document["command"] == "diff":
        result = diff_result(document)
        return _split(pair_verdict(result, Names.of(result), groups(result))), []
    run = check_result(document)
    return _split(overall_line(run)), [_split(model_line(model)) for model in run.models]


def pair_groups(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return findings of a comparison of two files that are one to a reader, the most telling first.

    Each has `findings`, indices into those of the document, the most telling first, `share` explained, whether it was
    `measured` for all of them together, and whether only written `digits` differ.
    """
    result = diff_result(document)
    index = {id(finding): i for i, finding in enumerate(result.reasons)}
    return [
        {
            "findings": [index[id(finding)] for finding in group.findings],
            "share": group.share,
            "measured": group.measured,
            "digits": group.digits,
        }
        for group in groups(result)
    ]


def _split(line: Text) -> Verdict:
    status, _, words = line.plain.partition("  ")
    return Verdict(status.lower(), words)
