"""Pages on the engines, from their cards and from the usual causes of every kind of finding."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from words import prose

from tautology.adapters import CARDS
from tautology.harness.fixes import SPELLED
from tautology.harness.kinds import texts

if TYPE_CHECKING:
    from tautology.harness.engine import EngineCard

DOCS = Path(__file__).resolve().parent
NAMES = {**SPELLED, "reference": "Reference", "mjx": "MJX", "newton": "Newton", "urdfpy": "urdfpy (urchin)"}


def pages() -> dict[str, str]:
    """Return a page per engine, and the table of all of them."""
    rows = "".join(
        f"| [{_name(card)}]({card.name}.md) | {', '.join(card.formats) or '-'} | {card.answers} |\n" for card in CARDS
    )
    index = (
        "# Engines\n\nWhat each engine is asked, in which conventions it answers, and which terms its calls contain."
        " [CONVENTIONS.md](../CONVENTIONS.md) has the frames, orders and signs that all answers are turned into.\n\n"
        f"| engine | reads by itself | answers |\n|---|---|---|\n{rows}"
    )
    return {"engines/index.md": index, **{f"engines/{card.name}.md": _page(card) for card in CARDS}}


def navigation() -> list[object]:
    """Return the engines in the order of their cards."""
    measured = [{"All in one table": "engine_table.md"}] if (DOCS / "engine_table.md").is_file() else []
    files = sorted(DOCS.glob("engines_*.md"))
    measured += [{f"Measured: {file.stem.removeprefix('engines_')}": file.name} for file in files]
    return ["engines/index.md", *({_name(card): f"engines/{card.name}.md"} for card in CARDS), *measured]


def _name(card: EngineCard) -> str:
    return NAMES.get(card.name, card.name)


def _page(card: EngineCard) -> str:
    digits = "double" if card.eps < 1e-15 else "single"
    text = f"# {_name(card)}\n\nAnswers {card.answers}.\n\n"
    text += f"| | |\n|---|---|\n| install | `{card.install}` |\n| licence | {card.licence} |\n"
    text += f"| reads by itself | {', '.join(card.formats) or 'nothing: it is given the neutral tree'} |\n"
    text += f"| arithmetic | {digits} precision |\n\n"
    text += _list("Conventions", card.conventions)
    if card.ledger:
        rows = "".join(f"| {_code(call)} | {prose(terms)} |\n" for call, terms in card.ledger.items())
        text += f"## What a call contains\n\n| call | terms |\n|---|---|\n{rows}\n"
    text += _list("What it cannot answer", card.limits)
    causes = [(kind, one.causes[card.name]) for kind, one in texts().items() if card.name in one.causes]
    if causes:
        rows = "".join(f"| [{kind}](../findings/{kind}.md) | {prose(cause)} |\n" for kind, cause in causes)
        text += (
            "## Where it departs, by kind of finding\n\nKnown of the versions that the package is tested with; where a"
            f" fault came or went with a version, the version stands beside it.\n\n| kind | |\n|---|---|\n{rows}\n"
        )
    return text + _versions(card)


def _code(call: str) -> str:
    """Return names of calls as code; an entry in plain words stays plain."""
    return call if call.startswith(("in no", "added by")) else f"`{call}`"


def _list(title: str, lines: tuple[str, ...]) -> str:
    return f"## {title}\n\n" + "".join(f"- {prose(line)}\n" for line in lines) + "\n" if lines else ""


def _versions(card: EngineCard) -> str:
    """Return links to the pages that were measured version by version, where there are any."""
    known = [*DOCS.glob(f"{card.name}_versions.md"), *DOCS.glob(f"engines_*{card.name}*.md")]
    links = "".join(f"- [{file.read_text('utf-8').splitlines()[0].lstrip('# ')}](../{file.name})\n" for file in known)
    return f"## Measured, version by version\n\n{links}" if links else ""
